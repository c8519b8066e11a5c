/* Transforms along time: streams that are cut anywhere, samples that are missing, and channels. */
#include <complex.h>
#include <math.h>
#include <sys/resource.h>

#include "core/stream/validity.h"
#include "tests/elements/elements.h"
#include "tests/elements/setter.h"
#include "tests/may-fail.h"
#include "tests/peak.h"

#define VOLTAGES                                                                                   \
  "application/x-astro-voltages,format=CF32LE,stations=2,pols=3,rate=1000/1,frequency=5000.0,"     \
  "bandwidth=1000.0,layout="
#define INPUTS 6
#define LENGTH 12

/* Sample t of an input, which depends on nothing else. */
static float complex sample(guint input, guint64 t)
{
  guint32 random = (guint32)(t * 2654435761u + input * 40503u);
  random ^= random >> 15;
  random *= 2246822519u;
  return (float)(gint16)random / 32768 + I * (float)(gint16)(random >> 16) / 32768;
}

/* Where the sample of an input at a time step is, in either layout. */
static gsize place(gboolean time_first, guint input, guint64 step, guint64 steps)
{
  return time_first ? step * INPUTS + input : input * steps + step;
}

static GstBuffer *voltages(gboolean time_first, guint64 first, guint64 steps)
{
  float complex *data = g_new(float complex, steps *INPUTS);
  for (guint input = 0; input < INPUTS; input++)
    for (guint64 i = 0; i < steps; i++)
      data[place(time_first, input, i, steps)] = sample(input, first + i);
  GstBuffer *buffer = gst_buffer_new_wrapped(data, steps * INPUTS * sizeof *data);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + steps;
  return buffer;
}

/* Channel k, in ascending frequency, of the spectrum of samples from n x LENGTH on. */
static double complex spectrum(guint input, guint64 n, guint channel)
{
  double complex sum = 0;
  for (gint j = 0; j < LENGTH; j++)
    sum += sample(input, n * LENGTH + j) *
           cexp(-2 * G_PI * I * j * ((gint)channel - LENGTH / 2) / LENGTH);
  return sum;
}

static guint check_spectra(GstHarness *h, gboolean time_first, guint64 *next)
{
  GstBuffer *buffer;
  guint disconts = 0;
  while ((buffer = gst_harness_try_pull(h))) {
    guint64 first = GST_BUFFER_OFFSET(buffer), n = GST_BUFFER_OFFSET_END(buffer) - first;
    GstMapInfo map;
    if (*next != G_MAXUINT64 && !GST_BUFFER_IS_DISCONT(buffer))
      g_assert_cmpuint(first, ==, *next);
    *next = first + n;
    disconts += GST_BUFFER_IS_DISCONT(buffer);
    g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, first * LENGTH * GST_MSECOND);
    g_assert_cmpuint(GST_BUFFER_DURATION(buffer), ==, n * LENGTH * GST_MSECOND);
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
    g_assert_cmpuint(map.size, ==, n * INPUTS * LENGTH * 8);
    for (guint64 i = 0; i < n; i++)
      for (guint input = 0; input < INPUTS; input++)
        for (guint k = 0; k < LENGTH; k++) {
          gsize at = time_first ? (i * LENGTH + k) * INPUTS + input : (input * n + i) * LENGTH + k;
          float complex got = ((float complex *)map.data)[at];
          g_assert_cmpfloat(cabs(got - spectrum(input, first + i, k)), <, 1e-5);
        }
    gst_buffer_unmap(buffer, &map);
    gst_buffer_unref(buffer);
  }
  return disconts;
}

