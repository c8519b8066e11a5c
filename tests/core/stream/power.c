#include "core/stream/power.h"
#include "core/stream/validity.h"
#include "tests/tests.h"

#define FIELDS "application/x-astro-power,format=F32LE,"
#define POWER FIELDS "layout=time:station:pol:channel,stations=3,channels=5,"

static void test_round_trip(void)
{
  static const char *const texts[] = {
    FIELDS "layout=time:channel,channels=7,products=I,rate=1000/3,frequency=1.5e8,bandwidth=1e6",
    POWER "pols=2,products=XX:YY,counts=true",
    POWER "pols=4,products=I:Q:U:V",
    POWER "pols=8,products=XX:YY:XY-RE:XY-IM:XX-SQUARE:YY-SQUARE:XY-RE-SQUARE:XY-IM-SQUARE",
    POWER "pols=2,products=I:I-SQUARE",
    FIELDS "layout=time:beam:dm:channel,beams=2,dms=9,channels=5,products=I,counts=true",
    FIELDS "layout=channel:beam:time:pol,beams=2,channels=5,pols=2,products=RR:LL",
  };
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(GstCaps) caps = gst_caps_from_string(texts[i]), back = NULL;
    AstroPowerProducts products;
    AstroStream stream;
    g_autoptr(GError) error = NULL;
    astro_power_from_caps(&stream, &products, caps, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(products.n, ==, astro_stream_extent(&stream, ASTRO_AXIS_POL));
    back = astro_power_to_caps(&stream, &products);
    g_assert_true(gst_caps_is_equal(caps, back));
  }
}

static void test_squares(void)
{
  AstroPowerProducts products;
  g_assert_true(astro_power_products_parse(&products, "XX:YY:YY-SQUARE", NULL));
  g_assert_cmpint(astro_power_products_find(&products, "YY"), ==, 1);
  g_assert_cmpint(astro_power_products_find(&products, "I"), ==, -1);
  g_assert_cmpint(astro_power_products_square(&products, 0), ==, -1);
  g_assert_cmpint(astro_power_products_square(&products, 1), ==, 2);
  g_assert_false(astro_power_is_square("XX"));
  g_assert_true(astro_power_is_square("XX-SQUARE"));
}

/* Bad caps, and words that the error must have. */
static const struct {
  const char *caps, *word;
} bad[] = {
  { "application/x-astro-spectra,format=CI8,layout=time:channel,channels=3,products=I", "spectra" },
  { "application/x-astro-power,format=CF32LE,layout=time,products=I", "CF32LE" },
  { FIELDS "layout=time:baseline,baselines=3,products=I", "baseline" },
  { FIELDS "layout=time:station:beam,stations=2,beams=2,products=I", "station or beam" },
  { FIELDS "layout=time:dm,products=I", "dms" },
  { FIELDS "layout=time:dm,dms=0,products=I", "dms" },
  { POWER "pols=2", "products" },
  { POWER "pols=2,products=(int)2", "products" },
  { POWER "pols=2,products=XX:ZZ", "ZZ" },
  { POWER "pols=1,products=(string)\"\"", "no products" },
  { POWER "pols=2,products=XX:XX", "repeated" },
  { POWER "pols=2,products=XX:YY:I", "pols=2" },
  { POWER "pols=2,products=I:Q-SQUARE", "Q-SQUARE without Q" },
  { POWER "pols=9,products=I:Q:U:V:XX:YY:XY-RE:XY-IM:RR", "at most eight" },
  { POWER "products=I", "pols" },
};

static void test_refused(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GstCaps) caps = gst_caps_from_string(bad[i].caps);
    g_autoptr(GError) error = NULL;
    AstroPowerProducts products;
    AstroStream stream;
    g_assert_nonnull(caps);
    g_assert_false(astro_power_from_caps(&stream, &products, caps, &error));
    g_assert_nonnull(error);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, bad[i].word));
  }
}

/* Counts over time, station and channel are shared by all products, and a part of a buffer keeps
 * its own. */
static void test_validity(void)
{
  static const AstroLayout counted = { 3,
                                       { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION, ASTRO_AXIS_CHANNEL },
                                       { 2, 3, 5 } };
  g_autoptr(GstCaps) caps = gst_caps_from_string(POWER "pols=4,products=I:Q:U:V,counts=true");
  AstroPowerProducts products;
  AstroStream stream;
  AstroLayout shape;

  g_assert_true(astro_power_from_caps(&stream, &products, caps, NULL));
  astro_stream_shape(&stream, 2, &shape);
  g_autoptr(GstBuffer) buffer = gst_buffer_new_allocate(NULL, 2 * 3 * 4 * 5 * sizeof(float), NULL);
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &counted, 9);
  meta->slowest_first = TRUE;
  for (guint i = 0; i < 2 * 3 * 5; i++)
    meta->counts[i] = i;
  g_assert_true(astro_validity_check(meta, &shape, NULL));
  for (guint t = 0; t < 2; t++)
    for (guint s = 0; s < 3; s++)
      for (guint p = 0; p < 4; p++)
        for (guint c = 0; c < 5; c++) {
          const guint64 index[ASTRO_MAX_AXES] = { t, s, p, c };
          g_assert_cmpuint(astro_validity_at(meta, &shape, index), ==, (t * 3 + s) * 5 + c);
        }
  g_autoptr(GstBuffer) last = astro_buffer_from_step(buffer, &stream, 2, 1);
  g_assert_cmpuint(gst_buffer_get_size(last), ==, 3 * 4 * 5 * sizeof(float));
  g_assert_cmpuint(astro_buffer_get_validity(last)->counts[7], ==, 15 + 7);
}

static void add_tests(void)
{
  g_test_add_func("/power/round-trip", test_round_trip);
  g_test_add_func("/power/squares", test_squares);
  g_test_add_func("/power/refused", test_refused);
  g_test_add_func("/power/validity", test_validity);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
