/* How many good samples are behind each value of power, for backends that keep sums elsewhere. */
#pragma once

#include "core/power/check.h"

G_BEGIN_DECLS

/* Goes through the pieces of a block. open: good samples of the open integration,
 * [station][channel] of the spectra. counts: those of integrations that end, as submit returns
 * them. is_there: FALSE if all steps are lost. */
void astro_power_count(const AstroPowerConfig *config, const AstroPowerArguments *arguments,
                       gboolean is_there, guint32 *open, guint32 *counts);

G_END_DECLS
