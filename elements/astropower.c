/**
 * SECTION:element-astropower
 *
 * Detects spectra: means of |X|^2, of Stokes parameters or of the coherence of two polarisations,
 * over so many spectra (property integration, or integration-time in seconds), over neighbouring
 * channels (channel-step), and with sum=station over all stations, which is the incoherent beam.
 *
 * Property products names what comes out, joined by ':': I; XX:YY (RR:LL for circular receivers);
 * I:Q:U:V by the conventions of the IAU, in either basis; or coherence, which is XX:YY:XY-RE:XY-IM
 * (RR:LL:RL-RE:RL-IM), the real and imaginary part of X conj(Y). Any selection of these names will
 * do. With one polarisation I is its power. With square=true each product is followed, after all
 * others, by the mean of its square, as XX-SQUARE: both give the spectral kurtosis.
 *
 * Each value is divided by the number of good samples behind it, which its validity counts. A
 * sample of which either polarisation is missing counts for neither. The incoherent beam is divided
 * by the good samples of all stations together, so that each has the weight of its good samples.
 * A value without a good sample is 0, and its count is 0. Sums are in double precision.
 *
 * Integrations begin at multiples of their length, counted from time step zero, so that losses and
 * cuts do not shift them. A stream that ends inside an integration ends with a shorter one. A
 * length that is set while the stream runs counts from the next integration on, as in
 * astrocorrelator.
 *
 * Spectra may have their axes in any order; power is time:station:pol:channel, or has beams in the
 * place of stations, or neither.
 *
 * |[
 * gst-launch-1.0 astroskysrc stations=1 duration=0.1 ! astrochannelizer channels=256 ! \
 *   astropower products=I integration=100 ! filesink location=power.f32
 * ]|
 */
#include "config.h"
#include "elements/astropower.h"

#include <string.h>

#include "core/kit/enum.h"
#include "core/power/power.h"
#include "elements/astropower-caps.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrolength.h"

typedef enum { SUM_NONE, SUM_STATION } Sum;

typedef struct {
  guint channel_step;
  Sum sum;
  gboolean square;
} Settings;

struct _AstroPower {
  AstroStage parent;
  /* properties */
  char *products_text;
  AstroLength length;
  Settings set;

  gint is_circular;            /* atomic: the basis of the last observation */
  AstroPowerProducts products; /* those of the caps that were agreed on */
  guint64 spectra;             /* in one integration */
  guint32 full;                /* samples behind each value if none was lost */

  AstroPowerConfig config; /* of the backend */

  gboolean checked; /* the products against the observation */
  gboolean open;    /* part of an integration has come */
  guint64 number;   /* of that integration */
  guint64 end;      /* the step after the last one that came of it */
  gboolean stale;   /* the backend still holds an integration that was dropped */
  guint32 *counts;
  gsize n_counts; /* that it has room for */
};

G_DEFINE_TYPE(AstroPower, astro_power, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astropower, "astropower", GST_RANK_NONE, ASTRO_TYPE_POWER)

ASTRO_STATIC_ENUM_TYPE(sum_get_type, "AstroPowerSum",
                       { SUM_NONE, "Each station, or beam, by itself", "none" },
                       { SUM_STATION, "All stations in one: the incoherent beam", "station" })

/* ---- negotiation ---- */

static Settings settings_of(AstroPower *self)
{
  Settings now;
  astro_fields_copy_numbers(self, &now, &self->set, sizeof now);
  return now;
}

static gboolean read_products(AstroPower *self, AstroPowerProducts *products, GError **error)
{
  g_autofree char *text = astro_fields_copy_text(self, &self->products_text);
  return astro_power_read_products(products, text, settings_of(self).square,
                                   g_atomic_int_get(&self->is_circular), error);
}

static AstroPowerCaps caps_for(AstroPower *self, const GstStructure *spectra)
{
  const Settings set = settings_of(self);
  AstroPowerCaps settings = { .channel_step = set.channel_step,
                              .sum_stations = set.sum == SUM_STATION };
  gint rate_n = 0, rate_d = 1;
  guint integration;
  if (spectra)
    gst_structure_get_fraction(spectra, "rate", &rate_n, &rate_d);
  if (astro_length_find(ASTRO_STAGE(self), &self->length, rate_n, rate_d, &integration, NULL))
    settings.spectra = integration;
  if (!read_products(self, &settings.products, NULL))
    settings.products.n = 0;
  return settings;
}

