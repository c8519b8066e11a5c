/* Simulates the voltages of an array. */
#include "config.h"
#include "core/lib/sky/voltages.h"

#include <math.h>
#include <string.h>

#include "core/backend/threads.h"
#include "core/lib/interpolate/kernels.h"
#include "core/lib/sky/array.h"
#include "core/lib/sky/dispersion.h"
#include "core/lib/sky/emitters.h"
#include "core/lib/sky/store.h"
#include "core/lib/sky/streams.h"
#include "core/stream/track.h"
#include "core/lib/transpose/plan.h"

#define TILE ASTRO_NOISE_TILE
#define CHUNK_TILES 16 /* processed at a time at most, to limit memory for sources' signals */
#define TASK_INPUTS 32 /* inputs of a task */
#define ROWS_BYTES ((gsize)32 << 20) /* for the rows of a chunk, if that is more than a tile */

struct AstroVoltages {
  AstroVoltagesConfig config;
  const AstroStore *store;
  const AstroSkyKernels *kernels;
  const AstroDelayKernels *delay;
  guint stations, pols;
  gboolean real;
  double rate; /* samples per second */
  double scale;
  double *gains; /* square root of each source's flux; 1 if its signal has its power already */
  guint64 tone;  /* 2^-64 cycles per sample */

  AstroTrack *track;
  AstroStreams *streams;
  AstroEmitters *emitters; /* NULL: there are none */
  double *positions;  /* relative to the array's centre, divided by the speed of light: seconds */
  guint stretch;      /* samples over which a delay is taken as linear */
  gint64 margin;      /* tiles of signal needed before and after */
  double *directions; /* (CHUNK_TILES x TILE / stretch + 1) x sources x 3 */

  /* of the block in progress */
  guint64 first, steps;
  guint8 *block;
  guint64 time_stride, station_stride, pol_stride; /* samples */
  guint64 chunk;                                   /* number of its first tile */

  /* of a chunk, if the samples of an input are not contiguous in the block */
  guint8 *rows;
  gsize row_samples;
};

static guint64 n_inputs(const AstroVoltages *voltages)
{
  return (guint64)voltages->stations * voltages->pols;
}

static gboolean choose_stretch(AstroVoltages *voltages, GError **error)
{
  double farthest = astro_array_reach(voltages->positions, voltages->stations),
         f0 = voltages->config.stream.frequency;
  voltages->stretch = astro_fraction_stretch(farthest, f0, voltages->rate);
  if (voltages->stretch)
    return TRUE;
  const guint per_hertz = voltages->real ? 2 : 1;
  g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
              "an array that reaches %.4g km from its centre at %g Hz needs a bandwidth above "
              "%.4g Hz, found %g",
              farthest * ASTRO_LIGHT_SPEED / 1000, f0,
              astro_fraction_least_rate(farthest, f0) / per_hertz, voltages->rate / per_hertz);
  return FALSE;
}

static gboolean open_rows(AstroVoltages *voltages, GError **error)
{
  gsize tile_bytes = n_inputs(voltages) * TILE * voltages->store->bytes;
  gsize tiles = CLAMP(ROWS_BYTES / tile_bytes, 1, CHUNK_TILES);
  gint time = astro_layout_find(&voltages->config.stream.layout, ASTRO_AXIS_TIME);
  voltages->row_samples = tiles * TILE;
  if ((guint)time + 1 == voltages->config.stream.layout.n_axes)
    return TRUE;
  voltages->rows = g_try_malloc(tiles * tile_bytes);
  if (!voltages->rows)
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                "no memory for %d samples of %" G_GUINT64_FORMAT " inputs", TILE,
                n_inputs(voltages));
  return voltages->rows != NULL;
}

