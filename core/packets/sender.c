/* Makes packets from a stream of samples. */
#include "config.h"
#include "core/packets/sender.h"

#include <string.h>
#include "core/packets/identities.h"
#include "core/packets/payload.h"
#include "core/packets/streams.h"

#define MJD_1970 40587

struct _AstroSender {
  AstroSenderSettings settings;
  AstroSenderSend send;
  gpointer user;
  AstroPackets *packets;
  AstroPacket common;
  AstroLossy *network;

  AstroIdentities *stations;
  AstroPacketSamples samples;
  AstroPacketGroups groups;
  AstroPlaceStream *streams;
  AstroPlaceConfig place;
  guint64 steps, counts; /* in a packet */
  guint64 origin; /* the stream's step 0, in steps since 1970 if packets tell the time, or else 0 */
  guint8 *row, *payload;

  AstroSenderCounts counted;
};

static void send_on(gpointer user, gpointer packet, gboolean is_copy)
{
  AstroSender *s = user;
  GstBuffer *datagram = packet;
  s->counted.packets++;
  s->counted.bytes += gst_buffer_get_size(datagram);
  s->send(s->user, is_copy ? gst_buffer_ref(datagram) : datagram);
}

static void release(gpointer packet)
{
  gst_buffer_unref(packet);
}

AstroSender *astro_sender_new(const AstroSenderSettings *settings, AstroSenderSend send,
                              gpointer user, GError **error)
{
  g_autoptr(AstroSender) s = g_new0(AstroSender, 1);
  s->settings = *settings;
  s->settings.packet = g_strdup(settings->packet);
  s->settings.stations = g_strdup(settings->stations);
  s->send = send;
  s->user = user;
  s->network = astro_lossy_new(&settings->network, send_on, release, s);
  if (!settings->packet || !*settings->packet) {
    astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
               "no packet format is named: set packet");
    return NULL;
  }
  s->packets = astro_packets_new(settings->packet, error);
  if (!s->packets)
    return NULL;
  astro_packets_common(s->packets, &s->common);
  return g_steal_pointer(&s);
}

static void forget_stream(AstroSender *s)
{
  g_clear_pointer(&s->stations, astro_identities_free);
  g_clear_pointer(&s->streams, g_free);
  g_clear_pointer(&s->row, g_free);
  g_clear_pointer(&s->payload, g_free);
}

void astro_sender_free(AstroSender *s)
{
  forget_stream(s);
  astro_lossy_free(s->network);
  g_clear_pointer(&s->packets, astro_packets_free);
  g_free(s->settings.packet);
  g_free(s->settings.stations);
  g_free(s);
}

const char *astro_sender_packet(const AstroSender *s)
{
  return s->settings.packet;
}

const AstroSenderSettings *astro_sender_settings(const AstroSender *s)
{
  return &s->settings;
}

/* ---- the stream ---- */

static gboolean read_stations(AstroSender *s, const AstroStream *stream, GError **error)
{
  const gint axis = astro_layout_find(&s->samples.layout, ASTRO_AXIS_STATION);
  const guint of_packet = axis < 0 ? 1 : (guint)s->samples.layout.extents[axis];
  const guint n = MAX((guint)astro_stream_extent(stream, ASTRO_AXIS_STATION) / of_packet, 1);
  s->stations = astro_identities_new("stations", s->settings.stations, n, error);
  if (!s->stations)
    return FALSE;
  if (astro_identities_n(s->stations) == n)
    return TRUE;
  return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                    "stations=%s are %u identifiers, and the stream has %u stations, of which a "
                    "packet holds %u",
                    s->settings.stations, astro_identities_n(s->stations), n * of_packet,
                    of_packet);
}

/* A single station without an identifier is 0. */
static guint64 station_of(const AstroSender *s, guint64 index)
{
  const guint64 id = astro_identities_at(s->stations, (guint)index);
  return id == G_MAXUINT64 ? 0 : id;
}

/* Finds the origin in steps since 1970, for packets that tell the time. The start has to be at a
 * step, as nearly as whole nanoseconds can express it. */
