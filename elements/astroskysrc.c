/**
 * SECTION:element-astroskysrc
 *
 * Voltages of a simulated array that looks at a sky of point sources, with receiver noise; or a
 * test pattern. Every source reaches every station with its own delay, which follows the earth's
 * rotation. Delays are whole: astrodelay removes those of the phase centre. Without it a phase
 * centre in the zenith (the default) and a short observation of a small array come close.
 *
 * |[
 * gst-launch-1.0 astroskysrc stations=8 sky="0.01,0.02,3;-0.02,0.005,1" noise=100 duration=1 ! \
 *   application/x-astro-voltages,format=CI8 ! filesink location=sky.ci8
 * ]|
 */
#include "config.h"
#include "elements/astroskysrc.h"

#include <math.h>

#include "core/enum.h"
#include "core/memory/memory.h"
#include "core/sky/voltages.h"
#include "elements/astrofields.h"
#include "elements/astroonce.h"
#include "elements/astroscene.h"
#include "elements/astrosimulator.h"
#include "elements/astrostage.h"

GST_DEBUG_CATEGORY_STATIC(sky_debug);
#define GST_CAT_DEFAULT sky_debug

#define BLOCK_BYTES (4u << 20) /* of a buffer, where nobody says */
#define BLOCK_GRAIN 1024       /* steps: what the simulator makes at a time */

typedef struct {
  guint block_steps, repeat, threads;
  double scale, tone;
  AstroPattern pattern;
} Settings;

struct _AstroSkySrc {
  GstPushSrc parent;
  AstroSimulator simulator;
  Settings settings;
  Settings now; /* from the start, whatever the properties say by then */
  AstroVoltages *voltages;
  guint64 block;       /* steps */
  GPtrArray *prepared; /* GstBuffer *; NULL: nothing is repeated */
  guint n_prepared;    /* when all are made */
  gint stopping;       /* atomic: preparing is given up */
};

G_DEFINE_TYPE_WITH_CODE(AstroSkySrc, astro_sky_src, GST_TYPE_PUSH_SRC,
                        GST_DEBUG_CATEGORY_INIT(sky_debug, "astroskysrc", 0, "Simulated voltages"))
GST_ELEMENT_REGISTER_DEFINE(astroskysrc, "astroskysrc", GST_RANK_NONE, ASTRO_TYPE_SKY_SRC)

enum {
  PROP_IS_LIVE = ASTRO_SCENE_N_PROPERTIES,
  PROP_REPEAT,
  PROP_PATTERN,
  PROP_TONE,
  PROP_SCALE,
  PROP_ACTIVE_SCALE,
  PROP_BLOCK_STEPS,
  PROP_THREADS,
};

#define TYPE_PATTERN pattern_get_type()
ASTRO_STATIC_ENUM_TYPE(pattern_get_type, "AstroSkyPattern",
                       { ASTRO_PATTERN_SKY, "Point sources and receiver noise", "sky" },
                       { ASTRO_PATTERN_TONE, "One tone in all inputs, no noise", "tone" },
                       { ASTRO_PATTERN_NOISE, "Receiver noise alone", "noise" },
                       { ASTRO_PATTERN_IMPULSE, "One sample in 4096, no noise", "impulse" },
                       { ASTRO_PATTERN_RAMP, "Real parts count samples, imaginary parts inputs",
                         "ramp" })

/* Those with code of their own are not listed. */
static const AstroField fields[] = {
  ASTRO_FIELD(PROP_REPEAT, Settings, repeat),
  ASTRO_FIELD(PROP_PATTERN, Settings, pattern),
  ASTRO_FIELD(PROP_TONE, Settings, tone),
  ASTRO_FIELD(PROP_SCALE, Settings, scale),
  ASTRO_FIELD(PROP_BLOCK_STEPS, Settings, block_steps),
  ASTRO_FIELD(PROP_THREADS, Settings, threads),
  { 0 },
};

/* ---- from properties to an observation ---- */

