/* gst-astro devices: lists the CPU and the GPUs, where they are, and what copies between them
 * reach. */
#include "graphs/devices.h"
#include "core/backend/module.h"
#include "core/backend/cpu.h"
#include "core/backend/node.h"
#include "core/backend/threads.h"
#include "core/machine/measure.h"
#include "core/machine/nvml.h"

#include <stdio.h>
#include <stdlib.h>

#define GIGA 1e9

/* "55.1 GB/s", or why it could not be measured. */
static char *tell_rate(double rate, const GError *error)
{
  return rate > 0 ? g_strdup_printf("%.1f GB/s", rate / GIGA)
                  : g_strdup_printf("not measured (%s)", error ? error->message : "no time passed");
}

static char *measure_bus(AstroDevice *device, AstroCopyDirection direction)
{
  g_autoptr(GError) error = NULL;
  const double rate = astro_measure_bus(device, direction, &error);
  return tell_rate(rate, error);
}

static char *measure_across(AstroDevice *from, AstroDevice *to)
{
  g_autoptr(GError) error = NULL;
  if (!to->funcs->reaches(to, from))
    return g_strdup("by way of the host");
  const double rate = astro_measure_across(from, to, &error);
  return tell_rate(rate, error);
}

/* "NUMA node 0", and where there are several what is taken there. */
static char *find_node(AstroDevice *device)
{
  const gint node = astro_node_of(device);
  const guint n = astro_node_count();
  if (node < 0)
    return g_strdup("NUMA node not told");
  return n > 1 ? g_strdup_printf("NUMA node %d of %u, which has its page-locked memory", node, n)
               : g_strdup_printf("NUMA node %d", node);
}

static void print_place(AstroDevice *device)
{
  char bus[ASTRO_BUS_CHARS] = "";
  device->funcs->find_bus(device, bus);
  g_autofree char *node = find_node(device);
  g_autofree char *up = measure_bus(device, ASTRO_COPY_UP);
  g_autofree char *down = measure_bus(device, ASTRO_COPY_DOWN);
  printf("        bus %s, %s; copies from the host %s, to the host %s\n", *bus ? bus : "not told",
         node, up, down);
}

static gint find_gpu(const AstroNvml *nvml, AstroDevice *device)
{
  char bus[ASTRO_BUS_CHARS] = "";
  device->funcs->find_bus(device, bus);
  return astro_nvml_find(nvml, bus);
}

static void print_link(const AstroNvml *nvml, AstroDevice *a, AstroDevice *b)
{
  const gint gpu = nvml ? find_gpu(nvml, a) : -1, other = nvml ? find_gpu(nvml, b) : -1;
  g_autofree char *between =
      gpu >= 0 && other >= 0 ? astro_nvml_between(nvml, (guint)gpu, (guint)other) : NULL;
  g_autofree char *there = measure_across(a, b);
  g_autofree char *back = measure_across(b, a);
  printf("links   %d and %d: %s; copies %d to %d %s, %d to %d %s\n", a->index, b->index,
         between ? between : "kind not told", a->index, b->index, there, b->index, a->index, back);
}

/* Links are those of all pairs of devices that answer. */
static void print_links(GPtrArray *devices)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroNvml) nvml = devices->len > 1 ? astro_nvml_open(&error) : NULL;
  for (guint i = 0; i < devices->len; i++)
    for (guint j = i + 1; j < devices->len; j++)
      print_link(nvml, devices->pdata[i], devices->pdata[j]);
  if (devices->len == 1)
    printf("links   none: there is one GPU\n");
  if (error)
    printf("        which kind of links they are is not told: %s\n", error->message);
}

static void print_device(AstroBackendKind kind, gint index, GPtrArray *devices)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *text = astro_module_of(kind, NULL)->describe(index);
  AstroDevice *device = text ? astro_device_open_of(kind, index, &error) : NULL;
  printf("%s %d  %s\n", astro_backend_kind_name(kind), index, text ? text : "does not answer");
  if (device) {
    print_place(device);
    g_ptr_array_add(devices, device);
  } else if (error) {
    printf("        %s\n", error->message);
  }
}

/* All devices of a kind, or why there is none. Returns those that answer. */
static GPtrArray *print_kind(AstroBackendKind kind)
{
  g_autoptr(GError) error = NULL;
  GPtrArray *devices = g_ptr_array_new_with_free_func((GDestroyNotify)astro_device_unref);
  const gint n = astro_device_count(kind, &error);
  for (gint i = 0; i < n; i++)
    print_device(kind, i, devices);
  if (n <= 0 && error)
    printf("%-7s none: %s\n", astro_backend_kind_name(kind), error->message);
  else if (n <= 0)
    printf("%-7s none: this machine has no %s device\n", astro_backend_kind_name(kind),
           astro_device_kind_title(kind));
  return devices;
}

/* A machine without a GPU is not an error: the list says why there is none. */
int astro_devices(const AstroArguments *arguments)
{
  printf("cpu     %u core%s, kernels up to %s\n", astro_threads(), astro_threads() == 1 ? "" : "s",
         astro_cpu_level_name(astro_cpu_level()));
  g_autoptr(GPtrArray) cuda = print_kind(ASTRO_BACKEND_CUDA);
  g_autoptr(GPtrArray) opencl = print_kind(ASTRO_BACKEND_OPENCL);
  print_links(cuda);
  return EXIT_SUCCESS;
}
