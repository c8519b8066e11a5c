/* Computes phases of pulsars. */
#include "config.h"
#include "core/lib/ephemeris/phases.h"

#include <erfa.h>
#include <erfam.h>
#include <math.h>

#include "core/kit/units.h"
#include "core/lib/sky/dispersion.h"
#include "core/stream/uvw.h"

#define MJD_ZERO 2400000.5
#define NODE 60                          /* s between the times that are computed exactly */
#define EARTH_SPIN 7.292115e-5           /* rad/s */
#define SUN_SECONDS 4.925490947641267e-6 /* the Sun's mass, G M / c^3 */
#define YEAR_DAYS 365.25
#define MOST_TURNS 1e13L /* leaves a millionth of a turn to a long double */
#define FILE_DM 2.41e-16 /* pc/cm^3 over s Hz^2, by which .par files mean a DM */

/* The phase between two nodes: turns = first + c[0] x + c[1] x^2 + c[2] x^3, x from 0 to 1. */
typedef struct {
  gint64 node; /* at node * NODE seconds */
  double first, c[3];
} Piece;

struct AstroPhases {
  double centre;
  /* of a fixed period: */
  double period, dm;
  /* by an ephemeris; NULL: a fixed period */
  AstroEphemeris *ephemeris;
  AstroKernel *kernel;
  AstroObservation *observation;
  double position[3]; /* ITRF, m */
  long double zero;   /* turns that are counted as phase 0 */
  gboolean has_piece;
  Piece piece;
};

/* A wave that came to the telescope. */
typedef struct {
  long double tdb; /* s since 0h of the start's day */
  double delay;    /* s, after the barycentre, without dispersion */
  double rest;     /* the frequency at rest over that at the telescope */
} Arrival;

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double days_from(const AstroEpoch *epoch, gint32 mjd, long double seconds)
{
  return (double)((long double)(mjd - epoch->mjd) - epoch->day + seconds / 86400);
}

/* ---- where the pulsar is ---- */

static void direction_at(const AstroEphemeris *ephemeris, double years, double direction[3])
{
  const double sin_a = sin(ephemeris->longitude), cos_a = cos(ephemeris->longitude),
               sin_d = sin(ephemeris->latitude), cos_d = cos(ephemeris->latitude);
  const double east = ephemeris->longitude_motion * years,
               north = ephemeris->latitude_motion * years;
  double place[3] = { cos_d * cos_a - east * sin_a - north * sin_d * cos_a,
                      cos_d * sin_a + east * cos_a - north * sin_d * sin_a, sin_d + north * cos_d };
  double length;
  if (ephemeris->is_ecliptic) {
    const double y = place[1], z = place[2], s = sin(ephemeris->obliquity),
                 c = cos(ephemeris->obliquity);
    place[1] = c * y - s * z;
    place[2] = s * y + c * z;
  }
  eraPn(place, &length, direction);
}

/* ---- when a wave came ---- */

/* From the geocentre to the telescope, m, and its velocity, m/s, axes of the GCRS. */
static void observer_at(const AstroPhases *phases, const double tt[2], const double ut1[2],
                        const AstroEarthDay *earth, double place[3], double velocity[3])
{
  double to_earth[3][3],
      position[3] = { phases->position[0], phases->position[1], phases->position[2] };
  eraC2t06a(tt[0], tt[1], ut1[0], ut1[1], earth->pole_x * ERFA_DAS2R, earth->pole_y * ERFA_DAS2R,
            to_earth);
  eraTrxp(to_earth, position, place);
  eraPxp(to_earth[2], place, velocity);
  for (guint i = 0; i < 3; i++)
    velocity[i] *= EARTH_SPIN;
}

static gboolean arrive(const AstroPhases *phases, gint32 mjd, long double utc, Arrival *arrival,
                       GError **error)
{
  const AstroEphemeris *ephemeris = phases->ephemeris;
  double tai_minus_utc = 0, fraction, place[3], velocity[3], direction[3], to_sun[3];
  int year, month, day;
  AstroEarthDay earth;
  AstroPlanets planets;

  eraJd2cal(MJD_ZERO, mjd, &year, &month, &day, &fraction);
  eraDat(year, month, day, 0.0, &tai_minus_utc);
  astro_earth_at(phases->observation->earth, mjd, (double)(utc / 86400), &earth);
  const double ut1[2] = { MJD_ZERO + mjd, (double)((utc + (long double)earth.ut1_utc) / 86400) };
  const long double tt_seconds = utc + (long double)(tai_minus_utc + ERFA_TTMTAI);
  const double tt[2] = { MJD_ZERO + mjd, (double)(tt_seconds / 86400) };
  const double *site = phases->position;
  const double tdb_tt = eraDtdb(tt[0], tt[1], ut1[1] - floor(ut1[1]), atan2(site[1], site[0]),
                                hypot(site[0], site[1]) / 1e3, site[2] / 1e3);
  arrival->tdb = tt_seconds + (long double)tdb_tt;
  if (!astro_planets_at(phases->kernel, tt[0], (double)(arrival->tdb / 86400), &planets, error))
    return FALSE;
  observer_at(phases, tt, ut1, &earth, place, velocity);
  for (guint i = 0; i < 3; i++) {
    place[i] += planets.earth[i];
    velocity[i] += planets.velocity[i];
    to_sun[i] = planets.sun[i] - place[i];
  }
  direction_at(ephemeris, days_from(&ephemeris->position_epoch, mjd, arrival->tdb) / YEAR_DAYS,
               direction);
  const double along = dot(place, direction), squared = dot(place, place),
               parallax = ephemeris->parallax / ERFA_DAU;
  arrival->delay = (-along + parallax / 2 * (squared - along * along)) / ASTRO_LIGHT_SPEED -
                   2 * SUN_SECONDS * log((eraPm(to_sun) - dot(to_sun, direction)) / ERFA_DAU);
  arrival->rest = 1 - dot(velocity, direction) / ASTRO_LIGHT_SPEED;
  return TRUE;
}

