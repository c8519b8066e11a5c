/* UVFITS: what is written is in the file as FITS's own library reads it, and comes back; files as
 * others write them are read, or refused with a reason. */
#include "core/fits/uvfits-write.h"
#include "core/stream/uvw.h"
#include "tests/core/foreign.h"

#include <malloc.h>

#define STEP_NS 3000000001 /* odd: its half is no whole number */

/* Small numbers of both signs, so that sums and means are exact in floats. */
static gpointer make_data(const AstroFitsContents *c, guint64 frames, guint32 seed)
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

static GstBuffer *make_counts(const AstroFitsContents *c, guint64 frames, const AstroLayout *shape,
                              guint32 full, guint32 seed)
{
  GstBuffer *buffer = gst_buffer_new();
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, shape, full);
  guint64 n = astro_validity_n_counts(meta);
  guint8 *random = g_malloc(n);
  test_fill(random, n, seed);
  for (guint64 i = 0; i < n; i++)
    meta->counts[i] = random[i] % 4 ? random[i] % full + 1 : 0;
  g_free(random);
  return buffer;
}

static void write_file(const char *path, const AstroFitsContents *c, const AstroFitsFrames *blocks,
                       guint n_blocks, AstroFitsTally *tally)
{
  GError *error = NULL;
  AstroFitsTally unused = { 0 };
  AstroPartFile *file = astro_part_file_create(path, &error);
  g_assert_no_error(error);
  gpointer writer = astro_uvfits_writer.create(file, c, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < n_blocks; i++)
    g_assert_true(astro_uvfits_writer.write(writer, &blocks[i], tally ? tally : &unused, &error));
  g_assert_true(astro_uvfits_writer.finish(writer, &error));
  g_assert_no_error(error);
  astro_uvfits_writer.destroy(writer);
  g_assert_true(astro_part_file_commit(file, &error));
}

static void check_contents(const AstroFitsContents *found, const AstroFitsContents *expected,
                           gboolean has_rate)
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
                                   1e9 / STEP_NS, 1e-8);
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

typedef struct {
  guint stations, pols, channels, blocks, frames; /* frames a block */
  AstroFormat format;
  const char *counts; /* axes that are counted, g for half the channels; NULL: none */
} Trip;

static void choose_counted(const Trip *trip, const AstroFitsContents *c, AstroLayout *counted,
                           AstroLayout *whole)
{
  astro_stream_shape(&c->stream, trip->frames, whole);
  counted->n_axes = 0;
  for (guint i = 0, pols = 0; i < whole->n_axes; i++) {
    static const char letters[ASTRO_N_AXES] = {
      [ASTRO_AXIS_TIME] = 't', [ASTRO_AXIS_CHANNEL] = 'c', [ASTRO_AXIS_BASELINE] = 'b'
    };
    AstroAxis axis = whole->axes[i];
    guint64 extent = whole->extents[i];
    gboolean take = strchr(trip->counts, letters[axis]) && letters[axis];
    if (axis == ASTRO_AXIS_POL)
      take = strchr(trip->counts, pols++ ? 'q' : 'p') != NULL;
    if (axis == ASTRO_AXIS_CHANNEL && strchr(trip->counts, 'g')) {
      take = TRUE;
      extent /= 2;
    }
    if (take) {
      counted->axes[counted->n_axes] = axis;
      counted->extents[counted->n_axes++] = extent;
    }
  }
}

static void check_frame(const Trip *trip, const AstroFitsContents *c, const AstroFitsFrames *block,
                        const AstroLayout *whole, guint64 index, const AstroFitsFrame *frame)
{
  guint64 n = test_visibility_samples(c), pols = trip->pols,
          baselines = n / trip->channels / pols / pols;
  for (guint64 k = 0; k < n; k++) {
    guint64 place[ASTRO_MAX_AXES] = { index, k / (pols * pols) / baselines,
                                      k / (pols * pols) % baselines, k / pols % pols, k % pols };
    guint32 count = 1;
    double scale = 1;
    if (block->validity)
      count = astro_validity_at(block->validity, whole, place + (whole->n_axes == 4));
    if (trip->format == ASTRO_FORMAT_CI32LE)
      scale = 1.0 / MAX(count, 1);
    g_assert_cmpuint(frame->counts[k], ==, count);
    for (guint part = 0; part < 2; part++) {
      guint64 at = 2 * (index * n + k) + part;
      double in = trip->format == ASTRO_FORMAT_CF32LE ? ((const float *)block->data)[at]
                                                      : ((const gint32 *)block->data)[at];
      float expected = count ? (float)(in * scale) : 0;
      if (part == 0 || expected != 0)
        g_assert_cmpfloat(((const float *)frame->data)[2 * k + part], ==, expected);
    }
  }
}

/* What a writer should have said of the frame. */
static void add_frame(AstroFitsTally *tally, const AstroFitsFrame *frame, guint64 n)
{
  tally->values += n;
  for (guint64 k = 0; k < n; k++) {
    guint32 count = frame->counts[k];
    tally->flagged += count == 0;
    tally->least = count ? MIN(tally->least, count) : tally->least;
    tally->most = MAX(tally->most, count);
  }
}

