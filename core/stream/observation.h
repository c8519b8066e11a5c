/* The observation: what a stream is of. Travels as a sticky custom downstream event. */
#pragma once

#include "core/stream/earth.h"
#include "core/stream/history.h"

ASTRO_BEGIN_DECLS

#define ASTRO_OBSERVATION_EVENT "astro-observation"

#define ASTRO_OBSERVATION_MAX_METRES 1e12 /* of a station: beyond the moon and most spacecraft */

#define ASTRO_TELESCOPE_UNKNOWN "unknown"

typedef struct {
  gint ref_count;
  char *telescope; /* ASTRO_TELESCOPE_UNKNOWN where a file does not tell */
  guint n_stations;
  char **names;      /* n_stations, then NULL */
  double *positions; /* x y z of each station, geocentric (ITRF), metres */
  gboolean has_phase_centre;
  double phase_ra, phase_dec; /* ICRS, radians */
  gboolean has_start;
  gint32 start_mjd;  /* the UTC day of time zero */
  guint64 start_ns;  /* and the nanoseconds into it */
  char *basis;       /* "linear" (X, Y) or "circular" (R, L) */
  AstroHistory done; /* to the stream */
  /* The longest (u,v,w) that buffers bring with them (uvw-meta.h), in place of the stations'; 0:
   * they bring none. */
  double uvw_metres;
  AstroEarth *earth; /* that delays and (u,v,w) of the stream are computed with; NULL: not known */
} AstroObservation;

AstroObservation *astro_observation_new(guint n_stations);
AstroObservation *astro_observation_copy(const AstroObservation *observation);
AstroObservation *astro_observation_ref(AstroObservation *observation);
void astro_observation_unref(AstroObservation *observation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroObservation, astro_observation_unref)

/* Telescope and stations of one for those of the other; the rest stays. */
void astro_observation_swap_array(AstroObservation *a, AstroObservation *b);

/* "2026-11-20T12:00:00[.fraction][Z]"; not within a leap second */
gboolean astro_observation_set_start(AstroObservation *observation, const char *iso8601,
                                     GError **error);
char *astro_observation_get_start(const AstroObservation *observation);
/* Of that many nanoseconds later; both are NULL where there is no start. */
char *astro_observation_get_time(const AstroObservation *observation, guint64 ns_since_start);
/* The same for people: no more digits of the fraction than it has. */
char *astro_observation_tell_time(const AstroObservation *observation, guint64 ns_since_start);

GstEvent *astro_observation_to_event(const AstroObservation *observation);
gboolean astro_event_is_observation(GstEvent *event);
AstroObservation *astro_observation_from_event(GstEvent *event, GError **error);

ASTRO_END_DECLS
