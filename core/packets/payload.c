/* Chooses the samples of packets to be sent. */
#include "config.h"
#include "core/packets/payload.h"

#include "core/packets/bits.h"

#define refuse(error, ...)                                                                         \
  astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_WRITE, __VA_ARGS__)

#define BEAMLET_STEPS 16
#define BEAMLETS 61 /* per board, at 16 bits */
#define VDIF_UNIT 8
#define VLBA_BYTES 5000

/* As many as the format holds; for single-precision floats two, as in VLBI. */
static guint bits_of(AstroFormat format)
{
  switch (format) {
  case ASTRO_FORMAT_I8:
  case ASTRO_FORMAT_CI8:
    return 8;
  case ASTRO_FORMAT_I16LE:
  case ASTRO_FORMAT_CI16LE:
    return 16;
  case ASTRO_FORMAT_F64LE:
  case ASTRO_FORMAT_CF64LE:
    return 32;
  default:
    return 2;
  }
}

static guint64 largest_divisor(guint64 n, guint64 most)
{
  guint64 divisor = MIN(n, most);
  while (n % divisor)
    divisor--;
  return divisor;
}

/* The VLBA's frame length where it fits, since such headers tell the rate; otherwise the longest
 * that fits and has whole units, with whole frames in a second. */
static gboolean choose_frame(const AstroPayloadWish *wish, const AstroStream *stream,
                             AstroPacketSamples *samples, GError **error)
{
  const guint64 rate = (guint64)stream->rate_n;
  guint64 *steps = &samples->layout.extents[0];
  if (stream->rate_d != 1)
    return refuse(error,
                  "VDIF has a whole number of frames a second, but the stream has %d/%d steps a "
                  "second, expected a whole number",
                  stream->rate_n, stream->rate_d);
  if (wish->steps) {
    *steps = wish->steps;
    if (rate % *steps)
      return refuse(
          error,
          "VDIF has a whole number of frames a second, but %d steps are not a multiple of "
          "packet-steps=%u",
          stream->rate_n, wish->steps);
    return TRUE;
  }
  const guint64 of_step = astro_packet_step_components(samples) * samples->bits;
  if (of_step && wish->bytes >= VLBA_BYTES && 8 * VLBA_BYTES % of_step == 0) {
    *steps = 8 * VLBA_BYTES / of_step;
    if (rate % *steps == 0 && astro_packet_payload_bytes(samples) == VLBA_BYTES)
      return TRUE;
  }
  for (*steps = of_step ? MIN(8 * (guint64)wish->bytes / of_step, rate) : 0; *steps > 0; --*steps) {
    const gsize bytes = rate % *steps ? 0 : astro_packet_payload_bytes(samples);
    if (bytes && bytes % VDIF_UNIT == 0 && bytes <= wish->bytes)
      return TRUE;
  }
  return refuse(error,
                "no VDIF frame of up to packet-bytes=%u has whole units of 8 bytes and divides a "
                "second of %d steps: set packet-steps, packet-channels or bits",
                wish->bytes, stream->rate_n);
}

static gboolean choose_vdif(const AstroPayloadWish *wish, const AstroStream *stream,
                            AstroPacketSamples *samples, GError **error)
{
  const guint64 channels = astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
  samples->bits = wish->bits ? wish->bits : bits_of(stream->format);
  samples->is_complex = astro_format_info(stream->format)->is_complex;
  samples->layout =
      (AstroLayout){ 2,
                     { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL },
                     { 1, wish->channels ? wish->channels : channels & ~(channels - 1) } };
  return choose_frame(wish, stream, samples, error);
}

static gboolean choose_beamlets(const AstroPayloadWish *wish, const AstroStream *stream,
                                AstroPacketSamples *samples, GError **error)
{
  const guint64 channels = astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
  (void)error;
  samples->bits = wish->bits ? wish->bits : bits_of(stream->format);
  samples->layout =
      (AstroLayout){ 3,
                     { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_TIME, ASTRO_AXIS_POL },
                     { wish->channels ? wish->channels : largest_divisor(channels, BEAMLETS),
                       wish->steps ? wish->steps : BEAMLET_STEPS, 2 } };
  return TRUE;
}

