/* Checks of configurations and blocks of power, and how blocks fall into integrations. */
#pragma once

#include "core/power/power.h"

G_BEGIN_DECLS

gboolean astro_power_shape(gconstpointer configuration, GError **error);
gboolean astro_power_check_blocks(const AstroPowerConfig *config, const AstroBlock *in, guint n_in,
                                  const AstroBlock *out, guint n_out,
                                  const AstroPowerArguments *arguments, const AstroResult *result,
                                  GError **error);

/* Strides of a block of spectra, in samples. */
typedef struct {
  gsize time, channel, station, pol;
} AstroPowerStrides;

void astro_power_strides(AstroPowerStrides *strides, const AstroPowerConfig *config, guint64 steps);

static inline gboolean astro_power_is_valid(const AstroPowerArguments *arguments, guint64 t,
                                            guint64 c, guint64 s)
{
  return !arguments->valid ||
         arguments->valid[t * arguments->valid_time + c * arguments->valid_channel +
                          s * arguments->valid_station] != 0;
}

static inline guint32 astro_power_good_steps(const AstroPowerArguments *arguments, guint64 from,
                                             guint64 to, guint64 c, guint64 s)
{
  guint32 good = 0;
  if (!arguments->valid)
    return (guint32)(to - from);
  for (guint64 t = from; t < to; t++)
    good += astro_power_is_valid(arguments, t, c, s);
  return good;
}

/* The block is gone through in pieces that end where it does, or an integration. `from` to `to` are
 * steps of the block. FALSE: there are no more. */
typedef struct {
  guint64 from, to;
  gboolean ends;  /* the integration ends with it */
  guint64 number; /* of integrations that ended before, in this call */
  gboolean begun; /* private */
} AstroPowerPiece;

gboolean astro_power_next_piece(AstroPowerPiece *piece, const AstroPowerArguments *arguments);

G_END_DECLS
