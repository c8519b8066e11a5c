/* Shared by tests of power: configurations, and a stream of blocks through a backend. */
#pragma once

#include "core/power/power.h"
#include "tests/tests.h"

#include <math.h>

static inline AstroPowerConfig test_power_config(const char *layout, AstroFormat from,
                                                 guint stations, guint pols, guint channels,
                                                 const char *products)
{
  AstroPowerConfig config = {
    .stations = stations, .pols = pols, .channels = channels, .from = from, .channel_step = 1
  };
  g_autoptr(GError) error = NULL;
  astro_layout_parse(&config.layout, layout, ASTRO_QUANTITY_SPECTRA, &error);
  g_assert_no_error(error);
  astro_power_products_parse(&config.products, products, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < config.layout.n_axes; i++)
    switch (config.layout.axes[i]) {
    case ASTRO_AXIS_CHANNEL:
      config.layout.extents[i] = channels;
      break;
    case ASTRO_AXIS_POL:
      config.layout.extents[i] = pols;
      break;
    case ASTRO_AXIS_TIME:
      break;
    default:
      config.layout.extents[i] = stations;
    }
  return config;
}

static inline gsize test_power_step_bytes(const AstroPowerConfig *config)
{
  return (gsize)config->stations * config->pols * config->channels *
         astro_format_info(config->from)->bytes;
}

/* A block of a stream; in NULL: lost steps. */
typedef struct {
  gpointer in;
  AstroPowerArguments arguments;
} TestPowerBlock;

/* The integrations of a stream and their counts; room is checked, and is garbage at first. */
typedef struct {
  float *values;
  guint32 *counts;
  gsize n, n_counts;
} TestPowerOutput;

static inline void test_power_free(TestPowerOutput *output)
{
  test_free(output->values);
  test_free(output->counts);
}

/* cpu: a level for ASTRO_CPU, or NULL. */
static inline TestPowerOutput test_power_run(const AstroBackend *backend, const char *cpu,
                                             guint threads, const AstroPowerConfig *config,
                                             const TestPowerBlock *blocks, guint n)
{
  const AstroPlace place = { .threads = threads };
  const gsize bytes = astro_power_output_bytes(config), counts = astro_power_counts(config);
  const char *variant = NULL;
  g_autoptr(GError) error = NULL;
  guint64 ended = 0, done = 0;
  TestPowerOutput output;

  for (guint i = 0; i < n; i++)
    ended += astro_power_ended(&blocks[i].arguments);
  output.n = ended * bytes / sizeof(float);
  output.n_counts = ended * counts;
  output.values = test_alloc(ended * bytes);
  output.counts = test_alloc(ended * counts * sizeof(guint32));
  if (cpu)
    g_setenv("ASTRO_CPU", cpu, TRUE);
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  g_assert_nonnull(variant);
  for (guint i = 0; i < n; i++) {
    const AstroPowerArguments *arguments = &blocks[i].arguments;
    const guint64 here = astro_power_ended(arguments);
    const AstroBlock in = { blocks[i].in, arguments->steps * test_power_step_bytes(config) },
                     out = { (guint8 *)output.values + done * bytes, here * bytes };
    AstroResult result = { .counts = output.counts + done * counts };
    backend->submit(instance, &in, blocks[i].in != NULL, &out, here > 0, arguments, &result,
                    &error);
    g_assert_no_error(error);
    done += here;
  }
  backend->destroy(instance);
  if (cpu)
    g_unsetenv("ASTRO_CPU");
  test_check_guard(output.values, ended * bytes);
  test_check_guard(output.counts, ended * counts * sizeof(guint32));
  return output;
}
