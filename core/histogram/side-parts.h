/* Shared by the files of a side. */
#pragma once

#include "core/histogram/side.h"

G_BEGIN_DECLS

/* *column: each point's region, to be freed, or NULL if no regions were made from the data. */
gboolean side_region_column(const SideRules *rules, const AstroCatalogue *catalogue,
                            double **column, GError **error);

/* The columns that points are made of; region: theirs, or NULL. */
PointColumns side_columns_of(const SideRules *rules, const AstroCatalogue *catalogue,
                             const double *region);

/* In the order in which the points came, so that sums are the same in memory and in a file. */
gboolean side_weigh(Side *side, const SideRules *rules, AstroSide which, const AstroHeld *held,
                    GError **error);

/* Takes the columns of a catalogue in memory. */
AstroPoints *side_points_of(const SideRules *rules, AstroCarried carried, AstroHeld *held,
                            GError **error);

G_END_DECLS
