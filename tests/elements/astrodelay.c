/* The element: samples that are held come out at the end, times go on, gaps and losses are marked;
 * and errors. */
#include "core/lib/sky/array.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"
#include "tests/observe.h"
#include <glib/gstdio.h>

#define VOLTAGES                                                                                   \
  "application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=3,pols=1,"             \
  "rate=1000000/1,frequency=1.5e8,bandwidth=1e6"
#define SPECTRA                                                                                    \
  "application/x-astro-spectra,format=CF32LE,layout=time:station:pol:channel,stations=3,pols=1,"   \
  "channels=4,rate=250000/1,frequency=1.5e8,bandwidth=1e6"

static void push_observation_at(GstHarness *h, guint stations, double ra)
{
  g_autoptr(AstroObservation) observation = astro_array_new("lofar-like", stations, NULL, NULL);
  g_assert_true(astro_observation_set_start(observation, "2026-11-20T12:00:00", NULL));
  observation->has_phase_centre = TRUE;
  observation->phase_ra = ra;
  observation->phase_dec = 1.2;
  observation->earth = astro_earth_new_none(); /* as simulators set it, so that there is no
                                                * warning */
  gst_harness_push_event(h, astro_observation_to_event(observation));
}

static void push_observation(GstHarness *h, guint stations)
{
  push_observation_at(h, stations, 3);
}

static GstBuffer *block(guint64 first, guint steps)
{
  GstBuffer *buffer = test_buffer(steps * 6, (guint32)first);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + steps;
  GST_BUFFER_PTS(buffer) = first * 1000;
  return buffer;
}

static GstHarness *new_harness(const char *caps)
{
  GstHarness *h = gst_harness_new("astrodelay");
  gst_harness_set_src_caps_str(h, caps);
  push_observation(h, 3);
  return h;
}

/* All output, checked for times that go on. first: index of the first block, then of the end. */
static GByteArray *pull_run(GstHarness *h, guint64 *first)
{
  GByteArray *bytes = g_byte_array_new();
  GstBuffer *buffer;
  guint64 next = *first;
  while ((buffer = gst_harness_try_pull(h))) {
    GstMapInfo map;
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, next);
    g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, next * 1000);
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
    next = GST_BUFFER_OFFSET_END(buffer);
    g_assert_cmpuint(map.size, ==, (next - GST_BUFFER_OFFSET(buffer)) * 6);
    g_assert_cmpuint(GST_BUFFER_DURATION(buffer), ==, map.size / 6 * 1000);
    g_byte_array_append(bytes, map.data, (guint)map.size);
    gst_buffer_unmap(buffer, &map);
    gst_buffer_unref(buffer);
  }
  *first = next;
  return bytes;
}

/* The output for a block at a time, whose steps are counted from there or from the start. */
static GByteArray *at_time(const char *caps, guint bytes, GstClockTime time, guint64 offset)
{
  GstHarness *h = new_harness(caps);
  GstBuffer *in = test_buffer(bytes, 3);
  GST_BUFFER_PTS(in) = time;
  GST_BUFFER_OFFSET(in) = offset;
  g_assert_cmpint(gst_harness_push(h, in), ==, GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_eos());
  GByteArray *out = test_pull_all(h);
  gst_harness_teardown(h);
  return out;
}

/* Delays follow the time, wherever steps are counted from. */
static void test_steps_from_elsewhere(void)
{
  static const struct {
    const char *caps;
    guint bytes;
    guint64 rate;
  } streams[] = { { VOLTAGES, 6 * 3000, 1000000 }, { SPECTRA, 96 * 10, 250000 } };
  for (guint i = 0; i < G_N_ELEMENTS(streams); i++) {
    const char *caps = streams[i].caps;
    const guint bytes = streams[i].bytes;
    const GstClockTime hour = 3600 * GST_SECOND;
    g_autoptr(GByteArray) expected = at_time(caps, bytes, hour, 3600 * streams[i].rate);
    g_autoptr(GByteArray) found = at_time(caps, bytes, hour, 0);
    g_autoptr(GByteArray) earlier = at_time(caps, bytes, 0, 0);
    g_assert_cmpuint(expected->len, ==, bytes);
    g_assert_cmpmem(found->data, found->len, expected->data, expected->len);
    g_assert_true(memcmp(earlier->data, expected->data, bytes) != 0);
  }
}

