/* Correlate: every station with every other, summed over time, channel by channel.
 *
 * V_ij = sum over time of E_i conj(E_j), products XX XY YX YY (the first letter is i's), written as
 * channel:baseline:pol:pol. The lower triangle has baseline(i, j) = i (i + 1) / 2 + j with j <= i,
 * so stations stay in order and autocorrelations are in it; the full one has i * stations + j.
 *
 * Spectra come in any order of time, channel, station and pol. The cpu backend reads those with
 * station:pol innermost in place, and likes channel:time:station:pol best, in blocks of 256 time
 * steps or more; the cuda backend channel:station:pol:time, whose blocks it reads in place then.
 * Other orders and shorter blocks are gathered first. An integration spans any number
 * of blocks and may be cut anywhere: submit adds time steps, and ends the integration when told to.
 *
 * Sums of CI4, CI8 and CI16LE are exact. Those of CF16LE and CF32LE err by less than 2e-6 of the
 * geometric mean of the two autocorrelations, also where samples never change; but for pulses over
 * a constant in just the beat of the sums' parts, where without matrix tiles it was 7e-6.
 *
 * Words of the host's kernels (and of gpu/correlator, whose tiles are larger):
 *
 *   input    a polarisation of a station             columns  0 1 2 3 4 5
 *   panel    16 inputs by some time steps,           row 0    A
 *            packed as the kernel reads them         row 1    A A
 *   traits   what a kernel keeps of a packed         row 2    B B|C
 *            panel besides: scales, first sums       row 3    B B|C C
 *   pass     time steps that are packed at once      row 4    D D|E E|F
 *   tile     sums of a row's panel with a            row 5    D D|E E|F F
 *            column's: 16 x 16 inputs
 *   product  rows x columns of tiles that stay in the caches: a letter each, here of 2 x 2
 *   strip    products side by side, a task: B and C, or D, E and F
 *   quad     four samples in a row of one input, a lane of 32 bits
 *   digit    a byte of a longer sample: products are of digits */
#pragma once

#include "core/backend/backend.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef enum {
  ASTRO_TRIANGLE_LOWER,
  ASTRO_TRIANGLE_FULL,
} AstroTriangle;

typedef struct {
  guint stations, pols, channels;
  AstroLayout layout; /* of the spectra; time's extent is 0; axes of length 1 may be left out */
  AstroFormat from;   /* CI4, CI8, CI16LE, CF16LE, CF32LE */
  AstroFormat to;     /* CI32LE: exact sums, from integers alone; CF32LE: means per valid sample */
  AstroTriangle triangle;
  guint
      channel_step; /* so many channels become one visibility; divides channels; 1: each its own */
  guint64 integration; /* time steps that one will have at most, for whoever plans memory; 0: any */
} AstroCorrelatorConfig;

typedef struct {
  guint64 steps;        /* time steps in the block: they set its strides */
  guint64 first, count; /* those of them to add */
  gboolean begin;       /* forgets what was added before these */

  /* Whether a sample is good: valid[time * valid_time + channel * valid_channel + station *
   * valid_station] is not 0; a stride of 0 shares it along that axis. time counts from the block's
   * first step, whatever first is. Samples that are not valid add nothing, whatever they hold.
   * NULL: all are valid. */
  const guint8 *valid;
  gsize valid_time, valid_channel, valid_station;

  /* Ends the integration after these steps: its visibilities go to out[0], sums and counts begin
   * again, and the result says what was lost. */
  gboolean dump;
} AstroCorrelatorArguments;

/* Baselines and bytes of one integration's visibilities. */
guint64 astro_correlator_baselines(guint stations, AstroTriangle triangle);
gsize astro_correlator_output_bytes(const AstroCorrelatorConfig *config);

/* submit takes a block of spectra (none: n_in 0 adds nothing), for a dump a block of visibilities,
 * and an AstroCorrelatorArguments *. A sum that does not fit CI32LE is an error; nothing is written
 * then, and the integration is dropped. */
extern const AstroBackend astro_correlator_reference;
extern const AstroBackend astro_correlator_cpu;
extern const AstroBackend *const astro_correlator_backends[]; /* up to a NULL */

G_END_DECLS
