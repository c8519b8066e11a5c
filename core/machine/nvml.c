/* Calls NVIDIA's management library. Its header is not needed: the few functions, all of them old
 * and stable, are declared here. */
#include "core/machine/nvml.h"

#include "core/backend/backend.h"

#include <gmodule.h>
#include <string.h>

typedef gpointer Gpu; /* nvmlDevice_t */

enum { SUCCESS = 0 };
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };
enum { MOST_LINKS = 32, LINK_TO_GPU = 0, LINK_TO_SWITCH = 2 };

typedef struct {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
} PciInfo;

struct _AstroNvml {
  GModule *library;
  unsigned n;
  int (*init)(void);
  int (*shutdown)(void);
  int (*count)(unsigned *n);
  int (*handle)(unsigned index, Gpu *gpu);
  int (*driver)(char *version, unsigned chars);
  int (*name)(Gpu gpu, char *name, unsigned chars);
  int (*pci)(Gpu gpu, PciInfo *info);
  int (*energy)(Gpu gpu, unsigned long long *millijoules);
  int (*clock)(Gpu gpu, int which, unsigned *megahertz);
  int (*link_state)(Gpu gpu, unsigned link, unsigned *is_active);
  int (*link_kind)(Gpu gpu, unsigned link, unsigned *kind);
  int (*link_pci)(Gpu gpu, unsigned link, PciInfo *info);
  int (*ancestor)(Gpu gpu, Gpu other, unsigned *level);
};

/* A driver may be too old for those that are not needed. */
static const struct {
  const char *name;
  gsize offset;
  gboolean needed;
} functions[] = {
  { "nvmlInit_v2", G_STRUCT_OFFSET(AstroNvml, init), TRUE },
  { "nvmlShutdown", G_STRUCT_OFFSET(AstroNvml, shutdown), TRUE },
  { "nvmlDeviceGetCount_v2", G_STRUCT_OFFSET(AstroNvml, count), TRUE },
  { "nvmlDeviceGetHandleByIndex_v2", G_STRUCT_OFFSET(AstroNvml, handle), TRUE },
  { "nvmlSystemGetDriverVersion", G_STRUCT_OFFSET(AstroNvml, driver), TRUE },
  { "nvmlDeviceGetName", G_STRUCT_OFFSET(AstroNvml, name), TRUE },
  { "nvmlDeviceGetPciInfo_v3", G_STRUCT_OFFSET(AstroNvml, pci), FALSE },
  { "nvmlDeviceGetTotalEnergyConsumption", G_STRUCT_OFFSET(AstroNvml, energy), FALSE },
  { "nvmlDeviceGetClockInfo", G_STRUCT_OFFSET(AstroNvml, clock), FALSE },
  { "nvmlDeviceGetNvLinkState", G_STRUCT_OFFSET(AstroNvml, link_state), FALSE },
  { "nvmlDeviceGetNvLinkRemoteDeviceType", G_STRUCT_OFFSET(AstroNvml, link_kind), FALSE },
  { "nvmlDeviceGetNvLinkRemotePciInfo_v2", G_STRUCT_OFFSET(AstroNvml, link_pci), FALSE },
  { "nvmlDeviceGetTopologyCommonAncestor", G_STRUCT_OFFSET(AstroNvml, ancestor), FALSE },
};

static gboolean find_functions(AstroNvml *nvml, const char *path, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS(functions); i++) {
    gpointer *place = G_STRUCT_MEMBER_P(nvml, functions[i].offset);
    if (!g_module_symbol(nvml->library, functions[i].name, place) && functions[i].needed)
      return astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                        "%s has no function %s", path, functions[i].name);
  }
  return TRUE;
}

AstroNvml *astro_nvml_open(GError **error)
{
  const char *named = g_getenv("ASTRO_NVML");
  const char *path = named && *named ? named : "libnvidia-ml.so.1";
  AstroNvml *nvml = g_new0(AstroNvml, 1);
  nvml->library = g_module_open(path, G_MODULE_BIND_LOCAL | G_MODULE_BIND_LAZY);
  if (!nvml->library) {
    astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
               "%s cannot be loaded: it comes with NVIDIA's driver", path);
    g_free(nvml);
    return NULL;
  }
  gboolean started = FALSE;
  if (find_functions(nvml, path, error)) {
    const int status = nvml->init();
    started = status == SUCCESS;
    if (!started)
      astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                 "%s does not start: error %d of its nvmlInit", path, status);
  }
  if (started) {
    if (nvml->count(&nvml->n) != SUCCESS)
      nvml->n = 0;
    return nvml;
  }
  g_module_close(nvml->library);
  g_free(nvml);
  return NULL;
}

void astro_nvml_close(AstroNvml *nvml)
{
  if (!nvml)
    return;
  nvml->shutdown();
  g_module_close(nvml->library);
  g_free(nvml);
}

