/* Derives the stream that packets make up from one of them and the settings. */
#include "config.h"
#include "core/packets/shape.h"

#include <string.h>

#define refuse(error, ...)                                                                         \
  astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT, __VA_ARGS__)

/* Limits for all blocks that may be open at once, together. */
#define MOST_BYTES ((guint64)16 << 30)
#define MOST_PACKETS ((guint64)1 << 28)

#define VOLTAGES_LAYOUT "time:station:pol"
#define SPECTRA_LAYOUT "time:channel:station:pol"

/* katgpucbf's heaps are channel:time:pol; headers tell neither the channels nor the steps. */
static gboolean guess_extents(const AstroPacketSettings *settings, const AstroPacket *packet,
                              AstroPacketSamples *samples, GError **error)
{
  static const AstroLayout order = { 3,
                                     { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_TIME, ASTRO_AXIS_POL },
                                     { 1, 1, 2 } };
  samples->layout = order;
  if (settings->packet_steps == 0)
    return refuse(error,
                  "%s does not tell how many time steps a heap of %zu bytes has: set packet-steps",
                  settings->packet, packet->payload_bytes);
  samples->layout.extents[1] = settings->packet_steps;
  const gsize of_channel = astro_packet_payload_bytes(samples);
  if (of_channel == 0 || packet->payload_bytes % of_channel)
    return refuse(error,
                  "a heap of %zu bytes is not a whole number of channels of packet-steps=%u steps, "
                  "%zu bytes each",
                  packet->payload_bytes, settings->packet_steps, of_channel);
  samples->layout.extents[0] = packet->payload_bytes / of_channel;
  return TRUE;
}

gboolean astro_packet_shape_samples(const AstroPacketSettings *settings, const AstroPacket *packet,
                                    AstroPacketSamples *samples, GError **error)
{
  *samples = packet->samples;
  if (samples->bits == 0)
    return refuse(error,
                  "%s tells nothing of its samples: name a preset, or describe them with "
                  "packet=@FILE",
                  settings->packet);
  if (samples->layout.n_axes == 0 && !guess_extents(settings, packet, samples, error))
    return FALSE;
  /* Voltages have no channels, so VDIF's channels are the polarisations of a station here. */
  const gint channel = astro_layout_find(&samples->layout, ASTRO_AXIS_CHANNEL);
  if (settings->channels == 0 && settings->pols > 1 && channel >= 0 &&
      astro_layout_find(&samples->layout, ASTRO_AXIS_POL) < 0 &&
      samples->layout.extents[channel] == settings->pols)
    samples->layout.axes[channel] = ASTRO_AXIS_POL;
  if (astro_packet_payload_bytes(samples) == packet->payload_bytes)
    return TRUE;
  return refuse(error, "a packet has %zu bytes of samples, expected %zu", packet->payload_bytes,
                astro_packet_payload_bytes(samples));
}

static guint64 extent_of(const AstroPacketSamples *samples, AstroAxis axis)
{
  const gint at = astro_layout_find(&samples->layout, axis);
  return at < 0 ? 1 : samples->layout.extents[at];
}

/* A rate set by the user has to agree with the rate of the packets. */
static gboolean find_rate(AstroPacketShape *shape, const AstroPacket *packet, gint rate_n,
                          gint rate_d, guint64 packets_a_second, GError **error)
{
  guint64 n = packet->rate_n, d = packet->rate_d;
  if (n == 0 && packets_a_second) {
    n = packets_a_second * shape->steps;
    d = 1;
  }
  if (n && rate_n && n * (guint64)rate_d != d * (guint64)rate_n)
    return refuse(error,
                  "the packets have %" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT
                  " steps a second, but rate=%d/%d is set",
                  n, d, rate_n, rate_d);
  if (rate_n) {
    n = (guint64)rate_n;
    d = (guint64)rate_d;
  }
  if (n > G_MAXINT || d > G_MAXINT)
    return refuse(error, "%" G_GUINT64_FORMAT " steps a second is too high a rate", n);
  if (n == 0 && !packet->has_second)
    return refuse(error, "the packets do not tell how many time steps a second has: set rate");
  shape->out.rate_n = (gint)n;
  shape->out.rate_d = n ? (gint)d : 1;
  return n != 0;
}

