/* Experiments of the publications that this software starts from, run again. */
#pragma once

#include "core/backend/device.h"
#include "graphs/qualify-result.h"

G_BEGIN_DECLS

/* All of them, on the host and on a GPU if there is one. */
void astro_qualify_seeds(GPtrArray *results);

/* A correlator of 64 stations in CF32: alone, and with its input brought to it. */
void astro_qualify_seed_correlator(AstroDevice *device, GPtrArray *results);

/* Adds a result: a measurement, and what the publication says of it. */
void astro_qualify_seed_add(GPtrArray *results, const char *subject, double value,
                            const char *published);
/* An experiment that could not be run, and why. */
void astro_qualify_seed_miss(GPtrArray *results, const char *subject, const char *reason);

G_END_DECLS
