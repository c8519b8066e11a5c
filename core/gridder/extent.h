/* What an image of an array's visibilities is like where nobody says: pixels that show what its
 * longest baseline does, and as much of the sky as its shortest one. */
#pragma once

#include "core/stream/observation.h"

G_BEGIN_DECLS

/* Metres, from one station to another place. */
typedef struct {
  double shortest, longest, rms;
} AstroBaselines;

/* Stations at the geocentre are rows that tables keep for nobody. FALSE: there are no two others.
 */
gboolean astro_baselines_find(const AstroObservation *observation, AstroBaselines *baselines);

/* A pixel's side in arcsec, to two digits: a quarter of the beam, which with natural weights is
 * that of the many baselines and else that of the longest at that frequency (Hz), and never so
 * large that the longest were lost. */
double astro_extent_cell(const AstroBaselines *baselines, double highest, gboolean is_natural);

/* Pixels a side, an even number that suits the FFT, for all of a field (degrees), or, where it is
 * 0, for what a station sees, which is no larger than the shortest baseline: within bounds that
 * keep the image one of many beams and of bearable size. cell: arcsec. */
guint astro_extent_size(double shortest, double frequency, double cell, double field);

G_END_DECLS
