/* Shared by tests of stages on a device, in pipelines: what they give is what the CPU's give, also
 * where new caps, flushes and the end cut blocks, and nothing of it comes to the host between
 * stages. */
#pragma once

#include "core/lib/sky/array.h"
#include "core/memory/memory.h"
#include "core/stream/validity.h"
#include "tests/distance.h"
#include "tests/elements/running.h"

/* The backend that is looked at, with a device: set by the program. */
static AstroBackendKind test_chain_kind;

static inline const char *test_chain_backend(void)
{
  return astro_backend_kind_name(test_chain_kind);
}

/* ---- new caps, a flush and the end in mid-block ---- */

typedef struct {
  const char *stage; /* with %s for the backend */
  const char *caps[2];
  gsize step_bytes[2];
  double tolerance; /* 0: equal bit for bit */
  guint stations;   /* of an observation; 0: none is needed */
} TestChainCase;

#define SPECTRA(stations, channels, layout)                                                        \
  "application/x-astro-spectra,format=CI8,layout=" layout ",stations=" #stations                   \
  ",pols=2,channels=" #channels ",rate=1000/1"
#define VOLTAGES(stations, layout)                                                                 \
  "application/x-astro-voltages,format=CI8,layout=" layout ",stations=" #stations                  \
  ",pols=2,rate=1000000/1,frequency=1.5e8,bandwidth=1e6"

static const TestChainCase test_chain_cases[] = {
  { "astrotranspose backend=%s layout=channel:station:pol:time",
    { SPECTRA(6, 16, "time:station:pol:channel"), SPECTRA(5, 4, "time:channel:station:pol") },
    { 6 * 16 * 4, 5 * 4 * 4 } },
  { "astroconvert backend=%s ! application/x-astro-spectra,format=CF32LE",
    { SPECTRA(6, 16, "time:station:pol:channel"), SPECTRA(5, 4, "time:channel:station:pol") },
    { 6 * 16 * 4, 5 * 4 * 4 } },
  { "astrosideband backend=%s",
    { VOLTAGES(6, "time:station:pol"), SPECTRA(5, 4, "time:channel:station:pol") },
    { 6 * 4, 5 * 4 * 4 } },
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

static inline gboolean test_chain_has(const TestChainCase *c)
{
  g_auto(GStrv) words = g_strsplit(c->stage, " ", 2);
  return astro_module_backend_of(test_chain_kind, words[0] + strlen("astro")) != NULL;
}

/* The output of a harness: times and counts in one array, samples in the other. */
typedef struct {
  GByteArray *told, *samples;
} TestGot;

static inline void test_tell(TestGot *got, guint64 value)
{
  g_byte_array_append(got->told, (gconstpointer)&value, sizeof value);
}

static inline TestGot test_pull(GstHarness *h)
{
  TestGot got = { g_byte_array_new(), g_byte_array_new() };
  GstBuffer *buffer;
  while ((buffer = gst_harness_try_pull(h))) {
    const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
    test_tell(&got, GST_BUFFER_OFFSET(buffer));
    test_tell(&got, GST_BUFFER_OFFSET_END(buffer));
    test_tell(&got, GST_BUFFER_PTS(buffer));
    test_tell(&got, gst_buffer_get_size(buffer));
    for (guint64 i = 0; meta && i < astro_validity_n_counts(meta); i++)
      test_tell(&got, meta->counts[i]);
    test_append(NULL, buffer, NULL, got.samples);
    gst_buffer_unref(buffer);
  }
  return got;
}

static inline void test_got_clear(TestGot *got)
{
  g_byte_array_unref(got->told);
  g_byte_array_unref(got->samples);
}

static inline void test_push(GstHarness *h, const TestChainCase *c, guint caps, guint64 first,
                             guint steps)
{
  GstBuffer *buffer = test_buffer(steps * c->step_bytes[caps], (guint32)first);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + steps;
  g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
}

/* before: up to a flush, where a device stage gives less, since blocks that it holds back are
 * dropped. */
static inline void test_play(const TestChainCase *c, const char *backend, TestGot *before,
                             TestGot *after)
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
    test_push(h, c, 0, 1100 * i, 1100);
  *before = test_pull(h);
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  g_assert_null(gst_harness_try_pull(h));
  test_push(h, c, 0, 20100, 1000);
  test_push(h, c, 0, 21100, 7);
  test_push(h, c, 0, 21107, 550);
  gst_harness_set_src_caps_str(h, c->caps[1]);
  test_push(h, c, 1, 21657, 900);
  test_push(h, c, 1, 22557, 301);
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  *after = test_pull(h);
  gst_harness_teardown(h);
}

