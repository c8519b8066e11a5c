/* The reader of catalogues in tables, whose files share this: catalogue-read.c goes from table to
 * table, catalogue-columns.c finds columns, catalogue-points.c takes their values, and
 * catalogue-hdf5.c opens tables that are no FITS. */
#pragma once

#include "core/fits/table/catalogue-read.h"
#include "core/fits/table/rows.h"
#include "core/lib/catalogue/columns.h"
#include "core/lib/rows/rows.h"

G_BEGIN_DECLS

#define N_COLUMNS ASTRO_CATALOGUE_COLUMNS
enum { RA, DEC, WEIGHT, REGION, DISTANCE };

/* A column that was asked for. */
typedef struct {
  const AstroFitsColumn *column; /* NULL: it was not */
  guint64 place;                 /* of the value in a row of several */
  gboolean is_radians;
} CatalogueWanted;

typedef struct {
  AstroFitsFile *file;
  char *columns[N_COLUMNS], *where, *name; /* name: of the tables; NULL until the first is found */
  AstroCatalogueColumns distances;         /* how the column of distances is read */
  guint next;                              /* index of the header */
  gboolean is_open;
  const AstroTableRows *kind; /* of rows that are not FITS; NULL: they are */
  gpointer other;             /* these rows */
  AstroFitsTable table;
  CatalogueWanted wanted[N_COLUMNS];
  guint64 piece_rows, n_points;
  guint8 *rows;
  char *keep;   /* whether a row of the piece passes */
  guint8 *kept; /* the same for the whole table, a bit per row; NULL: all pass */
} CatalogueReader;

/* FALSE, with an error that begins with the file and the table. */
gboolean catalogue_wrong(const CatalogueReader *r, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
/* Errors of rows that are not FITS become ours. Gives good back. */
gboolean catalogue_other_rows(gboolean good, GError **error);

gboolean catalogue_find_columns(CatalogueReader *r, GError **error);
/* Splits the place in a row of several off a column of bits: "BITS[2]". 0: there is none. */
guint64 catalogue_split_place(char *name);
/* The half words of n rows of a column of bits. */
void catalogue_bit_values(const CatalogueReader *r, const CatalogueWanted *wanted, guint c,
                          guint64 n, double *values);

/* Reads up to a piece of rows from `first` on. */
gboolean catalogue_read_piece(CatalogueReader *r, guint64 first, guint64 *n, GError **error);
void catalogue_close_table(CatalogueReader *r);

/* As AstroFitsReaderKind has them. */
gboolean catalogue_next_table(gpointer reader, guint64 *n_points, gboolean *end, GError **error);
gboolean catalogue_read_table(gpointer reader, AstroFitsFrame *frame, gboolean *end,
                              GError **error);
void catalogue_close(gpointer reader);
CatalogueReader *catalogue_reader_new(AstroFitsFile *file, const AstroFitsOptions *options,
                                      AstroFitsContents *contents);

G_END_DECLS
