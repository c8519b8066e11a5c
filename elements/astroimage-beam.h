/* The beam of astroimage's images: an ellipse that is fitted to the point-spread function about its
 * peak, alone what the fit needs of an image that may be on a device. */
#pragma once

#include <gst/gst.h>

#include "core/image/image.h"
#include "core/stream/grid.h"

G_BEGIN_DECLS

typedef struct {
  gint psf;        /* among the image's products; -1: it has none */
  guint product;   /* that of the channel that the beam is of, among those of all channels */
  guint size;      /* pixels a side */
  gpointer middle; /* filled with the image's last plane; NULL: no beam is wanted */
  gboolean warned;
} AstroImageBeam;

/* For images of that configuration. */
void astro_image_beam_prepare(AstroImageBeam *beam, const AstroImageConfig *config);
void astro_image_beam_clear(AstroImageBeam *beam);

/* Of which channel the beam is: the middle one, or the nearest to it that has any weight. weights:
 * of the grid's channels and products. */
void astro_image_beam_choose(AstroImageBeam *beam, const AstroImageConfig *config,
                             const double *weights);

/* Says in meta and in a message what the beam is, if the image has a point-spread function. */
void astro_image_beam_fit(AstroImageBeam *beam, GstElement *element, const AstroImageConfig *config,
                          GstBuffer *image, AstroImageMeta *meta);

G_END_DECLS