/* ---- the phase at the pulsar ---- */

static double dispersion(const AstroEphemeris *ephemeris, gint32 mjd, const Arrival *arrival,
                         double frequency)
{
  const double years = days_from(&ephemeris->dm_epoch, mjd, arrival->tdb) / YEAR_DAYS;
  const double dm = ephemeris->dm[0] + years * (ephemeris->dm[1] + years / 2 * ephemeris->dm[2]);
  const double at_rest = frequency * arrival->rest;
  return frequency > 0 ? dm / FILE_DM / (at_rest * at_rest) : 0;
}

static long double spin_phase(const AstroEphemeris *ephemeris, gint32 mjd, long double seconds)
{
  const long double since =
      (long double)(mjd - ephemeris->epoch.mjd) * 86400 - ephemeris->epoch.day * 86400 + seconds;
  long double turns = 0;
  for (guint k = ASTRO_EPHEMERIS_SPINS; k-- > 0;)
    turns = (turns + ephemeris->spin[k]) * since / (k + 1);
  return turns;
}

/* Without the offset that makes phase 0 what the file says. */
static gboolean phase_at(const AstroPhases *phases, gint32 mjd, long double utc, double frequency,
                         long double *turns, GError **error)
{
  Arrival arrival;
  if (!arrive(phases, mjd, utc, &arrival, error))
    return FALSE;
  const double delay = arrival.delay + dispersion(phases->ephemeris, mjd, &arrival, frequency);
  *turns = spin_phase(phases->ephemeris, mjd, arrival.tdb - (long double)delay);
  return TRUE;
}

static long double start_of(const AstroPhases *phases)
{
  return (long double)phases->observation->start_ns / 1e9L;
}

/* ---- phase zero ---- */

static gboolean find_zero(AstroPhases *phases, const AstroObservation *observation, GError **error)
{
  const AstroEphemeris *ephemeris = phases->ephemeris;
  const long double seconds = ephemeris->zero.day * 86400;
  AstroPhases there = *phases;
  if (!ephemeris->has_zero)
    return TRUE;
  if (ephemeris->zero_site == ASTRO_SITE_BARYCENTRE) {
    const Arrival at_rest = { .tdb = seconds, .rest = 1 };
    phases->zero =
        spin_phase(ephemeris, ephemeris->zero.mjd,
                   seconds - (long double)dispersion(ephemeris, ephemeris->zero.mjd, &at_rest,
                                                     ephemeris->zero_frequency));
    return TRUE;
  }
  if (ephemeris->zero_site == ASTRO_SITE_GEOCENTRE)
    there.position[0] = there.position[1] = there.position[2] = 0;
  else if (g_ascii_strcasecmp(ephemeris->zero_telescope, observation->telescope) != 0)
    return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                      "TZRSITE of the ephemeris is %s, and the stream is of telescope %s: expected "
                      "that, @ (the barycentre) or coe (the geocentre)",
                      ephemeris->zero_telescope, observation->telescope);
  return phase_at(&there, ephemeris->zero.mjd, seconds, ephemeris->zero_frequency, &phases->zero,
                  error);
}

/* ---- new and free ---- */

AstroPhases *astro_phases_new_period(double period, double dm, double centre)
{
  AstroPhases *phases = g_new0(AstroPhases, 1);
  phases->period = period;
  phases->dm = dm;
  phases->centre = centre;
  return phases;
}

static gboolean check(const AstroPhases *phases, const AstroObservation *observation,
                      GError **error)
{
  if (!observation->has_start)
    return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                      "the observation has no start, which an ephemeris needs: expected "
                      "astroobserve upstream with start-time");
  if (observation->n_stations < 1)
    return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                      "the observation has no station, and an ephemeris needs the place of the "
                      "telescope: expected astroobserve upstream with positions");
  if (phases->centre == 0 && phases->ephemeris->dm[0] > 0)
    return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                      "caps have no field \"frequency\", which the dispersion of DM %g needs",
                      phases->ephemeris->dm[0]);
  return TRUE;
}

