/**
 * SECTION:element-astrochannelizer
 *
 * A polyphase filter bank: makes spectra of any number of channels from voltages.
 *
 * Complex voltages of rate r give spectra of rate r / channels; real ones (I8, I16LE, F32LE) of
 * rate r / (2 x channels). Channels ascend in frequency. With complex voltages, channel
 * channels / 2 is centred on the band's centre. With real ones, channel 0 is centred on the band's
 * lower edge, and the channel at the upper edge is dropped. The output's frequency and bandwidth
 * say so: channel k is centred on frequency - bandwidth / 2 + (k + 1/2) x bandwidth / channels, as
 * everywhere. Hence an even number of channels moves the frequency down by half a channel. The
 * output's bandwidth is what the rate carries; the voltages' own may be narrower (oversampled) but
 * not wider.
 *
 * Spectra as input, such as a station's subbands, are split further: each of their channels into
 * channels= narrower ones, side by side in the output. Their channels must be as far apart as they
 * are wide, as those of this element are: channels that overlap or leave gaps are refused. A sample
 * that lost anything in one of its polarisations counts as lost.
 *
 * The time of a spectrum is the middle of the samples it is made from: spectrum n stands for the
 * samples at OFFSET n by its rate, and is made from taps times as many around them. So the first
 * spectrum of a stream that begins at sample 0 has OFFSET taps / 2, and samples left over at the
 * end are dropped. After a jump in OFFSET, or DISCONT, the filter starts afresh: no spectrum mixes
 * both sides. Where samples are missing (GAP, or validity), spectra count their good samples.
 *
 * Quantised output needs values that fill its range: gain is a factor on all channels, gains a file
 * with one factor a channel (with spectra as input, the same factors in each input channel). Noise
 * keeps its power: with gain 1, the power in every channel is the mean square of the voltages. Both
 * may be set while the stream runs: from the next buffer on the filter starts afresh with them,
 * after an observation that tells the new scale.
 *
 * |[
 * gst-launch-1.0 astroskysrc stations=8 duration=1 ! astrochannelizer channels=512 ! \
 *   filesink location=spectra.cf32
 * ]|
 */
#include "config.h"
#include "elements/astrochannelizer.h"

#include <math.h>

#include "core/channelizer/channelizer.h"
#include "core/channelizer/gains.h"
#include "core/kit/enum.h"
#include "elements/base/astroblocklength.h"
#include "elements/base/astrofields.h"

struct _AstroChannelizer {
  AstroStage parent;
  /* properties */
  guint channels, taps;
  AstroWindow window;
  double beta, gain;
  char *gains_file;

  float *gains; /* from the file, read at the start or when another is set */
  guint n_gains;
  char *used;       /* the name of that file */
  gboolean renewed; /* configure is for other gains, and all else stays */
  AstroChannelizerConfig config;
  AstroLosses *losses;
  gboolean started;
  guint64 begin, next_in; /* of the current unbroken stretch of samples */
  guint64 clipped;
};

G_DEFINE_TYPE(AstroChannelizer, astro_channelizer, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astrochannelizer, "astrochannelizer", GST_RANK_NONE,
                            ASTRO_TYPE_CHANNELIZER)

ASTRO_ENUM_TYPE(astro_window_get_type, "AstroWindow",
                { ASTRO_WINDOW_AUTO, "Kaiser; none with one tap, which is a plain FFT", "auto" },
                { ASTRO_WINDOW_HANN, "Hann", "hann" },
                { ASTRO_WINDOW_HAMMING, "Hamming", "hamming" },
                { ASTRO_WINDOW_BLACKMAN_HARRIS, "Blackman-Harris", "blackman-harris" },
                { ASTRO_WINDOW_KAISER, "Kaiser", "kaiser" },
                { ASTRO_WINDOW_RECTANGULAR, "None", "rectangular" })

/* ---- negotiation ---- */

static const char *const formats_in[] = { "CI8",   "CI4", "CI16LE", "CF16LE", "CF32LE",
                                          "F32LE", "I8",  "I16LE",  NULL };
