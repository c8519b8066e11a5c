/* The length of integrations, which may be set while the stream runs: the properties integration
 * and integration-time of a stage. What is set counts from the next boundary between integrations
 * on, with caps whose rate says so: the open integration keeps its length, and the first one of the
 * new length begins where it ends. */
#pragma once

#include "elements/base/astrointegration.h"
#include "elements/base/astrostage.h"

G_BEGIN_DECLS

/* Spectra, or seconds by the rate of the caps, if they are not 0. */
typedef struct {
  guint spectra;
  double seconds;
} AstroLengthValue;

/* A member of the stage's instance; all under its lock, except what only the stream's
 * thread uses. */
typedef struct {
  AstroLengthValue set;  /* the properties */
  AstroLengthValue used; /* what the stream has */
  gboolean runs;         /* there may be a stream */
  gint is_new;           /* atomic: set and not used yet */
  gboolean is_renewed;   /* by astro_length_renew, now */
  guint64 origin; /* the step where the first integration begins, before the end of that length */
} AstroLength;

/* For the rows of both properties, called by their `changed`. */
void astro_length_changed(AstroLength *length);
/* For start and stop. */
void astro_length_start(AstroStage *stage, AstroLength *length);
void astro_length_stop(AstroStage *stage, AstroLength *length);
/* For sink_event: what was set counts from new caps on. */
void astro_length_see(AstroStage *stage, AstroLength *length, GstEvent *event);
/* For finish and reset: integrations begin at multiples of their length again. */
void astro_length_restart(AstroStage *stage, AstroLength *length);

/* Spectra of an integration, by what the stream has. */
gboolean astro_length_find(AstroStage *stage, AstroLength *length, gint rate_n, gint rate_d,
                           guint *spectra, GError **error);
/* For configure: a message tells the length, if it was given in seconds or set in mid-stream. */
void astro_length_tell(AstroStage *stage, const AstroLength *length, guint spectra);
static inline gboolean astro_length_is_new(AstroLength *length)
{
  return g_atomic_int_get(&length->is_new);
}

/* Whether a stage can integrate that many spectra. */
typedef gboolean (*AstroLengthCheck)(AstroStage *stage, guint spectra, GError **error);
/* At a boundary, before the input's step `step`: takes what was set, agrees on caps with
 * downstream, sends what was made before, and has upstream ask again how long blocks had best be. A
 * length that the stage or downstream cannot have gets a warning, and the stream goes on.
 * Integrations of the caps have times * spectra. */
gboolean astro_length_renew(AstroStage *stage, AstroLength *length, guint64 step, guint times,
                            AstroLengthCheck check, GError **error);

G_END_DECLS
