/* The time of step 0, from headers or from the user's settings. */
#include "config.h"
#include "core/packets/epoch.h"

#include <math.h>

#define MJD_1970 40587
#define NS_A_DAY (86400 * (gint64)GST_SECOND)

typedef __int128 Wide;

gboolean astro_packet_epoch_read(AstroPacketEpoch *epoch, const AstroPacketSettings *settings,
                                 GError **error)
{
  *epoch = (AstroPacketEpoch){ 0 };
  epoch->has_sync = settings->sync_epoch && *settings->sync_epoch;
  epoch->has_start = settings->start_time && *settings->start_time;
  if (epoch->has_sync && epoch->has_start)
    return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                      "sync-epoch and start-time are both set: expected only one of them");
  return (!epoch->has_sync ||
          astro_packet_time_parse("sync-epoch", settings->sync_epoch, &epoch->sync_ns, error)) &&
         (!epoch->has_start ||
          astro_packet_time_parse("start-time", settings->start_time, &epoch->start_ns, error));
}

gboolean astro_packet_epoch_check(const AstroPacketEpoch *epoch, const AstroPacket *packet,
                                  GError **error)
{
  if (!(packet->has_second || packet->is_since_1970) || !(epoch->has_sync || epoch->has_start))
    return TRUE;
  return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                    "%s is set, but these packets tell the time themselves: leave it out",
                    epoch->has_sync ? "sync-epoch" : "start-time");
}

guint64 astro_packet_counts(const AstroPacket *packet, guint64 sequence_step)
{
  const gint time = astro_layout_find(&packet->samples.layout, ASTRO_AXIS_TIME);
  if (packet->counts_packets)
    return 1;
  if (packet->count_step)
    return packet->count_step * (time < 0 ? 1 : packet->samples.layout.extents[time]);
  return sequence_step;
}

/* The time of a number of parts of a step, in ns; a step has n parts. */
static gint64 time_of(Wide parts, guint64 n, const AstroStream *stream)
{
  Wide steps = parts / n, rest = parts % n;
  if (rest < 0) {
    rest += n;
    steps--;
  }
  const Wide wide = steps * stream->rate_d * (gint64)GST_SECOND;
  const gint64 whole = (gint64)(wide / stream->rate_n);
  const double ns = ((double)(gint64)(wide % stream->rate_n) +
                     (double)rest / (double)n * stream->rate_d * GST_SECOND) /
                    stream->rate_n;
  return whole + (gint64)rint(ns);
}

/* Counts of fewer than 63 bits start one wrap above zero (see sequence.c). */
static Wide counts_of(const AstroSequence *sequence, const AstroPacket *packet, guint64 counts,
                      guint64 number)
{
  const guint64 wrap = packet->count_bits < 63 ? (guint64)1 << packet->count_bits : 0;
  return (Wide)number * counts + sequence->phase - wrap;
}

gboolean astro_packet_epoch_time(const AstroPacketEpoch *epoch, const AstroPacketShape *shape,
                                 const AstroSequence *sequence, const AstroPacket *packet,
                                 guint64 number, guint64 first, gint64 *ns)
{
  const Wide steps = (Wide)shape->steps;
  if (epoch->has_start) {
    *ns = epoch->start_ns + time_of(((Wide)number - first) * steps, 1, &shape->out);
  } else if (packet->has_second) {
    *ns = time_of((Wide)number * steps, 1, &shape->out);
  } else if (packet->is_since_1970 || epoch->has_sync) {
    const guint64 counts = astro_packet_counts(packet, sequence->counts_a_packet);
    *ns = epoch->sync_ns +
          time_of(counts_of(sequence, packet, counts, number) * steps, counts, &shape->out);
  } else {
    return FALSE;
  }
  return TRUE;
}

AstroObservation *astro_packet_observation(gboolean has_start, gint64 ns)
{
  AstroObservation *observation = astro_observation_new(0);
  gint64 day = ns / NS_A_DAY - (ns % NS_A_DAY < 0);
  g_free(observation->telescope);
  observation->telescope = g_strdup(ASTRO_TELESCOPE_UNKNOWN);
  observation->has_start = has_start;
  if (has_start) {
    observation->start_mjd = (gint32)(day + MJD_1970);
    observation->start_ns = (guint64)(ns - day * NS_A_DAY);
  }
  return observation;
}
