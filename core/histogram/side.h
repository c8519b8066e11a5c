/* A catalogue made ready for counting: checked, its regions found and weighed, and its points in a
 * tree, or in slices of which each becomes a tree when it is counted. */
#pragma once

#include "core/histogram/points.h"
#include "core/histogram/regions.h"
#include "core/histogram/slices.h"
#include "core/lib/catalogue/held.h"
#include "core/stream/histogram-summary.h"

G_BEGIN_DECLS

/* The same for all catalogues of a histogram. */
typedef struct {
  const AstroHistogramConfig *config;
  AstroRegions *regions;      /* made from the data; NULL: none, or a column of the catalogues */
  gboolean has_region_column; /* of the data, and so of all */
  gboolean by_device;         /* which orders the points itself */
  guint threads;
  const AstroStop *stop;
} SideRules;

typedef struct {
  AstroCarried carried; /* by the points of the catalogue, as far as it is looked at */
  AstroPoints *points;  /* NULL: they are in slices, or there are none */
  Slices *slices;
  guint64 n;
  double *weight, *square;          /* sums of weights and of their squares by region */
  double *of_bits, *square_of_bits; /* the same by how many bits are set; NULL: there are none */
  guint64 n_negative;               /* points with negative weights */
} Side;

gboolean side_is_there(const Side *side);
void side_clear(Side *side);

/* Regions of the data, whose points are all in memory for a while: bytes at most; 0: no limit. */
gboolean side_make_regions(SideRules *rules, const AstroHeld *data, guint64 bytes, GError **error);

/* Takes the points of a catalogue, whose columns are freed. most: points in a slice. */
gboolean side_set(Side *side, const SideRules *rules, AstroSide which, AstroHeld *held,
                  guint64 most, GError **error);

/* The points of a slice, or of a side in memory, which are freed with the side. */
AstroPoints *side_read_slice(const Side *side, const SideRules *rules, guint slice, GError **error);

gboolean side_refuse(AstroSide side, const char *what, GError **error);
gboolean side_is_random(AstroSide side);

G_END_DECLS
