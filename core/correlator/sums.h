/* The sums of an integration, and the visibilities made from them, as all host backends share them.
 */
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

/* Number of complex sums per channel. */
static inline guint64 astro_correlator_channel_sums(const AstroCorrelatorConfig *config)
{
  return astro_correlator_baselines(config->stations, ASTRO_TRIANGLE_LOWER) * config->pols *
         config->pols;
}

gboolean astro_correlator_shape(gconstpointer config, GError **error);
gboolean astro_correlator_sums_new(AstroCorrelatorSums *sums, const AstroCorrelatorConfig *config,
                                   GError **error);
void astro_correlator_sums_free(AstroCorrelatorSums *sums, const AstroCorrelatorConfig *config);

/* Bytes between neighbours along each axis of a block with that many time steps. */
typedef struct {
  gsize time, channel, station, pol;
} AstroCorrelatorStrides;
void astro_correlator_strides(AstroCorrelatorStrides *strides, const AstroCorrelatorConfig *config,
                              guint64 steps);

/* Whether the inputs of a time step and channel are contiguous, station by station. */
static inline gboolean astro_correlator_has_rows(const AstroCorrelatorStrides *strides, guint pols,
                                                 guint stations, gsize sample_bytes)
{
  return (pols == 1 || strides->pol == sample_bytes) &&
         (stations == 1 || strides->station == pols * sample_bytes);
}

/* Whether the blocks of a submit exist and have the sizes that the arguments need. */
gboolean astro_correlator_check_blocks(const AstroCorrelatorConfig *config, const AstroBlock *in,
                                       guint n_in, const AstroBlock *out, guint n_out,
                                       const AstroCorrelatorArguments *arguments, GError **error);

/* Drops an integration. */
void astro_correlator_clear(const AstroCorrelatorConfig *config, AstroCorrelatorSums sums,
                            AstroCorrelatorCounts *counts);

/* Whether visibilities are the sums in the same order, times one factor. */
gboolean astro_correlator_plain(const AstroCorrelatorConfig *config,
                                const AstroCorrelatorCounts *counts);

/* Tells of the integration, and resets its counts. */
void astro_correlator_end(const AstroCorrelatorConfig *config, AstroCorrelatorCounts *counts,
                          const AstroCorrelatorTold *told);

/* Writes n components of sums times factor, and sets the sums to zero. */
typedef void (*AstroCorrelatorMeans)(float *restrict out, gpointer sums, guint64 n, double factor);

/* Writes the visibilities and the result of the integration, then resets both sums and counts.
 * means is used if nothing was lost. */
gboolean astro_correlator_dump(const AstroCorrelatorConfig *config, AstroCorrelatorSums sums,
                               AstroCorrelatorCounts *counts, gpointer out,
                               AstroCorrelatorMeans means, guint threads,
                               const AstroCorrelatorTold *told, GError **error);

G_END_DECLS
