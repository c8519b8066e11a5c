/* Shared by the parts of W-projection on the CPU. Rows are collected as records (records.c), which
 * wait until there are many. They are merged then (merge.c): sorted by the columns of the grid that
 * their footprints begin in, and added up where they have the same taps in the same cells. The rest
 * is spread (spread.c). */
#pragma once

#include "core/gridder/wprojection/kernels.h"
#include "core/gridder/wprojection/wprojection.h"

G_BEGIN_DECLS

#define ASTRO_PIECES 32          /* of rows, collected in parallel */
#define ASTRO_PIECE_RECORDS 2048 /* of a piece, at most, unless one row makes more */

#define MAX_CLASSES 63 /* a class: all planes of one support */

/* A record's key: class, first cells in u and v, index of the set among those of all planes. */
#define SET_BITS 22
#define CELL_BITS 16
#define KEY(class, u, v, set)                                                                      \
  ((((guint64)(class) << CELL_BITS | (guint64)(v)) << CELL_BITS | (guint64)(u)) << SET_BITS |      \
   (guint64)(set))
#define KEY_SET(key) ((guint)((key) & ((1u << SET_BITS) - 1)))
#define KEY_U(key) ((guint)((key) >> SET_BITS & ((1u << CELL_BITS) - 1)))
#define KEY_V(key) ((guint)((key) >> (SET_BITS + CELL_BITS) & ((1u << CELL_BITS) - 1)))
#define KEY_CLASS(key) ((guint)((key) >> (SET_BITS + 2 * CELL_BITS)))

/* All planes of one support. Their records are divided into groups by the columns of the grid that
 * they begin in. */
typedef struct {
  guint support;
  guint stride;  /* from row to row of taps: the narrowest window and ASTRO_TAPS_PADDING */
  guint window;  /* cells that a group's footprints lie in */
  guint columns; /* of the grid, in which a group's footprints begin */
  guint groups, first_group;
} SupportClass;

/* Records of a class whose footprints begin in neighbouring columns. */
typedef struct {
  guint64 first, n;
} Group;

struct _AstroWProjection {
  AstroWProjectionConfig config;
  const AstroWProjectionKernels *kernels;
  AstroWProjectionCounts counts;
  gsize value_bytes; /* of a record */
  guint n_classes;
  SupportClass classes[MAX_CLASSES];
  guint8 *class_of_plane;
  /* ---- records that wait ---- */
  guint64 n, capacity;
  guint64 *keys;
  guint8 *values;
  /* ---- pieces of rows that are collected in parallel ---- */
  guint64 room, *piece_keys;
  guint8 *piece_values;
  /* ---- while records are spread ---- */
  guint64 *entries;
  guint8 *sums;        /* one for each record that is left after merging */
  gconstpointer *taps; /* as if footprints began in row 0 of the grid; uses the memory of entries */
  guint32 *first_rows; /* uses the memory of keys */
};

/* Records on their way to the grid. */
typedef struct {
  AstroWProjection *self;
  gpointer grid;
  Group *groups;
  guint n_groups;
} Flush;

/* The first column of a group's window. */
static inline guint group_left(const AstroWProjection *self, const SupportClass *class, guint group)
{
  return MIN(group * class->columns, self->config.size - class->window);
}

/* Divides all waiting records into groups, and adds up those with the same taps in the same cells.
 */
void astro_wprojection_merge(Flush *flush);
void astro_wprojection_spread(const Flush *flush);

G_END_DECLS
