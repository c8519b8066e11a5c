/* Where astrohistogram counts: on the host, on one GPU, or on several that share the counts. */
#pragma once

#include "core/backend/device-list.h"
#include "elements/astrohistogram-settings.h"

G_BEGIN_DECLS

typedef struct {
  const AstroBackend *backend;
  guint n;
  AstroPlace places[ASTRO_MOST_DEVICES];
} AstroHistogramDevices;

/* Whether GPUs have to do the work. */
gboolean astro_histogram_devices_are_named(const AstroHistogramSettings *settings);
/* For the start: whether the GPUs that were asked for by name are there. */
gboolean astro_histogram_devices_check(const AstroHistogramSettings *settings, GError **error);
/* How many may count at once; 1 where there are none. */
guint astro_histogram_devices_count(const AstroHistogramSettings *settings);
/* Chooses the backend for a configuration and opens its devices. why: as astro_backend_choose sets
 * it. */
gboolean astro_histogram_devices_open(AstroHistogramDevices *devices,
                                      const AstroHistogramSettings *settings,
                                      const AstroHistogramConfig *config, char **why,
                                      GError **error);
void astro_histogram_devices_clear(AstroHistogramDevices *devices);

G_END_DECLS
