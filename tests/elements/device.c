/* Pipelines with CUDA stages: the same bytes as CPU stages, nothing on the host between CUDA
 * stages, and nothing left behind at the stop. Skipped without a GPU. */
#include "core/backend/module.h"
#include "core/memory/memory.h"
#include "tests/core/fake-device.h"
#include "tests/elements/running.h"

#define CAPS(format, layout)                                                                       \
  "application/x-astro-spectra,format=" format ",layout=" layout ",channels=16,stations=6,pols=2"
#define STEP (16 * 6 * 2 * 2)

static GByteArray *run(const char *line, guint buffers, guint steps)
{
  /* A line must not end with caps. */
  g_autofree char *whole = g_strconcat(line, " ! identity", NULL);
  GstHarness *h = gst_harness_new_parse(whole);
  GByteArray *all = g_byte_array_new();

  gst_harness_set_src_caps_str(h, CAPS("CI8", "time:station:pol:channel"));
  for (guint i = 0; i < buffers; i++)
    g_assert_cmpint(gst_harness_push(h, test_buffer((gsize)(steps + i % 3) * STEP, i)), ==,
                    GST_FLOW_OK);
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  g_autoptr(GByteArray) got = test_pull_all(h);
  g_byte_array_append(all, got->data, got->len);
  gst_harness_teardown(h);
  return all;
}

static void compare(const char *cuda, const char *cpu)
{
  g_autoptr(GByteArray) a = run(cuda, 20, 37), b = run(cpu, 20, 37);
  g_assert_cmpmem(a->data, a->len, b->data, b->len);
}

#define CHAIN(backend_a, backend_b)                                                                \
  "astroconvert backend=" backend_a " ! " CAPS(                                                    \
      "CF32LE", "time:station:pol:channel") " ! astrotranspose backend=" backend_b                 \
                                            " ! " CAPS("CF32LE", "channel:station:pol:time")

static void test_one(void)
{
  compare("astrotranspose backend=cuda ! " CAPS("CI8", "channel:time:station:pol"),
          "astrotranspose backend=cpu ! " CAPS("CI8", "channel:time:station:pol"));
}

static void test_chain(void)
{
  compare(CHAIN("cuda", "cuda"), CHAIN("cpu", "cpu"));
}

static void test_mixed(void)
{
  compare(CHAIN("cuda", "cpu"), CHAIN("cpu", "cpu"));
  compare(CHAIN("cpu", "cuda"), CHAIN("cpu", "cpu"));
}

enum { JUMPS_AT = 3, IS_MARKED_AT = 6, BLOCKS = 9, STEPS = 20 };

/* The first steps of blocks that are DISCONT, where one block is missing and a later one is marked
 * by itself. */
static char *find_disconts(const char *line)
{
  g_autofree char *whole = g_strconcat(line, " ! identity", NULL);
  GstHarness *h = gst_harness_new_parse(whole);
  GString *found = g_string_new(NULL);
  GstBuffer *buffer;
  guint blocks = 0;

  gst_harness_set_src_caps_str(h, CAPS("CI8", "time:station:pol:channel"));
  for (guint i = 0; i < BLOCKS; i++) {
    buffer = test_buffer(STEPS * STEP, i);
    GST_BUFFER_OFFSET(buffer) = (i + (i >= JUMPS_AT)) * STEPS;
    GST_BUFFER_OFFSET_END(buffer) = GST_BUFFER_OFFSET(buffer) + STEPS;
    if (i == JUMPS_AT || i == IS_MARKED_AT)
      GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
    g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
  }
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  for (; (buffer = gst_harness_try_pull(h)); blocks++) {
    if (GST_BUFFER_IS_DISCONT(buffer))
      g_string_append_printf(found, "%" G_GUINT64_FORMAT " ", GST_BUFFER_OFFSET(buffer));
    gst_buffer_unref(buffer);
  }
  g_assert_cmpuint(blocks, ==, BLOCKS);
  gst_harness_teardown(h);
  return g_string_free(found, FALSE);
}

