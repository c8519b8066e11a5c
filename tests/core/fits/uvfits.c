/* UVFITS: what is written is read back, and what cannot be written is refused with a reason. */
#include "tests/core/fits/uvfits-written.h"

#include <malloc.h>

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

typedef struct {
  guint stations, pols, channels, blocks, frames; /* frames a block */
  AstroFormat format;
  const char *counts; /* axes with counts, g for half the channels; NULL: none */
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

/* Adds the figures that a writer should report for the frame. */
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
    blocks[b] = (AstroFitsFrames){ .data = test_make_data(&c, trip->frames, 7 + b),
                                   .frames = trip->frames,
                                   .start_ns = (gint64)b * trip->frames * TEST_STEP_NS,
                                   .duration_ns = (gint64)trip->frames * TEST_STEP_NS };
    if (trip->counts) {
      choose_counted(trip, &c, &counted, &whole);
      counts[b] = make_counts(&c, trip->frames, &counted, 64, 100 + b);
      blocks[b].validity = astro_buffer_get_validity(counts[b]);
    } else {
      astro_stream_shape(&c.stream, trip->frames, &whole);
    }
  }
  test_write_uvfits(place->path, &c, blocks, trip->blocks, &tally);

  AstroFitsReader *reader = astro_fits_reader_open(place->path, NULL, &error);
  g_assert_no_error(error);
  const AstroFitsContents *found = astro_fits_reader_contents(reader);
  test_check_contents(found, &c, frames > 1);
  g_assert_cmpint(ABS((gint64)(found->duration_ns - frames * TEST_STEP_NS)), <=,
                  frames > 1 ? 2 : 1000);

  gsize bytes = astro_stream_step_bytes(&found->stream);
  AstroFitsFrame frame = { .data = test_alloc(bytes), .counts = test_alloc(n * sizeof(guint32)) };
  gboolean end;
  for (guint64 k = 0; k < frames; k++) {
    g_assert_true(astro_fits_reader_read(reader, &frame, &end, &error));
    g_assert_no_error(error);
    g_assert_cmpint(ABS(frame.start_ns - (gint64)k * TEST_STEP_NS), <=, frames > 1 ? 2 : 1000);
    g_assert_cmpint(ABS((gint64)frame.duration_ns - TEST_STEP_NS), <=, frames > 1 ? 2 : 1000);
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

static void not_finite(TestPlace *place, gconstpointer data)
{
  AstroFitsContents c = test_contents(2, 1, 1, ASTRO_FORMAT_CF32LE);
  float values[3][2] = { { 1, 2 }, { NAN, 3 }, { 4, INFINITY } }, back[3][2];
  guint32 counts[3];
  AstroFitsFrames block = { .data = values, .frames = 1, .duration_ns = GST_SECOND };
  AstroFitsFrame frame = { .data = back, .counts = counts };
  AstroFitsTally tally = { 0 };
  gboolean end;

  test_write_uvfits(place->path, &c, &block, 1, &tally);
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

/* Counts over axes that the buffer does not have, or in parts that do not divide it. */
static void wrong_counts(TestPlace *place, gconstpointer data)
{
  static const AstroLayout shapes[] = {
    { 1, { ASTRO_AXIS_CHANNEL }, { 4 } },
    { 1, { ASTRO_AXIS_STATION }, { 2 } },
    { 2, { ASTRO_AXIS_BASELINE, ASTRO_AXIS_CHANNEL }, { 3, 6 } }
  };
  AstroFitsContents c = test_contents(2, 1, 6, ASTRO_FORMAT_CF32LE);
  g_autofree gpointer values = test_make_data(&c, 1, 1);
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
  g_autofree gpointer values = test_make_data(&c, 1, 1);
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
  check_refused(&c, place->path, "MJD 124593, UVFITS takes a day from 1858 to 2132");
  observation->start_mjd = -21504;
  check_refused(&c, place->path, "MJD -21504, UVFITS takes a day from 1858 to 2132");
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
  c.stream.bandwidth = 4.01e8;
  check_refused(&c, place->path, "first channel is below 0 Hz");
  c.stream.bandwidth = 1e6;
  g_free(observation->basis);
  observation->basis = g_strdup("elliptic");
  check_refused(&c, place->path, "elliptic");
  g_free(observation->basis);
  observation->basis = g_strdup("linear");

  /* No integration at all. */
  AstroPartFile *file = astro_part_file_create(place->path, NULL);
  gpointer writer = astro_uvfits_writer.create(file, &c, &error);
  AstroFitsTally tally = { 0 };
  g_assert_no_error(error);
  g_assert_false(astro_uvfits_writer.finish(writer, &tally, &error));
  g_assert_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_MISSING);
  astro_uvfits_writer.destroy(writer);
  astro_part_file_discard(file);
  astro_fits_contents_clear(&c);
}

/* Caps may have fields that visibilities do not have. */
static void other_fields(TestPlace *place, gconstpointer data)
{
  AstroFitsContents c = test_contents(2, 1, 1, ASTRO_FORMAT_CF32LE);
  gpointer samples = test_make_data(&c, 1, 1);
  AstroFitsFrames block = { .data = samples, .frames = 1, .duration_ns = TEST_STEP_NS };
  c.columns = g_strdup("ra:dec");
  c.note = g_strdup("a note");
  test_write_uvfits(place->path, &c, &block, 1, NULL);
  g_assert_cmpstr(c.columns, ==, "ra:dec");
  g_assert_cmpstr(c.note, ==, "a note");
  g_free(samples);
  astro_fits_contents_clear(&c);
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

static void add_tests(void)
{
  static const TestPlaceCase cases[] = {
    { "not-finite", not_finite },
    { "wrong-counts", wrong_counts },
    { "long-observation", long_observation },
    { "missing", missing },
    { "other-fields", other_fields },
  };
  test_add_places("/uvfits/", cases, G_N_ELEMENTS(cases));
  for (guint i = 0; i < G_N_ELEMENTS(trips); i++) {
    g_autofree char *path = g_strdup_printf(
        "/uvfits/round-trip/%u-%u-%u-%s-%s", trips[i].stations, trips[i].pols, trips[i].channels,
        astro_format_info(trips[i].format)->name, trips[i].counts ? trips[i].counts : "valid");
    g_test_add(path, TestPlace, &trips[i], test_place_set_up, round_trip, test_place_tear_down);
  }
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
