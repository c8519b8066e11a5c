/* Shared by tests of flags: configurations, and blocks through a backend. */
#pragma once

#include "core/flag/flag.h"
#include "tests/tests.h"

#include <math.h>

/* layout: with extents where axes have one, as "time:station=2:pol=2:channel=64". */
static inline AstroFlagConfig test_flag_config(AstroFlagMethod method, AstroQuantity quantity,
                                               AstroFormat format, const char *layout)
{
  AstroFlagConfig config = { .method = method,
                             .block = 64,
                             .false_alarm = 0.01,
                             .threshold = 6,
                             .longest = 64,
                             .in = { .quantity = quantity, .format = format, .rate_d = 1 } };
  g_auto(GStrv) axes = g_strsplit(layout, ":", -1);
  for (guint i = 0; axes[i]; i++) {
    g_auto(GStrv) parts = g_strsplit(axes[i], "=", 2);
    config.in.layout.axes[i] = astro_axis_from_name(parts[0]);
    config.in.layout.extents[i] = parts[1] ? g_ascii_strtoull(parts[1], NULL, 10) : 0;
    config.in.layout.n_axes++;
  }
  return config;
}

static inline gpointer test_flag_new(const AstroBackend *backend, const AstroFlagConfig *config,
                                     guint threads)
{
  const AstroPlace place = { .threads = threads };
  const char *variant = NULL;
  g_autoptr(GError) error = NULL;
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  g_assert_nonnull(variant);
  return instance;
}

/* Hands in all steps of a block at once and judges them; flags are checked not to reach beyond
 * their rows, and are freed with test_free. */
static inline guint8 *test_flag_block(const AstroBackend *backend, gpointer instance,
                                      const AstroFlagConfig *config, gconstpointer in,
                                      guint64 steps, const AstroValidityMeta *meta)
{
  const AstroBlock block = { (gpointer)in, steps * astro_stream_step_bytes(&config->in) };
  const AstroFlagArguments arguments = {
    .block_steps = steps, .steps = steps, .end = TRUE, .meta = meta
  };
  const gsize bytes = astro_flag_rows(config, &arguments) * astro_flag_units(&config->in) *
                      astro_flag_channels(&config->in);
  AstroFlagVerdict verdict = { test_alloc(bytes) };
  AstroResult result = { .own = &verdict };
  g_autoptr(GError) error = NULL;
  backend->submit(instance, &block, 1, NULL, 0, &arguments, &result, &error);
  g_assert_no_error(error);
  test_check_guard(verdict.flags, bytes);
  return verdict.flags;
}

/* How many of n flags are bad. */
static inline guint64 test_flag_count(const guint8 *flags, gsize n)
{
  guint64 bad = 0;
  for (gsize i = 0; i < n; i++)
    bad += (flags[i] & ASTRO_FLAG_BAD) != 0;
  return bad;
}

/* Noise of unit power: both components have a variance of 1/2. */
static inline void test_flag_noise(GRand *rand, float sample[2])
{
  const double radius = sqrt(-log(1 - g_rand_double(rand))), turn = 2 * G_PI * g_rand_double(rand);
  sample[0] = (float)(radius * cos(turn));
  sample[1] = (float)(radius * sin(turn));
}

/* Whether a count of trials is what a probability gives, within 4 times the counting error and a
 * part of itself that the theory may be wrong by. */
static inline void test_flag_expect(guint64 found, double n, double probability, double inexact)
{
  const double expected = n * probability,
               error = 4 * sqrt(n * probability * (1 - probability)) + inexact * expected + 1;
  g_test_message("%" G_GUINT64_FORMAT " of %.0f, expected %.1f +- %.1f", found, n, expected, error);
  g_assert_cmpfloat(fabs((double)found - expected), <=, error);
}
