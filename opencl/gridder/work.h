/* A place and the kernels that an algorithm has there: what gridding, sorting and weighting share.
 */
#pragma once

#include "opencl/runtime/opencl.h"

#define ASTRO_OPENCL_MOST_KERNELS 4

typedef struct {
  AstroPlace place;
  guint n; /* kernels */
  cl_kernel kernels[ASTRO_OPENCL_MOST_KERNELS];
} AstroOpenclWork;

/* The option REAL of programs: the type of sums and values. */
const char *astro_opencl_real_option(gboolean is_double);

/* If it fails, it is to be cleared all the same. */
gboolean astro_opencl_work_init(AstroOpenclWork *work, const AstroPlace *place,
                                const AstroOpenclProgram *program, const char *options,
                                const char *const *names, guint n, GError **error);
void astro_opencl_work_clear(AstroOpenclWork *work);

/* Memory for n values; for one, if n is 0. */
gboolean astro_opencl_work_alloc(const AstroOpenclWork *work, gpointer face, guint64 n, gsize bytes,
                                 GError **error);
/* The kernel of that number, over a row of items in groups of so many. */
gboolean astro_opencl_work_launch(const AstroOpenclWork *work, guint kernel,
                                  const AstroOpenclArgument *arguments, guint n_arguments,
                                  guint64 items, guint group, GError **error);
