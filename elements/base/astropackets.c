/* A receiver of packets for elements: threads share it, and its blocks wait in a queue. */
#include "config.h"
#include "elements/base/astropackets.h"

#include "core/memory/memory.h"
#include "core/memory/pool.h"
#include "elements/base/astrolog.h"
#include "elements/base/astrooutgoing.h"
#include "elements/base/astroreader.h"

#define WAIT_ROOM_US (100 * G_TIME_SPAN_MILLISECOND)

const AstroField astro_packets_fields[] = {
  ASTRO_TEXT(AstroPacketSettings, packet, "packet", "Packet",
             "Format of the packets: vdif, lofar-beamlet, katgpucbf-antenna-voltage, "
             "meerkat-digitiser, results, or @FILE, which describes one",
             NULL),
  ASTRO_TEXT(
      AstroPacketSettings, stations, "stations", "Stations",
      "Identifiers of the expected stations in packets, in the order of the stream: numbers, "
      "ranges (0-3) or codes of two letters (Ef), separated by commas (unset: a single one, "
      "whichever comes first)",
      NULL),
  ASTRO_TEXT(AstroPacketSettings, threads, "threads", "Threads",
             "VDIF threads or LOFAR boards of each station: its polarisations, then its channels "
             "(unset: numbers from 0, or a single one, whichever comes first)",
             NULL),
  ASTRO_TEXT(AstroPacketSettings, layout, "layout", "Layout",
             "Order of the stream's axes, slowest first (unset: time:station:pol for voltages, "
             "time:channel:station:pol for spectra)",
             NULL),
  ASTRO_TEXT(
      AstroPacketSettings, rate, "rate", "Rate",
      "Time steps a second, as 1e6, 390625/2 or 195312.5 (unset: from the packets; VDIF shows "
      "it after a second or two)",
      NULL),
  ASTRO_UINT(AstroPacketSettings, channels, "channels", "Channels",
             "Channels of the stream (0: as many as a packet has)", 0, 1 << 24, 0),
  ASTRO_UINT(AstroPacketSettings, pols, "pols", "Polarisations",
             "Polarisations of each station (0: as many as a packet has)", 0, 2, 0),
  ASTRO_UINT(AstroPacketSettings, packet_steps, "packet-steps", "Steps in a packet",
             "Time steps in a heap whose packets do not tell (katgpucbf-antenna-voltage)", 0,
             1 << 24, 0),
  ASTRO_UINT64(AstroPacketSettings, first_channel, "first-channel", "First channel",
               "Number of the stream's first channel in headers", 0, G_MAXUINT32, 0),
  ASTRO_UINT64(
      AstroPacketSettings, sequence_step, "sequence-step", "Step of the sequence",
      "Increase of the sequence number from one packet, or heap, of a stream to the next (0: "
      "as the format has)",
      0, G_MAXINT64, 0),
  ASTRO_DOUBLE(AstroPacketSettings, frequency, "frequency", "Frequency",
               "Centre of the band in Hz (0: unknown)", 0, 1e13, 0),
  ASTRO_DOUBLE(AstroPacketSettings, bandwidth, "bandwidth", "Bandwidth",
               "Width of the band in Hz (0: unknown)", 0, 1e12, 0),
  ASTRO_UINT(AstroPacketSettings, block_ms, "block", "Block",
             "Length of output blocks in ms, at least a packet", 1, 60000, 100),
  ASTRO_UINT(AstroPacketSettings, latency_ms, "latency", "Latency",
             "How long blocks wait for packets that come late, in ms", 0, 60000, 50),
  ASTRO_TEXT(AstroPacketSettings, sync_epoch, "sync-epoch", "Sync epoch",
             "UTC at which the packets' sequence was 0, as 2026-11-20T12:00:00[.fraction] or in "
             "seconds since 1970, for packets that do not tell the time",
             NULL),
  ASTRO_TEXT(AstroPacketSettings, start_time, "start-time", "Start time",
             "UTC of the first sample received, for packets that do not tell the time and have no "
             "sync-epoch",
             NULL),
  { 0 },
};

struct _AstroPacketInput {
  GstElement *element;
  GMutex lock;
  GCond popped, pushed;
  AstroReceiver *receiver;
  GQueue items;
  guint blocks; /* buffers among the items */
  gboolean is_woken;
  GstBufferPool *pool;
  gsize pool_bytes;
  AstroDevice *reader;
  GstStructure *clock;
};

/* ---- the receiver's output, with the lock held ---- */

static void push(AstroPacketInput *input, gpointer item)
{
  g_queue_push_tail(&input->items, item);
  g_cond_signal(&input->pushed);
}

static gboolean describe(gpointer user, GstCaps *caps, GError **error)
{
  (void)error;
  push(user, gst_caps_ref(caps));
  return TRUE;
}