static void round_trip(TestPlace *place, gconstpointer data)
{
  const Trip *trip = data;
  AstroFitsContents c = test_contents(trip->stations, trip->pols, trip->channels, trip->format);
  AstroFitsFrames blocks[4];
  GstBuffer *counts[4] = { NULL };
  AstroLayout counted, whole;
  GError *error = NULL;
  guint64 n = test_visibility_samples(&c), frames = trip->blocks * trip->frames;
  AstroFitsTally tally = { 0 }, read = { .least = G_MAXUINT32 };
  guint32 full = 0;

  for (guint b = 0; b < trip->blocks; b++) {
    blocks[b] = (AstroFitsFrames){ .data = make_data(&c, trip->frames, 7 + b),
                                   .frames = trip->frames,
                                   .start_ns = (gint64)b * trip->frames * STEP_NS,
                                   .duration_ns = (gint64)trip->frames * STEP_NS };
    if (trip->counts) {
      choose_counted(trip, &c, &counted, &whole);
      counts[b] = make_counts(&c, trip->frames, &counted, 64, 100 + b);
      blocks[b].validity = astro_buffer_get_validity(counts[b]);
    } else {
      astro_stream_shape(&c.stream, trip->frames, &whole);
    }
  }
  write_file(place->path, &c, blocks, trip->blocks, &tally);

  AstroFitsReader *reader = astro_fits_reader_open(place->path, NULL, &error);
  g_assert_no_error(error);
  const AstroFitsContents *found = astro_fits_reader_contents(reader);
  check_contents(found, &c, frames > 1);
  g_assert_cmpint(ABS((gint64)(found->duration_ns - frames * STEP_NS)), <=, frames > 1 ? 2 : 1000);

  gsize bytes = astro_stream_step_bytes(&found->stream);
  AstroFitsFrame frame = { .data = test_alloc(bytes), .counts = test_alloc(n * sizeof(guint32)) };
  gboolean end;
  for (guint64 k = 0; k < frames; k++) {
    g_assert_true(astro_fits_reader_read(reader, &frame, &end, &error));
    g_assert_no_error(error);
    g_assert_cmpint(ABS(frame.start_ns - (gint64)k * STEP_NS), <=, frames > 1 ? 2 : 1000);
    g_assert_cmpint(ABS((gint64)frame.duration_ns - STEP_NS), <=, frames > 1 ? 2 : 1000);
    check_frame(trip, &c, &blocks[k / trip->frames], &whole, k % trip->frames, &frame);
    full = MAX(full, frame.full);
    add_frame(&read, &frame, n);
  }
  g_assert_cmpuint(full, >=, 1);
  g_assert_cmpmem(&tally, sizeof tally, &read, sizeof read);
  test_check_guard(frame.data, bytes);
  test_check_guard(frame.counts, n * sizeof(guint32));
  g_assert_false(astro_fits_reader_read(reader, &frame, &end, &error));
  g_assert_no_error(error);
  g_assert_true(end);

  test_free(frame.data);
  test_free(frame.counts);
  astro_fits_reader_close(reader);
  for (guint b = 0; b < trip->blocks; b++) {
    g_free((gpointer)blocks[b].data);
    gst_clear_buffer(&counts[b]);
  }
  astro_fits_contents_clear(&c);
}

static double get_number(fitsfile *f, const char *key)
{
  double value = 0;
  int status = 0;
  fits_read_key(f, TDOUBLE, key, &value, NULL, &status);
  if (status)
    g_test_message("no key %s", key);
  g_assert_cmpint(status, ==, 0);
  return value;
}

static void check_text(fitsfile *f, const char *key, const char *expected)
{
  char value[FLEN_VALUE] = "";
  int status = 0;
  fits_read_key(f, TSTRING, key, value, NULL, &status);
  g_assert_cmpint(status, ==, 0);
  g_assert_cmpstr(value, ==, expected);
}

/* The header, a group and the station table, value by value, with CFITSIO alone. */
static void header(TestPlace *place, gconstpointer data)
{
  static const struct {
    const char *key;
    double value;
  } numbers[] = {
    { "BITPIX", -32 },
    { "NAXIS", 7 },
    { "NAXIS1", 0 },
    { "NAXIS2", 3 },
    { "NAXIS3", 4 },
    { "NAXIS4", 2 },
    { "NAXIS5", 1 },
    { "NAXIS6", 1 },
    { "NAXIS7", 1 },
    { "PCOUNT", 7 },
    { "GCOUNT", 12 },
    { "CRVAL3", -5 },
    { "CDELT3", -1 },
    { "CRPIX3", 1 },
    { "CRPIX4", 1 },
    { "CRVAL4", 150e6 - 195312.5 / 2 },
    { "CDELT4", 195312.5 },
    { "CRVAL6", 1.25 * 180 / G_PI },
    { "CRVAL7", 0.9 * 180 / G_PI },
    { "EQUINOX", 2000 },
    { "PZERO4", 2461364.5 },
  };
  static const struct {
    const char *key, *value;
  } texts[] = {
    { "CTYPE2", "COMPLEX" },
    { "CTYPE3", "STOKES" },
    { "CTYPE4", "FREQ" },
    { "CTYPE5", "IF" },
    { "CTYPE6", "RA" },
    { "CTYPE7", "DEC" },
    { "PTYPE1", "UU" },
    { "PTYPE2", "VV" },
    { "PTYPE3", "WW" },
    { "PTYPE4", "DATE" },
    { "PTYPE5", "DATE" },
    { "PTYPE6", "BASELINE" },
    { "PTYPE7", "INTTIM" },
    { "TELESCOP", "TESTARRAY" },
    { "INSTRUME", "TESTARRAY" },
    { "OBJECT", "J0446+5133" },
    { "DATE-OBS", "2026-11-20T21:30:07.123456789" },
  };
  AstroFitsContents c = test_contents(3, 2, 2, ASTRO_FORMAT_CF32LE);
  float values[2][6][4][2] = { 0 };
  double uvw[9], parameters[7], position[3];
  float group[24];
  fitsfile *f;
  int status = 0, groups = 0, column, number = 0;

  /* V of channel 1 of baseline (2, 1), which is the fifth: another number for each product. */
  for (guint p = 0; p < 4; p++) {
    values[1][4][p][0] = 10 + p;
    values[1][4][p][1] = 20 + p;
  }
  AstroFitsFrames blocks[2] = {
    { .data = values, .frames = 1, .start_ns = 0, .duration_ns = 10 * GST_SECOND },
    { .data = values, .frames = 1, .start_ns = 9000 * GST_SECOND, .duration_ns = 10 * GST_SECOND },
  };
  write_file(place->path, &c, blocks, 2, NULL);

  fits_open_diskfile(&f, place->path, READONLY, &status);
  g_assert_cmpint(status, ==, 0);
  fits_read_key(f, TLOGICAL, "GROUPS", &groups, NULL, &status);
  g_assert_true(groups);
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
    g_assert_cmpfloat_with_epsilon(get_number(f, numbers[i].key), numbers[i].value, 1e-9);
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    check_text(f, texts[i].key, texts[i].value);

  /* The second time crosses midnight (21:30:07 + 2.5 h): mid-integration, the day's rest in DATE.
   */
  fits_read_grppar_dbl(f, 11, 1, 7, parameters, &status);
  fits_read_img_flt(f, 11, 1, 24, 0, group, NULL, &status);
  g_assert_cmpint(status, ==, 0);
  astro_uvw(c.observation, 9005 * GST_SECOND, uvw);
  for (guint k = 0; k < 3; k++)
    g_assert_cmpfloat_with_epsilon(parameters[k], (uvw[3 + k] - uvw[6 + k]) / ASTRO_LIGHT_SPEED,
                                   1e-13);
  g_assert_cmpfloat_with_epsilon(parameters[3] + parameters[4],
                                 (21 * 3600 + 30 * 60 + 7.123456789 + 9005) / 86400, 1e-14);
  g_assert_cmpfloat(parameters[5], ==, 256 * 2 + 3);
  g_assert_cmpfloat(parameters[6], ==, 10);
  /* XX YY XY YX of the pair (1, 2): conjugates of our XX YY YX XY of (2, 1). */
  static const double expected[12] = { 10, -20, 1, 13, -23, 1, 12, -22, 1, 11, -21, 1 };
  for (guint i = 0; i < 12; i++) {
    g_assert_cmpfloat(group[12 + i], ==, expected[i]);
    g_assert_cmpfloat(group[i], ==, i % 3 == 2);
  }

  fits_movnam_hdu(f, BINARY_TBL, (char *)"AIPS AN", 1, &status);
  g_assert_cmpint(status, ==, 0);
  check_text(f, "TIMSYS", "UTC");
  check_text(f, "TIMESYS", "UTC");
  check_text(f, "RDATE", "2026-11-20");
  check_text(f, "XYZHAND", "RIGHT");
  check_text(f, "FRAME", "ITRF");
  check_text(f, "ARRNAM", "TESTARRAY");
  g_assert_cmpfloat(get_number(f, "IATUTC"), ==, 37);
  g_assert_cmpfloat(get_number(f, "DATUTC"), ==, 0);
  g_assert_cmpfloat_with_epsilon(get_number(f, "DEGPDY"), 360.985647, 1e-6);
  /* Greenwich at 0h: 280.46062 + 360.98564737 a day since J2000, equation of the equinoxes apart.
   */
  g_assert_cmpfloat_with_epsilon(get_number(f, "GSTIA0"),
                                 fmod(280.46061837 + 360.98564736629 * (2461364.5 - 2451545), 360),
                                 0.02);
  /* From a middle elsewhere some would turn them. */
  for (guint k = 0; k < 3; k++) {
    const char *keys[] = { "ARRAYX", "ARRAYY", "ARRAYZ" };
    fits_get_colnum(f, CASEINSEN, (char *)"STABXYZ", &column, &status);
    fits_read_col(f, TDOUBLE, column, 3, 1, 3, NULL, position, NULL, &status);
    g_assert_cmpfloat(get_number(f, keys[k]), ==, 0);
    g_assert_cmpfloat(position[k], ==, c.observation->positions[6 + k]);
  }
  fits_get_colnum(f, CASEINSEN, (char *)"NOSTA", &column, &status);
  fits_read_col(f, TINT, column, 3, 1, 1, NULL, &number, NULL, &status);
  g_assert_cmpint(number, ==, 3);
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
  astro_fits_contents_clear(&c);
}

