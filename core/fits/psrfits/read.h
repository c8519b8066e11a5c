/* Shared by the parts of the reader of PSRFITS. */
#pragma once

#include "core/fits/psrfits/psrfits.h"
#include "core/fits/psrfits/unpack.h"

G_BEGIN_DECLS

typedef struct {
  const AstroFitsColumn *data, *frequencies, *weights, *offsets, *scales, *times;
} AstroPsrfitsColumns;

typedef struct {
  AstroFitsFile *file;
  AstroFitsTable table;
  AstroPsrfitsColumns columns;
  AstroStream stream;
  AstroPsrfitsPols pols;
  AstroPsrfitsPacking packing;
  guint channels;
  guint64 block;      /* time steps of a row */
  double rate;        /* of time steps, as the stream has it */
  gboolean is_turned; /* the file's first channel is the highest */

  /* of each row */
  guint64 *first;     /* its first step */
  guint64 last_steps; /* how many steps the last row has */
  gboolean has_counts;
  double most_weight; /* of all weights: that of a value without losses */
  guint32 full;       /* its count */

  /* Where reading stands. */
  guint64 row, at;         /* at: step within the row */
  gboolean has_row;        /* the row was read */
  float *scales, *offsets; /* of the row, by polarisation and rising channel */
  guint32 *counts;         /* of the row, by rising channel */
  gboolean has_lost;       /* one of these is 0 */
  float *numbers;          /* room for one step */
} AstroPsrfitsReader;

/* Fill in the reader and the contents from the headers. */
gboolean astro_psrfits_read_header(AstroPsrfitsReader *r, AstroFitsContents *contents,
                                   GError **error);
/* Looks through all rows for their times and weights. */
gboolean astro_psrfits_scan(AstroPsrfitsReader *r, AstroFitsContents *contents, GError **error);

/* Counts all samples, of a file without losses. */
void astro_psrfits_count_all(AstroPsrfitsReader *r);

/* The steps of a row. */
guint64 astro_psrfits_row_steps(const AstroPsrfitsReader *r, guint64 row);

G_END_DECLS