static GstBuffer *allocate(gpointer user, gsize bytes)
{
  AstroPacketInput *input = user;
  GstBuffer *buffer = NULL;
  if (input->pool && input->pool_bytes != bytes)
    astro_buffer_pool_clear(&input->pool);
  if (!input->pool)
    input->pool = astro_buffer_pool_new_active(input->reader, NULL, bytes, 1, 0);
  input->pool_bytes = bytes;
  if (!input->pool)
    return NULL;
  const guint made = astro_buffer_pool_made(input->pool);
  gst_buffer_pool_acquire_buffer(input->pool, &buffer, NULL);
  astro_log_growth(input->element, input->pool, made);
  return buffer;
}

static void take_block(gpointer user, GstBuffer *block)
{
  AstroPacketInput *input = user;
  input->blocks++;
  push(input, block);
}

static void warn(gpointer user, const char *text)
{
  AstroPacketInput *input = user;
  g_autoptr(GError) error = g_error_new_literal(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, text);
  ASTRO_WARN(input->element, "%s", text);
  push(input, gst_message_new_warning(GST_OBJECT(input->element), error, NULL));
}

static void tell_start(AstroPacketInput *input, const AstroObservation *observation)
{
  g_autofree char *start = astro_observation_get_start(observation);
  GstStructure *told = input->clock ? gst_structure_copy(input->clock)
                                    : gst_structure_new_empty(ASTRO_PACKETS_START);
  gst_structure_set(told, "start", G_TYPE_STRING, start, NULL);
  gboolean is_synchronised;
  if (gst_structure_get_boolean(told, "synchronised", &is_synchronised) && !is_synchronised)
    warn(input, "the stream starts when its packets arrived by this computer's clock, which "
                "nothing keeps synchronised (timedatectl tells more), so its times may be wrong");
  push(input, gst_message_new_element(GST_OBJECT(input->element), told));
}

static void begin(gpointer user, const AstroObservation *observation, gboolean is_by_arrival)
{
  push(user, astro_observation_to_event(observation));
  if (is_by_arrival)
    tell_start(user, observation);
}

/* ---- from start to stop ---- */

