/* astrouvh5sink and astrouvh5src: streams that go to a file and back, and files as other programs
 * have them. */
#include "tests/elements/astrouvh5.h"

#include <gio/gio.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include "core/stream/uvw.h"
#include "core/stream/validity.h"
#include "core/uvh5/uvh5.h"
#include "tests/elements/misfit-stages.h"

#define PRODUCTS 4
#define CHANNELS 4

/* The counts, values, numbers and times are the same. */
static void check_same(GPtrArray *found, GPtrArray *expected)
{
  g_assert_cmpuint(found->len, ==, expected->len);
  for (guint i = 0; i < found->len; i++) {
    GstBuffer *a = found->pdata[i], *b = expected->pdata[i];
    const AstroValidityMeta *counted = astro_buffer_get_validity(a),
                            *told = astro_buffer_get_validity(b);
    GstMapInfo one, two;
    g_assert_true(gst_buffer_map(a, &one, GST_MAP_READ) && gst_buffer_map(b, &two, GST_MAP_READ));
    g_assert_cmpuint(one.size, ==, two.size);
    for (gsize k = 0; k < one.size / sizeof(float); k++) /* 0 and -0 are the same */
      g_assert_cmpfloat(((const float *)one.data)[k], ==, ((const float *)two.data)[k]);
    gst_buffer_unmap(a, &one);
    gst_buffer_unmap(b, &two);
    g_assert_nonnull(counted);
    g_assert_nonnull(told);
    g_assert_cmpuint(astro_validity_n_counts(counted), ==, astro_validity_n_counts(told));
    g_assert_cmpmem(counted->counts, astro_validity_n_counts(counted) * sizeof(guint32),
                    told->counts, astro_validity_n_counts(told) * sizeof(guint32));
    g_assert_cmpuint(GST_BUFFER_PTS(a), ==, GST_BUFFER_PTS(b));
    g_assert_cmpuint(GST_BUFFER_DURATION(a), ==, GST_BUFFER_DURATION(b));
    g_assert_cmpuint(GST_BUFFER_OFFSET(a), ==, GST_BUFFER_OFFSET(b));
  }
}

/* The simulator's stream with a count for each value, as files have it. */
static GPtrArray *sent(void)
{
  g_autofree char *folder = test_folder();
  g_autofree char *file = g_build_filename(folder, "v.uvfits", NULL);
  g_autofree char *write = g_strdup_printf(TEST_UVH5_SOURCE " ! astrofitssink location=%s", file);
  g_autofree char *read = g_strdup_printf("astrofitssrc location=%s", file);
  g_autofree char *failed = test_launch(write);
  g_assert_cmpstr(failed, ==, NULL);
  GPtrArray *all = test_uvh5_pull(read);
  g_unlink(file);
  g_rmdir(folder);
  return all;
}

static void round_trip(TestUvh5 *place, gconstpointer data)
{
  g_autoptr(GPtrArray) expected = sent(), found = test_uvh5_read(place, "");
  g_assert_cmpuint(found->len, ==, TEST_UVH5_FRAMES);
  check_same(found, expected);
}

/* The same stream makes the same file at any time. */
static void same_bytes(TestUvh5 *place, gconstpointer data)
{
  g_autofree char *one = NULL, *two = NULL;
  gsize n_one, n_two;
  g_assert_true(g_file_get_contents(place->path, &one, &n_one, NULL));
  g_usleep(1100000);
  g_autofree char *line =
      g_strdup_printf(TEST_UVH5_SOURCE " ! astrouvh5sink location=%s", place->path);
  g_autofree char *failed = test_launch(line);
  g_assert_cmpstr(failed, ==, NULL);
  g_assert_true(g_file_get_contents(place->path, &two, &n_two, NULL));
  g_assert_cmpmem(one, n_one, two, n_two);
}

