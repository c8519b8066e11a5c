/* UVFITS: what is written is in the file, read by CFITSIO. */
#include "core/stream/uvw.h"
#include "tests/core/fits/fits-key.h"
#include "tests/core/fits/uvfits-written.h"

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
  test_write_uvfits(place->path, &c, blocks, 2, NULL);

  fits_open_diskfile(&f, place->path, READONLY, &status);
  g_assert_cmpint(status, ==, 0);
  fits_read_key(f, TLOGICAL, "GROUPS", &groups, NULL, &status);
  g_assert_true(groups);
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
    g_assert_cmpfloat_with_epsilon(test_key_number(f, numbers[i].key), numbers[i].value, 1e-9);
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    test_key_text(f, texts[i].key, texts[i].value);

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
  /* XX YY XY YX of the pair (1, 2) are the conjugates of our XX YY YX XY of (2, 1). */
  static const double expected[12] = { 10, -20, 1, 13, -23, 1, 12, -22, 1, 11, -21, 1 };
  for (guint i = 0; i < 12; i++) {
    g_assert_cmpfloat(group[12 + i], ==, expected[i]);
    g_assert_cmpfloat(group[i], ==, i % 3 == 2);
  }

  fits_movnam_hdu(f, BINARY_TBL, (char *)"AIPS AN", 1, &status);
  g_assert_cmpint(status, ==, 0);
  test_key_text(f, "TIMSYS", "UTC");
  test_key_text(f, "TIMESYS", "UTC");
  test_key_text(f, "RDATE", "2026-11-20");
  test_key_text(f, "XYZHAND", "RIGHT");
  test_key_text(f, "FRAME", "ITRF");
  test_key_text(f, "ARRNAM", "TESTARRAY");
  g_assert_cmpfloat(test_key_number(f, "IATUTC"), ==, 37);
  g_assert_cmpfloat(test_key_number(f, "DATUTC"), ==, 0);
  g_assert_cmpfloat_with_epsilon(test_key_number(f, "DEGPDY"), 360.985647, 1e-6);
  /* Greenwich at 0h: 280.46062 + 360.98564737 a day since J2000, without the equation of the
   * equinoxes. */
  g_assert_cmpfloat_with_epsilon(test_key_number(f, "GSTIA0"),
                                 fmod(280.46061837 + 360.98564736629 * (2461364.5 - 2451545), 360),
                                 0.02);
  /* Relative to a centre elsewhere some programs would rotate them. */
  for (guint k = 0; k < 3; k++) {
    const char *keys[] = { "ARRAYX", "ARRAYY", "ARRAYZ" };
    fits_get_colnum(f, CASEINSEN, (char *)"STABXYZ", &column, &status);
    fits_read_col(f, TDOUBLE, column, 3, 1, 3, NULL, position, NULL, &status);
    g_assert_cmpfloat(test_key_number(f, keys[k]), ==, 0);
    g_assert_cmpfloat(position[k], ==, c.observation->positions[6 + k]);
  }
  fits_get_colnum(f, CASEINSEN, (char *)"NOSTA", &column, &status);
  fits_read_col(f, TINT, column, 3, 1, 1, NULL, &number, NULL, &status);
  g_assert_cmpint(number, ==, 3);
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
  astro_fits_contents_clear(&c);
}

static void check_read_back(const char *path, const AstroFitsContents *written)
{
  AstroFitsReader *reader = astro_fits_reader_open(path, NULL, NULL);
  test_check_contents(astro_fits_reader_contents(reader), written, FALSE);
  astro_fits_reader_close(reader);
}

