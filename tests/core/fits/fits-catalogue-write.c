/* Tables written to FITS files, which CFITSIO checks, and to CSV. */
#include "tests/core/fits/fits-catalogue.h"

/* Writes buffers of rows, one after the other. */
static void write_file(const char *path, const char *caps_text, const double *data,
                       const guint64 *sizes, guint n)
{
  GError *error = NULL;
  AstroFitsContents contents = { .stations = 0 };
  g_autoptr(GstCaps) caps = gst_caps_from_string(caps_text);
  AstroFitsTally tally = { 0 };
  gboolean good = astro_fits_contents_from_caps(&contents, caps, &error);
  g_assert_no_error(error);
  const AstroFitsWriterKind *kind = astro_fits_writer_kind(contents.stream.quantity, path, &error);
  g_assert_no_error(error);
  AstroPartFile *file = astro_part_file_create(path, &error);
  gpointer writer = kind->create(file, &contents, &error);
  g_assert_no_error(error);
  guint64 n_values = 0;
  for (guint k = 0; k < n; k++) {
    AstroFitsFrames frames = { .data = data, .frames = sizes[k] };
    good = good && kind->write(writer, &frames, &tally, &error);
    guint64 values = sizes[k] * astro_stream_step_bytes(&contents.stream) / sizeof *data;
    data += values;
    n_values += values;
  }
  good = good && kind->finish(writer, &tally, &error) && astro_part_file_commit(file, &error);
  g_assert_no_error(error);
  g_assert_true(good);
  g_assert_cmpuint(tally.values, ==, n_values);
  g_assert_cmpuint(tally.not_finite, ==, 0);
  kind->destroy(writer);
  astro_fits_contents_clear(&contents);
}

static void write_catalogues(TestPlace *place, gconstpointer data)
{
  static const guint64 sizes[] = { 5, 0, 40000 };
  g_autofree double *points = g_new(double, 3 * 40005);
  AstroFitsOptions options = { .columns = { .weight = "weight" } };
  fitsfile *f;
  int status = 0, hdus = 0;
  long n_rows;
  for (guint i = 0; i < 3 * 40005; i++)
    points[i] = sin(i) * 89;
  write_file(place->path,
             "application/x-astro-catalogue, format=F64LE, layout=column:point, "
             "columns=ra:dec:weight",
             points, sizes, 3);
  fits_open_diskfile(&f, place->path, READONLY, &status);
  fits_get_num_hdus(f, &hdus, &status);
  g_assert_cmpint(hdus, ==, 4);
  for (guint k = 0; k < 3; k++) {
    char unit[FLEN_VALUE] = "";
    long version = 0;
    fits_movabs_hdu(f, k + 2, NULL, &status);
    fits_get_num_rows(f, &n_rows, &status);
    fits_read_key_str(f, "TUNIT2", unit, NULL, &status);
    fits_read_key_lng(f, "EXTVER", &version, NULL, &status);
    g_assert_cmpint(status, ==, 0);
    g_assert_cmpint(n_rows, ==, sizes[k]);
    g_assert_cmpint(version, ==, k + 1);
    g_assert_cmpstr(unit, ==, "deg");
  }
  double value;
  fits_read_col(f, TDOUBLE, 3, 40000, 1, 1, NULL, &value, NULL, &status);
  g_assert_cmpfloat(value, ==, points[3 * 40005 - 1]);
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);

  AstroFitsReader *reader = test_open_good(place->path, &options);
  guint64 n;
  double *found = test_read_next(reader, &n);
  g_assert_cmpmem(found, n * 3 * sizeof *found, points, 5 * 3 * sizeof *found);
  test_free(found);
  astro_fits_reader_close(reader);
}

#define CORRELATION                                                                                \
  "application/x-astro-correlation-function, format=F64LE, layout=column:bin, bins=3, "            \
  "columns=theta:w:cov0:cov1:cov2"

static void write_correlation(TestPlace *place, gconstpointer data)
{
  static const double table[] = { 1, 2, 3, 0.5, NAN, -0.25, 10, 11, 12, 13, 14, 15, 16, 17, 18 };
  static const guint64 one = 1;
  fitsfile *f;
  int status = 0, column = 0, type = 0;
  long repeat = 0;
  double row[3], w;
  char unit[FLEN_VALUE] = "";
  write_file(place->path, CORRELATION, table, &one, 1);
  fits_open_diskfile(&f, place->path, READONLY, &status);
  fits_movnam_hdu(f, BINARY_TBL, (char *)"CORRELATION", 0, &status);
  fits_read_key_str(f, "TUNIT1", unit, NULL, &status);
  g_assert_cmpstr(unit, ==, "arcmin");
  fits_get_colnum(f, CASEINSEN, (char *)"cov", &column, &status);
  fits_get_coltype(f, column, &type, &repeat, NULL, &status);
  g_assert_cmpint(repeat, ==, 3);
  g_assert_cmpint(type, ==, TDOUBLE);
  for (guint k = 0; k < 3; k++) {
    fits_read_col(f, TDOUBLE, column, k + 1, 1, 3, NULL, row, NULL, &status);
    for (guint c = 0; c < 3; c++)
      g_assert_cmpfloat(row[c], ==, 10 + 3 * c + k);
  }
  fits_read_col(f, TDOUBLE, 2, 2, 1, 1, NULL, &w, NULL, &status);
  g_assert_true(isnan(w));
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
}

