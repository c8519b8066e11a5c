/* Where visibilities lie among the taps. All kernels share this, so that rounding is the same
 * everywhere. */
#pragma once

#include "core/gridder/wprojection/wprojection.h"

#include <math.h>

G_BEGIN_DECLS

/* A row as a line on the lattice of the taps: u and v in cells times oversampling, counted from the
 * grid's cell 0, and w in planes, are these factors times a wavenumber, plus origin for u and v.
 * turns: the phase of its values, a wavenumber. */
typedef struct {
  double u, v, w, origin, turns;
} AstroTapsLine;

/* A point of the lattice: a visibility goes to the nearest one, or to the 8 around it. */
typedef struct {
  gint64 u, v;
  guint plane;
} AstroTapsPoint;

/* Rounded after the product too, as on processors without fused arithmetic. */
ASTRO_TAPS_INLINE double astro_taps_along(double start, double slope, double x)
{
#ifdef __CUDA_ARCH__
  return __dadd_rn(start, __dmul_rn(slope, x));
#else
  return start + slope * x;
#endif
}

ASTRO_TAPS_INLINE AstroTapsLine astro_taps_line(const AstroWProjectionConfig *config,
                                                const double *uvw)
{
  const AstroTaps *taps = config->taps;
  double scale = taps->oversampling / config->cell;
  AstroTapsLine line = { astro_taps_along(uvw[0], taps->u_per_w, uvw[2]) * scale,
                         astro_taps_along(uvw[1], taps->v_per_w, uvw[2]) * scale,
                         uvw[2] / taps->w_step, taps->oversampling * (double)(config->size / 2),
                         uvw[2] * taps->turns_per_w };
  return line;
}

#define ASTRO_TAPS_FAR (1 << 30)

/* For numbers nearer to 0 than that, exact to 2^-22. */
ASTRO_TAPS_INLINE gint64 astro_taps_floor(double x)
{
  return (gint64)(x + ASTRO_TAPS_FAR) - ASTRO_TAPS_FAR;
}

/* The nearest point, or the first of the eight around and how far beyond it the visibility lies.
 * FALSE: it is far outside, or not finite. */
ASTRO_TAPS_INLINE gboolean astro_taps_point(const AstroTapsLine *line, double wavenumber,
                                            gboolean interpolated, AstroTapsPoint *point,
                                            double fractions[3])
{
  double u = astro_taps_along(line->origin, line->u, wavenumber);
  double v = astro_taps_along(line->origin, line->v, wavenumber);
  double w = astro_taps_along(0, line->w, wavenumber);
  if (!(fabs(u) < ASTRO_TAPS_FAR && fabs(v) < ASTRO_TAPS_FAR && w >= 0 && w < ASTRO_TAPS_FAR))
    return FALSE;
  if (interpolated) {
    point->u = astro_taps_floor(u);
    point->v = astro_taps_floor(v);
    point->plane = (guint)w;
    fractions[0] = u - (double)point->u;
    fractions[1] = v - (double)point->v;
    fractions[2] = w - point->plane;
  } else {
    point->u = astro_taps_floor(u + 0.5);
    point->v = astro_taps_floor(v + 0.5);
    point->plane = (guint)(w + 0.5);
  }
  return TRUE;
}

ASTRO_TAPS_INLINE gboolean astro_taps_same(const AstroTapsPoint *a, const AstroTapsPoint *b)
{
  return a->u == b->u && a->v == b->v && a->plane == b->plane;
}

/* Corner 0 ... 7 of the eight: bits say in which of u, v, w it is one farther. */
ASTRO_TAPS_INLINE AstroTapsPoint astro_taps_corner(const AstroTapsPoint *point, guint corner)
{
  AstroTapsPoint at = { point->u + (corner & 1), point->v + (corner >> 1 & 1),
                        point->plane + (corner >> 2) };
  return at;
}

ASTRO_TAPS_INLINE double astro_taps_corner_weight(const double fractions[3], guint corner)
{
  double weight = 1;
  for (guint i = 0; i < 3; i++)
    weight *= corner >> i & 1 ? fractions[i] : 1 - fractions[i];
  return weight;
}

ASTRO_TAPS_INLINE gboolean astro_taps_inside(const AstroWProjectionConfig *config,
                                             const AstroTapsPoint *point, AstroTapsPlace *u,
                                             AstroTapsPlace *v)
{
  const AstroTaps *taps = config->taps;
  if (point->plane >= taps->n_planes)
    return FALSE;
  gint64 last = (gint64)config->size - taps->planes[point->plane].support;
  *u = astro_taps_place(taps, point->plane, point->u);
  *v = astro_taps_place(taps, point->plane, point->v);
  return u->cell >= 0 && u->cell <= last && v->cell >= 0 && v->cell <= last;
}

G_END_DECLS
