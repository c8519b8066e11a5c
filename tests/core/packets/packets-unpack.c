/* Samples of packets: the formula on bytes with known samples, the fast version compared with it,
 * and packed samples unpacked again. */
#include "core/packets/packets.h"
#include "tests/tests.h"

static AstroPacketSamples samples_of(guint bits, gboolean is_complex, AstroPacketPacking packing,
                                     AstroPacketCode code, guint64 channels, gsize bytes)
{
  AstroPacketSamples samples = {
    .bits = bits,
    .is_complex = is_complex,
    .packing = packing,
    .code = code,
    .layout = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL }, { 1, channels } },
  };
  samples.layout.extents[0] = astro_packet_payload_steps(&samples, bytes);
  return samples;
}

/* VDIF has the first sample in the least significant bits of a word, and the levels of its
 * specification. */
static void test_levels(void)
{
  const guint8 payload[] = { 0xe4, 0x1b, 0x00, 0xff };
  const float high = ASTRO_PACKET_HIGH_LEVEL;
  const float two[16] = { -high, -1,    1,     high,  high, 1,    -1,   -high,
                          -high, -high, -high, -high, high, high, high, high };
  float out[32];
  AstroPacketSamples samples =
      samples_of(2, FALSE, ASTRO_PACKET_WORDS, ASTRO_PACKET_OFFSET, 1, sizeof payload);
  g_assert_cmpuint(samples.layout.extents[0], ==, 16);
  g_assert_cmpint(astro_packet_format(&samples), ==, ASTRO_FORMAT_F32LE);
  astro_packet_unpack_reference(&samples, payload, out);
  g_assert_cmpmem(out, sizeof two, two, sizeof two);
  samples = samples_of(1, TRUE, ASTRO_PACKET_WORDS, ASTRO_PACKET_OFFSET, 1, sizeof payload);
  g_assert_cmpint(astro_packet_format(&samples), ==, ASTRO_FORMAT_CF32LE);
  astro_packet_unpack_reference(&samples, payload, out);
  for (guint i = 0; i < 32; i++)
    g_assert_true(out[i] == (payload[i / 8] >> i % 8 & 1 ? 1.0f : -1.0f));
}

static void test_integers(void)
{
  const guint8 payload[] = { 0x1f, 0x80, 0x7f, 0xe3 };
  gint8 out[8];
  gint16 wide[4];
  /* Offset: 0 is -8. */
  AstroPacketSamples samples =
      samples_of(4, FALSE, ASTRO_PACKET_WORDS, ASTRO_PACKET_OFFSET, 1, sizeof payload);
  astro_packet_unpack_reference(&samples, payload, out);
  const gint8 offset[] = { 7, -7, -8, 0, 7, -1, -5, 6 };
  g_assert_cmpmem(out, 8, offset, 8);
  /* LOFAR's: two's complement, the real part in the low nibble. */
  samples = samples_of(4, TRUE, ASTRO_PACKET_BITS_LITTLE, ASTRO_PACKET_SIGNED, 1, sizeof payload);
  g_assert_cmpint(astro_packet_format(&samples), ==, ASTRO_FORMAT_CI8);
  astro_packet_unpack_reference(&samples, payload, out);
  const gint8 low[] = { -1, 1, 0, -8, -1, 7, 3, -2 };
  g_assert_cmpmem(out, 8, low, 8);
  samples = samples_of(4, TRUE, ASTRO_PACKET_BITS_BIG, ASTRO_PACKET_SIGNED, 1, sizeof payload);
  astro_packet_unpack_reference(&samples, payload, out);
  const gint8 big[] = { 1, -1, -8, 0, 7, -1, -2, 3 };
  g_assert_cmpmem(out, 8, big, 8);
  samples = samples_of(16, FALSE, ASTRO_PACKET_BITS_BIG, ASTRO_PACKET_SIGNED, 1, sizeof payload);
  astro_packet_unpack_reference(&samples, payload, wide);
  g_assert_cmpint(wide[0], ==, 0x1f80);
  g_assert_cmpint(wide[1], ==, 0x7fe3);
  samples = samples_of(16, FALSE, ASTRO_PACKET_BITS_LITTLE, ASTRO_PACKET_OFFSET, 1, sizeof payload);
  astro_packet_unpack_reference(&samples, payload, wide);
  g_assert_cmpint(wide[0], ==, 0x801f - 0x8000);
  g_assert_cmpint(wide[1], ==, 0xe37f - 0x8000);
}

/* MeerKAT's digitisers: ten bits, the most significant first, across bytes. */
static void test_ten_bits(void)
{
  const guint8 payload[] = { 0x80, 0x1f, 0xf0, 0x04, 0x01 };
  gint16 out[4];
  const AstroPacketSamples samples =
      samples_of(10, FALSE, ASTRO_PACKET_BITS_BIG, ASTRO_PACKET_SIGNED, 1, sizeof payload);
  g_assert_cmpuint(samples.layout.extents[0], ==, 4);
  astro_packet_unpack_reference(&samples, payload, out);
  g_assert_cmpint(out[0], ==, -512);
  g_assert_cmpint(out[1], ==, 511);
  g_assert_cmpint(out[2], ==, 1);
  g_assert_cmpint(out[3], ==, 1);
}

