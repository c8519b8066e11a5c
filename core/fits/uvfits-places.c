/* Where the stations are. Offsets from an array's middle stand along the axes of the earth or
 * turned to the middle's meridian, and the keywords that should tell say FRAME = ITRF of both. Nor
 * do all writers count (u,v,w) from station 2 to station 1. Others make images of the (u,v,w) in
 * the groups, we of the positions: those that come closest to the groups' are right. */
#include "core/fits/uvfits-reader.h"
#include "core/stream/uvw.h"

#include <math.h>
#include <string.h>

#define ENOUGH_GROUPS 1024
/* Correlation of (u,v,w): precession, aberration and a clock that is seconds wrong cost less than a
 * thousandth of it. */
#define ALIKE 0.99
#define SAME 1e-9

/* Over groups: squares of the file's (u,v,w) and, for each frame, of ours, and products of both. */
typedef struct {
  double file, ours[ASTRO_UVFITS_FRAMES], both[ASTRO_UVFITS_FRAMES];
} Sums;

static void add_group(const AstroUvfitsReader *r, const AstroUvfitsGroup *group,
                      const double axes[3][3], Sums *sums)
{
  const double file[3] = { astro_uvfits_parameter(r, UU), astro_uvfits_parameter(r, VV),
                           astro_uvfits_parameter(r, WW) };
  if (!isfinite(file[0]) || !isfinite(file[1]) || !isfinite(file[2]))
    return;
  for (AstroUvfitsFrame frame = 0; frame < ASTRO_UVFITS_FRAMES; frame++) {
    double one[3], two[3];
    astro_uvfits_place_antenna(&r->antennas, group->station[0], frame, one);
    astro_uvfits_place_antenna(&r->antennas, group->station[1], frame, two);
    for (guint k = 0; k < 3; k++) {
      double ours = 0;
      for (guint n = 0; n < 3; n++)
        ours += axes[k][n] * (one[n] - two[n]);
      sums->ours[frame] += ours * ours;
      sums->both[frame] += ours * file[k];
    }
  }
  for (guint k = 0; k < 3; k++)
    sums->file += file[k] * file[k];
}

/* A group that cannot be read is told of when its turn comes. */
static void add_groups(AstroUvfitsReader *r, const AstroObservation *o, Sums *sums)
{
  AstroUvfitsGroup group;
  double axes[3][3];
  gint64 at = 0;
  for (guint64 i = 0; i < MIN(r->n_groups, ENOUGH_GROUPS); i++) {
    if (!astro_uvfits_read_group(r, i, &group, NULL))
      return;
    if (i == 0 || group.middle_ns != at)
      astro_uvw_axes(o, at = group.middle_ns, axes);
    add_group(r, &group, axes, sums);
  }
}

/* -1 ... 1, in whatever unit (u,v,w) are; 0 where there are none. */
static double correlation(const Sums *sums, AstroUvfitsFrame frame)
{
  double both = sqrt(sums->file) * sqrt(sums->ours[frame]);
  return both > 0 ? sums->both[frame] / both : 0;
}

static AstroUvfitsFrame find_frame(AstroUvfitsReader *r, AstroFitsContents *contents)
{
  AstroUvfitsFrame told = r->antennas.frame, best = told;
  Sums sums = { 0 };
  if (r->place[UU] < 0 || r->place[VV] < 0 || r->place[WW] < 0)
    return told;
  add_groups(r, contents->observation, &sums);
  for (AstroUvfitsFrame frame = 0; frame < ASTRO_UVFITS_FRAMES; frame++)
    if (fabs(correlation(&sums, frame)) > fabs(correlation(&sums, best)) + SAME)
      best = frame;
  double found = correlation(&sums, best);
  if (fabs(found) >= ALIKE) {
    r->conjugated = found < 0;
    return best;
  }
  if (sums.file > 0 && sums.ours[told] > 0)
    astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                             "the groups' (u,v,w) are not those of the stations in table AIPS AN "
                             "(correlation %.3f, expected 1): the table is taken at its word",
                             correlation(&sums, told));
  return told;
}

void astro_uvfits_place_stations(AstroUvfitsReader *r, AstroFitsContents *contents)
{
  AstroUvfitsFrame frame = find_frame(r, contents);
  for (guint i = 0; i < r->antennas.n; i++)
    astro_uvfits_place_antenna(&r->antennas, i, frame, &contents->observation->positions[3 * i]);
}
