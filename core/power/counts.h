/* How many good samples are behind each value of power, for backends that keep sums elsewhere. */
#pragma once

#include "core/power/check.h"

G_BEGIN_DECLS

/* Good samples of the open integration. As long as nothing is lost, one number stands for all. */
typedef struct {
  guint32 *each; /* [station][channel] of the spectra; not kept where all are even */
  gboolean is_uneven;
  guint32 even;
} AstroPowerCounts;

gboolean astro_power_counts_init(AstroPowerCounts *counts, const AstroPowerConfig *config,
                                 GError **error);
void astro_power_counts_clear(AstroPowerCounts *counts);

/* Goes through the pieces of a block. ended: counts of integrations that end, as submit returns
 * them. is_there: FALSE if all steps are lost. */
void astro_power_count(AstroPowerCounts *counts, const AstroPowerConfig *config,
                       const AstroPowerArguments *arguments, gboolean is_there, guint32 *ended);

G_END_DECLS
