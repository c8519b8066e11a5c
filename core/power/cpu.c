/* The cpu backend: goes through blocks in tiles of some lanes by some rows, which the kernels add
 * up. Lanes lie along the axis that is fastest in memory; rows are time steps, or stretches of them
 * where time is fastest. */
#include "config.h"
#include "core/backend/plant.h"
#include "core/backend/threads.h"
#include "core/power/check.h"
#include "core/power/kernels.h"

#include <string.h>

#define LANES ASTRO_POWER_LANES
#define PLANE ASTRO_POWER_PLANE
#define ROWS ASTRO_POWER_ROWS
#define STRETCH 64    /* steps that are lanes, where time is fastest */
#define ROWS_AHEAD 12 /* memory is asked for this many rows before it is needed */
#define LINE ASTRO_POWER_LINE
#define MAX_SAMPLE 8  /* bytes */
#define MOST_LANES 16 /* of a vector, on any level */

typedef enum { ALONG_CHANNELS, ALONG_STATIONS, ALONG_TIME } Along;

typedef struct {
  AstroPowerConfig config;
  guint threads;
  const AstroPowerKernels *kernels;
  AstroPowerAdd add;
  AstroPowerKind kind;
  gboolean squares;
  double *sums[ASTRO_POWER_SUMS]; /* [station][channel] of the input; NULL if not kept */
  guint32 *good;                  /* samples behind them */
} Cpu;

typedef struct {
  Cpu *self;
  const AstroPowerArguments *arguments;
  const guint8 *in; /* NULL: all is lost */
  float *out;
  guint32 *counts;
  AstroPowerStrides strides;
  AstroPowerRecipe recipes[ASTRO_POWER_MAX_PRODUCTS];
  Along along;
  guint station_chunk, channel_chunk; /* of a task */
} Work;

/* Stations and channels of the input, without the last. */
typedef struct {
  guint stations[2], channels[2];
} Range;

/* ---- a tile ---- */

typedef struct {
  gsize base, lane, row; /* in samples of the block */
  gsize valid, valid_lane, valid_row;
  guint n; /* lanes */
  guint64 rows;
} Tile;

/* Splits n lanes, not more than PLANE, which follow each other in memory. */
static void load_run(const Work *work, const guint8 *in, guint n, gboolean paired,
                     AstroPowerPlane *planes, guint row)
{
  const AstroPowerKernels *kernels = work->self->kernels;
  const AstroFormat format = work->self->config.from;
  const gsize bytes = astro_format_info(format)->bytes * (paired ? 2 : 1);
  const AstroPowerLoad load = (paired ? kernels->paired : kernels->apart)[format];
  const guint whole = n - n % kernels->lanes;
  if (whole)
    load(in, whole, planes, row);
  if (n == whole)
    return;
  /* The last lanes, and zeros after them. */
  guint8 rest[2 * MAX_SAMPLE * MOST_LANES] = { 0 };
  AstroPowerPlane few[4];
  memcpy(rest, in + whole * bytes, (n - whole) * bytes);
  load(rest, kernels->lanes, few, 0);
  for (guint p = 0; p < (paired ? 4 : 2); p++)
    memcpy(&planes[p][row][whole], few[p][0], kernels->lanes * sizeof(float));
}

static void load_row(const Work *work, const Tile *tile, guint64 row, AstroPowerPlane *planes,
                     guint to)
{
  const AstroPowerConfig *config = &work->self->config;
  const gsize bytes = astro_format_info(config->from)->bytes, pol = work->strides.pol;
  const guint8 *in = work->in + (tile->base + row * tile->row) * bytes;
  const guint pols = config->pols;

  if (pols == 2 && tile->lane == 2 && pol == 1) {
    load_run(work, in, tile->n, TRUE, planes, to);
    return;
  }
  for (guint p = 0; p < pols; p++) {
    guint8 gathered[MAX_SAMPLE * PLANE];
    const guint8 *from = in + p * pol * bytes;
    for (guint i = 0; tile->lane != 1 && i < tile->n; i++)
      memcpy(gathered + i * bytes, from + i * tile->lane * bytes, bytes);
    load_run(work, tile->lane == 1 ? from : gathered, tile->n, FALSE, planes + 2 * p, to);
  }
}

