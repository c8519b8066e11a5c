/* Sources that are not steady: pulsars and bursts, dispersed on their way.
 *
 * A pulse is a Gaussian in time. The flux of a pulsar is the mean over its period; in place of a
 * flux a burst has its fluence, Jy s. Dispersion delays a frequency f by K DM (1/f^2 - 1/f0^2),
 * with f0 the centre of the band, where times are right. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  ASTRO_SOURCE_STEADY,
  ASTRO_SOURCE_PULSAR,
  ASTRO_SOURCE_BURST,
} AstroSourceKind;

typedef struct {
  AstroSourceKind kind;
  double period, duty, phase; /* of a pulsar: s; width over period; of the period at the start, at
                                 which the middle of a pulse comes */
  double time, width;         /* of a burst: s, of its middle; full width at half maximum */
  double dm;                  /* pc / cm^3 */
} AstroPulse;

/* Reads a word such as "dm=12.5". FALSE: it is not one of that kind. wrong, to be freed, says what
 * is wrong with it; NULL: nothing. told: bits of the words that have come. */
gboolean astro_pulse_read(AstroPulse *pulse, const char *word, guint *told, char **wrong);
/* NULL, or what is wrong with all words together. */
const char *astro_pulse_check(const AstroPulse *pulse, guint told);
const char *astro_pulse_words(AstroSourceKind kind); /* that can be read, for errors */

double astro_pulse_width(const AstroPulse *pulse); /* s, at half maximum */

/* The largest flux over that of the source, if dispersion spreads a pulse over so many seconds. */
double astro_pulse_peak(const AstroPulse *pulse, double sweep);

/* Sets the square roots of the flux over that of the source for n samples. FALSE: all are 0. */
gboolean astro_pulse_shape(const AstroPulse *pulse, double rate, gint64 first, guint n,
                           float *gains);

G_END_DECLS
