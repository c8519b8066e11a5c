/**
 * SECTION:element-astroskysrc
 *
 * Voltages of a simulated array that looks at a sky of point sources, with receiver noise; or a
 * test pattern. Every source reaches every station with its own delay, which follows the Earth's
 * rotation. These are the full delays: astrodelay removes those of the phase centre. Without
 * astrodelay, a phase centre in the zenith (the default) and a short observation with a small array
 * come close. Complex samples come at the rate of the bandwidth, real ones (I8, I16LE, F32LE) at
 * twice that rate.
 *
 * Sources may be polarised (sky="0,0,2,q=0.3,u=-0.1,v=0.02,rm=40") and have spectral lines
 * (sky="0,0,0,line=1.4204e9:2e5:5"); doc/conventions.md says how. Property basis chooses what the
 * receivers measure.
 *
 * Properties pulsar and burst add sources that are not steady, dispersed over the band; this pulsar
 * turns ten times a second: pulsar="0.002,0,5,period=0.1,duty=0.05,dm=2.5"
 *
 * Property rfi adds interference: tones and bands of noise, all the time or now and then, in all
 * stations or in some. This is a tone in stations 0 to 3 and 7, and ten bursts of noise at random
 * places, each on for a hundredth of a second in every second:
 * rfi="150.1e6,50,stations=0-3+7;random,20,count=10,width=1e4,period=1,on=0.01"
 *
 * With earth-orientation, an IERS file, stations move with its UT1 - UTC and polar motion; the
 * observation passes these on, and all elements downstream compute with them.
 *
 * With repeat, blocks that a device reads stay on it: a message astro-repeat tells how many, and
 * who keeps them.
 *
 * |[
 * gst-launch-1.0 astroskysrc stations=8 sky="0.01,0.02,3;-0.02,0.005,1" noise=100 duration=1 ! \
 *   application/x-astro-voltages,format=CI8 ! filesink location=sky.ci8
 * ]|
 */
#include "config.h"
#include "elements/astroskysrc.h"

#include <math.h>

#include "core/backend/device.h"
#include "core/kit/enum.h"
#include "core/kit/fail.h"
#include "core/memory/memory.h"
#include "core/lib/sky/voltages.h"
#include "elements/base/astrostage.h"

#define BLOCK_BYTES (4u << 20) /* in a buffer, if block-steps is not set */
#define BLOCK_GRAIN 1024       /* steps that the simulator makes at a time */
#define REAL_CAPS 1            /* index of the real formats in the template's caps */

typedef struct {
  guint block_steps, repeat, threads;
  double scale, tone;
  AstroPattern pattern;
  char *rfi, *pulsar, *burst;
} Settings;

struct _AstroSkySrc {
  AstroSimulator parent;
  Settings settings;
  Settings now; /* copies of the properties at the start */
  AstroVoltages *voltages;
  AstroInterference *interference; /* in voltages; NULL: there is none yet */
  guint stations;                  /* for which it was read */
  GPtrArray *prepared;             /* GstBuffer *; blocks that repeat; NULL: none do */
};

G_DEFINE_TYPE(AstroSkySrc, astro_sky_src, ASTRO_TYPE_SIMULATOR)
GST_ELEMENT_REGISTER_DEFINE(astroskysrc, "astroskysrc", GST_RANK_NONE, ASTRO_TYPE_SKY_SRC)

ASTRO_STATIC_ENUM_TYPE(pattern_get_type, "AstroSkyPattern",
                       { ASTRO_PATTERN_SKY, "Point sources and receiver noise", "sky" },
                       { ASTRO_PATTERN_TONE, "One tone in all inputs, no noise", "tone" },
                       { ASTRO_PATTERN_NOISE, "Receiver noise alone", "noise" },
                       { ASTRO_PATTERN_IMPULSE, "One sample in 4096, no noise", "impulse" },
                       { ASTRO_PATTERN_RAMP, "Real parts count samples, imaginary parts inputs",
                         "ramp" })

static void get_active_scale(GObject *object, GValue *value)
{
  AstroSkySrc *self = ASTRO_SKY_SRC(object);
  GST_OBJECT_LOCK(self);
  g_value_set_double(value, self->voltages ? astro_voltages_scale(self->voltages) : 0);
  GST_OBJECT_UNLOCK(self);
}

static void get_active_rfi(GObject *object, GValue *value)
{
  AstroSkySrc *self = ASTRO_SKY_SRC(object);
  GST_OBJECT_LOCK(self);
  if (self->interference)
    g_value_take_string(value, astro_interference_tell(self->interference, self->stations));
  GST_OBJECT_UNLOCK(self);
}

