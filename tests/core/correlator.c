/* The correlator's backends and all kernel variants, held against the reference, and the reference
 * held against cases worked by hand. */
#include "core/backend/cpu.h"
#include "core/correlator/correlator.h"
#include "tests/core/on-device.h"
#include "tests/tests.h"
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* What a run makes: visibilities and counts of every dump, one after the other. */
typedef struct {
  guint8 *out;
  gsize bytes; /* of one dump */
  guint32 *counts;
  gsize n_counts; /* of one dump */
  guint dumps;
} Result;

static void result_clear(Result *result)
{
  for (guint i = 0; i < result->dumps; i++)
    test_check_guard(result->out + i * (result->bytes + TEST_GUARD), result->bytes);
  test_free(result->out);
  g_free(result->counts);
}

/* A run: the block is given in cuts of so many steps, and every integration steps make a dump. */
typedef struct {
  AstroCorrelatorConfig config;
  const guint8 *data;
  guint64 steps, integration;
  const guint *cuts;    /* up to a 0, then from the start again; NULL: all at once */
  gboolean whole_block; /* cuts are parts of one block; else each is a block of its own */
  const guint8 *valid;
  gsize valid_time, valid_channel, valid_station;
  guint threads;
} Run;

static void set_layout(AstroCorrelatorConfig *config, const char *text)
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

static AstroCorrelatorConfig new_config(guint stations, guint pols, guint channels,
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
  set_layout(&config, "time:channel:station:pol");
  return config;
}

static gsize step_bytes(const AstroCorrelatorConfig *config)
{
  return (gsize)config->stations * config->pols * config->channels *
         astro_format_info(config->from)->bytes;
}

/* Random samples: any bits for integers, numbers from -1 to 1 for floating point. */
static guint8 *new_data(const AstroCorrelatorConfig *config, guint64 steps, guint32 seed)
{
  gsize bytes = step_bytes(config) * steps;
  guint8 *data = test_alloc(bytes);
  test_fill(data, bytes, seed);
  if (config->from == ASTRO_FORMAT_CF32LE)
    for (gsize i = 0; i < bytes / 4; i++)
      ((float *)data)[i] = (float)((gint32 *)data)[i] * 0x1p-31f;
  if (config->from == ASTRO_FORMAT_CF16LE)
    for (gsize i = 0; i < bytes / 2; i++)
      ((_Float16 *)data)[i] = (_Float16)((float)((gint16 *)data)[i] * 0x1p-15f);
  return data;
}

static Result run(const AstroBackend *backend, const Run *r, const char *variant)
{
  GError *error = NULL;
  const char *name = NULL;
  AstroPlace place = { .threads = r->threads };
  gpointer instance = backend->create(&r->config, &place, &name, &error);
  g_assert_no_error(error);
  g_assert_nonnull(instance);
  if (variant)
    g_assert_cmpstr(name, ==, variant);
  Result result = {
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
    guint64 offset = r->whole_block ? 0 : t;
    AstroCorrelatorArguments arguments = {
      .steps = r->whole_block ? r->steps : count,
      .first = t - offset,
      .count = count,
      .valid = r->valid ? r->valid + offset * r->valid_time : NULL,
      .valid_time = r->valid_time,
      .valid_channel = r->valid_channel,
      .valid_station = r->valid_station,
      .dump = added + count == r->integration,
      .counts = result.counts + result.dumps * result.n_counts,
    };
    AstroBlock in = { (gpointer)(r->data + offset * step_bytes(&r->config)),
                      arguments.steps * step_bytes(&r->config) };
    AstroBlock out = { result.out + result.dumps * (result.bytes + TEST_GUARD), result.bytes };
    g_assert_true(
        backend->submit(instance, &in, 1, &out, arguments.dump ? 1 : 0, &arguments, &error));
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
      if (arguments.complete)
        for (gsize i = 0; i < result.n_counts; i++)
          arguments.counts[i] = (guint32)full;
      for (gsize i = 0; i < result.n_counts; i++)
        complete &= arguments.counts[i] == full;
      g_assert_cmpuint(arguments.samples, ==, full);
      g_assert_true(arguments.complete == complete);
      result.dumps++;
      added = 0;
    }
  }
  g_assert_cmpuint(result.dumps, ==, dumps);
  backend->destroy(instance);
  return result;
}

/* Equal bit for bit where samples are integers; else within 2e-6 of the autocorrelations. */
static void compare(const AstroCorrelatorConfig *config, const Result *expected,
                    const Result *found)
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
} levels[] = {
  { ASTRO_CPU_C, "c", "c", "c" },
  { ASTRO_CPU_AVX2, "avx2", "avx2", "avx2" },
  { ASTRO_CPU_AVX512, "avx512", "avx512", "avx512" },
  { ASTRO_CPU_VNNI, "avx512-vnni", "avx512", "avx512" },
  { ASTRO_CPU_AMX, "amx-int8", "avx512", "avx512" },
};

/* The device's backend is the last, where there is one. */
static const AstroBackend *all[] = { &astro_correlator_reference, &astro_correlator_cpu, NULL,
                                     NULL };

static void check_device(const Run *r, const Result *expected)
{
  static const char *const names[] = { "wgmma", "mma", "simt" };
  for (guint i = 0; all[2] && i < G_N_ELEMENTS(names); i++) {
    setenv("ASTRO_CUDA", names[i], 1);
    Result found = run(all[2], r, NULL);
    compare(&r->config, expected, &found);
    result_clear(&found);
  }
  unsetenv("ASTRO_CUDA");
}

/* Powers have no imaginary part, not a small one. */
static void check_powers(const AstroCorrelatorConfig *config, const Result *found)
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

/* The run on every variant that this machine has, against the reference. */
static void check(const Run *r)
{
  static guint number = 0;
  if (test_passes_over(number++))
    return;
  Result expected = run(&astro_correlator_reference, r, "double");
  check_device(r, &expected);
  for (guint i = 0; i < G_N_ELEMENTS(levels); i++) {
    setenv("ASTRO_CPU", astro_cpu_level_name(levels[i].level), 1);
    if (astro_cpu_level() < levels[i].level)
      continue;
    const char *name = r->config.from == ASTRO_FORMAT_CI16LE         ? levels[i].int16
                       : astro_format_info(r->config.from)->is_float ? levels[i].floats
                                                                     : levels[i].int8;
    Result found = run(&astro_correlator_cpu, r, name);
    compare(&r->config, &expected, &found);
    if (astro_format_info(r->config.from)->is_float)
      check_powers(&r->config, &found);
    result_clear(&found);
  }
  unsetenv("ASTRO_CPU");
  result_clear(&expected);
}

