/* All variants of conversion compared with the reference, and there and back. */
#include "core/backend/cpu.h"
#include "tests/core/convert/convert.h"
#include "tests/core/on-device.h"

static const char *const variants[] = { "c", "avx2", "avx512" };
static const AstroCpuLevel levels[] = { ASTRO_CPU_C, ASTRO_CPU_AVX2, ASTRO_CPU_AVX512 };
static const double scales[] = { 1, 0.5, 3.7, 1e-3, 1e6, -1, -2.5, 0 };
static const guint64 lengths[] = { 0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 1000, 4097 };

/* in and out begin that many bytes after an aligned address. */
static void check_variant(guint v, AstroConvertConfig config, gconstpointer in, guint64 samples,
                          double scale, gconstpointer expected, guint64 clipped, gsize offset)
{
  gsize in_bytes = samples * astro_format_info(config.from)->bytes;
  gsize bytes = samples * astro_format_info(config.to)->bytes;
  guint8 *moved = test_alloc(in_bytes + offset), *out = test_alloc(bytes + offset);

  if (in_bytes > 0)
    memcpy(moved + offset, in, in_bytes);
  g_assert_cmpuint(test_convert(&astro_convert_cpu, variants[v], 0, config, out + offset,
                                moved + offset, samples, scale),
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
      test_convert(&astro_convert_reference, NULL, 0, config, expected, in, samples, scale);

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
      gpointer in = test_mixed_input(config->from, lengths[l], s * 100 + l);
      check_variants(*config, in, lengths[l], scales[s]);
      test_free(in);
    }
  }
  gpointer in = test_mixed_input(config->from, 1000, 5);
  check_variants(*config, in, 1000, (double)INFINITY);
  check_variants(*config, in, 1000, (double)NAN);
  test_free(in);
}

/* Every value of a component of 4, 8 and 16 bits, and every combination for 4 and 8 bits. */
static void test_exhaustive(void)
{
  static const AstroFormat formats[] = {
    ASTRO_FORMAT_CI4,    ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF16LE,
    ASTRO_FORMAT_CI16LE, ASTRO_FORMAT_I8,  ASTRO_FORMAT_I16LE
  };
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
    g_assert_cmpuint(test_convert(&astro_convert_cpu, variants[v], 0,
                                  (AstroConvertConfig){ from, over }, there, in, samples, scale),
                     ==, 0);
    g_assert_cmpuint(test_convert(&astro_convert_cpu, variants[v], 0,
                                  (AstroConvertConfig){ over, from }, back, there, samples,
                                  1 / scale),
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
  for (AstroFormat over = ASTRO_FORMAT_F32LE; over <= ASTRO_FORMAT_I16LE; over++)
    if (over != ASTRO_FORMAT_U64LE)
      round_trip(ASTRO_FORMAT_I8, over, 1);
  round_trip(ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8, 16);
  round_trip(ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI16LE, 256);
  round_trip(ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI32LE, 0x1p24);
}

/* Blocks of many tasks, with samples that do and do not straddle cache lines. */
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
    { { ASTRO_FORMAT_I8, ASTRO_FORMAT_F32LE }, 1300001, 4, 0.37 },
    { { ASTRO_FORMAT_I16LE, ASTRO_FORMAT_I8 }, 4300001, 5, 0.01 },
    { { ASTRO_FORMAT_CI16LE, ASTRO_FORMAT_CI16LE }, 1100003, 1, 1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(large); i++) {
    AstroConvertConfig config = large[i].config;
    gsize bytes = large[i].samples * astro_format_info(config.to)->bytes;
    gpointer in = test_mixed_input(config.from, large[i].samples, i), expected = test_alloc(bytes);
    guint64 clipped = test_convert(&astro_convert_reference, NULL, 0, config, expected, in,
                                   large[i].samples, large[i].scale);
    for (guint v = 0; v < G_N_ELEMENTS(variants); v++)
      for (guint threads = 0; threads < 2; threads++) {
        guint8 *out = test_alloc(bytes + large[i].offset);
        g_assert_cmpuint(test_convert(&astro_convert_cpu, variants[v], threads, config,
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

/* ASTRO_CPU takes effect, and pairs of formats that an instruction set does not have use the next
 * one. */
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

/* Each format is read once and written once, as every pair has a program, which takes a second to
 * compile. */
static void test_opencl(gconstpointer on_device)
{
  static const AstroConvertConfig pairs[] = {
    { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8 },       { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CI4 },
    { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF16LE },    { ASTRO_FORMAT_CF16LE, ASTRO_FORMAT_CI16LE },
    { ASTRO_FORMAT_CI16LE, ASTRO_FORMAT_CF32LE }, { ASTRO_FORMAT_CI32LE, ASTRO_FORMAT_CF64LE },
    { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_CI32LE }, { ASTRO_FORMAT_F64LE, ASTRO_FORMAT_U64LE },
    { ASTRO_FORMAT_U64LE, ASTRO_FORMAT_F32LE },   { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_I16LE },
    { ASTRO_FORMAT_I16LE, ASTRO_FORMAT_I8 },      { ASTRO_FORMAT_I8, ASTRO_FORMAT_F64LE },
    { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_CF16LE }, { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI8 },
  };
  static const double some_scales[] = { 1, 3.7, -1e6, (double)INFINITY, (double)NAN };
  static const guint64 some_lengths[] = { 0, 1, 65, 4097 };
  for (guint p = 0; p < G_N_ELEMENTS(pairs); p++)
    for (guint i = 0; i < G_N_ELEMENTS(some_scales) * G_N_ELEMENTS(some_lengths); i++) {
      const double scale = some_scales[i / G_N_ELEMENTS(some_lengths)];
      const guint64 samples = some_lengths[i % G_N_ELEMENTS(some_lengths)];
      const gsize bytes = samples * astro_format_info(pairs[p].to)->bytes;
      gpointer in = test_mixed_input(pairs[p].from, samples, i);
      gpointer expected = test_alloc(bytes), out = test_alloc(bytes);
      const guint64 clipped =
          test_convert(&astro_convert_reference, NULL, 0, pairs[p], expected, in, samples, scale);
      g_test_message("%s to %s, scale %g", astro_format_info(pairs[p].from)->name,
                     astro_format_info(pairs[p].to)->name, scale);
      g_assert_cmpuint(test_convert(on_device, NULL, 0, pairs[p], out, in, samples, scale), ==,
                       clipped);
      g_assert_cmpmem(out, bytes, expected, bytes);
      test_check_guard(out, bytes);
      test_free(out);
      test_free(expected);
      test_free(in);
    }
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_add_on_device("/convert/opencl", test_on_opencl("convert"), test_opencl);
  g_test_add_func("/convert/variants", test_variants);
  g_test_add_func("/convert/exhaustive", test_exhaustive);
  g_test_add_func("/convert/round-trips", test_round_trips);
  g_test_add_func("/convert/large", test_large);
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
