/**
 * SECTION:element-astroudpsrc
 *
 * Receives packets from the network as voltages or spectra. It does what astrodepay does, with a
 * thread for each socket that takes many packets at once. Each address and port has a socket;
 * multicast groups are joined. astrodepay's page describes formats, losses, times and counts.
 *
 * The kernel keeps packets in a buffer until they are taken. Those that do not fit are lost, and
 * the property stats and the message "astro-packets", once a second, count them as kernel-drops (a
 * bundle of packets that the kernel made counts as one; lost counts each). buffer-size asks for a
 * larger buffer, which net.core.rmem_max limits; a warning says if it is smaller than requested,
 * and receive-buffer in stats gives its size. The times of blocks follow the pipeline's clock, so
 * that a sink with sync=true shows them after the latency.
 *
 * If neither headers nor sync-epoch nor start-time tell the time, and the pipeline's clock knows
 * UTC, as with gst-astro run --clock=realtime or --clock=ptp:0, the stream starts when its packets
 * arrived, less the time that their samples take. A message "astro-start" says so, with the clock
 * and how good it is. The start is late by as much as the network delays the fastest packet of the
 * first block. Other clocks tell nothing about UTC, and the start is then unknown.
 *
 * An EOS event, such as gst-launch-1.0 -e or gst-astro send at Ctrl-C, sends what has come and ends
 * the stream.
 *
 * |[
 * gst-launch-1.0 -e astroudpsrc address=239.1.0.0-3 port=7148 multicast-iface=eth1 \
 *   packet=vdif stations=Ef,Wb pols=2 rate=32000000 frequency=1.4e9 bandwidth=16e6 ! \
 *   astroobserve array=positions.txt phase-centre=200,30 ! astrodelay ! astrochannelizer ! \
 *   astrotranspose ! astrocorrelator ! astrofitssink location=received.uvfits
 * ]|
 */
#include "config.h"
#include "elements/astroudpsrc.h"

#include "core/packets/ports.h"
#include "core/packets/udp.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astropackets.h"
#include "elements/base/astrostage.h"
#include "elements/base/astroutcclock.h"

#define TOLD_EVERY_US G_USEC_PER_SEC
#define POP_US (100 * G_TIME_SPAN_MILLISECOND)
#define RECEIVE_MS 100
/* While more blocks than this wait for downstream, nothing is taken from the kernel. */
#define MOST_BLOCKS 8

typedef struct {
  char *address, *port, *interface;
  guint64 buffer_size;
} Listen;

typedef struct {
  AstroUdpSrc *owner;
  AstroUdp *udp;
  GThread *thread;
} Socket;

struct _AstroUdpSrc {
  GstPushSrc parent;
  struct {
    AstroPacketSettings packets;
    Listen listen;
  } settings;
  AstroPacketSettings now;
  Listen listen;

  AstroPacketInput *input; /* from start to stop, like sockets: both are set under the lock */
  GPtrArray *sockets;
  gint is_stopping;           /* atomic: tells threads to end */
  gint is_failed;             /* atomic: one of them has posted an error */
  gint is_flushing, is_ended; /* atomic */
  gboolean is_finished;       /* all that came is in the queue */
  gint64 told;
  gboolean has_threads;
  GstClock *utc; /* while there are threads: the pipeline's clock, if it knows UTC */
};

G_DEFINE_TYPE(AstroUdpSrc, astro_udp_src, GST_TYPE_PUSH_SRC)
GST_ELEMENT_REGISTER_DEFINE(astroudpsrc, "astroudpsrc", GST_RANK_NONE, ASTRO_TYPE_UDP_SRC)

static void get_stats(GObject *object, GValue *value);

