/* The graph of a pulsar: period, phase, width and dispersion measure are what was put in, by
 * voltages, by power in a file, and by an ephemeris. */
#include "tests/graphs/program.h"
#include "tests/tests.h"

#include "core/lib/sky/dispersion.h"
#include "core/stream/profile.h"

#include <gst/gst.h>
#include <math.h>

#define PERIOD 0.0892
#define SHORT "duration=1.5 channels=16 bins=64 noise=10 "
#define TURN (2 * G_PI)

typedef struct {
  AstroStream stream;
  AstroProfile profile;
  GArray *values; /* float, [sub-integration][channel][bin] of one product */
  guint n, channels, bins;
} Profiles;

static void profiles_clear(Profiles *p)
{
  g_array_unref(p->values);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Profiles, profiles_clear)

static void add_buffer(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  Profiles *p = data;
  GstMapInfo map;
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  g_assert_true(astro_profile_from_caps(&p->stream, &p->profile, caps, NULL));
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  g_array_append_vals(p->values, map.data, (guint)(map.size / sizeof(float)));
  gst_buffer_unmap(buffer, &map);
  p->n++;
}

/* The last sub-integration is a short one, and left out. */
static Profiles read_profiles(const char *name)
{
  g_autofree char *path = in_folder(name);
  g_autofree char *line =
      g_strdup_printf("astrofitssrc location=%s ! fakesink name=sink signal-handoffs=true", path);
  Profiles p = { .values = g_array_new(FALSE, FALSE, sizeof(float)) };
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, NULL);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_signal_connect(sink, "handoff", G_CALLBACK(add_buffer), &p);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_true(message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  p.channels = (guint)astro_stream_extent(&p.stream, ASTRO_AXIS_CHANNEL);
  p.bins = (guint)astro_stream_extent(&p.stream, ASTRO_AXIS_PHASE);
  return p;
}

/* The phase of the pulse in a sum over sub-integrations and channels, by its first harmonic, and
 * its width at half maximum, turns. The first channel has both edges of the band. */
typedef struct {
  double phase, width;
} Pulse;

static Pulse find_pulse(const Profiles *p, guint first, guint last, guint channel, guint end)
{
  g_autofree double *sums = g_new0(double, p->bins);
  double re = 0, im = 0, least = INFINITY, most = 0, wide = 0;
  for (guint n = first; n < last; n++)
    for (guint c = MAX(channel, 1); c < end; c++)
      for (guint b = 0; b < p->bins; b++)
        sums[b] += (double)g_array_index(p->values, float, (n * p->channels + c) * p->bins + b);
  for (guint b = 0; b < p->bins; b++) {
    re += sums[b] * cos(TURN * (b + 0.5) / p->bins);
    im += sums[b] * sin(TURN * (b + 0.5) / p->bins);
    least = fmin(least, sums[b]);
    most = fmax(most, sums[b]);
  }
  /* The area of a Gaussian over its height. */
  for (guint b = 0; b < p->bins; b++)
    wide += (sums[b] - least) / (most - least) / p->bins;
  return (Pulse){ atan2(im, re) / TURN, wide * sqrt(4 * log(2) / G_PI) };
}

static double turns_between(double a, double b)
{
  return (a - b) - rint(a - b);
}

/* Where a pulse of the default pulsar should be: the middle of the channels is half a channel below
 * that of the band. */
static double expected_phase(const Profiles *p, double dm)
{
  return 0.3 + astro_dispersion_delay(dm, 150e6, p->stream.frequency) / PERIOD;
}

static void check_pulse(const Profiles *p)
{
  const Pulse all = find_pulse(p, 0, p->n - 1, 1, p->channels),
              low = find_pulse(p, 0, p->n - 1, 1, 4),
              high = find_pulse(p, 0, p->n - 1, p->channels - 3, p->channels);
  g_test_message("phase %g, width %g, low and high %g apart", all.phase, all.width,
                 turns_between(low.phase, high.phase));
  g_assert_cmpfloat(fabs(turns_between(all.phase, expected_phase(p, 20))), <, 0.005);
  g_assert_cmpfloat(fabs(turns_between(low.phase, high.phase)), <, 0.01);
  /* Smeared by a channel's dispersion, of 0.034 turns, and a sample and a bin. */
  g_assert_cmpfloat(all.width, >, 0.049);
  g_assert_cmpfloat(all.width, <, 0.075);
}

