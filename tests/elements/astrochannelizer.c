/* Caps and settings of astrochannelizer, and those that it refuses. */
#include "tests/elements/astrochannelizer.h"
#include "tests/elements/setter.h"

#include <glib/gstdio.h>
#include <math.h>

static GstStructure *out_caps(const char *properties, const char *in, const char *down)
{
  g_autofree char *line = g_strconcat("astrochannelizer backend=cpu ", properties, NULL);
  GstHarness *h = gst_harness_new_parse(line);
  if (down)
    gst_harness_set_sink_caps_str(h, down);
  gst_harness_set_src_caps_str(h, in);
  push(h, test_buffer(96, 1));
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_assert_nonnull(caps);
  GstStructure *s = gst_structure_copy(gst_caps_get_structure(caps, 0));
  gst_harness_teardown(h);
  return s;
}

static void assert_caps(GstStructure *s, const char *expected)
{
  g_autoptr(GstStructure) other = gst_structure_from_string(expected, NULL);
  g_autofree char *text = gst_structure_to_string(s);
  gst_structure_set(other, "counts", G_TYPE_BOOLEAN, TRUE, NULL); /* whatever the input is */
  if (!gst_structure_is_equal(s, other))
    g_error("found %s, expected %s", text, expected);
  gst_structure_free(s);
}

#define IN "application/x-astro-voltages,stations=(int)2,pols=(int)2,"
#define OUT "application/x-astro-spectra,stations=(int)2,pols=(int)2,format=(string)"

static void test_caps(void)
{
  /* For an even number of channels the centre moves down by half a channel. Rates are exact. */
  assert_caps(out_caps("channels=100",
                       IN "format=CI8,layout=time:station:pol,rate=100000000/1,frequency=1.4e9,"
                          "bandwidth=1e8",
                       NULL),
              OUT "CF32LE,layout=(string)station:pol:time:channel,channels=(int)100,"
                  "rate=(fraction)1000000/1,frequency=(double)1399500000,bandwidth=(double)1e8");
  assert_caps(out_caps("channels=7",
                       IN "format=CF32LE,layout=station:pol:time,rate=22/5,frequency=1e6,"
                          "bandwidth=4.4",
                       NULL),
              OUT "CF32LE,layout=(string)station:pol:time:channel,channels=(int)7,"
                  "rate=(fraction)22/35,frequency=(double)1e6,bandwidth=(double)4.4");
  /* Real samples: twice the rate. */
  assert_caps(out_caps("channels=5 taps=1",
                       IN "format=F32LE,layout=station:time:pol,rate=1000/1,frequency=250.0,"
                          "bandwidth=500.0",
                       NULL),
              OUT "CF32LE,layout=(string)station:pol:time:channel,channels=(int)5,"
                  "rate=(fraction)100/1,frequency=(double)200,bandwidth=(double)500");
  assert_caps(out_caps("channels=4", IN "format=I8,layout=time:station:pol,rate=800/1", NULL),
              OUT "CF32LE,layout=(string)station:pol:time:channel,channels=(int)4,"
                  "rate=(fraction)100/1");
  /* The format that downstream asks for, CF32LE if it leaves the choice; other fields stay. */
  assert_caps(out_caps("channels=4", IN "format=CI4,layout=station:pol:time,telescope=T",
                       "application/x-astro-spectra,format={CI8,CF32LE}"),
              OUT "CF32LE,layout=(string)station:pol:time:channel,channels=(int)4,telescope=T");
  assert_caps(out_caps("channels=4", IN "format=CI4,layout=station:pol:time",
                       "application/x-astro-spectra,format={CI4,CI8}"),
              OUT "CI4,layout=(string)station:pol:time:channel,channels=(int)4");
  /* Axes that are not there. */
  GstStructure *s =
      out_caps("channels=4", "application/x-astro-voltages,format=CI8,layout=time", NULL);
  g_assert_cmpstr(gst_structure_get_string(s, "layout"), ==, "time:channel");
  gst_structure_free(s);
  s = out_caps("channels=4",
               "application/x-astro-voltages,format=CI8,layout=time:station,stations=3", NULL);
  g_assert_cmpstr(gst_structure_get_string(s, "layout"), ==, "station:time:channel");
  gst_structure_free(s);
}