static const AstroField listen_fields[] = {
  ASTRO_TEXT(Listen, address, "address", "Address",
             "Where to listen: addresses of this host or multicast groups, or ranges of their last "
             "number (239.1.0.0-3), separated by commas (unset: all addresses of this host)",
             NULL),
  ASTRO_TEXT(Listen, port, "port", "Port",
             "Ports to listen on: numbers or ranges, separated by commas", "7148"),
  ASTRO_TEXT(Listen, interface, "multicast-iface", "Interface of multicast",
             "Interface on which multicast groups are joined (unset: the system chooses)", NULL),
  ASTRO_UINT64(Listen, buffer_size, "buffer-size", "Buffer size",
               "Bytes that the kernel should keep for each socket (0: as many as it allows, up to "
               "64 MiB)",
               0, G_MAXINT32 / 2, 0),
  { 0 },
};

static const AstroField fields[] = {
  { ASTRO_FIELD_SAYS(STRUCTURE, "stats", "Statistics",
                     ASTRO_PACKETS_STATS "; kernel-drops, and the smallest receive-buffer (bytes)"),
    .get = get_stats },
  { 0 },
};

/* ---- statistics ---- */

static GstStructure *tell(AstroUdpSrc *self)
{
  guint64 drops = 0, buffer = G_MAXUINT64;
  GST_OBJECT_LOCK(self);
  GstStructure *told =
      self->input ? astro_packet_input_tell(self->input) : gst_structure_new_empty("astro-packets");
  for (guint i = 0; self->sockets && i < self->sockets->len; i++) {
    const Socket *one = self->sockets->pdata[i];
    drops += astro_udp_drops(one->udp);
    buffer = MIN(buffer, astro_udp_buffer(one->udp));
  }
  GST_OBJECT_UNLOCK(self);
  if (buffer != G_MAXUINT64)
    gst_structure_set(told, "kernel-drops", G_TYPE_UINT64, drops, "receive-buffer", G_TYPE_UINT64,
                      buffer, NULL);
  return told;
}

static void get_stats(GObject *object, GValue *value)
{
  g_value_take_boxed(value, tell(ASTRO_UDP_SRC(object)));
}

static void post_stats(AstroUdpSrc *self)
{
  astro_packets_post(GST_ELEMENT(self), tell(self));
  self->told = g_get_monotonic_time();
}

/* ---- sockets, each with a thread ---- */

static void fail(AstroUdpSrc *self)
{
  g_atomic_int_set(&self->is_failed, TRUE);
  astro_packet_input_wake(self->input);
}

static gpointer receive(gpointer data)
{
  const Socket *one = data;
  AstroUdpSrc *self = one->owner;
  AstroDatagram *all = g_new(AstroDatagram, ASTRO_UDP_MOST);
  while (!g_atomic_int_get(&self->is_stopping)) {
    g_autoptr(GError) error = NULL;
    const AstroUdpDatagram *came;
    if (!astro_packet_input_wait_room(self->input, MOST_BLOCKS))
      continue;
    const gint n = astro_udp_receive(one->udp, RECEIVE_MS, &came, &error);
    const gint64 ahead = n > 0 && self->utc ? astro_utc_clock_ahead(self->utc) : 0;
    for (gint i = 0; i < n; i++)
      all[i] = (AstroDatagram){ came[i].bytes, came[i].size, came[i].sender,
                                self->utc && came[i].arrived ? came[i].arrived + ahead : 0 };
    if (n < 0)
      GST_ELEMENT_ERROR(self, RESOURCE, READ, ("%s", error->message), (NULL));
    if (n < 0 || !astro_packet_input_take_all(self->input, all, (guint)n)) {
      fail(self);
      break;
    }
  }
  g_free(all);
  return NULL;
}

/* A live source runs only while the pipeline plays, so the clock is known. */
static void find_clock(AstroUdpSrc *self)
{
  g_autoptr(GstClock) clock = gst_element_get_clock(GST_ELEMENT(self));
  if (astro_utc_clock_kind(clock) != ASTRO_UTC_NONE) {
    astro_packet_input_set_clock(self->input, astro_utc_clock_tell(clock, ASTRO_PACKETS_START));
    self->utc = g_steal_pointer(&clock);
  }
  for (guint i = 0; !self->utc && i < self->sockets->len; i++)
    astro_udp_tell_arrival(((Socket *)self->sockets->pdata[i])->udp, FALSE);
}

