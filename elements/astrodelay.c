/**
 * SECTION:element-astrodelay
 *
 * Removes the delays of the observation's phase centre: those of geometry, which follow the Earth's
 * rotation, and those of the instrument, with its gains and bandpass, from a file of lines or a
 * table that astrocalibrate solved (interval=0, type phase, gain or delay). Downstream of it
 * a source at the phase centre has the same phase in all inputs, over the whole band and for the
 * whole observation.
 *
 * Upstream of the channelizer it works on voltages and is right for any array. Downstream, on
 * spectra, it is cheaper, and right for arrays that light crosses in far less time than a spectrum
 * takes: a signal that is late by some part of a spectrum's length loses that part of its
 * correlation. A warning says so from two hundredths on. The filters that shift voltages by
 * fractions of a sample are flat over nine tenths of the band and attenuate towards its edges.
 *
 * The observation records what was undone, so that a second astrodelay does only what is left. A
 * bandpass in the file can be undone on spectra only: upstream of the channelizer it is recorded as
 * left, and another astrodelay with the same file downstream of the channelizer undoes that and
 * nothing else. The correlator refuses spectra whose bandpass is left. Where nothing is left,
 * samples pass unchanged. A different calibration, on top of one that was undone, is refused.
 *
 * calibration may be set while the stream runs, also to the same name, whose file is read again: it
 * is used from the next buffer on, and the observation says so before it. A wrong one gives a
 * warning, and the stream keeps the one before. Voltages at the border of the two that would need
 * samples from its other side are lost, and counted as that. The format stays as it is.
 *
 * The format is kept, with two exceptions: CI4, and any format when there is a calibration, become
 * CF32LE (F32LE for real voltages) where downstream accepts it. Caps downstream of astrodelay may
 * ask for integers again. Rounding to CI4 makes phases wrong by up to five degrees, and samples
 * that gains have scaled may not fit the range. A source that can make several formats, as
 * astroskysrc can, is asked for CF32LE first. Real voltages are delayed as complex ones are, in
 * about twice the time for the same band.
 *
 * The orientation of the Earth comes from the stream's observation, or from an IERS file in
 * earth-orientation. With neither, UT1 is taken to be UTC, and a warning gives the error where it
 * may exceed a tenth of the beam.
 *
 * |[
 * gst-launch-1.0 astroskysrc stations=8 phase-centre=200,-30 duration=1 ! \
 *   application/x-astro-voltages,format=CI8 ! astrodelay ! filesink location=sky.ci8
 * ]|
 */
#include "config.h"
#include "elements/astrodelay.h"

#include "core/delay/calibration-table.h"
#include "core/delay/delay.h"
#include "core/delay/due.h"
#include "core/delay/losses.h"
#include "core/fits/gains/gains.h"
#include "core/lib/sky/earth-error.h"
#include "core/stream/uvw.h"
#include "elements/base/astroblocklength.h"
#include "elements/base/astroearth.h"
#include "elements/base/astrofields.h"

struct _AstroDelay {
  AstroStage parent;
  char *calibration, *earth_orientation; /* properties */
  char *used;                            /* the calibration in use */
  AstroEarthUse earth;

  /* Planned once an observation and caps are known. */
  AstroDelayModel *model;
  AstroHistory after;    /* the history that the output's observation gets */
  gint only_passes;      /* nothing is left to do; read by any thread */
  gboolean told_of_loss; /* for this model, or there was nothing to warn of */
  guint64 first;         /* step of the block being processed */
  /* voltages: samples are held until those that follow have come */
  gboolean started;
  guint64 next_in, next_out;
  AstroLosses *losses; /* of voltages */
};

G_DEFINE_TYPE(AstroDelay, astro_delay, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astrodelay, "astrodelay", GST_RANK_NONE, ASTRO_TYPE_DELAY)

static const AstroFormat complex_formats[] = { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CI16LE,
                                               ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI4 };
static const AstroFormat real_formats[] = { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_I16LE,
                                            ASTRO_FORMAT_I8 };

static gboolean names_any(const GValue *value, const AstroFormat *formats, guint n)
{
  for (guint i = 0; i < n; i++)
    if (astro_format_is_named(value, formats[i]))
      return TRUE;
  return FALSE;
}

static void append_all(GValue *list, const AstroFormat *formats, guint n)
{
  for (guint i = 0; i < n; i++)
    astro_format_append(list, formats[i]);
}

/* Complex formats can become complex ones, and real ones real. For any other the backend says what
 * it accepts; caps have to offer something for it to get that far. */
