/* Measurement Sets: what is read is what was written, bit for bit, whatever other programs did to
 * the order of rows and antennas; and what cannot be right is refused, with the reason. */
#include "core/sets/sets.h"
#include "core/stream/uvw.h"
#include "tests/core/fits/uvfits.h"
#include "tests/core/sets/alter.h"
#include "tests/remove-all.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 3
#define FRAMES 4
#define LOST 2 /* this integration is not written */

typedef struct {
  char *folder, *path, *other;
} Place;

/* A stream of random values and counts. */
typedef struct {
  guint stations, pols, channels;
  AstroFormat format;
  gboolean is_circular;
  double frequency; /* 0: 150 MHz */
} Shape;

static void set_up(Place *place, gconstpointer data)
{
  place->folder = test_folder();
  place->path = g_build_filename(place->folder, "a.ms", NULL);
  place->other = g_build_filename(place->folder, "b.ms", NULL);
}

static void tear_down(Place *place, gconstpointer data)
{
  g_autofree char *part = g_strconcat(place->path, ".part", NULL);
  g_assert_false(g_file_test(part, G_FILE_TEST_EXISTS));
  test_remove_all(place->folder);
  g_free(place->folder);
  g_free(place->path);
  g_free(place->other);
}

/* ---- what is written ---- */

static AstroFitsContents contents_of(const Shape *shape)
{
  AstroFitsContents c = test_contents(shape->stations, shape->pols, shape->channels, shape->format);
  c.stream.rate_d = SECONDS;
  c.stream.frequency = shape->frequency > 0 ? shape->frequency : 150e6;
  if (shape->is_circular) {
    g_free(c.observation->basis);
    c.observation->basis = g_strdup("circular");
  }
  return c;
}

static GstBuffer *counts_of(const AstroFitsContents *c, guint seed)
{
  AstroLayout shape;
  GstBuffer *buffer = gst_buffer_new();
  astro_stream_shape(&c->stream, 1, &shape);
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 1000);
  g_autoptr(GRand) random = g_rand_new_with_seed(seed);
  for (guint64 i = 0; i < astro_validity_n_counts(meta); i++)
    meta->counts[i] = (guint32)g_rand_int_range(random, 0, 4) * 250;
  meta->counts[0] = seed == 0 ? 750 : seed == 1 ? 0 : 250;
  return buffer;
}

static float value_at(guint frame, guint64 i)
{
  return (float)(sin(1.7 * (double)i + frame) * 100);
}

/* From -1000 to 1000 as sums of integers. */
static gint32 sum_at(guint frame, guint64 i)
{
  return (gint32)(10 * value_at(frame, i));
}

static void write_frame(AstroSetWriter *writer, const AstroFitsContents *c, guint frame,
                        AstroRowTally *tally)
{
  GError *error = NULL;
  const guint64 n = 2 * test_visibility_samples(c);
  g_autofree float *values = g_new(float, n);
  g_autofree gint32 *sums = g_new(gint32, n);
  g_autoptr(GstBuffer) counts = counts_of(c, frame);
  for (guint64 i = 0; i < n; i++) {
    values[i] = value_at(frame, i);
    sums[i] = sum_at(frame, i);
  }
  const AstroRowFrames frames = {
    .data = c->stream.format == ASTRO_FORMAT_CF32LE ? (gpointer)values : sums,
    .frames = 1,
    .validity = astro_buffer_get_validity(counts),
    .start_ns = frame * SECONDS * GST_SECOND,
    .duration_ns = SECONDS * GST_SECOND,
  };
  astro_set_writer_write(writer, &frames, tally, &error);
  g_assert_no_error(error);
}

