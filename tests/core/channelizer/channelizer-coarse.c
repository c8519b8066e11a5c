/* A filter bank behind another: each input channel comes out as voltages of its own would, whatever
 * the order of axes, the cuts and the losses. */
#include "tests/core/channelizer/channelizer.h"

#include <math.h>

enum { STATIONS = 2, POLS = 2, TAPS = 4, FIRST = 37, STEPS = 300 };

static AstroChannelizerConfig coarse_config(const char *format, const char *layout, guint coarse,
                                            guint channels)
{
  AstroChannelizerConfig config = test_config(format, "time", 1, 1, channels, TAPS);
  g_autofree char *text =
      g_strdup_printf("application/x-astro-spectra,format=%s,layout=%s,stations=%d,pols=%d,"
                      "channels=%u",
                      format, layout, STATIONS, POLS, coarse);
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  GError *error = NULL;
  astro_stream_from_caps(&config.in, caps, &error);
  g_assert_no_error(error);
  return config;
}

/* Steps of what lies as [station][pol][channel][STEPS], in the order of the stream's axes. */
static guint8 *lay_out(const AstroStream *stream, const guint8 *from, guint64 at, guint64 steps)
{
  const gsize bytes = astro_stream_sample_bytes(stream);
  const guint64 coarse = astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
  guint8 *block = test_alloc(steps * astro_stream_step_bytes(stream));
  guint64 strides[ASTRO_MAX_AXES];
  AstroLayout shape;

  astro_stream_shape(stream, steps, &shape);
  astro_layout_strides(&shape, strides);
  for (guint64 input = 0; input < STATIONS * POLS * coarse; input++)
    for (guint64 t = 0; t < steps; t++) {
      guint64 to = 0;
      for (guint i = 0; i < shape.n_axes; i++)
        switch (shape.axes[i]) {
        case ASTRO_AXIS_TIME:
          to += t * strides[i];
          break;
        case ASTRO_AXIS_CHANNEL:
          to += input % coarse * strides[i];
          break;
        case ASTRO_AXIS_POL:
          to += input / coarse % POLS * strides[i];
          break;
        default:
          to += input / coarse / POLS * strides[i];
        }
      memcpy(block + to * bytes, from + (input * STEPS + at + t) * bytes, bytes);
    }
  return block;
}

/* [input][spectra], of blocks of at most that many steps; losses are in the first of them. */
static guint8 *split(const AstroBackend *backend, const AstroChannelizerConfig *config,
                     const guint8 *in, guint64 most, const AstroLoss *losses, guint n_losses)
{
  TestRun run = { backend, config, test_create(backend, config, 2), FIRST, FIRST, { 0 } };
  const guint64 total = astro_channelizer_spectra(config, FIRST, FIRST + STEPS).count;
  guint8 *out = test_alloc(total * config->channels * astro_format_info(config->to)->bytes *
                           test_n_inputs(config));
  guint64 given = 0;
  for (guint64 at = 0, n; at < STEPS; at += n) {
    n = MIN(most, STEPS - at);
    guint8 *block = lay_out(&config->in, in, at, n);
    given += test_call(&run, block, n, at == 0, at == 0 ? losses : NULL, at == 0 ? n_losses : 0,
                       out, total, given)
                 .count;
    test_free(block);
  }
  g_assert_cmpuint(given, ==, total);
  backend->destroy(run.instance);
  return out;
}

/* The least bit of a sum may differ: transforms are planned by measurement. */
static void compare(const guint8 *found, const guint8 *expected, gsize n, AstroFormat format)
{
  double power = 0;
  if (format != ASTRO_FORMAT_CF32LE) {
    for (gsize i = 0; i < 2 * n; i++)
      g_assert_cmpint(ABS(((const gint8 *)found)[i] - ((const gint8 *)expected)[i]), <=, 1);
    return;
  }
  const float *f = (const float *)found, *e = (const float *)expected;
  for (gsize i = 0; i < 2 * n; i++)
    power += (double)e[i] * e[i] / (double)n;
  for (gsize i = 0; i < 2 * n; i++)
    g_assert_cmpfloat(fabs((double)f[i] - e[i]), <=, 2e-6 * sqrt(power));
}

