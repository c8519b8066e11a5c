/* Finds where the stations are, and which (u,v,w) are right. Offsets from an array's centre may be
 * along the axes of the Earth or rotated to the centre's meridian, but the keywords say FRAME =
 * ITRF in both cases. Also, not all writers define (u,v,w) as station 1 minus station 2. Other
 * programs make images with the (u,v,w) of the groups, we compute them from the positions; so the
 * interpretation that comes closest to the groups' is taken. If it is not close enough to give the
 * same picture, the user must say which to believe. */
#include "core/fits/uvfits/reader.h"
#include "core/lib/rows/uvw-sums.h"
#include "core/stream/uvw.h"
#include "core/kit/units.h"

#include <math.h>

/* Groups to compare: all, or runs of neighbours from all over the file, since the axes at each new
 * time take long to compute. */
#define ENOUGH_GROUPS 1024
#define RUN 16
/* Correlation of (u,v,w) that are meant to be the same, in some frame or with the opposite sign. */
#define ALIKE 0.99
#define SAME 1e-9

static void read_uvw(const AstroUvfitsReader *r, double uvw[3])
{
  for (guint k = 0; k < 3; k++)
    uvw[k] = astro_uvfits_parameter(r, UU + k);
}

static void add_group(const AstroUvfitsReader *r, const AstroUvfitsGroup *group,
                      const double axes[3][3], AstroUvwSums *sums)
{
  double file[3], ours[ASTRO_UVW_FRAMES][3];
  read_uvw(r, file);
  for (AstroUvfitsFrame frame = 0; frame < ASTRO_UVW_FRAMES; frame++) {
    double one[3], two[3];
    astro_uvfits_place_antenna(&r->antennas, group->station[0], frame, one);
    astro_uvfits_place_antenna(&r->antennas, group->station[1], frame, two);
    for (guint k = 0; k < 3; k++)
      ours[frame][k] = axes[k][0] * (one[0] - two[0]) + axes[k][1] * (one[1] - two[1]) +
                       axes[k][2] * (one[2] - two[2]);
  }
  astro_uvw_sums_add(sums, file, ours);
}

static guint64 sample(const AstroUvfitsReader *r, guint64 i)
{
  const guint64 runs = ENOUGH_GROUPS / RUN, last = r->n_groups - RUN;
  return r->n_groups <= ENOUGH_GROUPS ? i : last / (runs - 1) * (i / RUN) + i % RUN;
}

/* A group that cannot be read will be reported when it is due. */
static void add_groups(AstroUvfitsReader *r, const AstroObservation *o, AstroUvwSums *sums)
{
  AstroUvfitsGroup group;
  double axes[3][3];
  gint64 at = 0;
  for (guint64 i = 0; i < MIN(r->n_groups, ENOUGH_GROUPS); i++) {
    if (!astro_uvfits_read_group(r, sample(r, i), &group, NULL))
      return;
    if (i == 0 || group.middle_ns != at)
      astro_uvw_axes(o, at = group.middle_ns, axes);
    add_group(r, &group, axes, sums);
  }
}

static AstroUvfitsFrame find_frame(const AstroUvfitsReader *r, const AstroUvwSums *sums,
                                   double *correlation)
{
  AstroUvfitsFrame told = r->antennas.frame, best = told;
  for (AstroUvfitsFrame frame = 0; frame < ASTRO_UVW_FRAMES; frame++)
    if (fabs(astro_uvw_sums_correlation(sums, frame)) >
        fabs(astro_uvw_sums_correlation(sums, best)) + SAME)
      best = frame;
  *correlation = astro_uvw_sums_correlation(sums, best);
  return fabs(*correlation) >= ALIKE ? best : told;
}

static gboolean check_picture(const AstroUvfitsReader *r, const AstroUvwSums *sums,
                              AstroUvfitsFrame frame, double wavelength, GError **error)
{
  const double sign = r->conjugated ? -1 : 1, signs[] = { sign, sign, sign };
  g_autofree char *told = astro_uvw_sums_tell(
      sums, frame, signs, astro_uvw_sums_unit(sums, r->reference_wavelength), wavelength);
  return !told ||
         astro_fits_wrong(
             r->file, error,
             "the groups' (u,v,w) do not match the stations in table AIPS AN and the phase "
             "centre%s. uvw=file takes the groups' (u,v,w), uvw=table the stations'",
             told);
}

/* Takes the file's (u,v,w), and values with the sign that belongs to them. */
static gboolean take_files(AstroUvfitsReader *r, const AstroUvwSums *sums,
                           AstroFitsContents *contents, GError **error)
{
  AstroUvfitsGroup group;
  double longest = 0, uvw[3];
  if (r->place[UU] < 0 || r->place[VV] < 0 || r->place[WW] < 0)
    return astro_fits_wrong(r->file, error,
                            "uvw=file, but groups have no parameters UU, VV and WW");
  for (guint64 i = 0; i < r->n_groups; i++) {
    if (!astro_uvfits_read_group(r, i, &group, error))
      return FALSE;
    read_uvw(r, uvw);
    const double length = hypot(hypot(uvw[0], uvw[1]), uvw[2]);
    longest = isfinite(length) ? MAX(longest, length) : longest;
  }
  r->metres_per_unit = astro_uvw_sums_unit(sums, r->reference_wavelength);
  longest *= r->metres_per_unit;
  if (!(longest > 0 && longest <= ASTRO_OBSERVATION_MAX_METRES))
    return astro_fits_wrong(r->file, error,
                            "uvw=file, but the longest (u,v,w) of all groups is %g m, expected "
                            "more than 0 and at most %g m",
                            longest, ASTRO_OBSERVATION_MAX_METRES);
  contents->observation->uvw_metres = longest;
  return TRUE;
}

gboolean astro_uvfits_place_stations(AstroUvfitsReader *r, AstroFitsUvw uvw,
                                     AstroFitsContents *contents, GError **error)
{
  AstroUvwSums sums = { 0 };
  double correlation;
  if (r->place[UU] >= 0 && r->place[VV] >= 0 && r->place[WW] >= 0)
    add_groups(r, contents->observation, &sums);
  const AstroUvfitsFrame frame = find_frame(r, &sums, &correlation);
  for (guint i = 0; i < r->antennas.n; i++)
    astro_uvfits_place_antenna(&r->antennas, i, frame, &contents->observation->positions[3 * i]);
  if (uvw == ASTRO_FITS_UVW_FILE)
    return take_files(r, &sums, contents, error);
  r->conjugated = correlation <= -ALIKE;
  return uvw == ASTRO_FITS_UVW_TABLE || astro_uvw_sums_is_empty(&sums) ||
         check_picture(r, &sums, frame, ASTRO_LIGHT_SPEED / contents->stream.frequency, error);
}

gboolean astro_uvfits_group_uvw(const AstroUvfitsReader *r, double uvw[3])
{
  read_uvw(r, uvw);
  for (guint k = 0; k < 3; k++)
    uvw[k] *= r->metres_per_unit;
  return isfinite(uvw[0]) && isfinite(uvw[1]) && isfinite(uvw[2]);
}
