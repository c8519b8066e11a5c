/* Finds out whether blocks can go by NCCL. */
#include "config.h"
#include "elements/mpi/way.h"

#include "core/backend/backend.h"
#include "core/memory/faces.h"
#include "elements/mpi/nccl.h"
#include "elements/mpi/transport.h"

/* The device that alone has the bytes of a block; NULL: the host has them. */
static AstroDevice *find_device(GstBuffer *block)
{
  return gst_buffer_n_memory(block) == 1 ? astro_memory_only_on(gst_buffer_peek_memory(block, 0))
                                         : NULL;
}

gboolean way_is_on_device(GstBuffer *block)
{
  g_autoptr(AstroDevice) device = find_device(block);
  return device && transport_use_device(device);
}

/* NULL, or what is wrong. */
static const char *find_wrong(WayFacts *facts, GstBuffer *first, gboolean reads_on_host)
{
  if (!transport_is_one_host())
    return "has ranks on other hosts, expected all on one";
  if (!first)
    return "has no block to send, expected blocks on a device";
  g_autoptr(AstroDevice) device = find_device(first);
  if (!device)
    return "has its blocks in the memory of the host, expected a device";
  if (device->kind != ASTRO_BACKEND_CUDA)
    return "has its blocks on a device of OpenCL, expected CUDA";
  if (reads_on_host)
    return "reads what it gets on the host, expected a device";
  if (!transport_use_device(device))
    return "has blocks on two devices, expected one";
  device->funcs->find_bus(device, facts->bus);
  return NULL;
}

void way_find_facts(WayFacts *facts, GstBuffer *first, gboolean reads_on_host)
{
  g_autoptr(GError) error = NULL;
  *facts = (WayFacts){ 0 };
  const char *wrong = find_wrong(facts, first, reads_on_host);
  if (wrong)
    g_strlcpy(facts->trouble, wrong, sizeof facts->trouble);
  else if (nccl_load(&error))
    facts->version = nccl_version();
  else
    g_snprintf(facts->trouble, sizeof facts->trouble, "cannot use NCCL: %s", error->message);
}

static char *compare(const WayFacts *ours, const WayFacts *other, guint rank)
{
  if (*ours->bus && g_str_equal(ours->bus, other->bus))
    return g_strdup_printf("has the device %s, as rank %u has, expected one of its own", ours->bus,
                           rank);
  if (ours->version != other->version)
    return g_strdup_printf("has NCCL %u, and rank %u %u, expected the same", ours->version, rank,
                           other->version);
  return NULL;
}

char *way_find_trouble(const WayFacts *const *facts, guint n, guint *rank)
{
  char *trouble = NULL;
  for (guint i = 0; i < n && !trouble; i++) {
    *rank = i;
    if (facts[i] && *facts[i]->trouble)
      trouble = g_strdup(facts[i]->trouble);
    for (guint other = 0; other < i && facts[i] && !trouble; other++)
      if (facts[other])
        trouble = compare(facts[i], facts[other], other);
  }
  return trouble;
}
