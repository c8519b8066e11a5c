/* Checks of configurations and blocks, and sizes of streams, for both backends. */
#pragma once

#include "core/beamform/beamform.h"

G_BEGIN_DECLS

/* The order of axes in which all samples of a station in a channel lie together. */
#define ASTRO_BEAMFORM_IN "channel:station:pol:time"
#define ASTRO_BEAMFORM_OUT "channel:beam:pol:time"

gboolean astro_beamform_shape(gconstpointer config, GError **error);
gboolean astro_beamform_check(const AstroBeamformConfig *config, const AstroBlock *in, guint n_in,
                              const AstroBlock *out, guint n_out,
                              const AstroBeamformArguments *arguments, GError **error);

typedef struct {
  guint channels, stations, pols, beams;
} AstroBeamformSize;

AstroBeamformSize astro_beamform_size(const AstroBeamformConfig *config);

/* |w| of a station that takes part. */
double astro_beamform_magnitude(const AstroBeamformStations *stations, guint channel, guint i);

G_END_DECLS
