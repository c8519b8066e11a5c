/* Polarised skies and interference in pipelines: from voltages through the filter bank and the
 * correlator to Stokes parameters that are those of the prediction; tones in the stations, channels
 * and integrations where they were put; what is warned of and what is refused. */
#include "core/lib/sky/scene.h"
#include "core/stream/validity.h"
#include "tests/elements/pulled.h"
#include <complex.h>
#include <math.h>

#define STATIONS 5
#define CHANNELS 32
#define BASELINES (STATIONS * (STATIONS + 1) / 2)
#define COUNT 4000 /* spectra in an integration */

typedef complex float Products[CHANNELS][BASELINES][4];

static Products *take(GstBuffer *buffer)
{
  gpointer products;
  gsize bytes;
  gst_buffer_extract_dup(buffer, 0, gst_buffer_get_size(buffer), &products, &bytes);
  g_assert_cmpuint(bytes, ==, sizeof(Products));
  gst_buffer_unref(buffer);
  return products;
}

static char *basis_of(TestPulled *r)
{
  g_autoptr(GstPad) pad = gst_element_get_static_pad(r->sink, "sink");
  g_autoptr(GstEvent) event = gst_pad_get_sticky_event(pad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  g_autoptr(AstroObservation) observation = astro_observation_from_event(event, NULL);
  return g_strdup(observation->basis);
}

/* ---- Stokes parameters ---- */

#define SCENE                                                                                      \
  "stations=5 array=disc bandwidth=1e6 duration=0.384 "                                            \
  "sky=0.01,0.02,2,q=0.6,u=-1,v=0.8,rm=40;-0.02,0.005,1,v=-1;0.005,0.01,1,line=1.501e8:2e5:3,"     \
  "line=1.497e8:2e5:-0.9,q=0.5 basis=%s "

/* Squares of the differences in units of what counting explains, by product. */
static void add_differences(const Products *found, const Products *model, double noise,
                            double square[4])
{
  for (guint c = 1; c < CHANNELS - 1; c++)
    for (guint i = 0, b = 0; i < STATIONS; i++)
      for (guint j = 0; j <= i; j++, b++)
        for (guint p = 0; p < 4; p++) {
          const complex float *a = (*model)[c][i * (i + 3) / 2], *z = (*model)[c][j * (j + 3) / 2];
          const double power = (creal(a[3 * (p / 2)]) + noise) * (creal(z[3 * (p % 2)]) + noise);
          const double constant = i == j && p % 3 == 0 ? noise : 0;
          const complex double difference =
              (complex double)(*found)[c][b][p] - (*model)[c][b][p] - constant;
          square[p] += pow(cabs(difference), 2) / (power / COUNT);
        }
}

static void check_chain(const char *basis)
{
  const double noise = 3;
  g_autofree char *scene = g_strdup_printf(SCENE, basis);
  g_autofree char *voltages = g_strdup_printf(
      "astroskysrc noise=%g %s ! application/x-astro-voltages,format=CF32LE ! astrodelay ! "
      "astrochannelizer channels=32 ! astrotranspose ! astrocorrelator integration=4000",
      noise, scene);
  g_autofree char *model =
      g_strdup_printf("astrovissrc channels=32 integration=0.128 frequency=149984375 %s", scene);
  TestPulled chain = test_pulled_run(voltages, "application/x-astro-visibilities");
  TestPulled predicted = test_pulled_run(model, "application/x-astro-visibilities");
  double square[4] = { 0 };
  guint dumps = 0;
  GstBuffer *a, *b;
  while ((a = test_pull(&chain)) && (b = test_pull(&predicted))) {
    g_autofree Products *found = take(a), *expected = take(b);
    if (dumps == 1) /* the first and the last have the ends of the chain in them */
      add_differences(found, expected, noise, square);
    dumps++;
  }
  gst_clear_buffer(&a);
  g_assert_cmpuint(dumps, ==, 3);
  g_autofree char *one = basis_of(&chain), *other = basis_of(&predicted);
  g_assert_cmpstr(one, ==, basis);
  g_assert_cmpstr(other, ==, basis);
  const double n = (CHANNELS - 2) * BASELINES;
  for (guint p = 0; p < 4; p++) /* neighbouring channels overlap, and products share stations */
    g_assert_cmpfloat_with_epsilon(square[p] / n, 1, 8 * sqrt(2 / n));
  test_pulled_end(&chain);
  test_pulled_end(&predicted);
}

static void test_chain(void)
{
  check_chain("linear");
  check_chain("circular");
}

/* ---- interference ---- */

/* A tone in the middle of channel 21 of two stations, during the third integration. The gain of a
 * filter bank's channel in its middle is that of noise within a tenth, and
 * the edges of the tone's time are a little of every frequency. */
static void test_tone(void)
{
  TestPulled r = test_pulled_run(
      "astroskysrc pattern=noise noise=5 stations=5 array=disc bandwidth=1e6 duration=0.64 "
      "rfi=\"150156250,4,stations=1+3,start=0.266,on=0.1\" ! "
      "application/x-astro-voltages,format=CF32LE ! astrochannelizer channels=32 ! astrotranspose "
      "! "
      "astrocorrelator integration=4000",
      "application/x-astro-visibilities");
  GstBuffer *buffer;
  guint dumps = 0;
  for (; (buffer = test_pull(&r)); dumps++) {
    g_autofree Products *found = take(buffer);
    for (guint c = 0; c < CHANNELS; c++)
      for (guint i = 0, b = 0; i < STATIONS; i++)
        for (guint j = 0; j <= i; j++, b++) {
          const gboolean is_there = dumps == 2 && c == 21 && i % 2 && j % 2;
          const gboolean is_near = dumps == 2 && ABS((gint)c - 21) == 1;
          const double expected = (is_there ? 4 * 32 * 0.1 / 0.128 : 0) + (i == j ? 5 : 0);
          if (!is_near)
            g_assert_cmpfloat_with_epsilon(cabsf((*found)[c][b][0]), expected,
                                           (is_there     ? 12
                                            : dumps == 2 ? 1
                                                         : 0) +
                                               6 * 5 / sqrt(3900));
        }
  }
  g_assert_cmpuint(dumps, ==, 5);
  test_pulled_end(&r);
}

/* The interference that was drawn can be asked for, and gives the same samples when it is set. */
static void test_active(void)
{
  g_autofree char *told = NULL;
  GBytes *samples[2];
  for (guint i = 0; i < 2; i++) {
    g_autofree char *line = g_strdup_printf(
        "astroskysrc name=src noise=1 stations=3 num-buffers=1 block-steps=3000 seed=7 rfi=\"%s\"",
        i ? told : "random,5,count=3,period=1e-3,on=2e-4;random,1,width=5e4,stations=2");
    TestPulled r = test_pulled_run(line, "application/x-astro-voltages");
    GstBuffer *buffer = test_pull(&r);
    gpointer data;
    gsize bytes;
    gst_buffer_extract_dup(buffer, 0, gst_buffer_get_size(buffer), &data, &bytes);
    samples[i] = g_bytes_new_take(data, bytes);
    gst_buffer_unref(buffer);
    g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(r.pipeline), "src");
    g_clear_pointer(&told, g_free);
    g_object_get(source, "active-rfi", &told, NULL);
    test_pulled_end(&r);
  }
  g_auto(GStrv) items = g_strsplit(told, ";", -1);
  g_assert_cmpuint(g_strv_length(items), ==, 4);
  g_assert_true(g_bytes_equal(samples[0], samples[1]));
  g_bytes_unref(samples[0]);
  g_bytes_unref(samples[1]);
}

