/* Reads PSRFITS in search mode that CFITSIO wrote: every width of numbers, order of channels and
 * kind of polarisation by the standard's formula; losses, gaps and ends; and what is refused. */
#include "core/stream/power.h"
#include "tests/core/fits/psrfits-foreign.h"

#include <string.h>

/* ---- what a stream should have ---- */

/* The sign that converts the file's V, and CI of linear and circular receivers, to ours. */
static float sign_of(const ForeignPower *o, guint p)
{
  const gboolean is_cross = o->pol_type && g_str_equal(o->pol_type, "AABBCRCI");
  const gboolean is_circular = o->receiver && g_str_equal(o->receiver, "CIRC");
  if (p != 3)
    return 1;
  if (!is_cross)
    return -1;
  float sign = is_circular ? 1 : -1;
  sign = o->hand < 0 ? -sign : sign;
  return o->phase < 0 ? -sign : sign;
}

static double expected(const ForeignPower *o, guint row, guint t, guint p, guint c)
{
  if (foreign_weight(o, row, c) == 0 && !o->no_weights)
    return 0;
  const double number = foreign_number(o, (guint64)row * FOREIGN_BLOCK + t, p, c);
  return sign_of(o, p) *
         ((number - o->zero) * foreign_scale(o, row, p, c) + foreign_offset(o, row, p, c));
}

static guint32 expected_count(const ForeignPower *o, guint row, guint c, guint full)
{
  const double most = MAX(o->weight != 0 ? o->weight : 1, o->part);
  return (guint32)lrint(foreign_weight(o, row, c) / most * full);
}

static void check_values(const ForeignPower *o, const float *values, guint row, guint first,
                         guint64 steps)
{
  const guint pols = foreign_pols(o), channels = foreign_channels(o);
  for (guint64 t = 0; t < steps; t++)
    for (guint p = 0; p < pols; p++)
      for (guint c = 0; c < channels; c++) {
        const double want = expected(o, row, (guint)(first + t), p, c);
        const double got = values[(t * pols + p) * channels + c];
        g_assert_cmpfloat(fabs(got - want), <=, 1e-6 * (fabs(want) + 300));
      }
}

static void check_counts(const ForeignPower *o, GstBuffer *buffer, gboolean has_counts, guint row,
                         guint64 steps)
{
  const AstroValidityMeta *validity = astro_buffer_get_validity(buffer);
  const guint channels = foreign_channels(o);
  g_assert_true(!validity == !has_counts);
  if (!validity)
    return;
  g_assert_cmpuint(validity->full, ==, o->part != 0 ? 1000 : 1);
  g_assert_cmpuint(astro_validity_n_counts(validity), ==, steps * channels);
  for (guint64 t = 0; t < steps; t++)
    for (guint c = 0; c < channels; c++)
      g_assert_cmpuint(validity->counts[t * channels + c], ==,
                       expected_count(o, row, c, validity->full));
}

