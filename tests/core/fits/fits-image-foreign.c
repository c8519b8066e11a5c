/* FITS images and cubes of other programs, made by CFITSIO: values, warnings and refusals. */
#include "tests/core/fits/fits-image.h"

#define W 5
#define H 3

typedef struct {
  int bitpix, n_axes;
  long axes[4];
  const char *type[4];
  double value[4], pixel[4], delta[4]; /* delta 0: not in the header */
  double scale, zero;
  const char *extra[6]; /* cards */
  gboolean in_extension;
} Foreign;

static const Foreign plain = { -32,        2,        { W, H },       { "RA---SIN", "DEC--SIN" },
                               { 10, 20 }, { 3, 2 }, { -0.01, 0.01 } };

static void make(const char *path, const Foreign *image)
{
  fitsfile *f;
  int status = 0;
  long first[4] = { 1, 1, 1, 1 }, n = 1;
  g_unlink(path);
  fits_create_diskfile(&f, path, &status);
  if (image->in_extension)
    fits_create_img(f, 8, 0, NULL, &status);
  fits_create_img(f, image->bitpix, image->n_axes, (long *)image->axes, &status);
  for (int i = 0; i < image->n_axes; i++) {
    char name[FLEN_KEYWORD];
    n *= image->axes[i];
    fits_make_keyn("CTYPE", i + 1, name, &status);
    if (image->type[i])
      fits_update_key(f, TSTRING, name, (char *)image->type[i], NULL, &status);
    const struct {
      const char *key;
      double value;
    } numbers[] = { { "CRVAL", image->value[i] },
                    { "CRPIX", image->pixel[i] },
                    { "CDELT", image->delta[i] } };
    for (guint k = 0; k < G_N_ELEMENTS(numbers) && image->delta[i] != 0; k++) {
      fits_make_keyn(numbers[k].key, i + 1, name, &status);
      fits_update_key(f, TDOUBLE, name, (void *)&numbers[k].value, NULL, &status);
    }
  }
  for (guint i = 0; i < G_N_ELEMENTS(image->extra) && image->extra[i]; i++)
    fits_write_record(f, image->extra[i], &status);
  g_autofree double *pixels = g_new(double, n);
  for (long i = 0; i < n; i++)
    pixels[i] = i;
  fits_write_pix(f, TDOUBLE, first, n, pixels, &status);
  if (image->scale != 0) { /* for what is in the file already */
    fits_update_key(f, TDOUBLE, "BSCALE", (void *)&image->scale, NULL, &status);
    fits_update_key(f, TDOUBLE, "BZERO", (void *)&image->zero, NULL, &status);
  }
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
}

static double pixel_at(const AstroFitsReader *reader, gconstpointer pixels, gsize i)
{
  return astro_fits_reader_contents(reader)->stream.format == ASTRO_FORMAT_F64LE
             ? ((const double *)pixels)[i]
             : (double)((const float *)pixels)[i];
}

static void every_bitpix(TestPlace *place, gconstpointer data)
{
  static const int bitpix[] = { 8, 16, 32, 64, -32, -64 };
  for (guint b = 0; b < G_N_ELEMENTS(bitpix); b++)
    for (guint scaled = 0; scaled < 2; scaled++) {
      Foreign image = plain;
      AstroFitsFrame frame;
      image.bitpix = bitpix[b];
      image.scale = scaled ? 0.5 : 0;
      image.zero = -3;
      make(place->path, &image);
      AstroFitsReader *reader = test_open_good(place->path);
      g_assert_cmpint(astro_fits_reader_contents(reader)->stream.format, ==,
                      bitpix[b] == -64 || bitpix[b] > 16 ? ASTRO_FORMAT_F64LE : ASTRO_FORMAT_F32LE);
      gpointer pixels = test_read_next(reader, &frame);
      for (guint i = 0; i < W * H; i++)
        g_assert_cmpfloat(pixel_at(reader, pixels, i), ==, scaled ? i * 0.5 - 3 : i);
      g_assert_false(frame.has_beam);
      test_free(pixels);
      test_expect_end(reader);
    }
}

