/* Power before and after flags: a waterfall of all values, and one of those that are good. Flags
 * lower counts and leave the values, so that one stream has both. A row is an integration, the mean
 * of all stations or beams; the newest is on top. */
#include "core/render/waterfall.h"

#include <math.h>
#include <string.h>

enum { BEFORE, AFTER, PANELS };

typedef struct {
  AstroStream stream;
  guint channels, product;
  guint64 stations; /* or beams */
  gboolean decibels;
  AstroWaterfall waterfalls[PANELS];
} Kind;

static gboolean choose_product(Kind *k, const AstroRenderInput *in, GError **error)
{
  const gint found =
      in->style->product ? astro_power_products_find(&in->products, in->style->product) : 0;
  k->product = (guint)MAX(found, 0);
  k->decibels = in->style->decibels && astro_render_is_positive(in->products.names[k->product]);
  return found >= 0 || astro_render_refuse(error, ASTRO_RENDER_ERROR_STYLE,
                                           "the power has no product %s", in->style->product);
}

static gpointer open_kind(const AstroRenderInput *in, GArray *panels, GError **error)
{
  static const char *const titles[PANELS] = { "Before flags", "After flags" };
  const guint64 channels = astro_stream_extent(&in->stream, ASTRO_AXIS_CHANNEL);
  Kind *k = g_new0(Kind, 1);
  if (channels > G_MAXINT || !choose_product(k, in, error)) {
    g_free(k);
    return NULL;
  }
  k->stream = in->stream;
  k->channels = (guint)channels;
  k->stations = astro_stream_extent(&in->stream, ASTRO_AXIS_STATION) *
                astro_stream_extent(&in->stream, ASTRO_AXIS_BEAM);
  for (guint i = 0; i < PANELS; i++) {
    k->waterfalls[i] = (AstroWaterfall){ .width = k->channels,
                                         .rows = in->style->rows,
                                         .things = "Integrations ago" };
    AstroPanel panel = { .title = g_strdup(titles[i]),
                         .unit = k->decibels ? "dB" : "power",
                         .width = k->channels,
                         .height = in->style->rows + ASTRO_WATERFALL_SPARE,
                         .x = astro_waterfall_channels(&in->stream),
                         .y = { g_strdup("Integrations ago"), 0, 1 } };
    g_array_append_val(panels, panel);
  }
  return k;
}

static void close_kind(gpointer kind)
{
  Kind *k = kind;
  for (guint i = 0; i < PANELS; i++)
    astro_waterfall_clear(&k->waterfalls[i]);
  g_free(k);
}

/* The mean over stations of a channel; a value without any sample is 0, and not a power. */
typedef struct {
  double sum, weight;
} Mean;

static float shown(const Kind *k, const Mean *mean)
{
  const double value = mean->sum / mean->weight;
  const double found = k->decibels ? 10 * log10(value) : value;
  return isfinite(found) ? (float)found : NAN;
}

static void take_step(const Kind *k, const float *data, const AstroLayout *shape, guint64 t,
                      const AstroRenderMoment *moment, float *const rows[PANELS])
{
  guint64 strides[ASTRO_MAX_AXES], index[ASTRO_MAX_AXES] = { 0 };
  astro_layout_strides(shape, strides);
  const gint station = MAX(astro_layout_find(shape, ASTRO_AXIS_STATION),
                           astro_layout_find(shape, ASTRO_AXIS_BEAM)),
             channel = astro_layout_find(shape, ASTRO_AXIS_CHANNEL),
             time = astro_layout_find(shape, ASTRO_AXIS_TIME),
             pol = astro_layout_find(shape, ASTRO_AXIS_POL);
  if (time >= 0)
    index[time] = t;
  if (pol >= 0)
    index[pol] = k->product;
  for (guint c = 0; c < k->channels; c++) {
    Mean means[PANELS] = { { 0 } };
    for (guint64 s = 0; s < k->stations && !moment->is_gap; s++) {
      guint64 at = 0;
      if (station >= 0)
        index[station] = s;
      if (channel >= 0)
        index[channel] = c;
      for (guint a = 0; a < shape->n_axes; a++)
        at += index[a] * strides[a];
      const guint32 count =
          moment->validity ? astro_validity_at(moment->validity, shape, index) : 1;
      const double value = (double)data[at];
      if (value == 0 || !isfinite(value))
        continue;
      means[BEFORE].sum += value;
      means[BEFORE].weight++;
      means[AFTER].sum += value * count;
      means[AFTER].weight += count;
    }
    for (guint i = 0; i < PANELS; i++)
      rows[i][c] = shown(k, &means[i]);
  }
}

static void take(gpointer kind, gconstpointer data, guint64 steps, const AstroRenderMoment *moment,
                 AstroPanel *panels)
{
  Kind *k = kind;
  AstroLayout shape;
  astro_stream_shape(&k->stream, steps, &shape);
  for (guint64 t = steps - MIN(steps, k->waterfalls[0].rows); t < steps; t++) {
    float *rows[PANELS];
    for (guint i = 0; i < PANELS; i++)
      panels[i].values = rows[i] =
          astro_waterfall_push(&k->waterfalls[i], panels[i].own, moment->duration_ns / steps);
    take_step(k, data, &shape, t, moment, rows);
  }
  for (guint i = 0; i < PANELS; i++)
    astro_waterfall_set_axis(&k->waterfalls[i], &panels[i]);
}

const AstroRenderKind astro_render_flags = {
  ASTRO_QUANTITY_POWER,
  ASTRO_VIEW_AUTO,
  "application/x-astro-power, format = (string) F32LE",
  open_kind,
  take,
  close_kind,
  TRUE,
};
