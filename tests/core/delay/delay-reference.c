/* Delays by the cpu and device backends compared with the reference, in all formats and layouts, in
 * blocks cut in any way. */
#include "tests/core/delay/delay.h"

static void assert_alike(AstroFormat format, gconstpointer a, gconstpointer b, gsize bytes)
{
  guint different = 0;
  if (astro_format_info(format)->is_float) {
    for (gsize i = 0; i < bytes / 4; i++)
      test_near(((const float *)a)[i], ((const float *)b)[i], 2e-4);
    return;
  }
  /* Integers may differ where a half was rounded the other way. */
  for (gsize i = 0; i < bytes; i++)
    different += ((const guint8 *)a)[i] != ((const guint8 *)b)[i];
  g_assert_cmpuint(different, <=, 2 + bytes / 1000);
}

static const AstroFormat formats[] = { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI16LE,
                                       ASTRO_FORMAT_CF32LE };

static void fill_block(AstroFormat format, gpointer block, gsize bytes)
{
  test_fill(block, bytes, (guint32)g_test_rand_int());
  const AstroFormatInfo *info = astro_format_info(format);
  for (gsize i = 0; info->is_float && i < bytes / 4; i++)
    ((float *)block)[i] = (float)g_test_rand_double_range(-10, 10);
  const gboolean is_wide = format == ASTRO_FORMAT_CI16LE || format == ASTRO_FORMAT_I16LE;
  for (gsize i = 0; is_wide && i < bytes / 2; i++)
    ((gint16 *)block)[i] = (gint16)g_test_rand_int_range(-100, 100);
}

static const char calibration_text[] = "gain * * 2 30\ngain A002 1 0.5 -90\ndelay A001 * 12.5\n"
                                       "delay A003 0 -3\n";

/* All formats and layouts, odd sizes. */
static void test_spectra_reference(void)
{
  static const char *const layouts[] = { "station:pol:time:channel", "channel:time:station:pol",
                                         "time:channel:pol:station", "pol:channel:station:time" };
  enum { POLS = 2, CHANNELS = 1037 };
  g_autofree char *text = g_strconcat(calibration_text,
                                      "bandpass 1e9 1\nbandpass 1.4e9 2\nbandpass 1.5e9 0.7\n"
                                      "bandpass A003 1 1.51e9 90\n",
                                      NULL);
  for (guint c = 0; c < 16; c++) {
    /* Inputs are worked on in groups of 32. */
    guint stations = c % 5 == 1 ? 17 : 3, steps = c % 5 == 1 ? 1 : 3;
    g_autoptr(AstroObservation) observation = test_observe_aside("disc", stations);
    g_autoptr(AstroDelayModel) model = test_model_of(observation, POLS, text);
    AstroFormat from = formats[c % 4], to = formats[(c / 4 + c) % 4];
    AstroStream stream =
        test_stream_of(from, layouts[c / 4], stations, POLS, CHANNELS, 1.4e9, 100000000);
    gsize n = (gsize)stations * POLS * CHANNELS * steps;
    gsize in_bytes = n * astro_format_info(from)->bytes,
          out_bytes = n * astro_format_info(to)->bytes;
    AstroDelayArguments arguments = { .model = model, .first = 7777, .steps = steps };
    gpointer in = test_alloc(in_bytes), a = test_alloc(out_bytes), b = test_alloc(out_bytes);
    fill_block(from, in, in_bytes);
    TestStage reference = test_open_stage(&astro_delay_reference, &stream, to);
    test_submit(&reference, in, in_bytes, a, out_bytes, &arguments);
    test_close_stage(&reference);
    const guint levels = G_N_ELEMENTS(test_levels),
                devices = (test_cuda != NULL) + (test_opencl != NULL);
    for (guint level = 0; level < levels + devices; level++) {
      gboolean on_cpu = level < levels;
      test_with_level(on_cpu ? test_levels[level] : NULL);
      TestStage fast = test_open_stage(
          on_cpu ? &astro_delay_cpu : test_backends[2 + level - levels], &stream, to);
      test_with_level(NULL);
      memset(b, 0xa5, out_bytes);
      test_submit(&fast, in, in_bytes, b, out_bytes, &arguments);
      test_check_guard(b, out_bytes);
      assert_alike(to, a, b, out_bytes);
      test_close_stage(&fast);
    }
    test_free(in);
    test_free(a);
    test_free(b);
  }
}

/* Sends blocks of a voltage stream through, cut at random as an element may get them; returns all
 * output. */