static const AstroField scene_fields[] = {
  ASTRO_SCENE_BANDWIDTH(
      "Width of the band in Hz: complex samples per second, or half the real ones"),
  ASTRO_SCENE_NOISE(1),
  ASTRO_SIMULATOR_IS_LIVE("Sends samples at the rate of the clock"),
  { 0 },
};

static const AstroField fields[] = {
  ASTRO_UINT(Settings, repeat, "repeat", "Repeat",
             "Makes this many blocks once and sends them again and again, at almost no cost; a "
             "device that reads them keeps them, so that they cross the bus once (0: makes every "
             "block anew)",
             0, 65536, 0),
  ASTRO_ENUM(Settings, pattern, "pattern", "Pattern", "Content of the samples", pattern_get_type,
             ASTRO_PATTERN_SKY),
  ASTRO_DOUBLE(Settings, tone, "tone", "Tone",
               "Frequency of pattern=tone, Hz (0: an eighth of the band above its centre)", 0, 1e13,
               0),
  ASTRO_DOUBLE(Settings, scale, "scale", "Scale",
               "Steps per root of Jy in integer formats (0: from the power of noise, sources and "
               "interference)",
               0, 1e12, 0),
  ASTRO_TEXT(
      Settings, pulsar, "pulsar", "Pulsar",
      "l,m,flux,period=,duty=,dm=;... (s, width of a pulse over the period, pc/cm^3), or a "
      "file of lines ra dec flux [spectral-index] period= duty= dm=: flux is the mean over "
      "the period; phase= (0 to 1) is where the middle of a pulse comes; q=, u=, v=, rm= and "
      "line= as in sky",
      NULL),
  ASTRO_TEXT(Settings, burst, "burst", "Burst",
             "l,m,fluence,time=,width=,dm=;... (Jy s, s, s at half maximum, pc/cm^3), or a file of "
             "lines ra dec fluence [spectral-index] time= width= dm=: time is that of the middle, "
             "at the centre of the band; q=, u=, v=, rm= and line= as in sky",
             NULL),
  ASTRO_TEXT(Settings, rfi, "rfi", "RFI",
             "Interference: frequency,power;frequency,power (Hz, and Jy over the whole band while "
             "it is on), or a file of lines frequency power. Behind them width= (Hz, a band of "
             "noise; else a tone), on=, period=, start= (s), stations= (as 0-3+7) limit it; the "
             "frequency random with count= draws as many from the seed",
             NULL),
  ASTRO_UINT(Settings, block_steps, "block-steps", "Block steps",
             "Time steps in a buffer (0: about 4 MiB, or as many as downstream asks for)", 0,
             1u << 30, 0),
  ASTRO_UINT(Settings, threads, "threads", "Threads",
             "Most CPU threads (0: as many as the machine has)", 0, 65536, 0),
  { ASTRO_FIELD_SAYS(DOUBLE, "active-scale", "Active scale",
                     "Steps per root of Jy in use; correlations divided by its square are in Jy"),
    .real = { 0, G_MAXDOUBLE, 0 }, .get = get_active_scale },
  { ASTRO_FIELD_SAYS(
        TEXT, "active-rfi", "Active RFI",
        "The interference in use as a list for rfi, with what was drawn from the seed"),
    .get = get_active_rfi },
  { 0 },
};

/* ---- from properties to a stream ---- */

static gboolean check_bandwidth(double bandwidth, GError **error)
{
  if (bandwidth <= G_MAXINT)
    return TRUE;
  g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
              "bandwidth=%.17g: expected at most %d Hz, the highest sample rate that caps "
              "can hold",
              bandwidth, G_MAXINT);
  return FALSE;
}

static gboolean check_tone(const Settings *set, const AstroScene *scene, GError **error)
{
  if (set->pattern != ASTRO_PATTERN_TONE || set->tone == 0 ||
      fabs(set->tone - scene->frequency) <= scene->bandwidth / 2)
    return TRUE;
  g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
              "tone=%g: expected a frequency within the band, %g to %g Hz", set->tone,
              scene->frequency - scene->bandwidth / 2, scene->frequency + scene->bandwidth / 2);
  return FALSE;
}

/* A rate is a fraction of two ints, which is within 1e-9 of any bandwidth that is allowed. */
static gboolean take(AstroSimulator *simulator, gint *rate_n, gint *rate_d, GError **error)
{
  const AstroScene *scene = &astro_simulator_simulation(simulator)->scene;
  if (!check_bandwidth(scene->bandwidth, error) ||
      !check_tone(&ASTRO_SKY_SRC(simulator)->now, scene, error))
    return FALSE;
  gst_util_double_to_fraction(scene->bandwidth, rate_n, rate_d);
  return TRUE;
}