/* A rate is a fraction of two ints, which comes within 1e-9 of any bandwidth up to the largest. */
static gboolean read_bandwidth(AstroSkySrc *self, GError **error)
{
  double bandwidth = self->simulator.now.bandwidth;
  if (bandwidth > G_MAXINT) {
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                "bandwidth=%.17g: expected at most %d Hz, the highest rate of samples that caps "
                "can say",
                bandwidth, G_MAXINT);
    return FALSE;
  }
  gst_util_double_to_fraction(bandwidth, &self->simulator.rate_n, &self->simulator.rate_d);
  return TRUE;
}

static gboolean check_tone(AstroSkySrc *self, GError **error)
{
  const Settings *set = &self->now;
  const AstroScene *scene = &self->simulator.now;
  if (set->pattern != ASTRO_PATTERN_TONE || set->tone == 0 ||
      fabs(set->tone - scene->frequency) <= scene->bandwidth / 2)
    return TRUE;
  g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
              "tone=%g: expected a frequency within the band, %g to %g Hz", set->tone,
              scene->frequency - scene->bandwidth / 2, scene->frequency + scene->bandwidth / 2);
  return FALSE;
}

static gboolean stop(GstBaseSrc *base)
{
  AstroSkySrc *self = ASTRO_SKY_SRC(base);
  g_clear_pointer(&self->prepared, g_ptr_array_unref);
  GST_OBJECT_LOCK(self);
  g_clear_pointer(&self->voltages, astro_voltages_free);
  GST_OBJECT_UNLOCK(self);
  astro_simulator_stop(&self->simulator, base);
  return TRUE;
}

static GstCaps *caps_made(AstroSkySrc *self)
{
  const AstroSimulator *simulator = &self->simulator;
  GstCaps *caps = gst_caps_make_writable(gst_pad_get_pad_template_caps(GST_BASE_SRC_PAD(self)));
  gst_caps_set_simple(caps, "stations", G_TYPE_INT, (gint)simulator->observation->n_stations,
                      "pols", G_TYPE_INT, (gint)simulator->now.pols, "rate", GST_TYPE_FRACTION,
                      simulator->rate_n, simulator->rate_d, "frequency", G_TYPE_DOUBLE,
                      simulator->now.frequency, "bandwidth", G_TYPE_DOUBLE,
                      simulator->now.bandwidth, NULL);
  return caps;
}

static gboolean start(GstBaseSrc *base)
{
  AstroSkySrc *self = ASTRO_SKY_SRC(base);
  g_autoptr(GError) error = NULL;

  astro_simulator_take_scene(&self->simulator);
  astro_fields_copy(fields, &self->now, &self->settings, sizeof self->now);
  if (read_bandwidth(self, &error) && check_tone(self, &error)) {
    const guint64 unknown = G_MAXUINT64; /* steps, until there are blocks */
    const gboolean has_sky = self->now.pattern == ASTRO_PATTERN_SKY;
    if (astro_simulator_start(&self->simulator, has_sky ? &unknown : NULL, &error)) {
      astro_simulator_offer(&self->simulator, base, caps_made(self));
      return TRUE;
    }
  }
  GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
  stop(base);
  return FALSE;
}

/* ---- caps ---- */

static GstCaps *get_caps(GstBaseSrc *base, GstCaps *filter)
{
  return astro_simulator_get_caps(&ASTRO_SKY_SRC(base)->simulator, base, filter);
}

static gboolean negotiate(GstBaseSrc *base)
{
  g_autoptr(GstCaps) own = get_caps(base, NULL);
  return astro_simulator_negotiate(base, own, "voltages");
}

static void choose_block(AstroSkySrc *self)
{
  const gsize step = astro_stream_step_bytes(&self->simulator.stream);
  const gsize grains = BLOCK_BYTES / step / BLOCK_GRAIN;
  self->block = self->now.block_steps ? self->now.block_steps : BLOCK_GRAIN * MAX(grains, 1);
  self->simulator.end = astro_simulator_duration(&self->simulator);
}

/* The steps of duration and num-buffers. */
static guint64 find_end(AstroSkySrc *self)
{
  gint buffers;
  g_object_get(self, "num-buffers", &buffers, NULL);
  return buffers >= 0 ? MIN(self->simulator.end, (guint64)buffers * self->block)
                      : self->simulator.end;
}

