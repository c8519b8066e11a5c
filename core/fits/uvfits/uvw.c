/* Compares a file's (u,v,w) with our own. */
#include "core/fits/uvfits/uvw.h"
#include "core/stream/uvw.h"

#include <math.h>

#define ABOUT 1.5 /* factor within which lengths count as equal */

void astro_uvfits_uvw_add(AstroUvfitsUvwSums *sums, const double file[3],
                          double ours[ASTRO_UVFITS_FRAMES][3])
{
  if (!isfinite(file[0]) || !isfinite(file[1]) || !isfinite(file[2]) ||
      (file[0] == 0 && file[1] == 0 && file[2] == 0))
    return;
  for (guint frame = 0; frame < ASTRO_UVFITS_FRAMES; frame++)
    for (guint k = 0; k < 3; k++) {
      sums->ours[frame][k] += ours[frame][k] * ours[frame][k];
      sums->both[frame][k] += ours[frame][k] * file[k];
    }
  for (guint k = 0; k < 3; k++)
    sums->file[k] += file[k] * file[k];
  sums->longest = MAX(sums->longest, hypot(hypot(ours[0][0], ours[0][1]), ours[0][2]));
}

static double sum(const double values[3])
{
  return values[0] + values[1] + values[2];
}

gboolean astro_uvfits_uvw_is_empty(const AstroUvfitsUvwSums *sums)
{
  return !(sum(sums->file) > 0 && sum(sums->ours[0]) > 0);
}

double astro_uvfits_uvw_correlation(const AstroUvfitsUvwSums *sums, AstroUvfitsFrame frame)
{
  const double both = sqrt(sum(sums->file)) * sqrt(sum(sums->ours[frame]));
  return both > 0 ? sum(sums->both[frame]) / both : 0;
}

double astro_uvfits_uvw_unit(const AstroUvfitsUvwSums *sums, double reference_wavelength)
{
  const double units[] = { ASTRO_LIGHT_SPEED, reference_wavelength, 1 };
  const double metres = sqrt(sum(sums->ours[0]) / sum(sums->file));
  double best = units[0];
  for (guint i = 1; i < G_N_ELEMENTS(units) && metres > 0; i++)
    if (fabs(log(metres / units[i])) < MIN(fabs(log(metres / best)), log(ABOUT)))
      best = units[i];
  return best;
}

/* A relative difference in u and v moves a source by that share of its distance from the phase
 * centre. One in w has an effect smaller by the factor of that distance in radians. */
AstroUvfitsMove astro_uvfits_uvw_move(const AstroUvfitsUvwSums *sums, AstroUvfitsFrame frame,
                                      const double signs[3], double unit, double wavelength)
{
  const double beam = wavelength / sums->longest,
               radius = MIN(ASTRO_UVFITS_PICTURE_BEAMS * beam, 1);
  double apart = 0;
  for (guint k = 0; k < 3; k++) {
    const double square = unit * unit * sums->file[k] - 2 * signs[k] * unit * sums->both[frame][k] +
                          sums->ours[frame][k];
    apart += MAX(square, 0) * (k < 2 ? 1 : radius * radius);
  }
  return (AstroUvfitsMove){ radius, radius * sqrt(apart / sum(sums->ours[frame])), beam };
}

gboolean astro_uvfits_uvw_is_close(const AstroUvfitsMove *move)
{
  return move->moved <= ASTRO_UVFITS_MOST_MOVED * move->beam;
}

gint astro_uvfits_uvw_mirrored(const AstroUvfitsUvwSums *sums, AstroUvfitsFrame frame, double sign,
                               double unit, double wavelength)
{
  for (gint k = 0; k < 3; k++) {
    double signs[3] = { sign, sign, sign };
    signs[k] = -sign;
    const AstroUvfitsMove move = astro_uvfits_uvw_move(sums, frame, signs, unit, wavelength);
    if (astro_uvfits_uvw_is_close(&move))
      return k;
  }
  return -1;
}
