/* Checks of configurations and calls for all backends. */
#pragma once

#include "core/channelizer/channelizer.h"

G_BEGIN_DECLS

/* The shape function of every backend. */
gboolean astro_channelizer_shape(gconstpointer config, GError **error);

/* The position of an input's spectrum among the rows of a block of count spectra:
 * [station][pol][time][input channel]. */
guint64 astro_channelizer_row(const AstroChannelizerConfig *config, guint input, guint64 spectrum,
                              guint64 count);

/* Finds the spectra that a call must make, in a stretch that has samples begin to end so far, and
 * checks that it goes on where the stretch ends. */
gboolean astro_channelizer_call_spectra(const AstroChannelizerConfig *config,
                                        const AstroChannelizerArguments *arguments, guint64 begin,
                                        guint64 end, AstroSpectra *spectra, GError **error);

/* Whether a call's blocks have the sizes that its arguments need; spectra is how many the call
 * makes. */
gboolean astro_channelizer_check_call(const AstroChannelizerConfig *config, const AstroBlock *in,
                                      guint n_in, const AstroBlock *out, guint n_out,
                                      const AstroChannelizerArguments *arguments, guint64 spectra,
                                      GError **error);

G_END_DECLS