static void widen_format(GstStructure *s)
{
  const GValue *value = gst_structure_get_value(s, "format");
  const gboolean real = names_any(value, real_formats, G_N_ELEMENTS(real_formats));
  GValue list = G_VALUE_INIT;

  g_value_init(&list, GST_TYPE_LIST);
  if (!real || names_any(value, complex_formats, G_N_ELEMENTS(complex_formats)))
    append_all(&list, complex_formats, G_N_ELEMENTS(complex_formats));
  if (!value || real)
    append_all(&list, real_formats, G_N_ELEMENTS(real_formats));
  gst_structure_take_value(s, "format", &list);
}

/* Only the format may change, and not even that where there is nothing to do. */
static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  GstCaps *result = gst_caps_copy(caps);

  for (guint i = 0;
       !g_atomic_int_get(&ASTRO_DELAY(trans)->only_passes) && i < gst_caps_get_size(result); i++)
    widen_format(gst_caps_get_structure(result, i));
  return astro_stage_filter_caps(result, filter);
}

/* CI4 and calibrated samples become floats: 4 bits are so coarse that rotating a phase by a few
 * degrees mostly rounds to no change at all, and calibrated amplitudes may exceed integers. */
static GstCaps *fixate_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                            GstCaps *othercaps)
{
  const char *format = gst_structure_get_string(gst_caps_get_structure(caps, 0), "format");
  g_autofree char *calibration = astro_fields_copy_text(trans, &ASTRO_DELAY(trans)->calibration);

  return g_strcmp0(format, astro_format_info(ASTRO_FORMAT_CI4)->name) == 0 ||
                 astro_field_given(calibration)
             ? astro_stage_fixate_exact(trans, direction, caps, othercaps)
             : astro_stage_fixate_same(trans, direction, caps, othercaps);
}

static gboolean is_voltages(AstroStage *stage)
{
  return astro_stage_in(stage)->quantity == ASTRO_QUANTITY_VOLTAGES;
}

/* ---- planning ---- */

static void forget_plan(AstroDelay *self)
{
  g_clear_pointer(&self->model, astro_delay_model_free);
  self->told_of_loss = FALSE;
  astro_history_clear(&self->after);
  g_atomic_int_set(&self->only_passes, FALSE);
}

static gboolean check_stations(AstroStage *stage, GError **error)
{
  const AstroObservation *observation = astro_stage_observation(stage);
  const guint64 stations = astro_stream_extent(astro_stage_in(stage), ASTRO_AXIS_STATION);
  if (observation && observation->n_stations == stations)
    return TRUE;
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "the observation has %u stations and the caps have %" G_GUINT64_FORMAT
                             "%s",
                             observation ? observation->n_stations : 0, stations,
                             observation ? ""
                                         : ": no observation came; astroobserve makes one from "
                                           "array, phase-centre and start-time");
}

static gboolean read_table(AstroDelay *self, const char *name, guint pols,
                           AstroCalibration **calibration, GError **error)
{
  g_autoptr(AstroGains) gains = astro_fits_gains_read(name, error);
  if (!gains)
    return FALSE;
  *calibration =
      astro_calibration_from_gains(gains, astro_stage_observation(ASTRO_STAGE(self)), pols, error);
  if (!*calibration)
    g_prefix_error(error, "calibration %s: ", name);
  return *calibration != NULL;
}

/* Reads the calibration; *calibration is NULL where there is no file. */
static gboolean read_calibration(AstroDelay *self, const char *name, AstroCalibration **calibration,
                                 GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const guint pols = (guint)astro_stream_extent(astro_stage_in(stage), ASTRO_AXIS_POL);
  AstroLines lines;
  *calibration = NULL;
  if (!astro_field_given(name))
    return TRUE;
  if (astro_fits_gains_is_fits(name))
    return read_table(self, name, pols, calibration, error);
  if (!astro_lines_open(&lines, name, error))
    return FALSE;
  *calibration = astro_calibration_read(&lines, astro_stage_observation(stage), pols, error);
  astro_lines_clear(&lines);
  return *calibration != NULL;
}

