/* Buffers on a device: foreign memory, parts, shared buffers, and bytes at any address. */
#include "tests/core/memory/memory.h"
#include "core/backend/device.h"

static void buffer_compare(GstBuffer **buffer, AstroDevice *device, guint32 seed)
{
  const gsize bytes = gst_buffer_get_size(*buffer);
  guint8 *expected = g_malloc(bytes);
  gpointer face;
  g_autoptr(GError) error = NULL;
  test_fill(expected, bytes, seed);
  astro_buffer_acquire(buffer, device, device->up, GST_MAP_READ, &face, &error);
  g_assert_no_error(error);
  fake_queue_kernel(device, device->up, fake_kernel_compare, face, bytes, expected, g_free);
  astro_buffer_release(*buffer, device->up, GST_MAP_READ, FALSE, &error);
  g_assert_no_error(error);
}

static void buffer_fill(GstBuffer **buffer, AstroDevice *device, guint32 seed)
{
  gpointer face;
  g_autoptr(GError) error = NULL;
  astro_buffer_acquire(buffer, device, device->up, GST_MAP_WRITE, &face, &error);
  g_assert_no_error(error);
  fake_queue_kernel(device, device->up, fake_kernel_fill, face, gst_buffer_get_size(*buffer),
                    GUINT_TO_POINTER(seed), NULL);
  astro_buffer_release(*buffer, device->up, GST_MAP_WRITE, FALSE, &error);
  g_assert_no_error(error);
}

static void buffer_host_compare(GstBuffer *buffer, guint32 seed)
{
  GstMapInfo map;
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  g_autofree guint8 *expected = g_malloc(map.size);
  test_fill(expected, map.size, seed);
  g_assert_cmpmem(map.data, map.size, expected, map.size);
  gst_buffer_unmap(buffer, &map);
}

static void test_buffers(void)
{
  AstroDevice *device = fake_device_new(16);
  g_autofree guint8 *bytes = g_malloc(3000);
  test_fill(bytes, 3000, 1);
  const guint64 before = test_count().host_copies;

  /* Foreign memory, one or several: one copy, in the buffer's place. */
  GstBuffer *buffer = gst_buffer_new_memdup(bytes, 1000);
  gst_buffer_append_memory(buffer, gst_memory_new_wrapped(0, bytes, 3000, 1000, 2000, NULL, NULL));
  GST_BUFFER_OFFSET(buffer) = 77;
  GstBuffer *other = gst_buffer_ref(buffer);
  buffer_compare(&buffer, device, 1);
  g_assert_true(buffer != other);
  g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, 77);
  g_assert_cmpuint(gst_buffer_n_memory(buffer), ==, 1);
  g_assert_cmpuint(gst_buffer_n_memory(other), ==, 2);
  g_assert_cmpuint(test_count().host_copies - before, ==, 1);
  gst_buffer_unref(other);
  buffer_compare(&buffer, device, 1);
  g_assert_cmpuint(test_count().host_copies - before, ==, 1);

  /* Contiguous parts become one again without a copy. */
  GstBuffer *left = gst_buffer_copy_region(buffer, GST_BUFFER_COPY_MEMORY, 0, 1234);
  GstBuffer *right = gst_buffer_copy_region(buffer, GST_BUFFER_COPY_MEMORY, 1234, -1);
  GstBuffer *both = gst_buffer_append(left, right);
  g_assert_cmpuint(gst_buffer_n_memory(both), ==, 2);
  buffer_compare(&both, device, 1);
  g_assert_cmpuint(test_count().host_copies - before, ==, 1);

  /* Writing a shared block gives a new one, with the old bytes if they are read as well. */
  gpointer face;
  g_assert_true(astro_buffer_acquire(&both, device, device->up, GST_MAP_READWRITE, &face, NULL));
  fake_queue_kernel(device, device->up, fake_kernel_compare, face, 3000, g_memdup2(bytes, 3000),
                    g_free);
  fake_queue_kernel(device, device->up, fake_kernel_fill, face, 3000, GUINT_TO_POINTER(2), NULL);
  g_assert_true(astro_buffer_release(both, device->up, GST_MAP_READWRITE, TRUE, NULL));
  g_assert_cmpuint(test_count().host_copies - before, ==, 2);
  buffer_host_compare(both, 2);
  buffer_host_compare(buffer, 1);
  gst_buffer_unref(both);

  other = gst_buffer_ref(buffer);
  buffer_fill(&buffer, device, 3);
  g_assert_true(buffer != other);
  g_assert_cmpuint(test_count().host_copies - before, ==, 2);
  buffer_host_compare(other, 1);
  buffer_host_compare(buffer, 3);
  gst_buffer_unref(other);

  /* The buffer's own memory is written in place. */
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
  buffer_fill(&buffer, device, 4);
  g_assert_true(gst_buffer_peek_memory(buffer, 0) == memory);
  buffer_host_compare(buffer, 4);

  /* A host element that writes to a shared buffer gets a copy of the bytes that the device
   * wrote. */
  other = gst_buffer_copy(buffer);
  GstMapInfo map;
  g_assert_true(gst_buffer_map(other, &map, GST_MAP_READWRITE));
  memset(map.data, 0, map.size);
  gst_buffer_unmap(other, &map);
  gst_buffer_unref(other);
  buffer_compare(&buffer, device, 4);
  gst_buffer_unref(buffer);

  buffer = gst_buffer_new();
  buffer_compare(&buffer, device, 1);
  gst_buffer_unref(buffer);
  astro_device_unref(device);
  fake_check_nothing_left();
}

