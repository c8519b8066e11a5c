/* SIGPROC's numbers of telescopes. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

const char *astro_sigproc_telescope(gint32 id);      /* NULL: not known */
gint32 astro_sigproc_telescope_id(const char *name); /* 0: it has none */

G_END_DECLS
