/* The correlator: multiplies every station with every other, channel by channel, and sums over
 * time.
 *
 * V_ij = sum over time of E_i conj(E_j), products XX XY YX YY (the first letter belongs to i),
 * written as channel:baseline:pol:pol. The lower triangle has baseline(i, j) = i (i + 1) / 2 + j
 * with j <= i, with stations in order and autocorrelations included; the full one has i * stations
 * + j.
 *
 * Spectra may have time, channel, station and pol in any order. The CPU backend reads those with
 * station:pol innermost in place, and is fastest with channel:time:station:pol in blocks of 256
 * time steps or more; the CUDA backend reads channel:station:pol:time in place. Other orders, and
 * short parts of an integration, are gathered first. An integration spans any number of blocks and
 * may begin and end anywhere: submit adds time steps, and ends the integration when told to.
 *
 * Sums of CI4, CI8 and CI16LE are exact. Sums of CF16LE and CF32LE have errors below 2e-6 of the
 * geometric mean of the two autocorrelations, even if samples never change. The exception are
 * pulses on a constant that repeat exactly in step with the parts of sums, where kernels without
 * matrix tiles reached 7e-6.
 *
 * Terms used for the CPU kernels (and for gpu/correlator, whose tiles are larger):
 *
 *   input    a polarisation of a station             columns  0 1 2 3 4 5
 *   panel    16 inputs by some time steps,           row 0    A
 *            packed as the kernel reads them         row 1    A A
 *   traits   values that a kernel keeps about a      row 2    B B|C
 *            packed panel: scales, first sums        row 3    B B|C C
 *   pass     time steps that are packed at once      row 4    D D|E E|F
 *   tile     sums of a row's panel with a            row 5    D D|E E|F F
 *            column's: 16 x 16 inputs
 *   product  rows x columns of tiles that stay in the caches: a letter each, here 2 x 2
 *   strip    products side by side, one task: B and C, or D, E and F
 *   quad     four consecutive samples of one input, in a lane of 32 bits
 *   digit    a byte of a longer sample: products are made digit by digit */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef enum {
  ASTRO_TRIANGLE_LOWER,
  ASTRO_TRIANGLE_FULL,
} AstroTriangle;

typedef struct {
  guint stations, pols, channels;
  AstroLayout layout; /* of the spectra; time has extent 0; axes of length 1 may be missing */
  AstroFormat from;   /* CI4, CI8, CI16LE, CF16LE, CF32LE */
  AstroFormat to;     /* CI32LE: exact sums, only for integers; CF32LE: means per valid sample */
  AstroTriangle triangle;
  guint channel_step;  /* number of channels summed into one visibility; divides channels */
  guint64 integration; /* most time steps of an integration, for planning of memory; 0: unknown */
} AstroCorrelatorConfig;

/* The good samples behind visibilities of a part of an integration. */
typedef struct {
  guint64 samples; /* times channel_step, as a result tells them */
  guint32 *counts; /* channel:baseline of the output; NULL: all of them */
} AstroCorrelatorPart;

typedef struct {
  guint64 steps;        /* time steps in the block; its strides depend on them */
  guint64 first, count; /* those of the steps that are to be added */
  gboolean begin;       /* forget what was added before */

  /* Whether a sample is good: valid[time * valid_time + channel * valid_channel + station *
   * valid_station] is not 0; a stride of 0 means that values along that axis share a flag. time
   * counts from the block's first step, not from first. Samples that are not valid add nothing,
   * whatever their values. NULL: all are valid. */
  const guint8 *valid;
  gsize valid_time, valid_channel, valid_station;

  /* Ends the integration after these steps: its visibilities go to out[0], sums and counts are
   * reset, and the result tells the losses. */
  gboolean dump;
  /* Where a dump says how many of the result's counts differ and were written: counts[i % n] is
   * that of channel:baseline i. 0: none had losses. NULL: all are written. */
  guint64 *n_counts;

  /* Adds the visibilities in[0], which another instance has made of other steps of the same
   * integration, to those in out[0], whatever this instance has summed itself: sums (CI32LE) are
   * added, and one that does not fit is an error; means (CF32LE) are averaged by their counts in
   * double, and rounded once. What is behind out[0] and in[0]; NULL: nothing is joined. */
  const AstroCorrelatorPart *parts;
} AstroCorrelatorArguments;

/* Number of baselines, and bytes of an integration's visibilities. */
guint64 astro_correlator_baselines(guint stations, AstroTriangle triangle);
gsize astro_correlator_output_bytes(const AstroCorrelatorConfig *config);

/* How many steps a part of an integration has best, in blocks that end where it does: as few as are
 * multiplied at full speed, or more that divide the integration. 0: it is not known how long that
 * is. */
guint64 astro_correlator_part_steps(const AstroCorrelatorConfig *config, gboolean on_device);

/* submit takes an input block of spectra (or n_in 0, to add nothing), for a dump an output block of
 * visibilities, and an AstroCorrelatorArguments *; or, with parts, two blocks of visibilities. A
 * sum that does not fit CI32LE is an error; then nothing is written, and the integration is
 * dropped. */
extern const AstroBackend astro_correlator_reference;
extern const AstroBackend astro_correlator_cpu;
extern const AstroBackend *const astro_correlator_backends[]; /* ends with NULL */

/* An AstroTellWork. */
gboolean astro_correlator_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

G_END_DECLS
