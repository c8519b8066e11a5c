/* Divides samples into transforms along time: transform k takes samples from k x length on, counted
 * from the sample with index 0, regardless of how the stream was divided. Samples of a block that
 * do not fill a transform are kept for the next block. */
#pragma once

#include "core/lib/stretch/losses.h"

G_BEGIN_DECLS

typedef struct AstroFftCut AstroFftCut;

AstroFftCut *astro_fft_cut_new(const AstroStream *in, guint64 length, GError **error);
void astro_fft_cut_free(AstroFftCut *cut);
void astro_fft_cut_clear(AstroFftCut *cut); /* for a new stretch of samples */

/* Notes a block's position, GAP flag and counts, and finds the transforms that it completes. If
 * there are any, *direct is TRUE if they are made of this whole block and nothing else. */
gboolean astro_fft_cut_open(AstroFftCut *cut, GstBuffer *in, guint64 first, guint64 steps,
                            AstroSpectra *transforms, gboolean *direct, GError **error);

/* The size of the samples for those transforms, and the samples themselves; block may be NULL:
 * zeros. */
gsize astro_fft_cut_bytes(const AstroFftCut *cut);
void astro_fft_cut_fill(const AstroFftCut *cut, const guint8 *block, guint8 *out);

/* Keeps the rest of the block, and returns how many bytes were copied for that. */
gsize astro_fft_cut_close(AstroFftCut *cut, const guint8 *block);

/* Adds counts of good samples to a block of spectra, if any samples are missing. */
gboolean astro_fft_cut_mark(AstroFftCut *cut, GstBuffer *out, const AstroLayout *layout);

G_END_DECLS
