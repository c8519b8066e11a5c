/* The members of an AstroCollector, for the files that it is made of: collector.c makes it,
 * from-catalogues.c counts, collected.c tells of what was counted. */
#pragma once

#include "core/histogram/from-catalogues.h"
#include "core/histogram/shares.h"
#include "core/histogram/side.h"

G_BEGIN_DECLS

#define MAX_KINDS 4

typedef struct {
  const char *name;
  AstroSide a, b; /* the same for pairs within one catalogue */
} Kind;

struct _AstroCollector {
  AstroHistogramConfig config;
  const AstroBackend *backend;
  AstroPlace places[ASTRO_MOST_DEVICES]; /* that share the counts */
  guint n_places;
  guint rank, ranks;       /* which share of the counts is made here; ranks 0: none */
  gboolean is_told;        /* this process tells of what was submitted, which others share */
  gboolean has_passed;     /* over random catalogues that others count */
  HistogramShares *shares; /* made with the first catalogue */
  const char *variant;
  const Kind *kinds[MAX_KINDS];
  guint n_kinds;
  const Kind *now;
  SideRules rules;
  AstroHeldLimit limit; /* of a catalogue in memory */
  Side sides[ASTRO_N_SIDES];
  guint n_planes;                  /* of sums; counts are in the first, and the others are 0 */
  gsize values;                    /* of all planes of one kind */
  guint64 *counts, *latest_counts; /* latest: of one catalogue, which the backend writes */
  double *sums, *latest_sums;      /* if there are weights */
  double *pairs, *latest_pairs;    /* [kind][plane][region][region], 0 behind the first plane */
  guint64 n_random;                /* in values */
  guint64 n_points[ASTRO_N_SIDES], latest_n_points[ASTRO_N_SIDES]; /* in values */
  double *means;              /* weights of pairs by how many bits are set; NULL: there are none */
  const PairTable *tables[2]; /* of pairs of data, and with random points; or NULL */
  gboolean submitted[MAX_KINDS]; /* until the backend is drained it may still write latest */
};

G_END_DECLS
