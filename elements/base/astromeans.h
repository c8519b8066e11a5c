/* Caps of elements that multiply visibilities by factors: sums become means. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

/* A transform_caps. Means (CF32LE) come from means of the same format or from sums (CI32LE), CF64LE
 * from CF64LE; no other field changes. Other formats reach the backend, so that it can say what it
 * expects. */
GstCaps *astro_means_transform_caps(GstBaseTransform *trans, GstPadDirection direction,
                                    GstCaps *caps, GstCaps *filter);

G_END_DECLS
