/**
 * SECTION:element-astrodedisperse
 *
 * Takes the dispersion by free electrons out of power, so that a pulse that came to each channel at
 * another time is in one time step. Property dm has the dispersion measures, in pc/cm^3: one, a
 * list, or ranges from:to:step, in rising order. Each value is the mean over the channels of what
 * each has so much later than the highest channel, rounded to the nearest time step; pulses are
 * found at the time when they were in the highest channel, as other programs have it. Sums that
 * trials share are made once.
 *
 * Power goes out as time:station:dm:pol:channel with one channel, with beams in the place of
 * stations, or neither; with one dispersion measure there is no axis dm. The observation has the
 * values, and the frequency of the highest channel. Means are weighted with the good samples behind
 * the values, which are counted; where channels are missing the mean is that of the others. Steps
 * at the end of the stream, and before a gap longer than the longest delay, have fewer channels,
 * which the counts show.
 *
 * As many time steps are held as the longest delay has: this is the latency, and memory for it is
 * needed for each channel.
 *
 * Out of voltages and spectra dispersion is taken coherently, at one dispersion measure: a filter
 * turns the phases back, so that a pulse is as short as it was sent. Times are those at the centre
 * of the band, the field frequency. Power that a channel has of its neighbours has the wrong
 * dispersion, so that spectra need a filter bank of many taps (astrochannelizer taps=32), and their
 * lowest channel, which has both edges of the band, is better left out (astroselect channels=1-).
 * Samples come out as CF32LE in the layout they came in. Values whose filters reach beyond the ends
 * of the stream, or into a gap longer than they are, are left out; where samples are missing or not
 * finite, validity counts the good ones among the taps.
 *
 * |[
 * gst-launch-1.0 astroskysrc stations=1 duration=1 frequency=150e6 noise=1 \
 *   burst=0,0,0.05,time=0.3,width=0.005,dm=50 ! astrochannelizer channels=64 ! \
 *   astropower integration-time=0.001 ! astrodedisperse dm=0:100:2 ! filesink location=dm-time.f32
 * ]|
 */
#include "config.h"
#include "elements/astrodedisperse.h"

#include "core/dedisperse/coherent.h"
#include "core/dedisperse/trials.h"
#include "core/dedisperse/weights.h"
#include "elements/astrodedisperse-caps.h"
#include "elements/base/astrofields.h"

struct _AstroDedisperse {
  AstroStage parent;
  char *dm; /* property */

  /* for the negotiated caps */
  AstroDedisperseConfig config;
  GArray *trials; /* those of the configuration */
  guint64 reach;
  AstroDedisperseFilter filter; /* of coherent dedispersion */

  /* the stretch */
  gboolean open;
  guint64 begin, end; /* its first step, and the one after the last */
  guint64 trail;      /* steps that are lost at its end */
  guint32 full;       /* samples behind a value that lost none; 0: not known yet */
  guint32 *counts;
  gsize n_counts; /* that it has room for */
};

G_DEFINE_TYPE(AstroDedisperse, astro_dedisperse, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astrodedisperse, "astrodedisperse", GST_RANK_NONE,
                            ASTRO_TYPE_DEDISPERSE)

/* ---- negotiation ---- */

static GArray *read_trials(AstroDedisperse *self, GError **error)
{
  g_autofree char *text = astro_fields_copy_text(self, &self->dm);
  return astro_dedisperse_trials_read(text, error);
}

static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  g_autoptr(GArray) trials = read_trials(ASTRO_DEDISPERSE(trans), NULL);
  GstCaps *result = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    const GstStructure *from = gst_caps_get_structure(caps, i);
    gst_caps_append_structure(result,
                              direction == GST_PAD_SINK
                                  ? astro_dedisperse_to_output(from, trials ? trials->len : 0)
                                  : astro_dedisperse_to_input(from));
  }
  return astro_stage_filter_caps(result, filter);
}

