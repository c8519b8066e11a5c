/* Spectra as a waterfall: power over frequency, one row per buffer, the newest on top. */
#include "core/render/waterfall.h"

#include <math.h>
#include <string.h>

typedef struct {
  AstroStream stream;
  guint64 channels;
  AstroWaterfall waterfall;
  double *sums, *good; /* of a row: powers, and the fraction of a channel's samples that is good */
} Kind;

static gpointer open_kind(const AstroRenderInput *in, GArray *panels, GError **error)
{
  guint64 channels = astro_stream_extent(&in->stream, ASTRO_AXIS_CHANNEL);
  if (astro_layout_find(&in->stream.layout, ASTRO_AXIS_CHANNEL) < 0 || channels > G_MAXINT) {
    g_autofree char *layout = astro_layout_to_string(&in->stream.layout);
    astro_render_refuse(error, ASTRO_RENDER_ERROR_CAPS, "layout is %s, expected one with channels",
                        layout);
    return NULL;
  }
  Kind *k = g_new0(Kind, 1);
  k->stream = in->stream;
  k->channels = channels;
  k->waterfall =
      (AstroWaterfall){ .width = (guint)channels, .rows = in->style->rows, .things = "Blocks ago" };
  AstroPanel panel = { .unit = "power",
                       .width = (guint)channels,
                       .height = in->style->rows + ASTRO_WATERFALL_SPARE,
                       .x = astro_waterfall_channels(&in->stream) };
  panel.y = (AstroPanelAxis){ g_strdup("Blocks ago"), 0, 1 };
  g_array_append_val(panels, panel);
  return k;
}

static void close_kind(gpointer kind)
{
  Kind *k = kind;
  g_free(k->sums);
  g_free(k->good);
  astro_waterfall_clear(&k->waterfall);
  g_free(k);
}

#define STRIP 1024

#define POWERS(type, n, data, at, powers)                                                          \
  for (guint i = 0; i < (n); i++) {                                                                \
    double re = ((const type *)(data))[2 * ((at) + i)],                                            \
           im = ((const type *)(data))[2 * ((at) + i) + 1];                                        \
    (powers)[i] = re * re + im * im;                                                               \
  }

static void find_powers(AstroFormat format, gconstpointer data, guint64 at, guint n, double *powers)
{
  switch (format) {
  case ASTRO_FORMAT_CI4:
    for (guint i = 0; i < n; i++) {
      guint8 byte = ((const guint8 *)data)[at + i];
      gint re = (gint8)byte >> 4, im = (gint8)(byte << 4) >> 4;
      powers[i] = re * re + im * im;
    }
    break;
  case ASTRO_FORMAT_CI8:
    POWERS(gint8, n, data, at, powers)
    break;
  case ASTRO_FORMAT_CI16LE:
    POWERS(gint16, n, data, at, powers)
    break;
  case ASTRO_FORMAT_CF32LE:
    POWERS(float, n, data, at, powers)
    break;
  default:
    POWERS(double, n, data, at, powers)
  }
}

/* stride: samples between channels. */
static void add_powers(const Kind *k, gconstpointer data, guint64 n, guint64 stride)
{
  double powers[STRIP];
  guint64 channel = 0, left = stride;
  for (guint64 at = 0; at < n; at += STRIP) {
    guint length = (guint)MIN(STRIP, n - at);
    find_powers(k->stream.format, data, at, length, powers);
    for (guint i = 0; i < length; i++) {
      k->sums[channel] += powers[i];
      if (--left == 0) {
        left = stride;
        channel = channel + 1 == k->channels ? 0 : channel + 1;
      }
    }
  }
}

/* Lost samples are zeros, and a mean power must not include them. */
static void find_good(const Kind *k, const AstroRenderMoment *moment)
{
  const AstroValidityMeta *meta = moment->validity;
  guint64 strides[ASTRO_MAX_AXES], groups = 1, stride = 1;
  for (guint64 c = 0; c < k->channels; c++)
    k->good[c] = !moment->is_gap;
  if (moment->is_gap || !meta)
    return;
  gint axis = astro_layout_find(&meta->shape, ASTRO_AXIS_CHANNEL);
  astro_layout_strides(&meta->shape, strides);
  if (axis >= 0) {
    groups = meta->shape.extents[axis];
    stride = strides[axis];
  }
  guint64 n = astro_validity_n_counts(meta);
  g_autofree double *sums = g_new0(double, groups);
  for (guint64 i = 0; i < n; i++)
    sums[i / stride % groups] += meta->counts[i];
  for (guint64 c = 0; c < k->channels; c++)
    k->good[c] = sums[c * groups / k->channels] * (double)groups / (double)n / MAX(meta->full, 1);
}

static void take(gpointer kind, gconstpointer data, guint64 steps, const AstroRenderMoment *moment,
                 AstroPanel *panels)
{
  Kind *k = kind;
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES], n;
  astro_stream_shape(&k->stream, steps, &shape);
  astro_layout_strides(&shape, strides);
  n = astro_layout_samples(&shape);
  if (!k->sums) {
    k->sums = g_new(double, k->channels);
    k->good = g_new(double, k->channels);
  }
  find_good(k, moment);
  memset(k->sums, 0, k->channels * sizeof *k->sums);
  add_powers(k, data, n, strides[astro_layout_find(&shape, ASTRO_AXIS_CHANNEL)]);
  float *values = astro_waterfall_push(&k->waterfall, panels[0].own, moment->duration_ns);
  panels[0].values = values;
  for (guint64 c = 0; c < k->channels; c++)
    values[c] =
        k->good[c] > 0 ? (float)(k->sums[c] * (double)k->channels / (double)n / k->good[c]) : NAN;
  astro_waterfall_set_axis(&k->waterfall, &panels[0]);
}

const AstroRenderKind astro_render_spectra = {
  ASTRO_QUANTITY_SPECTRA,
  ASTRO_VIEW_AUTO,
  "application/x-astro-spectra, format = (string) { CF32LE, CI8, CI16LE, CI4, CF64LE }",
  open_kind,
  take,
  close_kind,
  TRUE,
};
