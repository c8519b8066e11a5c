/* Finds out whether blocks can go from device to device. */
#include "config.h"
#include "elements/mpi/way.h"

#include "core/backend/backend.h"
#include "core/memory/faces.h"
#include "elements/mpi/bonds.h"
#include "elements/mpi/nccl.h"
#include "elements/mpi/transport.h"

const char *way_name(Way way)
{
  static const char *const names[WAYS] = {
    [WAY_MPI] = "MPI", [WAY_NCCL] = "NCCL", [WAY_COPY] = "copies"
  };
  return names[way];
}

/* The device that alone has the bytes of a block; NULL: the host has them. */
static AstroDevice *find_device(GstBuffer *block)
{
  return gst_buffer_n_memory(block) == 1 ? astro_memory_only_on(gst_buffer_peek_memory(block, 0))
                                         : NULL;
}

gboolean way_is_on_device(GstBuffer *block)
{
  g_autoptr(AstroDevice) device = find_device(block);
  return device && bonds_use_device(device);
}

/* NULL, or what is wrong, whichever way. */
static const char *find_wrong(GstBuffer *first, AstroDevice *device, gboolean reads_on_host)
{
  if (!transport_is_one_host())
    return "has ranks on other hosts, expected all on one";
  if (!first)
    return "has no block to send, expected blocks on a device";
  if (!device)
    return "has its blocks in the memory of the host, expected a device";
  if (device->kind != ASTRO_BACKEND_CUDA)
    return "has its blocks on a device of OpenCL, expected CUDA";
  if (reads_on_host)
    return "reads what it gets on the host, expected a device";
  return bonds_use_device(device) ? NULL : "has blocks on two devices, expected one";
}

static void find_version(WayFacts *facts)
{
  g_autoptr(GError) error = NULL;
  if (nccl_load(&error))
    facts->version = nccl_version();
  else
    g_snprintf(facts->trouble[WAY_NCCL], sizeof facts->trouble[WAY_NCCL], "cannot use NCCL: %s",
               error->message);
}

void way_find_facts(WayFacts *facts, GstBuffer *first, gboolean reads_on_host)
{
  *facts = (WayFacts){ 0 };
  g_autoptr(AstroDevice) device = first ? find_device(first) : NULL;
  const char *wrong = find_wrong(first, device, reads_on_host);
  for (Way way = WAY_FIRST_OF_DEVICES; wrong && way < WAYS; way++)
    g_strlcpy(facts->trouble[way], wrong, sizeof facts->trouble[way]);
  if (wrong)
    return;
  device->funcs->find_bus(device, facts->bus);
  find_version(facts);
  if (!device->funcs->share)
    g_strlcpy(facts->trouble[WAY_COPY], "has a device whose memory no other process reaches",
              sizeof facts->trouble[WAY_COPY]);
}

/* NCCL wants a device for each rank, and to be the same everywhere. */
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

char *way_find_trouble(Way way, const WayFacts *const *facts, guint n, guint *rank)
{
  char *trouble = NULL;
  for (guint i = 0; i < n && !trouble; i++) {
    *rank = i;
    if (facts[i] && *facts[i]->trouble[way])
      trouble = g_strdup(facts[i]->trouble[way]);
    for (guint other = 0; way == WAY_NCCL && other < i && facts[i] && !trouble; other++)
      if (facts[other])
        trouble = compare(facts[i], facts[other], other);
  }
  return trouble;
}
