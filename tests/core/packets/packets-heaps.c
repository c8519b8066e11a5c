/* Heaps out of parts in any order, with what lies in them beside samples, copies, and parts that
 * never come; and what a user writes of senders, rates and times. */
#include "core/packets/heaps.h"
#include "core/packets/identities.h"
#include "core/packets/ports.h"
#include "core/packets/settings.h"
#include "tests/tests.h"

#define PARTS 5u
#define PART 100u

static AstroPacket part_of(guint64 heap, guint64 count, guint part)
{
  AstroPacket packet = { .kind = ASTRO_PACKET_DATA,
                         .station = ASTRO_PACKET_UNKNOWN,
                         .pol = ASTRO_PACKET_UNKNOWN,
                         .channel = ASTRO_PACKET_UNKNOWN,
                         .thread = ASTRO_PACKET_UNKNOWN,
                         .heap = heap,
                         .heap_bytes = PARTS * PART,
                         .heap_offset = part * PART,
                         .payload_bytes = PART };
  if (part == 0) {
    packet.count = count;
    packet.count_bits = 48;
  }
  return packet;
}

static AstroHeapAnswer take(AstroHeaps *heaps, guint64 sender, AstroPacket *packet,
                            const guint8 **whole)
{
  guint8 bytes[PART];
  for (guint i = 0; i < PART; i++)
    bytes[i] = (guint8)((packet->heap_offset + i) * 7 + packet->heap);
  *whole = bytes;
  const AstroHeapAnswer answer = astro_heaps_take(heaps, sender, packet, whole);
  for (gsize i = 0; answer == ASTRO_HEAP_WHOLE && i < packet->payload_bytes; i++)
    g_assert_cmpuint((*whole)[i], ==, (guint8)((packet->samples_offset + i) * 7 + packet->heap));
  return answer;
}

static AstroHeapAnswer take_part(AstroHeaps *heaps, guint64 heap, guint64 count, guint part)
{
  AstroPacket packet = part_of(heap, count, part);
  const guint8 *whole;
  const AstroHeapAnswer answer = take(heaps, 1, &packet, &whole);
  if (answer == ASTRO_HEAP_WHOLE) {
    g_assert_cmpuint(packet.count, ==, count);
    g_assert_cmpuint(packet.count_bits, ==, 48);
    g_assert_cmpuint(packet.payload_bytes, ==, PARTS * PART);
  }
  return answer;
}

/* Each order of five parts. */
static void test_orders(void)
{
  g_autoptr(AstroHeaps) heaps = astro_heaps_new();
  for (guint order = 0; order < 120; order++) {
    guint left[PARTS] = { 0, 1, 2, 3, 4 };
    for (guint n = PARTS, code = order; n > 0; code /= n, n--) {
      const guint at = code % n, part = left[at];
      memmove(&left[at], &left[at + 1], (n - at - 1) * sizeof *left);
      g_assert_cmpint(take_part(heaps, order, 5 * order, part), ==,
                      n == 1 ? ASTRO_HEAP_WHOLE : ASTRO_HEAP_PART);
    }
  }
  g_assert_cmpuint(astro_heaps_incomplete(heaps), ==, 0);
}

/* Copies of parts, and of whole heaps; a number that is used again is of another heap. */
static void test_copies(void)
{
  g_autoptr(AstroHeaps) heaps = astro_heaps_new();
  g_assert_cmpint(take_part(heaps, 1, 10, 0), ==, ASTRO_HEAP_PART);
  g_assert_cmpint(take_part(heaps, 1, 10, 0), ==, ASTRO_HEAP_DUPLICATE);
  for (guint i = 1; i < PARTS; i++)
    g_assert_cmpint(take_part(heaps, 1, 10, i), ==,
                    i + 1 == PARTS ? ASTRO_HEAP_WHOLE : ASTRO_HEAP_PART);
  g_assert_cmpint(take_part(heaps, 1, 10, 2), ==, ASTRO_HEAP_PART);
  for (guint i = 0; i < PARTS; i++)
    g_assert_cmpint(take_part(heaps, 1, 20, i), ==,
                    i + 1 == PARTS ? ASTRO_HEAP_WHOLE
                    : i == 2       ? ASTRO_HEAP_DUPLICATE
                                   : ASTRO_HEAP_PART);
  astro_heaps_reset(heaps);
  g_assert_cmpuint(astro_heaps_incomplete(heaps), ==, 0);
}

