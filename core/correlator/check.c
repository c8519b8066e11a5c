/* Checks configurations of the correlator. */
#include "core/correlator/sums.h"

static gboolean check_layout(const AstroCorrelatorConfig *config, GError **error)
{
  const struct {
    AstroAxis axis;
    guint64 extent;
  } wanted[] = {
    { ASTRO_AXIS_TIME, 0 },
    { ASTRO_AXIS_CHANNEL, config->channels },
    { ASTRO_AXIS_STATION, config->stations },
    { ASTRO_AXIS_POL, config->pols },
  };
  guint found = 0;
  for (guint w = 0; w < G_N_ELEMENTS(wanted); w++) {
    gint at = astro_layout_find(&config->layout, wanted[w].axis);
    const char *name = astro_axis_name(wanted[w].axis);
    if (at < 0) {
      if (wanted[w].extent > 1)
        return astro_backend_refuse(error, "the layout of the spectra has no axis %s", name);
      continue;
    }
    found++;
    if (config->layout.extents[at] != wanted[w].extent)
      return astro_backend_refuse(error,
                                  "axis %s of the spectra has extent %" G_GUINT64_FORMAT
                                  ", expected %" G_GUINT64_FORMAT,
                                  name, config->layout.extents[at], wanted[w].extent);
  }
  if (found != config->layout.n_axes)
    return astro_backend_refuse(
        error, "the layout of the spectra has axes other than time, channel, station, pol");
  return TRUE;
}

gboolean astro_correlator_shape(gconstpointer configuration, GError **error)
{
  const AstroCorrelatorConfig *config = configuration;
  if (config->stations < 1 || config->stations > 1u << 20)
    return astro_backend_refuse(error, "%u stations, expected 1 to %u", config->stations, 1u << 20);
  if (config->pols < 1 || config->pols > 2)
    return astro_backend_refuse(error, "%u polarisations, expected 1 or 2", config->pols);
  if (config->channels < 1)
    return astro_backend_refuse(error, "no channels");
  if (config->channel_step < 1 || config->channels % config->channel_step)
    return astro_backend_refuse(error, "a channel step of %u does not divide %u channels",
                                config->channel_step, config->channels);
  if (config->from != ASTRO_FORMAT_CI4 && config->from != ASTRO_FORMAT_CI8 &&
      config->from != ASTRO_FORMAT_CI16LE && config->from != ASTRO_FORMAT_CF16LE &&
      config->from != ASTRO_FORMAT_CF32LE)
    return astro_backend_refuse(error,
                                "spectra of format %s, expected CI4, CI8, CI16LE, CF16LE or CF32LE",
                                astro_format_name(config->from));
  if (config->to != ASTRO_FORMAT_CI32LE && config->to != ASTRO_FORMAT_CF32LE)
    return astro_backend_refuse(error, "visibilities of format %s, expected CI32LE or CF32LE",
                                astro_format_name(config->to));
  if (config->to == ASTRO_FORMAT_CI32LE && astro_format_info(config->from)->is_float)
    return astro_backend_refuse(error, "exact sums (CI32LE) of %s: only integers have them",
                                astro_format_name(config->from));
  return check_layout(config, error);
}
