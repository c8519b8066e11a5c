/* The files that a user names: one, several separated by commas or blanks, those that match a
 * pattern, or all in a folder. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A sorted array of names, at least one, to be freed with g_ptr_array_unref. A name that exists is
 * that file even if it has commas, blanks or the characters of a pattern. Of a folder, files that
 * are hidden or still being written (NAME.part) are left out, and folders too. A Measurement Set,
 * which is a folder, counts as a file. The order of a list is kept. */
GPtrArray *astro_inputs_find(const char *input, GError **error);

G_END_DECLS
