/* Shared by tests of the correlator: runs of a backend, and all kernel variants compared with the
 * reference. */
#pragma once

#include "core/backend/cpu.h"
#include "core/correlator/correlator.h"
#include "tests/core/on-device.h"
#include "tests/half.h"
#include "tests/tests.h"
#include <math.h>
#include <stdlib.h>

/* The output of a run: visibilities and counts of all dumps, one after the other. */
typedef struct {
  guint8 *out;
  gsize bytes; /* of one dump */
  guint32 *counts;
  gsize n_counts; /* of one dump */
  guint dumps;
} TestResult;

static inline void test_result_clear(TestResult *result)
{
  for (guint i = 0; i < result->dumps; i++)
    test_check_guard(result->out + i * (result->bytes + TEST_GUARD), result->bytes);
  test_free(result->out);
  g_free(result->counts);
}

/* A run: the block is submitted in cuts of that many steps, and each `integration` steps make a
 * dump. */
typedef struct {
  AstroCorrelatorConfig config;
  const guint8 *data;
  guint64 steps, integration;
  const guint *cuts;    /* ends with 0, then repeats; NULL: all at once */
  gboolean whole_block; /* cuts are parts of one block; else each is a block of its own */
  const guint8 *valid;
  gsize valid_time, valid_channel, valid_station;
  guint threads;
} TestRun;

static inline void test_set_layout(AstroCorrelatorConfig *config, const char *text)
{
  GError *error = NULL;
  g_assert_true(astro_layout_parse(&config->layout, text, ASTRO_QUANTITY_SPECTRA, &error));
  for (guint i = 0; i < config->layout.n_axes; i++)
    switch (config->layout.axes[i]) {
    case ASTRO_AXIS_CHANNEL:
      config->layout.extents[i] = config->channels;
      break;
    case ASTRO_AXIS_STATION:
      config->layout.extents[i] = config->stations;
      break;
    case ASTRO_AXIS_POL:
      config->layout.extents[i] = config->pols;
      break;
    default:
      break;
    }
}

static inline AstroCorrelatorConfig test_config(guint stations, guint pols, guint channels,
                                                AstroFormat from, AstroFormat to)
{
  AstroCorrelatorConfig config = {
    .stations = stations,
    .pols = pols,
    .channels = channels,
    .from = from,
    .to = to,
    .channel_step = 1,
  };
  test_set_layout(&config, "time:channel:station:pol");
  return config;
}

static inline gsize test_step_bytes(const AstroCorrelatorConfig *config)
{
  return (gsize)config->stations * config->pols * config->channels *
         astro_format_info(config->from)->bytes;
}

/* Random samples: any bits for integers, values from -1 to 1 for floats. */
static inline guint8 *test_data(const AstroCorrelatorConfig *config, guint64 steps, guint32 seed)
{
  gsize bytes = test_step_bytes(config) * steps;
  guint8 *data = test_alloc(bytes);
  test_fill(data, bytes, seed);
  if (config->from == ASTRO_FORMAT_CF32LE)
    for (gsize i = 0; i < bytes / 4; i++)
      ((float *)data)[i] = (float)((gint32 *)data)[i] * 0x1p-31f;
  if (config->from == ASTRO_FORMAT_CF16LE)
    for (gsize i = 0; i < bytes / 2; i++)
      ((guint16 *)data)[i] = test_half_bits(((gint16 *)data)[i] * 0x1p-15);
  return data;
}

