/* Flags: every variant of the cpu and CUDA backends against the reference, to the bit, with any
 * method, layout, format and cut, on noise, interference and missing and extreme values. */
#include "tests/core/on-device.h"
#include "tests/core/flag/flag.h"
#include "tests/half.h"

static const char *const levels[] = { "c", "avx2", "avx512" };

typedef struct {
  AstroFlagMethod method;
  AstroQuantity quantity;
  AstroFormat format;
  const char *layout, *products;
} Case;

static const Case cases[] = {
  { ASTRO_FLAG_KURTOSIS, ASTRO_QUANTITY_SPECTRA, ASTRO_FORMAT_CI8,
    "station=2:pol=2:time:channel=37", NULL },
  { ASTRO_FLAG_KURTOSIS, ASTRO_QUANTITY_SPECTRA, ASTRO_FORMAT_CF32LE,
    "channel=5:station=3:pol=2:time", NULL },
  { ASTRO_FLAG_KURTOSIS, ASTRO_QUANTITY_SPECTRA, ASTRO_FORMAT_CI16LE,
    "time:channel=3:station=150:pol=2", NULL },
  { ASTRO_FLAG_KURTOSIS, ASTRO_QUANTITY_SPECTRA, ASTRO_FORMAT_CF16LE, "time:beam=3:channel=16",
    NULL },
  { ASTRO_FLAG_KURTOSIS, ASTRO_QUANTITY_SPECTRA, ASTRO_FORMAT_CI8, "station=3:channel=25:time",
    NULL },
  { ASTRO_FLAG_KURTOSIS, ASTRO_QUANTITY_SPECTRA, ASTRO_FORMAT_CI8, "time:station=4:pol=2:channel=8",
    NULL },
  { ASTRO_FLAG_KURTOSIS, ASTRO_QUANTITY_SPECTRA, ASTRO_FORMAT_CI16LE, "time:channel=1", NULL },
  { ASTRO_FLAG_KURTOSIS, ASTRO_QUANTITY_POWER, ASTRO_FORMAT_F32LE,
    "time:station=2:pol=4:channel=19", "XX:YY:XX-SQUARE:YY-SQUARE" },
  { ASTRO_FLAG_THRESHOLD, ASTRO_QUANTITY_SPECTRA, ASTRO_FORMAT_CI4,
    "station=2:pol=2:time:channel=70", NULL },
  { ASTRO_FLAG_THRESHOLD, ASTRO_QUANTITY_SPECTRA, ASTRO_FORMAT_CF32LE,
    "channel=33:station=3:pol=1:time", NULL },
  { ASTRO_FLAG_THRESHOLD, ASTRO_QUANTITY_VISIBILITIES, ASTRO_FORMAT_CF32LE,
    "channel=45:baseline=10:pol=2:pol=2", NULL },
  { ASTRO_FLAG_THRESHOLD, ASTRO_QUANTITY_VISIBILITIES, ASTRO_FORMAT_CF64LE,
    "channel=3:baseline=3:pol=1:pol=1", NULL },
  { ASTRO_FLAG_THRESHOLD, ASTRO_QUANTITY_VISIBILITIES, ASTRO_FORMAT_CI32LE,
    "channel=300:baseline=1:pol=2:pol=2", NULL },
  { ASTRO_FLAG_THRESHOLD, ASTRO_QUANTITY_POWER, ASTRO_FORMAT_F32LE,
    "time:station=2:pol=4:channel=40", "I:Q:U:V" },
};

static double random_value(GRand *rand, gboolean is_hit)
{
  float noise[2];
  test_flag_noise(rand, noise);
  return 20 * (double)noise[0] + (is_hit ? 60 : 0);
}

/* Noise, with interference in some stretches; power is positive, and its squares are those of
 * exponential powers. Now and then a float is not finite. */
static void make_values(const AstroFlagConfig *config, guint8 *in, gsize n, GRand *rand)
{
  const AstroFormat format = config->in.format;
  const gsize bytes = astro_format_info(format)->bytes;
  for (gsize i = 0; i < n; i++, in += bytes) {
    const gboolean is_hit = i / 97 % 11 == 3;
    for (guint k = 0; k < (astro_format_info(format)->is_complex ? 2 : 1); k++) {
      const double value = random_value(rand, is_hit);
      const gboolean is_odd = g_rand_int_range(rand, 0, 500) == 0;
      switch (format) {
      case ASTRO_FORMAT_CI4:
        *in = (guint8)g_rand_int(rand);
        break;
      case ASTRO_FORMAT_CI8:
        in[k] = (guint8)(gint8)CLAMP(value, -128, 127);
        break;
      case ASTRO_FORMAT_CI16LE:
        ((gint16 *)(gpointer)in)[k] = (gint16)(value * 200);
        break;
      case ASTRO_FORMAT_CI32LE:
        ((gint32 *)(gpointer)in)[k] = (gint32)(value * 1000);
        break;
      case ASTRO_FORMAT_CF16LE:
        ((guint16 *)(gpointer)in)[k] = test_half_bits(value);
        break;
      case ASTRO_FORMAT_CF32LE:
        ((float *)(gpointer)in)[k] = is_odd ? NAN : (float)value;
        break;
      case ASTRO_FORMAT_CF64LE:
        ((double *)(gpointer)in)[k] = is_odd ? INFINITY : value;
        break;
      default:
        *(float *)(gpointer)in = is_odd ? INFINITY : (float)(2 + value / 100);
      }
    }
  }
}

