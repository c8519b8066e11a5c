/* All variants of the channelizer compared with the reference: formats, layouts, and blocks that
 * are cut anywhere, so large that they are written past the caches, or larger than a device does at
 * once. */
#include "tests/core/channelizer/channelizer.h"

#include <math.h>
#include <stdlib.h>

static const char *const variants[] = { "avx512", "avx2", "c" };

/* Kernels of CUDA to begin with for bytes in and out, so that those are tested too that another is
 * quicker than. */
static const char *const kernels_of_bytes[] = { "bytes", "square", "mixed" };

static gboolean is_bytes(AstroFormat format)
{
  return format == ASTRO_FORMAT_CI4 || format == ASTRO_FORMAT_CI8;
}

static double component(gconstpointer data, AstroFormat format, gsize i)
{
  switch (format) {
  case ASTRO_FORMAT_CI4: {
    gint nibble = i % 2 ? ((guint8 *)data)[i / 2] & 15 : ((guint8 *)data)[i / 2] >> 4;
    return (nibble ^ 8) - 8;
  }
  case ASTRO_FORMAT_CI8:
    return ((gint8 *)data)[i];
  case ASTRO_FORMAT_CI16LE:
    return ((gint16 *)data)[i];
  case ASTRO_FORMAT_CF32LE:
    return ((float *)data)[i];
  default:
    g_assert_not_reached();
  }
}

/* Floats agree to a millionth of the largest; integers are equal unless the true value is close to
 * halfway. */
static void assert_same(const AstroChannelizerConfig *config, gconstpointer found,
                        gconstpointer expected, gsize components)
{
  double scale = 0, tolerance = 1;
  gsize differ = 0;
  for (gsize i = 0; i < components; i++)
    scale = MAX(scale, fabs(component(expected, config->to, i)));
  if (config->to == ASTRO_FORMAT_CF32LE)
    tolerance = 1e-6 * scale;
  for (gsize i = 0; i < components; i++) {
    double a = component(found, config->to, i), b = component(expected, config->to, i);
    if (!(fabs(a - b) <= tolerance))
      g_error("component %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT ": %.9g, expected %.9g", i,
              components, a, b);
    differ += a != b;
  }
  if (config->to != ASTRO_FORMAT_CF32LE)
    g_assert_cmpuint(differ, <=, 1 + components / 200);
}

typedef struct {
  const char *format, *layout;
  guint stations, pols, channels, taps;
  AstroWindow window;
  AstroFormat to;
  double gain;
  guint spectra;
} Shape;

