/* For stages that map block to block, and whose instances on several devices know nothing of each
 * other: which one does the next block. */
#pragma once

#include "elements/base/astrostage.h"

ASTRO_BEGIN_DECLS

/* Takes the lane of the device where the block is, so that it need not travel; one that is on none
 * of them goes to the lane whose turn it is. Returns which. */
guint astro_stage_take_nearest_lane(AstroStage *stage, GstBuffer *block, guint64 turn);

ASTRO_END_DECLS
