/* Degridding: predicts visibilities from images of a model of the sky, as the adjoint of
 * W-stacking.
 *
 *   model -> corrected for the spreading -> rotated to a w-plane -> transformed -> collected
 *            (model.c)                      (planes.c)                             (wstacking/)
 *
 * Each plane is made from the model, and each visibility adds up what the planes have in its
 * footprint, with the same taps, planes and corrections as the gridder: the model times the image
 * of some visibilities is the model's visibilities times these. */
#pragma once

#include "core/gridder/gridder.h"

G_BEGIN_DECLS

/* Fills values ([row][channel][product], complex) with what a model has for rows, whose values are
 * NULL and whose (u,v,w) are all in the grid. Precision is that of config, as for the gridder.
 * grid: as astro_wstacking.choose left it. model: images of config->channels (1: the same for all
 * channels of the rows, or as many as those) x products x size x size pixels, in the order of
 * images (core/stream/grid.h), Jy/pixel. */
gboolean astro_degrid(const AstroGriddingConfig *config, const AstroGrid *grid,
                      const AstroGridRows *rows, gconstpointer model, gpointer values,
                      GError **error);

/* The same by the formula, in double precision: each pixel as a source of its own. */
gboolean astro_degrid_direct(const AstroGriddingConfig *config, const AstroGrid *grid,
                             const AstroGridRows *rows, gconstpointer model, gpointer values,
                             GError **error);

const char *astro_degrid_variant(void); /* the kernels' name */

/* Bytes that astro_degrid needs at most beside rows, model and values. */
guint64 astro_degrid_bytes(const AstroGriddingConfig *config, const AstroGrid *grid, guint products,
                           guint64 visibilities);

G_END_DECLS