/* Autocorrelations stand with equal antennas; a circular basis has its own numbers. */
static void circular(TestPlace *place, gconstpointer data)
{
  AstroFitsContents c = test_contents(2, 2, 1, ASTRO_FORMAT_CF32LE);
  g_autofree gpointer values = make_data(&c, 1, 3);
  AstroFitsFrames block = { .data = values, .frames = 1, .duration_ns = GST_SECOND };
  double parameters[7];
  fitsfile *f;
  int status = 0;

  g_free(c.observation->basis);
  c.observation->basis = g_strdup("circular");
  /* Names that FITS has no letters for, and one longer than usual. */
  g_free(c.observation->names[0]);
  c.observation->names[0] = g_strdup("\xe5\x8c\x97\n");
  g_free(c.observation->names[1]);
  c.observation->names[1] = g_strdup("a name of many letters");
  write_file(place->path, &c, &block, 1, NULL);
  g_free(c.observation->names[0]);
  c.observation->names[0] = g_strdup("??");
  fits_open_diskfile(&f, place->path, READONLY, &status);
  g_assert_cmpfloat(get_number(f, "CRVAL3"), ==, -1);
  fits_read_grppar_dbl(f, 3, 1, 7, parameters, &status);
  g_assert_cmpfloat(parameters[5], ==, 256 * 2 + 2);
  g_assert_cmpfloat(parameters[0], ==, 0);
  fits_movnam_hdu(f, BINARY_TBL, (char *)"AIPS AN", 0, &status);
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);

  AstroFitsReader *reader = astro_fits_reader_open(place->path, NULL, NULL);
  check_contents(astro_fits_reader_contents(reader), &c, FALSE);
  astro_fits_reader_close(reader);
  astro_fits_contents_clear(&c);
}

static void many_stations(TestPlace *place, gconstpointer data)
{
  static const char *const names[] = { "UU",       "VV",       "WW",       "DATE",  "DATE",
                                       "ANTENNA1", "ANTENNA2", "SUBARRAY", "INTTIM" };
  AstroFitsContents c = test_contents(256, 1, 1, ASTRO_FORMAT_CF32LE);
  g_autofree gpointer values = make_data(&c, 1, 3);
  AstroFitsFrames block = { .data = values, .frames = 1, .duration_ns = GST_SECOND };
  double parameters[9];
  fitsfile *f;
  int status = 0;

  write_file(place->path, &c, &block, 1, NULL);
  fits_open_diskfile(&f, place->path, READONLY, &status);
  g_assert_cmpfloat(get_number(f, "PCOUNT"), ==, 9);
  g_assert_cmpfloat(get_number(f, "GCOUNT"), ==, 256 * 257 / 2);
  for (guint i = 0; i < 9; i++) {
    g_autofree char *key = g_strdup_printf("PTYPE%u", i + 1);
    check_text(f, key, names[i]);
  }
  fits_read_grppar_dbl(f, 256 * 257 / 2 - 1, 1, 9, parameters, &status);
  g_assert_cmpint(status, ==, 0);
  g_assert_cmpfloat(parameters[5], ==, 255);
  g_assert_cmpfloat(parameters[6], ==, 256);
  g_assert_cmpfloat(parameters[7], ==, 1);
  fits_close_file(f, &status);
  astro_fits_contents_clear(&c);
}

static void not_finite(TestPlace *place, gconstpointer data)
{
  AstroFitsContents c = test_contents(2, 1, 1, ASTRO_FORMAT_CF32LE);
  float values[3][2] = { { 1, 2 }, { NAN, 3 }, { 4, INFINITY } }, back[3][2];
  guint32 counts[3];
  AstroFitsFrames block = { .data = values, .frames = 1, .duration_ns = GST_SECOND };
  AstroFitsFrame frame = { .data = back, .counts = counts };
  AstroFitsTally tally = { 0 };
  gboolean end;

  write_file(place->path, &c, &block, 1, &tally);
  g_assert_cmpuint(tally.not_finite, ==, 2);
  g_assert_cmpuint(tally.flagged, ==, 2);
  g_assert_cmpuint(tally.values, ==, 3);
  AstroFitsReader *reader = astro_fits_reader_open(place->path, NULL, NULL);
  g_assert_true(astro_fits_reader_read(reader, &frame, &end, NULL));
  g_assert_cmpfloat(back[0][0], ==, 1);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint(counts[i], ==, i == 0);
  g_assert_cmpfloat(back[1][0], ==, 0);
  g_assert_cmpfloat(back[2][1], ==, 0);
  astro_fits_reader_close(reader);
  astro_fits_contents_clear(&c);
}

