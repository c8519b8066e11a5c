#include "config.h"
#include "core/delay/losses.h"

#include <math.h>

#include "core/delay/instance.h"

typedef struct {
  guint station;
  gint64 from, to; /* samples of the output */
} Loss;

struct AstroDelayLosses {
  GArray *list; /* of Loss */
};

AstroDelayLosses *astro_delay_losses_new(void)
{
  AstroDelayLosses *losses = g_new0(AstroDelayLosses, 1);
  losses->list = g_array_new(FALSE, FALSE, sizeof(Loss));
  return losses;
}

void astro_delay_losses_free(AstroDelayLosses *losses)
{
  g_array_unref(losses->list);
  g_free(losses);
}

void astro_delay_losses_clear(AstroDelayLosses *losses)
{
  g_array_set_size(losses->list, 0);
}

/* Samples that the output of each input lags by, rounded either way. */
static double *find_lags(AstroDelayModel *model, const AstroStream *stream, gint64 sample)
{
  guint inputs = astro_delay_model_stations(model) * astro_delay_model_pols(model);
  double *lags = g_new(double, inputs);
  astro_delay_model_at(model, astro_delay_sample_ns(stream, (guint64)MAX(sample, 0)), lags);
  for (guint i = 0; i < inputs; i++)
    lags[i] *= (double)stream->rate_n / stream->rate_d;
  return lags;
}

static void add(AstroDelayLosses *losses, const AstroStream *stream, guint pols, const double *lags,
                guint station, gint64 from, gint64 to)
{
  const gint64 reach = astro_delay_taps(stream) / 2 + 1;
  double least = lags[station * pols], most = least;
  for (guint pol = 1; pol < pols; pol++) {
    least = MIN(least, lags[station * pols + pol]);
    most = MAX(most, lags[station * pols + pol]);
  }
  Loss loss = { station, from, to };
  if (from != G_MININT64)
    loss.from += (gint64)floor(least) - reach;
  if (to != G_MAXINT64)
    loss.to += (gint64)ceil(most) + reach;
  g_array_append_val(losses->list, loss);
}

void astro_delay_losses_add(AstroDelayLosses *losses, AstroDelayModel *model,
                            const AstroStream *stream, gint64 from, gint64 to)
{
  g_autofree double *lags = find_lags(model, stream, from == G_MININT64 ? to : from);
  for (guint station = 0; station < astro_delay_model_stations(model); station++)
    add(losses, stream, astro_delay_model_pols(model), lags, station, from, to);
}

void astro_delay_losses_read(AstroDelayLosses *losses, AstroDelayModel *model,
                             const AstroStream *stream, GstBuffer *in, guint64 first, guint64 steps)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(in);
  AstroValiditySamples samples;
  AstroLayout shape;
  if (GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP)) {
    astro_delay_losses_add(losses, model, stream, (gint64)first, (gint64)(first + steps));
    return;
  }
  if (!meta)
    return;
  g_autofree double *lags = find_lags(model, stream, (gint64)first);
  astro_stream_shape(stream, steps, &shape);
  astro_validity_samples(&samples, meta, &shape);
  for (guint station = 0; station < astro_delay_model_stations(model); station++)
    for (guint64 from, to = 0; astro_validity_next_loss(&samples, station, &from, &to);)
      add(losses, stream, astro_delay_model_pols(model), lags, station, (gint64)(first + from),
          (gint64)(first + to));
}

/* Counts of time and station, in the order in which the stream has them. */
static AstroValidityMeta *add_counts(const AstroStream *stream, GstBuffer *out, guint64 steps)
{
  AstroLayout whole, shape = { 0 };
  astro_stream_shape(stream, steps, &whole);
  for (guint i = 0; i < whole.n_axes; i++)
    if (whole.axes[i] == ASTRO_AXIS_TIME || whole.axes[i] == ASTRO_AXIS_STATION) {
      shape.axes[shape.n_axes] = whole.axes[i];
      shape.extents[shape.n_axes++] = whole.extents[i];
    }
  return astro_buffer_add_validity(out, &shape, 1);
}

static void zero_counts(AstroValidityMeta *meta, guint station, guint64 from, guint64 to)
{
  guint64 strides[ASTRO_MAX_AXES];
  gint time = astro_layout_find(&meta->shape, ASTRO_AXIS_TIME);
  gint stations = astro_layout_find(&meta->shape, ASTRO_AXIS_STATION);
  astro_layout_strides(&meta->shape, strides);
  for (guint64 step = from; step < to; step++)
    meta->counts[step * strides[time] + (stations < 0 ? 0 : station * strides[stations])] = 0;
}

void astro_delay_losses_mark(AstroDelayLosses *losses, const AstroStream *stream, GstBuffer *out,
                             guint64 first, guint64 steps)
{
  gint64 begin = (gint64)first, end = (gint64)(first + steps);
  AstroValidityMeta *meta = NULL;
  guint kept = 0;
  for (guint i = 0; i < losses->list->len; i++) {
    Loss loss = g_array_index(losses->list, Loss, i);
    gint64 from = MAX(loss.from, begin), to = MIN(loss.to, end);
    if (from < to) {
      if (!meta)
        meta = add_counts(stream, out, steps);
      zero_counts(meta, loss.station, (guint64)(from - begin), (guint64)(to - begin));
    }
    if (loss.to > end)
      g_array_index(losses->list, Loss, kept++) = loss;
  }
  g_array_set_size(losses->list, kept);
}