static const Shape shapes[] = {
  { "CI8", "station:pol:time", 3, 2, 16, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 40 },
  { "CI8", "time:station:pol", 3, 2, 16, 8, ASTRO_WINDOW_HANN, ASTRO_FORMAT_CI8, 1, 40 },
  { "CI8", "station:time:pol", 5, 2, 7, 4, ASTRO_WINDOW_HAMMING, ASTRO_FORMAT_CI16LE, 50, 60 },
  { "CI4", "station:pol:time", 2, 1, 33, 3, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI4, 0.8, 20 },
  { "CI4", "time:station:pol", 1, 1, 2, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 1, 700 },
  { "CI16LE", "pol:time:station", 2, 2, 10, 5, ASTRO_WINDOW_KAISER, ASTRO_FORMAT_CI8, 0.005, 50 },
  { "CF16LE", "station:pol:time", 2, 2, 64, 2, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 30 },
  { "CF32LE", "station:pol:time", 2, 2, 3, 1, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 900 },
  { "CF32LE", "time:station:pol", 19, 1, 100, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, -2, 9 },
  { "CF32LE", "station:pol:time", 1, 2, 512, 8, ASTRO_WINDOW_BLACKMAN_HARRIS, ASTRO_FORMAT_CI8, 9,
    4 },
  { "CF32LE", "station:pol:time", 1, 1, 251, 32, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 5 },
  { "CF32LE", "station:pol:time", 1, 1, 1024, 2, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 3 },
  { "CF32LE", "station:pol:time", 1, 1, 2049, 1, ASTRO_WINDOW_HANN, ASTRO_FORMAT_CF32LE, 1, 2 },
  { "CI8", "station:pol:time", 1, 1, 32, 5, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 133 },
  { "CI8", "time:station:pol", 1, 2, 128, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 41 },
  { "CI4", "station:pol:time", 2, 1, 256, 4, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 19 },
  { "CI8", "station:pol:time", 1, 2, 1024, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 7 },
  { "CI8", "station:pol:time", 1, 1, 2048, 4, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 3 },
  { "CI16LE", "station:pol:time", 1, 1, 4096, 3, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 2 },
  { "F32LE", "station:pol:time", 1, 1, 64, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 40 },
  { "F32LE", "station:pol:time", 3, 2, 16, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 40 },
  { "F32LE", "time:station:pol", 3, 2, 5, 3, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 20, 80 },
  { "CF32LE", "station:pol:time", 1, 2, 1024, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 9, 13 },
  { "CI8", "station:pol:time", 2, 1, 1024, 4, ASTRO_WINDOW_HANN, ASTRO_FORMAT_CI8, 2, 20 },
  { "CI8", "station:pol:time", 1, 1, 1024, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 3, 9 },
  { "F32LE", "station:pol:time", 1, 1, 512, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 12 },
  { "CF32LE", "station:pol:time", 1, 1, 1024, 4, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 5 },
  { "F32LE", "station:pol:time", 1, 1, 300, 4, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 4 },
  { "I8", "station:pol:time", 1, 2, 64, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 40 },
  { "I8", "time:station:pol", 3, 2, 5, 3, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 1, 80 },
  { "I8", "station:time:pol", 1, 1, 1024, 4, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 1, 5 },
  { "I16LE", "time:station:pol", 5, 2, 512, 8, ASTRO_WINDOW_HANN, ASTRO_FORMAT_CI16LE, 0.5, 12 },
  { "I16LE", "station:pol:time", 1, 1, 33, 2, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 30 },
  /* Factors of 2 to 13, of larger primes, and more points than shared memory of a device takes. */
  { "CI8", "station:pol:time", 3, 2, 36, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 250 },
  { "CI4", "time:station:pol", 2, 2, 36, 4, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI4, 0.8, 130 },
  { "CF32LE", "station:pol:time", 1, 2, 60, 8, ASTRO_WINDOW_HANN, ASTRO_FORMAT_CF32LE, 1, 150 },
  { "F32LE", "station:pol:time", 1, 2, 45, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 60 },
  { "CI8", "station:pol:time", 1, 1, 143, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 2, 60 },
  { "CI16LE", "station:pol:time", 1, 1, 221, 3, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 40 },
  { "CI8", "station:pol:time", 1, 1, 2310, 4, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 5 },
  { "CF32LE", "station:pol:time", 1, 1, 4095, 2, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 3 },
  { "CF32LE", "station:pol:time", 1, 1, 4100, 2, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 2 },
  /* Bytes in and out, which a device has a kernel for: every pair of factors that it knows when it
   * is compiled, others, odd numbers of channels and of samples before the first point, groups of
   * 16 spectra that are full, not full, and of several inputs a block. Much is out of range. */
  { "CI8", "station:pol:time", 3, 2, 36, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 2, 70 },
  { "CI4", "station:pol:time", 3, 2, 36, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI4, 0.8, 70 },
  { "CI8", "station:pol:time", 9, 2, 16, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 1, 40 },
  { "CI4", "time:station:pol", 9, 2, 16, 4, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 9, 33 },
  { "CI4", "station:pol:time", 3, 2, 32, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI4, 0.5, 47 },
  { "CI8", "station:pol:time", 3, 1, 64, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI4, 0.03, 41 },
  { "CI4", "station:pol:time", 2, 1, 64, 5, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI4, 0.8, 33 },
  { "CI8", "station:pol:time", 1, 2, 128, 4, ASTRO_WINDOW_HANN, ASTRO_FORMAT_CI8, 2, 34 },
  { "CI4", "station:time:pol", 1, 2, 128, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 9, 20 },
  { "CI8", "station:pol:time", 1, 2, 256, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 1, 35 },
  { "CI4", "station:pol:time", 1, 2, 256, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI4, 0.8, 32 },
  { "CI8", "station:pol:time", 3, 1, 50, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 1, 40 },
  { "CI4", "station:pol:time", 3, 1, 45, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI4, 0.8, 40 },
  { "CI4", "time:station:pol", 2, 1, 182, 4, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI4, 0.8, 20 },
  { "CI8", "station:pol:time", 5, 1, 120, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 3, 18 },
  { "CI8", "station:pol:time", 9, 2, 8, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 1, 50 },
  /* The same in three passes, with spectra of one, several or half an input a block. */
  { "CI8", "station:pol:time", 3, 1, 162, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 2, 9 },
  { "CI4", "station:pol:time", 3, 1, 360, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI4, 0.8, 9 },
  { "CI8", "station:pol:time", 1, 2, 512, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 1, 7 },
  { "CI4", "station:pol:time", 1, 1, 1001, 4, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 9, 5 },
  { "CI4", "station:pol:time", 1, 1, 1024, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI4, 0.8, 6 },
  { "CI8", "station:pol:time", 1, 1, 2310, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 2, 3 },
};

