/* Compares a file's (u,v,w) with those computed from its stations, times and phase centre: how
 * similar they are, and how the difference would change a picture. */
#pragma once

#include "core/fits/uvfits/reader.h"

G_BEGIN_DECLS

/* Radius of the picture to judge by, in beams of the longest baseline: half of 512. */
#define ASTRO_UVFITS_PICTURE_BEAMS 256
/* How far sources may move within it, in beams. */
#define ASTRO_UVFITS_MOST_MOVED 0.1

/* Sums over groups for u, v and w: squares of the file's values, and for each frame of the stations
 * squares of ours and products of both. */
typedef struct {
  double file[3], ours[ASTRO_UVFITS_FRAMES][3], both[ASTRO_UVFITS_FRAMES][3];
  double longest; /* of ours, in metres */
} AstroUvfitsUvwSums;

/* Adds those of a group; ours has values for each frame. A group with all zeros has none, and is
 * skipped. */
void astro_uvfits_uvw_add(AstroUvfitsUvwSums *sums, const double file[3],
                          double ours[ASTRO_UVFITS_FRAMES][3]);
gboolean astro_uvfits_uvw_is_empty(const AstroUvfitsUvwSums *sums);

/* From -1 to 1, whatever the unit in the file. */
double astro_uvfits_uvw_correlation(const AstroUvfitsUvwSums *sums, AstroUvfitsFrame frame);

/* The unit of the file in metres: seconds of light as in the standard, metres, or wavelengths at
 * the reference frequency, whichever makes its baselines about as long as ours. */
double astro_uvfits_uvw_unit(const AstroUvfitsUvwSums *sums, double reference_wavelength);

/* Angles in radians. */
typedef struct {
  double radius; /* distance of a source from the phase centre */
  double moved;  /* how far it would move */
  double beam;
} AstroUvfitsMove;

/* How far a source moves if ours are used instead of the file's; signs: of u, v and w in the file.
 */
AstroUvfitsMove astro_uvfits_uvw_move(const AstroUvfitsUvwSums *sums, AstroUvfitsFrame frame,
                                      const double signs[3], double unit, double wavelength);
gboolean astro_uvfits_uvw_is_close(const AstroUvfitsMove *move);

/* Which of u, v and w (0 to 2) has the opposite sign in the file; -1: the difference is something
 * else. */
gint astro_uvfits_uvw_mirrored(const AstroUvfitsUvwSums *sums, AstroUvfitsFrame frame, double sign,
                               double unit, double wavelength);

G_END_DECLS