/* Steps that a new segment counts anew go on in time, and samples that were held keep their
 * times. */
static void test_counted_anew(void)
{
  GstHarness *h = new_harness(VOLTAGES);
  GstClockTime next = 0;
  GstSegment segment;
  GstBuffer *buffer;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  for (guint i = 0; i < 3; i++) {
    buffer = block(0, 1000);
    GST_BUFFER_PTS(buffer) = i * GST_MSECOND;
    segment.base = i * GST_MSECOND;
    gst_harness_push_event(h, gst_event_new_segment(&segment));
    gst_harness_push(h, buffer);
  }
  gst_harness_push_event(h, gst_event_new_eos());
  while ((buffer = gst_harness_try_pull(h))) {
    g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, next);
    next += GST_BUFFER_DURATION(buffer);
    gst_buffer_unref(buffer);
  }
  g_assert_cmpuint(next, ==, 3 * GST_MSECOND);
  gst_harness_teardown(h);
}

/* The latency is known with the observation, after there are caps. */
static void test_latency(void)
{
  GstHarness *h = gst_harness_new("astrodelay");
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_harness_set_src_caps_str(h, VOLTAGES);
  gst_element_set_bus(h->element, bus);
  g_assert_cmpuint(gst_harness_query_latency(h), ==, 0);
  push_observation(h, 3);
  g_assert_true(test_tells_latency(bus));
  g_assert_cmpuint(gst_harness_query_latency(h), >, 0);
  gst_harness_push(h, block(0, 100));
  gst_harness_push(h, block(100, 100));
  g_assert_false(test_tells_latency(bus));
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

/* However the stream is cut, the same samples come out, as many as went in. */
static void test_cuts(void)
{
  enum { STEPS = 20000 };
  g_autoptr(GByteArray) whole = NULL;
  static guint8 sent[STEPS * 6];
  test_fill(sent, sizeof sent, 3);
  for (guint round = 0; round < 3; round++) {
    GstHarness *h = new_harness(VOLTAGES);
    for (guint at = 0; at < STEPS;) {
      guint some = (guint)g_test_rand_int_range(1, 6000), n = round ? MIN(some, STEPS - at) : STEPS;
      GstBuffer *buffer = gst_buffer_new_memdup(sent + at * 6, n * 6);
      GST_BUFFER_OFFSET(buffer) = 3000000 + at;
      GST_BUFFER_OFFSET_END(buffer) = 3000000 + at + n;
      GST_BUFFER_PTS(buffer) = (3000000 + (guint64)at) * 1000;
      g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
      at += n;
    }
    gst_harness_push_event(h, gst_event_new_eos());
    guint64 next = 3000000;
    g_autoptr(GByteArray) got = pull_run(h, &next);
    g_assert_cmpuint(next, ==, 3000000 + STEPS);
    if (whole)
      g_assert_cmpmem(got->data, got->len, whole->data, whole->len);
    else
      whole = g_steal_pointer(&got);
    gst_harness_teardown(h);
  }
}

static guint64 n_bad(GstHarness *h, guint64 *total)
{
  GstBuffer *buffer;
  guint64 bad = 0;
  *total = 0;
  while ((buffer = gst_harness_try_pull(h))) {
    AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
    *total += gst_buffer_get_size(buffer) / 6;
    for (guint64 i = 0; meta && i < astro_layout_samples(&meta->shape); i++)
      bad += meta->counts[i] == 0;
    gst_buffer_unref(buffer);
  }
  return bad;
}

/* At the ends a delay reaches for samples that never existed: these are marked. A jump has two more
 * ends; a gap stays one gap. */
static void test_losses(void)
{
  guint64 total, ends;
  GstHarness *h = new_harness(VOLTAGES);
  gst_harness_push(h, block(0, 5000));
  gst_harness_push(h, block(5000, 5000));
  gst_harness_push_event(h, gst_event_new_eos());
  ends = n_bad(h, &total);
  g_assert_cmpuint(total, ==, 10000);
  g_assert_cmpuint(ends, >, 3 * 17);
  g_assert_cmpuint(ends, <, 3 * 400);
  gst_harness_teardown(h);

  h = new_harness(VOLTAGES);
  gst_harness_push(h, block(0, 5000));
  gst_harness_push(h, block(6000, 5000));
  gst_harness_push_event(h, gst_event_new_eos());
  guint64 jumped = n_bad(h, &total);
  g_assert_cmpuint(total, ==, 10000);
  g_assert_cmpuint(jumped, >=, 2 * ends - 6);
  g_assert_cmpuint(jumped, <=, 2 * ends + 6);
  gst_harness_teardown(h);

  h = new_harness(VOLTAGES);
  gst_harness_push(h, block(0, 5000));
  GstBuffer *gap = block(5000, 1000);
  GST_BUFFER_FLAG_SET(gap, GST_BUFFER_FLAG_GAP);
  gst_harness_push(h, gap);
  gst_harness_push(h, block(6000, 5000));
  gst_harness_push_event(h, gst_event_new_eos());
  guint64 gapped = n_bad(h, &total);
  g_assert_cmpuint(total, ==, 11000);
  g_assert_cmpuint(gapped, >=, ends + 3 * 1000);
  g_assert_cmpuint(gapped, <=, ends + 3 * 1050);
  gst_harness_teardown(h);
}

/* After a flush nothing from before is left; a new observation and new caps end what was held. */
static void test_interruptions(void)
{
  GstHarness *h = new_harness(VOLTAGES);
  gst_harness_push(h, block(0, 5000));
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  while (gst_harness_buffers_in_queue(h))
    gst_buffer_unref(gst_harness_pull(h));
  gst_harness_push(h, block(9000, 5000));
  push_observation(h, 3);
  gst_harness_push(h, block(14000, 5000));
  gst_harness_push_event(h, gst_event_new_eos());
  guint64 next = 9000;
  g_autoptr(GByteArray) got = pull_run(h, &next);
  g_assert_cmpuint(next, ==, 19000);
  g_assert_cmpuint(got->len, ==, 10000 * 6);
  gst_harness_teardown(h);
}

/* After how many steps the first event of an observation after a buffer comes. */
static GstPadProbeReturn note_observation(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  guint64 *steps = data;
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    steps[0] = GST_BUFFER_OFFSET_END(GST_PAD_PROBE_INFO_BUFFER(info));
  else if (astro_event_is_observation(GST_PAD_PROBE_INFO_EVENT(info)))
    steps[1] = steps[0];
  return GST_PAD_PROBE_OK;
}

/* A new observation comes after all that belongs to the one before, with its own first block; the
 * same one again changes nothing. */
static void test_observations_in_order(void)
{
  GstHarness *h = new_harness(VOLTAGES);
  guint64 steps[2] = { 0 };
  gst_pad_add_probe(h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
                    note_observation, steps, NULL);
  gst_harness_push(h, block(0, 5000));
  push_observation(h, 3);
  g_assert_cmpuint(steps[1], <, 5000);
  gst_harness_push(h, block(5000, 5000));
  push_observation_at(h, 3, 3.1);
  gst_harness_push(h, block(10000, 100));
  g_assert_cmpuint(steps[1], ==, 10000);
  gst_harness_teardown(h);
}

static void test_spectra(void)
{
  GstHarness *h = new_harness(SPECTRA);
  g_autofree float *ones = g_new(float, 2 * 12 * 100);
  for (guint i = 0; i < 12 * 100; i++) {
    ones[2 * i] = 1;
    ones[2 * i + 1] = 0;
  }
  GstBuffer *in = gst_buffer_new_memdup(ones, 96 * 100);
  GST_BUFFER_OFFSET(in) = 40;
  GST_BUFFER_OFFSET_END(in) = 140;
  gst_harness_push(h, in);
  gst_harness_push_event(h, gst_event_new_eos()); /* a device holds blocks back until then */
  g_autoptr(GstBuffer) out = gst_harness_pull(h);
  GstMapInfo map;
  g_assert_true(gst_buffer_map(out, &map, GST_MAP_READ));
  g_assert_cmpuint(map.size, ==, 9600);
  g_assert_cmpuint(GST_BUFFER_OFFSET(out), ==, 40);
  gboolean turned = FALSE;
  for (guint i = 0; i < 12 * 100; i++) {
    const float *z = (const float *)map.data + 2 * i;
    g_assert_cmpfloat_with_epsilon(z[0] * z[0] + z[1] * z[1], 1, 1e-5f);
    turned |= z[0] < 0.5f;
  }
  g_assert_true(turned);
  gst_buffer_unmap(out, &map);
  gst_harness_teardown(h);
}

static void test_format(void)
{
  GstHarness *h = gst_harness_new("astrodelay");
  gst_harness_set_sink_caps_str(h, "application/x-astro-voltages,format={CF32LE,CI4}");
  gst_harness_set_src_caps_str(h, VOLTAGES);
  push_observation(h, 3);
  gst_harness_push(h, block(0, 5000));
  gst_harness_push_event(h, gst_event_new_eos());
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(caps, 0), "format"), ==,
                  "CF32LE");
  g_autoptr(GstBuffer) out = gst_harness_pull(h);
  g_assert_cmpuint(gst_buffer_get_size(out), ==,
                   (GST_BUFFER_OFFSET_END(out) - GST_BUFFER_OFFSET(out)) * 24);
  gst_harness_teardown(h);
}