/* Rows in reverse, in order of baselines, and with some missing. */
static void any_order(TestUvh5 *place, gconstpointer data)
{
  guint reverse[TEST_UVH5_ROWS], by_baseline[TEST_UVH5_ROWS];
  g_autoptr(GPtrArray) expected = sent();
  for (guint i = 0; i < TEST_UVH5_ROWS; i++) {
    reverse[i] = TEST_UVH5_ROWS - 1 - i;
    by_baseline[i] = i % TEST_UVH5_FRAMES * TEST_UVH5_BASELINES + i / TEST_UVH5_FRAMES;
  }
  test_uvh5_reorder_all(place, reverse, TEST_UVH5_ROWS);
  g_autoptr(GPtrArray) reversed = test_uvh5_read(place, "");
  check_same(reversed, expected);
  test_uvh5_reorder_all(place, reverse, TEST_UVH5_ROWS);
  test_uvh5_reorder_all(place, by_baseline, TEST_UVH5_ROWS);
  g_autoptr(GPtrArray) sorted = test_uvh5_read(place, "");
  check_same(sorted, expected);
}

static guint32 count_at(GstBuffer *buffer, guint channel, guint baseline, guint product)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  const guint64 n = astro_validity_n_counts(meta) / CHANNELS / PRODUCTS;
  return meta->counts[(channel * n + baseline) * PRODUCTS + product];
}

/* The first row is missing, and all of the second integration. */
static void missing_rows(TestUvh5 *place, gconstpointer data)
{
  guint kept[TEST_UVH5_ROWS], n = 0;
  for (guint i = 1; i < TEST_UVH5_ROWS; i++)
    if (i / TEST_UVH5_BASELINES != 1)
      kept[n++] = i;
  g_autoptr(GPtrArray) expected = sent();
  test_uvh5_reorder_all(place, kept, n);
  g_autoptr(GPtrArray) found = test_uvh5_read(place, "");
  g_assert_cmpuint(found->len, ==, 2);
  for (guint c = 0; c < CHANNELS; c++)
    for (guint p = 0; p < PRODUCTS; p++) {
      g_assert_cmpuint(count_at(found->pdata[0], c, 0, p), ==, 0);
      g_assert_cmpuint(count_at(found->pdata[0], c, 1, p), ==,
                       count_at(expected->pdata[0], c, 1, p));
    }
  g_assert_cmpuint(GST_BUFFER_OFFSET(GST_BUFFER(found->pdata[1])), ==, 2);
  g_assert_true(GST_BUFFER_FLAG_IS_SET(GST_BUFFER(found->pdata[1]), GST_BUFFER_FLAG_DISCONT));
}

static void swap_antennas(const TestUvh5 *place)
{
  const hid_t file = test_uvh5_edit(place);
  g_assert_cmpint(H5Lmove(file, "Header/ant_1_array", file, "Header/ant", 0, 0), >=, 0);
  g_assert_cmpint(H5Lmove(file, "Header/ant_2_array", file, "Header/ant_1_array", 0, 0), >=, 0);
  g_assert_cmpint(H5Lmove(file, "Header/ant", file, "Header/ant_2_array", 0, 0), >=, 0);
  H5Fclose(file);
}

static void negate(gpointer data, gsize n)
{
  double *uvw = data;
  for (gsize i = 0; i < n; i++)
    uvw[i] = -uvw[i];
}

static void conjugate(gpointer data, gsize n)
{
  float *values = data;
  for (gsize i = 0; i < n; i++)
    values[2 * i + 1] = 0 - values[2 * i + 1];
}

/* XY of antennas 1 and 2 is YX of 2 and 1. */
static void swap_hands(gpointer data, gsize n)
{
  gint32 *products = data;
  g_assert_cmpuint(n, ==, PRODUCTS);
  products[2] = -8;
  products[3] = -7;
}

/* The same data with antennas 1 and 2 exchanged. */
static void conjugated(TestUvh5 *place, gconstpointer data)
{
  g_autoptr(GPtrArray) expected = sent();
  const hid_t pair = H5Tcreate(H5T_COMPOUND, 8);
  H5Tinsert(pair, "r", 0, H5T_NATIVE_FLOAT);
  H5Tinsert(pair, "i", 4, H5T_NATIVE_FLOAT);
  swap_antennas(place);
  test_uvh5_change(place, "Header/uvw_array", H5T_NATIVE_DOUBLE, 8, negate);
  test_uvh5_change(place, "Data/visdata", pair, 8, conjugate);
  test_uvh5_change(place, "Header/polarization_array", H5T_NATIVE_INT32, 4, swap_hands);
  H5Tclose(pair);
  g_autoptr(GPtrArray) found = test_uvh5_read(place, "");
  check_same(found, expected);
}