static const char *const formats_out[] = { "CF32LE", "CF16LE", "CI16LE", "CI8", "CI4", NULL };
static const char *const layouts_in[] = { "station:pol:time",
                                          "time:station:pol",
                                          "station:time:pol",
                                          "pol:station:time",
                                          "pol:time:station",
                                          "time:pol:station",
                                          "station:time",
                                          "time:station",
                                          "pol:time",
                                          "time:pol",
                                          "time",
                                          NULL };
static const char *const formats_of_spectra[] = {
  "CI8", "CI4", "CI16LE", "CF16LE", "CF32LE", NULL
};
static const char *const layouts_of_spectra[] = { "station:pol:time:channel",
                                                  "time:channel:station:pol",
                                                  "channel:station:time:pol",
                                                  "station:pol:channel:time",
                                                  "time:station:pol:channel",
                                                  "station:time:channel",
                                                  "time:channel:station",
                                                  "station:channel:time",
                                                  "pol:time:channel",
                                                  "time:channel:pol",
                                                  "time:channel",
                                                  "channel:time",
                                                  NULL };
static const char *const layouts_out[] = { "station:pol:time:channel", "station:time:channel",
                                           "pol:time:channel", "time:channel", NULL };

static void set_names(GstStructure *s, const char *field, const char *const *names)
{
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  for (; *names; names++)
    astro_name_append(&list, *names);
  gst_structure_take_value(s, field, &list);
}

/* The output has the input's axes, with station and pol first. */
static void set_layout_out(GstStructure *s, AstroQuantity in)
{
  const char *text = gst_structure_get_string(s, "layout");
  AstroLayout layout;

  if (!text || !astro_layout_parse(&layout, text, in, NULL)) {
    set_names(s, "layout", layouts_out);
    return;
  }
  gboolean station = astro_layout_find(&layout, ASTRO_AXIS_STATION) >= 0;
  gboolean pol = astro_layout_find(&layout, ASTRO_AXIS_POL) >= 0;
  gst_structure_set(s, "layout", G_TYPE_STRING, layouts_out[(station ? 0 : 2) + (pol ? 0 : 1)],
                    NULL);
}

/* Sets the output's rate and band, where each of `coarse` input channels is split into `channels`;
 * removes them where the input does not say enough. */
static void set_band_out(guint channels, guint coarse, GstStructure *s)
{
  const AstroFormat format = astro_format_from_name(gst_structure_get_string(s, "format"));
  gboolean real = format != ASTRO_FORMAT_UNKNOWN && !astro_format_info(format)->is_complex;
  gint rate_n = 0, rate_d = 1, out_n, out_d;
  double frequency = 0, bandwidth = 0, carried;
  gboolean has_rate = gst_structure_get_fraction(s, "rate", &rate_n, &rate_d) && rate_n > 0;
  gboolean has_frequency = gst_structure_get_double(s, "frequency", &frequency);
  gboolean has_bandwidth = gst_structure_get_double(s, "bandwidth", &bandwidth);

  gst_structure_remove_fields(s, "rate", "frequency", "bandwidth", NULL);
  if (format == ASTRO_FORMAT_UNKNOWN || !channels || channels > ASTRO_CHANNELIZER_MAX_CHANNELS ||
      !coarse)
    return;
  if (has_rate && gst_util_fraction_multiply(rate_n, rate_d, 1, (gint)channels * (real ? 2 : 1),
                                             &out_n, &out_d))
    gst_structure_set(s, "rate", GST_TYPE_FRACTION, out_n, out_d, NULL);
  carried = has_rate ? (double)rate_n / rate_d / (real ? 2 : 1) * coarse : bandwidth;
  /* Keep the input's own number where only rounding makes ours differ. */
  if (has_bandwidth && fabs(carried - bandwidth) < 1e-9 * bandwidth)
    carried = bandwidth;
  if (carried > 0 && (has_frequency || has_bandwidth))
    gst_structure_set(s, "bandwidth", G_TYPE_DOUBLE, carried, NULL);
  if (real || channels % 2 == 0)
    frequency -= carried / channels / coarse / 2;
  if (has_frequency && frequency > 0)
    gst_structure_set(s, "frequency", G_TYPE_DOUBLE, frequency, NULL);
}

