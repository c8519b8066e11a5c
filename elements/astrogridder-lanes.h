/* How the backend's instances share a grid, where there are several devices.
 *
 * With planes (wstacking) each device has all visibilities, prepared and sorted, and makes every
 * n-th plane: what planes cost hardly depends on the visibilities, preparing them takes a hundredth
 * of it, and planes are the same to the last bit as those of one device. Without planes dumps are
 * dealt out, or, where weights need all of them first, rows; each device has a grid of its own, and
 * these are added up once a grid. */
#pragma once

#include "elements/astrogridder-collector.h"

G_BEGIN_DECLS

/* A call without blocks, to all of them; the answer is that of the first. */
gboolean astro_grid_lanes_ask(AstroGridCollector *self, const AstroGridderArguments *arguments,
                              GError **error);
/* Answers counts, and sums where they are not NULL, of all visibilities. */
gboolean astro_grid_lanes_count(AstroGridCollector *self, double *sums, GError **error);
/* Adds a dump, or counts one that is lost (in NULL). */
gboolean astro_grid_lanes_add(AstroGridCollector *self, GstBuffer *in,
                              AstroGridderArguments *arguments, GError **error);
/* The next plane, with its map of touched tiles if with_map, or the whole grid. */
GstBuffer *astro_grid_lanes_plane(AstroGridCollector *self, guint plane, gboolean with_map,
                                  GstBuffer **touched, GError **error);
/* Passes over the next plane, which another process makes. */
gboolean astro_grid_lanes_pass(AstroGridCollector *self, GError **error);
/* A plane of zeros. */
GstBuffer *astro_grid_lanes_nothing(AstroGridCollector *self, GError **error);
/* Drops the grids that dumps were added to. */
void astro_grid_lanes_forget(AstroGridCollector *self);

G_END_DECLS
