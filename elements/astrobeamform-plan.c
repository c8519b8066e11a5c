/* Plans beams for an observation. */
#include "config.h"
#include "elements/astrobeamform-plan.h"

#include <math.h>

#include "core/beamform/weights.h"
#include "core/select/select.h"

static gboolean check_observation(const AstroObservation *o, const AstroStream *in, GError **error)
{
  const guint64 stations = astro_stream_extent(in, ASTRO_AXIS_STATION);
  if (!o)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "the stream has no observation: expected astroobserve upstream with "
                               "array, phase-centre and start-time");
  if (!o->has_start || !o->has_phase_centre)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, "the observation has no %s",
                               o->has_start ? "phase centre" : "start");
  if (in->rate_n <= 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "caps have no field \"rate\": the phases of beams change with time");
  return o->n_stations == stations ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "the observation has %u stations and the caps have %" G_GUINT64_FORMAT,
                             o->n_stations, stations);
}

static gboolean read_stations(AstroBeamformPlan *plan, const char *text, const AstroObservation *o,
                              GError **error)
{
  const AstroSelectFrom from = { "stations", o->n_stations, o->names };
  g_autoptr(GArray) list = text ? astro_select_read_list(text, &from, error) : NULL;
  if (text && !list)
    return FALSE;
  plan->stations.n = list ? list->len : o->n_stations;
  plan->index = g_new(guint, plan->stations.n);
  for (guint i = 0; i < plan->stations.n; i++)
    plan->index[i] = list ? (guint)g_array_index(list, guint64, i) : i;
  plan->stations.index = plan->index;
  return TRUE;
}

static gboolean read_weights(AstroBeamformPlan *plan, const char *path, const AstroObservation *o,
                             const AstroStream *in, GError **error)
{
  if (!path)
    return TRUE;
  plan->weights =
      astro_beamform_weights_read(path, o, plan->index, plan->stations.n,
                                  (guint)astro_stream_extent(in, ASTRO_AXIS_CHANNEL), error);
  plan->stations.weights = plan->weights;
  if (!plan->weights)
    g_prefix_error(error, "weights: ");
  return plan->weights != NULL;
}

/* Noise of n stations falls by sqrt(n) in their mean: integers would lose what is below a step. */
static double find_scale(double asked, const AstroBeamformConfig *config, guint n)
{
  if (asked != 0)
    return asked;
  return astro_format_info(config->out.format)->is_float ? 1 : sqrt(n);
}

AstroBeamformPlan *astro_beamform_plan_new(const AstroBeamformTexts *texts, double scale,
                                           const AstroObservation *beams,
                                           const AstroObservation *observation,
                                           const AstroBeamformConfig *config, GError **error)
{
  AstroBeamformPlan *plan = g_new0(AstroBeamformPlan, 1);
  if (check_observation(observation, &config->in, error) &&
      read_stations(plan, texts->stations, observation, error) &&
      read_weights(plan, texts->weights, observation, &config->in, error))
    plan->steering = astro_beamform_steering_new((AstroObservation *)observation, beams,
                                                 plan->index, plan->stations.n, &config->in, error);
  if (!plan->steering) {
    astro_beamform_plan_free(plan);
    return NULL;
  }
  plan->stations.seconds = astro_beamform_steering_seconds(plan->steering);
  plan->stations.scale = find_scale(scale, config, plan->stations.n);
  return plan;
}

void astro_beamform_plan_free(AstroBeamformPlan *plan)
{
  g_clear_pointer(&plan->steering, astro_beamform_steering_free);
  g_free(plan->index);
  g_free(plan->weights);
  g_free(plan);
}
