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
  default:
    for (guint64 i = 0; i < bytes; i++)
      memcpy(out + 2 * i, (*table)[in[i]], 2);
  }
}

/* Eight bytes at a time. */
static void turn_highest(const guint8 *in, gsize bytes, guint16 bit, guint8 *out)
{
  const guint16 pair = bit == 0x80 ? 0x8080 : bit;
  const guint64 mask = GUINT64_TO_LE(pair * G_GUINT64_CONSTANT(0x0001000100010001));
  gsize i = 0;
  for (; i + sizeof mask <= bytes; i += sizeof mask) {
    guint64 eight;
    memcpy(&eight, in + i, sizeof eight);
    eight ^= mask;
    memcpy(out + i, &eight, sizeof eight);
  }
  for (; i < bytes; i++)
    out[i] = in[i] ^ (guint8)(bit == 0x80 || i % 2 ? 0x80 : 0);
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
