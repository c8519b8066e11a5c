/* Convert: the reference against cases worked out by hand, all variants against the reference. */
#include "core/backend/cpu.h"
#include "core/convert/convert.h"
#include "tests/half.h"
#include "tests/tests.h"

#include <float.h>
#include <math.h>

static const char *const variants[] = { "c", "avx2", "avx512" };
static const AstroCpuLevel levels[] = { ASTRO_CPU_C, ASTRO_CPU_AVX2, ASTRO_CPU_AVX512 };
static const double scales[] = { 1, 0.5, 3.7, 1e-3, 1e6, -1, -2.5, 0 };
static const guint64 lengths[] = { 0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 1000, 4097 };

static guint components(AstroFormat format)
{
  return astro_format_info(format)->is_complex ? 2 : 1;
}

static guint64 convert(const AstroBackend *backend, const char *variant, guint threads,
                       AstroConvertConfig config, gpointer out, gconstpointer in, guint64 samples,
                       double scale)
{
  AstroPlace place = { .threads = threads };
  AstroBlock from = { (gpointer)in, samples * astro_format_info(config.from)->bytes };
  AstroBlock to = { out, samples * astro_format_info(config.to)->bytes };
  guint64 clipped = 1000;
  AstroConvertArguments arguments = { scale, samples, &clipped };
  const char *name = NULL;
  GError *error = NULL;

  if (variant)
    g_setenv("ASTRO_CPU", variant, TRUE);
  gpointer instance = backend->create(&config, &place, &name, &error);
  g_assert_no_error(error);
  g_assert_nonnull(name);
  g_assert_true(backend->submit(instance, &from, 1, &to, 1, &arguments, &error));
  g_assert_no_error(error);
  backend->destroy(instance);
  g_unsetenv("ASTRO_CPU");
  return clipped - 1000;
}

/* Where things happen: range limits, ties, powers of two near which precision changes; and around.
 */
static GArray *interesting_values(void)
{
  static const double centres[] = { 0,           1,
                                    2.5,         7,
                                    8,           16,
                                    127,         128,
                                    255,         2047,
                                    2048,        2049,
                                    32767,       32768,
                                    65504,       65519,
                                    65520,       65536,
                                    0x1p31,      0x1p32,
                                    0x1p52,      0x1p53,
                                    0x1p63,      0x1p64,
                                    0x1p-14,     0x1p-15,
                                    0x1p-24,     0x3p-24,
                                    0x1p-25,     0x1p-126,
                                    0x1p-149,    0x1p-1022,
                                    0x1p-1074,   FLT_MAX,
                                    DBL_MAX,     1 + 0x1p-11,
                                    1 + 0x3p-11, 0x1p-15 + 0x1p-25 };
  GArray *values = g_array_new(FALSE, FALSE, sizeof(double));
  for (guint i = 0; i < G_N_ELEMENTS(centres); i++)
    for (gint sign = -1; sign <= 1; sign += 2)
      for (gint half = -3; half <= 3; half++) {
        double value = sign * centres[i] + half * 0.5;
        double around[] = { value, nextafter(value, -INFINITY), nextafter(value, INFINITY),
                            (double)nextafterf((float)value, INFINITY) };
        g_array_append_vals(values, around, G_N_ELEMENTS(around));
      }
  double rest[] = { INFINITY, -INFINITY, (double)NAN, -(double)NAN, -0.0 };
  g_array_append_vals(values, rest, G_N_ELEMENTS(rest));
  return values;
}

static gint64 held(double value, double low, double high)
{
  return (gint64)rint(isnan(value) ? low : CLAMP(value, low, high));
}

