/* Shared by tests of memory: bytes from a seed, written and read through either face, and the
 * counters. */
#pragma once

#include "tests/core/fake-device.h"
#include "tests/tests.h"

#define TEST_KILO 1024

static inline void test_host_fill(GstMemory *memory, guint32 seed)
{
  GstMapInfo map;
  g_assert_true(gst_memory_map(memory, &map, GST_MAP_WRITE));
  test_fill(map.data, map.size, seed);
  gst_memory_unmap(memory, &map);
}

static inline void test_host_compare(GstMemory *memory, guint32 seed)
{
  GstMapInfo map;
  g_assert_true(gst_memory_map(memory, &map, GST_MAP_READ));
  g_autofree guint8 *expected = g_malloc(map.size);
  test_fill(expected, map.size, seed);
  g_assert_cmpmem(map.data, map.size, expected, map.size);
  gst_memory_unmap(memory, &map);
}

static inline void test_device_fill(GstMemory *memory, AstroDevice *device, AstroQueue *queue,
                                    guint32 seed, gboolean copy_down)
{
  g_autoptr(GError) error = NULL;
  gpointer face;
  astro_memory_acquire(memory, device, queue, GST_MAP_WRITE, &face, &error);
  g_assert_no_error(error);
  fake_queue_kernel(device, queue, fake_kernel_fill, face, memory->size, GUINT_TO_POINTER(seed),
                    NULL);
  astro_memory_release(memory, queue, GST_MAP_WRITE, copy_down, &error);
  g_assert_no_error(error);
}

static inline void test_device_compare(GstMemory *memory, AstroDevice *device, AstroQueue *queue,
                                       guint32 seed)
{
  g_autoptr(GError) error = NULL;
  gpointer face;
  guint8 *expected = g_malloc(memory->size);
  test_fill(expected, memory->size, seed);
  astro_memory_acquire(memory, device, queue, GST_MAP_READ, &face, &error);
  g_assert_no_error(error);
  fake_queue_kernel(device, queue, fake_kernel_compare, face, memory->size, expected, g_free);
  astro_memory_release(memory, queue, GST_MAP_READ, FALSE, &error);
  g_assert_no_error(error);
}

static inline AstroMemoryCounters test_count(void)
{
  AstroMemoryCounters counters;
  astro_memory_counters(&counters);
  return counters;
}