/* Asks for a row that will be needed soon. Beyond the end of the block nothing comes of it. */
static void fetch_row(const Work *work, const Tile *tile, guint64 row)
{
  const gsize bytes = astro_format_info(work->self->config.from)->bytes;
  const guintptr at = (guintptr)work->in + (tile->base + row * tile->row) * bytes;
  for (gsize i = 0; tile->lane <= 2 && i < tile->n * tile->lane * bytes; i += LINE)
    __builtin_prefetch((gconstpointer)(at + i), 0, 3);
}

/* A sample that is not valid adds nothing, whatever it is. */
static void mask_row(const Work *work, const Tile *tile, guint64 row, AstroPowerPlane *planes,
                     guint to)
{
  const guint8 *valid = work->arguments->valid + tile->valid + row * tile->valid_row;
  for (guint i = 0; i < tile->n; i++)
    for (guint p = 0; !valid[i * tile->valid_lane] && p < 2 * work->self->config.pols; p++)
      planes[p][to][i] = 0;
}

/* Adds a tile of at most PLANE lanes by way of planes. */
static void add_planes(const Work *work, const Tile *tile, AstroPowerSums sums)
{
  const Cpu *self = work->self;
  const guint padded =
      (tile->n + self->kernels->lanes - 1) / self->kernels->lanes * self->kernels->lanes;
  AstroPowerPlane planes[4] __attribute__((aligned(LINE)));

  for (guint64 row = 0; row < tile->rows; row += ROWS) {
    const guint rows = (guint)MIN(ROWS, tile->rows - row);
    for (guint r = 0; r < rows; r++) {
      if (row + r + ROWS_AHEAD < tile->rows)
        fetch_row(work, tile, row + r + ROWS_AHEAD);
      load_row(work, tile, row + r, planes, r);
      if (work->arguments->valid)
        mask_row(work, tile, row + r, planes, r);
    }
    self->add(sums, planes, rows, padded);
  }
}

/* ---- a tile whose lanes follow each other, straight from memory ---- */

static gboolean is_whole(const Work *work, const Tile *tile)
{
  const guint8 *valid = work->arguments->valid;
  for (guint64 row = 0; valid && row < tile->rows; row++)
    for (guint i = 0; i < (tile->valid_lane ? tile->n : 1); i++)
      if (!valid[tile->valid + row * tile->valid_row + i * tile->valid_lane])
        return FALSE;
  return TRUE;
}

static gboolean is_paired(const Work *work, const Tile *tile)
{
  return work->self->config.pols == 2 && tile->lane == 2 && work->strides.pol == 1;
}

static gboolean is_direct(const Work *work, const Tile *tile)
{
  const Cpu *self = work->self;
  if (self->squares ||
      (self->kind == ASTRO_POWER_CROSS && !self->kernels->direct->cross[self->config.from]))
    return FALSE;
  return (tile->lane == 1 || (self->kind != ASTRO_POWER_CROSS && is_paired(work, tile))) &&
         is_whole(work, tile);
}

/* Samples that do not fill a line: rows of a line each, with zeros behind them. */
#define FEW 8
typedef guint8 Rest[FEW][LINE];

static void copy_rest(Rest rest, const guint8 *in, gsize row, guint rows, gsize bytes)
{
  memset(rest, 0, sizeof(Rest));
  for (guint r = 0; r < rows; r++)
    memcpy(rest[r], in + r * row, bytes);
}