static void put_value(guint8 *block, AstroFormat format, guint64 i, double value)
{
  switch (format) {
  case ASTRO_FORMAT_CI4:
    block[i / 2] = (guint8)(i % 2 ? (block[i / 2] & 0xf0) | (held(value, -8, 7) & 15)
                                  : (block[i / 2] & 0x0f) | (held(value, -8, 7) & 15) << 4);
    break;
  case ASTRO_FORMAT_CI8:
    ((gint8 *)block)[i] = (gint8)held(value, G_MININT8, G_MAXINT8);
    break;
  case ASTRO_FORMAT_CI16LE:
    ((gint16 *)block)[i] = (gint16)held(value, G_MININT16, G_MAXINT16);
    break;
  case ASTRO_FORMAT_CI32LE:
    ((gint32 *)block)[i] = (gint32)held(value, G_MININT32, G_MAXINT32);
    break;
  case ASTRO_FORMAT_U64LE:
    ((guint64 *)block)[i] = (guint64)held(value, 0, 0x1p62);
    break;
  case ASTRO_FORMAT_CF16LE:
    ((guint16 *)block)[i] = test_half_bits(value);
    break;
  case ASTRO_FORMAT_CF32LE:
  case ASTRO_FORMAT_F32LE:
    ((float *)block)[i] = (float)value;
    break;
  default:
    ((double *)block)[i] = value;
  }
}

/* Any bits, values where things happen, and values of all small ranges, in turn. */
static gpointer mixed_input(AstroFormat format, guint64 samples, guint32 seed)
{
  g_autoptr(GArray) values = interesting_values();
  gsize bytes = samples * astro_format_info(format)->bytes;
  guint64 n = samples * components(format);
  guint8 *block = test_alloc(bytes);
  guint32 *random = g_new(guint32, n + 1);

  test_fill(block, bytes, seed);
  test_fill(random, n * sizeof *random, seed + 1);
  for (guint64 i = 0; i < n; i++) {
    if (i % 3 == 1)
      put_value(block, format, i, g_array_index(values, double, random[i] % values->len));
    else if (i % 3 == 2)
      put_value(block, format, i,
                (gint32)(random[i] >> 8 << 8) / (double)(0x1p10 * (1 << random[i] % 18)));
  }
  g_free(random);
  return block;
}

/* in and out begin so many bytes behind an aligned address. */
static void check_variant(guint v, AstroConvertConfig config, gconstpointer in, guint64 samples,
                          double scale, gconstpointer expected, guint64 clipped, gsize offset)
{
  gsize in_bytes = samples * astro_format_info(config.from)->bytes;
  gsize bytes = samples * astro_format_info(config.to)->bytes;
  guint8 *moved = test_alloc(in_bytes + offset), *out = test_alloc(bytes + offset);

  if (in_bytes > 0)
    memcpy(moved + offset, in, in_bytes);
  g_assert_cmpuint(convert(&astro_convert_cpu, variants[v], 0, config, out + offset, moved + offset,
                           samples, scale),
                   ==, clipped);
  g_assert_cmpmem(out + offset, bytes, expected, bytes);
  test_check_guard(out, bytes + offset);
  for (gsize i = 0; i < offset; i++)
    g_assert_cmphex(out[i], ==, 0xa5);
  test_free(moved);
  test_free(out);
}

static void check_variants(AstroConvertConfig config, gconstpointer in, guint64 samples,
                           double scale)
{
  gsize bytes = samples * astro_format_info(config.to)->bytes;
  gpointer expected = test_alloc(bytes);
  guint64 clipped =
      convert(&astro_convert_reference, NULL, 0, config, expected, in, samples, scale);

  test_check_guard(expected, bytes);
  for (guint v = 0; v < G_N_ELEMENTS(variants); v++) {
    check_variant(v, config, in, samples, scale, expected, clipped, 0);
    check_variant(v, config, in, samples, scale, expected, clipped, samples % 7 + 1);
  }
  test_free(expected);
}

static void test_pair(gconstpointer data)
{
  const AstroConvertConfig *config = data;
  guint number = 0;
  for (guint s = 0; s < G_N_ELEMENTS(scales); s++) {
    for (guint l = 0; l < G_N_ELEMENTS(lengths); l++) {
      if (test_passes_over(number++))
        continue;
      gpointer in = mixed_input(config->from, lengths[l], s * 100 + l);
      check_variants(*config, in, lengths[l], scales[s]);
      test_free(in);
    }
  }
  gpointer in = mixed_input(config->from, 1000, 5);
  check_variants(*config, in, 1000, (double)INFINITY);
  check_variants(*config, in, 1000, (double)NAN);
  test_free(in);
}

/* Every value that a component of 4, 8 and 16 bits can have, in every combination for 4 and 8 bits.
 */