static const AstroFormat inputs[] = { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI16LE,
                                      ASTRO_FORMAT_CF16LE, ASTRO_FORMAT_CF32LE };

static void test_stations(gconstpointer format)
{
  static const guint stations[] = { 1, 3, 4, 19, 33, 64, 80, 127 };
  AstroFormat from = *(const AstroFormat *)format;
  gboolean is_float = astro_format_info(from)->is_float;
  for (guint s = 0; s < G_N_ELEMENTS(stations); s++)
    for (guint pols = 1; pols <= 2; pols++) {
      /* 16-bit samples at full scale leave room for one in CI32LE. */
      AstroFormat to =
          is_float || from == ASTRO_FORMAT_CI16LE ? ASTRO_FORMAT_CF32LE : ASTRO_FORMAT_CI32LE;
      Run r = { .config = new_config(stations[s], pols, 3, from, to),
                .steps = 37,
                .integration = 37 };
      r.data = new_data(&r.config, r.steps, s);
      check(&r);
      test_free((gpointer)r.data);
    }
}

/* Few and many channels and inputs. An integration in one block is made at once, of blocks long and
 * short; what comes in parts is summed, as is a long one of many inputs. */
static void test_channels(gconstpointer format)
{
  static const guint parts[] = { 257, 5, 0 };
  static const struct {
    guint stations, pols, channels;
    guint64 steps;
    const guint *cuts;
  } sizes[] = {
    { 2, 2, 33, 1111, NULL },  { 20, 1, 9, 1111, NULL },
    { 127, 2, 9, 19, NULL },   { 129, 1, 8, 19, NULL },
    { 70, 2, 3, 19, NULL },    { 40, 2, 9, 262, parts },
    { 37, 1, 8, 262, parts },  { 35, 2, 2, 262, parts },
    { 200, 1, 8, 1030, NULL }, /* longer than floats' tiles */
  };
  AstroFormat from = *(const AstroFormat *)format;
  const guint n = G_N_ELEMENTS(sizes) - (astro_format_info(from)->is_float ? 0 : 1);
  for (guint s = 0; s < n; s++) {
    Run r = {
      .config = new_config(sizes[s].stations, sizes[s].pols, sizes[s].channels, from,
                           ASTRO_FORMAT_CF32LE),
      .steps = sizes[s].steps,
      .integration = sizes[s].steps,
      .cuts = sizes[s].cuts,
      .whole_block = TRUE,
    };
    set_layout(&r.config, "channel:time:station:pol");
    r.data = new_data(&r.config, r.steps, s);
    check(&r);
    test_free((gpointer)r.data);
  }
}

/* Spectra at the very end of memory, of inputs and steps that fill no panel: nothing behind them is
 * looked at. */
static void test_end_of_memory(gconstpointer format)
{
  static const guint stations[] = { 1, 5, 19 }, channels[] = { 1, 9 };
  static const guint64 steps[] = { 1, 67 };
  const gsize page = (gsize)sysconf(_SC_PAGESIZE);
  for (guint k = 0; k < 12; k++) {
    Run r = { .config = new_config(stations[k % 3], 1, channels[k / 3 % 2],
                                   *(const AstroFormat *)format, ASTRO_FORMAT_CF32LE),
              .steps = steps[k / 6],
              .integration = steps[k / 6] };
    set_layout(&r.config, "channel:time:station:pol");
    const gsize bytes = step_bytes(&r.config) * r.steps, room = (bytes + page - 1) / page * page;
    guint8 *data = new_data(&r.config, r.steps, k);
    guint8 *memory =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_assert_true(memory != MAP_FAILED);
    g_assert_cmpint(mprotect(memory + room, page, PROT_NONE), ==, 0);
    r.data = memcpy(memory + room - bytes, data, bytes);
    check(&r);
    munmap(memory, room + page);
    test_free(data);
  }
}

/* Many inputs whose channel is one strip of tiles: an integration that is one block of more than
 * one pass, and one of several blocks. */
static void test_one_strip(void)
{
  static const guint cuts[] = { 260, 9, 0 };
  static const guint steps[] = { 520, 269 };
  for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
    Run r = {
      .config = new_config(185 + i, 2, 8, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE),
      .steps = steps[i],
      .integration = steps[i],
      .cuts = i > 0 ? cuts : NULL,
    };
    set_layout(&r.config, "channel:time:station:pol");
    r.data = new_data(&r.config, r.steps, i);
    check(&r);
    test_free((gpointer)r.data);
  }
}

/* Whether stations that repeat a few others' samples have their visibilities. */
static void check_repeated(const AstroCorrelatorConfig *few, const float *wanted,
                           const AstroCorrelatorConfig *many, const float *found)
{
  const double most = astro_format_info(few->from)->is_float ? 2e-6 : 0;
  for (guint c = 0; c < few->channels; c++) {
    const float *of_few = wanted + c * few->stations * (few->stations + 1);
    for (guint i = 0; i < many->stations; i++)
      for (guint j = 0; j <= i; j++, found += 2) {
        const guint k = i % few->stations, l = j % few->stations, a = MAX(k, l), b = MIN(k, l);
        const float *mean = of_few + a * (a + 1) + 2 * b, im = k < l ? -mean[1] : mean[1];
        const double scale = sqrt((double)of_few[a * (a + 3)]) * sqrt((double)of_few[b * (b + 3)]);
        const double error = hypot((double)(found[0] - mean[0]), (double)(found[1] - im));
        if (!(error <= most * scale))
          g_error("channel %u baseline %u %u: error %g of %g", c, i, j, error, scale);
      }
  }
}