/* ---- pulses ---- */

/* The mean power of each of ten stretches of a millisecond. */
static void measure_power(const char *settings, double power[10])
{
  g_autofree char *line = g_strdup_printf("astroskysrc stations=1 pols=1 num-buffers=1 noise=1 "
                                          "block-steps=10000 sky=0,0,1 %s",
                                          settings);
  TestPulled r = test_pulled_run(line, "application/x-astro-voltages,format=CF32LE");
  GstBuffer *buffer = test_pull(&r);
  gpointer data;
  gsize bytes;
  gst_buffer_extract_dup(buffer, 0, gst_buffer_get_size(buffer), &data, &bytes);
  g_assert_cmpuint(bytes, ==, 10000 * 8);
  for (guint i = 0; i < 10; i++) {
    power[i] = 0;
    for (guint k = 0; k < 1000; k++)
      power[i] += pow(cabsf(((complex float *)data)[1000 * i + k]), 2) / 1000;
  }
  g_free(data);
  gst_buffer_unref(buffer);
  test_pulled_end(&r);
}

/* Pulsars and bursts add to the sky, which is what it is without them where they are silent. */
static void test_pulses(void)
{
  double sky[10], pulsar[10], burst[10];
  measure_power("", sky);
  measure_power("pulsar=0,0,30,period=5e-3,duty=0.02,phase=0.5", pulsar);
  measure_power("burst=0,0,1,time=7.5e-3,width=1e-4,dm=1e-3", burst);
  for (guint i = 0; i < 10; i++) {
    if (i % 5 == 2)
      g_assert_cmpfloat_with_epsilon(pulsar[i] - sky[i], 150, 60);
    else
      g_assert_cmpfloat_with_epsilon(pulsar[i], sky[i], 1e-6);
    if (i == 7)
      g_assert_cmpfloat_with_epsilon(burst[i] - sky[i], 1000, 400);
    else if (ABS((gint)i - 7) > 1) /* the edges of a filter ring */
      g_assert_cmpfloat_with_epsilon(burst[i], sky[i], 0.1);
  }
}

