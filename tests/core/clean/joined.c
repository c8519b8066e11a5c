/* Channels that are cleaned together: by hand, on sources with spectra that must be found, with
 * channels missing, and cpu compared with the reference. */
#include "core/clean/memory.h"
#include "core/kit/polynomial.h"
#include "tests/core/clean/cleaned.h"

enum { SIZE = 48, WIDE = 2 * SIZE, CHANNELS = 4, PIXELS = SIZE * SIZE };

#define FREQUENCY 1.4e9
#define BANDWIDTH 0.4e9

typedef struct {
  gint x, y;
  double flux, index; /* Jy at FREQUENCY, and the power of the frequency */
  double width;       /* standard deviation, pixels; 0: a point */
} Emitter;

static const Emitter emitters[] = { { 24, 24, 1, -0.7, 0 },
                                    { 9, 31, 0.5, 1.5, 0 },
                                    { 38, 12, 0.3, 0, 0 } };
static const Emitter extended[] = { { 20, 26, 20, -1, 2.25 }, { 38, 12, 0.5, 0.5, 0 } };

static double frequency_of(guint channel)
{
  return FREQUENCY + ((channel + 0.5) / CHANNELS - 0.5) * BANDWIDTH;
}

/* The array's response is narrower at a higher frequency. */
static double psf_of(guint channel, double x, double y)
{
  const double s = frequency_of(channel) / FREQUENCY, u = s * x, v = s * y;
  const double lobe = exp(-4 * G_LN2 * (u * u / 16 + v * v / 9));
  return lobe + (1 - lobe) * 0.15 * cos(0.9 * u + 0.7 * v) * exp(-(u * u + 1.3 * v * v) / 900);
}

static double emitted(const Emitter *emitter, guint channel)
{
  return emitter->flux * pow(frequency_of(channel) / FREQUENCY, emitter->index);
}

static void add(double *image, const Emitter *emitter, guint channel)
{
  const gint reach = (gint)ceil(4 * emitter->width);
  const double two = 2 * emitter->width * emitter->width;
  double whole = 0;
  for (gint k = 0; k < (2 * reach + 1) * (2 * reach + 1); k++) {
    const gint dx = k % (2 * reach + 1) - reach, dy = k / (2 * reach + 1) - reach;
    whole += two > 0 ? exp(-(dx * dx + dy * dy) / two) : 1;
  }
  for (gint k = 0; k < (2 * reach + 1) * (2 * reach + 1); k++) {
    const gint dx = k % (2 * reach + 1) - reach, dy = k / (2 * reach + 1) - reach;
    const double part = (two > 0 ? exp(-(dx * dx + dy * dy) / two) : 1) / whole;
    for (gint i = 0; i < WIDE * WIDE; i++)
      image[i] += part * emitted(emitter, channel) *
                  psf_of(channel, i % WIDE - SIZE / 2 - emitter->x - dx,
                         i / WIDE - SIZE / 2 - emitter->y - dy);
  }
}

/* [channel][I, PSF][y][x] of WIDE. */
static double *cube_of(const Emitter *sources, guint n, double noise)
{
  double *values = g_new0(double, 2 * CHANNELS * WIDE * WIDE);
  g_autoptr(GRand) rand = g_rand_new_with_seed(3);
  for (guint channel = 0; channel < CHANNELS; channel++) {
    double *image = values + (gsize)2 * channel * WIDE * WIDE, *psf = image + WIDE * WIDE;
    for (guint i = 0; i < n; i++)
      add(image, &sources[i], channel);
    for (gint i = 0; i < WIDE * WIDE; i++) {
      for (guint k = 0; k < 3; k++) /* of standard deviation `noise` */
        image[i] += noise * g_rand_double_range(rand, -1, 1);
      psf[i] = psf_of(channel, i % WIDE - SIZE, i / WIDE - SIZE);
    }
  }
  return values;
}

