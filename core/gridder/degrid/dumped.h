/* Dumps whose visibilities are to be predicted: their (u,v,w) as rows for degridding. */
#pragma once

#include "core/gridder/dumps.h"

G_BEGIN_DECLS

typedef struct {
  AstroDumps dumps;
  double *positions;   /* u v w of each station at one time */
  guint64 n, capacity; /* dumps */
  double *uvw;         /* rows, [dump][baseline][3], folded so that w >= 0 */
  guint8 *folded;      /* [dump][baseline]: seen from the other end */
} AstroDumped;

gboolean astro_dumped_init(AstroDumped *self, const AstroPrepareConfig *config,
                           const AstroGrid *grid, AstroObservation *observation, GError **error);
void astro_dumped_clear(AstroDumped *self); /* may be called again */

/* An error if a baseline is too long for the pixels of the model. */
gboolean astro_dumped_add(AstroDumped *self, gint64 middle_ns, const double *uvw, GError **error);
void astro_dumped_rows(const AstroDumped *self, AstroGridRows *rows);

G_END_DECLS
