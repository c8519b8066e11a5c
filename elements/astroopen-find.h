/* Finds which source reads an input, by its content. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* A source, and what it is to be told. */
typedef struct {
  const char *factory;
  const char *about;     /* what the input is, as "a recording" */
  char *first;           /* the first file, or the address */
  GPtrArray *properties; /* names and values in turn */
} AstroOpenFound;

void astro_open_found_clear(AstroOpenFound *found);

/* format: of a recording whose content does not tell it; NULL: it tells. An error names the file
 * and what it is. */
gboolean astro_open_find(AstroOpenFound *found, const char *input, const char *format,
                         GError **error);

G_END_DECLS
