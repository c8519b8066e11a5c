/* Unpacking, with a table of the components of each byte if several share one. */
#include "config.h"
#include "core/recorders/unpack.h"

#include <string.h>

#define BYTES 256
#define MOST_IN_BYTE 8
#define WIDTHS 3                   /* 1, 2 and 4 bits */
#define CODES ASTRO_RECORDER_FLOAT /* of integers */

typedef gint8 Table[BYTES][MOST_IN_BYTE];

/* Numbers of power, of which a byte has one or several. */
static void unpack_power(const AstroRecorderPacking *packing, const guint8 *in, guint64 bytes,
                         float *out)
{
  const guint n = 8 / packing->bits;
  float values[BYTES][MOST_IN_BYTE];
  for (guint i = 0; i < BYTES; i++) {
    const guint8 byte = (guint8)i;
    astro_recorder_unpack_reference(packing, &byte, 0, n, values[i]);
  }
  if (n == 1)
    for (guint64 i = 0; i < bytes; i++)
      out[i] = values[in[i]][0];
  else
    for (guint64 i = 0; i < bytes; i++)
      memcpy(out + n * i, values[in[i]], n * sizeof *out);
}

static const Table *table_of(const AstroRecorderPacking *packing)
{
  static Table tables[WIDTHS][CODES][2];
  static gsize are_made[WIDTHS][CODES][2];
  const guint width = packing->bits / 2, end = packing->high_first != FALSE;
  Table *made = &tables[width][packing->code][end];
  if (g_once_init_enter(&are_made[width][packing->code][end])) {
    for (guint i = 0; i < BYTES; i++) {
      const guint8 byte = (guint8)i;
      astro_recorder_unpack_reference(packing, &byte, 0, 8 / packing->bits, (*made)[i]);
    }
    g_once_init_leave(&are_made[width][packing->code][end], 1);
  }
  return (const Table *)made;
}

/* Vectors at any place in memory. */
#define VECTOR 16
typedef guint8 Bytes __attribute__((vector_size(VECTOR), may_alias, aligned(1)));

static void turn_highest(const guint8 *in, gsize bytes, guint16 bit, guint8 *out)
{
  const guint8 even = bit == 0x80 ? 0x80 : 0;
  const Bytes mask = { even, 0x80, even, 0x80, even, 0x80, even, 0x80,
                       even, 0x80, even, 0x80, even, 0x80, even, 0x80 };
  gsize i = 0;
  for (; i + VECTOR <= bytes; i += VECTOR)
    *(Bytes *)(out + i) = *(const Bytes *)(in + i) ^ mask;
  for (; i < bytes; i++)
    out[i] = in[i] ^ mask[i % 2];
}

/* Numbers of 4 bits less half their range, after the highest bit of those with a sign is turned. */
static void unpack_fours(const AstroRecorderPacking *packing, const Table *table, const guint8 *in,
                         guint64 bytes, gint8 *out)
{
  const guint8 highest = packing->code == ASTRO_RECORDER_SIGNED ? 8 : 0;
  const gboolean high_first = packing->high_first;
  const Bytes zeros = { 0 }, fifteen = zeros + 15, turned = zeros + highest, half = zeros + 8;
  guint64 i = 0;
  for (; i + VECTOR <= bytes; i += VECTOR) {
    const Bytes both = *(const Bytes *)(in + i);
    const Bytes low = ((both & fifteen) ^ turned) - half, high = ((both >> 4) ^ turned) - half;
    const Bytes a = high_first ? high : low, b = high_first ? low : high;
    Bytes *to = (Bytes *)(out + 2 * i);
    to[0] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    to[1] =
        __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
  for (; i < bytes; i++)
    memcpy(out + 2 * i, (*table)[in[i]], 2);
}

/* Each case has a copy of a constant length, which is one instruction. */
static void unpack_by_table(const AstroRecorderPacking *packing, const guint8 *in, guint64 bytes,
                            gint8 *out)
{
  const Table *table = table_of(packing);
  switch (packing->bits) {
  case 1:
    for (guint64 i = 0; i < bytes; i++)
      memcpy(out + 8 * i, (*table)[in[i]], 8);
    break;
  case 2:
    for (guint64 i = 0; i < bytes; i++)
      memcpy(out + 4 * i, (*table)[in[i]], 4);
    break;
  default: /* with a sign or an offset: others of 4 bits do not occur */
    unpack_fours(packing, table, in, bytes, out);
  }
}

static gboolean has_table(const AstroRecorderPacking *packing)
{
  return packing->bits == 1 || packing->bits == 2 || packing->bits == 4;
}

/* Components from the start of a byte on; n of them fill whole bytes. */
static void unpack_whole(const AstroRecorderPacking *packing, const guint8 *in, guint64 n,
                         guint8 *out)
{
  if (packing->is_power && packing->bits <= 8) {
    unpack_power(packing, in, n * packing->bits / 8, (float *)out);
  } else if (packing->is_power && packing->bits == 16) {
    for (guint64 i = 0; i < n; i++) {
      const guint16 number = (guint16)(in[2 * i] | in[2 * i + 1] << 8);
      ((float *)out)[i] =
          packing->code == ASTRO_RECORDER_SIGNED ? (float)(gint16)number : (float)number;
    }
  } else if (has_table(packing)) {
    unpack_by_table(packing, in, n * packing->bits / 8, (gint8 *)out);
  } else if (astro_recorder_is_plain(packing)) {
    memcpy(out, in, n * packing->bits / 8);
  } else { /* 8 or 16 bits with an offset: the highest bit of each number is turned */
    turn_highest(in, n * packing->bits / 8, packing->bits == 8 ? 0x80 : 0x8000, out);
  }
}

void astro_recorder_unpack(const AstroRecorderPacking *packing, const guint8 *in, guint64 first,
                           guint64 n, gpointer out)
{
  const gboolean is_whole = packing->word_components * packing->bits % 32 == 0;
  const guint in_byte = MAX(8 / packing->bits, 1);
  const gsize bytes = astro_recorder_component_bytes(packing);
  if (!is_whole || (!has_table(packing) && packing->bits % 8)) {
    astro_recorder_unpack_reference(packing, in, first, n, out);
    return;
  }
  const guint64 head = MIN(n, (in_byte - first % in_byte) % in_byte);
  const guint64 whole = (n - head) / in_byte * in_byte, tail = n - head - whole;
  guint8 *to = out;
  astro_recorder_unpack_reference(packing, in, first, head, to);
  unpack_whole(packing, in + (first + head) * packing->bits / 8, whole, to + head * bytes);
  astro_recorder_unpack_reference(packing, in, first + head + whole, tail,
                                  to + (head + whole) * bytes);
}