static AstroCleanConfig joined_config(guint terms)
{
  AstroCleanConfig config = config_of(SIZE);
  config.in_size = WIDE;
  config.border = 0;
  config.channels = CHANNELS;
  config.joined = TRUE;
  config.spectral_terms = terms;
  config.frequency = FREQUENCY;
  config.bandwidth = BANDWIDTH;
  config.iterations = 4000;
  return config;
}

/* which: restored image, model, residual or point-spread function. */
static const double *image_of(const double *got, guint channel, guint which)
{
  return got + (gsize)(4 * channel + which) * PIXELS;
}

static const double weights[2 * CHANNELS] = { 1, 1, 2, 2, 4, 4, 3, 3 };

/* ---- by hand ---- */

/* One iteration of gain 1 takes the weighted fit at the peak of the weighted mean out of each
 * channel, with that channel's point-spread function. */
static void test_one(void)
{
  g_autofree double *values = cube_of(emitters, 1, 0.05);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++)
    for (guint terms = 0; terms <= 3; terms++) {
      AstroCleanConfig config = joined_config(terms);
      AstroCleanResult results[CHANNELS + 1];
      AstroCleanArguments arguments = { 4, 3, 0.4, .weights = weights };
      double x[CHANNELS], shares[CHANNELS], peaks[CHANNELS], fitted[3], mean = 0;
      AstroPolynomial fit;
      config.gain = 1;
      config.iterations = 1;
      g_autofree double *got = clean(backends[b], &config, values, &arguments, results, 1);
      const gsize at = (gsize)(SIZE / 2 + 24) * WIDE + SIZE / 2 + 24;
      for (guint c = 0; c < CHANNELS; c++) {
        x[c] = frequency_of(c) / FREQUENCY - 1;
        shares[c] = weights[2 * c] / 10;
        peaks[c] = values[(gsize)2 * c * WIDE * WIDE + at];
        mean += shares[c] * peaks[c];
      }
      g_assert_true(astro_polynomial_init(&fit, x, shares, CHANNELS, MAX(terms, 1)));
      astro_polynomial_solve(&fit, peaks, fitted);
      for (guint c = 0; c < CHANNELS; c++) {
        const double flux = terms ? astro_polynomial_at(fitted, terms, x[c]) : peaks[c];
        const double *model = image_of(got, c, 1), *residual = image_of(got, c, 2);
        g_assert_cmpfloat_with_epsilon(results[c].flux, flux, 1e-12);
        for (gint i = 0; i < PIXELS; i++) {
          const gint u = i % SIZE, v = i / SIZE;
          const double before =
              values[(gsize)(2 * c) * WIDE * WIDE + (v + SIZE / 2) * WIDE + u + SIZE / 2];
          g_assert_cmpfloat_with_epsilon(model[i], u == 24 && v == 24 ? flux : 0, 1e-12);
          g_assert_cmpfloat_with_epsilon(residual[i], before - flux * psf_of(c, u - 24, v - 24),
                                         1e-12);
        }
      }
      /* The mean of fitted values is that of the values. */
      g_assert_cmpfloat_with_epsilon(results[CHANNELS].flux, mean, 1e-12);
      g_assert_cmpfloat_with_epsilon(results[CHANNELS].first, mean, 1e-12);
      g_assert_cmpuint(results[CHANNELS].iterations, ==, 1);
      astro_polynomial_clear(&fit);
    }
}

/* A single channel that is cleaned with itself is cleaned as if alone. */
static void test_alone(void)
{
  g_autofree double *values = cube_of(extended, 2, 0.01);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++)
    for (guint scales = 0; scales <= 3; scales += 3) {
      AstroCleanConfig config = joined_config(0), alone;
      AstroCleanResult results[2], expected_result;
      AstroCleanArguments arguments = { 4, 3, 0.4 };
      config.channels = 1;
      config.iterations = 50;
      config.n_scales = scales;
      config.scales[1] = 6;
      config.scales[2] = 12;
      alone = config;
      alone.joined = FALSE;
      g_autofree double *got = clean(backends[b], &config, values, &arguments, results, 1);
      g_autofree double *expected =
          clean(backends[b], &alone, values, &arguments, &expected_result, 1);
      for (guint i = 0; i < 4 * PIXELS; i++)
        g_assert_cmpfloat_with_epsilon(got[i], expected[i], 1e-11);
      g_assert_cmpuint(results[1].iterations, ==, expected_result.iterations);
    }
}