static gboolean find_origin(AstroSender *s, const AstroStream *stream,
                            const AstroObservation *observation, GError **error)
{
  s->origin = 0;
  if (!s->common.has_second && !s->common.is_since_1970)
    return TRUE;
  if (!observation || !observation->has_start)
    return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_WRITE,
                      "packets of %s tell when samples were taken, which is not known: put "
                      "astroobserve start-time=... upstream",
                      s->settings.packet);
  const gint64 days = observation->start_mjd - MJD_1970;
  const unsigned __int128 ns = (unsigned __int128)days * 86400 * GST_SECOND + observation->start_ns;
  const unsigned __int128 unit = (unsigned __int128)GST_SECOND * (guint64)stream->rate_d;
  const guint64 n = (guint64)stream->rate_n;
  s->origin = (guint64)((ns * n + unit / 2) / unit);
  const unsigned __int128 back = s->origin * unit / n;
  if (days >= 0 && (back > ns ? back - ns : ns - back) <= 1)
    return TRUE;
  g_autofree char *start = astro_observation_tell_time(observation, 0);
  return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_WRITE,
                    "the samples begin at %s, between two of the %d/%d steps of a second that "
                    "packets of %s can tell",
                    start, stream->rate_n, stream->rate_d, s->settings.packet);
}

static gboolean find_counts(AstroSender *s, GError **error)
{
  const guint64 set = s->settings.sequence_step;
  s->counts = s->common.counts_packets ? 1
              : s->common.count_step   ? s->common.count_step * s->steps
                                       : set;
  if (s->counts == 0)
    return astro_fail(
        error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
        "packets of %s do not tell by how much their sequence number rises from one to the next: "
        "set sequence-step",
        s->settings.packet);
  if (set && set != s->counts)
    return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                      "sequence-step=%" G_GUINT64_FORMAT
                      " is set, but the sequence number of %s rises by "
                      "%" G_GUINT64_FORMAT " from one packet to the next",
                      set, s->settings.packet, s->counts);
  return TRUE;
}

static gboolean make_streams(AstroSender *s, const AstroStream *stream, GError **error)
{
  if (!astro_packet_groups_init(&s->groups, stream, &s->samples, error) ||
      !astro_packet_groups_check(&s->groups, &s->common, s->settings.packet, error))
    return FALSE;
  const guint n = astro_packet_groups_n(&s->groups);
  s->streams = g_new(AstroPlaceStream, n);
  for (guint i = 0; i < n; i++)
    s->streams[i] = astro_packet_groups_first(&s->groups, i);
  s->place = (AstroPlaceConfig){ *stream, s->samples, n, s->streams };
  return astro_place_check(&s->place, error);
}

gboolean astro_sender_begin(AstroSender *s, const AstroStream *stream,
                            const AstroObservation *observation, GError **error)
{
  const AstroPayloadWish wish = { s->settings.bits, s->settings.packet_steps,
                                  s->settings.packet_channels, s->settings.packet_bytes };
  forget_stream(s);
  if (!astro_payload_choose(&s->common, s->settings.packet, &wish, stream, &s->samples, error) ||
      !read_stations(s, stream, error) || !find_origin(s, stream, observation, error) ||
      !make_streams(s, stream, error))
    return FALSE;
  const gint time = astro_layout_find(&s->samples.layout, ASTRO_AXIS_TIME);
  s->steps = time < 0 ? 1 : s->samples.layout.extents[time];
  s->row =
      g_malloc(astro_layout_samples(&s->samples.layout) * astro_format_info(stream->format)->bytes);
  s->payload = g_malloc(astro_packet_payload_bytes(&s->samples));
  return find_counts(s, error);
}

guint64 astro_sender_steps(const AstroSender *s)
{
  return s->steps;
}

guint64 astro_sender_next(const AstroSender *s, guint64 step)
{
  const guint64 into = (s->origin + step) % s->steps;
  return into ? step + s->steps - into : step;
}

guint astro_sender_streams(const AstroSender *s)
{
  return s->place.n_streams;
}

AstroSenderPart astro_sender_part(const AstroSender *s, guint stream)
{
  const AstroPlaceStream *first = &s->streams[stream];
  return (AstroSenderPart){ first->station,       first->pol,       first->channel,
                            s->groups.of_station, s->groups.of_pol, s->groups.of_channel };
}

/* ---- packets ---- */

static void set_time(const AstroSender *s, guint64 step, AstroPacket *packet)
{
  const AstroStream *stream = &s->place.out;
  const guint64 number = (s->origin + step) / s->steps;
  packet->rate_n = (guint64)stream->rate_n;
  packet->rate_d = (guint64)stream->rate_d;
  if (packet->has_second) {
    const guint64 of_second = (guint64)stream->rate_n / (guint64)stream->rate_d / s->steps;
    packet->second = (gint64)(number / of_second);
    packet->count = number % of_second;
    return;
  }
  packet->count = number * s->counts;
  if (packet->count_bits < 64)
    packet->count &= ((guint64)1 << packet->count_bits) - 1;
}

