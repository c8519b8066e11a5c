/* Delays: the interpolation and the kernels against their formulas, the cpu backend against the
 * reference, and both against physics: what a wave from the phase centre becomes has the same phase
 * everywhere, over the band and an hour. */
#include "core/delay/delay.h"
#include "core/delay/kernels.h"
#include "core/delay/losses.h"
#include "core/sky/kernels.h"
#include "core/sky/voltages.h"
#include "core/stream/uvw.h"
#include "tests/core/on-device.h"
#include "tests/observe.h"
#include "tests/tests.h"
#include <complex.h>
#include <math.h>

#define TURN(turns) cexp(2 * I * G_PI * ((turns)-floor(turns)))

static void assert_near(double found, double expected, double tolerance)
{
  if (!(fabs(found - expected) <= tolerance))
    g_error("found %.17g, expected %.17g to %g", found, expected, tolerance);
}

/* Channels all over a bandpass of n points, which rises in a straight line, and beyond its ends. */
static void check_bandpass(guint n)
{
  AstroCalibration calibration = { .n_bandpass = n,
                                   .frequencies = g_new(double, n),
                                   .amplitudes = g_new(double, n) };
  for (guint i = 0; i < n; i++)
    calibration.frequencies[i] = calibration.amplitudes[i] = i + 1;
  for (guint k = 0; k < 10000; k++) {
    double frequency = (k + 0.5) / 10000 * (n + 1);
    assert_near(astro_calibration_bandpass(&calibration, frequency), CLAMP(frequency, 1, n),
                1e-9 * n);
  }
  g_free(calibration.frequencies);
  g_free(calibration.amplitudes);
}

static void test_bandpass(void)
{
  static const guint points[] = { 1, 2, 100, 100000 };
  for (guint i = 0; i < G_N_ELEMENTS(points); i++)
    check_bandpass(points[i]);
}

/* The rate that a refusal tells of is enough, as it is written, and not much more than that. */
static void test_least_rate(void)
{
  static const double reaches[] = { 1e-6, 1e-4, 2e-2, 0.08 }, frequencies[] = { 1e6, 150e6, 1e10 };

  for (guint i = 0; i < G_N_ELEMENTS(reaches); i++)
    for (guint k = 0; k < G_N_ELEMENTS(frequencies); k++) {
      double rate = astro_fraction_least_rate(reaches[i], frequencies[k]);
      g_autofree char *told = g_strdup_printf("%.4g", rate);
      g_assert_cmpuint(
          astro_fraction_stretch(reaches[i], frequencies[k], g_ascii_strtod(told, NULL)), ==, 64);
      g_assert_cmpuint(astro_fraction_stretch(reaches[i], frequencies[k], 0.997 * rate), ==, 0);
    }
  g_assert_cmpfloat(astro_fraction_least_rate(0.09, 150e6), ==, INFINITY);
  g_assert_cmpuint(astro_fraction_stretch(0.09, 150e6, 1e12), ==, 0);
}

static void test_fraction(void)
{
  for (guint i = 0; i <= 333; i++) {
    double fraction = i == 333 ? 0.9999999 : i / 333.0;
    float taps[ASTRO_FRACTION_TAPS];
    astro_fraction_taps(fraction, 2, taps);
    for (double x = -0.45; x <= 0.4501; x += 0.01) {
      double complex sum = 0;
      for (guint k = 0; k < ASTRO_FRACTION_TAPS; k++)
        sum += taps[k] * TURN(x * k);
      sum /= 2 * TURN(x * (ASTRO_FRACTION_CENTRE + fraction));
      assert_near(carg(sum) / (2 * G_PI), 0, 4e-4);
      assert_near(cabs(sum), 1, 5e-3);
    }
  }
}

static const char *const levels[] = { "c", "avx2", "avx512" };

/* The device's backend is the last, where there is one. */
static const AstroBackend *backends[] = { &astro_delay_reference, &astro_delay_cpu, NULL, NULL };

static void with_level(const char *level)
{
  static char *before;
  if (level) {
    before = before ? before : g_strdup(g_getenv("ASTRO_CPU") ? g_getenv("ASTRO_CPU") : "");
    g_setenv("ASTRO_CPU", level, TRUE);
  } else if (before) {
    g_setenv("ASTRO_CPU", before, TRUE);
    g_clear_pointer(&before, g_free);
  }
}

