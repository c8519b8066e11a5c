/* Moves losses of the input to where they are in the output. */
#include "config.h"
#include "core/delay/losses.h"

#include <math.h>

#include "core/delay/instance.h"

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

/* How losses move to the output. */
typedef struct {
  AstroLosses *losses;
  guint pols;
  gint64 reach; /* of the interpolation, in samples */
  double *lags;
} Move;

static guint64 moved(guint64 sample, double lag, gint64 reach)
{
  const gint64 by = (gint64)lag + reach;
  return by < 0 && sample < (guint64)-by ? 0 : sample + (guint64)by;
}

static void add(gpointer data, const AstroLoss *loss)
{
  const Move *move = data;
  const double *lags = move->lags + loss->station * move->pols;
  double least = lags[0], most = least;
  AstroLoss there = *loss;
  for (guint pol = 1; pol < move->pols; pol++) {
    least = MIN(least, lags[pol]);
    most = MAX(most, lags[pol]);
  }
  if (loss->from != 0)
    there.from = moved(loss->from, floor(least), -move->reach);
  if (loss->to != G_MAXUINT64)
    there.to = moved(loss->to, ceil(most), move->reach);
  astro_losses_add(move->losses, &there);
}

static Move move_of(AstroLosses *losses, AstroDelayModel *model, const AstroStream *stream,
                    guint64 sample)
{
  return (Move){ losses, astro_delay_model_pols(model), (gint64)astro_delay_taps(stream) / 2 + 1,
                 find_lags(model, stream, sample) };
}

void astro_delay_losses_add(AstroLosses *losses, AstroDelayModel *model, const AstroStream *stream,
                            guint64 from, guint64 to)
{
  Move move = move_of(losses, model, stream, from == 0 ? to : from);
  for (guint station = 0; station < astro_delay_model_stations(model); station++)
    add(&move, &(AstroLoss){ station, 0, 1, from, to });
  g_free(move.lags);
}

void astro_delay_losses_read(AstroLosses *losses, AstroDelayModel *model, const AstroStream *stream,
                             GstBuffer *in, guint64 first, guint64 steps)
{
  if (!GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP) && !astro_buffer_get_validity(in))
    return;
  Move move = move_of(losses, model, stream, first);
  astro_losses_find(stream, in, first, steps, add, &move);
  g_free(move.lags);
}
