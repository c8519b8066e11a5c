/* Predicts the model of a block, or takes the visibilities of another. */
#include "config.h"
#include "core/calibrate/model.h"

#include <math.h>

#include "core/calibrate/check.h"
#include "core/lib/predict/predict.h"

struct AstroCalibrateModel {
  AstroSky *sky;
  AstroPredict *predict;
  gsize values; /* of a step */
  double factor;
  complex double *block;
  guint64 steps; /* that fit */
};

void astro_calibrate_model_free(AstroCalibrateModel *model)
{
  g_clear_pointer(&model->predict, astro_predict_free);
  g_clear_pointer(&model->sky, astro_sky_free);
  g_free(model->block);
  g_free(model);
}

AstroCalibrateModel *astro_calibrate_model_new(const char *sky, const AstroStream *in,
                                               AstroObservation *observation, guint threads,
                                               GError **error)
{
  AstroCalibrateModel *model = g_new0(AstroCalibrateModel, 1);
  const double scale = observation->done.scale;
  AstroPredictConfig config = {
    .stream = *in, .observation = observation, .points = 1, .threads = threads
  };
  config.stream.format = ASTRO_FORMAT_CF64LE;
  if (config.stream.rate_n <= 0) /* no noise is added, which alone would need it */
    config.stream.rate_n = config.stream.rate_d = 1;
  model->factor = scale > 0 ? scale * scale : 1;
  model->values = astro_stream_step_bytes(&config.stream) / sizeof(complex double);
  if (!sky)
    return model;
  model->sky = astro_sky_new(sky, error);
  config.sky = model->sky;
  if (model->sky && astro_sky_resolve(model->sky, observation, error))
    model->predict = astro_predict_new(&config, error);
  if (!model->predict)
    g_clear_pointer(&model, astro_calibrate_model_free);
  return model;
}

static gboolean make_room(AstroCalibrateModel *model, guint64 steps, GError **error)
{
  if (steps <= model->steps)
    return TRUE;
  complex double *block = g_try_realloc_n(model->block, steps * model->values, sizeof *block);
  if (!block)
    return astro_backend_no_memory(error, "no memory for the model of %" G_GUINT64_FORMAT " steps",
                                   steps);
  model->block = block;
  model->steps = steps;
  return TRUE;
}

gboolean astro_calibrate_model_predict(AstroCalibrateModel *model, guint64 steps, guint64 step,
                                       guint64 begin, guint64 end, GError **error)
{
  if (!make_room(model, steps, error))
    return FALSE;
  complex double *to = model->block + step * model->values;
  astro_predict_fill(model->predict, step, (gint64)begin, (gint64)(end - begin), to, NULL);
  for (gsize k = 0; model->factor != 1 && k < model->values; k++)
    to[k] *= model->factor;
  return TRUE;
}

static void take_channel(AstroCalibrateModel *model, AstroCalibrateChannel *at, double factor)
{
  const AstroCalibrateSize *size = &at->size;
  complex double *to = model->block + (gsize)at->channel * size->baselines * size->products;
  g_autofree double *counts = g_new(double, (gsize)size->stations * size->products);
  for (guint i = 0; i < size->stations; i++) {
    const gsize n = (gsize)(i + 1) * size->products;
    astro_calibrate_row(at, i, to, counts);
    for (gsize k = 0; k < n; k++)
      to[k] = counts[k] > 0 ? factor * to[k] : NAN;
    to += n;
  }
}

gboolean astro_calibrate_model_give(AstroCalibrateModel *model, const AstroCalibrateGiven *given,
                                    guint64 step, GError **error)
{
  if (!make_room(model, 1, error))
    return FALSE;
  if (!given) {
    for (gsize k = 0; k < model->values; k++)
      model->block[k] = NAN;
    return TRUE;
  }
  const AstroCalibrateConfig config = { .in = *given->stream };
  const AstroCalibrateArguments arguments = { .steps = given->steps, .validity = given->validity };
  AstroCalibrateChannel at;
  astro_calibrate_channel_init(&at, &config, &arguments, &given->block);
  at.step = step;
  for (at.channel = 0; at.channel < at.size.channels; at.channel++)
    take_channel(model, &at, given->factor);
  return TRUE;
}

const complex double *astro_calibrate_model_values(const AstroCalibrateModel *model)
{
  return model->block;
}
