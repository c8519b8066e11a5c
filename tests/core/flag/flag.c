/* Flags: false alarms and detections against theory, on noise, tones, bands and pulses; gaps; and
 * what is refused. */
#include "core/flag/apply.h"
#include "core/flag/median.h"
#include "tests/core/flag/flag.h"

/* ---- kurtosis ---- */

#define M 2048
#define TRIALS 500 /* channels */

/* A transmitter of that amplitude is on for a part of the time. */
static gpointer make_spectra(double amplitude, double duty, guint seed)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
  float *in = test_alloc(sizeof(float[2]) * M * TRIALS);
  for (gsize i = 0; i < (gsize)M * TRIALS; i++) {
    test_flag_noise(rand, in + 2 * i);
    if ((double)(i / TRIALS) < duty * M)
      in[2 * i] += (float)amplitude;
  }
  return in;
}

/* Moments of the power of unit noise and an amplitude: k! L_k(-x), x = amplitude^2. */
static void power_moments(double x, double moments[5])
{
  moments[1] = 1 + x;
  moments[2] = 2 * (1 + 2 * x + x * x / 2);
  moments[3] = 6 * (1 + 3 * x + 3 * x * x / 2 + x * x * x / 6);
  moments[4] = 24 * (1 + 4 * x + 3 * x * x + 2 * x * x * x / 3 + x * x * x * x / 24);
}

/* The probability that SK = b / a^2 - 1 is beyond the limits, where the means a of p and b of p^2
 * are nearly Gaussian: its variance follows from theirs. */
static double detected(double amplitude, double duty, double low, double high)
{
  double on[5], off[5];
  power_moments(amplitude * amplitude, on);
  power_moments(0, off);
  const double a = duty * on[1] + (1 - duty) * off[1], b = duty * on[2] + (1 - duty) * off[2];
  double variance = 0;
  const double slopes[2] = { -2 * b / (a * a * a), 1 / (a * a) };
  for (guint state = 0; state < 2; state++) {
    const double *of = state ? on : off, part = state ? duty : 1 - duty;
    variance += part / M *
                (slopes[0] * slopes[0] * (of[2] - of[1] * of[1]) +
                 2 * slopes[0] * slopes[1] * (of[3] - of[1] * of[2]) +
                 slopes[1] * slopes[1] * (of[4] - of[2] * of[2]));
  }
  const double mean = b / (a * a) - 1, width = sqrt(2 * variance);
  return erfc((high - mean) / width) / 2 + erfc((mean - low) / width) / 2;
}

static guint64 flag_spectra(AstroFlagConfig *config, gconstpointer in)
{
  gpointer instance = test_flag_new(&astro_flag_cpu, config, 1);
  guint8 *flags = test_flag_block(&astro_flag_cpu, instance, config, in, M, NULL);
  const guint64 bad = test_flag_count(flags, TRIALS);
  for (guint c = 0; c < TRIALS; c++)
    g_assert_cmpuint(flags[c] & ASTRO_FLAG_JUDGED, ==, ASTRO_FLAG_JUDGED);
  test_free(flags);
  astro_flag_cpu.destroy(instance);
  return bad;
}

static AstroFlagConfig spectra_config(double false_alarm)
{
  AstroFlagConfig config =
      test_flag_config(ASTRO_FLAG_KURTOSIS, ASTRO_QUANTITY_SPECTRA, ASTRO_FORMAT_CF32LE,
                       "time:channel=" G_STRINGIFY(TRIALS));
  config.block = M;
  config.false_alarm = false_alarm;
  return config;
}

static void test_kurtosis_noise(void)
{
  AstroFlagConfig config = spectra_config(0.05);
  gpointer in = make_spectra(0, 0, 1);
  test_flag_expect(flag_spectra(&config, in), TRIALS, 0.05, 0.01);
  test_free(in);
}

/* A tone is on for a small part of the time, for half of it (which hides), or always. Limits of 1
 * %: -2.3 and 2.9 standard deviations of 2 / sqrt(M). */
