/* Makes what counts for astrohistogram, by its properties and pads. */
#include "config.h"
#include "elements/astrohistogram-parts.h"

#include "core/histogram/budget.h"
#include "core/kit/share.h"
#include "elements/base/astrowork.h"

#define WEIGHT 2 /* the place of weights among columns */

AstroCataloguePad *astro_histogram_find_pad(AstroHistogram *self, AstroSide side)
{
  GstPad *pad = gst_element_get_static_pad(GST_ELEMENT(self), astro_side_name(side));
  return (AstroCataloguePad *)pad;
}

static guint words_of(const AstroCataloguePad *pad)
{
  guint n = 0;
  for (guint w = 0; w < ASTRO_CATALOGUE_WORDS && pad && pad->places.n > 0; w++)
    n += pad->places.place[ASTRO_COLUMN_FIRST_WORD + w] >= 0;
  return n;
}

/* The bins, with the sides that there are, and weights if a catalogue has any. */
static gboolean make_config(AstroHistogram *self, const AstroHistogramSettings *settings,
                            AstroHistogramConfig *config, GError **error)
{
  guint n_words = 0;
  if (!astro_histogram_settings_config(settings, config, error))
    return FALSE;
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++) {
    g_autoptr(AstroCataloguePad) pad = astro_histogram_find_pad(self, side);
    self->is_there[side] = pad != NULL;
    config->weighted |= pad && pad->places.n > 0 && pad->places.place[WEIGHT] >= 0;
    n_words = MAX(n_words, words_of(pad));
  }
  astro_histogram_settings_weigh(settings, n_words, config);
  return TRUE;
}

gboolean astro_histogram_share_memory(AstroHistogram *self, GError **error)
{
  AstroHistogramConfig config;
  g_auto(AstroHistogramSettings) settings = { 0 };
  if (self->limit.bytes > 0)
    return TRUE;
  astro_histogram_settings_copy(self, &settings, &self->settings);
  return make_config(self, &settings, &config, error) &&
         astro_histogram_share(&config, self->is_there, astro_histogram_devices_count(&settings),
                               self->budget, &self->limit, error);
}

/* Random catalogues that can be dealt out evenly, by what their source says. */
static guint64 find_whole(AstroHistogram *self)
{
  g_autoptr(AstroCataloguePad) pad = astro_histogram_find_pad(self, ASTRO_SIDE_RANDOM);
  gint64 duration = 0;
  if (!pad || self->ranks < 2 ||
      !gst_pad_peer_query_duration(GST_PAD(pad), GST_FORMAT_TIME, &duration) || duration <= 0)
    return 0;
  const guint64 all = (guint64)duration / GST_SECOND * self->split;
  return all - all % self->ranks;
}

static gboolean read_table(const char *path, PairTable **table, GError **error)
{
  g_clear_pointer(table, pair_table_free);
  return !astro_field_given(path) || (*table = pair_table_read(path, error));
}

gboolean astro_histogram_make_collector(AstroHistogram *self, GError **error)
{
  AstroHistogramConfig config;
  g_auto(AstroHistogramSettings) settings;
  g_autofree char *why = NULL;
  astro_histogram_settings_copy(self, &settings, &self->settings);
  if (!make_config(self, &settings, &config, error))
    return FALSE;
  if (!astro_histogram_devices_open(&self->devices, &settings, &config, &why, error))
    return FALSE;
  const AstroHistogramDevices *devices = &self->devices;
  self->config = config;
  if (!read_table(settings.dd_twopoint_weights, &self->tables[0], error) ||
      !read_table(settings.dr_twopoint_weights, &self->tables[1], error))
    return FALSE;
  self->interval = settings.interval;
  self->split = settings.split;
  if (!astro_share_read(settings.share, &self->rank, &self->ranks, error))
    return FALSE;
  self->n_whole = find_whole(self);
  self->collector =
      astro_collector_new(&config, self->is_there, devices->backend, &devices->places[0], error);
  if (!self->collector)
    return FALSE;
  astro_collector_share(self->collector, devices->places, devices->n);
  astro_collector_set_tables(self->collector, self->tables[0], self->tables[1]);
  astro_collector_set_limit(self->collector, &self->limit);
  astro_collector_deal(self->collector, self->rank, self->ranks);
  for (guint i = 0; i < devices->n; i++)
    astro_work_log(self, devices->backend, astro_collector_variant(self->collector),
                   devices->places[i].device, settings.threads, why);
  return TRUE;
}

void astro_histogram_set_active_backend(AstroHistogram *self)
{
  const char *variant = astro_collector_variant(self->collector);
  GST_OBJECT_LOCK(self);
  g_free(self->active_backend); /* from before a flush */
  self->active_backend =
      variant && !g_str_equal(variant, "reference")
          ? g_strconcat(astro_backend_kind_name(self->devices.backend->kind), "/", variant, NULL)
          : g_strdup(variant);
  GST_OBJECT_UNLOCK(self);
  g_object_notify(G_OBJECT(self), "active-backend");
}