/* ---- what it is for ---- */

/* The spectral index between the outer channels, from the sum of the model around a source. */
static double index_of(const double *got, const Emitter *source, double *flux)
{
  const gint reach = (gint)ceil(4 * source->width) + 2;
  double sums[CHANNELS] = { 0 };
  for (guint c = 0; c < CHANNELS; c++)
    for (gint dy = -reach; dy <= reach; dy++)
      for (gint dx = -reach; dx <= reach; dx++)
        sums[c] += image_of(got, c, 1)[(source->y + dy) * SIZE + source->x + dx];
  *flux = (sums[1] + sums[2]) / 2;
  return log(sums[CHANNELS - 1] / sums[0]) / log(frequency_of(CHANNELS - 1) / frequency_of(0));
}

/* Points and an extended source are found with flux and spectral index. Three terms follow these
 * power laws over a band of a third of the frequency to 1e-3. */
static void test_spectra(void)
{
  for (guint with_scales = 0; with_scales < 2; with_scales++) {
    const Emitter *sources = with_scales ? extended : emitters;
    const guint n = with_scales ? G_N_ELEMENTS(extended) : G_N_ELEMENTS(emitters);
    g_autofree double *values = cube_of(sources, n, 0);
    for (guint b = with_scales; b < G_N_ELEMENTS(backends); b++) { /* the reference is slow */
      AstroCleanConfig config = joined_config(3);
      AstroCleanResult results[CHANNELS + 1];
      AstroCleanArguments arguments = { 4, 3, 0.4, .weights = weights };
      config.threshold = with_scales ? 5e-3 : 2e-4;
      config.iterations = 20000;
      config.n_scales = with_scales ? 4 : 0;
      config.scales[1] = 3;
      config.scales[2] = 6;
      config.scales[3] = 12;
      g_autofree double *got = clean(backends[b], &config, values, &arguments, results, 1);
      g_assert_cmpint(results[CHANNELS].end, ==, ASTRO_CLEAN_THRESHOLD);
      for (guint i = 0; i < n; i++) {
        double flux;
        const double index = index_of(got, &sources[i], &flux);
        g_test_message("%u: flux %g of %g, index %g of %g after %u", b, flux, sources[i].flux,
                       index, sources[i].index, results[CHANNELS].iterations);
        /* Broad components reach into the surroundings of a point. */
        g_assert_cmpfloat_with_epsilon(flux, sources[i].flux,
                                       (with_scales ? 0.04 : 0.01) * sources[i].flux);
        g_assert_cmpfloat_with_epsilon(index, sources[i].index, with_scales ? 0.1 : 0.03);
      }
    }
  }
}

/* Whether a channel's model has its component within a pixel of the source. */
static gboolean is_found(const double *got, guint channel, const Emitter *source)
{
  for (gint i = 0; i < 9; i++)
    if (image_of(got, channel, 1)[(source->y + i / 3 - 1) * SIZE + source->x + i % 3 - 1] != 0)
      return TRUE;
  return FALSE;
}

/* A source below the noise peaks of each channel is found in all of them together. */
static void test_deeper(void)
{
  static const Emitter faint = { 30, 8, 0.05, 0, 0 };
  g_autofree double *values = cube_of(&faint, 1, 0.02);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++)
    for (guint joined = 0; joined < 2; joined++) {
      AstroCleanConfig config = joined_config(joined);
      AstroCleanResult results[CHANNELS + 1];
      AstroCleanArguments arguments = { 4, 3, 0.4 };
      guint found = 0;
      config.joined = joined;
      config.gain = 1;
      config.iterations = 1;
      g_autofree double *got = clean(backends[b], &config, values, &arguments, results, 1);
      for (guint c = 0; c < CHANNELS; c++)
        found += is_found(got, c, &faint);
      if (joined)
        g_assert_cmpuint(found, ==, CHANNELS);
      else
        g_assert_cmpuint(found, <, CHANNELS);
    }
}

