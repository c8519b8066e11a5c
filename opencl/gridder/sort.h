/* Sorts visibilities on an OpenCL device. */
#pragma once

#include "opencl/gridder/work.h"

enum {
  ASTRO_OPENCL_COUNT_DIGITS,
  ASTRO_OPENCL_SUM_BEFORE,
  ASTRO_OPENCL_MOVE_NUMBERS,
  ASTRO_OPENCL_FIND_STARTS,
  ASTRO_OPENCL_SORT_KERNELS
};

typedef AstroOpenclWork AstroOpenclSort;

/* Whether the device's compiler takes the program. */
gboolean astro_opencl_sort_compiles(const AstroPlace *place, GError **error);
/* If it fails, it is to be cleared all the same, by astro_opencl_work_clear. */
gboolean astro_opencl_sort_init(AstroOpenclSort *self, const AstroPlace *place, GError **error);

/* The order of n numbers, 32 bits each. */
typedef struct {
  guint n;
  gpointer order, other; /* other: as much memory, for sorting */
  gpointer counts;
} AstroOpenclOrder;

/* Allocates it, and leaves it to the caller to fill order. */
gboolean astro_opencl_order_init(AstroOpenclOrder *order, const AstroPlace *place, guint n,
                                 GError **error);
void astro_opencl_order_clear(AstroOpenclOrder *order, const AstroPlace *place);

/* Sorts by keys, 32 bits for each number, of which none is above most. What is equal keeps its
 * order. */
gboolean astro_opencl_sort(const AstroOpenclSort *self, AstroOpenclOrder *order, gpointer keys,
                           guint most, GError **error);
/* starts: n_keys + 1 numbers, the first place in a sorted order whose key is no less than each. */
gboolean astro_opencl_find_starts(const AstroOpenclSort *self, const AstroOpenclOrder *order,
                                  gpointer keys, guint n_keys, gpointer starts, GError **error);
