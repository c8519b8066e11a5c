/* How backends on devices cut a block: into pieces, each a part of one integration, and the time of
 * each piece into splits, so that there is work for the whole device whatever the shape. They add
 * up the samples of each station, channel, piece and split, and then those sums in a fixed order,
 * so that results do not depend on chance, and make integrations of them. */
#pragma once

#include "core/power/products.h"

G_BEGIN_DECLS

#define ASTRO_POWER_MOST_SPLIT 32768 /* steps of bytes whose powers an int32 holds */

/* Pieces of a call, of which those that end integrations come first. */
guint64 astro_power_pieces(const AstroPowerArguments *arguments);
/* Into how many splits each of them is cut. */
guint32 astro_power_splits(const AstroPowerConfig *config, const AstroPowerArguments *arguments,
                           guint64 pieces);

/* The sums that are kept, in their order. */
guint32 astro_power_kept(AstroPowerKind kind, gboolean squares,
                         AstroPowerSum kept[ASTRO_POWER_SUMS]);

/* An AstroPowerRecipe, with the places of its sums among those that are kept. */
typedef struct {
  guint32 which[2];
  double factor[2];
} AstroPowerPlaced;

void astro_power_place(const AstroPowerConfig *config, gboolean is_circular,
                       AstroPowerPlaced placed[ASTRO_POWER_MAX_PRODUCTS]);

/* Bytes of the flags that a call reads, from valid on. */
gsize astro_power_valid_bytes(const AstroPowerConfig *config, const AstroPowerArguments *arguments);

G_END_DECLS