/* ---- channels without visibilities ---- */

/* They change nothing for the others. Their model is what the polynomial says, and their residual
 * stays NaN. */
static void test_missing(void)
{
  static const double some[2 * CHANNELS] = { 1, 1, 0, 0, 4, 4, 3, 3 };
  for (guint by_weight = 0; by_weight < 2; by_weight++)
    for (guint b = 0; b < G_N_ELEMENTS(backends); b++)
      for (guint terms = 0; terms <= 2; terms += 2) {
        g_autofree double *values = cube_of(emitters, 3, 0);
        AstroCleanConfig config = joined_config(terms);
        AstroCleanResult results[CHANNELS + 1];
        AstroCleanArguments arguments = { 4, 3, 0.4, .weights = by_weight ? some : NULL };
        config.iterations = 120;
        for (gsize i = 0; i < 2 * WIDE * WIDE && !by_weight; i++)
          values[(gsize)2 * WIDE * WIDE + i] = NAN;
        g_autofree double *got = clean(backends[b], &config, values, &arguments, results, 1);
        g_assert_cmpint(results[1].end, ==, ASTRO_CLEAN_EMPTY);
        g_assert_cmpint(results[0].end, ==, ASTRO_CLEAN_ITERATIONS);
        g_assert_cmpint(isnan(image_of(got, 1, 2)[0]), ==, !by_weight);
        g_assert_cmpfloat_with_epsilon(image_of(got, 1, 1)[24 * SIZE + 24],
                                       terms ? emitted(&emitters[0], 1) : 0, 0.03);
        g_assert_cmpfloat_with_epsilon(image_of(got, 2, 1)[24 * SIZE + 24],
                                       emitted(&emitters[0], 2), 0.03);
      }
}

/* ---- cpu against the reference ---- */

static void compare(const AstroCleanConfig *config, const double *values,
                    const AstroCleanArguments *given)
{
  static const char *const levels[] = { "c", "avx2", "avx512" };
  AstroCleanArguments arguments = *given;
  AstroCleanResult expected[CHANNELS + 1], found[CHANNELS + 1];
  const double tolerance = config->format == ASTRO_FORMAT_F64LE ? 1e-10 : 5e-4;
  g_autofree double *image = clean(&astro_clean_reference, config, values, &arguments, expected, 1);
  for (guint k = 0; k < G_N_ELEMENTS(levels); k++) {
    g_setenv("ASTRO_CPU", levels[k], TRUE);
    g_autofree double *got = clean(&astro_clean_cpu, config, values, &arguments, found, 1 + k % 2);
    for (guint i = 0; i < 4 * CHANNELS * PIXELS; i++)
      g_assert_cmpfloat_with_epsilon(got[i], image[i], tolerance);
    for (guint i = 0; i <= CHANNELS; i++) {
      g_assert_cmpuint(found[i].iterations, ==, expected[i].iterations);
      g_assert_cmpint(found[i].end, ==, expected[i].end);
      g_assert_cmpfloat_with_epsilon(found[i].peak, expected[i].peak, tolerance);
      g_assert_cmpfloat_with_epsilon(found[i].flux, expected[i].flux, 100 * tolerance);
      g_assert_cmpfloat_with_epsilon(found[i].noise, expected[i].noise, tolerance);
    }
  }
  g_unsetenv("ASTRO_CPU");
}

