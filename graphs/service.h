/* Tells systemd how a run is doing, where it is a service: it is ready, it is alive, it stops; and
 * writes lines for its journal. Elsewhere all of this does nothing. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

void astro_service_ready(void);    /* once; also begins to tell that the main loop runs */
void astro_service_stopping(void); /* ends that */

typedef enum { ASTRO_LINE_ERROR, ASTRO_LINE_WARNING, ASTRO_LINE_NOTE } AstroLine;

/* Whether the standard error is the journal. */
gboolean astro_service_has_journal(void);
/* The beginning of a line by which the journal knows its priority; empty elsewhere. */
const char *astro_service_prefix(AstroLine line);

G_END_DECLS
