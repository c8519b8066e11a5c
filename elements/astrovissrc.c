/**
 * SECTION:element-astrovissrc
 *
 * Visibilities of a simulated array that looks at a sky of point sources, predicted by the
 * measurement equation: what astroskysrc, astrodelay, astrochannelizer and astrocorrelator together
 * give for the same array and sky, at no more cost than that of the visibilities themselves. Hours
 * of the Earth's rotation take seconds.
 *
 * A buffer is one integration, of the length that property integration gives in seconds
 * (astrocorrelator counts spectra). A visibility is that of the middle of its integration and
 * channel, without smearing. With property points it is the mean of that many points along time,
 * and as many along frequency.
 *
 * Sources may be polarised and have spectral lines, as in astroskysrc. Lines are averaged over each
 * channel, whatever the number of points, so that their flux is right; the rotation of polarisation
 * within a channel counts only with points.
 *
 * Thermal noise of the receivers, gain errors of the stations and lost data can be added. Losses
 * lower the counts of good samples, as in astrocorrelator.
 *
 * With earth-orientation, an IERS file, stations move with its UT1 - UTC and polar motion; the
 * observation passes these on, and all elements downstream compute with them.
 *
 * |[
 * gst-launch-1.0 astrovissrc num-buffers=20 ! astrofitssink location=a.uvfits
 * ]|
 */
#include "config.h"
#include "elements/astrovissrc.h"

#include "core/lib/predict/predict.h"
#include "core/kit/units.h"
#include "elements/base/astrostage.h"

typedef struct {
  guint channels, points, threads;
  double integration, gain_error, phase_error, loss;
} Settings;

struct _AstroVisSrc {
  AstroSimulator parent; /* a step is an integration */
  Settings settings;
  Settings now; /* copies of the properties at the start */
  AstroPredict *predict;
};

G_DEFINE_TYPE(AstroVisSrc, astro_vis_src, ASTRO_TYPE_SIMULATOR)
GST_ELEMENT_REGISTER_DEFINE(astrovissrc, "astrovissrc", GST_RANK_NONE, ASTRO_TYPE_VIS_SRC)

static const AstroField scene_fields[] = {
  ASTRO_SCENE_BANDWIDTH("Width of the band in Hz"),
  ASTRO_SCENE_NOISE(0),
  ASTRO_SIMULATOR_IS_LIVE("Sends visibilities at the rate of the clock"),
  { 0 },
};

static const AstroField fields[] = {
  ASTRO_UINT(Settings, channels, "channels", "Channels", "Number of channels in the band", 1,
             G_MAXINT, 16),
  ASTRO_DOUBLE(Settings, integration, "integration", "Integration",
               "Length of an integration in seconds; a buffer is one integration", 1e-6, 86400, 10),
  ASTRO_DOUBLE(Settings, gain_error, "gain-error", "Gain error",
               "Error of the stations' gains, rms about 1", 0, 10, 0),
  ASTRO_DOUBLE(Settings, phase_error, "phase-error", "Phase error",
               "Error of the phases of the stations' gains, rms in degrees", 0, 1e6, 0),
  ASTRO_DOUBLE(Settings, loss, "loss", "Loss",
               "Fraction of data that every station loses, an eighth of an integration at a "
               "time; it lowers the counts of good samples",
               0, 1, 0),
  ASTRO_UINT(
      Settings, points, "points", "Points",
      "Points along time, and along frequency, that a visibility is the mean of (1: only the "
      "middle of integration and channel, without smearing)",
      1, 1000, 1),
  ASTRO_UINT(Settings, threads, "threads", "Threads",
             "Most CPU threads (0: as many as the machine has)", 0, 65536, 0),
  { 0 },
};

/* ---- from properties to a stream ---- */

/* Any length that the property accepts is within 1e-9 of a fraction of two ints. */
static gboolean take(AstroSimulator *simulator, gint *rate_n, gint *rate_d, GError **error)
{
  gst_util_double_to_fraction(ASTRO_VIS_SRC(simulator)->now.integration, rate_d, rate_n);
  return TRUE;
}

static void describe(AstroSimulator *simulator, GstCaps *caps)
{
  const guint64 n = astro_simulator_simulation(simulator)->observation->n_stations;
  gst_caps_set_simple(caps, "baselines", G_TYPE_INT, (gint)MIN(n * (n + 1) / 2, G_MAXINT),
                      "channels", G_TYPE_INT, (gint)ASTRO_VIS_SRC(simulator)->now.channels, NULL);
}

