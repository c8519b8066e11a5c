/* Checks configurations and blocks of the search, and reads what they say. */
#include "config.h"
#include "core/search/check.h"
#include "core/lib/integration/axes.h"
#include "core/search/series.h"

#define LEAST_WINDOW 64

static gboolean check_layout(const AstroSearchConfig *config, GError **error)
{
  const struct {
    gint at;
    guint64 extent;
  } axes[] = {
    { astro_layout_find(&config->layout, ASTRO_AXIS_TIME), 0 },
    { astro_layout_find(&config->layout, ASTRO_AXIS_DM), config->dms },
    { astro_axes_find_stations(&config->layout), config->stations },
    { astro_layout_find(&config->layout, ASTRO_AXIS_POL), config->pols },
    { astro_layout_find(&config->layout, ASTRO_AXIS_CHANNEL), 1 },
  };
  guint found = 0;
  gboolean good = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS(axes); i++) {
    found += axes[i].at >= 0;
    good &= axes[i].at >= 0 ? config->layout.extents[axes[i].at] == axes[i].extent
                            : axes[i].extent <= 1;
  }
  if (good && found == config->layout.n_axes)
    return TRUE;
  g_autofree char *text = astro_layout_to_string(&config->layout);
  return astro_backend_refuse(error,
                              "power of layout %s does not fit %u stations or beams, %u dispersion "
                              "measures, %u products and one channel",
                              text, config->stations, config->dms, config->pols);
}

static gboolean check_widths(const AstroSearchConfig *config, GError **error)
{
  if (config->n_widths < 1 || config->n_widths > ASTRO_SEARCH_MAX_WIDTHS)
    return astro_backend_refuse(error, "%u widths of boxcars, expected 1 to %u", config->n_widths,
                                ASTRO_SEARCH_MAX_WIDTHS);
  for (guint i = 0; i < config->n_widths; i++)
    if (config->widths[i] < 1 || config->widths[i] > ASTRO_SEARCH_MAX_WIDTH ||
        (i > 0 && config->widths[i] <= config->widths[i - 1]))
      return astro_backend_refuse(error, "width %u of widths is %u steps, expected 1 to %u, rising",
                                  i + 1, config->widths[i], ASTRO_SEARCH_MAX_WIDTH);
  return TRUE;
}

gboolean astro_search_shape(gconstpointer configuration, GError **error)
{
  const AstroSearchConfig *config = configuration;
  if (config->stations < 1 || config->dms < 1 || config->pols < 1)
    return astro_backend_refuse(error, "power of no stations, trials or products");
  if (!check_widths(config, error))
    return FALSE;
  const guint least =
      MAX(LEAST_WINDOW, ASTRO_SEARCH_WINDOW_OVER_WIDTH * astro_search_widest(config));
  if (config->window < least || config->window > ASTRO_SEARCH_MAX_WINDOW)
    return astro_backend_refuse(error,
                                "a window of %u steps, expected %u (%u times the widest boxcar, "
                                "and %u) to %u",
                                config->window, least, ASTRO_SEARCH_WINDOW_OVER_WIDTH, LEAST_WINDOW,
                                ASTRO_SEARCH_MAX_WINDOW);
  if (!(config->threshold > 0))
    return astro_backend_refuse(error, "a threshold of %g, expected more than 0",
                                config->threshold);
  return check_layout(config, error);
}

gboolean astro_search_check_blocks(const AstroSearchConfig *config, const AstroBlock *in,
                                   guint n_in, const AstroSearchArguments *arguments,
                                   GError **error)
{
  const gsize step = (gsize)config->stations * config->dms * config->pols * sizeof(float);
  if (n_in <= 1 && (n_in == 0 || in[0].bytes >= arguments->steps * step) && arguments->found &&
      (!arguments->counts || arguments->full > 0))
    return TRUE;
  return astro_backend_refuse(error,
                              "search: a block does not fit %" G_GUINT64_FORMAT
                              " steps of %" G_GSIZE_FORMAT " bytes",
                              arguments->steps, step);
}

void astro_search_strides(AstroSearchStrides *strides, const AstroSearchConfig *config,
                          guint64 steps)
{
  AstroLayout shape = config->layout;
  guint64 own[ASTRO_MAX_AXES];
  const gint time = astro_layout_find(&shape, ASTRO_AXIS_TIME),
             station = astro_axes_find_stations(&shape);
  if (time >= 0)
    shape.extents[time] = steps;
  astro_layout_strides(&shape, own);
  *strides = (AstroSearchStrides){
    .time = time >= 0 ? own[time] : astro_layout_samples(&shape),
    .station = station >= 0 ? own[station] : 0,
    .dm = astro_layout_stride_of(&shape, own, ASTRO_AXIS_DM),
  };
}

gboolean astro_search_parse_widths(AstroSearchConfig *config, const char *text, GError **error)
{
  g_auto(GStrv) words = g_strsplit(text ? text : "", ",", -1);
  config->n_widths = 0;
  for (char **word = words; *word; word++) {
    guint64 width;
    if (config->n_widths == ASTRO_SEARCH_MAX_WIDTHS ||
        !g_ascii_string_to_unsigned(g_strstrip(*word), 10, 1, ASTRO_SEARCH_MAX_WIDTH, &width, NULL))
      return astro_backend_refuse(error,
                                  "widths is \"%s\", expected at most %u numbers of steps from 1 "
                                  "to %u, as 1,2,4,8",
                                  text, ASTRO_SEARCH_MAX_WIDTHS, ASTRO_SEARCH_MAX_WIDTH);
    config->widths[config->n_widths++] = (guint)width;
  }
  return check_widths(config, error);
}

guint astro_search_default_window(const AstroSearchConfig *config)
{
  return MIN(MAX(1024, 2 * ASTRO_SEARCH_WINDOW_OVER_WIDTH * astro_search_widest(config)),
             ASTRO_SEARCH_MAX_WINDOW);
}

double astro_search_bytes(const AstroSearchConfig *config)
{
  return (double)config->stations * config->dms *
         (astro_search_held(config) * 2.0 * sizeof(float) +
          astro_search_widest(config) * 2.0 * sizeof(double));
}

void astro_search_spread_counts(guint32 *counts, const AstroSearchConfig *config,
                                const AstroValidityMeta *meta, const AstroLayout *shape,
                                guint64 steps)
{
  AstroValidityAxis axes[ASTRO_MAX_AXES];
  const AstroValidityAxis none = { 1, 0 };
  const gint at[] = { astro_layout_find(shape, ASTRO_AXIS_TIME), astro_axes_find_stations(shape),
                      astro_layout_find(shape, ASTRO_AXIS_DM) };
  const AstroValidityAxis *of[G_N_ELEMENTS(at)];
  astro_validity_axes(meta, shape, axes);
  for (guint i = 0; i < G_N_ELEMENTS(at); i++)
    of[i] = at[i] >= 0 && axes[at[i]].group > 0 ? &axes[at[i]] : &none;
  for (guint64 t = 0; t < steps; t++)
    for (guint64 s = 0; s < config->stations; s++)
      for (guint64 d = 0; d < config->dms; d++)
        *counts++ =
            meta->counts[t / of[0]->group * of[0]->stride + s / of[1]->group * of[1]->stride +
                         d / of[2]->group * of[2]->stride];
}
