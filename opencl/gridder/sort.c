/* Sorts visibilities on an OpenCL device, by radix. */
#include "config.h"
#include "opencl/gridder/sort.h"

static const AstroOpenclProgram program = {
  .name = "gridder: sorting", .needs_double = FALSE, .text =
#include "opencl/gridder/sort.cl.h"
};

#define DIGIT_BITS 4
#define DIGITS (1u << DIGIT_BITS) /* as in sort.cl */
#define SCANNERS 256
#define LEAST_CHUNK 64
#define MOST_ITEMS 16384

gboolean astro_opencl_sort_compiles(const AstroPlace *place, GError **error)
{
  return astro_opencl_compiles(place->device, &program, "", error);
}

gboolean astro_opencl_sort_init(AstroOpenclSort *self, const AstroPlace *place, GError **error)
{
  static const char *const names[ASTRO_OPENCL_SORT_KERNELS] = { "count_digits", "sum_before",
                                                                "move_numbers", "find_starts" };
  return astro_opencl_work_init(self, place, &program, "", names, ASTRO_OPENCL_SORT_KERNELS, error);
}

static guint chunk_of(guint n)
{
  return (guint)MAX(((guint64)n + MOST_ITEMS - 1) / MOST_ITEMS, LEAST_CHUNK);
}

static guint items_of(guint n)
{
  return (guint)(((guint64)n + chunk_of(n) - 1) / chunk_of(n));
}

gboolean astro_opencl_order_init(AstroOpenclOrder *order, const AstroPlace *place, guint n,
                                 GError **error)
{
  const gsize bytes = sizeof(guint32);
  *order = (AstroOpenclOrder){ .n = n };
  return astro_opencl_alloc(place, "gridder", &order->order, MAX(n, 1), bytes, error) &&
         astro_opencl_alloc(place, "gridder", &order->other, MAX(n, 1), bytes, error) &&
         astro_opencl_alloc(place, "gridder", &order->counts, MAX(items_of(n), 1) * DIGITS, bytes,
                            error);
}

void astro_opencl_order_clear(AstroOpenclOrder *order, const AstroPlace *place)
{
  astro_opencl_free(place, &order->order);
  astro_opencl_free(place, &order->other);
  astro_opencl_free(place, &order->counts);
}

static gboolean sort_digit(const AstroOpenclSort *self, const AstroOpenclOrder *order,
                           gpointer keys, cl_uint shift, GError **error)
{
  const cl_uint n = order->n, chunk = chunk_of(n), items = items_of(n), counts = items * DIGITS;
  const AstroOpenclArgument
      count[] = { OPENCL_FACE(keys),  OPENCL_FACE(order->order), OPENCL_FACE(order->counts),
                  OPENCL_VALUE(n),    OPENCL_VALUE(chunk),       OPENCL_VALUE(items),
                  OPENCL_VALUE(shift) },
      sum[] = { OPENCL_FACE(order->counts), OPENCL_VALUE(counts) },
      move[] = { OPENCL_FACE(keys),         OPENCL_FACE(order->order), OPENCL_FACE(order->counts),
                 OPENCL_FACE(order->other), OPENCL_VALUE(n),           OPENCL_VALUE(chunk),
                 OPENCL_VALUE(items),       OPENCL_VALUE(shift) };
  return astro_opencl_work_launch(self, ASTRO_OPENCL_COUNT_DIGITS, count, G_N_ELEMENTS(count),
                                  items, 64, error) &&
         astro_opencl_work_launch(self, ASTRO_OPENCL_SUM_BEFORE, sum, G_N_ELEMENTS(sum), SCANNERS,
                                  SCANNERS, error) &&
         astro_opencl_work_launch(self, ASTRO_OPENCL_MOVE_NUMBERS, move, G_N_ELEMENTS(move), items,
                                  64, error);
}

gboolean astro_opencl_sort(const AstroOpenclSort *self, AstroOpenclOrder *order, gpointer keys,
                           guint most, GError **error)
{
  for (guint shift = 0; order->n > 0 && shift < 32 && most >> shift; shift += DIGIT_BITS) {
    if (!sort_digit(self, order, keys, shift, error))
      return FALSE;
    gpointer sorted = order->other;
    order->other = order->order;
    order->order = sorted;
  }
  return TRUE;
}

gboolean astro_opencl_find_starts(const AstroOpenclSort *self, const AstroOpenclOrder *order,
                                  gpointer keys, guint n_keys, gpointer starts, GError **error)
{
  const cl_uint n = order->n, wanted = n_keys;
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(keys), OPENCL_FACE(order->order),
                                            OPENCL_FACE(starts), OPENCL_VALUE(n),
                                            OPENCL_VALUE(wanted) };
  return astro_opencl_work_launch(self, ASTRO_OPENCL_FIND_STARTS, arguments,
                                  G_N_ELEMENTS(arguments), (guint64)n_keys + 1, 64, error);
}
