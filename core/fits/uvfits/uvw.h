/* A file's (u,v,w) beside those that follow from its stations, times and phase centre: how alike
 * they are, and what the difference would do to a picture. */
#pragma once

#include "core/fits/uvfits/reader.h"

G_BEGIN_DECLS

/* How far from its middle a picture is looked at, in beams of the longest baseline: half of 512. */
#define ASTRO_UVFITS_PICTURE_BEAMS 256
/* What sources there may be moved by, in beams. */
#define ASTRO_UVFITS_MOST_MOVED 0.1

/* Over groups, of u, v and w: squares of the file's, and for each frame of the stations squares of
 * ours and products of both. */
typedef struct {
  double file[3], ours[ASTRO_UVFITS_FRAMES][3], both[ASTRO_UVFITS_FRAMES][3];
  double longest; /* of ours, metres */
} AstroUvfitsUvwSums;

/* Adds one group's; ours: of each frame. Those that a file does not have, all 0, are left out. */
void astro_uvfits_uvw_add(AstroUvfitsUvwSums *sums, const double file[3],
                          double ours[ASTRO_UVFITS_FRAMES][3]);
gboolean astro_uvfits_uvw_is_empty(const AstroUvfitsUvwSums *sums);

/* -1 ... 1, in whatever unit the file's are. */
double astro_uvfits_uvw_correlation(const AstroUvfitsUvwSums *sums, AstroUvfitsFrame frame);

/* Metres of one of the file's units: seconds of light as the standard has it, metres, or
 * wavelengths at the reference frequency, whichever makes its baselines about as long as ours. */
double astro_uvfits_uvw_unit(const AstroUvfitsUvwSums *sums, double reference_wavelength);

/* Angles in radians. */
typedef struct {
  double radius; /* of a source from the phase centre */
  double moved;  /* that it would be */
  double beam;
} AstroUvfitsMove;

/* What the picture of ours has in place of one of the file's; signs: of u, v and w in the file. */
AstroUvfitsMove astro_uvfits_uvw_move(const AstroUvfitsUvwSums *sums, AstroUvfitsFrame frame,
                                      const double signs[3], double unit, double wavelength);
gboolean astro_uvfits_uvw_is_close(const AstroUvfitsMove *move);

/* The one of u, v and w, 0 to 2, that has the other sign in the file; -1: that is not it. */
gint astro_uvfits_uvw_mirrored(const AstroUvfitsUvwSums *sums, AstroUvfitsFrame frame, double sign,
                               double unit, double wavelength);

G_END_DECLS
