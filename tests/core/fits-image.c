/* Images and cubes in FITS: ours read back, and looked at by CFITSIO and WCSLIB's rules; files of
 * others, made by CFITSIO. */
#include "core/fits/cfitsio.h"
#include "core/fits/fits.h"
#include "tests/core/uvfits.h"

#include <math.h>

#define DEGREES (180.0 / G_PI)

/* ---- our files ---- */

static AstroObservation *new_observation(void)
{
  AstroObservation *o = astro_observation_new(0);
  g_free(o->telescope);
  o->telescope = g_strdup("Westerbork");
  o->has_phase_centre = TRUE;
  o->phase_ra = 350.25 / DEGREES;
  o->phase_dec = -41.5 / DEGREES;
  g_assert_true(astro_observation_set_start(o, "2026-11-20T23:59:50.25", NULL));
  return o;
}

#define CAPS "application/x-astro-image, frequency=(double)150e6, bandwidth=(double)1e6, "
#define PLACED "pixel=(double)0.0001, centre-l=(double)0.0125, centre-m=(double)-0.02, "

static void contents_of(AstroFitsContents *contents, const char *text, gboolean observed)
{
  GError *error = NULL;
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  memset(contents, 0, sizeof *contents);
  g_assert_true(astro_fits_contents_from_caps(contents, caps, &error));
  g_assert_no_error(error);
  if (observed)
    contents->observation = new_observation();
}

/* Pixels of image i: noise, of any bits but no signalling NaN that a float register would quiet. */
static gpointer new_pixels(const AstroFitsContents *contents, guint seed)
{
  gsize bytes = astro_stream_step_bytes(&contents->stream);
  guint8 *data = g_malloc(bytes);
  test_fill(data, bytes, seed);
  for (gsize i = 3; i < bytes; i += 4)
    data[i] &= 0xbf;
  return data;
}

static void beam_of(AstroImageMeta *meta, guint i)
{
  *meta = (AstroImageMeta){ .has_beam = TRUE,
                            .major = (2.5 + i) / 3600 / DEGREES,
                            .minor = 1.25 / 3600 / DEGREES,
                            .angle = -30.5 / DEGREES };
}

static void frames_of(AstroFitsFrames *frames, gconstpointer data, guint i,
                      const AstroImageMeta *beam)
{
  *frames = (AstroFitsFrames){ .data = data,
                               .frames = 1,
                               .start_ns = i * 10 * G_GINT64_CONSTANT(1000000000),
                               .duration_ns = 7 * G_GINT64_CONSTANT(1234567891),
                               .image = beam };
}