static gboolean find_layout(AstroPacketShape *shape, const AstroPacketSettings *settings,
                            guint n_stations, GError **error)
{
  AstroStream *out = &shape->out;
  const guint64 channels =
      settings->channels ? settings->channels : extent_of(&shape->samples, ASTRO_AXIS_CHANNEL);
  const guint64 stations = n_stations * extent_of(&shape->samples, ASTRO_AXIS_STATION);
  const guint64 pols = settings->pols ? settings->pols : extent_of(&shape->samples, ASTRO_AXIS_POL);
  const gboolean is_spectra = settings->channels || channels > 1;
  const char *text = settings->layout && *settings->layout ? settings->layout
                     : is_spectra                          ? SPECTRA_LAYOUT
                                                           : VOLTAGES_LAYOUT;
  out->quantity = is_spectra ? ASTRO_QUANTITY_SPECTRA : ASTRO_QUANTITY_VOLTAGES;
  if (!astro_layout_parse(&out->layout, text, out->quantity, error))
    return FALSE;
  for (guint i = 0; i < out->layout.n_axes; i++)
    switch (out->layout.axes[i]) {
    case ASTRO_AXIS_TIME:
      break;
    case ASTRO_AXIS_STATION:
      out->layout.extents[i] = stations;
      break;
    case ASTRO_AXIS_POL:
      out->layout.extents[i] = pols;
      break;
    case ASTRO_AXIS_CHANNEL:
      out->layout.extents[i] = channels;
      break;
    default:
      return refuse(error, "layout=%s: expected the axes of %s", text,
                    is_spectra ? SPECTRA_LAYOUT : VOLTAGES_LAYOUT);
    }
  const struct {
    AstroAxis axis;
    guint64 wanted;
  } axes[] = { { ASTRO_AXIS_STATION, stations },
               { ASTRO_AXIS_POL, pols },
               { ASTRO_AXIS_CHANNEL, channels } };
  for (guint i = 0; i < G_N_ELEMENTS(axes); i++)
    if (astro_stream_extent(out, axes[i].axis) != axes[i].wanted)
      return refuse(error, "layout=%s has no axis %s, but there are %" G_GUINT64_FORMAT " %ss",
                    text, astro_axis_name(axes[i].axis), axes[i].wanted,
                    astro_axis_name(axes[i].axis));
  return TRUE;
}

/* The number of packets that start within that time. */
static guint64 packets_in(const AstroPacketShape *shape, guint ms)
{
  const guint64 steps_ms = 1000 * (guint64)shape->out.rate_d * shape->steps;
  return gst_util_uint64_scale_ceil(ms, (guint64)shape->out.rate_n, steps_ms);
}

static gboolean find_block(AstroPacketShape *shape, const AstroPacketSettings *settings,
                           GError **error)
{
  const guint64 block = MAX(packets_in(shape, settings->block_ms), 1);
  const guint64 window = packets_in(shape, settings->latency_ms);
  const guint64 open = window / block + 3, streams = astro_packet_groups_n(&shape->groups);
  const guint64 step = astro_stream_step_bytes(&shape->out);
  if (block > MOST_PACKETS || window > MOST_PACKETS || open * block > MOST_PACKETS / streams ||
      block * shape->steps > MOST_BYTES / step / open)
    return refuse(error,
                  "blocks of block=%u ms, kept open for latency=%u ms, are too large: expected "
                  "%" G_GUINT64_FORMAT " GiB at most for all open blocks",
                  settings->block_ms, settings->latency_ms, MOST_BYTES >> 30);
  shape->block = (guint)block;
  shape->window = (guint)window;
  shape->block_bytes = (gsize)(block * shape->steps * step);
  return TRUE;
}

static gboolean describe(AstroPacketShape *shape, const AstroPacketSettings *settings,
                         guint n_stations, GError **error)
{
  AstroStream *out = &shape->out;
  out->format = astro_packet_format(&shape->samples);
  out->frequency = settings->frequency;
  out->bandwidth = settings->bandwidth;
  out->has_counts = TRUE;
  if (!find_layout(shape, settings, n_stations, error) ||
      (out->quantity == ASTRO_QUANTITY_VOLTAGES && !astro_stream_check_band(out, error)) ||
      !astro_packet_groups_init(&shape->groups, out, &shape->samples, error))
    return FALSE;
  const guint n = astro_packet_groups_n(&shape->groups);
  shape->streams = g_new(AstroPlaceStream, n);
  for (guint i = 0; i < n; i++)
    shape->streams[i] = astro_packet_groups_first(&shape->groups, i);
  const AstroPlaceConfig place = astro_packet_shape_place(shape);
  return astro_place_check(&place, error) && find_block(shape, settings, error);
}

gboolean astro_packet_shape_init(AstroPacketShape *shape, const AstroPacketSettings *settings,
                                 guint n_stations, const AstroPacket *packet, gint rate_n,
                                 gint rate_d, guint64 packets_a_second, GError **error)
{
  memset(shape, 0, sizeof *shape);
  if (!astro_packet_shape_samples(settings, packet, &shape->samples, error))
    return FALSE;
  shape->steps = extent_of(&shape->samples, ASTRO_AXIS_TIME);
  if (find_rate(shape, packet, rate_n, rate_d, packets_a_second, error) &&
      describe(shape, settings, n_stations, error))
    return TRUE;
  astro_packet_shape_clear(shape);
  return FALSE;
}

void astro_packet_shape_clear(AstroPacketShape *shape)
{
  g_clear_pointer(&shape->streams, g_free);
}

AstroPlaceConfig astro_packet_shape_place(const AstroPacketShape *shape)
{
  return (AstroPlaceConfig){ shape->out, shape->samples, astro_packet_groups_n(&shape->groups),
                             shape->streams };
}