/* Four bits cannot hold a small rotation: they are only used if downstream takes nothing else. */
static void test_four_bits(void)
{
  static const struct {
    const char *in, *taken, *out;
  } cases[] = { { "CI4", "{CI4,CI8,CF32LE}", "CF32LE" },
                { "CI4", "{CI4,CI16LE}", "CI4" },
                { "CI8", "{CF32LE,CI8}", "CI8" },
                { "I8", "{CF32LE,F32LE,I8}", "I8" },
                { "I16LE", "{CI16LE,F32LE}", "F32LE" } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    for (guint spectra = 0; spectra < (cases[i].in[0] == 'C' ? 2 : 1); spectra++) {
      const char *type = spectra ? "spectra" : "voltages", *axis = spectra ? ":channel" : "";
      g_autofree char *in = g_strdup_printf(
          "application/x-astro-%s,format=%s,layout=time:station:pol%s,stations=3,pols=1%s,"
          "rate=%u/1,frequency=1.5e8,bandwidth=1e6",
          type, cases[i].in, axis, spectra ? ",channels=4" : "", spectra ? 250000 : 2000000);
      g_autofree char *taken =
          g_strdup_printf("application/x-astro-%s,format=%s", type, cases[i].taken);
      GstHarness *h = gst_harness_new("astrodelay");
      gst_harness_set_sink_caps_str(h, taken);
      gst_harness_set_src_caps_str(h, in);
      g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
      g_assert_nonnull(caps);
      g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(caps, 0), "format"), ==,
                      cases[i].out);
      gst_harness_teardown(h);
    }
  }
}

