/**
 * SECTION:element-astrovissrc
 *
 * Visibilities of a simulated array that looks at a sky of point sources, predicted by the
 * measurement equation: what astroskysrc, astrodelay, astrochannelizer and astrocorrelator give
 * together for the same array and sky, at no more cost than that of the visibilities themselves.
 * Hours of the earth's rotation take seconds.
 *
 * A buffer is one integration of property integration in seconds (astrocorrelator counts spectra).
 * A visibility is that of the middle of its integration and its channel: nothing is smeared. With
 * property points it is the mean of as many points along time and as many along frequency.
 *
 * Optional are the receivers' thermal noise, errors of the stations' gains, and lost data, which
 * lowers the counts of good samples as it does in astrocorrelator.
 *
 * |[
 * gst-launch-1.0 astrovissrc num-buffers=20 ! astrofitssink location=a.uvfits
 * ]|
 */
#include "config.h"
#include "elements/astrovissrc.h"

#include "core/predict/predict.h"
#include "core/units.h"
#include "elements/astrofields.h"
#include "elements/astroonce.h"
#include "elements/astroscene.h"
#include "elements/astrosimulator.h"
#include "elements/astrostage.h"

GST_DEBUG_CATEGORY_STATIC(vis_debug);
#define GST_CAT_DEFAULT vis_debug

typedef struct {
  guint channels, points, threads;
  double integration, gain_error, phase_error, loss;
} Settings;

struct _AstroVisSrc {
  GstPushSrc parent;
  AstroSimulator simulator; /* a step is an integration */
  Settings settings;
  Settings now; /* from the start, whatever the properties say by then */
  AstroPredict *predict;
};

G_DEFINE_TYPE_WITH_CODE(AstroVisSrc, astro_vis_src, GST_TYPE_PUSH_SRC,
                        GST_DEBUG_CATEGORY_INIT(vis_debug, "astrovissrc", 0,
                                                "Predicted visibilities"))
GST_ELEMENT_REGISTER_DEFINE(astrovissrc, "astrovissrc", GST_RANK_NONE, ASTRO_TYPE_VIS_SRC)

enum {
  PROP_CHANNELS = ASTRO_SCENE_N_PROPERTIES,
  PROP_INTEGRATION,
  PROP_GAIN_ERROR,
  PROP_PHASE_ERROR,
  PROP_LOSS,
  PROP_POINTS,
  PROP_IS_LIVE,
  PROP_THREADS,
};

static const AstroField fields[] = {
  ASTRO_FIELD(PROP_CHANNELS, Settings, channels),
  ASTRO_FIELD(PROP_INTEGRATION, Settings, integration),
  ASTRO_FIELD(PROP_GAIN_ERROR, Settings, gain_error),
  ASTRO_FIELD(PROP_PHASE_ERROR, Settings, phase_error),
  ASTRO_FIELD(PROP_LOSS, Settings, loss),
  ASTRO_FIELD(PROP_POINTS, Settings, points),
  ASTRO_FIELD(PROP_THREADS, Settings, threads),
  { 0 },
};

/* ---- from properties to an observation ---- */

/* By duration and num-buffers. */
static guint64 find_end(AstroVisSrc *self)
{
  guint64 end = astro_simulator_duration(&self->simulator);
  gint buffers;
  g_object_get(self, "num-buffers", &buffers, NULL);
  return buffers >= 0 ? MIN(end, (guint64)buffers) : end;
}

static gboolean stop(GstBaseSrc *base)
{
  AstroVisSrc *self = ASTRO_VIS_SRC(base);
  g_clear_pointer(&self->predict, astro_predict_free);
  astro_simulator_stop(&self->simulator, base);
  return TRUE;
}

static GstCaps *caps_made(AstroVisSrc *self)
{
  const AstroSimulator *simulator = &self->simulator;
  const guint64 n = simulator->observation->n_stations;
  GstCaps *caps = gst_caps_make_writable(gst_pad_get_pad_template_caps(GST_BASE_SRC_PAD(self)));
  gst_caps_set_simple(caps, "baselines", G_TYPE_INT, (gint)MIN(n * (n + 1) / 2, G_MAXINT),
                      "channels", G_TYPE_INT, (gint)self->now.channels, "pols", G_TYPE_INT,
                      (gint)simulator->now.pols, "rate", GST_TYPE_FRACTION, simulator->rate_n,
                      simulator->rate_d, "frequency", G_TYPE_DOUBLE, simulator->now.frequency,
                      "bandwidth", G_TYPE_DOUBLE, simulator->now.bandwidth, NULL);
  return caps;
}

