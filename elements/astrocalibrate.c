/**
 * SECTION:element-astrocalibrate
 *
 * Calibrates visibilities: it solves the gains of stations against a model of the sky, divides them
 * out, and writes them to a table or takes them from one. A visibility is V_ij = J_i M_ij J_j^H,
 * with M that of the sky and J the gains, which the signal was multiplied by.
 *
 * mode=solve writes gains to the table `location` and passes visibilities on unchanged; mode=apply
 * divides those of a table out; mode=both does both at once, and needs no table. The model is
 * `sky`, written as for astrovissrc, in Jy (components=FILE of astroclean writes such a file);
 * where the stream does not say its scale, the gains take it in, and corrected visibilities are in
 * Jy. In place of sky the pad `model` takes visibilities, such as the column MODEL_DATA of a
 * Measurement Set or those of astrodegridder: of the same stations, channels, products and phase
 * centre. They are matched by their times (to 1/20 of an integration); integrations without a
 * model, and flagged values of it, are not used to solve.
 *
 * type=phase, gain (amplitude and phase) and bandpass (the same for each channel) solve each
 * polarisation alone; full solves matrices of 2 x 2; delay solves a phase and a delay. A solution
 * is of `interval` seconds, or of the whole stream for interval=0, and of channel-step channels.
 * The phase of ref-station is 0. Gains whose S/N is below min-snr, stations without data, and what
 * baselines do not determine are flagged: their visibilities go on with a count of 0.
 *
 * Gains are interpolated between the middles of intervals and of groups of channels. Before the
 * first and behind the last interval, and beyond the band, visibilities are flagged: gains are not
 * extrapolated. Only a table of interval=0 holds at all times. Counts are scaled as the weights
 * that corrected amplitudes have, about the mean of all stations. A table is applied once: the
 * observation says which were.
 *
 * The table (FITS, described in doc/conventions.md) also serves astrodelay, for voltages. A message
 * `calibrated` tells of each interval its begin and end (s), iterations, median snr, rms of the
 * residuals, chi-squared and the unexplained part of the power (below), and how many gains are
 * solved, no-data, unconnected, undetermined, not-converged and low-snr; the property stats has
 * their sums.
 *
 * A model that lacks a bright source leaves residuals that no gains take away. chi-squared compares
 * them with the noise, which is how visibilities of a baseline scatter about the model times one
 * factor of its own: it is 1 where the model is right, and 0 where it is not known (type=full, or
 * one visibility on each baseline). Above 3, with more than 5 per cent of the power unexplained, a
 * warning says so.
 *
 * |[
 * gst-launch-1.0 astrovissrc phase-error=40 gain-error=0.1 noise=100 num-buffers=20 ! \
 *   astrocalibrate sky=0,0,1 type=gain interval=60 location=gains.fits ! \
 *   astrofitssink location=calibrated.uvfits
 * ]|
 * |[
 * gst-launch-1.0 astrocalibrate name=solve mode=solve type=gain location=gains.fits ! fakesink \
 *   astromssrc location=a.ms ! solve.sink \
 *   astromssrc location=a.ms column=MODEL_DATA ! solve.model
 * ]|
 */
#include "config.h"
#include "core/kit/enum.h"
#include "elements/astrocalibrate-parts.h"
#include "elements/base/astrofields.h"
#include "elements/base/astromeans.h"

G_DEFINE_TYPE(AstroCalibrate, astro_calibrate, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astrocalibrate, "astrocalibrate", GST_RANK_NONE, ASTRO_TYPE_CALIBRATE)

ASTRO_STATIC_ENUM_TYPE(mode_get_type, "AstroCalibrateMode",
                       { ASTRO_CALIBRATE_MODE_SOLVE,
                         "Writes gains to the table, and passes visibilities on", "solve" },
                       { ASTRO_CALIBRATE_MODE_APPLY, "Divides the gains of a table out", "apply" },
                       { ASTRO_CALIBRATE_MODE_BOTH, "Solves gains and divides them out", "both" })
ASTRO_STATIC_ENUM_TYPE(type_get_type, "AstroCalibrateType",
                       { ASTRO_GAINS_PHASE, "Phases", "phase" },
                       { ASTRO_GAINS_GAIN, "Amplitudes and phases", "gain" },
                       { ASTRO_GAINS_FULL, "Matrices of 2 x 2, with leakage", "full" },
                       { ASTRO_GAINS_DELAY, "Phases and delays", "delay" },
                       { ASTRO_GAINS_BANDPASS, "Amplitudes and phases along the band", "bandpass" })

/* ---- negotiation ---- */

