/* Tables of rows that other kinds of file than FITS hold: HDF5, whose library is in a plugin of its
 * own. A row is as FITS has it in a binary table, so that columns, units and filters are those of
 * FITS. */
#pragma once

#include "core/fits/table/table.h"

G_BEGIN_DECLS

typedef struct {
  const char *name;           /* of the file */
  const char *folder;         /* the group, or the dataset of records; NULL: to be found */
  const char *const *columns; /* up to a NULL, names or numbers from 1 */
  const char *where;          /* columns that it names are read too; NULL: none */
} AstroTableAsked;

typedef struct {
  /* Finds the one table that has the columns, or that has most of them. Sets rows and columns of
   * the table; columns that are not asked for have no bytes in a row. *title: of the table, to be
   * freed. Errors are ASTRO_ROWS_ERROR. */
  gpointer (*open)(const AstroTableAsked *asked, AstroFitsTable *table, char **title,
                   GError **error);
  gboolean (*read)(gpointer rows, guint64 first, guint64 n, guint8 *to, GError **error);
  void (*close)(gpointer rows);
  /* FALSE: the file holds visibilities (uvh5), or cannot be opened. */
  gboolean (*may_be)(const char *path);
} AstroTableRows;

/* The plugin that has HDF5 brings this; NULL: it is not there. */
#define ASTRO_HDF5_PLUGIN "astrouvh5"
#define ASTRO_HDF5_ROWS "astro-table-rows"
const AstroTableRows *astro_table_rows_of_hdf5(void);

extern const AstroTableRows astro_hdf5_rows; /* in the plugin */

G_END_DECLS
