/* Private to the reader of images: header.c finds out what is in a file, read.c reads it. */
#pragma once

#include "core/fits/image/image.h"
#include "core/fits/reader.h"

G_BEGIN_DECLS

/* An axis of an HDU; stride is in values. */
typedef struct {
  guint64 n, stride;
  double value, pixel, delta;
  guint number; /* as in NAXIS3; 0: there is no such axis, and n is 1 */
} AstroFitsImageAxis;

typedef struct {
  const AstroFitsHeader *header;
  AstroFitsImageAxis channel, stokes;
  const char *role; /* NULL: none */
  gint64 version;   /* EXTVER */
  guint n_products;
  guint *product_at; /* position on the STOKES axis of each product in the stream's order */
  double scale, zero;
  gboolean is_jansky; /* values times scale are Jy/beam, or Jy/pixel */
  gboolean has_blank;
  gint64 blank;
} AstroFitsImageHdu;

typedef struct {
  AstroFitsFile *file;
  guint64 width, height, channels, pols;
  gint bitpix;
  gboolean flip_x, flip_y, flip_channels; /* the file has them in the opposite order */
  GArray *hdus;                           /* of all images, those of an image next to each other */
  guint per_image;                        /* number of HDUs */
  guint next;                             /* index of an HDU */
  gboolean takes_models;                  /* an image in Jy/pixel need not be named MODEL */
  const AstroObservation *observation;    /* belongs to the contents */
  guint8 *row;
} AstroFitsImageReader;

gboolean astro_fits_image_recognises(const AstroFitsFile *file);
gboolean astro_fits_image_read_headers(AstroFitsImageReader *r, AstroFitsContents *contents,
                                       GError **error);
/* Finds where the image is in the sky; what the stream cannot express is added to contents' note.
 */
void astro_fits_image_read_sky(AstroFitsImageReader *r, AstroFitsContents *contents);
/* When an image begins, relative to the observation's start, and how long it lasts. */
void astro_fits_image_read_times(const AstroFitsHeader *header, const AstroObservation *o,
                                 gint64 *start_ns, guint64 *duration_ns);

extern const AstroFitsReaderKind astro_image_reader;

G_END_DECLS
