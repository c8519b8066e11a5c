/* Catalogues in HDF5, written by HDF5 itself and read by astrofitssrc: each value as it was
 * written, from every kind of place, and what is no catalogue refused by name. */
#include "config.h"
#include "tests/elements/astrohdf5.h"

#include <math.h>
#include <unistd.h>

static H5Points *points;

/* All columns of the catalogue, of *n points. */
static double *read_columns(const char *more, guint n_columns, gsize *n)
{
  g_autofree char *line =
      g_strdup_printf("astrofitssrc location=%s %s ! filesink location=columns.f64", H5_FILE, more);
  g_autofree char *failed = test_launch(line);
  gsize bytes;
  char *data;
  g_assert_cmpstr(failed, ==, NULL);
  g_assert_true(g_file_get_contents("columns.f64", &data, &bytes, NULL));
  g_unlink("columns.f64");
  *n = bytes / sizeof(double) / n_columns;
  g_assert_cmpuint(*n * sizeof(double) * n_columns, ==, bytes);
  return (double *)data;
}

static void check_all(const char *more)
{
  gsize n;
  g_autofree double *c = read_columns(more, 5, &n);
  g_assert_cmpuint(n, ==, H5_POINTS);
  for (gsize i = 0; i < n; i++) {
    g_assert_true(c[i] == points->ra[i] && c[n + i] == points->dec[i]);
    g_assert_true(c[2 * n + i] == (double)points->weight[i]);
    g_assert_true(c[3 * n + i] == (double)(guint32)points->bits[2 * i + 1]);
    g_assert_true(c[4 * n + i] == (double)(guint32)(points->bits[2 * i + 1] >> 32));
  }
}

#define ALL "weight-column=weight bitweight-columns=BITS[2]"

/* Doubles and floats, both orders of bytes, in one piece, in chunks that end anywhere, packed. */
static void put_all(hid_t where, hsize_t chunk, int deflate, gboolean is_big)
{
  const H5How of_double = { "deg", chunk, deflate, is_big ? H5T_IEEE_F64BE : H5T_IEEE_F64LE, 0 },
              of_float = { NULL, chunk, deflate, is_big ? H5T_IEEE_F32BE : H5T_IEEE_F32LE, 0 },
              of_bits = { NULL, chunk, deflate, is_big ? H5T_STD_U64BE : H5T_STD_I64LE, 2 },
              plain = { 0 };
  h5_put(where, "RA", H5T_NATIVE_DOUBLE, H5_POINTS, points->ra, &of_double);
  h5_put(where, "Dec", H5T_NATIVE_DOUBLE, H5_POINTS, points->dec, &of_double);
  h5_put(where, "WEIGHT", H5T_NATIVE_FLOAT, H5_POINTS, points->weight, &of_float);
  h5_put(where, "BITS", is_big ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64, H5_POINTS, points->bits,
         &of_bits);
  h5_put(where, "Z", H5T_NATIVE_DOUBLE, H5_POINTS, points->z, &plain);
}

static void test_columns(void)
{
  static const struct {
    hsize_t chunk;
    int deflate;
    gboolean is_big;
  } ways[] = {
    { 0, 0, FALSE }, { 0, 0, TRUE }, { 7, 0, FALSE }, { 999, 4, TRUE }, { 40000, 1, FALSE }
  };
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
    const hid_t file = h5_create();
    put_all(file, MIN(ways[i].chunk, H5_POINTS), ways[i].deflate, ways[i].is_big);
    H5Fclose(file);
    check_all(ALL);
    check_all("ra-column=/RA " ALL);
    check_all("ra-column=3 dec-column=2 weight-column=WEIGHT bitweight-columns=/BITS[2]");
  }
}

/* The group that has the columns is found among others, or is named. */
static void test_groups(void)
{
  const hid_t file = h5_create(), one = h5_group(file, "a"), two = h5_group(file, "galaxies"),
              inner = h5_group(two, "all");
  h5_put_positions(one, points, 10);
  put_all(inner, 0, 0, FALSE);
  H5Gclose(inner);
  H5Gclose(two);
  H5Gclose(one);
  H5Fclose(file);
  check_all(ALL);
  check_all("ra-column=galaxies/all/RA " ALL);
  test_refused_by("astrofitssrc location=" H5_FILE " ! fakesink", "astrofitssrc",
                  "the columns are in /a/ and in /galaxies/all/, expected one place: say which");
  test_refused_by("astrofitssrc location=" H5_FILE " ra-column=a/RA dec-column=b/DEC ! fakesink",
                  "astrofitssrc", "from a/ and from b/, expected one place");
  test_refused_by("astrofitssrc location=" H5_FILE " ra-column=b/RA ! fakesink", "astrofitssrc",
                  "found no group with datasets and no dataset of records at b/");
}