static gboolean plan(AstroDelay *self, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const AstroObservation *observation = astro_stage_observation(stage);
  const AstroQuantity quantity = astro_stage_in(stage)->quantity;
  const guint pols = (guint)astro_stream_extent(astro_stage_in(stage), ASTRO_AXIS_POL);
  g_autoptr(AstroCalibration) calibration = NULL;
  AstroDelayDue due;

  if (self->model)
    return TRUE;
  if (!check_stations(stage, error) || !read_calibration(self, self->used, &calibration, error))
    return FALSE;
  astro_history_clear(&self->after);
  astro_history_copy(&self->after, &observation->done);
  astro_delay_record(calibration, quantity, &self->after);
  if (!astro_delay_due(&due, calibration, quantity, &observation->done, error))
    return FALSE;
  if (due.geometry)
    astro_delay_record_centre(observation, &self->after);
  self->model = astro_delay_model_new((AstroObservation *)observation, due.geometry, pols,
                                      g_steal_pointer(&calibration), error);
  g_atomic_int_set(&self->only_passes, !due.geometry && !due.gains && !due.bandpass);
  if (due.geometry && self->model)
    astro_earth_use_tell(&self->earth, GST_ELEMENT(self), observation, astro_stage_in(stage),
                         astro_earth_error_of_delays(observation), "");
  return self->model != NULL;
}

/* Where there is nothing to do, the output has the input's format: whether downstream takes it. */
static gboolean may_be_same(AstroStage *stage, GError **error)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(stage);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(trans));
  return astro_stage_in(stage)->format == astro_stage_out(stage)->format || !caps ||
         gst_pad_peer_query_accept_caps(GST_BASE_TRANSFORM_SRC_PAD(trans), caps) ||
         astro_stream_refuse(
             error, ASTRO_STREAM_ERROR_CAPS,
             "no delays are left to remove from the stream, and astrodelay does not change formats "
             "without removing any: expected astroconvert for %s to %s",
             astro_format_name(astro_stage_in(stage)->format),
             astro_format_name(astro_stage_out(stage)->format));
}

/* Formats were agreed on before the observation came and showed that there is nothing to do: asks
 * downstream for the input's format instead. */
static gboolean agree_on_same(AstroStage *stage, GError **error)
{
  if (!may_be_same(stage, error))
    return FALSE;
  astro_stage_agree_anew(stage);
  return TRUE;
}

static gboolean configure(AstroStage *stage, gpointer config, gboolean *pass_through,
                          GError **error)
{
  AstroDelay *self = ASTRO_DELAY(stage);
  AstroDelayConfig *delay = config;
  delay->in = *astro_stage_in(stage);
  delay->out = *astro_stage_out(stage);
  forget_plan(self);
  /* The observation may still be the previous stream's: errors are reported once a block comes. */
  if (!plan(self, NULL))
    return TRUE;
  *pass_through = self->only_passes && delay->in.format == delay->out.format;
  return *pass_through || !self->only_passes || agree_on_same(stage, error);
}

static gboolean observed(AstroStage *stage, GError **error)
{
  forget_plan(ASTRO_DELAY(stage));
  return astro_stage_configure_again(stage);
}

/* Whether the stream as it is could be calibrated by that file. */
static gboolean try_calibration(AstroDelay *self, const char *name, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  g_autoptr(AstroCalibration) calibration = NULL;
  AstroDelayDue due;
  return check_stations(stage, error) && read_calibration(self, name, &calibration, error) &&
         astro_delay_due(&due, calibration, astro_stage_in(stage)->quantity,
                         &astro_stage_observation(stage)->done, error) &&
         (due.geometry || due.gains || due.bandpass || may_be_same(stage, error));
}

static gboolean renew(AstroStage *stage, GError **error)
{
  AstroDelay *self = ASTRO_DELAY(stage);
  g_autofree char *name = astro_fields_copy_text(self, &self->calibration);
  if (!try_calibration(self, name, error)) {
    astro_fields_put_back(self, &self->calibration, name, self->used);
    return FALSE;
  }
  g_free(self->used);
  self->used = g_steal_pointer(&name);
  return observed(stage, error);
}

static gboolean amend(AstroStage *stage, AstroObservation *observation, GError **error)
{
  AstroDelay *self = ASTRO_DELAY(stage);
  if (!plan(self, error))
    return FALSE;
  astro_history_clear(&observation->done);
  astro_history_copy(&observation->done, &self->after);
  return TRUE;
}

/* ---- blocks ---- */

static gboolean work(AstroStage *stage, GstBuffer *in, GstBuffer *out, guint64 steps,
                     GError **error)
{
  AstroDelay *self = ASTRO_DELAY(stage);
  AstroDelayArguments arguments = { .model = self->model, .first = self->first, .steps = steps };
  return astro_stage_submit(stage, in, out, &arguments, error);
}

