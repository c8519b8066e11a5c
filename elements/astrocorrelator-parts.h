/* An integration of astrocorrelator whose blocks were dealt out to several devices. */
#pragma once

#include "core/correlator/parts.h"
#include "core/backend/device-list.h"
#include "elements/base/astrostage.h"

G_BEGIN_DECLS

/* The visibilities that devices have made of one integration, not yet joined: it is joined when the
 * next one ends, so that devices have work meanwhile. */
typedef struct {
  guint n;
  GstBuffer *blocks[ASTRO_MOST_DEVICES];
  guint64 samples[ASTRO_MOST_DEVICES];
  guint32 *counts[ASTRO_MOST_DEVICES]; /* NULL: complete */
  guint64 number, end;                 /* of the integration, and the step that it ended at */
  gboolean is_cut;                     /* the stream ended inside it */
} AstroCorrelatorParts;

void astro_correlator_parts_clear(AstroCorrelatorParts *parts);
/* Takes a block and what the stage's result says of it. n_counts: those of its visibilities. */
void astro_correlator_parts_add(AstroCorrelatorParts *parts, GstBuffer *block,
                                const AstroResult *result, gsize n_counts);
/* The joined block, whose counts are in the result; NULL on an error. Leaves no parts. */
GstBuffer *astro_correlator_parts_join(AstroCorrelatorParts *parts,
                                       const AstroCorrelatorConfig *config, guint threads,
                                       AstroResult *result, GError **error);

G_END_DECLS
