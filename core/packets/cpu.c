/* Unpacking, with a table of the components in each byte if several share one, and packing. */
#include "config.h"
#include "core/packets/bits.h"

#include <string.h>

#define BYTES 256
#define MOST_IN_BYTE 8

typedef union {
  float floats[BYTES][MOST_IN_BYTE];
  gint8 integers[BYTES][MOST_IN_BYTE];
} Table;

/* One table for each of 1, 2 and 4 bits, each code, and each end of a byte. */
#define N_TABLES 12

static guint table_index(const AstroPacketSamples *samples)
{
  const guint width = samples->bits == 1 ? 0 : samples->bits == 2 ? 1 : 2;
  return (width * 2 + (samples->code == ASTRO_PACKET_OFFSET)) * 2 +
         (samples->packing == ASTRO_PACKET_BITS_BIG);
}

static const Table *table_of(const AstroPacketSamples *samples)
{
  static Table tables[N_TABLES];
  static gsize are_made[N_TABLES];
  const guint index = table_index(samples);
  Table *made = &tables[index];
  if (g_once_init_enter(&are_made[index])) {
    const guint n = 8 / samples->bits;
    AstroPacketSamples byte = *samples;
    byte.is_complex = FALSE;
    byte.layout = (AstroLayout){ 1, { ASTRO_AXIS_TIME }, { n } };
    if (byte.packing == ASTRO_PACKET_WORDS)
      byte.packing = ASTRO_PACKET_BITS_LITTLE;
    for (guint i = 0; i < BYTES; i++) {
      const guint8 value = (guint8)i;
      astro_packet_unpack_reference(&byte, &value,
                                    astro_packet_is_levels(samples) ? (gpointer)made->floats[i]
                                                                    : made->integers[i]);
    }
    g_once_init_leave(&are_made[index], 1);
  }
  return made;
}

/* Whether 32-bit words have no unused bits, so that they are also a plain sequence of bits. */
static gboolean is_dense(const AstroPacketSamples *samples)
{
  return samples->packing != ASTRO_PACKET_WORDS ||
         astro_packet_word_components(samples) * samples->bits == ASTRO_PACKET_WORD_BITS;
}

/* Whether each component is a byte of its own. */
static gboolean is_bytes(const AstroPacketSamples *samples)
{
  return samples->bits == 8 && is_dense(samples);
}

static void unpack_by_table(const AstroPacketSamples *samples, const guint8 *payload, gpointer out)
{
  const Table *table = table_of(samples);
  const guint n = 8 / samples->bits;
  const gsize bytes = astro_packet_payload_bytes(samples);
  if (astro_packet_is_levels(samples))
    for (gsize i = 0; i < bytes; i++)
      memcpy((float *)out + i * n, table->floats[payload[i]], n * sizeof(float));
  else
    for (gsize i = 0; i < bytes; i++)
      memcpy((gint8 *)out + i * n, table->integers[payload[i]], n);
}

void astro_packet_unpack(const AstroPacketSamples *samples, const guint8 *payload, gpointer out)
{
  const guint64 components = astro_packet_components(samples);
  const gboolean is_offset = samples->code == ASTRO_PACKET_OFFSET;
  if (is_dense(samples) && samples->bits <= 4 && samples->bits != 3) {
    unpack_by_table(samples, payload, out);
  } else if (is_bytes(samples)) {
    const guint8 flip = is_offset ? 0x80 : 0;
    for (guint64 i = 0; i < components; i++)
      ((guint8 *)out)[i] = payload[i] ^ flip;
  } else if (is_dense(samples) && samples->bits == 16) {
    const guint16 flip = is_offset ? 0x8000 : 0;
    const guint low = samples->packing == ASTRO_PACKET_BITS_BIG;
    for (guint64 i = 0; i < components; i++)
      ((guint16 *)out)[i] =
          (guint16)((payload[2 * i + low] | payload[2 * i + 1 - low] << 8) ^ flip);
  } else {
    astro_packet_unpack_reference(samples, payload, out);
  }
}

static double read_value(AstroFormat format, gconstpointer in, guint64 i)
{
  if (format == ASTRO_FORMAT_F32LE || format == ASTRO_FORMAT_CF32LE)
    return (double)((const float *)in)[i];
  if (format == ASTRO_FORMAT_I8 || format == ASTRO_FORMAT_CI8)
    return ((const gint8 *)in)[i];
  if (format == ASTRO_FORMAT_I16LE || format == ASTRO_FORMAT_CI16LE)
    return ((const gint16 *)in)[i];
  return ((const double *)in)[i];
}

/* The threshold between two levels is half their sum. */
static guint32 level_of(guint bits, double value)
{
  const double edge = (1 + (double)ASTRO_PACKET_HIGH_LEVEL) / 2;
  if (bits == 1)
    return value >= 0;
  return value >= edge ? 3 : value >= 0 ? 2 : value >= -edge ? 1 : 0;
}

static guint32 number_of(const AstroPacketSamples *samples, double value)
{
  if (astro_packet_is_levels(samples))
    return level_of(samples->bits, value);
  const gint64 half = (gint64)1 << (samples->bits - 1);
  const gint64 whole = value >= (double)half    ? half - 1
                       : value >= (double)-half ? (gint64)value
                                                : -half; /* NaN too */
  return (guint32)(samples->code == ASTRO_PACKET_OFFSET ? whole + half : whole) &
         (guint32)(2 * half - 1);
}

void astro_packet_pack(const AstroPacketSamples *samples, gconstpointer in, guint8 *payload)
{
  const guint64 components = astro_packet_components(samples);
  if (is_bytes(samples)) {
    const guint8 flip = samples->code == ASTRO_PACKET_OFFSET ? 0x80 : 0;
    for (guint64 i = 0; i < components; i++)
      payload[i] = ((const guint8 *)in)[i] ^ flip;
    return;
  }
  const AstroFormat format = astro_packet_format(samples);
  const guint bits = samples->bits;
  const guint n =
      samples->packing == ASTRO_PACKET_WORDS ? astro_packet_word_components(samples) : 0;
  memset(payload, 0, astro_packet_payload_bytes(samples));
  for (guint64 i = 0; i < components; i++) {
    const guint32 number = number_of(samples, read_value(format, in, i));
    const guint64 first = n ? i / n * ASTRO_PACKET_WORD_BITS + i % n * bits : i * bits;
    for (guint bit = 0; bit < bits; bit++) {
      const gboolean is_big = samples->packing == ASTRO_PACKET_BITS_BIG;
      const guint64 at = is_big ? first + bits - 1 - bit : first + bit;
      payload[at / 8] |= (guint8)((number >> bit & 1) << (is_big ? 7 - at % 8 : at % 8));
    }
  }
}
