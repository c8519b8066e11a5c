/* Shared by tests of dedispersion: configurations, and a stretch of blocks through a backend. */
#pragma once

#include "core/dedisperse/dedisperse.h"
#include "tests/tests.h"

#include <math.h>

static inline AstroDedisperseConfig test_dedisperse_config(const char *layout, guint stations,
                                                           guint pols, guint channels,
                                                           const double *dms, guint n_dms)
{
  AstroDedisperseConfig config = { .stations = stations,
                                   .pols = pols,
                                   .channels = channels,
                                   .frequency = 1.4e9,
                                   .bandwidth = 0.4e9,
                                   .rate = 1000,
                                   .n_dms = n_dms,
                                   .dms = dms };
  g_autoptr(GError) error = NULL;
  astro_layout_parse(&config.layout, layout, ASTRO_QUANTITY_POWER, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < config.layout.n_axes; i++) {
    const AstroAxis axis = config.layout.axes[i];
    config.layout.extents[i] = axis == ASTRO_AXIS_TIME      ? 0
                               : axis == ASTRO_AXIS_CHANNEL ? channels
                               : axis == ASTRO_AXIS_POL     ? pols
                                                            : stations;
  }
  return config;
}

/* A block of a stretch; in NULL: lost steps. */
typedef struct {
  float *in;
  AstroDedisperseArguments arguments;
} TestDedisperseBlock;

/* Means and counts; room is checked, and is garbage at first. */
typedef struct {
  float *values;
  guint32 *counts;
  gsize n, n_counts;
} TestDedisperseOutput;

static inline void test_dedisperse_free(TestDedisperseOutput *output)
{
  test_free(output->values);
  test_free(output->counts);
}

/* cpu: a level for ASTRO_CPU, or NULL. */
static inline TestDedisperseOutput test_dedisperse_run(const AstroBackend *backend, const char *cpu,
                                                       guint threads,
                                                       const AstroDedisperseConfig *config,
                                                       const TestDedisperseBlock *blocks, guint n)
{
  const AstroPlace place = { .threads = threads };
  const guint64 reach = astro_dedisperse_reach(config);
  const gsize counts = (gsize)config->stations * config->n_dms, values = counts * config->pols;
  const gsize step = (gsize)config->stations * config->pols * config->channels * sizeof(float);
  const char *variant = NULL;
  g_autoptr(GError) error = NULL;
  guint64 all = 0, done = 0;
  TestDedisperseOutput output;

  for (guint i = 0; i < n; i++)
    all += astro_dedisperse_ready(reach, &blocks[i].arguments);
  output.n = all * values;
  output.n_counts = all * counts;
  output.values = test_alloc(output.n * sizeof(float));
  output.counts = test_alloc(output.n_counts * sizeof(guint32));
  test_fill(output.values, output.n * sizeof(float), 77);
  if (cpu)
    g_setenv("ASTRO_CPU", cpu, TRUE);
  gpointer instance = backend->create(config, &place, &variant, &error);
  if (cpu)
    g_unsetenv("ASTRO_CPU");
  g_assert_no_error(error);
  for (guint i = 0; i < n; i++) {
    const AstroDedisperseArguments *arguments = &blocks[i].arguments;
    const guint64 ready = astro_dedisperse_ready(reach, arguments);
    AstroResult result = { .counts = output.counts + done * counts };
    const AstroBlock in = { blocks[i].in, arguments->steps * step },
                     out = { output.values + done * values, ready * values * sizeof(float) };
    backend->submit(instance, &in, blocks[i].in ? 1 : 0, &out, ready ? 1 : 0, arguments, &result,
                    &error);
    g_assert_no_error(error);
    for (gsize k = 0; result.complete && k < ready * counts; k++)
      result.counts[k] = arguments->full * config->channels;
    done += ready;
  }
  backend->destroy(instance);
  test_check_guard(output.values, output.n * sizeof(float));
  test_check_guard(output.counts, output.n_counts * sizeof(guint32));
  return output;
}
