/* Folders that are Measurement Sets: one thing to their users. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A table that every set with tables of its own has. */
#define ASTRO_SET_FOLDER_MARK "ANTENNA/table.dat"

/* A selection of rows of another table, as TaQL and CASA make it: it has no values and no tables of
 * its own, and casacore finds those of the other one. */
gboolean astro_set_folder_is_selection(const char *name);

/* Whether it is a set with tables of its own, or a selection of some table. */
gboolean astro_set_folder_is(const char *name);

G_END_DECLS