static void write_set(const char *path, const Shape *shape)
{
  GError *error = NULL;
  AstroFitsContents c = contents_of(shape);
  AstroRowTally tally = { 0 };
  AstroSetWriter *writer = astro_set_writer_new(path, &error);
  g_assert_no_error(error);
  astro_set_writer_begin(writer, &c.stream, c.stations, c.observation, &error);
  g_assert_no_error(error);
  for (guint f = 0; f < FRAMES; f++)
    if (f != LOST)
      write_frame(writer, &c, f, &tally);
  g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
  astro_set_writer_finish(writer, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(tally.values, ==, (FRAMES - 1) * test_visibility_samples(&c));
  g_assert_cmpuint(tally.flagged, >, 0);
  g_assert_cmpuint(tally.least, ==, 250);
  g_assert_cmpuint(tally.most, ==, 750);
  astro_fits_contents_clear(&c);
}

/* ---- what is read ---- */

static const AstroSetOptions plain = { .band = -1 };

static AstroSetReader *open_set(const char *path, const AstroSetOptions *options)
{
  GError *error = NULL;
  AstroSetReader *reader = astro_set_reader_open(path, options, &error);
  g_assert_no_error(error);
  return reader;
}

typedef struct {
  float *data;
  guint32 *counts;
  double *uvw;
  AstroRowFrame frame;
} Read;

static void read_clear(Read *read)
{
  g_free(read->data);
  g_free(read->counts);
  g_free(read->uvw);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Read, read_clear)

static gboolean read_frame(AstroSetReader *reader, Read *read)
{
  GError *error = NULL;
  const AstroStream *s = &astro_set_reader_contents(reader)->stream;
  const guint64 n = astro_layout_samples(&s->layout);
  gboolean end;
  read_clear(read);
  *read = (Read){ .data = g_new(float, 2 * n),
                  .counts = g_new(guint32, n),
                  .uvw = g_new(double, 3 * astro_stream_extent(s, ASTRO_AXIS_BASELINE)) };
  /* Nothing of what was there before may be left. */
  memset(read->data, 0x55, 2 * n * sizeof(float));
  memset(read->counts, 0x55, n * sizeof(guint32));
  read->frame = (AstroRowFrame){ .data = read->data, .counts = read->counts, .uvw = read->uvw };
  const gboolean done = astro_set_reader_read(reader, &read->frame, &end, &error);
  g_assert_no_error(error);
  g_assert_true(done != end);
  return done;
}

/* Some values are not compared: those of a baseline that the set has lost. */
static void assert_frame(const Read *read, const AstroFitsContents *c, guint frame,
                         gint lost_baseline)
{
  g_autoptr(GstBuffer) buffer = counts_of(c, frame);
  const guint32 *counts = astro_buffer_get_validity(buffer)->counts;
  const guint64 products = astro_stream_extent(&c->stream, ASTRO_AXIS_POL) *
                           astro_stream_extent(&c->stream, ASTRO_AXIS_POL),
                baselines = astro_stream_extent(&c->stream, ASTRO_AXIS_BASELINE);
  g_assert_cmpint(read->frame.start_ns, ==, frame * SECONDS * GST_SECOND);
  g_assert_cmpuint(read->frame.duration_ns, ==, SECONDS * GST_SECOND);
  g_assert_cmpuint(read->frame.not_finite, ==, 0);
  for (guint64 i = 0; i < test_visibility_samples(c); i++) {
    const gboolean is_lost = lost_baseline >= 0 && i / products % baselines == (guint)lost_baseline;
    const guint32 count = is_lost ? 0 : counts[i];
    g_assert_cmpuint(read->counts[i], ==, count);
    for (guint k = 0; k < 2; k++) {
      const guint64 at = 2 * i + k;
      const float wanted = c->stream.format == ASTRO_FORMAT_CF32LE
                               ? value_at(frame, at)
                               : (float)(sum_at(frame, at) * (1.0 / count));
      g_assert_cmpfloat(read->data[at], ==, count ? wanted : 0);
    }
  }
}

static void assert_set(const char *path, const Shape *shape, const AstroSetOptions *options,
                       gint lost_baseline)
{
  AstroFitsContents c = contents_of(shape);
  g_autoptr(AstroSetReader) reader = open_set(path, options);
  const AstroRowContents *found = astro_set_reader_contents(reader);
  const AstroObservation *o = found->observation;
  g_auto(Read) read = { 0 };
  g_assert_cmpstr(found->note, ==, NULL);
  g_assert_true(astro_layout_is_equal(&found->stream.layout, &c.stream.layout));
  g_assert_cmpfloat(found->stream.frequency, ==, c.stream.frequency);
  g_assert_cmpfloat(found->stream.bandwidth, ==, c.stream.bandwidth);
  g_assert_cmpint(found->stream.rate_n, ==, 1);
  g_assert_cmpint(found->stream.rate_d, ==, SECONDS);
  g_assert_cmpuint(found->duration_ns, ==, FRAMES * SECONDS * GST_SECOND);
  g_assert_cmpstr(o->telescope, ==, c.observation->telescope);
  g_assert_cmpstr(o->basis, ==, c.observation->basis);
  g_assert_cmpint(o->start_mjd, ==, c.observation->start_mjd);
  g_assert_cmpuint(o->start_ns, ==, c.observation->start_ns);
  g_assert_cmpfloat(o->phase_ra, ==, c.observation->phase_ra);
  g_assert_cmpfloat(o->phase_dec, ==, c.observation->phase_dec);
  g_assert_cmpmem(o->positions, 3 * o->n_stations * sizeof(double), c.observation->positions,
                  3 * c.observation->n_stations * sizeof(double));
  for (guint f = 0; f < FRAMES; f++) {
    if (f == LOST)
      continue;
    g_assert_true(read_frame(reader, &read));
    assert_frame(&read, &c, f, f == 0 ? lost_baseline : -1);
    g_assert_cmpuint(read.frame.full, ==, 750);
  }
  g_assert_false(read_frame(reader, &read));
  astro_fits_contents_clear(&c);
}

static void assert_refused(const char *path, const AstroSetOptions *options, const char *says)
{
  GError *error = NULL;
  g_assert_null(astro_set_reader_open(path, options, &error));
  g_assert_nonnull(error);
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, says));
  g_assert_nonnull(strstr(error->message, path));
  g_error_free(error);
}

