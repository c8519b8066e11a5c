/* Grids on the host that are too large for the device: it makes them a product at a time, by the
 * algorithms of astro_cuda_turns, with grids and maps on the host; when a grid is made, all of it
 * is there. */
#pragma once

#include "gpu/gridder/gridder.h"

extern "C" {
#include "core/gridder/collect.h"
}

/* What one turn makes: of the configuration's products (and channels, without planes) the first.
 * turns: how many there are. products: two names, which the result points to. */
AstroCollectConfig astro_cuda_turn(const AstroCollectConfig *config, char *products[2],
                                   guint *turns);

/* What the device holds beyond rows and the grid of a turn. */
guint64 astro_cuda_turns_bytes(const AstroCollectConfig *config);
