/**
 * SECTION:element-astrodepay
 *
 * Makes voltages or spectra from packets of any source: from udpsrc or pcapparse, one or more a
 * buffer, or from a file of packets one after another, which filesrc may cut anywhere. packet names
 * the format: vdif, lofar-beamlet, a preset for SPEAD, or @FILE, a text that describes a header
 * (doc/packets.md). From the network, astroudpsrc does the same at much lower cost.
 *
 * Each sample goes where its packet's sequence number says, in blocks of block ms, which wait
 * latency ms for packets that come out of order. Samples that do not come have validity 0 and are
 * counted as lost. Packets that come too late or twice, come from a station that stations does not
 * list, or do not have the format are left out and counted, with a warning unless that is to be
 * expected. SPEAD's packets with descriptions or the end of a stream have no effect. When a sender
 * starts again, a new segment begins, with a warning. The property stats and the message
 * "astro-packets", once a second and at the end, have the counts; the property also has those of
 * each stream of packets.
 *
 * The observation says when the first sample was taken if headers give it (VDIF, LOFAR), or
 * sync-epoch and the rate, or start-time; otherwise that is unknown. astroobserve, downstream of
 * this element, sets the positions and names of stations and the phase centre.
 *
 * |[
 * gst-launch-1.0 filesrc location=recorded.vdif ! \
 *   astrodepay packet=vdif stations=Ef,Wb pols=2 rate=32000000 frequency=1.4e9 bandwidth=16e6 ! \
 *   astroobserve array=positions.txt phase-centre=200,30 ! astrodelay ! astrochannelizer ! \
 *   astrotranspose ! astrocorrelator ! astrofitssink location=recorded.uvfits
 * ]|
 */
#include "config.h"
#include "elements/astrodepay.h"

#include <gst/base/gstadapter.h>

#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astropackets.h"
#include "elements/base/astroreader.h"
#include "elements/base/astrostage.h"

#define TOLD_EVERY_US G_USEC_PER_SEC

struct _AstroDepay {
  GstElement parent;
  AstroPacketSettings settings, now;
  GstPad *sink, *src;
  AstroPacketInput *input; /* from start to stop, under the object's lock */
  GstAdapter *adapter;     /* for a stream of bytes */
  gboolean is_bytes;
  gint64 told; /* when statistics were last posted */
};

G_DEFINE_TYPE(AstroDepay, astro_depay, GST_TYPE_ELEMENT)
GST_ELEMENT_REGISTER_DEFINE(astrodepay, "astrodepay", GST_RANK_NONE, ASTRO_TYPE_DEPAY)

static void get_stats(GObject *object, GValue *value);

static const AstroField fields[] = {
  { ASTRO_FIELD_SAYS(STRUCTURE, "stats", "Statistics", ASTRO_PACKETS_STATS), .get = get_stats },
  { 0 },
};

/* The statistics; empty unless between start and stop. */
static GstStructure *tell(AstroDepay *self)
{
  GST_OBJECT_LOCK(self);
  GstStructure *told =
      self->input ? astro_packet_input_tell(self->input) : gst_structure_new_empty("astro-packets");
  GST_OBJECT_UNLOCK(self);
  return told;
}

static void get_stats(GObject *object, GValue *value)
{
  g_value_take_boxed(value, tell(ASTRO_DEPAY(object)));
}

static void post_stats(AstroDepay *self)
{
  astro_packets_post(GST_ELEMENT(self), tell(self));
  self->told = g_get_monotonic_time();
}

/* ---- output ---- */

static GstFlowReturn send_caps(AstroDepay *self, GstCaps *caps)
{
  if (!astro_packets_agree(self->src, caps))
    return GST_FLOW_NOT_NEGOTIATED;
  gst_pad_push_event(self->src, gst_event_new_caps(caps));
  astro_packet_input_find_reader(self->input, self->src, caps);
  astro_log_caps(self, NULL, caps);
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
  return GST_FLOW_OK;
}

/* From here on steps count from 0. */
static void send_observation(AstroDepay *self, GstEvent *observation)
{
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(self->src, gst_event_new_segment(&segment));
  gst_pad_push_event(self->src, observation);
}