/* So many inputs that a channel is more than one strip, over passes and spans. */
static void test_many_inputs(void)
{
  enum { FEW = 37, CHANNELS = 8 };
  static const struct {
    AstroFormat from;
    guint stations;
    guint64 steps;
  } cases[] = { { ASTRO_FORMAT_CF32LE, 1030, 530 }, { ASTRO_FORMAT_CI8, 645, 300 } };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
    const AstroFormat from = cases[k].from;
    const guint stations = cases[k].stations;
    Run few = { .config = new_config(FEW, 1, CHANNELS, from, ASTRO_FORMAT_CF32LE),
                .steps = cases[k].steps,
                .integration = cases[k].steps };
    Run many = few;
    many.config = new_config(stations, 1, CHANNELS, from, ASTRO_FORMAT_CF32LE);
    const gsize sample = astro_format_info(from)->bytes;
    guint8 *of_few = new_data(&few.config, few.steps, k);
    guint8 *of_many = test_alloc(step_bytes(&many.config) * many.steps);
    for (gsize row = 0; row < CHANNELS * many.steps; row++)
      for (gsize i = 0; i < stations; i++)
        memcpy(of_many + (row * stations + i) * sample, of_few + (row * FEW + i % FEW) * sample,
               sample);
    few.data = of_few;
    many.data = of_many;
    Result expected = run(&astro_correlator_reference, &few, NULL);
    for (guint l = 0; l < G_N_ELEMENTS(levels); l++) {
      setenv("ASTRO_CPU", astro_cpu_level_name(levels[l].level), 1);
      if (astro_cpu_level() < levels[l].level)
        continue;
      Result found = run(&astro_correlator_cpu, &many, NULL);
      check_repeated(&few.config, (const float *)expected.out, &many.config,
                     (const float *)found.out);
      result_clear(&found);
    }
    unsetenv("ASTRO_CPU");
    result_clear(&expected);
    test_free(of_few);
    test_free(of_many);
  }
}

/* Time innermost, which devices read in place where blocks are long and lie well. */
static void test_time_last(gconstpointer format)
{
  static const guint sizes[][3] = { { 130, 2, 1 }, { 150, 1, 2 }, { 3, 2, 5 }, { 64, 2, 1 } };
  static const char *const layouts[] = { "channel:station:pol:time", "station:pol:channel:time" };
  static const struct {
    guint64 steps, integration;
  } runs[] = { { 264, 264 }, { 1024, 512 }, { 1111, 1111 }, { 1600, 400 } };
  AstroFormat from = *(const AstroFormat *)format;
  for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
    for (guint k = s < 2 ? 0 : 1; k < (s < 2 ? 1 : G_N_ELEMENTS(runs)); k++) {
      Run r = {
        .config = new_config(sizes[s][0], sizes[s][1], sizes[s][2], from, ASTRO_FORMAT_CF32LE),
        .steps = runs[k].steps,
        .integration = runs[k].integration,
        .whole_block = TRUE,
      };
      set_layout(&r.config, layouts[(s + k) % 2]);
      r.data = new_data(&r.config, r.steps, s);
      check(&r);
      test_free((gpointer)r.data);
    }
}

static void test_cuts(gconstpointer format)
{
  static const guint cuts[][8] = {
    { 1, 0 }, { 7, 64, 1, 300, 0 }, { 257, 3, 0 }, { 64, 0 }, { 63, 65, 513, 0 }
  };
  static const guint integrations[] = { 1, 13, 64, 129, 257, 700, 1301 };
  AstroFormat from = *(const AstroFormat *)format;
  for (guint c = 0; c < G_N_ELEMENTS(cuts); c++)
    for (guint i = 0; i < G_N_ELEMENTS(integrations); i++) {
      Run r = {
        .config = new_config(5, 1, 3, from, ASTRO_FORMAT_CF32LE),
        .steps = 1301,
        .integration = integrations[i],
        .cuts = cuts[c],
        .whole_block = i % 2,
      };
      if (r.whole_block && c % 2)
        set_layout(&r.config, "channel:time:station:pol");
      r.data = new_data(&r.config, r.steps, c * 100 + i);
      check(&r);
      test_free((gpointer)r.data);
    }
}

/* -128 and -8 in every place, and then mixed with the greatest. */
static void test_full_scale(void)
{
  static const struct {
    AstroFormat from;
    guint8 least, greatest;
    guint bytes;
    gint64 square;
  } cases[] = { { ASTRO_FORMAT_CI4, 0x88, 0x77, 1, 128 },
                { ASTRO_FORMAT_CI8, 0x80, 0x7f, 2, 32768 } };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++)
    for (guint mix = 0; mix < 3; mix++) {
      Run r = { .config = new_config(19, 2, 1, cases[k].from, ASTRO_FORMAT_CI32LE),
                .steps = 10007,
                .integration = 10007 };
      gsize bytes = step_bytes(&r.config) * r.steps;
      guint8 *data = test_alloc(bytes), *random = test_alloc(bytes);
      test_fill(random, bytes, mix);
      for (gsize i = 0; i < bytes; i++)
        data[i] = mix == 0 || (mix == 1 && (random[i] & 1)) || (mix == 2 && i / 38 % 2)
                      ? cases[k].least
                      : cases[k].greatest;
      r.steps = r.integration = mix == 0 ? 10007 : 501;
      r.data = data;
      if (mix == 0) {
        Result result = run(&astro_correlator_cpu, &r, NULL);
        for (gsize i = 0; i < result.bytes / 8; i++) {
          g_assert_cmpint(((const gint32 *)result.out)[2 * i], ==, cases[k].square * 10007);
          g_assert_cmpint(((const gint32 *)result.out)[2 * i + 1], ==, 0);
        }
        result_clear(&result);
        r.steps = r.integration = 501;
      }
      check(&r);
      test_free(data);
      test_free(random);
    }
}

/* Inputs that never change, at the corners of what bytes hold: sums of a span, of (re + im)(re -
 * im) above all, are as large as they get. */
static void test_corners(void)
{
  static const gint8 corners[][2] = {
    { -128, -128 }, { -128, 127 },  { 127, -128 }, { 127, 127 },
    { -128, -127 }, { -127, -128 }, { -127, 127 }, { 126, -128 }
  };
  enum { INPUTS = G_N_ELEMENTS(corners) };
  Run r = { .config = new_config(INPUTS, 1, 1, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE),
            .steps = 70001,
            .integration = 70001 };
  guint8 *data = test_alloc(sizeof corners * r.steps);
  for (guint64 t = 0; t < r.steps; t++)
    memcpy(data + t * sizeof corners, corners, sizeof corners);
  r.data = data;
  check(&r);
  test_free(data);
}

/* 100,003 spectra: sums beyond int32 in CI8 and CI16, seen as means; exact sums in CI4. */
static void test_long(void)
{
  static const guint cuts[] = { 40000, 100, 33000, 1, 0 };
  for (guint f = 0; f < 3; f++) {
    Run r = { .config = new_config(2, 2, 1, inputs[f],
                                   f == 0 ? ASTRO_FORMAT_CI32LE : ASTRO_FORMAT_CF32LE),
              .steps = 100003,
              .integration = 100003,
              .cuts = cuts };
    gsize bytes = step_bytes(&r.config) * r.steps;
    guint8 *data = test_alloc(bytes);
    guint8 least[] = { 0x88, 0x80, 0x00 };
    memset(data, least[f], bytes);
    if (inputs[f] == ASTRO_FORMAT_CI16LE)
      for (gsize i = 1; i < bytes; i += 2)
        data[i] = 0x80;
    test_fill(data + bytes / 2, bytes / 64, f); /* and something else in between */
    r.data = data;
    check(&r);
    test_free(data);
  }
}

