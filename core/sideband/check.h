/* What both backends ask of a configuration and of blocks, and how both see a block. */
#pragma once

#include "core/sideband/sideband.h"

G_BEGIN_DECLS

gboolean astro_sideband_shape(gconstpointer config, GError **error);
gboolean astro_sideband_check(const AstroSidebandConfig *config, const AstroBlock *in, guint n_in,
                              const AstroBlock *out, guint n_out,
                              const AstroSidebandArguments *arguments, GError **error);

/* A block as outer x extent x inner samples; the axis in the middle is the one along which samples
 * change their place (channels of spectra) or their sign (time of real voltages). Of complex
 * voltages none does: all are inner. */
typedef struct {
  guint64 outer, extent, inner;
} AstroSidebandSpan;

AstroSidebandSpan astro_sideband_span(const AstroStream *stream, guint64 steps);

G_END_DECLS
