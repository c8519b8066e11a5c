/* FITS images and cubes that we write: read back, and checked by CFITSIO and WCSLIB's rules. */
#include "tests/core/fits/fits-image.h"
#include "core/lib/rows/field-name.h"
#include "tests/core/fits/fits-key.h"

static void expect_same_contents(const AstroFitsContents *a, const AstroFitsContents *b)
{
  g_assert_cmpint(a->stream.format, ==, b->stream.format);
  g_assert_cmpmem(&a->stream.layout, sizeof a->stream.layout, &b->stream.layout,
                  sizeof b->stream.layout);
  TEST_NEAR(a->stream.frequency, b->stream.frequency);
  TEST_NEAR(a->stream.bandwidth, b->stream.bandwidth);
  g_assert_cmpstrv(a->grid.products, b->grid.products);
  TEST_NEAR(a->grid.pixel, b->grid.pixel);
  TEST_NEAR(a->grid.centre_l, b->grid.centre_l);
  TEST_NEAR(a->grid.centre_m, b->grid.centre_m);
  if (!b->observation)
    return;
  TEST_NEAR(a->observation->phase_ra, b->observation->phase_ra);
  TEST_NEAR(a->observation->phase_dec, b->observation->phase_dec);
  g_assert_cmpint(a->observation->start_mjd, ==, b->observation->start_mjd);
  g_assert_cmpuint(a->observation->start_ns, ==, b->observation->start_ns);
  g_assert_cmpstr(a->observation->telescope, ==, b->observation->telescope);
  g_assert_cmpfloat(a->observation->done.scale, ==, b->observation->done.scale);
}

/* Which nobody cleans. */
static gboolean is_psf_alone(const AstroFitsContents *contents)
{
  return g_str_equal(contents->grid.products[0], "PSF");
}

/* Pixels, caps, beam, border and times of several images come back. */
static void round_trip(TestPlace *place, gconstpointer data)
{
  for (guint s = 0; s < G_N_ELEMENTS(test_streams); s++) {
    AstroFitsContents contents;
    const guint n = 1 + s % 3;
    test_contents_of(&contents, test_streams[s], TRUE);
    test_write_ours(place->path, &contents, n);
    AstroFitsReader *reader = test_open_good(place->path);
    expect_same_contents(astro_fits_reader_contents(reader), &contents);
    g_assert_null(astro_fits_reader_contents(reader)->note);
    for (guint i = 0; i < n; i++) {
      gsize bytes = astro_stream_step_bytes(&contents.stream);
      g_autofree gpointer expected = test_new_pixels(&contents, i);
      AstroFitsFrame frame;
      AstroImageMeta beam;
      AstroFitsFrames times;
      gpointer found = test_read_next(reader, &frame);
      test_beam_of(&beam, i);
      test_frames_of(&times, NULL, i, NULL);
      g_assert_cmpmem(found, bytes, expected, bytes);
      g_assert_true(frame.has_beam);
      TEST_NEAR(frame.major, beam.major);
      TEST_NEAR(frame.minor, beam.minor);
      TEST_NEAR(frame.angle, beam.angle);
      g_assert_cmpuint(frame.border, ==, is_psf_alone(&contents) ? 0 : beam.border);
      g_assert_cmpint(frame.start_ns, ==, times.start_ns);
      g_assert_cmpuint(frame.duration_ns, ==, times.duration_ns);
      test_free(found);
    }
    test_expect_end(reader);
    astro_fits_contents_clear(&contents);
  }
}

/* A stream without position and frequency. */
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
    test_contents_of(&contents, bare[s], FALSE);
    test_write_ours(place->path, &contents, 1);
    AstroFitsReader *reader = test_open_good(place->path);
    const AstroFitsContents *found = astro_fits_reader_contents(reader);
    expect_same_contents(found, &contents);
    g_assert_false(found->observation->has_phase_centre || found->observation->has_start);
    g_autoptr(GstCaps) caps = astro_fits_contents_to_caps(found);
    g_assert_cmpint(gst_structure_has_field(gst_caps_get_structure(caps, 0), "pixel"), ==, s > 0);
    astro_fits_reader_close(reader);
    astro_fits_contents_clear(&contents);
  }
}

static gboolean has_key(fitsfile *f, const char *name)
{
  char card[FLEN_CARD];
  int status = 0;
  return fits_read_card(f, name, card, &status) == 0;
}