/* Sums that just fit CI32LE and those that just do not. */
static void test_overflow(void)
{
  for (guint b = 0; all[b]; b++)
    for (guint extra = 0; extra < 2; extra++) {
      AstroCorrelatorConfig config = new_config(1, 1, 1, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI32LE);
      guint64 steps = 65535 + extra;
      guint8 *data = test_alloc(2 * steps);
      gint32 *out = test_alloc(8);
      GError *error = NULL;
      memset(data, 0x80, 2 * steps);
      gpointer instance = all[b]->create(&config, NULL, NULL, &error);
      g_assert_no_error(error);
      AstroCorrelatorArguments arguments = { .steps = steps, .count = steps, .dump = TRUE };
      AstroBlock in = { data, 2 * steps }, block = { out, 8 };
      gboolean done = all[b]->submit(instance, &in, 1, &block, 1, &arguments, &error);
      if (extra) {
        g_assert_false(done);
        g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
        g_assert_cmphex((guint32)out[0], ==, 0xa5a5a5a5); /* nothing was written */
        g_clear_error(&error);
        /* The next integration starts from nothing. */
        arguments.steps = arguments.count = 1;
        g_assert_true(all[b]->submit(instance, &in, 1, &block, 1, &arguments, &error));
        g_assert_cmpint(out[0], ==, 32768);
        g_assert_cmpuint(arguments.samples, ==, 1);
      } else {
        g_assert_no_error(error);
        g_assert_cmpint(out[0], ==, 2147450880);
        g_assert_cmpint(out[1], ==, 0);
      }
      test_check_guard(out, 8);
      all[b]->destroy(instance);
      test_free(data);
      test_free(out);
    }
}

/* Advice that can be followed: who sums one step, or each channel by itself, cannot sum fewer. */
static void test_overflow_advice(void)
{
  static const struct {
    guint steps, channel_step;
    const char *end;
  } cases[] = {
    { 1, 1, " over 1 time step does not fit CI32LE: use CF32LE" },
    { 2, 1, " over 2 time steps does not fit CI32LE: use CF32LE or a shorter integration" },
    { 1, 2, " over 1 time step does not fit CI32LE: use CF32LE or a smaller channel step" },
    { 2, 2,
      " over 2 time steps does not fit CI32LE: use CF32LE, a shorter integration or a smaller "
      "channel step" },
  };
  for (guint b = 0; all[b]; b++)
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      AstroCorrelatorConfig config = new_config(1, 1, 2, ASTRO_FORMAT_CI16LE, ASTRO_FORMAT_CI32LE);
      config.channel_step = cases[i].channel_step;
      gint16 data[8]; /* the largest product there is, in every sample */
      for (guint k = 0; k < G_N_ELEMENTS(data); k++)
        data[k] = G_MININT16;
      gint32 out[4];
      AstroBlock in = { data, cases[i].steps * step_bytes(&config) }, to = { out, sizeof out };
      AstroCorrelatorArguments arguments = { .steps = cases[i].steps,
                                             .count = cases[i].steps,
                                             .dump = TRUE };
      GError *error = NULL;
      gpointer instance = all[b]->create(&config, NULL, NULL, &error);
      g_assert_no_error(error);
      g_assert_false(all[b]->submit(instance, &in, 1, &to, 1, &arguments, &error));
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
      if (!g_str_has_suffix(error->message, cases[i].end))
        g_error("\"%s\" does not end in \"%s\"", error->message, cases[i].end);
      g_clear_error(&error);
      all[b]->destroy(instance);
    }
}

/* A million samples, random and such that all roundings may go one way. */
static void test_float_error(void)
{
  static const guint cuts[] = { 4096, 0 };
  for (guint k = 0; k < 4; k++) {
    Run r = { .config = new_config(2, 1, 1, ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE),
              .steps = 1000000,
              .integration = 1000000,
              .cuts = cuts };
    float *data = (float *)new_data(&r.config, r.steps, k);
    static const float constants[4][4] = {
      { 0, 0, 0, 0 }, { 0.1f, 0.3f, 0.7f, -0.9f }, { 1.1f, 1.3f, 0.013f, 3e3f }, { 0, 0, 0, 0 }
    };
    if (k == 1 || k == 2)
      for (gsize i = 0; i < 4 * r.steps; i++)
        data[i] = constants[k][i % 4];
    if (k == 3) /* strong against weak */
      for (gsize i = 0; i < 4 * r.steps; i++)
        data[i] = i % 4 < 2 ? data[i] * 1e6f + 1e5f : data[i] * 1e-6f + 1e-7f;
    r.data = (const guint8 *)data;
    check(&r);
    test_free(data);
  }
}

/* Inputs that never change, each its own number, whose sums' errors all add up. */
static void test_constants(void)
{
  Run r = { .config = new_config(64, 2, 1, ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE),
            .steps = 4096,
            .integration = 4096 };
  for (guint seed = 0; seed < 4; seed++) {
    float *data = (float *)new_data(&r.config, r.steps, seed);
    gsize row = step_bytes(&r.config);
    for (guint64 t = 1; t < r.steps; t++)
      memcpy((guint8 *)data + t * row, data, row);
    r.data = (const guint8 *)data;
    check(&r);
    test_free(data);
  }
}

/* Samples whose re + im and re - im fit a byte, whose one or other just does not at some times, and
 * any, each in panels of inputs of its own, so that kernels that tell them apart meet each beside
 * each. */
static void test_sizes(void)
{
  enum { PANEL = 16, SMALL, SUM, DIFFERENCE, ANY };
  static const guint8 kinds[] = { SMALL, SUM, SMALL, DIFFERENCE, SMALL, SMALL, ANY, SMALL };
  static const guint stations[] = { 125, 13, 32 };
  for (guint k = 0; k < G_N_ELEMENTS(stations); k++) {
    const guint n = stations[k];
    Run r = { .config = new_config(n, 1, 9, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI32LE),
              .steps = 1300,
              .integration = 1300 };
    set_layout(&r.config, "channel:time:station:pol");
    gint8 *data = (gint8 *)new_data(&r.config, r.steps, k);
    for (gsize i = 0; i < n * 9 * r.steps; i++) {
      const guint kind = kinds[i % n / PANEL], time = i / n % r.steps;
      gint8 *re = data + 2 * i, *im = re + 1;
      if (kind == ANY)
        continue;
      *re = (gint8)(*re / 2);
      *im = (gint8)(*im / 2);
      if (kind == SMALL || time % 700 != 600 || i % PANEL != 3)
        continue;
      *re = i % 3 ? 64 : -65;
      *im = (kind == SUM) == (*re > 0) ? 64 : -64;
    }
    r.data = (const guint8 *)data;
    check(&r);
    test_free(data);
  }
}

