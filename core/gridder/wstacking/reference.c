/* The formula: each visibility times the spreading function of its distance to each cell and plane.
 */
#include "config.h"
#include "core/backend/count.h"
#include "core/gridder/wstacking/kernels.h"

static double read_at(const AstroSorted *sorted, gconstpointer values, guint64 at)
{
  return sorted->is_double ? ((const double *)values)[at] : (double)((const float *)values)[at];
}

/* The tap that many cells after the first; inside: how far the first one lies inside the function's
 * edge. */
static double tap_at(const AstroSpreadTaps *taps, double inside, guint tap)
{
  const double distance = (inside + 1) / 2 + tap - taps->support / 2.0;
  return astro_semicircle(taps->beta, 2 * distance / taps->support);
}

static void add_value(const AstroSpreadPlane *p, gsize cell, const double value[2], double tap)
{
  ASTRO_COUNT(4);
  for (guint part = 0; part < 2; part++)
    if (p->sorted->is_double)
      ((double *)p->grid)[2 * cell + part] += value[part] * tap;
    else
      ((float *)p->grid)[2 * cell + part] += (float)(value[part] * tap);
}

static void spread(const AstroSpreadPlane *p, const AstroSortedGroup *group, gpointer room)
{
  const AstroSorted *s = p->sorted;
  const AstroSpreadTaps *taps = p->taps;
  const gsize size = p->size;
  for (guint64 i = group->start + group->lo; i < group->start + group->hi; i++) {
    const guint first_u = group->block * astro_sorted_block(s->is_double) + s->offsets[i];
    const double w =
        taps->is_flat ? 1 : tap_at(taps, read_at(s, s->w, i), p->plane - s->first_planes[i]);
    for (guint product = 0; product < s->products; product++) {
      const guint64 at = 2 * (i * s->products + product);
      const double re = read_at(s, s->values, at), im = read_at(s, s->values, at + 1);
      const double value[2] = { w * (re * p->phase_factor[0] - im * p->phase_factor[1]),
                                w * (re * p->phase_factor[1] + im * p->phase_factor[0]) };
      for (guint y = 0; y < taps->support; y++)
        for (guint x = 0; x < taps->support; x++)
          add_value(p, (product * size + group->row + y) * size + first_u + x, value,
                    tap_at(taps, read_at(s, s->u, i), x) * tap_at(taps, read_at(s, s->v, i), y));
    }
  }
}

#define ALL                                                                                        \
  {                                                                                                \
    spread, spread, spread, spread, spread, spread, spread, spread, spread, spread, spread,        \
        spread, spread                                                                             \
  }

const AstroSpreadKernels astro_spread_reference = {
  .variant = { "reference", ASTRO_CPU_C },
  .single = ALL,
  .in_double = ALL,
};
