/* Requirements on whole pipelines: losses, and runs that are cut short. */
#pragma once

#include "graphs/qualify-result.h"

G_BEGIN_DECLS

/* Drops 100 of a thousand blocks and looks for each in the counts of a file. */
AstroQualifyResult *astro_qualify_losses(const char *folder, guint32 seed);

/* Runs of this program that are interrupted, killed, or find the disk full. */
void astro_qualify_stops(const char *folder, GPtrArray *results);

G_END_DECLS