static gboolean open_sky(AstroVoltages *voltages, GError **error)
{
  const AstroVoltagesConfig *config = &voltages->config;

  voltages->positions = astro_array_seconds(config->observation);
  if (!choose_stretch(voltages, error))
    return FALSE;

  double farthest = astro_array_reach(voltages->positions, voltages->stations);
  double samples = ceil(farthest * voltages->rate) + 2 * ASTRO_FRACTION_TAPS;
  voltages->margin = (gint64)(samples / TILE) + 1;
  const AstroStreamsConfig streams = {
    .sky = config->sky,
    .pols = voltages->pols,
    .threads = config->threads,
    .seed = config->seed,
    .window_tiles = CHUNK_TILES + 2 * (gsize)voltages->margin,
    .rate = voltages->rate,
    .frequency = config->stream.frequency,
    .bandwidth = config->stream.bandwidth,
    .basis = config->observation->basis,
  };
  voltages->streams = astro_streams_new(&streams, error);
  if (!voltages->streams)
    return FALSE;
  voltages->track = astro_track_new(config->observation);
  voltages->gains = g_new(double, config->sky->n);
  for (guint i = 0; i < config->sky->n; i++) {
    const AstroSource *source = &config->sky->sources[i];
    voltages->gains[i] = astro_source_is_plain(source) ? sqrt(source->flux) : 1;
  }
  voltages->directions =
      g_new(double, (CHUNK_TILES * (gsize)(TILE / voltages->stretch) + 1) * 3 * config->sky->n);
  return TRUE;
}

static gboolean open_emitters(AstroVoltages *voltages, GError **error)
{
  const AstroVoltagesConfig *config = &voltages->config;
  const AstroEmittersConfig emitters = {
    .interference = config->interference,
    .threads = config->threads,
    .seed = config->seed,
    .tiles = voltages->row_samples / TILE,
    .rate = voltages->rate,
    .frequency = config->stream.frequency,
    .bandwidth = config->stream.bandwidth,
  };
  if (!config->interference || !config->interference->n)
    return TRUE;
  voltages->emitters = astro_emitters_new(&emitters, error);
  return voltages->emitters != NULL;
}

/* The largest power of a pulse over its mean, when all of the band is taken together. */
static double peak_of(const AstroStream *stream, const AstroPulse *pulse)
{
  const double half = stream->bandwidth / 2, f0 = stream->frequency;
  const double lowest = MAX(f0 - half, f0 / 1000);
  return astro_pulse_peak(pulse, astro_dispersion_delay(pulse->dm, f0 + half, lowest));
}

/* The mean over the band of a source's flux, lines included, at the peak of its pulses. */
static double mean_flux(const AstroVoltages *voltages, const AstroSource *source)
{
  const AstroStream *stream = &voltages->config.stream;
  double stokes[4];
  if (astro_source_is_plain(source))
    return source->flux;
  astro_source_stokes(source, stream->frequency, stream->frequency, stream->bandwidth, stokes);
  return source->pulse ? stokes[0] * peak_of(stream, source->pulse) : stokes[0];
}

static double automatic_scale(const AstroVoltages *voltages)
{
  double power = voltages->config.noise;
  if (voltages->config.pattern == ASTRO_PATTERN_SKY)
    for (guint i = 0; i < voltages->config.sky->n; i++)
      power += mean_flux(voltages, &voltages->config.sky->sources[i]);
  if (voltages->emitters)
    power += astro_emitters_power(voltages->emitters);
  const double component = voltages->real ? power : power / 2;
  return power > 0 && voltages->store->rms > 0 ? voltages->store->rms / sqrt(component) : 1;
}

static gboolean check(const AstroVoltagesConfig *config, GError **error)
{
  const AstroStream *stream = &config->stream;
  gboolean is_sky = config->pattern == ASTRO_PATTERN_SKY;
  const char *wrong = NULL;
  if (!astro_store_get(stream->format))
    wrong = "expected the format CI4, CI8, CI16LE, CF32LE, I8, I16LE or F32LE";
  else if (stream->rate_n <= 0 || stream->rate_d <= 0)
    wrong = "there is no rate, expected one";
  else if (astro_layout_find(&stream->layout, ASTRO_AXIS_TIME) < 0)
    wrong = "the layout needs a time axis";
  else if (is_sky && !(config->observation && config->observation->has_start &&
                       config->observation->has_phase_centre && config->sky))
    wrong = "a sky needs an observation with a start and a phase centre";
  else if (is_sky &&
           astro_stream_extent(stream, ASTRO_AXIS_STATION) != config->observation->n_stations)
    wrong = "the array has another number of stations";
  else if (config->interference && config->interference->n && !is_sky &&
           config->pattern != ASTRO_PATTERN_NOISE)
    wrong = "rfi: a test pattern has no interference, expected pattern=sky or pattern=noise";
  if (wrong)
    g_set_error_literal(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE, wrong);
  return !wrong && (!is_sky || astro_sky_check_band(stream->frequency, stream->bandwidth, error));
}

