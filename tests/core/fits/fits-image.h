/* Shared by tests of FITS images: files that we write, and images read one after the other. */
#pragma once

#include "core/fits/cfitsio.h"
#include "core/fits/fits.h"
#include "tests/core/fits/uvfits.h"

#include <math.h>

#define TEST_DEGREES (180.0 / G_PI)

static inline AstroObservation *test_new_observation(void)
{
  AstroObservation *o = astro_observation_new(0);
  o->done.scale = 1;
  g_free(o->telescope);
  o->telescope = g_strdup("Westerbork");
  o->has_phase_centre = TRUE;
  o->phase_ra = 350.25 / TEST_DEGREES;
  o->phase_dec = -41.5 / TEST_DEGREES;
  g_assert_true(astro_observation_set_start(o, "2026-11-20T23:59:50.25", NULL));
  return o;
}

static inline void test_contents_of(AstroFitsContents *contents, const char *text,
                                    gboolean observed)
{
  GError *error = NULL;
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  memset(contents, 0, sizeof *contents);
  g_assert_true(astro_fits_contents_from_caps(contents, caps, &error));
  g_assert_no_error(error);
  if (observed)
    contents->observation = test_new_observation();
}

/* Pixels of image i: random bits, except signalling NaNs, which a float register would change. */
static inline gpointer test_new_pixels(const AstroFitsContents *contents, guint seed)
{
  gsize bytes = astro_stream_step_bytes(&contents->stream);
  guint8 *data = g_malloc(bytes);
  test_fill(data, bytes, seed);
  for (gsize i = 3; i < bytes; i += 4)
    data[i] &= 0xbf;
  return data;
}

static inline void test_beam_of(AstroImageMeta *meta, guint i)
{
  *meta = (AstroImageMeta){ .has_beam = TRUE,
                            .major = (2.5 + i) / 3600 / TEST_DEGREES,
                            .minor = 1.25 / 3600 / TEST_DEGREES,
                            .angle = -30.5 / TEST_DEGREES,
                            .border = 5 * i };
}

static inline void test_frames_of(AstroFitsFrames *frames, gconstpointer data, guint i,
                                  const AstroImageMeta *beam)
{
  *frames = (AstroFitsFrames){ .data = data,
                               .frames = 1,
                               .start_ns = i * 10 * G_GINT64_CONSTANT(1000000000),
                               .duration_ns = 7 * G_GINT64_CONSTANT(1234567891),
                               .image = beam };
}

static inline void test_write_ours(const char *path, const AstroFitsContents *contents, guint n)
{
  GError *error = NULL;
  AstroFitsTally tally = { 0 };
  const AstroFitsWriterKind *kind = astro_fits_writer_kind(ASTRO_QUANTITY_IMAGE, path, &error);
  AstroPartFile *file = astro_part_file_create(path, &error);
  gpointer writer = kind->create(file, contents, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < n; i++) {
    g_autofree gpointer data = test_new_pixels(contents, i);
    AstroImageMeta beam;
    AstroFitsFrames frames;
    test_beam_of(&beam, i);
    test_frames_of(&frames, data, i, &beam);
    g_assert_true(kind->write(writer, &frames, &tally, &error));
  }
  g_assert_true(kind->finish(writer, &tally, &error));
  kind->destroy(writer);
  g_assert_true(astro_part_file_commit(file, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(tally.values, ==, n * astro_layout_samples(&contents->stream.layout));
}

static inline AstroFitsReader *test_open_good(const char *path)
{
  GError *error = NULL;
  AstroFitsReader *reader = astro_fits_reader_open(path, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpint(astro_fits_reader_contents(reader)->stream.quantity, ==, ASTRO_QUANTITY_IMAGE);
  return reader;
}

/* The next image, in a block with a guard. */
static inline gpointer test_read_next(AstroFitsReader *reader, AstroFitsFrame *frame)
{
  GError *error = NULL;
  gboolean end;
  gsize bytes = astro_stream_step_bytes(&astro_fits_reader_contents(reader)->stream);
  gpointer data = test_alloc(bytes);
  *frame = (AstroFitsFrame){ .data = data };
  gboolean done = astro_fits_reader_read(reader, frame, &end, &error);
  g_assert_no_error(error);
  g_assert_true(done);
  test_check_guard(data, bytes);
  return data;
}

static inline void test_expect_end(AstroFitsReader *reader)
{
  GError *error = NULL;
  gboolean end;
  gpointer data = test_alloc(astro_stream_step_bytes(&astro_fits_reader_contents(reader)->stream));
  AstroFitsFrame frame = { .data = data };
  g_assert_false(astro_fits_reader_read(reader, &frame, &end, &error));
  g_assert_no_error(error);
  g_assert_true(end);
  test_free(data);
  astro_fits_reader_close(reader);
}

#define TEST_NEAR(a, b) g_assert_cmpfloat_with_epsilon(a, b, 1e-13 + 1e-13 * fabs((double)(b)))

#define TEST_PLACED                                                                                \
  "application/x-astro-image, frequency=(double)150e6, bandwidth=(double)1e6, "                    \
  "pixel=(double)0.0001, centre-l=(double)0.0125, centre-m=(double)-0.02, "

static const char *const test_streams[] = {
  TEST_PLACED "format=F32LE, layout=pol:y:x, pols=1, width=16, height=16",
  TEST_PLACED "format=F64LE, layout=pol:y:x, pols=4, width=7, height=5, products=I:Q:U:V",
  TEST_PLACED "format=F32LE, layout=channel:pol:y:x, channels=3, pols=4, width=6, height=9",
  TEST_PLACED "format=F64LE, layout=channel:pol:y:x, channels=2, pols=3, width=700, height=500, "
              "products=I:I-MODEL:PSF",
  TEST_PLACED "format=F32LE, layout=pol:y:x, pols=4, width=20, height=20, "
              "products=I:I-MODEL:I-RESIDUAL:PSF",
  TEST_PLACED "format=F32LE, layout=pol:y:x, pols=6, width=20, height=20, "
              "products=XX:YY:XX-MODEL:YY-MODEL:XX-RESIDUAL:YY-RESIDUAL",
  TEST_PLACED "format=F32LE, layout=pol:y:x, pols=2, width=1, height=1, products=RL:LR",
  TEST_PLACED "format=F32LE, layout=pol:y:x, pols=1, width=20, height=20, products=PSF",
  TEST_PLACED "format=F32LE, layout=pol:y:x, pols=2, width=20, height=20, products=I:V",
};
