/* What a user says to astrohistogram, and the bins that follow from it. */
#pragma once

#include "core/backend/backend.h"
#include "core/histogram/histogram.h"

G_BEGIN_DECLS

typedef struct {
  double bins_per_decade, min_angle, max_angle; /* arcmin */
  char *edges;
  guint linear_bins, regions, interval, threads;
  AstroPrecision precision;
  AstroPairMethod method;
  AstroBackendKind backend;
  gint device;
} AstroHistogramSettings;

gboolean astro_histogram_settings_config(const AstroHistogramSettings *settings,
                                         AstroHistogramConfig *config, GError **error);

/* Ids from that one on are theirs. */
#define ASTRO_HISTOGRAM_FIRST_SETTING 2
void astro_histogram_settings_install(GObjectClass *object);
gboolean astro_histogram_settings_set(AstroHistogramSettings *settings, guint property,
                                      const GValue *value);
gboolean astro_histogram_settings_get(const AstroHistogramSettings *settings, guint property,
                                      GValue *value);
/* As they are now: properties may be set at any time. The copy is to be cleared. */
void astro_histogram_settings_copy(AstroHistogramSettings *to, const AstroHistogramSettings *from);
void astro_histogram_settings_clear(AstroHistogramSettings *settings);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AstroHistogramSettings, astro_histogram_settings_clear)

G_END_DECLS
