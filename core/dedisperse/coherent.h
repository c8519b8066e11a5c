/* Coherent dedispersion: a filter that turns the phase of each frequency back by what dispersion
 * has turned it, exp(-2 pi i turns) (core/lib/sky/dispersion.h), against the centre of the band.
 *
 * Each channel of a stream of voltages or spectra, which holds the frequencies within half the rate
 * of its middle, has a filter of its own, of equally many taps:
 *
 *   y[t] = sum over k of tap[k] x[t + shift - lead + k]
 *
 * shift is the channel's delay in whole steps. The taps are those of the exact phase on a fine grid
 * of frequencies, cut off beyond the delays in the channel, where they fall to zero over a margin.
 * A value comes out if all the samples that its channels need are within the stretch: the edges are
 * dropped. Lost samples count as zeros, and the count of a value is the number of good samples
 * among its taps; full is the number of taps. Samples that are not finite count as lost. Values are
 * CF32LE in the layout of the input.
 *
 * submit takes the arguments of dedisperse.h. Weights are 0 or full there: a sample is there or
 * not. result->counts has room for the counts of [step][station][channel]. */
#pragma once

#include <complex.h>

#include "core/dedisperse/dedisperse.h"

G_BEGIN_DECLS

typedef struct {
  guint channels, taps;
  gint64 *shifts; /* of each channel */
  gint64 least;   /* the smallest shift */
  guint64 margin; /* taps at either end that fall to zero */
  guint64 lead;   /* of the window of a value, before its time */
  guint64 reach;  /* steps that all channels' windows of a value take, less 1 */
  guint64 hop;    /* values that the cpu backend makes at once, by a transform of */
  guint64 length; /* this many samples, hop + taps - 1 */
} AstroDedisperseFilter;

/* FALSE: the configuration is refused. */
gboolean astro_dedisperse_filter_init(AstroDedisperseFilter *filter,
                                      const AstroDedisperseConfig *config, GError **error);
void astro_dedisperse_filter_clear(AstroDedisperseFilter *filter);
/* The taps of a channel, to be freed with fftw_free; NULL: no memory. */
double complex *astro_dedisperse_filter_taps(const AstroDedisperseFilter *filter,
                                             const AstroDedisperseConfig *config, guint channel);

/* How many values come out in a call, and how many came before it; and how many steps after its
 * first a stretch has its first value. */
guint64 astro_dedisperse_filter_ready(const AstroDedisperseFilter *filter,
                                      const AstroDedisperseArguments *arguments);
guint64 astro_dedisperse_filter_done(const AstroDedisperseFilter *filter,
                                     const AstroDedisperseArguments *arguments);
guint64 astro_dedisperse_filter_first(const AstroDedisperseFilter *filter);

gboolean astro_dedisperse_coherent_shape(gconstpointer config, GError **error);
gboolean astro_dedisperse_coherent_check(const AstroDedisperseConfig *config,
                                         const AstroDedisperseFilter *filter, const AstroBlock *in,
                                         guint n_in, const AstroBlock *out, guint n_out,
                                         const AstroDedisperseArguments *arguments,
                                         const AstroResult *result, GError **error);
extern const AstroBackend astro_dedisperse_coherent_reference, astro_dedisperse_coherent_cpu;

G_END_DECLS
