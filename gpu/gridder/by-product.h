/* Grids on the host that are too large for the device: it makes them a product at a time. */
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

/* For AstroCollectFuncs, with grids and maps on the host; when a grid is made, all of it is there.
 */
AstroGridding *astro_cuda_turns_create(const AstroCollectConfig *config, const AstroPlace *place,
                                       GError **error);
gboolean astro_cuda_turns_begin(const AstroGridAlgorithm *algorithm, AstroGridding *gridder,
                                const AstroGridRows *rows, guint *planes, GError **error);
gboolean astro_cuda_turns_plane(const AstroGridAlgorithm *algorithm, AstroGridding *gridder,
                                gpointer grid, guint8 *touched, double *w, double *w_step,
                                GError **error);
/* In place of what grid held, and with nothing left for finish. */
gboolean astro_cuda_turns_fill(const AstroGridAlgorithm *algorithm, AstroGridding *gridder,
                               const AstroGridRows *rows, gpointer grid, GError **error);
void astro_cuda_turns_destroy(const AstroGridAlgorithm *algorithm, AstroGridding *gridder);