/* However the stream is cut, wherever it begins, and across a jump. */
static void test_time(void)
{
  for (guint cut = 1; cut < 40; cut += cut < 14 ? 1 : 7)
    for (guint time_first = 0; time_first < 2; time_first++)
      for (guint64 begin = 0; begin < 25; begin += 8) {
        GstHarness *h = test_harness("astrofft");
        guint64 next = G_MAXUINT64;
        g_object_set(h->element, "length", LENGTH, NULL);
        gst_harness_set_src_caps_str(h, time_first ? VOLTAGES "time:station:pol"
                                                   : VOLTAGES "station:pol:time");
        for (guint64 at = begin; at < begin + 100; at += cut)
          g_assert_cmpint(gst_harness_push(h, voltages(time_first, at, cut)), ==, GST_FLOW_OK);
        guint64 end = begin + (99 / cut + 1) * cut;
        check_spectra(h, time_first, &next);
        g_assert_cmpuint(next, ==, end / LENGTH);
        g_assert_cmpint(gst_harness_push(h, voltages(time_first, 1001, 40)), ==, GST_FLOW_OK);
        g_assert_cmpuint(check_spectra(h, time_first, &next), ==, 1);
        g_assert_cmpuint(next, ==, 1041 / LENGTH);
        gst_harness_push_event(h, gst_event_new_eos());
        g_assert_null(gst_harness_try_pull(h));
        gst_harness_teardown(h);
      }
}

/* Missing samples are taken for zeros, whatever the buffer holds, and are not counted. */
static void test_missing(void)
{
  GstHarness *h = test_harness("astrofft");
  AstroLayout shape = { 2, { ASTRO_AXIS_STATION, ASTRO_AXIS_TIME }, { 2, 30 } };
  g_object_set(h->element, "length", LENGTH, NULL);
  gst_harness_set_src_caps_str(h, VOLTAGES "station:pol:time");
  GstBuffer *in = voltages(FALSE, 0, 30);
  AstroValidityMeta *meta = astro_buffer_add_validity(in, &shape, 5);
  for (guint t = 13; t < 27; t++)
    meta->counts[30 + t] = 0; /* of station 1 */
  gst_harness_push(h, in);
  GstBuffer *gap = voltages(FALSE, 30, 30);
  GST_BUFFER_FLAG_SET(gap, GST_BUFFER_FLAG_GAP);
  gst_harness_push(h, gap);
  guint32 counts[2][5];
  for (guint n = 0; n < 5;) {
    GstBuffer *out = gst_harness_pull(h);
    guint64 spectra = GST_BUFFER_OFFSET_END(out) - GST_BUFFER_OFFSET(out);
    meta = astro_buffer_get_validity(out);
    GstMapInfo map;
    g_assert_nonnull(meta);
    g_assert_cmpuint(meta->full, ==, LENGTH);
    gst_buffer_map(out, &map, GST_MAP_READ);
    for (guint i = 0; i < spectra; i++) {
      for (guint station = 0; station < 2; station++)
        counts[station][n + i] = meta->counts[station * spectra + i];
      /* Spectrum 1 of station 1 only has sample 12 left; the middle channel has the sum. */
      float complex got = ((float complex *)map.data)[(3 * spectra + i) * LENGTH + LENGTH / 2];
      if (n + i == 1)
        g_assert_cmpfloat(cabs(got - sample(3, 12)), <, 1e-6);
    }
    gst_buffer_unmap(out, &map);
    n += spectra;
    gst_buffer_unref(out);
  }
  static const guint32 expected[2][5] = { { 12, 12, 6, 0, 0 }, { 12, 1, 3, 0, 0 } };
  g_assert_cmpmem(counts, sizeof counts, expected, sizeof expected);
  gst_harness_teardown(h);
}

