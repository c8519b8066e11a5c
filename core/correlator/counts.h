/* How many good samples each baseline of an integration has. */
#pragma once

#include "core/correlator/correlator.h"

G_BEGIN_DECLS

/* What was lost is rare, so it is what is counted: table[channel][baseline], one channel for all
 * while every loss was common to all channels, none while there was no loss. Lower triangle. */
typedef struct {
  guint stations, channels;
  guint64 baselines;
  guint64 samples; /* time steps added, lost ones among them */
  guint tables;    /* 0, 1 or channels */
  guint32 *lost;
} AstroCorrelatorCounts;

void astro_correlator_counts_init(AstroCorrelatorCounts *counts,
                                  const AstroCorrelatorConfig *config);
void astro_correlator_counts_reset(AstroCorrelatorCounts *counts);
void astro_correlator_counts_free(AstroCorrelatorCounts *counts);

/* Counts the steps of a submit. *loss: whether any sample was lost, FALSE on error (no memory). */
gboolean astro_correlator_counts_add(AstroCorrelatorCounts *counts,
                                     const AstroCorrelatorArguments *arguments, gboolean *loss,
                                     GError **error);

/* The good samples behind a baseline of the group of so many channels that become one. */
static inline guint64 astro_correlator_counts_good(const AstroCorrelatorCounts *counts, guint step,
                                                   guint group, guint64 baseline)
{
  guint64 count = counts->samples * step;
  for (guint c = group * step; counts->tables && c < (group + 1) * step; c++)
    count -= counts->lost[(counts->tables == 1 ? 0 : c * counts->baselines) + baseline];
  return count;
}

/* What the result says of the integration: its samples and, where some were lost and the result has
 * room for them, the good ones behind each channel:baseline of the output. */
void astro_correlator_counts_tell(const AstroCorrelatorCounts *counts,
                                  const AstroCorrelatorConfig *config, AstroResult *result);

/* FALSE, with an error that says that a sum of that channel does not fit CI32LE, and what would. */
gboolean astro_correlator_refuse_sum(const AstroCorrelatorConfig *config,
                                     const AstroCorrelatorCounts *counts, guint channel,
                                     GError **error);

G_END_DECLS