static void check(const AstroBackend *backend, const char *format, const char *layout, guint coarse,
                  guint channels, AstroFormat to, guint64 most)
{
  AstroChannelizerConfig config = coarse_config(format, layout, coarse, channels);
  AstroChannelizerConfig alone = test_config(format, "time", 1, 1, channels, TAPS);
  const guint inputs = STATIONS * POLS * coarse;
  const gsize bytes = astro_stream_sample_bytes(&config.in);
  AstroSpectra spectra;
  g_autofree float *gains = g_new(float, channels);
  for (guint k = 0; k < channels; k++)
    gains[k] = 0.5f + (float)k / 4;
  config.to = alone.to = to;
  config.gains = alone.gains = gains;
  guint8 *in = test_random_samples(config.in.format, (gsize)inputs * STEPS, coarse);
  guint8 *found = split(backend, &config, in, most, NULL, 0);
  for (guint input = 0; input < inputs; input++) {
    guint8 *expected = test_channelize(backend, &alone, 1, in + input * STEPS * bytes, FIRST, STEPS,
                                       0, &spectra, NULL);
    const gsize n = spectra.count * channels;
    compare(found + input * n * astro_format_info(to)->bytes, expected, n, to);
    test_free(expected);
  }
  test_free(found);
  test_free(in);
}

static void test_orders(gconstpointer data)
{
  static const char *const layouts[] = { "station:pol:time:channel", "time:channel:station:pol",
                                         "channel:station:time:pol", "station:pol:channel:time",
                                         "pol:time:channel:station" };
  for (guint i = 0; i < G_N_ELEMENTS(layouts); i++) {
    check(data, "CF32LE", layouts[i], 3, 8, ASTRO_FORMAT_CF32LE, STEPS);
    check(data, "CI8", layouts[i], 5, 9, ASTRO_FORMAT_CF32LE, 41);
    check(data, "CI16LE", layouts[i], 2, 7, ASTRO_FORMAT_CI8, 13);
  }
  check(data, "CF32LE", layouts[0], 1, 8, ASTRO_FORMAT_CF32LE, 100);
  check(data, "CF32LE", layouts[0], 17, 2, ASTRO_FORMAT_CF32LE, 77);
}

/* Blocks that are written past the caches are larger than a core's. */
static void test_long(void)
{
  enum { COARSE = 64, CHANNELS = 64, LONG = 64 * 40 };
  AstroChannelizerConfig config =
      coarse_config("CF32LE", "station:pol:time:channel", COARSE, CHANNELS);
  AstroChannelizerConfig alone = test_config("CF32LE", "time", 1, 1, CHANNELS, TAPS);
  const guint inputs = STATIONS * POLS * COARSE;
  float *in = test_random_samples(ASTRO_FORMAT_CF32LE, (gsize)inputs * LONG, 1);
  float *one = test_alloc(LONG * 8);
  TestRun run = {
    &astro_channelizer_cpu, &config, test_create(&astro_channelizer_cpu, &config, 2), 0, 0, { 0 }
  };
  AstroSpectra spectra = astro_channelizer_spectra(&config, 0, LONG);
  const gsize row = CHANNELS * 8;
  guint8 *out = test_alloc(spectra.count * row * inputs);
  /* Order station:pol:time:channel. */
  test_call(&run, in, LONG, TRUE, NULL, 0, out, spectra.count, 0);
  for (guint input = 0; input < inputs; input += 23) {
    for (gsize t = 0; t < LONG; t++)
      memcpy(one + 2 * t, in + 2 * ((input / COARSE * LONG + t) * COARSE + input % COARSE), 8);
    guint8 *expected =
        test_channelize(&astro_channelizer_cpu, &alone, 1, one, 0, LONG, 0, &spectra, NULL);
    compare(out + input * spectra.count * row, expected, spectra.count * CHANNELS,
            ASTRO_FORMAT_CF32LE);
    test_free(expected);
  }
  run.backend->destroy(run.instance);
  test_free(out);
  test_free(one);
  test_free(in);
}

