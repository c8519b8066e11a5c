/* Reserves addresses for memory of a device, and finds the memory of an address. */
#include "config.h"
#include "opencl/runtime/addresses.h"

#include <sys/mman.h>
#include <unistd.h>

GArray *astro_opencl_areas_new(void)
{
  return g_array_new(FALSE, FALSE, sizeof(AstroOpenclArea));
}

/* How many areas begin at or before an address. */
static guint count_before(const GArray *areas, gconstpointer address)
{
  guint low = 0, high = areas->len;
  while (low < high) {
    const guint middle = (low + high) / 2;
    if (g_array_index(areas, AstroOpenclArea, middle).start <= (const guint8 *)address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

gpointer astro_opencl_areas_add(GArray *areas, cl_mem memory, gsize bytes)
{
  const gsize page = (gsize)sysconf(_SC_PAGESIZE);
  if (bytes > G_MAXSIZE - 2 * page)
    return NULL;
  const gsize reserved = (bytes + page - 1) / page * page + page;
  void *start = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED)
    return NULL;
  const AstroOpenclArea area = { start, bytes, reserved, memory };
  g_array_insert_val(areas, count_before(areas, start), area);
  return start;
}

const AstroOpenclArea *astro_opencl_areas_find(const GArray *areas, gconstpointer address)
{
  const guint n = count_before(areas, address);
  const AstroOpenclArea *area = n ? &g_array_index(areas, AstroOpenclArea, n - 1) : NULL;
  return area && (gsize)((const guint8 *)address - area->start) <= area->bytes ? area : NULL;
}

AstroOpenclArea astro_opencl_areas_remove(GArray *areas, gpointer start)
{
  const guint n = count_before(areas, start);
  g_assert(n > 0);
  const AstroOpenclArea area = g_array_index(areas, AstroOpenclArea, n - 1);
  g_assert(area.start == start);
  munmap(area.start, area.reserved);
  g_array_remove_index(areas, n - 1);
  return area;
}