/* How many input channels are split; 0 where caps of spectra do not say. */
static guint coarse_of(const GstStructure *s, AstroQuantity in)
{
  gint channels = 0;
  if (in != ASTRO_QUANTITY_SPECTRA)
    return 1;
  return gst_structure_get_int(s, "channels", &channels) && channels > 0 ? (guint)channels : 0;
}

static void set_channels_out(guint channels, guint coarse, GstStructure *s)
{
  const guint64 all = (guint64)channels * coarse;
  if (all > 0 && all <= G_MAXINT)
    gst_structure_set(s, "channels", G_TYPE_INT, (gint)all, NULL);
  else /* left to configure, which says what is wrong */
    gst_structure_set(s, "channels", GST_TYPE_INT_RANGE, 1, G_MAXINT, NULL);
}

static void make_spectra(guint channels, GstStructure *s)
{
  const AstroQuantity in = astro_quantity_from_media_type(gst_structure_get_name(s));
  const guint coarse = coarse_of(s, in);
  gst_structure_set_name(s, astro_quantity_media_type(ASTRO_QUANTITY_SPECTRA));
  set_band_out(channels, coarse, s);
  set_layout_out(s, in);
  set_names(s, "format", formats_out);
  set_channels_out(channels, coarse, s);
}

/* Any other format or layout is accepted last, so that configure can say why it is wrong. */
static void append_input(GstCaps *caps, const GstStructure *given, AstroQuantity quantity,
                         const char *const *layouts, const char *const *formats)
{
  GstStructure *s = gst_structure_copy(given);
  gst_structure_set_name(s, astro_quantity_media_type(quantity));
  gst_structure_remove_fields(s, "rate", "frequency", "bandwidth", "channels", "format", "layout",
                              NULL);
  GstStructure *known = gst_structure_copy(s);
  set_names(known, "layout", layouts);
  set_names(known, "format", formats);
  gst_caps_append_structure(caps, known);
  gst_caps_append_structure(caps, s);
}

static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  AstroChannelizer *self = ASTRO_CHANNELIZER(trans);
  guint channels;
  GstCaps *result = gst_caps_new_empty();

  astro_fields_copy_numbers(self, &channels, &self->channels, sizeof channels);
  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    const GstStructure *s = gst_caps_get_structure(caps, i);
    if (direction == GST_PAD_SINK) {
      GstStructure *spectra = gst_structure_copy(s);
      make_spectra(channels, spectra);
      gst_caps_append_structure(result, spectra);
    } else {
      append_input(result, s, ASTRO_QUANTITY_VOLTAGES, layouts_in, formats_in);
      append_input(result, s, ASTRO_QUANTITY_SPECTRA, layouts_of_spectra, formats_of_spectra);
    }
  }
  return astro_stage_filter_caps(result, filter);
}

/* ---- work ---- */

static AstroChannelizerConfig asked_for(const AstroChannelizer *self)
{
  return (AstroChannelizerConfig){ .channels = self->channels,
                                   .taps = self->taps,
                                   .window = self->window,
                                   .beta = self->beta,
                                   .gain = self->gain,
                                   .gains = self->gains };
}

static void forget(AstroChannelizer *self)
{
  self->started = FALSE;
  if (self->losses)
    astro_losses_clear(self->losses);
}

