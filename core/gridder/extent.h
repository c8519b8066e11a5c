/* The size of an image and of its pixels where nobody sets them: pixels small enough for the
 * longest baseline, and a field as large as the shortest one can see. */
#pragma once

#include "core/stream/observation.h"

G_BEGIN_DECLS

/* Lengths in metres, between stations at different places. */
typedef struct {
  double shortest, longest, rms;
} AstroBaselines;

/* Stations at the geocentre are left out: some tables have such rows for stations that do not
 * exist. FALSE: no two stations are left. */
gboolean astro_baselines_find(const AstroObservation *observation, AstroBaselines *baselines);

/* Side of a pixel in arcsec, rounded down to two digits: a quarter of the beam at the highest
 * frequency (Hz). With natural weights that is the beam of all baselines, else that of the longest;
 * a pixel is never so large that the longest baseline would be lost. */
double astro_extent_cell(const AstroBaselines *baselines, double highest, gboolean is_natural);

/* Pixels along a side of the image, an even number that suits the FFT. They cover the field
 * (degrees) or, where field is 0, the part of the sky that a station sees, which cannot be larger
 * than the shortest baseline; limits keep the image many beams wide and its size bearable. cell:
 * arcsec. */
guint astro_extent_size(double shortest, double frequency, double cell, double field);

G_END_DECLS