/* Without the exchange of values and (u,v,w) the picture would be turned: refused. */
static void turned(TestUvh5 *place, gconstpointer data)
{
  g_autofree char *line =
      g_strdup_printf("astrouvh5src name=e location=%s ! fakesink", place->path);
  swap_antennas(place);
  test_refused_by(line, "e", "do not match the antennas and the phase centre");
}

static float real_at(GstBuffer *buffer, guint channel, guint baseline, guint product)
{
  float value = 0;
  gst_buffer_extract(buffer, 8 * ((channel * TEST_UVH5_BASELINES + baseline) * PRODUCTS + product),
                     &value, sizeof value);
  return value;
}

/* Where X points east it is our Y. */
static void check_swapped(const GPtrArray *found, const GPtrArray *expected)
{
  static const guint turned_products[PRODUCTS] = { 3, 2, 1, 0 };
  for (guint b = 0; b < TEST_UVH5_BASELINES; b++)
    for (guint p = 0; p < PRODUCTS; p++) {
      g_assert_cmpfloat(real_at(found->pdata[0], 1, b, turned_products[p]), ==,
                        real_at(expected->pdata[0], 1, b, p));
      g_assert_cmpuint(count_at(found->pdata[0], 1, b, turned_products[p]), ==,
                       count_at(expected->pdata[0], 1, b, p));
    }
}

static void x_east(TestUvh5 *place, gconstpointer data)
{
  g_autoptr(GPtrArray) expected = sent();
  test_uvh5_put_text(place, "Header/x_orientation", "East");
  g_autoptr(GPtrArray) found = test_uvh5_read(place, "");
  check_swapped(found, expected);
}

static void put_feeds(const TestUvh5 *place, const double angles[TEST_UVH5_STATIONS][2])
{
  static const char feeds[TEST_UVH5_STATIONS][2] = {
    { 'x', 'y' }, { 'x', 'y' }, { 'x', 'y' }, { 'x', 'y' }
  };
  const hsize_t shape[] = { TEST_UVH5_STATIONS, 2 };
  const hid_t file = test_uvh5_edit(place), space = H5Screate_simple(2, shape, NULL);
  const hid_t texts = H5Dcreate2(file, "Header/feed_array", H5T_C_S1, space, H5P_DEFAULT,
                                 H5P_DEFAULT, H5P_DEFAULT),
              numbers = H5Dcreate2(file, "Header/feed_angle", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                   H5P_DEFAULT, H5P_DEFAULT);
  g_assert_cmpint(H5Dwrite(texts, H5T_C_S1, H5S_ALL, H5S_ALL, H5P_DEFAULT, feeds), >=, 0);
  g_assert_cmpint(H5Dwrite(numbers, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, angles), >=,
                  0);
  H5Dclose(numbers);
  H5Dclose(texts);
  H5Sclose(space);
  H5Fclose(file);
}

/* Newer files have the angles of feeds in place of the orientation. */
static void feed_angles(TestUvh5 *place, gconstpointer data)
{
  const gboolean are_east = GPOINTER_TO_INT(data);
  const double x = are_east ? G_PI_2 : 0, y = are_east ? 0 : -G_PI_2;
  const double angles[TEST_UVH5_STATIONS][2] = { { x, y }, { x, y }, { x - G_PI, y }, { x, y } };
  g_autoptr(GPtrArray) expected = sent();
  test_uvh5_delete(place, "Header/x_orientation");
  put_feeds(place, angles);
  g_autoptr(GPtrArray) found = test_uvh5_read(place, "");
  if (are_east)
    check_swapped(found, expected);
  else
    check_same(found, expected);
}

static void set_true(gpointer data, gsize n)
{
  memset(data, 1, n);
}

static void halve(gpointer data, gsize n)
{
  float *counts = data;
  for (gsize i = 0; i < n; i++)
    counts[i] = counts[i] > 0 ? i % 2 ? 0.25f : 0.5f : 0;
}

