/* Which memory and cores of a host are near a device. */
#include "config.h"
#include "core/backend/node.h"
#include "core/backend/threads.h"

#include <linux/mempolicy.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORD_BITS (8 * sizeof(gulong))
#define MOST_BITS (ASTRO_NODE_WORDS * WORD_BITS)
G_STATIC_ASSERT(sizeof(cpu_set_t) == ASTRO_NODE_WORDS * sizeof(gulong));

/* A file of /sys, or of a folder that stands for it in tests. */
static char *read_sys(const char *name)
{
  const char *root = g_getenv("ASTRO_SYS");
  g_autofree char *path = g_build_filename(root ? root : "/sys", name, NULL);
  char *text = NULL;
  return g_file_get_contents(path, &text, NULL, NULL) ? text : NULL;
}

/* Numbers and ranges, such as 0-3,8. Returns how many. */
static guint read_bits(const char *text, gulong bits[ASTRO_NODE_WORDS])
{
  guint n = 0;
  memset(bits, 0, ASTRO_NODE_WORDS * sizeof *bits);
  while (g_ascii_isdigit(*text)) {
    char *end;
    const guint64 first = g_ascii_strtoull(text, &end, 10);
    const guint64 last = *end == '-' ? g_ascii_strtoull(end + 1, &end, 10) : first;
    for (guint64 i = first; i <= MIN(last, MOST_BITS - 1); i++, n++)
      bits[i / WORD_BITS] |= 1ul << (i % WORD_BITS);
    text = *end == ',' ? end + 1 : end;
  }
  return n;
}

gint astro_node_of(AstroDevice *device)
{
  char bus[ASTRO_BUS_CHARS] = "";
  device->funcs->find_bus(device, bus);
  g_autofree char *name = g_build_filename("bus/pci/devices", bus, "numa_node", NULL);
  g_autofree char *text = *bus ? read_sys(name) : NULL;
  const gint64 node = text ? g_ascii_strtoll(text, NULL, 10) : -1;
  return node >= 0 && node < (gint64)MOST_BITS ? (gint)node : -1;
}

guint astro_node_count(void)
{
  gulong bits[ASTRO_NODE_WORDS];
  g_autofree char *text = read_sys("devices/system/node/online");
  return text ? read_bits(text, bits) : 0;
}

/* -1: none is nearer than others. */
static gint nearest(AstroDevice *device)
{
  return astro_node_count() > 1 ? astro_node_of(device) : -1;
}

void astro_node_memory_enter(AstroNodeMemory *memory, AstroDevice *device)
{
  const gint node = nearest(device);
  gulong wanted[ASTRO_NODE_WORDS] = { 0 };
  memory->is_set = FALSE;
  if (node < 0 || syscall(SYS_get_mempolicy, &memory->mode, memory->nodes, MOST_BITS, NULL, 0) != 0)
    return;
  wanted[(guint)node / WORD_BITS] = 1ul << ((guint)node % WORD_BITS);
  memory->is_set = syscall(SYS_set_mempolicy, MPOL_PREFERRED, wanted, MOST_BITS) == 0;
}

void astro_node_memory_leave(AstroNodeMemory *memory)
{
  if (memory->is_set)
    syscall(SYS_set_mempolicy, memory->mode, memory->nodes, MOST_BITS);
  memory->is_set = FALSE;
}

/* Workers are started before, since they inherit the cores of the thread that starts them. */
void astro_node_cores_enter(AstroNodeCores *cores, AstroDevice *device)
{
  const gint node = nearest(device);
  cpu_set_t near, both;
  cores->is_set = FALSE;
  if (node < 0)
    return;
  g_autofree char *name = g_strdup_printf("devices/system/node/node%d/cpulist", node);
  g_autofree char *text = read_sys(name);
  astro_threads_start();
  if (!text || !read_bits(text, (gulong *)&near) ||
      sched_getaffinity(0, sizeof cores->before, &cores->before) != 0)
    return;
  CPU_AND(&both, &near, &cores->before);
  cores->is_set = CPU_COUNT(&both) > 0 && sched_setaffinity(0, sizeof both, &both) == 0;
}

void astro_node_cores_leave(AstroNodeCores *cores)
{
  if (cores->is_set)
    sched_setaffinity(0, sizeof cores->before, &cores->before);
  cores->is_set = FALSE;
}
