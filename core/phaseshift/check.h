/* What both backends ask of a configuration and of blocks, and what they know of a stream. */
#pragma once

#include "core/phaseshift/phaseshift.h"

G_BEGIN_DECLS

gboolean astro_phaseshift_shape(gconstpointer config, GError **error);
gboolean astro_phaseshift_check(const AstroPhaseshiftConfig *config, const AstroBlock *in,
                                guint n_in, const AstroBlock *out, guint n_out,
                                const AstroPhaseshiftArguments *arguments, GError **error);

typedef struct {
  guint channels, stations, values; /* of a baseline: products */
  guint64 baselines;
} AstroPhaseshiftSize;

AstroPhaseshiftSize astro_phaseshift_size(const AstroStream *stream);

/* -2 pi f / c of a channel, and from one channel to the next. */
double astro_phaseshift_wavenumber(const AstroStream *stream, guint channel);
double astro_phaseshift_spacing(const AstroStream *stream);

/* Makes means of the sums of a channel of a step. */
void astro_phaseshift_means(const AstroPhaseshiftConfig *config,
                            const AstroPhaseshiftArguments *arguments, guint64 step, guint channel,
                            gconstpointer in, gpointer out);

G_END_DECLS
