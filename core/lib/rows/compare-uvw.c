/* Whether the (u,v,w) of rows and those computed from the stations give the same picture. */
#include "core/lib/rows/rows.h"
#include "core/lib/rows/uvw-sums.h"
#include "core/stream/uvw.h"

#include <string.h>

/* Rows to compare: all, or runs of neighbours from all over the file, since the axes at each new
 * time take long to compute. */
#define ENOUGH 1024
#define RUN 16

static guint64 sample(const AstroRows *rows, guint64 i)
{
  const guint64 runs = ENOUGH / RUN, last = rows->n - RUN;
  return rows->order[rows->n <= ENOUGH ? i : last / (runs - 1) * (i / RUN) + i % RUN];
}

char *astro_rows_compare_uvw(const AstroRows *rows, const AstroObservation *o, const double *uvw,
                             const double axes[3][3], double wavelength)
{
  const double signs[] = { 1, 1, 1 };
  AstroUvwSums sums = { 0 };
  double now[3][3];
  gint64 at = G_MININT64;
  if (axes)
    memcpy(now, axes, sizeof now);
  for (guint64 i = 0; i < MIN(rows->n, ENOUGH); i++) {
    const guint64 row = sample(rows, i);
    const double *one = &o->positions[3 * rows->station[0][row]],
                 *two = &o->positions[3 * rows->station[1][row]];
    double ours[ASTRO_UVW_FRAMES][3] = { { 0 } };
    if (!axes && rows->middle_ns[row] != at) {
      at = rows->middle_ns[row];
      astro_uvw_axes(o, at - rows->start_ns, now);
    }
    for (guint k = 0; k < 3; k++)
      ours[0][k] = now[k][0] * (two[0] - one[0]) + now[k][1] * (two[1] - one[1]) +
                   now[k][2] * (two[2] - one[2]);
    astro_uvw_sums_add(&sums, &uvw[3 * row], ours);
  }
  return astro_uvw_sums_is_empty(&sums) ? NULL
                                        : astro_uvw_sums_tell(&sums, 0, signs, 1, wavelength);
}
