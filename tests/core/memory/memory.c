/* The two faces of AstroMemory, on a device that does everything late and in its own order: which
 * copies are made, who waits, and what is kept how long. */
#include "tests/core/memory/memory.h"
#include "tests/may-fail.h"
#include "core/backend/device.h"

static void test_sizes_and_alignment(void)
{
  static const gsize sizes[] = {
    0, 1, 63, 64, 100, 4097, ASTRO_MEMORY_HUGE - 1, ASTRO_MEMORY_HUGE, ASTRO_MEMORY_HUGE + 5
  };
  static const gsize aligns[] = { 0, 15, 255, 8191 };
  static const gsize edges[] = { 0, 1, 64, 100 };
  g_autoptr(GstAllocator) allocator = astro_allocator_get();
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
    for (guint j = 0; j < G_N_ELEMENTS(aligns); j++)
      for (guint k = 0; k < G_N_ELEMENTS(edges); k++) {
        GstAllocationParams params = { .align = aligns[j],
                                       .prefix = edges[k],
                                       .padding = edges[G_N_ELEMENTS(edges) - 1 - k],
                                       .flags = GST_MEMORY_FLAG_ZERO_PREFIXED |
                                                GST_MEMORY_FLAG_ZERO_PADDED };
        GstMemory *memory = gst_allocator_alloc(allocator, sizes[i], &params);
        g_assert_true(astro_memory_is(memory));
        g_assert_true(gst_memory_is_type(memory, ASTRO_MEMORY_TYPE));
        gsize offset, maxsize;
        g_assert_cmpuint(gst_memory_get_sizes(memory, &offset, &maxsize), ==, sizes[i]);
        g_assert_cmpuint(offset, ==, astro_memory_prefix(&params));
        g_assert_cmpuint(offset, >=, params.prefix);
        g_assert_cmpuint(maxsize, ==, offset + sizes[i] + params.padding);
        GstMapInfo map;
        g_assert_true(gst_memory_map(memory, &map, GST_MAP_READWRITE));
        g_assert_cmpuint((guintptr)map.data & (aligns[j] | 63), ==, 0);
        if (maxsize >= ASTRO_MEMORY_HUGE)
          g_assert_cmpuint((guintptr)(map.data - offset) & (ASTRO_MEMORY_HUGE - 1), ==, 0);
        for (gsize b = 1; b <= offset; b++)
          g_assert_cmpint(*(map.data - b), ==, 0);
        for (gsize b = 0; b < params.padding; b++)
          g_assert_cmpint(map.data[sizes[i] + b], ==, 0);
        memset(map.data, 1, map.maxsize);
        gst_memory_unmap(memory, &map);
        gst_memory_unref(memory);
      }

  GstAllocationParams large = { .prefix = G_MAXSIZE - 10, .padding = 100 };
  g_assert_null(astro_memory_new_full(1, &large, NULL));
  large.prefix = 0;
  g_assert_null(astro_memory_new_full(G_MAXSIZE - 10, &large, NULL));
  g_assert_null(astro_memory_new((gsize)1 << 60, NULL));
  fake_check_nothing_left();
}

static void test_parts_and_copies(void)
{
  GstMemory *memory = astro_memory_new(1000, NULL);
  test_host_fill(memory, 1);
  GstMemory *left = gst_memory_share(memory, 0, 300);
  GstMemory *right = gst_memory_share(left, 300, 700); /* the offset of a part of a part counts from
                                                        * the beginning of the first memory */
  g_assert_true(right->parent == memory);
  gsize offset = 0;
  g_assert_true(gst_memory_is_span(left, right, &offset));
  g_assert_cmpuint(offset, ==, 0);
  g_assert_false(gst_memory_is_span(right, left, NULL));

  GstMapInfo map, whole;
  g_assert_false(gst_memory_map(right, &map, GST_MAP_WRITE));
  g_assert_true(gst_memory_map(right, &map, GST_MAP_READ));
  g_assert_true(gst_memory_map(memory, &whole, GST_MAP_READ));
  g_assert_true(map.data == whole.data + 300);
  GstMemory *copy = gst_memory_copy(right, 10, -1);
  g_assert_cmpuint(copy->size, ==, 690);
  g_assert_null(copy->parent);
  GstMapInfo copied;
  g_assert_true(gst_memory_map(copy, &copied, GST_MAP_READWRITE));
  g_assert_cmpmem(copied.data, copied.size, whole.data + 310, 690);
  memset(copied.data, 0, copied.size);
  gst_memory_unmap(copy, &copied);
  gst_memory_unmap(memory, &whole);
  gst_memory_unmap(right, &map);
  test_host_compare(memory, 1);

  gst_memory_unref(memory); /* the parts keep it */
  test_host_compare(left, 1);
  gst_memory_unref(left);
  gst_memory_unref(right);
  gst_memory_unref(copy);
  fake_check_nothing_left();
}

