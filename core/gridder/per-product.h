/* Grids of several products for a device that has room for one only: products are gridded one after
 * the other, and each is copied to the grid on the host. Maps of touched tiles are on the host too,
 * and a grid is whole when its call returns. */
#pragma once

#include "core/gridder/backend.h"

G_BEGIN_DECLS

/* Takes value i of n from i * every + pass, where every is the number of products of a visibility,
 * or of all channels of a row.
 *
 * Planes are chosen from the visibilities that are not zero, and must be the same for all products:
 * with all_or_none, where any product of a visibility is not zero, the others become a number so
 * small that it changes nothing. */
typedef struct {
  gconstpointer from;
  gpointer to;
  guint64 n;
  guint every, pass;
  gboolean is_double, all_or_none;
} AstroProductTake;

/* The parts of a device that it is made of. */
struct _AstroPerProduct {
  const AstroGridAlgorithm *const *algorithms; /* of the device, up to a NULL */
  gboolean (*take)(const AstroPlace *place, const AstroProductTake *take, GError **error);
  gboolean (*zero)(const AstroPlace *place, gpointer grid, gsize bytes, GError **error);
  gboolean (*drain)(const AstroPlace *place, GError **error);
};

/* Algorithms for AstroGridderParts, whose per_product says what they are made of. */
extern const AstroGridAlgorithm *const astro_per_product_algorithms[];

/* An instance of one of these. */
AstroGridding *astro_per_product_new(const AstroPerProduct *device, const char *algorithm,
                                     const AstroGriddingConfig *config, const AstroGrid *grid,
                                     const AstroPlace *place, const char **variant, GError **error);

/* Bytes of the device, at least. */
guint64 astro_per_product_needs(const AstroPerProduct *device, const AstroGridderConfig *config);

/* Grids of all products where the device has room for them beside the visibilities, else of one
 * product after the other if that needs less. largest: bytes of the largest block that the device
 * gives. NULL, with the bytes needed and there: it has room for neither. */
const AstroGridderParts *astro_per_product_choose(const AstroGridderConfig *config,
                                                  const AstroPlace *place, guint64 largest,
                                                  const AstroGridderParts *whole,
                                                  const AstroGridderParts *per_product,
                                                  GError **error);

G_END_DECLS
