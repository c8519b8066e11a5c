/**
 * SECTION:element-astropay
 *
 * Makes packets of voltages and spectra, as telescopes send them. Each buffer is a datagram, for
 * udpsink, multiudpsink or astrodepay. packet names the format: vdif, lofar-beamlet, a preset for
 * SPEAD, or @FILE, a text that describes a header (doc/packets.md). Each station, polarisation and
 * group of channels has packets of its own; in VDIF and LOFAR packets these are threads of a
 * station, numbered from 0, polarisations first.
 *
 * packet=results makes SPEAD heaps of visibilities, power or beams: each has a time step, or some
 * of its channels, with the counts of good samples, the caps and the observation, and descriptors
 * name its items for other programs (doc/packets.md). astrodepay and astroudpsrc give the same
 * stream again.
 *
 * A packet with a sample that is missing or not valid is marked as invalid if its header can say
 * so, and otherwise not sent, so that receivers count it as lost. Formats whose headers hold the
 * time take it from the observation; the sequence numbers of other formats count from its start,
 * which receivers need as sync-epoch. A sink with sync=true sends each packet when its last sample
 * was taken.
 *
 * loss, reorder and duplicate simulate a bad network, in the same way each time for the same seed.
 * The property stats and the message "astro-packets" at the end count what it did.
 *
 * |[
 * gst-launch-1.0 astroskysrc is-live=true stations=2 pols=2 bandwidth=1e6 ! \
 *   application/x-astro-voltages,format=CI8 ! astropay packet=vdif loss=0.01 reorder=0.1 ! \
 *   udpsink host=127.0.0.1 port=7148
 * ]|
 */
#include "config.h"
#include "elements/astropay.h"

#include "core/packets/results-sender.h"
#include "elements/base/astrofields.h"
#include "elements/base/astroincoming.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrostage.h"
#include "elements/base/astrosteps.h"

/* Limits of a list of packets: their number, and the time from the first to the last. */
#define LIST_PACKETS 64
#define LIST_TIME GST_MSECOND

struct _AstroPay {
  GstElement parent;
  AstroSenderSettings settings, now;
  GstPad *sink, *src;

  AstroSender *sender; /* from start to stop; counts are read under the object's lock */
  AstroSenderCounts counts;
  AstroRow *row; /* for the current stream and observation, or this, if it is of results */
  AstroResultsSender *results;
  GstCaps *caps;
  AstroStream stream;
  gboolean has_stream, has_segment, is_warned_again, is_warned_clipped;
  AstroObservation *observation;
  AstroSteps steps;
  gboolean is_begun;
  guint64 next;        /* the step expected next */
  guint64 lost, again; /* steps that are missing, or came again; under the object's lock */
  GstBufferList *list;
  GstFlowReturn flow; /* downstream's answer to the lists sent in this call */
};

G_DEFINE_TYPE(AstroPay, astro_pay, GST_TYPE_ELEMENT)
GST_ELEMENT_REGISTER_DEFINE(astropay, "astropay", GST_RANK_NONE, ASTRO_TYPE_PAY)

static void get_stats(GObject *object, GValue *value);

