/* The beam of astroimage's images: an ellipse fitted to the peak of the point-spread function. The
 * fit needs only its middle, since the image may be on a device. */
#pragma once

#include <gst/gst.h>

#include "core/image/image.h"
#include "core/stream/grid.h"

G_BEGIN_DECLS

typedef struct {
  gint psf;        /* index among the image's products; -1: there is none */
  guint product;   /* the same in the channel that the beam is of, counted through all channels */
  guint size;      /* pixels a side */
  gpointer middle; /* filled when the last plane is added; NULL: no beam is wanted */
  gboolean warned;
} AstroImageBeam;

/* For images of that configuration. */
void astro_image_beam_prepare(AstroImageBeam *beam, const AstroImageConfig *config);
void astro_image_beam_clear(AstroImageBeam *beam);

/* Chooses the channel that the beam is of: the middle one, or the nearest one with any weight.
 * weights: of the grid's channels and products. */
void astro_image_beam_choose(AstroImageBeam *beam, const AstroImageConfig *config,
                             const double *weights);

/* Fits the beam and writes it to the meta and a message, if the image has a point-spread function.
 */
void astro_image_beam_fit(AstroImageBeam *beam, GstElement *element, const AstroImageConfig *config,
                          GstBuffer *image, AstroImageMeta *meta);

G_END_DECLS