static void make_zero(gpointer data, gsize n)
{
  memset(data, 0, n * sizeof(float));
}

static hid_t truth(void)
{
  const gint8 no = 0, yes = 1;
  const hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
  H5Tenum_insert(type, "FALSE", &no);
  H5Tenum_insert(type, "TRUE", &yes);
  return type;
}

/* Fractions keep their ratio, flags are 0 whatever the count, and a file that nobody has counted is
 * read with one sample a value. */
static void weights(TestUvh5 *place, gconstpointer data)
{
  guint64 halves = 0, quarters = 0;
  test_uvh5_change(place, "Data/nsamples", H5T_NATIVE_FLOAT, 4, halve);
  g_autoptr(GPtrArray) found = test_uvh5_read(place, "");
  for (guint b = 0; b < TEST_UVH5_BASELINES; b++)
    for (guint p = 0; p < PRODUCTS; p++) {
      const guint32 count = count_at(found->pdata[0], 0, b, p);
      g_assert_true(count == 0 || count == 1u << 31 || count == 1u << 30);
      halves += count == 1u << 31;
      quarters += count == 1u << 30;
    }
  g_assert_cmpuint(halves, >, 0);
  g_assert_cmpuint(quarters, >, 0);

  test_uvh5_change(place, "Data/nsamples", H5T_NATIVE_FLOAT, 4, make_zero);
  g_autoptr(GPtrArray) uncounted = test_uvh5_read(place, "");
  guint64 ones = 0;
  for (guint b = 0; b < TEST_UVH5_BASELINES; b++)
    ones += count_at(uncounted->pdata[0], 0, b, 0);
  g_assert_cmpuint(ones, >, 0);
  g_assert_cmpuint(ones, <=, TEST_UVH5_BASELINES);

  const hid_t type = truth();
  test_uvh5_change(place, "Data/flags", type, 1, set_true);
  H5Tclose(type);
  g_autoptr(GPtrArray) flagged = test_uvh5_read(place, "");
  for (guint b = 0; b < TEST_UVH5_BASELINES; b++)
    g_assert_cmpuint(count_at(flagged->pdata[0], 0, b, 0), ==, 0);
}

/* The phase of the phase centre in a pair of stations that track nothing. */
static double turn_of(const AstroObservation *o, const double *uvw, guint i, guint j, guint channel)
{
  const double hertz = 1.5e8 + (channel - 1.5) * 1e6 / CHANNELS;
  return -2 * G_PI * (uvw[3 * i + 2] - uvw[3 * j + 2]) * hertz / ASTRO_LIGHT_SPEED;
}

static void check_turned(const AstroRowContents *contents, const AstroRowFrame *frame,
                         GstBuffer *before)
{
  const AstroObservation *o = contents->observation;
  double uvw[3 * TEST_UVH5_STATIONS];
  GstMapInfo map;
  gst_buffer_map(before, &map, GST_MAP_READ);
  astro_uvw(o, frame->start_ns + (gint64)frame->duration_ns / 2, uvw);
  for (guint c = 0; c < CHANNELS; c++)
    for (guint b = 0, i = 0, j = 0; b < TEST_UVH5_BASELINES; b++) {
      const float *was = (const float *)map.data + 2 * (c * TEST_UVH5_BASELINES + b) * PRODUCTS,
                  *is = frame->data + 2 * (c * TEST_UVH5_BASELINES + b) * PRODUCTS;
      const double turn = turn_of(o, uvw, i, j, c);
      g_assert_cmpfloat_with_epsilon(is[0], was[0] * cos(turn) - was[1] * sin(turn), 1e-4);
      g_assert_cmpfloat_with_epsilon(is[1], was[0] * sin(turn) + was[1] * cos(turn), 1e-4);
      if (++j > i) {
        i++;
        j = 0;
      }
    }
  gst_buffer_unmap(before, &map);
}

