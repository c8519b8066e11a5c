/* How much of a stream is good, as a waterfall: the percentage of good samples behind the values of
 * each channel, of all stations, beams or baselines and all polarisations. Power and visibilities
 * have a row for each integration, spectra one for each buffer; the newest is on top. */
#include "core/render/waterfall.h"

#include <math.h>
#include <string.h>

typedef struct {
  AstroStream stream;
  guint channels;
  AstroWaterfall waterfall;
} Kind;

static gpointer open_kind(const AstroRenderInput *in, GArray *panels, GError **error)
{
  const guint64 channels = astro_stream_extent(&in->stream, ASTRO_AXIS_CHANNEL);
  if (astro_layout_find(&in->stream.layout, ASTRO_AXIS_CHANNEL) < 0 || channels > G_MAXINT) {
    g_autofree char *layout = astro_layout_to_string(&in->stream.layout);
    astro_render_refuse(error, ASTRO_RENDER_ERROR_CAPS, "layout is %s, expected one with channels",
                        layout);
    return NULL;
  }
  Kind *k = g_new0(Kind, 1);
  k->stream = in->stream;
  k->channels = (guint)channels;
  const char *things =
      in->stream.quantity == ASTRO_QUANTITY_SPECTRA ? "Blocks ago" : "Integrations ago";
  k->waterfall =
      (AstroWaterfall){ .width = k->channels, .rows = in->style->rows, .things = things };
  AstroPanel panel = { .unit = "% good",
                       .width = k->channels,
                       .height = in->style->rows + ASTRO_WATERFALL_SPARE,
                       .x = astro_waterfall_channels(&in->stream) };
  panel.y = (AstroPanelAxis){ g_strdup(things), 0, 1 };
  g_array_append_val(panels, panel);
  return k;
}

static void close_kind(gpointer kind)
{
  Kind *k = kind;
  astro_waterfall_clear(&k->waterfall);
  g_free(k);
}

/* The extent of an axis of counts, and how far apart they are along it; 1 and 1 if it has none. */
static guint64 find_axis(const AstroLayout *shape, AstroAxis axis, guint64 *stride)
{
  guint64 strides[ASTRO_MAX_AXES];
  const gint at = astro_layout_find(shape, axis);
  astro_layout_strides(shape, strides);
  *stride = at < 0 ? 1 : strides[at];
  return at < 0 ? 1 : shape->extents[at];
}

/* Mean counts, in per cent, of [time][channel], as far as these have counts of their own. */
static double *find_means(const AstroValidityMeta *meta, guint64 *times, guint64 *channels)
{
  const guint64 n = astro_validity_n_counts(meta);
  guint64 time_stride, channel_stride;
  *times = find_axis(&meta->shape, ASTRO_AXIS_TIME, &time_stride);
  *channels = find_axis(&meta->shape, ASTRO_AXIS_CHANNEL, &channel_stride);
  const double each = (double)*times * (double)*channels / (double)n / MAX(meta->full, 1);
  double *means = g_new0(double, *times **channels);
  for (guint64 i = 0; i < n; i++)
    means[i / time_stride % *times * *channels + i / channel_stride % *channels] +=
        100 * each * meta->counts[i];
  return means;
}

/* Steps first..last of a block as a row. */
static void write_row(const Kind *k, const double *means, guint64 times, guint64 channels,
                      guint64 steps, guint64 first, guint64 last, float *row)
{
  for (guint c = 0; c < k->channels; c++) {
    double sum = 0;
    for (guint64 t = first; t < last; t++)
      sum += means[t * times / steps * channels + c * channels / k->channels];
    row[c] = (float)(sum / (double)(last - first));
  }
}

static void take(gpointer kind, gconstpointer data, guint64 steps, const AstroRenderMoment *moment,
                 AstroPanel *panels)
{
  Kind *k = kind;
  guint64 times = 1, channels = 1;
  g_autofree double *means = NULL;
  if (moment->validity && !moment->is_gap) {
    means = find_means(moment->validity, &times, &channels);
  } else {
    means = g_new(double, 1);
    means[0] = moment->is_gap ? 0 : 100;
  }
  const guint64 rows = k->stream.quantity == ASTRO_QUANTITY_SPECTRA ? 1 : steps;
  for (guint64 r = rows - MIN(rows, k->waterfall.rows); r < rows; r++) {
    float *row = astro_waterfall_push(&k->waterfall, panels[0].own, moment->duration_ns / rows);
    panels[0].values = row;
    write_row(k, means, times, channels, steps, r * steps / rows, (r + 1) * steps / rows, row);
  }
  astro_waterfall_set_axis(&k->waterfall, &panels[0]);
}

const AstroRenderKind astro_render_validity = {
  ASTRO_QUANTITY_UNKNOWN,
  ASTRO_VIEW_AUTO,
  "application/x-astro-spectra; application/x-astro-power; application/x-astro-visibilities",
  open_kind,
  take,
  close_kind,
  TRUE,
};
