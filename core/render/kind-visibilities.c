/* Visibilities as two matrices of stations, amplitude and phase. */
#include "core/render/panel.h"
#include "core/units.h"

#include <math.h>
#include <string.h>

typedef struct {
  AstroStream stream;
  AstroFormat format;
  guint64 channels, baselines;
  guint pols, stations;
  guint product[2]; /* polarisations of the two stations */
  gint channel;
} Kind;

static const char *const names[2][2][2] = { { { "XX", "XY" }, { "YX", "YY" } },
                                            { { "RR", "RL" }, { "LR", "LL" } } };

static gboolean choose_product(Kind *k, const AstroRenderInput *in, GError **error)
{
  gboolean circular = in->observation && g_str_equal(in->observation->basis, "circular");
  if (!in->style->product)
    return TRUE;
  for (guint p = 0; p < k->pols; p++)
    for (guint q = 0; q < k->pols; q++)
      if (g_str_equal(in->style->product, names[circular][p][q])) {
        k->product[0] = p;
        k->product[1] = q;
        return TRUE;
      }
  return astro_render_refuse(error, ASTRO_RENDER_ERROR_STYLE,
                             "the visibilities have no product %s, expected %s", in->style->product,
                             k->pols == 1 ? names[circular][0][0]
                                          : (circular ? "RR, RL, LR or LL" : "XX, XY, YX or YY"));
}

static gboolean check(Kind *k, const AstroRenderInput *in, GError **error)
{
  g_autofree char *layout = astro_layout_to_string(&in->stream.layout);
  if (!g_str_equal(layout, "channel:baseline:pol:pol") || k->pols > 2)
    return astro_render_refuse(error, ASTRO_RENDER_ERROR_CAPS,
                               "layout is %s, expected channel:baseline:pol:pol", layout);
  if (!astro_stream_check_lower(&in->stream, error))
    return FALSE;
  k->stations = (guint)astro_stream_stations(&in->stream);
  if ((guint64)k->stations * (k->stations + 1) / 2 != k->baselines || k->stations > 16384)
    return astro_render_refuse(error, ASTRO_RENDER_ERROR_CAPS,
                               "baselines is %" G_GUINT64_FORMAT
                               ", expected n (n + 1) / 2 of n stations, at most 16384",
                               k->baselines);
  return astro_render_check_channel(k->channel, k->channels, error) && choose_product(k, in, error);
}

static void add_panel(const Kind *k, const char *what, const char *product, gboolean is_angle,
                      GArray *panels)
{
  double n = k->stations;
  AstroPanel panel = { .title = g_strdup_printf("%s %s", what, product),
                       .is_square = TRUE,
                       .is_angle = is_angle,
                       .skip_diagonal = !is_angle && k->stations > 1,
                       .unit = is_angle ? "degrees" : NULL,
                       .width = k->stations,
                       .height = k->stations };
  panel.x = (AstroPanelAxis){ g_strdup("Station"), -0.5, n - 0.5, .whole = TRUE };
  panel.y = (AstroPanelAxis){ g_strdup("Station"), n - 0.5, -0.5, .whole = TRUE };
  g_array_append_val(panels, panel);
}

static gpointer open_kind(const AstroRenderInput *in, GArray *panels, GError **error)
{
  Kind *k = g_new0(Kind, 1);
  k->stream = in->stream;
  k->format = in->stream.format;
  k->channels = astro_stream_extent(&in->stream, ASTRO_AXIS_CHANNEL);
  k->baselines = astro_stream_extent(&in->stream, ASTRO_AXIS_BASELINE);
  k->pols = (guint)astro_stream_extent(&in->stream, ASTRO_AXIS_POL);
  k->channel = in->style->channel;
  if (!check(k, in, error)) {
    g_free(k);
    return NULL;
  }
  gboolean circular = in->observation && g_str_equal(in->observation->basis, "circular");
  const char *product = names[circular][k->product[0]][k->product[1]];
  add_panel(k, "Amplitude", product, FALSE, panels);
  add_panel(k, "Phase", product, TRUE, panels);
  return k;
}

/* The integration that is shown, and what was lost of it. */
typedef struct {
  gconstpointer data;
  guint64 last; /* where it stands in the buffer */
  AstroLayout shape;
  const AstroRenderMoment *moment;
} Shown;

/* The good part of the samples behind a visibility. */
static double weight_of(const Shown *shown, guint64 channel, guint64 baseline, guint p, guint q)
{
  const guint64 all[] = { shown->last, channel, baseline, p, q };
  guint64 index[ASTRO_MAX_AXES] = { 0 };
  if (shown->moment->is_gap || !shown->moment->validity)
    return shown->moment->is_gap ? 0 : 1;
  memcpy(index, all + 5 - shown->shape.n_axes, shown->shape.n_axes * sizeof *index);
  return astro_validity_at(shown->moment->validity, &shown->shape, index) /
         (double)MAX(shown->moment->validity->full, 1);
}

/* The mean over the channels of station i's polarisation p with station j's q, j <= i, weighted by
 * the good samples behind it, as sums of them are already. NaN where there are none. */
static void find_mean(const Kind *k, const Shown *shown, guint64 baseline, guint p, guint q,
                      double mean[2])
{
  guint64 first = k->channel < 0 ? 0 : (guint64)k->channel, n = k->channel < 0 ? k->channels : 1;
  double weights = 0;
  mean[0] = mean[1] = 0;
  for (guint64 c = first; c < first + n; c++) {
    guint64 at = 2 * (((c * k->baselines + baseline) * k->pols + p) * k->pols + q);
    double weight = weight_of(shown, c, baseline, p, q), value[2];
    for (guint part = 0; part < 2; part++)
      value[part] = k->format == ASTRO_FORMAT_CI32LE ? ((const gint32 *)shown->data)[at + part]
                                                     : ((const float *)shown->data)[at + part];
    if (!(weight > 0) || !isfinite(value[0]) || !isfinite(value[1]))
      continue;
    for (guint part = 0; part < 2; part++)
      mean[part] += (k->format == ASTRO_FORMAT_CI32LE ? 1 : weight) * value[part];
    weights += weight;
  }
  mean[0] /= weights;
  mean[1] /= weights;
}

static void take(gpointer kind, gconstpointer data, guint64 steps, const AstroRenderMoment *moment,
                 AstroPanel *panels)
{
  Kind *k = kind;
  Shown shown = { .data = data, .last = steps - 1, .moment = moment };
  astro_stream_shape(&k->stream, steps, &shown.shape);
  for (guint i = 0; i < k->stations; i++)
    for (guint j = 0; j < k->stations; j++) {
      guint a = MAX(i, j), b = MIN(i, j);
      double mean[2];
      /* V_ji of p and q is the conjugate of V_ij of q and p. */
      find_mean(k, &shown, (guint64)a * (a + 1) / 2 + b, k->product[i < j], k->product[i >= j],
                mean);
      gsize at = (gsize)i * k->stations + j;
      panels[0].own[at] = (float)hypot(mean[0], mean[1]);
      panels[1].own[at] = (float)(atan2(i < j ? -mean[1] : mean[1], mean[0]) * ASTRO_DEGREES);
    }
}

const AstroRenderKind astro_render_visibilities = {
  ASTRO_QUANTITY_VISIBILITIES,
  "application/x-astro-visibilities, format = (string) { CF32LE, CI32LE }, layout = (string) "
  "channel:baseline:pol:pol",
  open_kind,
  take,
  g_free,
};