static void test_variants(gconstpointer data)
{
  const Shape *shape = data;
  AstroChannelizerConfig config = test_config(shape->format, shape->layout, shape->stations,
                                              shape->pols, shape->channels, shape->taps);
  config.window = shape->window;
  config.to = shape->to;
  config.gain = shape->gain;
  /* Half of the shapes have a gain for each channel, one of them 0. */
  g_autofree float *gains = g_new(float, shape->channels);
  for (guint k = 0; k < shape->channels; k++)
    gains[k] = (float)(1.25 - (double)k / shape->channels) * (k != 1);
  if ((shape - shapes) % 2)
    config.gains = gains;
  guint64 step = astro_channelizer_step(&config);
  guint64 first = 3 * step + 1, steps = (shape->spectra + shape->taps) * step + step / 2;
  guint64 clipped, expected_clipped;
  AstroSpectra spectra;
  gpointer in =
      test_random_samples(config.in.format, steps * test_n_inputs(&config), shape->channels);
  guint8 *expected = test_channelize(&astro_channelizer_reference, &config, 2, in, first, steps, 0,
                                     &spectra, &expected_clipped);
  gsize components = spectra.count * test_n_inputs(&config) * config.channels * 2;
  gsize bytes = components / 2 * astro_format_info(config.to)->bytes;
  g_assert_cmpuint(spectra.count, >=, shape->spectra);

  gboolean can_cut = config.in.layout.axes[config.in.layout.n_axes - 1] == ASTRO_AXIS_TIME ||
                     config.in.layout.axes[0] == ASTRO_AXIS_TIME || test_n_inputs(&config) == 1;
  const guint devices = (test_cuda != NULL) + (test_opencl != NULL);
  for (guint v = 0; v < G_N_ELEMENTS(variants) + devices; v++) {
    const AstroBackend *backend = v < G_N_ELEMENTS(variants)
                                      ? &astro_channelizer_cpu
                                      : test_backends[2 + v - G_N_ELEMENTS(variants)];
    if (v < G_N_ELEMENTS(variants))
      setenv("ASTRO_CPU", variants[v], 1);
    guint8 *whole = test_channelize(backend, &config, 1, in, first, steps, 0, &spectra, &clipped);
    assert_same(&config, whole, expected, components);
    g_assert_cmpuint(clipped, <=, expected_clipped + 2 + components / 200);
    g_assert_cmpuint(clipped + 2 + components / 200, >=, expected_clipped);
    /* Equal to the bit: two threads, and cut anywhere. */
    const guint64 cuts[] = { 0, 3 * step, step, 6 };
    for (guint i = 0; i < G_N_ELEMENTS(cuts); i++) {
      if (!can_cut && cuts[i])
        continue;
      /* An OpenCL device that is a CPU takes long for many calls. */
      if (cuts[i] && steps / cuts[i] > (backend->kind == ASTRO_BACKEND_OPENCL ? 100 : 20000))
        continue;
      guint64 also;
      guint8 *out =
          test_channelize(backend, &config, 2, in, first, steps, cuts[i], &spectra, &also);
      g_assert_cmpmem(out, bytes, whole, bytes);
      g_assert_cmpuint(also, ==, clipped);
      test_free(out);
    }
    test_free(whole);
  }
  unsetenv("ASTRO_CPU");
  const gboolean bytes_alone = is_bytes(config.in.format) && is_bytes(config.to);
  for (guint k = 0; test_cuda && bytes_alone && k < G_N_ELEMENTS(kernels_of_bytes); k++) {
    setenv("ASTRO_CUDA", kernels_of_bytes[k], 1);
    guint8 *out = test_channelize(test_cuda, &config, 1, in, first, steps, 0, &spectra, NULL);
    assert_same(&config, out, expected, components);
    test_free(out);
  }
  unsetenv("ASTRO_CUDA");
  if (can_cut) {
    guint8 *out = test_channelize(&astro_channelizer_reference, &config, 2, in, first, steps,
                                  2 * step, &spectra, NULL);
    g_assert_cmpmem(out, bytes, expected, bytes);
    test_free(out);
  }
  test_free(expected);
  test_free(in);
}

