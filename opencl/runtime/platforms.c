/* Finds the devices of all platforms. */
#include "config.h"
#include "opencl/runtime/platforms.h"

#include "opencl/runtime/opencl.h"

#define MOST_PLATFORMS 16
#define MOST_OF_PLATFORM 64

char *astro_opencl_device_text(cl_device_id id, cl_device_info what)
{
  size_t bytes = 0;
  if (clGetDeviceInfo(id, what, 0, NULL, &bytes) != CL_SUCCESS)
    return g_strdup("");
  char *text = g_malloc0(bytes + 1);
  clGetDeviceInfo(id, what, bytes, text, NULL);
  return g_strstrip(text);
}

char *astro_opencl_platform_text(cl_platform_id id, cl_platform_info what)
{
  size_t bytes = 0;
  if (clGetPlatformInfo(id, what, 0, NULL, &bytes) != CL_SUCCESS)
    return g_strdup("");
  char *text = g_malloc0(bytes + 1);
  clGetPlatformInfo(id, what, bytes, text, NULL);
  return g_strstrip(text);
}

/* Numbers are of 4 or 8 bytes, whose first ones come first. */
guint64 astro_opencl_device_number(cl_device_id id, cl_device_info what)
{
  guint64 number = 0;
  return clGetDeviceInfo(id, what, sizeof number, &number, NULL) == CL_SUCCESS ? number : 0;
}

static void add_platform(GArray *found, cl_platform_id platform, gboolean of_cpu)
{
  cl_device_id ids[MOST_OF_PLATFORM];
  cl_uint n = 0;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST_OF_PLATFORM, ids, &n) != CL_SUCCESS)
    return;
  for (cl_uint i = 0; i < MIN(n, MOST_OF_PLATFORM); i++) {
    const guint64 type = astro_opencl_device_number(ids[i], CL_DEVICE_TYPE);
    const AstroOpenclFound one = { platform, ids[i], (type & CL_DEVICE_TYPE_CPU) != 0 };
    if (one.is_cpu == of_cpu && astro_opencl_device_number(ids[i], CL_DEVICE_AVAILABLE))
      g_array_append_val(found, one);
  }
}

const AstroOpenclFound *astro_opencl_find(guint *n, GError **error)
{
  static gsize looked = 0;
  static GArray *found;
  static cl_int status;
  if (g_once_init_enter(&looked)) {
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint n_platforms = 0;
    found = g_array_new(FALSE, FALSE, sizeof(AstroOpenclFound));
    status = clGetPlatformIDs(MOST_PLATFORMS, platforms, &n_platforms);
    for (guint of_cpu = 0; of_cpu < 2 && status == CL_SUCCESS; of_cpu++)
      for (cl_uint i = 0; i < MIN(n_platforms, MOST_PLATFORMS); i++)
        add_platform(found, platforms[i], (gboolean)of_cpu);
    g_once_init_leave(&looked, 1);
  }
  *n = found->len;
  if (found->len == 0 && status == CL_SUCCESS)
    astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
               "no OpenCL platform here has a device");
  else if (found->len == 0) {
    const char *folder = g_getenv("OCL_ICD_VENDORS");
    astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
               "there is no OpenCL platform on this machine: expected a vendor's driver in %s",
               folder ? folder : "/etc/OpenCL/vendors");
  }
  return (const AstroOpenclFound *)found->data;
}
