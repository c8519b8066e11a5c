/* The name that a mistyped one was meant to be. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* names: up to a NULL. NULL where none is near. */
const char *astro_near(const char *word, const char *const *names);

/* A new string: ", did you mean X?" or "". */
char *astro_near_hint(const char *word, const char *const *names);

G_END_DECLS
