/* Chains of CUDA stages give the same as CPU stages: two on one GPU, cut by new caps, flushes and
 * the end, and with nothing on the host between them. Skipped without a GPU. */
#include "core/memory/memory.h"
#include "core/lib/sky/array.h"
#include "core/stream/validity.h"
#include "tests/distance.h"
#include "tests/elements/running.h"

/* ---- two pipelines at once ---- */

#define FLOATS(backend)                                                                            \
  TEST_SKY "duration=0.5 ! application/x-astro-voltages,format=CF32LE ! " TEST_CHAIN(backend)
/* Exact after the filter bank. */
#define INTEGERS(backend)                                                                          \
  TEST_SKY                                                                                         \
  "duration=0.5 seed=5 ! application/x-astro-voltages,format=CI8 ! astrochannelizer backend=cpu "  \
  "channels=32 taps=4 ! application/x-astro-spectra,format=CI8 ! astrotranspose backend=" backend  \
  " layout=channel:time:pol:station ! astroconvert backend=" backend                               \
  " ! application/x-astro-spectra,format=CI16LE ! astrocorrelator backend=" backend                \
  " integration=700 ! application/x-astro-visibilities,format=CI32LE"

static void test_two_at_once(void)
{
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  g_autoptr(GByteArray) floats = test_run_line(FLOATS("cpu"));
  g_autoptr(GByteArray) integers = test_run_line(INTEGERS("cpu"));
  g_autoptr(GByteArray) alone = test_run_line(FLOATS("cuda"));
  g_assert_cmpuint(alone->len, ==, floats->len);
  g_assert_cmpfloat(test_distance(alone->data, floats->data, floats->len, FALSE), <=, 1e-5);
  for (guint i = 0; i < 3; i++) {
    g_autoptr(GByteArray) a = g_byte_array_new(), b = g_byte_array_new();
    GstElement *first = test_start(FLOATS("cuda"), a), *second = test_start(INTEGERS("cuda"), b);
    g_assert_cmpstr(test_wait(first), ==, NULL);
    g_assert_cmpstr(test_wait(second), ==, NULL);
    test_stop(first);
    test_stop(second);
    g_assert_cmpmem(a->data, a->len, alone->data, alone->len);
    g_assert_cmpmem(b->data, b->len, integers->data, integers->len);
  }
}

/* ---- new caps, a flush and the end in mid-block ---- */

typedef struct {
  const char *stage; /* with %s for the backend */
  const char *caps[2];
  gsize step_bytes[2];
  double tolerance; /* 0: equal bit for bit */
  guint stations;   /* of an observation; 0: none is needed */
} Case;

#define SPECTRA(stations, channels, layout)                                                        \
  "application/x-astro-spectra,format=CI8,layout=" layout ",stations=" #stations                   \
  ",pols=2,channels=" #channels ",rate=1000/1"
#define VOLTAGES(stations, layout)                                                                 \
  "application/x-astro-voltages,format=CI8,layout=" layout ",stations=" #stations                  \
  ",pols=2,rate=1000000/1,frequency=1.5e8,bandwidth=1e6"

static const Case cases[] = {
  { "astrotranspose backend=%s layout=channel:station:pol:time",
    { SPECTRA(6, 16, "time:station:pol:channel"), SPECTRA(5, 4, "time:channel:station:pol") },
    { 6 * 16 * 4, 5 * 4 * 4 } },
  { "astroconvert backend=%s ! application/x-astro-spectra,format=CF32LE",
    { SPECTRA(6, 16, "time:station:pol:channel"), SPECTRA(5, 4, "time:channel:station:pol") },
    { 6 * 16 * 4, 5 * 4 * 4 } },
  { "astrocorrelator backend=%s integration=400",
    { SPECTRA(6, 16, "time:station:pol:channel"), SPECTRA(5, 4, "channel:station:pol:time") },
    { 6 * 16 * 4, 5 * 4 * 4 } },
  { "astrochannelizer backend=%s channels=16 taps=4 ! application/x-astro-spectra,format=CF32LE",
    { VOLTAGES(6, "time:station:pol"), VOLTAGES(3, "station:pol:time") },
    { 6 * 4, 3 * 4 },
    1e-5 },
  { "astroflag backend=%1$s method=kurtosis block=100 ! "
    "astroflag backend=%1$s method=threshold block=60",
    { SPECTRA(6, 16, "time:station:pol:channel"), SPECTRA(5, 4, "channel:station:pol:time") },
    { 6 * 16 * 4, 5 * 4 * 4 } },
  { "astrodelay backend=%s ! application/x-astro-voltages,format=CF32LE",
    { VOLTAGES(6, "time:station:pol"), VOLTAGES(6, "station:pol:time") },
    { 6 * 4, 6 * 4 },
    1e-5,
    6 },
};

