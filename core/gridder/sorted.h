/* Visibilities sorted for spreading: by band; within a band by group, whose footprints begin in the
 * same row and the same block of cells (64 bytes); within a group by the first of the w-planes that
 * they are spread over. */
#pragma once

#include "core/gridder/buckets.h"

G_BEGIN_DECLS

typedef struct {
  guint64 start;     /* the first of them, among all visibilities */
  guint32 n, lo, hi; /* visibilities; those from lo to hi are spread over the current plane */
  guint32 row, block;
} AstroSortedGroup;

typedef struct {
  AstroSortedGroup *groups;
  guint32 n_groups;
  guint64 start, n; /* visibilities */
} AstroSortedBand;

typedef struct {
  guint64 n;
  guint products;
  gboolean is_double;
  guint n_bands, planes;
  AstroSortedBand *bands;
  guint16 *first_planes;
  guint8 *offsets; /* of the footprint's first cell, in its block */
  /* u, v, w: how far the first cell and plane lie inside the edge of the spreading function, -1
   * to 1. All are single or double precision. */
  gpointer u, v, w, values;
  /* Where the rows had no values: the number (row * channels + channel) of each visibility; values
   * are then zeros, to add to. Else NULL. */
  guint32 *numbers;
} AstroSorted;

/* Finds the visibilities of a group that are spread over a plane, as planes are gone through from
 * the first on. */
static inline void astro_sorted_advance(const AstroSorted *sorted, AstroSortedGroup *group,
                                        guint plane, guint support)
{
  const guint16 *first = sorted->first_planes; /* NULL where there are no visibilities */
  while (group->hi < group->n && first[group->start + group->hi] <= plane)
    group->hi++;
  while (group->lo < group->hi && first[group->start + group->lo] + support <= plane)
    group->lo++;
}

#define ASTRO_MAX_PLANES 32768

/* The w of the planes: that of the first one, and the distance between them (0: there is one). */
typedef struct {
  double first, step;
  guint support, n;
  double n_middle; /* phase factor of the values: exp(-2 pi i w n_middle) */
} AstroPlanes;

/* Planes for every w in the rows. */
gboolean astro_planes_choose(AstroPlanes *planes, const AstroGriddingConfig *config,
                             const AstroGrid *grid, const AstroGridRows *rows, GError **error);
/* Widens a range of w, from infinity to 0 at first, to that of more rows. */
gboolean astro_planes_widen(const AstroGridRows *rows, const AstroGrid *grid, guint threads,
                            double *least, double *greatest, GError **error);
/* The same where the range of w is known already (infinity to 0: there are no visibilities). */
gboolean astro_planes_of_range(AstroPlanes *planes, const AstroGriddingConfig *config,
                               const AstroGrid *grid, double least, double greatest,
                               GError **error);

/* Sorts channels first to first + n of rows, but for values of zero and those outside the grid. The
 * result does not depend on threads. */
AstroSorted *astro_sorted_new(const AstroGridRows *rows, guint first, guint n,
                              const AstroGrid *grid, const AstroPlanes *planes, guint threads,
                              GError **error);
void astro_sorted_free(AstroSorted *sorted);

/* Bytes, at most, of n visibilities that are sorted, of all channels of a grid together; and those
 * that sorting them needs beside these and the rows. */
guint64 astro_sorted_bytes(const AstroGriddingConfig *config, const AstroGrid *grid, guint products,
                           guint64 n);
guint64 astro_sorting_bytes(const AstroGriddingConfig *config, const AstroGrid *grid,
                            guint products, guint64 n);

G_END_DECLS