static void test_kurtosis_tones(void)
{
  static const struct {
    double amplitude, duty;
  } cases[] = { { 1.0, 0.1 }, { 1.2, 0.1 }, { 1.5, 0.05 }, { 1, 0.5 }, { 0.5, 1 }, { 0.6, 1 } };
  AstroFlagConfig config = spectra_config(0.01);
  const double low = 0.8947, high = 1.1249;
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    gpointer in = make_spectra(cases[i].amplitude, cases[i].duty, 2 + i);
    const double probability = detected(cases[i].amplitude, cases[i].duty, low, high);
    const guint64 bad = flag_spectra(&config, in);
    g_test_message("amplitude %g, duty %g", cases[i].amplitude, cases[i].duty);
    /* The means are not quite Gaussian: 0.03 of a probability. */
    test_flag_expect(bad, TRIALS, probability, 0.03 / MAX(probability, 0.01));
    test_free(in);
  }
}

/* ---- threshold ---- */

#define ROWS 64
#define CHANNELS 256
#define UNITS 16
#define VALUES ((gsize)ROWS * CHANNELS * UNITS)

/* Amplitudes of noise are Rayleigh's. A single value is flagged if it is threshold * 1.4826 median
 * absolute deviations (0.44845 for unit components) above the mean, which is the baseline. */
static void test_threshold_noise(void)
{
  AstroFlagConfig config =
      test_flag_config(ASTRO_FLAG_THRESHOLD, ASTRO_QUANTITY_VISIBILITIES, ASTRO_FORMAT_CF32LE,
                       "channel=256:baseline=16:pol=1:pol=1");
  g_autoptr(GRand) rand = g_rand_new_with_seed(3);
  float *in = test_alloc(VALUES * sizeof(float[2]));
  guint64 bad[2];
  for (gsize i = 0; i < VALUES; i++)
    test_flag_noise(rand, in + 2 * i);
  config.threshold = 3;
  for (guint all = 0; all < 2; all++) {
    config.longest = all ? 64 : 1;
    gpointer instance = test_flag_new(&astro_flag_cpu, &config, 1);
    guint8 *flags = test_flag_block(&astro_flag_cpu, instance, &config, in, ROWS, NULL);
    bad[all] = test_flag_count(flags, VALUES);
    test_free(flags);
    astro_flag_cpu.destroy(instance);
  }
  const double limit = sqrt(G_PI / 2) + 3 * 1.4826 * 0.44845;
  test_flag_expect(bad[0], VALUES, exp(-limit * limit / 2), 0.06);
  g_assert_cmpuint(bad[1], >, bad[0]);
  test_free(in);
}

/* Powers with a relative noise of a per cent, and on them what `add` gives, in standard deviations.
 */
static guint8 *flag_power(double (*add)(guint row, guint channel), double threshold)
{
  AstroFlagConfig config =
      test_flag_config(ASTRO_FLAG_THRESHOLD, ASTRO_QUANTITY_POWER, ASTRO_FORMAT_F32LE,
                       "time:station=16:pol=1:channel=256");
  g_autoptr(GRand) rand = g_rand_new_with_seed(4);
  float *in = test_alloc(VALUES * sizeof(float)), noise[2];
  config.threshold = threshold;
  g_assert_true(astro_power_products_parse(&config.products, "XX", NULL));
  for (guint t = 0; t < ROWS; t++)
    for (guint u = 0; u < UNITS; u++)
      for (guint c = 0; c < CHANNELS; c++) {
        test_flag_noise(rand, noise);
        /* The band falls to one third, and the noise with it. */
        in[(t * UNITS + u) * CHANNELS + c] =
            (float)((3 - 2. * c / CHANNELS) *
                    (1 + 0.01 * (M_SQRT2 * (double)noise[0] + (add ? add(t, c) : 0))));
      }
  gpointer instance = test_flag_new(&astro_flag_cpu, &config, 2);
  guint8 *flags = test_flag_block(&astro_flag_cpu, instance, &config, in, ROWS, NULL);
  astro_flag_cpu.destroy(instance);
  test_free(in);
  return flags;
}

