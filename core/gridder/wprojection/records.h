/* What the parts of W-projection on the CPU share. Rows are collected as records, one for each
 * place among the taps that neighbours of a row share; waiting records are merged, that is sorted
 * by the grid's columns that their support begins in and added up where they are of the same place;
 * what is left is spread. */
#pragma once

#include "core/gridder/wprojection/kernels.h"
#include "core/gridder/wprojection/wprojection.h"

G_BEGIN_DECLS

#define MAX_CLASSES 63 /* of planes of one support */

/* A record's key: class of support, first cells in u and v, index of the set among all planes. */
#define SET_BITS 22
#define CELL_BITS 16
#define KEY(class, u, v, set)                                                                      \
  ((((guint64)(class) << CELL_BITS | (guint64)(v)) << CELL_BITS | (guint64)(u)) << SET_BITS |      \
   (guint64)(set))
#define KEY_SET(key) ((guint)((key) & ((1u << SET_BITS) - 1)))
#define KEY_U(key) ((guint)((key) >> SET_BITS & ((1u << CELL_BITS) - 1)))
#define KEY_V(key) ((guint)((key) >> (SET_BITS + CELL_BITS) & ((1u << CELL_BITS) - 1)))
#define KEY_CLASS(key) ((guint)((key) >> (SET_BITS + 2 * CELL_BITS)))

/* Planes of one support, whose records begin in groups of columns. */
typedef struct {
  guint support;
  guint stride;  /* of their taps' rows: the narrowest window and ASTRO_TAPS_PADDING */
  guint window;  /* cells */
  guint columns; /* of the grid that a group's supports begin in */
  guint groups, first_group;
} SupportClass;

/* Records of a class that begin in neighbouring columns. */
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
  /* waiting */
  guint64 n, capacity;
  guint64 *keys;
  guint8 *values;
  /* of pieces of rows that are collected at once */
  guint64 room, *piece_keys;
  guint8 *piece_values;
  /* as they are spread */
  guint64 *entries;
  guint8 *sums;        /* of each record that is left */
  gconstpointer *taps; /* as they were for row 0 of the grid, where entries were being sorted */
  guint32 *first_rows; /* where keys were */
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

/* Makes the groups of all waiting records, and adds up those of the same place. */
void astro_wprojection_merge(Flush *flush);
void astro_wprojection_spread(const Flush *flush);

G_END_DECLS