static void write_csv(TestPlace *place, gconstpointer data)
{
  static const double table[] = { 1, 2, 3, 0.5, NAN, -0.25, 10, 11, 12, 13, 14, 15, 16, 17, 18,
                                  1, 2, 3, 0.5, NAN, -0.25, 10, 11, 12, 13, 14, 15, 16, 17, 18 };
  static const guint64 ones[] = { 1, 1 };
  static const char expected[] = "theta,w,cov0,cov1,cov2\n1,0.5,10,13,16\n2,,11,14,17\n"
                                 "3,-0.25,12,15,18\n";
  g_autofree char *path = g_build_filename(place->folder, "t.CSV", NULL), *found = NULL;
  g_autofree char *twice = g_strconcat(expected, "\n", expected, NULL);
  write_file(path, CORRELATION, table, ones, 2);
  g_assert_true(g_file_get_contents(path, &found, NULL, NULL));
  g_assert_cmpstr(found, ==, twice);
  g_unlink(path);
}

/* As Astropy writes it, with the metadata of each table. */
static void write_ecsv(TestPlace *place, gconstpointer data)
{
  static const double table[] = { 1, 2, 3, 0.5, NAN, -0.25, 10, 11, 12, 13, 14, 15, 16, 17, 18 };
  static const char header[] = "# %ECSV 1.0\n# ---\n# delimiter: ','\n# datatype:\n"
                               "# - {name: theta, unit: arcmin, datatype: float64}\n"
                               "# - {name: w, datatype: float64}\n"
                               "# - {name: cov0, datatype: float64}\n"
                               "# - {name: cov1, datatype: float64}\n"
                               "# - {name: cov2, datatype: float64}\n",
                    meta[] = "# meta: !!omap\n# - {estimator: natural}\n# - {data: 300}\n"
                             "# - {dd-pairs: 0.5}\n",
                    lines[] = "# schema: astropy-2.0\ntheta,w,cov0,cov1,cov2\n1,0.5,10,13,16\n"
                              "2,,11,14,17\n3,-0.25,12,15,18\n";
  g_autofree char *path = g_build_filename(place->folder, "t.ecsv", NULL), *found = NULL;
  g_autofree char *expected = g_strconcat(header, lines, "\n", header, meta, lines, NULL);
  g_autoptr(GstStructure) about =
      gst_structure_new("astro-correlation", "dd-pairs", G_TYPE_DOUBLE, 0.5, "estimator",
                        G_TYPE_STRING, "natural", "data", G_TYPE_UINT64, (guint64)300, NULL);
  g_autoptr(GstCaps) caps = gst_caps_from_string(CORRELATION);
  AstroFitsContents contents = { .stations = 0 };
  AstroFitsTally tally = { 0 };
  g_assert_true(astro_fits_contents_from_caps(&contents, caps, NULL));
  const AstroFitsWriterKind *kind =
      astro_fits_writer_kind(ASTRO_QUANTITY_CORRELATION_FUNCTION, path, NULL);
  AstroPartFile *file = astro_part_file_create(path, NULL);
  gpointer writer = kind->create(file, &contents, NULL);
  for (guint t = 0; t < 2; t++) {
    AstroFitsFrames frames = { .data = table, .frames = 1, .about = t ? about : NULL };
    g_assert_true(kind->write(writer, &frames, &tally, NULL));
  }
  g_assert_true(kind->finish(writer, &tally, NULL));
  kind->destroy(writer);
  g_assert_true(astro_part_file_commit(file, NULL));
  astro_fits_contents_clear(&contents);
  g_assert_true(g_file_get_contents(path, &found, NULL, NULL));
  g_assert_cmpstr(found, ==, expected);
  g_unlink(path);
}

static void too_many_columns(TestPlace *place, gconstpointer data)
{
  GError *error = NULL;
  GString *names = g_string_new("a");
  AstroFitsContents contents = { .stream = { .quantity = ASTRO_QUANTITY_CATALOGUE } };
  for (guint i = 0; i < 999; i++)
    g_string_append(names, ":b");
  contents.columns = g_string_free(names, FALSE);
  AstroPartFile *file = astro_part_file_create(place->path, NULL);
  const AstroFitsWriterKind *kind =
      astro_fits_writer_kind(ASTRO_QUANTITY_CATALOGUE, place->path, NULL);
  g_assert_null(kind->create(file, &contents, &error));
  g_assert_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_HEADER);
  g_error_free(error);
  astro_part_file_discard(file);
  astro_fits_contents_clear(&contents);
}

static void add_tests(void)
{
  static const TestPlaceCase cases[] = {
    { "write-catalogues", write_catalogues },
    { "write-correlation", write_correlation },
    { "write-csv", write_csv },
    { "write-ecsv", write_ecsv },
    { "too-many-columns", too_many_columns },
  };
  test_add_places("/fits-catalogue/", cases, G_N_ELEMENTS(cases));
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