static gboolean start(GstBaseSrc *base)
{
  AstroVisSrc *self = ASTRO_VIS_SRC(base);
  g_autoptr(GError) error = NULL;

  astro_simulator_take_scene(&self->simulator);
  astro_fields_copy(fields, &self->now, &self->settings, sizeof self->now);
  /* Any number of seconds that the property takes is a fraction of two ints to 1e-9. */
  gst_util_double_to_fraction(self->now.integration, &self->simulator.rate_d,
                              &self->simulator.rate_n);
  const guint64 end = find_end(self);
  if (astro_simulator_start(&self->simulator, &end, &error)) {
    astro_simulator_offer(&self->simulator, base, caps_made(self));
    return TRUE;
  }
  GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
  stop(base);
  return FALSE;
}

/* ---- caps ---- */

static GstCaps *get_caps(GstBaseSrc *base, GstCaps *filter)
{
  return astro_simulator_get_caps(&ASTRO_VIS_SRC(base)->simulator, base, filter);
}

static gboolean negotiate(GstBaseSrc *base)
{
  g_autoptr(GstCaps) own = get_caps(base, NULL);
  return astro_simulator_negotiate(base, own, "visibilities");
}

static gboolean set_caps(GstBaseSrc *base, GstCaps *caps)
{
  AstroVisSrc *self = ASTRO_VIS_SRC(base);
  g_autoptr(GError) error = NULL;

  g_clear_pointer(&self->predict, astro_predict_free);
  if (astro_stream_from_caps(&self->simulator.stream, caps, &error)) {
    AstroPredictConfig config = {
      .stream = self->simulator.stream,
      .observation = self->simulator.observation,
      .sky = self->simulator.sky,
      .noise = self->simulator.now.noise,
      .gain_error = self->now.gain_error,
      .phase_error = self->now.phase_error * ASTRO_DEGREE,
      .loss = self->now.loss,
      .points = self->now.points,
      .seed = self->simulator.now.seed,
      .threads = self->now.threads,
    };
    self->predict = astro_predict_new(&config, &error);
  }
  if (!self->predict) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
    return FALSE;
  }
  self->simulator.end = find_end(self);
  return TRUE;
}

static gboolean decide_allocation(GstBaseSrc *base, GstQuery *query)
{
  astro_simulator_decide_allocation(&ASTRO_VIS_SRC(base)->simulator, query);
  return TRUE;
}

/* ---- integrations ---- */

/* One count for all where nothing is lost, as astrocorrelator says it. */
static guint32 *add_counts(AstroVisSrc *self, GstBuffer *buffer)
{
  const AstroLayout *layout = &self->simulator.stream.layout;
  AstroLayout shape = { .n_axes = self->now.loss > 0 ? 2 : 0,
                        .axes = { layout->axes[0], layout->axes[1] },
                        .extents = { layout->extents[0], layout->extents[1] } };
  AstroValidityMeta *meta =
      astro_buffer_add_validity(buffer, &shape, astro_predict_full(self->predict));
  return shape.n_axes ? meta->counts : NULL;
}

static GstBuffer *make_block(AstroVisSrc *self)
{
  AstroSimulator *simulator = &self->simulator;
  GstBuffer *buffer =
      astro_simulator_new_block(simulator, astro_stream_step_bytes(&simulator->stream));
  GstClockTime begin = astro_simulator_time(simulator, simulator->next),
               end = astro_simulator_time(simulator, simulator->next + 1);
  GstMapInfo map;

  if (!buffer)
    return NULL;
  if (!gst_buffer_map(buffer, &map, GST_MAP_WRITE)) {
    gst_buffer_unref(buffer);
    return NULL;
  }
  astro_predict_fill(self->predict, self->simulator.next, (gint64)begin, (gint64)(end - begin),
                     map.data, add_counts(self, buffer));
  gst_buffer_unmap(buffer, &map);
  astro_simulator_stamp(simulator, buffer, 1);
  return buffer;
}

static GstFlowReturn create(GstPushSrc *push, GstBuffer **out)
{
  AstroVisSrc *self = ASTRO_VIS_SRC(push);

  if (self->simulator.next >= self->simulator.end)
    return GST_FLOW_EOS;
  astro_simulator_announce(&self->simulator, GST_BASE_SRC(self));
  *out = make_block(self);
  if (!*out) {
    GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT,
                      ("no memory for integrations of %" G_GSIZE_FORMAT " bytes",
                       astro_stream_step_bytes(&self->simulator.stream)),
                      (NULL));
    return GST_FLOW_ERROR;
  }
  return astro_simulator_wait(&self->simulator, GST_BASE_SRC(self), out);
}

static gboolean unlock(GstBaseSrc *base)
{
  if (!astro_simulator_pauses(base))
    astro_simulator_unlock(&ASTRO_VIS_SRC(base)->simulator, base, TRUE);
  return TRUE;
}

