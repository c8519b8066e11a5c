/* Channelizer: a polyphase filter bank that makes spectra from voltages, or spectra of many
 * channels from spectra of a few.
 *
 * A spectrum is made every `step` samples: channels for complex input, 2 x channels for real input,
 * so that the rate of spectra is the width of a channel. Spectrum n stands for samples n x step to
 * (n + 1) x step, counted from the sample with index 0, regardless of how the stream was divided or
 * where it began. It is made of taps x step samples around the middle of these, from n x step -
 * (taps - 1) x step / 2 (rounded up) on:
 *
 *   X[n][k] = gain x gains[k] x sum over i of h[i] x[a(i)] exp(-2 pi i f(k) a(i)),
 *
 * where a(i) is the index of the i-th of these samples.
 *
 * Complex input: f(k) = (k - channels / 2) / step, with channels / 2 rounded down: ascending, with
 * the centre of the band in channel channels / 2. Real input: f(k) = k / step; channel 0 is at the
 * lower edge of the band and is real; the channel at the upper edge, half the sampling rate, is
 * dropped.
 *
 * Spectra as input: each of their channels is complex input of its own, and channel
 * c x channels + k of the output is channel k of input channel c:
 *
 *   frequency   -------- input 0 -------- | -------- input 1 -------- | ...
 *   output      0   1   ...   channels - 1 channels ...
 *
 * h is a lowpass, scaled to sum over i of h[i]^2 = 1: with gains of 1, noise of mean square P has a
 * mean |X|^2 = P in every channel (in channel 0 of real input, all of it is in the real component).
 * A tone of amplitude A at a channel's centre comes out as A x sum of h, about A x sqrt(step), or
 * half of that for real input. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/lib/stretch/losses.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

#define ASTRO_CHANNELIZER_MAX_CHANNELS 65536
#define ASTRO_CHANNELIZER_MAX_TAPS 32

/* h is a sinc times a window. The sinc cuts off half a channel from the centre, or as far beyond as
 * is needed to lose no more than 0.1 dB at 0.4 channels, but never beyond 0.7. With one tap there
 * is no sinc: h is only the window. */
typedef enum {
  ASTRO_WINDOW_AUTO, /* kaiser; with one tap rectangular, which makes a plain FFT */
  ASTRO_WINDOW_HANN,
  ASTRO_WINDOW_HAMMING,
  ASTRO_WINDOW_BLACKMAN_HARRIS,
  ASTRO_WINDOW_KAISER,
  ASTRO_WINDOW_RECTANGULAR,
  ASTRO_N_WINDOWS
} AstroWindow;

#define ASTRO_WINDOW_BETA 6.0 /* of kaiser, by default */

typedef struct {
  AstroStream in; /* voltages: any order of time, station and pol; CI4 CI8 CI16LE CF16LE CF32LE, or
                   * I8 I16LE F32LE for real input. Spectra: complex, and channel in any place */
  AstroFormat to; /* CF32LE CF16LE CI16LE CI8 CI4, in the order station:pol:time:channel */
  guint channels; /* into which each input channel is split */
  guint taps;
  AstroWindow window;
  double beta; /* of kaiser */
  double gain;
  const float *gains; /* of each of these, the same in every input channel; NULL: 1. The caller
                       * keeps ownership */
} AstroChannelizerConfig;

typedef struct {
  guint64 first, steps; /* of the input block; without a block, steps of zeros */
  gboolean restart;     /* forget samples before first; else first must follow the previous block */
  const AstroLoss *losses; /* in the block, by station, then by channel, then by time */
  guint n_losses;
} AstroChannelizerArguments;

/* Values that follow from a valid configuration. */
guint astro_channelizer_coarse(const AstroChannelizerConfig *config); /* input channels; 1 */
guint64 astro_channelizer_step(const AstroChannelizerConfig *config);
guint64 astro_channelizer_span(const AstroChannelizerConfig *config); /* taps x step */
guint64 astro_channelizer_lead(const AstroChannelizerConfig *config); /* (taps - 1) x step / 2 */
AstroWindows astro_channelizer_windows(const AstroChannelizerConfig *config);

/* The spectra that can be made from samples begin to end of an unbroken stretch. */
AstroSpectra astro_channelizer_spectra(const AstroChannelizerConfig *config, guint64 begin,
                                       guint64 end);

/* The spectra that a block adds to a stretch that began at begin: those that become complete with
 * it. An error if sample indices would overflow. */
gboolean astro_channelizer_block_spectra(const AstroChannelizerConfig *config, guint64 begin,
                                         guint64 first, guint64 steps, AstroSpectra *spectra,
                                         GError **error);

/* Computes h x gain: taps x step values. */
void astro_channelizer_weights(const AstroChannelizerConfig *config, double *weights);

/* submit takes at most one input block, and one output block for the spectra that it adds; none if
 * it adds none. */
extern const AstroBackend astro_channelizer_reference;
extern const AstroBackend astro_channelizer_cpu;
extern const AstroBackend *const astro_channelizer_backends[]; /* ends with NULL */

/* An AstroTellWork. */
gboolean astro_channelizer_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

G_END_DECLS
