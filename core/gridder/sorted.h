/* Visibilities sorted for spreading: by bands of the grid's rows, in a band by groups whose
 * footprints begin in the same row and the same block of cells, in a group by the first of the
 * w-planes that they are spread over. */
#pragma once

#include "core/gridder/buckets.h"

G_BEGIN_DECLS

typedef struct {
  guint64 start;     /* among all visibilities */
  guint32 n, lo, hi; /* visibilities; those from lo to hi reach the current plane */
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
  guint8 *offsets; /* of the first cell in its block */
  /* Where the first cells and plane stand inside the function's edge, -1 to 1; and values: single
   * or double. */
  gpointer u, v, w, values;
} AstroSorted;

/* Where planes stand: w of the first and the distance between them (0: one plane, at first). */
typedef struct {
  double first, step;
  guint support, n;
  double n_middle; /* values are turned by -2 pi w n_middle */
} AstroPlanes;

/* Planes for all w that rows have. */
gboolean astro_planes_choose(AstroPlanes *planes, const AstroGriddingConfig *config,
                             const AstroGrid *grid, const AstroGridRows *rows, GError **error);
/* The same where their range is known (infinity to 0: there are none). */
gboolean astro_planes_of_range(AstroPlanes *planes, const AstroGriddingConfig *config,
                               const AstroGrid *grid, double least, double greatest,
                               GError **error);

/* Channels first to first + n of rows. Values of zero and what the grid does not hold are left out.
 * Does not depend on threads. */
AstroSorted *astro_sorted_new(const AstroGridRows *rows, guint first, guint n,
                              const AstroGrid *grid, const AstroPlanes *planes, guint threads,
                              GError **error);
void astro_sorted_free(AstroSorted *sorted);

G_END_DECLS
