/* Checks of configurations and blocks, and sizes of streams, for both backends. */
#pragma once

#include "core/phaseshift/phaseshift.h"

G_BEGIN_DECLS

gboolean astro_phaseshift_shape(gconstpointer config, GError **error);
gboolean astro_phaseshift_check(const AstroPhaseshiftConfig *config, const AstroBlock *in,
                                guint n_in, const AstroBlock *out, guint n_out,
                                const AstroPhaseshiftArguments *arguments, GError **error);

typedef struct {
  guint channels, stations, values; /* products of a baseline */
  guint64 baselines;
} AstroPhaseshiftSize;

AstroPhaseshiftSize astro_phaseshift_size(const AstroStream *stream);

/* -2 pi f / c of a channel, and the difference between neighbouring channels. */
double astro_phaseshift_wavenumber(const AstroStream *stream, guint channel);
double astro_phaseshift_spacing(const AstroStream *stream);

/* Divides the sums of one channel of one step by their counts. */
void astro_phaseshift_means(const AstroPhaseshiftConfig *config,
                            const AstroPhaseshiftArguments *arguments, guint64 step, guint channel,
                            gconstpointer in, gpointer out);

G_END_DECLS
