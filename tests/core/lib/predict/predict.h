/* Shared by tests of prediction: an array, sources at random places, a stream. */
#pragma once

#include "core/lib/predict/predict.h"
#include "core/stream/uvw.h"
#include "tests/near.h"
#include "tests/observe.h"
#include "tests/tests.h"
#include <complex.h>
#include <math.h>

#define SECOND G_GINT64_CONSTANT(1000000000)

static const char *const levels[] = { "c", "avx2", "avx512", NULL };

typedef struct {
  AstroPredictConfig config;
  AstroObservation *observation;
  AstroSky *sky;
  double *uvw; /* for the moment asked for last, since ERFA takes long */
  gint64 moment;
} Setup;

static inline void set_up(Setup *s, const char *array, guint stations, guint pols, guint channels,
                          guint sources)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(stations + 1000 * sources);
  s->observation = test_observe(array, stations);
  s->observation->phase_ra += 0.4; /* w as long as u and v */
  s->uvw = g_new(double, 3 * stations);
  s->moment = -1;
  s->sky = g_new0(AstroSky, 1);
  s->sky->n = sources;
  s->sky->sources = g_new0(AstroSource, sources);
  for (guint i = 0; i < sources; i++) {
    AstroSource *source = &s->sky->sources[i];
    for (guint k = 0; k < 2; k++)
      source->lmn[k] = g_rand_double_range(rand, -0.3, 0.3);
    source->lmn[2] = sqrt(1 - source->lmn[0] * source->lmn[0] - source->lmn[1] * source->lmn[1]);
    source->flux = g_rand_double_range(rand, 0, 3);
    source->spectral_index = i % 2 ? g_rand_double_range(rand, -2, 2) : 0;
  }
  s->config = (AstroPredictConfig){
    .stream = { .quantity = ASTRO_QUANTITY_VISIBILITIES,
                .format = ASTRO_FORMAT_CF64LE,
                .rate_n = 1,
                .rate_d = 10,
                .frequency = 150e6,
                .bandwidth = 20e6 },
    .observation = s->observation,
    .sky = s->sky,
    .points = 1,
    .seed = 3,
  };
  AstroLayout *layout = &s->config.stream.layout;
  g_assert_true(
      astro_layout_parse(layout, "channel:baseline:pol:pol", ASTRO_QUANTITY_VISIBILITIES, NULL));
  layout->extents[0] = channels;
  layout->extents[1] = (guint64)stations * (stations + 1) / 2;
  layout->extents[2] = layout->extents[3] = pols;
}

static inline void tear_down(Setup *s)
{
  astro_sky_free(s->sky);
  astro_observation_unref(s->observation);
  g_free(s->uvw);
}

static inline const double *uvw_at(Setup *s, gint64 moment)
{
  if (moment != s->moment)
    astro_uvw(s->observation, moment, s->uvw);
  s->moment = moment;
  return s->uvw;
}

static inline gsize n_values(const Setup *s)
{
  return astro_layout_samples(&s->config.stream.layout);
}