/* Counts over axes that the buffer has not, or in parts that do not divide it. */
static void wrong_counts(TestPlace *place, gconstpointer data)
{
  static const AstroLayout shapes[] = {
    { 1, { ASTRO_AXIS_CHANNEL }, { 4 } },
    { 1, { ASTRO_AXIS_STATION }, { 2 } },
    { 2, { ASTRO_AXIS_BASELINE, ASTRO_AXIS_CHANNEL }, { 3, 6 } }
  };
  AstroFitsContents c = test_contents(2, 1, 6, ASTRO_FORMAT_CF32LE);
  g_autofree gpointer values = make_data(&c, 1, 1);
  AstroPartFile *file = astro_part_file_create(place->path, NULL);
  gpointer writer = astro_uvfits_writer.create(file, &c, NULL);
  AstroFitsTally tally = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS(shapes); i++) {
    g_autoptr(GError) error = NULL;
    GstBuffer *buffer = gst_buffer_new();
    AstroFitsFrames block = { values, 1, astro_buffer_add_validity(buffer, &shapes[i], 5), 0,
                              GST_SECOND };
    g_assert_false(astro_uvfits_writer.write(writer, &block, &tally, &error));
    g_assert_error(error, ASTRO_STREAM_ERROR, ASTRO_STREAM_ERROR_SIZE);
    gst_buffer_unref(buffer);
  }
  astro_uvfits_writer.destroy(writer);
  astro_part_file_discard(file);
  astro_fits_contents_clear(&c);
}

/* Memory does not grow with the observation. */
static void long_observation(TestPlace *place, gconstpointer data)
{
  AstroFitsContents c = test_contents(19, 2, 3, ASTRO_FORMAT_CF32LE);
  g_autofree gpointer values = make_data(&c, 1, 1);
  AstroPartFile *file = astro_part_file_create(place->path, NULL);
  gpointer writer = astro_uvfits_writer.create(file, &c, NULL);
  gsize before = 0;
  AstroFitsTally tally = { 0 };
  for (guint i = 0; i < 400; i++) {
    AstroFitsFrames block = { values, 1, NULL, i * GST_SECOND, GST_SECOND };
    g_assert_true(astro_uvfits_writer.write(writer, &block, &tally, NULL));
    if (i == 0)
      before = mallinfo2().uordblks;
  }
  g_assert_cmpuint(astro_part_file_bytes(file), >, 10000000);
  g_assert_cmpuint(mallinfo2().uordblks, <, before + 65536);
  astro_uvfits_writer.destroy(writer);
  astro_part_file_discard(file);
  astro_fits_contents_clear(&c);
}

/* Another name for INTTIM. */
static void forget_lengths(const char *path)
{
  char *bytes;
  gsize length;
  g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
  memcpy(g_strstr_len(bytes, length, "'INTTIM"), "'OTHERS", 7);
  g_assert_true(g_file_set_contents(path, bytes, length, NULL));
  g_free(bytes);
}

/* A file of one frame for each start, in seconds, of 10 s each. */
static void write_starts(TestPlace *place, const double *starts, guint n)
{
  AstroFitsContents c = test_contents(2, 1, 1, ASTRO_FORMAT_CF32LE);
  g_autofree AstroFitsFrames *blocks = g_new(AstroFitsFrames, n);
  float values[3][2] = { { 1, 0 }, { 2, 1 }, { 3, 0 } };

  for (guint i = 0; i < n; i++)
    blocks[i] = (AstroFitsFrames){ .data = values,
                                   .frames = 1,
                                   .start_ns = starts[i] * GST_SECOND,
                                   .duration_ns = 10 * GST_SECOND };
  write_file(place->path, &c, blocks, n, NULL);
  astro_fits_contents_clear(&c);
}

/* Without INTTIM the step in time is an integration, and the first step may be a pause. */
static void pause_first(TestPlace *place, gconstpointer data)
{
  static const double starts[] = { 0, 100, 110, 130 };
  float found[3][2];
  guint32 counts[3];
  AstroFitsFrame frame = { .data = found, .counts = counts };
  g_autoptr(GError) error = NULL;
  gboolean end;

  write_starts(place, starts, G_N_ELEMENTS(starts));
  forget_lengths(place->path);
  AstroFitsReader *reader = astro_fits_reader_open(place->path, NULL, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < G_N_ELEMENTS(starts); i++) {
    g_assert_true(astro_fits_reader_read(reader, &frame, &end, &error));
    g_assert_cmpint(frame.start_ns, ==, (gint64)(starts[i] * GST_SECOND));
    g_assert_cmpuint(frame.duration_ns, ==, 10 * GST_SECOND);
  }
  g_assert_false(astro_fits_reader_read(reader, &frame, &end, &error));
  g_assert_true(end);
  astro_fits_reader_close(reader);
}

/* Short baselines may be averaged longer than others, whose integrations lie half of one away, or
 * less. */
static void half_apart(TestPlace *place, gconstpointer data)
{
  static const double starts[] = { 0, 4.9, 7, 10 };
  float found[3][2];
  guint32 counts[3];
  AstroFitsFrame frame = { .data = found, .counts = counts };
  g_autoptr(GError) error = NULL;
  gboolean end;

  write_starts(place, starts, G_N_ELEMENTS(starts));
  AstroFitsReader *reader = astro_fits_reader_open(place->path, NULL, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < G_N_ELEMENTS(starts); i++) {
    astro_fits_reader_read(reader, &frame, &end, &error);
    g_assert_no_error(error);
    g_assert_cmpint(ABS(frame.start_ns - (gint64)(starts[i] * GST_SECOND)), <, 1000);
  }
  astro_fits_reader_close(reader);
}

/* An array's middle is no farther away than its stations may be. */
static void far_middle(TestPlace *place, gconstpointer data)
{
  static const double start = 0;
  double metres = 1e300;
  g_autoptr(GError) error = NULL;
  fitsfile *f;
  int status = 0;

  write_starts(place, &start, 1);
  fits_open_diskfile(&f, place->path, READWRITE, &status);
  fits_movnam_hdu(f, BINARY_TBL, (char *)"AIPS AN", 0, &status);
  fits_update_key(f, TDOUBLE, "ARRAYY", &metres, NULL, &status);
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
  g_assert_null(astro_fits_reader_open(place->path, NULL, &error));
  g_assert_nonnull(strstr(error->message, "has ARRAYY 1e+300 m, expected less than 1e+12 m"));
}