static void forget(AstroSimulator *simulator)
{
  g_clear_pointer(&ASTRO_VIS_SRC(simulator)->predict, astro_predict_free);
}

static gboolean agree(AstroSimulator *simulator, GError **error)
{
  AstroVisSrc *self = ASTRO_VIS_SRC(simulator);
  const AstroSimulation *simulation = astro_simulator_simulation(simulator);
  AstroPredictConfig config = {
    .stream = simulation->stream,
    .observation = simulation->observation,
    .sky = simulation->sky,
    .noise = simulation->scene.noise,
    .gain_error = self->now.gain_error,
    .phase_error = self->now.phase_error * ASTRO_DEGREE,
    .loss = self->now.loss,
    .points = self->now.points,
    .seed = simulation->scene.seed,
    .threads = self->now.threads,
  };
  simulation->observation->done.delays = ASTRO_DELAYS_OUT;
  simulation->observation->done.scale = 1;
  self->predict = astro_predict_new(&config, error);
  return self->predict != NULL;
}

/* ---- integrations ---- */

/* One count for all values where nothing is lost, as astrocorrelator has it. */
static guint32 *add_counts(AstroVisSrc *self, GstBuffer *buffer, const AstroLayout *layout)
{
  AstroLayout shape = { .n_axes = self->now.loss > 0 ? 2 : 0,
                        .axes = { layout->axes[0], layout->axes[1] },
                        .extents = { layout->extents[0], layout->extents[1] } };
  AstroValidityMeta *meta =
      astro_buffer_add_validity(buffer, &shape, astro_predict_full(self->predict));
  return shape.n_axes ? meta->counts : NULL;
}

static GstFlowReturn make(AstroSimulator *simulator, guint64 steps, GstBuffer **block)
{
  AstroVisSrc *self = ASTRO_VIS_SRC(simulator);
  const AstroSimulation *simulation = astro_simulator_simulation(simulator);
  const guint64 next = simulation->next;
  const GstClockTime begin = astro_simulator_time(simulator, next),
                     end = astro_simulator_time(simulator, next + steps);
  GstBuffer *buffer =
      astro_simulator_new_block(simulator, astro_stream_step_bytes(&simulation->stream));
  GstMapInfo map;

  if (!buffer)
    return GST_FLOW_ERROR;
  if (!gst_buffer_map(buffer, &map, GST_MAP_WRITE)) {
    gst_buffer_unref(buffer);
    return GST_FLOW_ERROR;
  }
  astro_predict_fill(self->predict, next, (gint64)begin, (gint64)(end - begin), map.data,
                     add_counts(self, buffer, &simulation->stream.layout));
  gst_buffer_unmap(buffer, &map);
  *block = buffer;
  return GST_FLOW_OK;
}

/* ---- the class ---- */

static void astro_vis_src_class_init(AstroVisSrcClass *klass)
{
  AstroSimulatorClass *simulator = ASTRO_SIMULATOR_CLASS(klass);
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  g_autoptr(GstCaps) caps = gst_caps_from_string(
      "application/x-astro-visibilities, format = { CF32LE, CF64LE }, "
      "layout = channel:baseline:pol:pol, baselines = [ 1, 2147483647 ], "
      "channels = [ 1, 2147483647 ], pols = [ 1, 2 ], rate = [ 0/1, 2147483647/1 ], "
      "counts = (boolean) true");

  simulator->made = "visibilities";
  simulator->blocks = "integrations";
  simulator->scene = scene_fields;
  simulator->fields = fields;
  simulator->settings = G_STRUCT_OFFSET(AstroVisSrc, settings);
  simulator->now = G_STRUCT_OFFSET(AstroVisSrc, now);
  simulator->settings_bytes = sizeof(Settings);
  simulator->take = take;
  simulator->describe = describe;
  simulator->agree = agree;
  simulator->forget = forget;
  simulator->make = make;
  astro_simulator_install_properties(simulator);
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_element_class_set_static_metadata(
      element, "Visibility source", "Source",
      "Simulates visibilities of an array by the measurement equation", ASTRO_AUTHOR);
}

static void astro_vis_src_init(AstroVisSrc *self)
{
  astro_fields_set_defaults(self);
}