static void test_exhaustive(void)
{
  static const AstroFormat formats[] = { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF16LE,
                                         ASTRO_FORMAT_CI16LE };
  for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
    gsize bytes = f == 0 ? 256 : 65536 * 2;
    guint8 *in = test_alloc(bytes);
    for (gsize i = 0; i < bytes; i++)
      in[i] = (guint8)(f == 0 || i % 2 == 0 ? i >> (f != 0) : i >> 9);
    for (AstroFormat to = ASTRO_FORMAT_UNKNOWN + 1; to < ASTRO_N_FORMATS; to++)
      if (astro_convert_possible(formats[f], to)) {
        AstroConvertConfig config = { formats[f], to };
        check_variants(config, in, bytes / astro_format_info(formats[f])->bytes, 1);
        check_variants(config, in, bytes / astro_format_info(formats[f])->bytes, 0.37);
      }
    test_free(in);
  }
}

static gsize from_hex(guint8 *bytes, const char *hex)
{
  gsize n = 0;
  for (; *hex; hex++)
    if (*hex != ' ') {
      bytes[n++] = (guint8)(g_ascii_xdigit_value(hex[0]) << 4 | g_ascii_xdigit_value(hex[1]));
      hex++;
    }
  return n;
}

#define F(name) ASTRO_FORMAT_##name