static void blank_pixels(TestPlace *place, gconstpointer data)
{
  Foreign image = plain;
  AstroFitsFrame frame;
  image.bitpix = 16;
  image.extra[0] = "BLANK   =                    4";
  make(place->path, &image);
  AstroFitsReader *reader = test_open_good(place->path);
  float *pixels = test_read_next(reader, &frame);
  for (guint i = 0; i < W * H; i++)
    g_assert_true(i == 4 ? isnan(pixels[i]) : pixels[i] == i);
  test_free(pixels);
  test_expect_end(reader);
}

/* East to the right, north down: reversed when read, and so is the position. */
static void turned(TestPlace *place, gconstpointer data)
{
  Foreign image = plain;
  AstroFitsFrame frame;
  for (guint turn = 0; turn < 4; turn++) {
    image.delta[0] = turn & 1 ? 0.01 : -0.01;
    image.delta[1] = turn & 2 ? -0.01 : 0.01;
    make(place->path, &image);
    AstroFitsReader *reader = test_open_good(place->path);
    const AstroGrid *grid = &astro_fits_reader_contents(reader)->grid;
    float *pixels = test_read_next(reader, &frame);
    /* The phase centre is in FITS's pixel (3, 2), which holds 1 * W + 2. */
    double x = W / 2 + grid->centre_l / grid->pixel, y = H / 2 - grid->centre_m / grid->pixel;
    TEST_NEAR(grid->pixel, 0.01 / TEST_DEGREES);
    g_assert_cmpfloat(pixels[lround(y) * W + lround(x)], ==, W + 2);
    TEST_NEAR(x, lround(x));
    TEST_NEAR(y, lround(y));
    for (guint i = 0; i < W * H; i++)
      g_assert_cmpfloat(
          pixels[(turn & 2 ? H - 1 - i / W : i / W) * W + (turn & 1 ? W - 1 - i % W : i % W)], ==,
          i);
    test_free(pixels);
    test_expect_end(reader);
  }
}

/* Cubes with their axes in any order; frequencies that fall. */
static void cubes(TestPlace *place, gconstpointer data)
{
  Foreign image = { -32,
                    4,
                    { W, H, 2, 3 },
                    { "RA---SIN", "DEC--SIN", "STOKES", "FREQ" },
                    { 10, 20, 1, 100e6 },
                    { 3, 2, 1, 1 },
                    { -0.01, 0.01, 1, -1e6 } };
  AstroFitsFrame frame;
  make(place->path, &image);
  AstroFitsReader *reader = test_open_good(place->path);
  const AstroFitsContents *contents = astro_fits_reader_contents(reader);
  g_autofree char *layout = astro_layout_to_string(&contents->stream.layout);
  g_autofree char *products = g_strjoinv(":", contents->grid.products);
  g_assert_cmpstr(layout, ==, "channel:pol:y:x");
  g_assert_cmpstr(products, ==, "I:Q");
  TEST_NEAR(contents->stream.frequency, 99e6);
  TEST_NEAR(contents->stream.bandwidth, 3e6);
  float *pixels = test_read_next(reader, &frame);
  for (guint c = 0; c < 3; c++)
    for (guint i = 0; i < 2 * W * H; i++)
      g_assert_cmpfloat(pixels[c * 2 * W * H + i], ==, (2 - c) * 2 * W * H + i);
  test_free(pixels);
  test_expect_end(reader);

  Foreign velocities = { -32, 3, { W, H, 4 }, { "RA---SIN", "DEC--SIN", "VRAD" } };
  make(place->path, &velocities);
  reader = test_open_good(place->path);
  contents = astro_fits_reader_contents(reader);
  g_assert_cmpuint(astro_stream_extent(&contents->stream, ASTRO_AXIS_CHANNEL), ==, 4);
  g_assert_cmpfloat(contents->stream.frequency, ==, 0);
  astro_fits_reader_close(reader);
}