/* Submits in (or nothing), and sends on the delayed voltages up to end. */
static gboolean advance(AstroDelay *self, GstBuffer *in, AstroDelayArguments *arguments,
                        guint64 end, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const AstroStream *stream = astro_stage_out(stage);
  guint64 steps = end > self->next_out ? end - self->next_out : 0;
  GstBuffer *out = NULL;

  arguments->model = self->model;
  arguments->out_first = self->next_out;
  arguments->out_steps = steps;
  if (steps &&
      !(out = astro_stage_new_buffer(stage, steps * astro_stream_step_bytes(stream), error)))
    return FALSE;
  if (!astro_stage_submit(stage, in, out, arguments, error)) {
    gst_clear_buffer(&out);
    return FALSE;
  }
  if (out) {
    const AstroWindows samples = { .step = 1, .span = 1 };
    astro_losses_mark(self->losses, out, &stream->layout, &samples, self->next_out, steps);
    astro_stage_emit(stage, out, self->next_out, steps);
    self->next_out = end;
  }
  return TRUE;
}

static gboolean finish(AstroStage *stage, GError **error)
{
  AstroDelay *self = ASTRO_DELAY(stage);
  AstroDelayArguments arguments = { .first = self->next_in };

  if (!self->started)
    return TRUE;
  self->started = FALSE;
  astro_delay_losses_add(self->losses, self->model, astro_stage_in(stage), self->next_in,
                         G_MAXUINT64);
  gboolean ok = advance(self, NULL, &arguments, self->next_in, error);
  g_clear_pointer(&self->losses, astro_losses_free);
  return ok;
}

static gboolean feed_voltages(AstroDelay *self, GstBuffer *in, guint64 first, guint64 steps,
                              GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const AstroStream *stream = astro_stage_in(stage);
  guint64 margin = astro_delay_margin(self->model, stream), end = first + steps;
  AstroDelayArguments arguments = { .first = first, .steps = steps };

  if (self->started && first != self->next_in && !finish(stage, error))
    return FALSE;
  arguments.restart = !self->started;
  if (!self->started) {
    self->started = TRUE;
    self->next_out = first;
    self->losses = astro_losses_new(stream);
    astro_delay_losses_add(self->losses, self->model, stream, 0, first);
  }
  self->next_in = end;
  astro_delay_losses_read(self->losses, self->model, stream, in, first, steps);
  if (GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP))
    in = NULL;
  end = end > margin ? (end - margin) / ASTRO_DELAY_TILE * ASTRO_DELAY_TILE : 0;
  return advance(self, in, &arguments, end, error);
}

/* Whole tiles go out, so that ends may be off by less than one. */
static gboolean propose_allocation(GstBaseTransform *trans, GstQuery *decide, GstQuery *query)
{
  AstroStage *stage = ASTRO_STAGE(trans);
  const AstroDelayModel *model = ASTRO_DELAY(trans)->model;
  if (!GST_BASE_TRANSFORM_CLASS(astro_delay_parent_class)->propose_allocation(trans, decide, query))
    return FALSE;
  if (decide)
    astro_stage_add_block_length(
        stage, query, 1,
        model && is_voltages(stage) ? astro_delay_margin(model, astro_stage_in(stage)) : 0);
  return TRUE;
}

/* On spectra only the phases of channels are rotated; the samples behind them are not shifted. */
#define LOSS_TO_TELL 0.02

static void warn_of_loss(AstroDelay *self, guint64 first)
{
  const AstroStream *stream = astro_stage_in(ASTRO_STAGE(self));
  if (stream->rate_n == 0)
    return;
  const double spectrum = (double)stream->rate_d / stream->rate_n;
  const double spread =
      astro_delay_model_spread(self->model, (gint64)astro_stream_time(stream, first));
  if (spread > LOSS_TO_TELL * spectrum)
    GST_ELEMENT_WARNING(
        self, STREAM, FAILED,
        ("delays differ between stations by up to %.3g us, and a spectrum takes %.3g us: %s of the "
         "correlation is lost where they differ most. Upstream of the channelizer, on voltages, "
         "astrodelay loses nothing but the band's outer edges",
         spread * 1e6, spectrum * 1e6, spread < spectrum ? "that fraction" : "all"),
        (NULL));
}

