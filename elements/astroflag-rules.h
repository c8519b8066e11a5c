/* The list of astroflag, for the stream that came: names become indices. */
#pragma once

#include "core/flag/list.h"

G_BEGIN_DECLS

/* An array of AstroFlagKnownRule. observation: NULL if none came. */
GArray *astro_flag_rules_new(const AstroFlagList *list, const AstroStream *stream,
                             const AstroObservation *observation, GError **error);

/* Whether a rule depends on time. */
gboolean astro_flag_rules_have_times(const GArray *rules);

G_END_DECLS
