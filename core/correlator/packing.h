/* Packs spectra into panels as a kernel reads them. Private to core/correlator. */
#pragma once

#include "core/correlator/plan.h"

G_BEGIN_DECLS

/* A channel's samples, as rows of inputs. */
typedef struct {
  const guint8 *first;
  gsize time; /* from row to row, in bytes */
  guint64 count;
} AstroCorrelatorSamples;

/* Packs panels from panel to end_panel, for time steps from first to last, at most a pass; packed:
 * where the first of these panels goes. */
void astro_correlator_pack_panels(const AstroCorrelatorPlan *plan,
                                  const AstroCorrelatorSamples *samples, guint8 *packed,
                                  guint panel, guint end_panel, guint64 first, guint64 last);

G_END_DECLS