/* ---- cases ---- */

static const Shape shapes[] = {
  { 1, 1, 1, ASTRO_FORMAT_CF32LE, FALSE, 0 }, { 2, 2, 1, ASTRO_FORMAT_CF32LE, TRUE, 0 },
  { 3, 1, 5, ASTRO_FORMAT_CI32LE, FALSE, 0 }, { 7, 2, 3, ASTRO_FORMAT_CF32LE, FALSE, 0 },
  { 5, 2, 4, ASTRO_FORMAT_CI32LE, TRUE, 0 },
};
static const Shape common = { 4, 2, 3, ASTRO_FORMAT_CF32LE, FALSE, 0 };
static const Shape single = { 4, 1, 2, ASTRO_FORMAT_CF32LE, FALSE, 0 };

static void returns(Place *place, gconstpointer data)
{
  for (guint i = 0; i < G_N_ELEMENTS(shapes); i++) {
    write_set(place->path, &shapes[i]);
    assert_set(place->path, &shapes[i], &plain, -1);
    test_remove_all(place->path);
  }
}

static void any_order(Place *place, gconstpointer data)
{
  write_set(place->path, &common);
  test_alter_shuffle(place->path);
  assert_set(place->path, &common, &plain, -1);
  test_alter_exchange(place->path);
  assert_set(place->path, &common, &plain, -1);
}

static void conjugated(Place *place, gconstpointer data)
{
  const AstroSetOptions table = { .band = -1, .uvw = ASTRO_SET_UVW_TABLE };
  write_set(place->path, &common);
  test_alter_conjugate(place->path);
  assert_set(place->path, &common, &plain, -1);
  assert_set(place->path, &common, &table, -1);
}

/* Row 3 is baseline (2,0). */
static void missing_row(Place *place, gconstpointer data)
{
  write_set(place->path, &common);
  test_alter_remove_row(place->path, 3);
  assert_set(place->path, &common, &plain, 3);
}

/* A row whose FLAG_ROW is set has no good values. */
static void flagged_row(Place *place, gconstpointer data)
{
  write_set(place->path, &common);
  test_alter_flag(place->path, 5);
  assert_set(place->path, &common, &plain, 5);
}

static void mirrored(Place *place, gconstpointer data)
{
  const AstroSetOptions table = { .band = -1, .uvw = ASTRO_SET_UVW_TABLE },
                        file = { .band = -1, .uvw = ASTRO_SET_UVW_FILE };
  g_auto(Read) read = { 0 };
  write_set(place->path, &common);
  test_alter_mirror_u(place->path);
  assert_refused(place->path, &plain, "u has the opposite sign");
  assert_set(place->path, &common, &table, -1);
  g_autoptr(AstroSetReader) reader = open_set(place->path, &file);
  AstroObservation *o = astro_set_reader_contents(reader)->observation;
  double uvw[3 * 4];
  g_assert_true(read_frame(reader, &read));
  g_assert_cmpfloat(o->uvw_metres, >, 100);
  astro_uvw(o, SECONDS * GST_SECOND / 2, uvw);
  /* Baseline 4 is (2,1), with i minus j. */
  g_assert_cmpfloat(fabs(read.uvw[12] + (uvw[6] - uvw[3])), <, 1e-3);
  g_assert_cmpfloat(fabs(read.uvw[13] - (uvw[7] - uvw[4])), <, 1e-3);
  g_assert_cmpfloat(fabs(read.uvw[14] - (uvw[8] - uvw[5])), <, 1e-3);
}