/* Parts that say other things than those before, senders with the same numbers, and what is lost.
 */
static void test_contradictions(void)
{
  g_autoptr(AstroHeaps) heaps = astro_heaps_new();
  AstroPacket packet = part_of(3, 1, 0);
  const guint8 *whole;
  packet.station = 5;
  g_assert_cmpint(take(heaps, 1, &packet, &whole), ==, ASTRO_HEAP_PART);
  packet = part_of(3, 1, 1);
  packet.station = 6;
  g_assert_cmpint(take(heaps, 1, &packet, &whole), ==, ASTRO_HEAP_ALIEN);
  packet = part_of(3, 1, 1);
  packet.heap_bytes++;
  g_assert_cmpint(take(heaps, 1, &packet, &whole), ==, ASTRO_HEAP_ALIEN);
  packet = part_of(3, 1, 1);
  packet.heap_bytes = 0;
  g_assert_cmpint(take(heaps, 1, &packet, &whole), ==, ASTRO_HEAP_ALIEN);
  for (guint i = 0; i < PARTS; i++) {
    packet = part_of(3, 9, i);
    g_assert_cmpint(take(heaps, 2, &packet, &whole), ==,
                    i + 1 == PARTS ? ASTRO_HEAP_WHOLE : ASTRO_HEAP_PART);
  }
  astro_heaps_reset(heaps);
  g_assert_cmpuint(astro_heaps_incomplete(heaps), ==, 1);
  for (guint i = 0; i < ASTRO_HEAPS_MOST + 10; i++)
    take_part(heaps, 100 + i, i, 0);
  g_assert_cmpuint(astro_heaps_incomplete(heaps), ==, 1 + 10);
}

/* Descriptors beside samples, and heaps of descriptors alone. */
static void test_beside_samples(void)
{
  g_autoptr(AstroHeaps) heaps = astro_heaps_new();
  const guint8 *whole;
  for (guint i = PARTS; i-- > 0;) {
    AstroPacket packet = part_of(4, 1, i);
    if (i == 0) {
      packet.samples_offset = 130;
      packet.samples_bytes = 300;
    }
    g_assert_cmpint(take(heaps, 1, &packet, &whole), ==,
                    i == 0 ? ASTRO_HEAP_WHOLE : ASTRO_HEAP_PART);
    g_assert_true(i > 0 || packet.payload_bytes == 300);
  }
  for (guint i = 0; i < PARTS; i++) {
    AstroPacket packet = part_of(5, 1, i);
    packet.kind = i == 0 ? ASTRO_PACKET_ASIDE : ASTRO_PACKET_DATA;
    g_assert_cmpint(take(heaps, 1, &packet, &whole), ==,
                    i + 1 == PARTS ? ASTRO_HEAP_ASIDE : ASTRO_HEAP_PART);
  }
  for (guint i = 0; i < PARTS; i++) { /* behind the heap's end */
    AstroPacket packet = part_of(6, 1, i);
    packet.samples_offset = 450;
    packet.samples_bytes = 51;
    g_assert_cmpint(take(heaps, 1, &packet, &whole), ==,
                    i + 1 == PARTS ? ASTRO_HEAP_ALIEN : ASTRO_HEAP_PART);
  }
}

static void test_identities(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroIdentities) all = astro_identities_new("stations", "0-2, 7,Ef,0x20", 1, &error);
  guint index = 9;
  g_assert_no_error(error);
  g_assert_cmpuint(astro_identities_n(all), ==, 6);
  g_assert_true(astro_identities_find(all, 2, &index) && index == 2);
  g_assert_true(astro_identities_find(all, 'E' << 8 | 'f', &index) && index == 4);
  g_assert_false(astro_identities_find(all, 3, &index));
  g_assert_cmpuint(astro_identities_at(all, 5), ==, 32);
  static const char *const bad[] = { "1,1", "0-2,1", "x", "3-1", "", ",", "0-100000", "Efg", "-1" };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) cause = NULL;
    g_autoptr(AstroIdentities) none = astro_identities_new("stations", bad[i], 1, &cause);
    g_assert_cmpint(none == NULL, ==, *bad[i] != '\0');
    g_assert_true(!none || !cause);
  }
  g_autoptr(AstroIdentities) first = astro_identities_new("stations", NULL, 1, NULL);
  g_assert_true(astro_identities_find(first, 77, &index) && index == 0);
  g_assert_false(astro_identities_find(first, 78, &index));
  g_autoptr(AstroIdentities) two = astro_identities_new("threads", NULL, 2, NULL);
  g_assert_true(astro_identities_find(two, 1, &index) && index == 1);
  g_assert_false(astro_identities_find(two, 2, &index));
}

