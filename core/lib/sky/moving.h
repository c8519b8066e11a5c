/* Bodies that move among the stars, which cannot be given by name. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A sentence about a text that is the name of such a body, to be freed; NULL: it is not. */
char *astro_moving_tell(const char *text);

G_END_DECLS