static void check_contents(const ForeignPower *o, const AstroFitsContents *contents)
{
  AstroPowerProducts products;
  AstroStream stream;
  g_autoptr(GstCaps) caps = astro_fits_contents_to_caps(contents);
  g_assert_true(astro_power_from_caps(&stream, &products, caps, NULL));
  g_autofree char *names = astro_power_products_to_string(&products);
  const AstroObservation *seen = contents->observation;
  const double middle = FOREIGN_LOW + FOREIGN_WIDTH * (foreign_channels(o) - 1) / 2;
  g_assert_cmpstr(names, ==, o->products ? o->products : "I");
  g_assert_cmpint(stream.rate_n, ==, 15625);
  g_assert_cmpint(stream.rate_d, ==, 1);
  g_assert_cmpfloat(fabs(stream.frequency - middle * 1e6), <=, 100);
  g_assert_cmpfloat(fabs(stream.bandwidth - FOREIGN_WIDTH * foreign_channels(o) * 1e6), <=, 1e-3);
  g_assert_cmpstr(seen->telescope, ==, "Parkes");
  g_assert_cmpstr(seen->basis, ==, o->receiver ? "circular" : "linear");
  g_assert_cmpuint(seen->n_stations, ==, 1);
  g_assert_cmpfloat(fabs(seen->positions[2] - -3454036.3), <, 1e-6);
  g_assert_true(seen->has_start == !o->no_start);
  if (seen->has_start) {
    g_assert_cmpint(seen->start_mjd, ==, 60000);
    g_assert_cmpuint(seen->start_ns, ==, 3600250000000u);
  }
  const gboolean is_pointed = !o->coordinates && !o->track && !o->equinox;
  g_assert_true(seen->has_phase_centre == is_pointed);
  if (is_pointed) {
    g_assert_cmpfloat(fabs(seen->phase_ra * 180 / G_PI - 15 * (8 + 35 / 60.0 + 20.61 / 3600)), <,
                      1e-9);
    g_assert_cmpfloat(fabs(seen->phase_dec * 180 / G_PI + 45 + 10 / 60.0 + 34.9 / 3600), <, 1e-9);
  }
  g_assert_cmpuint(seen->n_dms, ==, o->reference > 0 ? 1 : 0);
  if (o->reference > 0) {
    g_assert_cmpfloat(seen->dms[0], ==, o->dm);
    g_assert_cmpfloat(fabs(seen->dm_frequency - o->reference * 1e6), <, 1e-3);
  }
  g_assert_cmpuint(seen->n_beams, ==, o->beam ? 1 : 0);
  if (o->beam)
    g_assert_cmpstr(seen->beams[0].name, ==, o->beam);
}

static void check_all(const ForeignPower *o, AstroFitsReader *reader)
{
  const AstroFitsContents *contents = astro_fits_reader_contents(reader);
  const guint64 all = (guint64)FOREIGN_ROWS * FOREIGN_BLOCK;
  const guint64 has = o->stop > 0 && (guint64)o->stop < all ? (guint64)o->stop : all;
  guint64 steps, read = 0;
  gboolean end = FALSE;
  while (astro_fits_reader_next(reader, &steps, &end, NULL)) {
    g_autoptr(GError) error = NULL;
    g_autofree float *values = g_malloc(steps * astro_stream_step_bytes(&contents->stream));
    g_autoptr(GstBuffer) buffer = gst_buffer_new();
    AstroFitsFrame frame = { .data = values, .buffer = buffer };
    const guint row = (guint)(read / FOREIGN_BLOCK), at = (guint)(read % FOREIGN_BLOCK);
    g_assert_true(astro_fits_reader_read(reader, &frame, &end, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, foreign_first(o, row) + at);
    g_assert_cmpuint(GST_BUFFER_OFFSET_END(buffer), ==, GST_BUFFER_OFFSET(buffer) + steps);
    g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, GST_BUFFER_OFFSET(buffer) * 64000);
    g_assert_true(!!GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT) ==
                  (row == 0 || (row == FOREIGN_ROWS - 1 && o->gap > 0)));
    check_values(o, values, row, at, steps);
    check_counts(o, buffer, contents->stream.has_counts, row, steps);
    read += steps;
  }
  g_assert_true(end);
  g_assert_cmpuint(read, ==, has);
  g_assert_cmpuint(contents->duration_ns, ==,
                   (foreign_first(o, FOREIGN_ROWS - 1) + FOREIGN_BLOCK - (all - has)) * 64000);
}

static void check_read(TestPlace *place, const ForeignPower *o)
{
  g_autoptr(GError) error = NULL;
  foreign_write_power(o, place->path);
  g_test_message("%s", o->name);
  g_autoptr(AstroFitsReader) reader = astro_fits_reader_open(place->path, NULL, &error);
  if (o->expect) {
    g_assert_null(reader);
    g_test_message("%s", error->message);
    g_assert_true(g_str_has_prefix(error->message, place->path));
    g_assert_nonnull(strstr(error->message, o->expect));
    return;
  }
  g_assert_no_error(error);
  const AstroFitsContents *contents = astro_fits_reader_contents(reader);
  g_assert_true(!contents->note == !o->notes);
  if (o->notes)
    g_assert_nonnull(strstr(contents->note, o->notes));
  check_contents(o, contents);
  check_all(o, reader);
}

