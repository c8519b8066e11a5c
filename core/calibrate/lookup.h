/* Fits tables of gains to streams: their band, their stations and their counts. */
#pragma once

#include "core/calibrate/calibrate.h"

G_BEGIN_DECLS

/* Sets the band of a table and its groups. */
void astro_calibrate_set_band(const AstroCalibrateConfig *config, AstroGains *gains);

/* A table as it serves a stream. */
typedef struct {
  const AstroGains *gains;
  const AstroObservation *observation;
  const gint *stations; /* the table's, for each of the stream's; -1: none */
} AstroCalibrateTable;

/* Fills in [channel][station] for a step whose middle is that many seconds after the observation's
 * start. Returns how many gains of a polarisation are not known. */
guint64 astro_calibrate_lookup(const AstroCalibrateTable *table, const AstroStream *in,
                               double seconds, AstroGainsAt *to);

/* The factor of counts with which gains of a table leave them about as they are, and finer where
 * they are few: what the gains make of counts has fractions. full: that of a stream; 0: it has no
 * counts. *to_full is its new value. */
double astro_calibrate_count_scale(const AstroGains *gains, guint32 full, guint32 *to_full);

G_END_DECLS