static void test_kernels(void)
{
  static const double phases[] = { 0, 0.3, -1234567.89, 1e9 }, rates[] = { 0, 1e-6, -0.37, 12.25 };
  for (guint level = 0; level < G_N_ELEMENTS(levels); level++) {
    with_level(levels[level]);
    const AstroDelayKernels *kernels = astro_delay_kernels();
    with_level(NULL);
    for (guint n = 64; n <= 1024; n += 192)
      for (guint p = 0; p < 16; p++) {
        double phase = phases[p / 4], rate = rates[p % 4];
        gsize bytes = n * sizeof(float), long_bytes = (n + 31) * sizeof(float);
        float taps[ASTRO_FRACTION_TAPS];
        float *re = test_alloc(long_bytes), *im = test_alloc(long_bytes);
        float *out_re = test_alloc(bytes), *out_im = test_alloc(bytes);
        for (guint i = 0; i < n + 31; i++) {
          re[i] = (float)g_test_rand_double_range(-100, 100);
          im[i] = (float)g_test_rand_double_range(-100, 100);
        }
        for (guint i = 0; i < n; i++)
          out_re[i] = out_im[i] = (float)i;
        astro_fraction_taps(0.4, 1, taps);
        kernels->interpolate(re, im, taps, phase, rate, n, out_re, out_im);
        test_check_guard(out_re, bytes);
        test_check_guard(out_im, bytes);
        for (guint i = 0; i < n; i++) {
          double complex sum = 0;
          for (guint k = 0; k < ASTRO_FRACTION_TAPS; k++)
            sum += taps[k] * (re[i + k] + I * im[i + k]);
          sum = sum * TURN(phase + i * rate) + i + I * i;
          assert_near(out_re[i], creal(sum), 2e-3);
          assert_near(out_im[i], cimag(sum), 2e-3);
        }
        memcpy(out_re, re, bytes);
        memcpy(out_im, im, bytes);
        kernels->turn(out_re, out_im, phase, rate, n);
        test_check_guard(out_re, bytes);
        test_check_guard(out_im, bytes);
        for (guint i = 0; i < n; i++) {
          double complex turned = (re[i] + I * im[i]) * TURN(phase + i * rate);
          assert_near(out_re[i], creal(turned), 2e-4);
          assert_near(out_im[i], cimag(turned), 2e-4);
        }
        test_free(re);
        test_free(im);
        test_free(out_re);
        test_free(out_im);
      }
  }
}

/* The parts of a sample as its format has them. */
static void parts_of(AstroFormat format, const guint8 *sample, float *re, float *im)
{
  const float *real = (const float *)sample;
  gint16 whole[2];
  memcpy(whole, sample, MIN(astro_format_info(format)->bytes, sizeof whole));
  switch (format) {
  case ASTRO_FORMAT_CI4:
    *re = (float)((*sample >> 4 ^ 8) - 8);
    *im = (float)(((*sample & 15) ^ 8) - 8);
    break;
  case ASTRO_FORMAT_CI8:
    *re = ((const gint8 *)sample)[0];
    *im = ((const gint8 *)sample)[1];
    break;
  case ASTRO_FORMAT_CI16LE:
    *re = whole[0];
    *im = whole[1];
    break;
  default:
    *re = real[0];
    *im = real[1];
  }
}

/* What a part becomes: rounded half to even, and kept within the format's range. */
static float part_stored(double value, double limit)
{
  return limit > 0 ? (float)CLAMP(nearbyint(value), -limit - 1, limit) : (float)value;
}

/* Any samples from any address, and numbers beyond their range and half-way between two, in any
 * length. */
static void test_samples(void)
{
  static const struct {
    AstroFormat format;
    double limit;
  } formats[] = { { ASTRO_FORMAT_CI4, 7 },
                  { ASTRO_FORMAT_CI8, 127 },
                  { ASTRO_FORMAT_CI16LE, 32767 },
                  { ASTRO_FORMAT_CF32LE, 0 } };
  enum { MOST = 70 };
  for (guint level = 0; level < G_N_ELEMENTS(levels); level++) {
    with_level(levels[level]);
    const AstroDelayKernels *kernels = astro_delay_kernels();
    const AstroSkyKernels *sky_kernels = astro_sky_kernels();
    with_level(NULL);
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
      for (guint n = 1; n <= MOST; n++) {
        const AstroFormat format = formats[f].format;
        const gsize sample = astro_format_info(format)->bytes, floats = n * sizeof(float);
        const gsize room = (n + 15) / 16 * 16 * sizeof(float);
        guint8 *in = test_alloc(n * sample + 1), *out = test_alloc(n * sample);
        float *re = test_alloc(floats), *im = test_alloc(floats);
        float *from_re = test_alloc(room), *from_im = test_alloc(room), x, y;
        test_fill(in, n * sample + 1, n);
        if (format == ASTRO_FORMAT_CF32LE)
          for (guint i = 0; i < 2 * n; i++)
            memcpy(in + 1 + 4 * i, &(float){ (float)i * 0.37f - 5 }, 4);
        kernels->load[format](in + 1, n, re, im);
        test_check_guard(re, floats);
        test_check_guard(im, floats);
        for (guint i = 0; i < n; i++) {
          guint8 aligned[8] __attribute__((aligned(8)));
          memcpy(aligned, in + 1 + i * sample, sample);
          parts_of(format, aligned, &x, &y);
          g_assert_cmpfloat(re[i], ==, x);
          g_assert_cmpfloat(im[i], ==, y);
          from_re[i] = (float)(gint)(i * 37 % 61) - 30 + (i % 3 ? 0.5f : 0.2f);
          from_im[i] = ((float)i - 20) * 3000;
        }
        sky_kernels->store[format](from_re, from_im, n, 0.5f, out);
        test_check_guard(out, n * sample);
        for (guint i = 0; i < n; i++) {
          parts_of(format, out + i * sample, &x, &y);
          g_assert_cmpfloat(x, ==, part_stored(from_re[i] * 0.5, formats[f].limit));
          g_assert_cmpfloat(y, ==, part_stored(from_im[i] * 0.5, formats[f].limit));
        }
        gpointer blocks[] = { in, out, re, im, from_re, from_im };
        for (guint b = 0; b < G_N_ELEMENTS(blocks); b++)
          test_free(blocks[b]);
      }
  }
}

