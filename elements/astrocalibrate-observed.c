/* The observation of astrocalibrate: what it must say, and the model and the table that belong to
 * it. */
#include "config.h"
#include "elements/astrocalibrate-parts.h"

#include "core/lib/sky/earth-error.h"
#include "elements/base/astrofields.h"

void astro_calibrate_forget_model(AstroCalibrate *self)
{
  g_clear_pointer(&self->model, astro_calibrate_model_free);
  g_clear_pointer(&self->file.stations, g_free);
}

static gboolean check_observation(AstroStage *stage, GError **error)
{
  const AstroObservation *o = astro_stage_observation(stage);
  const guint stations = (guint)astro_stream_stations(astro_stage_in(stage));
  if (!o || !o->has_start)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "%s: expected astroobserve upstream with array, phase-centre and "
                               "start-time",
                               o ? "the observation has no start"
                                 : "the stream has no observation");
  return o->n_stations == stations ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "the observation has %u stations and the caps have %u", o->n_stations,
                             stations);
}

/* The model of a sky needs (u,v,w) of the phase centre. */
static gboolean check_model(AstroStage *stage, GError **error)
{
  const AstroObservation *o = astro_stage_observation(stage);
  if (!o->has_phase_centre)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "the observation has no phase centre: expected astroobserve "
                               "upstream with phase-centre");
  if (o->uvw_metres > 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "these visibilities bring (u,v,w) of their own (astrofitssrc "
                               "uvw=file), and the model is predicted for those of the stations: "
                               "expected astrofitssrc uvw=table");
  return astro_history_delays(&o->done, ASTRO_QUANTITY_VISIBILITIES) == ASTRO_DELAYS_OUT ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "the delays of the phase centre have not been taken out of these "
                             "visibilities, so that the model does not fit: expected "
                             "astrodelay before or after the channelizer");
}

/* The station that a user means by a name, or by a number. */
static gboolean find_reference(AstroCalibrate *self, const AstroObservation *o, GError **error)
{
  g_autofree char *text = astro_fields_copy_text(self, &self->ref_station);
  guint64 number;
  self->reference = 0;
  if (!astro_field_given(text))
    return TRUE;
  for (guint i = 0; i < o->n_stations; i++)
    if (g_strcmp0(o->names[i], text) == 0) {
      self->reference = i;
      return TRUE;
    }
  if (g_ascii_string_to_unsigned(text, 10, 0, o->n_stations - 1, &number, NULL)) {
    self->reference = (guint)number;
    return TRUE;
  }
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "ref-station=%s is none of the %u stations: expected a name, %s to "
                             "%s, or a number from 0 to %u",
                             text, o->n_stations, o->names[0], o->names[o->n_stations - 1],
                             o->n_stations - 1);
}

static gboolean make_model(AstroCalibrate *self, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  AstroObservation *o = (AstroObservation *)astro_stage_observation(stage);
  g_autofree char *sky = astro_fields_copy_text(self, &self->sky);
  guint threads;
  if (self->model)
    return TRUE;
  if ((!self->has_input && !check_model(stage, error)) || !find_reference(self, o, error))
    return FALSE;
  g_object_get(self, "threads", &threads, NULL);
  self->model =
      astro_calibrate_model_new(self->has_input ? NULL : sky, &self->config.in, o, threads, error);
  if (!self->model || self->has_input)
    return self->model != NULL;
  astro_earth_use_tell(&self->earth, GST_ELEMENT(self), o, &self->config.in,
                       astro_earth_error_of_delays(o), " in the model");
  return TRUE;
}

gboolean astro_calibrate_prepare(AstroCalibrate *self, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const AstroObservation *o = astro_stage_observation(stage);
  if (!check_observation(stage, error))
    return FALSE;
  if (astro_calibrate_solves(self) &&
      (!make_model(self, error) ||
       !astro_calibrate_file_begin(&self->file, &self->config, o, error)))
    return FALSE;
  const guint pols = (guint)astro_stream_extent(&self->config.in, ASTRO_AXIS_POL);
  return !astro_calibrate_applies(self) || astro_calibrate_file_match(&self->file, o, pols, error);
}

gboolean astro_calibrate_amend(AstroStage *stage, AstroObservation *observation, GError **error)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(stage);
  if (!astro_calibrate_applies(self))
    return TRUE;
  if (!astro_calibrate_prepare(self, error))
    return FALSE;
  if (self->file.gains->to_jansky && observation->done.scale > 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "the table was solved from visibilities of unknown scale, which its "
                               "gains hold, and this stream says its scale: expected a table that "
                               "was solved from such visibilities");
  if (self->file.gains->to_jansky)
    observation->done.scale = 1;
  if (self->mode == ASTRO_CALIBRATE_MODE_APPLY)
    return astro_calibrate_history_add(observation, self->file.sum, error);
  /* Gains that are solved again, of corrected visibilities, are those that were left. */
  g_autofree char *solved =
      g_strdup_printf("solved-%s", astro_gains_type_name(self->file.gains->type));
  return astro_calibrate_history_has(observation, solved) ||
         astro_calibrate_history_add(observation, solved, error);
}