/* A part that begins inside a sample gets a block of its own, and no other part does. */
static void test_alignment(void)
{
  static const gsize offsets[] = { 1, 2, 4, 7, 8, 12, 16 };
  AstroDevice *device = fake_device_new(17);
  guint8 expected[3000] __attribute__((aligned(16)));
  test_fill(expected, sizeof expected, 1);
  for (guint i = 0; i < G_N_ELEMENTS(offsets); i++)
    for (gsize unit = 1; unit <= 16; unit *= 2) {
      const gsize offset = offsets[i];
      const gboolean lies_well = offset % unit == 0;
      const guint64 before = test_count().host_copies;
      GstBuffer *whole = gst_buffer_new();
      gst_buffer_append_memory(whole, astro_memory_new(sizeof expected + offset, device));
      gst_buffer_fill(whole, offset, expected, sizeof expected);
      GstBuffer *part = gst_buffer_copy_region(whole, GST_BUFFER_COPY_MEMORY, offset, -1);
      GST_BUFFER_OFFSET(part) = 77;
      GstMemory *memory = gst_buffer_peek_memory(part, 0);
      g_assert_true(astro_buffer_align(&part, device, unit, NULL));
      g_assert_true((gst_buffer_peek_memory(part, 0) == memory) == lies_well);
      g_assert_cmpuint(test_count().host_copies - before, ==, !lies_well);
      g_assert_cmpuint(GST_BUFFER_OFFSET(part), ==, 77);
      buffer_compare(&part, device, 1);
      gst_buffer_unref(part);
      gst_buffer_unref(whole);
    }
  GstBuffer *foreign =
      gst_buffer_new_wrapped_full(0, expected, sizeof expected, 1, sizeof expected - 1, NULL, NULL);
  g_assert_true(astro_buffer_align(&foreign, device, 16, NULL));
  g_assert_true(astro_memory_is(gst_buffer_peek_memory(foreign, 0)));
  g_assert_cmpuint(gst_buffer_get_size(foreign), ==, sizeof expected - 1);
  g_assert_cmpint(gst_buffer_memcmp(foreign, 0, expected + 1, sizeof expected - 1), ==, 0);
  gst_buffer_unref(foreign);
  astro_memory_reap();
  astro_device_unref(device);
}

static void test_buffer_failures(void)
{
  AstroDevice *device = fake_device_new(17);
  GstBuffer *buffer = gst_buffer_new_memdup("0123456789", 10);
  gpointer face;
  g_autoptr(GError) error = NULL;
  fake_fail(device, FAKE_ALLOC, 1);
  g_assert_false(astro_buffer_acquire(&buffer, device, device->up, GST_MAP_READ, &face, &error));
  g_assert_nonnull(error);
  g_assert_nonnull(strstr(error->message, "10 bytes"));
  GstMapInfo map;
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  g_assert_cmpmem(map.data, map.size, "0123456789", 10);
  gst_buffer_unmap(buffer, &map);
  gst_buffer_unref(buffer);
  astro_device_unref(device);
  fake_check_nothing_left();
}

/* Bytes at any address are copied to an aligned block with the buffer's metadata; aligned ones stay
 * where they are, and bytes on a device are not copied to the host for that. */
static void test_aligning(void)
{
  static const guint8 bytes[40] = { 1, 2, 3, 4, 5 };
  AstroMemoryCounters before, after;
  for (guint shift = 0; shift <= 8; shift++)
    for (guint ours = 0; ours < 2; ours++) {
      GstBuffer *whole = gst_buffer_new();
      gst_buffer_append_memory(whole, ours ? astro_memory_new(64, NULL)
                                           : gst_allocator_alloc(NULL, 64, NULL));
      gst_buffer_fill(whole, shift, bytes, sizeof bytes);
      GstBuffer *part = gst_buffer_copy_region(whole, GST_BUFFER_COPY_MEMORY, shift, sizeof bytes),
                *held = gst_buffer_ref(part);
      GstMapInfo map, original;
      GST_BUFFER_PTS(part) = 7;
      g_assert_true(gst_buffer_map(held, &original, GST_MAP_READ));
      astro_memory_counters(&before);
      g_assert_true(astro_buffer_align(&part, NULL, ASTRO_SAMPLES_ALIGN, NULL));
      astro_memory_counters(&after);
      g_assert_cmpuint(after.host_copies - before.host_copies, ==,
                       ((gsize)original.data & 7) != 0 ? 1 : 0);
      g_assert_true((part == held) == (((gsize)original.data & 7) == 0));
      g_assert_true(gst_buffer_map(part, &map, GST_MAP_READ));
      g_assert_cmpuint((gsize)map.data & 7, ==, 0);
      g_assert_cmpmem(map.data, map.size, bytes, sizeof bytes);
      g_assert_cmpuint(GST_BUFFER_PTS(part), ==, 7);
      gst_buffer_unmap(part, &map);
      gst_buffer_unmap(held, &original);
      gst_buffer_unref(part);
      gst_buffer_unref(held);
      gst_buffer_unref(whole);
    }
  GstBuffer *empty = gst_buffer_new();
  g_assert_true(astro_buffer_align(&empty, NULL, ASTRO_SAMPLES_ALIGN, NULL));
  gst_buffer_unref(empty);
}

static void add_tests(void)
{
  g_test_add_func("/memory/buffers", test_buffers);
  g_test_add_func("/memory/alignment", test_alignment);
  g_test_add_func("/memory/buffer-failures", test_buffer_failures);
  g_test_add_func("/memory/aligning", test_aligning);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
