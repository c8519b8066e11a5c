/* Reversed bands: the reference checked with tones and single values, the other backends with the
 * reference. */
#include <math.h>

#include "core/sideband/sideband.h"
#include "tests/core/on-device.h"

static AstroStream stream_of(const char *caps_text)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GstCaps) caps = gst_caps_from_string(caps_text);
  AstroStream stream;

  astro_stream_from_caps(&stream, caps, &error);
  g_assert_no_error(error);
  return stream;
}

static void turn(const AstroBackend *backend, const AstroStream *stream, guint threads,
                 gconstpointer in, gpointer out, guint64 first, guint64 steps)
{
  const AstroSidebandConfig config = { *stream };
  const AstroPlace place = { .threads = threads };
  const gsize bytes = steps * astro_stream_step_bytes(stream);
  AstroSidebandArguments arguments = { first, steps };
  const char *variant = NULL;
  GError *error = NULL;
  AstroBlock from = { (gpointer)in, bytes }, to = { out, bytes };
  gpointer instance = backend->create(&config, &place, &variant, &error);

  g_assert_no_error(error);
  g_assert_nonnull(variant);
  g_assert_true(backend->submit(instance, &from, 1, &to, 1, &arguments, NULL, &error));
  g_assert_no_error(error);
  backend->destroy(instance);
}

/* ---- the reference ---- */

static void check_bytes(const char *caps, gconstpointer in, gsize bytes, gconstpointer expected,
                        guint64 first)
{
  const AstroStream stream = stream_of(caps);
  guint8 *out = test_alloc(bytes);

  turn(&astro_sideband_reference, &stream, 1, in, out, first,
       bytes / astro_stream_step_bytes(&stream));
  g_assert_cmpmem(out, bytes, expected, bytes);
  test_check_guard(out, bytes);
  test_free(out);
}

static void test_numbers(void)
{
  const guint8 nibbles[6] = { 0x00, 0x88, 0x7f, 0xf7, 0x18, 0x81 };
  const guint8 turned_nibbles[6] = { 0x00, 0x87, 0x71, 0xf9, 0x17, 0x8f };
  check_bytes("application/x-astro-voltages,format=CI4,layout=time", nibbles, 6, turned_nibbles, 0);

  const gint8 real[6] = { -128, -128, 127, 127, 0, -1 };
  const gint8 turned_real[6] = { -128, 127, 127, -127, 0, 1 },
              from_odd[6] = { 127, -128, -127, 127, 0, -1 };
  check_bytes("application/x-astro-voltages,format=I8,layout=time", real, 6, turned_real, 4);
  check_bytes("application/x-astro-voltages,format=I8,layout=time", real, 6, from_odd, 7);

  /* a spectrum of three channels, of two stations each */
  const gint16 spectra[12] = { 1, 2, 3, -32768, 5, 6, 7, 8, 9, 10, 11, 0 };
  const gint16 turned_spectra[12] = { 9, -10, 11, 0, 5, -6, 7, -8, 1, -2, 3, 32767 };
  check_bytes("application/x-astro-spectra,format=CI16LE,layout=time:channel:station,channels=3,"
              "stations=2",
              spectra, sizeof spectra, turned_spectra, 1);
}

static double power(const float *samples, guint n, guint components, double cycles)
{
  double re = 0, im = 0;

  for (guint t = 0; t < n; t++) {
    const double angle = -2 * G_PI * cycles * t, a = samples[t * components];
    const double b = components == 2 ? samples[2 * t + 1] : 0;
    re += a * cos(angle) - b * sin(angle);
    im += a * sin(angle) + b * cos(angle);
  }
  return (re * re + im * im) / n / n;
}

