/* Which stations baselines join: what can be solved at all. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint reference;   /* the one wanted, or, if it has no baselines, the one with the most weight */
  guint n;           /* stations that baselines join to the reference, with itself */
  guint *order;      /* these, each joined to one before it */
  gboolean *joined;  /* of each station */
  gboolean *present; /* of each station: it has baselines */
  /* Without a circle of an odd number of baselines, amplitudes of half of the stations may rise
   * while those of the others fall. */
  gboolean has_odd_circle;
} AstroCalibrateGraph;

/* Residuals when each baseline has the factor that fits it best; factors: their number, 0: not
 * looked for. */
typedef struct {
  double squares;
  guint64 factors;
} AstroCalibrateScatter;

typedef double (*AstroCalibrateWeight)(gconstpointer data, guint i, guint j);

void astro_calibrate_graph_init(AstroCalibrateGraph *graph, guint stations, guint reference,
                                AstroCalibrateWeight weight, gconstpointer data);
void astro_calibrate_graph_clear(AstroCalibrateGraph *graph);

G_END_DECLS
