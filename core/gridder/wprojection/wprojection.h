/* W-projection: each visibility is spread over the grid with the convolution function of its w.
 *
 * Visibilities whose footprint leaves the grid, or whose w lies beyond the last plane, are left out
 * and counted. Those with the same taps in the same cells are added up before they are spread.
 * Trilinear interpolation between taps is the same visibility at eight points, each with its
 * weight. */
#pragma once

#include "core/gridder/wprojection/taps.h"

G_BEGIN_DECLS

/* The configuration of one grid. */
typedef struct {
  const AstroTaps *taps;
  guint size; /* cells along u and v, even */
  double cell;
  guint products;
  guint64 memory; /* bytes for records that wait to be spread; 0: 64 MiB */
  guint threads;
} AstroWProjectionConfig;

typedef struct {
  guint64 gridded, outside; /* visibilities, of all products together; those of value 0 do not count
                               as outside */
  guint64 spread;           /* records that were left to spread after adding up */
} AstroWProjectionCounts;

typedef struct _AstroWProjection AstroWProjection;

/* Bytes of memory of a grid with such values, beside the grid and the taps: records that wait, and
 * pieces of them that are collected in parallel. memory: as the configuration has it. */
guint64 astro_wprojection_bytes(guint64 memory, guint products, gboolean is_double);

AstroWProjection *astro_wprojection_new(const AstroWProjectionConfig *config, GError **error);
void astro_wprojection_free(AstroWProjection *self);
const char *astro_wprojection_variant(const AstroWProjection *self);

/* grid: products x size x size complex numbers, of the precision of the taps and values. Takes
 * channels first to first + n. Some records wait to be spread until there are more of them; flush
 * spreads them all. */
void astro_wprojection_add(AstroWProjection *self, const AstroGridRows *rows, guint first, guint n,
                           gpointer grid);
void astro_wprojection_flush(AstroWProjection *self, gpointer grid);
void astro_wprojection_counts(const AstroWProjection *self, AstroWProjectionCounts *counts);

/* The tables for a grid and its configuration. */
AstroTapsConfig astro_wprojection_taps(const AstroGriddingConfig *config, const AstroGrid *grid);

/* The formula, in double precision: adds to grid, products x size x size complex numbers. Returns
 * how many visibilities are outside. */
guint64 astro_wprojection_reference(const AstroWProjectionConfig *config, const AstroGridRows *rows,
                                    guint first, guint n, double *grid);

G_END_DECLS