static gboolean add_list(AstroSimulator *simulator, AstroSky *sky, const char *text,
                         AstroSourceKind kind, GError **error)
{
  g_autoptr(AstroSky) others = astro_sky_new_pulses(text ? text : "", kind, error);
  if (!others ||
      !astro_sky_resolve(others, astro_simulator_simulation(simulator)->observation, error))
    return FALSE;
  astro_sky_append(sky, g_steal_pointer(&others));
  return TRUE;
}

static gboolean add_sources(AstroSimulator *simulator, AstroSky *sky, GError **error)
{
  const Settings *set = &ASTRO_SKY_SRC(simulator)->now;
  const gboolean any = astro_field_given(set->pulsar) || astro_field_given(set->burst);
  if (any && set->pattern != ASTRO_PATTERN_SKY)
    return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                      "%s: a test pattern has no sources, expected pattern=sky",
                      astro_field_given(set->pulsar) ? "pulsar" : "burst");
  return add_list(simulator, sky, set->pulsar, ASTRO_SOURCE_PULSAR, error) &&
         add_list(simulator, sky, set->burst, ASTRO_SOURCE_BURST, error);
}

static void describe(AstroSimulator *simulator, GstCaps *caps)
{
  const AstroSimulation *simulation = astro_simulator_simulation(simulator);
  GstStructure *real = gst_caps_get_structure(caps, REAL_CAPS);
  gint rate_n, rate_d;
  gst_caps_set_simple(caps, "stations", G_TYPE_INT, (gint)simulation->observation->n_stations,
                      NULL);
  if (gst_util_fraction_multiply(simulation->rate_n, simulation->rate_d, 2, 1, &rate_n, &rate_d))
    gst_structure_set(real, "rate", GST_TYPE_FRACTION, rate_n, rate_d, NULL);
  else /* the rate is too high for caps */
    gst_caps_remove_structure(caps, REAL_CAPS);
}

static guint64 block_steps(AstroSimulator *simulator)
{
  const guint asked = ASTRO_SKY_SRC(simulator)->now.block_steps;
  const gsize step = astro_stream_step_bytes(&astro_simulator_simulation(simulator)->stream);
  return asked ? asked : BLOCK_GRAIN * MAX(BLOCK_BYTES / step / BLOCK_GRAIN, 1);
}

/* Repeated blocks repeat with their length. */
static gboolean may_choose_block(AstroSimulator *simulator)
{
  const Settings *set = &ASTRO_SKY_SRC(simulator)->now;
  return set->block_steps == 0 && set->repeat == 0;
}

/* How much of the sky is needed: repeated blocks keep the sky of their first time. */
static guint64 sky_steps(AstroSimulator *simulator, guint64 steps)
{
  const Settings *set = &ASTRO_SKY_SRC(simulator)->now;
  const guint64 made = set->repeat * astro_simulator_simulation(simulator)->block;
  if (set->pattern != ASTRO_PATTERN_SKY)
    return 0;
  return made ? MIN(steps, made) : steps;
}

/* The voltages use the interference. */
static void take_voltages(AstroSkySrc *self, AstroVoltages *voltages,
                          AstroInterference *interference)
{
  const AstroSimulation *simulation = astro_simulator_simulation(ASTRO_SIMULATOR(self));
  GST_OBJECT_LOCK(self);
  g_clear_pointer(&self->voltages, astro_voltages_free);
  g_clear_pointer(&self->interference, astro_interference_free);
  self->voltages = voltages;
  self->interference = interference;
  self->stations = interference ? simulation->observation->n_stations : 0;
  GST_OBJECT_UNLOCK(self);
}

static void forget(AstroSimulator *simulator)
{
  AstroSkySrc *self = ASTRO_SKY_SRC(simulator);
  g_clear_pointer(&self->prepared, g_ptr_array_unref);
  take_voltages(self, NULL, NULL);
}

/* The other patterns have no flux scale. */
static gboolean has_flux(AstroPattern pattern)
{
  return pattern == ASTRO_PATTERN_SKY || pattern == ASTRO_PATTERN_NOISE;
}

static AstroInterference *read_rfi(AstroSkySrc *self, GError **error)
{
  const AstroSimulation *simulation = astro_simulator_simulation(ASTRO_SIMULATOR(self));
  const AstroScene *scene = &simulation->scene;
  const AstroInterferencePlace place = { simulation->observation, scene->frequency,
                                         scene->bandwidth, scene->seed };
  AstroInterference *interference =
      astro_interference_new(self->now.rfi ? self->now.rfi : "", &place, error);
  g_autofree char *outside =
      interference
          ? astro_interference_tell_outside(interference, scene->frequency, scene->bandwidth)
          : NULL;
  if (outside)
    GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS, ("%s", outside), (NULL));
  return interference;
}

