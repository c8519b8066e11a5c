/**
 * SECTION:element-astrobeamform
 *
 * Forms beams: spectra of stations become spectra of beams, each the mean of the stations with the
 * phases of its direction, which it follows as the sky turns (phases are right to half a
 * thousandth of a turn). Delays of the phase centre have to be taken out before, by astrodelay; an
 * array that faces the zenith may do without for a while, which gives a warning.
 *
 * beams is a list of directions, l,m;l,m (direction cosines from the phase centre) or
 * ra,dec;ra,dec, or a file of lines "ra dec [name]" and "lm l m [name]". Axis beam takes the place
 * of station, and the observation then has each beam's name, direction and kind (tied).
 *
 * Samples are multiplied by the weight of their station and channel, from a file of lines "STATION
 * CHANNELS AMPLITUDE [DEGREES]" (what no line says is 1), and their sum is divided by the sum of
 * the weights' amplitudes: only of samples that are good. So a source keeps its amplitude whichever
 * stations are missing, and the noise of n stations falls by sqrt(n). Counts (validity) say how
 * many stations are behind a value, of those that take part. A beam at the phase centre is the
 * plain mean.
 *
 * beams (as many) and weights may be set while the stream runs: from the next buffer on the new
 * ones are used, and the observation says so before it. Wrong ones give a warning, and the stream
 * keeps those before. Setting weights to the same name reads the file again.
 *
 * The output is CF32LE, or CF16LE, CI16LE or CI8 if downstream asks for it, times scale. With
 * scale=auto that is 1 for floats, and for integers the square root of the number of stations, so
 * that noise keeps its rms. Components that saturate are counted (clipped).
 *
 * With devices=0,1 or all, blocks are dealt out to several GPUs in turn, and beams come out in the
 * order of the stream. They are those of one GPU bit for bit. A block that lies on another GPU is
 * copied: straight where the two are linked, which gst-astro devices tells, else by the host.
 *
 * Any order of axes will do; channel:station:pol:time takes the least time, and is named first in
 * caps, so that an astrotranspose upstream makes it.
 *
 * |[
 * gst-launch-1.0 astroskysrc stations=16 sky=0.01,0,10 duration=0.1 ! astrodelay ! \
 *   astrochannelizer channels=64 ! astrobeamform beams="0,0;0.01,0" ! filesink location=beams.cf32
 * ]|
 */
#include "config.h"
#include "elements/astrobeamform.h"

#include <math.h>
#include <string.h>

#include "core/beamform/beams.h"
#include "core/beamform/losses.h"
#include "core/kit/units.h"
#include "core/lib/sky/earth-error.h"
#include "core/stream/undelayed.h"
#include "core/stream/uvw.h"
#include "elements/astrobeamform-plan.h"
#include "elements/base/astroearth.h"
#include "elements/base/astrofields.h"

struct _AstroBeamform {
  AstroStage parent;
  char *beams_text, *stations, *weights, *scale_text, *earth_orientation; /* properties */

  char *used_beams, *used_weights; /* the texts in use */
  AstroObservation *beams;         /* read from them */
  gint n_beams; /* atomic: caps may be asked for by any thread; 0: not read yet */
  double scale; /* 0: auto */
  AstroEarthUse earth;
  AstroBeamformConfig config;
  AstroBeamformPlan *plan; /* for the observation; NULL: not yet */
  AstroUndelayed *undelayed;
  guint warned_of_delays;
  gboolean warned_of_horizon;
  guint64 first; /* step of the block being processed */
  guint64 turn;  /* blocks so far, for several devices */
  guint64 clipped;
};

G_DEFINE_TYPE(AstroBeamform, astro_beamform, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astrobeamform, "astrobeamform", GST_RANK_NONE, ASTRO_TYPE_BEAMFORM)

/* ---- negotiation ---- */

static const char *const formats_in[] = { "CI8", "CI4", "CI16LE", "CF16LE", "CF32LE", NULL };
static const char *const formats_out[] = { "CF32LE", "CF16LE", "CI16LE", "CI8", NULL };
static const char *const layouts_in[] = { "channel:station:pol:time", "channel:station:time",
                                          "station:pol:time", "station:time", NULL };