/* A tone moves to its frequency in the reversed band, and leaves its old place. */
static void test_tones(void)
{
  enum { N = 256 };
  const AstroStream real = stream_of("application/x-astro-voltages,format=F32LE,layout=time");
  const AstroStream complex = stream_of("application/x-astro-voltages,format=CF32LE,layout=time");
  float in[2 * N], out[2 * N];

  for (guint t = 0; t < N; t++)
    in[t] = (float)cos(2 * G_PI * 21 / N * t + 0.3);
  turn(&astro_sideband_reference, &real, 1, in, out, 0, N);
  g_assert_cmpfloat_with_epsilon(power(out, N, 1, 0.5 - 21.0 / N), 0.25, 1e-6);
  g_assert_cmpfloat(power(out, N, 1, 21.0 / N), <, 1e-12);

  for (guint t = 0; t < N; t++) {
    in[2 * t] = (float)cos(2 * G_PI * 21 / N * t + 0.3);
    in[2 * t + 1] = (float)sin(2 * G_PI * 21 / N * t + 0.3);
  }
  turn(&astro_sideband_reference, &complex, 1, in, out, 0, N);
  g_assert_cmpfloat_with_epsilon(power(out, N, 2, -21.0 / N), 1, 1e-6);
  g_assert_cmpfloat(power(out, N, 2, 21.0 / N), <, 1e-12);
}

/* ---- the other backends against it ---- */

static void check(const AstroBackend *backend, const AstroStream *stream, guint64 first,
                  guint64 steps)
{
  const gsize bytes = steps * astro_stream_step_bytes(stream);
  guint8 *in = test_alloc(bytes), *expected = test_alloc(bytes), *out = test_alloc(bytes);

  test_fill(in, bytes, (guint32)(first + steps));
  turn(&astro_sideband_reference, stream, 1, in, expected, first, steps);
  turn(backend, stream, 2, in, out, first, steps);
  g_assert_cmpmem(out, bytes, expected, bytes);
  test_check_guard(out, bytes);
  if (backend->in_place) {
    turn(backend, stream, 1, in, in, first, steps);
    g_assert_cmpmem(in, bytes, expected, bytes);
    test_check_guard(in, bytes);
  }
  test_free(in);
  test_free(expected);
  test_free(out);
}

static const struct {
  const char *layout;
  gboolean is_spectra;
} layouts[] = {
  { "time:station:pol", FALSE },        { "station:time:pol", FALSE },
  { "station:pol:time", FALSE },        { "station:pol:time:channel", TRUE },
  { "time:channel:station:pol", TRUE }, { "channel:time:station:pol", TRUE },
  { "channel:station:pol:time", TRUE }, { "station:channel:time:pol", TRUE },
};

/* An OpenCL device may be the CPU, and gets a part of the cases. */
static gboolean is_left_out(const AstroBackend *backend, guint number)
{
  return backend->kind == ASTRO_BACKEND_OPENCL && number % 5 != 0;
}

static void check_format(const AstroBackend *backend, AstroFormat format)
{
  static const guint64 steps[] = { 0, 1, 2, 5, 64, 101 };
  static const guint sizes[][2] = { { 1, 1 }, { 3, 2 }, { 8, 3 }, { 33, 16 }, { 2, 130 } };
  const gboolean is_complex = astro_format_info(format)->is_complex;
  guint number = 0;

  for (guint l = 0; l < G_N_ELEMENTS(layouts); l++)
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
      if (layouts[l].is_spectra && !is_complex)
        continue;
      g_autofree char *caps = g_strdup_printf(
          "application/x-astro-%s,format=%s,layout=%s,stations=%u,pols=%d%s%u",
          layouts[l].is_spectra ? "spectra" : "voltages", astro_format_info(format)->name,
          layouts[l].layout, sizes[s][0], s % 2 ? 2 : 1,
          layouts[l].is_spectra ? ",channels=" : ",unused=", sizes[s][1]);
      const AstroStream stream = stream_of(caps);
      for (guint n = 0; n < G_N_ELEMENTS(steps); n++)
        if (!test_passes_over(number++) && !is_left_out(backend, number))
          check(backend, &stream, n / 2 % 2 ? 6 : 9, steps[n]);
    }
}

static void test_variants(gconstpointer backend)
{
  for (AstroFormat format = ASTRO_FORMAT_UNKNOWN + 1; format < ASTRO_N_FORMATS; format++)
    if (format != ASTRO_FORMAT_U64LE)
      check_format(backend, format);
}

/* Several tasks, and rows of masks that end inside them. */
static void test_large(gconstpointer backend)
{
  static const char *const caps[] = {
    "application/x-astro-voltages,format=I16LE,layout=time:station:pol,stations=1500,pols=2",
    "application/x-astro-voltages,format=I8,layout=time:station,stations=7",
    "application/x-astro-voltages,format=F32LE,layout=station:time,stations=3",
    "application/x-astro-voltages,format=CI8,layout=time:station,stations=7",
    "application/x-astro-spectra,format=CF32LE,layout=time:channel,channels=1021",
    "application/x-astro-spectra,format=CI4,layout=channel:time:station,channels=5,stations=3",
  };
  for (guint i = 0; i < G_N_ELEMENTS(caps); i++) {
    const AstroStream stream = stream_of(caps[i]);
    check(backend, &stream, 1, 3000000 / astro_stream_step_bytes(&stream));
  }
}

