/* Adds spectra with contiguous rows of inputs to sums, or makes visibilities directly: packs them
 * into panels, and multiplies panels. Private to core/correlator. */
#pragma once

#include "core/correlator/plan.h"

G_BEGIN_DECLS

typedef struct _AstroCorrelatorPanels AstroCorrelatorPanels;

/* Spectra with contiguous rows of inputs, station:pol. */
typedef struct {
  const guint8 *first;
  gsize channel, time; /* strides */
  guint64 count;       /* time steps */
} AstroCorrelatorSpectra;

AstroCorrelatorPanels *astro_correlator_panels_new(const AstroCorrelatorConfig *config,
                                                   guint threads, GError **error);
void astro_correlator_panels_free(AstroCorrelatorPanels *self);
const AstroCorrelatorPlan *astro_correlator_panels_plan(const AstroCorrelatorPanels *self);

/* Whether visibilities can be made directly from that many time steps. */
gboolean astro_correlator_panels_make_means(const AstroCorrelatorPanels *self, guint64 count);

/* sums: of all channels. out: NULL; or receives the visibilities of an integration that has only
 * these steps, if possible, and the sums are left alone. */
void astro_correlator_panels_add(AstroCorrelatorPanels *self, const AstroCorrelatorSpectra *spectra,
                                 AstroCorrelatorSums sums, float *out);

G_END_DECLS