static void start_threads(AstroUdpSrc *self)
{
  if (self->has_threads)
    return;
  self->has_threads = TRUE;
  find_clock(self);
  for (guint i = 0; i < self->sockets->len; i++) {
    Socket *one = self->sockets->pdata[i];
    one->thread = g_thread_new("astro-udp", receive, one);
  }
}

static void end_threads(AstroUdpSrc *self)
{
  g_atomic_int_set(&self->is_stopping, TRUE);
  astro_packet_input_wake(self->input);
  for (guint i = 0; i < self->sockets->len; i++)
    astro_udp_wake(((Socket *)self->sockets->pdata[i])->udp);
  for (guint i = 0; i < self->sockets->len; i++)
    g_clear_pointer(&((Socket *)self->sockets->pdata[i])->thread, g_thread_join);
}

static void socket_free(gpointer data)
{
  Socket *one = data;
  astro_udp_free(one->udp);
  g_free(one);
}

static void check_buffer(AstroUdpSrc *self, const AstroUdp *udp)
{
  const gsize got = astro_udp_buffer(udp), asked = self->listen.buffer_size;
  ASTRO_INFO(self, "the kernel keeps %zu bytes for the socket", got);
  if (got < asked)
    GST_ELEMENT_WARNING(self, RESOURCE, SETTINGS,
                        ("the kernel keeps %zu bytes for a socket, and buffer-size asked for %zu: "
                         "sysctl net.core.rmem_max=%zu allows that",
                         got, asked, asked),
                        (NULL));
}

static gboolean open_socket(AstroUdpSrc *self, GPtrArray *sockets, GInetAddress *address,
                            guint port)
{
  g_autoptr(GError) error = NULL;
  const char *interface = astro_field_given(self->listen.interface);
  const AstroUdpWish wish = { address, port, interface, (gsize)self->listen.buffer_size };
  AstroUdp *udp = astro_udp_new(&wish, &error);
  if (!udp) {
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ, ("%s", error->message), (NULL));
    return FALSE;
  }
  if (sockets->len == 0)
    check_buffer(self, udp);
  Socket *one = g_new0(Socket, 1);
  one->owner = self;
  one->udp = udp;
  astro_udp_tell_arrival(udp, TRUE);
  g_ptr_array_add(sockets, one);
  return TRUE;
}

static gboolean open_sockets(AstroUdpSrc *self, GPtrArray *sockets)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) ports = astro_ports_parse(self->listen.port, &error);
  g_autoptr(GPtrArray) addresses =
      ports ? astro_addresses_parse(self->listen.address, &error) : NULL;
  if (!addresses || addresses->len * ports->len > ASTRO_PORTS_MOST) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS,
                      ("%s", error ? error->message : "there are too many addresses and ports"),
                      (NULL));
    return FALSE;
  }
  for (guint i = 0; i < addresses->len; i++)
    for (guint k = 0; k < ports->len; k++)
      if (!open_socket(self, sockets, addresses->pdata[i], g_array_index(ports, guint, k)))
        return FALSE;
  return TRUE;
}

/* ---- from start to stop ---- */

static void clear_settings(AstroUdpSrc *self)
{
  astro_fields_clear(astro_packets_fields, &self->now);
  astro_fields_clear(listen_fields, &self->listen);
}

static gboolean start(GstBaseSrc *base)
{
  AstroUdpSrc *self = ASTRO_UDP_SRC(base);
  g_autoptr(GPtrArray) sockets = g_ptr_array_new_with_free_func(socket_free);
  clear_settings(self);
  astro_fields_copy(astro_packets_fields, self, &self->now, &self->settings.packets,
                    sizeof self->now);
  astro_fields_copy(listen_fields, self, &self->listen, &self->settings.listen,
                    sizeof self->listen);
  self->is_stopping = self->is_failed = self->is_flushing = self->is_ended = FALSE;
  self->is_finished = self->has_threads = FALSE;
  self->told = g_get_monotonic_time();
  AstroPacketInput *input = astro_packet_input_new(GST_ELEMENT(self), &self->now);
  if (!input)
    return FALSE;
  if (!open_sockets(self, sockets)) {
    astro_packet_input_free(input);
    return FALSE;
  }
  GST_OBJECT_LOCK(self);
  self->input = input;
  self->sockets = g_steal_pointer(&sockets);
  GST_OBJECT_UNLOCK(self);
  return TRUE;
}

