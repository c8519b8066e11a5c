/* Private to the reader of Measurement Sets: select.c finds the rows that are wanted and the
 * stations that they have, band.c puts spectral windows together, sky.c finds the direction, the
 * Earth orientation and (u,v,w), weights.c counts, read.c puts rows together to integrations. */
#pragma once

#include "core/lib/rows/products.h"
#include "core/lib/rows/weights.h"
#include "core/sets/sets.h"

G_BEGIN_DECLS

#define ASTRO_SET_NO_ROW G_MAXUINT64

/* A spectral window that is read. */
typedef struct {
  gint band;                    /* its number */
  guint channels;               /* of it */
  guint first;                  /* where they begin in the stream */
  double lowest, highest, step; /* Hz */
  gboolean upside_down;         /* frequencies fall along the axis */
  guint64 *row;                 /* of the main table, for each row of rows; or ASTRO_SET_NO_ROW */
} AstroSetWindow;

struct _AstroSetReader {
  char *location;
  const char *column;
  AstroSetTables *tables;
  AstroSetAbout about;
  AstroSetIndex index;
  AstroRowContents contents;
  gint field;
  const AstroSetSetup *setup; /* all windows have its products */
  guint n_windows;
  AstroSetWindow *windows; /* by frequency */
  guint channels, pols;
  gint place[ASTRO_ROW_PRODUCTS]; /* where rows have our product; -1: nowhere */
  AstroRows *rows;                /* each with all its windows */
  double *uvw;                    /* of each, metres, as in the set */
  gboolean conjugated;            /* values are those of antenna 2 with antenna 1 */
  gboolean gives_uvw;             /* the set's (u,v,w) go with the stream */
  AstroWeightRange range;         /* of all weights */
  double weight_scale;
  guint32 full;
  guint64 next;   /* integration */
  guint together; /* rows that are read at once */
  float *values, *weights;
  guint8 *flags;
};

/* Sets ASTRO_ROWS_ERROR_FORMAT with the set's name in front. Always FALSE. */
gboolean astro_set_wrong(const AstroSetReader *r, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
/* Adds a sentence to the warning. */
void astro_set_note(AstroSetReader *r, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Finds the rows of a field and of the windows wanted, and makes the observation of the stations
 * that they have. */
gboolean astro_set_select(AstroSetReader *r, const AstroSetOptions *options, GError **error);

/* Whether the rows of that setup are wanted is known: fills in windows, channels and the band of
 * the stream. used: for each setup, whether rows have it. */
gboolean astro_set_join_bands(AstroSetReader *r, const guint8 *used, GError **error);

/* Like astro_set_reader_open, for writing back; does not look at the weights. */
AstroSetReader *astro_set_reader_open_to_write(const char *location, const AstroSetOptions *options,
                                               GError **error);

gboolean astro_set_find_sky(AstroSetReader *r, const AstroSetOptions *options, GError **error);

/* Looks at all weights. */
gboolean astro_set_scale_weights(AstroSetReader *r, GError **error);

/* Reads rows of a window that follow each other in the main table: n of them, to r->values (unless
 * only weights are wanted), r->flags and r->weights. */
gboolean astro_set_fetch(AstroSetReader *r, const AstroSetWindow *window, guint64 row, guint n,
                         gboolean only_weights, GError **error);

G_END_DECLS