static GstFlowReturn push_all(AstroDepay *self)
{
  GstFlowReturn flow = GST_FLOW_OK;
  GstMiniObject *item;
  while (flow == GST_FLOW_OK && (item = astro_packet_input_pop(self->input, 0))) {
    if (GST_IS_BUFFER(item)) {
      astro_log_block(self, "out", GST_BUFFER_CAST(item));
      flow = gst_pad_push(self->src, GST_BUFFER_CAST(item));
    } else if (GST_IS_EVENT(item)) {
      send_observation(self, GST_EVENT_CAST(item));
    } else if (GST_IS_MESSAGE(item)) {
      gst_element_post_message(GST_ELEMENT(self), GST_MESSAGE_CAST(item));
    } else {
      flow = send_caps(self, GST_CAPS_CAST(item));
      gst_mini_object_unref(item);
    }
  }
  if (g_get_monotonic_time() - self->told >= TOLD_EVERY_US)
    post_stats(self);
  return flow;
}

/* ---- input ---- */

static gboolean take_bytes(AstroDepay *self, gboolean is_end)
{
  const gsize size = gst_adapter_available(self->adapter);
  gsize used = 0;
  if (size == 0)
    return TRUE;
  const guint8 *bytes = gst_adapter_map(self->adapter, size);
  const gboolean is_taken = astro_packet_input_take_stream(self->input, bytes, size, is_end, &used);
  gst_adapter_unmap(self->adapter);
  gst_adapter_flush(self->adapter, used);
  return is_taken;
}

static gboolean take(AstroDepay *self, GstBuffer *buffer)
{
  GstMapInfo map;
  if (self->is_bytes) {
    if (GST_BUFFER_IS_DISCONT(buffer))
      gst_adapter_clear(self->adapter);
    gst_adapter_push(self->adapter, gst_buffer_ref(buffer));
    return take_bytes(self, FALSE);
  }
  if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR(self, RESOURCE, READ, ("a buffer of packets cannot be read"), (NULL));
    return FALSE;
  }
  const gboolean is_taken =
      map.size == 0 || astro_packet_input_take(self->input, map.data, map.size, 0);
  gst_buffer_unmap(buffer, &map);
  return is_taken;
}

static GstFlowReturn chain(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  AstroDepay *self = ASTRO_DEPAY(parent);
  (void)pad;
  const gboolean is_taken = take(self, buffer);
  gst_buffer_unref(buffer);
  const GstFlowReturn flow = push_all(self);
  return is_taken ? flow : GST_FLOW_ERROR;
}

static void finish(AstroDepay *self)
{
  gboolean is_good = !self->is_bytes || take_bytes(self, TRUE);
  is_good = is_good && astro_packet_input_finish(self->input);
  const GstFlowReturn flow = push_all(self);
  if (is_good && astro_flow_is_lost(flow))
    GST_ELEMENT_FLOW_ERROR(self, flow);
}

static gboolean sink_event(GstPad *pad, GstObject *parent, GstEvent *event)
{
  AstroDepay *self = ASTRO_DEPAY(parent);
  const GstSegment *segment;
  switch (GST_EVENT_TYPE(event)) {
  case GST_EVENT_CAPS: /* describe packets, not samples */
    gst_event_unref(event);
    return TRUE;
  case GST_EVENT_SEGMENT: /* counts times of arrival */
    gst_event_parse_segment(event, &segment);
    self->is_bytes = segment->format == GST_FORMAT_BYTES;
    gst_event_unref(event);
    return TRUE;
  case GST_EVENT_EOS:
    finish(self);
    post_stats(self);
    break;
  case GST_EVENT_GAP: /* losses show in the sequence numbers of packets */
    gst_event_unref(event);
    return TRUE;
  case GST_EVENT_FLUSH_STOP:
    gst_adapter_clear(self->adapter);
    astro_packet_input_reset(self->input);
    break;
  default:
    break;
  }
  return gst_pad_event_default(pad, parent, event);
}

