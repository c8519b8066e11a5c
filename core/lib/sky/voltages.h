/* Simulates the voltages that the receivers of an array give under a sky of point sources.
 *
 * E_i(t) = sum over sources of sqrt(S) e_s(t + tau_is(t)) exp(2 pi i f0 tau_is(t)) + receiver
 * noise, where e_s is white noise over the whole band (one stream for each source and polarisation,
 * unpolarised: XX = YY = S), f0 the frequency of the band's centre and tau_is = (u l + v m + w n) /
 * c for the station relative to the array's centre: the whole geometric delay of the source, not
 * only that of its offset from the phase centre, so that astrodelay has something to correct. Signs
 * are those of ARCHITECTURE.md. Delays follow the rotation of the Earth and are accurate to 4e-4
 * cycles over the inner 90% of the band.
 *
 * For a source with polarisation or lines, sqrt(S) e_s is noise that was filtered so that both
 * polarisations have the coherency of its Stokes parameters at each frequency.
 *
 * Interference is added as every station receives it from somewhere: all its inputs get the same
 * tone or noise, each with a phase of its own and without a delay.
 *
 * The rate of real voltages is twice the bandwidth, with the band's lower edge at zero: they are
 * sqrt(2) re(E_i(t) exp(i pi bandwidth t)), so that they have the same power as complex ones.
 *
 * The same seed gives the same samples, however they are divided into blocks. */
#pragma once

#include "core/lib/sky/interference.h"
#include "core/lib/sky/sky.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef enum {
  ASTRO_PATTERN_SKY,
  ASTRO_PATTERN_TONE,  /* half of full scale, at tone from the centre of the band, in all inputs */
  ASTRO_PATTERN_NOISE, /* only receiver noise */
  ASTRO_PATTERN_IMPULSE, /* half of full scale once in ASTRO_IMPULSE_PERIOD, first at 0 */
  ASTRO_PATTERN_RAMP, /* re counts samples, im inputs (station x pols + pol), both wrap around; real
                         samples are re */
} AstroPattern;

#define ASTRO_IMPULSE_PERIOD 4096

typedef struct {
  AstroPattern pattern;
  AstroStream stream; /* voltages with a rate and a bandwidth; for a sky also a frequency */
  /* For a sky: the observation, with a phase centre and a start, and a resolved sky; else NULL. */
  AstroObservation *observation;
  const AstroSky *sky;
  const AstroInterference *interference; /* with a sky or noise; NULL: there is none */
  double noise;                          /* Jy, in each polarisation of each station */
  double scale; /* of integer samples, steps per square root of Jy; 0: from the mean power, and that
                   of all interference */
  double tone;  /* Hz */
  guint64 seed;
  guint threads;
} AstroVoltagesConfig;

typedef struct AstroVoltages AstroVoltages;

AstroVoltages *astro_voltages_new(const AstroVoltagesConfig *config, GError **error);
void astro_voltages_free(AstroVoltages *voltages);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroVoltages, astro_voltages_free)

double astro_voltages_scale(const AstroVoltages *voltages); /* the scale in use */

/* Fills a block with steps of the time axis from sample first on, in the order of the stream's
 * layout. */
void astro_voltages_fill(AstroVoltages *voltages, guint64 first, guint64 steps, gpointer block);

G_END_DECLS