/* An image after an empty primary HDU, steps in CD, a beam, and a date without a time. */
static void other_headers(TestPlace *place, gconstpointer data)
{
  Foreign image = plain;
  AstroFitsFrame frame;
  image.in_extension = TRUE;
  image.delta[0] = image.delta[1] = 0;
  image.extra[0] = "CD1_1   =                -0.02";
  image.extra[1] = "CD2_2   =                 0.02";
  image.extra[2] = "BMAJ    =                  0.1";
  image.extra[3] = "BMIN    =                 0.05";
  image.extra[4] = "DATE-OBS= '2020-02-29'";
  make(place->path, &image);
  AstroFitsReader *reader = test_open_good(place->path);
  const AstroFitsContents *contents = astro_fits_reader_contents(reader);
  TEST_NEAR(contents->grid.pixel, 0.02 / TEST_DEGREES);
  g_assert_true(contents->observation->has_start);
  g_autofree char *start = astro_observation_get_start(contents->observation);
  g_assert_true(g_str_has_prefix(start, "2020-02-29T00:00:00"));
  test_free(test_read_next(reader, &frame));
  g_assert_true(frame.has_beam);
  TEST_NEAR(frame.major, 0.1 / TEST_DEGREES);
  test_expect_end(reader);
}

/* An impossible border is ignored. */
static void borders(TestPlace *place, gconstpointer data)
{
  static const struct {
    const char *card;
    guint border;
  } images[] = { { "CLBORDER=                    3", 3 },
                 { "CLBORDER=                   -3", 0 },
                 { "CLBORDER=           4294967299", 0 },
                 { "CLBORDER= 'wide'", 0 } };
  for (guint i = 0; i < G_N_ELEMENTS(images); i++) {
    Foreign image = plain;
    AstroFitsFrame frame;
    image.extra[0] = images[i].card;
    make(place->path, &image);
    AstroFitsReader *reader = test_open_good(place->path);
    test_free(test_read_next(reader, &frame));
    g_assert_cmpuint(frame.border, ==, images[i].border);
    test_expect_end(reader);
  }
}