AstroPacketInput *astro_packet_input_new(GstElement *element, const AstroPacketSettings *settings)
{
  static const AstroReceiverFunctions functions = { describe, allocate, begin, take_block, warn };
  g_autoptr(GError) error = NULL;
  AstroPacketInput *input = g_new0(AstroPacketInput, 1);
  input->element = element;
  g_mutex_init(&input->lock);
  g_cond_init(&input->popped);
  g_cond_init(&input->pushed);
  g_queue_init(&input->items);
  input->receiver = astro_receiver_new(settings, &functions, input, &error);
  if (input->receiver)
    return input;
  GST_ELEMENT_ERROR(element, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
  astro_packet_input_free(input);
  return NULL;
}

static void drop_items(AstroPacketInput *input)
{
  GstMiniObject *item;
  while ((item = g_queue_pop_head(&input->items)))
    gst_mini_object_unref(item);
  input->blocks = 0;
}

void astro_packet_input_free(AstroPacketInput *input)
{
  g_clear_pointer(&input->receiver, astro_receiver_free);
  drop_items(input);
  astro_buffer_pool_clear(&input->pool);
  g_clear_pointer(&input->reader, astro_device_unref);
  g_clear_pointer(&input->clock, gst_structure_free);
  g_mutex_clear(&input->lock);
  g_cond_clear(&input->popped);
  g_cond_clear(&input->pushed);
  g_free(input);
}

void astro_packet_input_reset(AstroPacketInput *input)
{
  g_mutex_lock(&input->lock);
  astro_receiver_reset(input->receiver);
  /* Caps and messages stay: what they say is still true. */
  for (GList *link = input->items.head; link;) {
    GList *next = link->next;
    if (GST_IS_BUFFER(link->data) || GST_IS_EVENT(link->data)) {
      gst_mini_object_unref(link->data);
      g_queue_delete_link(&input->items, link);
    }
    link = next;
  }
  input->blocks = 0;
  g_cond_broadcast(&input->popped);
  g_mutex_unlock(&input->lock);
}

/* ---- packets ---- */

static gboolean tell_error(AstroPacketInput *input, const GError *error)
{
  if (error)
    GST_ELEMENT_ERROR(input->element, STREAM, FORMAT, ("%s", error->message), (NULL));
  return !error;
}

gboolean astro_packet_input_take_all(AstroPacketInput *input, const AstroDatagram *datagrams,
                                     guint n)
{
  g_autoptr(GError) error = NULL;
  g_mutex_lock(&input->lock);
  for (guint i = 0; i < n && !error; i++) {
    astro_receiver_set_arrival(input->receiver, datagrams[i].arrived);
    astro_receiver_take(input->receiver, datagrams[i].bytes, datagrams[i].size, datagrams[i].sender,
                        &error);
  }
  g_mutex_unlock(&input->lock);
  return tell_error(input, error);
}

gboolean astro_packet_input_take(AstroPacketInput *input, const guint8 *bytes, gsize size,
                                 guint64 sender)
{
  const AstroDatagram datagram = { bytes, size, sender, 0 };
  return astro_packet_input_take_all(input, &datagram, 1);
}

gboolean astro_packet_input_take_stream(AstroPacketInput *input, const guint8 *bytes, gsize size,
                                        gboolean is_end, gsize *used)
{
  g_autoptr(GError) error = NULL;
  gsize of_packet = 0;
  *used = 0;
  g_mutex_lock(&input->lock);
  do {
    astro_receiver_take_stream(input->receiver, bytes + *used, size - *used, is_end, &of_packet,
                               &error);
    *used += of_packet;
  } while (!error && of_packet > 0 && *used < size);
  g_mutex_unlock(&input->lock);
  return tell_error(input, error);
}

void astro_packet_input_set_clock(AstroPacketInput *input, GstStructure *clock)
{
  g_mutex_lock(&input->lock);
  g_clear_pointer(&input->clock, gst_structure_free);
  input->clock = clock;
  g_mutex_unlock(&input->lock);
}

gboolean astro_packet_input_finish(AstroPacketInput *input)
{
  g_mutex_lock(&input->lock);
  astro_receiver_finish(input->receiver);
  const gboolean has_stream = astro_receiver_stream(input->receiver) != NULL;
  const AstroReceiverTotals totals = astro_receiver_totals(input->receiver);
  g_mutex_unlock(&input->lock);
  if (has_stream || totals.bytes == 0)
    return TRUE;
  GST_ELEMENT_ERROR(input->element, STREAM, FORMAT,
                    ("the stream ended before any of its %" G_GUINT64_FORMAT
                     " bytes could be placed: "
                     "%" G_GUINT64_FORMAT " packets came before it was known how many a second "
                     "has (set rate), and %" G_GUINT64_FORMAT " were not of the format",
                     totals.bytes, totals.unplaced, totals.alien),
                    (NULL));
  return FALSE;
}

/* ---- output ---- */

GstMiniObject *astro_packet_input_pop(AstroPacketInput *input, gint64 wait_us)
{
  const gint64 until = g_get_monotonic_time() + wait_us;
  g_mutex_lock(&input->lock);
  while (wait_us > 0 && input->items.length == 0 && !input->is_woken)
    if (!g_cond_wait_until(&input->pushed, &input->lock, until))
      break;
  input->is_woken = FALSE;
  GstMiniObject *item = g_queue_pop_head(&input->items);
  if (item && GST_IS_BUFFER(item)) {
    input->blocks--;
    g_cond_broadcast(&input->popped);
  }
  g_mutex_unlock(&input->lock);
  return item;
}

gboolean astro_packet_input_wait_room(AstroPacketInput *input, guint most)
{
  const gint64 until = g_get_monotonic_time() + WAIT_ROOM_US;
  g_mutex_lock(&input->lock);
  while (input->blocks >= most)
    if (!g_cond_wait_until(&input->popped, &input->lock, until))
      break;
  const gboolean has_room = input->blocks < most;
  g_mutex_unlock(&input->lock);
  return has_room;
}

void astro_packet_input_wake(AstroPacketInput *input)
{
  g_mutex_lock(&input->lock);
  input->is_woken = TRUE;
  g_cond_broadcast(&input->pushed);
  g_cond_broadcast(&input->popped);
  g_mutex_unlock(&input->lock);
}

gboolean astro_packets_agree(GstPad *src, GstCaps *caps)
{
  if (gst_pad_peer_query_accept_caps(src, caps))
    return TRUE;
  astro_refused_caps(src, caps, "samples");
  return !gst_pad_is_linked(src);
}

void astro_packet_input_find_reader(AstroPacketInput *input, GstPad *src, GstCaps *caps)
{
  g_autoptr(GstQuery) query = gst_query_new_allocation(caps, FALSE);
  AstroDevice *device = gst_pad_peer_query(src, query) ? astro_reader_find(query) : NULL;
  g_mutex_lock(&input->lock);
  if (input->reader != device)
    astro_buffer_pool_clear(&input->pool);
  g_clear_pointer(&input->reader, astro_device_unref);
  input->reader = device;
  g_mutex_unlock(&input->lock);
}

/* ---- statistics ---- */

GstClockTime astro_packet_input_latency(AstroPacketInput *input)
{
  g_mutex_lock(&input->lock);
  const GstClockTime latency = astro_receiver_latency(input->receiver);
  g_mutex_unlock(&input->lock);
  return latency;
}

GstStructure *astro_packet_input_tell(AstroPacketInput *input)
{
  GstStructure *told = gst_structure_new_empty("astro-packets");
  g_mutex_lock(&input->lock);
  astro_receiver_tell(input->receiver, told);
  g_mutex_unlock(&input->lock);
  return told;
}

void astro_packets_post(GstElement *element, GstStructure *told)
{
  gst_structure_remove_field(told, "streams");
  gst_element_post_message(element, gst_message_new_element(GST_OBJECT(element), told));
}
