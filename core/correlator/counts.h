/* Counts of good samples for each baseline of an integration. */
#pragma once

#include "core/correlator/correlator.h"

G_BEGIN_DECLS

/* Losses are rare, so losses are counted: table[channel][baseline], with one table for all channels
 * as long as every loss was common to all channels, and none as long as there was no loss. Lower
 * triangle. */
typedef struct {
  guint stations, channels;
  guint64 baselines;
  guint64 samples; /* time steps added, including lost ones */
  guint tables;    /* 0, 1 or channels */
  guint32 *lost;
} AstroCorrelatorCounts;

/* Where a call wants to know what its integration has. */
typedef struct {
  AstroResult *result;  /* or NULL */
  guint64 *n_different; /* how many of the result's counts differ and were written; or NULL: all */
} AstroCorrelatorTold;

void astro_correlator_counts_init(AstroCorrelatorCounts *counts,
                                  const AstroCorrelatorConfig *config);
void astro_correlator_counts_reset(AstroCorrelatorCounts *counts);
void astro_correlator_counts_free(AstroCorrelatorCounts *counts);

/* Counts the steps of a submit. *loss: whether any sample was lost. FALSE on an error (no memory).
 */
gboolean astro_correlator_counts_add(AstroCorrelatorCounts *counts,
                                     const AstroCorrelatorArguments *arguments, gboolean *loss,
                                     GError **error);

/* The good samples behind a baseline, in a group of `step` channels that become one. */
static inline guint64 astro_correlator_counts_good(const AstroCorrelatorCounts *counts, guint step,
                                                   guint group, guint64 baseline)
{
  guint64 count = counts->samples * step;
  for (guint c = group * step; counts->tables && c < (group + 1) * step; c++)
    count -= counts->lost[(counts->tables == 1 ? 0 : c * counts->baselines) + baseline];
  return count;
}

/* Fills in the result for the integration, if one is wanted: its samples, and if some were lost and
 * the result has room, the good samples behind each channel:baseline of the output, or as many as
 * differ. */
void astro_correlator_counts_tell(const AstroCorrelatorCounts *counts,
                                  const AstroCorrelatorConfig *config,
                                  const AstroCorrelatorTold *told);

/* FALSE, with an error that a sum of that channel does not fit CI32LE, and what to do about it. */
gboolean astro_correlator_refuse_sum(const AstroCorrelatorConfig *config,
                                     const AstroCorrelatorCounts *counts, guint channel,
                                     GError **error);

G_END_DECLS
