/* Checks whether a sky is above the horizon all the time, and if not, finds a time when it is. */
#include "config.h"
#include "core/lib/sky/array.h"
#include "core/lib/sky/sky.h"
#include "core/stream/track.h"
#include "core/kit/units.h"

#include <math.h>
#include <string.h>

#define DAY G_GINT64_CONSTANT(86400000000000)
#define STEP G_GINT64_CONSTANT(60000000000)

typedef struct {
  const AstroSky *sky;
  AstroObservation *observation;
  AstroTrack *track;
  double up[3]; /* at the array's centre */
} Horizon;

static Horizon horizon_of(AstroObservation *observation, AstroTrack *track)
{
  Horizon h = { .observation = observation, .track = track };
  double centre[3];
  astro_array_centre(observation, centre);
  astro_up(centre, h.up);
  return h;
}

/* The zenith as direction cosines relative to the phase centre. */
static void find_zenith(const Horizon *h, gint64 ns, double zenith[3])
{
  double axes[3][3];
  astro_track_axes(h->track, ns, axes);
  for (guint k = 0; k < 3; k++)
    zenith[k] = axes[k][0] * h->up[0] + axes[k][1] * h->up[1] + axes[k][2] * h->up[2];
}

/* The first source that is below the horizon at that time, and the sine of its height; NULL: there
 * is none. */
static const AstroSource *find_down(const Horizon *h, gint64 ns, double *height)
{
  double zenith[3];
  find_zenith(h, ns, zenith);
  for (guint i = 0; i < h->sky->n; i++) {
    const AstroSource *source = &h->sky->sources[i];
    *height = 0;
    for (guint k = 0; k < 3; k++)
      *height += source->lmn[k] * zenith[k];
    if (*height < 0)
      return source;
  }
  return NULL;
}

/* ---- suggesting another time ---- */

/* A time for which all sources are up. */
typedef struct {
  gint64 start,
      duration; /* ns after the observation's start; ns for which they stay up, 0: no such time */
} Stretch;

typedef struct {
  Stretch first; /* stretch that is as long as wanted; or */
  Stretch longest;
  gint64 at_start; /* how long they stay up from the start on */
} Stretches;

static void note_stretch(Stretches *found, const Stretch *stretch, gint64 wanted)
{
  if (stretch->start == 0)
    found->at_start = stretch->duration;
  if (!found->first.duration && stretch->duration >= wanted)
    found->first = *stretch;
  if (stretch->duration > found->longest.duration)
    found->longest = *stretch;
}

/* Stretches that begin within a day, after which they repeat. */
static Stretches find_stretches(const Horizon *h, gint64 wanted)
{
  Stretches found = { 0 };
  Stretch now = { -1, 0 };
  double height;
  for (gint64 ns = 0; ns <= 2 * DAY; ns += STEP) {
    const gboolean up = !find_down(h, ns, &height);
    if (up && now.start < 0 && ns < DAY)
      now = (Stretch){ ns, 0 };
    else if (up && now.start >= 0)
      now.duration = ns - now.start;
    if (now.start >= 0 && (!up || ns == 2 * DAY)) {
      note_stretch(&found, &now, wanted);
      now.start = -1;
    }
  }
  return found;
}

/* In the format of start-time. */
static char *time_after(const Horizon *h, gint64 ns)
{
  char *text = astro_observation_get_time(h->observation, (guint64)ns);
  char *fraction = text ? strstr(text, ".000000000Z") : NULL;
  if (fraction)
    *fraction = 0;
  return text;
}

static char *cure(const Horizon *h, gint64 duration_ns)
{
  const Stretches found = find_stretches(h, MAX(duration_ns, STEP));
  const Stretch *best = found.first.duration ? &found.first : &found.longest;
  g_autofree char *start = time_after(h, best->start);
  const char *all = h->sky->n > 1 ? "all sources are" : "it is";
  /* If the phase centre is the zenith at the start, a list of l and m would move with it. */
  if (found.at_start && !(h->sky->is_celestial && found.first.duration))
    return g_strdup_printf("%s up for %.0f s from the start on, expected at most this duration",
                           all, found.at_start * 1e-9);
  if (!best->duration || !start)
    return g_strdup_printf("%s never up%s there, expected another sky, phase-centre or array", all,
                           h->sky->n > 1 ? " together" : "");
  if (found.first.duration)
    return g_strdup_printf("%s up for %.0f s from start-time=%s on, expected that time", all,
                           best->duration * 1e-9, start);
  return g_strdup_printf(
      "%s up for %.0f s at most, expected start-time=%s and at most this duration", all,
      best->duration * 1e-9, start);
}

/* ---- the check ---- */

static gboolean check_at(const Horizon *h, gint64 ns, gint64 duration_ns, GError **error)
{
  double height;
  const AstroSource *source = find_down(h, ns, &height);
  if (!source)
    return TRUE;
  g_autofree char *todo = cure(h, duration_ns);
  g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
              "%s: source %u (ra %.4f, dec %.4f degrees) is %.1f degrees below the horizon of %s "
              "%.0f s after the start: %s",
              source->list, source->number, source->ra / ASTRO_DEGREE, source->dec / ASTRO_DEGREE,
              -asin(MAX(height, -1)) / ASTRO_DEGREE, h->observation->telescope, ns * 1e-9, todo);
  return FALSE;
}

/* A source that does not set within a day never does. */
gboolean astro_sky_check_horizon(const AstroSky *sky, AstroObservation *observation,
                                 gint64 duration_ns, GError **error)
{
  g_autoptr(AstroTrack) track = astro_track_new(observation);
  Horizon h = horizon_of(observation, track);
  h.sky = sky;
  for (gint64 ns = 0; ns < MIN(duration_ns, DAY); ns += STEP)
    if (!check_at(&h, ns, duration_ns, error))
      return FALSE;
  return check_at(&h, duration_ns, duration_ns, error);
}

static double phase_centre_height(const Horizon *h, gint64 ns)
{
  double zenith[3];
  find_zenith(h, ns, zenith);
  return asin(CLAMP(zenith[2], -1, 1));
}

double astro_sky_phase_centre_height(AstroObservation *observation, gint64 ns)
{
  g_autoptr(AstroTrack) track = astro_track_new(observation);
  const Horizon h = horizon_of(observation, track);
  return phase_centre_height(&h, ns);
}

gboolean astro_sky_phase_centre_rises(AstroObservation *observation)
{
  g_autoptr(AstroTrack) track = astro_track_new(observation);
  const Horizon h = horizon_of(observation, track);
  for (gint64 ns = 0; ns < DAY; ns += STEP)
    if (phase_centre_height(&h, ns) >= 0)
      return TRUE;
  return FALSE;
}