static void set_names(GstStructure *s, const char *field, const char *const *names)
{
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  for (guint i = 0; names[i]; i++)
    astro_name_append(&list, names[i]);
  gst_structure_take_value(s, field, &list);
}

/* A layout with another axis in the place of one. */
static char *replace_axis(const char *layout, const char *axis, const char *by)
{
  g_auto(GStrv) names = g_strsplit(layout, ":", -1);
  for (guint i = 0; names[i]; i++)
    if (strcmp(names[i], axis) == 0) {
      g_free(names[i]);
      names[i] = g_strdup(by);
    }
  return g_strjoinv(":", names);
}

/* FALSE: the caps name no layout. */
static gboolean replace_layouts(GstStructure *s, const char *axis, const char *by)
{
  const GValue *value = gst_structure_get_value(s, "layout");
  GValue list = G_VALUE_INIT;
  if (value && G_VALUE_HOLDS_STRING(value)) {
    g_autofree char *layout = replace_axis(g_value_get_string(value), axis, by);
    gst_structure_set(s, "layout", G_TYPE_STRING, layout, NULL);
    return TRUE;
  }
  if (!value || !GST_VALUE_HOLDS_LIST(value))
    return FALSE;
  g_value_init(&list, GST_TYPE_LIST);
  for (guint i = 0; i < gst_value_list_get_size(value); i++) {
    const GValue *one = gst_value_list_get_value(value, i);
    g_autofree char *layout =
        G_VALUE_HOLDS_STRING(one) ? replace_axis(g_value_get_string(one), axis, by) : NULL;
    if (layout)
      astro_name_append(&list, layout);
  }
  gst_structure_take_value(s, "layout", &list);
  return TRUE;
}

static void append_output(AstroBeamform *self, GstCaps *caps, const GstStructure *in)
{
  GstStructure *s = gst_structure_copy(in);
  const gint beams = g_atomic_int_get(&self->n_beams);
  replace_layouts(s, "station", "beam");
  gst_structure_remove_field(s, "stations");
  set_names(s, "format", formats_out);
  if (beams)
    gst_structure_set(s, "beams", G_TYPE_INT, beams, NULL);
  else /* before the start a file is not read yet */
    gst_structure_set(s, "beams", GST_TYPE_INT_RANGE, 1, ASTRO_BEAMFORM_MAX_BEAMS, NULL);
  gst_caps_append_structure(caps, s);
}

/* Any other format or layout is accepted last, so that configure can say why it is wrong. */
static void append_input(GstCaps *caps, const GstStructure *out)
{
  GstStructure *s = gst_structure_copy(out);
  gst_structure_remove_fields(s, "beams", "format", NULL);
  GstStructure *known = gst_structure_copy(s);
  if (!replace_layouts(known, "beam", "station"))
    set_names(known, "layout", layouts_in);
  set_names(known, "format", formats_in);
  gst_caps_append_structure(caps, known);
  gst_structure_remove_field(s, "layout");
  gst_caps_append_structure(caps, s);
}

static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  GstCaps *result = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); i++)
    if (direction == GST_PAD_SINK)
      append_output(ASTRO_BEAMFORM(trans), result, gst_caps_get_structure(caps, i));
    else
      append_input(result, gst_caps_get_structure(caps, i));
  return astro_stage_filter_caps(result, filter);
}

static void use_texts(AstroBeamform *self, const char *beams, const char *weights)
{
  g_free(self->used_beams);
  g_free(self->used_weights);
  self->used_beams = g_strdup(beams);
  self->used_weights = g_strdup(weights);
}

static void forget(AstroBeamform *self)
{
  g_clear_pointer(&self->plan, astro_beamform_plan_free);
  g_clear_pointer(&self->undelayed, astro_undelayed_free);
  self->warned_of_delays = 0;
  self->warned_of_horizon = FALSE;
}

