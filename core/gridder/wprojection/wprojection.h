/* W-projection: each visibility spread onto the grid with the convolution function of its w.
 *
 * Visibilities whose support leaves the grid, or whose w lies beyond the last plane, are skipped
 * and counted. Those of the same place between cells and the same plane need the same taps at the
 * same cells: they are added up before they are spread, and trilinear interpolation of the taps is
 * the same visibility at eight such places, each with its weight. */
#pragma once

#include "core/gridder/wprojection/taps.h"

G_BEGIN_DECLS

/* Of one grid. */
typedef struct {
  const AstroTaps *taps;
  guint size; /* cells along u and v, even */
  double cell;
  guint products;
  guint64 memory; /* bytes that visibilities which wait may take; 0: 64 MiB */
  guint threads;
} AstroWProjectionConfig;

typedef struct {
  guint64 gridded, outside; /* visibilities of all products together; zeros are not outside */
  guint64 spread;           /* what was left to spread after adding up */
} AstroWProjectionCounts;

typedef struct _AstroWProjection AstroWProjection;

AstroWProjection *astro_wprojection_new(const AstroWProjectionConfig *config, GError **error);
void astro_wprojection_free(AstroWProjection *self);
const char *astro_wprojection_variant(const AstroWProjection *self);

/* grid: products x size x size, complex, of the taps' precision, as are the values. Channels
 * first ... first + n - 1 are taken. Some wait to be spread until more came; flush ends that. */
void astro_wprojection_add(AstroWProjection *self, const AstroGridRows *rows, guint first, guint n,
                           gpointer grid);
void astro_wprojection_flush(AstroWProjection *self, gpointer grid);
void astro_wprojection_counts(const AstroWProjection *self, AstroWProjectionCounts *counts);

/* The tables that a grid and its configuration ask for. */
AstroTapsConfig astro_wprojection_taps(const AstroGriddingConfig *config, const AstroGrid *grid);

/* The formula, in double: adds to grid, products x size x size complex. Returns what is outside. */
guint64 astro_wprojection_reference(const AstroWProjectionConfig *config, const AstroGridRows *rows,
                                    guint first, guint n, double *grid);

G_END_DECLS
