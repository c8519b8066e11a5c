/* Private to the reader of uvh5: header.c reads who observed what, sky.c where to, rows.c the times
 * and baselines, data.c the values of rows, read.c puts these together. All but the functions of
 * uvh5.h are called between astro_h5_begin and astro_h5_end. */
#pragma once

#include "core/lib/rows/products.h"
#include "core/lib/rows/weights.h"
#include "core/lib/hdf5/h5.h"
#include "core/uvh5/uvh5.h"

G_BEGIN_DECLS

/* One of the three datasets with a value for each row, channel and product. */
typedef struct {
  hid_t id, space;
  hid_t type;          /* in memory */
  gsize width;         /* bytes of a value in memory */
  gboolean has_window; /* an axis of length 1 between rows and channels: versions before 1.2 */
} AstroUvh5Data;

struct _AstroUvh5Reader {
  AstroH5 file;
  AstroRowContents contents;
  guint64 n_rows; /* of the file */
  guint channels, products, pols;
  gint place[ASTRO_ROW_PRODUCTS]; /* where the file has our product; -1: nowhere */
  guint feed[2];                  /* our polarisation for the file's first and second */
  gboolean upside_down;           /* frequencies fall along the axis */
  double first_hertz, step_hertz; /* in our order */
  double location[3];             /* of the array, geocentric metres */
  AstroRows *rows;                /* of the field that is read */
  guint64 *row_in_file;           /* of each of them */
  double *uvw;                    /* of each, metres, antenna 2 minus 1 */
  gboolean is_drift;              /* no delays were taken out: we do so */
  gboolean gives_uvw;             /* the file's (u,v,w) go with the stream */
  AstroUvh5Data values, flags, counts;
  gboolean has_no_counts; /* all are 0 */
  AstroWeightRange range; /* of all weights */
  double weight_scale;
  guint32 full;
  guint64 next; /* integration */
  guint8 *room; /* rows that are read at once */
  guint64 rows_at_once;
  double *station_uvw; /* of drifting visibilities */
};

/* Adds a sentence to the warning. */
void astro_uvh5_note(AstroUvh5Reader *r, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Array, channels and products. numbers: of the antennas, to be freed, as are names. */
typedef struct {
  guint64 n;
  gint64 *numbers;
  char **names;
  double *positions; /* relative to the array's, metres */
} AstroUvh5Antennas;
void astro_uvh5_antennas_clear(AstroUvh5Antennas *antennas);
gboolean astro_uvh5_read_antennas(AstroUvh5Reader *r, AstroUvh5Antennas *antennas, GError **error);
gboolean astro_uvh5_read_band(AstroUvh5Reader *r, GError **error);
gboolean astro_uvh5_read_products(AstroUvh5Reader *r, const char **basis, GError **error);

/* Times and baselines; makes the observation, with those stations that have rows. field: as found
 * by astro_uvh5_read_field; -1: all rows. */
gboolean astro_uvh5_read_rows(AstroUvh5Reader *r, const AstroUvh5Antennas *antennas, gint64 field,
                              GError **error);

/* Finds the field by its name or number, and its direction. Without a direction the array does not
 * track. */
typedef struct {
  gint64 id; /* -1: the file has no catalogue */
  gboolean is_drift;
  double ra, dec;
} AstroUvh5Field;
gboolean astro_uvh5_read_field(AstroUvh5Reader *r, const char *wanted, AstroUvh5Field *field,
                               GError **error);
/* Needs the rows. */
gboolean astro_uvh5_set_phase_centre(AstroUvh5Reader *r, const AstroUvh5Field *field,
                                     const AstroUvh5Options *options, GError **error);

gboolean astro_uvh5_open_data(AstroUvh5Reader *r, GError **error);
void astro_uvh5_close_data(AstroUvh5Reader *r);
/* Reads n rows of the file from `first` on. */
gboolean astro_uvh5_read_data(const AstroUvh5Reader *r, const AstroUvh5Data *data, guint64 first,
                              guint64 n, gpointer to, GError **error);
/* Looks at all counts in the file. */
gboolean astro_uvh5_scale_weights(AstroUvh5Reader *r, GError **error);

G_END_DECLS