static gboolean check_scale(const AstroBeamform *self, GError **error)
{
  const AstroFormat from = self->config.in.format, to = self->config.out.format;
  return self->scale != 0 || astro_format_info(to)->is_float ||
         !astro_format_info(from)->is_float ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "scale=auto from %s to %s: floats may have any size: "
                             "expected a scale that makes integers of them, or CF32LE and "
                             "astroconvert scale=auto",
                             astro_format_name(from), astro_format_name(to));
}

static gboolean configure(AstroStage *stage, gpointer config, gboolean *pass_through,
                          GError **error)
{
  AstroBeamform *self = ASTRO_BEAMFORM(stage);
  self->config = (AstroBeamformConfig){ *astro_stage_in(stage), *astro_stage_out(stage) };
  forget(self);
  *(AstroBeamformConfig *)config = self->config;
  return check_scale(self, error) &&
         astro_stage_check_extent(stage, ASTRO_AXIS_BEAM, self->beams->n_beams, error);
}

/* ---- the observation ---- */

/* Phases turn channels as wholes, as if each were at its middle. */
#define LOSS_TO_TELL 0.02

static void warn_of_loss(AstroBeamform *self)
{
  const AstroStream *in = &self->config.in;
  const double spectrum = (double)in->rate_d / in->rate_n;
  const double spread = astro_beamform_steering_spread(self->plan->steering);
  if (spread > LOSS_TO_TELL * spectrum)
    GST_ELEMENT_WARNING(
        self, STREAM, FAILED,
        ("delays at the beam farthest from the phase centre differ between stations by up to %.3g "
         "us, and a spectrum takes %.3g us: up to %s of its signal is lost. Expected narrower "
         "channels, or a phase centre (astroobserve) closer to the beams",
         spread * 1e6, spectrum * 1e6, spread < spectrum ? "that fraction" : "all"),
        (NULL));
}

static AstroBeamformPlan *make_plan(AstroBeamform *self, const AstroObservation *beams,
                                    const char *weights, GError **error)
{
  g_autofree char *stations = astro_fields_copy_text(self, &self->stations);
  const AstroBeamformTexts texts = { (char *)astro_field_given(stations),
                                     (char *)astro_field_given(weights) };
  return astro_beamform_plan_new(&texts, self->scale, beams,
                                 astro_stage_observation(ASTRO_STAGE(self)), &self->config, error);
}

static gboolean prepare(AstroBeamform *self, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const AstroObservation *observation = astro_stage_observation(stage);
  if (self->plan)
    return TRUE;
  self->plan = make_plan(self, self->beams, self->used_weights, error);
  if (!self->plan)
    return FALSE;
  self->undelayed = astro_undelayed_new((AstroObservation *)observation, astro_stage_in(stage));
  astro_earth_use_tell(
      &self->earth, GST_ELEMENT(self), observation, astro_stage_in(stage),
      astro_earth_error_of_uvw(astro_beamform_steering_distance(self->plan->steering)),
      " at the beams");
  warn_of_loss(self);
  return TRUE;
}

/* NULL: the text is wrong, or says another number of beams than the caps of the output. */
static AstroObservation *read_as_many(AstroBeamform *self, const char *text, GError **error)
{
  g_autoptr(AstroObservation) beams = astro_beamform_beams_read(text, error);
  if (!beams || beams->n_beams == self->beams->n_beams)
    return g_steal_pointer(&beams);
  astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                      "beams: %u directions, expected %u while the stream runs, as it has now",
                      beams->n_beams, self->beams->n_beams);
  return NULL;
}

static gboolean renew(AstroStage *stage, GError **error)
{
  AstroBeamform *self = ASTRO_BEAMFORM(stage);
  g_autofree char *text = astro_fields_copy_text(self, &self->beams_text),
                  *weights = astro_fields_copy_text(self, &self->weights);
  g_autoptr(AstroObservation) beams = read_as_many(self, text, error);
  AstroBeamformPlan *plan = beams ? make_plan(self, beams, weights, error) : NULL;
  if (!plan) {
    astro_fields_put_back(self, &self->beams_text, text, self->used_beams);
    astro_fields_put_back(self, &self->weights, weights, self->used_weights);
    return FALSE;
  }
  astro_beamform_plan_free(plan);
  forget(self);
  astro_observation_unref(self->beams);
  self->beams = g_steal_pointer(&beams);
  use_texts(self, text, weights);
  return TRUE;
}

