/* Computes the delays of all inputs from the observation and the calibration. */
#include "config.h"
#include "core/delay/model.h"

#include <math.h>

#include "core/lib/interpolate/fraction.h"
#include "core/lib/sky/array.h"
#include "core/stream/track.h"

struct AstroDelayModel {
  guint stations, pols;
  AstroTrack *track; /* NULL: all positions are zero, and delays do not depend on time */
  double *positions; /* relative to the array's centre, over the speed of light */
  AstroCalibration *calibration;
  gint64 epoch; /* ns */
};

AstroDelayModel *astro_delay_model_new(AstroObservation *observation, gboolean with_geometry,
                                       guint pols, AstroCalibration *calibration, GError **error)
{
  g_autoptr(AstroCalibration) taken = calibration;
  if ((with_geometry && (!observation->has_start || !observation->has_phase_centre)) ||
      observation->n_stations == 0) {
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                "the observation has %s: delays need stations, a start and a phase centre",
                observation->n_stations == 0 ? "no stations"
                : !observation->has_start    ? "no start time"
                                             : "no phase centre");
    return NULL;
  }
  AstroDelayModel *model = g_new0(AstroDelayModel, 1);
  model->stations = observation->n_stations;
  model->pols = pols;
  model->calibration = g_steal_pointer(&taken);
  if (with_geometry) {
    model->track = astro_track_new(observation);
    model->positions = astro_array_seconds(observation);
  } else {
    model->positions = g_new0(double, 3 * (gsize)model->stations);
  }
  return model;
}

void astro_delay_model_free(AstroDelayModel *model)
{
  g_clear_pointer(&model->track, astro_track_free);
  g_clear_pointer(&model->calibration, astro_calibration_free);
  g_free(model->positions);
  g_free(model);
}

guint astro_delay_model_stations(const AstroDelayModel *model)
{
  return model->stations;
}

guint astro_delay_model_pols(const AstroDelayModel *model)
{
  return model->pols;
}

const AstroCalibration *astro_delay_model_calibration(const AstroDelayModel *model)
{
  return model->calibration;
}

void astro_delay_model_set_epoch(AstroDelayModel *model, gint64 ns_since_start)
{
  model->epoch = ns_since_start;
}

void astro_delay_model_at(AstroDelayModel *model, gint64 ns, double *seconds)
{
  double axes[3][3] = { { 0 } };
  if (model->track)
    astro_track_axes(model->track, (gint64)((guint64)ns + (guint64)model->epoch), axes);
  for (guint station = 0; station < model->stations; station++) {
    const double *p = &model->positions[3 * station];
    double w = p[0] * axes[2][0] + p[1] * axes[2][1] + p[2] * axes[2][2];
    for (guint pol = 0; pol < model->pols; pol++) {
      guint input = station * model->pols + pol;
      seconds[input] = model->calibration ? w - model->calibration->inputs[input].delay : w;
    }
  }
}

double astro_delay_model_spread(AstroDelayModel *model, gint64 ns)
{
  const guint inputs = model->stations * model->pols;
  g_autofree double *seconds = g_new(double, inputs);
  double earliest = G_MAXDOUBLE, latest = -G_MAXDOUBLE;

  astro_delay_model_at(model, ns, seconds);
  for (guint i = 0; i < inputs; i++) {
    earliest = MIN(earliest, seconds[i]);
    latest = MAX(latest, seconds[i]);
  }
  return latest - earliest;
}

double astro_delay_model_reach(const AstroDelayModel *model)
{
  return astro_array_reach(model->positions, model->stations);
}

guint astro_delay_model_stretch(const AstroDelayModel *model, double frequency, double rate,
                                GError **error)
{
  const double reach = astro_delay_model_reach(model);
  const guint stretch = astro_fraction_stretch(reach, frequency, rate);
  if (!stretch)
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                "delays of up to %g s at %g Hz change too fast for %g samples a second, expected "
                "more than %.4g",
                reach, frequency, rate, astro_fraction_least_rate(reach, frequency));
  return stretch;
}

double astro_delay_model_longest(const AstroDelayModel *model)
{
  double longest = 0;
  for (guint i = 0; model->calibration && i < model->stations * model->pols; i++)
    longest = MAX(longest, fabs(model->calibration->inputs[i].delay));
  return longest + astro_delay_model_reach(model);
}
