/* The observation: telescope, stations, time and direction of a stream. It travels as a sticky
 * custom downstream event. */
#pragma once

#include "core/stream/beams.h"
#include "core/stream/earth.h"
#include "core/stream/history.h"

ASTRO_BEGIN_DECLS

#define ASTRO_OBSERVATION_EVENT "astro-observation"

#define ASTRO_OBSERVATION_MAX_METRES 1e12 /* beyond the moon and most spacecraft */

#define ASTRO_TELESCOPE_UNKNOWN "unknown"

typedef struct {
  gint ref_count;
  char *telescope; /* ASTRO_TELESCOPE_UNKNOWN if a file does not say */
  guint n_stations;
  char **names;      /* n_stations, then NULL */
  double *positions; /* x y z of each station, geocentric (ITRF), metres */
  gboolean has_phase_centre;
  double phase_ra, phase_dec; /* ICRS, radians */
  gboolean has_start;
  gint32 start_mjd;  /* the UTC day of time zero */
  guint64 start_ns;  /* and nanoseconds since its 0h */
  char *basis;       /* "linear" (X, Y), "circular" (R, L), or "stokes" (the only product is I) */
  AstroHistory done; /* what was done to the stream */
  /* The longest (u,v,w) in the buffers' metas (uvw-meta.h), which replace those computed from
   * stations; 0: buffers have none. */
  double uvw_metres;
  AstroEarth *earth; /* used for the delays and (u,v,w) of the stream; NULL: unknown */
  guint n_beams;     /* of a stream with an axis `beam`, in the order of the axis; else 0 */
  AstroBeam *beams;
  /* Dispersion measures that were taken out, in pc/cm^3: one for the whole stream, or one for each
   * element of an axis `dm`. They rise. A pulse is left where it was at dm_frequency. */
  guint n_dms; /* 0: dispersion is still in */
  double *dms;
  double dm_frequency; /* Hz */
} AstroObservation;

AstroObservation *astro_observation_new(guint n_stations);
AstroObservation *astro_observation_copy(const AstroObservation *observation);
AstroObservation *astro_observation_ref(AstroObservation *observation);
void astro_observation_unref(AstroObservation *observation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroObservation, astro_observation_unref)

/* Exchanges the telescopes and stations of two observations. */
void astro_observation_swap_array(AstroObservation *a, AstroObservation *b);

/* Adds a beam behind the others. An untold direction has no x and y. */
gboolean astro_observation_add_beam(AstroObservation *observation, const char *name,
                                    AstroBeamKind kind, AstroBeamFrame frame, double x, double y,
                                    GError **error);
void astro_observation_clear_beams(AstroObservation *observation);
/* The index of the first beam of that name; -1 if there is none. */
gint astro_observation_find_beam(const AstroObservation *observation, const char *name);

#define ASTRO_OBSERVATION_MAX_DM 1e5 /* far beyond any known */

/* Sets the dispersion measures that were taken out; 0 of them: dispersion is still in. Those of an
 * observation do not change if an error is set. */
gboolean astro_observation_set_dms(AstroObservation *observation, const double *dms, guint n,
                                   double frequency, GError **error);

/* "2026-11-20T12:00:00[.fraction][Z]"; leap seconds are refused */
gboolean astro_observation_set_start(AstroObservation *observation, const char *iso8601,
                                     GError **error);
char *astro_observation_get_start(const AstroObservation *observation);
/* The time that many nanoseconds after the start. Both return NULL if there is no start. */
char *astro_observation_get_time(const AstroObservation *observation, guint64 ns_since_start);
/* The same for messages, without trailing zeros of the fraction. */
char *astro_observation_tell_time(const AstroObservation *observation, guint64 ns_since_start);

GstEvent *astro_observation_to_event(const AstroObservation *observation);
gboolean astro_event_is_observation(GstEvent *event);
AstroObservation *astro_observation_from_event(GstEvent *event, GError **error);

ASTRO_END_DECLS
