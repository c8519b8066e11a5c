/* NVIDIA's management library as tests want it: two GPUs whose counters are in the environment
 * variable ASTRO_FAKE_MILLIJOULES ("1000,2500"; a GPU without a number has no counter; "+" is one
 * that rises by 1500 whenever it is read), joined as ASTRO_FAKE_LINKS says (switch, straight,
 * bridge). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
} PciInfo;

enum { FAKE_GPUS = 2, FAKE_LINKS = 3, NOT_SUPPORTED = 3 };

static int gpus[FAKE_GPUS] = { 0, 1 };
int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *n);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **gpu);
int nvmlSystemGetDriverVersion(char *version, unsigned chars);
int nvmlDeviceGetName(void *gpu, char *name, unsigned chars);
int nvmlDeviceGetPciInfo_v3(void *gpu, PciInfo *info);
int nvmlDeviceGetTotalEnergyConsumption(void *gpu, unsigned long long *millijoules);
int nvmlDeviceGetClockInfo(void *gpu, int which, unsigned *megahertz);
int nvmlDeviceGetNvLinkState(void *gpu, unsigned link, unsigned *is_active);
int nvmlDeviceGetNvLinkRemoteDeviceType(void *gpu, unsigned link, unsigned *kind);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *gpu, unsigned link, PciInfo *info);
int nvmlDeviceGetTopologyCommonAncestor(void *gpu, void *other, unsigned *level);

static int links_are(const char *what)
{
  const char *links = getenv("ASTRO_FAKE_LINKS");
  return links && !strcmp(links, what);
}

int nvmlInit_v2(void)
{
  return getenv("ASTRO_FAKE_NVML_FAILS") ? 9 : 0;
}

int nvmlShutdown(void)
{
  return 0;
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
  *n = FAKE_GPUS;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **gpu)
{
  *gpu = &gpus[index];
  return 0;
}

int nvmlSystemGetDriverVersion(char *version, unsigned chars)
{
  snprintf(version, chars, "550.1");
  return 0;
}

int nvmlDeviceGetName(void *gpu, char *name, unsigned chars)
{
  snprintf(name, chars, "Fake GPU");
  return 0;
}

int nvmlDeviceGetPciInfo_v3(void *gpu, PciInfo *info)
{
  info->domain = 0xfa;
  snprintf(info->bus_id, sizeof info->bus_id, "000000FA:0%d:00.0", *(int *)gpu);
  return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void *gpu, unsigned long long *millijoules)
{
  const char *text = getenv("ASTRO_FAKE_MILLIJOULES");
  if (text && *(int *)gpu == 1)
    text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL;
  if (text && *text == '+') {
    static unsigned long long rising;
    *millijoules = rising += 1500;
    return 0;
  }
  if (!text || *text < '0' || *text > '9')
    return NOT_SUPPORTED;
  *millijoules = strtoull(text, NULL, 10);
  return 0;
}

int nvmlDeviceGetClockInfo(void *gpu, int which, unsigned *megahertz)
{
  *megahertz = which == 1 ? 1980 : 2619;
  return 0;
}

int nvmlDeviceGetNvLinkState(void *gpu, unsigned link, unsigned *is_active)
{
  *is_active = link < FAKE_LINKS && (links_are("switch") || links_are("straight"));
  return link < 18 ? 0 : NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *gpu, unsigned link, unsigned *kind)
{
  *kind = links_are("switch") ? 2 : 0;
  return 0;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *gpu, unsigned link, PciInfo *info)
{
  return nvmlDeviceGetPciInfo_v3(&gpus[1 - *(int *)gpu], info);
}

int nvmlDeviceGetTopologyCommonAncestor(void *gpu, void *other, unsigned *level)
{
  *level = 30;
  return links_are("bridge") ? 0 : NOT_SUPPORTED;
}