/* Groups whose integration times differ are told of: a stream has one for all. */
static void mixed_lengths(TestPlace *place, gconstpointer data)
{
  static const guint seconds[][2] = { { 10, 10 }, { 10, 20 }, { 20, 10 } };
  float values[3][2] = { { 1, 0 }, { 2, 1 }, { 3, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS(seconds); i++) {
    g_autoptr(GError) error = NULL;
    AstroFitsContents c = test_contents(2, 1, 1, ASTRO_FORMAT_CF32LE);
    AstroFitsFrames blocks[2] = { 0 };
    for (guint k = 0; k < 2; k++)
      blocks[k] = (AstroFitsFrames){ .data = values,
                                     .frames = 1,
                                     .start_ns = k * 30 * GST_SECOND,
                                     .duration_ns = seconds[i][k] * GST_SECOND };
    write_file(place->path, &c, blocks, 2, NULL);
    AstroFitsReader *reader = astro_fits_reader_open(place->path, NULL, &error);
    g_assert_no_error(error);
    const char *note = astro_fits_reader_contents(reader)->note;
    g_autofree char *says =
        g_strdup_printf("integration times of %u s and %u s (INTTIM): all go on as if %u s long",
                        seconds[i][0], seconds[i][1], seconds[i][0]);
    g_assert_true(!!note == (seconds[i][0] != seconds[i][1]));
    g_assert_true(!note || strstr(note, says));
    astro_fits_reader_close(reader);
    astro_fits_contents_clear(&c);
  }
}

/* One integration without INTTIM: its middle stays where it is. */
static void one_without_length(TestPlace *place, gconstpointer data)
{
  AstroFitsContents c = test_contents(2, 1, 1, ASTRO_FORMAT_CF32LE);
  float values[3][2] = { { 1, 0 }, { 2, 1 }, { 3, 0 } }, found[3][2];
  guint32 counts[3];
  AstroFitsFrame frame = { .data = found, .counts = counts };
  AstroFitsFrames block = { .data = values, .frames = 1, .duration_ns = 10 * GST_SECOND };
  g_autoptr(GError) error = NULL;
  gboolean end;

  write_file(place->path, &c, &block, 1, NULL);
  forget_lengths(place->path);
  AstroFitsReader *reader = astro_fits_reader_open(place->path, NULL, &error);
  g_assert_no_error(error);
  const AstroFitsContents *read = astro_fits_reader_contents(reader);
  g_assert_nonnull(strstr(read->note, "INTTIM"));
  g_assert_true(astro_fits_reader_read(reader, &frame, &end, &error));
  gint64 lead = (gint64)c.observation->start_ns - (gint64)read->observation->start_ns;
  g_assert_cmpint(frame.start_ns + (gint64)frame.duration_ns / 2, ==, lead + 5 * GST_SECOND);
  g_assert_cmpint(frame.start_ns, >=, 0);
  g_assert_cmpuint(frame.duration_ns, >, 0);
  astro_fits_reader_close(reader);
  astro_fits_contents_clear(&c);
}

#define ORDER_FRAMES 1000 /* more groups than are looked at to tell whether they are in order */

/* Where the group that was at i goes. */
typedef guint64 (*Order)(guint64 i, guint64 groups);

static guint64 by_baseline(guint64 i, guint64 groups)
{
  guint64 baselines = groups / ORDER_FRAMES;
  return i % baselines * ORDER_FRAMES + i / baselines;
}

static guint64 backwards(guint64 i, guint64 groups)
{
  return groups - 1 - i;
}

static guint64 second_half_first(guint64 i, guint64 groups)
{
  return (i + groups / 2) % groups;
}

static void reorder(const char *path, Order order)
{
  g_autofree char *bytes = NULL, *was = NULL;
  gsize length;
  LONGLONG head, from, end;
  long groups, parameters;
  fitsfile *f;
  int status = 0;
  fits_open_diskfile(&f, path, READONLY, &status);
  fits_get_hduaddrll(f, &head, &from, &end, &status);
  fits_read_key(f, TLONG, "GCOUNT", &groups, NULL, &status);
  fits_read_key(f, TLONG, "PCOUNT", &parameters, NULL, &status);
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
  g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
  gsize width = (parameters + 3) * 4; /* one value with its weight */
  was = g_memdup2(bytes + from, groups * width);
  for (long i = 0; i < groups; i++)
    memcpy(bytes + from + order(i, groups) * width, was + i * width, width);
  g_assert_true(g_file_set_contents(path, bytes, length, NULL));
}

static void any_order(TestPlace *place, gconstpointer data)
{
  static const Order orders[] = { by_baseline, backwards, second_half_first };
  AstroFitsContents c = test_contents(3, 1, 1, ASTRO_FORMAT_CF32LE);
  guint64 n = test_visibility_samples(&c);
  g_autofree float *values = make_data(&c, ORDER_FRAMES, 5);
  AstroFitsFrames block = { .data = values,
                            .frames = ORDER_FRAMES,
                            .duration_ns = ORDER_FRAMES * GST_SECOND };
  for (guint o = 0; o < G_N_ELEMENTS(orders); o++) {
    g_autoptr(GError) error = NULL;
    float found[12];
    guint32 counts[6];
    AstroFitsFrame frame = { .data = found, .counts = counts };
    gboolean end = FALSE;
    guint64 i = 0;
    write_file(place->path, &c, &block, 1, NULL);
    reorder(place->path, orders[o]);
    AstroFitsReader *reader = astro_fits_reader_open(place->path, NULL, &error);
    g_assert_no_error(error);
    check_contents(astro_fits_reader_contents(reader), &c, FALSE);
    for (; astro_fits_reader_read(reader, &frame, &end, &error); i++) {
      g_assert_cmpint(ABS(frame.start_ns - (gint64)(i * GST_SECOND)), <, GST_SECOND / 10);
      for (guint64 k = 0; k < 2 * n; k++)
        g_assert_cmpfloat(found[k], ==, values[2 * n * i + k]);
    }
    g_assert_no_error(error);
    g_assert_true(end);
    g_assert_cmpuint(i, ==, ORDER_FRAMES);
    astro_fits_reader_close(reader);
  }
  astro_fits_contents_clear(&c);
}

static void check_refused(const AstroFitsContents *c, const char *place, const char *expect)
{
  g_autoptr(GError) error = NULL;
  AstroPartFile *file = astro_part_file_create(place, NULL);
  g_assert_null(astro_uvfits_writer.create(file, c, &error));
  g_assert_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_MISSING);
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, expect));
  astro_part_file_discard(file);
}

