/* The summary of a stream of histograms: totals besides the counts. It travels ahead of them as a
 * sticky custom downstream event. */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

#define ASTRO_SUMMARY_EVENT "astro-histogram"

/* The set of points. */
typedef enum {
  ASTRO_SIDE_DATA,
  ASTRO_SIDE_RANDOM,
  ASTRO_SIDE_DATA2,
  ASTRO_SIDE_RANDOM2,
  ASTRO_N_SIDES
} AstroSide;
const char *astro_side_name(AstroSide side); /* "data2" */

typedef struct {
  guint n_kinds;   /* dd, dr, ...: named by the caps field pairs */
  guint n_regions; /* 1: no regions */
  guint n_edges;
  double *edges;      /* arcminutes; of pairs in space, in the unit of the distances */
  double most_across; /* upper limit of mu or pi, of pairs in space; 0: pairs by angle */
  double *pairs;      /* [kind][region][region]: pairs at any separation, or their weights */
  /* Number of points in each set, with those of all random catalogues added up; 0: none, or
   * unknown. */
  guint64 points[ASTRO_N_SIDES];
  guint64 catalogues; /* number of random catalogues per side */
  GBytes *counts;     /* if the stream holds sums of weights: the same counts as U64; else NULL */
} AstroSummary;

void astro_summary_init(AstroSummary *summary, guint n_kinds, guint n_regions, guint n_edges);
void astro_summary_clear(AstroSummary *summary);

GstEvent *astro_summary_to_event(const AstroSummary *summary);
gboolean astro_event_is_summary(GstEvent *event);
gboolean astro_summary_from_event(AstroSummary *summary, GstEvent *event, GError **error);

ASTRO_END_DECLS