/* An array that tracks nothing is phased to what was at the zenith in the middle. */
static void drift(TestUvh5 *place, gconstpointer data)
{
  const AstroUvh5Options options = { .uvw = ASTRO_UVH5_UVW_TABLE };
  g_autoptr(GPtrArray) before = sent();
  g_autofree float *values = g_new(float, 2 * TEST_UVH5_BASELINES * CHANNELS * PRODUCTS);
  g_autofree guint32 *counts = g_new(guint32, TEST_UVH5_BASELINES * CHANNELS * PRODUCTS);
  g_autoptr(GError) error = NULL;
  double ra, dec, mean[3] = { 0 };
  gboolean end;
  test_uvh5_put_text(place, "Header/phase_center_catalog/0/cat_type", "unprojected");
  g_autoptr(AstroUvh5Reader) reader = astro_uvh5_reader_open(place->path, &options, &error);
  g_assert_no_error(error);
  const AstroRowContents *contents = astro_uvh5_reader_contents(reader);
  const AstroObservation *o = contents->observation;
  for (guint i = 0; i < 3 * TEST_UVH5_STATIONS; i++)
    mean[i % 3] += o->positions[i] / TEST_UVH5_STATIONS;
  astro_zenith(o, (gint64)contents->duration_ns / 2, mean, &ra, &dec);
  g_assert_cmpfloat_with_epsilon(o->phase_ra, ra, 1e-9);
  g_assert_cmpfloat_with_epsilon(o->phase_dec, dec, 1e-9);
  g_assert_cmpint(o->done.delays, ==, ASTRO_DELAYS_OUT);
  test_says(contents->told, "the array tracked nothing");
  AstroRowFrame frame = { .data = values, .counts = counts };
  for (guint i = 0; i < TEST_UVH5_FRAMES; i++) {
    g_assert_true(astro_uvh5_reader_read(reader, &frame, &end, &error));
    check_turned(contents, &frame, before->pdata[i]);
  }
}

/* Visibilities whose delays are in go to a file that says so, with (u,v,w) to the east, the north
 * and up, and come back with the phases of the zenith. */
static void undelayed(TestUvh5 *place, gconstpointer data)
{
  g_autofree char *line = g_strdup_printf(
      MISFIT_SKY " ! astrochannelizer channels=16 ! astrotranspose ! astrocorrelator "
                 "integration=16 ! astrouvh5sink location=%s",
      place->path);
  g_autofree char *failed = test_launch(line);
  g_assert_cmpstr(failed, ==, NULL);
  const hid_t file = test_uvh5_edit(place);
  const hid_t set = H5Dopen2(file, "Header/phase_center_catalog/0/cat_type", H5P_DEFAULT),
              type = H5Dget_type(set);
  char text[32] = "";
  H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text);
  H5Tclose(type);
  H5Dclose(set);
  H5Fclose(file);
  g_assert_cmpstr(text, ==, "unprojected");
  g_autoptr(GPtrArray) found = test_uvh5_read(place, "");
  g_assert_cmpuint(found->len, >, 0);
}

/* The header, rows, or only what is written at the end does not fit. HDF5 must not crash at the
 * exit of the process, for which a process of its own is; it loses what it could not write. */
static void full_disk(TestUvh5 *place, gconstpointer data)
{
  static const rlim_t sizes[] = { 0, 3000, 30000, 100000, 1000000 };
  if (!g_test_subprocess()) {
    test_let_children_leak();
    g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
    g_test_trap_assert_passed();
    return;
  }
  g_autofree char *line = g_strdup_printf(
      "astrovissrc stations=20 channels=16 num-buffers=20 ! astrouvh5sink location=%s",
      place->path);
  struct rlimit before, small;
  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
  small = before;
  signal(SIGXFSZ, SIG_IGN);
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    small.rlim_cur = sizes[i];
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
    g_autofree char *failed = test_launch(line);
    g_assert_nonnull(failed);
    g_assert_nonnull(strstr(failed, "File too large"));
  }
  setrlimit(RLIMIT_FSIZE, &before);
}

static const struct {
  const char *name, *dataset, *says;
} lacking[] = {
  { "visdata", "Data/visdata", "without Header and Data/visdata" },
  { "flags", "Data/flags", "no dataset Data/flags" },
  { "times", "Header/time_array", "no dataset Header/time_array" },
  { "place", "Header/latitude", "lacks latitude" },
  { "names", "Header/antenna_names", "no dataset Header/antenna_names" },
  { "direction", "Header/phase_center_catalog/0/cat_lon", "no direction of the phase centre" },
};