AstroVoltages *astro_voltages_new(const AstroVoltagesConfig *config, GError **error)
{
  if (!check(config, error))
    return NULL;
  g_autoptr(AstroVoltages) voltages = g_new0(AstroVoltages, 1);
  voltages->config = *config;
  if (config->observation)
    astro_observation_ref(config->observation);
  voltages->store = astro_store_get(config->stream.format);
  voltages->kernels = astro_sky_kernels();
  voltages->delay = astro_delay_kernels();
  voltages->stations = (guint)astro_stream_extent(&config->stream, ASTRO_AXIS_STATION);
  voltages->pols = (guint)astro_stream_extent(&config->stream, ASTRO_AXIS_POL);
  voltages->real = !astro_format_info(config->stream.format)->is_complex;
  voltages->rate = (double)config->stream.rate_n / config->stream.rate_d;
  /* Whole cycles do not matter, and a phase in fixed point never drifts. */
  double cycles = config->tone / voltages->rate, part = cycles - floor(cycles);
  voltages->tone = part < 1 ? (guint64)(part * 0x1p64) : 0;
  if (!open_rows(voltages, error) || !open_emitters(voltages, error) ||
      (config->pattern == ASTRO_PATTERN_SKY && !open_sky(voltages, error)))
    return NULL;
  voltages->scale = config->scale > 0 ? config->scale : automatic_scale(voltages);
  return g_steal_pointer(&voltages);
}

void astro_voltages_free(AstroVoltages *voltages)
{
  g_clear_pointer(&voltages->track, astro_track_free);
  g_clear_pointer(&voltages->streams, astro_streams_free);
  g_clear_pointer(&voltages->emitters, astro_emitters_free);
  g_clear_pointer(&voltages->config.observation, astro_observation_unref);
  g_free(voltages->positions);
  g_free(voltages->gains);
  g_free(voltages->directions);
  g_free(voltages->rows);
  g_free(voltages);
}

double astro_voltages_scale(const AstroVoltages *voltages)
{
  return voltages->scale;
}

/* ---- patterns: a whole tile of one input, and the factor that scales it to steps ---- */

/* Real samples of a band whose complex samples have its centre at zero: a quarter cycle per sample
 * shifts its lower edge to zero. A tile is a whole number of cycles. */
static void make_real(AstroTile *out)
{
  for (guint i = 0; i < TILE; i += 4) {
    out->re[i + 1] = -out->im[i + 1];
    out->re[i + 2] = -out->re[i + 2];
    out->re[i + 3] = out->im[i + 3];
  }
}

/* Half of the power of complex samples is in the imaginary parts, so real samples are scaled by
 * sqrt(2). */
static float finish_noise(const AstroVoltages *voltages, AstroTile *out)
{
  if (!voltages->real)
    return (float)voltages->scale;
  make_real(out);
  return (float)(voltages->scale * G_SQRT2);
}

static void add_receiver(const AstroVoltages *voltages, guint64 tile, guint64 input, AstroTile *out)
{
  voltages->kernels->noise(
      astro_noise_key(voltages->config.seed, ASTRO_NOISE_OF_RECEIVER, input, (gint64)tile),
      (float)voltages->config.noise, out->re, out->im);
}

/* Within each stretch the delay is linear, between those for the directions at its ends. */
static void add_sources(const AstroVoltages *voltages, guint64 tile, guint station, guint pol,
                        AstroTile *out)
{
  guint stretch = voltages->stretch, n_sources = voltages->config.sky->n;
  const double *position = &voltages->positions[3 * station];
  double f0 = voltages->config.stream.frequency;

  for (guint start = 0; start < TILE; start += stretch) {
    gsize index = ((tile - voltages->chunk) * TILE + start) / stretch;
    const double *here = &voltages->directions[3 * index * n_sources];
    const double *there = here + 3 * n_sources;
    gint64 sample = (gint64)(tile * TILE + start);
    for (guint source = 0; source < n_sources; source++, here += 3, there += 3) {
      double tau = position[0] * here[0] + position[1] * here[1] + position[2] * here[2];
      double later = position[0] * there[0] + position[1] * there[1] + position[2] * there[2];
      double delay = 0.5 * (tau + later) * voltages->rate, whole = floor(delay);
      float taps[ASTRO_FRACTION_TAPS];
      AstroSignal signal =
          astro_streams_at(voltages->streams, source, pol,
                           sample + (gint64)whole - ASTRO_FRACTION_CENTRE(ASTRO_FRACTION_TAPS));
      astro_fraction_taps(delay - whole, voltages->gains[source], taps);
      voltages->delay->interpolate(signal.re, signal.im, taps, f0 * tau,
                                   f0 * (later - tau) / stretch, stretch, out->re + start,
                                   out->im + start);
    }
  }
}

