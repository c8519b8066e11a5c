/* Files that people bring and that are not read here: an error says what such a file is, by its
 * content, and how to come from it to one that is. */
#pragma once

#include "core/fits/file.h"

G_BEGIN_DECLS

/* How much of a file's beginning tells all kinds apart. */
#define ASTRO_FOREIGN_BYTES (64u << 10)

/* "a Measurement Set: ..." to go behind "FILE is"; NULL: none that is known. */
const char *astro_foreign_folder(const char *path);
const char *astro_foreign_bytes(const guint8 *bytes, gsize n);
const char *astro_foreign_fits(const AstroFitsFile *file);

G_END_DECLS