static gboolean configure(AstroStage *stage, gpointer configuration, gboolean *pass_through,
                          GError **error)
{
  AstroDedisperse *self = ASTRO_DEDISPERSE(stage);
  const AstroStream *in = astro_stage_in(stage);
  const gboolean coherent = in->quantity != ASTRO_QUANTITY_POWER;
  AstroDedisperseConfig *config = configuration;
  g_autoptr(GArray) trials = read_trials(self, error);

  if (!trials || (!coherent && !astro_stage_check_extent(stage, ASTRO_AXIS_DM, trials->len, error)))
    return FALSE;
  g_clear_pointer(&self->trials, g_array_unref);
  self->trials = g_steal_pointer(&trials);
  *config = (AstroDedisperseConfig){
    .coherent = coherent,
    .from = in->format,
    .stations = (guint)(astro_stream_extent(in, ASTRO_AXIS_STATION) *
                        astro_stream_extent(in, ASTRO_AXIS_BEAM)),
    .pols = (guint)astro_stream_extent(in, ASTRO_AXIS_POL),
    .channels = (guint)astro_stream_extent(in, ASTRO_AXIS_CHANNEL),
    .layout = in->layout,
    .frequency = in->frequency,
    .bandwidth = in->bandwidth,
    .rate = (double)in->rate_n / in->rate_d,
    .n_dms = self->trials->len,
    .dms = (const double *)(gconstpointer)self->trials->data,
  };
  if (!astro_dedisperse_cpu.shape(config, error))
    return FALSE;
  self->config = *config;
  astro_dedisperse_filter_clear(&self->filter);
  if (coherent && !astro_dedisperse_filter_init(&self->filter, config, error))
    return FALSE;
  self->reach = coherent ? self->filter.reach : astro_dedisperse_reach(config);
  return TRUE;
}

static gboolean amend(AstroStage *stage, AstroObservation *observation, GError **error)
{
  const AstroDedisperse *self = ASTRO_DEDISPERSE(stage);
  if (observation->n_dms > 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "dispersion was taken out of the stream already (%u dispersion "
                               "measures, from %.10g pc/cm^3), expected one with its dispersion",
                               observation->n_dms, observation->dms[0]);
  return astro_observation_set_dms(
      observation, self->config.dms, self->config.n_dms,
      self->config.coherent ? self->config.frequency : astro_dedisperse_top(&self->config), error);
}

/* ---- work ---- */

static gboolean make_room(AstroDedisperse *self, gsize n)
{
  if (n <= self->n_counts)
    return TRUE;
  g_free(self->counts);
  self->counts = g_try_new(guint32, n);
  self->n_counts = self->counts ? n : 0;
  return self->counts != NULL;
}

/* How many steps of the output a call makes ready, and the first of them, after the stretch's. */
static guint64 find_ready(const AstroDedisperse *self, const AstroDedisperseArguments *arguments,
                          guint64 *first)
{
  if (self->config.coherent) {
    *first = astro_dedisperse_filter_first(&self->filter) +
             astro_dedisperse_filter_done(&self->filter, arguments);
    return astro_dedisperse_filter_ready(&self->filter, arguments);
  }
  *first = arguments->before > self->reach ? arguments->before - self->reach : 0;
  return astro_dedisperse_ready(self->reach, arguments);
}