/* Blocks that begin at odd addresses. */
static void test_alignment(void)
{
  AstroChannelizerConfig config = test_config("CF32LE", "station:pol:time", 2, 1, 64, 4);
  guint64 steps = 64 * 20;
  float *in = test_random_samples(ASTRO_FORMAT_CF32LE, 2 * steps, 1);
  AstroSpectra spectra;
  guint8 *expected =
      test_channelize(&astro_channelizer_cpu, &config, 1, in, 0, steps, 0, &spectra, NULL);
  gsize bytes = spectra.count * 2 * 64 * 8, in_bytes = 2 * steps * 8;
  for (guint off = 1; off <= 8; off++) {
    guint8 *from = test_alloc(in_bytes + off), *to = test_alloc(bytes + off);
    AstroChannelizerArguments arguments = { 0, steps, TRUE, NULL, 0 };
    memcpy(from + off, in, in_bytes);
    AstroBlock a = { from + off, in_bytes }, b = { to + off, bytes };
    gpointer instance = test_create(&astro_channelizer_cpu, &config, 2);
    g_assert_true(astro_channelizer_cpu.submit(instance, &a, 1, &b, 1, &arguments, NULL, NULL));
    g_assert_cmpmem(to + off, bytes, expected, bytes);
    test_check_guard(to, bytes + off);
    astro_channelizer_cpu.destroy(instance);
    test_free(from);
    test_free(to);
  }
  test_free(expected);
  test_free(in);
}

/* Blocks that are written past the caches are the same as those that are not. */
static void test_past_caches(void)
{
  static const guint sizes[] = { 8, 64, 1024 };
  for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
    for (guint v = 0; v < G_N_ELEMENTS(variants); v++) {
      AstroChannelizerConfig config = test_config("CI8", "station:pol:time", 2, 1, sizes[s], 4);
      guint64 steps = 300 * 1024;
      AstroSpectra spectra;
      gint8 *in = test_random_samples(ASTRO_FORMAT_CI8, 2 * steps, s);
      setenv("ASTRO_CPU", variants[v], 1);
      guint8 *large =
          test_channelize(&astro_channelizer_cpu, &config, 2, in, 77, steps, 0, &spectra, NULL);
      gsize bytes = 2 * spectra.count * sizes[s] * 8;
      g_assert_cmpuint(bytes, >, 4 << 20);
      guint8 *small =
          test_channelize(&astro_channelizer_cpu, &config, 2, in, 77, steps, 50000, &spectra, NULL);
      unsetenv("ASTRO_CPU");
      g_assert_cmpmem(large, bytes, small, bytes);
      test_free(large);
      test_free(small);
      test_free(in);
    }
}