/* What is repeated is of the time of its first blocks. */
static gboolean check_horizon(AstroSkySrc *self, GError **error)
{
  const guint64 end = find_end(self), made = self->now.repeat * self->block;
  return self->now.pattern != ASTRO_PATTERN_SKY ||
         astro_simulator_check_horizon(&self->simulator, made ? MIN(end, made) : end, error);
}

static gboolean set_caps(GstBaseSrc *base, GstCaps *caps)
{
  AstroSkySrc *self = ASTRO_SKY_SRC(base);
  const Settings *set = &self->now;
  const AstroScene *scene = &self->simulator.now;
  g_autoptr(GError) error = NULL;
  AstroVoltages *voltages = NULL;

  if (astro_stream_from_caps(&self->simulator.stream, caps, &error)) {
    AstroVoltagesConfig config = {
      .pattern = set->pattern,
      .stream = self->simulator.stream,
      .observation = self->simulator.observation,
      .sky = self->simulator.sky,
      .noise = scene->noise,
      .scale = set->scale,
      .tone = set->tone == 0 ? scene->bandwidth / 8 : set->tone - scene->frequency,
      .seed = scene->seed,
      .threads = set->threads,
    };
    choose_block(self);
    if (check_horizon(self, &error))
      voltages = astro_voltages_new(&config, &error);
  }
  if (!voltages) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
    return FALSE;
  }
  GST_OBJECT_LOCK(self);
  g_clear_pointer(&self->voltages, astro_voltages_free);
  self->voltages = voltages;
  GST_OBJECT_UNLOCK(self);
  g_clear_pointer(&self->prepared, g_ptr_array_unref);
  self->n_prepared = set->repeat;
  return TRUE;
}

/* Blocks that are prepared all stay. What a device's memory cannot hold its driver refuses. */
static gboolean check_memory(AstroSkySrc *self)
{
  const guint64 bytes = self->block * astro_stream_step_bytes(&self->simulator.stream);
  const guint64 had = astro_host_memory(), most = had / MAX(bytes, 1);
  if (self->simulator.reader || self->n_prepared <= most)
    return TRUE;
  GST_ELEMENT_ERROR(
      self, RESOURCE, SETTINGS,
      ("property repeat is %u: so many blocks of %" G_GUINT64_FORMAT
       " bytes need %.1f GB, and this machine has %.1f GB; expected at most %" G_GUINT64_FORMAT
       " blocks, or shorter ones (block-steps)",
       self->n_prepared, bytes, (double)self->n_prepared * (double)bytes * 1e-9, (double)had * 1e-9,
       most),
      (NULL));
  return FALSE;
}

/* Comes again whenever links change: blocks that are prepared stay, if their reader does. */
static gboolean decide_allocation(GstBaseSrc *base, GstQuery *query)
{
  AstroSkySrc *self = ASTRO_SKY_SRC(base);
  g_autoptr(AstroDevice) reader =
      self->simulator.reader ? astro_device_ref(self->simulator.reader) : NULL;
  astro_simulator_decide_allocation(&self->simulator, query);
  if (self->simulator.reader != reader)
    g_clear_pointer(&self->prepared, g_ptr_array_unref);
  if (self->n_prepared && !check_memory(self))
    return FALSE;
  if (self->n_prepared && !self->prepared)
    self->prepared = g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref);
  return TRUE;
}

/* ---- blocks ---- */

static gboolean fill(AstroSkySrc *self, GstBuffer *buffer, guint64 first, guint64 steps)
{
  GstMapInfo map;
  if (!gst_buffer_map(buffer, &map, GST_MAP_WRITE))
    return FALSE;
  astro_voltages_fill(self->voltages, first, steps, map.data);
  gst_buffer_unmap(buffer, &map);
  return TRUE;
}

/* All blocks are made before the first is sent, so that what comes after is measured alone. They
 * may take minutes. */
