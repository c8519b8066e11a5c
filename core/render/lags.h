/* The lags of a band: what a correlator that multiplies delayed samples would have found. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _AstroLags AstroLags;

/* The number of lags for that many channels: several times as many (zeros beside the band make the
 * steps finer), up to the number that fits a picture. */
guint astro_lags_count(guint64 channels);
AstroLags *astro_lags_new(guint64 channels);
void astro_lags_free(AstroLags *lags);

/* spectrum: real and imaginary parts, [channel][2]; NaN counts as 0. amplitudes: astro_lags_count
 * of them, from the most negative lag up, lag 0 in the middle. A spectrum of amplitude A whose
 * phase changes linearly over the channels gives A at its lag. If several lags share an element, it
 * has the largest. */
void astro_lags_find(AstroLags *lags, const double (*spectrum)[2], float *amplitudes);

/* The whole range of lags: 1 / the width of a channel. */
static inline double astro_lags_range(double bandwidth, guint64 channels)
{
  return (double)channels / bandwidth;
}

G_END_DECLS