static gpointer run_voltages(const AstroBackend *backend, const AstroStream *stream, AstroFormat to,
                             AstroDelayModel *model, guint8 *in, guint64 first, guint64 steps,
                             gboolean cut)
{
  TestStage stage = test_open_stage(backend, stream, to);
  AstroStream out_stream = *stream;
  out_stream.format = to;
  guint64 margin = astro_delay_margin(model, stream);
  gsize in_step = astro_stream_step_bytes(stream), out_step = astro_stream_step_bytes(&out_stream);
  guint8 *out = test_alloc(steps * out_step);
  guint64 out_next = first;
  for (guint64 at = 0; at <= steps;) {
    guint64 some = (guint64)g_test_rand_int_range(1, 4000);
    guint64 n = MIN(cut ? some : steps, steps - at), end = first + at + n;
    guint64 safe = end > margin ? (end - margin) / ASTRO_DELAY_TILE * ASTRO_DELAY_TILE : 0;
    AstroDelayArguments arguments = {
      .model = model, .first = first + at, .steps = n, .restart = at == 0, .out_first = out_next
    };
    if (n == 0)
      safe = first + steps;
    arguments.out_steps = safe > out_next ? safe - out_next : 0;
    test_submit(&stage, n ? in + at * in_step : NULL, n * in_step,
                arguments.out_steps ? out + (out_next - first) * out_step : NULL,
                arguments.out_steps * out_step, &arguments);
    out_next += arguments.out_steps;
    at += n;
    if (n == 0)
      break;
  }
  g_assert_cmpuint(out_next, ==, first + steps);
  test_check_guard(out, steps * out_step);
  test_close_stage(&stage);
  return out;
}

static void test_voltages_reference(gconstpointer backend)
{
  static const AstroFormat ways[][2] = {
    { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CF32LE },  { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI16LE },
    { ASTRO_FORMAT_CI16LE, ASTRO_FORMAT_CI8 },  { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CI4 },
    { ASTRO_FORMAT_I8, ASTRO_FORMAT_F32LE },    { ASTRO_FORMAT_I16LE, ASTRO_FORMAT_I8 },
    { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_I16LE }, { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_F32LE },
  };
  enum { STATIONS = 3, POLS = 2, STEPS = 3500 };
  g_autoptr(AstroObservation) observation = test_observe_aside("disc", STATIONS);
  g_autoptr(AstroDelayModel) model = test_model_of(observation, POLS, calibration_text);
  for (guint f = 0; f < G_N_ELEMENTS(ways); f++) {
    const AstroFormat from = ways[f][0], to = ways[f][1];
    AstroStream stream =
        test_stream_of(from, "time:station:pol", STATIONS, POLS, 0, 1.4e9, 50000000);
    gsize bytes = STEPS * astro_stream_step_bytes(&stream);
    guint8 *in = test_alloc(bytes);
    fill_block(from, in, bytes);
    gpointer a = run_voltages(&astro_delay_reference, &stream, to, model, in, 5000, STEPS, FALSE);
    gpointer b = run_voltages(backend, &stream, to, model, in, 5000, STEPS, FALSE);
    gpointer c = run_voltages(backend, &stream, to, model, in, 5000, STEPS, TRUE);
    gsize out_bytes = (gsize)STEPS * STATIONS * POLS * astro_format_info(to)->bytes;
    if (astro_format_info(to)->is_float) {
      double square = 0, difference = 0;
      for (gsize i = 0; i < out_bytes / 4; i++) {
        square += ((float *)a)[i] * ((float *)a)[i];
        difference += pow(((float *)a)[i] - ((float *)b)[i], 2);
      }
      g_assert_cmpfloat(square, >, 0);
      g_assert_cmpfloat(sqrt(difference / square), <, 1e-3);
    } else {
      assert_alike(to, a, b, out_bytes);
    }
    g_assert_cmpmem(b, out_bytes, c, out_bytes);
    test_free(in);
    test_free(a);
    test_free(b);
    test_free(c);
  }
}

/* Delays of the instrument do not change as the earth rotates: long ones are no trouble. */
static void test_long_delay(gconstpointer backend)
{
  enum { STATIONS = 3, STEPS = 6000 };
  g_autoptr(AstroObservation) observation = test_observe_aside("disc", STATIONS);
  g_autoptr(AstroDelayModel) model = test_model_of(observation, 1, "delay A002 * -400000000\n");
  AstroStream stream =
      test_stream_of(ASTRO_FORMAT_CF32LE, "time:station:pol", STATIONS, 1, 0, 1.5e8, 10000);
  gsize bytes = STEPS * astro_stream_step_bytes(&stream);
  guint8 *in = test_alloc(bytes);
  fill_block(ASTRO_FORMAT_CF32LE, in, bytes);
  float *a = run_voltages(&astro_delay_reference, &stream, ASTRO_FORMAT_CF32LE, model, in, 5000,
                          STEPS, FALSE);
  float *b = run_voltages(backend, &stream, ASTRO_FORMAT_CF32LE, model, in, 5000, STEPS, TRUE);
  double square = 0, difference = 0;
  for (gsize i = 0; i < bytes / 4; i++) {
    square += a[i] * a[i];
    difference += pow(a[i] - b[i], 2);
  }
  g_assert_cmpfloat(square, >, 0);
  g_assert_cmpfloat(sqrt(difference / square), <, 1e-3);
  test_free(in);
  test_free(a);
  test_free(b);
}

