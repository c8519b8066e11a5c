/* Folded profiles as sub-integrations of PSRFITS: 16-bit numbers, with a scale and an offset for
 * each product and channel. */
#pragma once

#include "core/fits/psrfits/psrfits.h"

G_BEGIN_DECLS

/* The bins of one product and channel. */
typedef struct {
  const float *values;
  const guint32 *counts; /* of good samples; NULL: all bins have some */
  guint64 n, stride;     /* how many, and from one to the next */
  guint64 count_stride;
  float sign;
} AstroPsrfitsBins;

/* Their numbers stand for values by these. */
typedef struct {
  float scale, offset;
  double count; /* the sum of all counts; without counts the number of bins */
} AstroPsrfitsProfile;

/* Writes n numbers of 16 bits, big-endian. Bins without any sample, and values that are not finite,
 * get the mean of the others, and are counted in the tally. A number's error is at most half of
 * 1/65534 of the range of the values. */
AstroPsrfitsProfile astro_psrfits_pack_bins(const AstroPsrfitsBins *bins, guint8 *to,
                                            AstroFitsTally *tally);

G_END_DECLS