/* Bytes as they lie in memory, worked out by hand. */
static const struct {
  AstroFormat from, to;
  double scale;
  const char *in, *out;
  guint64 clipped;
} cases[] = {
  /* the high nibble is real; -8 and 7 */
  { F(CI4), F(CI8), 1, "8f 70", "f8ff 0700", 0 },
  { F(CI4), F(CI8), 16, "8f 70", "80f0 7000", 0 },
  { F(CI4), F(CI8), 20, "87", "807f", 2 },
  { F(CI4), F(CI4), 1, "87 00", "87 00", 0 },
  { F(CI4), F(CI4), -1, "87", "79", 1 },
  /* -128 127, -8 8, 7 -9 */
  { F(CI8), F(CI4), 1, "807f f808 07f7", "87 87 78", 4 },
  /* halves of 1 3, 5 -1, -3 -5: ties to even */
  { F(CI8), F(CI8), 0.5, "0103 05ff fdfb", "0002 0200 fefe", 0 },
  { F(CI8), F(CI8), 1, "807f", "807f", 0 },
  { F(CI8), F(CI8), -1, "807f", "7f81", 1 },
  { F(CI8), F(CF32LE), 1, "0180", "0000803f 000000c3", 0 },
  { F(CI8), F(CF32LE), 0.5, "0180", "0000003f 000080c2", 0 },
  { F(CI8), F(CF16LE), 1, "01ff", "003c 00bc", 0 },
  { F(CI8), F(CI16LE), 256, "807f", "0080 007f", 0 },
  { F(CI16LE), F(CF16LE), 1, "ff7f 0080", "0078 00f8", 0 },
  { F(CI16LE), F(CF16LE), 2, "ff7f 0080", "007c 00fc", 2 },
  { F(CI16LE), F(CI8), 1, "8000 7fff", "7f80", 2 },
  /* 127.5 127.4, -128.5 -129, NaN Inf */
  { F(CF32LE), F(CI8), 1, "0000ff42 cdccfe42", "7f7f", 1 },
  { F(CF32LE), F(CI8), 1, "008000c3 000001c3", "8080", 1 },
  { F(CF32LE), F(CI8), 1, "0000c07f 0000807f", "007f", 2 },
  { F(CF32LE), F(CI8), 0, "0000c07f 000080ff", "0000", 2 },
  /* 7.5 -8.5 */
  { F(CF32LE), F(CI4), 1, "0000f040 000008c1", "78", 1 },
  /* 32767.5 -32768.5 */
  { F(CF32LE), F(CI16LE), 1, "00ffff46 800000c7", "ff7f 0080", 1 },
  /* 65519.996 65520; Inf -NaN; 2^-25, a tie to zero, and the number above */
  { F(CF32LE), F(CF16LE), 1, "ffef7f47 00f07f47", "ff7b 007c", 1 },
  { F(CF32LE), F(CF16LE), 1, "0000807f 010080ff", "007c 007e", 0 },
  { F(CF32LE), F(CF16LE), 1, "00000033 01000033", "0000 0100", 0 },
  { F(CF32LE), F(CF16LE), 1, "00000080 000000b3", "0080 0080", 0 },
  { F(CF16LE), F(CF32LE), 1, "0100 ff83", "00008033 00c07fb8", 0 },
  { F(CF16LE), F(CF32LE), 1, "007c 01fe", "0000807f 0000c07f", 0 },
  { F(CF16LE), F(CF16LE), 2, "ff7b 00fc", "007c 00fc", 1 },
  { F(CF16LE), F(CF16LE), 1, "ff7d 01fc", "ff7d 01fc", 0 },
  { F(CF16LE), F(CI8), 1, "0058 00d8", "7f80", 1 },
  /* 1 + 2^-11 is a tie; with 2^-50 more it is not, nor may single precision in between make it one
   */
  { F(CF64LE), F(CF16LE), 1, "000000000002f03f 040000000002f03f", "003c 013c", 0 },
  { F(CF64LE), F(CF32LE), 1, "000000000000f07e 000000000000f0bf", "0000807f 000080bf", 0 },
  /* 2147483647.5 -2147483648.5 */
  { F(CF64LE), F(CI32LE), 1, "0000e0ffffffdf41 000010000000e0c1", "ffffff7f 00000080", 1 },
  { F(CI32LE), F(CI32LE), 2, "00000040 ffffffbf", "ffffff7f 00000080", 2 },
  { F(CI32LE), F(CI32LE), 1, "ffffff7f 00000080", "ffffff7f 00000080", 0 },
  { F(CI32LE), F(CF32LE), 1, "ffffff7f 00000080", "0000004f 000000cf", 0 },
  { F(CI32LE), F(CF64LE), 1, "ffffff7f 00000080", "0000c0ffffffdf41 000000000000e0c1", 0 },
  { F(CI32LE), F(CF16LE), 1, "efff0000 f0ff0000", "ff7b 007c", 1 },
  { F(CI32LE), F(CI4), 0.5, "0f000000 efffffff", "78", 1 },
  /* the scale in single precision: 0.1 becomes 0x3dcccccd; in double it stays what it is */
  { F(F32LE), F(F32LE), 0.1, "0000803f", "cdcccc3d", 0 },
  { F(F32LE), F(F64LE), 0.1, "0000803f", "9a9999999999b93f", 0 },
  /* -NaN with a payload, the smallest denormal, -0 */
  { F(F32LE), F(F32LE), 2, "452ac1ff 01000000 00000080", "0000c07f 02000000 00000080", 0 },
  { F(F32LE), F(F32LE), 1, "452ac1ff", "452ac1ff", 0 },
  { F(F32LE), F(F64LE), 1, "010080ff", "000000000000f87f", 0 },
  { F(F64LE), F(F64LE), -1, "0100000000000000 000000000000f07f",
    "0100000000000080 000000000000f0ff", 0 },
  { F(F64LE), F(F64LE), 2, "010000000000f0ff", "000000000000f87f", 0 },
  { F(F64LE), F(F32LE), 1, "9a9999999999b93f", "cdcccc3d", 0 },
  /* 1.5, -0.5, -0.51, 2^64, the number below it, NaN */
  { F(F64LE), F(U64LE), 1, "000000000000f83f 000000000000e0bf 52b81e85eb51e0bf",
    "0200000000000000 0000000000000000 0000000000000000", 1 },
  { F(F64LE), F(U64LE), 1, "000000000000f043 ffffffffffffef43 000000000000f87f",
    "ffffffffffffffff 00f8ffffffffffff 0000000000000000", 2 },
  { F(F32LE), F(U64LE), 1, "0000805f 00002040", "ffffffffffffffff 0200000000000000", 1 },
  { F(U64LE), F(U64LE), 1, "ffffffffffffffff", "ffffffffffffffff", 0 },
  { F(U64LE), F(U64LE), 0.5, "ffffffffffffffff", "0000000000000080", 0 },
  { F(U64LE), F(U64LE), 2, "0000000000000080 0300000000000000", "ffffffffffffffff 0600000000000000",
    1 },
  { F(U64LE), F(F32LE), 1, "ffffffffffffffff 0300000000000000", "0000805f 00004040", 0 },
  { F(U64LE), F(F64LE), 0.5, "0300000000000000", "000000000000f83f", 0 },
};

