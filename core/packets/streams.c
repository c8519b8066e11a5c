/* Finds the part of the stream that a packet belongs to. */
#include "config.h"
#include "core/packets/streams.h"

static gboolean divide(const AstroStream *out, const AstroPacketSamples *samples, AstroAxis axis,
                       guint64 *groups, guint64 *of_group, GError **error)
{
  const gint at = astro_layout_find(&samples->layout, axis);
  const guint64 whole = astro_stream_extent(out, axis);
  *of_group = at < 0 ? 1 : samples->layout.extents[at];
  *groups = *of_group ? whole / *of_group : 0;
  if (*of_group && whole % *of_group == 0)
    return TRUE;
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "packets with %" G_GUINT64_FORMAT " %ss each do not make up the "
                             "stream's %" G_GUINT64_FORMAT,
                             *of_group, astro_axis_name(axis), whole);
}

gboolean astro_packet_groups_init(AstroPacketGroups *g, const AstroStream *out,
                                  const AstroPacketSamples *samples, GError **error)
{
  if (!divide(out, samples, ASTRO_AXIS_STATION, &g->stations, &g->of_station, error) ||
      !divide(out, samples, ASTRO_AXIS_POL, &g->pols, &g->of_pol, error) ||
      !divide(out, samples, ASTRO_AXIS_CHANNEL, &g->channels, &g->of_channel, error))
    return FALSE;
  const guint64 most = ASTRO_PACKET_MOST_STREAMS;
  if (g->stations <= most && g->pols <= most && g->channels <= most &&
      g->stations * g->pols <= most && g->stations * g->pols * g->channels <= most)
    return TRUE;
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "%" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT
                             " streams of packets (stations, pols, channels), expected %d at most",
                             g->stations, g->pols, g->channels, ASTRO_PACKET_MOST_STREAMS);
}

guint astro_packet_groups_n(const AstroPacketGroups *g)
{
  return (guint)(g->stations * g->pols * g->channels);
}

gboolean astro_packet_groups_find(const AstroPacketGroups *g, const AstroPlaceStream *first,
                                  guint *stream)
{
  if (first->station % g->of_station || first->pol % g->of_pol || first->channel % g->of_channel)
    return FALSE;
  const guint64 station = first->station / g->of_station, pol = first->pol / g->of_pol,
                channel = first->channel / g->of_channel;
  if (station >= g->stations || pol >= g->pols || channel >= g->channels)
    return FALSE;
  *stream = (guint)((station * g->pols + pol) * g->channels + channel);
  return TRUE;
}

AstroPlaceStream astro_packet_groups_first(const AstroPacketGroups *g, guint stream)
{
  const guint64 channel = stream % g->channels, rest = stream / g->channels;
  return (AstroPlaceStream){ .station = rest / g->pols * g->of_station,
                             .pol = rest % g->pols * g->of_pol,
                             .channel = channel * g->of_channel };
}

gboolean astro_packet_groups_check(const AstroPacketGroups *g, const AstroPacket *packet,
                                   const char *name, GError **error)
{
  const gboolean has_thread = packet->thread != ASTRO_PACKET_UNKNOWN;
  const char *lacking = NULL;
  if (packet->station == ASTRO_PACKET_UNKNOWN && g->stations > 1)
    lacking = "station";
  else if (packet->pol == ASTRO_PACKET_UNKNOWN && !has_thread && g->pols > 1)
    lacking = "pol";
  else if (packet->channel == ASTRO_PACKET_UNKNOWN && !has_thread && g->channels > 1)
    lacking = "channel";
  return !lacking ||
         astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                    "packets of %s do not tell which %s they belong to, and there is more than one",
                    name, lacking);
}
