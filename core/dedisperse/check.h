/* Checks of configurations and blocks of dedispersion. */
#pragma once

#include "core/dedisperse/dedisperse.h"

G_BEGIN_DECLS

extern const AstroBackend astro_dedisperse_power_reference, astro_dedisperse_power_cpu;

gboolean astro_dedisperse_power_shape(gconstpointer configuration, GError **error);
gboolean astro_dedisperse_check_layout(const AstroDedisperseConfig *config, GError **error);
gboolean astro_dedisperse_check_blocks(const AstroDedisperseConfig *config, guint64 reach,
                                       const AstroBlock *in, guint n_in, const AstroBlock *out,
                                       guint n_out, const AstroDedisperseArguments *arguments,
                                       const AstroResult *result, GError **error);

/* Strides of a block of power, in samples. */
typedef struct {
  gsize time, channel, station, pol;
} AstroDedisperseStrides;

void astro_dedisperse_strides(AstroDedisperseStrides *strides, const AstroDedisperseConfig *config,
                              guint64 steps);

static inline guint32 astro_dedisperse_weight(const AstroDedisperseArguments *arguments, guint64 t,
                                              guint64 c, guint64 s)
{
  return arguments->weights
             ? arguments->weights[t * arguments->weight_time + c * arguments->weight_channel +
                                  s * arguments->weight_station]
             : arguments->full;
}

G_END_DECLS