static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  AstroPower *self = ASTRO_POWER(trans);
  GstCaps *result = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    const GstStructure *from = gst_caps_get_structure(caps, i);
    const AstroPowerCaps settings = caps_for(self, direction == GST_PAD_SINK ? from : NULL);
    gst_caps_append_structure(result, (direction == GST_PAD_SINK
                                           ? astro_power_to_power
                                           : astro_power_to_spectra)(&settings, from));
  }
  return astro_stage_filter_caps(result, filter);
}

/* The products of the caps are what comes out, whatever properties say since. */
static gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  AstroPower *self = ASTRO_POWER(trans);
  g_autoptr(GError) error = NULL;
  AstroStream stream;
  if (!astro_stage_is_unlinked(trans, out) &&
      !astro_power_from_caps(&stream, &self->products, out, &error)) {
    GST_ELEMENT_ERROR(self, STREAM, WRONG_TYPE, ("%s", error->message), (NULL));
    return FALSE;
  }
  return GST_BASE_TRANSFORM_CLASS(astro_power_parent_class)->set_caps(trans, in, out);
}

static gboolean check_samples(const AstroPowerConfig *config, guint integration, GError **error)
{
  const double samples =
      (double)integration * config->channel_step * (config->sum_stations ? config->stations : 1);
  return samples <= G_MAXUINT32 ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "integration=%u and channel-step=%u sum %.0f samples in a value, "
                             "expected at most %u",
                             integration, config->channel_step, samples, G_MAXUINT32);
}

static gboolean has_squares(const AstroPowerProducts *products)
{
  for (guint i = 0; i < products->n; i++)
    if (astro_power_is_square(products->names[i]))
      return TRUE;
  return FALSE;
}

static gboolean configure(AstroStage *stage, gpointer configuration, gboolean *pass_through,
                          GError **error)
{
  AstroPower *self = ASTRO_POWER(stage);
  const AstroStream *in = astro_stage_in(stage), *out = astro_stage_out(stage);
  AstroPowerConfig *config = configuration;
  const Settings set = settings_of(self);
  guint integration;

  if (!astro_length_find(stage, &self->length, in->rate_n, in->rate_d, &integration, error) ||
      !astro_integration_check(integration, error) ||
      !astro_integration_check_rate(integration, in, out, error))
    return FALSE;
  *config = (AstroPowerConfig){
    .stations = (guint)(astro_stream_extent(in, ASTRO_AXIS_STATION) *
                        astro_stream_extent(in, ASTRO_AXIS_BEAM)),
    .pols = (guint)astro_stream_extent(in, ASTRO_AXIS_POL),
    .channels = (guint)astro_stream_extent(in, ASTRO_AXIS_CHANNEL),
    .layout = in->layout,
    .from = in->format,
    .products = self->products,
    .channel_step = set.channel_step,
    .sum_stations = set.sum == SUM_STATION,
  };
  if (config->channels % config->channel_step == 0 &&
      (!astro_stage_check_extent(stage, ASTRO_AXIS_CHANNEL, config->channels / config->channel_step,
                                 error) ||
       !check_samples(config, integration, error)))
    return FALSE;
  self->config = *config;
  self->spectra = integration;
  self->full = integration * config->channel_step * (config->sum_stations ? config->stations : 1);
  self->stale = self->checked = FALSE;
  if (in->format == ASTRO_FORMAT_CI4 && has_squares(&config->products))
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("the squares are those of samples of format CI4: rounding to 4 bits "
                         "changes the kurtosis, and astroflag method=kurtosis takes noise for "
                         "interference; expected squares of spectra before they are converted"),
                        (NULL));
  astro_length_tell(stage, &self->length, integration);
  return TRUE;
}

/* ---- the observation ---- */