/* A block larger than a device does at once gives the same as many small blocks. */
static void test_long(void)
{
  static const char *const formats[] = { "CI8", "CF32LE" };
  for (guint f = 0; test_cuda && f < G_N_ELEMENTS(formats); f++) {
    AstroChannelizerConfig config = test_config(formats[f], "station:pol:time", 30, 2, 1024, 8);
    guint64 steps = 90 * 1024;
    AstroSpectra spectra;
    gpointer in = test_random_samples(config.in.format, 60 * steps, f);
    guint8 *large = test_channelize(test_cuda, &config, 1, in, 5, steps, 0, &spectra, NULL);
    gsize bytes = 60 * spectra.count * 1024 * 8;
    guint8 *small = test_channelize(test_cuda, &config, 1, in, 5, steps, 9000, &spectra, NULL);
    g_assert_cmpmem(large, bytes, small, bytes);
    test_free(large);
    test_free(small);
    test_free(in);
  }
}

/* So many inputs that a device with 132 multiprocessors works in three rounds of eight spectra
 * each, the last of an input not full. */
static void test_rounds(gconstpointer device)
{
  static const char *const formats[] = { "CI8", "CF32LE" };
  for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
    AstroChannelizerConfig config = test_config(formats[f], "station:pol:time", 66, 2, 1024, 8);
    guint64 steps = 25 * 1024;
    AstroSpectra spectra;
    gpointer in = test_random_samples(config.in.format, test_n_inputs(&config) * steps, f);
    guint8 *expected =
        test_channelize(&astro_channelizer_cpu, &config, 2, in, 0, steps, 0, &spectra, NULL);
    g_assert_cmpuint(spectra.count, ==, 17);
    guint8 *found = test_channelize(device, &config, 1, in, 0, steps, 0, &spectra, NULL);
    assert_same(&config, found, expected, spectra.count * test_n_inputs(&config) * 1024 * 2);
    test_free(found);
    test_free(expected);
    test_free(in);
  }
}

/* More points than are transformed at a time: parts that end in the middle of an input. */
static void test_parts(gconstpointer opencl)
{
  AstroChannelizerConfig config = test_config("CI8", "time:station:pol", 3, 1, 80, 2);
  const guint64 steps = 20000 * 80;
  AstroSpectra spectra;
  gpointer in = test_random_samples(config.in.format, test_n_inputs(&config) * steps, 1);
  g_assert_cmpuint(test_n_inputs(&config) * steps, >, 1 << 22);
  config.to = ASTRO_FORMAT_CI8;
  guint8 *expected =
      test_channelize(&astro_channelizer_cpu, &config, 2, in, 0, steps, 0, &spectra, NULL);
  guint8 *found = test_channelize(opencl, &config, 1, in, 0, steps, 0, &spectra, NULL);
  assert_same(&config, found, expected, spectra.count * test_n_inputs(&config) * 80 * 2);
  test_free(found);
  test_free(expected);
  test_free(in);
}

static void add_tests(void)
{
  test_find_devices();
  for (guint i = 0; i < G_N_ELEMENTS(shapes); i++) {
    g_autofree char *path = g_strdup_printf("/channelizer/variants/%u/%s/%u-channels/%u-taps", i,
                                            shapes[i].format, shapes[i].channels, shapes[i].taps);
    g_test_add_data_func(path, &shapes[i], test_variants);
  }
  g_test_add_func("/channelizer/alignment", test_alignment);
  g_test_add_func("/channelizer/past-caches", test_past_caches);
  g_test_add_func("/channelizer/long", test_long);
  test_add_on_device("/channelizer/rounds", test_cuda, test_rounds);
  test_add_on_device("/channelizer/parts/opencl", test_opencl, test_parts);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