static GstFlowReturn prepare(AstroSkySrc *self)
{
  gsize bytes = self->block * astro_stream_step_bytes(&self->simulator.stream);
  while (self->prepared->len < self->n_prepared) {
    if (g_atomic_int_get(&self->stopping))
      return GST_FLOW_FLUSHING;
    GstBuffer *buffer = astro_buffer_new(bytes, self->simulator.reader);
    if (!buffer)
      return GST_FLOW_ERROR;
    guint64 first = self->prepared->len * self->block;
    g_ptr_array_add(self->prepared, buffer);
    if (!fill(self, buffer, first, self->block))
      return GST_FLOW_ERROR;
  }
  return GST_FLOW_OK;
}

static gboolean unlock(GstBaseSrc *base)
{
  if (astro_simulator_pauses(base))
    return TRUE;
  g_atomic_int_set(&ASTRO_SKY_SRC(base)->stopping, TRUE);
  astro_simulator_unlock(&ASTRO_SKY_SRC(base)->simulator, base, TRUE);
  return TRUE;
}

static gboolean unlock_stop(GstBaseSrc *base)
{
  g_atomic_int_set(&ASTRO_SKY_SRC(base)->stopping, FALSE);
  astro_simulator_unlock(&ASTRO_SKY_SRC(base)->simulator, base, FALSE);
  return TRUE;
}

/* NULL: there is no memory. The part of a block that is left at the end is made anew, since an
 * input's samples may lie anywhere in the whole one. */
static GstBuffer *make_block(AstroSkySrc *self, guint64 steps)
{
  const gsize step_bytes = astro_stream_step_bytes(&self->simulator.stream);
  guint64 next = self->simulator.next;
  if (self->prepared) {
    guint64 which = next / self->block % self->n_prepared;
    if (steps == self->block)
      return gst_buffer_copy_region(g_ptr_array_index(self->prepared, which),
                                    GST_BUFFER_COPY_MEMORY, 0, steps * step_bytes);
    next = which * self->block;
  }
  GstBuffer *buffer = astro_simulator_new_block(&self->simulator, self->block * step_bytes);
  if (!buffer)
    return NULL;
  gst_buffer_set_size(buffer, (gssize)(steps * step_bytes));
  if (!fill(self, buffer, next, steps))
    gst_clear_buffer(&buffer);
  return buffer;
}

static GstFlowReturn create(GstPushSrc *push, GstBuffer **out)
{
  AstroSkySrc *self = ASTRO_SKY_SRC(push);
  guint64 steps =
      MIN(self->block, self->simulator.end - MIN(self->simulator.next, self->simulator.end));

  if (steps == 0)
    return GST_FLOW_EOS;
  const GstFlowReturn flow = self->prepared ? prepare(self) : GST_FLOW_OK;
  if (flow == GST_FLOW_FLUSHING)
    return flow;
  astro_simulator_announce(&self->simulator, GST_BASE_SRC(self));
  *out = flow == GST_FLOW_OK ? make_block(self, steps) : NULL;
  if (!*out) {
    GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT,
                      ("no memory for blocks of %" G_GUINT64_FORMAT " bytes",
                       self->block * astro_stream_step_bytes(&self->simulator.stream)),
                      (NULL));
    return GST_FLOW_ERROR;
  }
  astro_simulator_stamp(&self->simulator, *out, steps);
  return astro_simulator_wait(&self->simulator, GST_BASE_SRC(self), out);
}

/* Blocks and the end are known before there are voltages. */
static gboolean has_voltages(AstroSkySrc *self)
{
  GST_OBJECT_LOCK(self);
  const gboolean has_voltages = self->voltages != NULL;
  GST_OBJECT_UNLOCK(self);
  return has_voltages;
}

static gboolean answer_duration(AstroSkySrc *self, GstQuery *query)
{
  return astro_simulator_answer_duration(&self->simulator, query,
                                         has_voltages(self) ? find_end(self) : G_MAXUINT64);
}

static gboolean query(GstBaseSrc *base, GstQuery *query)
{
  AstroSkySrc *self = ASTRO_SKY_SRC(base);
  switch (GST_QUERY_TYPE(query)) {
  case GST_QUERY_DURATION:
    return answer_duration(self, query);
  case GST_QUERY_LATENCY:
    return astro_simulator_answer_latency(&self->simulator, base, query,
                                          has_voltages(self) ? self->block : 0);
  default:
    return GST_BASE_SRC_CLASS(astro_sky_src_parent_class)->query(base, query);
  }
}