/* Checks the time of a step, which may be the one after the last. */
static gboolean check_time(AstroDelay *self, guint64 step, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const AstroStream *stream = astro_stage_in(stage);
  return stream->rate_n == 0 ||
         astro_uvw_check_time(astro_stage_observation(stage),
                              (gint64)astro_stream_time(stream, step) + astro_stage_epoch(stage),
                              error);
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroDelay *self = ASTRO_DELAY(stage);
  const gboolean is_new = !self->told_of_loss;
  if (!plan(self, error) || !check_time(self, first + steps, error))
    return FALSE;
  astro_delay_model_set_epoch(self->model, astro_stage_epoch(stage));
  if (is_voltages(stage))
    return feed_voltages(self, in, first, steps, error);
  if (is_new)
    warn_of_loss(self, first);
  self->told_of_loss = TRUE;
  self->first = first;
  return ASTRO_STAGE_CLASS(astro_delay_parent_class)->feed(stage, in, first, steps, error);
}

static void reset(AstroStage *stage)
{
  AstroDelay *self = ASTRO_DELAY(stage);
  self->started = FALSE;
  g_clear_pointer(&self->losses, astro_losses_free);
}

static gboolean orient(AstroStage *stage, AstroObservation *observation, GError **error)
{
  AstroDelay *self = ASTRO_DELAY(stage);
  return astro_earth_use(&self->earth, self, &self->earth_orientation, observation, error);
}

static guint64 latency_steps(AstroStage *stage)
{
  AstroDelay *self = ASTRO_DELAY(stage);
  if (!self->model || self->only_passes || !is_voltages(stage))
    return 0;
  return astro_delay_margin(self->model, astro_stage_in(stage)) + ASTRO_DELAY_TILE - 1;
}

static gboolean start(AstroStage *stage)
{
  AstroDelay *self = ASTRO_DELAY(stage);
  g_free(self->used);
  self->used = astro_fields_copy_text(self, &self->calibration);
  return ASTRO_STAGE_CLASS(astro_delay_parent_class)->start(stage);
}

static gboolean stop(GstBaseTransform *trans)
{
  gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_delay_parent_class)->stop(trans);
  forget_plan(ASTRO_DELAY(trans));
  ASTRO_DELAY(trans)->earth = (AstroEarthUse){ 0 };
  return ok;
}

static const AstroField fields[] = {
  ASTRO_TEXT(
      AstroDelay, calibration, "calibration", "Calibration",
      "File of lines gain STATION POL AMPLITUDE [DEGREES], delay STATION POL NANOSECONDS "
      "and bandpass [STATION POL] HZ AMPLITUDE (* is every STATION or POL), or a table of gains "
      "(FITS) of astrocalibrate: the effects of the instrument, to be undone; a bandpass on "
      "spectra only. Setting it while the stream runs reads the file, from the next buffer on",
      NULL, .when = ASTRO_WHEN_PLAYING, .changed = astro_stage_settings_changed),
  ASTRO_EARTH_FIELD(AstroDelay, earth_orientation),
  { 0 },
};

static void finalize(GObject *object)
{
  g_clear_pointer(&ASTRO_DELAY(object)->losses, astro_losses_free);
  g_free(ASTRO_DELAY(object)->used);
  G_OBJECT_CLASS(astro_delay_parent_class)->finalize(object);
}

static void astro_delay_class_init(AstroDelayClass *klass)
{
  static const AstroQuantity quantities[] = { ASTRO_QUANTITY_VOLTAGES, ASTRO_QUANTITY_SPECTRA,
                                              ASTRO_QUANTITY_UNKNOWN };
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  astro_fields_install(object, fields, 0);
  object->finalize = finalize;
  trans->transform_caps = transform_caps;
  trans->fixate_caps = fixate_caps;
  trans->propose_allocation = propose_allocation;
  trans->stop = stop;
  stage->stage = "delay";
  stage->backends = astro_delay_backends;
  stage->tell_work = astro_delay_work;
  stage->adds_counts = TRUE; /* where delays reach samples that nobody has */
  stage->configure = configure;
  stage->work = work;
  stage->feed = feed;
  stage->finish = finish;
  stage->reset = reset;
  stage->orient = orient;
  stage->observed = observed;
  stage->amend = amend;
  stage->renew = renew;
  stage->start = start;
  stage->latency_steps = latency_steps;
  astro_stage_class_add_pads(stage, quantities, quantities);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Delay", "Filter/Effect",
      "Removes delays of geometry and instrument from voltages "
      "or, where they are short compared with a spectrum, from spectra",
      ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "takes",
      "voltages CI4 CI8 CI16LE CF32LE, real ones I8 I16LE F32LE, or spectra CI4 CI8 CI16LE CF32LE: "
      "time, station and others in any order");
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "gives",
      "the same, in another of these formats if downstream asks for it");
}

static void astro_delay_init(AstroDelay *self)
{
  astro_fields_set_defaults(self);
}