static const AstroField fields[] = {
  ASTRO_TEXT(
      AstroSenderSettings, packet, "packet", "Packet",
      "Format of the packets: vdif, lofar-beamlet, katgpucbf-antenna-voltage, "
      "meerkat-digitiser, or @FILE, which describes one; results for visibilities, power and beams",
      NULL),
  ASTRO_TEXT(
      AstroSenderSettings, stations, "stations", "Stations",
      "Identifiers of the stations in packets: numbers, ranges (0-3) or codes of two letters "
      "(Ef), separated by commas (unset: numbers from 0)",
      NULL),
  ASTRO_UINT(
      AstroSenderSettings, bits, "bits", "Bits",
      "Bits of each component of a sample (0: as the description says, or else as the samples "
      "have; 2 for floats)",
      0, 32, 0),
  ASTRO_UINT(AstroSenderSettings, packet_steps, "packet-steps", "Steps in a packet",
             "Time steps in a packet or a heap (0: as the format has)", 0, 1 << 24, 0),
  ASTRO_UINT(AstroSenderSettings, packet_channels, "packet-channels", "Channels in a packet",
             "Channels in a packet or a heap (0: as the format has)", 0, 1 << 24, 0),
  ASTRO_UINT(AstroSenderSettings, packet_bytes, "packet-bytes", "Bytes in a packet",
             "Most bytes of samples in a packet, if packet-steps is not set; SPEAD heaps are split "
             "into as many packets as needed",
             8, 65000, 8192),
  ASTRO_UINT64(AstroSenderSettings, first_channel, "first-channel", "First channel",
               "Number of the first channel in headers", 0, G_MAXUINT32, 0),
  ASTRO_UINT64(AstroSenderSettings, sequence_step, "sequence-step", "Step of the sequence",
               "Increase of the sequence number from one packet to the next (0: as the format has)",
               0, G_MAXINT64, 0),
  ASTRO_DOUBLE(AstroSenderSettings, network.loss, "loss", "Loss",
               "Fraction of the packets that are lost, for tests", 0, 1, 0),
  ASTRO_DOUBLE(AstroSenderSettings, network.reorder, "reorder", "Reorder",
               "Fraction of the packets that are sent after up to 8 later ones, for tests", 0, 1,
               0),
  ASTRO_DOUBLE(AstroSenderSettings, network.duplicate, "duplicate", "Duplicate",
               "Fraction of the packets that are sent twice, for tests", 0, 1, 0),
  ASTRO_UINT64(AstroSenderSettings, network.seed, "seed", "Seed",
               "Seed of the choice of these packets: the same seed chooses the same ones", 0,
               G_MAXUINT64, 1),
  { ASTRO_FIELD_SAYS(STRUCTURE, "stats", "Statistics",
                     "packets and bytes sent; dropped, duplicated and reordered packets; invalid, "
                     "marked as such; withheld, not sent because the format has no such mark; "
                     "clipped values; steps-again and steps-lost of the input"),
    .get = get_stats },
  { 0 },
};

static GstStructure *tell(AstroPay *self)
{
  GST_OBJECT_LOCK(self);
  const AstroSenderCounts c = self->counts;
  const guint64 again = self->again, lost = self->lost;
  GST_OBJECT_UNLOCK(self);
  return gst_structure_new(
      "astro-packets", "packets", G_TYPE_UINT64, c.packets, "bytes", G_TYPE_UINT64, c.bytes,
      "dropped", G_TYPE_UINT64, c.dropped, "duplicated", G_TYPE_UINT64, c.duplicated, "reordered",
      G_TYPE_UINT64, c.reordered, "invalid", G_TYPE_UINT64, c.invalid, "withheld", G_TYPE_UINT64,
      c.withheld, "clipped", G_TYPE_UINT64, c.clipped, "steps-again", G_TYPE_UINT64, again,
      "steps-lost", G_TYPE_UINT64, lost, NULL);
}

static void get_stats(GObject *object, GValue *value)
{
  g_value_take_boxed(value, tell(ASTRO_PAY(object)));
}

/* ---- output ---- */

static void push_list(AstroPay *self)
{
  if (!self->list)
    return;
  const GstFlowReturn flow = gst_pad_push_list(self->src, g_steal_pointer(&self->list));
  if (self->flow == GST_FLOW_OK)
    self->flow = flow;
}

/* Lists are short, so that a sink with sync=true sends no packet much before its time. */
static gboolean is_list_full(const AstroPay *self, const GstBuffer *next)
{
  const GstClockTime first = GST_BUFFER_PTS(gst_buffer_list_get(self->list, 0));
  return gst_buffer_list_length(self->list) >= LIST_PACKETS ||
         GST_BUFFER_PTS(next) > first + LIST_TIME;
}

static void take_datagram(gpointer user, GstBuffer *datagram)
{
  AstroPay *self = user;
  if (self->list && is_list_full(self, datagram))
    push_list(self);
  if (!self->list)
    self->list = gst_buffer_list_new();
  gst_buffer_list_add(self->list, datagram);
}

static void note_counts(AstroPay *self)
{
  const AstroSenderCounts counts = astro_sender_counts(self->sender);
  GST_OBJECT_LOCK(self);
  self->counts = counts;
  GST_OBJECT_UNLOCK(self);
  if (counts.clipped == 0 || self->is_warned_clipped)
    return;
  self->is_warned_clipped = TRUE;
  GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                      ("values are larger than packets can hold and are clipped; stats count "
                       "them. astroconvert scale=... upstream makes them smaller"),
                      (NULL));
}