static gboolean orient(AstroStage *stage, AstroObservation *observation, GError **error)
{
  AstroBeamform *self = ASTRO_BEAMFORM(stage);
  return astro_earth_use(&self->earth, self, &self->earth_orientation, observation, error);
}

static gboolean observed(AstroStage *stage, GError **error)
{
  forget(ASTRO_BEAMFORM(stage));
  return TRUE;
}

static gboolean amend(AstroStage *stage, AstroObservation *observation, GError **error)
{
  AstroBeamform *self = ASTRO_BEAMFORM(stage);
  if (!prepare(self, error))
    return FALSE;
  astro_observation_clear_beams(observation);
  for (guint b = 0; b < self->beams->n_beams; b++) {
    const AstroBeam *beam = &self->beams->beams[b];
    if (!astro_observation_add_beam(observation, beam->name, beam->kind, beam->frame, beam->x,
                                    beam->y, error))
      return FALSE;
  }
  observation->done.scale *= fabs(self->plan->stations.scale);
  return TRUE;
}

/* ---- checks of a block's time ---- */

static gboolean check_delays(AstroBeamform *self, gint64 ns, GError **error)
{
  const double turns = self->undelayed ? astro_undelayed_turns(self->undelayed, ns) : 0;
  const gboolean is_little = turns <= ASTRO_UNDELAYED_LITTLE;
  if (!self->undelayed || self->warned_of_delays > !is_little)
    return TRUE;
  if (!is_little && self->warned_of_delays == 0)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "the delays of the phase centre have not been taken out of these spectra, whose phases are "
        "up to %.3g turns from those of a wave from there, so that beams would look nowhere: "
        "expected astrodelay before the filter bank or behind it",
        turns);
  self->warned_of_delays++;
  GST_ELEMENT_WARNING(self, STREAM, FAILED,
                      ("%s: phases are up to %.3g turns wrong%s. astrodelay takes them out",
                       is_little ? "the delays of the phase centre have not been taken out"
                                 : "the phase centre has left the zenith and its delays have not "
                                   "been taken out",
                       turns,
                       is_little ? ", which is tolerable only at the array's zenith and for a "
                                   "short while"
                                 : " from here on, and beams look away from their directions"),
                      (NULL));
  return TRUE;
}

static void check_horizon(AstroBeamform *self, gint64 ns)
{
  AstroBeamformLow low;
  if (self->warned_of_horizon || !astro_beamform_steering_find_low(self->plan->steering, ns, &low))
    return;
  self->warned_of_horizon = TRUE;
  GST_ELEMENT_WARNING(self, STREAM, FAILED,
                      ("beam %s (ra %.4f, dec %.4f degrees) is %.1f degrees below the horizon of "
                       "the array %.9g s after the start of the observation, where it receives "
                       "nothing but noise: expected beams that the array can see",
                       self->beams->beams[low.beam].name, low.ra * ASTRO_DEGREES,
                       low.dec * ASTRO_DEGREES, -low.height * ASTRO_DEGREES,
                       (double)ns / ASTRO_NS_PER_SECOND),
                      (NULL));
}

/* ---- blocks ---- */

static gint64 time_of(AstroBeamform *self, guint64 step)
{
  AstroStage *stage = ASTRO_STAGE(self);
  return (gint64)astro_stream_time(astro_stage_in(stage), step) + astro_stage_epoch(stage);
}

