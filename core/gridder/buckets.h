/* Visibilities dealt out to buckets: the first half of sorting them for spreading. A bucket is a
 * range of the groups of a band of the grid's rows, as wide as to hold a small share of all
 * visibilities, so that sorting one takes little room. */
#pragma once

#include "core/gridder/rows.h"

G_BEGIN_DECLS

#define ASTRO_BAND_ROWS 16 /* as many as the largest support: footprints reach one band farther */

static inline guint astro_sorted_block(gboolean is_double)
{
  return is_double ? 4 : 8; /* cells: 64 bytes */
}

/* Of a band, where a footprint begins: its block, and the row in it, which changes fastest. */
static inline guint astro_sorted_group(guint u, guint v, gboolean is_double)
{
  return u / astro_sorted_block(is_double) * ASTRO_BAND_ROWS + v % ASTRO_BAND_ROWS;
}

typedef struct {
  guint band, first_group, n_groups;
  guint64 start, n; /* visibilities, those of all buckets one after the other */
} AstroBucket;

typedef struct {
  /* Given: channels first to first + channels of rows. */
  const AstroGridRows *rows;
  const AstroGrid *grid;
  guint first, channels, threads;

  /* Found, in the order of bands and of columns in them. */
  guint n_buckets;
  AstroBucket *buckets;
  guint64 n; /* visibilities that are in any: not zero, and held by the grid */

  double per_cell, middle;       /* cells a wavelength; cell of the origin */
  guint n_bands, columns, shift; /* a column of a band is 1 << shift groups */
  guint16 *bucket_at;            /* of each band's columns */
  guint16 *bucket_of;            /* of each visibility */
  guint64 *starts;               /* of each bucket and part, then where the next of them goes */
  GMutex lock;
  guint8 dealt[ASTRO_ROWS_PARTS]; /* parts */
} AstroBuckets;

/* Finds the buckets and counts what is in each. FALSE: there is no memory. */
gboolean astro_buckets_count(AstroBuckets *self);
/* from[i * step] becomes the number (row * channels + channel) of the i-th visibility, values its
 * values. Of spent rows (AstroGridRows) what was read is given back. */
void astro_buckets_deal(AstroBuckets *self, guint32 *from, guint step, gpointer values);
void astro_buckets_clear(AstroBuckets *self);

G_END_DECLS
