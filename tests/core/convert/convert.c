/* The reference of conversion compared with cases worked out by hand, scales, and refusals. */
#include "tests/core/convert/convert.h"

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
  /* the scale in single precision: 0.1 becomes 0x3dcccccd; in double it stays 0.1 */
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
  { F(U64LE), F(I8), 1, "7f00000000000000 8000000000000000", "7f 7f", 1 },
  { F(I8), F(F32LE), 1, "01 80 7f", "0000803f 000000c3 0000fe42", 0 },
  { F(I8), F(I16LE), 256, "80 7f", "0080 007f", 0 },
  { F(I8), F(I8), -1, "80 7f 01", "7f 81 ff", 1 },
  { F(I8), F(U64LE), 1, "80 7f", "0000000000000000 7f00000000000000", 1 },
  { F(I16LE), F(I8), 1, "8000 7fff 0100", "7f 80 01", 2 },
  { F(I16LE), F(F64LE), 1, "0080", "000000000000e0c0", 0 },
  { F(F32LE), F(I8), 1, "0000ff42 cdccfe42 0000c07f", "7f 7f 00", 2 },
  /* the number below 32767.5, which would be a tie in single precision */
  { F(F64LE), F(I16LE), 1, "ffffffffdfffdf40", "ff7f", 0 },
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
        test_convert(&astro_convert_reference, NULL, 0, config, out, in, samples, cases[i].scale),
        ==, cases[i].clipped);
    g_assert_cmpmem(out, bytes, expected, bytes);
    test_free(out);
  }
}

/* The compiler's half precision compared with the reference's: all halves to singles, many singles
 * to halves. */
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
  test_convert(&astro_convert_reference, NULL, 0, up, doubles, halves, 32768, 1);
  for (guint i = 0; i < 65536; i++)
    g_assert_true(isnan((double)halves[i]) ? isnan(doubles[i]) : (double)halves[i] == doubles[i]);

  gpointer mixed = test_mixed_input(ASTRO_FORMAT_CF64LE, 32768, 9);
  memcpy(doubles, mixed, 65536 * sizeof *doubles);
  for (guint i = 0; i < 65536; i += 3)
    doubles[i] = ldexp(doubles[i] - doubles[i] == 0 ? frexp(doubles[i], &(int){ 0 }) : 1,
                       (gint)(i % 60) - 40);
  test_convert(&astro_convert_reference, NULL, 0, down, halves, doubles, 32768, 1);
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
  g_assert_cmpfloat(astro_convert_auto_scale(F(CI8), F(CI8), bytes, 0), ==, 0);
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
  g_assert_cmpfloat(astro_convert_auto_scale(F(CF32LE), F(CI8), floats, SAMPLES), ==, 0);
  floats[2 * SAMPLES - 1] = 4;
  assert_near(astro_convert_auto_scale(F(CF32LE), F(CI8), floats, SAMPLES), 8 * sqrt(2 * SAMPLES));
  floats[0] = NAN;
  floats[1] = -INFINITY;
  assert_near(astro_convert_auto_scale(F(CF32LE), F(CI8), floats, SAMPLES),
              8 * sqrt(2 * SAMPLES - 2));
  for (guint i = 0; i < 2 * SAMPLES; i++)
    floats[i] = i % 2 ? NAN : INFINITY;
  g_assert_cmpfloat(astro_convert_auto_scale(F(CF32LE), F(CI8), floats, SAMPLES), ==, 0);
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
  /* tasks whose values are far apart, down to denormals and zeros, and NaN */
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
  for (guint i = 0; i < SAMPLES / 2; i++)
    ((guint64 *)bytes)[i] = G_MAXUINT64;
  assert_near(astro_convert_auto_scale(F(U64LE), F(I8), bytes, SAMPLES / 2), 32 / 0x1p64);
  assert_near(astro_convert_auto_scale(F(I8), F(I16LE), bytes, SAMPLES), 2048);
  for (guint i = 0; i < SAMPLES; i++)
    doubles[i] = i % 2 ? 0x1p-900 : -0x1p-900;
  assert_near(astro_convert_auto_scale(F(F64LE), F(I16LE), doubles, SAMPLES), 0x1p911);
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
      AstroConvertArguments arguments = { 1, 4 };
      g_assert_false(backend->submit(instance, &bad[i].in, bad[i].n_in, &bad[i].out, bad[i].n_out,
                                     &arguments, NULL, &error));
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
      g_clear_error(&error);
    }
    backend->destroy(instance);
  }
  g_assert_true(astro_convert_backends[0]->config_bytes == sizeof config);
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/convert/possible", test_possible);
  g_test_add_func("/convert/blocks", test_blocks);
  g_test_add_func("/convert/cases", test_cases);
  g_test_add_func("/convert/half", test_half);
  g_test_add_func("/convert/auto-scale", test_auto_scale);
  return g_test_run();
}
