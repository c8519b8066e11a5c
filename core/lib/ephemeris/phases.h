/* The phase of a pulsar at a telescope, for folding: of a fixed period, or by an ephemeris.
 *
 * By an ephemeris, a time of the stream (UTC, by the observation's start) becomes TDB (ERFA's
 * model, with the place of the telescope); from that go the light's way from the telescope to the
 * barycentre of the solar system, with parallax, the delay in the Sun's gravity, and dispersion at
 * the frequency that an observer at rest in the barycentre would see. The phase is that of the spin
 * then. Left out: the delay in the planets' gravity (0.2 us at most), the troposphere (0.1 us), and
 * the differences between realisations of terrestrial time (TT(BIPM) is 27.7 us from TT(TAI), and
 * drifts by less than 0.1 us a year). */
#pragma once

#include "core/lib/ephemeris/ephemeris.h"
#include "core/lib/ephemeris/planets.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

typedef struct AstroPhases AstroPhases;

/* A period in s, and a dispersion measure in the unit of this tree: the phase is 0 at time zero of
 * the stream at the centre of the band, Hz; 0: unknown, for a DM of 0. */
AstroPhases *astro_phases_new_period(double period, double dm, double centre);

/* The telescope is at the centre of the observation's stations, where beams have their time. Takes
 * ownership of ephemeris and kernel (which may be NULL). centre 0: unknown, which is refused where
 * the ephemeris has a DM. */
AstroPhases *astro_phases_new(AstroEphemeris *ephemeris, AstroKernel *kernel,
                              const AstroObservation *observation, double centre, GError **error);
void astro_phases_free(AstroPhases *phases);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroPhases, astro_phases_free)

/* The exact phase, turns, that many seconds after the start, at a frequency in Hz (0: infinity). */
gboolean astro_phases_exact(AstroPhases *phases, long double seconds, double frequency,
                            long double *turns, GError **error);

/* A time axis: the middle of step i is at epoch + (i + 0.5) / rate, s. */
typedef struct {
  double epoch;
  gint rate_n, rate_d;
} AstroPhaseSteps;

/* Phases of n steps at the centre of the band, in turns from 0 to 1. Interpolated between whole
 * minutes, exact to 1e-11 s; a step has the same phase whichever block it is in. */
gboolean astro_phases_of_steps(AstroPhases *phases, const AstroPhaseSteps *steps, guint64 first,
                               guint64 n, double *turns, GError **error);

/* How far the phase at a frequency lags behind that at the centre at that time, in turns. */
gboolean astro_phases_lag(AstroPhases *phases, double seconds, double frequency, double *turns,
                          GError **error);

G_END_DECLS
