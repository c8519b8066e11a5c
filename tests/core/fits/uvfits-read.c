/* UVFITS whose times, lengths or order are not as we write them, and files of other kinds. */
#include "tests/core/fits/uvfits-written.h"

#include <fitsio.h>

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

/* A file with one frame of 10 s for each start, in seconds. */
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
  test_write_uvfits(place->path, &c, blocks, n, NULL);
  astro_fits_contents_clear(&c);
}

/* Without INTTIM the step in time is the integration, and the first step may be a pause. */
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

/* Short baselines may be averaged for longer than others, whose integrations are half of one away,
 * or less. */
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

/* The centre of an array is no farther away than its stations can be. */
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

/* Integrations that are shorter than the first keep their length; longer ones give a warning, since
 * a stream has one step for all. */
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
    test_write_uvfits(place->path, &c, blocks, 2, NULL);
    AstroFitsReader *reader = astro_fits_reader_open(place->path, NULL, &error);
    g_assert_no_error(error);
    const char *note = astro_fits_reader_contents(reader)->note;
    g_autofree char *says =
        g_strdup_printf("integration times of %u s and %u s (INTTIM): all are taken as %u s",
                        seconds[i][0], seconds[i][1], seconds[i][0]);
    g_assert_true(!!note == (seconds[i][0] < seconds[i][1]));
    g_assert_true(!note || strstr(note, says));
    for (guint k = 0; k < 2; k++) {
      float samples[6];
      guint32 counts[3];
      AstroFitsFrame frame = { .data = samples, .counts = counts };
      gboolean end;
      g_assert_true(astro_fits_reader_read(reader, &frame, &end, &error));
      g_assert_cmpuint(frame.duration_ns, ==, MIN(seconds[i][0], seconds[i][k]) * GST_SECOND);
      g_assert_cmpint(frame.start_ns + (gint64)frame.duration_ns / 2, ==,
                      (gint64)(k * 30 * GST_SECOND + seconds[i][k] * GST_SECOND / 2));
    }
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

  test_write_uvfits(place->path, &c, &block, 1, NULL);
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

/* Short integrations far apart may be one a day: a warning says how they are read. */
static void short_or_days(TestPlace *place, gconstpointer data)
{
  static const struct {
    guint64 duration_us, step_s;
    const char *says;
  } cases[] = {
    { 10000, 1, NULL }, /* 864 s in days: longer than the step */
    { 100, 10,
      "0.0001 are taken as seconds, as they should be; were they days, they would be "
      "8.64 s" },
    { 100, 0, "were they days" }, /* one integration */
    { 100, 1, NULL },
    { 1000000, 86400, NULL }, /* a second once a day */
  };
  AstroFitsContents c = test_contents(2, 1, 1, ASTRO_FORMAT_CF32LE);
  float values[3][2] = { { 1, 0 }, { 2, 1 }, { 3, 0 } };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
    const guint64 duration_ns = cases[k].duration_us * 1000;
    g_autoptr(GError) error = NULL;
    AstroFitsFrames blocks[2] = {
      { .data = values, .frames = 1, .duration_ns = duration_ns },
      { .data = values,
        .frames = 1,
        .start_ns = cases[k].step_s * GST_SECOND,
        .duration_ns = duration_ns },
    };
    test_write_uvfits(place->path, &c, blocks, cases[k].step_s ? 2 : 1, NULL);
    AstroFitsReader *reader = astro_fits_reader_open(place->path, NULL, &error);
    g_assert_no_error(error);
    const AstroFitsContents *found = astro_fits_reader_contents(reader);
    g_assert_true(!!found->note == !!cases[k].says);
    if (cases[k].says)
      test_says(found->note, cases[k].says);
    g_assert_cmpfloat_with_epsilon((double)found->stream.rate_d / found->stream.rate_n,
                                   duration_ns * 1e-9, duration_ns * 1e-15);
    astro_fits_reader_close(reader);
  }
  astro_fits_contents_clear(&c);
}

#define MANY_FRAMES 4000
#define ODD_FRAME 2777 /* not in a sample of some hundred groups */

/* Sets the weight of one group of a file of such frames; more than the file keeps is read at once.
 */
static void set_weight(const char *path, float weight)
{
  const gsize group = 4 * (7 + 3);
  guint32 bits;
  memcpy(&bits, &weight, sizeof bits);
  bits = GUINT32_TO_BE(bits);
  g_autofree char *bytes = NULL;
  gsize length, at = 0;
  g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
  while (memcmp(bytes + at, "END     ", 8) != 0)
    at += 80;
  at = (at / 2880 + 1) * 2880 + (3 * ODD_FRAME + 1) * group + 4 * (7 + 2);
  memcpy(bytes + at, &bits, sizeof bits);
  g_assert_true(g_file_set_contents(path, bytes, length, NULL));
}

/* One weight among thousands is a fraction, larger or smaller than all others: it keeps its value
 * relative to them. When a sample decided, it became 1, or as large as counts are. */