static void add_interference(const AstroVoltages *voltages, guint64 tile, guint station, guint pol,
                             AstroTile *out)
{
  if (voltages->emitters)
    astro_emitters_add(voltages->emitters, (gint64)tile, station,
                       (guint64)station * voltages->pols + pol, out);
}

static float make_sky(const AstroVoltages *voltages, guint64 tile, guint station, guint pol,
                      AstroTile *out)
{
  add_receiver(voltages, tile, (guint64)station * voltages->pols + pol, out);
  add_sources(voltages, tile, station, pol, out);
  add_interference(voltages, tile, station, pol, out);
  return finish_noise(voltages, out);
}

static float make_noise(const AstroVoltages *voltages, guint64 tile, guint station, guint pol,
                        AstroTile *out)
{
  add_receiver(voltages, tile, (guint64)station * voltages->pols + pol, out);
  add_interference(voltages, tile, station, pol, out);
  return finish_noise(voltages, out);
}

static float half_scale(const AstroVoltages *voltages)
{
  return voltages->store->limit > 0 ? (voltages->store->limit + 1) / 2 : 1;
}

static float make_tone(const AstroVoltages *voltages, guint64 tile, guint station, guint pol,
                       AstroTile *out)
{
  for (guint i = 0; i < TILE; i++) {
    double angle = 2 * G_PI * 0x1p-64 * (double)(voltages->tone * (tile * TILE + i));
    out->re[i] = (float)cos(angle);
    out->im[i] = (float)sin(angle);
  }
  if (voltages->real)
    make_real(out);
  return half_scale(voltages);
}

static float make_impulse(const AstroVoltages *voltages, guint64 tile, guint station, guint pol,
                          AstroTile *out)
{
  memset(out, 0, sizeof *out);
  if (tile * TILE % ASTRO_IMPULSE_PERIOD == 0)
    out->re[0] = 1;
  return half_scale(voltages);
}

static float make_ramp(const AstroVoltages *voltages, guint64 tile, guint station, guint pol,
                       AstroTile *out)
{
  guint range = 2 * (guint)(voltages->store->limit > 0 ? voltages->store->limit + 1 : 32768);
  guint64 input = (guint64)station * voltages->pols + pol;
  for (guint i = 0; i < TILE; i++) {
    out->re[i] = (float)((gint)((tile * TILE + i + range / 2) % range) - (gint)(range / 2));
    out->im[i] = (float)((gint)((input + range / 2) % range) - (gint)(range / 2));
  }
  return 1;
}

typedef float (*MakeTile)(const AstroVoltages *voltages, guint64 tile, guint station, guint pol,
                          AstroTile *out);
static const MakeTile make[] = {
  [ASTRO_PATTERN_SKY] = make_sky,     [ASTRO_PATTERN_TONE] = make_tone,
  [ASTRO_PATTERN_NOISE] = make_noise, [ASTRO_PATTERN_IMPULSE] = make_impulse,
  [ASTRO_PATTERN_RAMP] = make_ramp,
};

/* ---- blocks ---- */

static guint64 n_groups(const AstroVoltages *voltages)
{
  return (n_inputs(voltages) + TASK_INPUTS - 1) / TASK_INPUTS;
}

/* The first sample of the block that is in the chunk. */
static guint64 chunk_start(const AstroVoltages *voltages)
{
  return MAX(voltages->chunk * TILE, voltages->first);
}

