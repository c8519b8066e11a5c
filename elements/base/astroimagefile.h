/* Images that elements read from FITS files, besides their streams: masks, models, beams. */
#pragma once

#include "core/fits/fits.h"

G_BEGIN_DECLS

typedef struct {
  char *path;
  AstroFitsReader *reader;
  const AstroFitsContents *contents; /* of the reader */
  guint width, height, channels, products;
  float *pixels; /* of the first image: [channel][product][y][x]; NULL until they are read */
} AstroImageFile;

/* Opens a file and checks that it holds images. */
gboolean astro_image_file_open(AstroImageFile *file, const char *path, GError **error);
gboolean astro_image_file_read_pixels(AstroImageFile *file, GError **error);
void astro_image_file_clear(AstroImageFile *file);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AstroImageFile, astro_image_file_clear)

G_END_DECLS