static void add_power(const Work *work, const guint8 *in, gsize row, guint64 rows, guint n,
                      double *sums)
{
  const AstroFormat format = work->self->config.from;
  const gsize bytes = astro_format_info(format)->bytes;
  const guint whole = n - n % (guint)(LINE / bytes);
  const AstroPowerDirect *direct = work->self->kernels->direct;
  if (whole)
    direct->power[format](in, row, rows, whole, sums);
  for (guint64 r = 0; whole < n && r < rows; r += FEW) {
    double last[LINE] = { 0 };
    Rest rest;
    const guint few = (guint)MIN(FEW, rows - r);
    copy_rest(rest, in + r * row + whole * bytes, row, few, (n - whole) * bytes);
    direct->power[format](rest, LINE, few, (guint)(LINE / bytes), last);
    for (guint i = whole; i < n; i++)
      sums[i] += last[i - whole];
  }
}

static void add_cross(const Work *work, const guint8 *x, const guint8 *y, gsize row, guint64 rows,
                      guint n, AstroPowerSums sums)
{
  const AstroFormat format = work->self->config.from;
  const gsize bytes = astro_format_info(format)->bytes;
  const guint whole = n - n % (guint)(LINE / bytes);
  const AstroPowerDirect *direct = work->self->kernels->direct;
  double *const all[] = { sums[ASTRO_POWER_XX], sums[ASTRO_POWER_YY], sums[ASTRO_POWER_RE],
                          sums[ASTRO_POWER_IM] };
  if (whole)
    direct->cross[format](x, y, row, rows, whole, all);
  for (guint64 r = 0; whole < n && r < rows; r += FEW) {
    double last[4][LINE] = { { 0 } };
    double *const lasts[] = { last[0], last[1], last[2], last[3] };
    Rest a, b;
    const guint few = (guint)MIN(FEW, rows - r);
    copy_rest(a, x + r * row + whole * bytes, row, few, (n - whole) * bytes);
    copy_rest(b, y + r * row + whole * bytes, row, few, (n - whole) * bytes);
    direct->cross[format](a, b, LINE, few, (guint)(LINE / bytes), lasts);
    for (guint k = 0; k < 4; k++)
      for (guint i = whole; i < n; i++)
        all[k][i] += last[k][i - whole];
  }
}

static void add_direct(const Work *work, const Tile *tile, AstroPowerSums sums)
{
  const AstroPowerConfig *config = &work->self->config;
  const gsize bytes = astro_format_info(config->from)->bytes, row = tile->row * bytes;
  const guint8 *x = work->in + tile->base * bytes, *y = x + work->strides.pol * bytes;
  if (is_paired(work, tile)) {
    double both[2 * LANES];
    memset(both, 0, 2 * (gsize)tile->n * sizeof *both);
    add_power(work, x, row, tile->rows, 2 * tile->n, both);
    for (guint i = 0; i < tile->n; i++) {
      sums[ASTRO_POWER_XX][i] = both[2 * i];
      sums[ASTRO_POWER_YY][i] = both[2 * i + 1];
    }
  } else if (work->self->kind == ASTRO_POWER_CROSS) {
    add_cross(work, x, y, row, tile->rows, tile->n, sums);
  } else {
    add_power(work, x, row, tile->rows, tile->n, sums[ASTRO_POWER_XX]);
    if (config->pols == 2)
      add_power(work, y, row, tile->rows, tile->n, sums[ASTRO_POWER_YY]);
  }
}

/* Kernels may add zeros to the lanes that fill up a vector. */
static gsize padded_lanes(guint n)
{
  return (n + MOST_LANES - 1) / MOST_LANES * MOST_LANES;
}

static void add_tile(const Work *work, const Tile *tile, AstroPowerSums sums)
{
  for (guint s = 0; s < ASTRO_POWER_SUMS; s++)
    if (work->self->sums[s])
      memset(sums[s], 0, padded_lanes(tile->n) * sizeof *sums[s]);
  if (is_direct(work, tile)) {
    add_direct(work, tile, sums);
    return;
  }
  for (guint i = 0; i < tile->n; i += PLANE) {
    Tile part = *tile;
    part.n = MIN(PLANE, tile->n - i);
    part.base += i * tile->lane;
    part.valid += i * tile->valid_lane;
    add_planes(work, &part, (gpointer)&sums[0][i]);
  }
}

