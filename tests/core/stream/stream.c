#include "core/stream/stream.h"
#include "core/stream/validity.h"
#include "tests/tests.h"

#define VOLTAGES                                                                                   \
  "application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=64,pols=2"

static void test_round_trip(void)
{
  static const char *const texts[] = {
    VOLTAGES ",rate=1000/3,frequency=1.5e8,bandwidth=1e6",
    "application/x-astro-spectra,format=CF32LE,layout=station:pol:time:channel,stations=3,pols=1,"
    "channels=17",
    "application/x-astro-visibilities,format=CI32LE,layout=channel:baseline:pol:pol,channels=5,"
    "baselines=10,pols=2",
    "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,channels=5,"
    "baselines=9,pols=2,triangle=full,counts=true",
    "application/x-astro-uvgrid,format=CF64LE,layout=pol:v:u,pols=4,width=2048,height=1024",
    "application/x-astro-image,format=F32LE,layout=pol:y:x,pols=1,width=3,height=2",
  };
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(GstCaps) caps = gst_caps_from_string(texts[i]), back = NULL;
    AstroStream stream;
    GError *error = NULL;
    astro_stream_from_caps(&stream, caps, &error);
    g_assert_no_error(error);
    back = astro_stream_to_caps(&stream);
    g_assert_true(gst_caps_is_equal(caps, back));
  }
}

static void test_sizes(void)
{
  g_autoptr(GstCaps) caps = gst_caps_from_string(VOLTAGES);
  AstroStream stream;
  AstroLayout shape;
  guint64 steps, strides[ASTRO_MAX_AXES];
  GError *error = NULL;

  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  g_assert_cmpuint(astro_stream_sample_bytes(&stream), ==, 2);
  g_assert_cmpuint(astro_stream_step_bytes(&stream), ==, 256);
  g_assert_cmpuint(astro_stream_extent(&stream, ASTRO_AXIS_STATION), ==, 64);
  g_assert_cmpuint(astro_stream_extent(&stream, ASTRO_AXIS_CHANNEL), ==, 1);
  g_assert_true(astro_stream_steps(&stream, 2560, &steps, NULL));
  g_assert_cmpuint(steps, ==, 10);
  g_assert_false(astro_stream_steps(&stream, 2561, &steps, &error));
  g_assert_error(error, ASTRO_STREAM_ERROR, ASTRO_STREAM_ERROR_SIZE);
  g_assert_nonnull(strstr(error->message, "2561"));
  g_clear_error(&error);

  astro_stream_shape(&stream, 10, &shape);
  astro_layout_strides(&shape, strides);
  g_assert_cmpuint(astro_layout_samples(&shape), ==, 1280);
  g_assert_cmpuint(strides[0], ==, 128);
  g_assert_cmpuint(strides[1], ==, 2);
  g_assert_cmpuint(strides[2], ==, 1);
}

/* Frames without a free axis get a leading time axis if there are several. */
static void test_frames(void)
{
  g_autoptr(GstCaps) caps = gst_caps_from_string(
      "application/x-astro-image,format=F32LE,layout=pol:y:x,pols=1,width=3,height=2");
  AstroStream stream;
  AstroLayout shape;

  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  astro_stream_shape(&stream, 1, &shape);
  g_assert_cmpuint(shape.n_axes, ==, 3);
  astro_stream_shape(&stream, 4, &shape);
  g_assert_cmpuint(shape.n_axes, ==, 4);
  g_assert_cmpint(shape.axes[0], ==, ASTRO_AXIS_TIME);
  g_assert_cmpuint(astro_layout_samples(&shape), ==, 24);
}

