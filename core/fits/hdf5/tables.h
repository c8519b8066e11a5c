/* Private to the reader of tables in HDF5: types.c says what values a column has, find.c which
 * table is meant, stored.c what of it is not believed, rows.c reads it. All functions are called
 * between astro_h5_begin and astro_h5_end. */
#pragma once

#include "core/fits/table/rows.h"
#include "core/lib/hdf5/h5.h"

G_BEGIN_DECLS

typedef struct {
  char *name, *path; /* path: of the dataset */
  char type;         /* of FITS, which the values get: K, D or A; P: they cannot be read */
  const char *kind;  /* in words */
  gsize width;       /* of a value in a row, bytes */
  guint64 n, repeat; /* rows, and values in a row */
  gboolean is_unsigned;
  char *unit;
} AstroHdf5Column;

/* The datasets of a group, or the members of a dataset of records. */
typedef struct {
  char *path; /* "" for the root */
  gboolean is_records;
  GPtrArray *columns;
} AstroHdf5Table;
void astro_hdf5_table_free(AstroHdf5Table *table);

/* Values of a type in the file. */
void astro_hdf5_describe(hid_t type, AstroHdf5Column *column);
/* The type that these values have in memory; to be closed. file_type: of the dataset or member. */
hid_t astro_hdf5_memory_type(const AstroHdf5Column *column, hid_t file_type);
/* Reads the unit of a dataset from its attributes. Never NULL. */
char *astro_hdf5_unit(hid_t dataset);
/* Units of records that Astropy wrote; FALSE: they contradict the records. */
gboolean astro_hdf5_read_units(const AstroH5 *file, AstroHdf5Table *table, GError **error);

/* The columns of the table as FITS would have them, without places in a row; to be freed. */
AstroFitsColumn *astro_hdf5_fits_columns(const AstroHdf5Table *table);

/* Whether the values of an open dataset are all in the file, and can be unpacked within bounds.
 * chunks: bytes of unpacked chunks so far. */
gboolean astro_hdf5_check_stored(const AstroH5 *file, const AstroHdf5Column *column, hid_t set,
                                 hid_t space, guint64 *chunks, GError **error);

/* Finds the table; NULL: an error. */
AstroHdf5Table *astro_hdf5_find(const AstroH5 *file, const AstroTableAsked *asked, GError **error);

G_END_DECLS