static gboolean configure(AstroStage *stage, gpointer configuration, gboolean *pass_through,
                          GError **error)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(stage);
  const gboolean each = self->type == ASTRO_GAINS_BANDPASS && self->channel_step == 0;
  self->config = (AstroCalibrateConfig){ .in = *astro_stage_in(stage),
                                         .out = *astro_stage_out(stage),
                                         .type = self->type,
                                         .channel_step = each ? 1 : self->channel_step,
                                         .min_snr = self->min_snr };
  *(AstroCalibrateConfig *)configuration = self->config;
  self->stale = FALSE;
  astro_calibrate_forget_model(self);
  return TRUE;
}

/* ---- the observation ---- */

static gboolean orient(AstroStage *stage, AstroObservation *observation, GError **error)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(stage);
  return astro_earth_use(&self->earth, self, &self->earth_orientation, observation, error);
}

static gboolean observed(AstroStage *stage, GError **error)
{
  astro_calibrate_forget_model(ASTRO_CALIBRATE(stage));
  return TRUE;
}

/* ---- the end ---- */

static void write_table(AstroCalibrate *self)
{
  g_autoptr(GError) error = NULL;
  gboolean written;
  const gboolean wanted = self->file.file != NULL;
  if (!astro_calibrate_file_write(&self->file, &written, &error))
    GST_ELEMENT_ERROR(self, RESOURCE, WRITE, ("location: %s", error->message), (NULL));
  else if (wanted && !written)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("no visibilities came, and so no table of gains was written"), (NULL));
}

static gboolean finish(AstroStage *stage, GError **error)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(stage);
  if (!astro_calibrate_finish_intervals(self, error))
    return FALSE;
  if (self->is_ending && astro_calibrate_solves(self))
    write_table(self);
  return TRUE;
}

static void reset(AstroStage *stage)
{
  astro_calibrate_forget_blocks(ASTRO_CALIBRATE(stage));
  ASTRO_CALIBRATE(stage)->is_ending = FALSE;
}

/* A flush revokes what came before, and so what was solved of it. */
static gboolean sink_event(GstBaseTransform *trans, GstEvent *event)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(trans);
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
    self->is_ending = TRUE;
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    astro_calibrate_input_begin(&self->input);
    if (astro_calibrate_solves(self)) {
      g_clear_pointer(&self->file.gains, astro_gains_free);
      g_clear_pointer(&self->file.stations, g_free);
    }
  }
  const gboolean is_end = GST_EVENT_TYPE(event) == GST_EVENT_EOS;
  const gboolean ok =
      GST_BASE_TRANSFORM_CLASS(astro_calibrate_parent_class)->sink_event(trans, event);
  if (is_end)
    astro_calibrate_input_end(&self->input);
  return ok;
}

static GstPad *request_pad(GstElement *element, GstPadTemplate *templ, const char *name,
                           const GstCaps *caps)
{
  (void)name;
  (void)caps;
  return astro_calibrate_input_open(&ASTRO_CALIBRATE(element)->input, element, templ);
}

static void release_pad(GstElement *element, GstPad *pad)
{
  (void)pad;
  astro_calibrate_input_close(&ASTRO_CALIBRATE(element)->input, element);
}

static void tell_stats(AstroStage *stage, GstStructure *stats)
{
  astro_calibrate_told_fill(&ASTRO_CALIBRATE(stage)->told, GST_ELEMENT(stage), stats);
}

/* ---- states and properties ---- */

static gboolean check_settings(AstroCalibrate *self, const char *sky, const char *location,
                               GError **error)
{
  if (!location && self->mode != ASTRO_CALIBRATE_MODE_BOTH)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "mode=%s without location, expected the name of a table of gains%s",
                               astro_calibrate_solves(self) ? "solve" : "apply",
                               astro_calibrate_solves(self) ? " to write"
                                                            : ", as mode=solve writes it");
  if (self->has_input && (!astro_calibrate_solves(self) || sky))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, "%s and the pad model, expected %s",
                               sky ? "sky" : "mode=apply",
                               sky ? "one of them: each is the model that gains are solved against"
                                   : "mode=solve or both: gains of a table need no model");
  if (!astro_calibrate_solves(self) || self->has_input)
    return TRUE;
  if (!sky)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "mode=%s without sky, expected the sources that were observed, as "
                               "l,m,flux;... or a file of lines ra dec flux, or a model that comes "
                               "in by the pad model",
                               self->mode == ASTRO_CALIBRATE_MODE_SOLVE ? "solve" : "both");
  g_autoptr(AstroSky) read = astro_sky_new(sky, error);
  if (read && read->n == 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "sky has no sources, expected those that were observed");
  return read != NULL;
}