/* Words have unused bits if whole samples do not fill them. Lengths without whole samples, and
 * unknown packings, are refused. */
static void test_words(void)
{
  const guint8 payload[] = { 0x01, 0x08, 0x50, 0xc0, 0xff, 0xff, 0xff, 0x3f };
  gint16 out[6];
  const AstroPacketSamples samples =
      samples_of(10, FALSE, ASTRO_PACKET_WORDS, ASTRO_PACKET_OFFSET, 1, sizeof payload);
  g_assert_cmpuint(samples.layout.extents[0], ==, 6);
  g_assert_cmpuint(astro_packet_payload_bytes(&samples), ==, sizeof payload);
  astro_packet_unpack_reference(&samples, payload, out);
  const gint16 ten[] = { 1 - 512, 2 - 512, 5 - 512, 511, 511, 511 };
  g_assert_cmpmem(out, sizeof ten, ten, sizeof ten);

  AstroPacketSamples none = samples_of(10, FALSE, ASTRO_PACKET_WORDS, ASTRO_PACKET_OFFSET, 8, 800);
  g_assert_cmpuint(none.layout.extents[0], ==, 0);
  none = samples_of(8, FALSE, ASTRO_PACKET_WORDS, ASTRO_PACKET_OFFSET, 16, 24);
  g_assert_cmpuint(none.layout.extents[0], ==, 0);
  none = samples_of(33, FALSE, ASTRO_PACKET_WORDS, ASTRO_PACKET_OFFSET, 1, 24);
  g_assert_cmpint(astro_packet_format(&none), ==, ASTRO_FORMAT_UNKNOWN);
  none.layout.extents[0] = none.layout.extents[1] = G_MAXUINT64 / 2;
  none.bits = 8;
  g_assert_cmpuint(astro_packet_payload_bytes(&none), ==, 0);
}

/* Every width, packing and code: the fast version writes the same as the formula, and packing again
 * gives the same bytes if no bits are unused. */
static void test_all(void)
{
  enum { BYTES = 2 * 32 * 8 };
  for (guint bits = 1; bits <= 32; bits++)
    for (guint packing = 0; packing < 3; packing++)
      for (guint code = 0; code < 2; code++)
        for (guint is_complex = 0; is_complex < 2; is_complex++) {
          const AstroPacketSamples samples =
              samples_of(bits, (gboolean)is_complex, (AstroPacketPacking)packing,
                         (AstroPacketCode)code, 1, BYTES);
          const gsize bytes = samples.layout.extents[0] * (is_complex + 1) * 8;
          if (samples.layout.extents[0] == 0)
            continue;
          g_assert_cmpuint(astro_packet_payload_bytes(&samples), ==, BYTES);
          guint8 payload[BYTES];
          guint8 *packed = test_alloc(BYTES);
          guint8 *expected = g_malloc(bytes), *out = g_malloc(bytes);
          test_fill(payload, BYTES, 64 * bits + code);
          memset(expected, 0xa5, bytes);
          memset(out, 0xa5, bytes);
          astro_packet_unpack_reference(&samples, payload, expected);
          astro_packet_unpack(&samples, payload, out);
          g_assert_cmpmem(out, bytes, expected, bytes);
          astro_packet_pack(&samples, out, packed);
          test_check_guard(packed, BYTES);
          astro_packet_unpack_reference(&samples, packed, out);
          g_assert_cmpmem(out, bytes, expected, bytes);
          if (packing != ASTRO_PACKET_WORDS || 32 % bits == 0)
            g_assert_cmpmem(packed, BYTES, payload, BYTES);
          test_free(packed);
          g_free(expected);
          g_free(out);
        }
}

/* Packing clips values to the range of the bits. */
static void test_packed(void)
{
  const gint8 in[] = { 7, 8, -8, -9, 127, -128, 0, -1 };
  guint8 payload[4];
  AstroPacketSamples samples =
      samples_of(4, FALSE, ASTRO_PACKET_BITS_LITTLE, ASTRO_PACKET_SIGNED, 1, sizeof payload);
  astro_packet_pack(&samples, in, payload);
  const guint8 held[] = { 0x77, 0x88, 0x87, 0xf0 };
  g_assert_cmpmem(payload, 4, held, 4);
  float levels[16] = { 0, -0.1f, 2.1f, 2.2f, -2.1f, -2.2f, 1e30f, -1e30f };
  samples = samples_of(2, FALSE, ASTRO_PACKET_WORDS, ASTRO_PACKET_OFFSET, 1, sizeof payload);
  astro_packet_pack(&samples, levels, payload);
  const guint8 nearest[] = { 0xe6, 0x31, 0xaa, 0xaa };
  g_assert_cmpmem(payload, 4, nearest, 4);
}

static void add_tests(void)
{
  g_test_add_func("/packets/unpack/levels", test_levels);
  g_test_add_func("/packets/unpack/integers", test_integers);
  g_test_add_func("/packets/unpack/ten-bits", test_ten_bits);
  g_test_add_func("/packets/unpack/words", test_words);
  g_test_add_func("/packets/unpack/all", test_all);
  g_test_add_func("/packets/unpack/packed", test_packed);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
