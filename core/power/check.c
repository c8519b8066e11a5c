/* Checks configurations and blocks of power, and divides blocks into integrations. */
#include "config.h"
#include "core/power/check.h"
#include "core/lib/integration/axes.h"
#include "core/power/products.h"

gboolean astro_power_shape(gconstpointer configuration, GError **error)
{
  const AstroPowerConfig *config = configuration;
  if (config->stations < 1 || config->channels < 1)
    return astro_backend_refuse(error, "spectra of no stations or no channels");
  if (config->pols < 1 || config->pols > 2)
    return astro_backend_refuse(error, "%u polarisations, expected 1 or 2", config->pols);
  if (config->channel_step < 1 || config->channels % config->channel_step)
    return astro_backend_refuse(error, "a channel step of %u does not divide %u channels",
                                config->channel_step, config->channels);
  if (config->from != ASTRO_FORMAT_CI4 && config->from != ASTRO_FORMAT_CI8 &&
      config->from != ASTRO_FORMAT_CI16LE && config->from != ASTRO_FORMAT_CF16LE &&
      config->from != ASTRO_FORMAT_CF32LE)
    return astro_backend_refuse(error,
                                "spectra of format %s, expected CI4, CI8, CI16LE, CF16LE or CF32LE",
                                astro_format_name(config->from));
  return astro_axes_check(&config->layout, config->channels, config->stations, config->pols,
                          "spectra", "", error) &&
         astro_power_check_products(config, error);
}

void astro_power_strides(AstroPowerStrides *strides, const AstroPowerConfig *config, guint64 steps)
{
  AstroLayout shape = config->layout;
  guint64 own[ASTRO_MAX_AXES];
  const gint time = astro_layout_find(&shape, ASTRO_AXIS_TIME),
             station = astro_axes_find_stations(&shape);
  if (time >= 0)
    shape.extents[time] = steps;
  astro_layout_strides(&shape, own);
  *strides = (AstroPowerStrides){
    /* Frames without an axis of time follow each other. */
    .time = time >= 0 ? own[time] : astro_layout_samples(&shape),
    .channel = astro_layout_stride_of(&shape, own, ASTRO_AXIS_CHANNEL),
    .station = station >= 0 ? own[station] : 0,
    .pol = astro_layout_stride_of(&shape, own, ASTRO_AXIS_POL),
  };
}

guint astro_power_stations(const AstroPowerConfig *config)
{
  return config->sum_stations ? 1 : config->stations;
}

gsize astro_power_counts(const AstroPowerConfig *config)
{
  return (gsize)astro_power_stations(config) * (config->channels / config->channel_step);
}

gsize astro_power_output_bytes(const AstroPowerConfig *config)
{
  return astro_power_counts(config) * config->products.n * sizeof(float);
}

guint64 astro_power_ended(const AstroPowerArguments *arguments)
{
  const guint64 passed = arguments->phase + arguments->steps;
  return passed / arguments->integration + (arguments->end && passed % arguments->integration != 0);
}

gboolean astro_power_check_blocks(const AstroPowerConfig *config, const AstroBlock *in, guint n_in,
                                  const AstroBlock *out, guint n_out,
                                  const AstroPowerArguments *arguments, const AstroResult *result,
                                  GError **error)
{
  const gsize sample = astro_format_info(config->from)->bytes;
  const gsize step = (gsize)config->stations * config->pols * config->channels * sample;
  if (arguments->integration < 1 || arguments->phase >= arguments->integration)
    return astro_backend_refuse(error, "power: an integration of no steps");
  const guint64 ended = astro_power_ended(arguments);
  if (n_in <= 1 && (n_in == 0 || in[0].bytes >= arguments->steps * step) && n_out <= 1 &&
      (ended == 0 || (n_out == 1 && result && result->counts &&
                      out[0].bytes >= ended * astro_power_output_bytes(config))))
    return TRUE;
  return astro_backend_refuse(error,
                              "power: blocks do not fit %" G_GUINT64_FORMAT
                              " steps of %" G_GSIZE_FORMAT " bytes and %" G_GUINT64_FORMAT
                              " integrations of %" G_GSIZE_FORMAT " bytes",
                              arguments->steps, step, ended, astro_power_output_bytes(config));
}

gboolean astro_power_next_piece(AstroPowerPiece *piece, const AstroPowerArguments *arguments)
{
  const guint64 integration = arguments->integration;
  const gboolean again = piece->begun;

  if (again && piece->to == arguments->steps)
    return FALSE;
  piece->begun = TRUE;
  piece->number += piece->ends;
  piece->from = piece->to;
  const guint64 left = integration - (arguments->phase + piece->from) % integration;
  piece->to = MIN(arguments->steps, piece->from + left);
  piece->ends =
      piece->to - piece->from == left || (arguments->end && piece->to == arguments->steps);
  /* A call without steps ends what was open before. */
  return piece->to > piece->from || (piece->ends && arguments->phase > 0);
}