static void check_each(TestPlace *place, const ForeignPower *cases, gsize n)
{
  for (gsize i = 0; i < n; i++)
    check_read(place, &cases[i]);
}

/* ---- tests ---- */

static void numbers(TestPlace *place, gconstpointer data)
{
  static const ForeignPower cases[] = {
    { .name = "bytes" },
    { .name = "signed bytes", .is_signed = TRUE },
    { .name = "bytes around a zero", .zero = 127.5 },
    { .name = "signed bytes by TZERO", .column_zero = -128, .is_signed = FALSE },
    { .name = "1 bit", .bits = 1, .zero = 0.5 },
    { .name = "1 bit, whole bytes", .bits = 1, .channels = 16 },
    { .name = "2 bits", .bits = 2, .zero = 1.5 },
    { .name = "2 bits, signed", .bits = 2, .is_signed = TRUE },
    { .name = "4 bits", .bits = 4 },
    { .name = "4 bits, whole bytes", .bits = 4, .channels = 8, .is_falling = TRUE },
    { .name = "4 bits, signed", .bits = 4, .is_signed = TRUE },
    { .name = "16 bits", .bits = 16 },
    { .name = "floats", .bits = 32 },
    { .name = "floats without scales", .bits = 32, .no_scales = TRUE },
    { .name = "bytes without scales", .no_scales = TRUE },
    { .name = "falling channels", .is_falling = TRUE },
    { .name = "a single channel", .channels = 1 },
    { .name = "frequencies in single precision", .channels = 64, .single = TRUE },
    { .name = "frequencies of the first header", .no_frequencies = TRUE, .is_falling = TRUE },
  };
  check_each(place, cases, G_N_ELEMENTS(cases));
}

static void polarisations(TestPlace *place, gconstpointer data)
{
#define CROSS .pols = 4, .pol_type = "AABBCRCI"
  static const ForeignPower cases[] = {
    { .name = "INTEN", .pol_type = "INTEN" },
    { .name = "AA", .pol_type = "AA", .products = "XX" },
    { .name = "AABB", .pols = 2, .pol_type = "AABB", .products = "XX:YY" },
    { .name = "AABB of Y and X", .pols = 2, .pol_type = "AABB", .products = "YY:XX", .hand = -1 },
    { .name = "AABB of L and R",
      .pols = 2,
      .pol_type = "AABB",
      .receiver = "CIRC",
      .products = "LL:RR" },
    { .name = "cross", CROSS, .products = "XX:YY:XY-RE:XY-IM" },
    { .name = "cross, 4 bits",
      CROSS,
      .products = "XX:YY:XY-RE:XY-IM",
      .bits = 4,
      .is_signed = TRUE,
      .is_falling = TRUE },
    { .name = "cross of Y and X", CROSS, .products = "YY:XX:XY-RE:XY-IM", .hand = -1 },
    { .name = "cross, reversed", CROSS, .products = "XX:YY:XY-RE:XY-IM", .phase = -1 },
    { .name = "cross of L and R", CROSS, .products = "LL:RR:RL-RE:RL-IM", .receiver = "CIRC" },
    { .name = "cross of R and L",
      CROSS,
      .products = "RR:LL:RL-RE:RL-IM",
      .receiver = "CIRC",
      .hand = -1 },
    { .name = "IQUV", .pols = 4, .pol_type = "IQUV", .products = "I:Q:U:V", .is_falling = TRUE },
    { .name = "no such type", .pols = 2, .pol_type = "IQUV", .expect = "POL_TYPE is \"IQUV\"" },
    { .name = "an unknown type", .pols = 2, .pol_type = "WHAT", .expect = "POL_TYPE is \"WHAT\"" },
  };
  check_each(place, cases, G_N_ELEMENTS(cases));
}

