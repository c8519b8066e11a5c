/* Skies of point sources. */
#pragma once

#include "core/kit/lines.h"
#include "core/lib/sky/source.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

#define ASTRO_SKY_MAX_SOURCES 1000000

typedef struct {
  guint n;
  AstroSource *sources;
  gboolean is_celestial; /* ra and dec were given; lmn follow from a phase centre */
} AstroSky;

/* text: "l,m,flux;l,m,flux" (direction cosines, Jy), or the name of a file of lines
 * "ra dec flux [spectral-index]" (degrees, Jy), each with ASTRO_SOURCE_WORDS behind it. Empty: an
 * empty sky. */
AstroSky *astro_sky_new(const char *text, GError **error);
AstroSky *astro_sky_from_inline(const char *text, AstroSourceKind kind, GError **error);
AstroSky *astro_sky_from_lines(AstroLines *lines, AstroSourceKind kind, GError **error);
/* The same for a list of pulsars or bursts, with the words of pulses too. */
AstroSky *astro_sky_new_pulses(const char *text, AstroSourceKind kind, GError **error);
void astro_sky_free(AstroSky *sky);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroSky, astro_sky_free)

/* Computes lmn from ra and dec or the reverse, for every source, relative to the observation's
 * phase centre. An error if a source is 90 degrees or more from it. */
gboolean astro_sky_resolve(AstroSky *sky, const AstroObservation *observation, GError **error);

/* Moves the sources of a resolved sky to the end of another, and frees the former. */
void astro_sky_append(AstroSky *sky, AstroSky *others);

/* A sentence about lines whose centre is outside of a band, to be freed; NULL: there are none. */
char *astro_sky_tell_outside(const AstroSky *sky, double frequency, double bandwidth);

/* Whether a band around that centre begins at 0 Hz or above. */
gboolean astro_sky_check_band(double frequency, double bandwidth, GError **error);

/* An error if a source is below the horizon of the array's centre at any time from the start to
 * duration_ns after it. */
gboolean astro_sky_check_horizon(const AstroSky *sky, AstroObservation *observation,
                                 gint64 duration_ns, GError **error);

/* The height of the phase centre above the horizon of the array's centre, radians, ns nanoseconds
 * after the start. The observation has stations, a start and a phase centre. */
double astro_sky_phase_centre_height(AstroObservation *observation, gint64 ns);
/* Whether it is above that horizon at any time of the day from the start on. */
gboolean astro_sky_phase_centre_rises(AstroObservation *observation);

G_END_DECLS