static void test_page_locking(void)
{
  AstroDevice *device = fake_device_new(1);
  GstMemory *memory = astro_memory_new(5000, device);
  g_assert_true(astro_memory_is_locked(memory));
  g_assert_cmpuint(test_count().locked, ==, 5000);
  fake_fail(device, FAKE_LOCK, 1);
  GstMemory *slow = astro_memory_new(3000, device);
  g_assert_nonnull(slow);
  g_assert_false(astro_memory_is_locked(slow));
  g_assert_cmpuint(test_count().locked, ==, 5000);
  g_assert_cmpuint(test_count().bytes, ==, 8000);
  test_device_fill(slow, device, device->up, 3, TRUE);
  test_host_compare(slow, 3);
  gst_memory_unref(slow);
  gst_memory_unref(memory);
  astro_device_unref(device);
  fake_check_nothing_left();
}

/* The copies between faces that are made, and no others. */
static void test_copies_only_where_needed(void)
{
  AstroDevice *device = fake_device_new(2);
  AstroQueue *queue = device->funcs->queue_new(device, NULL);
  GstMemory *memory = astro_memory_new(4 * TEST_KILO, device);
  const AstroMemoryCounters before = test_count();
#define EXPECT_COPIES(up, down)                                                                    \
  g_assert_cmpuint(test_count().copies_up - before.copies_up, ==, up);                             \
  g_assert_cmpuint(test_count().copies_down - before.copies_down, ==, down)

  test_host_fill(memory, 1);
  test_device_compare(memory, device, queue, 1);
  test_device_compare(memory, device, queue, 1);
  test_host_compare(memory, 1);
  EXPECT_COPIES(1, 0);
  test_device_fill(memory, device, queue, 2, FALSE);
  EXPECT_COPIES(1, 0);
  test_host_compare(memory, 2);
  test_host_compare(memory, 2);
  test_device_compare(memory, device, queue, 2);
  EXPECT_COPIES(1, 1);
  test_device_fill(memory, device, queue, 3, FALSE);
  test_host_fill(memory, 4); /* all of it: the device's bytes are not needed */
  EXPECT_COPIES(1, 1);
  test_device_fill(memory, device, queue, 5, FALSE); /* and the other way round */
  EXPECT_COPIES(1, 1);
  test_device_fill(memory, device, queue, 6, TRUE);
  EXPECT_COPIES(1, 2);
  test_host_compare(memory, 6);
  EXPECT_COPIES(1, 2);

  /* Writing a part keeps the rest, on either side. */
  test_device_fill(memory, device, queue, 7, FALSE);
  gst_memory_resize(memory, 1000, 500);
  test_host_fill(memory, 8);
  EXPECT_COPIES(1, 3);
  gst_memory_resize(memory, 1000, 300);
  test_device_fill(memory, device, queue, 9, FALSE);
  EXPECT_COPIES(2, 3);
  test_host_compare(memory, 9);
  gst_memory_resize(memory, -1000, 500);
  test_host_compare(memory, 8);
  EXPECT_COPIES(2, 4);

  /* Undefined bytes are not copied. */
  gst_memory_resize(memory, 0, 100);
  test_device_fill(memory, device, queue, 10, FALSE);
  astro_memory_forget(memory);
  test_host_fill(memory, 11);
  astro_memory_forget(memory);
  test_device_fill(memory, device, queue, 12, FALSE);
  EXPECT_COPIES(2, 4);
  test_host_compare(memory, 12);
  EXPECT_COPIES(2, 5);
  g_assert_cmpuint(device->bytes_up, ==, 2 * 4 * TEST_KILO);
  g_assert_cmpuint(device->bytes_down, ==, 5 * 4 * TEST_KILO);

  gst_memory_unref(memory);
  device->funcs->queue_free(device, queue);
  astro_device_unref(device);
  fake_check_nothing_left();
}

/* While every queue stands still, a chain of device work can still be queued, with early copies to
 * the host; the host waits once, where it maps. */