static inline TestResult test_correlate(const AstroBackend *backend, const TestRun *r,
                                        const char *variant)
{
  GError *error = NULL;
  const char *name = NULL;
  AstroPlace place = { .threads = r->threads };
  gpointer instance = backend->create(&r->config, &place, &name, &error);
  g_assert_no_error(error);
  g_assert_nonnull(instance);
  if (variant)
    g_assert_cmpstr(name, ==, variant);
  TestResult result = {
    .bytes = astro_correlator_output_bytes(&r->config),
    .n_counts = r->config.channels / r->config.channel_step *
                astro_correlator_baselines(r->config.stations, r->config.triangle),
  };
  guint dumps = (guint)(r->steps / r->integration);
  result.out = test_alloc(dumps * (result.bytes + TEST_GUARD));
  result.counts = g_new(guint32, MAX(1, dumps * result.n_counts));
  memset(result.out, 0x5a, dumps * (result.bytes + TEST_GUARD));
  for (guint64 t = 0, in_cut = 0, cut = 0, added = 0; t < dumps * r->integration;) {
    guint64 length = r->cuts ? r->cuts[cut] : r->steps;
    guint64 count = MIN(length - in_cut, MIN(r->integration - added, r->steps - t));
    guint64 offset = r->whole_block ? 0 : t, different = G_MAXUINT64;
    AstroCorrelatorArguments arguments = {
      .steps = r->whole_block ? r->steps : count,
      .first = t - offset,
      .count = count,
      .valid = r->valid ? r->valid + offset * r->valid_time : NULL,
      .valid_time = r->valid_time,
      .valid_channel = r->valid_channel,
      .valid_station = r->valid_station,
      .dump = added + count == r->integration,
      .n_counts = result.dumps % 2 ? &different : NULL, /* every other time, all are written */
    };
    guint32 *counts = result.counts + result.dumps * result.n_counts;
    AstroResult told = { .counts = counts };
    AstroBlock in = { (gpointer)(r->data + offset * test_step_bytes(&r->config)),
                      arguments.steps * test_step_bytes(&r->config) };
    AstroBlock out = { result.out + result.dumps * (result.bytes + TEST_GUARD), result.bytes };
    g_assert_true(
        backend->submit(instance, &in, 1, &out, arguments.dump ? 1 : 0, &arguments, &told, &error));
    g_assert_no_error(error);
    t += count;
    added += count;
    in_cut += count;
    if (in_cut == length) {
      in_cut = 0;
      if (r->cuts && r->cuts[++cut] == 0)
        cut = 0;
    }
    if (arguments.dump) {
      guint64 full = r->integration * r->config.channel_step;
      gboolean complete = TRUE;
      if (told.complete)
        for (gsize i = 0; i < result.n_counts; i++)
          counts[i] = (guint32)full;
      for (gsize i = different; i < result.n_counts && different > 0; i++)
        counts[i] = counts[i - different];
      for (gsize i = 0; i < result.n_counts; i++)
        complete &= counts[i] == full;
      g_assert_true((different == 0) == (complete && arguments.n_counts));
      g_assert_cmpuint(told.samples, ==, full);
      g_assert_true(told.complete == complete);
      result.dumps++;
      added = 0;
    }
  }
  g_assert_cmpuint(result.dumps, ==, dumps);
  backend->destroy(instance);
  return result;
}

/* Equal bit for bit where samples are integers; else within 2e-6 of the autocorrelations. */
static inline void test_compare(const AstroCorrelatorConfig *config, const TestResult *expected,
                                const TestResult *found)
{
  g_assert_cmpuint(expected->dumps, ==, found->dumps);
  g_assert_cmpmem(expected->counts, expected->dumps * expected->n_counts * 4, found->counts,
                  found->dumps * found->n_counts * 4);
  guint pols = config->pols, products = pols * pols;
  guint64 baselines = astro_correlator_baselines(config->stations, ASTRO_TRIANGLE_LOWER);
  for (guint d = 0; d < expected->dumps; d++) {
    gconstpointer a = expected->out + d * (expected->bytes + TEST_GUARD);
    gconstpointer b = found->out + d * (found->bytes + TEST_GUARD);
    if (!astro_format_info(config->from)->is_float) {
      g_assert_cmpmem(a, expected->bytes, b, found->bytes);
      continue;
    }
    for (guint c = 0; c < config->channels; c++) {
      const float *x = (const float *)a + 2 * products * baselines * c;
      const float *y = (const float *)b + 2 * products * baselines * c;
      for (guint i = 0; i < config->stations; i++)
        for (guint j = 0; j <= i; j++)
          for (guint k = 0; k < products; k++) {
            guint64 at = (i * (i + 1) / 2 + j) * products + k;
            guint64 ii = (i * (i + 1) / 2 + i) * products + k / pols * (pols + 1);
            guint64 jj = (j * (j + 1) / 2 + j) * products + k % pols * (pols + 1);
            double scale = sqrt((double)x[2 * ii] * (double)x[2 * jj]);
            double error = hypot((double)x[2 * at] - (double)y[2 * at],
                                 (double)x[2 * at + 1] - (double)y[2 * at + 1]);
            if (!(error <= 2e-6 * scale))
              g_error("channel %u baseline %u %u product %u: error %g of %g", c, i, j, k, error,
                      scale);
          }
    }
  }
}

static const struct {
  AstroCpuLevel level;
  const char *int8, *int16, *floats;
} test_levels[] = {
  { ASTRO_CPU_C, "c", "c", "c" },
  { ASTRO_CPU_AVX2, "avx2", "avx2", "avx2" },
  { ASTRO_CPU_AVX512, "avx512", "avx512", "avx512" },
  { ASTRO_CPU_VNNI, "avx512-vnni", "avx512", "avx512" },
  { ASTRO_CPU_AMX, "amx-int8", "amx-int8", "amx-int8" },
};