/* Lost samples of some channels of a station count as zeros, those of the others stay. */
static void test_losses(gconstpointer data)
{
  static const AstroLoss losses[] = {
    { 0, 0, 1, FIRST + 3, FIRST + 9 },   { 0, 0, 1, FIRST + 20, FIRST + 21 },
    { 0, 2, 3, FIRST, FIRST + 60 },      { 1, 1, 2, FIRST + 5, FIRST + 7 },
    { 1, 3, 5, FIRST + 50, FIRST + 60 },
  };
  AstroChannelizerConfig config = coarse_config("CF32LE", "station:pol:time:channel", 5, 8);
  const gsize n = (gsize)STATIONS * POLS * 5 * STEPS;
  float *in = test_random_samples(ASTRO_FORMAT_CF32LE, n, 3);
  float *zeroed = test_alloc(n * 8);
  memcpy(zeroed, in, n * 8);
  for (guint i = 0; i < G_N_ELEMENTS(losses); i++)
    for (guint pol = 0; pol < POLS; pol++)
      for (guint c = losses[i].channel; c < losses[i].channel_end; c++) {
        gsize at = ((losses[i].station * POLS + pol) * 5 + c) * STEPS + losses[i].from - FIRST;
        gsize count = losses[i].to - losses[i].from;
        memset(in + 2 * at, 0xff, count * 8); /* NaN */
        memset(zeroed + 2 * at, 0, count * 8);
      }
  for (guint64 most = 60; most <= STEPS; most += 240) {
    guint8 *found = split(data, &config, (guint8 *)in, most, losses, G_N_ELEMENTS(losses));
    guint8 *expected = split(data, &config, (guint8 *)zeroed, most, NULL, 0);
    guint64 total = astro_channelizer_spectra(&config, FIRST, FIRST + STEPS).count;
    compare(found, expected, total * 8 * STATIONS * POLS * 5, ASTRO_FORMAT_CF32LE);
    test_free(found);
    test_free(expected);
  }
  test_free(in);
  test_free(zeroed);
}

/* Channels that overlap, or real ones, make no even band. */
static void test_refused(gconstpointer data)
{
  const AstroBackend *backend = data;
  AstroChannelizerConfig config = coarse_config("CF32LE", "time:station:pol:channel", 4, 8);
  g_autoptr(GError) error = NULL;
  config.in.rate_n = 1000;
  config.in.rate_d = 1;
  config.in.frequency = 1e6;
  config.in.bandwidth = 4000;
  g_assert_true(backend->shape(&config, &error));
  config.in.rate_n = 1185;
  g_assert_false(backend->shape(&config, &error));
  g_assert_nonnull(strstr(error->message, "1000 Hz apart and come at 1185 samples a second"));
  g_clear_error(&error);
  config = coarse_config("F32LE", "time:station:pol:channel", 4, 8);
  g_assert_false(backend->shape(&config, &error));
}

static void add_tests(void)
{
  test_find_devices();
  for (guint i = 0; test_backends[i]; i++) {
    const AstroBackend *backend = test_backends[i];
    const char *name = astro_backend_kind_name(backend->kind);
    if (backend->kind == ASTRO_BACKEND_CUDA) /* it leaves spectra to the CPU */
      continue;
    g_autofree char *orders = g_strdup_printf("/channelizer/coarse/orders/%s", name),
                    *losses = g_strdup_printf("/channelizer/coarse/losses/%s", name),
                    *refused = g_strdup_printf("/channelizer/coarse/refused/%s", name);
    g_test_add_data_func(orders, backend, test_orders);
    g_test_add_data_func(losses, backend, test_losses);
    g_test_add_data_func(refused, backend, test_refused);
  }
  g_test_add_func("/channelizer/coarse/long", test_long);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