static gboolean start(AstroStage *stage)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(stage);
  g_autofree char *sky = astro_fields_copy_text(self, &self->sky),
                  *location = astro_fields_copy_text(self, &self->location);
  g_autoptr(GError) error = NULL;
  const char *name = astro_field_given(location);
  astro_calibrate_file_clear(&self->file);
  self->is_ending = FALSE;
  self->has_input = self->input.pad != NULL;
  astro_calibrate_input_begin(&self->input);
  GST_OBJECT_LOCK(self);
  self->told = (AstroCalibrateTold){ 0 };
  GST_OBJECT_UNLOCK(self);
  if (!check_settings(self, astro_field_given(sky), name, &error)) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
    return FALSE;
  }
  if (astro_calibrate_file_open(&self->file, name, astro_calibrate_solves(self), &error))
    return ASTRO_STAGE_CLASS(astro_calibrate_parent_class)->start(stage);
  if (astro_calibrate_solves(self))
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_WRITE, ("location: %s", error->message), (NULL));
  else
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ, ("location: %s", error->message), (NULL));
  return FALSE;
}

static gboolean stop(GstBaseTransform *trans)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(trans);
  const gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_calibrate_parent_class)->stop(trans);
  astro_calibrate_forget_model(self);
  if (astro_calibrate_solves(self) && self->file.gains && self->file.gains->intervals->len)
    write_table(self); /* of a run that was stopped before its end */
  astro_calibrate_file_clear(&self->file);
  self->earth = (AstroEarthUse){ 0 };
  return ok;
}

static const AstroField fields[] = {
  ASTRO_TEXT(AstroCalibrate, sky, "sky", "Sky",
             "The model: l,m,flux;l,m,flux (direction cosines east and north, Jy), or a file of "
             "lines ra dec flux, with all that astrovissrc takes, such as components of astroclean "
             "(unset: visibilities of the pad model)",
             NULL),
  ASTRO_ENUM(AstroCalibrate, mode, "mode", "Mode", "Whether gains are solved, applied, or both",
             mode_get_type, ASTRO_CALIBRATE_MODE_BOTH),
  ASTRO_ENUM(AstroCalibrate, type, "type", "Type", "The gains that are solved", type_get_type,
             ASTRO_GAINS_GAIN),
  ASTRO_DOUBLE(AstroCalibrate, interval, "interval", "Interval",
               "Seconds of a solution (0: the whole stream)", 0, 1e9, 60),
  ASTRO_UINT(AstroCalibrate, channel_step, "channel-step", "Channel step",
             "Channels of a solution (0: all, and for bandpass 1; for delay always all)", 0,
             G_MAXINT, 0),
  ASTRO_TEXT(AstroCalibrate, location, "location", "File name",
             "Table of gains (FITS) to write, renamed from NAME.part when complete, or, for "
             "mode=apply, to read (unset: none)",
             NULL),
  ASTRO_TEXT(AstroCalibrate, ref_station, "ref-station", "Reference station",
             "Name or number of the station whose phase is 0 (unset: the first)", NULL),
  ASTRO_DOUBLE(AstroCalibrate, min_snr, "min-snr", "Least S/N", "Gains of a lower S/N are flagged",
               0, 1e6, 3),
  ASTRO_EARTH_FIELD(AstroCalibrate, earth_orientation),
  { 0 },
};

static void finalize(GObject *object)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(object);
  astro_calibrate_forget_blocks(self);
  astro_calibrate_forget_model(self);
  astro_calibrate_file_clear(&self->file);
  astro_calibrate_input_clear(&self->input);
  G_OBJECT_CLASS(astro_calibrate_parent_class)->finalize(object);
}

static void astro_calibrate_class_init(AstroCalibrateClass *klass)
{
  static const AstroQuantity quantities[] = { ASTRO_QUANTITY_VISIBILITIES, ASTRO_QUANTITY_UNKNOWN };
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  astro_fields_install(object, fields, 0);
  object->finalize = finalize;
  trans->transform_caps = astro_means_transform_caps;
  trans->fixate_caps = astro_stage_fixate_same;
  trans->sink_event = sink_event;
  trans->stop = stop;
  stage->stage = "calibrate";
  stage->backends = astro_calibrate_backends;
  stage->start = start;
  stage->configure = configure;
  stage->orient = orient;
  stage->observed = observed;
  stage->amend = astro_calibrate_amend;
  stage->feed = astro_calibrate_feed;
  stage->finish = finish;
  stage->reset = reset;
  stage->tell_stats = tell_stats;
  stage->adds_counts = TRUE;
  GST_ELEMENT_CLASS(klass)->request_new_pad = request_pad;
  GST_ELEMENT_CLASS(klass)->release_pad = release_pad;
  astro_stage_class_add_pads(stage, quantities, quantities);
  astro_calibrate_input_class_init(GST_ELEMENT_CLASS(klass));
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Calibrate", "Filter/Effect",
      "Solves the gains of stations against a sky, and divides them out of visibilities",
      ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "takes",
      "visibilities CF32LE CF64LE, or sums CI32LE with their counts: channel:baseline:pol:pol");
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "gives",
      "visibilities CF32LE CF64LE: channel:baseline:pol:pol, with counts of good samples");
}

static void astro_calibrate_init(AstroCalibrate *self)
{
  astro_fields_set_defaults(self);
  g_queue_init(&self->held);
  astro_calibrate_input_init(&self->input);
}
