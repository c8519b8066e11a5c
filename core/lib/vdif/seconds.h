/* VDIF's seconds, which are counted from half years on, as seconds of UTC. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The second since 1970, without leap seconds. epoch: half years since 2000. */
gint64 astro_vdif_second(guint epoch, guint64 seconds);
/* The epoch that contains a second, so that no leap second lies between them. FALSE: none does. */
gboolean astro_vdif_find_epoch(gint64 second, guint *epoch, guint64 *seconds);

G_END_DECLS