static AstroObservation *observe(const char *array, guint stations)
{
  AstroObservation *observation = test_observe(array, stations);
  observation->phase_ra += 0.3;
  observation->phase_dec += 0.2;
  return observation;
}

static AstroCalibration *calibrate(const char *text, const AstroObservation *observation,
                                   guint pols, GError **error)
{
  AstroLines lines;
  astro_lines_init(&lines, "c.txt", g_strdup(text));
  AstroCalibration *calibration = astro_calibration_read(&lines, observation, pols, error);
  astro_lines_clear(&lines);
  return calibration;
}

static AstroDelayModel *model_of(AstroObservation *observation, guint pols, const char *calibration)
{
  g_autoptr(GError) error = NULL;
  AstroCalibration *read = calibration ? calibrate(calibration, observation, pols, &error) : NULL;
  g_assert_no_error(error);
  AstroDelayModel *model = astro_delay_model_new(observation, pols, read, &error);
  g_assert_no_error(error);
  return model;
}

static AstroStream stream_of(AstroFormat format, const char *layout, guint stations, guint pols,
                             guint channels, double frequency, gint bandwidth)
{
  AstroStream stream = { .quantity = channels ? ASTRO_QUANTITY_SPECTRA : ASTRO_QUANTITY_VOLTAGES,
                         .format = format,
                         .rate_n = bandwidth,
                         .rate_d = (gint)MAX(channels, 1),
                         .frequency = frequency,
                         .bandwidth = bandwidth };
  g_assert_true(astro_layout_parse(&stream.layout, layout, stream.quantity, NULL));
  for (guint i = 0; i < stream.layout.n_axes; i++)
    stream.layout.extents[i] = stream.layout.axes[i] == ASTRO_AXIS_STATION   ? stations
                               : stream.layout.axes[i] == ASTRO_AXIS_POL     ? pols
                               : stream.layout.axes[i] == ASTRO_AXIS_CHANNEL ? channels
                                                                             : 0;
  return stream;
}

typedef struct {
  const AstroBackend *backend;
  gpointer instance;
} Stage;

static Stage open_stage(const AstroBackend *backend, const AstroStream *in, AstroFormat out)
{
  AstroDelayConfig config = { *in, *in };
  AstroPlace place = { .threads = 2 };
  g_autoptr(GError) error = NULL;
  const char *variant = NULL;
  config.out.format = out;
  g_assert_true(backend->shape(&config, &error));
  Stage stage = { backend, backend->create(&config, &place, &variant, &error) };
  g_assert_no_error(error);
  g_assert_nonnull(variant);
  return stage;
}

static void submit(Stage *stage, gpointer in, gsize in_bytes, gpointer out, gsize out_bytes,
                   AstroDelayArguments *arguments)
{
  g_autoptr(GError) error = NULL;
  AstroBlock from = { in, in_bytes }, to = { out, out_bytes };
  stage->backend->submit(stage->instance, &from, in != NULL, &to, out != NULL, arguments, &error);
  g_assert_no_error(error);
}

static void close_stage(Stage *stage)
{
  stage->backend->destroy(stage->instance);
}

/* A wave from the phase centre, as (u,v,w) alone says it: after the stage its phase is 0. */
static void test_flat_spectra(void)
{
  enum { STATIONS = 5, CHANNELS = 200, STEPS = 3 };
  static float complex in[STATIONS][2][STEPS][CHANNELS], out[STATIONS][2][STEPS][CHANNELS];
  static const double seconds[] = { 0, 0.123, 1800, 3600 };
  g_autoptr(AstroObservation) observation = observe("vla-like", STATIONS);
  g_autoptr(AstroDelayModel) model = model_of(observation, 2, NULL);
  AstroStream stream = stream_of(ASTRO_FORMAT_CF32LE, "station:pol:time:channel", STATIONS, 2,
                                 CHANNELS, 1.4e9, 100000000);
  for (guint b = 0; backends[b]; b++) {
    Stage stage = open_stage(backends[b], &stream, ASTRO_FORMAT_CF32LE);
    for (guint t = 0; t < G_N_ELEMENTS(seconds); t++) {
      AstroDelayArguments arguments = { .model = model,
                                        .steps = STEPS,
                                        .first = (guint64)(seconds[t] * 1e8 / CHANNELS) };
      double uvw[3 * STATIONS];
      for (guint step = 0; step < STEPS; step++) {
        astro_uvw(observation, (gint64)((arguments.first + step + 0.5) * CHANNELS * 10), uvw);
        for (guint s = 0; s < STATIONS; s++)
          for (guint k = 0; k < CHANNELS; k++) {
            double frequency = 1.4e9 + 1e8 * ((k + 0.5) / CHANNELS - 0.5);
            double tau = (uvw[3 * s + 2] - uvw[2]) / ASTRO_LIGHT_SPEED;
            in[s][0][step][k] = in[s][1][step][k] = (float complex)TURN(frequency * tau);
          }
      }
      submit(&stage, in, sizeof in, out, sizeof out, &arguments);
      for (guint i = 0; i < STATIONS * 2 * STEPS * CHANNELS; i++) {
        double complex first = out[0][0][i / CHANNELS % STEPS][i % CHANNELS];
        assert_near(carg(((float complex *)out)[i] * conj(first)) / (2 * G_PI), 0, 1e-4);
        assert_near(cabsf(((float complex *)out)[i]), 1, 1e-5);
      }
    }
    close_stage(&stage);
  }
}

