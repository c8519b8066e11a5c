/* Samples become the levels that write-levels.h promises, whatever the layout, the buffers and the
 * losses. */
#include "core/recorders/write-levels.h"

#include <gst/gst.h>
#include <math.h>
#include <string.h>

static AstroStream stream_of(const char *caps)
{
  g_autoptr(GstCaps) parsed = gst_caps_from_string(caps);
  AstroStream stream;
  GError *error = NULL;
  astro_stream_from_caps(&stream, parsed, &error);
  g_assert_no_error(error);
  return stream;
}

/* The rule of the header, in double precision. */
static gint level_of(double value, guint bits, double rms)
{
  static const double gains[] = { [1] = 1, [2] = 1, [4] = 2.95, [8] = 35.5, [16] = 2048 };
  const double half = ldexp(1, (int)bits - 1);
  const double level = floor(value / rms * gains[bits] + (bits < 4 ? 0 : .5));
  return (gint)CLAMP(level, -half, half - 1);
}

static double noise(GRand *random)
{
  double sum = -6;
  for (guint i = 0; i < 12; i++)
    sum += g_rand_double(random);
  return sum;
}

typedef struct {
  const char *caps;
  guint samples; /* of a step */
  gboolean time_first;
} Layout;

static const Layout layouts[] = {
  { "application/x-astro-voltages,format=CF32LE,layout=time:station:pol,stations=3,pols=2", 6,
    TRUE },
  { "application/x-astro-voltages,format=CF32LE,layout=station:pol:time,stations=3,pols=2", 6,
    FALSE },
  { "application/x-astro-voltages,format=CF32LE,layout=time:station:pol,stations=700,pols=2", 1400,
    TRUE },
};

/* Each input has an rms of its own, and gets its own levels. */
static void test_scaled(gconstpointer data)
{
  const Layout *layout = data;
  const AstroStream stream = stream_of(layout->caps);
  const guint steps = 900, n = layout->samples;
  g_autoptr(GRand) random = g_rand_new_with_seed(5);
  g_autofree float *values = g_new(float, 2 * n * steps);
  for (guint t = 0; t < steps; t++)
    for (guint i = 0; i < n; i++)
      for (guint c = 0; c < 2; c++)
        values[2 * (layout->time_first ? t * n + i : i * steps + t) + c] =
            (float)(noise(random) * (1 + i % 5));
  static const guint bits[] = { 1, 2, 4, 8, 16 };
  for (guint b = 0; b < G_N_ELEMENTS(bits); b++) {
    AstroRecordLevels *levels = astro_record_levels_new(&stream, bits[b], 0);
    const gsize size = astro_record_levels_bytes(levels);
    g_assert_cmpuint(size, ==, bits[b] > 8 ? 2 : 1);
    g_assert_true(astro_record_levels_wait(levels));
    g_assert_false(astro_record_levels_copy(levels));
    /* measured in two parts, of which the second begins within the buffer */
    astro_record_levels_measure(levels, values, NULL, steps, 0, 300);
    astro_record_levels_measure(levels, values, NULL, steps, 300, steps - 300);
    astro_record_levels_learn(levels);
    g_assert_false(astro_record_levels_wait(levels));
    g_autofree guint8 *out = g_malloc(2 * n * steps * size);
    memset(out, 0x5a, 2 * n * steps * size);
    AstroRecordMisfits misfits = { 0 };
    astro_record_levels_make(levels, out, values, steps, &misfits);
    guint64 off = 0;
    for (guint i = 0; i < n; i++) {
      double squares = 0;
      for (guint t = 0; t < steps; t++)
        for (guint c = 0; c < 2; c++) {
          const double v = values[2 * (layout->time_first ? t * n + i : i * steps + t) + c];
          squares += v * v;
        }
      const double rms = sqrt(squares / (2 * steps));
      for (guint t = 0; t < steps; t++)
        for (guint c = 0; c < 2; c++) {
          const guint at = 2 * (layout->time_first ? t * n + i : i * steps + t) + c;
          const gint found = size == 1 ? ((gint8 *)out)[at] : ((gint16 *)out)[at];
          const gint wanted = level_of(values[at], bits[b], rms);
          g_assert_cmpint(ABS(found - wanted), <=, 1);
          off += found != wanted;
        }
    }
    /* single precision decides a few that lie on an edge */
    g_assert_cmpuint(off, <=, n * steps * 2 / (bits[b] == 16 ? 50 : 2000));
    astro_record_levels_free(levels);
  }
}