/* How many of the values that something was added to are flagged, and of the others. */
static void count_flags(const guint8 *flags, double (*add)(guint row, guint channel),
                        guint64 counts[2], guint64 of[2])
{
  counts[0] = counts[1] = of[0] = of[1] = 0;
  for (guint t = 0; t < ROWS; t++)
    for (guint u = 0; u < UNITS; u++)
      for (guint c = 0; c < CHANNELS; c++) {
        const gboolean is_added = add(t, c) != 0;
        of[is_added]++;
        counts[is_added] += flags[(t * UNITS + u) * CHANNELS + c] >> 1 & 1;
      }
}

static double weak_tone(guint row, guint channel)
{
  return channel % 64 == 20 ? 1 : 0;
}

static double faint_tone(guint row, guint channel)
{
  return channel % 64 == 20 ? 0.25 : 0;
}

static double pulse(guint row, guint channel)
{
  return row == 40 ? 1 : 0;
}

static double block_band(guint row, guint channel)
{
  return channel >= 100 && channel < 116 && row >= 20 && row < 36 ? 8 : 0;
}

static double strong_value(guint row, guint channel)
{
  return row % 16 == 5 && channel % 32 == 7 ? 8 : 0;
}

static double strong_tone(guint row, guint channel)
{
  return channel == 77 ? 5000 : 0;
}

/* A window of 64 values has a threshold of 6 / 1.45^6 = 0.646 standard deviations, and its mean a
 * standard deviation of 1/8: what lies well above it is found, what lies below is not, however
 * little it stands out in single values. */
static void test_threshold_shapes(void)
{
  static const struct {
    double (*add)(guint row, guint channel);
    double least, most, others; /* parts of the values that are flagged */
  } cases[] = {
    { weak_tone, 0.95, 1, 0.01 },   { faint_tone, 0, 0.1, 0.01 }, { pulse, 0.95, 1, 0.01 },
    { block_band, 0.95, 1, 0.03 }, /* it grows by a fifth of its length on each side, both ways */
    { strong_value, 0.9, 1, 0.01 }, { strong_tone, 1, 1, 0.01 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    guint8 *flags = flag_power(cases[i].add, 6);
    guint64 counts[2], of[2];
    count_flags(flags, cases[i].add, counts, of);
    g_test_message("case %u: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT ", and %" G_GUINT64_FORMAT
                   " others of %" G_GUINT64_FORMAT,
                   i, counts[1], of[1], counts[0], of[0]);
    g_assert_cmpfloat((double)counts[1], >=, cases[i].least * (double)of[1]);
    g_assert_cmpfloat((double)counts[1], <=, cases[i].most * (double)of[1]);
    g_assert_cmpfloat((double)counts[0], <=, cases[i].others * (double)of[0]);
    test_free(flags);
  }
}

/* Values that are missing, here and there and in stretches, are not flagged, and not more of the
 * others are. */
static void test_gaps(void)
{
  AstroFlagConfig config =
      test_flag_config(ASTRO_FLAG_THRESHOLD, ASTRO_QUANTITY_VISIBILITIES, ASTRO_FORMAT_CF32LE,
                       "channel=256:baseline=16:pol=1:pol=1");
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  const AstroLayout shape = { 3,
                              { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE },
                              { ROWS, CHANNELS, UNITS } };
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 9);
  g_autoptr(GRand) rand = g_rand_new_with_seed(5);
  float *in = test_alloc(VALUES * sizeof(float[2]));
  guint64 present = 0, bad = 0, bad_whole = 0;
  for (gsize i = 0; i < VALUES; i++) {
    const gsize t = i / CHANNELS / UNITS, c = i / UNITS % CHANNELS;
    const gboolean is_missing =
        t / 8 == 3 || (c >= 30 && c < 60) || g_rand_int_range(rand, 0, 3) == 0;
    test_flag_noise(rand, in + 2 * i);
    meta->counts[i] = is_missing ? 0 : 5;
    present += !is_missing;
  }
  config.threshold = 4;
  gpointer instance = test_flag_new(&astro_flag_cpu, &config, 1);
  guint8 *whole = test_flag_block(&astro_flag_cpu, instance, &config, in, ROWS, NULL);
  for (gsize i = 0; i < VALUES; i++)
    if (!meta->counts[i])
      in[2 * i] = i % 2 ? NAN : 1000; /* whatever they are */
  guint8 *flags = test_flag_block(&astro_flag_cpu, instance, &config, in, ROWS, meta);
  for (guint t = 0; t < ROWS; t++)
    for (guint u = 0; u < UNITS; u++)
      for (guint c = 0; c < CHANNELS; c++) {
        const gsize at = ((gsize)t * UNITS + u) * CHANNELS + c;
        if (!meta->counts[((gsize)t * CHANNELS + c) * UNITS + u])
          g_assert_cmpuint(flags[at], ==, 0);
        bad += flags[at] >> 1 & 1;
        bad_whole += whole[at] >> 1 & 1;
      }
  const double usual = (double)bad_whole / (double)VALUES;
  g_test_message("%g of the values with gaps, %g without", (double)bad / (double)present, usual);
  g_assert_cmpfloat((double)bad, <=, 1.2 * usual * (double)present);
  test_free(whole);
  test_free(flags);
  test_free(in);
  astro_flag_cpu.destroy(instance);
}

