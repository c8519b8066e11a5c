/* Files of visibilities number the products of two polarisations as FITS does: -1 ... -4 (circular)
 * or -5 ... -8 (linear); or their only product is Stokes I, 1. */
#pragma once

#include "core/stream/observation.h"

G_BEGIN_DECLS

/* Our numbers for the products of a file. FITS numbers them -1 ... -4 (circular) or -5 ... -8. */
#define ASTRO_ROW_PRODUCTS 4
typedef struct {
  const char *name[2]; /* in the linear and in the circular basis */
  guint8 pols[2];      /* of a1 and of a2 */
} AstroRowProduct;
extern const AstroRowProduct astro_row_products[ASTRO_ROW_PRODUCTS];

typedef struct {
  const char *basis;
  double first; /* number of the first product on the STOKES axis */
  const char *feeds[2];
  double angles[2]; /* of the feeds, degrees */
} AstroRowBasis;
enum { ASTRO_ROW_LINEAR, ASTRO_ROW_CIRCULAR, ASTRO_ROW_STOKES, ASTRO_ROW_N_BASES };
extern const AstroRowBasis astro_row_bases[ASTRO_ROW_N_BASES];

/* For an observation whose basis is one of these. */
const AstroRowBasis *astro_row_basis_of(const AstroObservation *observation);

/* Whether that is where X points, as pyuvdata writes it: "east", "e" or "ew". */
gboolean astro_row_is_east(const char *told);
/* at: where a file has each of our products, whose two feeds it names the other way round. */
void astro_row_exchange_feeds(gint at[ASTRO_ROW_PRODUCTS]);

G_END_DECLS