/* An upstream element that can give several formats and layouts learns which are good, best
 * first. */
static void test_upstream(void)
{
  GstHarness *h = harness();
  gst_harness_set_sink_caps_str(h, "application/x-astro-spectra,stations=4");
  g_autoptr(GstCaps) asked =
      gst_caps_from_string("application/x-astro-voltages,format={CF64LE,CI16LE,CI8},stations=[1,9],"
                           "layout={time:station:pol,station:pol:time}");
  g_autoptr(GstCaps) caps = gst_pad_peer_query_caps(h->srcpad, NULL);
  g_autoptr(GstCaps) common = gst_caps_intersect_full(caps, asked, GST_CAPS_INTERSECT_FIRST);
  common = gst_caps_fixate(g_steal_pointer(&common));
  const GstStructure *s = gst_caps_get_structure(common, 0);
  gint stations = 0;
  g_assert_cmpstr(gst_structure_get_string(s, "format"), ==, "CI8");
  g_assert_cmpstr(gst_structure_get_string(s, "layout"), ==, "station:pol:time");
  gst_structure_get_int(s, "stations", &stations);
  g_assert_cmpint(stations, ==, 4);
  gst_harness_teardown(h);
}

/* The output's caps say where the centre of channel k is: a tone there fills it. */
static void test_frequencies(void)
{
  static const struct {
    const char *format;
    guint channels;
    double rate, low; /* Hz: rate of samples, and lower edge of the band */
  } cases[] = { { "CF32LE", 16, 1000, 4500 },
                { "CF32LE", 15, 1000, 4500 },
                { "F32LE", 16, 2000, 4500 },
                { "F32LE", 15, 2000, 4500 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    gboolean real = cases[i].format[0] == 'F';
    GstHarness *h = test_harness("astrochannelizer");
    g_autofree char *caps_text = g_strdup_printf(
        "application/x-astro-voltages,format=%s,layout=time,rate=%g/1,frequency=5000.0,"
        "bandwidth=1000.0",
        cases[i].format, cases[i].rate);
    g_object_set(h->element, "channels", cases[i].channels, NULL);
    gst_harness_set_src_caps_str(h, caps_text);
    for (guint k = 3; k < cases[i].channels - 3; k++) {
      double frequency = 0, bandwidth = 0, centre;
      gsize n = 20 * cases[i].channels * (1 + real);
      float *in = g_new(float, 2 * n);
      g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
      if (!caps) { /* the first buffer brings them */
        push(h, gst_buffer_new_wrapped(in, n * (real ? 4 : 8)));
        gst_buffer_unref(gst_harness_pull(h));
        k--;
        continue;
      }
      gst_structure_get_double(gst_caps_get_structure(caps, 0), "frequency", &frequency);
      gst_structure_get_double(gst_caps_get_structure(caps, 0), "bandwidth", &bandwidth);
      g_assert_cmpfloat(bandwidth, ==, 1000);
      centre = frequency - bandwidth / 2 + (k + 0.5) * bandwidth / cases[i].channels;
      /* Complex samples count from the middle of the band, real ones from its lower edge. */
      double turns = (centre - (real ? cases[i].low : cases[i].low + 500)) / cases[i].rate;
      for (gsize t = 0; t < n; t++)
        if (real) {
          in[t] = (float)cos(2 * G_PI * turns * (double)t);
        } else {
          in[2 * t] = (float)cos(2 * G_PI * turns * (double)t);
          in[2 * t + 1] = (float)sin(2 * G_PI * turns * (double)t);
        }
      GstBuffer *buffer = gst_buffer_new_wrapped(in, n * (real ? 4 : 8));
      GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
      push(h, buffer);
      g_autoptr(GByteArray) got = test_pull_all(h);
      const float *row = (const float *)got->data;
      for (guint c = 0; c < cases[i].channels; c++) {
        double level = hypot(row[2 * c], row[2 * c + 1]) / hypot(row[2 * k], row[2 * k + 1]);
        if (c != k)
          g_assert_cmpfloat(level, <, 0.01);
      }
    }
    gst_harness_teardown(h);
  }
}

/* The sum of squares before and after, clipped values, and windows by name. */
static void test_properties(void)
{
  static const char *const windows[] = { "hann",   "hamming",     "blackman-harris",
                                         "kaiser", "rectangular", "auto" };
  double power[G_N_ELEMENTS(windows)];
  for (guint i = 0; i < G_N_ELEMENTS(windows); i++) {
    g_autofree char *line = g_strdup_printf(
        "astrochannelizer backend=cpu channels=8 taps=1 beta=3 gain=2 window=%s", windows[i]);
    GstHarness *h = gst_harness_new_parse(line);
    gst_harness_set_src_caps_str(h, "application/x-astro-voltages,format=CI8,layout=time");
    GstBuffer *in = test_buffer(16, 3);
    push(h, in);
    g_autoptr(GByteArray) got = test_pull_all(h);
    g_assert_cmpuint(got->len, ==, 64);
    power[i] = 0;
    for (guint c = 0; c < 16; c++)
      power[i] += pow(((float *)got->data)[c], 2);
    gst_harness_teardown(h);
  }
  gint8 samples[16];
  double sum = 0;
  test_fill(samples, 16, 3);
  for (guint c = 0; c < 16; c++)
    sum += 4.0 * samples[c] * samples[c];
  for (guint i = 0; i < G_N_ELEMENTS(windows); i++)
    for (guint j = 0; j < i; j++)
      g_assert_true((fabs(power[i] / power[j] - 1) < 1e-6) == (i == 5 && j == 4));
  g_assert_cmpfloat_with_epsilon(power[5] / sum, 1, 1e-5);

  guint64 clipped;
  GstHarness *h =
      gst_harness_new_parse("astrochannelizer name=c backend=cpu channels=8 taps=1 gain=1e6 ! "
                            "capsfilter caps=application/x-astro-spectra,format=CI8");
  GstElement *element = gst_bin_get_by_name(GST_BIN(h->element), "c");
  gst_harness_set_src_caps_str(h, "application/x-astro-voltages,format=CI8,layout=time");
  push(h, test_buffer(160, 3));
  g_object_get(element, "clipped", &clipped, NULL);
  g_assert_cmpuint(clipped, ==, 160);
  gst_object_unref(element);
  gst_harness_teardown(h);
}

/* The file is read at the start. */
static void refuse_other_channels(const char *line)
{
  GstHarness *h = gst_harness_new_parse(line);
  g_autoptr(GstElement) element = gst_harness_find_element(h, "astrochannelizer");
  g_autoptr(GstBus) bus = gst_bus_new();
  g_autoptr(GError) error = NULL;
  gst_element_set_bus(element, bus);
  g_object_set(element, "channels", 64, NULL);
  gst_harness_set_src_caps_str(h, "application/x-astro-voltages,format=CI8,layout=time");
  gst_harness_push(h, test_buffer(80, 3));
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_assert_nonnull(message);
  gst_message_parse_error(message, &error, NULL);
  test_says(error->message, "the gains of 4 channels were read, to 64");
  gst_element_set_bus(element, NULL);
  gst_harness_teardown(h);
}

/* A file of gains: channel by channel, and what is wrong with it by file and line. */
static void test_gains(void)
{
  static const struct {
    const char *text, *says;
  } bad[] = {
    { "1 2 3", "3 gains" },
    { "1 2 3 4 5", "more gains" },
    { "1 2\n3 x", ":2: the gain of channel 3 is x" },
    { "1 2 3 inf", "inf" },
    { "1 2 3 -1e39", "the gain of channel 3 is -1e39, expected a number of at most 3.4" },
  };
  g_autofree char *folder = g_dir_make_tmp("gst-astro-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "gains", NULL);
  g_autofree char *line =
      g_strdup_printf("astrochannelizer backend=cpu channels=4 taps=1 gains=%s", path);
  g_assert_true(g_file_set_contents(path, "1 2 # low\n-3 0\n", -1, NULL));
  GstHarness *h = gst_harness_new_parse(line);
  GstHarness *plain = gst_harness_new_parse("astrochannelizer backend=cpu channels=4 taps=1");
  gst_harness_set_src_caps_str(h, "application/x-astro-voltages,format=CI8,layout=time");
  gst_harness_set_src_caps_str(plain, "application/x-astro-voltages,format=CI8,layout=time");
  push(h, test_buffer(80, 3));
  push(plain, test_buffer(80, 3));
  g_autoptr(GByteArray) got = test_pull_all(h), without = test_pull_all(plain);
  g_assert_cmpuint(got->len, ==, 320);
  for (guint i = 0; i < 80; i++) {
    static const float gains[] = { 1, 2, -3, 0 };
    g_assert_cmpfloat(((float *)got->data)[i], ==, gains[i / 2 % 4] * ((float *)without->data)[i]);
  }
  gst_harness_teardown(h);
  gst_harness_teardown(plain);
  refuse_other_channels(line);

  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autofree char *whole =
        g_strdup_printf("fakesrc num-buffers=2 sizetype=fixed sizemax=32 ! capsfilter "
                        "caps=application/x-astro-voltages,format=CI8,layout=time ! %s ! fakesink",
                        line);
    g_assert_true(g_file_set_contents(path, bad[i].text, -1, NULL));
    g_autofree char *error = test_launch(whole);
    if (!error || !strstr(error, bad[i].says) || !strstr(error, path))
      g_error("\"%s\" does not say \"%s\"", error ? error : "no error", bad[i].says);
  }
  g_unlink(path);
  g_rmdir(folder);
}

static void test_late_settings(void)
{
  test_refuses_late("astrochannelizer backend=cpu channels=4", "channels", "64",
                    "application/x-astro-voltages,format=CI8,layout=time");
}

static void test_errors(void)
{
  static const struct {
    const char *properties, *caps, *says;
    guint bytes;
  } cases[] = {
    { "channels=0", "format=CI8,layout=time", "0 channels", 2 },
    { "channels=1", "format=CI8,layout=time", "1 channels", 2 },
    { "channels=65537", "format=CI8,layout=time", "65537 channels", 2 },
    { "taps=0", "format=CI8,layout=time", "0 taps", 2 },
    { "taps=33", "format=CI8,layout=time", "33 taps", 2 },
    { "beta=-1", "format=CI8,layout=time", "beta -1", 2 },
    { "channels=8", "format=CI8,layout=time,stations=2,pols=2,layout=station:pol:time",
      "is not a whole number of steps of 8 bytes (6 are left over): the size of a file and the "
      "blocksize of its source must be "
      "multiples of a step",
      30 },
    { "channels=8", "format=CF64LE,layout=time", "CF64LE", 32 },
    { "channels=8", "format=CF64LE,layout=time:station,stations=2147483647", "CF64LE", 32 },
    { "channels=8", "format=CI8,layout=time:channel,channels=4", "time:channel", 32 },
    { "channels=8", "format=CI8,layout=time,rate=1/2000000000", "rate", 32 },
    { "channels=8", "format=CI8,layout=time,rate=1000000/1,frequency=150e6,bandwidth=2e6",
      "bandwidth=2000000 Hz, expected at most 1000000 Hz, which complex samples at a rate of "
      "1000000/1 carry",
      32 },
    { "channels=8", "format=F32LE,layout=time,rate=1000000/1,frequency=150e6,bandwidth=1e6",
      "bandwidth=1000000 Hz, expected at most 500000 Hz, which real samples at a rate of 1000000/1 "
      "carry",
      32 },
    { "channels=-1", "format=CI8,layout=time", "4294967295 channels, expected 2 to 65536", 2 },
    { "taps=-1", "format=CI8,layout=time", "4294967295 taps, expected 1 to 32", 2 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf(
        "fakesrc num-buffers=2 sizetype=fixed sizemax=%u ! capsfilter "
        "caps=application/x-astro-voltages,%s ! astrochannelizer backend=cpu %s ! fakesink",
        cases[i].bytes, cases[i].caps, cases[i].properties);
    test_refused_by(line, "astrochannelizer", cases[i].says);
  }
}

static void add_tests(void)
{
  g_test_add_func("/astrochannelizer/caps", test_caps);
  g_test_add_func("/astrochannelizer/upstream", test_upstream);
  g_test_add_func("/astrochannelizer/frequencies", test_frequencies);
  g_test_add_func("/astrochannelizer/properties", test_properties);
  g_test_add_func("/astrochannelizer/gains", test_gains);
  g_test_add_func("/astrochannelizer/late-settings", test_late_settings);
  g_test_add_func("/astrochannelizer/errors", test_errors);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
