/* Moves losses of the input to where they are in the output. */
#include "config.h"
#include "core/delay/losses.h"

#include <math.h>

#include "core/delay/instance.h"

/* Delays are asked for once in so many samples, counted from sample 0: where losses end up must not
 * depend on how the input is cut. Within them no delay changes by the sample that reach has more.
 */
#define STRETCH ((guint64)64 * ASTRO_DELAY_TILE)

/* How losses of some stretches move to the output. */
typedef struct {
  AstroLosses *losses;
  AstroDelayModel *model;
  const AstroStream *stream;
  guint pols;
  gint64 reach;    /* of the interpolation, in samples */
  guint64 first;   /* stretch */
  GPtrArray *lags; /* of each input in each stretch, once they are known */
} Move;

/* By how many samples the output of each input lags. */
static double *find_lags(AstroDelayModel *model, const AstroStream *stream, guint64 sample)
{
  guint inputs = astro_delay_model_stations(model) * astro_delay_model_pols(model);
  double *lags = g_new(double, inputs);
  astro_delay_model_at(model, astro_delay_sample_ns(stream, sample), lags);
  for (guint i = 0; i < inputs; i++)
    lags[i] *= (double)stream->rate_n / stream->rate_d;
  return lags;
}

/* Those of a station at a sample. */
static const double *lags_at(const Move *move, guint station, guint64 sample)
{
  gpointer *lags = &move->lags->pdata[sample / STRETCH - move->first];
  if (!*lags)
    *lags = find_lags(move->model, move->stream, sample / STRETCH * STRETCH);
  return (const double *)*lags + station * move->pols;
}

static guint64 moved(guint64 sample, double lag, gint64 reach)
{
  const gint64 by = (gint64)lag + reach;
  return by < 0 && sample < (guint64)-by ? 0 : sample + (guint64)by;
}

static void add(gpointer data, const AstroLoss *loss)
{
  const Move *move = data;
  AstroLoss there = *loss;
  if (loss->from != 0) {
    const double *lags = lags_at(move, loss->station, loss->from);
    double least = lags[0];
    for (guint pol = 1; pol < move->pols; pol++)
      least = MIN(least, lags[pol]);
    there.from = moved(loss->from, floor(least), -move->reach);
  }
  if (loss->to != G_MAXUINT64) {
    const double *lags = lags_at(move, loss->station, loss->to);
    double most = lags[0];
    for (guint pol = 1; pol < move->pols; pol++)
      most = MAX(most, lags[pol]);
    there.to = moved(loss->to, ceil(most), move->reach);
  }
  astro_losses_add(move->losses, &there);
}

/* Makes room for the lags between two samples. */
static Move move_of(AstroLosses *losses, AstroDelayModel *model, const AstroStream *stream,
                    guint64 from, guint64 to)
{
  Move move = { losses,
                model,
                stream,
                astro_delay_model_pols(model),
                (gint64)astro_delay_taps(stream) / 2 + 1,
                from / STRETCH,
                g_ptr_array_new_with_free_func(g_free) };
  g_ptr_array_set_size(move.lags, (gint)(to / STRETCH - move.first + 1));
  return move;
}

void astro_delay_losses_add(AstroLosses *losses, AstroDelayModel *model, const AstroStream *stream,
                            guint64 from, guint64 to)
{
  const guint64 end = from == 0 ? to : from; /* the one that there is */
  Move move = move_of(losses, model, stream, end, end);
  for (guint station = 0; station < astro_delay_model_stations(model); station++)
    add(&move, &(AstroLoss){ station, 0, 1, from, to });
  g_ptr_array_unref(move.lags);
}

void astro_delay_losses_read(AstroLosses *losses, AstroDelayModel *model, const AstroStream *stream,
                             GstBuffer *in, guint64 first, guint64 steps)
{
  if (!GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP) && !astro_buffer_get_validity(in))
    return;
  Move move = move_of(losses, model, stream, first, first + steps);
  astro_losses_find(stream, in, first, steps, add, &move);
  g_ptr_array_unref(move.lags);
}
