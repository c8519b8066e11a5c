/* Checks that pipelines leave nothing behind on a GPU. */
#pragma once

#include "tests/elements/running.h"
#include "core/backend/device.h"

/* The resources that a pipeline might leave behind. */
typedef struct {
  AstroMemoryCounters counters;
  AstroDeviceMemory memory;
  guint threads;
} TestLeft;

static inline guint test_count_threads(void)
{
  g_autoptr(GDir) folder = g_dir_open("/proc/self/task", 0, NULL);
  guint n = 0;
  while (folder && g_dir_read_name(folder))
    n++;
  return n;
}

static inline TestLeft test_look(AstroDevice *device)
{
  TestLeft left;
  g_autoptr(GError) error = NULL;
  test_hold_card(TRUE);
  astro_memory_reap();
  astro_memory_counters(&left.counters);
  device->funcs->memory(device, &left.memory, &error);
  g_assert_no_error(error);
  left.threads = test_count_threads();
  return left;
}

static inline void test_check_counters(const AstroMemoryCounters *after,
                                       const AstroMemoryCounters *before)
{
  g_assert_cmpuint(after->blocks, ==, before->blocks);
  g_assert_cmpuint(after->bytes, ==, before->bytes);
  g_assert_cmpuint(after->locked, ==, before->locked);
  g_assert_cmpuint(after->device_bytes, ==, before->device_bytes);
}

/* Streams and page tables belong to the driver and come in pieces, and idle threads stay in GLib's
 * pool. A leak with every stop would be far larger than either. */
static inline void test_check_left(AstroDevice *device, const TestLeft *before)
{
  TestLeft after = test_look(device);
  test_check_counters(&after.counters, &before->counters);
  g_assert_cmpuint(after.memory.ours, ==, before->memory.ours);
  g_assert_cmpuint(after.memory.free + (32u << 20), >=, before->memory.free);
  g_assert_cmpuint(after.threads, <=, before->threads + 16);
}
