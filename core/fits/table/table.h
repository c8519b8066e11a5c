/* Reads numbers as FITS stores them, and tables of them. */
#pragma once

#include "core/fits/file.h"

G_BEGIN_DECLS

/* Value i of an array with this BITPIX; integers equal to blank become NaN (NULL: no blank value).
 */
double astro_fits_value(const guint8 *data, gint bitpix, guint64 i, const gint64 *blank);

/* The same scaled with BSCALE and BZERO, or with a column's TSCAL and TZERO; unsigned 64-bit
 * integers stay exact. */
double astro_fits_scaled_value(const guint8 *data, gint bitpix, guint64 i, const gint64 *blank,
                               double scale, double zero);

/* n values scaled with BSCALE and BZERO. */
void astro_fits_floats(const guint8 *data, gint bitpix, guint64 n, const gint64 *blank,
                       double scale, double zero, float *out);

typedef struct {
  const char *name;
  char type;      /* from TFORM: A, D, E, I, J, K, B */
  guint64 repeat; /* number of values or characters */
  guint64 offset; /* byte in a row */
  double scale, zero;
  gboolean has_blank; /* blank is the integer that stands for a missing value */
  gint64 blank;
  /* of an ASCII table, where type is D for all numbers */
  guint64 width,
      decimals; /* in characters; decimals: implied digits after the point, if none is written */
  const char *none; /* text that stands for a missing value; NULL: none */
  /* of a table that is not FITS: the word for its type, and its unit ("": none); else NULL */
  const char *kind, *unit;
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
  guint8 *row; /* the row that was read last */
} AstroFitsTable;

/* FALSE and an error if the header contradicts itself or the file ends within the table. */
gboolean astro_fits_table_open(AstroFitsTable *table, AstroFitsFile *file,
                               const AstroFitsHeader *header, GError **error);
/* Fills in column from field n (from 1) of an ASCII table. Returns what is wrong with it, or NULL.
 */
const char *astro_fits_text_column(const AstroFitsTable *table, guint n, AstroFitsColumn *column);
/* NaN if the value is missing, blank or not a number. Not scaled. */
double astro_fits_text_number(const AstroFitsColumn *column, const guint8 *row);
void astro_fits_table_clear(AstroFitsTable *table);
/* NULL if there is no column with this name, type (any number, or text) and at least this many
 * values. */
const AstroFitsColumn *astro_fits_table_find(const AstroFitsTable *table, const char *name,
                                             gboolean text, guint64 repeat);
/* By the name, in the same case or else in any, or by the number from 1; NULL: there is none. */
const AstroFitsColumn *astro_fits_table_column(const AstroFitsTable *table, const char *name);
/* The names of the columns, for messages; to be freed. */
char *astro_fits_table_names(const AstroFitsTable *table);
/* A column's first value in each of n rows in memory; blank values are NaN. */
void astro_fits_table_values(const AstroFitsTable *table, const AstroFitsColumn *column,
                             const guint8 *rows, guint64 n, double *values);
/* The next three are for binary tables only. */
gboolean astro_fits_table_read(AstroFitsTable *table, guint64 row, GError **error);
double astro_fits_table_number(const AstroFitsTable *table, const AstroFitsColumn *column,
                               guint64 i);
/* The same of a cell in memory. */
double astro_fits_column_number(const AstroFitsColumn *column, const guint8 *cell, guint64 i);
char *astro_fits_table_text(const AstroFitsTable *table, const AstroFitsColumn *column);

G_END_DECLS
