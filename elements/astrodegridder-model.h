/* The model of astrodegridder: images in a FITS file. */
#pragma once

#include "core/stream/grid.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

typedef struct {
  char *path;
  AstroStream stream; /* of the file: format, band, channels */
  AstroGrid grid;     /* with the products of the model alone, without "-MODEL" */
  guint *products;    /* their numbers among those of the file */
  guint n_products, n_in_file;
  AstroObservation *observation; /* where the image is */
  gpointer pixels;               /* [channel][product of the file][y][x] */
} AstroModelFile;

/* Reads all of it. Refuses what is no model: images in Jy/beam, of unknown place or scale. */
gboolean astro_model_file_read(AstroModelFile *model, const char *path, GError **error);
void astro_model_file_clear(AstroModelFile *model);

gboolean astro_model_file_is_jansky(const AstroModelFile *model);
guint astro_model_file_channels(const AstroModelFile *model);

/* Whether the model's band fits that of visibilities; and its centre their phase centre. */
gboolean astro_model_file_check_band(const AstroModelFile *model, const AstroStream *in,
                                     GError **error);
gboolean astro_model_file_check_centre(const AstroModelFile *model, const AstroObservation *came,
                                       GError **error);

/* The model's images, and their checksum, in the precision that is asked for; to be freed with
 * free(). NULL with an error. */
gpointer astro_model_file_pick(const AstroModelFile *model, gboolean to_double, char **checksum,
                               GError **error);

G_END_DECLS