/* ---- the median ---- */

static int compare_floats(gconstpointer a, gconstpointer b)
{
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* Few and many values, with equal and negative ones among them. */
static void test_median(void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(7);
  for (guint n = 1; n < 5000; n = n * 3 / 2 + 1) {
    g_autofree float *values = g_new(float, n), *sorted = g_new(float, n);
    for (guint i = 0; i < n; i++)
      values[i] = sorted[i] = g_rand_int_range(rand, 0, 3)
                                  ? (float)g_rand_double_range(rand, -1e3, 1e5)
                                  : (float)g_rand_int_range(rand, -3, 3);
    qsort(sorted, n, sizeof *sorted, compare_floats);
    g_assert_cmpfloat(astro_flag_median(values, n), ==, sorted[n / 2]);
  }
}

/* ---- counts ---- */

/* The rows of flags of a block: steps that follow each other may share one. */
static const guint8 **random_rows(guint64 steps, gsize row, guint8 *flags, GRand *rand)
{
  const guint8 **rows = g_new(const guint8 *, steps);
  const gboolean is_one = g_rand_boolean(rand);
  for (gsize i = 0; i < steps * row; i++)
    flags[i] =
        g_rand_int_range(rand, 0, 6) == 0 ? ASTRO_FLAG_JUDGED | ASTRO_FLAG_BAD : ASTRO_FLAG_JUDGED;
  flags[0] = ASTRO_FLAG_JUDGED | ASTRO_FLAG_BAD;
  for (guint64 t = 0; t < steps; t++)
    rows[t] = t && (is_one || g_rand_int_range(rand, 0, 3) == 0) ? rows[t - 1] : flags + t * row;
  return rows;
}

/* Counts over some of the axes, or NULL. */
static AstroValidityMeta *random_meta(const AstroLayout *shape, GstBuffer *buffer, GRand *rand)
{
  AstroLayout counted = { 0 };
  if (g_rand_boolean(rand))
    return NULL;
  for (guint i = 0; i < shape->n_axes; i++)
    if (g_rand_boolean(rand)) {
      counted.axes[counted.n_axes] = shape->axes[i];
      counted.extents[counted.n_axes++] = shape->extents[i];
    }
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &counted, 9);
  for (guint64 i = 0; i < astro_validity_n_counts(meta); i++)
    meta->counts[i] = (guint32)g_rand_int_range(rand, 0, 10);
  return meta;
}