char *astro_nvml_driver(const AstroNvml *nvml)
{
  char version[96] = "";
  return g_strdup(nvml->driver(version, sizeof version) == SUCCESS ? version : "");
}

guint astro_nvml_count(const AstroNvml *nvml)
{
  return nvml->n;
}

static gboolean find_gpu(const AstroNvml *nvml, guint index, Gpu *gpu)
{
  return index < nvml->n && nvml->handle(index, gpu) == SUCCESS;
}

/* The library writes domains with eight digits, the kernel with four. */
static const char *within_domain(const char *bus)
{
  const char *colon = strchr(bus, ':');
  return colon ? colon : bus;
}

static gboolean is_at(const PciInfo *info, const char *bus)
{
  return info->domain == g_ascii_strtoull(bus, NULL, 16) &&
         g_ascii_strcasecmp(within_domain(info->bus_id), within_domain(bus)) == 0;
}

gint astro_nvml_find(const AstroNvml *nvml, const char *bus)
{
  for (guint i = 0; i < nvml->n && nvml->pci; i++) {
    PciInfo info = { { 0 } };
    Gpu gpu;
    if (find_gpu(nvml, i, &gpu) && nvml->pci(gpu, &info) == SUCCESS && is_at(&info, bus))
      return (gint)i;
  }
  return -1;
}

char *astro_nvml_name(const AstroNvml *nvml, guint index)
{
  char name[96] = "";
  Gpu gpu;
  return g_strdup(
      find_gpu(nvml, index, &gpu) && nvml->name(gpu, name, sizeof name) == SUCCESS ? name : "");
}

gboolean astro_nvml_energy(const AstroNvml *nvml, guint index, double *joules)
{
  unsigned long long millijoules;
  Gpu gpu;
  if (!nvml->energy || !find_gpu(nvml, index, &gpu) || nvml->energy(gpu, &millijoules) != SUCCESS)
    return FALSE;
  *joules = (double)millijoules / 1e3;
  return TRUE;
}

void astro_nvml_clocks(const AstroNvml *nvml, guint index, guint *multiprocessors, guint *memory)
{
  Gpu gpu;
  *multiprocessors = *memory = 0;
  if (!nvml->clock || !find_gpu(nvml, index, &gpu))
    return;
  if (nvml->clock(gpu, CLOCK_SM, multiprocessors) != SUCCESS)
    *multiprocessors = 0;
  if (nvml->clock(gpu, CLOCK_MEMORY, memory) != SUCCESS)
    *memory = 0;
}

/* ---- links ---- */

/* Links to the other GPU, or to a switch, which joins all GPUs that are on it. */
static guint count_links(const AstroNvml *nvml, Gpu gpu, const PciInfo *other, guint *to_switch)
{
  guint straight = 0;
  *to_switch = 0;
  for (unsigned link = 0; link < MOST_LINKS && nvml->link_state; link++) {
    unsigned is_active = 0, kind = LINK_TO_GPU;
    PciInfo there = { { 0 } };
    if (nvml->link_state(gpu, link, &is_active) != SUCCESS || !is_active)
      continue;
    if (nvml->link_kind && nvml->link_kind(gpu, link, &kind) == SUCCESS && kind == LINK_TO_SWITCH)
      (*to_switch)++;
    else if (nvml->link_pci && nvml->link_pci(gpu, link, &there) == SUCCESS)
      straight += is_at(&there, other->bus_id);
  }
  return straight;
}

static char *tell_path(const AstroNvml *nvml, Gpu gpu, Gpu other)
{
  static const struct {
    unsigned level;
    const char *what;
  } levels[] = {
    { 0, "the same board" },      { 10, "one PCIe switch" }, { 20, "several PCIe switches" },
    { 30, "a PCIe host bridge" }, { 40, "one NUMA node" },   { 50, "the link between NUMA nodes" },
  };
  unsigned level;
  if (!nvml->ancestor || nvml->ancestor(gpu, other, &level) != SUCCESS)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS(levels); i++)
    if (levels[i].level == level)
      return g_strdup(levels[i].what);
  return NULL;
}

char *astro_nvml_between(const AstroNvml *nvml, guint index, guint other_index)
{
  Gpu gpu, other;
  PciInfo info = { { 0 } };
  guint mine, theirs;
  if (!find_gpu(nvml, index, &gpu) || !find_gpu(nvml, other_index, &other) || !nvml->pci ||
      nvml->pci(other, &info) != SUCCESS)
    return NULL;
  const guint straight = count_links(nvml, gpu, &info, &mine);
  count_links(nvml, other, &info, &theirs);
  const guint links = MAX(straight, MIN(mine, theirs));
  if (links > 0)
    return g_strdup_printf("%u NVLink%s%s", links, links == 1 ? "" : "s",
                           straight > 0 ? "" : " to a switch");
  return tell_path(nvml, gpu, other);
}
