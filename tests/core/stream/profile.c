#include "core/stream/profile.h"
#include "core/stream/validity.h"
#include "tests/tests.h"

#define FORMAT "application/x-astro-profile,format=F32LE,"
#define FIELDS FORMAT "layout=channel:pol:phase,channels=5,bins=7,"
#define NUMBERS "period=0.5,dm=12.5,"

static void test_round_trip(void)
{
  static const char *const texts[] = {
    FIELDS NUMBERS "pols=1,products=I,rate=1/10,frequency=1.5e8,bandwidth=1e6",
    FIELDS "pols=2,products=XX:YY,counts=true,period=0.0015578,dm=0.0",
    FORMAT "layout=station:channel:pol:phase,stations=3,channels=1,bins=64,pols=4,products=I:Q:U:V,"
           "period=0.7,dm=3.0",
    FORMAT "layout=beam:channel:pol:phase,beams=2,channels=4,bins=1,pols=1,products=I," NUMBERS,
  };
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(GstCaps) caps = gst_caps_from_string(texts[i]), back = NULL;
    AstroProfile profile;
    AstroStream stream;
    g_autoptr(GError) error = NULL;
    astro_profile_from_caps(&stream, &profile, caps, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(profile.products.n, ==, astro_stream_extent(&stream, ASTRO_AXIS_POL));
    back = astro_profile_to_caps(&stream, &profile);
    g_assert_true(gst_caps_is_equal(caps, back));
  }
}

/* A buffer is one sub-integration, with a place of its own on the time axis. */
static void test_steps(void)
{
  g_autoptr(GstCaps) caps = gst_caps_from_string(FIELDS NUMBERS "pols=2,products=XX:YY,rate=1/10");
  AstroProfile profile;
  AstroStream stream;
  guint64 steps;
  g_assert_true(astro_profile_from_caps(&stream, &profile, caps, NULL));
  g_assert_cmpfloat(profile.period, ==, 0.5);
  g_assert_cmpfloat(profile.dm, ==, 12.5);
  g_assert_cmpuint(astro_stream_extent(&stream, ASTRO_AXIS_PHASE), ==, 7);
  g_assert_true(astro_stream_steps(&stream, 5 * 2 * 7 * sizeof(float), &steps, NULL));
  g_assert_cmpuint(steps, ==, 1);
  g_assert_cmpuint(astro_stream_time(&stream, 3), ==, 30 * GST_SECOND);
}

/* Counts over channel and phase are shared by all products. */
static void test_validity(void)
{
  static const AstroLayout counted = { 2, { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_PHASE }, { 5, 7 } };
  g_autoptr(GstCaps) caps =
      gst_caps_from_string(FIELDS NUMBERS "pols=4,products=I:Q:U:V,counts=true");
  AstroProfile profile;
  AstroStream stream;
  AstroLayout shape;
  g_assert_true(astro_profile_from_caps(&stream, &profile, caps, NULL));
  astro_stream_shape(&stream, 1, &shape);
  g_autoptr(GstBuffer) buffer = gst_buffer_new_allocate(NULL, 5 * 4 * 7 * sizeof(float), NULL);
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &counted, 9);
  for (guint i = 0; i < 5 * 7; i++)
    meta->counts[i] = i;
  g_assert_true(astro_validity_check(meta, &shape, NULL));
  for (guint c = 0; c < 5; c++)
    for (guint p = 0; p < 4; p++)
      for (guint b = 0; b < 7; b++) {
        const guint64 index[ASTRO_MAX_AXES] = { c, p, b };
        g_assert_cmpuint(astro_validity_at(meta, &shape, index), ==, c * 7 + b);
      }
}

/* Bad caps, and words that the error must have. */
static const struct {
  const char *caps, *word;
} bad[] = {
  { "application/x-astro-power,format=F32LE,layout=time:channel,channels=3,products=I", "power" },
  { "application/x-astro-profile,format=F64LE,layout=channel:pol:phase,channels=5,bins=7,pols=1,"
    "products=I," NUMBERS,
    "F64LE" },
  { FORMAT "layout=channel:pol:phase,channels=5,pols=1,products=I," NUMBERS, "bins" },
  { FORMAT "layout=phase:channel:pol,channels=5,bins=7,pols=1,products=I," NUMBERS,
    "phase:channel:pol" },
  { FORMAT "layout=pol:phase,bins=7,pols=1,products=I," NUMBERS, "expected channel:pol:phase" },
  { FORMAT "layout=time:channel:pol:phase,channels=5,bins=7,pols=1,products=I," NUMBERS,
    "station or beam" },
  { FORMAT "layout=station:beam:channel:pol:phase,stations=2,beams=2,channels=5,bins=7,pols=1,"
           "products=I," NUMBERS,
    "station or beam" },
  { FIELDS "pols=1,products=I,dm=1.0", "period" },
  { FIELDS "pols=1,products=I,dm=1.0,period=0.0", "above 0" },
  { FIELDS "pols=1,products=I,dm=1.0,period=1", "a double of seconds" },
  { FIELDS "pols=1,products=I,period=1.0", "dm" },
  { FIELDS "pols=1,products=I,period=1.0,dm=-1.0", "0 or more" },
  { FIELDS NUMBERS "pols=1", "products" },
  { FIELDS NUMBERS "pols=2,products=I", "pols=2" },
  { FIELDS NUMBERS "pols=1,products=K", "\"K\"" },
};

static void test_refused(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GstCaps) caps = gst_caps_from_string(bad[i].caps);
    g_autoptr(GError) error = NULL;
    AstroProfile profile;
    AstroStream stream;
    g_assert_nonnull(caps);
    g_assert_false(astro_profile_from_caps(&stream, &profile, caps, &error));
    g_assert_nonnull(error);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, bad[i].word));
  }
}

static void add_tests(void)
{
  g_test_add_func("/profile/round-trip", test_round_trip);
  g_test_add_func("/profile/steps", test_steps);
  g_test_add_func("/profile/validity", test_validity);
  g_test_add_func("/profile/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
