/* Checks of configurations and blocks for both backends, and the shape of a block as they see it.
 */
#pragma once

#include "core/sideband/sideband.h"

G_BEGIN_DECLS

gboolean astro_sideband_shape(gconstpointer config, GError **error);
gboolean astro_sideband_check(const AstroSidebandConfig *config, const AstroBlock *in, guint n_in,
                              const AstroBlock *out, guint n_out,
                              const AstroSidebandArguments *arguments, GError **error);

/* A block as outer x extent x inner samples. The axis in the middle is the one along which samples
 * are reordered (channels of spectra) or change sign (time of real voltages). Complex voltages need
 * neither: all their samples are inner. */
typedef struct {
  guint64 outer, extent, inner;
} AstroSidebandSpan;

AstroSidebandSpan astro_sideband_span(const AstroStream *stream, guint64 steps);

G_END_DECLS
