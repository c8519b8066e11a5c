/* The first half of sorting visibilities for spreading: they are distributed over buckets. A bucket
 * is a range of the groups of one band, just wide enough to hold a small share of all visibilities,
 * so that it can be sorted in little memory. */
#pragma once

#include "core/gridder/rows.h"

G_BEGIN_DECLS

#define ASTRO_BAND_ROWS                                                                            \
  16 /* the largest support: a footprint reaches no farther than the next band */

static inline guint astro_sorted_block(gboolean is_double)
{
  return is_double ? 4 : 8; /* cells of 64 bytes together */
}

/* Number of a group in its band, by where its footprints begin: the block, and the row in the band,
 * which changes fastest. */
static inline guint astro_sorted_group(guint u, guint v, gboolean is_double)
{
  return u / astro_sorted_block(is_double) * ASTRO_BAND_ROWS + v % ASTRO_BAND_ROWS;
}

typedef struct {
  guint band, first_group, n_groups;
  guint64 start, n; /* visibilities, counted through all buckets */
} AstroBucket;

typedef struct {
  /* Set by the caller: channels first to first + channels of rows. */
  const AstroGridRows *rows;
  const AstroGrid *grid;
  guint first, channels, threads;

  /* Set by astro_buckets_count, in the order of bands and of columns in a band. */
  guint n_buckets;
  AstroBucket *buckets;
  guint64 n; /* visibilities in all buckets: those that are not zero and lie in the grid */

  double per_cell, middle;       /* cells a wavelength; the cell of the origin */
  guint n_bands, columns, shift; /* a column is 1 << shift groups of a band */
  guint16 *bucket_at;            /* the bucket of each column of each band */
  guint16 *bucket_of;            /* the bucket of each visibility */
  guint64 *starts; /* for each bucket and part of the rows: where its next visibility goes */
  GMutex lock;
  guint8 done[ASTRO_ROWS_PARTS]; /* parts of the rows that are done */
} AstroBuckets;

/* Chooses the buckets and counts what is in each. FALSE: there is no memory. */
gboolean astro_buckets_count(AstroBuckets *self);
/* Distributes the visibilities: from[i * step] becomes the number (row * channels + channel) of the
 * i-th, values its values. The pages of spent rows (AstroGridRows) are returned to the system once
 * they are read. */
void astro_buckets_distribute(AstroBuckets *self, guint32 *from, guint step, gpointer values);
void astro_buckets_clear(AstroBuckets *self);
/* Bytes of tables, at most, whatever the visibilities. */
guint64 astro_buckets_bytes(const AstroGrid *grid);

G_END_DECLS
