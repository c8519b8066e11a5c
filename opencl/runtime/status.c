/* Names what OpenCL's calls return. */
#include "config.h"
#include "opencl/runtime/opencl.h"

#define NAMED(status)                                                                              \
  {                                                                                                \
    status, #status                                                                                \
  }
static const struct {
  cl_int status;
  const char *name;
} names[] = {
  NAMED(CL_DEVICE_NOT_FOUND),       NAMED(CL_DEVICE_NOT_AVAILABLE),
  NAMED(CL_COMPILER_NOT_AVAILABLE), NAMED(CL_MEM_OBJECT_ALLOCATION_FAILURE),
  NAMED(CL_OUT_OF_RESOURCES),       NAMED(CL_OUT_OF_HOST_MEMORY),
  NAMED(CL_BUILD_PROGRAM_FAILURE),  NAMED(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
  NAMED(CL_INVALID_VALUE),          NAMED(CL_INVALID_DEVICE),
  NAMED(CL_INVALID_CONTEXT),        NAMED(CL_INVALID_COMMAND_QUEUE),
  NAMED(CL_INVALID_MEM_OBJECT),     NAMED(CL_INVALID_BINARY),
  NAMED(CL_INVALID_BUILD_OPTIONS),  NAMED(CL_INVALID_PROGRAM_EXECUTABLE),
  NAMED(CL_INVALID_KERNEL_NAME),    NAMED(CL_INVALID_ARG_INDEX),
  NAMED(CL_INVALID_ARG_VALUE),      NAMED(CL_INVALID_ARG_SIZE),
  NAMED(CL_INVALID_KERNEL_ARGS),    NAMED(CL_INVALID_WORK_GROUP_SIZE),
  NAMED(CL_INVALID_WORK_ITEM_SIZE), NAMED(CL_INVALID_EVENT),
  NAMED(CL_INVALID_BUFFER_SIZE),
};

gboolean astro_opencl_ok(const AstroDevice *device, cl_int status, const char *call, GError **error)
{
  if (status == CL_SUCCESS)
    return TRUE;
  if (!error || *error)
    return FALSE;
  const char *name = "an error of the driver";
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    if (names[i].status == status)
      name = names[i].name;
  const AstroBackendError code =
      status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_HOST_MEMORY
          ? ASTRO_BACKEND_ERROR_MEMORY
          : ASTRO_BACKEND_ERROR_DEVICE;
  g_set_error(error, ASTRO_BACKEND_ERROR, code, "OpenCL: %s on %s: %s (%d)", call, device->name,
              name, status);
  return FALSE;
}
