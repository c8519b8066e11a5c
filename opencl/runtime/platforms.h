/* The devices of all platforms, in the order of their indices: those that are no CPU come first, so
 * that device 0 is the one that a user is likely to mean. */
#pragma once

#include <CL/cl.h>
#include <glib.h>

typedef struct {
  cl_platform_id platform;
  cl_device_id id;
  gboolean is_cpu;
} AstroOpenclFound;

/* Looks once. *n is 0, with an error that says why, if there is none. */
const AstroOpenclFound *astro_opencl_find(guint *n, GError **error);

/* A text about a device or platform, to be freed; empty if it is not told. */
char *astro_opencl_device_text(cl_device_id id, cl_device_info what);
char *astro_opencl_platform_text(cl_platform_id id, cl_platform_info what);
/* A number about a device; 0 if it is not told. */
guint64 astro_opencl_device_number(cl_device_id id, cl_device_info what);