static gboolean unlock_stop(GstBaseSrc *base)
{
  astro_simulator_unlock(&ASTRO_VIS_SRC(base)->simulator, base, FALSE);
  return TRUE;
}

static gboolean query(GstBaseSrc *base, GstQuery *query)
{
  AstroVisSrc *self = ASTRO_VIS_SRC(base);
  const gboolean started = astro_simulator_is_started(&self->simulator, base);
  switch (GST_QUERY_TYPE(query)) {
  case GST_QUERY_DURATION:
    return astro_simulator_answer_duration(&self->simulator, query,
                                           started ? find_end(self) : G_MAXUINT64);
  case GST_QUERY_LATENCY:
    return astro_simulator_answer_latency(&self->simulator, base, query, started);
  default:
    return GST_BASE_SRC_CLASS(astro_vis_src_parent_class)->query(base, query);
  }
}

/* ---- properties ---- */

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  AstroVisSrc *self = ASTRO_VIS_SRC(object);

  if (id == PROP_IS_LIVE)
    gst_base_src_set_live(GST_BASE_SRC(self), g_value_get_boolean(value));
  else if (!astro_fields_set(fields, &self->settings, id, value) &&
           !astro_scene_set_property(&self->simulator.scene, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  AstroVisSrc *self = ASTRO_VIS_SRC(object);

  if (id == PROP_IS_LIVE)
    g_value_set_boolean(value, gst_base_src_is_live(GST_BASE_SRC(self)));
  else if (!astro_fields_get(fields, &self->settings, id, value) &&
           !astro_scene_get_property(&self->simulator.scene, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void finalize(GObject *object)
{
  astro_simulator_clear(&ASTRO_VIS_SRC(object)->simulator);
  G_OBJECT_CLASS(astro_vis_src_parent_class)->finalize(object);
}

static void add_properties(GObjectClass *klass)
{
  astro_scene_install_properties(klass, 0, "Width of the band in Hz");
  astro_install_uint(klass, PROP_CHANNELS, "channels", "Channels", "Channels of the band", 1,
                     G_MAXINT, 16);
  astro_install_double(klass, PROP_INTEGRATION, "integration", "Integration",
                       "Seconds of a visibility, which is one buffer's", 1e-6, 86400, 10,
                       ASTRO_SCENE_FLAGS);
  astro_install_double(klass, PROP_GAIN_ERROR, "gain-error", "Gain error",
                       "Of the stations' gains, rms about 1", 0, 10, 0, ASTRO_SCENE_FLAGS);
  astro_install_double(klass, PROP_PHASE_ERROR, "phase-error", "Phase error",
                       "Of the phases of the stations' gains, rms in degrees", 0, 1e6, 0,
                       ASTRO_SCENE_FLAGS);
  astro_install_double(klass, PROP_LOSS, "loss", "Loss",
                       "Fraction of its data that every station loses, an eighth of an integration "
                       "at a time: counts of good samples tell",
                       0, 1, 0, ASTRO_SCENE_FLAGS);
  astro_install_uint(klass, PROP_POINTS, "points", "Points",
                     "Along time and along frequency, that a visibility is the mean of (1: the "
                     "middles of integration and channel, nothing is smeared)",
                     1, 1000, 1);
  g_object_class_install_property(klass, PROP_IS_LIVE,
                                  g_param_spec_boolean("is-live", "Is live",
                                                       "Give visibilities at the rate of the clock",
                                                       FALSE, ASTRO_SCENE_FLAGS_MAYBE));
  astro_install_uint(klass, PROP_THREADS, "threads", "Threads",
                     "CPU threads at most (0: the machine's)", 0, 65536, 0);
}

static void astro_vis_src_class_init(AstroVisSrcClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseSrcClass *base = GST_BASE_SRC_CLASS(klass);
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  g_autoptr(GstCaps) caps = gst_caps_from_string(
      "application/x-astro-visibilities, format = { CF32LE, CF64LE }, "
      "layout = channel:baseline:pol:pol, baselines = [ 1, 2147483647 ], "
      "channels = [ 1, 2147483647 ], pols = [ 1, 2 ], rate = [ 0/1, 2147483647/1 ]");

  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  add_properties(object);
  base->start = start;
  base->stop = stop;
  base->get_caps = get_caps;
  base->negotiate = negotiate;
  base->set_caps = set_caps;
  base->decide_allocation = decide_allocation;
  base->unlock = unlock;
  base->unlock_stop = unlock_stop;
  base->query = query;
  GST_PUSH_SRC_CLASS(klass)->create = create;
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(
      element, "Visibility source", "Source",
      "Visibilities of a simulated array by the measurement equation", ASTRO_AUTHOR);
}

static void astro_vis_src_init(AstroVisSrc *self)
{
  astro_fields_set_defaults(self);
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}
