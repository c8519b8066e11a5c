/* The summary: what a stream of histograms says beside its counts. Travels as a sticky custom
 * downstream event before them. */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

#define ASTRO_SUMMARY_EVENT "astro-histogram"

/* Whose points they are. */
typedef enum {
  ASTRO_SIDE_DATA,
  ASTRO_SIDE_RANDOM,
  ASTRO_SIDE_DATA2,
  ASTRO_SIDE_RANDOM2,
  ASTRO_N_SIDES
} AstroSide;
const char *astro_side_name(AstroSide side); /* "data2" */

typedef struct {
  guint n_kinds;   /* dd, dr ...: as the caps' field pairs names them */
  guint n_regions; /* 1: none */
  guint n_edges;
  double *edges; /* arcminutes */
  double *pairs; /* [kind][region][region]: pairs at any separation, or their weights */
  /* How many points that are of, those of all random catalogues together; 0: none, or not told. */
  guint64 points[ASTRO_N_SIDES];
  guint64 catalogues; /* random ones of a side */
  GBytes *counts;     /* where the stream holds sums of weights: the U64 counts, alike; else NULL */
} AstroSummary;

void astro_summary_init(AstroSummary *summary, guint n_kinds, guint n_regions, guint n_edges);
void astro_summary_clear(AstroSummary *summary);

GstEvent *astro_summary_to_event(const AstroSummary *summary);
gboolean astro_event_is_summary(GstEvent *event);
gboolean astro_summary_from_event(AstroSummary *summary, GstEvent *event, GError **error);

ASTRO_END_DECLS
