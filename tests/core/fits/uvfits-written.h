/* UVFITS that we write, and the contents that it must have when it is read. */
#pragma once

#include "core/fits/uvfits/write.h"
#include "tests/core/fits/uvfits.h"

#define TEST_STEP_NS 3000000001 /* odd: its half is no whole number */

/* Small numbers of both signs, so that sums and means are exact in floats. */
static inline gpointer test_make_data(const AstroFitsContents *c, guint64 frames, guint32 seed)
{
  guint64 n = 2 * frames * test_visibility_samples(c);
  gint8 *random = g_malloc(n);
  gpointer data = g_malloc(4 * n);
  test_fill(random, n, seed);
  for (guint64 i = 0; i < n; i++)
    if (c->stream.format == ASTRO_FORMAT_CF32LE)
      ((float *)data)[i] = random[i] * 0.125f;
    else
      ((gint32 *)data)[i] = random[i];
  g_free(random);
  return data;
}

static inline void test_write_uvfits(const char *path, const AstroFitsContents *c,
                                     const AstroFitsFrames *blocks, guint n_blocks,
                                     AstroFitsTally *tally)
{
  GError *error = NULL;
  AstroFitsTally unused = { 0 };
  AstroPartFile *file = astro_part_file_create(path, &error);
  g_assert_no_error(error);
  gpointer writer = astro_uvfits_writer.create(file, c, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < n_blocks; i++)
    g_assert_true(astro_uvfits_writer.write(writer, &blocks[i], tally ? tally : &unused, &error));
  g_assert_true(astro_uvfits_writer.finish(writer, tally ? tally : &unused, &error));
  g_assert_no_error(error);
  astro_uvfits_writer.destroy(writer);
  g_assert_true(astro_part_file_commit(file, &error));
}

static inline void test_check_contents(const AstroFitsContents *found,
                                       const AstroFitsContents *expected, gboolean has_rate)
{
  const AstroObservation *a = found->observation, *b = expected->observation;
  g_autofree char *start_a = astro_observation_get_start(a);
  g_autofree char *start_b = astro_observation_get_start(b);

  g_assert_cmpuint(found->stations, ==, expected->stations);
  g_assert_cmpint(found->stream.format, ==, ASTRO_FORMAT_CF32LE);
  g_assert_cmpuint(found->stream.layout.n_axes, ==, 4);
  for (guint i = 0; i < 4; i++) {
    g_assert_cmpint(found->stream.layout.axes[i], ==, expected->stream.layout.axes[i]);
    g_assert_cmpuint(found->stream.layout.extents[i], ==, expected->stream.layout.extents[i]);
  }
  g_assert_cmpfloat_with_epsilon(found->stream.frequency, expected->stream.frequency, 1e-6);
  g_assert_cmpfloat_with_epsilon(found->stream.bandwidth, expected->stream.bandwidth, 1e-6);
  if (has_rate)
    g_assert_cmpfloat_with_epsilon((double)found->stream.rate_n / found->stream.rate_d,
                                   1e9 / TEST_STEP_NS, 1e-8);
  g_assert_cmpuint(a->n_stations, ==, b->n_stations);
  g_assert_cmpstr(a->telescope, ==, b->telescope);
  g_assert_cmpstr(a->basis, ==, b->basis);
  g_assert_cmpstr(start_a, ==, start_b);
  g_assert_true(a->has_phase_centre);
  g_assert_cmpfloat_with_epsilon(a->phase_ra, b->phase_ra, 1e-14);
  g_assert_cmpfloat_with_epsilon(a->phase_dec, b->phase_dec, 1e-14);
  for (guint i = 0; i < a->n_stations; i++) {
    g_assert_cmpstr(a->names[i], ==, b->names[i]);
    for (guint k = 0; k < 3; k++)
      g_assert_cmpfloat_with_epsilon(a->positions[3 * i + k], b->positions[3 * i + k], 1e-8);
  }
}
