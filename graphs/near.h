/* Guesses which name a mistyped word was meant to be. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* names ends with NULL. Returns NULL if none is near. */
const char *astro_near(const char *word, const char *const *names);

/* A new string: ", did you mean X?" or "". */
char *astro_near_hint(const char *word, const char *const *names);

G_END_DECLS