/* A block from that sample on, after which a part of it is delayed. */
static void run_late(const AstroBackend *backend, const AstroStream *stream, AstroDelayModel *model,
                     guint8 *in, guint64 first, guint64 steps, guint64 out_first, guint8 *out,
                     guint64 out_steps)
{
  AstroDelayArguments put = { .model = model, .first = first, .steps = steps, .restart = TRUE };
  AstroDelayArguments take = {
    .model = model, .first = first + steps, .out_first = out_first, .out_steps = out_steps
  };
  TestStage stage = test_open_stage(backend, stream, ASTRO_FORMAT_CI4);
  test_submit(&stage, in, steps, NULL, 0, &put);
  test_submit(&stage, NULL, 0, out, out_steps, &take);
  test_close_stage(&stage);
}

/* Inputs more than 2 GiB apart on the device, in single precision: more than its copies of several
 * rows can span. */
static void test_long_rows(gconstpointer backend)
{
  enum { STEPS = 230000000, LAST = 100000, OUT = 5000 };
  const guint64 out_first = STEPS - LAST / 2;
  g_autoptr(AstroObservation) observation = test_observe_aside("disc", 1);
  g_autoptr(AstroDelayModel) model = test_model_of(observation, 1, NULL);
  AstroStream stream =
      test_stream_of(ASTRO_FORMAT_CI4, "time:station:pol", 1, 1, 0, 1.5e8, 100000000);
  guint8 *in = test_alloc(STEPS), *a = test_alloc(OUT), *b = test_alloc(OUT);
  fill_block(ASTRO_FORMAT_CI4, in, STEPS);
  run_late(&astro_delay_cpu, &stream, model, in + STEPS - LAST, STEPS - LAST, LAST, out_first, a,
           OUT);
  run_late(backend, &stream, model, in, 0, STEPS, out_first, b, OUT);
  assert_alike(ASTRO_FORMAT_CI4, a, b, OUT);
  test_free(in);
  test_free(a);
  test_free(b);
}

/* Layouts are all the same thing in another order. */
static void test_voltage_layouts(gconstpointer backend)
{
  enum { STATIONS = 35, STEPS = 3000 };
  static gint8 in[STEPS][STATIONS][2], turned[STATIONS][STEPS][2];
  g_autoptr(AstroObservation) observation = test_observe_aside("lofar-like", STATIONS);
  g_autoptr(AstroDelayModel) model = test_model_of(observation, 1, NULL);
  AstroStream stream =
      test_stream_of(ASTRO_FORMAT_CI8, "time:station:pol", STATIONS, 1, 0, 1.5e8, 1000000);
  test_fill(in, sizeof in, 5);
  for (guint s = 0; s < STATIONS; s++)
    for (guint i = 0; i < STEPS; i++)
      memcpy(turned[s][i], in[i][s], 2);
  gint8 *a =
      run_voltages(backend, &stream, ASTRO_FORMAT_CI8, model, (guint8 *)in, 100, STEPS, FALSE);
  stream = test_stream_of(ASTRO_FORMAT_CI8, "station:pol:time", STATIONS, 1, 0, 1.5e8, 1000000);
  /* One block in, one block out: future samples that the stage needs are zeros. */
  TestStage stage = test_open_stage(backend, &stream, ASTRO_FORMAT_CI8);
  static gint8 out[STATIONS][STEPS][2];
  AstroDelayArguments arguments = { .model = model,
                                    .first = 100,
                                    .steps = STEPS,
                                    .restart = TRUE,
                                    .out_first = 100,
                                    .out_steps = STEPS };
  test_submit(&stage, turned, sizeof turned, out, sizeof out, &arguments);
  test_close_stage(&stage);
  for (guint s = 0; s < STATIONS; s++)
    for (guint i = 0; i < STEPS; i++)
      g_assert_cmpint(memcmp(out[s][i], a + 2 * (i * STATIONS + s), 2), ==, 0);
  test_free(a);
}

static void add_tests(void)
{
  test_find_devices();
  test_add_for_backends("voltages/reference", test_voltages_reference);
  test_add_for_backends("voltages/layouts", test_voltage_layouts);
  test_add_for_backends("voltages/long-delay", test_long_delay);
  test_add_on_device("/delay/cuda/long-rows", test_cuda, test_long_rows);
  g_test_add_func("/delay/spectra/reference", test_spectra_reference);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
