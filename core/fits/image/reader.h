/* Inside the reader of images: header.c finds out what is in a file, read.c reads it.
 */
#pragma once

#include "core/fits/image/image.h"
#include "core/fits/reader.h"

G_BEGIN_DECLS

/* An axis of an HDU; stride in values. */
typedef struct {
  guint64 n, stride;
  double value, pixel, delta;
  guint number; /* as in NAXIS3; 0: there is none, and n is 1 */
} AstroFitsImageAxis;

typedef struct {
  const AstroFitsHeader *header;
  AstroFitsImageAxis channel, stokes;
  const char *role; /* NULL: none */
  gint64 version;   /* EXTVER */
  guint n_products;
  guint *product_at; /* on the STOKES axis, of each product in the stream's order */
  double scale, zero;
  gboolean is_jansky; /* values times scale, of a beam or a pixel */
  gboolean has_blank;
  gint64 blank;
} AstroFitsImageHdu;

typedef struct {
  AstroFitsFile *file;
  guint64 width, height, channels, pols;
  gint bitpix;
  gboolean flip_x, flip_y, flip_channels; /* they stand the other way round in the file */
  GArray *hdus;                           /* of all images, an image's next to each other */
  guint per_image;                        /* HDUs */
  guint next;                             /* HDU, from 0 */
  const AstroObservation *observation;    /* the contents' */
  guint8 *row;
} AstroFitsImageReader;

gboolean astro_fits_image_recognises(const AstroFitsFile *file);
gboolean astro_fits_image_read_headers(AstroFitsImageReader *r, AstroFitsContents *contents,
                                       GError **error);
/* Places in the sky; what the stream has no words for becomes contents' note. */
void astro_fits_image_read_sky(AstroFitsImageReader *r, AstroFitsContents *contents);
/* When an image begins after the observation's start, and how long it is. */
void astro_fits_image_read_times(const AstroFitsHeader *header, const AstroObservation *o,
                                 gint64 *start_ns, guint64 *duration_ns);

extern const AstroFitsReaderKind astro_image_reader;

G_END_DECLS