static AstroPacket header_of(const AstroSender *s, guint stream, guint64 step)
{
  const AstroPlaceStream *first = &s->streams[stream];
  AstroPacket packet = s->common;
  packet.samples = s->samples;
  packet.payload_bytes = astro_packet_payload_bytes(&s->samples);
  if (packet.station != ASTRO_PACKET_UNKNOWN)
    packet.station = station_of(s, first->station / s->groups.of_station);
  if (packet.pol != ASTRO_PACKET_UNKNOWN)
    packet.pol = first->pol;
  if (packet.channel != ASTRO_PACKET_UNKNOWN)
    packet.channel = first->channel + s->settings.first_channel;
  if (packet.thread != ASTRO_PACKET_UNKNOWN)
    packet.thread =
        first->channel / s->groups.of_channel * s->groups.pols + first->pol / s->groups.of_pol;
  set_time(s, step, &packet);
  return packet;
}

static gboolean send_datagram(AstroSender *s, const AstroPacket *packet, const guint8 *payload,
                              GstClockTime time, GError **error)
{
  guint8 header[ASTRO_PACKET_MAX_HEADER];
  const gsize length = astro_packets_write(s->packets, packet, header, error);
  if (length == 0)
    return FALSE;
  GstBuffer *datagram = gst_buffer_new_allocate(NULL, length + packet->payload_bytes, NULL);
  gst_buffer_fill(datagram, 0, header, length);
  gst_buffer_fill(datagram, length, payload, packet->payload_bytes);
  GST_BUFFER_PTS(datagram) = time;
  astro_lossy_take(s->network, datagram);
  return TRUE;
}

/* Sends a heap in as many packets as needed, each with all of the heap's items. */
static gboolean send_heap(AstroSender *s, AstroPacket *packet, guint stream, guint64 step,
                          GstClockTime time, GError **error)
{
  const gsize whole = packet->payload_bytes;
  const guint64 number = (s->origin + step) / s->steps;
  packet->heap =
      (number * s->place.n_streams + stream) & (((guint64)1 << packet->spead_address) - 1);
  packet->heap_bytes = whole;
  for (gsize at = 0; at < whole; at += packet->payload_bytes) {
    packet->heap_offset = at;
    packet->payload_bytes = MIN(s->settings.packet_bytes, whole - at);
    if (!send_datagram(s, packet, s->payload + at, time, error))
      return FALSE;
  }
  return TRUE;
}

gboolean astro_sender_send(AstroSender *s, guint64 step, const guint8 *samples,
                           const guint8 *is_good, GstClockTime time, GError **error)
{
  for (guint stream = 0; stream < s->place.n_streams; stream++) {
    AstroPacket packet = header_of(s, stream, step);
    packet.is_valid = is_good[stream];
    if (!packet.is_valid && !astro_packets_tell_invalid(s->packets)) {
      s->counted.withheld++;
      continue;
    }
    s->counted.invalid += !packet.is_valid;
    astro_place_gather(&s->place, stream, 0, samples, s->row, 1);
    s->counted.clipped += astro_payload_clipped(&s->samples, s->row);
    astro_packet_pack(&s->samples, s->row, s->payload);
    const gboolean is_sent = packet.spead_address
                                 ? send_heap(s, &packet, stream, step, time, error)
                                 : send_datagram(s, &packet, s->payload, time, error);
    if (!is_sent)
      return FALSE;
  }
  return TRUE;
}

void astro_sender_put(AstroSender *s, GstBuffer *datagram)
{
  astro_lossy_take(s->network, datagram);
}

void astro_sender_withhold(AstroSender *s, guint64 n)
{
  s->counted.withheld += n;
}

void astro_sender_finish(AstroSender *s)
{
  astro_lossy_finish(s->network);
}

void astro_sender_reset(AstroSender *s)
{
  astro_lossy_reset(s->network);
}

AstroSenderCounts astro_sender_counts(const AstroSender *s)
{
  const AstroLossyCounts network = astro_lossy_counts(s->network);
  AstroSenderCounts counts = s->counted;
  counts.dropped = network.lost;
  counts.duplicated = network.doubled;
  counts.reordered = network.reordered;
  return counts;
}