/* The output of a harness: times and counts in one array, samples in the other. */
typedef struct {
  GByteArray *told, *samples;
} Got;

static void tell(Got *got, guint64 value)
{
  g_byte_array_append(got->told, (gconstpointer)&value, sizeof value);
}

static Got pull(GstHarness *h)
{
  Got got = { g_byte_array_new(), g_byte_array_new() };
  GstBuffer *buffer;
  while ((buffer = gst_harness_try_pull(h))) {
    const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
    tell(&got, GST_BUFFER_OFFSET(buffer));
    tell(&got, GST_BUFFER_OFFSET_END(buffer));
    tell(&got, GST_BUFFER_PTS(buffer));
    tell(&got, gst_buffer_get_size(buffer));
    for (guint64 i = 0; meta && i < astro_validity_n_counts(meta); i++)
      tell(&got, meta->counts[i]);
    test_append(NULL, buffer, NULL, got.samples);
    gst_buffer_unref(buffer);
  }
  return got;
}

static void got_clear(Got *got)
{
  g_byte_array_unref(got->told);
  g_byte_array_unref(got->samples);
}

static void push(GstHarness *h, const Case *c, guint caps, guint64 first, guint steps)
{
  GstBuffer *buffer = test_buffer(steps * c->step_bytes[caps], (guint32)first);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + steps;
  g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
}

/* before: up to a flush, where a device stage gives less, since blocks that it holds back are
 * dropped. */
static void play(const Case *c, const char *backend, Got *before, Got *after)
{
  g_autofree char *stage = g_strdup_printf(c->stage, backend);
  g_autofree char *line = g_strconcat(stage, " ! identity", NULL);
  GstHarness *h = gst_harness_new_parse(line);
  GstSegment segment;

  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_set_src_caps_str(h, c->caps[0]);
  if (c->stations) {
    g_autoptr(AstroObservation) observation =
        astro_array_new("lofar-like", c->stations, NULL, NULL);
    g_assert_true(astro_observation_set_start(observation, "2026-11-20T12:00:00", NULL));
    observation->has_phase_centre = TRUE;
    observation->phase_ra = 3;
    observation->phase_dec = 1.2;
    gst_harness_push_event(h, astro_observation_to_event(observation));
  }
  for (guint i = 0; i < 6; i++)
    push(h, c, 0, 1100 * i, 1100);
  *before = pull(h);
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  g_assert_null(gst_harness_try_pull(h));
  push(h, c, 0, 20100, 1000);
  push(h, c, 0, 21100, 7);
  push(h, c, 0, 21107, 550);
  gst_harness_set_src_caps_str(h, c->caps[1]);
  push(h, c, 1, 21657, 900);
  push(h, c, 1, 22557, 301);
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  *after = pull(h);
  gst_harness_teardown(h);
}

/* Blocks that begin that many bytes after the start of our memory. */
static Got play_odd(const Case *c, const char *backend, gsize offset)
{
  g_autofree char *stage = g_strdup_printf(c->stage, backend);
  g_autofree char *line = g_strconcat(stage, " ! identity", NULL);
  GstHarness *h = gst_harness_new_parse(line);
  gst_harness_set_src_caps_str(h, c->caps[0]);
  for (guint i = 0; i < 3; i++) {
    g_autoptr(GstBuffer) from = test_buffer(500 * c->step_bytes[0], i);
    GstBuffer *whole = gst_buffer_new();
    GstMapInfo map;
    gst_buffer_append_memory(whole, astro_memory_new(gst_buffer_get_size(from) + offset, NULL));
    g_assert_true(gst_buffer_map(from, &map, GST_MAP_READ));
    gst_buffer_fill(whole, offset, map.data, map.size);
    gst_buffer_unmap(from, &map);
    GstBuffer *part = gst_buffer_copy_region(whole, GST_BUFFER_COPY_MEMORY, offset, -1);
    gst_buffer_unref(whole);
    g_assert_cmpint(gst_harness_push(h, part), ==, GST_FLOW_OK);
  }
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  Got got = pull(h);
  gst_harness_teardown(h);
  return got;
}

