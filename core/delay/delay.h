/* Delay: shifts every input to the time when the wave from the phase centre reaches the centre of
 * the array, so that a source there has the same phase in all inputs, at all frequencies and times;
 * and divides by the gains of the instrument.
 *
 * Spectra are rotated: each channel by exp(-2 pi i f tau), with a new tau for every spectrum.
 * Channel k of n stands for the frequency bandwidth (k + 1/2) / n above the lower edge of the band.
 * This leaves a coherence of 1 - tau / (length of a spectrum), so use it for arrays that are small
 * compared with that length.
 *
 * Voltages are delayed by interpolation between samples, and rotated by exp(-2 pi i f0 tau), where
 * f0 is the sky frequency at zero frequency of the samples: the centre of the band for complex
 * voltages, its lower edge for real ones. Over the inner 90% of the band phases are right to 4e-4
 * cycles for any delay. Output lags behind the input by the largest delay, and comes in whole tiles
 * of ASTRO_DELAY_TILE samples counted from sample 0, so that results do not depend on how the input
 * was divided into blocks. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/delay/model.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

#define ASTRO_DELAY_TILE 1024

/* Voltages or spectra. The output differs from the input only in its format: each is one of CI4,
 * CI8, CI16LE and CF32LE, or for real voltages I8, I16LE and F32LE. */
typedef struct {
  AstroStream in, out;
} AstroDelayConfig;

typedef struct {
  AstroDelayModel *model;
  guint64 first, steps; /* of the input block; without a block, steps of zeros */
  gboolean restart;     /* voltages: forget earlier input; all samples before first are zeros */
  guint64 out_first, out_steps; /* voltages: the output samples; out_first and the end lie at edges
                                   of tiles, except at the start and the end of a stream */
} AstroDelayArguments;

/* Voltages: how many samples before and after a tile are needed to make it. */
guint64 astro_delay_margin(const AstroDelayModel *model, const AstroStream *stream);

/* submit takes at most one input block and one output block. */
extern const AstroBackend astro_delay_reference;
extern const AstroBackend astro_delay_cpu;
extern const AstroBackend *const astro_delay_backends[]; /* ends with NULL */

/* An AstroTellWork. */
gboolean astro_delay_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

G_END_DECLS
