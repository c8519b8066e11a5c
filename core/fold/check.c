/* Checks configurations and blocks of fold. */
#include "config.h"
#include "core/fold/check.h"

#include <math.h>

guint32 astro_fold_phase(double turns)
{
  return (guint32)(guint64)((turns - floor(turns)) * 4294967296.0);
}

/* The axis of stations, or of beams in their place. */
static gint find_stations(const AstroLayout *layout)
{
  const gint at = astro_layout_find(layout, ASTRO_AXIS_STATION);
  return at >= 0 ? at : astro_layout_find(layout, ASTRO_AXIS_BEAM);
}

static gboolean check_layout(const AstroFoldConfig *config, GError **error)
{
  const struct {
    const char *name;
    gint at;
    guint64 extent;
  } axes[] = {
    { "time", astro_layout_find(&config->layout, ASTRO_AXIS_TIME), 0 },
    { "channel", astro_layout_find(&config->layout, ASTRO_AXIS_CHANNEL), config->channels },
    { "station", find_stations(&config->layout), config->stations },
    { "pol", astro_layout_find(&config->layout, ASTRO_AXIS_POL), config->pols },
  };
  guint found = 0;
  for (guint i = 0; i < G_N_ELEMENTS(axes); i++) {
    if (axes[i].at < 0 && axes[i].extent > 1)
      return astro_backend_refuse(error, "the layout of the power has no axis %s", axes[i].name);
    if (axes[i].at < 0)
      continue;
    found++;
    if (config->layout.extents[axes[i].at] != axes[i].extent)
      return astro_backend_refuse(error,
                                  "axis %s of the power has extent %" G_GUINT64_FORMAT
                                  ", expected %" G_GUINT64_FORMAT,
                                  axes[i].name, config->layout.extents[axes[i].at], axes[i].extent);
  }
  if (found == config->layout.n_axes)
    return TRUE;
  g_autofree char *text = astro_layout_to_string(&config->layout);
  return astro_backend_refuse(error,
                              "power of layout %s, expected axes time, channel, station (or beam) "
                              "and pol, each once",
                              text);
}

gboolean astro_fold_shape(gconstpointer configuration, GError **error)
{
  const AstroFoldConfig *config = configuration;
  if (config->stations < 1 || config->channels < 1 || config->pols < 1)
    return astro_backend_refuse(error, "power of no stations, channels or products");
  if (config->bins < 2 || config->bins > ASTRO_FOLD_MOST_BINS)
    return astro_backend_refuse(error, "%u bins, expected 2 to %d", config->bins,
                                ASTRO_FOLD_MOST_BINS);
  return check_layout(config, error);
}

void astro_fold_strides(AstroFoldStrides *strides, const AstroFoldConfig *config, guint64 steps)
{
  AstroLayout shape = config->layout;
  guint64 own[ASTRO_MAX_AXES];
  const gint time = astro_layout_find(&shape, ASTRO_AXIS_TIME), station = find_stations(&shape);
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