static gboolean stop(GstBaseSrc *base)
{
  AstroUdpSrc *self = ASTRO_UDP_SRC(base);
  end_threads(self);
  gst_clear_object(&self->utc);
  GST_OBJECT_LOCK(self);
  AstroPacketInput *input = g_steal_pointer(&self->input);
  g_autoptr(GPtrArray) sockets = g_steal_pointer(&self->sockets);
  GST_OBJECT_UNLOCK(self);
  astro_packet_input_free(input);
  return TRUE;
}

/* Whoever waits for packets looks again at what it is to do: any thread, at any time. */
static void wake(AstroUdpSrc *self)
{
  GST_OBJECT_LOCK(self);
  if (self->input)
    astro_packet_input_wake(self->input);
  GST_OBJECT_UNLOCK(self);
}

static gboolean unlock(GstBaseSrc *base)
{
  AstroUdpSrc *self = ASTRO_UDP_SRC(base);
  g_atomic_int_set(&self->is_flushing, TRUE);
  wake(self);
  return TRUE;
}

static gboolean unlock_stop(GstBaseSrc *base)
{
  g_atomic_int_set(&ASTRO_UDP_SRC(base)->is_flushing, FALSE);
  return TRUE;
}

/* The stream ends after all that has come is sent, so GstBaseSrc must not end it before. */
static gboolean send_event(GstElement *element, GstEvent *event)
{
  AstroUdpSrc *self = ASTRO_UDP_SRC(element);
  if (GST_EVENT_TYPE(event) != GST_EVENT_EOS)
    return GST_ELEMENT_CLASS(astro_udp_src_parent_class)->send_event(element, event);
  gst_event_unref(event);
  g_atomic_int_set(&self->is_ended, TRUE);
  wake(self);
  return TRUE;
}

/* ---- output ---- */

/* Caps are known only once packets have come. */
static gboolean negotiate(GstBaseSrc *base)
{
  (void)base;
  return TRUE;
}

static gboolean take_caps(AstroUdpSrc *self, GstCaps *caps)
{
  GstPad *pad = GST_BASE_SRC_PAD(self);
  if (!astro_packets_agree(pad, caps))
    return FALSE;
  gst_base_src_set_caps(GST_BASE_SRC(self), caps);
  astro_packet_input_find_reader(self->input, pad, caps);
  astro_log_caps(self, NULL, caps);
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
  return TRUE;
}

/* Step 0 was taken when the first block began, which has waited until it was complete. */
static void begin(AstroUdpSrc *self, GstEvent *observation)
{
  g_autoptr(GstClock) clock = gst_element_get_clock(GST_ELEMENT(self));
  const GstClockTime base = gst_element_get_base_time(GST_ELEMENT(self));
  const GstClockTime now = clock ? gst_clock_get_time(clock) : 0;
  const GstClockTime begun = base + astro_packet_input_latency(self->input);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.base = now > begun ? now - begun : 0;
  gst_base_src_new_segment(GST_BASE_SRC(self), &segment);
  gst_pad_push_event(GST_BASE_SRC_PAD(self), observation);
}

static GstFlowReturn take_item(AstroUdpSrc *self, GstMiniObject *item, GstBuffer **block)
{
  if (GST_IS_BUFFER(item)) {
    *block = GST_BUFFER_CAST(item);
    astro_log_block(self, "out", *block);
    return GST_FLOW_OK;
  }
  if (GST_IS_EVENT(item)) {
    begin(self, GST_EVENT_CAST(item));
    return GST_FLOW_OK;
  }
  if (GST_IS_MESSAGE(item)) {
    gst_element_post_message(GST_ELEMENT(self), GST_MESSAGE_CAST(item));
    return GST_FLOW_OK;
  }
  const gboolean is_taken = take_caps(self, GST_CAPS_CAST(item));
  gst_mini_object_unref(item);
  return is_taken ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
}

