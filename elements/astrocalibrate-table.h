/* The table of gains of astrocalibrate: what it solved so far, or what it read. */
#pragma once

#include <gst/gst.h>
#include "core/calibrate/lookup.h"
#include "core/lib/files/part-file.h"

G_BEGIN_DECLS

typedef struct {
  AstroGains *gains;   /* NULL: none yet */
  AstroPartFile *file; /* to be written; NULL: it is not, or was already */
  gint *stations;     /* of the observation, as AstroCalibrateTable has it; NULL: not matched yet */
  char *sum;          /* of a table that was read: what the history calls it */
  gboolean is_scaled; /* the factor of counts is known: */
  double count_scale;
  guint32 full;
} AstroCalibrateFile;

/* Reads the table, or makes sure that one can be written. */
gboolean astro_calibrate_file_open(AstroCalibrateFile *file, const char *location, gboolean writes,
                                   GError **error);
void astro_calibrate_file_clear(AstroCalibrateFile *file); /* what is not written is discarded */

/* An empty table for a stream, unless there is one: FALSE, with an error, if that is for other
 * stations. */
gboolean astro_calibrate_file_begin(AstroCalibrateFile *file, const AstroCalibrateConfig *config,
                                    const AstroObservation *observation, GError **error);
/* Writes the table, if there is anything in it; *written: it was. */
gboolean astro_calibrate_file_write(AstroCalibrateFile *file, gboolean *written, GError **error);

/* Finds the stations of the observation in the table. */
gboolean astro_calibrate_file_match(AstroCalibrateFile *file, const AstroObservation *observation,
                                    guint pols, GError **error);

gboolean astro_calibrate_history_has(const AstroObservation *observation, const char *name);
/* Adds a calibration to those that a stream's history names; FALSE, with an error, if it is there
 * already. */
gboolean astro_calibrate_history_add(AstroObservation *observation, const char *name,
                                     GError **error);

G_END_DECLS
