/* A stage that is only planned: it agrees on caps as ever, and says what its work is instead of
 * making a backend (core/backend/work.h). No data comes. */
#pragma once

#include "elements/base/astrostage.h"

ASTRO_BEGIN_DECLS

/* Posts the message of an element whose streams are these, with bytes of a step. */
typedef struct {
  const char *stage, *backend;
  gboolean pass_through;
  double rate_in, rate_out, bytes_in, bytes_out;
} AstroPlanStreams;
void astro_plan_post(GstElement *element, const AstroPlanStreams *streams, gboolean told,
                     const AstroWork *work);

double astro_plan_rate(const AstroStream *stream); /* steps a second; 0: it has no rate */

/* Posts the message once caps are agreed on. An error if no backend can take the shape. */
gboolean astro_plan_tell(AstroStage *stage, gboolean pass_through, GError **error);

/* Sends the observation downstream, which otherwise waits for the first block. Does nothing in a
 * stage that is not planned, or has not both caps and observation. FALSE after an error. */
gboolean astro_plan_tell_observation(AstroStage *stage);

ASTRO_END_DECLS
