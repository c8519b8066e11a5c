/* Checks of configurations and blocks, for both backends. */
#pragma once

#include "core/calibrate/calibrate.h"

G_BEGIN_DECLS

#define ASTRO_CALIBRATE_MAX_ITERATIONS 1000
#define ASTRO_CALIBRATE_TOLERANCE                                                                  \
  1e-9 /* relative change of all gains from one pass to the next                                   \
        */

gboolean astro_calibrate_shape(gconstpointer config, GError **error);
gboolean astro_calibrate_check(const AstroCalibrateConfig *config, const AstroBlock *in, guint n_in,
                               guint n_out, const AstroCalibrateArguments *arguments,
                               const AstroResult *result, GError **error);

typedef struct {
  guint channels, stations, pols, products; /* products: of a baseline, pols x pols */
  guint64 baselines;
} AstroCalibrateSize;

AstroCalibrateSize astro_calibrate_size(const AstroCalibrateConfig *config);

/* A channel of a step of a block. */
typedef struct {
  const AstroCalibrateConfig *config;
  AstroCalibrateSize size;
  const AstroValidityMeta *validity;
  AstroValidityAxis axes[ASTRO_MAX_AXES]; /* of the counts */
  guint lead;                             /* 1 if there is a time axis before the others */
  const guint8 *data;
  guint64 step;
  guint channel;
} AstroCalibrateChannel;

#define ASTRO_CALIBRATE_MOST_PRODUCTS 4

/* To be set to a step and channel afterwards. */
void astro_calibrate_channel_init(AstroCalibrateChannel *channel,
                                  const AstroCalibrateConfig *config,
                                  const AstroCalibrateArguments *arguments, const AstroBlock *in);
/* The mean visibility of a product, p * pols + q, and the count behind it: 0 for NaN. */
complex double astro_calibrate_value(const AstroCalibrateChannel *channel, guint64 baseline,
                                     guint product, double *count);
/* The same for all products of station i with those up to itself, in their order, much faster. */
void astro_calibrate_row(const AstroCalibrateChannel *channel, guint i, complex double *values,
                         double *counts);

/* The same for one product of station i with those before it, which takes a part of the time. */
void astro_calibrate_column(const AstroCalibrateChannel *channel, guint i, guint product,
                            complex double *values, double *counts);

G_END_DECLS