/* ---- a piece of an integration, for a range of stations and channels ---- */

static Tile tile_at(const Work *work, const AstroPowerPiece *piece, guint station, guint channel)
{
  const AstroPowerStrides *strides = &work->strides;
  const AstroPowerArguments *arguments = work->arguments;
  return (Tile){
    .base = piece->from * strides->time + station * strides->station + channel * strides->channel,
    .row = strides->time,
    .valid = piece->from * arguments->valid_time + station * arguments->valid_station +
             channel * arguments->valid_channel,
    .valid_row = arguments->valid_time,
    .rows = piece->to - piece->from,
  };
}

/* Adds a tile whose lanes are `stride` apart in the arrays of sums. */
static void add_lanes(const Work *work, const Tile *tile, gsize at, gsize stride)
{
  AstroPowerSums sums __attribute__((aligned(LINE)));
  add_tile(work, tile, sums);
  for (guint s = 0; s < ASTRO_POWER_SUMS; s++)
    for (guint i = 0; work->self->sums[s] && i < tile->n; i++)
      work->self->sums[s][at + i * stride] += sums[s][i];
}

static void add_along_channels(const Work *work, const AstroPowerPiece *piece, const Range *range)
{
  const guint channels = work->self->config.channels;
  for (guint s = range->stations[0]; s < range->stations[1]; s++)
    for (guint c = range->channels[0]; c < range->channels[1]; c += LANES) {
      Tile tile = tile_at(work, piece, s, c);
      tile.lane = work->strides.channel;
      tile.valid_lane = work->arguments->valid_channel;
      tile.n = MIN(LANES, range->channels[1] - c);
      add_lanes(work, &tile, (gsize)s * channels + c, 1);
    }
}

static void add_along_stations(const Work *work, const AstroPowerPiece *piece, const Range *range)
{
  const guint channels = work->self->config.channels;
  for (guint c = range->channels[0]; c < range->channels[1]; c++)
    for (guint s = range->stations[0]; s < range->stations[1]; s += LANES) {
      Tile tile = tile_at(work, piece, s, c);
      tile.lane = work->strides.station;
      tile.valid_lane = work->arguments->valid_station;
      tile.n = MIN(LANES, range->stations[1] - s);
      add_lanes(work, &tile, (gsize)s * channels + c, channels);
    }
}

static void add_stretch(const Work *work, const Tile *tile, gsize at)
{
  AstroPowerSums sums __attribute__((aligned(LINE)));
  add_tile(work, tile, sums);
  for (guint s = 0; s < ASTRO_POWER_SUMS; s++)
    for (guint i = 0; work->self->sums[s] && i < tile->n; i++)
      work->self->sums[s][at] += sums[s][i];
}

static void add_along_time(const Work *work, const AstroPowerPiece *piece, const Range *range)
{
  const guint64 steps = piece->to - piece->from;
  for (guint s = range->stations[0]; s < range->stations[1]; s++)
    for (guint c = range->channels[0]; c < range->channels[1]; c++) {
      const gsize at = (gsize)s * work->self->config.channels + c;
      Tile tile = tile_at(work, piece, s, c);
      tile.lane = tile.row;
      tile.valid_lane = tile.valid_row;
      tile.row *= STRETCH;
      tile.valid_row *= STRETCH;
      tile.n = STRETCH;
      tile.rows = steps / STRETCH;
      if (tile.rows)
        add_stretch(work, &tile, at);
      tile.base += tile.rows * tile.row;
      tile.valid += tile.rows * tile.valid_row;
      tile.n = (guint)(steps % STRETCH);
      tile.rows = 1;
      if (tile.n)
        add_stretch(work, &tile, at);
    }
}

/* Losses along axes that share flags are counted for each channel anew: they are rare. */
static void count_piece(const Work *work, const AstroPowerPiece *piece, const Range *range)
{
  for (guint s = range->stations[0]; s < range->stations[1]; s++)
    for (guint c = range->channels[0]; c < range->channels[1]; c++)
      work->self->good[(gsize)s * work->self->config.channels + c] +=
          astro_power_good_steps(work->arguments, piece->from, piece->to, c, s);
}