/* Counts over some of the axes, or NULL. */
static AstroValidityMeta *random_counts(const AstroFlagConfig *config, GstBuffer *buffer,
                                        guint64 steps, GRand *rand)
{
  const gboolean always =
      config->in.format == ASTRO_FORMAT_CI32LE ||
      (config->in.quantity == ASTRO_QUANTITY_POWER && config->method == ASTRO_FLAG_KURTOSIS);
  AstroLayout shape, counted = { 0 };
  if (!always && g_rand_boolean(rand))
    return NULL;
  astro_stream_shape(&config->in, steps, &shape);
  for (guint i = 0; i < shape.n_axes; i++)
    if (g_rand_boolean(rand)) {
      counted.axes[counted.n_axes] = shape.axes[i];
      counted.extents[counted.n_axes++] = shape.extents[i];
    }
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &counted, 300);
  for (guint64 i = 0; i < astro_validity_n_counts(meta); i++)
    if (g_rand_int_range(rand, 0, 4) == 0)
      meta->counts[i] = (guint32)g_rand_int_range(rand, 0, 300);
  return meta;
}

typedef struct {
  guint8 *in;
  guint64 steps;
  GstBuffer *buffer;
  AstroValidityMeta *meta;
} Piece;

#define PIECES 3

/* The pieces one after another, which end inside a block. */
static guint8 *run(const AstroBackend *backend, const char *level, guint threads,
                   const AstroFlagConfig *config, const Piece *pieces, gsize *bytes)
{
  if (level)
    g_setenv("ASTRO_CPU", level, TRUE);
  gpointer instance = test_flag_new(backend, config, threads);
  guint8 *flags = NULL;
  guint64 phase = 0;
  for (guint i = 0; i < PIECES; i++) {
    const guint64 steps = pieces[i].steps, from = steps > 8 ? 2 : 0;
    const gboolean has_blocks = astro_flag_has_blocks(config);
    const AstroFlagArguments arguments = {
      .block_steps = steps,
      .first = has_blocks ? from : 0,
      .steps = has_blocks ? steps - from : steps,
      .phase = has_blocks ? phase : 0,
      .end = i + 1 == PIECES,
      .meta = pieces[i].meta,
    };
    const AstroBlock in = { pieces[i].in, steps * astro_stream_step_bytes(&config->in) };
    AstroFlagVerdict verdict = { NULL };
    AstroResult result = { .own = &verdict };
    g_autoptr(GError) error = NULL;
    if (arguments.end) {
      *bytes = astro_flag_rows(config, &arguments) * astro_flag_units(&config->in) *
               astro_flag_channels(&config->in);
      verdict.flags = flags = test_alloc(*bytes);
    }
    backend->submit(instance, &in, 1, NULL, 0, &arguments, &result, &error);
    g_assert_no_error(error);
    phase += arguments.steps;
  }
  test_check_guard(flags, *bytes);
  backend->destroy(instance);
  g_unsetenv("ASTRO_CPU");
  return flags;
}