/* Reversing twice changes nothing, except for the smallest integers. */
static void test_twice(void)
{
  const AstroStream stream = stream_of("application/x-astro-spectra,format=CF32LE,"
                                       "layout=time:channel:pol,channels=9,pols=2");
  const gsize bytes = 50 * astro_stream_step_bytes(&stream);
  guint8 *in = test_alloc(bytes), *out = test_alloc(bytes);

  test_fill(in, bytes, 3);
  turn(&astro_sideband_cpu, &stream, 0, in, out, 0, 50);
  g_assert_true(memcmp(in, out, bytes) != 0);
  turn(&astro_sideband_cpu, &stream, 0, out, out, 0, 50);
  g_assert_cmpmem(in, bytes, out, bytes);
  test_free(in);
  test_free(out);
}

static void test_counts(void)
{
  static const guint32 counts[12] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
  static const guint32 turned[12] = { 4, 5, 2, 3, 0, 1, 10, 11, 8, 9, 6, 7 };
  const AstroLayout shape = { 3,
                              { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION },
                              { 2, 3, 2 } };
  const AstroLayout without = { 1, { ASTRO_AXIS_TIME }, { 12 } };
  g_autoptr(GstBuffer) buffer = gst_buffer_new();

  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 11);
  memcpy(meta->counts, counts, sizeof counts);
  astro_sideband_reverse_validity(meta);
  g_assert_cmpmem(meta->counts, sizeof turned, turned, sizeof turned);
  meta = astro_buffer_add_validity(buffer, &without, 11);
  memcpy(meta->counts, counts, sizeof counts);
  astro_sideband_reverse_validity(meta);
  g_assert_cmpmem(meta->counts, sizeof counts, counts, sizeof counts);
}

static void test_refused(void)
{
  static const struct {
    const char *caps, *says;
  } cases[] = {
    { "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,channels=1,"
      "baselines=1,pols=1",
      "visibilities, expected voltages or spectra" },
    { "application/x-astro-spectra,format=F32LE,layout=time:channel,channels=4",
      "spectra of format=F32LE, expected complex ones" },
    { "application/x-astro-voltages,format=U64LE,layout=time",
      "voltages of format=U64LE, expected samples with a sign" },
    { "application/x-astro-voltages,format=I8,layout=time,rate=1000/1,frequency=(double)1e6,"
      "bandwidth=(double)400",
      "bandwidth=400 Hz of real samples at a rate of 1000/1, expected half the rate, 500 Hz" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    for (guint b = 0; astro_sideband_backends[b]; b++) {
      const AstroSidebandConfig config = { stream_of(cases[i].caps) };
      g_autoptr(GError) error = NULL;
      const char *variant;
      g_assert_null(
          astro_sideband_backends[b]->create(&config, &(AstroPlace){ 0 }, &variant, &error));
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
      g_assert_nonnull(strstr(error->message, cases[i].says));
    }
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  const AstroBackend *on_device = test_on_device("sideband");
  const AstroBackend *by_opencl = test_on_opencl("sideband");
  g_test_add_func("/sideband/numbers", test_numbers);
  g_test_add_func("/sideband/tones", test_tones);
  g_test_add_data_func("/sideband/variants/cpu", &astro_sideband_cpu, test_variants);
  test_add_on_device("/sideband/variants/cuda", on_device, test_variants);
  test_add_on_device("/sideband/variants/opencl", by_opencl, test_variants);
  g_test_add_data_func("/sideband/large/cpu", &astro_sideband_cpu, test_large);
  test_add_on_device("/sideband/large/cuda", on_device, test_large);
  test_add_on_device("/sideband/large/opencl", by_opencl, test_large);
  g_test_add_func("/sideband/twice", test_twice);
  g_test_add_func("/sideband/counts", test_counts);
  g_test_add_func("/sideband/refused", test_refused);
  return g_test_run();
}