/* Columns that were phased to another direction than table FIELD has are not read as if they had
 * not been. */
static void phased(Place *place, gconstpointer data)
{
  const AstroSetOptions file = { .band = -1, .uvw = ASTRO_SET_UVW_FILE };
  write_set(place->path, &common);
  test_alter_phase_centre(place->path, 0.01);
  assert_refused(place->path, &plain, "UVW do not match the antennas' positions and the phase");
  g_autoptr(AstroSetReader) reader = open_set(place->path, &file);
  g_assert_cmpfloat(astro_set_reader_contents(reader)->observation->uvw_metres, >, 100);
  test_alter_phase_centre(place->path, -0.01);
  assert_set(place->path, &common, &plain, -1);
  test_alter_phase_moves(place->path, 1e-9);
  assert_refused(place->path, &plain, "moves, expected a fixed one");
}

/* Fractions keep their ratios. */
static void weights(Place *place, gconstpointer data)
{
  g_auto(Read) read = { 0 };
  guint found = 0;
  write_set(place->path, &single);
  test_alter_scale_weights(place->path, 1 / 1000.0f);
  AstroFitsContents c = contents_of(&single);
  g_autoptr(GstBuffer) buffer = counts_of(&c, 0);
  const guint32 *counts = astro_buffer_get_validity(buffer)->counts;
  g_autoptr(AstroSetReader) reader = open_set(place->path, &plain);
  g_assert_true(read_frame(reader, &read));
  for (guint64 i = 0; i < test_visibility_samples(&c); i++) {
    const double ratio = (double)read.counts[i] / read.frame.full;
    found += counts[i] > 0;
    g_assert_cmpfloat(fabs(ratio - counts[i] / 750.0), <, 1e-6);
  }
  g_assert_cmpuint(found, >, 0);
  g_assert_cmpuint(read.frame.full, >, G_MAXINT32 / 2);
  astro_fits_contents_clear(&c);
}

/* WEIGHT is then the weight of all channels that are not flagged. */
static void no_spectrum(Place *place, gconstpointer data)
{
  const Shape shape = { 3, 1, 1, ASTRO_FORMAT_CF32LE, FALSE, 0 };
  write_set(place->path, &shape);
  test_alter_remove_column(place->path, "WEIGHT_SPECTRUM");
  assert_set(place->path, &shape, &plain, -1);
}

/* Without WEIGHT too, weights are those of SIGMA. */
static void only_sigma(Place *place, gconstpointer data)
{
  const Shape shape = { 3, 1, 1, ASTRO_FORMAT_CF32LE, FALSE, 0 };
  g_auto(Read) read = { 0 };
  guint found = 0;
  write_set(place->path, &shape);
  test_alter_remove_column(place->path, "WEIGHT_SPECTRUM");
  test_alter_remove_column(place->path, "WEIGHT");
  AstroFitsContents c = contents_of(&shape);
  g_autoptr(GstBuffer) buffer = counts_of(&c, 0);
  const guint32 *counts = astro_buffer_get_validity(buffer)->counts;
  g_autoptr(AstroSetReader) reader = open_set(place->path, &plain);
  g_assert_true(read_frame(reader, &read));
  for (guint64 i = 0; i < test_visibility_samples(&c); i++) {
    found += counts[i] > 0;
    g_assert_cmpfloat(fabs((double)read.counts[i] / read.frame.full - counts[i] / 750.0), <, 1e-6);
  }
  g_assert_cmpuint(found, >, 1);
  astro_fits_contents_clear(&c);
}

/* Another process has the set open for writing. That is an error at once, and no longer one when it
 * is done. */
