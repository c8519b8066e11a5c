/* Makes tones and bands of noise, and switches them on and off. */
#include "config.h"
#include "core/lib/sky/emitters.h"

#include "core/backend/threads.h"
#include "core/kit/fail.h"
#include "core/kit/split-mix.h"
#include "core/lib/sky/streams.h"

#include <math.h>
#include <string.h>

#define TILE ASTRO_NOISE_TILE
#define WIDTHS 16.0     /* inverse widths over which the filter of a band reaches */
#define NARROW 0.75     /* of the rate: a band that is narrower is one of real samples */
#define PHASES 0x9e3779 /* keeps the phases of inputs apart from what is drawn for an emitter */

struct AstroEmitters {
  AstroEmittersConfig config;
  const AstroSkyKernels *kernels;
  AstroFilter **filters; /* of each; NULL: a tone, or outside of the band */
  guint64 *steps;        /* 2^-64 cycles a sample, of a tone */
  float *samples;        /* emitters x (re, im) x tiles x TILE */
  guint8 *is_on;         /* emitters x tiles: whether it is on at all */
  gint64 first;          /* tile */
  gsize made;
};

static const AstroEmitter *emitter_of(const AstroEmitters *emitters, guint number)
{
  return &emitters->config.interference->emitters[number];
}

static gboolean is_heard(const AstroEmitters *emitters, guint number)
{
  return astro_emitter_is_in_band(emitter_of(emitters, number), emitters->config.frequency,
                                  emitters->config.bandwidth);
}

static AstroSignal signal_of(const AstroEmitters *emitters, guint number, gsize tile)
{
  const gsize length = emitters->config.tiles * TILE;
  float *re = emitters->samples + 2 * number * length + tile * TILE;
  return (AstroSignal){ re, re + length };
}

/* ---- set once ---- */

typedef struct {
  const AstroEmitter *emitter;
  double bandwidth;
} Response;

static void respond(gconstpointer data, double frequency, double components[4])
{
  const Response *response = data;
  const AstroEmitter *emitter = response->emitter;
  if (fabs(frequency - emitter->frequency) <= emitter->width / 2)
    components[0] = sqrt(emitter->power * response->bandwidth / emitter->width);
}

static gboolean open_band(AstroEmitters *emitters, guint number, GError **error)
{
  const AstroEmittersConfig *config = &emitters->config;
  const AstroEmitter *emitter = emitter_of(emitters, number);
  const double least = WIDTHS * config->rate / ASTRO_FILTER_MAX_SPREAD;
  const Response response = { emitter, config->bandwidth };
  const AstroFilterConfig filter = {
    .rate = config->rate,
    .frequency = config->frequency,
    .part = config->bandwidth < NARROW * config->rate ? config->bandwidth / config->rate : 1,
    .pols = 1,
    .spread = WIDTHS / emitter->width,
    .response = respond,
    .data = &response,
  };
  if (emitter->width < least)
    return astro_fail(
        error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
        "rfi: the band at %.15g Hz is %.15g Hz wide, expected at least %.4g Hz at this "
        "bandwidth, or a tone",
        emitter->frequency, emitter->width, least);
  emitters->filters[number] = astro_filter_new(&filter);
  return emitters->filters[number] ||
         astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                    "rfi: no memory for the band at %.15g Hz: use fewer bands", emitter->frequency);
}

static gboolean open_emitter(AstroEmitters *emitters, guint number, GError **error)
{
  const AstroEmittersConfig *config = &emitters->config;
  const AstroEmitter *emitter = emitter_of(emitters, number);
  if (emitter->on > 0 && emitter->on * config->rate < 1)
    return astro_fail(
        error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
        "rfi: the interference at %.15g Hz is on for %g s, expected at least a sample, "
        "%g s",
        emitter->frequency, emitter->on, 1 / config->rate);
  if (!is_heard(emitters, number))
    return TRUE;
  if (emitter->width > 0)
    return open_band(emitters, number, error);
  const double cycles = (emitter->frequency - config->frequency) / config->rate;
  const double part = cycles - floor(cycles);
  emitters->steps[number] = part < 1 ? (guint64)(part * 0x1p64) : 0;
  return TRUE;
}

AstroEmitters *astro_emitters_new(const AstroEmittersConfig *config, GError **error)
{
  g_autoptr(AstroEmitters) emitters = g_new0(AstroEmitters, 1);
  const guint n = config->interference->n;
  emitters->config = *config;
  emitters->kernels = astro_sky_kernels();
  emitters->filters = g_new0(AstroFilter *, n);
  emitters->steps = g_new0(guint64, n);
  emitters->is_on = g_new0(guint8, n * config->tiles);
  emitters->samples = g_try_new(float, MAX(2 * n * config->tiles * TILE, 1));
  if (!emitters->samples) {
    astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
               "rfi: no memory for %u tones and bands, expected fewer", n);
    return NULL;
  }
  for (guint i = 0; i < n; i++)
    if (!open_emitter(emitters, i, error))
      return NULL;
  return g_steal_pointer(&emitters);
}

void astro_emitters_free(AstroEmitters *emitters)
{
  for (guint i = 0; i < emitters->config.interference->n; i++)
    g_clear_pointer(&emitters->filters[i], astro_filter_free);
  g_free(emitters->filters);
  g_free(emitters->steps);
  g_free(emitters->samples);
  g_free(emitters->is_on);
  g_free(emitters);
}

