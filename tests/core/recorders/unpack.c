/* Unpacking of recordings: the reference against the table of levels written out, and the fast
 * functions against the reference, from any component on. */
#include "core/recorders/recorders.h"
#include "core/recorders/turn.h"
#include "core/recorders/unpack.h"
#include "tests/tests.h"

/* ---- the tables ---- */

static void test_levels(void)
{
  static const struct {
    AstroRecorderCode code;
    guint bits;
    gint levels[16];
  } tables[] = {
    { ASTRO_RECORDER_LEVELS, 1, { -1, 1 } },
    { ASTRO_RECORDER_LEVELS, 2, { -10, -3, 3, 10 } },
    { ASTRO_RECORDER_MARK5B, 1, { 1, -1 } },
    { ASTRO_RECORDER_MARK5B, 2, { -10, 3, -3, 10 } },
    { ASTRO_RECORDER_FALLING, 2, { 10, 3, -3, -10 } },
    { ASTRO_RECORDER_SIGNS, 1, { 1, -1 } },
    { ASTRO_RECORDER_SIGNS, 2, { 3, 10, -10, -3 } },
    { ASTRO_RECORDER_OFFSET, 4, { -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7 } },
    { ASTRO_RECORDER_SIGNED, 4, { 0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS(tables); i++)
    for (guint number = 0; number < 1u << tables[i].bits; number++)
      g_assert_cmpint(astro_recorder_level(tables[i].code, tables[i].bits, number), ==,
                      tables[i].levels[number]);
  g_assert_cmpint(astro_recorder_level(ASTRO_RECORDER_OFFSET, 8, 0), ==, -128);
  g_assert_cmpint(astro_recorder_level(ASTRO_RECORDER_OFFSET, 16, 0xffff), ==, 32767);
  g_assert_cmpint(astro_recorder_level(ASTRO_RECORDER_SIGNED, 16, 0x8000), ==, -32768);
}

/* Bytes whose components are known. */
static void test_reference(void)
{
  static const struct {
    AstroRecorderPacking packing;
    guint8 bytes[4];
    gint8 values[8];
    guint n;
  } cases[] = {
    { { 1, FALSE, ASTRO_RECORDER_LEVELS, FALSE, 0 },
      { 0x05 },
      { 1, -1, 1, -1, -1, -1, -1, -1 },
      8 },
    { { 2, FALSE, ASTRO_RECORDER_LEVELS, FALSE, 0 }, { 0xe4 }, { -10, -3, 3, 10 }, 4 },
    { { 4, TRUE, ASTRO_RECORDER_OFFSET, FALSE, 0 }, { 0xf0, 0x9a }, { -8, 7, 2, 1 }, 4 },
    { { 4, TRUE, ASTRO_RECORDER_SIGNED, TRUE, 0 }, { 0xf0, 0x9a }, { -1, 0, -7, -6 }, 4 },
    { { 8, TRUE, ASTRO_RECORDER_OFFSET, FALSE, 0 }, { 0, 127, 128, 255 }, { -128, -1, 0, 127 }, 4 },
    /* Two components of five bits in a word of which the rest is unused. */
    { { 5, FALSE, ASTRO_RECORDER_OFFSET, FALSE, 6 }, { 0x41, 0x0c, 0, 0 }, { -15, -14, -13 }, 3 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    gint8 out[8];
    astro_recorder_unpack_reference(&cases[i].packing, cases[i].bytes, 0, cases[i].n, out);
    for (guint k = 0; k < cases[i].n; k++)
      g_assert_cmpint(out[k], ==, cases[i].values[k]);
  }
}

/* ---- the fast functions ---- */

static const AstroRecorderPacking packings[] = {
  { 1, FALSE, ASTRO_RECORDER_LEVELS, FALSE, 32 },
  { 1, TRUE, ASTRO_RECORDER_MARK5B, FALSE, 0 },
  { 2, FALSE, ASTRO_RECORDER_LEVELS, FALSE, 16 },
  { 2, FALSE, ASTRO_RECORDER_MARK5B, FALSE, 0 },
  { 1, TRUE, ASTRO_RECORDER_SIGNS, TRUE, 0 },
  { 2, TRUE, ASTRO_RECORDER_FALLING, TRUE, 0 },
  { 2, TRUE, ASTRO_RECORDER_SIGNS, FALSE, 0 },
  { 4, TRUE, ASTRO_RECORDER_OFFSET, TRUE, 0 },
  { 3, FALSE, ASTRO_RECORDER_OFFSET, FALSE, 10 },
  { 4, TRUE, ASTRO_RECORDER_OFFSET, FALSE, 8 },
  { 4, TRUE, ASTRO_RECORDER_SIGNED, TRUE, 0 },
  { 5, TRUE, ASTRO_RECORDER_OFFSET, FALSE, 6 },
  { 8, FALSE, ASTRO_RECORDER_SIGNED, TRUE, 0 },
  { 8, TRUE, ASTRO_RECORDER_OFFSET, FALSE, 4 },
  { 10, FALSE, ASTRO_RECORDER_OFFSET, FALSE, 3 },
  { 16, TRUE, ASTRO_RECORDER_SIGNED, FALSE, 0 },
  { 1, FALSE, ASTRO_RECORDER_UNSIGNED, FALSE, 0, TRUE },
  { 4, FALSE, ASTRO_RECORDER_UNSIGNED, FALSE, 0, TRUE },
  { 8, FALSE, ASTRO_RECORDER_SIGNED, FALSE, 0, TRUE },
  { 8, FALSE, ASTRO_RECORDER_UNSIGNED, FALSE, 0, TRUE },
  { 16, FALSE, ASTRO_RECORDER_UNSIGNED, FALSE, 0, TRUE },
  { 16, FALSE, ASTRO_RECORDER_SIGNED, FALSE, 0, TRUE },
  { 16, FALSE, ASTRO_RECORDER_OFFSET, FALSE, 2 },
  { 32, TRUE, ASTRO_RECORDER_FLOAT, FALSE, 0 },
};

static void test_fast(void)
{
  guint8 in[2048];
  test_fill(in, sizeof in, 1);
  for (guint i = 0; i < G_N_ELEMENTS(packings); i++) {
    const AstroRecorderPacking *packing = &packings[i];
    const gsize bytes = astro_recorder_component_bytes(packing);
    for (guint first = 0; first < 40; first++)
      for (guint n = 0; n < 130; n += 1 + n % 7) {
        g_autofree guint8 *expected = g_malloc(n * bytes + 1);
        guint8 *found = test_alloc(n * bytes);
        astro_recorder_unpack_reference(packing, in, first, n, expected);
        astro_recorder_unpack(packing, in, first, n, found);
        g_assert_cmpmem(found, n * bytes, expected, n * bytes);
        test_check_guard(found, n * bytes);
        test_free(found);
      }
  }
}

/* A part of a row may begin at any component: it is read from the byte that holds it on. */
static void test_parts(void)
{
  guint8 all[512];
  test_fill(all, sizeof all, 3);
  for (guint i = 0; i < G_N_ELEMENTS(packings); i++) {
    const AstroRecorderPacking *packing = &packings[i];
    const gsize bytes = astro_recorder_component_bytes(packing);
    guint8 expected[100 * 4], found[100 * 4];
    astro_recorder_unpack_reference(packing, all, 0, 100, expected);
    for (guint64 first = 0; first < 100; first++)
      for (guint64 n = 1; n <= 100 - first; n += 13) {
        const guint64 before = astro_recorder_before(packing, first);
        const gsize needed = astro_recorder_bytes(packing, before + n);
        guint8 *in = g_memdup2(all + astro_recorder_byte_of(packing, first), needed);
        astro_recorder_unpack(packing, in, before, n, found);
        g_assert_cmpmem(found, n * bytes, expected + first * bytes, n * bytes);
        g_free(in); /* of this length, so that a sanitizer sees what lies beyond */
      }
  }
}

/* ---- turned bands ---- */

static void test_turn(void)
{
  const AstroRecorderPacking whole = { 8, TRUE, ASTRO_RECORDER_SIGNED, FALSE, 0 };
  const AstroLayout channels = { 2, { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_POL }, { 3, 1 } };
  gint8 complex[] = { 1, 2, 3, -128, 5, 6, 7, 8, 9, 10, 11, 12 };
  const gint8 turned[] = { 5, -6, 3, 127, 1, -2, 11, -12, 9, -10, 7, -8 };
  astro_recorder_turn(&whole, &channels, 0, 2, (guint8 *)complex);
  g_assert_cmpmem(complex, sizeof complex, turned, sizeof turned);

  const AstroRecorderPacking real = { 8, FALSE, ASTRO_RECORDER_SIGNED, FALSE, 0 };
  const AstroLayout pols = { 1, { ASTRO_AXIS_POL }, { 2 } };
  gint8 voltages[] = { 1, 2, -128, 4, 5, 6 };
  const gint8 odd[] = { 1, 2, 127, -4, 5, 6 };
  astro_recorder_turn(&real, &pols, 10, 3, (guint8 *)voltages);
  g_assert_cmpmem(voltages, sizeof voltages, odd, sizeof odd);
  astro_recorder_turn(&real, &pols, 11, 3, (guint8 *)voltages);
  const gint8 back[] = { -1, -2, 127, -4, -5, -6 };
  g_assert_cmpmem(voltages, sizeof voltages, back, sizeof back);
}

/* ---- recognition ---- */

static void test_probe(void)
{
  guint8 noise[4096];
  test_fill(noise, sizeof noise, 2);
  g_assert_null(astro_recorder_probe(noise, sizeof noise));
  g_assert_null(astro_recorder_probe(noise, 0));
  memset(noise, 0, sizeof noise);
  g_assert_null(astro_recorder_probe(noise, sizeof noise));
  const char *fits = "SIMPLE  =                    T";
  memset(noise, ' ', sizeof noise);
  memcpy(noise, fits, strlen(fits));
  g_assert_null(astro_recorder_probe(noise, sizeof noise));
}

static void add_tests(void)
{
  g_test_add_func("/recorders/levels", test_levels);
  g_test_add_func("/recorders/reference", test_reference);
  g_test_add_func("/recorders/fast", test_fast);
  g_test_add_func("/recorders/parts", test_parts);
  g_test_add_func("/recorders/turn", test_turn);
  g_test_add_func("/recorders/probe", test_probe);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