/* There and back: real or complex, any layout, even or odd. */
static void test_back(void)
{
  static const struct {
    const char *caps;
    guint components, length;
  } cases[] = {
    { "format=CF32LE,layout=time:station,stations=3", 6, 16 },
    { "format=CF32LE,layout=time:station,stations=3", 6, 15 },
    { "format=CF64LE,layout=station:time,stations=3", 12, 15 },
    { "format=F32LE,layout=station:time,stations=3", 3, 16 },
    { "format=F32LE,layout=time:station,stations=3", 3, 15 },
    { "format=F64LE,layout=time", 2, 16 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const char *format = strchr(cases[i].caps, '=') + 1;
    gboolean wide = strstr(cases[i].caps, "64LE") != NULL;
    g_autofree char *caps = g_strdup_printf("application/x-astro-voltages,%s,rate=960/1,"
                                            "frequency=5000.0,bandwidth=%s",
                                            cases[i].caps, *format == 'C' ? "960.0" : "480.0");
    g_autofree char *line = g_strdup_printf(
        "astrofft backend=cpu length=%u ! astrofft backend=cpu direction=inverse length=%u ! "
        "capsfilter caps=application/x-astro-voltages,format=%.*s",
        cases[i].length, cases[i].length, (int)(strchr(format, ',') - format), format);
    GstHarness *h = gst_harness_new_parse(line);
    gst_harness_set_src_caps_str(h, caps);
    guint n = 16 * 15 * 3 * (guint)(wide ? 4 : 2); /* components, at least */
    g_autofree double *values = g_new(double, n);
    gpointer block = g_malloc(n * (wide ? 8 : 4));
    for (guint k = 0; k < n; k++) {
      values[k] = sin(k * 1.7) + sin(k * k * 0.3);
      if (wide)
        ((double *)block)[k] = values[k];
      else
        ((float *)block)[k] = (float)values[k];
    }
    GstBuffer *out =
        gst_harness_push_and_pull(h, gst_buffer_new_wrapped(block, n * (wide ? 8 : 4)));
    GstMapInfo map;
    gst_buffer_map(out, &map, GST_MAP_READ);
    g_assert_cmpuint(map.size, ==, n * (wide ? 8 : 4));
    for (guint k = 0; k < n; k++)
      g_assert_cmpfloat_with_epsilon(wide ? ((double *)map.data)[k] : ((float *)map.data)[k],
                                     values[k], wide ? 1e-14 : 1e-6);
    gst_buffer_unmap(out, &map);
    gst_buffer_unref(out);
    g_autoptr(GstCaps) got = gst_pad_get_current_caps(h->sinkpad);
    const GstStructure *s = gst_caps_get_structure(got, 0);
    double frequency = 0, bandwidth = 0;
    gint rate_n = 0, rate_d = 0;
    gst_structure_get_double(s, "frequency", &frequency);
    gst_structure_get_double(s, "bandwidth", &bandwidth);
    gst_structure_get_fraction(s, "rate", &rate_n, &rate_d);
    g_assert_cmpfloat_with_epsilon(frequency, 5000, 1e-9);
    g_assert_cmpfloat_with_epsilon(bandwidth, *format == 'C' ? 960 : 480, 1e-9);
    g_assert_cmpint(rate_n, ==, 960);
    gst_harness_teardown(h);
  }
}

/* A tone is in the channel that the caps say. */
static void test_frequencies(void)
{
  static const struct {
    const char *format;
    guint length;
    double rate, low; /* Hz: rate of samples, and lower edge of the band */
  } cases[] = { { "CF32LE", 16, 1000, 4500 },
                { "CF32LE", 15, 1000, 4500 },
                { "F32LE", 16, 2000, 4500 },
                { "F32LE", 15, 2000, 4500 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    gboolean real = cases[i].format[0] == 'F';
    guint length = cases[i].length;
    for (guint k = 1; k < length / 2; k++) {
      GstHarness *h = test_harness("astrofft");
      g_autofree char *caps_text = g_strdup_printf(
          "application/x-astro-voltages,format=%s,layout=time,rate=%g/1,frequency=5000.0,"
          "bandwidth=1000.0",
          cases[i].format, cases[i].rate);
      g_object_set(h->element, "length", length, NULL);
      gst_harness_set_src_caps_str(h, caps_text);
      float *in = g_new(float, 2 * length);
      double turns = (double)k / length;
      for (guint t = 0; t < length; t++)
        if (real) {
          in[t] = (float)cos(2 * G_PI * turns * t);
        } else {
          in[2 * t] = (float)cos(2 * G_PI * turns * t);
          in[2 * t + 1] = (float)sin(2 * G_PI * turns * t);
        }
      GstBuffer *out =
          gst_harness_push_and_pull(h, gst_buffer_new_wrapped(in, length * (real ? 4 : 8)));
      g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
      const GstStructure *s = gst_caps_get_structure(caps, 0);
      double frequency = 0, bandwidth = 0;
      gint channels = 0;
      GstMapInfo map;
      gst_structure_get_double(s, "frequency", &frequency);
      gst_structure_get_double(s, "bandwidth", &bandwidth);
      gst_structure_get_int(s, "channels", &channels);
      double tone = (real ? cases[i].low : cases[i].low + 500) + turns * cases[i].rate;
      double at = (tone - frequency + bandwidth / 2) / bandwidth * channels - 0.5;
      gst_buffer_map(out, &map, GST_MAP_READ);
      g_assert_cmpuint(map.size, ==, channels * 8);
      for (gint c = 0; c < channels; c++)
        g_assert_cmpfloat_with_epsilon(cabsf(((float complex *)map.data)[c]),
                                       fabs(c - at) < 1e-6 ? length / (real ? 2.0 : 1.0) : 0, 1e-4);
      gst_buffer_unmap(out, &map);
      gst_buffer_unref(out);
      gst_harness_teardown(h);
    }
  }
}

/* If zero frequency is not in the middle, channel 0 is the centre of the band, which caps cannot
 * express. */
static void test_not_centred(void)
{
  GstHarness *h = test_harness("astrofft");
  g_object_set(h->element, "length", 8, NULL);
  gst_util_set_object_arg(G_OBJECT(h->element), "centred", "false");
  gst_harness_set_src_caps_str(h, VOLTAGES "station:pol:time");
  GstBuffer *out = gst_harness_push_and_pull(h, voltages(FALSE, 0, 8));
  float complex sum = 0, got;
  for (guint t = 0; t < 8; t++)
    sum += sample(0, t);
  gst_buffer_extract(out, 0, &got, sizeof got);
  g_assert_cmpfloat(cabsf(got - sum), <, 1e-5);
  gst_buffer_unref(out);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_assert_false(gst_structure_has_field(gst_caps_get_structure(caps, 0), "frequency"));
  gst_harness_teardown(h);
}

/* Two blocks through transforms of 4 steps. */
static GstBuffer *transform_losses(const char *layout, gboolean told)
{
  enum { STEPS = 10, STATIONS = 3, POLS = 2 };
  GstHarness *h = gst_harness_new_parse("astrofft backend=cpu axes=time length=4");
  g_autofree char *text = g_strdup_printf("application/x-astro-voltages,format=CF32LE,layout=%s,"
                                          "stations=%d,pols=%d,rate=1/1",
                                          layout, STATIONS, POLS);
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  AstroStream stream;
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES];
  GstBuffer *all = gst_buffer_new(), *out;
  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  astro_stream_shape(&stream, STEPS, &shape);
  astro_layout_strides(&shape, strides);
  gint time = astro_layout_find(&shape, ASTRO_AXIS_TIME);
  gint stations = astro_layout_find(&shape, ASTRO_AXIS_STATION);
  gst_harness_set_src_caps(h, gst_caps_ref(caps));
  for (guint block = 0; block < 2; block++) {
    float samples[STEPS * STATIONS * POLS][2];
    AstroLayout counted = { 2, { ASTRO_AXIS_STATION, ASTRO_AXIS_TIME }, { STATIONS, STEPS } };
    if (stations > time)
      counted = (AstroLayout){ 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION }, { STEPS, STATIONS } };
    GstBuffer *in = gst_buffer_new_allocate(NULL, sizeof samples, NULL);
    AstroValidityMeta *meta = told ? astro_buffer_add_validity(in, &counted, 1) : NULL;
    for (guint i = 0; i < G_N_ELEMENTS(samples); i++) {
      guint t = (guint)(i / strides[time] % STEPS), station = i / strides[stations] % STATIONS;
      gboolean lost = station != 1 && (t + block + station) % 4 < 2;
      samples[i][0] = lost && !told ? 0 : (float)i;
      samples[i][1] = lost && !told ? 0 : -1;
      if (told)
        meta->counts[stations > time ? t * STATIONS + station : station * STEPS + t] = !lost;
    }
    gst_buffer_fill(in, 0, samples, sizeof samples);
    g_assert_cmpint(gst_harness_push(h, in), ==, GST_FLOW_OK);
  }
  while ((out = gst_harness_try_pull(h)))
    all = gst_buffer_append(all, out);
  gst_harness_teardown(h);
  return all;
}