static GstFlowReturn fail(AstroPay *self, const GError *error)
{
  GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), (NULL));
  return GST_FLOW_ERROR;
}

static GstClockTime time_of(gpointer user, guint64 end)
{
  AstroPay *self = user;
  return astro_steps_time(&self->steps, &self->stream, end);
}

/* Sends all that is held, before another stream or observation begins. */
static GstFlowReturn drain(AstroPay *self)
{
  g_autoptr(GError) error = NULL;
  if (!self->row && !self->results)
    return GST_FLOW_OK;
  self->flow = GST_FLOW_OK;
  const gboolean is_sent = !self->row || astro_row_finish(self->row, &error);
  astro_sender_finish(self->sender);
  note_counts(self);
  push_list(self);
  return is_sent ? self->flow : fail(self, error);
}

static void forget(AstroPay *self)
{
  g_clear_pointer(&self->row, astro_row_free);
  g_clear_pointer(&self->results, astro_results_sender_free);
  g_clear_pointer(&self->list, gst_buffer_list_unref);
}

/* ---- input ---- */

/* Voltages and spectra have the formats of telescopes, results one of their own. */
static gboolean check_packet(AstroPay *self, GError **error)
{
  const char *packet = astro_sender_packet(self->sender);
  const gboolean is_results = g_str_equal(packet, ASTRO_RESULTS);
  if (is_results == astro_results_carry(&self->stream))
    return TRUE;
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, "packets of %s cannot hold %s: %s",
                             packet, astro_quantity_name(self->stream.quantity),
                             is_results ? "set packet to the format of a telescope, as vdif"
                                        : "set packet=" ASTRO_RESULTS);
}

static gboolean begin(AstroPay *self, GError **error)
{
  if (self->row || self->results)
    return TRUE;
  if (!check_packet(self, error))
    return FALSE;
  if (astro_results_carry(&self->stream)) {
    self->results =
        astro_results_sender_new(self->sender, self->caps, self->observation, time_of, self, error);
    return self->results != NULL;
  }
  if (!astro_sender_begin(self->sender, &self->stream, self->observation, error))
    return FALSE;
  self->row = astro_row_new(self->sender, &self->stream, time_of, self);
  return TRUE;
}

static void send_segment(AstroPay *self)
{
  GstSegment segment;
  if (self->has_segment)
    return;
  self->has_segment = TRUE;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(self->src, gst_event_new_segment(&segment));
}

static void warn_of_again(AstroPay *self, const AstroStepsPlace *place)
{
  ASTRO_DEBUG(self, "%" G_GUINT64_FORMAT " steps came again, or late", place->again);
  if (self->is_warned_again)
    return;
  self->is_warned_again = TRUE;
  g_autofree char *text = astro_steps_describe_again(&self->steps, place);
  GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("%s in stats (steps-again)", text), (NULL));
}

static void count_lost(AstroPay *self, GstBuffer *buffer, guint64 steps,
                       const AstroStepsPlace *place)
{
  const gboolean is_gap = GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP);
  guint64 lost = is_gap ? steps - place->again : 0;
  if (self->is_begun && place->first > self->next)
    lost += place->first - self->next;
  self->is_begun = TRUE;
  self->next = place->first + steps - place->again;
  GST_OBJECT_LOCK(self);
  self->lost += lost;
  self->again = self->steps.again;
  GST_OBJECT_UNLOCK(self);
}

static gboolean add(AstroPay *self, GstBuffer *buffer, guint64 steps, const AstroStepsPlace *place,
                    GError **error)
{
  const AstroValidityMeta *counts = astro_buffer_get_validity(buffer);
  AstroLayout shape;
  GstMapInfo map;
  astro_stream_shape(&self->stream, steps, &shape);
  if (counts && !astro_validity_check(counts, &shape, error))
    return FALSE;
  if (!gst_buffer_map(buffer, &map, GST_MAP_READ))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE, "a buffer cannot be read");
  const gboolean is_gap = GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP);
  gboolean is_added = TRUE;
  if (self->row)
    is_added = astro_row_add(self->row, map.data, steps, place->again, place->first - place->again,
                             counts, is_gap, error);
  else if (is_gap)
    astro_sender_withhold(self->sender,
                          (steps - place->again) * astro_results_sender_groups(self->results));
  else
    astro_results_sender_add(self->results, map.data, steps, place->again, place->first, counts);
  gst_buffer_unmap(buffer, &map);
  return is_added;
}

