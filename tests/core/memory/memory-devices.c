/* Blocks that go from device to device: straight across where there is a way, else by the host, and
 * in either case without waiting for anything on the host. */
#include "core/backend/backend.h"
#include "core/memory/faces.h"
#include "tests/core/memory/memory.h"

#include <string.h>

enum { MOST = 4 };

typedef struct {
  AstroDevice *devices[MOST];
  guint n;
  AstroFacesCounters before;
} Devices;

static void open_devices(Devices *set, guint n, gboolean alone)
{
  set->n = n;
  for (guint i = 0; i < n; i++) {
    set->devices[i] = fake_device_new(11 + i);
    ((FakeDevice *)set->devices[i])->alone = alone;
    g_free(set->devices[i]->name);
    set->devices[i]->name = g_strdup_printf("fake %u", i);
  }
  set->before = astro_faces_counters;
}

static void close_devices(Devices *set)
{
  for (guint i = 0; i < set->n; i++)
    astro_device_unref(set->devices[i]);
  fake_check_nothing_left();
}

static guint64 copies_across(const Devices *set)
{
  return astro_faces_counters.copies_across - set->before.copies_across;
}

static guint64 copies_by_host(const Devices *set)
{
  return astro_faces_counters.copies_up + astro_faces_counters.copies_down - set->before.copies_up -
         set->before.copies_down;
}

/* The first device is held, so that nothing is done that the second one's work has to wait for: all
 * calls return nevertheless. */
static void go_on(gboolean alone)
{
  Devices set;
  open_devices(&set, 2, alone);
  AstroDevice *first = set.devices[0], *second = set.devices[1];
  AstroQueue *work = first->funcs->queue_new(first, NULL),
             *there = second->funcs->queue_new(second, NULL);
  GstMemory *memory = astro_memory_new(TEST_KILO, first);
  fake_hold(work, TRUE);
  test_device_fill(memory, first, work, 1, FALSE);
  test_device_compare(memory, second, there, 1);
  test_device_fill(memory, second, there, 2, FALSE);
  test_device_compare(memory, first, first->up, 2);
  g_assert_cmpuint(astro_faces_counters.host_waits, ==, set.before.host_waits);
  g_assert_cmpuint(copies_across(&set), ==, alone ? 0 : 2);
  g_assert_cmpuint(copies_by_host(&set), ==, alone ? 4 : 0);
  g_assert_cmpuint(second->bytes_across, ==, alone ? 0 : TEST_KILO);
  fake_hold(work, FALSE);
  test_host_compare(memory, 2);
  gst_memory_unref(memory);
  first->funcs->queue_free(first, work);
  second->funcs->queue_free(second, there);
  close_devices(&set);
}

static void test_straight(void)
{
  go_on(FALSE);
}

static void test_by_host(void)
{
  go_on(TRUE);
}

/* To and fro between several, with the host in between now and then. */
static void test_around(void)
{
  for (guint alone = 0; alone < 2; alone++) {
    Devices set;
    guint64 state = 5;
    open_devices(&set, MOST, (gboolean)alone);
    GstMemory *memory = astro_memory_new(TEST_KILO, set.devices[0]);
    guint32 now = 1;
    test_host_fill(memory, now);
    for (guint i = 0; i < 300; i++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      AstroDevice *device = set.devices[(state >> 40) % MOST];
      switch ((state >> 50) % 5) {
      case 0:
        test_device_fill(memory, device, device->up, ++now, (state >> 60) & 1);
        break;
      case 1:
        test_host_compare(memory, now);
        break;
      case 2:
        test_host_fill(memory, ++now);
        break;
      default:
        test_device_compare(memory, device, device->down, now);
      }
      g_assert_cmpuint(test_count().device_bytes, <=, MOST * TEST_KILO);
    }
    test_host_compare(memory, now);
    g_assert_true((copies_across(&set) > 0) == !alone);
    gst_memory_unref(memory);
    close_devices(&set);
  }
}

/* Bytes that are about to be overwritten are not copied. */
static void test_overwritten(void)
{
  Devices set;
  open_devices(&set, 2, FALSE);
  GstMemory *memory = astro_memory_new(TEST_KILO, set.devices[0]);
  for (guint32 i = 0; i < 8; i++)
    test_device_fill(memory, set.devices[i % 2], set.devices[i % 2]->up, i, FALSE);
  g_assert_cmpuint(copies_across(&set) + copies_by_host(&set), ==, 0);
  test_host_compare(memory, 7);
  gst_memory_unref(memory);
  close_devices(&set);
}

/* A copy that fails says on which device, and no bytes are taken for right after it. */
static void test_failure(void)
{
  for (guint alone = 0; alone < 2; alone++) {
    Devices set;
    g_autoptr(GError) error = NULL;
    gpointer face;
    open_devices(&set, 2, (gboolean)alone);
    AstroDevice *second = set.devices[1];
    GstMemory *memory = astro_memory_new(TEST_KILO, set.devices[0]);
    test_device_fill(memory, set.devices[0], set.devices[0]->up, 3, FALSE);
    fake_fail(second, FAKE_COPY, 1);
    g_assert_false(astro_memory_acquire(memory, second, second->up, GST_MAP_READ, &face, &error));
    g_assert_nonnull(error);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, "fake 1"));
    gst_memory_unref(memory);
    close_devices(&set);
  }
}

/* A device without room leaves the block where it is. */
static void test_no_room(void)
{
  Devices set;
  g_autoptr(GError) error = NULL;
  gpointer face;
  open_devices(&set, 2, FALSE);
  AstroDevice *second = set.devices[1];
  GstMemory *memory = astro_memory_new(TEST_KILO, set.devices[0]);
  test_device_fill(memory, set.devices[0], set.devices[0]->up, 3, FALSE);
  fake_fail(second, FAKE_ALLOC, 1);
  g_assert_false(astro_memory_acquire(memory, second, second->up, GST_MAP_READ, &face, &error));
  g_assert_nonnull(error);
  test_device_compare(memory, set.devices[0], set.devices[0]->up, 3);
  test_host_compare(memory, 3);
  gst_memory_unref(memory);
  close_devices(&set);
}

static void add_tests(void)
{
  g_test_add_func("/memory-devices/straight", test_straight);
  g_test_add_func("/memory-devices/by-host", test_by_host);
  g_test_add_func("/memory-devices/around", test_around);
  g_test_add_func("/memory-devices/overwritten", test_overwritten);
  g_test_add_func("/memory-devices/failure", test_failure);
  g_test_add_func("/memory-devices/no-room", test_no_room);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