/* Every order of axes gives what the plain one gives. */
static void test_layouts(gconstpointer format)
{
  static const char *const axes[] = { "time", "channel", "station", "pol" };
  AstroFormat from = *(const AstroFormat *)format;
  enum { TIME = 41, CHANNELS = 37, STATIONS = 7, POLS = 2 };
  guint extents[] = { TIME, CHANNELS, STATIONS, POLS };
  Run plain = { .config = new_config(STATIONS, POLS, CHANNELS, from, ASTRO_FORMAT_CF32LE),
                .steps = TIME,
                .integration = TIME };
  gsize sample = astro_format_info(from)->bytes;
  guint8 *data = new_data(&plain.config, TIME, 1);
  plain.data = data;
  Result expected = run(&astro_correlator_reference, &plain, NULL);
  for (guint code = 0; code < 256; code++) {
    guint order[4] = { code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6 & 3 };
    if (((1u << order[0]) | (1u << order[1]) | (1u << order[2]) | (1u << order[3])) != 15)
      continue;
    g_autofree char *text =
        g_strjoin(":", axes[order[0]], axes[order[1]], axes[order[2]], axes[order[3]], NULL);
    Run r = plain;
    guint8 *turned = test_alloc(step_bytes(&plain.config) * TIME);
    gsize stride[4], at = sample;
    for (gint i = 3; i >= 0; i--) {
      stride[order[i]] = at;
      at *= extents[order[i]];
    }
    const guint8 *from_sample = data;
    for (guint t = 0; t < TIME; t++)
      for (guint c = 0; c < CHANNELS; c++)
        for (guint s = 0; s < STATIONS; s++)
          for (guint p = 0; p < POLS; p++, from_sample += sample)
            memcpy(turned + t * stride[0] + c * stride[1] + s * stride[2] + p * stride[3],
                   from_sample, sample);
    set_layout(&r.config, text);
    r.data = turned;
    for (guint b = 0; all[b]; b++) {
      Result found = run(all[b], &r, NULL);
      compare(&r.config, &expected, &found);
      result_clear(&found);
    }
    test_free(turned);
  }
  result_clear(&expected);
  test_free(data);
}

/* Axes of length 1 may be left out, the time axis too. */
static void test_missing_axes(void)
{
  static const struct {
    guint stations, channels;
    const char *layout;
  } cases[] = { { 5, 1, "time:station" },
                { 5, 3, "channel:station" },
                { 1, 3, "time:channel" },
                { 1, 1, "time" } };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
    Run r = { .config = new_config(cases[k].stations, 1, cases[k].channels, ASTRO_FORMAT_CI8,
                                   ASTRO_FORMAT_CI32LE),
              .steps = 100,
              .integration = 50 };
    r.data = new_data(&r.config, r.steps, k);
    Result expected = run(&astro_correlator_reference, &r, NULL);
    set_layout(&r.config, cases[k].layout);
    Result reference = run(&astro_correlator_reference, &r, NULL);
    compare(&r.config, &expected, &reference);
    check(&r);
    result_clear(&expected);
    result_clear(&reference);
    test_free((gpointer)r.data);
  }
}

/* Loss at random, shared by channels or not: counts as counted here, and lost samples hold NaN. */
static void test_validity(gconstpointer format)
{
  AstroFormat from = *(const AstroFormat *)format;
  enum { TIME = 300, CHANNELS = 3, STATIONS = 9, POLS = 2, INTEGRATION = 100 };
  static const guint cuts[] = { 17, 100, 1, 70, 0 };
  for (guint per_channel = 0; per_channel < 3; per_channel++) {
    Run r = { .config = new_config(STATIONS, POLS, CHANNELS, from, ASTRO_FORMAT_CF32LE),
              .steps = TIME,
              .integration = INTEGRATION,
              .cuts = cuts,
              .whole_block = per_channel == 1 };
    guint8 *data = new_data(&r.config, TIME, per_channel);
    guint8 *valid = test_alloc(TIME * CHANNELS * STATIONS);
    test_fill(valid, TIME * CHANNELS * STATIONS, 77);
    for (gsize i = 0; i < TIME * CHANNELS * STATIONS; i++)
      valid[i] = i % STATIONS == 4 || valid[i] % 8 > 0; /* station 4 loses nothing */
    memset(valid + 200 * CHANNELS * STATIONS, 1,
           100 * CHANNELS * STATIONS); /* nor does the third */
    r.valid = valid;
    r.valid_time = CHANNELS * STATIONS;
    r.valid_channel = per_channel ? STATIONS : 0;
    r.valid_station = 1;
    gsize sample = astro_format_info(from)->bytes;
    if (astro_format_info(from)->is_float)
      for (gsize i = 0; i < TIME * CHANNELS * STATIONS; i++)
        if (!valid[per_channel ? i
                               : i / (CHANNELS * STATIONS) * CHANNELS * STATIONS + i % STATIONS])
          memset(data + i * POLS * sample, 0xff, POLS * sample);
    r.data = data;
    check(&r);
    Result result = run(&astro_correlator_cpu, &r, NULL);
    for (guint d = 0; d < 3; d++)
      for (guint c = 0; c < CHANNELS; c++)
        for (guint i = 0, b = 0; i < STATIONS; i++)
          for (guint j = 0; j <= i; j++, b++) {
            guint n = 0;
            for (guint t = d * INTEGRATION; t < (d + 1) * INTEGRATION; t++) {
              const guint8 *row = valid + (t * CHANNELS + (per_channel ? c : 0)) * STATIONS;
              n += row[i] && row[j];
            }
            guint32 found = result.counts[d * result.n_counts + c * 45 + b];
            g_assert_cmpuint(found, ==, n);
            g_assert_true(d < 2 || n == INTEGRATION);
          }
    result_clear(&result);
    test_free(valid);
    test_free(data);
  }
}