static GstFlowReturn chain(GstPad *pad, GstObject *parent, GstBuffer *taken)
{
  AstroPay *self = ASTRO_PAY(parent);
  g_autoptr(GstBuffer) buffer = taken;
  g_autoptr(GError) error = NULL;
  AstroStepsPlace place;
  guint64 steps;
  (void)pad;
  if (!self->has_stream)
    return astro_has_caps(self->sink) ? GST_FLOW_ERROR : GST_FLOW_NOT_NEGOTIATED;
  self->flow = GST_FLOW_OK;
  send_segment(self);
  astro_log_block(self, "in", buffer);
  if (!astro_stream_check_counts(&self->stream, buffer, &error) ||
      !astro_stream_steps(&self->stream, gst_buffer_get_size(buffer), &steps, &error) ||
      !begin(self, &error))
    return fail(self, error);
  if (steps == 0)
    return GST_FLOW_OK;
  if (!astro_steps_find(&self->steps, &self->stream, buffer, steps, &place, &error))
    return fail(self, error);
  if (place.again)
    warn_of_again(self, &place);
  count_lost(self, buffer, steps, &place);
  if (place.again < steps && !add(self, buffer, steps, &place, &error))
    return fail(self, error);
  note_counts(self);
  push_list(self);
  return self->flow;
}

static gboolean set_caps(AstroPay *self, GstCaps *caps)
{
  g_autoptr(GError) error = NULL;
  const AstroStream before = self->stream;
  if (self->has_stream && astro_caps_are_known(self->sink, caps))
    return TRUE;
  if (drain(self) == GST_FLOW_ERROR)
    return FALSE;
  forget(self);
  gst_caps_replace(&self->caps, caps);
  self->has_stream = astro_stream_from_caps(&self->stream, caps, &error) &&
                     astro_stream_check_sums(&self->stream, &error);
  if (self->has_stream && self->stream.rate_n == 0)
    self->has_stream =
        astro_stream_refuse(&error, ASTRO_STREAM_ERROR_CAPS,
                            "caps have no field \"rate\", which packets need to have times");
  if (!self->has_stream) {
    fail(self, error);
    return FALSE;
  }
  self->is_begun = FALSE;
  astro_steps_follow_rate(&self->steps, &before, &self->stream);
  g_autoptr(GstCaps) out =
      gst_caps_new_simple("application/x-astro-packets", "packet", G_TYPE_STRING,
                          astro_sender_packet(self->sender), NULL);
  astro_log_caps(self, caps, out);
  return gst_pad_push_event(self->src, gst_event_new_caps(out));
}

static gboolean take_observation(AstroPay *self, GstEvent *event)
{
  g_autoptr(GError) error = NULL;
  if (astro_event_is_known(self->sink, event))
    return TRUE;
  AstroObservation *observation = astro_observation_from_event(event, &error);
  if (!observation) {
    fail(self, error);
    return FALSE;
  }
  drain(self);
  forget(self);
  g_clear_pointer(&self->observation, astro_observation_unref);
  self->observation = observation;
  self->steps.is_anew = TRUE;
  self->is_begun = FALSE;
  return TRUE;
}

static gboolean sink_event(GstPad *pad, GstObject *parent, GstEvent *event)
{
  AstroPay *self = ASTRO_PAY(parent);
  GstCaps *caps;
  gboolean is_taken = TRUE;
  if (astro_event_is_observation(event)) {
    is_taken = take_observation(self, event);
    gst_event_unref(event); /* packets do not carry it */
    return is_taken;
  }
  /* A packet that has begun continues if the steps do. */
  astro_steps_take_event(&self->steps, pad, event);
  switch (GST_EVENT_TYPE(event)) {
  case GST_EVENT_CAPS:
    gst_event_parse_caps(event, &caps);
    is_taken = set_caps(self, caps);
    gst_event_unref(event);
    return is_taken;
  case GST_EVENT_SEGMENT:
    self->has_segment = self->steps.counts_time;
    if (self->has_segment)
      break;
    gst_event_unref(event);
    send_segment(self);
    return TRUE;
  case GST_EVENT_EOS: {
    const GstFlowReturn flow = drain(self);
    if (astro_flow_is_lost(flow) && flow != GST_FLOW_ERROR)
      GST_ELEMENT_FLOW_ERROR(self, flow);
    gst_element_post_message(GST_ELEMENT(self),
                             gst_message_new_element(GST_OBJECT(self), tell(self)));
    break;
  }
  case GST_EVENT_FLUSH_STOP:
    astro_steps_reset(&self->steps);
    self->is_begun = FALSE;
    astro_sender_reset(self->sender);
    if (self->row)
      astro_row_reset(self->row);
    g_clear_pointer(&self->list, gst_buffer_list_unref);
    break;
  default:
    break;
  }
  return gst_pad_event_default(pad, parent, event);
}