/* AIPS may only give the beam in its history, once for each restoration. */
static void beam_in_history(TestPlace *place, gconstpointer data)
{
  static const struct {
    const char *cards[3];
    double major, angle; /* degrees; 0: there is none */
  } images[] = {
    { { "HISTORY AIPS   CLEAN BMAJ=  2.0000E-02 BMIN=  1.0000E-02 BPA=   5.00",
        "HISTORY AIPS   CLEAN BMAJ=  1.2500E-01 BMIN=  2.5000E-02 BPA= -37.50",
        "HISTORY AIPS   CLEAN NITER=     1000 PRODUCT=1   / NORMAL" },
      0.125,
      -37.5 },
    { { "HISTORY AIPS   CLEAN BMAJ=  1.2500E-01 BMIN=  2.5000E-02 BPA= -37.50",
        "BMAJ    =                 0.25", "BMIN    =                 0.05" },
      0.25,
      0 },
    { { "HISTORY BMAJ=1 BMIN=1 BPA=1 would be a beam", "HISTORY CLEAN BMAJ=", "HISTORY" }, 0, 0 },
    { { "HISTORY AIPS   CLEAN BMAJ=  0.0000E+00 BMIN=  0.0000E+00 BPA=   0.00",
        "HISTORY AIPS   CLEAN BMAJ=nonsense BMIN=1.0 BPA=", "BMAJ    =                 0.25" },
      0,
      0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(images); i++) {
    Foreign image = plain;
    AstroFitsFrame frame;
    for (guint k = 0; k < G_N_ELEMENTS(images[i].cards); k++)
      image.extra[k] = images[i].cards[k];
    make(place->path, &image);
    AstroFitsReader *reader = test_open_good(place->path);
    test_free(test_read_next(reader, &frame));
    g_assert_true(frame.has_beam == (images[i].major > 0));
    if (frame.has_beam) {
      TEST_NEAR(frame.major, images[i].major / TEST_DEGREES);
      TEST_NEAR(frame.minor, images[i].major / TEST_DEGREES / 5);
      TEST_NEAR(frame.angle, images[i].angle / TEST_DEGREES);
    }
    test_expect_end(reader);
  }
}

/* CASA's cubes have a beam for each plane, in a table. */
static void beams_of_planes(TestPlace *place, gconstpointer data)
{
  char *names[] = { "BMAJ", "BMIN", "BPA" }, *forms[] = { "1E", "1E", "1E" };
  for (guint has_one = 0; has_one < 2; has_one++) {
    Foreign image = plain;
    fitsfile *f;
    int status = 0;
    image.extra[0] = has_one ? "BMAJ    =                 0.25" : NULL;
    image.extra[1] = has_one ? "BMIN    =                 0.05" : NULL;
    make(place->path, &image);
    fits_open_diskfile(&f, place->path, READWRITE, &status);
    fits_create_tbl(f, BINARY_TBL, 3, 3, names, forms, NULL, "BEAMS", &status);
    fits_close_file(f, &status);
    g_assert_cmpint(status, ==, 0);
    AstroFitsReader *reader = test_open_good(place->path);
    const char *note = astro_fits_reader_contents(reader)->note;
    g_assert_true((note && strstr(note, "table BEAMS")) == !has_one);
    astro_fits_reader_close(reader);
  }
}

/* A stream cannot express another frame of frequencies, nor a line's rest frequency. */
static void other_frames(TestPlace *place, gconstpointer data)
{
  static const struct {
    const char *cards[2], *says[2]; /* NULL: nothing */
  } images[] = {
    { { "SPECSYS = 'LSRK    '", "RESTFRQ =         1420405752." },
      { "frame LSRK (SPECSYS), expected TOPOCENT", "1420405752 Hz (RESTFRQ)" } },
    { { "SPECSYS = 'TOPOCENT'", "RESTFREQ=         1420405752." },
      { NULL, "1420405752 Hz (RESTFRQ)" } },
    { { "SPECSYS = 'BARYCENT'" }, { "frame BARYCENT" } },
    { { "SPECSYS = 'TOPOCENT'", "RESTFRQ =                   0." }, { NULL, NULL } },
  };
  for (guint i = 0; i < G_N_ELEMENTS(images); i++) {
    Foreign image = plain;
    image.extra[0] = images[i].cards[0];
    image.extra[1] = images[i].cards[1];
    make(place->path, &image);
    AstroFitsReader *reader = test_open_good(place->path);
    const char *note = astro_fits_reader_contents(reader)->note;
    g_assert_true(!!note == (images[i].says[0] || images[i].says[1]));
    for (guint k = 0; k < 2; k++)
      g_assert_true(!images[i].says[k] || strstr(note, images[i].says[k]));
    astro_fits_reader_close(reader);
  }
}

/* Nor can it express channels in velocities or wavelengths. */
static void other_channels(TestPlace *place, gconstpointer data)
{
  static const struct {
    const char *type, *unit, *says; /* NULL: nothing */
  } cubes[] = {
    { "FREQ", "Hz", NULL },
    { "CHANNEL", "", NULL },
    { NULL, "", NULL },
    { "VRAD", "m/s", "axis 3 is \"VRAD\" in units of \"m/s\", expected FREQ in Hz" },
    { "WAVE", "", "axis 3 is \"WAVE\", expected FREQ in Hz" },
    { "FREQ", "m", "axis 3 is \"FREQ\" in units of \"m\", expected FREQ in Hz" },
    { "FREQ-LSR", "Hz", "frame LSR (CTYPE3), expected TOPOCENT" },
    { "FREQ-TOP", "Hz", NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cubes); i++) {
    g_autofree char *card = g_strdup_printf("CUNIT3  = '%s'", cubes[i].unit);
    const Foreign image = { -32,         3,           { W, H, 3 }, { NULL, NULL, cubes[i].type },
                            { 0, 0, 4 }, { 0, 0, 2 }, { 0, 0, 1 }, 0,
                            0,           { card } };
    make(place->path, &image);
    AstroFitsReader *reader = test_open_good(place->path);
    const char *note = astro_fits_reader_contents(reader)->note;
    g_assert_true(cubes[i].says ? note && strstr(note, cubes[i].says) : !note);
    astro_fits_reader_close(reader);
  }
}

static void units(TestPlace *place, gconstpointer data)
{
  static const struct {
    const char *unit;
    double factor;
    gboolean says;
  } values[] = {
    { "JY/BEAM", 1, FALSE },     { "Jy beam-1", 1, FALSE }, { "mJy/beam", 1e-3, FALSE },
    { "uJy/beam", 1e-6, FALSE }, { "Jy", 1, FALSE },        { "", 1, FALSE },
    { "Jy/pixel", 1, TRUE },     { "MJy/sr", 1, TRUE },     { "K", 1, TRUE },
    { "mas", 1, TRUE },          { "mJy/pixel", 1, TRUE },  { "Jyear", 1, TRUE },
  };
  static const struct {
    const char *unit;
    double middle;
  } bands[] = {
    { "Hz", 4 }, { "HZ", 4 }, { "kHz", 4e3 }, { "MHz", 4e6 }, { "GHz", 4e9 }, { "m", 0 }
  };
  Foreign image = plain;
  AstroFitsFrame frame;

  for (guint k = 0; k < G_N_ELEMENTS(values); k++) {
    g_autofree char *card = g_strdup_printf("BUNIT   = '%s'", values[k].unit);
    image.extra[0] = card;
    image.type[0] = values[k].says && k % 2 ? "RA---TAN" : "RA---SIN"; /* two things to say */
    make(place->path, &image);
    AstroFitsReader *reader = test_open_good(place->path);
    const char *note = astro_fits_reader_contents(reader)->note;
    g_assert_true((note && strstr(note, "BUNIT")) == values[k].says);
    g_assert_true((note && strstr(note, "RA---TAN")) == g_str_equal(image.type[0], "RA---TAN"));
    float *pixels = test_read_next(reader, &frame);
    for (guint i = 0; i < W * H; i++)
      g_assert_cmpfloat(pixels[i], ==, (float)(i * values[k].factor));
    test_free(pixels);
    test_expect_end(reader);
  }

  image = (Foreign){ -32,         3,           { W, H, 3 }, { NULL, NULL, "FREQ" },
                     { 0, 0, 4 }, { 0, 0, 2 }, { 0, 0, 1 } };
  for (guint k = 0; k < G_N_ELEMENTS(bands); k++) {
    g_autofree char *card = g_strdup_printf("CUNIT3  = '%s'", bands[k].unit);
    image.extra[0] = card;
    make(place->path, &image);
    AstroFitsReader *reader = test_open_good(place->path);
    const AstroStream *stream = &astro_fits_reader_contents(reader)->stream;
    TEST_NEAR(stream->frequency, bands[k].middle);
    TEST_NEAR(stream->bandwidth, bands[k].middle * 0.75);
    astro_fits_reader_close(reader);
  }
}

/* Positions that the stream cannot express are left out, with a warning. */
static void other_places(TestPlace *place, gconstpointer data)
{
  static const struct {
    const char *type[2];
    double delta[2];
    const char *extra, *says;
  } cases[] = {
    { { "RA---TAN", "DEC--TAN" }, { -0.01, 0.01 }, NULL, "not RA---SIN" },
    { { "GLON-SIN", "GLAT-SIN" }, { -0.01, 0.01 }, NULL, "GLON-SIN" },
    { { "RA---SIN", "DEC--SIN" }, { -0.01, 0.02 }, NULL, "squares" },
    { { "RA---SIN", "DEC--SIN" }, { -0.01, 0.01 }, "EQUINOX =               1950.0", "equinox" },
    { { "RA---SIN", "DEC--SIN" }, { -0.01, 0.01 }, "CROTA2  =                 10.0", "squares" },
    { { "RA---SIN", "DEC--SIN" }, { -0.01, 0.01 }, "PC1_2   =                  0.5", "squares" },
    { { "RA---SIN", "DEC--SIN" }, { -0.01, 0.01 }, "PV2_2   =                  0.5", "SIN" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    Foreign image = plain;
    memcpy(image.type, cases[i].type, sizeof cases[i].type);
    memcpy(image.delta, cases[i].delta, sizeof cases[i].delta);
    image.extra[0] = cases[i].extra;
    make(place->path, &image);
    AstroFitsReader *reader = test_open_good(place->path);
    const AstroFitsContents *contents = astro_fits_reader_contents(reader);
    g_assert_nonnull(strstr(contents->note, cases[i].says));
    g_assert_false(contents->observation->has_phase_centre);
    g_assert_cmpfloat(contents->grid.pixel, ==, 0);
    astro_fits_reader_close(reader);
  }
}

static void expect_refused(const char *path, const char *says)
{
  g_autoptr(GError) error = NULL;
  g_assert_null(astro_fits_reader_open(path, NULL, &error));
  g_assert_nonnull(strstr(error->message, path));
  g_assert_nonnull(strstr(error->message, says));
}

static void bad_files(TestPlace *place, gconstpointer data)
{
  static const struct {
    Foreign image;
    const char *says;
  } cases[] = {
    { { -32, 3, { W, H, 1 }, { NULL, NULL, "STOKES" }, { 0, 0, 50 }, { 0, 0, 1 }, { 0, 0, 1 } },
      "STOKES has the value 50" },
    { { -32, 4, { W, H, 2, 2 }, { NULL, NULL, "VELO", "TIME" } }, "axis 4" },
    { { -32, 4, { W, H, 2, 2 }, { NULL, NULL, "FREQ", "FREQ" } }, "axis 4" },
    { { -32, 3, { W, H, 13 }, { NULL, NULL, "STOKES" } }, "STOKES has 13 values" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    make(place->path, &cases[i].image);
    expect_refused(place->path, cases[i].says);
  }
  g_autofree char *whole = NULL;
  gsize bytes;
  AstroFitsContents contents;
  test_contents_of(&contents, test_streams[3], TRUE);
  test_write_ours(place->path, &contents, 1);
  g_assert_true(g_file_get_contents(place->path, &whole, &bytes, NULL));
  g_assert_true(g_file_set_contents(place->path, whole, bytes / 2, NULL));
  expect_refused(place->path, "cut short");
  /* claims to have groups, which its first axis contradicts */
  static const char *const cards[][2] = { { "NAXIS1  =", "NAXIS1  =           2147483647" },
                                          { "BUNIT   =", "GROUPS  =                    T" } };
  for (guint c = 0; c < G_N_ELEMENTS(cards); c++) {
    char *card = g_strstr_len(whole, (gssize)bytes, cards[c][0]);
    g_assert_nonnull(card);
    memset(card, ' ', 80);
    memcpy(card, cards[c][1], strlen(cards[c][1]));
  }
  g_assert_true(g_file_set_contents(place->path, whole, (gssize)bytes, NULL));
  expect_refused(place->path, "cut short");
  astro_fits_contents_clear(&contents);
}

static void packed(TestPlace *place, gconstpointer data)
{
  long axes[] = { W, H };
  float pixels[W * H] = { 0 };
  fitsfile *f;
  int status = 0;
  fits_create_diskfile(&f, place->path, &status);
  fits_set_compression_type(f, RICE_1, &status);
  fits_create_img(f, -32, 2, axes, &status);
  fits_write_img(f, TFLOAT, 1, W * H, pixels, &status);
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
  expect_refused(place->path, "funpack");
}

static void add_tests(void)
{
  static const TestPlaceCase cases[] = {
    { "every-bitpix", every_bitpix },
    { "blank-pixels", blank_pixels },
    { "turned", turned },
    { "cubes", cubes },
    { "other-headers", other_headers },
    { "borders", borders },
    { "beam-in-history", beam_in_history },
    { "beams-of-planes", beams_of_planes },
    { "other-frames", other_frames },
    { "other-channels", other_channels },
    { "units", units },
    { "other-places", other_places },
    { "bad-files", bad_files },
    { "packed", packed },
  };
  test_add_places("/fits-image/", cases, G_N_ELEMENTS(cases));
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
