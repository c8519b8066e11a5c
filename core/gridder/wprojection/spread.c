/* Adds merged records to the grid. Bands of rows of the grid are separate tasks. A task goes
 * through the groups of columns, and for each row of the grid sums all records that reach it in
 * registers, over the window of the group. The order of sums depends on the records alone. */
#include "config.h"
#include "core/backend/threads.h"
#include "core/gridder/wprojection/records.h"

#define BAND 16 /* rows of the grid in a task */

/* Index of the first of n rising numbers that is at least least. */
static guint64 first_at_least(const guint32 *numbers, guint64 n, gint64 least)
{
  guint64 low = 0;
  while (low < n) {
    guint64 middle = (low + n) / 2;
    if ((gint64)numbers[middle] < least)
      low = middle + 1;
    else
      n = middle;
  }
  return low;
}

/* Adds rows from up to end of a group, for as many products as the width says, from product on. */
static void spread_group(const Flush *flush, const SupportClass *class, guint index, guint from,
                         guint end, guint product, guint width)
{
  const AstroWProjection *self = flush->self;
  const gboolean is_double = self->config.taps->is_double;
  const Group *group = &flush->groups[class->first_group + index];
  const guint32 *first_rows = self->first_rows + group->first;
  const gsize each = is_double ? sizeof(double) : sizeof(float), size = self->config.size;
  const gsize stride = class->stride;
  AstroWProjectionFunc spread =
      is_double ? self->kernels->spread_double[width] : self->kernels->spread_single[width];
  guint8 *grid =
      (guint8 *)flush->grid + (product * size * size + group_left(self, class, index)) * 2 * each;
  AstroWProjectionWork work = { .value_stride = 2 * self->config.products,
                                .taps_stride = 2 * stride,
                                .vectors_8 = class->window / 8,
                                .grid_stride = 2 * size,
                                .product_stride = 2 * size * size };
  guint64 low = first_at_least(first_rows, group->n, (gint64)from - class->support + 1), high = low;

  for (guint row = from; row < end && low < group->n; row += work.rows) {
    work.rows = MIN(ASTRO_WPROJECTION_ROWS(width), end - row);
    while (low < group->n && first_rows[low] + class->support <= row)
      low++;
    while (high < group->n && first_rows[high] < row + work.rows)
      high++;
    if (high <= low)
      continue;
    work.n = high - low;
    work.taps = self->taps + group->first + low;
    work.values = self->sums + (group->first + low) * self->value_bytes + (gsize)product * 2 * each;
    work.taps_row = row * 2 * stride;
    work.grid = grid + row * size * 2 * each;
    spread(&work);
  }
}

static void spread_band(gpointer data, guint64 band)
{
  const Flush *flush = data;
  const AstroWProjection *self = flush->self;
  guint from = (guint)band * BAND, end = MIN(from + BAND, self->config.size);

  for (guint i = 0; i < self->n_classes; i++)
    for (guint group = 0; group < self->classes[i].groups && !astro_is_given_up(); group++)
      for (guint product = 0, width; product < self->config.products;
           product += ASTRO_WPROJECTION_PRODUCTS(width)) {
        width = ASTRO_WPROJECTION_4;
        while (product + ASTRO_WPROJECTION_PRODUCTS(width) > self->config.products)
          width--;
        spread_group(flush, &self->classes[i], group, from, end, product, width);
      }
}

void astro_wprojection_spread(const Flush *flush)
{
  const guint size = flush->self->config.size;
  astro_parallel((size + BAND - 1) / BAND, flush->self->config.threads, spread_band,
                 (gpointer)flush);
}
