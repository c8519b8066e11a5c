/* For stages that make a block now and then, which somebody waits for, as a picture of each
 * integration. */
#pragma once

#include "elements/base/astrostage.h"

ASTRO_BEGIN_DECLS

/* Called at the instance's init: blocks that a device makes for a reader on the host, which are
 * held back until others after them are queued, go out as soon as they are done. No thread that
 * queues work waits for that, and blocks leave in their order, under the lock of the input's
 * stream. */
void astro_stage_hand_out_when_done(AstroStage *stage);

ASTRO_END_DECLS
