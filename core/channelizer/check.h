/* What both host backends ask of a configuration and of a call. */
#pragma once

#include "core/channelizer/channelizer.h"

G_BEGIN_DECLS

/* The shape query of every backend. */
gboolean astro_channelizer_shape(gconstpointer config, GError **error);

/* Where the row of a spectrum of an input stands among the rows of a block of count spectra:
 * [station][pol][time][input channel]. */
guint64 astro_channelizer_row(const AstroChannelizerConfig *config, guint input, guint64 spectrum,
                              guint64 count);

/* Whether a call's blocks hold what its arguments say; spectra is how many it has to give. */
gboolean astro_channelizer_check_call(const AstroChannelizerConfig *config, const AstroBlock *in,
                                      guint n_in, const AstroBlock *out, guint n_out,
                                      const AstroChannelizerArguments *arguments, guint64 spectra,
                                      GError **error);

G_END_DECLS