/* What is no number stays with its station, and in its integration. */
static void test_not_a_number(gconstpointer format)
{
  enum { STATIONS = 19, POLS = 2, INTEGRATION = 133, BAD = 7 };
  static const guint channels[] = { 1, 9 };
  for (guint k = 0; k < G_N_ELEMENTS(channels); k++) {
    Run r = { .config = new_config(STATIONS, POLS, channels[k], *(const AstroFormat *)format,
                                   ASTRO_FORMAT_CF32LE),
              .steps = 3 * INTEGRATION,
              .integration = INTEGRATION };
    guint8 *data = new_data(&r.config, r.steps, k);
    r.data = data;
    Result expected = run(&astro_correlator_reference, &r, NULL);
    const gsize station = step_bytes(&r.config) / channels[k] / STATIONS;
    for (gsize row = 0; row < INTEGRATION * channels[k]; row++)
      memset(data + (row * STATIONS + BAD) * station, 0xff, station);
    for (guint l = 0; l < G_N_ELEMENTS(levels); l++) {
      setenv("ASTRO_CPU", astro_cpu_level_name(levels[l].level), 1);
      if (astro_cpu_level() < levels[l].level)
        continue;
      Result found = run(&astro_correlator_cpu, &r, levels[l].floats);
      const float *wanted = (const float *)expected.out;
      float *out = (float *)found.out;
      for (guint c = 0; c < channels[k]; c++)
        for (guint i = 0; i < STATIONS; i++)
          for (guint j = 0; j <= i; j++)
            for (guint p = 0; p < POLS * POLS; p++, out += 2, wanted += 2)
              if (i == BAD || j == BAD) {
                g_assert_true(isnan(out[0]));
                memcpy(out, wanted, 8); /* for compare to look at the others */
              }
      compare(&r.config, &expected, &found);
      result_clear(&found);
    }
    unsetenv("ASTRO_CPU");
    result_clear(&expected);
    test_free(data);
  }
}

/* One station lost throughout: means of the others are as ever, its own are 0 with count 0. */
static void test_lost_station(void)
{
  enum { TIME = 64, STATIONS = 3 };
  guint8 valid[TIME * STATIONS];
  gint8 data[TIME * STATIONS * 2];
  memset(data, 2, sizeof data);
  for (guint i = 0; i < TIME * STATIONS; i++)
    valid[i] = i % STATIONS == 1 ? 0 : i / STATIONS < 60 || i % STATIONS == 0;
  for (guint b = 0; all[b]; b++) {
    Run r = { .config = new_config(STATIONS, 1, 1, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE),
              .data = (const guint8 *)data,
              .steps = TIME,
              .integration = TIME,
              .valid = valid,
              .valid_time = STATIONS,
              .valid_station = 1 };
    Result result = run(all[b], &r, NULL);
    static const guint32 counts[] = { 64, 0, 0, 60, 0, 60 };
    for (guint i = 0; i < 6; i++) {
      g_assert_cmpuint(result.counts[i], ==, counts[i]);
      g_assert_cmpfloat(((const float *)result.out)[2 * i], ==, counts[i] ? 8 : 0);
      g_assert_cmpfloat(((const float *)result.out)[2 * i + 1], ==, 0);
    }
    result_clear(&result);
  }
}

/* V_ij = E_i conj(E_j) with i the later station: a wave that reaches station 1 later by tau turns
 * its channel at nu by -2 pi nu tau, and so the baseline (1, 0). */
static void test_sign(void)
{
  enum { TIME = 100 };
  for (guint b = 0; all[b]; b++) {
    Run r = { .config = new_config(2, 1, 3, ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE),
              .steps = TIME,
              .integration = TIME };
    float data[TIME][3][2][2];
    const double tau = 0.07;
    for (guint t = 0; t < TIME; t++)
      for (guint c = 0; c < 3; c++) {
        double phase = 1.7 * t, late = phase - 2 * G_PI * (1 + c) * tau;
        data[t][c][0][0] = (float)cos(phase);
        data[t][c][0][1] = (float)sin(phase);
        data[t][c][1][0] = 2 * (float)cos(late);
        data[t][c][1][1] = 2 * (float)sin(late);
      }
    r.data = (const guint8 *)data;
    Result result = run(all[b], &r, NULL);
    const float(*out)[3][2] = (gconstpointer)result.out;
    for (guint c = 0; c < 3; c++) {
      g_assert_cmpfloat_with_epsilon(out[c][0][0], 1, 1e-5);
      g_assert_cmpfloat_with_epsilon(out[c][1][0], 2 * cos(2 * G_PI * (1 + c) * tau), 1e-5);
      g_assert_cmpfloat_with_epsilon(out[c][1][1], -2 * sin(2 * G_PI * (1 + c) * tau), 1e-5);
      g_assert_cmpfloat_with_epsilon(out[c][2][0], 4, 1e-5);
      g_assert_cmpfloat_with_epsilon(out[c][2][1], 0, 1e-5);
    }
    result_clear(&result);
  }
}

/* One step of two stations with two polarisations, worked by hand; both triangles. */
static void test_products(void)
{
  /*                     0X       0Y      1X       1Y */
  const gint8 data[] = { 1, 2, /**/ 3, -4, /**/ 5, 6, /**/ -7, 8 };
  const gint32 v00[] = { 5, 0, -5, 10, -5, -10, 25, 0 };
  const gint32 v10[] = { 17, -4, -9, 38, 9, 22, -53, -4 };
  const gint32 v11[] = { 61, 0, 13, -82, 13, 82, 113, 0 };
  const gint32 v01[] = { 17, 4, 9, -22, -9, -38, -53, 4 };
  for (guint b = 0; all[b]; b++) {
    Run r = { .config = new_config(2, 2, 1, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI32LE),
              .data = (const guint8 *)data,
              .steps = 1,
              .integration = 1 };
    Result result = run(all[b], &r, NULL);
    g_assert_cmpuint(result.bytes, ==, 3 * sizeof v00);
    g_assert_cmpmem(result.out, 32, v00, 32);
    g_assert_cmpmem(result.out + 32, 32, v10, 32);
    g_assert_cmpmem(result.out + 64, 32, v11, 32);
    result_clear(&result);
    r.config.triangle = ASTRO_TRIANGLE_FULL;
    result = run(all[b], &r, NULL);
    g_assert_cmpuint(result.bytes, ==, 4 * sizeof v00);
    g_assert_cmpmem(result.out, 32, v00, 32);
    g_assert_cmpmem(result.out + 32, 32, v01, 32);
    g_assert_cmpmem(result.out + 64, 32, v10, 32);
    g_assert_cmpmem(result.out + 96, 32, v11, 32);
    result_clear(&result);
  }
}