/* A stage on a device holds blocks back: the mark goes with the block that came with it. */
static void test_discont(void)
{
  static const char *const lines[] = {
    "astrotranspose backend=cuda ! " CAPS("CI8", "channel:time:station:pol"),
    CHAIN("cuda", "cpu"),
    CHAIN("cpu", "cuda"),
    CHAIN("cuda", "cuda"),
    CHAIN("cpu", "cpu"),
  };
  for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_autofree char *found = find_disconts(lines[i]);
    g_test_message("%s", lines[i]);
    g_assert_cmpstr(found, ==, "80 140 ");
  }
}

static guint64 host_copies(void)
{
  AstroMemoryCounters counters;
  astro_memory_counters(&counters);
  return counters.host_copies;
}

/* A part of our memory that begins inside a sample is copied to an address that is a multiple of
 * the size of a sample, since a device loads whole samples; no other part is copied. */
static void test_odd_addresses(void)
{
  enum { PARTS = 5 };
  GstHarness *h =
      gst_harness_new_parse("astrotranspose backend=cuda layout=channel:station:pol:time");
  gst_harness_set_src_caps_str(h, CAPS("CI8", "time:station:pol:channel"));
  for (gsize offset = 0; offset < PARTS; offset++) {
    const guint64 before = host_copies();
    GstBuffer *whole = gst_buffer_new();
    gst_buffer_append_memory(whole, astro_memory_new(7 * STEP + offset, NULL));
    gst_buffer_memset(whole, 0, 1, 7 * STEP + offset);
    g_assert_cmpint(
        gst_harness_push(h, gst_buffer_copy_region(whole, GST_BUFFER_COPY_MEMORY, offset, -1)), ==,
        GST_FLOW_OK);
    g_assert_cmpuint(host_copies() - before, ==, offset % 2);
    gst_buffer_unref(whole);
  }
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  g_autoptr(GByteArray) all = test_pull_all(h);
  g_assert_cmpuint(all->len, ==, PARTS * 7 * STEP);
  gst_harness_teardown(h);
}

/* Blocks are copied to the device once and back once, however many CUDA stages they pass. */
static void test_no_host_between(void)
{
  AstroMemoryCounters before, after;
  astro_memory_counters(&before);
  g_byte_array_unref(run(CHAIN("cuda", "cuda"), 30, 64));
  astro_memory_counters(&after);
  g_assert_cmpuint(after.copies_up - before.copies_up, ==, 30);
  g_assert_cmpuint(after.copies_down - before.copies_down, ==, 30);
}

static GstPadProbeReturn count_locked(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstMemory *memory = gst_buffer_peek_memory(GST_PAD_PROBE_INFO_BUFFER(info), 0);
  *(guint *)data += astro_memory_is_locked(memory);
  return GST_PAD_PROBE_OK;
}

/* A source of another plugin writes to our page-locked blocks, except those that it filled before
 * the stage knew its caps, and the same few blocks are reused. */
static void test_foreign_source(void)
{
  g_autoptr(GError) error = NULL;
  AstroMemoryCounters counters;
  guint locked = 0;
  GstElement *pipeline = gst_parse_launch(
      "filesrc location=/dev/zero blocksize=49152 num-buffers=50 ! " CAPS(
          "CI8", "time:station:pol:channel") " ! queue max-size-buffers=2 ! astrotranspose name=t "
                                             "backend=cuda layout=channel:station:pol:time ! "
                                             "fakesink name=sink",
      &error);
  g_assert_no_error(error);
  GstElement *stage = gst_bin_get_by_name(GST_BIN(pipeline), "t");
  GstPad *pad = gst_element_get_static_pad(stage, "sink");
  GstBus *bus = gst_element_get_bus(pipeline);

  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count_locked, &locked, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage *message =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull(message);
  g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_EOS);
  g_assert_cmpuint(locked, >=, 40);
  astro_memory_counters(&counters);
  g_assert_cmpuint(counters.blocks, <, 25);
  gst_message_unref(message);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pad);
  gst_object_unref(stage);
  gst_object_unref(pipeline);
}

