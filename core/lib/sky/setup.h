/* Array, direction and time of an observation, as a user writes them. */
#pragma once

#include "core/stream/observation.h"

G_BEGIN_DECLS

#define ASTRO_SETUP_ZENITH "zenith" /* as a phase centre: the zenith of the array at the start */

/* Texts that are NULL or empty are not set. */
typedef struct {
  char *array;        /* a preset's name or a file */
  char *phase_centre; /* ra,dec as core/kit/angle.h reads them, or ASTRO_SETUP_ZENITH */
  char *start_time;
  char *earth_orientation;    /* a file, core/lib/sky/earth-file.h */
  double latitude, longitude; /* degrees */
  gboolean has_latitude, has_longitude;
} AstroSetup;

void astro_setup_clear(AstroSetup *setup);

/* Points the observation at a text, the value of that property; the zenith needs an array and a
 * start. */
gboolean astro_setup_point(AstroObservation *observation, const char *property, const char *text,
                           GError **error);

/* A copy of the observation that arrived, or an empty one if none did, with the given settings in
 * place of its own. n_stations as in astro_array_new. */
AstroObservation *astro_setup_amend(const AstroSetup *setup, const AstroObservation *came,
                                    guint n_stations, GError **error);

/* Whether the amended observation keeps the settings with which delays were corrected, if they have
 * been: settings can be changed for samples that still have their delays, but not for data that
 * were computed with others. */
gboolean astro_setup_check_used(const AstroObservation *came, const AstroObservation *amended,
                                AstroQuantity quantity, GError **error);

G_END_DECLS