/* Averaging channels is the correlation of their samples one after the other. */
static void test_channel_step(void)
{
  Run r = { .config = new_config(4, 2, 12, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI32LE),
            .steps = 20,
            .integration = 20 };
  r.data = new_data(&r.config, r.steps, 5);
  Result single = run(&astro_correlator_reference, &r, NULL);
  r.config.channel_step = 3;
  Result joint = run(&astro_correlator_reference, &r, NULL);
  guint parts = 10 * 4 * 2;
  g_assert_cmpuint(joint.bytes, ==, 4 * parts * 4);
  for (guint i = 0; i < 4 * parts; i++) {
    const gint32 *part = (const gint32 *)single.out + i / parts * 3 * parts + i % parts;
    g_assert_cmpint(((const gint32 *)joint.out)[i], ==, part[0] + part[parts] + part[2 * parts]);
  }
  result_clear(&single);
  result_clear(&joint);
  check(&r);
  r.config.to = ASTRO_FORMAT_CF32LE;
  r.config.triangle = ASTRO_TRIANGLE_FULL;
  check(&r);
  test_free((gpointer)r.data);
}

/* The number of threads changes no bit, of floating point neither. */
static void test_threads(void)
{
  for (guint channels = 1; channels <= 9; channels += 8) {
    Run r = { .config = new_config(70, 2, channels, ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE),
              .steps = 300,
              .integration = 300,
              .threads = 1 };
    r.data = new_data(&r.config, r.steps, 3);
    Result one = run(&astro_correlator_cpu, &r, NULL);
    for (r.threads = 0; r.threads < 4; r.threads += 2) {
      Result found = run(&astro_correlator_cpu, &r, NULL);
      g_assert_cmpmem(one.out, one.bytes, found.out, found.bytes);
      result_clear(&found);
    }
    result_clear(&one);
    test_free((gpointer)r.data);
  }
}

/* The run on a device that has room for its blocks and the sums once, which is too little for the
 * sums and the visibilities made of them: channels take turns. */
static void check_little_memory(Run *r, guint64 block)
{
  const guint64 sums = astro_correlator_baselines(r->config.stations, ASTRO_TRIANGLE_LOWER) *
                       r->config.pols * r->config.pols * r->config.channels *
                       (astro_format_info(r->config.from)->bytes > 2 ? 16 : 8);
  g_autofree char *limit =
      g_strdup_printf("%" G_GUINT64_FORMAT, 3 * block * step_bytes(&r->config) / 2 + sums);
  Result expected = run(&astro_correlator_reference, r, NULL);
  setenv("ASTRO_CUDA_MEMORY", limit, 1);
  gpointer instance = all[2]->create(&r->config, NULL, NULL, NULL);
  g_assert_nonnull(instance);
  g_assert_true(all[2]->host_out(instance));
  all[2]->destroy(instance);
  check_device(r, &expected);
  unsetenv("ASTRO_CUDA_MEMORY");
  result_clear(&expected);
}

static void test_little_memory(gconstpointer format)
{
  static const guint cuts[] = { 60, 100, 7, 0 };
  AstroFormat from = *(const AstroFormat *)format;
  enum { STATIONS = 51, CHANNELS = 10, STEPS = 340, MOST = 100, IN_PLACE = 264 };
  guint8 *valid = test_alloc(STEPS * CHANNELS * STATIONS);
  test_fill(valid, STEPS * CHANNELS * STATIONS, 7);
  for (gsize i = 0; i < STEPS * CHANNELS * STATIONS; i++)
    valid[i] = valid[i] % 8 > 0;
  for (guint k = 0; all[2] && k < (astro_format_info(from)->is_float ? 3 : 5); k++) {
    Run r = {
      .config = new_config(STATIONS, 2, CHANNELS, from, ASTRO_FORMAT_CF32LE),
      .steps = STEPS,
      .integration = STEPS / 2,
      .cuts = cuts,
    };
    if (k == 1) {
      /* Read in place. */
      r.steps = r.integration = IN_PLACE;
      r.cuts = NULL;
      set_layout(&r.config, "channel:station:pol:time");
    }
    if (k == 2 && !astro_format_info(from)->is_float && from != ASTRO_FORMAT_CI16LE)
      r.config.to = ASTRO_FORMAT_CI32LE;
    if (k == 3) {
      r.config.channel_step = 2;
      r.config.triangle = ASTRO_TRIANGLE_FULL;
    }
    if (k >= 3) {
      r.valid = valid;
      r.valid_time = CHANNELS * STATIONS;
      r.valid_channel = k == 4 ? STATIONS : 0;
      r.valid_station = 1;
    }
    r.data = new_data(&r.config, r.steps, k);
    check_little_memory(&r, k == 1 ? IN_PLACE : MOST);
    test_free((gpointer)r.data);
  }
  test_free(valid);
  if (!all[2])
    g_test_skip("no device");
}

