/* Interference as users write it: tones and bands that some stations receive some of the time. */
#pragma once

#include "core/kit/lines.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

#define ASTRO_INTERFERENCE_MAX 10000 /* emitters */

typedef struct {
  double frequency; /* of the centre, Hz */
  double width;     /* of a band of noise, Hz; 0: a tone */
  double power;     /* while it is on, Jy over the whole observed band, in each polarisation */
  double start, on; /* seconds: when it first comes on, and for how long; on 0: it is always on */
  double period;    /* seconds from one time that it comes on to the next; 0: it does so once */
  guint8 *stations; /* whether each receives it; NULL: all do */
} AstroEmitter;

typedef struct {
  guint n;
  AstroEmitter *emitters;
} AstroInterference;

/* Where the list is for: its stations, its band, and the seed of what it leaves to chance. */
typedef struct {
  const AstroObservation *observation;
  double frequency, bandwidth; /* Hz */
  guint64 seed;
} AstroInterferencePlace;

/* text: "frequency,power;frequency,power", or the name of a file of lines "frequency power", each
 * with ASTRO_INTERFERENCE_WORDS behind it. The frequency may be "random". Empty: none. */
AstroInterference *astro_interference_new(const char *text, const AstroInterferencePlace *place,
                                          GError **error);
AstroInterference *astro_interference_from_inline(const char *text,
                                                  const AstroInterferencePlace *place,
                                                  GError **error);
AstroInterference *astro_interference_from_lines(AstroLines *lines,
                                                 const AstroInterferencePlace *place,
                                                 GError **error);
void astro_interference_free(AstroInterference *interference);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroInterference, astro_interference_free)

#define ASTRO_INTERFERENCE_WORDS                                                                   \
  "width= (Hz), period=, on=, start= (s), stations= (such as 0-3+7) or count="

/* The list with all that was left to chance, in the form that is read; to be freed. */
char *astro_interference_tell(const AstroInterference *interference, guint n_stations);

/* Whether any of it is in a band. */
gboolean astro_emitter_is_in_band(const AstroEmitter *emitter, double frequency, double bandwidth);

/* A sentence about emitters that are outside of a band, to be freed; NULL: none is. */
char *astro_interference_tell_outside(const AstroInterference *interference, double frequency,
                                      double bandwidth);

G_END_DECLS