static void missing(TestPlace *place, gconstpointer data)
{
  AstroFitsContents c = test_contents(3, 2, 2, ASTRO_FORMAT_CF32LE);
  AstroObservation *observation = c.observation;
  g_autoptr(GError) error = NULL;

  c.observation = NULL;
  check_refused(&c, place->path, "observation");
  c.observation = observation;
  observation->has_start = FALSE;
  check_refused(&c, place->path, "start time");
  observation->has_start = TRUE;
  const gint32 today = observation->start_mjd;
  observation->start_mjd = 124593;
  check_refused(&c, place->path, "MJD 124593, UVFITS takes a day of 1858 to 2132");
  observation->start_mjd = -21504;
  check_refused(&c, place->path, "MJD -21504, UVFITS takes a day of 1858 to 2132");
  observation->start_mjd = today;
  observation->has_phase_centre = FALSE;
  check_refused(&c, place->path, "phase centre");
  observation->has_phase_centre = TRUE;
  c.stations = 4;
  check_refused(&c, place->path, "stations=4");
  c.stations = 0;
  c.stream.layout.extents[1] = 5;
  check_refused(&c, place->path, "baselines=5");
  c.stream.layout.extents[1] = 6;
  c.stream.frequency = 0;
  check_refused(&c, place->path, "frequency");
  c.stream.frequency = 1e8;
  c.stream.bandwidth = 0;
  check_refused(&c, place->path, "bandwidth");
  c.stream.bandwidth = 2e8;
  check_refused(&c, place->path, "below 0 Hz");
  c.stream.bandwidth = 1e6;
  g_free(observation->basis);
  observation->basis = g_strdup("elliptic");
  check_refused(&c, place->path, "elliptic");
  g_free(observation->basis);
  observation->basis = g_strdup("linear");

  /* No integration at all. */
  AstroPartFile *file = astro_part_file_create(place->path, NULL);
  gpointer writer = astro_uvfits_writer.create(file, &c, &error);
  g_assert_no_error(error);
  g_assert_false(astro_uvfits_writer.finish(writer, &error));
  g_assert_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_MISSING);
  astro_uvfits_writer.destroy(writer);
  astro_part_file_discard(file);
  astro_fits_contents_clear(&c);
}

/* Caps may have fields that are none of visibilities. */
static void other_fields(TestPlace *place, gconstpointer data)
{
  AstroFitsContents c = test_contents(2, 1, 1, ASTRO_FORMAT_CF32LE);
  gpointer samples = make_data(&c, 1, 1);
  AstroFitsFrames block = { .data = samples, .frames = 1, .duration_ns = STEP_NS };
  c.columns = g_strdup("ra:dec");
  c.note = g_strdup("a note");
  write_file(place->path, &c, &block, 1, NULL);
  g_assert_cmpstr(c.columns, ==, "ra:dec");
  g_assert_cmpstr(c.note, ==, "a note");
  g_free(samples);
  astro_fits_contents_clear(&c);
}

static const Foreign foreign_files[] = {
  { .name = "plain" },
  { .name = "one-date", .one_date = TRUE },
  { .name = "old-names", .old_names = TRUE },
  { .name = "underlined", .underlined = TRUE },
  { .name = "numbers-apart", .numbers_apart = TRUE },
  { .name = "frequency-first", .freq_before_stokes = TRUE, .channels = 5 },
  { .name = "frequency-pixel", .freq_pixel = 4.5, .channels = 3 },
  { .name = "frequency-falls", .freq_step = -1e6, .channels = 3 },
  { .name = "several-ifs", .ifs = 3 },
  { .name = "several-falling-ifs", .ifs = 3, .freq_step = -1e6 },
  { .name = "one-if-elsewhere", .if_first = 5e6 },
  { .name = "second-setup", .setup = 2, .if_first = 5e6 },
  { .name = "several-ifs-of-second-setup", .setup = 2, .if_first = 5e6, .ifs = 3 },
  { .name = "linear", .first_stokes = -5 },
  { .name = "stokes-up", .first_stokes = -4, .stokes_step = 1 },
  { .name = "two-hands", .n_stokes = 2 },
  { .name = "one-hand", .n_stokes = 1, .first_stokes = -2 },
  { .name = "stokes-i", .n_stokes = 1, .first_stokes = 1 },
  { .name = "no-inttim", .no_inttim = TRUE },
  { .name = "no-weight", .no_weight = TRUE },
  { .name = "small-weights", .weight = 1e-4 },
  { .name = "whole-weight-first", .weight = 0.125, .whole_first = TRUE },
  { .name = "heavier-later", .heavier = 100 },
  { .name = "missing-baseline", .skip = 2 },
  { .name = "by-baseline", .sorted_by_baseline = TRUE },
  { .name = "swapped", .swapped = TRUE },
  { .name = "station-numbers", .number_step = 7 },
  { .name = "station-numbers-fall", .number_step = -1, .numbers_apart = TRUE },
  { .name = "integers", .bitpix = 32, .scale = 1e6 },
  { .name = "doubles", .bitpix = -64 },
  { .name = "source-table", .sources = TRUE },
  { .name = "source-table-and-axes", .sources = TRUE, .other_axes = TRUE, .source_equinox = 2000 },
  { .name = "tai", .timsys = "IAT" },
  { .name = "left-handed", .hand = "LEFT" },
  { .name = "turned-to-meridian", .frame = "????" },
  { .name = "itrf", .frame = "ITRF" },
  { .name = "itrf-and-turned", .frame = "ITRF", .places = "turned" },
  { .name = "unknown-frame-not-turned", .frame = "????", .places = "straight" },
  { .name = "right-hand-told-left", .places = "left" },
  { .name = "left-hand-told-right", .hand = "LEFT", .places = "straight" },
  { .name = "in-wavelengths", .frame = "ITRF", .places = "turned", .uvw_unit = 0.3 },
  { .name = "from-station-2", .places = "straight", .uvw_unit = -1 },
  { .name = "swapped-with-places", .swapped = TRUE, .frame = "ITRF", .places = "turned" },
  { .name = "second-array-first", .second_array_first = TRUE, .places = "straight" },
  { .name = "other-places", .frame = "ITRF", .places = "elsewhere" },
  { .name = "start-told", .date_obs = "2023-02-25T11:59:40" },
  { .name = "start-too-late", .date_obs = "2023-02-25T12:00:05" },
  { .name = "unknown-axis-of-one", .extra_axis = "SPIN", .extra_length = 1 },
  { .name = "nan", .nan = TRUE },
  { .name = "endless-weight", .endless_weight = TRUE },

  { .name = "unknown-axis", .extra_axis = "SPIN", .extra_length = 2, .expect = "\"SPIN\" with 2" },
  { .name = "axis-twice", .extra_axis = "IF", .extra_length = 1, .expect = "second time" },
  { .name = "gap-between-ifs", .ifs = 2, .if_gap = 5e5, .expect = "IF 2" },
  { .name = "no-if-table", .ifs = 2, .no_fq = TRUE, .expect = "AIPS FQ" },
  { .name = "stokes-iquv", .first_stokes = 1, .stokes_step = 1, .expect = "STOKES" },
  { .name = "cut-groups", .cut = 1, .expect = "cut short" },
  { .name = "cut-stations", .cut = 2880, .expect = "AIPS AN" },
  { .name = "no-stations", .no_an = TRUE, .expect = "AIPS AN" },
  { .name = "unknown-station", .bad_number = 9, .expect = "group 6 is of station 9" },
  { .name = "subarray", .subarray = 2, .expect = "subarray 2" },
  { .name = "subarray-apart", .subarray = 2, .numbers_apart = TRUE, .expect = "subarray 2" },
  { .name = "twice", .repeat = TRUE, .expect = "second of stations 1 and 3" },
  { .name = "two-sources", .sources = TRUE, .source_changes = TRUE, .expect = "SOURCE" },
  { .name = "unknown-setup", .setup = 9, .expect = "FREQSEL 9" },
  { .name = "b1950-source", .sources = TRUE, .source_equinox = 1950, .expect = "1950" },
  { .name = "b1950", .equinox = 1950, .expect = "1950" },
  { .name = "odd-clock", .timsys = "LST", .expect = "LST" },
};