/* Samples marked as lost count as zeros, wherever the station's samples are. */
static void test_losses(void)
{
  static const char *const layouts[] = { "time:station:pol", "station:pol:time", "pol:time:station",
                                         "time:pol:station", "station:time:pol" };
  for (guint i = 0; i < G_N_ELEMENTS(layouts); i++) {
    g_autoptr(GstBuffer) told = transform_losses(layouts[i], TRUE);
    g_autoptr(GstBuffer) zeros = transform_losses(layouts[i], FALSE);
    GstMapInfo a, b;
    gst_buffer_map(told, &a, GST_MAP_READ);
    gst_buffer_map(zeros, &b, GST_MAP_READ);
    g_assert_cmpuint(a.size, ==, 5 * 4 * 3 * 2 * 8);
    g_assert_cmpmem(a.data, a.size, b.data, b.size);
    gst_buffer_unmap(told, &a);
    gst_buffer_unmap(zeros, &b);
  }
}

static void test_latency(void)
{
  GstHarness *h = test_harness("astrofft");
  GstClockTime least, most;
  gboolean live;
  g_object_set(h->element, "length", LENGTH, NULL);
  gst_harness_set_src_caps_str(h, VOLTAGES "station:pol:time");
  gst_harness_push(h, voltages(FALSE, 0, 10));
  GstQuery *query = gst_query_new_latency();
  g_assert_true(gst_pad_peer_query(h->sinkpad, query));
  gst_query_parse_latency(query, &live, &least, &most);
  g_assert_cmpuint(least, ==, (LENGTH - 1) * GST_MSECOND);
  gst_query_unref(query);
  g_object_set(h->element, "length", 2 * LENGTH, NULL); /* for the next caps */
  gst_harness_push(h, voltages(FALSE, 10, 10));
  g_assert_cmpuint(gst_harness_query_latency(h), ==, (LENGTH - 1) * GST_MSECOND);
  gst_harness_teardown(h);
}

