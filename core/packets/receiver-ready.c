/* Sets up a receiver from its settings, then from the first packet. */
#include "config.h"
#include "core/packets/receiver-parts.h"

#include "core/packets/formats.h"

/* ---- creating and freeing ---- */

static void copy_settings(AstroPacketSettings *to, const AstroPacketSettings *from)
{
  *to = *from;
  to->packet = g_strdup(from->packet);
  to->stations = g_strdup(from->stations);
  to->threads = g_strdup(from->threads);
  to->layout = g_strdup(from->layout);
  to->rate = g_strdup(from->rate);
  to->sync_epoch = g_strdup(from->sync_epoch);
  to->start_time = g_strdup(from->start_time);
}

static void clear_settings(AstroPacketSettings *s)
{
  g_free(s->packet);
  g_free(s->stations);
  g_free(s->threads);
  g_free(s->layout);
  g_free(s->rate);
  g_free(s->sync_epoch);
  g_free(s->start_time);
}

/* Whether samples have channels, packets tell: a layout of neither is wrong before one comes. */
static gboolean check_layout(const AstroPacketSettings *settings, GError **error)
{
  g_autoptr(GError) wrong = NULL;
  AstroLayout layout;
  if (!settings->layout || !*settings->layout ||
      astro_layout_parse(&layout, settings->layout, ASTRO_QUANTITY_SPECTRA, NULL) ||
      astro_layout_parse(&layout, settings->layout, ASTRO_QUANTITY_VOLTAGES, &wrong))
    return TRUE;
  return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                    "layout=%s: %s, as time:station:pol or time:channel:station:pol",
                    settings->layout, wrong->message);
}

/* How many they have to be, packets tell. */
static gboolean check_threads(const AstroPacketSettings *settings, GError **error)
{
  g_autoptr(AstroIdentities) threads = astro_identities_new("threads", settings->threads, 1, error);
  return threads != NULL;
}

AstroReceiver *astro_receiver_new(const AstroPacketSettings *settings,
                                  const AstroReceiverFunctions *functions, gpointer user,
                                  GError **error)
{
  g_autoptr(AstroReceiver) r = g_new0(AstroReceiver, 1);
  copy_settings(&r->settings, settings);
  r->functions = *functions;
  r->user = user;
  r->sequence.counts_a_packet = settings->sequence_step;
  r->heaps = astro_heaps_new();
  if (!settings->packet || !*settings->packet) {
    astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
               "no packet format is named: set packet");
    return NULL;
  }
  r->packets = astro_packets_new(settings->packet, error);
  r->has_results = r->packets && r->packets->format == &astro_packet_results;
  if (!r->packets || (r->has_results && !astro_results_check_settings(settings, error)) ||
      !astro_packet_rate_parse(settings->rate, &r->rate_n, &r->rate_d, error) ||
      !astro_packet_epoch_read(&r->epoch, settings, error))
    return NULL;
  r->stations = astro_identities_new("stations", settings->stations, 1, error);
  return r->stations && check_layout(settings, error) && check_threads(settings, error)
             ? g_steal_pointer(&r)
             : NULL;
}

void astro_receiver_free(AstroReceiver *r)
{
  g_clear_pointer(&r->window, astro_window_free);
  g_clear_pointer(&r->turn, astro_turn_free);
  g_clear_pointer(&r->packets, astro_packets_free);
  g_clear_pointer(&r->stations, astro_identities_free);
  g_clear_pointer(&r->threads, astro_identities_free);
  g_clear_pointer(&r->heaps, astro_heaps_free);
  g_clear_pointer(&r->results, astro_results_free);
  astro_packet_shape_clear(&r->shape);
  g_free(r->samples);
  g_free(r->invalid);
  clear_settings(&r->settings);
  g_free(r);
}

/* ---- the first packet ---- */

/* Derives the frames per second from the user's rate, since headers may not tell them. */
static gboolean set_packets_a_second(AstroReceiver *r, const AstroPacket *packet, GError **error)
{
  AstroPacketSamples samples;
  if (!packet->has_second || r->rate_n == 0 || r->sequence.packets_a_second)
    return TRUE;
  if (!astro_packet_shape_samples(&r->settings, packet, &samples, error))
    return FALSE;
  const gint time = astro_layout_find(&samples.layout, ASTRO_AXIS_TIME);
  const guint64 of_second = (guint64)r->rate_d * (time < 0 ? 1 : samples.layout.extents[time]);
  if ((guint64)r->rate_n % of_second)
    return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                      "rate=%d/%d does not give a whole number of frames of %" G_GUINT64_FORMAT
                      " steps a second",
                      r->rate_n, r->rate_d, of_second / (guint64)r->rate_d);
  r->sequence.packets_a_second = (guint64)r->rate_n / of_second;
  return TRUE;
}