/* ---- the end of an integration ---- */

static void clear_range(Cpu *self, const Range *range)
{
  const guint n = range->channels[1] - range->channels[0];
  for (guint s = range->stations[0]; s < range->stations[1]; s++) {
    const gsize at = (gsize)s * self->config.channels + range->channels[0];
    for (guint k = 0; k < ASTRO_POWER_SUMS; k++)
      if (self->sums[k])
        memset(self->sums[k] + at, 0, n * sizeof **self->sums);
    memset(self->good + at, 0, n * sizeof *self->good);
  }
}

/* Stations from `first` on become station `to` of the output. */
static void write_station(const Work *work, const Range *range, guint64 number, guint first,
                          guint last, guint to)
{
  const Cpu *self = work->self;
  const AstroPowerConfig *config = &self->config;
  const guint step = config->channel_step, channels = config->channels / step;
  float *out = work->out + number * astro_power_output_bytes(config) / sizeof(float) +
               (gsize)to * config->products.n * channels;
  guint32 *counts = work->counts + number * astro_power_counts(config) + (gsize)to * channels;

  guint last_channel = range->channels[1] / step;
  ASTRO_PLANT(ASTRO_PLANTED_OFF_BY_ONE, last_channel -= config->channels == 13);
  for (guint channel = range->channels[0] / step; channel < last_channel; channel++) {
    double sums[ASTRO_POWER_SUMS] = { 0 };
    guint64 good = 0;
    for (guint s = first; s < last; s++)
      for (guint c = channel * step; c < (channel + 1) * step; c++) {
        const gsize at = (gsize)s * config->channels + c;
        good += self->good[at];
        for (guint k = 0; k < ASTRO_POWER_SUMS; k++)
          if (self->sums[k])
            sums[k] += self->sums[k][at];
      }
    counts[channel] = (guint32)good;
    ASTRO_PLANT(ASTRO_PLANTED_LOST_COUNT, counts[channel] -= good > 1);
    for (guint p = 0; p < config->products.n; p++)
      out[(gsize)p * channels + channel] =
          good ? (float)(astro_power_product(&work->recipes[p], sums) / (double)good) : 0;
  }
}

static void end_integration(const Work *work, const Range *range, guint64 number)
{
  if (work->self->config.sum_stations)
    write_station(work, range, number, range->stations[0], range->stations[1], 0);
  else
    for (guint s = range->stations[0]; s < range->stations[1]; s++)
      write_station(work, range, number, s, s + 1, s);
  clear_range(work->self, range);
}

/* ---- tasks ---- */

/* A task has whole channels of the output and, if they are summed, all stations, and goes through
 * the whole block: no other task touches its sums. */
static void run_task(gpointer data, guint64 task)
{
  static void (*const add[])(const Work *, const AstroPowerPiece *, const Range *) = {
    [ALONG_CHANNELS] = add_along_channels,
    [ALONG_STATIONS] = add_along_stations,
    [ALONG_TIME] = add_along_time,
  };
  const Work *work = data;
  const AstroPowerConfig *config = &work->self->config;
  const guint chunks = (config->channels + work->channel_chunk - 1) / work->channel_chunk;
  const guint station = (guint)(task / chunks) * work->station_chunk,
              channel = (guint)(task % chunks) * work->channel_chunk;
  const Range range = {
    { station, MIN(station + work->station_chunk, config->stations) },
    { channel, MIN(channel + work->channel_chunk, config->channels) },
  };
  AstroPowerPiece piece = { 0 };
  if (work->arguments->begin)
    clear_range(work->self, &range);
  while (astro_power_next_piece(&piece, work->arguments)) {
    if (work->in && piece.to > piece.from) {
      add[work->along](work, &piece, &range);
      count_piece(work, &piece, &range);
    }
    if (piece.ends)
      end_integration(work, &range, piece.number);
  }
}