static void locked(Place *place, gconstpointer data)
{
  GError *error = NULL;
  int ready[2];
  char byte;
  write_set(place->path, &common);
  g_assert_cmpint(pipe(ready), ==, 0);
  const pid_t other = fork();
  if (other == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (astro_set_update_new(place->path, "DATA", NULL) && write(ready[1], "x", 1) == 1)
      pause();
    _exit(1);
  }
  close(ready[1]);
  g_assert_cmpint(read(ready[0], &byte, 1), ==, 1);
  const gint64 begin = g_get_monotonic_time();
  assert_refused(place->path, &plain, "is locked by another program");
  g_assert_null(astro_set_update_new(place->path, "DATA", &error));
  g_assert_error(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_OPEN);
  g_assert_nonnull(strstr(error->message, "is locked by another program"));
  g_error_free(error);
  g_assert_cmpint(g_get_monotonic_time() - begin, <, 20 * G_USEC_PER_SEC);
  kill(other, SIGKILL);
  waitpid(other, NULL, 0);
  close(ready[0]);
  assert_set(place->path, &common, &plain, -1);
}

/* casacore would end the program in the middle of opening. */
static void many_files(Place *place, gconstpointer data)
{
  struct rlimit before, few;
  write_set(place->path, &common);
  g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &before), ==, 0);
  few = before;
  few.rlim_cur = 20;
  g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &few), ==, 0);
  assert_refused(place->path, &plain, "too many files open already");
  g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &before), ==, 0);
  assert_set(place->path, &common, &plain, -1);
}

static void column(Place *place, gconstpointer data)
{
  const AstroSetOptions corrected = { .band = -1, .column = "CORRECTED_DATA" };
  g_auto(Read) once = { 0 }, twice = { 0 };
  write_set(place->path, &single);
  assert_refused(place->path, &corrected, "no column CORRECTED_DATA, expected one of DATA");
  test_alter_add_corrected(place->path);
  AstroSetReader *reader = open_set(place->path, &plain);
  g_assert_true(read_frame(reader, &once));
  const guint64 n = 2 * astro_layout_samples(&astro_set_reader_contents(reader)->stream.layout);
  astro_set_reader_close(reader);
  reader = open_set(place->path, &corrected);
  g_assert_true(read_frame(reader, &twice));
  for (guint64 i = 0; i < n; i++)
    g_assert_cmpfloat(twice.data[i], ==, 2 * once.data[i]);
  astro_set_reader_close(reader);
}

static void fields(Place *place, gconstpointer data)
{
  const AstroSetOptions one = { .band = -1, .field = "1" }, named = { .band = -1, .field = "M31" };
  write_set(place->path, &common);
  write_set(place->other, &common);
  test_alter_add_field(place->path, place->other);
  assert_refused(place->path, &plain, "rows of 2 fields, expected one");
  assert_refused(place->path, &named, "field=M31 is not there");
  assert_set(place->path, &common, &one, -1);
}

/* Bands that adjoin are one, in whatever order they are in the set. */
static void bands(Place *place, gconstpointer data)
{
  const double width = 3 * 195312.5;
  Shape low = common, high = common;
  const AstroSetOptions second = { .band = 1 }, third = { .band = 2 };
  g_auto(Read) read = { 0 };
  low.frequency = 150e6 - width / 2;
  high.frequency = 150e6 + width / 2;
  write_set(place->path, &high);
  write_set(place->other, &low);
  test_alter_add_band(place->path, place->other);
  assert_set(place->path, &low, &second, -1);
  assert_refused(place->path, &third, "band=2, but it has spectral windows 0 to 1");
  g_autoptr(AstroSetReader) reader = open_set(place->path, &plain);
  const AstroStream *s = &astro_set_reader_contents(reader)->stream;
  g_assert_cmpfloat(s->frequency, ==, 150e6);
  g_assert_cmpfloat(s->bandwidth, ==, 2 * width);
  g_assert_true(read_frame(reader, &read));
  AstroFitsContents c = contents_of(&common);
  const guint64 half = test_visibility_samples(&c);
  g_assert_cmpuint(astro_layout_samples(&s->layout), ==, 2 * half);
  /* Both had the same values. */
  g_assert_cmpmem(read.data, 2 * half * sizeof(float), read.data + 2 * half,
                  2 * half * sizeof(float));
  assert_frame(&read, &c, 0, -1);
  astro_fits_contents_clear(&c);
}

static void bands_apart(Place *place, gconstpointer data)
{
  Shape far = common;
  const AstroSetOptions second = { .band = 1 };
  far.frequency = 160e6;
  write_set(place->path, &common);
  write_set(place->other, &far);
  test_alter_add_band(place->path, place->other);
  assert_refused(place->path, &plain, "do not make one band");
  assert_set(place->path, &far, &second, -1);
}