static void assert_alike(AstroFormat format, gconstpointer a, gconstpointer b, gsize bytes)
{
  guint different = 0;
  if (format == ASTRO_FORMAT_CF32LE) {
    for (gsize i = 0; i < bytes / 4; i++)
      assert_near(((const float *)a)[i], ((const float *)b)[i], 2e-4);
    return;
  }
  /* Whole numbers differ where a half was rounded either way. */
  for (gsize i = 0; i < bytes; i++)
    different += ((const guint8 *)a)[i] != ((const guint8 *)b)[i];
  g_assert_cmpuint(different, <=, 2 + bytes / 1000);
}

static const AstroFormat formats[] = { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI16LE,
                                       ASTRO_FORMAT_CF32LE };

static void fill_block(AstroFormat format, gpointer block, gsize bytes)
{
  test_fill(block, bytes, (guint32)g_test_rand_int());
  for (gsize i = 0; format == ASTRO_FORMAT_CF32LE && i < bytes / 4; i++)
    ((float *)block)[i] = (float)g_test_rand_double_range(-10, 10);
  for (gsize i = 0; format == ASTRO_FORMAT_CI16LE && i < bytes / 2; i++)
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
  g_autofree char *text =
      g_strconcat(calibration_text, "bandpass 1e9 1\nbandpass 1.4e9 2\nbandpass 1.5e9 0.7\n", NULL);
  for (guint c = 0; c < 16; c++) {
    /* Inputs are worked on in groups of 32. */
    guint stations = c % 5 == 1 ? 17 : 3, steps = c % 5 == 1 ? 1 : 3;
    g_autoptr(AstroObservation) observation = observe("disc", stations);
    g_autoptr(AstroDelayModel) model = model_of(observation, POLS, text);
    AstroFormat from = formats[c % 4], to = formats[(c / 4 + c) % 4];
    AstroStream stream =
        stream_of(from, layouts[c / 4], stations, POLS, CHANNELS, 1.4e9, 100000000);
    gsize n = (gsize)stations * POLS * CHANNELS * steps;
    gsize in_bytes = n * astro_format_info(from)->bytes,
          out_bytes = n * astro_format_info(to)->bytes;
    AstroDelayArguments arguments = { .model = model, .first = 7777, .steps = steps };
    gpointer in = test_alloc(in_bytes), a = test_alloc(out_bytes), b = test_alloc(out_bytes);
    fill_block(from, in, in_bytes);
    Stage reference = open_stage(&astro_delay_reference, &stream, to);
    submit(&reference, in, in_bytes, a, out_bytes, &arguments);
    close_stage(&reference);
    for (guint level = 0; level < G_N_ELEMENTS(levels) + (backends[2] != NULL); level++) {
      gboolean on_cpu = level < G_N_ELEMENTS(levels);
      with_level(on_cpu ? levels[level] : NULL);
      Stage fast = open_stage(on_cpu ? &astro_delay_cpu : backends[2], &stream, to);
      with_level(NULL);
      memset(b, 0xa5, out_bytes);
      submit(&fast, in, in_bytes, b, out_bytes, &arguments);
      test_check_guard(b, out_bytes);
      assert_alike(to, a, b, out_bytes);
      close_stage(&fast);
    }
    test_free(in);
    test_free(a);
    test_free(b);
  }
}

/* Sends blocks of a voltage stream through, as the element does, cut at random; all that comes out.
 */
static gpointer run_voltages(const AstroBackend *backend, const AstroStream *stream, AstroFormat to,
                             AstroDelayModel *model, guint8 *in, guint64 first, guint64 steps,
                             gboolean cut)
{
  Stage stage = open_stage(backend, stream, to);
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
    submit(&stage, n ? in + at * in_step : NULL, n * in_step,
           arguments.out_steps ? out + (out_next - first) * out_step : NULL,
           arguments.out_steps * out_step, &arguments);
    out_next += arguments.out_steps;
    at += n;
    if (n == 0)
      break;
  }
  g_assert_cmpuint(out_next, ==, first + steps);
  test_check_guard(out, steps * out_step);
  close_stage(&stage);
  return out;
}