typedef struct {
  char class[4];
  double dec;
  float weight;
  double ra;
  guint64 bits[2];
} Record;

static void put_records(hid_t where, const char *name, const H5How *how)
{
  const hsize_t two = 2;
  g_autofree Record *records = g_new0(Record, H5_POINTS);
  for (guint i = 0; i < H5_POINTS; i++) {
    records[i] = (Record){ .dec = points->dec[i],
                           .weight = points->weight[i],
                           .ra = points->ra[i],
                           .bits = { points->bits[2 * i], points->bits[2 * i + 1] } };
    memcpy(records[i].class, points->class[i], sizeof records[i].class);
  }
  const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Record)), text = H5Tcopy(H5T_C_S1),
              bits = H5Tarray_create2(H5T_NATIVE_UINT64, 1, &two);
  H5Tset_size(text, 4);
  H5Tinsert(type, "class", G_STRUCT_OFFSET(Record, class), text);
  H5Tinsert(type, "dec", G_STRUCT_OFFSET(Record, dec), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "weight", G_STRUCT_OFFSET(Record, weight), H5T_NATIVE_FLOAT);
  H5Tinsert(type, "ra", G_STRUCT_OFFSET(Record, ra), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "bits", G_STRUCT_OFFSET(Record, bits), bits);
  h5_put(where, name, type, H5_POINTS, records, how);
  H5Tclose(bits);
  H5Tclose(text);
  H5Tclose(type);
}

static void test_records(void)
{
  static const H5How ways[] = { { 0 }, { NULL, 1000, 3, 0, 0 } };
  for (guint i = 0; i < G_N_ELEMENTS(ways); i++) {
    const hid_t file = h5_create(), group = h5_group(file, "cats");
    put_records(group, "galaxies", &ways[i]);
    H5Gclose(group);
    H5Fclose(file);
    check_all("weight-column=weight bitweight-columns=bits[2]");
    check_all("ra-column=cats/galaxies/ra weight-column=weight bitweight-columns=bits[2]");
  }
  gsize n;
  g_autofree double *stars = read_columns("where=\"class=='STAR'&&dec>10\"", 2, &n);
  gsize k = 0;
  for (guint i = 0; i < H5_POINTS; i++)
    if (i % 3 && points->dec[i] > 10) {
      g_assert_true(stars[k] == points->ra[i] && stars[n + k] == points->dec[i]);
      k++;
    }
  g_assert_cmpuint(k, ==, n);
}

/* As Astropy writes units of records: the header of ECSV in a dataset beside them. */
static void test_astropy_units(void)
{
  static const char lines[][40] = {
    "datatype:",        "- {name: class, datatype: string}", "- {name: dec, unit: deg}",
    "- {name: weight}", "- {name: ra, unit: furlong}",       "- {name: bits}"
  };
  static const H5How plain = { 0 };
  const hid_t file = h5_create(), text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, sizeof lines[0]);
  put_records(file, "t", &plain);
  h5_put(file, "t.__table_column_meta__", text, G_N_ELEMENTS(lines), lines, &plain);
  H5Tclose(text);
  H5Fclose(file);
  test_refused_by("astrofitssrc location=" H5_FILE " ! fakesink", "astrofitssrc",
                  "column ra is in units of \"furlong\", expected deg or rad");
}