/* Names of the coherence depend on the basis, which may come after the caps. */
static gboolean observed(AstroStage *stage, GError **error)
{
  AstroPower *self = ASTRO_POWER(stage);
  const AstroObservation *observation = astro_stage_observation(stage);
  g_autofree char *text = astro_fields_copy_text(self, &self->products_text);
  const gboolean is_circular = observation && g_str_equal(observation->basis, "circular");
  const gboolean was_circular = g_atomic_int_get(&self->is_circular);
  g_atomic_int_set(&self->is_circular, is_circular);
  self->checked = FALSE;
  if (is_circular != was_circular && g_strcmp0(text, ASTRO_POWER_COHERENCE) == 0)
    gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(stage));
  return TRUE;
}

static gboolean amend(AstroStage *stage, AstroObservation *observation, GError **error)
{
  return astro_integration_check_bandpass(&observation->done, error);
}

static gboolean check_products(AstroPower *self, GError **error)
{
  g_autofree char *text = astro_fields_copy_text(self, &self->products_text);
  self->checked =
      self->checked || astro_power_check_basis(&self->products, text,
                                               astro_stage_observation(ASTRO_STAGE(self)), error);
  return self->checked;
}

/* ---- work ---- */

/* Gives a block its counts, or one count for all where they are the same. A block without any good
 * sample is a GAP. */
static void add_counts(AstroStage *stage, GstBuffer *out, guint64 integrations)
{
  const AstroPower *self = ASTRO_POWER(stage);
  const AstroStream *stream = astro_stage_out(stage);
  AstroLayout shape = { 0 };
  guint64 n = 1, same = 1;

  for (guint i = 0; i < stream->layout.n_axes; i++)
    if (stream->layout.axes[i] != ASTRO_AXIS_POL) {
      shape.axes[shape.n_axes] = stream->layout.axes[i];
      shape.extents[shape.n_axes] =
          stream->layout.extents[i] ? stream->layout.extents[i] : integrations;
      n *= shape.extents[shape.n_axes++];
    }
  while (same < n && self->counts[same] == self->counts[0])
    same++;
  if (same == n) {
    shape.n_axes = 0;
    n = 1;
  }
  AstroValidityMeta *meta = astro_buffer_add_validity(out, &shape, self->full);
  meta->slowest_first = shape.n_axes > 0;
  memcpy(meta->counts, self->counts, n * sizeof *meta->counts);
  if (n == 1 && !meta->counts[0])
    GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_GAP);
}

/* The step with which an integration begins, and the integration that a step belongs to. */
static guint64 begin_of(const AstroPower *self, guint64 number)
{
  return number * self->spectra + self->length.origin;
}

static guint64 number_of(const AstroPower *self, guint64 step)
{
  return (step - self->length.origin) / self->spectra;
}

/* The integration that the stream's end cut short has its length. */
static void end_early(AstroStage *stage, GstBuffer *out)
{
  const AstroPower *self = ASTRO_POWER(stage);
  if (astro_stage_in(stage)->rate_n > 0)
    GST_BUFFER_DURATION(out) = astro_stage_time_in(stage, self->end) -
                               astro_stage_time_in(stage, begin_of(self, self->number));
}

static gboolean make_room(AstroPower *self, gsize n)
{
  if (n <= self->n_counts)
    return TRUE;
  g_free(self->counts);
  self->counts = g_try_new(guint32, n);
  self->n_counts = self->counts ? n : 0;
  return self->counts != NULL;
}

/* Adds steps (in is NULL: lost ones, or none); the integrations that end, the first of them
 * `number`, go out. is_cut: the stream ended inside. */
static gboolean add(AstroStage *stage, GstBuffer *in, AstroPowerArguments *arguments,
                    guint64 number, gboolean is_cut, GError **error)
{
  AstroPower *self = ASTRO_POWER(stage);
  const guint64 ended = astro_power_ended(arguments);
  const gsize bytes = astro_stream_step_bytes(astro_stage_out(stage));
  GstBuffer *out = NULL;

  arguments->begin = self->stale;
  arguments->is_circular = g_atomic_int_get(&self->is_circular);
  if (ended) {
    if (!make_room(self, ended * bytes / sizeof(float) / self->products.n))
      return astro_backend_no_memory(error, "no memory for the counts of a block");
    astro_stage_result(stage)->counts = self->counts;
    out = astro_stage_new_buffer(stage, ended * bytes, error);
    if (!out)
      return FALSE;
  }
  if (!astro_stage_submit(stage, in, out, arguments, error)) {
    gst_clear_buffer(&out);
    return FALSE;
  }
  self->stale = FALSE;
  if (!out)
    return TRUE;
  add_counts(stage, out, ended);
  astro_stage_emit(stage, out, number, ended);
  if (is_cut)
    end_early(stage, out);
  return TRUE;
}