/* Stopped in mid-stream again and again: no block, page-lock or device memory stays. */
static void test_stops(void)
{
  AstroMemoryCounters before, after;
  astro_memory_reap();
  astro_memory_counters(&before);
  for (guint i = 0; i < 100; i++) {
    if (test_passes_over(i))
      continue;
    GstElement *pipeline = gst_parse_launch(
        "fakesrc sizetype=2 sizemax=49152 ! " CAPS("CI8", "time:station:pol:channel") " ! " CHAIN(
            "cuda", "cuda") " ! queue ! fakesink",
        NULL);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    gst_element_get_state(pipeline, NULL, NULL, GST_SECOND);
    g_usleep(1000 + (i % 7) * 500);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
  }
  astro_memory_reap();
  astro_memory_counters(&after);
  g_assert_cmpuint(after.blocks, ==, before.blocks);
  g_assert_cmpuint(after.locked, ==, before.locked);
  g_assert_cmpuint(after.device_bytes, ==, before.device_bytes);
}

#define SOURCE(buffers)                                                                            \
  "fakesrc num-buffers=" #buffers                                                                  \
  " sizetype=2 sizemax=49152 ! " CAPS("CI8", "time:station:pol:channel")

/* Two pipelines on one device: each gives what the CPU gives. */
static void test_two_at_once(void)
{
#define PATTERN(backend)                                                                           \
  "fakesrc num-buffers=50 sizetype=2 sizemax=49152 filltype=pattern-span ! " CAPS(                 \
      "CI8", "time:station:pol:channel") " ! " CHAIN(backend, backend)
  g_autoptr(GByteArray) wanted = test_run_line(PATTERN("cpu") " ! identity");
  g_autoptr(GByteArray) a = g_byte_array_new(), b = g_byte_array_new();
  GstElement *first = test_start(PATTERN("cuda") " ! identity", a);
  GstElement *second = test_start(PATTERN("cuda") " ! identity", b);
  g_assert_cmpstr(test_wait(first), ==, NULL);
  g_assert_cmpstr(test_wait(second), ==, NULL);
  test_stop(first);
  test_stop(second);
  g_assert_cmpuint(wanted->len, >, 0);
  g_assert_cmpmem(a->data, a->len, wanted->data, wanted->len);
  g_assert_cmpmem(b->data, b->len, wanted->data, wanted->len);
}

static void test_no_such_device(void)
{
  g_autofree char *message =
      test_launch(SOURCE(3) " ! astrotranspose name=turn backend=cuda device=4711 ! fakesink");
  g_assert_nonnull(message);
  g_assert_nonnull(
      strstr(message, "turn: backend=cuda: there is no device 4711, this machine has "));
}

/* Whichever call of the device fails, early or late: the error of an element names it, nothing is
 * left behind, and the next pipeline runs. */