static gboolean configure(AstroStage *stage, gpointer config, gboolean *pass_through,
                          GError **error)
{
  AstroChannelizer *self = ASTRO_CHANNELIZER(stage);
  const AstroStream *in = astro_stage_in(stage), *out = astro_stage_out(stage);

  if (!self->renewed)
    self->config = asked_for(self);
  self->config.in = *in;
  self->config.to = out->format;
  if (in->rate_n > 0 && out->rate_n == 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "%u channels at a rate of %d/%d: the rate of the spectra is not a "
                               "fraction of whole numbers below 2^31",
                               self->config.channels, in->rate_n, in->rate_d);
  if (self->gains && self->n_gains != self->config.channels)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "property channels was set after the gains of %u channels were "
                               "read, to %u: expected it to be set in state NULL or READY",
                               self->n_gains, self->config.channels);
  if (!astro_stage_check_extent(
          stage, ASTRO_AXIS_CHANNEL,
          (guint64)self->config.channels * astro_channelizer_coarse(&self->config), error))
    return FALSE;
  g_clear_pointer(&self->losses, astro_losses_free);
  self->losses = astro_losses_new(in);
  forget(self);
  *(AstroChannelizerConfig *)config = self->config;
  return TRUE;
}

/* The stream goes on by the old gains, and so do the properties, unless another thread has set them
 * since. */
static void put_back(AstroChannelizer *self, double gain, const char *name)
{
  GST_OBJECT_LOCK(self);
  if (self->gain == gain || isnan(self->gain))
    self->gain = self->config.gain;
  GST_OBJECT_UNLOCK(self);
  astro_fields_put_back(self, &self->gains_file, name, self->used);
}

/* The filter starts afresh with other gains: no spectrum is made by both. */
static gboolean renew(AstroStage *stage, GError **error)
{
  AstroChannelizer *self = ASTRO_CHANNELIZER(stage);
  AstroChannelizerConfig wanted = self->config;
  g_autofree char *name = astro_fields_copy_text(self, &self->gains_file);
  g_autofree float *gains = NULL;
  GST_OBJECT_LOCK(self);
  wanted.gain = self->gain;
  GST_OBJECT_UNLOCK(self);
  if (astro_field_given(name) &&
      !(gains = astro_channelizer_gains_read(name, self->n_gains, error)))
    g_prefix_error(error, "gains: ");
  wanted.gains = gains;
  if ((astro_field_given(name) && !gains) || !astro_channelizer_reference.shape(&wanted, error)) {
    put_back(self, wanted.gain, name);
    return FALSE;
  }
  self->config = wanted;
  float *old = self->gains;
  self->gains = g_steal_pointer(&gains);
  g_free(self->used);
  self->used = g_steal_pointer(&name);
  self->renewed = TRUE;
  const gboolean ok = astro_stage_configure_again(stage);
  self->renewed = FALSE;
  g_free(old);
  return ok; /* if not, an error was posted */
}

/* A buffer for this many spectra. It is allocated for the most that a block of this size can give,
 * so that the pool does not change from block to block. */
static GstBuffer *new_buffer(AstroChannelizer *self, guint64 spectra, guint64 steps, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  guint64 step = astro_channelizer_step(&self->config), most = (steps + step - 1) / step;
  gsize bytes = astro_stream_step_bytes(astro_stage_out(stage));
  GstBuffer *out = astro_stage_new_buffer(stage, MAX(most, spectra) * bytes, error);
  if (out)
    gst_buffer_set_size(out, (gssize)(spectra * bytes));
  return out;
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  static const AstroLayout one = { 0 };
  AstroChannelizer *self = ASTRO_CHANNELIZER(stage);
  AstroChannelizerArguments arguments = { .first = first, .steps = steps };
  AstroSpectra spectra;
  GstBuffer *out = NULL;

  if (!self->started || first != self->next_in || GST_BUFFER_IS_DISCONT(in)) {
    forget(self);
    arguments.restart = TRUE;
    self->begin = first;
  }
  if (!astro_channelizer_block_spectra(&self->config, self->begin, first, steps, &spectra, error))
    return FALSE;
  astro_losses_read(self->losses, in, first, steps, &arguments.losses, &arguments.n_losses);
  if (spectra.count && !(out = new_buffer(self, spectra.count, steps, error)))
    return FALSE;
  if (!astro_stage_submit(stage, GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP) ? NULL : in, out,
                          &arguments, error)) {
    gst_clear_buffer(&out);
    return FALSE;
  }
  self->started = TRUE;
  self->next_in = first + steps;
  if (out) {
    const AstroWindows windows = astro_channelizer_windows(&self->config);
    if (astro_losses_mark(self->losses, out, &astro_stage_out(stage)->layout, &windows,
                          spectra.first, spectra.count))
      GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_GAP);
    else if (!astro_buffer_get_validity(out)) /* nothing is lost */
      astro_buffer_add_validity(out, &one, (guint32)windows.span);
    astro_stage_emit(stage, out, spectra.first, spectra.count);
  }
  GST_OBJECT_LOCK(self);
  self->clipped = astro_stage_result(stage)->clipped;
  GST_OBJECT_UNLOCK(self);
  return TRUE;
}