static void test_units(void)
{
  g_autofree double *radians = g_new(double, H5_POINTS);
  static const H5How rad = { .unit = "rad" }, hours = { .unit = "hourangle" }, plain = { 0 };
  for (guint i = 0; i < H5_POINTS; i++)
    radians[i] = points->ra[i] * G_PI / 180;
  hid_t file = h5_create();
  h5_put(file, "RA", H5T_NATIVE_DOUBLE, H5_POINTS, radians, &rad);
  h5_put(file, "DEC", H5T_NATIVE_DOUBLE, H5_POINTS, points->dec, &plain);
  H5Fclose(file);
  gsize n;
  g_autofree double *c = read_columns("", 2, &n);
  for (gsize i = 0; i < n; i++)
    g_assert_cmpfloat_with_epsilon(c[i], points->ra[i], 1e-12);
  file = h5_create();
  h5_put(file, "RA", H5T_NATIVE_DOUBLE, H5_POINTS, radians, &hours);
  h5_put(file, "DEC", H5T_NATIVE_DOUBLE, H5_POINTS, points->dec, &plain);
  H5Fclose(file);
  test_refused_by("astrofitssrc location=" H5_FILE " ! fakesink", "astrofitssrc",
                  "column RA is in units of \"hourangle\", expected deg or rad");
}

/* Rows by an expression, regions, distances from redshifts; the same from text. */
static void test_as_text(void)
{
  const hid_t file = h5_create();
  static const H5How plain = { 0 };
  put_all(file, 999, 1, FALSE);
  h5_put(file, "FLAG", H5T_NATIVE_UINT16, H5_POINTS, points->flag, &plain);
  H5Fclose(file);
  g_autoptr(GString) text = g_string_new("RA,DEC,Z,FLAG\n");
  for (guint i = 0; i < H5_POINTS; i++)
    g_string_append_printf(text, "%.17g,%.17g,%.17g,%u\n", points->ra[i], points->dec[i],
                           points->z[i], points->flag[i]);
  g_assert_true(g_file_set_contents("catalogue.csv", text->str, (gssize)text->len, NULL));
  static const char more[] = "redshift-column=Z omega-m=0.3 region-column=FLAG "
                             "where=\"Z>0.5&&FLAG!=2\" ! filesink location=";
  static const char *const from[] = { "catalogue.csv", H5_FILE, H5_FILE ",catalogue.csv" };
  char *found[3];
  gsize bytes[3];
  for (guint i = 0; i < G_N_ELEMENTS(from); i++) {
    g_autofree char *line =
        g_strdup_printf("astrofitssrc location=%s %scolumns.f64", from[i], more);
    g_autofree char *failed = test_launch(line);
    g_assert_cmpstr(failed, ==, NULL);
    g_assert_true(g_file_get_contents("columns.f64", &found[i], &bytes[i], NULL));
  }
  g_assert_cmpuint(bytes[0], >, 0);
  g_assert_cmpmem(found[0], bytes[0], found[1], bytes[1]);
  g_assert_cmpuint(bytes[2], ==, 2 * bytes[0]);
  g_assert_cmpmem(found[2] + bytes[0], bytes[0], found[0], bytes[0]);
  for (guint i = 0; i < G_N_ELEMENTS(from); i++)
    g_free(found[i]);
  g_unlink("columns.f64");
  g_unlink("catalogue.csv");
}

/* ---- misfits ---- */

static void put_short(hid_t file)
{
  static const H5How plain = { 0 };
  h5_put(file, "RA", H5T_NATIVE_DOUBLE, 100, points->ra, &plain);
  h5_put(file, "DEC", H5T_NATIVE_DOUBLE, 99, points->dec, &plain);
}

static void put_nothing(hid_t file)
{
}

static void put_others(hid_t file)
{
  static const H5How plain = { 0 };
  h5_put(file, "RA", H5T_NATIVE_DOUBLE, 9, points->ra, &plain);
  h5_put(file, "flux", H5T_NATIVE_DOUBLE, 9, points->dec, &plain);
}

static void put_strings(hid_t file)
{
  static const H5How plain = { 0 };
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 4);
  h5_put(file, "RA", text, 9, points->class, &plain);
  h5_put(file, "DEC", H5T_NATIVE_DOUBLE, 9, points->dec, &plain);
  H5Tclose(text);
}

static void put_long_strings(hid_t file)
{
  static const H5How plain = { 0 };
  const char *names[9] = { "a", "b", "c", "d", "e", "f", "g", "h", "i" };
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, H5T_VARIABLE);
  h5_put(file, "RA", text, 9, names, &plain);
  h5_put(file, "DEC", H5T_NATIVE_DOUBLE, 9, points->dec, &plain);
  H5Tclose(text);
}

