/* astrojoin's caps and observation: which streams belong together, and what their join is. */
#pragma once

#include "elements/base/astromerge.h"

G_BEGIN_DECLS

/* Whether all inputs have the axis, and are alike in all that is not joined along it. */
gboolean astro_join_check_inputs(const AstroMergeInput *inputs, guint n, AstroAxis axis,
                                 GError **error);
/* Sets what the axis's length does not say: the band of joined channels, the names of joined
 * products. */
gboolean astro_join_caps(const AstroMergeInput *inputs, guint n, AstroAxis axis, GstCaps *caps,
                         GError **error);
/* Joins the stations or the beams of the observations, which are otherwise the same. */
gboolean astro_join_observe(const AstroMergeInput *inputs, guint n, AstroAxis axis,
                            AstroObservation *observation, GError **error);

G_END_DECLS