/* The samples still held do not make a whole spectrum. */
static gboolean finish(AstroStage *stage, GError **error)
{
  forget(ASTRO_CHANNELIZER(stage));
  return TRUE;
}

static void reset(AstroStage *stage)
{
  forget(ASTRO_CHANNELIZER(stage));
}

static void drained(AstroStage *stage)
{
  AstroChannelizer *self = ASTRO_CHANNELIZER(stage);
  GST_OBJECT_LOCK(self);
  self->clipped = astro_stage_result(stage)->clipped;
  GST_OBJECT_UNLOCK(self);
}

/* The first sample of a spectrum waits for the last one that the spectrum is made from. */
static guint64 latency_steps(AstroStage *stage)
{
  const AstroChannelizer *self = ASTRO_CHANNELIZER(stage);
  if (!self->losses)
    return 0;
  return astro_channelizer_span(&self->config) - astro_channelizer_lead(&self->config) - 1;
}

/* Blocks of spectra begin and end where those of voltages let the filter. */
static gboolean propose_allocation(GstBaseTransform *trans, GstQuery *decide, GstQuery *query)
{
  const AstroChannelizerConfig *config = &ASTRO_CHANNELIZER(trans)->config;
  if (!GST_BASE_TRANSFORM_CLASS(astro_channelizer_parent_class)
           ->propose_allocation(trans, decide, query))
    return FALSE;
  if (!decide) /* downstream has answered */
    return TRUE;
  const guint64 step = astro_channelizer_step(config);
  astro_stage_add_block_length(ASTRO_STAGE(trans), query, step,
                               astro_channelizer_span(config) - step -
                                   astro_channelizer_lead(config));
  return TRUE;
}

/* A property's setter cannot fail, so the start reports bad values, before there are caps. */
static gboolean start(AstroStage *stage)
{
  AstroChannelizer *self = ASTRO_CHANNELIZER(stage);
  AstroChannelizerConfig config = asked_for(self);
  g_autoptr(GError) error = NULL;

  config.in.format = ASTRO_FORMAT_CI8;
  config.to = ASTRO_FORMAT_CF32LE;
  if (!astro_channelizer_reference.shape(&config, &error)) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
    return FALSE;
  }
  g_autofree char *name = astro_fields_copy_text(self, &self->gains_file);
  self->n_gains = config.channels;
  if (name && !(self->gains = astro_channelizer_gains_read(name, self->n_gains, &error))) {
    GST_ELEMENT_ERROR(self, RESOURCE, READ, ("gains: %s", error->message), (NULL));
    return FALSE;
  }
  g_free(self->used);
  self->used = g_steal_pointer(&name);
  GST_OBJECT_LOCK(self);
  self->clipped = 0;
  GST_OBJECT_UNLOCK(self);
  return ASTRO_STAGE_CLASS(astro_channelizer_parent_class)->start(stage);
}

static gboolean stop(GstBaseTransform *trans)
{
  gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_channelizer_parent_class)->stop(trans);
  g_clear_pointer(&ASTRO_CHANNELIZER(trans)->losses, astro_losses_free);
  g_clear_pointer(&ASTRO_CHANNELIZER(trans)->gains, g_free);
  g_clear_pointer(&ASTRO_CHANNELIZER(trans)->used, g_free);
  return ok;
}

/* ---- properties ---- */