static void test_cases(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    guint8 in[64], expected[64], *out = test_alloc(64);
    AstroConvertConfig config = { cases[i].from, cases[i].to };
    gsize bytes = from_hex(expected, cases[i].out);
    guint64 samples = bytes / astro_format_info(config.to)->bytes;

    g_test_message("%s to %s, scale %g: %s", astro_format_info(config.from)->name,
                   astro_format_info(config.to)->name, cases[i].scale, cases[i].in);
    g_assert_cmpuint(from_hex(in, cases[i].in), ==,
                     samples * astro_format_info(config.from)->bytes);
    g_assert_cmpuint(
        convert(&astro_convert_reference, NULL, 0, config, out, in, samples, cases[i].scale), ==,
        cases[i].clipped);
    g_assert_cmpmem(out, bytes, expected, bytes);
    test_free(out);
  }
}

/* The compiler's own half precision against the reference's: all halves up, many singles down. */
static void test_half(void)
{
#ifdef __FLT16_MANT_DIG__
  AstroConvertConfig up = { ASTRO_FORMAT_CF16LE, ASTRO_FORMAT_CF64LE };
  AstroConvertConfig down = { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_CF16LE };
  _Float16 *halves = test_alloc(65536 * sizeof *halves);
  double *doubles = test_alloc(65536 * sizeof *doubles);
  for (guint i = 0; i < 65536; i++) {
    guint16 bits = (guint16)i;
    memcpy(&halves[i], &bits, sizeof bits);
  }
  convert(&astro_convert_reference, NULL, 0, up, doubles, halves, 32768, 1);
  for (guint i = 0; i < 65536; i++)
    g_assert_true(isnan((double)halves[i]) ? isnan(doubles[i]) : (double)halves[i] == doubles[i]);

  gpointer mixed = mixed_input(ASTRO_FORMAT_CF64LE, 32768, 9);
  memcpy(doubles, mixed, 65536 * sizeof *doubles);
  for (guint i = 0; i < 65536; i += 3)
    doubles[i] = ldexp(doubles[i] - doubles[i] == 0 ? frexp(doubles[i], &(int){ 0 }) : 1,
                       (gint)(i % 60) - 40);
  convert(&astro_convert_reference, NULL, 0, down, halves, doubles, 32768, 1);
  for (guint i = 0; i < 65536; i++) {
    _Float16 half = (_Float16)doubles[i];
    guint16 bits = test_half_bits(doubles[i]);
    if (isnan(doubles[i])) {
      g_assert_true(isnan((double)halves[i]));
    } else {
      g_assert_cmpmem(&halves[i], 2, &half, 2);
      g_assert_cmpmem(&bits, 2, &half, 2);
    }
  }
  test_free(mixed);
  test_free(halves);
  test_free(doubles);
#else
  g_test_skip("this compiler has no half precision");
#endif
}

static void round_trip(AstroFormat from, AstroFormat over, double scale)
{
  gsize bytes = from == ASTRO_FORMAT_CI4 ? 256 : 131072;
  guint64 samples = bytes / astro_format_info(from)->bytes;
  guint8 *in = test_alloc(bytes), *back = test_alloc(bytes);
  gpointer there = test_alloc(samples * astro_format_info(over)->bytes);
  for (gsize i = 0; i < bytes; i++)
    in[i] = (guint8)(from == ASTRO_FORMAT_CI4 || i % 2 == 0 ? i >> (bytes > 256) : i >> 9);
  for (guint v = 0; v < G_N_ELEMENTS(variants); v++) {
    memset(back, 0xa5, bytes);
    g_assert_cmpuint(convert(&astro_convert_cpu, variants[v], 0, (AstroConvertConfig){ from, over },
                             there, in, samples, scale),
                     ==, 0);
    g_assert_cmpuint(convert(&astro_convert_cpu, variants[v], 0, (AstroConvertConfig){ over, from },
                             back, there, samples, 1 / scale),
                     ==, 0);
    g_assert_cmpmem(back, bytes, in, bytes);
  }
  test_free(in);
  test_free(back);
  test_free(there);
}