/* The directions in the middle of each interval that the block has steps of. */
static double *steer(AstroBeamform *self, guint64 first, guint64 steps)
{
  const guint64 interval = astro_beamform_steering_interval(self->plan->steering);
  const guint64 n = astro_beamform_intervals(first, steps, interval), number = first / interval;
  const gsize values = 3 * (gsize)self->beams->n_beams;
  double *offsets = g_try_new(double, n *values);
  for (guint64 i = 0; offsets && i < n; i++) {
    const gint64 begin = time_of(self, (number + i) * interval),
                 end = time_of(self, (number + i + 1) * interval);
    astro_beamform_steering_at(self->plan->steering, begin + (end - begin) / 2,
                               offsets + i * values);
  }
  return offsets;
}

static void copy_clipped(AstroStage *stage)
{
  AstroBeamform *self = ASTRO_BEAMFORM(stage);
  GST_OBJECT_LOCK(self);
  self->clipped = astro_stage_result(stage)->clipped;
  GST_OBJECT_UNLOCK(self);
}

static gboolean work(AstroStage *stage, GstBuffer *in, GstBuffer *out, guint64 steps,
                     GError **error)
{
  AstroBeamform *self = ASTRO_BEAMFORM(stage);
  g_autofree double *offsets = steer(self, self->first, steps);
  const AstroBeamformArguments arguments = {
    .stations = &self->plan->stations,
    .first = self->first,
    .steps = steps,
    .interval = astro_beamform_steering_interval(self->plan->steering),
    .offsets = offsets,
    .validity = astro_buffer_get_validity(in),
  };
  if (!offsets)
    return astro_backend_no_memory(error, "no memory for the directions of %u beams",
                                   self->beams->n_beams);
  if (!astro_stage_submit(stage, in, out, &arguments, error))
    return FALSE;
  astro_beamform_validity(&self->config, &arguments, out);
  copy_clipped(stage);
  return TRUE;
}

/* work has written counts, if the input has any; of a gap nothing is good. */
static gboolean keep_validity(AstroStage *stage, GstBuffer *in, GstBuffer *out)
{
  static const AstroLayout one = { 0 };
  if (astro_buffer_get_validity(in) && !astro_buffer_get_validity(out))
    astro_buffer_add_validity(out, &one, ASTRO_BEAMFORM(stage)->plan->stations.n)->counts[0] = 0;
  return TRUE;
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroBeamform *self = ASTRO_BEAMFORM(stage);
  self->first = first;
  if (!prepare(self, error) ||
      !astro_uvw_check_time(astro_stage_observation(stage), time_of(self, first + steps), error) ||
      !check_delays(self, time_of(self, first), error))
    return FALSE;
  check_horizon(self, time_of(self, first));
  astro_stage_take_lane(stage, (guint)(self->turn++ % astro_stage_n_lanes(stage)));
  return ASTRO_STAGE_CLASS(astro_beamform_parent_class)->feed(stage, in, first, steps, error);
}

static void drained(AstroStage *stage)
{
  copy_clipped(stage);
}

/* ---- states and properties ---- */

static gboolean read_scale(AstroBeamform *self, GError **error)
{
  g_autofree char *text = astro_fields_copy_text(self, &self->scale_text);
  self->scale = 0;
  return g_strcmp0(text, "auto") == 0 ||
         (text && astro_number_parse(text, &self->scale) && self->scale != 0) ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "scale=%s: expected a number other than 0, or auto", text ? text : "");
}

/* A property's setter cannot fail, so the start reports bad values, before there are caps. */
static gboolean start(AstroStage *stage)
{
  AstroBeamform *self = ASTRO_BEAMFORM(stage);
  g_autofree char *text = astro_fields_copy_text(self, &self->beams_text),
                  *weights = astro_fields_copy_text(self, &self->weights);
  g_autoptr(GError) error = NULL;
  AstroObservation *beams =
      read_scale(self, &error) ? astro_beamform_beams_read(text, &error) : NULL;
  if (!beams) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
    return FALSE;
  }
  self->beams = beams;
  use_texts(self, text, weights);
  g_atomic_int_set(&self->n_beams, (gint)beams->n_beams);
  GST_OBJECT_LOCK(self);
  self->clipped = 0;
  GST_OBJECT_UNLOCK(self);
  return ASTRO_STAGE_CLASS(astro_beamform_parent_class)->start(stage);
}

