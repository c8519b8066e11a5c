/* Checks of configurations and blocks of fold, and where samples lie in a block. */
#pragma once

#include "core/fold/fold.h"

G_BEGIN_DECLS

gboolean astro_fold_shape(gconstpointer configuration, GError **error);
gboolean astro_fold_check_blocks(const AstroFoldConfig *config, const AstroBlock *in, guint n_in,
                                 const AstroBlock *out, guint n_out,
                                 const AstroFoldArguments *arguments, const AstroResult *result,
                                 GError **error);

/* Strides of a block of power, in samples. */
typedef struct {
  gsize time, channel, station, pol;
} AstroFoldStrides;

void astro_fold_strides(AstroFoldStrides *strides, const AstroFoldConfig *config, guint64 steps);

static inline gboolean astro_fold_is_valid(const AstroFoldArguments *arguments, guint64 t,
                                           guint64 c, guint64 s)
{
  return !arguments->valid ||
         arguments->valid[t * arguments->valid_time + c * arguments->valid_channel +
                          s * arguments->valid_station] != 0;
}

G_END_DECLS
