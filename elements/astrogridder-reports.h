/* Messages of astrogridder about visibilities that it cannot use, and about settings that lose
 * some. */
#pragma once

#include <gst/gst.h>

#include "core/gridder/backend.h"
#include "core/stream/undelayed.h"
#include "elements/astrogridder-settings.h"

G_BEGIN_DECLS

/* told: the backend's result of ASTRO_GRID_OBSERVE (longest, reach). */

/* Warns if W-projection does not reach the accuracy that was set. */
void astro_gridder_warn_of_accuracy(GstElement *element, const AstroGridderSettings *settings,
                                    const AstroGrid *grid);

/* Warns if robust is set with weights that do not use it. */
void astro_gridder_warn_of_robust(GstElement *element, const AstroGridderSettings *settings);

/* Warns of visibilities outside the grid, and suggests settings that would hold all. */
void astro_gridder_warn_of_losses(GstElement *element, const AstroResult *told,
                                  const AstroGrid *grid, const AstroGridCounts *counts);

/* Warns that a grid is not sent, since it has no visibilities. */
void astro_gridder_warn_of_gap(GstElement *element, GstClockTime begin, GstClockTime end);

/* The error that says why there are no visibilities at all; returns FALSE. */
gboolean astro_gridder_refuse_empty(const AstroResult *told, const AstroGridderConfig *config,
                                    const AstroGridCounts *counts, GError **error);

/* Posts the message with the counts at the end of the stream. */
void astro_gridder_tell(GstElement *element, guint64 grids, const AstroGridCounts *counts,
                        guint channels_together);

/* For visibilities whose delays were not taken out, before each dump: refuses those that cannot
 * give a correct image, and warns of those that nearly do, as those of a flat array whose phase
 * centre is at the zenith; and once more when they no longer do. warned: how many warnings there
 * were. */
gboolean astro_gridder_check_delays(GstElement *element, AstroUndelayed *undelayed, gint64 ns,
                                    guint *warned, GError **error);

G_END_DECLS