/* Each value has the count that it had, or 0 if it is flagged, in any layout. */
static void check_counts(const AstroFlagConfig *config, guint64 steps, GRand *rand)
{
  const guint channels = astro_flag_channels(&config->in);
  const gsize row = astro_flag_units(&config->in) * channels;
  g_autoptr(GstBuffer) in = gst_buffer_new(), out = gst_buffer_new();
  g_autofree guint8 *flags = g_malloc(steps * row);
  g_autofree const guint8 **rows = random_rows(steps, row, flags, rand);
  guint64 index[ASTRO_MAX_AXES] = { 0 };
  g_autoptr(GError) error = NULL;
  AstroLayout shape;
  astro_stream_shape(&config->in, steps, &shape);
  const AstroValidityMeta *meta = random_meta(&shape, in, rand);
  astro_flag_apply(&config->in, steps, rows, meta, out);
  const AstroValidityMeta *found = astro_buffer_get_validity(out);
  astro_validity_check(found, &shape, &error);
  g_assert_no_error(error);
  for (guint64 i = 0, n = astro_layout_samples(&shape); i < n; i++) {
    guint64 t = 0, c = 0, u = 0;
    for (guint a = 0; a < shape.n_axes; a++)
      if (shape.axes[a] == ASTRO_AXIS_TIME)
        t = index[a];
      else if (shape.axes[a] == ASTRO_AXIS_CHANNEL)
        c = index[a];
      else if (shape.axes[a] != ASTRO_AXIS_POL)
        u = index[a];
    g_assert_cmpuint(astro_validity_at(found, &shape, index), ==,
                     rows[t][u * channels + c] & ASTRO_FLAG_BAD ? 0
                     : meta ? astro_validity_at(meta, &shape, index)
                            : found->full);
    for (guint a = shape.n_axes; a-- > 0 && ++index[a] == shape.extents[a];)
      index[a] = 0;
  }
}

static void test_counts(void)
{
  static const struct {
    AstroQuantity quantity;
    const char *layout;
  } cases[] = {
    { ASTRO_QUANTITY_SPECTRA, "time" },
    { ASTRO_QUANTITY_SPECTRA, "pol=2:time" },
    { ASTRO_QUANTITY_SPECTRA, "time:station=3:pol=2:channel=5" },
    { ASTRO_QUANTITY_SPECTRA, "channel=4:beam=2:time" },
    { ASTRO_QUANTITY_SPECTRA, "station=3:channel=5:time:pol=2" },
    { ASTRO_QUANTITY_VISIBILITIES, "channel=4:baseline=3:pol=2:pol=2" },
  };
  g_autoptr(GRand) rand = g_rand_new_with_seed(11);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const AstroFlagConfig config = test_flag_config(ASTRO_FLAG_KURTOSIS, cases[i].quantity,
                                                    ASTRO_FORMAT_CF32LE, cases[i].layout);
    for (guint64 steps = 1; steps <= 6; steps++)
      for (guint again = 0; again < 10; again++)
        check_counts(&config, steps, rand);
  }
}

/* ---- what is not judged ---- */

/* Many equal values do not hide the noise of the others: half of them lie at the middle, and half a
 * unit above or below, so that the median of the deviations is that unit. One value stands out. */
static void test_equal_values(void)
{
  enum { STEPS = 64, BAND = 64, HIT = 40 * BAND + 30 };
  const AstroBackend *const backends[] = { &astro_flag_reference, &astro_flag_cpu };
  const AstroFlagConfig config =
      test_flag_config(ASTRO_FLAG_THRESHOLD, ASTRO_QUANTITY_VISIBILITIES, ASTRO_FORMAT_CF32LE,
                       "channel=64:baseline=1:pol=1:pol=1");
  float *in = test_alloc((gsize)STEPS * BAND * sizeof(float[2]));
  for (guint i = 0; i < STEPS * BAND; i++) {
    const guint t = i / BAND;
    in[2 * i] = i == HIT ? 50 : t >= STEPS / 2 ? 5 : (t + i) % 2 ? 6 : 4;
    in[2 * i + 1] = 0;
  }
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    gpointer instance = test_flag_new(backends[b], &config, 1);
    guint8 *flags = test_flag_block(backends[b], instance, &config, in, STEPS, NULL);
    for (guint i = 0; i < STEPS * BAND; i++)
      g_assert_cmpuint(flags[i], ==,
                       i == HIT ? ASTRO_FLAG_JUDGED | ASTRO_FLAG_BAD : ASTRO_FLAG_JUDGED);
    test_free(flags);
    backends[b]->destroy(instance);
  }
  test_free(in);
}

/* Channels without power, too few good samples, and integers that are too small are left alone; a
 * NaN is flagged. */
