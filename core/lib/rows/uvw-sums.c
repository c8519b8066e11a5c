/* Compares a file's (u,v,w) with our own. */
#include "core/lib/rows/uvw-sums.h"
#include "core/kit/units.h"
#include "core/stream/uvw.h"

#include <math.h>

#define ARCSEC (ASTRO_DEGREE / 3600)
/* Radius of the picture to judge by, in beams of the longest baseline: half of 512. */
#define PICTURE_BEAMS 256
/* How far sources may move within it, in beams. */
#define MOST_MOVED 0.1
#define ABOUT 1.5 /* factor within which lengths count as equal */

void astro_uvw_sums_add(AstroUvwSums *sums, const double file[3], double ours[ASTRO_UVW_FRAMES][3])
{
  if (!isfinite(file[0]) || !isfinite(file[1]) || !isfinite(file[2]) ||
      (file[0] == 0 && file[1] == 0 && file[2] == 0))
    return;
  for (guint frame = 0; frame < ASTRO_UVW_FRAMES; frame++)
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

gboolean astro_uvw_sums_is_empty(const AstroUvwSums *sums)
{
  return !(sum(sums->file) > 0 && sum(sums->ours[0]) > 0);
}

double astro_uvw_sums_correlation(const AstroUvwSums *sums, guint frame)
{
  const double both = sqrt(sum(sums->file)) * sqrt(sum(sums->ours[frame]));
  return both > 0 ? sum(sums->both[frame]) / both : 0;
}

double astro_uvw_sums_unit(const AstroUvwSums *sums, double reference_wavelength)
{
  const double units[] = { ASTRO_LIGHT_SPEED, reference_wavelength, 1 };
  const double metres = sqrt(sum(sums->ours[0]) / sum(sums->file));
  double best = units[0];
  for (guint i = 1; i < G_N_ELEMENTS(units) && metres > 0; i++)
    if (fabs(log(metres / units[i])) < MIN(fabs(log(metres / best)), log(ABOUT)))
      best = units[i];
  return best;
}

/* Angles in radians. */
typedef struct {
  double radius; /* distance of a source from the phase centre */
  double moved;  /* how far it would move */
  double beam;
} AstroUvwMove;

/* A relative difference in u and v moves a source by that share of its distance from the phase
 * centre. One in w has an effect smaller by the factor of that distance in radians. */
static AstroUvwMove find_move(const AstroUvwSums *sums, guint frame, const double signs[3],
                              double unit, double wavelength)
{
  const double beam = wavelength / sums->longest, radius = MIN(PICTURE_BEAMS * beam, 1);
  double apart = 0;
  for (guint k = 0; k < 3; k++) {
    const double square = unit * unit * sums->file[k] - 2 * signs[k] * unit * sums->both[frame][k] +
                          sums->ours[frame][k];
    apart += MAX(square, 0) * (k < 2 ? 1 : radius * radius);
  }
  return (AstroUvwMove){ radius, radius * sqrt(apart / sum(sums->ours[frame])), beam };
}

static gboolean is_close(const AstroUvwMove *move)
{
  return move->moved <= MOST_MOVED * move->beam;
}

/* Which of u, v and w (0 to 2) has the opposite sign in the file; -1: the difference is something
 * else. */
static gint find_mirrored(const AstroUvwSums *sums, guint frame, const double signs[3], double unit,
                          double wavelength)
{
  for (gint k = 0; k < 3; k++) {
    double tried[3] = { signs[0], signs[1], signs[2] };
    tried[k] = -signs[k];
    const AstroUvwMove move = find_move(sums, frame, tried, unit, wavelength);
    if (is_close(&move))
      return k;
  }
  return -1;
}

/* Arcseconds for messages: large values without an exponent. */
static char *arcsec(double radians)
{
  const double seconds = radians / ARCSEC;
  return g_strdup_printf(seconds < 100 ? "%.3g" : "%.0f", seconds);
}

char *astro_uvw_sums_tell(const AstroUvwSums *sums, guint frame, const double signs[3], double unit,
                          double wavelength)
{
  static const char *const mirrored[] = { "", ", u has the opposite sign",
                                          ", v has the opposite sign",
                                          ", w has the opposite sign" };
  const AstroUvwMove move = find_move(sums, frame, signs, unit, wavelength);
  if (is_close(&move))
    return NULL;
  g_autofree char *radius = arcsec(move.radius), *moved = arcsec(move.moved),
                  *beam = arcsec(move.beam);
  return g_strdup_printf(
      "%s: a source %s arcsec from it, at the edge of a picture of %d beams, would move by %s "
      "arcsec, and the beam is %s arcsec wide",
      mirrored[1 + find_mirrored(sums, frame, signs, unit, wavelength)], radius,
      (int)(2 * move.radius / move.beam + 0.5), moved, beam);
}