static void test_voltages_reference(gconstpointer backend)
{
  enum { STATIONS = 3, POLS = 2, STEPS = 3500 };
  g_autoptr(AstroObservation) observation = observe("disc", STATIONS);
  g_autoptr(AstroDelayModel) model = model_of(observation, POLS, calibration_text);
  for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
    AstroFormat to = formats[3 - f];
    AstroStream stream =
        stream_of(formats[f], "time:station:pol", STATIONS, POLS, 0, 1.4e9, 50000000);
    gsize bytes = STEPS * astro_stream_step_bytes(&stream);
    guint8 *in = test_alloc(bytes);
    fill_block(formats[f], in, bytes);
    gpointer a = run_voltages(&astro_delay_reference, &stream, to, model, in, 5000, STEPS, FALSE);
    gpointer b = run_voltages(backend, &stream, to, model, in, 5000, STEPS, FALSE);
    gpointer c = run_voltages(backend, &stream, to, model, in, 5000, STEPS, TRUE);
    gsize out_bytes = (gsize)STEPS * STATIONS * POLS * astro_format_info(to)->bytes;
    if (to == ASTRO_FORMAT_CF32LE) {
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

/* Delays of the instrument do not turn with the earth: long ones are no trouble. */
static void test_long_delay(gconstpointer backend)
{
  enum { STATIONS = 3, STEPS = 6000 };
  g_autoptr(AstroObservation) observation = observe("disc", STATIONS);
  g_autoptr(AstroDelayModel) model = model_of(observation, 1, "delay A002 * -400000000\n");
  AstroStream stream =
      stream_of(ASTRO_FORMAT_CF32LE, "time:station:pol", STATIONS, 1, 0, 1.5e8, 10000);
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

/* A block from that sample on, then what was delayed of some of it. */
static void run_late(const AstroBackend *backend, const AstroStream *stream, AstroDelayModel *model,
                     guint8 *in, guint64 first, guint64 steps, guint64 out_first, guint8 *out,
                     guint64 out_steps)
{
  AstroDelayArguments put = { .model = model, .first = first, .steps = steps, .restart = TRUE };
  AstroDelayArguments take = {
    .model = model, .first = first + steps, .out_first = out_first, .out_steps = out_steps
  };
  Stage stage = open_stage(backend, stream, ASTRO_FORMAT_CI4);
  submit(&stage, in, steps, NULL, 0, &put);
  submit(&stage, NULL, 0, out, out_steps, &take);
  close_stage(&stage);
}

/* Inputs that lie more than 2 GiB apart on the device, as single precision: more than its copies of
 * several rows take. */
static void test_long_rows(gconstpointer backend)
{
  enum { STEPS = 230000000, LAST = 100000, OUT = 5000 };
  const guint64 out_first = STEPS - LAST / 2;
  g_autoptr(AstroObservation) observation = observe("disc", 1);
  g_autoptr(AstroDelayModel) model = model_of(observation, 1, NULL);
  AstroStream stream = stream_of(ASTRO_FORMAT_CI4, "time:station:pol", 1, 1, 0, 1.5e8, 100000000);
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

/* What a sample of the farthest stations needs lies within the margin, for all that their delays
 * change while the wave is under way. */
static void test_far_stations(void)
{
  enum { STATIONS = 2 };
  const double rate = 10000, tile = ASTRO_DELAY_TILE / rate;
  g_autoptr(AstroObservation) observation = observe("disc", STATIONS);
  observation->phase_dec = 0;
  for (guint k = 0; k < 3; k++)
    observation->positions[3 + k] = k == 0 ? ASTRO_OBSERVATION_MAX_METRES : 0;
  g_autoptr(AstroDelayModel) model = model_of(observation, 1, NULL);
  AstroStream stream =
      stream_of(ASTRO_FORMAT_CF32LE, "time:station:pol", STATIONS, 1, 0, 1.5e8, (gint)rate);
  double margin = (double)astro_delay_margin(model, &stream), most = 0;
  for (guint minute = 0; minute < 1440; minute++) {
    double now[STATIONS], next[STATIONS];
    astro_delay_model_at(model, minute * 60 * (gint64)GST_SECOND, now);
    astro_delay_model_at(model, minute * 60 * (gint64)GST_SECOND + (gint64)(tile * 1e9), next);
    for (guint s = 0; s < STATIONS; s++)
      most = fmax(most, fabs(now[s] * (1 - (next[s] - now[s]) / tile)) * rate);
  }
  g_assert_cmpfloat(most, >, astro_delay_model_longest(model) * rate);
  g_assert_cmpfloat(most, <=, margin - ASTRO_FRACTION_TAPS);
}

/* Layouts are all the same thing in another order. */
static void test_voltage_layouts(gconstpointer backend)
{
  enum { STATIONS = 35, STEPS = 3000 };
  static gint8 in[STEPS][STATIONS][2], turned[STATIONS][STEPS][2];
  g_autoptr(AstroObservation) observation = observe("lofar-like", STATIONS);
  g_autoptr(AstroDelayModel) model = model_of(observation, 1, NULL);
  AstroStream stream =
      stream_of(ASTRO_FORMAT_CI8, "time:station:pol", STATIONS, 1, 0, 1.5e8, 1000000);
  test_fill(in, sizeof in, 5);
  for (guint s = 0; s < STATIONS; s++)
    for (guint i = 0; i < STEPS; i++)
      memcpy(turned[s][i], in[i][s], 2);
  gint8 *a =
      run_voltages(backend, &stream, ASTRO_FORMAT_CI8, model, (guint8 *)in, 100, STEPS, FALSE);
  stream = stream_of(ASTRO_FORMAT_CI8, "station:pol:time", STATIONS, 1, 0, 1.5e8, 1000000);
  /* In one block, out in one: the stage keeps what it needs of the future as zeros. */
  Stage stage = open_stage(backend, &stream, ASTRO_FORMAT_CI8);
  static gint8 out[STATIONS][STEPS][2];
  AstroDelayArguments arguments = { .model = model,
                                    .first = 100,
                                    .steps = STEPS,
                                    .restart = TRUE,
                                    .out_first = 100,
                                    .out_steps = STEPS };
  submit(&stage, turned, sizeof turned, out, sizeof out, &arguments);
  close_stage(&stage);
  for (guint s = 0; s < STATIONS; s++)
    for (guint i = 0; i < STEPS; i++)
      g_assert_cmpint(memcmp(out[s][i], a + 2 * (i * STATIONS + s), 2), ==, 0);
  test_free(a);
}

static void transform(double complex *x, guint n)
{
  if (n == 1)
    return;
  g_autofree double complex *halves = g_new(double complex, n);
  for (guint i = 0; i < n; i++)
    halves[i / 2 + i % 2 * (n / 2)] = x[i];
  transform(halves, n / 2);
  transform(halves + n / 2, n / 2);
  for (guint i = 0; i < n / 2; i++) {
    double complex odd = halves[n / 2 + i] * TURN(-(double)i / n);
    x[i] = halves[i] + odd;
    x[i + n / 2] = halves[i] - odd;
  }
}

/* From the simulated sky to flat phases: a source at the phase centre, an array as wide as
 * thousands of samples, at the start and an hour later. */
static void test_flat_voltages(gconstpointer backend)
{
  enum { STATIONS = 4, LENGTH = 512, SEGMENTS = 20, STEPS = 30000 };
  static const double seconds[] = { 0, 3600 };
  g_autoptr(AstroObservation) observation = observe("lofar-like", STATIONS);
  g_autoptr(AstroDelayModel) model = model_of(observation, 1, NULL);
  g_autoptr(AstroSky) sky = astro_sky_new("0,0,1", NULL);
  g_assert_true(astro_sky_resolve(sky, observation, NULL));
  AstroVoltagesConfig config = {
    .observation = observation,
    .sky = sky,
    .stream = stream_of(ASTRO_FORMAT_CF32LE, "station:pol:time", STATIONS, 1, 0, 1.5e8, 20000000),
  };
  g_assert_cmpfloat(astro_delay_model_reach(model) * 2e7, >, 1000);
  for (guint t = 0; t < G_N_ELEMENTS(seconds); t++) {
    guint64 first = (guint64)(seconds[t] * 2e7) + 99;
    gsize bytes = sizeof(float complex) * STATIONS * STEPS;
    float complex *in = test_alloc(bytes), *out = test_alloc(bytes);
    g_autoptr(AstroVoltages) voltages = astro_voltages_new(&config, NULL);
    astro_voltages_fill(voltages, first, STEPS, in);
    Stage stage = open_stage(backend, &config.stream, ASTRO_FORMAT_CF32LE);
    AstroDelayArguments arguments = { .model = model,
                                      .first = first,
                                      .steps = STEPS,
                                      .restart = TRUE,
                                      .out_first = first,
                                      .out_steps = STEPS };
    submit(&stage, in, bytes, out, bytes, &arguments);
    close_stage(&stage);
    for (guint s = 1; s < STATIONS; s++) {
      double complex cross[LENGTH] = { 0 };
      double power[LENGTH] = { 0 };
      for (guint segment = 0; segment < SEGMENTS; segment++) {
        double complex a[LENGTH], b[LENGTH];
        for (guint i = 0; i < LENGTH; i++) {
          double window = sin(G_PI * (i + 0.5) / LENGTH);
          a[i] = window * out[s * STEPS + 10000 + segment * LENGTH + i];
          b[i] = window * out[10000 + segment * LENGTH + i];
        }
        transform(a, LENGTH);
        transform(b, LENGTH);
        for (guint i = 0; i < LENGTH; i++) {
          cross[i] += a[i] * conj(b[i]);
          power[i] += creal(b[i] * conj(b[i]));
        }
      }
      for (gint k = -LENGTH * 45 / 100; k <= LENGTH * 45 / 100; k++) {
        guint at = (guint)(k + LENGTH) % LENGTH;
        assert_near(carg(cross[at]) / (2 * G_PI), 0, 1e-3);
        assert_near(cabs(cross[at]) / power[at], 1, 0.02);
      }
    }
    test_free(in);
    test_free(out);
  }
}

/* What the file says that the instrument did is undone. */
static void test_calibration(gconstpointer backend)
{
  enum { STATIONS = 2, CHANNELS = 100 };
  static float complex in[STATIONS][CHANNELS], out[STATIONS][CHANNELS];
  g_autoptr(AstroObservation) observation = observe("disc", STATIONS);
  g_autoptr(AstroDelayModel) plain = model_of(observation, 1, NULL);
  g_autoptr(AstroDelayModel) model =
      model_of(observation, 1,
               "gain * 0 3\ngain A002 * 0.5 45 # replaced\ndelay A002 0 100\nbandpass 1.39e9 2\n"
               "bandpass 1.41e9 4\n");
  AstroStream stream = stream_of(ASTRO_FORMAT_CF32LE, "station:pol:time:channel", STATIONS, 1,
                                 CHANNELS, 1.4e9, 40000000);
  double delays[STATIONS];
  astro_delay_model_at(plain, CHANNELS * 25 / 2, delays);
  for (guint s = 0; s < STATIONS; s++)
    for (guint k = 0; k < CHANNELS; k++) {
      double frequency = 1.4e9 + 4e7 * ((k + 0.5) / CHANNELS - 0.5);
      double bandpass = frequency < 1.39e9   ? 2
                        : frequency > 1.41e9 ? 4
                                             : 3 + (frequency - 1.4e9) / 1e7;
      double complex did = s ? 0.5 * TURN(0.125) * TURN(-frequency * 1e-7) : 3;
      in[s][k] = (float complex)(bandpass * did * TURN(frequency * delays[s]));
    }
  AstroDelayArguments arguments = { .model = model, .steps = 1 };
  Stage stage = open_stage(backend, &stream, ASTRO_FORMAT_CF32LE);
  submit(&stage, in, sizeof in, out, sizeof out, &arguments);
  close_stage(&stage);
  for (guint i = 0; i < STATIONS * CHANNELS; i++) {
    assert_near(creal(((float complex *)out)[i]), 1, 1e-3);
    assert_near(cimag(((float complex *)out)[i]), 0, 1e-3);
  }
}

static void test_calibration_errors(void)
{
  static const char *const cases[][2] = {
    { "gain\n", "c.txt:1: expected gain STATION POL AMPLITUDE [DEGREES]" },
    { "\ngain A001 0 1 2 3\n", "c.txt:2: expected gain" },
    { "gain A001 0 x\n", "c.txt:1: expected gain" },
    { "gain A001 0 0\n", "expected more than 0" },
    { "gain Z 0 1\n", "no input is station \"Z\", polarisation \"0\": there are 3 stations" },
    { "delay A001 2 1\n", "polarisations 0 to 1" },
    { "delay * * 1e12\n", "within a second" },
    { "bandpass 2 1\nbandpass 1 1\n", "c.txt:2: bandpass 1 1: expected frequencies that rise" },
    { "bandpass 2 0\n", "amplitudes above 0" },
    { "phase 1 2\n", "found \"phase\", expected gain, delay or bandpass" },
  };
  g_autoptr(AstroObservation) observation = observe("disc", 3);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(calibrate(cases[i][0], observation, 2, &error));
    g_assert_nonnull(error);
    test_says(error->message, cases[i][1]);
  }
  observation->has_phase_centre = FALSE;
  g_autoptr(GError) error = NULL;
  g_assert_null(astro_delay_model_new(observation, 1, NULL, &error));
  g_assert_nonnull(strstr(error->message, "no phase centre"));
}

/* Blocks of no steps, of orders that rows lie in and of others. */
static void test_empty(void)
{
  static const char *const layouts[] = { "station:pol:time:channel", "channel:time:station:pol",
                                         "station:pol:time", "time:station:pol" };
  g_autoptr(AstroObservation) observation = observe("disc", 2);
  g_autoptr(AstroDelayModel) model = model_of(observation, 1, NULL);
  guint8 block[1];
  for (guint l = 0; l < G_N_ELEMENTS(layouts); l++)
    for (guint b = 0; backends[b]; b++) {
      AstroStream stream =
          stream_of(ASTRO_FORMAT_CI8, layouts[l], 2, 1, l < 2 ? 8 : 0, 1.4e9, 1000000);
      AstroDelayArguments arguments = { .model = model, .restart = TRUE };
      Stage stage = open_stage(backends[b], &stream, ASTRO_FORMAT_CI8);
      submit(&stage, block, 0, block, 0, &arguments);
      close_stage(&stage);
    }
}

static void test_shapes(void)
{
  AstroStream good = stream_of(ASTRO_FORMAT_CI8, "time:station:pol", 2, 1, 0, 1e9, 1000);
  AstroDelayConfig configs[5];
  for (guint i = 0; i < 5; i++)
    configs[i] = (AstroDelayConfig){ good, good };
  configs[0].in.rate_n = 0;
  configs[1].out.frequency = 0;
  configs[2].in.format = ASTRO_FORMAT_CF16LE;
  configs[3].out.layout.extents[1] = 3;
  configs[4].in.quantity = ASTRO_QUANTITY_IMAGE;
  for (guint i = 0; i < 5; i++)
    for (guint b = 0; backends[b]; b++) {
      g_autoptr(GError) error = NULL;
      g_assert_false(backends[b]->shape(&configs[i], &error));
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
    }
}

/* A layout is its axes and their extents, not what else its memory holds. */
static void test_same_layout(void)
{
  AstroStream stream = stream_of(ASTRO_FORMAT_CI8, "time:station:pol", 2, 1, 0, 1e9, 1000);
  AstroDelayConfig config;
  memset(&config, 0xa5, sizeof config);
  config.in = stream;
  config.out.quantity = stream.quantity;
  config.out.format = stream.format;
  config.out.rate_n = stream.rate_n;
  config.out.rate_d = stream.rate_d;
  config.out.frequency = stream.frequency;
  config.out.bandwidth = stream.bandwidth;
  config.out.layout.n_axes = stream.layout.n_axes;
  for (guint i = 0; i < stream.layout.n_axes; i++) {
    config.out.layout.axes[i] = stream.layout.axes[i];
    config.out.layout.extents[i] = stream.layout.extents[i];
  }
  for (guint b = 0; backends[b]; b++) {
    g_autoptr(GError) error = NULL;
    backends[b]->shape(&config, &error);
    g_assert_no_error(error);
  }
}

/* A loss moves with its station's delay and grows by the interpolation's reach, and no more. */
static void test_losses(void)
{
  enum { STATIONS = 3, STEPS = 2000 };
  g_autoptr(AstroObservation) observation = observe("lofar-like", STATIONS);
  g_autoptr(AstroDelayModel) model = model_of(observation, 1, NULL);
  AstroStream stream =
      stream_of(ASTRO_FORMAT_CI8, "time:station:pol", STATIONS, 1, 0, 1e8, 1000000);
  AstroLayout shape = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION }, { STEPS, STATIONS } };
  AstroDelayLosses *losses = astro_delay_losses_new();
  g_autoptr(GstBuffer) in = gst_buffer_new_and_alloc(STEPS * STATIONS * 2);
  double delays[STATIONS];
  astro_delay_model_at(model, 5000000, delays);

  AstroValidityMeta *meta = astro_buffer_add_validity(in, &shape, 1);
  for (guint i = 700; i < 710; i++)
    meta->counts[i * STATIONS + 1] = 0;
  astro_delay_losses_read(losses, model, &stream, in, 5000, STEPS);
  for (guint block = 0; block < 2; block++) {
    g_autoptr(GstBuffer) out = gst_buffer_new_and_alloc(STEPS / 2 * STATIONS * 2);
    astro_delay_losses_mark(losses, &stream, out, 5000 + block * STEPS / 2, STEPS / 2);
    AstroValidityMeta *found = astro_buffer_get_validity(out);
    double lag = delays[1] * 1e6;
    for (guint i = 0; found && i < STEPS / 2; i++)
      for (guint s = 0; s < STATIONS; s++) {
        double at = block * STEPS / 2.0 + i - lag; /* the sample that it comes from */
        guint32 count = found->counts[i * STATIONS + s];
        if (s != 1 || at < 700 - 20 || at > 709 + 20)
          g_assert_cmpuint(count, ==, 1);
        else if (at > 700 - 15 && at < 709 + 15)
          g_assert_cmpuint(count, ==, 0);
      }
    g_assert_true((found != NULL) == (block == (guint)((700 + lag) * 2 / STEPS)));
  }

  /* A gap takes all stations; what is forgotten does not come back. */
  g_autoptr(GstBuffer) gap = gst_buffer_new_and_alloc(STEPS * STATIONS * 2);
  GST_BUFFER_FLAG_SET(gap, GST_BUFFER_FLAG_GAP);
  astro_delay_losses_read(losses, model, &stream, gap, 7000, STEPS);
  g_autoptr(GstBuffer) out = gst_buffer_new_and_alloc(STATIONS * 2);
  astro_delay_losses_mark(losses, &stream, out, 8000, 1);
  for (guint s = 0; s < STATIONS; s++)
    g_assert_cmpuint(astro_buffer_get_validity(out)->counts[s], ==, 0);
  astro_delay_losses_clear(losses);
  g_autoptr(GstBuffer) later = gst_buffer_new_and_alloc(STATIONS * 2);
  astro_delay_losses_mark(losses, &stream, later, 8001, 1);
  g_assert_null(astro_buffer_get_validity(later));
  astro_delay_losses_free(losses);
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  gst_init(&argc, &argv);
  static const struct {
    const char *name;
    GTestDataFunc func;
  } fast[] = { { "voltages/reference", test_voltages_reference },
               { "voltages/layouts", test_voltage_layouts },
               { "voltages/flat", test_flat_voltages },
               { "voltages/long-delay", test_long_delay },
               { "calibration/divided-out", test_calibration } };
  backends[2] = test_on_device("delay");
  for (guint i = 0; i < G_N_ELEMENTS(fast); i++) {
    g_autofree char *on_cpu = g_strdup_printf("/delay/%s/cpu", fast[i].name);
    g_autofree char *on_cuda = g_strdup_printf("/delay/%s/cuda", fast[i].name);
    g_test_add_data_func(on_cpu, backends[1], fast[i].func);
    test_add_on_device(on_cuda, backends[2], fast[i].func);
  }
  test_add_on_device("/delay/cuda/long-rows", backends[2], test_long_rows);
  g_test_add_func("/delay/bandpass", test_bandpass);
  g_test_add_func("/delay/fraction", test_fraction);
  g_test_add_func("/delay/least-rate", test_least_rate);
  g_test_add_func("/delay/kernels", test_kernels);
  g_test_add_func("/delay/samples", test_samples);
  g_test_add_func("/delay/spectra/flat", test_flat_spectra);
  g_test_add_func("/delay/spectra/reference", test_spectra_reference);
  g_test_add_func("/delay/calibration/errors", test_calibration_errors);
  g_test_add_func("/delay/shapes", test_shapes);
  g_test_add_func("/delay/same-layout", test_same_layout);
  g_test_add_func("/delay/empty", test_empty);
  g_test_add_func("/delay/far-stations", test_far_stations);
  g_test_add_func("/delay/losses", test_losses);
  return g_test_run();
}
