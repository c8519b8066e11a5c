/* A model as a list of points, in the form in which skies are given to simulators and calibration:
 * lines "ra dec flux" (core/lib/sky/sky.h). */
#pragma once

#include "core/stream/grid.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

typedef struct {
  guint n;          /* points in the list */
  double flux;      /* of all of them, Jy */
  guint n_negative; /* pixels of negative flux, which a sky cannot have: they are left out */
  double negative;  /* their flux, Jy */
} AstroComponents;

/* Writes the pixels of a model (size x size, Jy/pixel) that are not 0. channels: models of so many
 * channels stand one after another, with the distance of stride pixels between them, and the list
 * has their mean. */
gboolean astro_components_write(const char *path, const AstroGrid *image,
                                const AstroObservation *observation, const float *model,
                                guint channels, gsize stride, AstroComponents *written,
                                GError **error);

G_END_DECLS
