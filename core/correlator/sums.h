/* The sums of an integration, and the visibilities made of them: what all backends on the host
 * share. */
#pragma once

#include "core/correlator/counts.h"

G_BEGIN_DECLS

/* Complex sums channel:baseline:pol:pol of the lower triangle, gint64 for integer formats and
 * double for the others. */
typedef union {
  gpointer any;
  gint64 *integer;
  double *real;
} AstroCorrelatorSums;

/* Complex sums of one channel. */
static inline guint64 astro_correlator_channel_sums(const AstroCorrelatorConfig *config)
{
  return astro_correlator_baselines(config->stations, ASTRO_TRIANGLE_LOWER) * config->pols *
         config->pols;
}

gboolean astro_correlator_shape(gconstpointer config, GError **error);
gboolean astro_correlator_sums_new(AstroCorrelatorSums *sums, const AstroCorrelatorConfig *config,
                                   GError **error);
void astro_correlator_sums_free(AstroCorrelatorSums *sums, const AstroCorrelatorConfig *config);

/* Bytes between neighbours on each axis of a block of so many time steps. */
typedef struct {
  gsize time, channel, station, pol;
} AstroCorrelatorStrides;
void astro_correlator_strides(AstroCorrelatorStrides *strides, const AstroCorrelatorConfig *config,
                              guint64 steps);

/* Whether the inputs of a time step and channel lie side by side, station by station. */
static inline gboolean astro_correlator_has_rows(const AstroCorrelatorStrides *strides, guint pols,
                                                 guint stations, gsize sample_bytes)
{
  return (pols == 1 || strides->pol == sample_bytes) &&
         (stations == 1 || strides->station == pols * sample_bytes);
}

/* Whether the blocks of a submit are there and of the size that the arguments say. */
gboolean astro_correlator_check_blocks(const AstroCorrelatorConfig *config, const AstroBlock *in,
                                       guint n_in, const AstroBlock *out, guint n_out,
                                       const AstroCorrelatorArguments *arguments, GError **error);

/* Forgets an integration. */
void astro_correlator_clear(const AstroCorrelatorConfig *config, AstroCorrelatorSums sums,
                            AstroCorrelatorCounts *counts);

/* Whether visibilities are the sums as they stand, times one factor. */
gboolean astro_correlator_plain(const AstroCorrelatorConfig *config,
                                const AstroCorrelatorCounts *counts);

/* Says what there is to say of the integration, and forgets its counts. */
void astro_correlator_end(const AstroCorrelatorConfig *config, AstroCorrelatorCounts *counts,
                          AstroResult *result);

/* n parts of sums times factor; the sums become zero. */
typedef void (*AstroCorrelatorMeans)(float *restrict out, gpointer sums, guint64 n, double factor);

/* Writes the visibilities and says what there is to say of the integration, then clears both. means
 * serves where nothing was lost. */
gboolean astro_correlator_dump(const AstroCorrelatorConfig *config, AstroCorrelatorSums sums,
                               AstroCorrelatorCounts *counts, gpointer out,
                               AstroCorrelatorMeans means, guint threads, AstroResult *result,
                               GError **error);

G_END_DECLS
