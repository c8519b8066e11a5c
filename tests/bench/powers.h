/* Spectra of two polarisations whose power benchmarks detect, by any backend. */
#pragma once

#include "core/power/power.h"

#define FAST_CHANNELS "time:station:pol:channel"
#define FAST_TIME "channel:station:pol:time"

typedef struct {
  AstroFormat from;
  const char *products, *layout;
  guint stations, channels;
  guint64 integration, steps;
  gboolean sum;  /* over stations */
  double wanted; /* ratio */
} BenchPower;

enum { BENCH_POWER_POLS = 2 };

static inline AstroPowerConfig bench_power_config(const BenchPower *shape)
{
  AstroPowerConfig config = { .stations = shape->stations,
                              .pols = BENCH_POWER_POLS,
                              .channels = shape->channels,
                              .from = shape->from,
                              .channel_step = 1,
                              .sum_stations = shape->sum };
  GError *error = NULL;
  if (!astro_layout_parse(&config.layout, shape->layout, ASTRO_QUANTITY_SPECTRA, &error) ||
      !astro_power_products_parse(&config.products, shape->products, &error))
    g_error("%s", error->message);
  for (guint a = 0; a < config.layout.n_axes; a++) {
    const AstroAxis axis = config.layout.axes[a];
    config.layout.extents[a] = axis == ASTRO_AXIS_STATION   ? shape->stations
                               : axis == ASTRO_AXIS_CHANNEL ? shape->channels
                               : axis == ASTRO_AXIS_POL     ? BENCH_POWER_POLS
                                                            : 0;
  }
  return config;
}

/* Bytes of spectra of one time step. */
static inline gsize bench_power_step_bytes(const BenchPower *shape)
{
  return (gsize)shape->stations * shape->channels * BENCH_POWER_POLS *
         astro_format_info(shape->from)->bytes;
}