/* Sums that are carried before they could overflow, and exact ones of which one does not fit. */
static void test_little_memory_long(void)
{
  static const guint cuts[] = { 250, 0 };
  enum { STEPS = 66000 };
  if (!all[2]) {
    g_test_skip("no device");
    return;
  }
  Run r = { .config = new_config(40, 1, 4, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE),
            .steps = STEPS,
            .integration = STEPS,
            .cuts = cuts };
  r.config.integration = STEPS;
  gsize bytes = step_bytes(&r.config) * STEPS;
  guint8 *data = (guint8 *)new_data(&r.config, STEPS, 1);
  r.data = data;
  /* Channel 2 of station 7 is at full scale. */
  for (gsize t = 0; t < STEPS; t++)
    memset(data + ((t * 4 + 2) * 40 + 7) * 2, 0x80, 2);
  check_little_memory(&r, 250);

  r.config.to = ASTRO_FORMAT_CI32LE;
  AstroCorrelatorArguments arguments = { .steps = 250, .count = 250 };
  g_autofree guint8 *out = g_malloc(astro_correlator_output_bytes(&r.config));
  GError *error = NULL;
  memset(out, 0xa5, astro_correlator_output_bytes(&r.config));
  setenv("ASTRO_CUDA_MEMORY", "170K", 1);
  gpointer instance = all[2]->create(&r.config, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(all[2]->host_out(instance));
  for (gsize at = 0; at < bytes; at += 250 * step_bytes(&r.config)) {
    AstroBlock in = { data + at, 250 * step_bytes(&r.config) };
    g_assert_true(all[2]->submit(instance, &in, 1, NULL, 0, &arguments, &error));
  }
  AstroCorrelatorArguments dump = { .dump = TRUE };
  AstroBlock to = { out, astro_correlator_output_bytes(&r.config) };
  g_assert_false(all[2]->submit(instance, NULL, 0, &to, 1, &dump, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
  g_assert_nonnull(strstr(error->message, "channel 2 "));
  for (gsize i = 0; i < to.bytes; i++)
    g_assert_cmphex(out[i], ==, 0xa5); /* nothing was written */
  g_clear_error(&error);
  all[2]->destroy(instance);
  unsetenv("ASTRO_CUDA_MEMORY");
  test_free(data);
}

static void test_shapes(void)
{
  const AstroCorrelatorConfig good = new_config(4, 2, 6, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI32LE);
  for (guint b = 0; all[b]; b++) {
    g_assert_true(all[b]->shape(&good, NULL));
    for (guint k = 0; k < 10; k++) {
      AstroCorrelatorConfig bad = good;
      const char *word = NULL;
      switch (k) {
      case 0:
        bad.stations = 0;
        word = "stations";
        break;
      case 1:
        bad.pols = 3;
        word = "polarisations";
        break;
      case 2:
        bad.channels = 0;
        word = "channels";
        break;
      case 3:
        bad.from = ASTRO_FORMAT_F32LE;
        word = "F32LE";
        break;
      case 4:
        bad.to = ASTRO_FORMAT_CF64LE;
        word = "CF64LE";
        break;
      case 5:
        bad.from = ASTRO_FORMAT_CF32LE;
        word = "exact sums";
        break;
      case 6:
        bad.channel_step = 4;
        word = "channel step";
        break;
      case 7:
        bad.channel_step = 0;
        word = "channel step";
        break;
      case 8:
        bad.stations = 5;
        word = "axis station";
        break;
      default:
        set_layout(&bad, "time:station:pol");
        word = "no axis channel";
        break;
      }
      GError *error = NULL;
      g_assert_false(all[b]->shape(&bad, &error));
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
      g_assert_nonnull(strstr(error->message, word));
      g_clear_error(&error);
      g_assert_null(all[b]->create(&bad, NULL, NULL, &error));
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
      g_clear_error(&error);
    }
  }
}

static void test_blocks(void)
{
  AstroCorrelatorConfig config = new_config(2, 1, 1, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI32LE);
  gint8 data[] = { 1, 0, 1, 0 };
  gint32 out[6];
  for (guint b = 0; all[b]; b++) {
    GError *error = NULL;
    gpointer instance = all[b]->create(&config, NULL, NULL, NULL);
    AstroBlock in = { data, 4 }, to = { out, sizeof out }, small = { out, sizeof out - 1 };
    AstroCorrelatorArguments long_block = { .steps = 2, .count = 1 };
    g_assert_false(all[b]->submit(instance, &in, 1, NULL, 0, &long_block, &error));
    g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
    g_clear_error(&error);
    AstroCorrelatorArguments beyond = { .steps = 1, .first = 1, .count = 1 };
    g_assert_false(all[b]->submit(instance, &in, 1, NULL, 0, &beyond, &error));
    g_clear_error(&error);
    AstroCorrelatorArguments dump = { .dump = TRUE };
    g_assert_false(all[b]->submit(instance, NULL, 0, &small, 1, &dump, &error));
    g_clear_error(&error);
    AstroCorrelatorArguments nothing = { .dump = TRUE };
    g_assert_true(all[b]->submit(instance, NULL, 0, &to, 1, &nothing, &error));
    g_assert_cmpuint(nothing.samples, ==, 0);
    for (guint i = 0; i < 6; i++)
      g_assert_cmpint(out[i], ==, 0);
    /* What failed added nothing, what was before a beginning is forgotten; a dump may come by
     * itself. */
    AstroCorrelatorArguments good = { .steps = 1, .count = 1 };
    g_assert_true(all[b]->submit(instance, &in, 1, NULL, 0, &good, &error));
    good.begin = TRUE;
    g_assert_true(all[b]->submit(instance, &in, 1, NULL, 0, &good, &error));
    g_assert_true(all[b]->submit(instance, NULL, 0, &to, 1, &dump, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(dump.samples, ==, 1);
    for (guint i = 0; i < 6; i++)
      g_assert_cmpint(out[i], ==, i % 2 == 0);
    all[b]->destroy(instance);
  }
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  gst_init(&argc, &argv);
  all[2] = test_on_device("correlator");
  for (guint f = 0; f < G_N_ELEMENTS(inputs); f++) {
    static const struct {
      const char *name;
      void (*func)(gconstpointer format);
    } cases[] = { { "stations", test_stations },
                  { "channels", test_channels },
                  { "end-of-memory", test_end_of_memory },
                  { "time-last", test_time_last },
                  { "cuts", test_cuts },
                  { "layouts", test_layouts },
                  { "validity", test_validity },
                  { "little-memory", test_little_memory } };
    for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
      g_autofree char *path =
          g_strdup_printf("/correlator/%s/%s", cases[c].name, astro_format_info(inputs[f])->name);
      g_test_add_data_func(path, &inputs[f], cases[c].func);
    }
  }
  g_test_add_data_func("/correlator/not-a-number/CF16LE", &inputs[3], test_not_a_number);
  g_test_add_data_func("/correlator/not-a-number/CF32LE", &inputs[4], test_not_a_number);
  g_test_add_func("/correlator/one-strip", test_one_strip);
  g_test_add_func("/correlator/many-inputs", test_many_inputs);
  g_test_add_func("/correlator/full-scale", test_full_scale);
  g_test_add_func("/correlator/corners", test_corners);
  g_test_add_func("/correlator/long", test_long);
  g_test_add_func("/correlator/overflow", test_overflow);
  g_test_add_func("/correlator/overflow-advice", test_overflow_advice);
  g_test_add_func("/correlator/float-error", test_float_error);
  g_test_add_func("/correlator/constants", test_constants);
  g_test_add_func("/correlator/sizes", test_sizes);
  g_test_add_func("/correlator/missing-axes", test_missing_axes);
  g_test_add_func("/correlator/lost-station", test_lost_station);
  g_test_add_func("/correlator/sign", test_sign);
  g_test_add_func("/correlator/products", test_products);
  g_test_add_func("/correlator/channel-step", test_channel_step);
  g_test_add_func("/correlator/threads", test_threads);
  g_test_add_func("/correlator/little-memory/long", test_little_memory_long);
  g_test_add_func("/correlator/shapes", test_shapes);
  g_test_add_func("/correlator/blocks", test_blocks);
  return g_test_run();
}