static gboolean end_integration(AstroStage *stage, gboolean is_cut, GError **error)
{
  AstroPower *self = ASTRO_POWER(stage);
  AstroPowerArguments arguments = { .integration = self->spectra,
                                    .phase = self->end - begin_of(self, self->number),
                                    .end = TRUE };
  if (!self->open)
    return TRUE;
  self->open = FALSE;
  return add(stage, NULL, &arguments, self->number, is_cut, error);
}

/* Steps of one length of integrations. */
static gboolean feed_part(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps,
                          GError **error)
{
  AstroPower *self = ASTRO_POWER(stage);
  const gboolean gap = GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP);
  const guint64 number = number_of(self, first);
  AstroPowerArguments arguments = { .steps = steps,
                                    .integration = self->spectra,
                                    .phase = first - begin_of(self, number) };
  AstroGoodSamples good = { 0 };

  if (!check_products(self, error))
    return FALSE;
  /* Lost steps took the rest of the open integration with them. */
  if (number != self->number && !end_integration(stage, FALSE, error))
    return FALSE;
  if (!gap)
    astro_integration_mark_good(&good, in, astro_stage_in(stage), steps);
  g_autofree guint8 *valid = good.valid;
  arguments.valid = valid;
  arguments.valid_time = good.time;
  arguments.valid_channel = good.channel;
  arguments.valid_station = good.station;
  if (!add(stage, gap ? NULL : in, &arguments, number, FALSE, error))
    return FALSE;
  self->end = first + steps;
  self->number = number_of(self, self->end);
  self->open = self->end != begin_of(self, self->number);
  return TRUE;
}

/* An AstroLengthCheck. */
static gboolean check_length(AstroStage *stage, guint spectra, GError **error)
{
  return check_samples(&ASTRO_POWER(stage)->config, spectra, error);
}

static gboolean feed_cut(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps,
                         guint64 from, guint64 n, GError **error)
{
  g_autoptr(GstBuffer) part = NULL;
  if (n == 0)
    return TRUE;
  part = astro_stage_cut(stage, in, steps, from, n, error);
  return part && feed_part(stage, part, first + from, n, error);
}

/* A new length begins where the open integration ends, or at once if none is open. */
static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroPower *self = ASTRO_POWER(stage);
  if (!astro_length_is_new(&self->length))
    return feed_part(stage, in, first, steps, error);
  const gboolean is_open = self->open && number_of(self, first) == self->number;
  const guint64 old = is_open ? MIN(steps, begin_of(self, self->number + 1) - first) : 0;
  if (old == steps)
    return feed_part(stage, in, first, steps, error);
  return feed_cut(stage, in, first, steps, 0, old, error) && end_integration(stage, FALSE, error) &&
         astro_length_renew(stage, &self->length, first + old, 1, check_length, error) &&
         feed_cut(stage, in, first, steps, old, steps - old, error);
}

static gboolean finish(AstroStage *stage, GError **error)
{
  const gboolean ok = end_integration(stage, TRUE, error);
  astro_length_restart(stage, &ASTRO_POWER(stage)->length);
  return ok;
}

static void reset(AstroStage *stage)
{
  AstroPower *self = ASTRO_POWER(stage);
  self->open = FALSE;
  self->stale = TRUE;
  astro_length_restart(stage, &self->length);
}

static guint64 latency_steps(AstroStage *stage)
{
  return ASTRO_POWER(stage)->spectra;
}

/* ---- states and properties ---- */

