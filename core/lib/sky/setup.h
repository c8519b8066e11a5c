/* Which array looks where and when, as a user writes it. */
#pragma once

#include "core/stream/observation.h"

G_BEGIN_DECLS

#define ASTRO_SETUP_ZENITH "zenith" /* for a phase centre: of the array, at the start */

/* Texts that are NULL or empty say nothing. */
typedef struct {
  char *array;        /* a preset's name or a file */
  char *phase_centre; /* ra,dec as core/kit/angle.h reads them, or ASTRO_SETUP_ZENITH */
  char *start_time;
  char *earth_orientation;    /* a file, core/lib/sky/earth-file.h */
  double latitude, longitude; /* degrees */
  gboolean has_latitude, has_longitude;
} AstroSetup;

void astro_setup_clear(AstroSetup *setup);

/* Points the observation at a text, the value of that property; the zenith wants an array and a
 * start. */
gboolean astro_setup_point(AstroObservation *observation, const char *property, const char *text,
                           GError **error);

/* What came, or where nothing came an observation with nothing in it, and in place of that what is
 * said here. n_stations as in astro_array_new. */
AstroObservation *astro_setup_amend(const AstroSetup *setup, const AstroObservation *came,
                                    guint n_stations, GError **error);

/* Whether that leaves alone what delays were computed with where those are out of the stream: it
 * can be said anew of samples that have their delays, and not of what was made with others. */
gboolean astro_setup_check_used(const AstroObservation *came, const AstroObservation *amended,
                                AstroQuantity quantity, GError **error);

G_END_DECLS
