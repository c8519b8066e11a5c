/* Flags: finds the values of a stream that interference has spoilt.
 *
 * Kurtosis: the power p of Gaussian noise in a channel has an exponential distribution, so that the
 * generalised estimator of its spectral kurtosis (Nita and Gary 2010, MNRAS 406, L60),
 *
 *   SK = (M + 1) / (M - 1) (M sum p^2 / (sum p)^2 - 1)
 *
 * is 1 in the mean, over M good samples. A transmitter that is always on lowers it, one that is on
 * for less than half of the time raises it. Limits follow from the distribution of SK
 * (core/flag/theory.h) for the probability of a false alarm; one half lies on each side. p is
 * computed of spectra, over blocks of steps; power brings both sums, in products and their squares.
 *
 * Threshold: SumThreshold (Offringa et al. 2010, MNRAS 405, 155) on the amplitudes of a block of
 * steps, by time and channel, of each station, beam or baseline and each polarisation or product.
 * A window of n values, 1, 2, 4 ... `longest`, in time or in frequency is flagged if the mean of
 * those not flagged by a shorter one deviates by more than threshold / 1.45^log2(n) standard
 * deviations; the paper's 1.5 leaves nearly all false alarms to the longest windows. There are
 * three rounds, with 4, 2 and 1 times the threshold. The first looks at deviations from a running
 * median, over 31 channels, of the medians of channels; each other at those from a baseline: the
 * values not flagged in the round before, smoothed by straight lines under Gaussians of 2.5 steps
 * and 5 channels (AOFlagger takes means, which are off by more than the noise at the ends of a band
 * with a slope). Powers are divided by the baseline, as their noise is in proportion to it. The
 * standard deviation is 1.4826 times the median absolute deviation. Missing values are left out,
 * and a window has the threshold of as many values as it has: a gap is not interference. A block of
 * fewer than 32 values or without any noise is not judged. At the end flags grow by the
 * scale-invariant rank operator (core/flag/rank.h).
 *
 * A value (of one step, channel, and station, beam or baseline) is flagged if any of its
 * polarisations or products is. Values that are not finite are flagged. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/stream/power.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

typedef enum { ASTRO_FLAG_KURTOSIS, ASTRO_FLAG_THRESHOLD, ASTRO_FLAG_LIST } AstroFlagMethod;

#define ASTRO_FLAG_LEAST_SAMPLES 64 /* that kurtosis judges by */
#define ASTRO_FLAG_MOST_BLOCK 65536
#define ASTRO_FLAG_LONGEST 1024

typedef struct {
  AstroStream in;
  AstroPowerProducts products; /* of power */
  AstroFlagMethod method;
  guint block;        /* steps judged together; kurtosis of power judges each by itself */
  double false_alarm; /* kurtosis: probability that noise is flagged */
  double threshold;   /* in standard deviations */
  guint longest;      /* window, at most ASTRO_FLAG_LONGEST */
} AstroFlagConfig;

typedef struct {
  guint64 block_steps;           /* of the input block, */
  guint64 first, steps;          /* and those of them that are meant */
  guint64 phase;                 /* steps of the judged block before these */
  gboolean begin;                /* forget what came before */
  gboolean end;                  /* judge, after these steps */
  const AstroValidityMeta *meta; /* counts of the input block; NULL: all is good */
} AstroFlagArguments;

/* Bits of a flag: whether a value was judged, and how. */
enum {
  ASTRO_FLAG_JUDGED = 1,
  ASTRO_FLAG_BAD = 2,
  ASTRO_FLAG_COARSE = 4, /* not judged, as its integers are too small to be like noise */
};

/* result->own: the flags [row][unit][channel] of a judged block. Units are stations, beams or
 * baselines. */
typedef struct {
  guint8 *flags;
} AstroFlagVerdict;

/* Rows of flags: for kurtosis of spectra one for the block, else one a step, phase + steps. */
guint64 astro_flag_rows(const AstroFlagConfig *config, const AstroFlagArguments *arguments);
/* Whether steps are judged in blocks, and not each by itself. */
gboolean astro_flag_has_blocks(const AstroFlagConfig *config);
guint64 astro_flag_units(const AstroStream *stream);
guint astro_flag_channels(const AstroStream *stream);

/* submit takes an input block (none: only judge), no output block, and an AstroFlagArguments *;
 * result->own is an AstroFlagVerdict * where the block ends. Lists are not for backends. */
extern const AstroBackend astro_flag_reference;
extern const AstroBackend astro_flag_cpu;
extern const AstroBackend *const astro_flag_backends[]; /* ends with NULL */

/* An AstroTellWork. */
gboolean astro_flag_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

G_END_DECLS