static void check_samples(const Case *c, const Got *found, const Got *wanted, gsize bytes)
{
  if (c->tolerance > 0)
    g_assert_cmpfloat(test_distance(found->samples->data, wanted->samples->data, bytes, FALSE), <=,
                      c->tolerance);
  else
    g_assert_cmpmem(found->samples->data, bytes, wanted->samples->data, bytes);
}

static void test_events(gconstpointer data)
{
  const Case *c = data;
  Got before[2], after[2];
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  play(c, "cpu", &before[0], &after[0]);
  play(c, "cuda", &before[1], &after[1]);
  g_assert_cmpuint(before[1].told->len, >, 0);
  g_assert_cmpuint(before[1].told->len, <=, before[0].told->len);
  g_assert_cmpmem(before[1].told->data, before[1].told->len, before[0].told->data,
                  before[1].told->len);
  check_samples(c, &before[1], &before[0], before[1].samples->len);
  g_assert_cmpmem(after[1].told->data, after[1].told->len, after[0].told->data, after[0].told->len);
  g_assert_cmpuint(after[1].samples->len, ==, after[0].samples->len);
  check_samples(c, &after[1], &after[0], after[0].samples->len);
  for (guint i = 0; i < 2; i++) {
    got_clear(&before[i]);
    got_clear(&after[i]);
  }
}

/* ---- orders and copies ---- */

/* Parts of our memory that do not begin at a whole sample, as after an element that removes a
 * header: a kernel's load there would end all work on the device. */
static void test_odd_addresses(void)
{
  g_autoptr(AstroDevice) device = test_open_device();
  for (guint i = 0; device && i < G_N_ELEMENTS(cases); i++)
    for (gsize offset = 1; offset < 4 && !cases[i].stations; offset++) {
      Got wanted = play_odd(&cases[i], "cpu", offset), found = play_odd(&cases[i], "cuda", offset);
      g_assert_cmpuint(found.samples->len, ==, wanted.samples->len);
      check_samples(&cases[i], &found, &wanted, wanted.samples->len);
      got_clear(&found);
      got_clear(&wanted);
    }
}

static void check_order(const char *line, const char *wanted)
{
  GstElement *pipeline = test_start(line, NULL);
  g_autofree char *error = test_wait(pipeline);
  g_assert_cmpstr(error, ==, NULL);
  g_autoptr(GstElement) turn = gst_bin_get_by_name(GST_BIN(pipeline), "turn");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(turn, "src");
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(caps, 0), "layout"), ==, wanted);
  test_stop(pipeline);
}

/* The transposition before a correlator gives the order that its backend likes best. */
static void test_order(void)
{
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  check_order(TEST_SKY "duration=0.02 ! " TEST_CHAIN("cuda"), "channel:station:pol:time");
  check_order(TEST_SKY "duration=0.02 ! " TEST_CHAIN("auto"), "channel:station:pol:time");
  check_order(TEST_SKY "duration=0.02 ! " TEST_CHAIN("cpu"), "channel:time:station:pol");
}

/* 50 blocks of voltages are copied to the device, everything made of them stays there, and the
 * visibilities come back: seven whole integrations and the one that the end cuts short. */
static void test_no_host_between(void)
{
  AstroMemoryCounters before, after;
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  astro_memory_counters(&before);
  g_byte_array_unref(test_run_line(TEST_SKY "duration=0.25 ! " TEST_CHAIN("cuda")));
  astro_memory_counters(&after);
  g_assert_cmpuint(after.copies_up - before.copies_up, ==, 50);
  g_assert_cmpuint(after.copies_down - before.copies_down, ==, 8);
  g_assert_cmpuint(after.host_copies, ==, before.host_copies);
}

static void add_tests(void)
{
  g_test_add_func("/cuda-chains/two-at-once", test_two_at_once);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(GStrv) words = g_strsplit(cases[i].stage, " ", 2);
    g_autofree char *path = g_strconcat("/cuda-chains/events/", words[0], NULL);
    g_test_add_data_func(path, &cases[i], test_events);
  }
  g_test_add_func("/cuda-chains/odd-addresses", test_odd_addresses);
  g_test_add_func("/cuda-chains/order", test_order);
  g_test_add_func("/cuda-chains/no-host-between", test_no_host_between);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