/* The header follows FITS: pixel p (from 1) is at l = -(p - CRPIX1) CDELT1. */
static void header(TestPlace *place, gconstpointer data)
{
  AstroFitsContents contents;
  fitsfile *f;
  int status = 0, hdus = 0;
  test_contents_of(&contents, test_streams[4], TRUE);
  test_write_ours(place->path, &contents, 2);
  fits_open_diskfile(&f, place->path, READONLY, &status);
  fits_get_num_hdus(f, &hdus, &status);
  g_assert_cmpint(hdus, ==, 8);
  test_key_text(f, "CTYPE1", "RA---SIN");
  test_key_text(f, "CTYPE2", "DEC--SIN");
  test_key_text(f, "CTYPE3", "FREQ");
  test_key_text(f, "CTYPE4", "STOKES");
  test_key_text(f, "BUNIT", "JY/BEAM");
  test_key_text(f, "RADESYS", "ICRS");
  test_key_text(f, "SPECSYS", "TOPOCENT");
  test_key_text(f, "TELESCOP", "Westerbork");
  test_key_text(f, "OBJECT", "J2321-4130");
  test_key_text(f, "DATE-OBS", "2026-11-20T23:59:50.250000000");
  TEST_NEAR(test_key_number(f, "CRVAL1"), 350.25);
  TEST_NEAR(test_key_number(f, "CRVAL2"), -41.5);
  TEST_NEAR(test_key_number(f, "CDELT1"), -0.0001 * TEST_DEGREES);
  TEST_NEAR(test_key_number(f, "CDELT2"), 0.0001 * TEST_DEGREES);
  TEST_NEAR(test_key_number(f, "CRVAL3"), 150e6);
  TEST_NEAR(test_key_number(f, "CDELT3"), 1e6);
  TEST_NEAR(test_key_number(f, "CRVAL4"), 1);
  TEST_NEAR(test_key_number(f, "EQUINOX"), 2000);
  TEST_NEAR(test_key_number(f, "BMAJ"), 2.5 / 3600);
  TEST_NEAR(test_key_number(f, "BPA"), -30.5);
  g_assert_false(has_key(f, "CLBORDER"));
  /* x = width/2, y = height/2 is the centre, in FITS one further. */
  TEST_NEAR((11 - test_key_number(f, "CRPIX1")) * test_key_number(f, "CDELT1") / TEST_DEGREES,
            0.0125);
  TEST_NEAR((11 - test_key_number(f, "CRPIX2")) * test_key_number(f, "CDELT2") / TEST_DEGREES,
            -0.02);
  static const char *const names[] = { "MODEL", "RESIDUAL", "PSF", "IMAGE",
                                       "MODEL", "RESIDUAL", "PSF" };
  for (int h = 2; h <= hdus; h++) {
    fits_movabs_hdu(f, h, NULL, &status);
    test_key_text(f, "EXTNAME", names[h - 2]);
    TEST_NEAR(test_key_number(f, "EXTVER"), h <= 4 ? 1 : 2);
    g_assert_cmpint(has_key(f, "CLBORDER"), ==,
                    h > 4 && h < 8); /* of the second image, without its point-spread function */
    test_key_text(f, "BUNIT", h % 4 == 2 ? "JY/PIXEL" : "JY/BEAM");
  }
  fits_movrel_hdu(f, -1, NULL, &status);
  TEST_NEAR(test_key_number(f, "CLBORDER"), 5);
  test_key_text(f, "DATE-OBS", "2026-11-21T00:00:00.250000000");
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
  astro_fits_contents_clear(&contents);
}

/* Degrees that were converted to radians and back may differ a little. */
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
    o->phase_ra = fields[i].ra / TEST_DEGREES;
    o->phase_dec = fields[i].dec / TEST_DEGREES;
    g_autofree char *name = astro_field_name(o);
    g_assert_cmpstr(name, ==, fields[i].name);
  }
}

/* FITS has XX YY XY YX: a plane is where its number says. */
static void order_of_products(TestPlace *place, gconstpointer data)
{
  AstroFitsContents contents;
  fitsfile *f;
  int status = 0;
  static const guint at[] = { 0, 3, 1, 2 };
  test_contents_of(&contents, test_streams[2], TRUE);
  test_write_ours(place->path, &contents, 1);
  g_autofree float *pixels = test_new_pixels(&contents, 0);
  fits_open_diskfile(&f, place->path, READONLY, &status);
  TEST_NEAR(test_key_number(f, "CRVAL4"), -5);
  TEST_NEAR(test_key_number(f, "CDELT4"), -1);
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
  } cases[] = { { "I:Z", "products has Z", 2 },
                { "I:I-NOISE", "products has I-NOISE", 2 },
                { "I:I-PSF", "products has I-PSF", 2 },
                { "I:Q:V", "no STOKES axis can express", 3 },
                { "I:I", "no STOKES axis can express", 2 },
                { "I:XX", "no STOKES axis can express", 2 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroFitsContents contents;
    g_autoptr(GError) error = NULL;
    g_autofree char *caps = g_strdup_printf("application/x-astro-image, format=F32LE, layout=pol:y:"
                                            "x, pols=%u, width=2, height=2, products=%s",
                                            cases[i].pols, cases[i].products);
    test_contents_of(&contents, caps, TRUE);
    const AstroFitsWriterKind *kind =
        astro_fits_writer_kind(ASTRO_QUANTITY_IMAGE, place->path, NULL);
    AstroPartFile *file = astro_part_file_create(place->path, NULL);
    g_assert_null(kind->create(file, &contents, &error));
    g_assert_nonnull(strstr(error->message, cases[i].says));
    astro_part_file_discard(file);
    astro_fits_contents_clear(&contents);
  }
}

static void add_tests(void)
{
  static const TestPlaceCase cases[] = {
    { "round-trip", round_trip },
    { "without-place", without_place },
    { "header", header },
    { "order-of-products", order_of_products },
    { "refused-products", refused_products },
  };
  test_add_places("/fits-image/", cases, G_N_ELEMENTS(cases));
  g_test_add_func("/fits-image/field-names", test_field_names);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