static char *write_file(const char *text)
{
  char *path = g_build_filename(g_get_tmp_dir(), "calibration-XXXXXX", NULL);
  gint fd = g_mkstemp(path);
  g_assert_cmpint(fd, >=, 0);
  g_assert_true(g_close(fd, NULL));
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  return path;
}

static void test_no_observation(void)
{
  GstHarness *h = gst_harness_new("astrodelay");
  gst_harness_set_src_caps_str(h, VOLTAGES);
  g_assert_cmpint(gst_harness_push(h, block(0, 100)), ==, GST_FLOW_ERROR);
  push_observation(h, 4);
  g_assert_cmpint(gst_harness_push(h, block(0, 100)), ==, GST_FLOW_ERROR);
  push_observation(h, 3);
  g_assert_cmpint(gst_harness_push(h, block(0, 100)), ==, GST_FLOW_OK);
  gst_harness_teardown(h);
}

/* Amplitudes that a file divides by may make integers saturate or vanish, which would pass
 * unnoticed: 100 and more of 127 divided by 0.1. */
static void test_calibrated_format(void)
{
  static const char *const taken[][2] = { { "{CI8,CI16LE,CF32LE}", "CF32LE" },
                                          { "{CI8,CI16LE}", "CI8" } };
  g_autofree char *path = write_file("gain * * 0.1\n");
  for (guint i = 0; i < G_N_ELEMENTS(taken); i++) {
    g_autofree char *caps = g_strdup_printf("application/x-astro-voltages,format=%s", taken[i][0]);
    GstHarness *h = gst_harness_new("astrodelay");
    g_object_set(h->element, "calibration", path, NULL);
    gst_harness_set_sink_caps_str(h, caps);
    gst_harness_set_src_caps_str(h, VOLTAGES);
    g_autoptr(GstCaps) made = gst_pad_get_current_caps(h->sinkpad);
    g_assert_nonnull(made);
    g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(made, 0), "format"), ==,
                    taken[i][1]);
    gst_harness_teardown(h);
  }
  g_unlink(path);
}