/* Writes the values of other integrations back, with the counts of these. */
static void update(const char *path, const char *column, const Shape *shape, guint later)
{
  GError *error = NULL;
  AstroFitsContents c = contents_of(shape);
  AstroRowTally tally = { 0 };
  const guint64 n = 2 * test_visibility_samples(&c);
  g_autofree float *values = g_new(float, n);
  AstroSetUpdate *update = astro_set_update_new(path, column, &error);
  g_assert_no_error(error);
  astro_set_update_begin(update, &c.stream, c.stations, c.observation, &error);
  g_assert_no_error(error);
  for (guint f = 0; f < FRAMES; f++) {
    g_autoptr(GstBuffer) counts = counts_of(&c, f + later);
    for (guint64 i = 0; i < n; i++)
      values[i] = value_at(f + later, i);
    const AstroRowFrames frames = { .data = values,
                                    .frames = 1,
                                    .validity = astro_buffer_get_validity(counts),
                                    .start_ns = f * SECONDS * GST_SECOND,
                                    .duration_ns = SECONDS * GST_SECOND };
    if (f == LOST) {
      g_assert_false(astro_set_update_write(update, &frames, &tally, &error));
      g_assert_nonnull(strstr(error->message, "no integration at 7.5"));
      g_clear_error(&error);
      continue;
    }
    astro_set_update_write(update, &frames, &tally, &error);
    g_assert_no_error(error);
  }
  astro_set_update_finish(update, &error);
  g_assert_no_error(error);
  astro_fits_contents_clear(&c);
}

/* A new column has those values that have a count, and DATA where they have none. */
static void assert_updated(const char *path, const Shape *shape, const char *column, guint later)
{
  const AstroSetOptions options = { .band = -1, .column = column };
  AstroFitsContents c = contents_of(shape);
  g_autoptr(AstroSetReader) reader = open_set(path, &options);
  g_auto(Read) read = { 0 };
  for (guint f = 0; f < FRAMES; f++) {
    g_autoptr(GstBuffer) before = counts_of(&c, f), now = counts_of(&c, f + later);
    const guint32 *old = astro_buffer_get_validity(before)->counts;
    const guint32 *counts = astro_buffer_get_validity(now)->counts;
    if (f == LOST)
      continue;
    g_assert_true(read_frame(reader, &read));
    for (guint64 i = 0; i < test_visibility_samples(&c); i++)
      for (guint k = 0; k < 2; k++)
        g_assert_cmpfloat(read.data[2 * i + k], ==,
                          !old[i] ? 0 : value_at(counts[i] ? f + later : f, 2 * i + k));
  }
  astro_fits_contents_clear(&c);
}

static void updates(Place *place, gconstpointer data)
{
  write_set(place->path, &common);
  update(place->path, "CORRECTED_DATA", &common, 10);
  assert_updated(place->path, &common, "CORRECTED_DATA", 10);
  assert_set(place->path, &common, &plain, -1);
  test_alter_shuffle(place->path);
  test_alter_exchange(place->path);
  update(place->path, "MODEL_DATA", &common, 20);
  update(place->path, "CORRECTED_DATA", &common, 30);
  assert_set(place->path, &common, &plain, -1);
  test_alter_conjugate(place->path);
  update(place->path, "DATA", &common, 40);
  assert_updated(place->path, &common, "DATA", 40);
}

static void updates_flags(Place *place, gconstpointer data)
{
  AstroFitsContents c = contents_of(&common);
  g_auto(Read) read = { 0 };
  write_set(place->path, &common);
  test_alter_exchange(place->path);
  update(place->path, "FLAG", &common, 10);
  g_autoptr(AstroSetReader) reader = open_set(place->path, &plain);
  for (guint f = 0; f < FRAMES; f++) {
    g_autoptr(GstBuffer) before = counts_of(&c, f), now = counts_of(&c, f + 10);
    const guint32 *old = astro_buffer_get_validity(before)->counts;
    const guint32 *counts = astro_buffer_get_validity(now)->counts;
    if (f == LOST)
      continue;
    g_assert_true(read_frame(reader, &read));
    for (guint64 i = 0; i < test_visibility_samples(&c); i++)
      g_assert_cmpuint(read.counts[i], ==, counts[i] ? old[i] : 0);
  }
  astro_fits_contents_clear(&c);
}