static void test_extreme(void)
{
  const AstroStream stream =
      stream_of("application/x-astro-voltages,format=F32LE,layout=time:station:pol,stations=1,"
                "pols=1");
  static const float values[] = { 1e30f, -1e30f, INFINITY, -INFINITY, NAN, 0, -0.f, -1e-30f };
  static const gint8 wanted[][8] = {
    [1] = { 0, -1, 0, -1, 0, 0, 0, 0 }, /* a NaN is as near to one sign as to the other */
    [2] = { 1, -2, 1, -2, 0, 0, 0, 0 },
    [4] = { 7, -8, 7, -8, 0, 0, 0, 0 },
    [8] = { 127, -128, 127, -128, 0, 0, 0, 0 },
  };
  for (guint bits = 1; bits <= 8; bits *= 2) {
    AstroRecordLevels *levels = astro_record_levels_new(&stream, bits, 2);
    gint8 out[8];
    g_assert_false(astro_record_levels_wait(levels));
    AstroRecordMisfits misfits = { 0 };
    astro_record_levels_make(levels, out, values, 8, &misfits);
    g_assert_cmpuint(misfits.clipped, ==, bits == 8 ? 4 : 0);
    g_assert_cmpuint(misfits.nans, ==, 1);
    for (guint i = 0; i < 8; i++)
      g_assert_cmpint(out[i], ==, wanted[bits][i]);
    astro_record_levels_free(levels);
  }
}

/* Integers that fit are kept, whatever they are. */
static void test_kept(void)
{
  static const struct {
    const char *format;
    guint bits, bytes;
    gboolean copies;
  } cases[] = { { "CI8", 8, 1, TRUE },
                { "CI4", 4, 1, FALSE },
                { "CI4", 8, 1, FALSE },
                { "CI8", 16, 2, FALSE },
                { "CI16LE", 16, 2, TRUE } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *caps = g_strdup_printf(
        "application/x-astro-voltages,format=%s,layout=time:station:pol,stations=1,pols=1",
        cases[i].format);
    const AstroStream stream = stream_of(caps);
    AstroRecordLevels *levels = astro_record_levels_new(&stream, cases[i].bits, 3);
    guint8 in[256], out[1024];
    for (guint k = 0; k < sizeof in; k++)
      in[k] = (guint8)k;
    g_assert_cmpint(astro_record_levels_copy(levels), ==, cases[i].copies);
    g_assert_cmpuint(astro_record_levels_bytes(levels), ==, cases[i].bytes);
    const gsize step = astro_stream_step_bytes(&stream);
    astro_record_levels_make(levels, out, in, sizeof in / step, NULL);
    for (guint k = 0; !cases[i].copies && k < sizeof in; k++)
      if (cases[i].bytes == 2) {
        g_assert_cmpint(((gint16 *)out)[k], ==, (gint8)k);
      } else {
        g_assert_cmpint(((gint8 *)out)[2 * k], ==, (gint8)k >> 4);
        g_assert_cmpint(((gint8 *)out)[2 * k + 1], ==, (gint8)(k << 4) >> 4);
      }
    astro_record_levels_free(levels);
  }
}

/* Lost samples do not count, and with 8 bits all channels of a polarisation share an rms. */
static void test_measured(void)
{
  const AstroStream stream =
      stream_of("application/x-astro-spectra,format=CF32LE,layout=time:channel:station:pol,"
                "stations=1,pols=2,channels=2");
  /* two steps of two channels of two polarisations; the lost one is large */
  static const float values[] = { 1, 0, 2, 0, 3, 0, 4, 0, 1, 0, 2, 0, 3, 0, 1e6f, 0 };
  static const guint8 good[] = { 1, 1, 1, 1, 1, 1, 1, 0 };
  gint8 out[16];
  AstroRecordMisfits misfits = { 0 };
  AstroRecordLevels *levels = astro_record_levels_new(&stream, 8, 0);
  astro_record_levels_measure(levels, values, good, 2, 0, 2);
  astro_record_levels_learn(levels);
  astro_record_levels_make(levels, out, values, 2, &misfits);
  const double x = sqrt((1 + 9 + 1 + 9) / 8.), y = sqrt((4 + 16 + 4) / 6.);
  static const float of_x[] = { 1, 3 }, of_y[] = { 2, 4 };
  for (guint c = 0; c < 2; c++) {
    g_assert_cmpint(out[4 * c], ==, level_of(of_x[c], 8, x));
    g_assert_cmpint(out[4 * c + 2], ==, level_of(of_y[c], 8, y));
  }
  astro_record_levels_free(levels);
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(layouts); i++) {
    g_autofree char *path = g_strdup_printf("/write-levels/scaled/%u", i);
    g_test_add_data_func(path, &layouts[i], test_scaled);
  }
  g_test_add_func("/write-levels/extreme", test_extreme);
  g_test_add_func("/write-levels/kept", test_kept);
  g_test_add_func("/write-levels/measured", test_measured);
  return g_test_run();
}
