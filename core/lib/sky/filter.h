/* Filters that turn white noise into the signal of a polarised source, of a source with lines or of
 * interference in a band: any part of it at any time, always with the same result.
 *
 * The response is a Hermitian matrix with the components of a coherency matrix: d and the real and
 * imaginary part of c beside the mean of both polarisations, (I + d, c; conj(c), I - d). Its square
 * is the coherency of the signal. */
#pragma once

#include "core/lib/sky/kernels.h"

G_BEGIN_DECLS

typedef struct {
  float *re, *im;
} AstroSignal;

typedef struct {
  double rate;      /* samples a second */
  double frequency; /* of the band's centre, which is at zero in the samples */
  double part;      /* of the rate that the band fills, which holds the power of all samples */
  guint pols;
  gboolean
      mixes; /* whether the polarisations have anything in common: components beside the mean */
  /* The length of time over which the response spreads a sample, seconds: at least the delays in it
   * and the inverse of its narrowest feature. */
  double spread;
  /* The components at a frequency; those beside the mean only count if it mixes. Called by
   * astro_filter_new and not later. */
  void (*response)(gconstpointer data, double frequency, double components[4]);
  /* A phase in cycles that both polarisations get besides, and the longest delay that it means,
   * seconds. NULL: none. */
  double (*turns)(gconstpointer data, double frequency);
  double delay;
  gconstpointer data;
} AstroFilterConfig;

typedef struct AstroFilter AstroFilter;

/* The longest spread and the longest delay, in samples, that a filter can have. */
#define ASTRO_FILTER_MAX_SPREAD (1 << 16)
#define ASTRO_FILTER_MAX_DELAY (1 << 19)

/* NULL: there is not enough memory. The spread has been checked. */
AstroFilter *astro_filter_new(const AstroFilterConfig *config);
void astro_filter_free(AstroFilter *filter);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroFilter, astro_filter_free)

/* Makes a tile of white noise for a polarisation. FALSE: it is all zeros. */
typedef gboolean (*AstroFilterNoise)(gconstpointer data, guint pol, gint64 tile, float *re,
                                     float *im);

/* Computes a tile of each polarisation. Tiles that follow each other are cheap. A filter may be
 * used by one thread at a time. */
void astro_filter_tile(AstroFilter *filter, gint64 tile, AstroFilterNoise noise, gconstpointer data,
                       const AstroSignal *out);

G_END_DECLS
