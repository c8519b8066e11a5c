/* The phases that astrofold folds by: a period, or an ephemeris, and the dispersion that is left.
 */
#pragma once

#include "core/lib/ephemeris/phases.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

/* The settings of the user; texts may be NULL. */
typedef struct {
  double period;   /* s; 0: by the ephemeris */
  char *ephemeris; /* files */
  char *planets;
  double dm; /* pc/cm^3; -1: that of the ephemeris, else 0 */
} AstroFoldPulsar;

/* Checks the settings together and reads the file of the ephemeris, if there is one. */
gboolean astro_fold_pulsar_read(const AstroFoldPulsar *pulsar, AstroEphemeris **ephemeris,
                                GError **error);

/* For caps: the period, s (0: unknown), and the dispersion measure that profiles have taken out.
 * observation: NULL if none has come. */
double astro_fold_pulsar_period(const AstroFoldPulsar *pulsar, const AstroEphemeris *ephemeris);
double astro_fold_pulsar_dm(const AstroFoldPulsar *pulsar, const AstroEphemeris *ephemeris,
                            const AstroObservation *observation);

/* The phases of a stream of power. NULL, and an error that says what does not fit. */
AstroPhases *astro_fold_pulsar_phases(const AstroFoldPulsar *pulsar, const AstroStream *stream,
                                      const AstroObservation *observation, GError **error);

/* How far the channels of power lag behind the band's centre, s after the start, in turns of 2^32:
 * a number for each. All are 0 where dispersion was taken out already. */
gboolean astro_fold_pulsar_lags(AstroPhases *phases, const AstroStream *stream,
                                const AstroObservation *observation, double seconds, guint32 *lags,
                                GError **error);

/* How the ephemeris differs from the one that the file was fitted with, to be freed; NULL: it does
 * not matter. */
char *astro_fold_pulsar_warning(const AstroFoldPulsar *pulsar, const AstroEphemeris *ephemeris);

G_END_DECLS