static void test_failures(void)
{
  static const struct {
    FakeCall call;
    const char *name;
  } calls[] = {
    { FAKE_ALLOC, "alloc" },         { FAKE_QUEUE_NEW, "queue_new" },
    { FAKE_COPY, "queue_copy" },     { FAKE_QUEUE_WAIT, "queue_wait" },
    { FAKE_RECORD, "event_record" }, { FAKE_EVENT_WAIT, "event_wait" },
  };
  static const guint nth[] = { 1, 2, 3, 7, 20, 41 };
  g_autoptr(AstroDevice) device = astro_device_open(0, NULL);
  AstroMemoryCounters before, after;

  astro_memory_reap();
  astro_memory_counters(&before);
  for (guint c = 0; c < G_N_ELEMENTS(calls); c++)
    for (guint n = 0; n < G_N_ELEMENTS(nth); n++) {
      const guint failures = fake_failures(device);
      fake_fail(device, calls[c].call, nth[n]);
      g_autofree char *message = test_launch(SOURCE(60) " ! " CHAIN("cuda", "cuda") " ! fakesink");
      astro_memory_reap();
      fake_fail(device, calls[c].call, 0);
      g_test_message("%s %u: %s", calls[c].name, nth[n], message);
      /* A wait that only precedes freeing does not use the bytes, and may go on. */
      if (fake_failures(device) == failures)
        g_assert_cmpstr(message, ==, NULL);
      else
        g_assert_true(message ? strstr(message, calls[c].name) != NULL
                              : calls[c].call == FAKE_EVENT_WAIT);
      astro_memory_counters(&after);
      g_assert_cmpuint(after.blocks, ==, before.blocks);
      g_assert_cmpuint(after.locked, ==, before.locked);
      g_assert_cmpuint(after.device_bytes, ==, before.device_bytes);
    }
  compare(CHAIN("cuda", "cuda"), CHAIN("cpu", "cpu"));
}

static GstPadProbeReturn lose(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  guint *blocks = data;
  if (++*blocks == 12) {
    g_autoptr(AstroDevice) device = astro_device_open(0, NULL);
    fake_lose(device, TRUE);
  }
  return GST_PAD_PROBE_OK;
}

/* From one call on all fail, as after a fault in a kernel: an element's error, NULL is reached,
 * nothing is left behind. */
static void test_lost(void)
{
  g_autoptr(AstroDevice) device = astro_device_open(0, NULL);
  AstroMemoryCounters before, after;
  guint blocks = 0;

  astro_memory_reap(); /* what the test before left to it */
  astro_memory_counters(&before);
  GstElement *pipeline = gst_parse_launch(
      SOURCE(-1) " ! astroconvert backend=cuda ! " CAPS(
          "CF32LE", "time:station:pol:channel") " ! astrotranspose name=turn backend=cuda "
                                                "layout=channel:station:pol:time ! fakesink",
      NULL);
  GstElement *turn = gst_bin_get_by_name(GST_BIN(pipeline), "turn");
  GstPad *pad = gst_element_get_static_pad(turn, "sink");
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, lose, &blocks, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage *message = gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_ERROR);
  g_assert_nonnull(message);
  gst_message_unref(message);
  gst_object_unref(bus);
  gst_object_unref(pad);
  gst_object_unref(turn);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  astro_memory_reap();
  fake_lose(device, FALSE);
  astro_memory_counters(&after);
  g_assert_cmpuint(after.blocks, ==, before.blocks);
  g_assert_cmpuint(after.locked, ==, before.locked);
  g_assert_cmpuint(after.device_bytes, ==, before.device_bytes);
  compare(CHAIN("cuda", "cuda"), CHAIN("cpu", "cpu"));
}

/* ---- blocks that stay ---- */

/* A source whose blocks stay on the device says so, and each of them is copied once. */
static void test_repeated(void)
{
  AstroMemoryCounters before, after;
  astro_memory_counters(&before);
  GstElement *pipeline =
      test_start("astroskysrc stations=2 pattern=noise repeat=3 block-steps=1024 num-buffers=20 ! "
                 "application/x-astro-voltages,format=CI8 ! astroconvert backend=cuda ! "
                 "application/x-astro-voltages,format=CF32LE ! identity",
                 NULL);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  guint blocks = 0;
  guint64 bytes = 0;
  for (gboolean ends = FALSE; !ends;) {
    g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
        bus, TEST_PATIENCE, GST_MESSAGE_ELEMENT | GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    g_assert_nonnull(message);
    g_assert_cmpint(GST_MESSAGE_TYPE(message), !=, GST_MESSAGE_ERROR);
    ends = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (ends || !gst_message_has_name(message, "astro-repeat"))
      continue;
    g_assert_cmpuint(blocks, ==, 0);
    g_assert_true(gst_structure_get_uint(gst_message_get_structure(message), "blocks", &blocks));
    g_assert_true(gst_structure_get_uint64(gst_message_get_structure(message), "bytes", &bytes));
  }
  test_stop(pipeline);
  astro_memory_counters(&after);
  g_assert_cmpuint(blocks, ==, 3);
  g_assert_cmpuint(bytes, ==, 3 * 1024 * 2 * 2 * 2);
  g_assert_cmpuint(after.bytes_up - before.bytes_up, ==, bytes);
}

