/* Numbers as FITS stores them, and tables of them. */
#pragma once

#include "core/fits/file.h"

G_BEGIN_DECLS

/* Value i of an array of BITPIX's type; integers that are blank become NaN (blank: NULL for none).
 */
double astro_fits_value(const guint8 *data, gint bitpix, guint64 i, const gint64 *blank);

/* The same by BSCALE and BZERO, or a column's TSCAL and TZERO; 64 bits with no sign as they are. */
double astro_fits_scaled_value(const guint8 *data, gint bitpix, guint64 i, const gint64 *blank,
                               double scale, double zero);

/* n values by BSCALE and BZERO. */
void astro_fits_floats(const guint8 *data, gint bitpix, guint64 n, const gint64 *blank,
                       double scale, double zero, float *out);

typedef struct {
  const char *name;
  char type;      /* of TFORM: A, D, E, I, J, K, B */
  guint64 repeat; /* values, or letters */
  guint64 offset; /* bytes into a row */
  double scale, zero;
  gboolean has_blank; /* the integer that stands for none */
  gint64 blank;
  /* of an ASCII table, where type is D for any number */
  guint64 width, decimals; /* letters; behind the point where none is written */
  const char *none;        /* the text that stands for none; NULL: there is none */
} AstroFitsColumn;

gboolean astro_fits_column_is_number(const AstroFitsColumn *column);
guint64 astro_fits_column_bytes(const AstroFitsColumn *column);

typedef struct {
  AstroFitsFile *file;
  const AstroFitsHeader *header;
  gboolean is_text; /* an ASCII table */
  guint64 n_rows, row_bytes;
  guint n_columns;
  AstroFitsColumn *columns;
  guint8 *row; /* the one that was read last */
} AstroFitsTable;

/* FALSE and an error where the header contradicts itself or the file ends within the table. */
gboolean astro_fits_table_open(AstroFitsTable *table, AstroFitsFile *file,
                               const AstroFitsHeader *header, GError **error);
/* What is wrong with field n (from 1) of an ASCII table; NULL: nothing, and column is told. */
const char *astro_fits_text_column(const AstroFitsTable *table, guint n, AstroFitsColumn *column);
/* NaN for what is none, blank, or no number. Not scaled. */
double astro_fits_text_number(const AstroFitsColumn *column, const guint8 *row);
void astro_fits_table_clear(AstroFitsTable *table);
/* NULL where there is none of that name, type (numbers: any of them, 'A': text) and so many values.
 */
const AstroFitsColumn *astro_fits_table_find(const AstroFitsTable *table, const char *name,
                                             gboolean text, guint64 repeat);
/* Names of the columns, for messages. To be freed. */
char *astro_fits_table_names(const AstroFitsTable *table);
/* A column's first value in each of n rows that lie in memory; blank ones are NaN. */
void astro_fits_table_values(const AstroFitsTable *table, const AstroFitsColumn *column,
                             const guint8 *rows, guint64 n, double *values);
/* The next three are of binary tables. */
gboolean astro_fits_table_read(AstroFitsTable *table, guint64 row, GError **error);
double astro_fits_table_number(const AstroFitsTable *table, const AstroFitsColumn *column,
                               guint64 i);
char *astro_fits_table_text(const AstroFitsTable *table, const AstroFitsColumn *column);

G_END_DECLS