/* 36 are the pairs of 8 stations, once each, or of 6 stations in both orders. */
static void test_stations(void)
{
  static const struct {
    const char *triangle;
    guint stations;
  } cases[] = { { "", 8 }, { ",triangle=lower", 8 }, { ",triangle=full", 6 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = g_strdup_printf(
        "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,"
        "channels=1,baselines=36,pols=1%s",
        cases[i].triangle);
    g_autoptr(GstCaps) caps = gst_caps_from_string(text);
    AstroStream stream;
    g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
    g_assert_cmpuint(astro_stream_stations(&stream), ==, cases[i].stations);
  }
}

/* Sums mean nothing without counts; and what the caps promise must be there. */
static void test_counts(void)
{
  static const struct {
    const char *caps;
    gboolean has_sums, has_any; /* whether they are accepted; and buffers without counts */
  } cases[] = {
    { "application/x-astro-visibilities,format=CI32LE,counts=true", TRUE, FALSE },
    { "application/x-astro-visibilities,format=CI32LE,counts=false", FALSE, TRUE },
    { "application/x-astro-visibilities,format=CI32LE", FALSE, TRUE },
    { "application/x-astro-visibilities,format=CF32LE", TRUE, TRUE },
    { "application/x-astro-spectra,format=CI32LE", TRUE, TRUE },
    { "application/x-astro-spectra,format=CI8,counts=true", TRUE, FALSE },
  };
  static const AstroLayout one = { 0 };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = g_strconcat(cases[i].caps, ",layout=channel,channels=3", NULL);
    g_autoptr(GstCaps) caps = gst_caps_from_string(text);
    g_autoptr(GstBuffer) buffer = gst_buffer_new();
    g_autoptr(GError) sums = NULL, without = NULL;
    AstroStream stream;
    g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
    g_assert_cmpint(astro_stream_check_sums(&stream, &sums), ==, cases[i].has_sums);
    g_assert_cmpint(astro_stream_check_counts(&stream, buffer, &without), ==, cases[i].has_any);
    g_assert_true((sums != NULL) != cases[i].has_sums);
    g_assert_true((without != NULL) != cases[i].has_any);
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
    g_assert_true(astro_stream_check_counts(&stream, buffer, NULL));
    GST_BUFFER_FLAG_UNSET(buffer, GST_BUFFER_FLAG_GAP);
    astro_buffer_add_validity(buffer, &one, 1);
    g_assert_true(astro_stream_check_counts(&stream, buffer, NULL));
  }
}

/* Bad caps, and a word that the error must have. */
static const struct {
  const char *caps, *word;
} bad[] = {
  { "video/x-raw", "media type" },
  { "application/x-astro-voltages,layout=time:station:pol,stations=64,pols=2", "format" },
  { "application/x-astro-voltages,format=CI8,stations=64,pols=2", "layout" },
  { "application/x-astro-voltages,format=CI7,layout=time:station:pol,stations=64,pols=2", "CI7" },
  { "application/x-astro-voltages,format=CI8,layout=time:station:pol,pols=2", "stations" },
  { "application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=0,pols=2",
    "stations" },
  { "application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=-4,pols=2", "-4" },
  { "application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=(string)x,pols=2",
    "gchararray" },
  { "application/x-astro-voltages,format=CI8,layout=time:spaceship,stations=1", "spaceship" },
  { "application/x-astro-voltages,format=CI8,layout=time:pol:pol,pols=2", "repeated" },
  { "application/x-astro-visibilities,format=CI32LE,layout=pol:pol:pol,pols=2", "repeated" },
  { "application/x-astro-voltages,format=CI8,layout=time:point", "free" },
  { "application/x-astro-voltages,format=CI8,layout=(string)\"\"", "layout is empty" },
  { "application/x-astro-voltages,format=CI8,layout=time:,stations=1", "there is no axis \"\"" },
  { "application/x-astro-voltages,format={CI8,CI4},layout=time:station,stations=1", "not fixed" },
  { "application/x-astro-voltages,format=CI8,layout=time:station,stations=[1,5]", "not fixed" },
  { "application/x-astro-voltages,format=CI8,layout=time:station,stations=1,rate=(int)3", "rate" },
  { "application/x-astro-voltages,format=CI8,layout=time:station,stations=1,rate=-3/1", "rate" },
  { "application/x-astro-voltages,format=CI8,layout=time:station,stations=1,frequency=-1.0",
    "frequency" },
  { "application/x-astro-voltages,format=CI8,layout=time:station,stations=1,bandwidth=5",
    "bandwidth" },
  { "application/x-astro-visibilities,format=CF32LE,layout=baseline,baselines=3,triangle=upper",
    "triangle" },
  { "application/x-astro-visibilities,format=CF32LE,layout=baseline,baselines=3,counts=(int)1",
    "expected (boolean) true or false" },
  { "application/x-astro-catalogue,format=F64LE,layout=column:point,columns=(string)\"\"",
    "columns" },
  { "application/"
    "x-astro-spectra,format=CF64LE,layout=station:pol:channel:plane,stations=2147483647,"
    "pols=2147483647,channels=2147483647,planes=2147483647",
    "bytes" },
  { "application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=2147483647,"
    "pols=2147483647",
    "bytes" },
  { "application/x-astro-spectra,format=CF64LE,layout=station:pol,stations=2147483647,"
    "pols=2147483647",
    "bytes" },
};