static void put_pairs(hid_t file)
{
  static const H5How pairs = { .across = 2 };
  static const H5How plain = { 0 };
  h5_put(file, "RA", H5T_NATIVE_UINT64, 9, points->bits, &pairs);
  h5_put(file, "DEC", H5T_NATIVE_DOUBLE, 9, points->dec, &plain);
}

static void put_links(hid_t file)
{
  static const H5How plain = { 0 };
  H5Lcreate_external("other.h5", "/RA", file, "RA", H5P_DEFAULT, H5P_DEFAULT);
  h5_put(file, "DEC", H5T_NATIVE_DOUBLE, 9, points->dec, &plain);
}

/* A link within the file may lead to one to another file. */
static void put_two_links(hid_t file)
{
  static const H5How plain = { 0 };
  const hid_t group = h5_group(file, "g");
  H5Lcreate_external("other.h5", "/RA", group, "away", H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose(group);
  H5Lcreate_soft("/g/away", file, "RA", H5P_DEFAULT, H5P_DEFAULT);
  h5_put(file, "DEC", H5T_NATIVE_DOUBLE, 9, points->dec, &plain);
}

static void put_elsewhere(hid_t file)
{
  static const H5How plain = { 0 };
  const hsize_t n = 9;
  const hid_t space = H5Screate_simple(1, &n, NULL), plist = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_external(plist, "other.bin", 0, n * sizeof(double));
  const hid_t set =
      H5Dcreate2(file, "RA", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  H5Dclose(set);
  H5Pclose(plist);
  H5Sclose(space);
  h5_put(file, "DEC", H5T_NATIVE_DOUBLE, n, points->dec, &plain);
}

/* Values that nobody wrote would be zeros. */
static void put_unwritten(hid_t file)
{
  static const H5How plain = { 0 }, chunked = { .chunk = 10 };
  h5_put(file, "RA", H5T_NATIVE_DOUBLE, 100, NULL, &chunked);
  h5_put(file, "DEC", H5T_NATIVE_DOUBLE, 100, points->dec, &plain);
}

static void put_endless(hid_t file)
{
  static const H5How chunked = { .chunk = 10 };
  h5_put(file, "RA", H5T_NATIVE_DOUBLE, (hsize_t)1 << 50, NULL, &chunked);
  h5_put(file, "DEC", H5T_NATIVE_DOUBLE, (hsize_t)1 << 50, NULL, &chunked);
}

static void put_empty(hid_t file)
{
  h5_put_positions(file, points, 0);
}

static void put_nan(hid_t file)
{
  static const H5How plain = { 0 };
  double dec[9] = { 0 };
  dec[4] = NAN;
  h5_put(file, "RA", H5T_NATIVE_DOUBLE, 9, points->ra, &plain);
  h5_put(file, "DEC", H5T_NATIVE_DOUBLE, 9, dec, &plain);
}

static void put_visibilities(hid_t file)
{
  static const H5How plain = { 0 };
  const hid_t header = h5_group(file, "Header"), data = h5_group(file, "Data");
  h5_put(data, "visdata", H5T_NATIVE_DOUBLE, 9, points->ra, &plain);
  H5Gclose(data);
  H5Gclose(header);
}

/* Groups that hold each other. */
static void put_circle(hid_t file)
{
  const hid_t group = h5_group(file, "g");
  H5Lcreate_hard(file, "/", group, "up", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_hard(file, "/", group, "again", H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose(group);
}

static void test_misfits(void)
{
  static const struct {
    void (*put)(hid_t file);
    const char *more, *says;
  } cases[] = {
    { put_short, "", "/DEC has 99 rows, and /RA has 100, expected equally many" },
    { put_nothing, "", H5_FILE ": found no datasets, expected columns" },
    { put_others, "", "table /: no column \"DEC\" for dec; there are: RA, flux" },
    { put_strings, "", "column RA holds 4 values of type string per row, expected one number" },
    { put_long_strings, "", "of type string of variable length per row, expected one number" },
    { put_pairs, "", "column RA holds 2 values of type integer per row, expected one number" },
    { put_pairs, "ra-column=DEC bitweight-columns=RA", "expected RA[1] to RA[2]" },
    { put_others, "dec-column=flux bitweight-columns=flux",
      "column flux is of type float, expected bits in integers of 64 bits" },
    { put_links, "", "of type link to another file per row" },
    { put_two_links, "", "of type link that leads nowhere per row" },
    { put_elsewhere, "", "the values of /RA are in other files, expected them in this one" },
    { put_unwritten, "", "of /RA, 0 of 10 chunks were written, expected all" },
    { put_endless, "", "/DEC announces 1125899906842624 rows, more than a file of" },
    { put_empty, "", "the table has no rows" },
    { put_nan, "", "point 5: column DEC is nan, expected a number" },
    { put_nan, "where=mag<3", "where \"mag<3\"" },
    { put_visibilities, "", "found visibilities (uvh5), expected a catalogue: astrouvh5src" },
    { put_circle, "", "found no datasets, expected columns" },
  };
  const hid_t other = H5Fcreate("other.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  h5_put_positions(other, points, 9);
  H5Fclose(other);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const hid_t file = h5_create();
    cases[i].put(file);
    H5Fclose(file);
    g_autofree char *line =
        g_strdup_printf("astrofitssrc location=" H5_FILE " %s ! fakesink", cases[i].more);
    test_refused_by(line, "astrofitssrc", cases[i].says);
  }
  g_unlink("other.h5");
  g_unlink("other.bin");
}

static void test_cut(void)
{
  const hid_t file = h5_create();
  h5_put_positions(file, points, 1000);
  H5Fclose(file);
  g_assert_cmpint(truncate(H5_FILE, 9000), ==, 0);
  test_refused_by("astrofitssrc location=" H5_FILE " ! fakesink", "astrofitssrc",
                  "opening the file failed in HDF5");
}

/* A chunk that takes too much memory, of few bytes in the file. */
static void test_huge_chunk(void)
{
  static const H5How huge = { .chunk = (hsize_t)1 << 28, .deflate = 9 };
  const hid_t file = h5_create();
  h5_put(file, "RA", H5T_NATIVE_DOUBLE, 1000, NULL, &huge);
  h5_put(file, "DEC", H5T_NATIVE_DOUBLE, 1000, NULL, &huge);
  H5Fclose(file);
  test_refused_by("astrofitssrc location=" H5_FILE " ! fakesink", "astrofitssrc",
                  "/DEC is packed in chunks of 2147483648 bytes, expected at most 1073741824");
}

/* Packed by gzip as a whole. */
static void test_gzip(void)
{
  const hid_t file = h5_create();
  put_all(file, 0, 0, FALSE);
  H5Fclose(file);
  g_assert_cmpint(system("gzip -kf1 " H5_FILE " && mv " H5_FILE ".gz " H5_FILE), ==, 0);
  test_refused_by("astrofitssrc location=" H5_FILE " ! fakesink", "astrofitssrc",
                  H5_FILE " is an HDF5 file packed by gzip as a whole");
}

/* astroopen tells catalogues from visibilities. */
static void test_open(void)
{
  const hid_t file = h5_create();
  char *opened;
  gsize bytes;
  h5_put_positions(file, points, 100);
  H5Fclose(file);
  g_autofree char *failed =
      test_launch("astroopen input=" H5_FILE " ra-column=/ra ! filesink location=opened.f64");
  g_assert_cmpstr(failed, ==, NULL);
  g_assert_true(g_file_get_contents("opened.f64", &opened, &bytes, NULL));
  g_assert_cmpmem(opened, bytes / 2, points->ra, 100 * sizeof(double));
  g_free(opened);
  g_unlink("opened.f64");
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  points = h5_points_new();
  g_test_add_func("/astrohdf5/columns", test_columns);
  g_test_add_func("/astrohdf5/groups", test_groups);
  g_test_add_func("/astrohdf5/records", test_records);
  g_test_add_func("/astrohdf5/units", test_units);
  g_test_add_func("/astrohdf5/astropy-units", test_astropy_units);
  g_test_add_func("/astrohdf5/as-text", test_as_text);
  g_test_add_func("/astrohdf5/misfits", test_misfits);
  g_test_add_func("/astrohdf5/cut", test_cut);
  g_test_add_func("/astrohdf5/huge-chunk", test_huge_chunk);
  g_test_add_func("/astrohdf5/gzip", test_gzip);
  g_test_add_func("/astrohdf5/open", test_open);
  const int failed = g_test_run();
  g_unlink(H5_FILE);
  g_free(points);
  return failed;
}