static void assert_no_update(const char *path, const Shape *shape, const char *station,
                             const char *says)
{
  GError *error = NULL;
  AstroFitsContents c = contents_of(shape);
  AstroSetUpdate *update = astro_set_update_new(path, "DATA", &error);
  g_assert_no_error(error);
  if (station) {
    g_free(c.observation->names[1]);
    c.observation->names[1] = g_strdup(station);
  }
  g_assert_false(astro_set_update_begin(update, &c.stream, c.stations, c.observation, &error));
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, says));
  g_error_free(error);
  astro_set_update_discard(update);
  astro_fits_contents_clear(&c);
}

static void no_updates(Place *place, gconstpointer data)
{
  GError *error = NULL;
  Shape more = common, other = common;
  more.stations = 5;
  other.frequency = 151e6;
  write_set(place->path, &common);
  assert_no_update(place->path, &more, NULL, "has 5 stations, and the set has rows of 4");
  assert_no_update(place->path, &common, "MARS", "station 1 of the stream is MARS");
  assert_no_update(place->path, &other, NULL, "has other channels");
  g_assert_null(astro_set_update_new(place->path, "SIGMA_DATA", &error));
  g_assert_nonnull(strstr(error->message, "it has no column SIGMA_DATA, expected DATA"));
  g_clear_error(&error);
  g_assert_null(astro_set_update_new(place->other, "DATA", &error));
  g_assert_nonnull(strstr(error->message, "does not exist"));
  g_error_free(error);
}

static void refused(Place *place, gconstpointer data)
{
  write_set(place->path, &single);
  test_alter_integer(place->path, "", "ARRAY_ID", 7, 1);
  assert_refused(place->path, &plain, "row 7 is of array 1");
  test_alter_integer(place->path, "", "ARRAY_ID", 7, 0);
  test_alter_integer(place->path, "", "ANTENNA2", 7, 9);
  assert_refused(place->path, &plain, "antennas 1 and 9, but table ANTENNA has 4");
  test_alter_integer(place->path, "", "ANTENNA2", 7, 2);
  assert_refused(place->path, &plain, "is the second one for stations");
  test_alter_integer(place->path, "", "ANTENNA2", 7, 3);
  test_alter_integer(place->path, "", "FIELD_ID", 7, 4);
  assert_refused(place->path, &plain, "row 7 has field 4");
  test_alter_integer(place->path, "", "FIELD_ID", 7, 0);
  test_alter_integer(place->path, "", "DATA_DESC_ID", 7, 4);
  assert_refused(place->path, &plain, "row 7 has DATA_DESC_ID 4");
  test_alter_integer(place->path, "", "DATA_DESC_ID", 7, 0);
  test_alter_double(place->path, "", "TIME", 7, -5);
  assert_refused(place->path, &plain, "row 7 has the time -5 s");
}

static void no_rows(Place *place, gconstpointer data)
{
  write_set(place->path, &single);
  test_alter_remove_rows(place->path);
  assert_refused(place->path, &plain, "it has no rows");
}

static void cut_short(Place *place, gconstpointer data)
{
  static const char *const tables[] = { "ANTENNA", "FIELD", "SPECTRAL_WINDOW", "OBSERVATION" };
  write_set(place->path, &single);
  for (guint i = 0; i < G_N_ELEMENTS(tables); i++) {
    g_autofree char *table = g_build_filename(place->path, tables[i], NULL);
    g_autofree char *away = g_build_filename(place->folder, "away", NULL);
    g_assert_cmpint(g_rename(table, away), ==, 0);
    assert_refused(place->path, &plain, tables[i]);
    g_assert_cmpint(g_rename(away, table), ==, 0);
  }
  assert_set(place->path, &single, &plain, -1);
  /* All that has the values is gone from some point on. */
  g_autoptr(GDir) dir = g_dir_open(place->path, 0, NULL);
  const char *name;
  while ((name = g_dir_read_name(dir)))
    if (g_str_has_suffix(name, "_TSM0")) {
      g_autofree char *file = g_build_filename(place->path, name, NULL);
      g_assert_cmpint(truncate(file, 100), ==, 0);
    }
  assert_refused(place->path, &plain, "cannot read");
}

static void no_set(Place *place, gconstpointer data)
{
  assert_refused(place->path, &plain, "does not exist");
  g_mkdir(place->path, 0777);
  assert_refused(place->path, &plain, "does not exist");
}