/* Threads are the packets that a station sends in parallel, polarisations faster than channels. */
static gboolean read_threads(AstroReceiver *r, GError **error)
{
  const guint n = (guint)(r->shape.groups.pols * r->shape.groups.channels);
  r->threads = astro_identities_new("threads", r->settings.threads, n, error);
  if (!r->threads)
    return FALSE;
  if (astro_identities_n(r->threads) == n)
    return TRUE;
  return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                    "threads=%s are %u, expected %u: as many as a station sends in parallel",
                    r->settings.threads, astro_identities_n(r->threads), n);
}

/* Packets have to tell their station, polarisation and channel where there are several. Settings
 * for threads and channels are refused if packets have none. */
static gboolean check_told(AstroReceiver *r, const AstroPacket *packet, GError **error)
{
  const gboolean has_thread = packet->thread != ASTRO_PACKET_UNKNOWN;
  if (!astro_packet_groups_check(&r->shape.groups, packet, r->settings.packet, error))
    return FALSE;
  if (!has_thread && r->settings.threads && *r->settings.threads)
    return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                      "threads=%s is set, but packets of %s have no threads", r->settings.threads,
                      r->settings.packet);
  if (packet->channel == ASTRO_PACKET_UNKNOWN && r->settings.first_channel)
    return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                      "first-channel=%" G_GUINT64_FORMAT
                      " is set, but packets of %s do not tell their channel",
                      r->settings.first_channel, r->settings.packet);
  return TRUE;
}

static gboolean check_counts(AstroReceiver *r, const AstroPacket *packet, GError **error)
{
  if (packet->has_second)
    return TRUE;
  const guint64 counts = astro_packet_counts(packet, 0), set = r->settings.sequence_step;
  if (counts == 0 && set == 0)
    return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                      "packets of %s do not tell by how much their sequence number rises from one "
                      "to the next: set sequence-step",
                      r->settings.packet);
  if (counts && set && counts != set)
    return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                      "sequence-step=%" G_GUINT64_FORMAT " is set, but the sequence number of %s "
                      "rises by %" G_GUINT64_FORMAT " from one packet to the next",
                      set, r->settings.packet, counts);
  return TRUE;
}

static gboolean describe(AstroReceiver *r, GError **error)
{
  g_autoptr(GstCaps) caps = astro_stream_to_caps(&r->shape.out);
  return r->functions.describe(r->user, caps, error);
}

/* Checks the first packet against everything that is known, and tells which stream it is. */
static gboolean check_first(AstroReceiver *r, const AstroPacket *packet, GError **error)
{
  return read_threads(r, error) && check_told(r, packet, error) &&
         check_counts(r, &r->first, error) && astro_packet_epoch_check(&r->epoch, packet, error) &&
         describe(r, error);
}

gboolean astro_receiver_make_ready(AstroReceiver *r, const AstroPacket *packet, GError **error)
{
  guint64 number;
  if (!set_packets_a_second(r, packet, error))
    return FALSE;
  if (packet->has_second && r->sequence.packets_a_second == 0)
    astro_sequence_find(&r->sequence, packet, &number);
  if (!astro_packet_shape_init(&r->shape, &r->settings, astro_identities_n(r->stations), packet,
                               r->rate_n, r->rate_d, r->sequence.packets_a_second, error))
    return FALSE;
  r->place = astro_packet_shape_place(&r->shape);
  r->first = *packet;
  r->first.samples = r->shape.samples;
  if (!check_first(r, packet, error)) { /* other packets may come all the same */
    g_clear_pointer(&r->threads, astro_identities_free);
    astro_packet_shape_clear(&r->shape);
    return FALSE;
  }
  const AstroWindowConfig config = { r->place.n_streams, r->shape.block, r->shape.window };
  r->window = astro_window_new(&config, &astro_receiver_blocks, r);
  r->turn = astro_turn_new(&r->place, &r->shape.groups, r->shape.block);
  r->invalid = g_new0(guint64, r->place.n_streams);
  r->samples = g_malloc(astro_layout_samples(&r->shape.samples.layout) *
                        astro_format_info(r->shape.out.format)->bytes);
  return r->is_ready = TRUE;
}