/* Adds steps to the stretch (in is NULL: lost ones, or none); what has become ready goes out. */
static gboolean add(AstroStage *stage, GstBuffer *in, AstroDedisperseArguments *arguments,
                    GError **error)
{
  AstroDedisperse *self = ASTRO_DEDISPERSE(stage);
  const AstroDedisperseConfig *config = &self->config;
  AstroResult *result = astro_stage_result(stage);
  const AstroStream *stream = astro_stage_out(stage);
  const guint counted = config->coherent ? config->channels : config->n_dms;
  GstBuffer *out = NULL;
  guint64 first;
  const guint64 ready = find_ready(self, arguments, &first);

  if (ready) {
    if (!make_room(self, ready * config->stations * counted))
      return astro_backend_no_memory(error, "no memory for the counts of a block");
    result->counts = self->counts;
    out = astro_stage_new_buffer(stage, ready * astro_stream_step_bytes(stream), error);
    if (!out)
      return FALSE;
  }
  if (!astro_stage_submit(stage, in, out, arguments, error)) {
    self->open = FALSE; /* the backend may have taken a part of it: the stretch is lost */
    gst_clear_buffer(&out);
    return FALSE;
  }
  self->end = self->begin + arguments->before + arguments->steps;
  self->open = !arguments->end;
  if (!out)
    return TRUE;
  astro_dedisperse_mark(out, stream, ready,
                        config->coherent ? self->filter.taps : self->full * config->channels,
                        result->complete ? NULL : self->counts,
                        config->coherent ? ASTRO_AXIS_CHANNEL : ASTRO_AXIS_DM);
  astro_stage_emit(stage, out, self->begin + first, ready);
  return TRUE;
}

/* Adds lost steps at the end of the stretch. */
static gboolean add_lost(AstroStage *stage, guint64 steps, GError **error)
{
  AstroDedisperse *self = ASTRO_DEDISPERSE(stage);
  AstroDedisperseArguments arguments = { .before = self->end - self->begin,
                                         .steps = steps,
                                         .full = self->full };
  self->trail += steps;
  return steps == 0 || add(stage, NULL, &arguments, error);
}

#define MOST_BYTES ((gsize)64 << 20) /* of a block that the end of a stretch gives */

/* Steps that would come after the end are lost, so that those before it come out, some at once as
 * there may be many. */
static gboolean end_power(AstroStage *stage, GError **error)
{
  AstroDedisperse *self = ASTRO_DEDISPERSE(stage);
  const guint64 most = MAX(MOST_BYTES / MAX(astro_stream_step_bytes(astro_stage_out(stage)), 1), 1);
  while (self->trail < self->reach) {
    if (!add_lost(stage, MIN(self->reach - self->trail, most), error))
      return FALSE;
    if (astro_stage_push(stage) != GST_FLOW_OK)
      break;
  }
  self->open = FALSE;
  return TRUE;
}

static gboolean end_stretch(AstroStage *stage, GError **error)
{
  AstroDedisperse *self = ASTRO_DEDISPERSE(stage);
  AstroDedisperseArguments arguments = {
    .before = self->end - self->begin, .end = TRUE, .trail = self->trail, .full = self->full
  };
  if (!self->open)
    return TRUE;
  return self->config.coherent ? add(stage, NULL, &arguments, error) : end_power(stage, error);
}

/* A gap that is longer than the longest delay ends the stretch: what comes after it has nothing in
 * common with what came before. */
static gboolean lose(AstroStage *stage, guint64 steps, GError **error)
{
  AstroDedisperse *self = ASTRO_DEDISPERSE(stage);
  const guint64 taken = MIN(steps, self->reach - self->trail);
  if (!self->open || steps == 0)
    return TRUE;
  return add_lost(stage, taken, error) && (steps == taken || end_stretch(stage, error));
}