static void test_round_trips(void)
{
  for (AstroFormat over = ASTRO_FORMAT_CI4; over <= ASTRO_FORMAT_CI32LE; over++) {
    round_trip(ASTRO_FORMAT_CI4, over, 1);
    if (over != ASTRO_FORMAT_CI4)
      round_trip(ASTRO_FORMAT_CI8, over, 1);
  }
  round_trip(ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8, 16);
  round_trip(ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI16LE, 256);
  round_trip(ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI32LE, 0x1p24);
}

/* Blocks of many tasks, at addresses where samples do and do not meet cache lines. */
static void test_large(void)
{
  static const struct {
    AstroConvertConfig config;
    guint64 samples;
    gsize offset;
    double scale;
  } large[] = {
    { { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE }, 700001, 8, 0.37 },
    { { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE }, 600001, 3, 0.37 },
    { { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CI16LE }, 1100003, 60, 1 },
    { { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8 }, 2200003, 2, 20 },
    { { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_U64LE }, 600001, 40, 3 },
    { { ASTRO_FORMAT_CI16LE, ASTRO_FORMAT_CI16LE }, 1100003, 1, 1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(large); i++) {
    AstroConvertConfig config = large[i].config;
    gsize bytes = large[i].samples * astro_format_info(config.to)->bytes;
    gpointer in = mixed_input(config.from, large[i].samples, i), expected = test_alloc(bytes);
    guint64 clipped = convert(&astro_convert_reference, NULL, 0, config, expected, in,
                              large[i].samples, large[i].scale);
    for (guint v = 0; v < G_N_ELEMENTS(variants); v++)
      for (guint threads = 0; threads < 2; threads++) {
        guint8 *out = test_alloc(bytes + large[i].offset);
        g_assert_cmpuint(convert(&astro_convert_cpu, variants[v], threads, config,
                                 out + large[i].offset, in, large[i].samples, large[i].scale),
                         ==, clipped);
        /* not g_assert_cmpmem, which would print it */
        g_assert_true(memcmp(out + large[i].offset, expected, bytes) == 0);
        test_check_guard(out, bytes + large[i].offset);
        test_free(out);
      }
    test_free(in);
    test_free(expected);
  }
}

static void assert_near(double a, double b)
{
  g_assert_cmpfloat_with_epsilon(a / b, 1, 1e-12);
}

static void test_auto_scale(void)
{
  enum { SAMPLES = 300007 };
  double *doubles = g_new(double, 2 * SAMPLES);
  float *floats = g_new(float, 2 * SAMPLES);
  guint8 *bytes = g_new(guint8, 4 * SAMPLES);

  for (guint i = 0; i < 2 * SAMPLES; i++)
    bytes[i] = i % 3 ? 16 : (guint8)-16;
  assert_near(astro_convert_auto_scale(F(CI8), F(CI8), bytes, SAMPLES), 2);
  assert_near(astro_convert_auto_scale(F(CI8), F(CI4), bytes, SAMPLES), 2.95 / 16);
  assert_near(astro_convert_auto_scale(F(CI8), F(CI16LE), bytes, SAMPLES), 128);
  assert_near(astro_convert_auto_scale(F(CI8), F(CI32LE), bytes, SAMPLES), 0x1p23);
  g_assert_cmpfloat(astro_convert_auto_scale(F(CI8), F(CF32LE), bytes, SAMPLES), ==, 1);
  g_assert_cmpfloat(astro_convert_auto_scale(F(U64LE), F(U64LE), doubles, SAMPLES), ==, 1);
  g_assert_cmpfloat(astro_convert_auto_scale(F(CI8), F(CI8), bytes, 0), ==, 1);
  memset(bytes, 0x88, 4 * SAMPLES);
  assert_near(astro_convert_auto_scale(F(CI4), F(CI8), bytes, SAMPLES), 4);
  memset(bytes, 0x80, 4 * SAMPLES);
  assert_near(astro_convert_auto_scale(F(CI8), F(CI8), bytes, SAMPLES), 0.25);
  for (guint i = 0; i < 2 * SAMPLES; i++)
    ((gint16 *)bytes)[i] = G_MININT16;
  assert_near(astro_convert_auto_scale(F(CI16LE), F(CI16LE), bytes, SAMPLES), 1. / 16);
  for (guint i = 0; i < 2 * SAMPLES; i++)
    ((guint16 *)bytes)[i] = i % 5 ? 0xc000 : 0x7c00; /* -2, infinity */
  assert_near(astro_convert_auto_scale(F(CF16LE), F(CI8), bytes, SAMPLES), 16);

  /* one component that is not zero, the last: the rms is 1 / sqrt(2 SAMPLES) of it */
  memset(floats, 0, 2 * SAMPLES * sizeof *floats);
  g_assert_cmpfloat(astro_convert_auto_scale(F(CF32LE), F(CI8), floats, SAMPLES), ==, 1);
  floats[2 * SAMPLES - 1] = 4;
  assert_near(astro_convert_auto_scale(F(CF32LE), F(CI8), floats, SAMPLES), 8 * sqrt(2 * SAMPLES));
  floats[0] = NAN;
  floats[1] = -INFINITY;
  assert_near(astro_convert_auto_scale(F(CF32LE), F(CI8), floats, SAMPLES),
              8 * sqrt(2 * SAMPLES - 2));
  for (guint i = 0; i < 2 * SAMPLES; i++)
    floats[i] = i % 2 ? NAN : INFINITY;
  g_assert_cmpfloat(astro_convert_auto_scale(F(CF32LE), F(CI8), floats, SAMPLES), ==, 1);
  for (guint i = 0; i < 2 * SAMPLES; i++)
    floats[i] = 0x1p-149f;
  g_assert_cmpfloat(astro_convert_auto_scale(F(CF32LE), F(CI8), floats, SAMPLES), ==,
                    (double)FLT_MAX);

  double squares = 0;
  test_fill(bytes, 4 * SAMPLES, 3);
  for (guint i = 0; i < 2 * SAMPLES; i++) {
    doubles[i] = ldexp(((gint16 *)bytes)[i], 600);
    squares += (double)((gint16 *)bytes)[i] * ((gint16 *)bytes)[i];
  }
  double rms = ldexp(sqrt(squares / (2 * SAMPLES)), 600);
  assert_near(astro_convert_auto_scale(F(CF64LE), F(CI16LE), doubles, SAMPLES), 2048 / rms);
  /* tasks whose values lie far apart, down to denormals and zeros, and values that are none */
  for (guint i = 0; i < 2 * SAMPLES; i++)
    doubles[i] = i >= SAMPLES ? 0x1p700 : i % 3 ? -0x1p-1074 : 0;
  doubles[7] = -INFINITY;
  doubles[2 * SAMPLES - 5] = NAN;
  assert_near(astro_convert_auto_scale(F(CF64LE), F(CI8), doubles, SAMPLES),
              ldexp(32 * sqrt(2), -700));
  for (guint i = 0; i < 2 * SAMPLES; i++)
    doubles[i] = 0x1p-1012;
  assert_near(astro_convert_auto_scale(F(CF64LE), F(CI8), doubles, SAMPLES), 0x1p1017);
  for (guint i = 0; i < 2 * SAMPLES; i++)
    doubles[i] = 0x1p-1040;
  g_assert_cmpfloat(astro_convert_auto_scale(F(CF64LE), F(CI8), doubles, SAMPLES), ==, DBL_MAX);
  for (guint i = 0; i < 2 * SAMPLES; i++)
    ((gint32 *)bytes)[i / 2] = G_MININT32;
  assert_near(astro_convert_auto_scale(F(CI32LE), F(CI4), bytes, SAMPLES / 2), 2.95 / 0x1p31);
  g_free(doubles);
  g_free(floats);
  g_free(bytes);
}

static void test_possible(void)
{
  for (AstroFormat from = ASTRO_FORMAT_UNKNOWN; from <= ASTRO_N_FORMATS; from++)
    for (AstroFormat to = ASTRO_FORMAT_UNKNOWN; to <= ASTRO_N_FORMATS; to++) {
      gboolean known = from > ASTRO_FORMAT_UNKNOWN && from < ASTRO_N_FORMATS &&
                       to > ASTRO_FORMAT_UNKNOWN && to < ASTRO_N_FORMATS;
      gboolean expected = known && (from >= ASTRO_FORMAT_F32LE) == (to >= ASTRO_FORMAT_F32LE);
      g_assert_cmpint(astro_convert_possible(from, to), ==, expected);
      for (guint i = 0; astro_convert_backends[i]; i++) {
        AstroConvertConfig config = { from, to };
        GError *error = NULL;
        g_assert_cmpint(astro_convert_backends[i]->shape(&config, &error), ==, expected);
        g_assert_true(expected
                          ? !error
                          : g_error_matches(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE));
        g_clear_error(&error);
        if (expected)
          continue;
        const char *variant;
        g_assert_null(
            astro_convert_backends[i]->create(&config, &(AstroPlace){ 0 }, &variant, &error));
        g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
        g_clear_error(&error);
      }
    }
}

static void test_blocks(void)
{
  guint8 data[64] = { 0 };
  AstroConvertConfig config = { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE };
  const struct {
    AstroBlock in, out;
    guint n_in, n_out;
  } bad[] = {
    { { data, 7 }, { data + 16, 32 }, 1, 1 },
    { { data, 8 }, { data + 16, 31 }, 1, 1 },
    { { data, 8 }, { data + 16, 32 }, 0, 1 },
    { { data, 8 }, { data + 16, 32 }, 1, 2 },
  };
  for (guint b = 0; astro_convert_backends[b]; b++) {
    const AstroBackend *backend = astro_convert_backends[b];
    const char *variant;
    GError *error = NULL;
    gpointer instance = backend->create(&config, &(AstroPlace){ 0 }, &variant, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
      guint64 clipped = 0;
      AstroConvertArguments arguments = { 1, 4, &clipped };
      g_assert_false(backend->submit(instance, &bad[i].in, bad[i].n_in, &bad[i].out, bad[i].n_out,
                                     &arguments, &error));
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
      g_clear_error(&error);
    }
    backend->destroy(instance);
  }
  g_assert_true(astro_convert_backends[0]->config_bytes == sizeof config);
}

/* The cap takes effect, and pairs that an instruction set leaves out go to the next. */
static void test_variants(void)
{
  for (guint v = 0; v < G_N_ELEMENTS(variants); v++) {
    if (levels[v] > astro_cpu_level())
      continue;
    g_setenv("ASTRO_CPU", variants[v], TRUE);
    for (AstroFormat from = ASTRO_FORMAT_CI4; from < ASTRO_N_FORMATS; from++)
      for (AstroFormat to = ASTRO_FORMAT_CI4; to < ASTRO_N_FORMATS; to++) {
        if (!astro_convert_possible(from, to))
          continue;
        gboolean u64 = from == ASTRO_FORMAT_U64LE || to == ASTRO_FORMAT_U64LE;
        const char *variant = NULL;
        gpointer instance = astro_convert_cpu.create(&(AstroConvertConfig){ from, to },
                                                     &(AstroPlace){ 0 }, &variant, NULL);
        g_assert_cmpstr(variant, ==, u64 && levels[v] == ASTRO_CPU_AVX2 ? "c" : variants[v]);
        astro_convert_cpu.destroy(instance);
      }
    g_unsetenv("ASTRO_CPU");
  }
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/convert/possible", test_possible);
  g_test_add_func("/convert/blocks", test_blocks);
  g_test_add_func("/convert/variants", test_variants);
  g_test_add_func("/convert/cases", test_cases);
  g_test_add_func("/convert/half", test_half);
  g_test_add_func("/convert/exhaustive", test_exhaustive);
  g_test_add_func("/convert/round-trips", test_round_trips);
  g_test_add_func("/convert/large", test_large);
  g_test_add_func("/convert/auto-scale", test_auto_scale);
  for (AstroFormat from = ASTRO_FORMAT_CI4; from < ASTRO_N_FORMATS; from++)
    for (AstroFormat to = ASTRO_FORMAT_CI4; to < ASTRO_N_FORMATS; to++)
      if (astro_convert_possible(from, to)) {
        AstroConvertConfig *config = g_new(AstroConvertConfig, 1);
        *config = (AstroConvertConfig){ from, to };
        char *path = g_strdup_printf("/convert/pair/%s/%s", astro_format_info(from)->name,
                                     astro_format_info(to)->name);
        g_test_add_data_func_full(path, config, test_pair, g_free);
        g_free(path);
      }
  return g_test_run();
}