/* Autocorrelations have two equal antennas; a circular basis has its own numbers. */
static void circular(TestPlace *place, gconstpointer data)
{
  AstroFitsContents c = test_contents(2, 2, 1, ASTRO_FORMAT_CF32LE);
  g_autofree gpointer values = test_make_data(&c, 1, 3);
  AstroFitsFrames block = { .data = values, .frames = 1, .duration_ns = GST_SECOND };
  double parameters[7];
  fitsfile *f;
  int status = 0;

  g_free(c.observation->basis);
  c.observation->basis = g_strdup("circular");
  /* Names with letters that FITS does not have, and one longer than usual. */
  g_free(c.observation->names[0]);
  c.observation->names[0] = g_strdup("\xe5\x8c\x97\n");
  g_free(c.observation->names[1]);
  c.observation->names[1] = g_strdup("a name of many letters");
  test_write_uvfits(place->path, &c, &block, 1, NULL);
  g_free(c.observation->names[0]);
  c.observation->names[0] = g_strdup("??");
  fits_open_diskfile(&f, place->path, READONLY, &status);
  g_assert_cmpfloat(test_key_number(f, "CRVAL3"), ==, -1);
  fits_read_grppar_dbl(f, 3, 1, 7, parameters, &status);
  g_assert_cmpfloat(parameters[5], ==, 256 * 2 + 2);
  g_assert_cmpfloat(parameters[0], ==, 0);
  fits_movnam_hdu(f, BINARY_TBL, (char *)"AIPS AN", 0, &status);
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);

  check_read_back(place->path, &c);
  astro_fits_contents_clear(&c);
}

/* Samples without a mixer have their first channel at 0 Hz: frequencies count from the second. */
static void from_zero(TestPlace *place, gconstpointer data)
{
  enum { CHANNELS = 3 };
  AstroFitsContents c = test_contents(2, 1, CHANNELS, ASTRO_FORMAT_CF32LE);
  const double width = c.stream.bandwidth / CHANNELS;
  c.stream.frequency = width * (CHANNELS - 1) / 2;
  g_autofree gpointer values = test_make_data(&c, 1, 3);
  AstroFitsFrames block = { .data = values, .frames = 1, .duration_ns = GST_SECOND };
  fitsfile *f;
  int status = 0;

  test_write_uvfits(place->path, &c, &block, 1, NULL);
  fits_open_diskfile(&f, place->path, READONLY, &status);
  g_assert_cmpfloat(test_key_number(f, "CRPIX4"), ==, 2);
  g_assert_cmpfloat_with_epsilon(test_key_number(f, "CRVAL4"), width, 1e-6);
  fits_movnam_hdu(f, BINARY_TBL, (char *)"AIPS AN", 0, &status);
  g_assert_cmpfloat_with_epsilon(test_key_number(f, "FREQ"), width, 1e-6);
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);

  check_read_back(place->path, &c);
  astro_fits_contents_clear(&c);
}

static void many_stations(TestPlace *place, gconstpointer data)
{
  static const char *const names[] = { "UU",       "VV",       "WW",       "DATE",  "DATE",
                                       "ANTENNA1", "ANTENNA2", "SUBARRAY", "INTTIM" };
  AstroFitsContents c = test_contents(256, 1, 1, ASTRO_FORMAT_CF32LE);
  g_autofree gpointer values = test_make_data(&c, 1, 3);
  AstroFitsFrames block = { .data = values, .frames = 1, .duration_ns = GST_SECOND };
  double parameters[9];
  fitsfile *f;
  int status = 0;

  test_write_uvfits(place->path, &c, &block, 1, NULL);
  fits_open_diskfile(&f, place->path, READONLY, &status);
  g_assert_cmpfloat(test_key_number(f, "PCOUNT"), ==, 9);
  g_assert_cmpfloat(test_key_number(f, "GCOUNT"), ==, 256 * 257 / 2);
  for (guint i = 0; i < 9; i++) {
    g_autofree char *key = g_strdup_printf("PTYPE%u", i + 1);
    test_key_text(f, key, names[i]);
  }
  fits_read_grppar_dbl(f, 256 * 257 / 2 - 1, 1, 9, parameters, &status);
  g_assert_cmpint(status, ==, 0);
  g_assert_cmpfloat(parameters[5], ==, 255);
  g_assert_cmpfloat(parameters[6], ==, 256);
  g_assert_cmpfloat(parameters[7], ==, 1);
  fits_close_file(f, &status);
  astro_fits_contents_clear(&c);
}

static void add_tests(void)
{
  static const TestPlaceCase cases[] = {
    { "header", header },
    { "circular", circular },
    { "from-zero", from_zero },
    { "many-stations", many_stations },
  };
  test_add_places("/uvfits/", cases, G_N_ELEMENTS(cases));
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