static gboolean check_observation(AstroStage *stage, GError **error)
{
  const AstroDedisperse *self = ASTRO_DEDISPERSE(stage);
  return self->config.n_dms == 1 || astro_stage_observation(stage) ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "the stream has no observation to write %u dispersion measures to: "
                             "expected astroobserve upstream, or one dispersion measure",
                             self->config.n_dms);
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroDedisperse *self = ASTRO_DEDISPERSE(stage);
  const AstroValidityMeta *meta = astro_buffer_get_validity(in);
  const guint32 full = self->config.coherent ? 1 : meta ? meta->full : MAX(self->full, 1);

  if (!check_observation(stage, error) || !lose(stage, self->open ? first - self->end : 0, error))
    return FALSE;
  if (GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP))
    return lose(stage, steps, error);
  if (self->open && full != self->full && !end_stretch(stage, error))
    return FALSE;
  if (!self->open)
    self->begin = self->end = first;
  self->full = full;
  self->trail = 0;
  AstroDedisperseArguments arguments = { .before = self->end - self->begin,
                                         .steps = steps,
                                         .full = full };
  g_autofree guint32 *weights =
      !meta ? NULL
            : (self->config.coherent ? astro_dedisperse_read_good : astro_dedisperse_read_weights)(
                  meta, astro_stage_in(stage), &arguments);
  return add(stage, in, &arguments, error);
}

static gboolean finish(AstroStage *stage, GError **error)
{
  return end_stretch(stage, error);
}

static void reset(AstroStage *stage)
{
  AstroDedisperse *self = ASTRO_DEDISPERSE(stage);
  self->open = FALSE;
  self->trail = 0;
  self->full = 0;
}

static guint64 latency_steps(AstroStage *stage)
{
  const AstroDedisperse *self = ASTRO_DEDISPERSE(stage);
  return self->reach + (self->config.coherent ? self->filter.hop : 0);
}

/* ---- states and properties ---- */

static gboolean start(AstroStage *stage)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) trials = read_trials(ASTRO_DEDISPERSE(stage), &error);
  if (trials)
    return ASTRO_STAGE_CLASS(astro_dedisperse_parent_class)->start(stage);
  GST_ELEMENT_ERROR(stage, LIBRARY, SETTINGS, ("property dm: %s", error->message), (NULL));
  return FALSE;
}

static const AstroField fields[] = {
  ASTRO_TEXT(AstroDedisperse, dm, "dm", "Dispersion measures",
             "Dispersion measures to take out, in pc/cm^3: a number, a list of them, or "
             "from:to:step, in rising order",
             NULL),
  { 0 },
};

static void finalize(GObject *object)
{
  AstroDedisperse *self = ASTRO_DEDISPERSE(object);
  g_free(self->counts);
  g_clear_pointer(&self->trials, g_array_unref);
  astro_dedisperse_filter_clear(&self->filter);
  G_OBJECT_CLASS(astro_dedisperse_parent_class)->finalize(object);
}

static void astro_dedisperse_class_init(AstroDedisperseClass *klass)
{
  static const AstroQuantity quantities[] = { ASTRO_QUANTITY_POWER, ASTRO_QUANTITY_VOLTAGES,
                                              ASTRO_QUANTITY_SPECTRA, ASTRO_QUANTITY_UNKNOWN };
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  astro_fields_install(object, fields, 0);
  object->finalize = finalize;
  trans->transform_caps = transform_caps;
  trans->fixate_caps = astro_stage_fixate_preferred;
  stage->stage = "dedisperse";
  stage->backends = astro_dedisperse_backends;
  stage->tell_work = astro_dedisperse_work;
  stage->start = start;
  stage->configure = configure;
  stage->amend = amend;
  stage->feed = feed;
  stage->finish = finish;
  stage->reset = reset;
  stage->latency_steps = latency_steps;
  stage->adds_counts = TRUE;
  astro_stage_class_add_pads(stage, quantities, quantities);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Dedisperse", "Filter/Effect",
      "Takes dispersion out: of power at one or many dispersion measures, of voltages and spectra "
      "coherently",
      ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "takes",
                                        "power F32LE, voltages and spectra CI4 CI8 CI16LE CF16LE "
                                        "CF32LE: time, channel, station or beam, "
                                        "and pol in any order");
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "gives",
      "power F32LE: time:station:dm:pol:channel; voltages and spectra "
      "CF32LE: as they came");
}

static void astro_dedisperse_init(AstroDedisperse *self)
{
  astro_fields_set_defaults(self);
}
