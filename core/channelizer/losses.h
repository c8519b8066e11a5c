/* Which samples of a stream are missing, and what spectra lose by it: a spectrum's count is that of
 * the good samples among the taps x step that it is made of, for each station and spectrum; a
 * sample is good where all pols are. */
#pragma once

#include "core/channelizer/channelizer.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

typedef struct AstroChannelizerLosses AstroChannelizerLosses;

AstroChannelizerLosses *astro_channelizer_losses_new(const AstroChannelizerConfig *config);
void astro_channelizer_losses_free(AstroChannelizerLosses *losses);
void astro_channelizer_losses_clear(AstroChannelizerLosses *losses);

/* What a block says of itself: GAP, or its counts. Blocks come in the order of time. */
void astro_channelizer_losses_read(AstroChannelizerLosses *losses, GstBuffer *in, guint64 first,
                                   guint64 steps);

/* Those of the block read last, as submit takes them. */
void astro_channelizer_losses_tell(AstroChannelizerLosses *losses,
                                   AstroChannelizerArguments *arguments);

/* Gives a block of spectra counts if any lost something, GAP if nothing is left of them, and
 * forgets what later spectra do not need. */
void astro_channelizer_losses_mark(AstroChannelizerLosses *losses, GstBuffer *out,
                                   AstroSpectra spectra);

G_END_DECLS
