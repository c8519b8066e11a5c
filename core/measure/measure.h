/* Measures point sources in images: positions of peaks, with fractions of pixels, and brightness.
 */
#pragma once

#include "core/stream/grid.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

/* One product of one channel of an image, square. */
typedef struct {
  guint size;
  double *values; /* [y][x] */
  guint border;   /* pixels along the edges that count neither as source nor as noise */
} AstroPlane;

/* channel and product select a plane of the block, channel:pol:y:x or pol:y:x, F32LE or F64LE. */
void astro_plane_init(AstroPlane *plane, const AstroStream *stream, gconstpointer block,
                      guint channel, guint product);
void astro_plane_clear(AstroPlane *plane);

typedef struct {
  double x, y; /* pixels from 0 */
  double value;
} AstroPeak;

/* The highest pixel within reach pixels of (x, y), with a fit. FALSE if it is not a peak: at the
 * edge of the image, not above 0, or with a higher neighbour outside the reach. */
gboolean astro_peak_near(const AstroPlane *plane, double x, double y, double reach,
                         AstroPeak *peak);

/* All peaks above threshold that are at least reach pixels from each other, the brightest first, at
 * most max of them. */
GArray *astro_peaks_find(const AstroPlane *plane, double threshold, double reach, guint max);

/* Values to tell peaks from sidelobes of brighter ones. */
typedef struct {
  double sidelobe; /* the highest sidelobe relative to its source */
  double left; /* at most this much of a source still has its sidelobes: CLEAN removed the rest */
} AstroSidelobes;

/* Cuts off a list of peaks, the brightest first, where the next may consist of sidelobes of those
 * before it. Returns the level below which that is so; 0 if there is none. */
double astro_peaks_trust(GArray *peaks, const AstroSidelobes *sidelobes);

/* How far the plane goes below zero, where an image of intensity has no sources: peaks no higher
 * than that may not be sources either. 0: nowhere. */
double astro_plane_depth(const AstroPlane *plane);

/* The standard deviation of the noise, from the median of absolute values, which sources hardly
 * change; NaN is ignored. */
double astro_plane_rms(const AstroPlane *plane);

G_END_DECLS