/* ---- blocks in flight ---- */

enum { MANY = 12 };

typedef struct {
  AstroDevice *device;
  guint patience; /* ms */
  gint pushed, was_needed;
} Release;

/* Lets copies go on once all blocks are pushed, or when that takes too long. */
static gpointer release(gpointer data)
{
  Release *r = data;
  guint waited = 0;
  for (; !g_atomic_int_get(&r->pushed) && waited < r->patience; waited++)
    g_usleep(1000);
  g_atomic_int_set(&r->was_needed, waited == r->patience);
  fake_hold(r->device->up, FALSE);
  return NULL;
}

/* Whether the host had to wait for the device before it had handed over all blocks. */
static gboolean is_held_up(AstroDevice *device, guint patience)
{
  Release r = { .device = device, .patience = patience };
  GstHarness *h = gst_harness_new_parse(CHAIN("cuda", "cuda") " ! identity");
  gst_harness_set_src_caps_str(h, CAPS("CI8", "time:station:pol:channel"));
  fake_hold(device->up, TRUE);
  GThread *thread = g_thread_new("release", release, &r);
  for (guint i = 0; i < MANY; i++)
    g_assert_cmpint(gst_harness_push(h, test_buffer(37 * STEP, i)), ==, GST_FLOW_OK);
  g_atomic_int_set(&r.pushed, TRUE);
  g_thread_join(thread);
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  g_assert_cmpuint(gst_harness_buffers_received(h), ==, MANY);
  gst_harness_teardown(h);
  return r.was_needed;
}

/* Many short blocks may wait for a slow kernel, so that the bus stays busy; but not where the
 * device has little memory left. */
static void test_in_flight(void)
{
  g_autoptr(AstroDevice) device = astro_device_open(0, NULL);
  g_assert_false(is_held_up(device, 20000));
  ((FakeDevice *)device)->free = (gsize)1 << 30;
  g_assert_true(is_held_up(device, 300));
  ((FakeDevice *)device)->free = 0;
}

static void add_tests(void)
{
  if (!test_has_device("/device/any"))
    return;
  g_autoptr(AstroDevice) device = astro_device_open(0, NULL);
  g_test_add_func("/device/one", test_one);
  g_test_add_func("/device/chain", test_chain);
  g_test_add_func("/device/mixed", test_mixed);
  g_test_add_func("/device/discont", test_discont);
  g_test_add_func("/device/odd-addresses", test_odd_addresses);
  g_test_add_func("/device/no-host-between", test_no_host_between);
  g_test_add_func("/device/foreign-source", test_foreign_source);
  g_test_add_func("/device/stops", test_stops);
  g_test_add_func("/device/two-at-once", test_two_at_once);
  g_test_add_func("/device/no-such-device", test_no_such_device);
  g_test_add_func("/device/repeated", test_repeated);
  /* The last test, since more is forgiven on a device that failed. */
  if (g_str_equal(device->name, "fake")) {
    g_test_add_func("/device/failures", test_failures);
    g_test_add_func("/device/lost", test_lost);
    g_test_add_func("/device/in-flight", test_in_flight);
  }
}

int main(int argc, char **argv)
{
  test_use_fake_device();
  return test_run(argc, argv, add_tests);
}
