/* Spectra packed into panels, as a kernel reads them. Private to core/correlator. */
#pragma once

#include "core/correlator/plan.h"

G_BEGIN_DECLS

/* A channel's samples: rows of inputs. */
typedef struct {
  const guint8 *first;
  gsize time; /* from row to row */
  guint64 count;
} AstroCorrelatorSamples;

/* Packs the panels from panel to end_panel of the time steps from first to last, a pass at most;
 * packed: where the first of these panels goes. */
void astro_correlator_pack_panels(const AstroCorrelatorPlan *plan,
                                  const AstroCorrelatorSamples *samples, guint8 *packed,
                                  guint panel, guint end_panel, guint64 first, guint64 last);

G_END_DECLS