/* Reports bad products at the start. */
static gboolean start(AstroStage *stage)
{
  AstroPower *self = ASTRO_POWER(stage);
  AstroPowerProducts products;
  g_autoptr(GError) error = NULL;
  self->checked = FALSE;
  g_atomic_int_set(&self->is_circular, FALSE);
  astro_length_start(stage, &self->length);
  if (read_products(self, &products, &error))
    return ASTRO_STAGE_CLASS(astro_power_parent_class)->start(stage);
  GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("property %s", error->message), (NULL));
  return FALSE;
}

static gboolean stop(GstBaseTransform *trans)
{
  const gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_power_parent_class)->stop(trans);
  astro_length_stop(ASTRO_STAGE(trans), &ASTRO_POWER(trans)->length);
  return ok;
}

static gboolean sink_event(GstBaseTransform *trans, GstEvent *event)
{
  astro_length_see(ASTRO_STAGE(trans), &ASTRO_POWER(trans)->length, event);
  return GST_BASE_TRANSFORM_CLASS(astro_power_parent_class)->sink_event(trans, event);
}

static void length_changed(GObject *object)
{
  astro_length_changed(&ASTRO_POWER(object)->length);
}

static const AstroField fields[] = {
  ASTRO_TEXT(AstroPower, products_text, "products", "Products",
             "What comes out, joined by ':': I; XX:YY, or RR:LL of circular receivers; I:Q:U:V; "
             "coherence, which is XX:YY:XY-RE:XY-IM or RR:LL:RL-RE:RL-IM; or any of these names",
             "I"),
  ASTRO_UINT(AstroPower, length.set.spectra, "integration", "Integration",
             "Number of spectra averaged into one, at least 1", 0, G_MAXUINT, 1024,
             .when = ASTRO_WHEN_PLAYING, .changed = length_changed),
  ASTRO_DOUBLE(AstroPower, length.set.seconds, "integration-time", "Integration time",
               "Duration of one integration in seconds, instead of integration: the nearest whole "
               "number of spectra by the rate in caps; 0: use integration",
               0, 1e9, 0, .when = ASTRO_WHEN_PLAYING, .changed = length_changed),
  ASTRO_UINT(AstroPower, set.channel_step, "channel-step", "Channel step",
             "Neighbouring channels averaged into one; has to divide the number of channels", 1,
             G_MAXUINT, 1),
  ASTRO_ENUM(AstroPower, set.sum, "sum", "Sum", "What is averaged into one besides", sum_get_type,
             SUM_NONE),
  ASTRO_BOOLEAN(AstroPower, set.square, "square", "Square",
                "Whether the mean of the square of each product comes out too, for the spectral "
                "kurtosis",
                FALSE),
  { 0 },
};

static void finalize(GObject *object)
{
  g_free(ASTRO_POWER(object)->counts);
  G_OBJECT_CLASS(astro_power_parent_class)->finalize(object);
}

static void astro_power_class_init(AstroPowerClass *klass)
{
  static const AstroQuantity spectra[] = { ASTRO_QUANTITY_SPECTRA, ASTRO_QUANTITY_UNKNOWN };
  static const AstroQuantity power[] = { ASTRO_QUANTITY_POWER, ASTRO_QUANTITY_UNKNOWN };
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  astro_fields_install(object, fields, 0);
  object->finalize = finalize;
  trans->transform_caps = transform_caps;
  trans->fixate_caps = astro_stage_fixate_preferred;
  trans->set_caps = set_caps;
  trans->sink_event = sink_event;
  trans->stop = stop;
  stage->stage = "power";
  stage->backends = astro_power_backends;
  stage->tell_work = astro_power_work;
  stage->start = start;
  stage->configure = configure;
  stage->observed = observed;
  stage->amend = amend;
  stage->feed = feed;
  stage->finish = finish;
  stage->reset = reset;
  stage->latency_steps = latency_steps;
  stage->adds_counts = TRUE;
  astro_stage_class_add_pads(stage, spectra, power);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Power", "Filter/Analyzer",
      "Detects spectra: power, coherence or Stokes parameters, averaged", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "takes",
      "spectra CI4 CI8 CI16LE CF16LE CF32LE: time, channel, station or beam, and pol in any order");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives",
                                        "power F32LE: time:station:pol:channel");
}

static void astro_power_init(AstroPower *self)
{
  astro_fields_set_defaults(self);
}
