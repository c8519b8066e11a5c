/* Fold: adds up power by the phase of a pulsar, for each station, channel and product.
 *
 * A sample belongs as a whole to the bin that has the phase of its middle, even if it spans several
 * bins. Phases are 32-bit integers, 2^32 to a turn, so that they wrap by themselves and every
 * backend finds the same bin: floor(bins (phase - lag) / 2^32), where the lag is that of the
 * channel. A value of the profile is the mean of the good samples in its bin, summed in double
 * precision; a sample that is not valid counts in neither sum nor number. A NaN makes the mean of
 * its bin NaN. Without any good sample the mean is 0.
 *
 * Power may have time, channel, station (or beam) and pol in any order. A profile is
 * station:channel:pol:phase. A sub-integration spans any number of blocks. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

#define ASTRO_FOLD_MOST_BINS 65536

typedef struct {
  guint stations, pols, channels; /* beams count as stations, products as pols */
  AstroLayout layout; /* of the power; time has extent 0; axes of length 1 may be missing */
  guint bins;         /* at least 2 */
} AstroFoldConfig;

typedef struct {
  guint64 steps;         /* in the block; 0 without a block */
  guint64 from, to;      /* those of the block that are added: from `from` on, without `to` */
  const guint32 *phases; /* of the middle of each step of the block */
  const guint32 *lags;   /* of each channel; the same through a sub-integration */
  gboolean begin;        /* forget what was added before */
  gboolean end;          /* the sub-integration ends with the block */

  /* Whether a sample is good: valid[time * valid_time + channel * valid_channel + station *
   * valid_station] is not 0; a stride of 0 means that values along that axis share a flag. NULL:
   * all are. */
  const guint8 *valid;
  gsize valid_time, valid_channel, valid_station;
} AstroFoldArguments;

/* Turns as such an integer; any finite number of them. */
guint32 astro_fold_phase(double turns);

/* Bytes and counts of a profile. */
gsize astro_fold_output_bytes(const AstroFoldConfig *config);
gsize astro_fold_counts(const AstroFoldConfig *config);

/* submit takes an input block of power (or n_in 0), an output block for the profile that ends
 * (n_out 0 if none does), and an AstroFoldArguments *. result->counts has room for the good samples
 * behind each [station][channel][bin], and must not be NULL where a sub-integration ends. */
extern const AstroBackend astro_fold_reference;
extern const AstroBackend astro_fold_cpu;
extern const AstroBackend *const astro_fold_backends[]; /* ends with NULL */

/* An AstroTellWork. */
gboolean astro_fold_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

G_END_DECLS
