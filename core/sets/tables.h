/* The tables of a Measurement Set, as casacore has them: the only files that know casacore are
 * those behind this header. Units are those of the tables: metres, Hz, radians, and seconds since
 * MJD 0 of UTC. casacore may be used by one thread at a time, so every function takes one lock. */
#pragma once

#include "core/lib/rows/rows.h"

G_BEGIN_DECLS

/* Errors are ASTRO_ROWS_ERROR, or G_IO_ERROR in writing. This one is of the content. */
#define astro_set_refuse(error, ...)                                                               \
  astro_fail(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_FORMAT, __VA_ARGS__)

/* casacore's numbers of products: 5 to 8 are RR, RL, LR and LL, 9 to 12 XX, XY, YX and YY. */
#define ASTRO_SET_STOKES_I 1
#define ASTRO_SET_RR 5
#define ASTRO_SET_XX 9

typedef struct {
  guint n_channels;
  double *frequencies, *widths; /* of channels */
  gint reference; /* MEAS_FREQ_REF, casacore's number of the frame; -1: it is not told */
} AstroSetBand;

typedef struct {
  char *name;
  double ra, dec;
  char *frame;        /* "J2000", "ICRS", ... */
  gboolean is_moving; /* the direction is a polynomial of time, or an ephemeris */
} AstroSetField;

/* Rows of the main table point to one of these: a band with products. */
typedef struct {
  guint band, n_products;
  gint *products;
} AstroSetSetup;

/* Written by us alone, as keywords of the main table, since a set has no columns for these. */
typedef struct {
  gboolean is_there;
  gint64 start_mjd, start_ns; /* of the observation */
  gboolean delays_are_in;
  char *earth;      /* the name of the Earth orientation behind (u,v,w); NULL: none is told */
  gint64 earth_mjd; /* its first day */
  guint earth_days;
  double *earth_values; /* three a day: pole x, pole y, UT1 - UTC */
} AstroSetOurs;

typedef struct {
  char *telescope;
  guint n_antennas;
  char **antennas;   /* names, then NULL */
  double *positions; /* three each */
  guint n_fields;
  AstroSetField *fields;
  guint n_bands;
  AstroSetBand *bands;
  guint n_setups;
  AstroSetSetup *setups;
  char *clock;        /* of times: "UTC" */
  char *unit;         /* of the values, "Jy"; empty: not told */
  gboolean x_is_east; /* and Y is north, at all antennas */
  AstroSetOurs ours;
} AstroSetAbout;
void astro_set_about_clear(AstroSetAbout *about);

typedef struct _AstroSetTables AstroSetTables;

/* ---- writing ---- */

/* Rows to add: all of one time. */
typedef struct {
  guint n;
  const gint *antenna1, *antenna2;
  const double *uvw;                     /* three a row */
  double middle, length;                 /* seconds */
  const float *values;                   /* [row][channel][product][2] */
  const guint8 *flags;                   /* [row][channel][product] */
  const float *weights;                  /* [row][channel][product] */
  const float *row_weights, *row_sigmas; /* [row][product] */
} AstroSetRows;

/* Makes a set in a folder that does not exist yet. It has one band, field and setup. */
AstroSetTables *astro_set_create(const char *folder, const AstroSetAbout *about, GError **error);
gboolean astro_set_add_rows(AstroSetTables *tables, const AstroSetRows *rows, GError **error);
/* Writes what is known only at the end: when the observation began and ended. */
gboolean astro_set_complete(AstroSetTables *tables, double begin, double end, GError **error);

/* ---- reading ---- */

/* The columns of the main table that say what a row holds; NULL: not in the set. */
typedef struct {
  guint64 n;
  gint *antenna1, *antenna2, *field, *setup, *array;
  double *middle, *length; /* TIME and EXPOSURE or INTERVAL */
  double *uvw;
  guint8 *is_flagged; /* FLAG_ROW */
} AstroSetIndex;
void astro_set_index_clear(AstroSetIndex *index);

/* about->unit is that of the column. */
AstroSetTables *astro_set_open(const char *folder, const char *column, AstroSetAbout *about,
                               GError **error);
gboolean astro_set_read_index(AstroSetTables *tables, AstroSetIndex *index, GError **error);
gboolean astro_set_has_column(AstroSetTables *tables, const char *column);
/* Reads n rows that follow each other, all of one shape: [row][channel][product]. Weights are those
 * of WEIGHT_SPECTRUM where the set has it, else WEIGHT (or 1 / SIGMA^2) for each channel. Any of
 * the three may be NULL. */
gboolean astro_set_read_rows(AstroSetTables *tables, const char *column, guint64 first, guint n,
                             guint channels, guint products, float *values, guint8 *flags,
                             float *weights, GError **error);

/* ---- changing ---- */

/* Like astro_set_open, but to write to a column of values. One that is not there is added:
 * CORRECTED_DATA begins as DATA, MODEL_DATA as zeros. FLAG is the column of flags. */
AstroSetTables *astro_set_open_to_write(const char *folder, const char *column,
                                        AstroSetAbout *about, GError **error);
/* Writes a row of values or of flags; the other is NULL. */
gboolean astro_set_put_row(AstroSetTables *tables, const char *column, guint64 row, guint channels,
                           guint products, const float *values, const guint8 *flags,
                           GError **error);
gboolean astro_set_flush(AstroSetTables *tables, GError **error);

void astro_set_close(AstroSetTables *tables);

G_END_DECLS