static void lacks(TestUvh5 *place, gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT(data);
  g_autofree char *line =
      g_strdup_printf("astrouvh5src name=e location=%s ! fakesink", place->path);
  test_uvh5_delete(place, lacking[i].dataset);
  test_refused_by(line, "e", lacking[i].says);
}

static const struct {
  const char *name, *dataset, *text, *says;
} odd[] = {
  { "clock", "Header/timesys", "TAI", "\"TAI\", expected UTC" },
  { "moon", "Header/telescope_frame", "mcmf", "\"mcmf\", expected itrs" },
  { "galactic", "Header/phase_center_catalog/0/cat_frame", "galactic", "expected icrs or fk5" },
  { "satellite", "Header/phase_center_catalog/0/cat_type", "ephem", "expected sidereal" },
};

static void is_odd(TestUvh5 *place, gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT(data);
  g_autofree char *line =
      g_strdup_printf("astrouvh5src name=e location=%s ! fakesink", place->path);
  test_uvh5_put_text(place, odd[i].dataset, odd[i].text);
  test_refused_by(line, "e", odd[i].says);
}

static void spread(gpointer data, gsize n)
{
  ((double *)data)[n - 1] *= 1.01;
}

static void other_antenna(gpointer data, gsize n)
{
  ((gint32 *)data)[n - 1] = 77;
}

static void same_antenna(gpointer data, gsize n)
{
  ((gint32 *)data)[1] = ((gint32 *)data)[0];
}

static void refused(TestUvh5 *place, gconstpointer data)
{
  g_autofree char *line =
      g_strdup_printf("astrouvh5src name=e location=%s ! fakesink", place->path);
  g_autofree char *bytes = NULL;
  gsize length;
  g_assert_true(g_file_get_contents(place->path, &bytes, &length, NULL));

  test_uvh5_change(place, "Header/freq_array", H5T_NATIVE_DOUBLE, 8, spread);
  test_refused_by(line, "e", "expected channels as far apart as the others");
  g_assert_true(g_file_set_contents(place->path, bytes, (gssize)length, NULL));
  test_uvh5_change(place, "Header/ant_2_array", H5T_NATIVE_INT32, 4, other_antenna);
  test_refused_by(line, "e", "row 30 has antenna 77, which is not in Header/antenna_numbers");
  g_assert_true(g_file_set_contents(place->path, bytes, (gssize)length, NULL));
  test_uvh5_change(place, "Header/ant_2_array", H5T_NATIVE_INT32, 4, same_antenna);
  test_refused_by(line, "e", "row 2 is the second one for stations A001 and A001 at one time");
  g_assert_true(g_file_set_contents(place->path, bytes, (gssize)length / 2, NULL));
  test_refused_by(line, "e", "HDF5");
  g_assert_true(g_file_set_contents(place->path, "no HDF5", -1, NULL));
  test_refused_by(line, "e", "is not an HDF5 file");
  g_unlink(place->path);
  test_refused_by(line, "e", "there is no such file");
}

static void no_rows(TestUvh5 *place, gconstpointer data)
{
  const guint none = 0;
  g_autofree char *line =
      g_strdup_printf("astrouvh5src name=e location=%s ! fakesink", place->path);
  test_uvh5_reorder_all(place, &none, 0);
  test_refused_by(line, "e", "Header/time_array has 0 values, expected at least 1");
}

