/* Memory on a device with calls that fail: whatever can still be read is right. */
#include "tests/core/memory/memory.h"
#include "core/backend/device.h"

/* A run in which one call of a device fails. Whatever can still be read is right. */
typedef struct {
  AstroDevice *devices[2];
  GstMemory *memory;
  guint8 expected[TEST_KILO];
  FakeCall call;
} Script;

static void check_error(Script *script, const GError *error)
{
  static const char *const names[] = { "alloc",      "lock_host",    "queue_new", "queue_copy",
                                       "queue_wait", "event_record", "event_wait" };
  g_assert_nonnull(error);
  /* The call itself fails, or later it turns out that the bytes were lost. */
  g_assert_true(strstr(error->message, names[script->call]) || strstr(error->message, "lost"));
  g_assert_cmpuint(fake_failures(script->devices[0]) + fake_failures(script->devices[1]), >, 0);
}

static void script_host(Script *script, GstMapFlags flags, guint32 seed)
{
  GstMapInfo map;
  if (!gst_memory_map(script->memory, &map, flags)) {
    g_assert_cmpuint(fake_failures(script->devices[0]) + fake_failures(script->devices[1]), >, 0);
    return;
  }
  if (flags & GST_MAP_READ)
    g_assert_cmpmem(map.data, map.size, script->expected, map.size);
  if (flags & GST_MAP_WRITE) {
    test_fill(map.data, map.size, seed);
    test_fill(script->expected, map.size, seed);
  }
  gst_memory_unmap(script->memory, &map);
}

static void script_device(Script *script, guint which, GstMapFlags flags, guint32 seed,
                          gboolean copy_down)
{
  AstroDevice *device = script->devices[which];
  g_autoptr(GError) error = NULL;
  gpointer face;
  if (!astro_memory_acquire(script->memory, device, device->down, flags, &face, &error)) {
    check_error(script, error);
    return;
  }
  if (flags & GST_MAP_READ)
    fake_queue_kernel(device, device->down, fake_kernel_compare, face, TEST_KILO,
                      g_memdup2(script->expected, TEST_KILO), g_free);
  if (flags & GST_MAP_WRITE) {
    fake_queue_kernel(device, device->down, fake_kernel_fill, face, TEST_KILO,
                      GUINT_TO_POINTER(seed), NULL);
    test_fill(script->expected, TEST_KILO, seed);
  }
  if (!astro_memory_release(script->memory, device->down, flags, copy_down, &error))
    check_error(script, error);
}

static void test_failing_calls(void)
{
  for (FakeCall call = 0; call < FAKE_N_CALLS; call++) {
    guint failures = 0;
    for (guint nth = 1; nth < 24; nth++) {
      Script script = { .devices = { fake_device_new(nth), fake_device_new(~nth) }, .call = call };
      fake_fail(script.devices[0], call, nth);
      fake_fail(script.devices[1], call, nth);
      script.memory = astro_memory_new(TEST_KILO, script.devices[0]);
      script_host(&script, GST_MAP_WRITE, 1);
      for (guint32 i = 0; i < 2; i++) {
        script_device(&script, 0, GST_MAP_READ, 0, FALSE);
        script_device(&script, 0, GST_MAP_WRITE, 2 + i, FALSE);
        script_host(&script, GST_MAP_READ, 0);
        script_device(&script, 0, GST_MAP_READWRITE, 4 + i, TRUE);
        script_host(&script, GST_MAP_READ, 0);
        script_host(&script, GST_MAP_READWRITE, 5 + i);
        script_device(&script, 1, GST_MAP_READ, 0, FALSE);
        script_device(&script, 1, GST_MAP_READWRITE, 6 + i, FALSE);
        script_host(&script, GST_MAP_WRITE, 7 + i);
        script_device(&script, 1, GST_MAP_WRITE, 8 + i, i == 0);
        astro_memory_settle(script.memory, NULL);
      }
      script_host(&script, GST_MAP_READ, 0);
      AstroQueue *queue = script.devices[0]->funcs->queue_new(script.devices[0], NULL);
      g_assert_true(queue != NULL || call == FAKE_QUEUE_NEW);
      failures += fake_failures(script.devices[0]) + fake_failures(script.devices[1]);
      gst_memory_unref(script.memory);
      astro_device_unref(script.devices[0]);
      astro_device_unref(script.devices[1]);
      fake_check_nothing_left();
    }
    g_assert_cmpuint(failures, >, 0);
  }
}

/* A failed copy to the host does not count as done, and can be repeated. */
static void test_failing_copy_down(void)
{
  AstroDevice *device = fake_device_new(15);
  GstMemory *memory = astro_memory_new(TEST_KILO, device);
  GstMapInfo map;
  test_host_fill(memory, 1);
  test_device_fill(memory, device, device->up, 2, FALSE);
  fake_hold(device->down, TRUE);
  fake_fail(device, FAKE_EVENT_WAIT, 1);
  g_assert_false(gst_memory_map(memory, &map, GST_MAP_READ));
  fake_fail(device, FAKE_COPY, 1);
  g_assert_false(gst_memory_map(memory, &map, GST_MAP_READ));
  fake_hold(device->down, FALSE);
  test_host_compare(memory, 2);
  gst_memory_unref(memory);
  astro_device_unref(device);
  fake_check_nothing_left();
}

/* Without an event the end of a copy to the device is unknown: its source is not written, and its
 * block is not reused. */
static void test_failing_record(void)
{
  AstroDevice *device = fake_device_new(17);
  GstAllocator *allocator = astro_allocator_new(device);
  GstMemory *memory[6];
  GstMapInfo map;
  gpointer face;
  for (guint i = 0; i < G_N_ELEMENTS(memory); i++)
    memory[i] = gst_allocator_alloc(allocator, TEST_KILO, NULL);
  test_host_fill(memory[0], 1);
  fake_hold(device->up, TRUE);
  fake_fail(device, FAKE_RECORD, 1);
  g_assert_false(astro_memory_acquire(memory[0], device, device->up, GST_MAP_READ, &face, NULL));
  g_assert_false(gst_memory_map(memory[0], &map, GST_MAP_WRITE));
  test_host_compare(memory[0], 1);
  for (guint i = 0; i < G_N_ELEMENTS(memory); i++)
    gst_memory_unref(memory[i]);
  fake_hold(device->up, FALSE);
  memory[0] = gst_allocator_alloc(allocator, TEST_KILO, NULL);
  test_device_fill(memory[0], device, device->up, 2, FALSE);
  test_host_compare(memory[0], 2);
  gst_memory_unref(memory[0]);
  gst_object_unref(allocator);
  astro_device_unref(device);
  fake_check_nothing_left();
}

static void add_tests(void)
{
  g_test_add_func("/memory/failing-calls", test_failing_calls);
  g_test_add_func("/memory/failing-copy-down", test_failing_copy_down);
  g_test_add_func("/memory/failing-record", test_failing_record);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