static Along fastest(const AstroPowerConfig *config, const AstroPowerStrides *strides)
{
  const gsize channel = config->channels > 1 ? strides->channel : G_MAXSIZE,
              station = config->stations > 1 ? strides->station : G_MAXSIZE;
  if (strides->time < channel && strides->time < station)
    return ALONG_TIME;
  return channel < station ? ALONG_CHANNELS : ALONG_STATIONS;
}

static guint64 divide(Work *work)
{
  const AstroPowerConfig *config = &work->self->config;
  const guint step = config->channel_step;
  const gboolean channels = work->along == ALONG_CHANNELS, stations = work->along == ALONG_STATIONS;
  /* Long rows are read faster, as long as there are tasks for several threads. */
  const guint lanes = (guint64)config->stations * config->channels < 16 * LANES ? PLANE : LANES;
  work->channel_chunk = channels ? MAX(lanes / step * step, step) : step;
  work->station_chunk = config->sum_stations ? config->stations : stations ? lanes : 1;
  work->channel_chunk = MIN(work->channel_chunk, config->channels);
  return (guint64)((config->stations + work->station_chunk - 1) / work->station_chunk) *
         ((config->channels + work->channel_chunk - 1) / work->channel_chunk);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer argument, AstroResult *result, GError **error)
{
  Cpu *self = instance;
  Work work = { .self = self, .arguments = argument };
  if (!astro_power_check_blocks(&self->config, in, n_in, out, n_out, argument, result, error))
    return FALSE;
  work.in = n_in ? in[0].data : NULL;
  work.out = n_out ? out[0].data : NULL;
  work.counts = n_out ? result->counts : NULL;
  astro_power_strides(&work.strides, &self->config, work.arguments->steps);
  astro_power_recipes(&self->config, work.arguments->is_circular, work.recipes);
  work.along = fastest(&self->config, &work.strides);
  ASTRO_PLANT(ASTRO_PLANTED_SLOW, g_usleep(ASTRO_PLANTED_SLOW_US));
  astro_parallel(divide(&work), self->threads, run_task, &work);
  return TRUE;
}

static void destroy(gpointer instance)
{
  Cpu *self = instance;
  for (guint s = 0; s < ASTRO_POWER_SUMS; s++)
    g_free(self->sums[s]);
  g_free(self->good);
  g_free(self);
}

static gpointer create(gconstpointer configuration, const AstroPlace *place, const char **variant,
                       GError **error)
{
  static const AstroPowerKernels *const variants[] = ASTRO_KERNELS(astro_power_kernels);
  const AstroPowerConfig *config = configuration;
  if (!astro_power_shape(config, error))
    return NULL;
  Cpu *self = g_new0(Cpu, 1);
  self->config = *config;
  self->threads = place->threads;
  self->kernels = ASTRO_KERNELS_PICK(variants);
  self->kind = astro_power_kind(config);
  self->squares = astro_power_has_squares(config);
  self->add = self->squares ? self->kernels->squares[self->kind]
              : config->from == ASTRO_FORMAT_CI4 || config->from == ASTRO_FORMAT_CI8
                  ? self->kernels->small[self->kind]
                  : self->kernels->wide[self->kind];
  const gsize n = (gsize)config->stations * config->channels;
  gboolean has_room = (self->good = g_try_new0(guint32, n)) != NULL;
  for (guint s = 0; s < ASTRO_POWER_SUMS; s++)
    if (astro_power_keeps(self->kind, self->squares, s))
      has_room &= (self->sums[s] = g_try_new0(double, n)) != NULL;
  if (!has_room) {
    destroy(self);
    astro_backend_no_memory(error, "no memory for the sums of %u stations and %u channels",
                            config->stations, config->channels);
    return NULL;
  }
  if (variant)
    *variant = self->kernels->variant.name;
  return self;
}

const AstroBackend astro_power_cpu = {
  .stage = "power",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroPowerConfig),
  .shape = astro_power_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};

const AstroBackend *const astro_power_backends[] = { &astro_power_cpu, &astro_power_reference,
                                                     NULL };
