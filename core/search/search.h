/* Search: finds short pulses in series of power, one a dispersion measure and a beam or station.
 *
 * Weights. A value has the weight of the good samples behind it over those of a full one, 0 to 1,
 * and its variance is that of a full one over its weight. Lost values have the weight 0, and so
 * have values that are not finite; these are counted.
 *
 * Baseline and noise are measured in windows, which begin at multiples of their length, so that
 * they do not depend on how the stream is cut into blocks: the median and 1.4826 times the median
 * absolute deviation of the good values; then the weighted mean and the rms of those values within
 * 3 deviations, the rms divided by that of a Gaussian that is cut there. So interference in less
 * than half of a window moves neither much. A window counts if it has at least 32 good values and,
 * but for the first, if half of it is good; else what was measured before goes on, and without any
 * nothing is found there. Between the middles of two windows baseline and noise change linearly.
 *
 * A value farther from the baseline than a million times the noise counts as a million.
 *
 * Boxcars. The S/N of a boxcar is the sum of w (x - baseline) / noise over the root of the sum of
 * w: a number whose variance is 1 in Gaussian noise, whatever was lost. Boxcars with less than half
 * of their weight are left out. At each step the best width counts. Boxcars of a series above the
 * threshold that touch each other are one hit, with the place, width and S/N of the best of them.
 *
 * Sums are in double precision. The variants do the same arithmetic but for the sums of boxcars,
 * which the fast one takes as differences of running sums: S/N agree to 1e-6. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

#define ASTRO_SEARCH_MAX_WIDTHS 32
#define ASTRO_SEARCH_MAX_WIDTH 65536
#define ASTRO_SEARCH_MAX_WINDOW (1u << 24)
/* In shorter windows a pulse that is wide, and too weak to be cut, would raise the baseline and the
 * noise by so much that its S/N falls by a tenth. */
#define ASTRO_SEARCH_WINDOW_OVER_WIDTH 32

typedef struct {
  guint stations, dms, pols; /* of the power; beams count as stations. The first pol is searched */
  AstroLayout layout;        /* time has extent 0; axes of length 1 may be missing */
  guint n_widths;
  guint widths[ASTRO_SEARCH_MAX_WIDTHS]; /* in steps, rising */
  guint window;                          /* in steps */
  double threshold;
} AstroSearchConfig;

/* A boxcar of `steps` steps from `first` on, the best of those between begin and end. */
typedef struct {
  guint station, dm;
  guint64 first, steps, begin, end;
  double snr;
} AstroSearchHit;

/* Filled in by submit. */
typedef struct {
  GArray *hits;       /* of AstroSearchHit: those that are over are appended */
  guint64 settled;    /* no hit to come begins before this step */
  guint64 not_finite; /* values of the block that are not finite */
} AstroSearchFound;

typedef struct {
  guint64 first;  /* the number of the block's first step; blocks follow each other */
  guint64 steps;  /* in the block; without a block, so many lost steps */
  gboolean begin; /* forget what came before */
  gboolean end;   /* search all that is left */
  AstroSearchFound *found;
  /* The good samples behind the value counts[(step * stations + station) * dms + dm], full behind a
   * whole one; NULL: all are whole. */
  const guint32 *counts;
  guint32 full;
} AstroSearchArguments;

/* Reads "1,2,4,8". */
gboolean astro_search_parse_widths(AstroSearchConfig *config, const char *text, GError **error);
/* The window for window=0: long for the widest boxcar, and long enough to measure the noise. */
guint astro_search_default_window(const AstroSearchConfig *config);
/* Bytes that an instance keeps. */
double astro_search_bytes(const AstroSearchConfig *config);
/* Writes the counts of a block of power as arguments take them. */
void astro_search_spread_counts(guint32 *counts, const AstroSearchConfig *config,
                                const AstroValidityMeta *meta, const AstroLayout *shape,
                                guint64 steps);

/* An AstroTellWork. */
gboolean astro_search_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

/* submit takes a block of power in F32LE (or n_in 0), no output, and an AstroSearchArguments *. */
extern const AstroBackend astro_search_reference;
extern const AstroBackend astro_search_cpu;
extern const AstroBackend *const astro_search_backends[]; /* ends with NULL */

G_END_DECLS
