/* A stage that is only planned: it agrees on caps as ever, and says what its work is instead of
 * making a backend (core/backend/work.h). No data comes. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

/* Posts the message once caps are agreed on. An error if no backend can take the shape. */
gboolean astro_plan_tell(AstroStage *stage, gboolean pass_through, GError **error);

/* Sends the observation downstream, which otherwise waits for the first block. Does nothing in a
 * stage that is not planned, or has not both caps and observation. FALSE after an error. */
gboolean astro_plan_tell_observation(AstroStage *stage);

G_END_DECLS