static const Foreign foreign_usual = { .channels = 2, .ifs = 1, .n_stokes = 4, .freq_step = 1e6 };

/* The station that has this index in the file's table; numbers rise or fall with it. */
static void check_foreign_contents(const Foreign *o, const AstroFitsContents *c)
{
  guint channels = (o->channels ? o->channels : foreign_usual.channels) * MAX(o->ifs, 1);
  double step = o->freq_step ? o->freq_step : foreign_usual.freq_step;
  g_autofree char *start = astro_observation_get_start(c->observation);
  const double *p = c->observation->positions;

  g_assert_cmpuint(c->stations, ==, FOREIGN_STATIONS);
  g_assert_cmpuint(astro_stream_extent(&c->stream, ASTRO_AXIS_CHANNEL), ==, channels);
  g_assert_cmpuint(astro_stream_extent(&c->stream, ASTRO_AXIS_POL), ==, o->n_stokes == 1 ? 1 : 2);
  g_assert_cmpfloat_with_epsilon(c->stream.bandwidth, fabs(step) * channels, 1e-3);
  g_assert_cmpfloat_with_epsilon(c->stream.frequency,
                                 1e9 + o->if_first + (channels - 1) * 0.5 * step, 1e-3);
  g_assert_cmpstr(c->observation->basis, ==,
                  o->first_stokes == -5 || o->first_stokes == 1 ? "linear" : "circular");
  g_assert_cmpstr(c->observation->telescope, ==, "OTHER");
  g_assert_cmpstr(c->observation->names[1], ==, "ST1");
  g_assert_cmpfloat_with_epsilon(c->observation->phase_ra, (o->sources ? 41 : 123) * G_PI / 180,
                                 1e-12);
  g_assert_cmpfloat_with_epsilon(c->observation->phase_dec, (o->sources ? 29 : 0) * G_PI / 180,
                                 1e-12);

  /* What the groups' (u,v,w) tell, else the keywords. */
  gboolean told = o->places && !g_str_equal(o->places, "elsewhere");
  double place[3];
  foreign_place(o, 1,
                g_str_equal(told       ? o->places
                            : o->frame ? o->frame
                                       : "",
                            told ? "turned" : "????"),
                g_str_equal(told      ? o->places
                            : o->hand ? o->hand
                                      : "",
                            told ? "left" : "LEFT"),
                place);
  for (guint k = 0; k < 3; k++)
    g_assert_cmpfloat_with_epsilon(p[3 + k], place[k], 1e-6);
  const gboolean renamed = o->first_stokes == -2 || o->first_stokes == 1;
  g_assert_true((c->note != NULL) == (g_strcmp0(o->places, "elsewhere") == 0 || renamed));
  if (renamed)
    test_says(c->note, o->first_stokes == 1 ? "are Stokes I" : "are LL");

  /* At MJD 60000 (2023-02-25) 12:00:00. */
  g_assert_cmpint(c->observation->start_mjd, ==, 60000);
  double begin = 43200;
  if (g_strcmp0(o->timsys, "IAT") == 0)
    begin -= 37;
  if (o->date_obs && g_str_has_suffix(o->date_obs, "40"))
    begin -= 20;
  g_assert_cmpfloat_with_epsilon(c->observation->start_ns * 1e-9, begin,
                                 o->bitpix == 32 ? 0.1 : 0.005);
}

static void check_foreign_value(const Foreign *o, const AstroFitsFrame *frame, guint time, guint i,
                                guint j, guint c, guint channels)
{
  guint n_stokes = o->n_stokes ? o->n_stokes : 4, pols = n_stokes == 1 ? 1 : 2,
        baseline = i * (i + 1) / 2 + j, pair = j == 1 ? 2 : i - 1;
  for (guint s = 0; s < 4; s++) { /* RR LL RL LR of (j, i) are RR LL LR RL of ours, conjugated */
    static const guint ours[2][4] = { { 0, 3, 2, 1 }, { 0, 3, 1, 2 } };
    if (pols == 1 && s > 0)
      break;
    guint at = (c * 6 + baseline) * pols * pols + ours[o->swapped][s];
    const float *found = (const float *)frame->data + 2 * at;
    guint in_file = o->stokes_step > 0 ? 3 - s : s;
    guint file_channel = o->freq_step < 0 ? channels - 1 - c : c;
    float expected[2];
    gboolean there = in_file < n_stokes && i != j &&
                     !(o->skip && o->skip - 1 == time * FOREIGN_STATIONS + pair) &&
                     !(pair == 1 && file_channel == 1 && !o->weight && !o->no_weight) &&
                     !((o->nan || o->endless_weight) && time == 1 && pair == 2 &&
                       file_channel == 0 && in_file == 0);
    foreign_value(pair, time, file_channel, in_file, expected);
    guint32 weight = o->no_weight ? 1 : (10 + pair) * (time && o->heavier ? o->heavier : 1);
    if (!there) {
      g_assert_cmpuint(frame->counts[at], ==, 0);
      g_assert_cmpfloat(found[0], ==, 0);
      continue;
    }
    double largest = o->whole_first ? 1 : (float)(3 * o->weight), fraction = o->weight * (pair + 1);
    if (o->weight) /* the largest is 2^22, the others in proportion */
      g_assert_cmpuint(frame->counts[at], ==,
                       o->whole_first && time == 0 && pair == 0
                           ? 1 << 22
                           : (guint)round((1 << 22) * (double)(float)fraction / largest));
    else
      g_assert_cmpuint(frame->counts[at], ==, weight);
    double epsilon = o->scale ? 1e-3 : 1e-9;
    g_assert_cmpfloat_with_epsilon(found[0], expected[0], epsilon);
    /* Counted from station 2 to 1, (u,v,w) are those of the conjugate. */
    gboolean ours_is_theirs = o->swapped != (o->uvw_unit < 0);
    g_assert_cmpfloat_with_epsilon(found[1], ours_is_theirs ? expected[1] : -expected[1], epsilon);
  }
}

