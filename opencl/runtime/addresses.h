/* Addresses for memory of OpenCL, which has handles (cl_mem) in their place.
 *
 * The core takes the face of a block on a device for a pointer: it adds offsets to it, compares it
 * and hands it to backends. So each allocation reserves as many addresses of this process, at which
 * nothing can be read or written, and they lead back to the handle and an offset. This works with
 * every device, where shared virtual memory would not. */
#pragma once

#include <CL/cl.h>
#include <glib.h>

typedef struct {
  guint8 *start;
  gsize bytes;    /* of the allocation */
  gsize reserved; /* whole pages, and one more, so that two areas never touch */
  cl_mem memory;
} AstroOpenclArea;

/* AstroOpenclArea, in the order of their addresses. The caller locks it. */
GArray *astro_opencl_areas_new(void);

/* Reserves addresses for memory. NULL: this process has none left. */
gpointer astro_opencl_areas_add(GArray *areas, cl_mem memory, gsize bytes);
/* The area that an address lies in or at the end of; NULL: in none. */
const AstroOpenclArea *astro_opencl_areas_find(const GArray *areas, gconstpointer address);
/* Gives the addresses of an area back, which begins at start; returns its copy. */
AstroOpenclArea astro_opencl_areas_remove(GArray *areas, gpointer start);