static void losses(TestPlace *place, gconstpointer data)
{
  static const ForeignPower cases[] = {
    { .name = "no weights", .no_weights = TRUE, .lost = 1 },
    { .name = "a lost channel", .lost = 2 },
    { .name = "a lost channel of floats", .lost = 1, .bits = 32, .is_falling = TRUE },
    { .name = "weights of 3", .lost = 2, .weight = 3 },
    { .name = "a half weight", .part = 0.5, .notes = "in thousandths" },
    { .name = "a heavier one", .part = 4, .lost = 1, .notes = "between 0 and 4" },
    { .name = "a gap", .gap = 7 },
    { .name = "a whole row's gap", .gap = FOREIGN_BLOCK, .lost = 3 },
    { .name = "early by rounding", .early = 0.3 },
    { .name = "another file's part", .before = 5 },
    { .name = "no times", .no_times = TRUE },
    { .name = "no times, another file's part", .no_times = TRUE, .before = 5 },
    { .name = "an end amid a row", .stop = 2 * FOREIGN_BLOCK + 5 },
    { .name = "all rows", .stop = 3 * FOREIGN_BLOCK },
    { .name = "more announced", .stop = 3 * FOREIGN_BLOCK + 1, .notes = "NSTOT announces 73" },
  };
  check_each(place, cases, G_N_ELEMENTS(cases));
}

static void headers(TestPlace *place, gconstpointer data)
{
  static const ForeignPower cases[] = {
    { .name = "a beam", .beam = "7" },
    { .name = "galactic", .coordinates = "GALACTIC", .notes = "COORD_MD is not J2000" },
    { .name = "drift", .track = "SCANGC", .notes = "TRK_MODE is not TRACK" },
    { .name = "B1950", .equinox = 1950, .notes = "EQUINOX is not 2000" },
    { .name = "no start", .no_start = TRUE },
    { .name = "dedispersed", .dm = 71.5, .reference = 1402 },
    { .name = "dedispersed to what", .dm = 71.5, .notes = "dispersion of DM 71.5" },
  };
  check_each(place, cases, G_N_ELEMENTS(cases));
}

static void refused(TestPlace *place, gconstpointer data)
{
  static const ForeignPower cases[] = {
    { .name = "fold mode", .mode = "PSR", .expect = "another mode than SEARCH" },
    { .name = "no table", .no_subint = TRUE, .expect = "without a table SUBINT" },
    { .name = "no rows", .no_rows = TRUE, .expect = "has no rows" },
    { .name = "a row too short", .short_data = 1, .expect = "119 bytes, expected 120" },
    { .name = "a scaled column", .column_scale = 2, .expect = "expected the scale in DAT_SCL" },
    { .name = "overlapping rows", .early = 3, .expect = "before the end of the row before it" },
    { .name = "uneven channels", .uneven = 3, .expect = "channel 2 of DAT_FREQ" },
    { .name = "moving channels", .moved = 2, .expect = "in row 2, expected the same" },
    { .name = "a negative weight", .weight = -1, .expect = "expected a weight of 0 or more" },
    { .name = "a negative DM", .dm = -1, .reference = 1402, .expect = "is -1, expected 0" },
    { .name = "no time", .tbin = -1, .expect = "TBIN of SUBINT is -1" },
    { .name = "cut short", .cut = 2880, .expect = "cut short" },
  };
  check_each(place, cases, G_N_ELEMENTS(cases));
}

static void add_tests(void)
{
  static const TestPlaceCase cases[] = {
    { "numbers", numbers }, { "polarisations", polarisations },
    { "losses", losses },   { "headers", headers },
    { "refused", refused },
  };
  test_add_places("/psrfits-read/", cases, G_N_ELEMENTS(cases));
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