static void test_pulse(void)
{
  g_auto(Result) result =
      run("run pulsar " SHORT "interval=0.25 output=pulse.fits picture=pulse.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_auto(Profiles) p = read_profiles("pulse.fits");
  g_assert_cmpuint(p.n, >=, 6);
  g_assert_cmpfloat(p.profile.period, ==, PERIOD);
  g_assert_cmpfloat(p.profile.dm, ==, 20);
  check_pulse(&p);
}

/* Folded by a wrong period and without dispersion, the drift tells the right period and the slope
 * over the channels the dispersion measure. */
static void test_found(void)
{
  g_auto(Result) result =
      run("run pulsar " SHORT "interval=0.25 period=0.0893 dm=0 output=found.fits "
          "picture=found.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_auto(Profiles) p = read_profiles("found.fits");
  double turns = 0;
  for (guint n = 1; n < p.n - 1; n++)
    turns +=
        turns_between(find_pulse(&p, n, n + 1, 8, 9).phase, find_pulse(&p, n - 1, n, 8, 9).phase);
  const double seconds = (p.n - 2) * (double)p.stream.rate_d / p.stream.rate_n,
               period = 1 / (1 / 0.0893 - turns / seconds);
  g_test_message("period %g", period);
  g_assert_cmpfloat(fabs(period - PERIOD), <, 2e-5);

  double late = 0;
  for (guint c = 2; c < p.channels; c++)
    late +=
        turns_between(find_pulse(&p, 0, 2, c - 1, c).phase, find_pulse(&p, 0, 2, c, c + 1).phase);
  const double low = astro_channel_frequency(p.stream.frequency, p.stream.bandwidth, p.channels, 1),
               high = astro_channel_frequency(p.stream.frequency, p.stream.bandwidth, p.channels,
                                              p.channels - 1),
               dm = late * 0.0893 / astro_dispersion_delay(1, high, low);
  g_test_message("dispersion measure %g", dm);
  g_assert_cmpfloat(fabs(dm - 20), <, 0.4);
}

/* A filterbank has the same pulse, and settings of the simulated receiver are refused with it. */
static void test_power(void)
{
  write_file("power.graph",
             "astroskysrc stations=1 duration=1 noise=10 "
             "pulsar=\"0,0,5,period=0.0892,duty=0.05,phase=0.3,dm=20\" ! "
             "application/x-astro-voltages,format=CF32LE ! astrochannelizer channels=16 ! "
             "astropower integration-time=0.0005 ! "
             "astrorecordsink format=sigproc location=power.fil",
             -1);
  g_auto(Result) written = run("run ./power.graph");
  g_assert_cmpint(written.status, ==, 0);
  g_auto(Result) result = run("run pulsar input=power.fil detected=yes bins=64 interval=0.25 "
                              "output=power.fits picture=power.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_auto(Profiles) p = read_profiles("power.fits");
  /* The file begins some samples after time zero of the sky, as its filter bank has lost those. */
  const Pulse low = find_pulse(&p, 0, p.n - 1, 1, 4), high = find_pulse(&p, 0, p.n - 1, 13, 16);
  g_assert_cmpfloat(fabs(turns_between(low.phase, high.phase)), <, 0.01);
  g_auto(Result) refused = run("run pulsar input=power.fil detected=yes noise=3");
  assert_refused(&refused, 1, "parameter noise is not used with input");
}

/* An ephemeris gives period and dispersion, and says what it was fitted with. */
static void test_ephemeris(void)
{
  write_file("pulsar.par",
             "PSR TEST\nRAJ 1:00:00\nDECJ 52:00:00\nF0 11.2\nPEPOCH 61000\nDM 20\n"
             "EPHEM DE421\n",
             -1);
  g_auto(Result) result = run("run pulsar " SHORT "ephemeris=pulsar.par interval=0.25 "
                              "output=par.fits picture=par.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_assert_nonnull(strstr(result.err, "was fitted with DE421"));
  g_auto(Profiles) p = read_profiles("par.fits");
  g_assert_cmpfloat(fabs(p.profile.period - 1 / 11.2), <, 1e-15);
  g_assert_cmpfloat(fabs(p.profile.dm - 20 * 1.000137291), <, 1e-6);
  g_auto(Result) both = run("run pulsar ephemeris=pulsar.par period=1");
  assert_refused(&both, 1, "parameter period is not used with ephemeris");
  g_auto(Result) none = run("run pulsar ephemeris=absent.par output=none.fits");
  assert_refused(&none, 1, "absent.par");
}

static void add_tests(void)
{
  g_test_add_func("/graphs-pulsar/pulse", test_pulse);
  g_test_add_func("/graphs-pulsar/found", test_found);
  g_test_add_func("/graphs-pulsar/power", test_power);
  g_test_add_func("/graphs-pulsar/ephemeris", test_ephemeris);
}

int main(int argc, char **argv)
{
  test_init_gstreamer(&argc, &argv);
  return test_program(argc, argv, add_tests);
}