static void test_late_settings(void)
{
  test_refuses_late("astrofft backend=cpu length=8", "length", "16", VOLTAGES "station:pol:time");
  test_refuses_late("astrofft backend=cpu", "axes", "v",
                    "application/x-astro-uvgrid,format=CF32LE,layout=v:u,width=4,height=4");
}

/* Lets the process take that many more bytes than it has; returns the limit before. */
static struct rlimit limit_memory(guint64 more)
{
  struct rlimit before, small;
  g_assert_cmpint(getrlimit(RLIMIT_AS, &before), ==, 0);
  small = before;
  small.rlim_cur = peak_status("VmSize:") + more;
  g_assert_cmpint(setrlimit(RLIMIT_AS, &small), ==, 0);
  return before;
}

/* There is memory for the spectra, but not for the samples that parts of two blocks make up. */
static void test_no_memory(void)
{
  enum { STATIONS = 65536, TRANSFORM = 128 };
  const gsize step = STATIONS * 8, bytes = TRANSFORM * step;
  GstHarness *h = gst_harness_new_parse("astrofft backend=cpu axes=time length=128");
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  gst_harness_set_src_caps_str(
      h, "application/x-astro-voltages,format=CF32LE,layout=time:station,stations=65536");
  GstBuffer *most = gst_buffer_new_wrapped(g_malloc0(bytes - step), bytes - step);
  GstBuffer *rest = gst_buffer_new_wrapped(g_malloc0(step), step);
  g_assert_cmpint(gst_harness_push(h, most), ==, GST_FLOW_OK);

  const struct rlimit before = limit_memory(bytes * 3 / 2);
  const GstFlowReturn flow = gst_harness_push(h, rest);
  setrlimit(RLIMIT_AS, &before);
  g_assert_cmpint(flow, ==, GST_FLOW_ERROR);
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_autoptr(GError) error = NULL;
  gst_message_parse_error(message, &error, NULL);
  g_assert_cmpstr(error->message, ==, "no memory for a block of 67108864 bytes");
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

static void add_tests(void)
{
  g_test_add_func("/astrofft/time", test_time);
  g_test_add_func("/astrofft/missing", test_missing);
  g_test_add_func("/astrofft/back", test_back);
  g_test_add_func("/astrofft/frequencies", test_frequencies);
  g_test_add_func("/astrofft/not-centred", test_not_centred);
  g_test_add_func("/astrofft/losses", test_losses);
  g_test_add_func("/astrofft/latency", test_latency);
  g_test_add_func("/astrofft/late-settings", test_late_settings);
  g_test_add_func("/astrofft/no-memory", test_no_memory);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