static gboolean stop(GstBaseTransform *trans)
{
  AstroBeamform *self = ASTRO_BEAMFORM(trans);
  const gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_beamform_parent_class)->stop(trans);
  forget(self);
  g_atomic_int_set(&self->n_beams, 0);
  g_clear_pointer(&self->beams, astro_observation_unref);
  use_texts(self, NULL, NULL);
  self->earth = (AstroEarthUse){ 0 };
  return ok;
}

static const AstroField fields[] = {
  ASTRO_TEXT(AstroBeamform, beams_text, "beams", "Beams",
             "Directions: l,m;l,m (direction cosines from the phase centre), ra,dec;ra,dec (ICRS, "
             "in degrees or as 13:31:08.3,+30:30:33), or a file of lines ra dec [name] and lm l m "
             "[name]. While the stream runs as many others may be set, from the next buffer on",
             NULL, .when = ASTRO_WHEN_PLAYING, .changed = astro_stage_settings_changed),
  ASTRO_TEXT(AstroBeamform, stations, "stations", "Stations",
             "Stations that take part: numbers from 0, ranges and names, as 0-3,CS302,8- (unset: "
             "all)",
             NULL),
  ASTRO_TEXT(
      AstroBeamform, weights, "weights", "Weights",
      "File of lines STATION CHANNELS AMPLITUDE [DEGREES], by which samples are multiplied; "
      "* is every STATION or all CHANNELS, which may be a range, as 0-63 (unset: 1). Setting "
      "it while the stream runs reads the file, from the next buffer on",
      NULL, .when = ASTRO_WHEN_PLAYING, .changed = astro_stage_settings_changed),
  ASTRO_TEXT(AstroBeamform, scale_text, "scale", "Scale",
             "Factor on the mean of the stations: a number, or auto: 1 for CF32LE and CF16LE, the "
             "square root of the number of stations for integers",
             "auto"),
  ASTRO_EARTH_FIELD(AstroBeamform, earth_orientation),
  ASTRO_UINT64(AstroBeamform, clipped, "clipped", "Clipped",
               "Components (two a value) that have saturated since the start", 0, G_MAXUINT64, 0,
               .when = ASTRO_WHEN_NEVER),
  { 0 },
};

static void finalize(GObject *object)
{
  use_texts(ASTRO_BEAMFORM(object), NULL, NULL);
  G_OBJECT_CLASS(astro_beamform_parent_class)->finalize(object);
}

static void astro_beamform_class_init(AstroBeamformClass *klass)
{
  static const AstroQuantity quantities[] = { ASTRO_QUANTITY_SPECTRA, ASTRO_QUANTITY_UNKNOWN };
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  astro_fields_install(G_OBJECT_CLASS(klass), fields, 0);
  G_OBJECT_CLASS(klass)->finalize = finalize;
  trans->transform_caps = transform_caps;
  trans->fixate_caps = astro_stage_fixate_exact;
  trans->stop = stop;
  stage->start = start;
  stage->stage = "beamform";
  stage->backends = astro_beamform_backends;
  stage->tell_work = astro_beamform_work;
  stage->configure = configure;
  stage->work = work;
  stage->validity = keep_validity;
  stage->feed = feed;
  stage->drained = drained;
  stage->orient = orient;
  stage->observed = observed;
  stage->amend = amend;
  stage->renew = renew;
  astro_stage_class_add_devices(stage);
  astro_stage_class_add_pads(stage, quantities, quantities);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Beamformer", "Filter/Converter",
      "Forms beams from the spectra of stations, tracked as the sky turns", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "takes",
      "spectra CI4 CI8 CI16LE CF16LE CF32LE: time, channel, station and pol in any order");
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "gives",
      "spectra CF32LE CF16LE CI16LE CI8: the same, with beam in place of station");
}

static void astro_beamform_init(AstroBeamform *self)
{
  astro_fields_set_defaults(self);
}
