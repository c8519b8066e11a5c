/* Checks configurations and blocks of fold. */
#include "config.h"
#include "core/fold/check.h"
#include "core/lib/integration/axes.h"

#include <math.h>

guint32 astro_fold_phase(double turns)
{
  return (guint32)(guint64)((turns - floor(turns)) * 4294967296.0);
}

gboolean astro_fold_shape(gconstpointer configuration, GError **error)
{
  const AstroFoldConfig *config = configuration;
  if (config->stations < 1 || config->channels < 1 || config->pols < 1)
    return astro_backend_refuse(error, "power of no stations, channels or products");
  if (config->bins < 2 || config->bins > ASTRO_FOLD_MOST_BINS)
    return astro_backend_refuse(error, "%u bins, expected 2 to %d", config->bins,
                                ASTRO_FOLD_MOST_BINS);
  return astro_axes_check(&config->layout, config->channels, config->stations, config->pols,
                          "power", "", error);
}

void astro_fold_strides(AstroFoldStrides *strides, const AstroFoldConfig *config, guint64 steps)
{
  AstroLayout shape = config->layout;
  guint64 own[ASTRO_MAX_AXES];
  const gint time = astro_layout_find(&shape, ASTRO_AXIS_TIME),
             station = astro_axes_find_stations(&shape);
  if (time >= 0)
    shape.extents[time] = steps;
  astro_layout_strides(&shape, own);
  *strides = (AstroFoldStrides){
    /* Frames without an axis of time follow each other. */
    .time = time >= 0 ? own[time] : astro_layout_samples(&shape),
    .channel = astro_layout_stride_of(&shape, own, ASTRO_AXIS_CHANNEL),
    .station = station >= 0 ? own[station] : 0,
    .pol = astro_layout_stride_of(&shape, own, ASTRO_AXIS_POL),
  };
}

gsize astro_fold_counts(const AstroFoldConfig *config)
{
  return (gsize)config->stations * config->channels * config->bins;
}

gsize astro_fold_output_bytes(const AstroFoldConfig *config)
{
  return astro_fold_counts(config) * config->pols * sizeof(float);
}

gboolean astro_fold_check_blocks(const AstroFoldConfig *config, const AstroBlock *in, guint n_in,
                                 const AstroBlock *out, guint n_out,
                                 const AstroFoldArguments *arguments, const AstroResult *result,
                                 GError **error)
{
  const gsize step = (gsize)config->stations * config->pols * config->channels * sizeof(float);
  const gboolean has_in = n_in == 1 && in[0].bytes >= arguments->steps * step &&
                          arguments->from <= arguments->to && arguments->to <= arguments->steps &&
                          arguments->phases && arguments->lags;
  const gboolean has_out = n_out == 1 && out[0].bytes >= astro_fold_output_bytes(config) &&
                           result && result->counts && arguments->lags;
  if ((has_in || (n_in == 0 && arguments->steps == 0)) && (arguments->end ? has_out : n_out == 0))
    return TRUE;
  return astro_backend_refuse(error,
                              "fold: %u blocks in and %u out do not fit %" G_GUINT64_FORMAT
                              " steps of %" G_GSIZE_FORMAT " bytes and profiles of %" G_GSIZE_FORMAT
                              " bytes",
                              n_in, n_out, arguments->steps, step, astro_fold_output_bytes(config));
}