/* The ranges are wider than what is allowed: within them GObject would silently clamp values. */
static const AstroField fields[] = {
  ASTRO_UINT(AstroChannelizer, channels, "channels", "Channels",
             "Channels of a spectrum, 2 to 65536; with spectra as input, parts that each of "
             "their channels is split into",
             0, G_MAXUINT, 1024),
  ASTRO_UINT(AstroChannelizer, taps, "taps", "Taps",
             "Samples a spectrum is made from, as a multiple of its own: 1 (a plain FFT, with no "
             "window unless one is set) to 32",
             0, G_MAXUINT, 8),
  ASTRO_ENUM(AstroChannelizer, window, "window", "Window", "Window of the lowpass filter",
             astro_window_get_type, ASTRO_WINDOW_AUTO),
  ASTRO_DOUBLE(AstroChannelizer, beta, "beta", "Beta",
               "Beta of the Kaiser window, 0 to 100: larger leaks less, widens channels",
               -G_MAXDOUBLE, G_MAXDOUBLE, ASTRO_WINDOW_BETA),
  ASTRO_DOUBLE(AstroChannelizer, gain, "gain", "Gain",
               "Factor on every value; at 1 noise keeps its power in every channel", -G_MAXDOUBLE,
               G_MAXDOUBLE, 1, .when = ASTRO_WHEN_PLAYING, .changed = astro_stage_settings_changed),
  ASTRO_TEXT(AstroChannelizer, gains_file, "gains", "Gains",
             "A text file with one factor a channel, applied on top of gain", NULL,
             .when = ASTRO_WHEN_PLAYING, .changed = astro_stage_settings_changed),
  ASTRO_UINT64(AstroChannelizer, clipped, "clipped", "Clipped",
               "Components (two a value) that have saturated since the start", 0, G_MAXUINT64, 0,
               .when = ASTRO_WHEN_NEVER),
  { 0 },
};

/* The factor common to all channels; 0 if the channels' factors differ. */
static double common_gain(const AstroChannelizer *self)
{
  for (guint k = 1; self->gains && k < self->config.channels; k++)
    if (self->gains[k] != self->gains[0])
      return 0;
  return fabs(self->config.gain * (self->gains ? self->gains[0] : 1));
}

static gboolean amend(AstroStage *stage, AstroObservation *observation, GError **error)
{
  observation->done.filter_bank = TRUE;
  observation->done.scale *= common_gain(ASTRO_CHANNELIZER(stage));
  return TRUE;
}

static void astro_channelizer_class_init(AstroChannelizerClass *klass)
{
  static const AstroQuantity sink[] = { ASTRO_QUANTITY_VOLTAGES, ASTRO_QUANTITY_SPECTRA,
                                        ASTRO_QUANTITY_UNKNOWN };
  static const AstroQuantity src[] = { ASTRO_QUANTITY_SPECTRA, ASTRO_QUANTITY_UNKNOWN };
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  astro_fields_install(G_OBJECT_CLASS(klass), fields, 0);
  trans->transform_caps = transform_caps;
  trans->fixate_caps = astro_stage_fixate_exact;
  trans->propose_allocation = propose_allocation;
  stage->start = start;
  trans->stop = stop;
  stage->stage = "channelizer";
  stage->backends = astro_channelizer_backends;
  stage->tell_work = astro_channelizer_work;
  stage->adds_counts = TRUE; /* spectra count the samples behind them */
  stage->configure = configure;
  stage->renew = renew;
  stage->feed = feed;
  stage->amend = amend;
  stage->finish = finish;
  stage->reset = reset;
  stage->drained = drained;
  stage->latency_steps = latency_steps;
  astro_stage_class_add_pads(stage, sink, src);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Channelizer", "Filter/Converter",
      "Polyphase filter bank: voltages, or channels of spectra, to spectra", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "takes",
                                        "voltages CI4 CI8 CI16LE CF16LE CF32LE, real ones I8 I16LE "
                                        "F32LE, and spectra (complex): time, station, pol and "
                                        "channel in any order");
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "gives",
      "spectra CF32LE CF16LE CI16LE CI8 CI4: time, channel, station and pol");
}

static void astro_channelizer_init(AstroChannelizer *self)
{
  astro_fields_set_defaults(self);
}