static void test_device_work_never_waits(void)
{
  AstroDevice *device = fake_device_new(3);
  AstroQueue *queues[] = { device->up, device->down, device->funcs->queue_new(device, NULL),
                           device->funcs->queue_new(device, NULL) };
  GstMemory *memory = astro_memory_new(TEST_KILO, device);
  test_host_fill(memory, 1);
  for (guint i = 0; i < G_N_ELEMENTS(queues); i++)
    fake_hold(queues[i], TRUE);
  for (guint32 i = 1; i < 40; i++) {
    test_device_compare(memory, device, queues[2 + i % 2], i);
    test_device_fill(memory, device, queues[3 - i % 2], i + 1, i % 3 == 0);
    GstMemory *part = gst_memory_share(memory, 0, -1);
    test_device_compare(part, device, queues[3], i + 1);
    gst_memory_unref(part);
  }
  g_assert_cmpuint(device->host_waits, ==, 0);
  for (guint i = G_N_ELEMENTS(queues); i-- > 0;)
    fake_hold(queues[i], FALSE);
  test_host_compare(memory, 40);
  g_assert_cmpuint(device->host_waits, <=, 1);
  test_device_fill(memory, device, queues[2], 50, TRUE);
  g_assert_true(astro_memory_settle(memory, NULL));
  const gsize waits = device->host_waits;
  test_host_compare(memory, 50);
  g_assert_cmpuint(device->host_waits, ==, waits);
  gst_memory_unref(memory);
  astro_device_unref(device);
  fake_check_nothing_left();
}

/* Dropping memory never waits, and queued work still has its faces. */
static void test_freed_with_work_pending(void)
{
  AstroDevice *device = fake_device_new(4);
  AstroQueue *queue = device->funcs->queue_new(device, NULL);
  fake_hold(queue, TRUE);
  for (guint32 i = 0; i < 20; i++) {
    GstMemory *memory = astro_memory_new(TEST_KILO + i, i % 2 ? device : NULL);
    test_host_fill(memory, i);
    test_device_compare(memory, device, queue, i);
    test_device_fill(memory, device, queue, i + 1, i % 3 == 0);
    gst_memory_unref(memory);
  }
  g_assert_cmpuint(test_count().blocks, ==, 20);
  fake_hold(queue, FALSE);
  astro_device_unref(device); /* the blocks hold it */
  fake_check_nothing_left();
}

static void test_mapped_memory_is_not_touched(void)
{
  AstroDevice *device = fake_device_new(5);
  GstMemory *memory = astro_memory_new(TEST_KILO, device);
  GstMapInfo map;
  gpointer face;
  g_autoptr(GError) error = NULL;
  test_host_fill(memory, 1);
  g_assert_true(gst_memory_map(memory, &map, GST_MAP_READ));
  g_assert_false(astro_memory_acquire(memory, device, device->up, GST_MAP_WRITE, &face, &error));
  g_assert_nonnull(error);
  test_device_compare(memory, device, device->up, 1); /* reading together is fine */
  gst_memory_unmap(memory, &map);
  g_assert_true(astro_memory_acquire(memory, device, device->up, GST_MAP_READ, &face, NULL));
  g_assert_false(gst_memory_map(memory, &map, GST_MAP_WRITE));
  g_assert_true(astro_memory_release(memory, device->up, GST_MAP_READ, FALSE, NULL));
  test_host_fill(memory, 2);
  test_host_compare(memory, 2);
  gst_memory_unref(memory);
  astro_device_unref(device);
  fake_check_nothing_left();
}

static void test_two_devices(void)
{
  AstroDevice *devices[] = { fake_device_new(6), fake_device_new(7) };
  GstMemory *memory = astro_memory_new(TEST_KILO, devices[0]);
  test_host_fill(memory, 1);
  for (guint32 i = 1; i < 50; i++) {
    AstroDevice *device = devices[i % 2];
    test_device_compare(memory, device, device->up, i);
    test_device_fill(memory, device, device->down, i + 1, i % 3 == 0);
    /* the face on the device that the block has left stays for when it comes back */
    g_assert_cmpuint(test_count().device_bytes, ==, i == 1 ? TEST_KILO : 2 * TEST_KILO);
  }
  test_host_compare(memory, 50);
  gst_memory_unref(memory);
  astro_device_unref(devices[0]);
  astro_device_unref(devices[1]);
  fake_check_nothing_left();
}

static void add_tests(void)
{
  g_test_add_func("/memory/sizes-and-alignment", test_sizes_and_alignment);
  g_test_add_func("/memory/parts-and-copies", test_parts_and_copies);
  g_test_add_func("/memory/page-locking", test_page_locking);
  g_test_add_func("/memory/copies-only-where-needed", test_copies_only_where_needed);
  g_test_add_func("/memory/device-work-never-waits", test_device_work_never_waits);
  g_test_add_func("/memory/freed-with-work-pending", test_freed_with_work_pending);
  g_test_add_func("/memory/mapped-memory-is-not-touched", test_mapped_memory_is_not_touched);
  g_test_add_func("/memory/two-devices", test_two_devices);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
