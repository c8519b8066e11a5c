/* Messages and warnings of astrotpacf. */
#pragma once

#include "core/tpacf/tpacf.h"

#include <gst/gst.h>

G_BEGIN_DECLS

/* Posts "astro-tpacf" with the power law that fits, and warns of what is missing or in doubt. */
void astro_tpacf_tell(GstElement *self, const AstroTpacfResult *result);

G_END_DECLS
