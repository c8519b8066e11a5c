/* Point sources in images: where peaks are, between the pixels too, and how bright. */
#pragma once

#include "core/stream/grid.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

/* One product of one channel of an image, square. */
typedef struct {
  guint size;
  double *values; /* [y][x] */
  guint border;   /* pixels along the edges that count neither as sources nor as noise */
} AstroPlane;

/* channel and product: which of the block's planes, channel:pol:y:x or pol:y:x, F32LE or F64LE. */
void astro_plane_init(AstroPlane *plane, const AstroStream *stream, gconstpointer block,
                      guint channel, guint product);
void astro_plane_clear(AstroPlane *plane);

typedef struct {
  double x, y; /* pixels from 0 */
  double value;
} AstroPeak;

/* The highest pixel within reach pixels of (x, y), fitted. FALSE where it is no peak: at the edge
 * of the image, not above 0, or with a higher neighbour outside the reach. */
gboolean astro_peak_near(const AstroPlane *plane, double x, double y, double reach,
                         AstroPeak *peak);

/* All peaks above threshold and no nearer to each other than reach pixels, the brightest first, max
 * of them at most. */
GArray *astro_peaks_find(const AstroPlane *plane, double threshold, double reach, guint max);

/* What a peak must exceed for not to be a sidelobe of brighter ones. */
typedef struct {
  double sidelobe; /* the highest, over its source */
  double left;     /* of a source so much at most has its sidelobes yet: CLEAN took the rest */
} AstroSidelobes;

/* Cuts off a list of peaks, the brightest first, where the next may be made of the sidelobes of
 * those before it. Returns below what that is, 0 where nothing may be. */
double astro_peaks_trust(GArray *peaks, const AstroSidelobes *sidelobes);

/* How far the plane goes below zero, where an image of intensity has no sources: what is as high
 * above it may be as little of one. 0: nowhere. */
double astro_plane_depth(const AstroPlane *plane);

/* Of the noise, by the median of the values' sizes, which sources do not move; NaN is left out. */
double astro_plane_rms(const AstroPlane *plane);

G_END_DECLS
