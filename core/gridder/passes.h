/* Visibilities in a file, sorted as planes need them: a pass over the file takes those that are
 * spread over some neighbouring planes, as many as may be in memory. Where those of one plane are
 * too many, they come in portions. */
#pragma once

#include "core/gridder/sorted.h"
#include "core/gridder/store.h"

G_BEGIN_DECLS

typedef struct _AstroPasses AstroPasses;

/* Goes through the file to find the planes. config->most_sorted visibilities are in memory at once,
 * all channels of the grid together. The store stays the caller's. */
AstroPasses *astro_passes_new(AstroRowStore *store, const AstroGriddingConfig *config,
                              const AstroGrid *grid, AstroPlanes *planes, GError **error);
void astro_passes_free(AstroPasses *passes);

/* Into how many portions the visibilities of a plane are divided. Planes are gone through from the
 * first on. */
guint astro_passes_portions(AstroPasses *passes, guint plane);
/* The visibilities of a portion, one AstroSorted a channel of the grid, valid until the next call;
 * NULL with an error. There may be others among them, which are not spread over this plane. */
AstroSorted **astro_passes_sort(AstroPasses *passes, guint plane, guint portion, GError **error);

/* Bytes, at most, while n visibilities are taken from the file and sorted, and what is left of
 * them afterwards. planes: how many there are at most. */
guint64 astro_passes_sorting_bytes(const AstroGriddingConfig *config, const AstroGrid *grid,
                                   guint products, guint planes, guint64 n);

G_END_DECLS