static void test_bad(gconstpointer data)
{
  gsize i = GPOINTER_TO_SIZE(data);
  g_autoptr(GstCaps) caps = gst_caps_from_string(bad[i].caps);
  AstroStream stream;
  g_autoptr(GError) error = NULL;

  g_assert_nonnull(caps);
  g_assert_false(astro_stream_from_caps(&stream, caps, &error));
  g_assert_nonnull(error);
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, bad[i].word));
}

static void test_names(void)
{
  for (AstroFormat f = 1; f < ASTRO_N_FORMATS; f++)
    g_assert_cmpint(astro_format_from_name(astro_format_name(f)), ==, f);
  for (AstroAxis a = 1; a < ASTRO_N_AXES; a++)
    g_assert_cmpint(astro_axis_from_name(astro_axis_name(a)), ==, a);
  for (AstroQuantity q = 1; q < ASTRO_N_QUANTITIES; q++)
    g_assert_cmpint(astro_quantity_from_media_type(astro_quantity_media_type(q)), ==, q);
  g_assert_cmpstr(astro_format_name(ASTRO_FORMAT_UNKNOWN), ==, "unknown");
  g_assert_cmpstr(astro_format_name(ASTRO_N_FORMATS), ==, "unknown");
  g_assert_cmpint(astro_format_from_name(NULL), ==, ASTRO_FORMAT_UNKNOWN);
  g_assert_cmpint(astro_axis_from_name("Time"), ==, ASTRO_AXIS_NONE);
}

/* Centres of channels are half a width from the ends of the band, and one at 0 Hz is at exactly 0
 * Hz, however the centre of the band was rounded. */
static void test_channel_frequency(void)
{
  g_assert_cmpfloat(astro_channel_frequency(150e6, 2e6, 2, 0), ==, 149.5e6);
  g_assert_cmpfloat(astro_channel_frequency(150e6, 2e6, 2, 1), ==, 150.5e6);
  g_assert_cmpfloat(astro_channel_frequency(150e6, 2e6, 1, 0), ==, 150e6);
  g_assert_cmpfloat(astro_channel_frequency(150e6, 0, 1, 0), ==, 150e6);
  g_assert_cmpfloat(astro_channel_frequency(1e6, 3e6, 3, 0), ==, 0);
  g_assert_cmpfloat(astro_channel_frequency(1e6, 4e6, 2, 0), ==, 0);
  g_assert_cmpfloat(astro_channel_frequency(1e6, 5e6, 2, 0), ==, -0.25e6);
  for (guint n = 2; n < 70000; n += n / 3 + 1)
    for (double band = 0.3; band < 1e10; band *= 7.7) {
      const double frequency = 0.5 * band - 0.5 * (band / n);
      g_assert_cmpfloat(astro_channel_frequency(frequency, band, n, 0), ==, 0);
      g_assert_cmpfloat(astro_channel_frequency(frequency, band, n, 1), >, 0.99 * band / n);
    }
}

static void add_tests(void)
{
  g_test_add_func("/stream/round-trip", test_round_trip);
  g_test_add_func("/stream/sizes", test_sizes);
  g_test_add_func("/stream/frames", test_frames);
  g_test_add_func("/stream/counts", test_counts);
  g_test_add_func("/stream/stations", test_stations);
  g_test_add_func("/stream/names", test_names);
  g_test_add_func("/stream/channel-frequency", test_channel_frequency);
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autofree char *name = g_strdup_printf("/stream/bad/%zu", i);
    g_test_add_data_func(name, GSIZE_TO_POINTER(i), test_bad);
  }
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
