/* Common to all pictures of visibilities. */
#include "core/render/visibilities.h"

#include <math.h>
#include <string.h>

typedef AstroRenderVisibilities Visibilities;
typedef AstroRenderIntegration Shown;

typedef enum { LINEAR, CIRCULAR, STOKES } Basis;

static const char *const names[3][2][2] = { [LINEAR] = { { "XX", "XY" }, { "YX", "YY" } },
                                            [CIRCULAR] = { { "RR", "RL" }, { "LR", "LL" } },
                                            [STOKES] = { { "I", "I" }, { "I", "I" } } };

static Basis basis_of(const AstroRenderInput *in)
{
  const char *basis = in->observation ? in->observation->basis : "linear";
  return g_str_equal(basis, "circular") ? CIRCULAR : g_str_equal(basis, "stokes") ? STOKES : LINEAR;
}

static gboolean choose_product(Visibilities *v, const AstroRenderInput *in, GError **error)
{
  const Basis basis = basis_of(in);
  if (!in->style->product)
    return TRUE;
  for (guint p = 0; p < v->pols; p++)
    for (guint q = 0; q < v->pols; q++)
      if (g_str_equal(in->style->product, names[basis][p][q])) {
        v->product[0] = p;
        v->product[1] = q;
        return TRUE;
      }
  return astro_render_refuse(error, ASTRO_RENDER_ERROR_STYLE,
                             "the visibilities have no product %s, expected %s", in->style->product,
                             v->pols == 1
                                 ? names[basis][0][0]
                                 : (basis == CIRCULAR ? "RR, RL, LR or LL" : "XX, XY, YX or YY"));
}

static gboolean check(Visibilities *v, const AstroRenderInput *in, GError **error)
{
  g_autofree char *layout = astro_layout_to_string(&in->stream.layout);
  if (!g_str_equal(layout, "channel:baseline:pol:pol") || v->pols > 2)
    return astro_render_refuse(error, ASTRO_RENDER_ERROR_CAPS,
                               "layout is %s, expected channel:baseline:pol:pol", layout);
  if (!astro_stream_check_lower(&in->stream, error))
    return FALSE;
  v->stations = (guint)astro_stream_stations(&in->stream);
  if ((guint64)v->stations * (v->stations + 1) / 2 != v->baselines || v->stations > 16384)
    return astro_render_refuse(error, ASTRO_RENDER_ERROR_CAPS,
                               "baselines is %" G_GUINT64_FORMAT
                               ", expected n (n + 1) / 2 of n stations, at most 16384",
                               v->baselines);
  return astro_render_check_channel(v->channel, v->channels, error) && choose_product(v, in, error);
}

gboolean astro_render_visibilities_open(Visibilities *v, const AstroRenderInput *in, GError **error)
{
  const Basis basis = basis_of(in);
  *v = (Visibilities){ .stream = in->stream,
                       .channels = astro_stream_extent(&in->stream, ASTRO_AXIS_CHANNEL),
                       .baselines = astro_stream_extent(&in->stream, ASTRO_AXIS_BASELINE),
                       .pols = (guint)astro_stream_extent(&in->stream, ASTRO_AXIS_POL),
                       .channel = in->style->channel };
  if (!check(v, in, error))
    return FALSE;
  v->product_name = names[basis][v->product[0]][v->product[1]];
  return TRUE;
}

char *const *astro_render_visibilities_names(const Visibilities *v, const AstroRenderInput *in)
{
  const AstroObservation *o = in->observation;
  if (!o || !o->names || o->n_stations != v->stations)
    return NULL;
  for (guint i = 0; i < v->stations; i++)
    if (!*o->names[i])
      return NULL;
  return o->names;
}

Shown astro_render_integration(const Visibilities *v, gconstpointer data, guint64 steps,
                               guint64 number, const AstroRenderMoment *moment)
{
  Shown shown = { .data = (const guint8 *)data + number * astro_stream_step_bytes(&v->stream),
                  .number = number,
                  .moment = moment };
  astro_stream_shape(&v->stream, steps, &shown.shape);
  return shown;
}

/* The fraction of good samples in a visibility. */
static double weight_of(const Shown *shown, guint64 channel, guint64 baseline, guint p, guint q)
{
  const guint64 all[] = { shown->number, channel, baseline, p, q };
  guint64 index[ASTRO_MAX_AXES] = { 0 };
  if (shown->moment->is_gap || !shown->moment->validity)
    return shown->moment->is_gap ? 0 : 1;
  memcpy(index, all + 5 - shown->shape.n_axes, shown->shape.n_axes * sizeof *index);
  return astro_validity_at(shown->moment->validity, &shown->shape, index) /
         (double)MAX(shown->moment->validity->full, 1);
}

void astro_render_visibilities_mean(const Visibilities *v, const Shown *shown, guint64 first,
                                    guint64 channels, guint64 baseline, guint p, guint q,
                                    double mean[2])
{
  const gboolean are_sums = v->stream.format == ASTRO_FORMAT_CI32LE;
  double weights = 0;
  mean[0] = mean[1] = 0;
  for (guint64 c = first; c < first + channels; c++) {
    guint64 at = 2 * (((c * v->baselines + baseline) * v->pols + p) * v->pols + q);
    double weight = weight_of(shown, c, baseline, p, q), value[2];
    for (guint part = 0; part < 2; part++)
      value[part] = are_sums ? ((const gint32 *)shown->data)[at + part]
                             : ((const float *)shown->data)[at + part];
    if (!(weight > 0) || !isfinite(value[0]) || !isfinite(value[1]))
      continue;
    for (guint part = 0; part < 2; part++)
      mean[part] += (are_sums ? 1 : weight) * value[part];
    weights += weight;
  }
  mean[0] /= weights;
  mean[1] /= weights;
}