static void finish(AstroUdpSrc *self)
{
  if (self->is_finished)
    return;
  self->is_finished = TRUE;
  end_threads(self);
  if (!astro_packet_input_finish(self->input))
    g_atomic_int_set(&self->is_failed, TRUE);
  post_stats(self);
}

static GstFlowReturn create(GstPushSrc *push, GstBuffer **block)
{
  AstroUdpSrc *self = ASTRO_UDP_SRC(push);
  GstFlowReturn flow = GST_FLOW_OK;
  start_threads(self);
  for (*block = NULL; !*block && flow == GST_FLOW_OK;) {
    const gboolean is_ended = g_atomic_int_get(&self->is_ended);
    if (g_atomic_int_get(&self->is_flushing))
      return GST_FLOW_FLUSHING;
    if (is_ended)
      finish(self);
    GstMiniObject *item = astro_packet_input_pop(self->input, is_ended ? 0 : POP_US);
    if (item)
      flow = take_item(self, item, block);
    else if (g_atomic_int_get(&self->is_failed))
      return GST_FLOW_ERROR;
    else if (is_ended)
      return GST_FLOW_EOS;
    /* After the last of num-buffers the base class ends the stream without asking again. */
    const gboolean is_last = *block && GST_BASE_SRC(self)->num_buffers_left == 0;
    if (is_last || g_get_monotonic_time() - self->told >= TOLD_EVERY_US)
      post_stats(self);
  }
  return flow;
}

/* Until packets have come, the latency follows from the properties. */
static gboolean query(GstBaseSrc *base, GstQuery *query)
{
  AstroUdpSrc *self = ASTRO_UDP_SRC(base);
  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY)
    return GST_BASE_SRC_CLASS(astro_udp_src_parent_class)->query(base, query);
  GST_OBJECT_LOCK(self);
  GstClockTime latency = self->input ? astro_packet_input_latency(self->input) : 0;
  if (latency == 0)
    latency = ((GstClockTime)self->settings.packets.block_ms + self->settings.packets.latency_ms) *
              GST_MSECOND;
  GST_OBJECT_UNLOCK(self);
  gst_query_set_latency(query, TRUE, latency, GST_CLOCK_TIME_NONE);
  return TRUE;
}

static void finalize(GObject *object)
{
  clear_settings(ASTRO_UDP_SRC(object));
  G_OBJECT_CLASS(astro_udp_src_parent_class)->finalize(object);
}

static void astro_udp_src_class_init(AstroUdpSrcClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  GstBaseSrcClass *base = GST_BASE_SRC_CLASS(klass);
  g_autoptr(GstCaps) out =
      gst_caps_from_string("application/x-astro-voltages; application/x-astro-spectra; "
                           "application/x-astro-visibilities; application/x-astro-power");
  astro_fields_install(object, listen_fields, G_STRUCT_OFFSET(AstroUdpSrc, settings.listen));
  astro_fields_install(object, astro_packets_fields,
                       G_STRUCT_OFFSET(AstroUdpSrc, settings.packets));
  astro_fields_install(object, fields, 0);
  object->finalize = finalize;
  element->send_event = send_event;
  base->start = start;
  base->stop = stop;
  base->unlock = unlock;
  base->unlock_stop = unlock_stop;
  base->negotiate = negotiate;
  base->query = query;
  GST_PUSH_SRC_CLASS(klass)->create = create;
  gst_element_class_add_pad_template(element,
                                     gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, out));
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(
      element, "Packets from the network", "Source/Network",
      "Receives voltages and spectra as telescopes send them, and counts lost packets",
      ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(element, "takes", "UDP packets");
  gst_element_class_add_static_metadata(
      element, "gives", "voltages, spectra, visibilities or power, with counts of valid samples");
}

static void astro_udp_src_init(AstroUdpSrc *self)
{
  astro_fields_set_defaults(self);
  gst_base_src_set_live(GST_BASE_SRC(self), TRUE);
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}
