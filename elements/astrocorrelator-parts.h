/* An integration of astrocorrelator whose blocks were dealt out to several devices. */
#pragma once

#include "core/correlator/parts.h"
#include "core/backend/device-list.h"
#include "elements/base/astrostage.h"

G_BEGIN_DECLS

/* The visibilities that devices have made of one integration, each on its own device. */
typedef struct {
  GstBuffer *block;
  guint lane;
  AstroCorrelatorPart part;
  guint64 n_counts; /* of a part that has some: counts[i % n] */
} AstroCorrelatorMade;

typedef struct {
  guint n;
  AstroCorrelatorMade made[ASTRO_MOST_DEVICES];
} AstroCorrelatorParts;

void astro_correlator_parts_clear(AstroCorrelatorParts *parts);
/* Takes a block that a lane has made, and what the stage's result says of it. n_counts: as the dump
 * told (AstroCorrelatorArguments). */
void astro_correlator_parts_add(AstroCorrelatorParts *parts, GstBuffer *block, guint lane,
                                const AstroResult *result, guint64 n_counts);
/* Drops the parts that are on a lane. */
void astro_correlator_parts_drop(AstroCorrelatorParts *parts, guint lane);
/* The joined block, whose counts are in the result, *n_counts of `all` as a dump tells them. It is
 * made on the device of the part with number `at`, to which the others are copied; the host waits
 * for nothing. Leaves no parts; on an error (NULL) those that are left are still to be joined. */
GstBuffer *astro_correlator_parts_join(AstroCorrelatorParts *parts, AstroStage *stage, guint at,
                                       AstroResult *result, guint64 all, guint64 *n_counts,
                                       GError **error);

G_END_DECLS