/* ---- states ---- */

static gboolean start(AstroPay *self)
{
  g_autoptr(GError) error = NULL;
  astro_fields_clear(fields, &self->now);
  astro_fields_copy(fields, self, &self->now, &self->settings, sizeof self->now);
  astro_steps_begin(&self->steps);
  self->counts = (AstroSenderCounts){ 0 };
  self->is_begun = FALSE;
  self->lost = self->again = 0;
  self->is_warned_again = self->is_warned_clipped = FALSE;
  self->sender = astro_sender_new(&self->now, take_datagram, self, &error);
  if (!self->sender)
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
  return self->sender != NULL;
}

static void stop(AstroPay *self)
{
  forget(self);
  g_clear_pointer(&self->sender, astro_sender_free);
  g_clear_pointer(&self->observation, astro_observation_unref);
  astro_steps_reset(&self->steps);
  gst_caps_replace(&self->caps, NULL);
  self->has_stream = self->has_segment = FALSE;
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange change)
{
  AstroPay *self = ASTRO_PAY(element);
  if (change == GST_STATE_CHANGE_READY_TO_PAUSED && !start(self))
    return GST_STATE_CHANGE_FAILURE;
  const GstStateChangeReturn changed =
      GST_ELEMENT_CLASS(astro_pay_parent_class)->change_state(element, change);
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (change == GST_STATE_CHANGE_READY_TO_PAUSED && changed == GST_STATE_CHANGE_FAILURE))
    stop(self);
  return changed;
}

static void finalize(GObject *object)
{
  AstroPay *self = ASTRO_PAY(object);
  astro_fields_clear(fields, &self->now);
  G_OBJECT_CLASS(astro_pay_parent_class)->finalize(object);
}

static void astro_pay_class_init(AstroPayClass *klass)
{
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  g_autoptr(GstCaps) in =
      gst_caps_from_string("application/x-astro-voltages; application/x-astro-spectra; "
                           "application/x-astro-visibilities; application/x-astro-power");
  g_autoptr(GstCaps) out = gst_caps_from_string("application/x-astro-packets");
  astro_fields_install(G_OBJECT_CLASS(klass), fields, G_STRUCT_OFFSET(AstroPay, settings));
  G_OBJECT_CLASS(klass)->finalize = finalize;
  element->change_state = change_state;
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, in));
  gst_element_class_add_pad_template(element,
                                     gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, out));
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(element, "Packets of samples", "Codec/Payloader/Network",
                                        "Makes packets of voltages and spectra, as telescopes "
                                        "send them, and of visibilities, power and beams, and can "
                                        "simulate a bad network",
                                        ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(element, "takes",
                                        "voltages, spectra, visibilities and power with a rate");
  gst_element_class_add_static_metadata(element, "gives", "packets, one a buffer, in lists");
}

static void astro_pay_init(AstroPay *self)
{
  GstElementClass *element = GST_ELEMENT_GET_CLASS(self);
  astro_fields_set_defaults(self);
  self->sink =
      gst_pad_new_from_template(gst_element_class_get_pad_template(element, "sink"), "sink");
  self->src = gst_pad_new_from_template(gst_element_class_get_pad_template(element, "src"), "src");
  gst_pad_set_chain_function(self->sink, chain);
  gst_pad_set_event_function(self->sink, sink_event);
  gst_pad_use_fixed_caps(self->src);
  gst_element_add_pad(GST_ELEMENT(self), self->sink);
  gst_element_add_pad(GST_ELEMENT(self), self->src);
}
