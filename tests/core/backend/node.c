/* Memory and cores near a device, on hosts that a folder describes. */
#include "config.h"
#include "core/backend/node.h"
#include "core/backend/threads.h"
#include "tests/core/fake-device.h"
#include "tests/host.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The device on its bus is near that node. */
static void describe_host(const char *online, const char *node)
{
  test_host_say("devices/system/node/online", online);
  test_host_say("bus/pci/devices/fake:00:00.0/numa_node", node);
}

/* One of the cores that this thread may use, and some that no machine has. */
static int describe_cores(const char *node)
{
  g_autofree char *name = g_strdup_printf("devices/system/node/node%s/cpulist", node);
  cpu_set_t mine;
  int core = 0;
  g_assert_cmpint(sched_getaffinity(0, sizeof mine, &mine), ==, 0);
  while (!CPU_ISSET(core, &mine))
    core++;
  g_autofree char *list = g_strdup_printf("%d,1000-1001,5000-6000\n", core);
  test_host_say(name, list);
  return core;
}

static int policy(void)
{
  int mode = -1;
  return syscall(SYS_get_mempolicy, &mode, NULL, 0, NULL, 0) == 0 ? mode : -1;
}

static void test_told(void)
{
  AstroDevice *device = fake_device_new(1);
  describe_host("0-1,3\n", "3\n");
  g_assert_cmpuint(astro_node_count(), ==, 3);
  g_assert_cmpint(astro_node_of(device), ==, 3);
  describe_host("0\n", "-1\n");
  g_assert_cmpuint(astro_node_count(), ==, 1);
  g_assert_cmpint(astro_node_of(device), ==, -1);
  test_host_remove();
  g_setenv("ASTRO_SYS", "/nowhere", TRUE);
  g_assert_cmpuint(astro_node_count(), ==, 0);
  g_assert_cmpint(astro_node_of(device), ==, -1);
  astro_device_unref(device);
}

/* Cores and memory are those of the node, and afterwards those of before. */
static void test_near(void)
{
  AstroDevice *device = fake_device_new(2);
  AstroNodeCores cores;
  AstroNodeMemory memory;
  cpu_set_t before, now;
  const int mode = policy();
  describe_host("0-1\n", "0\n");
  const int core = describe_cores("0");
  sched_getaffinity(0, sizeof before, &before);
  astro_node_cores_enter(&cores, device);
  g_assert_true(cores.is_set);
  g_assert_cmpint(sched_getaffinity(0, sizeof now, &now), ==, 0);
  g_assert_cmpint(CPU_COUNT(&now), ==, 1);
  g_assert_true(CPU_ISSET(core, &now));
  g_assert_cmpuint(astro_threads(), ==, (guint)CPU_COUNT(&before));
  astro_node_cores_leave(&cores);
  sched_getaffinity(0, sizeof now, &now);
  g_assert_true(CPU_EQUAL(&now, &before));
  astro_node_memory_enter(&memory, device);
  if (memory.is_set)
    g_assert_cmpint(policy(), ==, MPOL_PREFERRED);
  else
    g_test_message("this system lets nobody choose a node for memory");
  astro_node_memory_leave(&memory);
  g_assert_cmpint(policy(), ==, mode);
  astro_device_unref(device);
  test_host_remove();
}

/* Nothing is near on a host of one node, or near a node that this host has no cores of. */
static void test_nothing(void)
{
  static const struct {
    const char *online, *node;
  } hosts[] = { { "0\n", "0\n" }, { "0-1\n", "-1\n" }, { "0-1\n", "1\n" } };
  AstroDevice *device = fake_device_new(3);
  for (guint i = 0; i < G_N_ELEMENTS(hosts); i++) {
    AstroNodeCores cores;
    AstroNodeMemory memory;
    cpu_set_t before, now;
    const int mode = policy();
    describe_host(hosts[i].online, hosts[i].node);
    test_host_say("devices/system/node/node1/cpulist", "1000\n");
    sched_getaffinity(0, sizeof before, &before);
    astro_node_cores_enter(&cores, device);
    g_assert_false(cores.is_set);
    sched_getaffinity(0, sizeof now, &now);
    g_assert_true(CPU_EQUAL(&now, &before));
    astro_node_cores_leave(&cores);
    astro_node_memory_enter(&memory, device);
    if (i < 2)
      g_assert_false(memory.is_set);
    astro_node_memory_leave(&memory);
    g_assert_cmpint(policy(), ==, mode);
  }
  astro_device_unref(device);
  test_host_remove();
}

/* Blocks are page-locked as elsewhere, and leave the thread as it was. */
static void test_block(void)
{
  AstroDevice *device = fake_device_new(4);
  const int mode = policy();
  describe_host("0-1\n", "0\n");
  GstMemory *memory = astro_memory_new(1 << 20, device);
  g_assert_true(astro_memory_is_locked(memory));
  g_assert_cmpint(policy(), ==, mode);
  gst_memory_unref(memory);
  astro_memory_reap();
  astro_device_unref(device);
  fake_check_nothing_left();
  test_host_remove();
}

static void add_tests(void)
{
  g_test_add_func("/node/told", test_told);
  g_test_add_func("/node/near", test_near);
  g_test_add_func("/node/nothing", test_nothing);
  g_test_add_func("/node/block", test_block);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
