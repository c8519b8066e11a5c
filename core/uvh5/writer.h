/* Private to the writer of uvh5: write-header.c says who observed what and when, write-rows.c
 * appends rows, write.c makes the whole file. */
#pragma once

#include "core/lib/files/part-file.h"
#include "core/lib/rows/products.h"
#include "core/stream/track.h"
#include "core/lib/hdf5/h5.h"
#include "core/uvh5/write.h"

G_BEGIN_DECLS

/* Datasets with an entry for each row, which grow as rows come. */
typedef enum {
  VISDATA,
  FLAGS,
  NSAMPLES,
  TIME,
  LENGTH,
  SIDEREAL,
  ANTENNA_1,
  ANTENNA_2,
  UVW,
  FIELD,
  APPARENT_RA,
  APPARENT_DEC,
  FRAME_ANGLE,
  N_COLUMNS
} AstroUvh5Column;

struct _AstroUvh5Writer {
  AstroPartFile *part;
  AstroH5 file; /* the part */
  char *cause;  /* why a call of HDF5 failed; NULL: none did */
  int error;    /* the system's number of it; 0: none */
  hid_t columns[N_COLUMNS], types[N_COLUMNS];
  AstroStream stream;
  AstroObservation *observation;
  AstroTrack *track;
  guint channels, products;
  guint64 baselines, rows; /* rows: written so far */
  guint64 integrations;
  guint64 together; /* rows that are appended at once */
  double scale;     /* to Jy; 1 if the scale is unknown */
  gboolean is_drift;
  double location[3];                   /* of the array, geocentric metres, and its ... */
  double latitude, longitude, altitude; /* radians, metres */
  double local[3][3];                   /* ... axes to the east, the north and up */
  double *station_uvw;
  AstroRowPlace *places; /* of an integration's rows */
  guint8 *has_rows;      /* whether a baseline had any so far */
  /* Rows that are gathered. */
  float *values, *counts;
  guint8 *flags;
  gint32 *antenna[2], *field;
  double *uvw, *numbers;
};

/* Is `done`. Keeps what HDF5 says of a call that failed, before the next call clears it. */
gboolean astro_uvh5_done(AstroUvh5Writer *w, gboolean done);
/* Sets G_IO_ERROR with the words that were kept, or are there now, and is FALSE. */
gboolean astro_uvh5_cannot_write(AstroUvh5Writer *w, GError **error);

/* Between astro_h5_begin and astro_h5_end: */
gboolean astro_uvh5_write_header(AstroUvh5Writer *w, GError **error);
gboolean astro_uvh5_write_sums(AstroUvh5Writer *w, GError **error);
gboolean astro_uvh5_create_columns(AstroUvh5Writer *w, GError **error);
gboolean astro_uvh5_write_frame(AstroUvh5Writer *w, const AstroRowValues *values,
                                const AstroRowFrames *frames, guint64 index, AstroRowTally *tally,
                                GError **error);

G_END_DECLS