/* Those of devices are behind the others, where there are some: CUDA's, then OpenCL's. */
static const AstroBackend *test_cuda, *test_opencl;
static const AstroBackend *test_backends[] = { &astro_correlator_reference, &astro_correlator_cpu,
                                               NULL, NULL, NULL };

static inline void test_check_device(const TestRun *r, const TestResult *expected)
{
  static const char *const names[] = { "three", "", "wgmma", "mma", "simt" }; /* "": chosen */
  const guint first = r->config.from == ASTRO_FORMAT_CI4 ? 0 : 1; /* three: of CI4 alone */
  for (guint i = first; test_cuda && i < G_N_ELEMENTS(names); i++) {
    setenv("ASTRO_CUDA", names[i], 1);
    TestResult found = test_correlate(test_cuda, r, NULL);
    test_compare(&r->config, expected, &found);
    test_result_clear(&found);
  }
  unsetenv("ASTRO_CUDA");
}

#define TEST_OPENCL_PRODUCTS 3e6 /* more would take an OpenCL device that is a CPU too long */

static inline void test_check_opencl(const TestRun *r, const TestResult *expected)
{
  const double inputs = MAX(32, (double)r->config.stations * r->config.pols);
  if (!test_opencl ||
      inputs * inputs * r->config.channels * (double)r->steps > TEST_OPENCL_PRODUCTS)
    return;
  TestResult found = test_correlate(test_opencl, r, NULL);
  test_compare(&r->config, expected, &found);
  test_result_clear(&found);
}

/* The imaginary part of a power is exactly 0. */
static inline void test_check_powers(const AstroCorrelatorConfig *config, const TestResult *found)
{
  const guint products = config->pols * config->pols;
  const guint64 baselines = astro_correlator_baselines(config->stations, ASTRO_TRIANGLE_LOWER);
  for (guint d = 0; d < found->dumps; d++) {
    const float *dump = (const float *)(found->out + d * (found->bytes + TEST_GUARD));
    for (guint c = 0; c < config->channels; c++)
      for (guint64 i = 0; i < config->stations; i++)
        for (guint p = 0; p < config->pols; p++) {
          const guint64 at = c * baselines + i * (i + 1) / 2 + i;
          g_assert_cmpfloat(dump[2 * (at * products + p * (config->pols + 1)) + 1], ==, 0);
        }
  }
}

/* Compares the run with the reference, on every variant that this machine has. */
static inline void test_check(const TestRun *r)
{
  static guint number = 0;
  if (test_passes_over(number++))
    return;
  TestResult expected = test_correlate(&astro_correlator_reference, r, "double");
  test_check_device(r, &expected);
  test_check_opencl(r, &expected);
  for (guint i = 0; i < G_N_ELEMENTS(test_levels); i++) {
    setenv("ASTRO_CPU", astro_cpu_level_name(test_levels[i].level), 1);
    if (astro_cpu_level() < test_levels[i].level)
      continue;
    const char *name = r->config.from == ASTRO_FORMAT_CI16LE         ? test_levels[i].int16
                       : astro_format_info(r->config.from)->is_float ? test_levels[i].floats
                                                                     : test_levels[i].int8;
    TestResult found = test_correlate(&astro_correlator_cpu, r, name);
    test_compare(&r->config, &expected, &found);
    if (astro_format_info(r->config.from)->is_float)
      test_check_powers(&r->config, &found);
    test_result_clear(&found);
  }
  unsetenv("ASTRO_CPU");
  test_result_clear(&expected);
}

static const AstroFormat test_inputs[] = { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI16LE,
                                           ASTRO_FORMAT_CF16LE, ASTRO_FORMAT_CF32LE };

/* A test for each format of samples. */
static inline void test_add_inputs(const char *name, GTestDataFunc func)
{
  for (guint f = 0; f < G_N_ELEMENTS(test_inputs); f++) {
    g_autofree char *path =
        g_strdup_printf("/correlator/%s/%s", name, astro_format_info(test_inputs[f])->name);
    g_test_add_data_func(path, &test_inputs[f], func);
  }
}

static inline int test_correlator(int argc, char **argv, void (*add_tests)(void))
{
  g_test_init(&argc, &argv, NULL);
  test_init_gstreamer(&argc, &argv);
  test_cuda = test_on_device("correlator");
  test_opencl = test_on_opencl("correlator");
  test_backends[2] = test_cuda ? test_cuda : test_opencl;
  test_backends[3] = test_cuda ? test_opencl : NULL;
  add_tests();
  return g_test_run();
}
