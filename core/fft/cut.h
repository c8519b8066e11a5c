/* Samples on their way to transforms along time: transform k is of samples k x length on, counted
 * from the sample with index 0, however the stream was cut. What of a block makes no whole
 * transform is kept for the next one. */
#pragma once

#include "core/lib/stretch/losses.h"

G_BEGIN_DECLS

typedef struct AstroFftCut AstroFftCut;

AstroFftCut *astro_fft_cut_new(const AstroStream *in, guint64 length, GError **error);
void astro_fft_cut_free(AstroFftCut *cut);
void astro_fft_cut_clear(AstroFftCut *cut); /* a new stretch begins */

/* Takes note of a block (its place, GAP and counts). The transforms that are whole with it: where
 * there are any, *direct says that they are of the block as it stands. */
gboolean astro_fft_cut_open(AstroFftCut *cut, GstBuffer *in, guint64 first, guint64 steps,
                            AstroSpectra *transforms, gboolean *direct, GError **error);

/* Bytes of the samples of those transforms, and the samples; block may be NULL: zeros. */
gsize astro_fft_cut_bytes(const AstroFftCut *cut);
void astro_fft_cut_fill(const AstroFftCut *cut, const guint8 *block, guint8 *out);

/* Keeps what is left of the block, and returns how many bytes were moved for that. */
gsize astro_fft_cut_close(AstroFftCut *cut, const guint8 *block);

/* Gives a block of spectra the counts of good samples behind each, if any are missing. */
gboolean astro_fft_cut_mark(AstroFftCut *cut, GstBuffer *out, const AstroLayout *layout);

G_END_DECLS