static void test_errors(void)
{
  g_autofree char *bad = write_file("gain A001 0 1\ndelay B 0 1\n"),
                  *band = write_file("bandpass 1 1\n");
  g_autofree char *good = write_file("gain * * 2\n"), *other = write_file("gain * * 3\n");
  struct {
    char *line, *says;
  } cases[] = {
    { g_strdup("astroskysrc num-buffers=1 stations=3 ! astrodelay calibration=/no/such ! fakesink"),
      g_strdup("/no/such") },
    { g_strdup_printf("astroskysrc num-buffers=1 stations=3 ! astrodelay calibration=%s ! fakesink",
                      bad),
      g_strdup_printf("%s:2: no input is station \"B\"", bad) },
    { g_strdup_printf("astroskysrc num-buffers=1 stations=3 ! astrodelay calibration=%s ! "
                      "astrochannelizer channels=4 ! astrodelay ! astrocorrelator integration=10 ! "
                      "fakesink",
                      band),
      g_strdup("can only be undone on spectra") },
    { g_strdup_printf("astroskysrc num-buffers=1 stations=3 ! astrodelay calibration=%s ! "
                      "astrochannelizer channels=4 ! astrodelay calibration=%s ! "
                      "astrocorrelator integration=10 ! fakesink",
                      band, band),
      NULL },
    { g_strdup_printf("astroskysrc num-buffers=2 stations=3 ! astrodelay calibration=%s ! "
                      "astrodelay backend=reference ! fakesink",
                      good),
      NULL },
    { g_strdup_printf("astroskysrc num-buffers=2 stations=3 ! astrodelay calibration=%s ! "
                      "astrodelay calibration=%s ! fakesink",
                      good, other),
      g_strdup("the gains and delays of another calibration have been undone") },
    { g_strdup_printf("astroskysrc num-buffers=2 stations=3 ! application/x-astro-voltages,"
                      "format=CI8 ! astrodelay ! application/x-astro-voltages,format=CI8 ! "
                      "astrodelay ! application/x-astro-voltages,format=CF32LE ! fakesink"),
      g_strdup("expected astroconvert for CI8 to CF32LE") },
    /* MHz taken for Hz; and a band from 0 Hz on */
    { g_strdup("fakesrc num-buffers=1 sizetype=fixed sizemax=6 ! application/x-astro-voltages,"
               "format=CI8,layout=time:station,stations=3,rate=1000000/1,frequency=150.0,"
               "bandwidth=1e6 ! astroobserve array=disc phase-centre=zenith "
               "start-time=2026-11-20T12:00:00 ! astrodelay ! fakesink"),
      g_strdup("frequency=150 Hz, expected the centre of the band, at least 500000 Hz of a "
               "bandwidth of 1000000 Hz") },
    { g_strdup("fakesrc num-buffers=1 sizetype=fixed sizemax=6 ! application/x-astro-voltages,"
               "format=CI8,layout=time:station,stations=3,rate=1000000/1,frequency=5e5,"
               "bandwidth=1e6 ! astroobserve array=disc phase-centre=zenith "
               "start-time=2026-11-20T12:00:00 ! astrodelay ! fakesink"),
      NULL },
    { g_strdup("fakesrc num-buffers=1 sizetype=fixed sizemax=6 ! application/x-astro-voltages,"
               "format=CI8,layout=time:station,stations=3,rate=1000000/1,frequency=150e6,"
               "bandwidth=1e7 ! astroobserve array=disc phase-centre=zenith "
               "start-time=2026-11-20T12:00:00 ! astrodelay ! fakesink"),
      g_strdup("bandwidth=10000000 Hz, expected at most 1000000 Hz") },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *found = test_launch(cases[i].line);
    if (!cases[i].says)
      g_assert_cmpstr(found, ==, NULL);
    else
      test_says(found, cases[i].says);
    g_free(cases[i].line);
    g_free(cases[i].says);
  }
  g_unlink(bad);
  g_unlink(band);
  g_unlink(good);
  g_unlink(other);
}

