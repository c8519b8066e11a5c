/* How much memory gridding takes on the host, and how it gets along with less: visibilities that do
 * not fit are kept in a temporary file (store.h), and taken from it in several passes (passes.h).
 */
#pragma once

#include "core/gridder/backend.h"

G_BEGIN_DECLS

/* Chooses how many visibilities are in memory at once. config: with the longest baseline, and the
 * grid as choose left it; row_channels: channels of a row. An error says how much is needed at
 * least. */
gboolean astro_gridder_plan(const AstroGridderConfig *config, guint row_channels,
                            const AstroGridderMemory *memory, AstroGridderPlan *plan,
                            GError **error);
/* The same where a device holds the visibilities: what other stages keep on the host, and so many
 * bytes more. */
gboolean astro_gridder_plan_device(const AstroGridderConfig *config, guint64 own,
                                   const AstroGridderMemory *memory, AstroGridderPlan *plan,
                                   GError **error);
/* Bytes of a device, at least, with tables of so many bytes. */
guint64 astro_gridder_device_needs(const AstroGridderConfig *config, guint64 tables);

G_END_DECLS
