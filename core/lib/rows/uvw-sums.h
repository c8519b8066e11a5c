/* Compares a file's (u,v,w) with those computed from its stations, times and phase centre: how
 * similar they are, and how the difference would change a picture. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Most ways to understand the positions of stations in a file; each makes (u,v,w) of its own. */
#define ASTRO_UVW_FRAMES 4

/* Sums over groups for u, v and w: squares of the file's values, and for each frame of the stations
 * squares of ours and products of both. */
typedef struct {
  double file[3], ours[ASTRO_UVW_FRAMES][3], both[ASTRO_UVW_FRAMES][3];
  double longest; /* of ours, in metres */
} AstroUvwSums;

/* Adds those of a group; ours has values for each frame. A group with all zeros has none, and is
 * skipped. */
void astro_uvw_sums_add(AstroUvwSums *sums, const double file[3], double ours[ASTRO_UVW_FRAMES][3]);
gboolean astro_uvw_sums_is_empty(const AstroUvwSums *sums);

/* From -1 to 1, whatever the unit in the file. */
double astro_uvw_sums_correlation(const AstroUvwSums *sums, guint frame);

/* The unit of the file in metres: seconds of light as in the standard, metres, or wavelengths at
 * the reference frequency, whichever makes its baselines about as long as ours. */
double astro_uvw_sums_unit(const AstroUvwSums *sums, double reference_wavelength);

/* NULL if (u,v,w) computed from the stations give the same picture as the file's; else what would
 * happen to a source, as the end of a sentence about the phase centre, to be freed. signs: of u, v
 * and w in the file. */
char *astro_uvw_sums_tell(const AstroUvwSums *sums, guint frame, const double signs[3], double unit,
                          double wavelength);

G_END_DECLS