/* An astrodelay with nothing to do holds nothing back. */
static void test_passes(void)
{
  GstHarness *h = test_harness("astrodelay");
  g_autoptr(AstroObservation) o = test_observe("disc", 3);
  o->done.delays = ASTRO_DELAYS_OUT;
  gst_harness_set_src_caps_str(h, VOLTAGES);
  gst_harness_push_event(h, astro_observation_to_event(o));
  GstBuffer *in = block(0, 100);
  g_autoptr(GstBuffer) out = gst_harness_push_and_pull(h, in);
  g_assert_true(out == in);
  g_assert_cmpuint(gst_harness_query_latency(h), ==, 0);
  /* and one that has something to do again works again */
  o->done.delays = ASTRO_DELAYS_IN;
  gst_harness_push_event(h, astro_observation_to_event(o));
  gst_harness_push(h, block(100, 5000));
  g_autoptr(GstBuffer) later = gst_harness_pull(h);
  g_assert_cmpuint(GST_BUFFER_OFFSET(later), ==, 100);
  g_assert_cmpuint(gst_buffer_get_size(later), <, 5000 * 6);
  g_assert_cmpuint(gst_harness_query_latency(h), >, 0);
  gst_harness_teardown(h);
}

static GByteArray *run_to_end(const char *line)
{
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GByteArray *bytes = g_byte_array_new();
  GstSample *sample;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (g_signal_emit_by_name(sink, "try-pull-sample", TEST_PATIENCE, &sample), sample) {
    GstMapInfo map;
    g_assert_true(gst_buffer_map(gst_sample_get_buffer(sample), &map, GST_MAP_READ));
    g_byte_array_append(bytes, map.data, (guint)map.size);
    gst_buffer_unmap(gst_sample_get_buffer(sample), &map);
    gst_sample_unref(sample);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return bytes;
}

#define SKY                                                                                        \
  "astroskysrc num-buffers=3 block-steps=5000 stations=3 pols=1 array=lofar-like sky=0.01,0,5 "    \
  "phase-centre=200,50 ! application/x-astro-voltages,format=%s ! astrodelay %s ! "
#define SINK "appsink name=sink sync=false"

/* A second astrodelay does not repeat what the first did, to the last bit: for voltages, for
 * spectra after it, and for formats that it would otherwise have converted. */
static void test_in_a_row(void)
{
  static const char *const formats[] = { "CF32LE", "CI8", "CI4", "F32LE" };
  static const struct {
    const char *between;
    gboolean is_calibrated;
  } after[] = { { "identity", FALSE },
                { "identity", TRUE },
                { "astrochannelizer channels=8", FALSE },
                { "astrochannelizer channels=8", TRUE } };
  g_autofree char *path = write_file("gain A002 * 0.5 45\ndelay A001 * 300\n"),
                  *set = g_strdup_printf("calibration=%s", path);
  for (guint i = 0; i < G_N_ELEMENTS(formats) * G_N_ELEMENTS(after); i++) {
    const char *format = formats[i / G_N_ELEMENTS(after)];
    const char *between = after[i % G_N_ELEMENTS(after)].between;
    const char *settings = after[i % G_N_ELEMENTS(after)].is_calibrated ? set : "";
    g_autofree char *begin = g_strdup_printf(SKY, format, set);
    g_autofree char *once = g_strconcat(begin, between, " ! " SINK, NULL);
    g_autofree char *twice =
        g_strconcat(begin, between, " ! astrodelay ", settings, " ! " SINK, NULL);
    g_autoptr(GByteArray) expected = run_to_end(once), found = run_to_end(twice);
    g_assert_cmpuint(expected->len, >, 0);
    g_assert_cmpmem(found->data, found->len, expected->data, expected->len);
  }
  g_unlink(path);
}

/* With a file it would convert integers to floats, negotiated before the observation shows that
 * there is nothing to do: integers then pass unchanged. */
static void test_keeps_format(void)
{
  g_autofree char *path = write_file("gain A002 * 0.5 45\n");
  g_autofree char *set = g_strdup_printf("calibration=%s", path);
  g_autofree char *first =
      g_strdup_printf(SKY "application/x-astro-voltages,format=CI8 ! ", "CF32LE", set);
  g_autofree char *once = g_strconcat(first, SINK, NULL),
                  *twice = g_strconcat(first, "astrodelay ", set, " ! " SINK, NULL);
  g_autoptr(GByteArray) expected = run_to_end(once), found = run_to_end(twice);
  g_assert_cmpmem(found->data, found->len, expected->data, expected->len);
  g_unlink(path);
}

/* The format changes while it runs. */
static void test_unknown_format(void)
{
  test_refused_by("fakesrc num-buffers=1 sizetype=fixed sizemax=24 ! typefind force-caps=\""
                  "application/x-astro-voltages,format=F64LE,layout=time:station,stations=3\" ! "
                  "astrodelay ! fakesink",
                  "astrodelay",
                  "input: format F64LE, expected CI4, CI8, CI16LE or CF32LE, or I8, I16LE or "
                  "F32LE");
}

/* Only the first beam would be delayed. */
static void test_beams(void)
{
  test_refused_by("fakesrc num-buffers=1 sizetype=fixed sizemax=24 ! application/x-astro-voltages,"
                  "format=CI8,layout=time:beam,beams=3,rate=1000/1,frequency=1e8,bandwidth=1000.0 "
                  "! astroobserve array=disc start-time=2026-11-20T12:00:00 phase-centre=zenith ! "
                  "astrodelay ! fakesink",
                  "astrodelay", "the layout has an axis of beams");
}

/* Spectra that are not much longer than the delays lose the samples in between: one warning says
 * so. */
static void test_warns_of_loss(void)
{
  static const struct {
    const char *rate;
    gboolean warns;
  } cases[] = { { "250000/1", TRUE }, { "10000/1", TRUE }, { "10/1", FALSE } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *caps = g_strdup_printf(
        "application/x-astro-spectra,format=CF32LE,layout=time:station:pol:channel,stations=3,"
        "pols=1,channels=4,rate=%s,frequency=1.5e8,bandwidth=1e6",
        cases[i].rate);
    GstHarness *h = new_harness(caps);
    GstBus *bus = gst_bus_new();
    gst_element_set_bus(h->element, bus);
    for (guint b = 0; b < 2; b++)
      g_assert_cmpint(gst_harness_push(h, test_buffer(96, b)), ==, GST_FLOW_OK);
    GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING);
    g_assert_cmpint(message != NULL, ==, cases[i].warns);
    if (message) {
      g_autoptr(GError) warning = NULL;
      gst_message_parse_warning(message, &warning, NULL);
      g_assert_nonnull(strstr(warning->message, "Upstream of the channelizer"));
      gst_message_unref(message);
    }
    g_assert_null(gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING));
    gst_element_set_bus(h->element, NULL);
    gst_object_unref(bus);
    gst_harness_teardown(h);
  }
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_init_gstreamer(&argc, &argv);
  g_test_add_func("/astrodelay/steps-from-elsewhere", test_steps_from_elsewhere);
  g_test_add_func("/astrodelay/counted-anew", test_counted_anew);
  g_test_add_func("/astrodelay/latency", test_latency);
  g_test_add_func("/astrodelay/cuts", test_cuts);
  g_test_add_func("/astrodelay/losses", test_losses);
  g_test_add_func("/astrodelay/interruptions", test_interruptions);
  g_test_add_func("/astrodelay/spectra", test_spectra);
  g_test_add_func("/astrodelay/format", test_format);
  g_test_add_func("/astrodelay/four-bits", test_four_bits);
  g_test_add_func("/astrodelay/observations-in-order", test_observations_in_order);
  g_test_add_func("/astrodelay/no-observation", test_no_observation);
  g_test_add_func("/astrodelay/calibrated-format", test_calibrated_format);
  g_test_add_func("/astrodelay/errors", test_errors);
  g_test_add_func("/astrodelay/passes", test_passes);
  g_test_add_func("/astrodelay/in-a-row", test_in_a_row);
  g_test_add_func("/astrodelay/keeps-format", test_keeps_format);
  g_test_add_func("/astrodelay/unknown-format", test_unknown_format);
  g_test_add_func("/astrodelay/beams", test_beams);
  g_test_add_func("/astrodelay/warns-of-loss", test_warns_of_loss);
  int result = g_test_run();
  gst_deinit();
  return result;
}
