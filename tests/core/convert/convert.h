/* Shared by tests of conversion: a block through a backend, and samples at the edges of formats. */
#pragma once

#include "core/convert/convert.h"
#include "tests/half.h"
#include "tests/tests.h"

#include <float.h>
#include <math.h>

static inline guint test_components(AstroFormat format)
{
  return astro_format_info(format)->is_complex ? 2 : 1;
}

static inline guint64 test_convert(const AstroBackend *backend, const char *variant, guint threads,
                                   AstroConvertConfig config, gpointer out, gconstpointer in,
                                   guint64 samples, double scale)
{
  AstroPlace place = { .threads = threads };
  AstroBlock from = { (gpointer)in, samples * astro_format_info(config.from)->bytes };
  AstroBlock to = { out, samples * astro_format_info(config.to)->bytes };
  AstroResult result = { .clipped = 1000 };
  AstroConvertArguments arguments = { scale, samples };
  const char *name = NULL;
  GError *error = NULL;

  if (variant)
    g_setenv("ASTRO_CPU", variant, TRUE);
  gpointer instance = backend->create(&config, &place, &name, &error);
  g_assert_no_error(error);
  g_assert_nonnull(name);
  g_assert_true(backend->submit(instance, &from, 1, &to, 1, &arguments, &result, &error));
  g_assert_no_error(error);
  backend->destroy(instance);
  g_unsetenv("ASTRO_CPU");
  return result.clipped - 1000;
}

/* Critical values: limits of ranges, ties, powers of two where precision changes; and their
 * neighbours. */
static inline GArray *test_interesting_values(void)
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

static inline gint64 test_held(double value, double low, double high)
{
  return (gint64)rint(isnan(value) ? low : CLAMP(value, low, high));
}

static inline void test_put_value(guint8 *block, AstroFormat format, guint64 i, double value)
{
  switch (format) {
  case ASTRO_FORMAT_CI4:
    block[i / 2] = (guint8)(i % 2 ? (block[i / 2] & 0xf0) | (test_held(value, -8, 7) & 15)
                                  : (block[i / 2] & 0x0f) | (test_held(value, -8, 7) & 15) << 4);
    break;
  case ASTRO_FORMAT_CI8:
  case ASTRO_FORMAT_I8:
    ((gint8 *)block)[i] = (gint8)test_held(value, G_MININT8, G_MAXINT8);
    break;
  case ASTRO_FORMAT_CI16LE:
  case ASTRO_FORMAT_I16LE:
    ((gint16 *)block)[i] = (gint16)test_held(value, G_MININT16, G_MAXINT16);
    break;
  case ASTRO_FORMAT_CI32LE:
    ((gint32 *)block)[i] = (gint32)test_held(value, G_MININT32, G_MAXINT32);
    break;
  case ASTRO_FORMAT_U64LE:
    ((guint64 *)block)[i] = (guint64)test_held(value, 0, 0x1p62);
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

/* Random bits, critical values, and values of all small ranges, in turn. */
static inline gpointer test_mixed_input(AstroFormat format, guint64 samples, guint32 seed)
{
  g_autoptr(GArray) values = test_interesting_values();
  gsize bytes = samples * astro_format_info(format)->bytes;
  guint64 n = samples * test_components(format);
  guint8 *block = test_alloc(bytes);
  guint32 *random = g_new(guint32, n + 1);

  test_fill(block, bytes, seed);
  test_fill(random, n * sizeof *random, seed + 1);
  for (guint64 i = 0; i < n; i++) {
    if (i % 3 == 1)
      test_put_value(block, format, i, g_array_index(values, double, random[i] % values->len));
    else if (i % 3 == 2)
      test_put_value(block, format, i,
                     (gint32)(random[i] >> 8 << 8) / (double)(0x1p10 * (1 << random[i] % 18)));
  }
  g_free(random);
  return block;
}