AstroPhases *astro_phases_new(AstroEphemeris *ephemeris, AstroKernel *kernel,
                              const AstroObservation *observation, double centre, GError **error)
{
  g_autoptr(AstroPhases) phases = g_new0(AstroPhases, 1);
  phases->ephemeris = ephemeris;
  phases->kernel = kernel;
  phases->centre = centre;
  if (!check(phases, observation, error))
    return NULL;
  phases->observation = astro_observation_copy(observation);
  for (guint i = 0; i < 3 * observation->n_stations; i++)
    phases->position[i % 3] += observation->positions[i] / observation->n_stations;
  return find_zero(phases, observation, error) ? g_steal_pointer(&phases) : NULL;
}

void astro_phases_free(AstroPhases *phases)
{
  if (!phases)
    return;
  astro_ephemeris_free(phases->ephemeris);
  astro_kernel_free(phases->kernel);
  if (phases->observation)
    astro_observation_unref(phases->observation);
  g_free(phases);
}

void astro_ephemeris_set_dm(AstroEphemeris *ephemeris, double dm)
{
  ephemeris->dm[0] = dm * ASTRO_DISPERSION * FILE_DM;
  ephemeris->dm[1] = ephemeris->dm[2] = 0;
}

double astro_ephemeris_dm(const AstroEphemeris *ephemeris)
{
  return ephemeris->dm[0] / FILE_DM / ASTRO_DISPERSION;
}

/* ---- phases of a stream ---- */

gboolean astro_phases_exact(AstroPhases *phases, long double seconds, double frequency,
                            long double *turns, GError **error)
{
  if (!phases->ephemeris) {
    const double late =
        phases->dm > 0 ? astro_dispersion_delay(phases->dm, phases->centre, frequency) : 0;
    *turns = (seconds - (long double)late) / (long double)phases->period;
    return TRUE;
  }
  if (!phase_at(phases, phases->observation->start_mjd, start_of(phases) + seconds, frequency,
                turns, error))
    return FALSE;
  *turns -= phases->zero;
  return TRUE;
}

/* The cubic through the phases of four nodes, for the piece between the two in the middle. */
static gboolean make_piece(AstroPhases *phases, gint64 node, GError **error)
{
  long double turns[4];
  double d[4];
  if (phases->ephemeris &&
      !astro_uvw_check_time(phases->observation, node * NODE * (gint64)ASTRO_NS_PER_SECOND, error))
    return FALSE;
  for (gint i = 0; i < 4; i++)
    if (!astro_phases_exact(phases, (long double)(node + i - 1) * NODE, phases->centre, &turns[i],
                            error))
      return FALSE;
  for (guint i = 0; i < 4; i++) {
    if (!(fabsl(turns[i]) < MOST_TURNS))
      return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                        "the ephemeris gives %Lg turns from its epoch to the stream, expected at "
                        "most %Lg, of which a fraction can be told",
                        turns[i], MOST_TURNS);
    d[i] = (double)(turns[i] - turns[1]);
  }
  phases->piece = (Piece){
    .node = node,
    .first = (double)(turns[1] - floorl(turns[1])),
    .c = { -d[0] / 3 + d[2] - d[3] / 6, (d[0] + d[2]) / 2, (d[3] - d[0]) / 6 - d[2] / 2 },
  };
  phases->has_piece = TRUE;
  return TRUE;
}

gboolean astro_phases_of_steps(AstroPhases *phases, const AstroPhaseSteps *steps, guint64 first,
                               guint64 n, double *turns, GError **error)
{
  const long double step = (long double)steps->rate_d / steps->rate_n / NODE,
                    epoch = (long double)steps->epoch / NODE + step / 2;
  for (guint64 i = 0; i < n; i++) {
    const long double at = epoch + (long double)(first + i) * step;
    if (!phases->has_piece || at < (long double)phases->piece.node ||
        at >= (long double)(phases->piece.node + 1)) {
      if (!make_piece(phases, (gint64)floorl(at), error))
        return FALSE;
    }
    const Piece *piece = &phases->piece;
    const double x = (double)(at - (long double)piece->node);
    const double sum = piece->first + x * (piece->c[0] + x * (piece->c[1] + x * piece->c[2]));
    const double rest = sum - floor(sum);
    turns[i] = rest < 1 ? rest : 0;
  }
  return TRUE;
}

gboolean astro_phases_lag(AstroPhases *phases, double seconds, double frequency, double *turns,
                          GError **error)
{
  long double here, there;
  *turns = 0;
  if (!(phases->centre > 0) || frequency == phases->centre)
    return TRUE;
  if (!astro_phases_exact(phases, (long double)seconds, phases->centre, &here, error) ||
      !astro_phases_exact(phases, (long double)seconds, frequency, &there, error))
    return FALSE;
  *turns = (double)(here - there);
  return TRUE;
}
