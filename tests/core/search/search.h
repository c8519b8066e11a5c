/* Series of noise with pulses in them, searched. */
#pragma once

#include "core/search/search.h"
#include "tests/tests.h"

#include <math.h>

typedef struct {
  guint stations, dms;
  guint64 steps;
  float *values;   /* [step][station][dm] */
  guint32 *counts; /* NULL: all are whole, which is 100 */
} TestSeries;

#define TEST_FULL 100

static inline double test_uniform(guint64 *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static inline double test_gaussian(guint64 *state)
{
  const double radius = sqrt(-2 * log(test_uniform(state)));
  return radius * cos(2 * G_PI * test_uniform(state));
}

/* Gaussian noise of that rms around a level. */
static inline TestSeries test_series_new(guint stations, guint dms, guint64 steps, double level,
                                         double rms, guint32 seed)
{
  TestSeries series = { stations, dms, steps, g_new(float, steps *stations *dms), NULL };
  guint64 state = 0x9e3779b97f4a7c15u * (seed + 1u);
  for (guint64 i = 0; i < steps * stations * dms; i++)
    series.values[i] = (float)(level + rms * test_gaussian(&state));
  return series;
}

static inline void test_series_clear(TestSeries *series)
{
  g_free(series->values);
  g_free(series->counts);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TestSeries, test_series_clear)

static inline float *test_series_at(const TestSeries *series, guint64 step, guint station, guint dm)
{
  return &series->values[(step * series->stations + station) * series->dms + dm];
}

/* Adds a pulse of that many steps. */
static inline void test_add_pulse(TestSeries *series, guint64 first, guint steps, guint station,
                                  guint dm, double height)
{
  for (guint64 t = first; t < first + steps; t++)
    *test_series_at(series, t, station, dm) += (float)height;
}

static inline AstroSearchConfig test_search_config(const TestSeries *series, const char *widths,
                                                   guint window, double threshold)
{
  AstroSearchConfig config = {
    .stations = series->stations,
    .dms = series->dms,
    .pols = 1,
    .layout = { .n_axes = 3,
                .axes = { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION, ASTRO_AXIS_DM },
                .extents = { 0, series->stations, series->dms } },
    .window = window,
    .threshold = threshold,
  };
  g_autoptr(GError) error = NULL;
  astro_search_parse_widths(&config, widths, &error);
  g_assert_no_error(error);
  return config;
}

/* Searches the series from `first` on in blocks of that many steps, by an array of hits. */
static inline GArray *test_search(const AstroBackend *backend, const AstroSearchConfig *config,
                                  const TestSeries *series, guint64 first, guint64 block,
                                  guint64 *not_finite)
{
  const AstroPlace place = { 0 };
  g_autoptr(GError) error = NULL;
  AstroSearchFound found = { g_array_new(FALSE, FALSE, sizeof(AstroSearchHit)), 0, 0 };
  gpointer instance = backend->create(config, &place, NULL, &error);
  const gsize width = (gsize)series->stations * series->dms;
  g_assert_no_error(error);
  for (guint64 at = 0; at < series->steps; at += block) {
    const guint64 steps = MIN(block, series->steps - at), settled = found.settled;
    const AstroBlock in = { series->values + at * width, steps * width * sizeof(float) };
    const AstroSearchArguments arguments = {
      .first = first + at,
      .steps = steps,
      .begin = at == 0,
      .end = at + steps == series->steps,
      .found = &found,
      .counts = series->counts ? series->counts + at * width : NULL,
      .full = TEST_FULL,
    };
    const guint before = found.hits->len;
    g_assert_true(backend->submit(instance, &in, 1, NULL, 0, &arguments, NULL, &error));
    g_assert_no_error(error);
    for (guint i = before; i < found.hits->len; i++)
      g_assert_cmpuint(g_array_index(found.hits, AstroSearchHit, i).begin, >=, settled);
  }
  backend->destroy(instance);
  if (not_finite)
    *not_finite = found.not_finite;
  return found.hits;
}
