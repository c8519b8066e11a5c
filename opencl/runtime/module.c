/* The table of the OpenCL module, which the core library loads. */
#include "config.h"
#include "core/backend/module.h"
#include "opencl/runtime/opencl.h"
#include "opencl/runtime/platforms.h"

static gint n_devices(GError **error)
{
  guint n;
  astro_opencl_find(&n, error);
  return n > 0 ? (gint)n : -1;
}

static char *describe(gint index)
{
  guint n;
  const AstroOpenclFound *found = astro_opencl_find(&n, NULL);
  if (index < 0 || (guint)index >= n)
    return NULL;
  cl_device_id id = found[index].id;
  g_autofree char *name = astro_opencl_device_text(id, CL_DEVICE_NAME);
  g_autofree char *platform = astro_opencl_platform_text(found[index].platform, CL_PLATFORM_NAME);
  g_autofree char *version = astro_opencl_device_text(id, CL_DEVICE_VERSION);
  return g_strdup_printf(
      "%s by %s, %s, %" G_GUINT64_FORMAT " compute units, %.1f GiB%s%s", name, platform, version,
      astro_opencl_device_number(id, CL_DEVICE_MAX_COMPUTE_UNITS),
      (double)astro_opencl_device_number(id, CL_DEVICE_GLOBAL_MEM_SIZE) / 1073741824.0,
      astro_opencl_device_number(id, CL_DEVICE_DOUBLE_FP_CONFIG) ? ""
                                                                 : ", without double precision",
      found[index].is_cpu ? ", a CPU, which auto does not take" : "");
}

static gboolean is_for_auto(gint index, GError **error)
{
  guint n;
  const AstroOpenclFound *found = astro_opencl_find(&n, error);
  if ((guint)index >= n)
    return FALSE;
  return !found[index].is_cpu ||
         astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                    "OpenCL's device %d is the CPU", index);
}

static const AstroBackend *const backends[] = {
  &astro_opencl_beamform,
  &astro_opencl_channelizer,
  &astro_opencl_convert,
  &astro_opencl_correlator,
  &astro_opencl_delay,
  &astro_opencl_fft,
  &astro_opencl_gridder,
  &astro_opencl_histogram,
  &astro_opencl_image,
  &astro_opencl_power,
  &astro_opencl_sideband,
  &astro_opencl_transpose,
  NULL,
};

__attribute__((visibility("default"))) extern const AstroModule astro_module;
const AstroModule astro_module = {
  .abi = ASTRO_MODULE_ABI,
  .bytes = sizeof(AstroModule),
  .version = PACKAGE_VERSION,
  .n_devices = n_devices,
  .open = astro_opencl_device_new,
  .describe = describe,
  .backends = backends,
  .is_for_auto = is_for_auto,
};
