/* What astrogridder says of visibilities that it cannot use, and of settings that lose some. */
#pragma once

#include <gst/gst.h>

#include "core/gridder/backend.h"
#include "core/stream/undelayed.h"
#include "elements/astrogridder-settings.h"

G_BEGIN_DECLS

/* told: what the backend said of the observation (longest, reach). */

/* Where an accuracy was asked for that W-projection does not reach. */
void astro_gridder_warn_of_accuracy(GstElement *element, const AstroGridderSettings *settings,
                                    const AstroGrid *grid);

/* Where a robust that is not 0 goes with weights that do not ask for it. */
void astro_gridder_warn_of_robust(GstElement *element, const AstroGridderSettings *settings);

/* Of visibilities outside the grid, with settings that would hold all. */
void astro_gridder_warn_of_losses(GstElement *element, const AstroResult *told,
                                  const AstroGrid *grid, const AstroGridCounts *counts);

/* Of a grid that is not sent since it has none. */
void astro_gridder_warn_of_gap(GstElement *element, GstClockTime begin, GstClockTime end);

/* Why there are none at all; FALSE. */
gboolean astro_gridder_refuse_empty(const AstroResult *told, const AstroGridderConfig *config,
                                    const AstroGridCounts *counts, GError **error);

/* At the end, in a message. */
void astro_gridder_tell(GstElement *element, guint64 grids, const AstroGridCounts *counts);

/* Of visibilities whose delays are in, before each dump: refuses those of which no picture could be
 * right, and warns of those that nearly are, as of a flat array below its phase centre; and once
 * more where they no longer are. warned: how often it did. */
gboolean astro_gridder_check_delays(GstElement *element, AstroUndelayed *undelayed, gint64 ns,
                                    guint *warned, GError **error);

G_END_DECLS