static gboolean agree(AstroSimulator *simulator, GError **error)
{
  AstroSkySrc *self = ASTRO_SKY_SRC(simulator);
  const AstroSimulation *simulation = astro_simulator_simulation(simulator);
  const AstroScene *scene = &simulation->scene;
  const Settings *set = &self->now;
  g_autoptr(AstroInterference) interference = read_rfi(self, error);
  if (!interference)
    return FALSE;
  AstroVoltagesConfig config = {
    .pattern = set->pattern,
    .stream = simulation->stream,
    .observation = simulation->observation,
    .sky = simulation->sky,
    .interference = interference,
    .noise = scene->noise,
    .scale = set->scale,
    .tone = set->tone == 0 ? scene->bandwidth / 8 : set->tone - scene->frequency,
    .seed = scene->seed,
    .threads = set->threads,
  };
  AstroVoltages *voltages = astro_voltages_new(&config, error);
  if (!voltages)
    return FALSE;
  take_voltages(self, voltages, g_steal_pointer(&interference));
  AstroHistory *done = &simulation->observation->done;
  done->delays = ASTRO_DELAYS_IN;
  done->scale = has_flux(set->pattern) ? astro_voltages_scale(voltages) : 0;
  return TRUE;
}

/* ---- blocks that are repeated ---- */

static guint64 block_bytes(AstroSkySrc *self)
{
  const AstroSimulation *simulation = astro_simulator_simulation(ASTRO_SIMULATOR(self));
  return simulation->block * astro_stream_step_bytes(&simulation->stream);
}

/* Prepared blocks all stay in memory. If a device has too little, its driver refuses. */
static gboolean check_memory(AstroSkySrc *self, const AstroDevice *reader)
{
  const guint64 bytes = block_bytes(self), had = astro_host_memory(), most = had / MAX(bytes, 1);
  const guint repeat = self->now.repeat;
  if (reader || repeat <= most)
    return TRUE;
  GST_ELEMENT_ERROR(
      self, RESOURCE, SETTINGS,
      ("property repeat is %u: so many blocks of %" G_GUINT64_FORMAT
       " bytes need %.1f GB, and this machine has %.1f GB; expected at most %" G_GUINT64_FORMAT
       " blocks, or shorter ones (block-steps)",
       repeat, bytes, (double)repeat * (double)bytes * 1e-9, (double)had * 1e-9, most),
      (NULL));
  return FALSE;
}

/* Called again whenever links change: prepared blocks are kept if the reader stays the same. */
static gboolean decide_allocation(GstBaseSrc *base, GstQuery *query)
{
  AstroSkySrc *self = ASTRO_SKY_SRC(base);
  const AstroSimulation *simulation = astro_simulator_simulation(ASTRO_SIMULATOR(self));
  g_autoptr(AstroDevice) reader = simulation->reader ? astro_device_ref(simulation->reader) : NULL;
  if (!GST_BASE_SRC_CLASS(astro_sky_src_parent_class)->decide_allocation(base, query))
    return FALSE;
  if (simulation->reader != reader)
    g_clear_pointer(&self->prepared, g_ptr_array_unref);
  if (self->now.repeat && !check_memory(self, simulation->reader))
    return FALSE;
  if (self->now.repeat && !self->prepared)
    self->prepared = g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref);
  return TRUE;
}

static gboolean fill(AstroSkySrc *self, GstBuffer *buffer, guint64 first, guint64 steps)
{
  GstMapInfo map;
  if (!gst_buffer_map(buffer, &map, GST_MAP_WRITE))
    return FALSE;
  astro_voltages_fill(self->voltages, first, steps, map.data);
  gst_buffer_unmap(buffer, &map);
  return TRUE;
}

/* Rates of stages behind are those of blocks that are there already. */
static void tell_of_device(AstroSkySrc *self, const AstroDevice *reader)
{
  gst_element_post_message(
      GST_ELEMENT(self),
      gst_message_new_element(
          GST_OBJECT(self),
          gst_structure_new("astro-repeat", "blocks", G_TYPE_UINT, self->now.repeat, "bytes",
                            G_TYPE_UINT64, self->now.repeat * block_bytes(self), "copied-up",
                            G_TYPE_STRING, "once", "kept-by", G_TYPE_STRING, reader->name, NULL)));
}