/* Makes whole tiles of some inputs, and stores the samples that are in the block. */
static void work(gpointer data, guint64 task)
{
  const AstroVoltages *voltages = data;
  guint64 tile = voltages->chunk + task / n_groups(voltages);
  guint64 input = task % n_groups(voltages) * TASK_INPUTS;
  guint64 end = MIN(input + TASK_INPUTS, n_inputs(voltages));
  guint64 from = MAX(tile * TILE, voltages->first);
  guint64 to = MIN((tile + 1) * TILE, voltages->first + voltages->steps);
  guint64 skip = from - tile * TILE;
  const gboolean rows_in_block = voltages->time_stride == 1;
  AstroTile parts;

  for (; input < end && !astro_is_given_up(); input++) {
    guint station = (guint)(input / voltages->pols), pol = (guint)(input % voltages->pols);
    float scale = make[voltages->config.pattern](voltages, tile, station, pol, &parts);
    guint64 row = rows_in_block ? station * voltages->station_stride + pol * voltages->pol_stride
                                : input * voltages->row_samples;
    guint64 at = row + from - (rows_in_block ? voltages->first : chunk_start(voltages));
    guint8 *rows = rows_in_block ? voltages->block : voltages->rows;
    voltages->kernels->store[voltages->store->format](parts.re + skip, parts.im + skip,
                                                      (guint)(to - from), scale,
                                                      rows + at * voltages->store->bytes);
  }
}

/* Copies the chunk's rows to their places in the block. */
static void transpose_rows(const AstroVoltages *voltages, guint64 tiles)
{
  gsize bytes = voltages->store->bytes, row = voltages->row_samples * bytes;
  guint64 start = chunk_start(voltages);
  guint64 end = MIN((voltages->chunk + tiles) * TILE, voltages->first + voltages->steps);
  const AstroTransposeAxis axes[] = {
    { .extent = voltages->stations,
      .from = voltages->pols * row,
      .to = voltages->station_stride * bytes },
    { .extent = voltages->pols, .from = row, .to = voltages->pol_stride * bytes },
    { .extent = end - start, .from = bytes, .to = voltages->time_stride * bytes },
  };
  astro_transpose_part(voltages->block + (start - voltages->first) * voltages->time_stride * bytes,
                       voltages->rows, bytes, axes, G_N_ELEMENTS(axes), voltages->config.threads);
}

/* Sets the directions of all sources, in the frame of the Earth, at the ends of the stretches of a
 * chunk. */
static void aim(AstroVoltages *voltages, guint64 tiles)
{
  const AstroSky *sky = voltages->config.sky;
  const AstroStream *stream = &voltages->config.stream;
  double *direction = voltages->directions;
  guint64 stretches = tiles * (TILE / voltages->stretch);
  for (guint64 i = 0; i <= stretches; i++) {
    double axes[3][3];
    guint64 sample = voltages->chunk * TILE + i * voltages->stretch;
    astro_track_axes(voltages->track, (gint64)astro_stream_time(stream, sample), axes);
    for (guint source = 0; source < sky->n; source++, direction += 3) {
      const double *lmn = sky->sources[source].lmn;
      for (guint k = 0; k < 3; k++)
        direction[k] = lmn[0] * axes[0][k] + lmn[1] * axes[1][k] + lmn[2] * axes[2][k];
    }
  }
}

void astro_voltages_fill(AstroVoltages *voltages, guint64 first, guint64 steps, gpointer block)
{
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES], end_tile = (first + steps + TILE - 1) / TILE;

  astro_stream_shape(&voltages->config.stream, steps, &shape);
  astro_layout_strides(&shape, strides);
  voltages->time_stride = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_TIME);
  voltages->station_stride = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_STATION);
  voltages->pol_stride = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_POL);
  voltages->first = first;
  voltages->steps = steps;
  voltages->block = block;

  guint64 most = voltages->row_samples / TILE;
  for (voltages->chunk = first / TILE; voltages->chunk < end_tile && !astro_is_given_up();
       voltages->chunk += most) {
    guint64 tiles = MIN(most, end_tile - voltages->chunk);
    if (voltages->config.pattern == ASTRO_PATTERN_SKY) {
      aim(voltages, tiles);
      astro_streams_seek(voltages->streams, (gint64)voltages->chunk - voltages->margin,
                         (gsize)tiles + 2 * (gsize)voltages->margin);
    }
    if (voltages->emitters)
      astro_emitters_make(voltages->emitters, (gint64)voltages->chunk, (gsize)tiles);
    astro_parallel(tiles * n_groups(voltages), voltages->config.threads, work, voltages);
    if (voltages->time_stride != 1)
      transpose_rows(voltages, tiles);
  }
}