static void write_ours(const char *path, const AstroFitsContents *contents, guint n)
{
  GError *error = NULL;
  AstroFitsTally tally = { 0 };
  const AstroFitsWriterKind *kind = astro_fits_writer_kind(ASTRO_QUANTITY_IMAGE, path, &error);
  AstroPartFile *file = astro_part_file_create(path, &error);
  gpointer writer = kind->create(file, contents, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < n; i++) {
    g_autofree gpointer data = new_pixels(contents, i);
    AstroImageMeta beam;
    AstroFitsFrames frames;
    beam_of(&beam, i);
    frames_of(&frames, data, i, &beam);
    g_assert_true(kind->write(writer, &frames, &tally, &error));
  }
  g_assert_true(kind->finish(writer, &error));
  kind->destroy(writer);
  g_assert_true(astro_part_file_commit(file, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(tally.values, ==, n * astro_layout_samples(&contents->stream.layout));
}

static AstroFitsReader *open_good(const char *path)
{
  GError *error = NULL;
  AstroFitsReader *reader = astro_fits_reader_open(path, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpint(astro_fits_reader_contents(reader)->stream.quantity, ==, ASTRO_QUANTITY_IMAGE);
  return reader;
}

/* The next image, in a block with a guard. */
static gpointer read_next(AstroFitsReader *reader, AstroFitsFrame *frame)
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

static void expect_end(AstroFitsReader *reader)
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

#define NEAR(a, b) g_assert_cmpfloat_with_epsilon(a, b, 1e-13 + 1e-13 * fabs((double)(b)))

static void expect_same_contents(const AstroFitsContents *a, const AstroFitsContents *b)
{
  g_assert_cmpint(a->stream.format, ==, b->stream.format);
  g_assert_cmpmem(&a->stream.layout, sizeof a->stream.layout, &b->stream.layout,
                  sizeof b->stream.layout);
  NEAR(a->stream.frequency, b->stream.frequency);
  NEAR(a->stream.bandwidth, b->stream.bandwidth);
  g_assert_cmpstrv(a->grid.products, b->grid.products);
  NEAR(a->grid.pixel, b->grid.pixel);
  NEAR(a->grid.centre_l, b->grid.centre_l);
  NEAR(a->grid.centre_m, b->grid.centre_m);
  if (!b->observation)
    return;
  NEAR(a->observation->phase_ra, b->observation->phase_ra);
  NEAR(a->observation->phase_dec, b->observation->phase_dec);
  g_assert_cmpint(a->observation->start_mjd, ==, b->observation->start_mjd);
  g_assert_cmpuint(a->observation->start_ns, ==, b->observation->start_ns);
  g_assert_cmpstr(a->observation->telescope, ==, b->observation->telescope);
}

static const char *const streams[] = {
  CAPS PLACED "format=F32LE, layout=pol:y:x, pols=1, width=16, height=16",
  CAPS PLACED "format=F64LE, layout=pol:y:x, pols=4, width=7, height=5, products=I:Q:U:V",
  CAPS PLACED "format=F32LE, layout=channel:pol:y:x, channels=3, pols=4, width=6, height=9",
  CAPS PLACED "format=F64LE, layout=channel:pol:y:x, channels=2, pols=3, width=700, height=500, "
              "products=I:I-MODEL:PSF",
  CAPS PLACED "format=F32LE, layout=pol:y:x, pols=4, width=20, height=20, "
              "products=I:I-MODEL:I-RESIDUAL:PSF",
  CAPS PLACED "format=F32LE, layout=pol:y:x, pols=6, width=20, height=20, "
              "products=XX:YY:XX-MODEL:YY-MODEL:XX-RESIDUAL:YY-RESIDUAL",
  CAPS PLACED "format=F32LE, layout=pol:y:x, pols=2, width=1, height=1, products=RL:LR",
  CAPS PLACED "format=F32LE, layout=pol:y:x, pols=1, width=20, height=20, products=PSF",
  CAPS PLACED "format=F32LE, layout=pol:y:x, pols=2, width=20, height=20, products=I:V",
};

/* Pixels, caps, beam and times of several images come back. */
static void round_trip(TestPlace *place, gconstpointer data)
{
  for (guint s = 0; s < G_N_ELEMENTS(streams); s++) {
    AstroFitsContents contents;
    const guint n = 1 + s % 3;
    contents_of(&contents, streams[s], TRUE);
    write_ours(place->path, &contents, n);
    AstroFitsReader *reader = open_good(place->path);
    expect_same_contents(astro_fits_reader_contents(reader), &contents);
    g_assert_null(astro_fits_reader_contents(reader)->note);
    for (guint i = 0; i < n; i++) {
      gsize bytes = astro_stream_step_bytes(&contents.stream);
      g_autofree gpointer expected = new_pixels(&contents, i);
      AstroFitsFrame frame;
      AstroImageMeta beam;
      AstroFitsFrames times;
      gpointer found = read_next(reader, &frame);
      beam_of(&beam, i);
      frames_of(&times, NULL, i, NULL);
      g_assert_cmpmem(found, bytes, expected, bytes);
      g_assert_true(frame.has_beam);
      NEAR(frame.major, beam.major);
      NEAR(frame.minor, beam.minor);
      NEAR(frame.angle, beam.angle);
      g_assert_cmpint(frame.start_ns, ==, times.start_ns);
      g_assert_cmpuint(frame.duration_ns, ==, times.duration_ns);
      test_free(found);
    }
    expect_end(reader);
    astro_fits_contents_clear(&contents);
  }
}

/* A stream that tells neither its place nor its frequency. */
static void without_place(TestPlace *place, gconstpointer data)
{
  static const char *const bare[] = {
    "application/x-astro-image, format=F32LE, layout=pol:y:x, pols=1, width=8, height=4",
    "application/x-astro-image, format=F32LE, layout=pol:y:x, pols=1, width=8, height=8, "
    "pixel=(double)0.001",
    "application/x-astro-image, format=F32LE, layout=channel:pol:y:x, channels=3, pols=1, width=8, "
    "height=8, pixel=(double)0.001",
  };
  for (guint s = 0; s < G_N_ELEMENTS(bare); s++) {
    AstroFitsContents contents;
    contents_of(&contents, bare[s], FALSE);
    write_ours(place->path, &contents, 1);
    AstroFitsReader *reader = open_good(place->path);
    const AstroFitsContents *found = astro_fits_reader_contents(reader);
    expect_same_contents(found, &contents);
    g_assert_false(found->observation->has_phase_centre || found->observation->has_start);
    g_autoptr(GstCaps) caps = astro_fits_contents_to_caps(found);
    g_assert_cmpint(gst_structure_has_field(gst_caps_get_structure(caps, 0), "pixel"), ==, s > 0);
    astro_fits_reader_close(reader);
    astro_fits_contents_clear(&contents);
  }
}

static double key(fitsfile *f, const char *name)
{
  double value = NAN;
  int status = 0;
  fits_read_key(f, TDOUBLE, name, &value, NULL, &status);
  g_assert_cmpint(status, ==, 0);
  return value;
}

static void expect_text(fitsfile *f, const char *name, const char *expected)
{
  char value[FLEN_VALUE] = "";
  int status = 0;
  fits_read_key(f, TSTRING, name, value, NULL, &status);
  g_assert_cmpint(status, ==, 0);
  g_assert_cmpstr(value, ==, expected);
}

/* What the header says, as FITS has it: pixel p (from 1) stands for l = -(p - CRPIX1) CDELT1. */
static void header(TestPlace *place, gconstpointer data)
{
  AstroFitsContents contents;
  fitsfile *f;
  int status = 0, hdus = 0;
  contents_of(&contents, streams[4], TRUE);
  write_ours(place->path, &contents, 2);
  fits_open_diskfile(&f, place->path, READONLY, &status);
  fits_get_num_hdus(f, &hdus, &status);
  g_assert_cmpint(hdus, ==, 8);
  expect_text(f, "CTYPE1", "RA---SIN");
  expect_text(f, "CTYPE2", "DEC--SIN");
  expect_text(f, "CTYPE3", "FREQ");
  expect_text(f, "CTYPE4", "STOKES");
  expect_text(f, "BUNIT", "JY/BEAM");
  expect_text(f, "RADESYS", "ICRS");
  expect_text(f, "SPECSYS", "TOPOCENT");
  expect_text(f, "TELESCOP", "Westerbork");
  expect_text(f, "OBJECT", "J2321-4130");
  expect_text(f, "DATE-OBS", "2026-11-20T23:59:50.250000000");
  NEAR(key(f, "CRVAL1"), 350.25);
  NEAR(key(f, "CRVAL2"), -41.5);
  NEAR(key(f, "CDELT1"), -0.0001 * DEGREES);
  NEAR(key(f, "CDELT2"), 0.0001 * DEGREES);
  NEAR(key(f, "CRVAL3"), 150e6);
  NEAR(key(f, "CDELT3"), 1e6);
  NEAR(key(f, "CRVAL4"), 1);
  NEAR(key(f, "EQUINOX"), 2000);
  NEAR(key(f, "BMAJ"), 2.5 / 3600);
  NEAR(key(f, "BPA"), -30.5);
  /* x = width/2, y = height/2 is the centre, in FITS one further. */
  NEAR((11 - key(f, "CRPIX1")) * key(f, "CDELT1") / DEGREES, 0.0125);
  NEAR((11 - key(f, "CRPIX2")) * key(f, "CDELT2") / DEGREES, -0.02);
  static const char *const names[] = { "MODEL", "RESIDUAL", "PSF", "IMAGE",
                                       "MODEL", "RESIDUAL", "PSF" };
  for (int h = 2; h <= hdus; h++) {
    fits_movabs_hdu(f, h, NULL, &status);
    expect_text(f, "EXTNAME", names[h - 2]);
    NEAR(key(f, "EXTVER"), h <= 4 ? 1 : 2);
    expect_text(f, "BUNIT", h % 4 == 2 ? "JY/PIXEL" : "JY/BEAM");
  }
  expect_text(f, "DATE-OBS", "2026-11-21T00:00:00.250000000");
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
  astro_fits_contents_clear(&contents);
}

/* Degrees that were radians on their way are a little less or more than they were. */
static void test_field_names(void)
{
  static const struct {
    double ra, dec;
    const char *name;
  } fields[] = {
    { 150, -60, "J1000-6000" },
    { 350.25, -41.5, "J2321-4130" },
    { 0, 0, "J0000+0000" },
    { 83.6331, 22.0145, "J0534+2200" },
    { 277.5, -29.05, "J1830-2903" },
    { -0.25, 90, "J2359+9000" },
    { 359.99999999999, -0.1, "J0000-0006" },
    { 359.99, 0.016, "J2359+0000" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
    g_autoptr(AstroObservation) o = astro_observation_new(0);
    o->phase_ra = fields[i].ra / DEGREES;
    o->phase_dec = fields[i].dec / DEGREES;
    g_autofree char *name = astro_fits_field_name(o);
    g_assert_cmpstr(name, ==, fields[i].name);
  }
}

/* FITS has XX YY XY YX: a plane's bytes are where its number says. */
static void order_of_products(TestPlace *place, gconstpointer data)
{
  AstroFitsContents contents;
  fitsfile *f;
  int status = 0;
  static const guint at[] = { 0, 3, 1, 2 };
  contents_of(&contents, streams[2], TRUE);
  write_ours(place->path, &contents, 1);
  g_autofree float *pixels = new_pixels(&contents, 0);
  fits_open_diskfile(&f, place->path, READONLY, &status);
  NEAR(key(f, "CRVAL4"), -5);
  NEAR(key(f, "CDELT4"), -1);
  for (long s = 0; s < 4; s++)
    for (long c = 0; c < 3; c++) {
      long first[] = { 1, 1, c + 1, s + 1 };
      float plane[6 * 9];
      fits_read_pix(f, TFLOAT, first, 6 * 9, NULL, plane, NULL, &status);
      g_assert_cmpmem(plane, sizeof plane, pixels + (c * 4 + at[s]) * 6 * 9, sizeof plane);
    }
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
  astro_fits_contents_clear(&contents);
}

static void refused_products(TestPlace *place, gconstpointer data)
{
  static const struct {
    const char *products, *says;
    guint pols;
  } cases[] = { { "I:Z", "products has Z", 2 },          { "I:I-NOISE", "products has I-NOISE", 2 },
                { "I:I-PSF", "products has I-PSF", 2 },  { "I:Q:V", "no STOKES axis can name", 3 },
                { "I:I", "no STOKES axis can name", 2 }, { "I:XX", "no STOKES axis can name", 2 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroFitsContents contents;
    g_autoptr(GError) error = NULL;
    g_autofree char *caps = g_strdup_printf("application/x-astro-image, format=F32LE, layout=pol:y:"
                                            "x, pols=%u, width=2, height=2, products=%s",
                                            cases[i].pols, cases[i].products);
    contents_of(&contents, caps, TRUE);
    const AstroFitsWriterKind *kind =
        astro_fits_writer_kind(ASTRO_QUANTITY_IMAGE, place->path, NULL);
    AstroPartFile *file = astro_part_file_create(place->path, NULL);
    g_assert_null(kind->create(file, &contents, &error));
    g_assert_nonnull(strstr(error->message, cases[i].says));
    astro_part_file_discard(file);
    astro_fits_contents_clear(&contents);
  }
}

/* ---- files of others ---- */

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
  if (image->scale != 0) { /* of what is in the file already */
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
      AstroFitsReader *reader = open_good(place->path);
      g_assert_cmpint(astro_fits_reader_contents(reader)->stream.format, ==,
                      bitpix[b] == -64 || bitpix[b] > 16 ? ASTRO_FORMAT_F64LE : ASTRO_FORMAT_F32LE);
      gpointer pixels = read_next(reader, &frame);
      for (guint i = 0; i < W * H; i++)
        g_assert_cmpfloat(pixel_at(reader, pixels, i), ==, scaled ? i * 0.5 - 3 : i);
      g_assert_false(frame.has_beam);
      test_free(pixels);
      expect_end(reader);
    }
}

static void blank_pixels(TestPlace *place, gconstpointer data)
{
  Foreign image = plain;
  AstroFitsFrame frame;
  image.bitpix = 16;
  image.extra[0] = "BLANK   =                    4";
  make(place->path, &image);
  AstroFitsReader *reader = open_good(place->path);
  float *pixels = read_next(reader, &frame);
  for (guint i = 0; i < W * H; i++)
    g_assert_true(i == 4 ? isnan(pixels[i]) : pixels[i] == i);
  test_free(pixels);
  expect_end(reader);
}

/* East right, north down: turned on reading, and the place with it. */
static void turned(TestPlace *place, gconstpointer data)
{
  Foreign image = plain;
  AstroFitsFrame frame;
  for (guint turn = 0; turn < 4; turn++) {
    image.delta[0] = turn & 1 ? 0.01 : -0.01;
    image.delta[1] = turn & 2 ? -0.01 : 0.01;
    make(place->path, &image);
    AstroFitsReader *reader = open_good(place->path);
    const AstroGrid *grid = &astro_fits_reader_contents(reader)->grid;
    float *pixels = read_next(reader, &frame);
    /* The phase centre is in FITS's pixel (3, 2), which holds 1 * W + 2. */
    double x = W / 2 + grid->centre_l / grid->pixel, y = H / 2 - grid->centre_m / grid->pixel;
    NEAR(grid->pixel, 0.01 / DEGREES);
    g_assert_cmpfloat(pixels[lround(y) * W + lround(x)], ==, W + 2);
    NEAR(x, lround(x));
    NEAR(y, lround(y));
    for (guint i = 0; i < W * H; i++)
      g_assert_cmpfloat(
          pixels[(turn & 2 ? H - 1 - i / W : i / W) * W + (turn & 1 ? W - 1 - i % W : i % W)], ==,
          i);
    test_free(pixels);
    expect_end(reader);
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
  AstroFitsReader *reader = open_good(place->path);
  const AstroFitsContents *contents = astro_fits_reader_contents(reader);
  g_autofree char *layout = astro_layout_to_string(&contents->stream.layout);
  g_autofree char *products = g_strjoinv(":", contents->grid.products);
  g_assert_cmpstr(layout, ==, "channel:pol:y:x");
  g_assert_cmpstr(products, ==, "I:Q");
  NEAR(contents->stream.frequency, 99e6);
  NEAR(contents->stream.bandwidth, 3e6);
  float *pixels = read_next(reader, &frame);
  for (guint c = 0; c < 3; c++)
    for (guint i = 0; i < 2 * W * H; i++)
      g_assert_cmpfloat(pixels[c * 2 * W * H + i], ==, (2 - c) * 2 * W * H + i);
  test_free(pixels);
  expect_end(reader);

  Foreign velocities = { -32, 3, { W, H, 4 }, { "RA---SIN", "DEC--SIN", "VRAD" } };
  make(place->path, &velocities);
  reader = open_good(place->path);
  contents = astro_fits_reader_contents(reader);
  g_assert_cmpuint(astro_stream_extent(&contents->stream, ASTRO_AXIS_CHANNEL), ==, 4);
  g_assert_cmpfloat(contents->stream.frequency, ==, 0);
  astro_fits_reader_close(reader);
}

/* An image behind an empty primary HDU, steps in CD, a beam and a date without a time. */
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
  AstroFitsReader *reader = open_good(place->path);
  const AstroFitsContents *contents = astro_fits_reader_contents(reader);
  NEAR(contents->grid.pixel, 0.02 / DEGREES);
  g_assert_true(contents->observation->has_start);
  g_autofree char *start = astro_observation_get_start(contents->observation);
  g_assert_true(g_str_has_prefix(start, "2020-02-29T00:00:00"));
  test_free(read_next(reader, &frame));
  g_assert_true(frame.has_beam);
  NEAR(frame.major, 0.1 / DEGREES);
  expect_end(reader);
}

/* AIPS may tell of the beam in its history alone, once a restoring. */
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
    AstroFitsReader *reader = open_good(place->path);
    test_free(read_next(reader, &frame));
    g_assert_true(frame.has_beam == (images[i].major > 0));
    if (frame.has_beam) {
      NEAR(frame.major, images[i].major / DEGREES);
      NEAR(frame.minor, images[i].major / DEGREES / 5);
      NEAR(frame.angle, images[i].angle / DEGREES);
    }
    expect_end(reader);
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
    AstroFitsReader *reader = open_good(place->path);
    const char *note = astro_fits_reader_contents(reader)->note;
    g_assert_true((note && strstr(note, "table BEAMS")) == !has_one);
    astro_fits_reader_close(reader);
  }
}

/* A stream has no words for another's frame of frequencies, nor for a line's rest frequency. */
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
    AstroFitsReader *reader = open_good(place->path);
    const char *note = astro_fits_reader_contents(reader)->note;
    g_assert_true(!!note == (images[i].says[0] || images[i].says[1]));
    for (guint k = 0; k < 2; k++)
      g_assert_true(!images[i].says[k] || strstr(note, images[i].says[k]));
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
    AstroFitsReader *reader = open_good(place->path);
    const char *note = astro_fits_reader_contents(reader)->note;
    g_assert_true((note && strstr(note, "BUNIT")) == values[k].says);
    g_assert_true((note && strstr(note, "RA---TAN")) == g_str_equal(image.type[0], "RA---TAN"));
    float *pixels = read_next(reader, &frame);
    for (guint i = 0; i < W * H; i++)
      g_assert_cmpfloat(pixels[i], ==, (float)(i * values[k].factor));
    test_free(pixels);
    expect_end(reader);
  }

  image = (Foreign){ -32,         3,           { W, H, 3 }, { NULL, NULL, "FREQ" },
                     { 0, 0, 4 }, { 0, 0, 2 }, { 0, 0, 1 } };
  for (guint k = 0; k < G_N_ELEMENTS(bands); k++) {
    g_autofree char *card = g_strdup_printf("CUNIT3  = '%s'", bands[k].unit);
    image.extra[0] = card;
    make(place->path, &image);
    AstroFitsReader *reader = open_good(place->path);
    const AstroStream *stream = &astro_fits_reader_contents(reader)->stream;
    NEAR(stream->frequency, bands[k].middle);
    NEAR(stream->bandwidth, bands[k].middle * 0.75);
    astro_fits_reader_close(reader);
  }
}

/* Places that the stream cannot tell are left out, and said. */
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
    AstroFitsReader *reader = open_good(place->path);
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
  contents_of(&contents, streams[3], TRUE);
  write_ours(place->path, &contents, 1);
  g_assert_true(g_file_get_contents(place->path, &whole, &bytes, NULL));
  g_assert_true(g_file_set_contents(place->path, whole, bytes / 2, NULL));
  expect_refused(place->path, "cut short");
  /* said to be groups, which its first axis says it is not */
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
    { "round-trip", round_trip },
    { "without-place", without_place },
    { "header", header },
    { "order-of-products", order_of_products },
    { "refused-products", refused_products },
    { "every-bitpix", every_bitpix },
    { "blank-pixels", blank_pixels },
    { "turned", turned },
    { "cubes", cubes },
    { "other-headers", other_headers },
    { "beam-in-history", beam_in_history },
    { "beams-of-planes", beams_of_planes },
    { "other-frames", other_frames },
    { "units", units },
    { "other-places", other_places },
    { "bad-files", bad_files },
    { "packed", packed },
  };
  test_add_places("/fits-image/", cases, G_N_ELEMENTS(cases));
  g_test_add_func("/fits-image/field-names", test_field_names);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
