/**
 * SECTION:element-astrophaseshift
 *
 * Shifts visibilities to another phase centre: it rotates their phases by the difference of the
 * (u,v,w) of the two centres in each integration and channel, and changes the observation's phase
 * centre, from which (u,v,w) follow. This is exact for any distance, and shifting back restores the
 * input. Smearing stays: a source far from the original centre, which channel width or integration
 * time smears, gets no sharper.
 *
 * The centre may be set while the stream runs: from the next buffer on visibilities are shifted to
 * the new one, and the observation says so before it. One that is wrong gives a warning, and the
 * stream keeps the one before.
 *
 * A centre below the array's horizon at the start gives a warning, since no receiver saw it.
 *
 * Weights are unchanged. Sums (CI32LE) become means (CF32LE), by their counts. Visibilities whose
 * delays were not taken out have no phase centre to shift from, and are refused. (u,v,w) are
 * computed with the stream's Earth orientation, or that of an IERS file in earth-orientation.
 *
 * |[
 * gst-launch-1.0 astrofitssrc location=a.uvfits ! astrophaseshift centre=13:31:08.3,+30:30:33 ! \
 *   astrogridder size=1024 cell=10 ! astrofft ! astroimage ! astrofitssink location=a.fits
 * ]|
 */
#include "config.h"
#include "elements/astrophaseshift.h"

#include "core/phaseshift/phaseshift.h"
#include "core/lib/sky/earth-error.h"
#include "core/lib/sky/setup.h"
#include "core/stream/uvw.h"
#include "elements/base/astroearth.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrohorizon.h"
#include "elements/base/astromeans.h"
#include "elements/base/astrosteptimes.h"

struct _AstroPhaseshift {
  AstroStage parent;
  char *centre, *earth_orientation; /* properties */
  AstroEarthUse earth;

  char *used;                /* the centre in use */
  AstroObservation *shifted; /* made from the incoming observation; NULL: not yet */
  AstroShift *shift;
  guint64 first; /* step of the block being processed */
};

G_DEFINE_TYPE(AstroPhaseshift, astro_phaseshift, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astrophaseshift, "astrophaseshift", GST_RANK_NONE,
                            ASTRO_TYPE_PHASESHIFT)

/* ---- negotiation ---- */

static gboolean configure(AstroStage *stage, gpointer config, gboolean *pass_through,
                          GError **error)
{
  AstroPhaseshiftConfig *shift = config;
  shift->in = *astro_stage_in(stage);
  shift->out = *astro_stage_out(stage);
  return TRUE;
}

/* ---- the other centre ---- */

static void forget(AstroPhaseshift *self)
{
  g_clear_pointer(&self->shift, astro_shift_free);
  g_clear_pointer(&self->shifted, astro_observation_unref);
}

static gboolean check_observation(AstroStage *stage, GError **error)
{
  const AstroObservation *o = astro_stage_observation(stage);
  const guint stations = (guint)astro_stream_stations(astro_stage_in(stage));
  if (!o)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "the stream has no observation: expected astroobserve upstream with "
                               "array, phase-centre and start-time");
  if (!o->has_start || !o->has_phase_centre)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, "the observation has no %s",
                               o->has_start ? "phase centre" : "start");
  if (o->n_stations != stations)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "the observation has %u stations and the caps have %u",
                               o->n_stations, stations);
  if (o->uvw_metres > 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "these visibilities bring (u,v,w) of their own (astrofitssrc "
                               "uvw=file), which are not known for another centre: expected "
                               "astrofitssrc uvw=table, which uses those of the stations");
  return astro_history_delays(&o->done, ASTRO_QUANTITY_VISIBILITIES) == ASTRO_DELAYS_OUT ||
         astro_stream_refuse(
             error, ASTRO_STREAM_ERROR_CAPS,
             "the delays of the phase centre have not been taken out of these "
             "visibilities, so that they have no phase centre to shift from: expected "
             "astrodelay before or after the channelizer");
}

static gboolean turn_to(AstroPhaseshift *self, const char *centre, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  AstroObservation *came = (AstroObservation *)astro_stage_observation(stage);
  if (!check_observation(stage, error))
    return FALSE;
  g_autoptr(AstroObservation) shifted = astro_observation_copy(came);
  if (!astro_setup_point(shifted, "centre", centre, error))
    return FALSE;
  forget(self);
  self->shift = astro_shift_new(came, shifted);
  astro_horizon_warn(GST_ELEMENT(self), shifted, "a centre that the array could see");
  astro_earth_use_tell(&self->earth, GST_ELEMENT(self), came, astro_stage_in(stage),
                       astro_earth_error_of_uvw(astro_shift_distance(self->shift)),
                       " at the other centre");
  self->shifted = g_steal_pointer(&shifted);
  return TRUE;
}

static gboolean prepare(AstroPhaseshift *self, GError **error)
{
  return self->shift || turn_to(self, self->used, error);
}

static gboolean renew(AstroStage *stage, GError **error)
{
  AstroPhaseshift *self = ASTRO_PHASESHIFT(stage);
  g_autofree char *centre = astro_fields_copy_text(self, &self->centre);
  if (!turn_to(self, centre, error)) {
    astro_fields_put_back(self, &self->centre, centre, self->used);
    return FALSE;
  }
  g_free(self->used);
  self->used = g_steal_pointer(&centre);
  return TRUE;
}

