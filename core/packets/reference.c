/* Unpacking, straight from the definition: one component and one bit at a time. */
#include "config.h"
#include "core/packets/bits.h"

/* A bit of a component, numbered from the least significant. */
static guint bit_of(const AstroPacketSamples *samples, const guint8 *payload, guint64 component,
                    guint bit)
{
  guint64 at = component * samples->bits + bit;
  if (samples->packing == ASTRO_PACKET_WORDS) {
    const guint n = astro_packet_word_components(samples);
    at = component / n * ASTRO_PACKET_WORD_BITS + component % n * samples->bits + bit;
  }
  if (samples->packing == ASTRO_PACKET_BITS_BIG) {
    at = (component + 1) * samples->bits - 1 - bit;
    return payload[at / 8] >> (7 - at % 8) & 1;
  }
  return payload[at / 8] >> at % 8 & 1;
}

double astro_packet_value(const AstroPacketSamples *samples, guint32 number)
{
  static const double levels[2][4] = {
    { -1, 1 },
    { -(double)ASTRO_PACKET_HIGH_LEVEL, -1, 1, (double)ASTRO_PACKET_HIGH_LEVEL },
  };
  const gint64 half = (gint64)1 << (samples->bits - 1), value = number;
  if (astro_packet_is_levels(samples))
    return levels[samples->bits - 1][number];
  if (samples->code == ASTRO_PACKET_OFFSET)
    return (double)(value - half);
  return (double)(value < half ? value : value - 2 * half);
}

void astro_packet_unpack_reference(const AstroPacketSamples *samples, const guint8 *payload,
                                   gpointer out)
{
  const guint64 components = astro_packet_components(samples);
  const AstroFormat format = astro_packet_format(samples);
  for (guint64 i = 0; i < components; i++) {
    guint32 number = 0;
    for (guint bit = 0; bit < samples->bits; bit++)
      number |= (guint32)bit_of(samples, payload, i, bit) << bit;
    const double value = astro_packet_value(samples, number);
    if (format == ASTRO_FORMAT_F32LE || format == ASTRO_FORMAT_CF32LE)
      ((float *)out)[i] = (float)value;
    else if (format == ASTRO_FORMAT_I8 || format == ASTRO_FORMAT_CI8)
      ((gint8 *)out)[i] = (gint8)value;
    else if (format == ASTRO_FORMAT_I16LE || format == ASTRO_FORMAT_CI16LE)
      ((gint16 *)out)[i] = (gint16)value;
    else
      ((double *)out)[i] = value;
  }
}
