/* Dumps whose visibilities are to be predicted: their (u,v,w) as rows for degridding. A station
 * with itself has no row, since its (u,v,w) are 0: what a model has there is its sum. */
#pragma once

#include "core/gridder/dumps.h"

G_BEGIN_DECLS

typedef struct {
  AstroDumps dumps;
  double *positions;   /* u v w of each station at one time */
  guint64 n, capacity; /* dumps */
  guint pairs;         /* of different stations: rows of a dump, i (i - 1) / 2 + j for i > j */
  double *uvw;         /* rows, [dump][pair][3], folded so that w >= 0 */
  guint8 *folded;      /* [dump][pair]: seen from the other end */
} AstroDumped;

gboolean astro_dumped_init(AstroDumped *self, const AstroPrepareConfig *config,
                           const AstroGrid *grid, AstroObservation *observation, GError **error);
void astro_dumped_clear(AstroDumped *self); /* may be called again */

/* An error if a baseline is too long for the pixels of the model. */
gboolean astro_dumped_add(AstroDumped *self, gint64 middle_ns, const double *uvw, GError **error);
void astro_dumped_rows(const AstroDumped *self, AstroGridRows *rows);

G_END_DECLS