static gboolean src_query(GstPad *pad, GstObject *parent, GstQuery *query)
{
  AstroDepay *self = ASTRO_DEPAY(parent);
  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY)
    return gst_pad_query_default(pad, parent, query);
  if (!gst_pad_peer_query(self->sink, query))
    return FALSE;
  GST_OBJECT_LOCK(self);
  const GstClockTime own = self->input ? astro_packet_input_latency(self->input) : 0;
  GST_OBJECT_UNLOCK(self);
  astro_query_add_latency(query, own);
  return TRUE;
}

/* ---- states ---- */

static gboolean start(AstroDepay *self)
{
  astro_fields_clear(astro_packets_fields, &self->now);
  astro_fields_copy(astro_packets_fields, self, &self->now, &self->settings, sizeof self->now);
  self->told = g_get_monotonic_time();
  AstroPacketInput *input = astro_packet_input_new(GST_ELEMENT(self), &self->now);
  GST_OBJECT_LOCK(self);
  self->input = input;
  GST_OBJECT_UNLOCK(self);
  return input != NULL;
}

static void stop(AstroDepay *self)
{
  GST_OBJECT_LOCK(self);
  AstroPacketInput *input = g_steal_pointer(&self->input);
  GST_OBJECT_UNLOCK(self);
  g_clear_pointer(&input, astro_packet_input_free);
  gst_adapter_clear(self->adapter);
  self->is_bytes = FALSE;
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange change)
{
  AstroDepay *self = ASTRO_DEPAY(element);
  if (change == GST_STATE_CHANGE_READY_TO_PAUSED && !start(self))
    return GST_STATE_CHANGE_FAILURE;
  const GstStateChangeReturn changed =
      GST_ELEMENT_CLASS(astro_depay_parent_class)->change_state(element, change);
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (change == GST_STATE_CHANGE_READY_TO_PAUSED && changed == GST_STATE_CHANGE_FAILURE))
    stop(self);
  return changed;
}

static void finalize(GObject *object)
{
  AstroDepay *self = ASTRO_DEPAY(object);
  astro_fields_clear(astro_packets_fields, &self->now);
  g_clear_object(&self->adapter);
  G_OBJECT_CLASS(astro_depay_parent_class)->finalize(object);
}

static void astro_depay_class_init(AstroDepayClass *klass)
{
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  GObjectClass *object = G_OBJECT_CLASS(klass);
  g_autoptr(GstCaps) out =
      gst_caps_from_string("application/x-astro-voltages; application/x-astro-spectra; "
                           "application/x-astro-visibilities; application/x-astro-power");
  g_autoptr(GstCaps) any = gst_caps_new_any();
  astro_fields_install(object, astro_packets_fields, G_STRUCT_OFFSET(AstroDepay, settings));
  astro_fields_install(object, fields, 0);
  object->finalize = finalize;
  element->change_state = change_state;
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, any));
  gst_element_class_add_pad_template(element,
                                     gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, out));
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(
      element, "Samples of packets", "Codec/Depayloader/Network",
      "Puts the samples of packets in order, and counts lost ones", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(element, "takes",
                                        "packets, one or more a buffer, or a stream of bytes");
  gst_element_class_add_static_metadata(
      element, "gives", "voltages, spectra, visibilities or power, with counts of valid samples");
}

static void astro_depay_init(AstroDepay *self)
{
  GstElementClass *element = GST_ELEMENT_GET_CLASS(self);
  astro_fields_set_defaults(self);
  self->adapter = gst_adapter_new();
  self->sink =
      gst_pad_new_from_template(gst_element_class_get_pad_template(element, "sink"), "sink");
  self->src = gst_pad_new_from_template(gst_element_class_get_pad_template(element, "src"), "src");
  gst_pad_set_chain_function(self->sink, chain);
  gst_pad_set_event_function(self->sink, sink_event);
  gst_pad_set_query_function(self->src, src_query);
  gst_pad_use_fixed_caps(self->src);
  gst_element_add_pad(GST_ELEMENT(self), self->sink);
  gst_element_add_pad(GST_ELEMENT(self), self->src);
}
