/* Grids of several products for a device that has room for one only: products are gridded one after
 * the other, and each is copied to the grid on the host. Maps of touched tiles are on the host too,
 * and a grid is whole when its call returns. */
#pragma once

#include "gpu/gridder/gridder.h"

extern "C" {
#include "core/gridder/backend.h"
}

/* The configuration of one pass: one of the products, and one of the channels where there are no
 * planes. passes: how many there are. products: two names, which the result points to. */
AstroGridderConfig astro_cuda_one_product(const AstroGridderConfig *config, char *products[2],
                                          guint *passes);

/* Bytes that the device holds beside rows and the grid of a pass. */
guint64 astro_cuda_per_product_bytes(const AstroGridderConfig *config);
