/* The summary: what a stream of histograms says beside its counts. Travels as a sticky custom
 * downstream event before them. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define ASTRO_SUMMARY_EVENT "astro-histogram"

typedef struct {
  guint n_kinds;   /* dd, dr ...: as the caps' field pairs names them */
  guint n_regions; /* 1: none */
  guint n_edges;
  double *edges;  /* arcminutes */
  double *pairs;  /* [kind][region][region]: pairs at any separation, or their weights */
  GBytes *counts; /* where the stream holds sums of weights: the U64 counts, alike; else NULL */
} AstroSummary;

void astro_summary_init(AstroSummary *summary, guint n_kinds, guint n_regions, guint n_edges);
void astro_summary_clear(AstroSummary *summary);

GstEvent *astro_summary_to_event(const AstroSummary *summary);
gboolean astro_event_is_summary(GstEvent *event);
gboolean astro_summary_from_event(AstroSummary *summary, GstEvent *event, GError **error);

G_END_DECLS