/* ---- properties ---- */

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  AstroSkySrc *self = ASTRO_SKY_SRC(object);

  if (id == PROP_IS_LIVE)
    gst_base_src_set_live(GST_BASE_SRC(self), g_value_get_boolean(value));
  else if (!astro_fields_set(fields, &self->settings, id, value) &&
           !astro_scene_set_property(&self->simulator.scene, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  AstroSkySrc *self = ASTRO_SKY_SRC(object);

  if (id == PROP_IS_LIVE) {
    g_value_set_boolean(value, gst_base_src_is_live(GST_BASE_SRC(self)));
  } else if (id == PROP_ACTIVE_SCALE) {
    GST_OBJECT_LOCK(self);
    g_value_set_double(value, self->voltages ? astro_voltages_scale(self->voltages) : 0);
    GST_OBJECT_UNLOCK(self);
  } else if (!astro_fields_get(fields, &self->settings, id, value) &&
             !astro_scene_get_property(&self->simulator.scene, id, value)) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

static void finalize(GObject *object)
{
  astro_simulator_clear(&ASTRO_SKY_SRC(object)->simulator);
  G_OBJECT_CLASS(astro_sky_src_parent_class)->finalize(object);
}

static void add_properties(GObjectClass *klass)
{
  astro_scene_install_properties(klass, 1,
                                 "Width of the band in Hz, and complex samples per second");
  g_object_class_install_property(klass, PROP_IS_LIVE,
                                  g_param_spec_boolean("is-live", "Is live",
                                                       "Give samples at the rate of the clock",
                                                       FALSE, ASTRO_SCENE_FLAGS_MAYBE));
  astro_install_uint(
      klass, PROP_REPEAT, "repeat", "Repeat",
      "Prepare this many blocks and send them again and again, at no cost (0: all are made anew)",
      0, 65536, 0);
  g_object_class_install_property(klass, PROP_PATTERN,
                                  g_param_spec_enum("pattern", "Pattern", "What the samples are",
                                                    TYPE_PATTERN, ASTRO_PATTERN_SKY,
                                                    ASTRO_SCENE_FLAGS));
  astro_install_double(klass, PROP_TONE, "tone", "Tone",
                       "Frequency of pattern=tone, Hz (0: an eighth of the band above its centre)",
                       0, 1e13, 0, ASTRO_SCENE_FLAGS);
  astro_install_double(
      klass, PROP_SCALE, "scale", "Scale",
      "Of integer formats, steps per root of Jy (0: by the power of noise and sources)", 0, 1e12, 0,
      ASTRO_SCENE_FLAGS);
  astro_install_double(klass, PROP_ACTIVE_SCALE, "active-scale", "Active scale",
                       "Steps per root of Jy in use; correlations over its square are Jy", 0,
                       G_MAXDOUBLE, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  astro_install_uint(klass, PROP_BLOCK_STEPS, "block-steps", "Block steps",
                     "Time steps of a buffer (0: about 4 MiB)", 0, 1u << 30, 0);
  astro_install_uint(klass, PROP_THREADS, "threads", "Threads",
                     "CPU threads at most (0: the machine's)", 0, 65536, 0);
}

static void astro_sky_src_class_init(AstroSkySrcClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseSrcClass *base = GST_BASE_SRC_CLASS(klass);
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  g_autoptr(GstCaps) caps = gst_caps_from_string(
      "application/x-astro-voltages, format = { CI8, CI4, CI16LE, CF32LE }, "
      "layout = { time:station:pol, station:pol:time, station:time:pol }, "
      "stations = [ 1, 65536 ], pols = [ 1, 2 ], rate = [ 0/1, 2147483647/1 ]");

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
  gst_element_class_set_static_metadata(element, "Sky source", "Source",
                                        "Voltages of a simulated array looking at point sources",
                                        ASTRO_AUTHOR);
  gst_type_mark_as_plugin_api(TYPE_PATTERN, 0);
}

static void astro_sky_src_init(AstroSkySrc *self)
{
  astro_fields_set_defaults(self);
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}
