/* astrohistogram's properties, and the bins that follow from them. */
#pragma once

#include "core/backend/backend.h"
#include "core/histogram/histogram.h"
#include "elements/base/astrofields.h"

G_BEGIN_DECLS

typedef struct {
  AstroBinning kind;
  AstroPairFields fields;
  double bins_per_decade, min_angle, max_angle; /* arcmin */
  double min_separation, max_separation, mu_max, pi_max;
  guint mu_bins, pi_bins;
  char *edges, *max_memory;
  guint linear_bins, regions, split, interval, threads;
  AstroPrecision precision;
  AstroPairMethod method;
  AstroBackendKind backend;
  gint device;
  char *devices, *share;
  guint nrealizations, noffset;
  double default_value;
  char *dd_twopoint_weights, *dr_twopoint_weights;
} AstroHistogramSettings;

/* Whether pairs have weights by tables of angles. */
gboolean astro_histogram_settings_have_tables(const AstroHistogramSettings *settings);
/* Sets how pairs are weighed by so many words of bits, 0 for none. */
void astro_histogram_settings_weigh(const AstroHistogramSettings *settings, guint n_words,
                                    AstroHistogramConfig *config);
gboolean astro_histogram_settings_config(const AstroHistogramSettings *settings,
                                         AstroHistogramConfig *config, GError **error);

extern const AstroField astro_histogram_settings_fields[];
/* Copies the properties as they are now, since they may be set at any time. Clear the copy. */
void astro_histogram_settings_copy(gconstpointer element, AstroHistogramSettings *to,
                                   const AstroHistogramSettings *from);
void astro_histogram_settings_clear(AstroHistogramSettings *settings);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AstroHistogramSettings, astro_histogram_settings_clear)

G_END_DECLS