/* on_device: the backend to compare; NULL: the CPU's, at all levels. */
static void run_case(guint number, const AstroBackend *on_device)
{
  const Case *is = &cases[number % G_N_ELEMENTS(cases)];
  g_autoptr(GRand) rand = g_rand_new_with_seed(number);
  AstroFlagConfig config = test_flag_config(is->method, is->quantity, is->format, is->layout);
  Piece pieces[PIECES];
  gsize bytes, again;
  config.block = 400;
  config.false_alarm = 0.2;
  config.threshold = g_rand_double_range(rand, 1, 6);
  config.longest = 1u << g_rand_int_range(rand, 0, 8);
  if (is->products)
    g_assert_true(astro_power_products_parse(&config.products, is->products, NULL));
  for (guint i = 0; i < PIECES; i++) {
    pieces[i].steps =
        (guint64)g_rand_int_range(rand, 1, is->method == ASTRO_FLAG_KURTOSIS ? 130 : 30);
    const gsize size = pieces[i].steps * astro_stream_step_bytes(&config.in);
    pieces[i].in = test_alloc(size);
    make_values(&config, pieces[i].in, size / astro_stream_sample_bytes(&config.in), rand);
    pieces[i].buffer = gst_buffer_new();
    pieces[i].meta = random_counts(&config, pieces[i].buffer, pieces[i].steps, rand);
  }
  guint8 *expected = run(&astro_flag_reference, NULL, 1, &config, pieces, &bytes);
  g_test_message("%u: %s, %" G_GSIZE_FORMAT " flags, %" G_GUINT64_FORMAT " of them bad", number,
                 is->layout, bytes, test_flag_count(expected, bytes));
  if (on_device) {
    guint8 *found = run(on_device, NULL, 1, &config, pieces, &again);
    g_assert_cmpmem(found, again, expected, bytes);
    test_free(found);
  }
  for (guint l = 0; l < G_N_ELEMENTS(levels) && !on_device; l++)
    for (guint threads = 1; threads <= 3; threads += 2) {
      guint8 *found = run(&astro_flag_cpu, levels[l], threads, &config, pieces, &again);
      g_assert_cmpmem(found, again, expected, bytes);
      test_free(found);
    }
  test_free(expected);
  for (guint i = 0; i < PIECES; i++) {
    test_free(pieces[i].in);
    gst_buffer_unref(pieces[i].buffer);
  }
}

static void test_variants(gconstpointer on_device)
{
  for (guint i = 0; i < 8 * G_N_ELEMENTS(cases); i++)
    run_case(i, on_device);
}

/* Planes that are longer than a group of threads, and more of them than a device works on at a
 * time; bands and tones whose flags grow. */
static void test_large(gconstpointer on_device)
{
  static const struct {
    const char *layout;
    guint64 steps;
    guint longest;
  } large[] = {
    { "channel=1500:baseline=2:pol=1:pol=1", 40, 1024 },
    { "channel=3:baseline=1:pol=2:pol=2", 2100, 512 },
    { "channel=40:baseline=600:pol=1:pol=1", 4, 4 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(large); i++) {
    g_autoptr(GRand) rand = g_rand_new_with_seed(i);
    AstroFlagConfig config = test_flag_config(ASTRO_FLAG_THRESHOLD, ASTRO_QUANTITY_VISIBILITIES,
                                              ASTRO_FORMAT_CF32LE, large[i].layout);
    config.block = (guint)large[i].steps;
    config.longest = large[i].longest;
    const gsize size = large[i].steps * astro_stream_step_bytes(&config.in);
    const AstroBackend *backends[] = { &astro_flag_reference,
                                       on_device ? on_device : &astro_flag_cpu };
    guint8 *in = test_alloc(size), *flags[2];
    make_values(&config, in, size / astro_stream_sample_bytes(&config.in), rand);
    for (guint b = 0; b < 2; b++) {
      gpointer instance = test_flag_new(backends[b], &config, 0);
      flags[b] = test_flag_block(backends[b], instance, &config, in, large[i].steps, NULL);
      backends[b]->destroy(instance);
    }
    const gsize bytes =
        large[i].steps * astro_flag_units(&config.in) * astro_flag_channels(&config.in);
    g_assert_cmpuint(test_flag_count(flags[0], bytes), >, 0);
    g_assert_cmpmem(flags[0], bytes, flags[1], bytes);
    for (guint b = 0; b < 2; b++)
      test_free(flags[b]);
    test_free(in);
  }
}

/* Lists and planes that are too large are refused before work begins, so that auto takes the CPU.
 */
static void test_not_on_device(gconstpointer on_device)
{
  AstroFlagConfig config = test_flag_config(ASTRO_FLAG_LIST, ASTRO_QUANTITY_SPECTRA,
                                            ASTRO_FORMAT_CI8, "time:station=2:pol=2:channel=8");
  const AstroBackend *backend = on_device;
  g_autoptr(GError) list = NULL, large = NULL;
  g_assert_false(backend->shape(&config, &list));
  test_says(list->message, "backend=cpu");
  config.method = ASTRO_FLAG_THRESHOLD;
  config.block = ASTRO_FLAG_MOST_BLOCK;
  config.in.layout.extents[3] = 40000;
  g_assert_false(backend->shape(&config, &large));
  test_says(large->message, "take a shorter block");
}

static void add_tests(void)
{
  const AstroBackend *on_device = test_on_device("flag");
  g_test_add_data_func("/flag/variants", NULL, test_variants);
  test_add_on_device("/flag/variants/cuda", on_device, test_variants);
  g_test_add_data_func("/flag/large", NULL, test_large);
  test_add_on_device("/flag/large/cuda", on_device, test_large);
  test_add_on_device("/flag/not-on-device/cuda", on_device, test_not_on_device);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