static void foreign(TestPlace *place, gconstpointer data)
{
  const Foreign *o = data;
  g_autoptr(GError) error = NULL;
  AstroFitsFrame frame = { 0 };
  gboolean end = FALSE;
  guint time = 0, full = 0;

  foreign_write(place->path, o);
  AstroFitsReader *reader = astro_fits_reader_open(place->path, NULL, &error);
  if (reader) {
    const AstroFitsContents *c = astro_fits_reader_contents(reader);
    guint channels = astro_stream_extent(&c->stream, ASTRO_AXIS_CHANNEL);
    gsize bytes = astro_stream_step_bytes(&c->stream), n = test_visibility_samples(c);
    double lead = o->date_obs && g_str_has_suffix(o->date_obs, "40") ? 20 : 0;
    if (!o->expect)
      check_foreign_contents(o, c);
    frame.data = test_alloc(bytes);
    frame.counts = test_alloc(4 * n);
    for (; astro_fits_reader_read(reader, &frame, &end, &error); time++) {
      if (o->expect)
        continue;
      double slack = o->bitpix == 32 ? 0.2 : 0.01;
      g_assert_cmpfloat_with_epsilon(frame.start_ns * 1e-9, lead + time * FOREIGN_STEP, slack);
      g_assert_cmpfloat_with_epsilon(frame.duration_ns * 1e-9, FOREIGN_STEP, slack);
      /* Shares of frames can be compared. */
      full = time ? full : frame.full;
      g_assert_cmpuint(frame.full, ==, full);
      for (guint i = 0; i < FOREIGN_STATIONS; i++)
        for (guint j = 0; j <= i; j++)
          for (guint k = 0; k < channels; k++)
            check_foreign_value(o, &frame, time, i, j, k, channels);
    }
    test_check_guard(frame.data, bytes);
    test_check_guard(frame.counts, 4 * n);
    test_free(frame.data);
    test_free(frame.counts);
    astro_fits_reader_close(reader);
  }
  if (o->expect) {
    g_assert_nonnull(error);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, place->path));
    g_assert_nonnull(strstr(error->message, o->expect));
  } else {
    g_assert_no_error(error);
    g_assert_true(end);
    g_assert_cmpuint(time, ==, FOREIGN_TIMES);
  }
}

static void check_not_opened(const char *path, const char *expect)
{
  g_autoptr(GError) error = NULL;
  g_assert_null(astro_fits_reader_open(path, NULL, &error));
  g_assert_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN);
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, path));
  g_assert_nonnull(strstr(error->message, expect));
}

static void not_uvfits(TestPlace *place, gconstpointer data)
{
  long axes[1] = { 4 };
  fitsfile *f;
  int status = 0;

  check_not_opened(place->path, "No such file");
  check_not_opened(place->folder, "not a regular file");
  g_assert_true(g_file_set_contents(place->path, "", 0, NULL));
  check_not_opened(place->path, "is empty");
  g_assert_true(g_file_set_contents(place->path, "not at all", -1, NULL));
  check_not_opened(place->path, "SIMPLE");
  g_unlink(place->path);
  fits_create_diskfile(&f, place->path, &status);
  fits_create_img(f, -32, 1, axes, &status); /* neither groups nor an image */
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
  check_not_opened(place->path, "UVFITS");
}

static const Trip trips[] = {
  { 1, 1, 1, 1, 1, ASTRO_FORMAT_CF32LE, NULL },    { 3, 2, 7, 2, 1, ASTRO_FORMAT_CF32LE, NULL },
  { 4, 2, 1, 2, 3, ASTRO_FORMAT_CF32LE, NULL },    { 19, 2, 3, 2, 1, ASTRO_FORMAT_CF32LE, "cbpq" },
  { 4, 2, 6, 2, 3, ASTRO_FORMAT_CF32LE, "tcbpq" }, { 4, 2, 6, 2, 3, ASTRO_FORMAT_CF32LE, "tb" },
  { 4, 2, 6, 2, 3, ASTRO_FORMAT_CF32LE, "b" },     { 5, 1, 6, 3, 2, ASTRO_FORMAT_CF32LE, "gb" },
  { 5, 2, 6, 3, 1, ASTRO_FORMAT_CI32LE, "cbpq" },  { 5, 2, 6, 3, 2, ASTRO_FORMAT_CI32LE, "t" },
  { 3, 1, 5, 1, 1, ASTRO_FORMAT_CI32LE, NULL },    { 33, 1, 3, 2, 2, ASTRO_FORMAT_CI32LE, "bp" },
  { 3, 2, 1500, 2, 1, ASTRO_FORMAT_CF32LE, "b" },  { 257, 1, 1, 2, 1, ASTRO_FORMAT_CF32LE, "b" },
};

int main(int argc, char **argv)
{
  static const TestPlaceCase cases[] = {
    { "header", header },
    { "circular", circular },
    { "many-stations", many_stations },
    { "not-finite", not_finite },
    { "wrong-counts", wrong_counts },
    { "long-observation", long_observation },
    { "pause-first", pause_first },
    { "half-apart", half_apart },
    { "one-without-length", one_without_length },
    { "mixed-lengths", mixed_lengths },
    { "far-middle", far_middle },
    { "any-order", any_order },
    { "missing", missing },
    { "other-fields", other_fields },
    { "not-uvfits", not_uvfits },
  };
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  test_add_places("/uvfits/", cases, G_N_ELEMENTS(cases));
  for (guint i = 0; i < G_N_ELEMENTS(trips); i++) {
    g_autofree char *path = g_strdup_printf(
        "/uvfits/round-trip/%u-%u-%u-%s-%s", trips[i].stations, trips[i].pols, trips[i].channels,
        astro_format_info(trips[i].format)->name, trips[i].counts ? trips[i].counts : "valid");
    g_test_add(path, TestPlace, &trips[i], test_place_set_up, round_trip, test_place_tear_down);
  }
  for (guint i = 0; i < G_N_ELEMENTS(foreign_files); i++) {
    g_autofree char *path = g_strconcat("/uvfits/foreign/", foreign_files[i].name, NULL);
    g_test_add(path, TestPlace, &foreign_files[i], test_place_set_up, foreign,
               test_place_tear_down);
  }
  int result = g_test_run();
  gst_deinit();
  return result;
}