static void test_rates(void)
{
  static const struct {
    const char *text;
    gint n, d; /* 0: refused */
  } rates[] = { { "1000000", 1000000, 1 },
                { "390625/2", 390625, 2 },
                { "195312.5", 390625, 2 },
                { "", 0, 1 },
                { "1e6", 1000000, 1 },
                { "1.28e8", 128000000, 1 },
                { "1.5e0", 3, 2 },
                { "1e10", 0, 0 },
                { "e6", 0, 0 },
                { "1e", 0, 0 },
                { "1e-3", 0, 0 },
                { "0e6", 0, 0 },
                { "1e99", 0, 0 },
                { "0", 0, 0 },
                { "1/0", 0, 0 },
                { "-5", 0, 0 },
                { "4294967296", 0, 0 },
                { "0.000000001", 1, 1000000000 },
                { "2/4", 1, 2 },
                { "1.", 0, 0 } };
  for (guint i = 0; i < G_N_ELEMENTS(rates); i++) {
    gint n, d;
    const gboolean is_read = astro_packet_rate_parse(rates[i].text, &n, &d, NULL);
    g_assert_cmpint(is_read, ==, rates[i].d != 0);
    g_assert_true(!is_read || (n == rates[i].n && d == rates[i].d));
  }
}

static void test_times(void)
{
  static const struct {
    const char *text;
    gint64 ns; /* -1: refused */
  } times[] = { { "1970-01-01T00:00:01.5", 1500000000 },
                { "1.5", 1500000000 },
                { "1795176000.000000001", 1795176000000000001 },
                { "2026-11-20T12:00:00Z", 1795176000000000000 },
                { "0", 0 },
                { "now", -1 },
                { "-1", -1 },
                { "99999999999999", -1 },
                { "1.0000000001", -1 } };
  for (guint i = 0; i < G_N_ELEMENTS(times); i++) {
    gint64 ns = -1;
    const gboolean is_read = astro_packet_time_parse("sync-epoch", times[i].text, &ns, NULL);
    g_assert_cmpint(is_read, ==, times[i].ns >= 0);
    g_assert_cmpint(ns, ==, times[i].ns);
  }
}

static void test_ports(void)
{
  g_autoptr(GArray) ports = astro_ports_parse("7148,7150-7152", NULL);
  g_autoptr(GPtrArray) addresses = astro_addresses_parse("10.0.0.1,239.1.0.0-3,::1", NULL);
  g_assert_cmpuint(ports->len, ==, 4);
  g_assert_cmpuint(g_array_index(ports, guint, 3), ==, 7152);
  g_assert_cmpuint(addresses->len, ==, 6);
  g_autofree char *last = g_inet_address_to_string(addresses->pdata[4]);
  g_assert_cmpstr(last, ==, "239.1.0.3");
  static const char *const bad[] = { "", "0", "65536", "5-4", "1-300", "x", "7148," };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++)
    g_assert_null(astro_ports_parse(bad[i], NULL));
  static const char *const nowhere[] = { "host", "1.2.3.4-256", "1.2.3.9-4", "1.2.3.4,," };
  for (guint i = 0; i < G_N_ELEMENTS(nowhere); i++)
    g_assert_null(astro_addresses_parse(nowhere[i], NULL));
}

static void add_tests(void)
{
  g_test_add_func("/heaps/orders", test_orders);
  g_test_add_func("/heaps/copies", test_copies);
  g_test_add_func("/heaps/contradictions", test_contradictions);
  g_test_add_func("/heaps/beside-samples", test_beside_samples);
  g_test_add_func("/settings/identities", test_identities);
  g_test_add_func("/settings/rates", test_rates);
  g_test_add_func("/settings/times", test_times);
  g_test_add_func("/settings/ports", test_ports);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