/* A filter that HDF5 does not have, by its number alone: the data are never unpacked. */
static void unknown_filter(TestUvh5 *place, gconstpointer data)
{
  const hsize_t shape[3] = { TEST_UVH5_ROWS, CHANNELS, PRODUCTS };
  g_autofree char *line =
      g_strdup_printf("astrouvh5src name=e location=%s ! fakesink", place->path);
  const hid_t file = test_uvh5_edit(place), plist = H5Pcreate(H5P_DATASET_CREATE),
              space = H5Screate_simple(3, shape, NULL), type = truth();
  H5Ldelete(file, "Data/flags", H5P_DEFAULT);
  H5Pset_chunk(plist, 3, shape);
  H5Pset_filter(plist, 32008, H5Z_FLAG_OPTIONAL, 0, NULL);
  const hid_t set = H5Dcreate2(file, "Data/flags", type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  g_assert_cmpint(set, >=, 0);
  H5Dclose(set);
  H5Tclose(type);
  H5Sclose(space);
  H5Pclose(plist);
  H5Fclose(file);
  test_refused_by(line, "e", "packed by the filter bitshuffle (number 32008)");
}

/* Two phase centres in one file: one has to be named. */
static void fields(TestUvh5 *place, gconstpointer data)
{
  g_autofree char *line =
      g_strdup_printf("astrouvh5src name=e location=%s ! fakesink", place->path);
  const hid_t file = test_uvh5_edit(place);
  g_assert_cmpint(H5Ocopy(file, "Header/phase_center_catalog/0", file,
                          "Header/phase_center_catalog/7", H5P_DEFAULT, H5P_DEFAULT),
                  >=, 0);
  H5Fclose(file);
  test_refused_by(line, "e", "it has 2 phase centres: field=NAME or field=NUMBER says which");
  g_autoptr(GPtrArray) expected = sent(), found = test_uvh5_read(place, "field=0");
  check_same(found, expected);
  g_autofree char *other =
      g_strdup_printf("astrouvh5src name=e field=7 location=%s ! fakesink", place->path);
  test_refused_by(other, "e", "no row belongs to phase centre 7");
  g_autofree char *none =
      g_strdup_printf("astrouvh5src name=e field=M31 location=%s ! fakesink", place->path);
  test_refused_by(none, "e", "field=M31 is not there, expected one of its phase centres");
}

/* An antenna that has no rows needs no place. */
static void unused_antenna(TestUvh5 *place, gconstpointer data)
{
  guint kept[TEST_UVH5_ROWS], n = 0;
  for (guint i = 0; i < TEST_UVH5_ROWS; i++)
    if (i % TEST_UVH5_BASELINES < 6)
      kept[n++] = i;
  test_uvh5_reorder_all(place, kept, n);
  g_autoptr(GPtrArray) found = test_uvh5_read(place, "");
  g_assert_cmpuint(gst_buffer_get_size(found->pdata[0]), ==, 8 * CHANNELS * PRODUCTS * 6);
}

static void add_tests(void)
{
#define TEST(name, function, data)                                                                 \
  g_test_add("/uvh5/" name, TestUvh5, data, test_uvh5_set_up, function, test_uvh5_tear_down)
  TEST("round-trip", round_trip, NULL);
  TEST("same-bytes", same_bytes, NULL);
  TEST("any-order", any_order, NULL);
  TEST("missing-rows", missing_rows, NULL);
  TEST("conjugated", conjugated, NULL);
  TEST("turned", turned, NULL);
  TEST("x-east", x_east, NULL);
  TEST("feeds-east", feed_angles, GINT_TO_POINTER(TRUE));
  TEST("feeds-north", feed_angles, GINT_TO_POINTER(FALSE));
  TEST("weights", weights, NULL);
  TEST("drift", drift, NULL);
  TEST("undelayed", undelayed, NULL);
  TEST("refused", refused, NULL);
  TEST("full-disk", full_disk, NULL);
  TEST("no-rows", no_rows, NULL);
  TEST("unknown-filter", unknown_filter, NULL);
  TEST("fields", fields, NULL);
  TEST("unused-antenna", unused_antenna, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(lacking); i++) {
    g_autofree char *name = g_strdup_printf("/uvh5/lacks/%s", lacking[i].name);
    g_test_add(name, TestUvh5, GUINT_TO_POINTER(i), test_uvh5_set_up, lacks, test_uvh5_tear_down);
  }
  for (guint i = 0; i < G_N_ELEMENTS(odd); i++) {
    g_autofree char *name = g_strdup_printf("/uvh5/odd/%s", odd[i].name);
    g_test_add(name, TestUvh5, GUINT_TO_POINTER(i), test_uvh5_set_up, is_odd, test_uvh5_tear_down);
  }
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