static gboolean choose_heap(const char *name, const AstroPayloadWish *wish,
                            const AstroStream *stream, AstroPacketSamples *samples, GError **error)
{
  if (samples->bits == 0)
    return refuse(error,
                  "%s tells nothing of its samples: name a preset, or describe them with "
                  "packet=@FILE",
                  name);
  if (wish->steps == 0)
    return refuse(error, "it is not known how many time steps a heap of %s has: set packet-steps",
                  name);
  samples->layout = (AstroLayout){
    3,
    { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_TIME, ASTRO_AXIS_POL },
    { wish->channels ? wish->channels : astro_stream_extent(stream, ASTRO_AXIS_CHANNEL),
      wish->steps, 2 }
  };
  return TRUE;
}

static guint64 extent_of(const AstroPacketSamples *samples, AstroAxis axis)
{
  const gint at = astro_layout_find(&samples->layout, axis);
  return at < 0 ? 1 : samples->layout.extents[at];
}

/* The user cannot contradict what the format specifies. */
static gboolean check_wish(const char *name, const AstroPayloadWish *wish,
                           const AstroPacketSamples *samples, GError **error)
{
  const struct {
    const char *property;
    guint64 wished, found;
  } all[] = {
    { "bits", wish->bits, samples->bits },
    { "packet-steps", wish->steps, extent_of(samples, ASTRO_AXIS_TIME) },
    { "packet-channels", wish->channels, extent_of(samples, ASTRO_AXIS_CHANNEL) },
  };
  for (guint i = 0; i < G_N_ELEMENTS(all); i++)
    if (all[i].wished && all[i].wished != all[i].found)
      return refuse(error,
                    "%s=%" G_GUINT64_FORMAT " is set, but packets of %s have %" G_GUINT64_FORMAT,
                    all[i].property, all[i].wished, name, all[i].found);
  return TRUE;
}

gboolean astro_payload_choose(const AstroPacket *common, const char *name,
                              const AstroPayloadWish *wish, const AstroStream *stream,
                              AstroPacketSamples *samples, GError **error)
{
  *samples = common->samples;
  const gboolean is_chosen = samples->layout.n_axes > 0 ? TRUE
                             : common->has_second       ? choose_vdif(wish, stream, samples, error)
                             : common->is_since_1970
                                 ? choose_beamlets(wish, stream, samples, error)
                                 : choose_heap(name, wish, stream, samples, error);
  if (!is_chosen || !check_wish(name, wish, samples, error))
    return FALSE;
  if (astro_packet_payload_bytes(samples) == 0)
    return refuse(error, "%u-bit samples do not fill whole bytes or words in a packet of %s",
                  samples->bits, name);
  if (astro_packet_format(samples) == stream->format)
    return TRUE;
  return refuse(error,
                "packets of %s with %u bits are made from %s samples, but the stream has %s: put "
                "astroconvert before",
                name, samples->bits, astro_format_name(astro_packet_format(samples)),
                astro_format_name(stream->format));
}

guint64 astro_payload_clipped(const AstroPacketSamples *samples, gconstpointer values)
{
  const guint64 n = astro_packet_components(samples);
  const gint64 most = ((gint64)1 << (samples->bits - 1)) - 1;
  guint64 clipped = 0;
  if (astro_packet_is_levels(samples) || samples->bits == 8 || samples->bits == 16)
    return 0;
  for (guint64 i = 0; i < n; i++) {
    const double value = samples->bits < 8    ? ((const gint8 *)values)[i]
                         : samples->bits < 16 ? ((const gint16 *)values)[i]
                                              : ((const double *)values)[i];
    clipped += !(value <= (double)most && value >= (double)(-most - 1));
  }
  return clipped;
}