/* All blocks are made before the first is sent, so that a measurement of the elements downstream
 * does not include making them. It may take minutes. */
static GstFlowReturn prepare(AstroSkySrc *self)
{
  const AstroSimulation *simulation = astro_simulator_simulation(ASTRO_SIMULATOR(self));
  if (self->prepared->len == self->now.repeat)
    return GST_FLOW_OK;
  while (self->prepared->len < self->now.repeat) {
    if (astro_simulator_is_stopping(ASTRO_SIMULATOR(self)))
      return GST_FLOW_FLUSHING;
    GstBuffer *buffer = astro_buffer_new(block_bytes(self), simulation->reader);
    if (!buffer)
      return GST_FLOW_ERROR;
    guint64 first = self->prepared->len * simulation->block;
    g_ptr_array_add(self->prepared, buffer);
    if (!fill(self, buffer, first, simulation->block))
      return GST_FLOW_ERROR;
    if (astro_is_given_up()) /* the incomplete block is made again next time */
      g_ptr_array_set_size(self->prepared, (gint)self->prepared->len - 1);
  }
  if (simulation->reader)
    tell_of_device(self, simulation->reader);
  return GST_FLOW_OK;
}

/* ---- blocks ---- */

/* NULL: out of memory. A shorter last block is made anew, since it is not a part of a prepared
 * block in layouts whose slowest axis is not time. */
static GstBuffer *make_block(AstroSkySrc *self, guint64 steps)
{
  const AstroSimulation *simulation = astro_simulator_simulation(ASTRO_SIMULATOR(self));
  const gsize bytes = steps * astro_stream_step_bytes(&simulation->stream);
  guint64 next = simulation->next;
  if (self->prepared) {
    guint64 which = next / simulation->block % self->now.repeat;
    if (steps == simulation->block)
      return gst_buffer_copy_region(g_ptr_array_index(self->prepared, which),
                                    GST_BUFFER_COPY_MEMORY, 0, bytes);
    next = which * simulation->block;
  }
  GstBuffer *buffer = astro_simulator_new_block(ASTRO_SIMULATOR(self), block_bytes(self));
  if (!buffer)
    return NULL;
  gst_buffer_set_size(buffer, (gssize)bytes);
  if (!fill(self, buffer, next, steps))
    gst_clear_buffer(&buffer);
  return buffer;
}

static GstFlowReturn make(AstroSimulator *simulator, guint64 steps, GstBuffer **block)
{
  AstroSkySrc *self = ASTRO_SKY_SRC(simulator);
  const GstFlowReturn flow = self->prepared ? prepare(self) : GST_FLOW_OK;
  if (flow != GST_FLOW_OK)
    return flow;
  *block = make_block(self, steps);
  return *block ? GST_FLOW_OK : GST_FLOW_ERROR;
}

/* ---- the class ---- */

#define ANY_ARRAY                                                                                  \
  "layout = { time:station:pol, station:pol:time, station:time:pol }, stations = [ 1, 65536 ], "   \
  "pols = [ 1, 2 ], rate = [ 0/1, 2147483647/1 ]"

static void astro_sky_src_class_init(AstroSkySrcClass *klass)
{
  AstroSimulatorClass *simulator = ASTRO_SIMULATOR_CLASS(klass);
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  g_autoptr(GstCaps) caps = gst_caps_from_string(
      "application/x-astro-voltages, format = { CI8, CI4, CI16LE, CF32LE }, " ANY_ARRAY
      "; application/x-astro-voltages, format = { I8, I16LE, F32LE }, " ANY_ARRAY);

  simulator->made = "voltages";
  simulator->blocks = "blocks";
  simulator->scene = scene_fields;
  simulator->fields = fields;
  simulator->settings = G_STRUCT_OFFSET(AstroSkySrc, settings);
  simulator->now = G_STRUCT_OFFSET(AstroSkySrc, now);
  simulator->settings_bytes = sizeof(Settings);
  simulator->take = take;
  simulator->add_sources = add_sources;
  simulator->describe = describe;
  simulator->block_steps = block_steps;
  simulator->may_choose_block = may_choose_block;
  simulator->sky_steps = sky_steps;
  simulator->agree = agree;
  simulator->forget = forget;
  simulator->make = make;
  GST_BASE_SRC_CLASS(klass)->decide_allocation = decide_allocation;
  astro_simulator_install_properties(simulator);
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_element_class_set_static_metadata(
      element, "Sky source", "Source", "Simulates voltages of an array that looks at point sources",
      ASTRO_AUTHOR);
}

static void astro_sky_src_init(AstroSkySrc *self)
{
  astro_fields_set_defaults(self);
}