/* A set may be read by several at a time. */
static void many_readers(Place *place, gconstpointer data)
{
  write_set(place->path, &single);
  g_autoptr(AstroSetReader) one = open_set(place->path, &plain),
                            two = open_set(place->path, &plain);
  g_assert_nonnull(one);
  g_assert_nonnull(two);
}

/* Where X points east it is our Y; feeds that are turned together, as CASA has them, stay. */
static void x_east(Place *place, gconstpointer data)
{
  static const Shape shape = {
    .stations = 3, .pols = 2, .channels = 2, .format = ASTRO_FORMAT_CF32LE
  };
  g_auto(Read) before = { 0 }, east = { 0 };
  write_set(place->path, &shape);
  test_alter_feeds(place->path, G_PI_2, G_PI_2);
  g_autoptr(AstroSetReader) one = open_set(place->path, &plain);
  g_assert_cmpstr(astro_set_reader_contents(one)->note, ==, NULL);
  g_assert_true(read_frame(one, &before));
  test_alter_feeds(place->path, -G_PI_2, 0);
  g_autoptr(AstroSetReader) other = open_set(place->path, &plain);
  test_says(astro_set_reader_contents(other)->note, "X points east");
  g_assert_true(read_frame(other, &east));
  for (guint i = 0; i < 2 * 6 * 4; i++) {
    const guint turned = i / 4 * 4 + 3 - i % 4;
    g_assert_cmpuint(east.counts[turned], ==, before.counts[i]);
    g_assert_cmpmem(east.data + 2 * turned, 8, before.data + 2 * i, 8);
  }
}

/* A set may have one of the cross-hands alone; others than those of a basis, and I, are refused. */
static void lone_product(Place *place, gconstpointer data)
{
  g_auto(Read) xx = { 0 }, xy = { 0 };
  write_set(place->path, &single);
  g_autoptr(AstroSetReader) one = open_set(place->path, &plain);
  g_assert_true(read_frame(one, &xx));
  test_alter_product(place->path, 10);
  g_autoptr(AstroSetReader) other = open_set(place->path, &plain);
  g_assert_cmpuint(astro_stream_extent(&astro_set_reader_contents(other)->stream, ASTRO_AXIS_POL),
                   ==, 2);
  g_assert_true(read_frame(other, &xy));
  for (guint i = 0; i < 2 * 10; i++) {
    const guint j = 4 * i + 2; /* XY of antennas 1 and 2 is YX of 2 and 1 */
    g_assert_cmpuint(xy.counts[4 * i], ==, 0);
    g_assert_cmpuint(xy.counts[j], ==, xx.counts[i]);
    g_assert_cmpmem(xy.data + 2 * j, 8, xx.data + 2 * i, 8);
  }
  test_alter_product(place->path, 2);
  assert_refused(place->path, &plain, "a product 2 (CORR_TYPE)");
}

/* Frequencies that follow another frame than the Earth's are told. */
static void other_frame(Place *place, gconstpointer data)
{
  write_set(place->path, &single);
  test_alter_integer(place->path, "SPECTRAL_WINDOW", "MEAS_FREQ_REF", 0, 1);
  g_autoptr(AstroSetReader) reader = open_set(place->path, &plain);
  test_says(astro_set_reader_contents(reader)->note, "window 0 are in the frame LSRK");
}

#define CASE(name, function) g_test_add("/sets/" name, Place, NULL, set_up, function, tear_down)

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  CASE("returns", returns);
  CASE("any-order", any_order);
  CASE("conjugated", conjugated);
  CASE("x-east", x_east);
  CASE("lone-product", lone_product);
  CASE("other-frame", other_frame);
  CASE("missing-row", missing_row);
  CASE("flagged-row", flagged_row);
  CASE("mirrored", mirrored);
  CASE("phased", phased);
  CASE("weights", weights);
  CASE("no-spectrum", no_spectrum);
  CASE("only-sigma", only_sigma);
  CASE("locked", locked);
  CASE("many-files", many_files);
  CASE("column", column);
  CASE("fields", fields);
  CASE("bands", bands);
  CASE("bands-apart", bands_apart);
  CASE("refused", refused);
  CASE("no-rows", no_rows);
  CASE("cut-short", cut_short);
  CASE("no-set", no_set);
  CASE("many-readers", many_readers);
  CASE("updates", updates);
  CASE("updates-flags", updates_flags);
  CASE("no-updates", no_updates);
  return g_test_run();
}