static void odd_weight(TestPlace *place, gconstpointer data)
{
  static const float weights[] = { 0.3f, 1.0f / 3, 7e12f, 1e-30f, 5 };
  AstroFitsContents c = test_contents(2, 1, 1, ASTRO_FORMAT_CF32LE);
  g_autofree float *values = test_make_data(&c, MANY_FRAMES, 5);
  AstroFitsFrames block = { .data = values,
                            .frames = MANY_FRAMES,
                            .duration_ns = MANY_FRAMES * GST_SECOND };
  for (guint k = 0; k < G_N_ELEMENTS(weights); k++) {
    const double largest = MAX(weights[k], 1);
    float found[6];
    guint32 counts[3];
    AstroFitsFrame frame = { .data = found, .counts = counts };
    g_autoptr(GError) error = NULL;
    gboolean end;
    test_write_uvfits(place->path, &c, &block, 1, NULL);
    set_weight(place->path, weights[k]);
    AstroFitsReader *reader = astro_fits_reader_open(place->path, NULL, &error);
    g_assert_no_error(error);
    const char *note = astro_fits_reader_contents(reader)->note;
    g_assert_true(!!note ==
                  (weights[k] > 1e6 || weights[k] < 1e-6)); /* more than counts can tell */
    g_assert_true(!note || strstr(note, "a range too large for counts"));
    for (guint i = 0; i < MANY_FRAMES; i++) {
      g_assert_true(astro_fits_reader_read(reader, &frame, &end, &error));
      for (guint b = 0; b < 3; b++) {
        const double weight = i == ODD_FRAME && b == 1 ? weights[k] : 1;
        g_assert_cmpuint(counts[b], >, 0);
        g_assert_cmpfloat_with_epsilon((double)counts[b] / frame.full, weight / largest,
                                       note ? 1e-9 : 1e-15);
      }
    }
    astro_fits_reader_close(reader);
  }
  astro_fits_contents_clear(&c);
}

#define ORDER_FRAMES 1000 /* more groups than are examined to see whether they are in order */

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
  g_autofree float *values = test_make_data(&c, ORDER_FRAMES, 5);
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
    test_write_uvfits(place->path, &c, &block, 1, NULL);
    reorder(place->path, orders[o]);
    AstroFitsReader *reader = astro_fits_reader_open(place->path, NULL, &error);
    g_assert_no_error(error);
    test_check_contents(astro_fits_reader_contents(reader), &c, FALSE);
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

static void point_east(const char *path, gboolean by_angles)
{
  fitsfile *f;
  int status = 0, first, second;
  float east[] = { 90, -90 }, north[] = { 0, 180 };
  fits_open_diskfile(&f, path, READWRITE, &status);
  if (by_angles) {
    fits_movnam_hdu(f, BINARY_TBL, (char *)"AIPS AN", 0, &status);
    fits_get_colnum(f, CASEINSEN, (char *)"POLAA", &first, &status);
    fits_get_colnum(f, CASEINSEN, (char *)"POLAB", &second, &status);
    fits_write_col(f, TFLOAT, first, 1, 1, 2, east, &status);
    fits_write_col(f, TFLOAT, second, 1, 1, 2, north, &status);
  } else {
    fits_update_key(f, TSTRING, "XORIENT", (char *)"east", NULL, &status);
  }
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
}

/* Where X points east it is our Y. */
static void x_east(TestPlace *place, gconstpointer data)
{
  AstroFitsContents c = test_contents(2, 2, 1, ASTRO_FORMAT_CF32LE);
  const guint64 n = test_visibility_samples(&c);
  g_assert_cmpuint(n, ==, 12);
  g_autofree float *values = test_make_data(&c, 1, 5);
  const AstroFitsFrames block = { .data = values, .frames = 1, .duration_ns = GST_SECOND };
  for (guint by_angles = 0; by_angles < 2; by_angles++) {
    float found[24];
    guint32 counts[12];
    AstroFitsFrame frame = { .data = found, .counts = counts };
    gboolean end;
    test_write_uvfits(place->path, &c, &block, 1, NULL);
    point_east(place->path, by_angles);
    AstroFitsReader *reader = astro_fits_reader_open(place->path, NULL, NULL);
    test_says(astro_fits_reader_contents(reader)->note, "X points east");
    g_assert_true(astro_fits_reader_read(reader, &frame, &end, NULL));
    for (guint64 i = 4; i < 8; i++) /* the baseline of the two: XX XY YX YY from behind */
      for (guint part = 0; part < 2; part++)
        g_assert_cmpfloat(found[2 * (11 - i) + part], ==, values[2 * i + part]);
    astro_fits_reader_close(reader);
  }
  astro_fits_contents_clear(&c);
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

static void add_tests(void)
{
  static const TestPlaceCase cases[] = {
    { "pause-first", pause_first },
    { "half-apart", half_apart },
    { "one-without-length", one_without_length },
    { "mixed-lengths", mixed_lengths },
    { "far-middle", far_middle },
    { "short-or-days", short_or_days },
    { "odd-weight", odd_weight },
    { "x-east", x_east },
    { "any-order", any_order },
    { "not-uvfits", not_uvfits },
  };
  test_add_places("/uvfits/", cases, G_N_ELEMENTS(cases));
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