double astro_emitters_power(const AstroEmitters *emitters)
{
  double power = 0;
  for (guint i = 0; i < emitters->config.interference->n; i++)
    if (is_heard(emitters, i))
      power += emitter_of(emitters, i)->power;
  return power;
}

/* ---- signals ---- */

typedef struct {
  const AstroEmitters *emitters;
  guint number;
} One;

static gboolean make_noise(gconstpointer data, guint pol, gint64 tile, float *re, float *im)
{
  const One *one = data;
  const AstroEmitters *emitters = one->emitters;
  emitters->kernels->noise(
      astro_noise_key(emitters->config.seed, ASTRO_NOISE_OF_INTERFERENCE, one->number, tile), 1, re,
      im);
  return TRUE;
}

static void make_tone(const AstroEmitters *emitters, guint number, gint64 tile, AstroSignal out)
{
  const double size = sqrt(emitter_of(emitters, number)->power);
  for (guint i = 0; i < TILE; i++) {
    const guint64 sample = (guint64)tile * TILE + i;
    const double angle = 2 * G_PI * 0x1p-64 * (double)(emitters->steps[number] * sample);
    out.re[i] = (float)(size * cos(angle));
    out.im[i] = (float)(size * sin(angle));
  }
}

/* The first sample at or after a time, which is rarely exact in binary: 0.0071 s are 7100 samples
 * of a microsecond. */
static double sample_at(const AstroEmitters *emitters, double seconds)
{
  return ceil(seconds * emitters->config.rate - 1e-6);
}

static double clamp_to_tile(double sample, double start)
{
  return CLAMP(sample - start, 0, TILE);
}

/* Silences the samples of a tile in which it is off. Returns whether any are left. */
static gboolean gate(const AstroEmitters *emitters, const AstroEmitter *emitter, gint64 tile,
                     AstroSignal out)
{
  const double first = (double)tile * TILE, begin = first / emitters->config.rate;
  double k = 0, silent = 0; /* from where on the tile is silent */
  if (emitter->period > 0)
    k = MAX(floor((begin - emitter->start - emitter->on) / emitter->period) - 1, 0);
  for (gboolean again = TRUE; again; k++) {
    const double at = emitter->start + k * emitter->period;
    const double from = clamp_to_tile(sample_at(emitters, at), first);
    const double to = clamp_to_tile(sample_at(emitters, at + emitter->on), first);
    again = emitter->period > 0 && from < TILE;
    if (to <= from)
      continue;
    memset(out.re + (gsize)silent, 0, (gsize)(from - silent) * sizeof *out.re);
    memset(out.im + (gsize)silent, 0, (gsize)(from - silent) * sizeof *out.im);
    silent = to;
    if (from == 0 && to == TILE)
      return TRUE;
  }
  memset(out.re + (gsize)silent, 0, (gsize)(TILE - silent) * sizeof *out.re);
  memset(out.im + (gsize)silent, 0, (gsize)(TILE - silent) * sizeof *out.im);
  return silent > 0;
}

static void make_emitter(gpointer data, guint64 task)
{
  AstroEmitters *emitters = data;
  const One one = { emitters, (guint)task };
  const AstroEmitter *emitter = emitter_of(emitters, one.number);
  if (!is_heard(emitters, one.number))
    return;
  for (gsize t = 0; t < emitters->made && !astro_is_given_up(); t++) {
    const AstroSignal out = signal_of(emitters, one.number, t);
    const gint64 tile = emitters->first + (gint64)t;
    if (emitters->filters[one.number])
      astro_filter_tile(emitters->filters[one.number], tile, make_noise, &one, &out);
    else
      make_tone(emitters, one.number, tile, out);
    emitters->is_on[one.number * emitters->config.tiles + t] =
        emitter->on == 0 || gate(emitters, emitter, tile, out);
  }
}

void astro_emitters_make(AstroEmitters *emitters, gint64 first_tile, gsize tiles)
{
  emitters->first = first_tile;
  emitters->made = tiles;
  astro_parallel(emitters->config.interference->n, emitters->config.threads, make_emitter,
                 emitters);
}

/* ---- inputs ---- */

/* Emitters are at unknown places, so every input has a phase of its own. */
static double phase_of(const AstroEmitters *emitters, guint number, guint64 input)
{
  const guint64 key = astro_noise_key(emitters->config.seed ^ PHASES, ASTRO_NOISE_OF_INTERFERENCE,
                                      number, (gint64)input);
  return 2 * G_PI * 0x1p-64 * (double)key;
}

static void add_signal(AstroSignal from, double phase, AstroTile *out)
{
  const float c = (float)cos(phase), s = (float)sin(phase);
  for (guint i = 0; i < TILE; i++) {
    out->re[i] += c * from.re[i] - s * from.im[i];
    out->im[i] += c * from.im[i] + s * from.re[i];
  }
}

void astro_emitters_add(const AstroEmitters *emitters, gint64 tile, guint station, guint64 input,
                        AstroTile *out)
{
  const gsize at = (gsize)(tile - emitters->first);
  for (guint i = 0; i < emitters->config.interference->n; i++) {
    const guint8 *stations = emitter_of(emitters, i)->stations;
    if (is_heard(emitters, i) && (!stations || stations[station]) &&
        emitters->is_on[i * emitters->config.tiles + at])
      add_signal(signal_of(emitters, i, at), phase_of(emitters, i, input), out);
  }
}