static gboolean orient(AstroStage *stage, AstroObservation *observation, GError **error)
{
  AstroPhaseshift *self = ASTRO_PHASESHIFT(stage);
  return astro_earth_use(&self->earth, self, &self->earth_orientation, observation, error);
}

static gboolean observed(AstroStage *stage, GError **error)
{
  forget(ASTRO_PHASESHIFT(stage));
  return TRUE;
}

static gboolean amend(AstroStage *stage, AstroObservation *observation, GError **error)
{
  AstroPhaseshift *self = ASTRO_PHASESHIFT(stage);
  if (!prepare(self, error))
    return FALSE;
  observation->phase_ra = self->shifted->phase_ra;
  observation->phase_dec = self->shifted->phase_dec;
  return TRUE;
}

/* ---- blocks ---- */

static gboolean work(AstroStage *stage, GstBuffer *in, GstBuffer *out, guint64 steps,
                     GError **error)
{
  AstroPhaseshift *self = ASTRO_PHASESHIFT(stage);
  const guint stations = (guint)astro_stream_stations(astro_stage_in(stage));
  g_autofree double *nearer = g_new(double, steps *stations);
  AstroPhaseshiftArguments arguments = { .steps = steps,
                                         .nearer = nearer,
                                         .validity = astro_buffer_get_validity(in) };
  for (guint64 i = 0; i < steps; i++) {
    GstClockTime times[2];
    if (!astro_stage_step_times(stage, in, self->first, i, steps, times, error))
      return FALSE;
    const gint64 middle = (gint64)(times[0] + (times[1] - times[0]) / 2);
    if (!astro_uvw_check_time(astro_stage_observation(stage), middle, error))
      return FALSE;
    astro_shift_at(self->shift, middle, nearer + i * stations);
  }
  return astro_stage_submit(stage, in, out, &arguments, error);
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroPhaseshift *self = ASTRO_PHASESHIFT(stage);
  self->first = first;
  return prepare(self, error) &&
         ASTRO_STAGE_CLASS(astro_phaseshift_parent_class)->feed(stage, in, first, steps, error);
}

/* ---- states and properties ---- */

/* Reports a bad centre at the start. The zenith depends on the observation, which comes later. */
static gboolean start(AstroStage *stage)
{
  AstroPhaseshift *self = ASTRO_PHASESHIFT(stage);
  g_autofree char *centre = astro_fields_copy_text(self, &self->centre);
  g_autoptr(AstroObservation) none = astro_observation_new(0);
  g_autoptr(GError) error = NULL;
  g_free(self->used);
  self->used = g_strdup(centre);
  if (g_strcmp0(centre, ASTRO_SETUP_ZENITH) == 0 ||
      astro_setup_point(none, "centre", centre, &error))
    return ASTRO_STAGE_CLASS(astro_phaseshift_parent_class)->start(stage);
  GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
  return FALSE;
}

static gboolean stop(GstBaseTransform *trans)
{
  gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_phaseshift_parent_class)->stop(trans);
  forget(ASTRO_PHASESHIFT(trans));
  g_clear_pointer(&ASTRO_PHASESHIFT(trans)->used, g_free);
  ASTRO_PHASESHIFT(trans)->earth = (AstroEarthUse){ 0 };
  return ok;
}

static const AstroField fields[] = {
  ASTRO_TEXT(AstroPhaseshift, centre, "centre", "Centre",
             "The new phase centre: ra,dec, ICRS, in degrees or as 13:31:08.3,+30:30:33; or "
             "zenith, for that of the array at the start. May be set while the stream runs, and "
             "applies from the next buffer on",
             NULL, .when = ASTRO_WHEN_PLAYING, .changed = astro_stage_settings_changed),
  ASTRO_EARTH_FIELD(AstroPhaseshift, earth_orientation),
  { 0 },
};

static void finalize(GObject *object)
{
  g_free(ASTRO_PHASESHIFT(object)->used);
  G_OBJECT_CLASS(astro_phaseshift_parent_class)->finalize(object);
}

static void astro_phaseshift_class_init(AstroPhaseshiftClass *klass)
{
  static const AstroQuantity quantities[] = { ASTRO_QUANTITY_VISIBILITIES, ASTRO_QUANTITY_UNKNOWN };
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  astro_fields_install(G_OBJECT_CLASS(klass), fields, 0);
  G_OBJECT_CLASS(klass)->finalize = finalize;
  trans->transform_caps = astro_means_transform_caps;
  trans->fixate_caps = astro_stage_fixate_same;
  stage->start = start;
  trans->stop = stop;
  stage->stage = "phaseshift";
  stage->backends = astro_phaseshift_backends;
  stage->tell_work = astro_phaseshift_work;
  stage->configure = configure;
  stage->work = work;
  stage->feed = feed;
  stage->orient = orient;
  stage->observed = observed;
  stage->amend = amend;
  stage->renew = renew;
  astro_stage_class_add_pads(stage, quantities, quantities);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Phase shift", "Filter/Effect",
      "Shifts visibilities to another phase centre: phases and (u,v,w)", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "takes",
      "visibilities CF32LE CF64LE, or sums CI32LE with their counts: channel:baseline:pol:pol");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives",
                                        "visibilities CF32LE CF64LE: channel:baseline:pol:pol");
}

static void astro_phaseshift_init(AstroPhaseshift *self)
{
  astro_fields_set_defaults(self);
}