/* ---- misfits ---- */

/* The text of the first warning of a line that runs to its end. */
static char *find_warning(const char *line)
{
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  char *text = NULL;
  for (gboolean ended = FALSE; !ended;) {
    g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
        bus, TEST_PATIENCE, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
    g_assert_nonnull(message);
    g_assert_cmpint(GST_MESSAGE_TYPE(message), !=, GST_MESSAGE_ERROR);
    ended = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    g_autoptr(GError) warning = NULL;
    if (!ended && !text) {
      gst_message_parse_warning(message, &warning, NULL);
      text = g_strdup(warning->message);
    }
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return text;
}

static void test_warnings(void)
{
  static const char *const cases[][2] = {
    { "astroskysrc sky=0,0,1,line=1.42e9:1e5:1",
      "the line of source 1 at 1420000000 Hz is outside" },
    { "astrovissrc sky=0,0,1,line=1.42e9:1e5:1", "of the band from 149500000 to 150500000 Hz" },
    { "astroskysrc rfi=1e8,5;1.5e8,5",
      "rfi: the interference at 100000000 Hz is outside of the band" },
    { "astroskysrc sky=0,0,1,line=1.5e8:1e5:1 rfi=1.5e8,5", NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf("%s stations=2 num-buffers=1 ! fakesink", cases[i][0]);
    g_autofree char *warning = find_warning(line);
    if (cases[i][1])
      test_says(warning, cases[i][1]);
    else
      g_assert_cmpstr(warning, ==, NULL);
  }
}

static void test_refused_settings(void)
{
  static const char *const cases[][2] = {
    { "astroskysrc sky=0,0,1,q=0.8,u=0.7", "q, u and v together are 1.06301 Jy" },
    { "astrovissrc sky=0,0,1,q=0.8,u=0.7", "q, u and v together are 1.06301 Jy" },
    { "astroskysrc sky=0,0,1,line=1.5e8:1:1", "a line of 1 Hz width" },
    { "astroskysrc rfi=1.5e8,5,stations=4-9",
      "there is no station \"4-9\", expected numbers from 0 to "
      "3" },
    { "astroskysrc rfi=nowhere", "neither a file nor a list" },
    { "astroskysrc pattern=ramp rfi=1.5e8,5", "expected pattern=sky or pattern=noise" },
    { "astroskysrc pulsar=0,0,1,duty=0.1", "pulsar: source 1 is" },
    { "astroskysrc pulsar=0,0,1,period=1e-3,duty=1e-4", "are 1e-07 s wide" },
    { "astroskysrc pulsar=0,0,1,period=1,duty=0.1 pattern=noise",
      "pulsar: a test pattern has no sources, expected pattern=sky" },
    { "astroskysrc burst=0,0,1,time=0,width=1 pattern=tone",
      "burst: a test pattern has no sources" },
    { "astroskysrc sky=\"\" phase-centre=0,89 burst=0,0,1,time=0,width=1",
      "burst: source 1 (ra 0.0000, dec 89.0000 degrees)" },
    { "astroskysrc sky=sun", "sky \"sun\": the Sun moves among the stars" },
    { "astrovissrc sky=Jupiter", "Jupiter moves among the stars" },
    { "astroskysrc phase-centre=sun", "phase-centre=sun: the Sun moves among the stars" },
    { "astrovissrc phase-centre=Moon", "phase-centre=Moon: the Moon moves among the stars" },
    { "astroskysrc ! astroobserve phase-centre=mars", "phase-centre=mars: Mars moves among" },
    { "astrovissrc ! astrophaseshift centre=venus", "centre=venus: Venus moves among the stars" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(GStrv) parts = g_strsplit(cases[i][0], " ! ", 2);
    g_autofree char *line = g_strdup_printf("%s stations=4 num-buffers=1%s%s ! fakesink", parts[0],
                                            parts[1] ? " ! " : "", parts[1] ? parts[1] : "");
    test_refused(line, cases[i][1]);
  }
}

static void add_tests(void)
{
  g_test_add_func("/polarised/chain", test_chain);
  g_test_add_func("/polarised/tone", test_tone);
  g_test_add_func("/polarised/active-rfi", test_active);
  g_test_add_func("/polarised/pulses", test_pulses);
  g_test_add_func("/polarised/warnings", test_warnings);
  g_test_add_func("/polarised/refused", test_refused_settings);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