/* Blocks that begin that many bytes after the start of our memory. */
static inline TestGot test_play_odd(const TestChainCase *c, const char *backend, gsize offset)
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
  TestGot got = test_pull(h);
  gst_harness_teardown(h);
  return got;
}

static inline void test_check_samples(const TestChainCase *c, const TestGot *found,
                                      const TestGot *wanted, gsize bytes)
{
  if (c->tolerance > 0)
    g_assert_cmpfloat(test_distance(found->samples->data, wanted->samples->data, bytes, FALSE), <=,
                      c->tolerance);
  else
    g_assert_cmpmem(found->samples->data, bytes, wanted->samples->data, bytes);
}

static inline void test_chain_events(gconstpointer data)
{
  const TestChainCase *c = data;
  TestGot before[2], after[2];
  test_play(c, "cpu", &before[0], &after[0]);
  test_play(c, test_chain_backend(), &before[1], &after[1]);
  g_assert_cmpuint(before[1].told->len, >, 0);
  g_assert_cmpuint(before[1].told->len, <=, before[0].told->len);
  g_assert_cmpmem(before[1].told->data, before[1].told->len, before[0].told->data,
                  before[1].told->len);
  test_check_samples(c, &before[1], &before[0], before[1].samples->len);
  g_assert_cmpmem(after[1].told->data, after[1].told->len, after[0].told->data, after[0].told->len);
  g_assert_cmpuint(after[1].samples->len, ==, after[0].samples->len);
  test_check_samples(c, &after[1], &after[0], after[0].samples->len);
  for (guint i = 0; i < 2; i++) {
    test_got_clear(&before[i]);
    test_got_clear(&after[i]);
  }
}

/* Parts of our memory that do not begin at a whole sample, as after an element that removes a
 * header: a kernel's load there would end all work on the device. */
static inline void test_chain_odd_addresses(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(test_chain_cases); i++)
    for (gsize offset = 1; offset < 4; offset++) {
      const TestChainCase *c = &test_chain_cases[i];
      if (c->stations || !test_chain_has(c))
        continue;
      TestGot wanted = test_play_odd(c, "cpu", offset),
              found = test_play_odd(c, test_chain_backend(), offset);
      g_assert_cmpuint(found.samples->len, ==, wanted.samples->len);
      test_check_samples(c, &found, &wanted, wanted.samples->len);
      test_got_clear(&found);
      test_got_clear(&wanted);
    }
}

/* So many blocks are copied to the device, everything made of them stays there, and so many come
 * back. */
static inline void test_chain_stays(const char *line, guint64 up, guint64 down)
{
  AstroMemoryCounters before, after;
  astro_memory_counters(&before);
  g_byte_array_unref(test_run_line(line));
  astro_memory_counters(&after);
  g_assert_cmpuint(after.copies_up - before.copies_up, ==, up);
  g_assert_cmpuint(after.copies_down - before.copies_down, ==, down);
  g_assert_cmpuint(after.host_copies, ==, before.host_copies);
}

/* Adds tests of the cases whose stage the backend has. */
static inline void test_add_chain_events(const char *prefix)
{
  for (guint i = 0; i < G_N_ELEMENTS(test_chain_cases); i++) {
    g_auto(GStrv) words = g_strsplit(test_chain_cases[i].stage, " ", 2);
    g_autofree char *path = g_strconcat(prefix, "/events/", words[0], NULL);
    if (test_chain_has(&test_chain_cases[i]))
      g_test_add_data_func(path, &test_chain_cases[i], test_chain_events);
  }
}