static void test_cpu(void)
{
  g_autofree double *values = cube_of(extended, 2, 0.01);
  guint8 mask[PIXELS];
  for (guint i = 0; i < PIXELS; i++)
    mask[i] = i % SIZE < 40;
  for (guint i = 0; i < 8; i++) {
    AstroCleanConfig config = joined_config(i % 4);
    const AstroCleanArguments arguments = { 4, 3, 0.4, .mask = i & 2 ? mask : NULL,
                                            .weights = i % 3 ? weights : NULL };
    config.n_scales = i & 1 ? 3 : 0;
    config.scales[1] = 6;
    config.scales[2] = 12;
    config.auto_mask = i & 4 ? 6 : 0;
    config.iterations = 40;
    config.border = i % 5;
    config.format = i % 3 ? ASTRO_FORMAT_F32LE : ASTRO_FORMAT_F64LE;
    compare(&config, values, &arguments);
  }
}

/* ---- memory ---- */

/* Residual and model of each channel, and with scales two images and two point-spread functions
 * more, are all held at a time. */
static void test_memory(void)
{
  for (guint scales = 0; scales <= 3; scales += 3) {
    AstroCleanConfig config = joined_config(2);
    config.n_scales = scales;
    const guint64 few = astro_clean_memory(&config, 1);
    config.channels += 10;
    const guint64 each = (astro_clean_memory(&config, 1) - few) / 10,
                  pixels = scales ? 4 * PIXELS + 2 * WIDE * WIDE : 2 * PIXELS;
    g_assert_cmpuint(each, >=, pixels * sizeof(double));
    /* The models that a file may bring are the rest. */
    g_assert_cmpuint(each, <=, pixels * sizeof(double) + 2 * PIXELS * sizeof(double));
  }
}

/* ---- refusals ---- */

static void test_errors(void)
{
  static const char *const says[] = { "2 spectral terms of channels that are cleaned one by one",
                                      "4 spectral terms, expected at most 3",
                                      "3 spectral terms for 2 channels", "expected both above 0" };
  AstroCleanConfig cases[4];
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    cases[i] = joined_config(2);
  cases[0].joined = FALSE;
  cases[1].spectral_terms = 4;
  cases[2].channels = 2;
  cases[2].spectral_terms = 3;
  cases[3].frequency = 0;
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++)
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      AstroPlace place = { 0 };
      const char *variant;
      g_autoptr(GError) error = NULL;
      g_assert_null(backends[b]->create(&cases[i], &place, &variant, &error));
      test_says(error->message, says[i]);
    }
}

/* One of four channels has visibilities, which is too few for a slope. */
static void test_too_few(void)
{
  static const double one[2 * CHANNELS] = { 0, 0, 1, 1 };
  g_autofree double *values = cube_of(emitters, 1, 0);
  g_autofree double *out = g_new(double, 4 * CHANNELS * PIXELS);
  const AstroBlock in_block = { values, 2 * CHANNELS * WIDE * WIDE * sizeof *values };
  const AstroBlock out_block = { out, 4 * CHANNELS * PIXELS * sizeof *out };
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    const AstroCleanConfig config = joined_config(2);
    const AstroCleanArguments arguments = { 4, 3, 0, .weights = one };
    const AstroPlace place = { .threads = 1 };
    const char *variant;
    g_autoptr(GError) error = NULL;
    gpointer instance = backends[b]->create(&config, &place, &variant, &error);
    g_assert_no_error(error);
    g_assert_false(
        backends[b]->submit(instance, &in_block, 1, &out_block, 1, &arguments, NULL, &error));
    test_says(error->message, "only 1 of 4 channels have visibilities");
    backends[b]->destroy(instance);
  }
}

static void add_tests(void)
{
  g_test_add_func("/clean-joined/one", test_one);
  g_test_add_func("/clean-joined/alone", test_alone);
  g_test_add_func("/clean-joined/spectra", test_spectra);
  g_test_add_func("/clean-joined/deeper", test_deeper);
  g_test_add_func("/clean-joined/missing", test_missing);
  g_test_add_func("/clean-joined/cpu", test_cpu);
  g_test_add_func("/clean-joined/memory", test_memory);
  g_test_add_func("/clean-joined/errors", test_errors);
  g_test_add_func("/clean-joined/too-few", test_too_few);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