static void test_not_judged(void)
{
  AstroFlagConfig config = test_flag_config(ASTRO_FLAG_KURTOSIS, ASTRO_QUANTITY_SPECTRA,
                                            ASTRO_FORMAT_CI8, "time:channel=4");
  g_autoptr(GRand) rand = g_rand_new_with_seed(6);
  gint8 in[256][4][2] = { 0 };
  config.block = 256;
  for (guint t = 0; t < 256; t++)
    for (guint c = 1; c < 4; c++) {
      float noise[2];
      test_flag_noise(rand, noise);
      for (guint k = 0; k < 2; k++)
        in[t][c][k] = (gint8)lrintf(noise[k] * (c == 1 ? 1 : 20));
    }
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  const AstroLayout shape = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL }, { 256, 4 } };
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 1);
  for (guint t = 63; t < 256; t++)
    meta->counts[t * 4 + 3] = 0;
  gpointer instance = test_flag_new(&astro_flag_cpu, &config, 1);
  guint8 *flags = test_flag_block(&astro_flag_cpu, instance, &config, in, 256, meta);
  g_assert_cmpuint(flags[0], ==, 0);
  g_assert_cmpuint(flags[1], ==, ASTRO_FLAG_COARSE);
  g_assert_cmpuint(flags[2], ==, ASTRO_FLAG_JUDGED);
  g_assert_cmpuint(flags[3], ==, 0);
  test_free(flags);
  astro_flag_cpu.destroy(instance);
}

static void test_refused(void)
{
  static const struct {
    AstroFlagMethod method;
    AstroQuantity quantity;
    AstroFormat format;
    const char *layout, *products, *says;
    guint block;
  } cases[] = {
    { ASTRO_FLAG_KURTOSIS, ASTRO_QUANTITY_VISIBILITIES, ASTRO_FORMAT_CF32LE,
      "channel=4:baseline=1:pol=1:pol=1", NULL, "take method=threshold", 1024 },
    { ASTRO_FLAG_KURTOSIS, ASTRO_QUANTITY_SPECTRA, ASTRO_FORMAT_CI4, "time:channel=4", NULL,
      "rounding to 4 bits", 1024 },
    { ASTRO_FLAG_KURTOSIS, ASTRO_QUANTITY_SPECTRA, ASTRO_FORMAT_CI8, "time:channel=4", NULL,
      "at least 64 spectra", 63 },
    { ASTRO_FLAG_KURTOSIS, ASTRO_QUANTITY_POWER, ASTRO_FORMAT_F32LE, "time:pol=1:channel=4", "XX",
      "square=true", 1 },
    { ASTRO_FLAG_KURTOSIS, ASTRO_QUANTITY_POWER, ASTRO_FORMAT_F32LE, "time:pol=2:channel=4",
      "I:I-SQUARE", "kurtosis is not known", 1 },
    { ASTRO_FLAG_THRESHOLD, ASTRO_QUANTITY_VOLTAGES, ASTRO_FORMAT_CF32LE, "time:station=4", NULL,
      "expected spectra, power or visibilities", 64 },
    { ASTRO_FLAG_THRESHOLD, ASTRO_QUANTITY_SPECTRA, ASTRO_FORMAT_CF32LE, "time:channel=4", NULL,
      "block=0", 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroFlagConfig config =
        test_flag_config(cases[i].method, cases[i].quantity, cases[i].format, cases[i].layout);
    g_autoptr(GError) error = NULL;
    config.block = cases[i].block;
    if (cases[i].products)
      g_assert_true(astro_power_products_parse(&config.products, cases[i].products, NULL));
    g_assert_false(astro_flag_cpu.shape(&config, &error));
    g_assert_nonnull(error);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, cases[i].says));
  }
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/flag/kurtosis/noise", test_kurtosis_noise);
  g_test_add_func("/flag/kurtosis/tones", test_kurtosis_tones);
  g_test_add_func("/flag/threshold/noise", test_threshold_noise);
  g_test_add_func("/flag/threshold/shapes", test_threshold_shapes);
  g_test_add_func("/flag/gaps", test_gaps);
  g_test_add_func("/flag/median", test_median);
  g_test_add_func("/flag/counts", test_counts);
  g_test_add_func("/flag/equal-values", test_equal_values);
  g_test_add_func("/flag/not-judged", test_not_judged);
  g_test_add_func("/flag/refused", test_refused);
  return g_test_run();
}
