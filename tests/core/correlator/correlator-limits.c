/* Limits of the correlator, some refused and some handled: shapes, blocks, a device's memory. */
#include "core/correlator/counts.h"
#include "core/correlator/parts.h"
#include "tests/core/correlator/correlator.h"

/* The run on a device with memory for its blocks and the sums once, which is too little for the
 * sums and the visibilities made of them: channels take turns. */
static void check_little_memory(TestRun *r, guint64 block)
{
  const guint64 sums = astro_correlator_baselines(r->config.stations, ASTRO_TRIANGLE_LOWER) *
                       r->config.pols * r->config.pols * r->config.channels *
                       (astro_format_info(r->config.from)->bytes > 2 ? 16 : 8);
  g_autofree char *limit =
      g_strdup_printf("%" G_GUINT64_FORMAT, 3 * block * test_step_bytes(&r->config) / 2 + sums);
  TestResult expected = test_correlate(&astro_correlator_reference, r, NULL);
  setenv("ASTRO_CUDA_MEMORY", limit, 1);
  gpointer instance = test_cuda->create(&r->config, NULL, NULL, NULL);
  g_assert_nonnull(instance);
  g_assert_true(test_cuda->host_out(instance));
  test_cuda->destroy(instance);
  test_check_device(r, &expected);
  unsetenv("ASTRO_CUDA_MEMORY");
  test_result_clear(&expected);
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
  for (guint k = 0; test_cuda && k < (astro_format_info(from)->is_float ? 3 : 5); k++) {
    TestRun r = {
      .config = test_config(STATIONS, 2, CHANNELS, from, ASTRO_FORMAT_CF32LE),
      .steps = STEPS,
      .integration = STEPS / 2,
      .cuts = cuts,
    };
    if (k == 1) {
      /* Read in place. */
      r.steps = r.integration = IN_PLACE;
      r.cuts = NULL;
      test_set_layout(&r.config, "channel:station:pol:time");
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
    r.data = test_data(&r.config, r.steps, k);
    check_little_memory(&r, k == 1 ? IN_PLACE : MOST);
    test_free((gpointer)r.data);
  }
  test_free(valid);
  if (!test_cuda)
    g_test_skip("no device");
}

/* Sums that are carried over before they overflow, and exact ones of which one does not fit. */
static void test_little_memory_long(void)
{
  static const guint cuts[] = { 250, 0 };
  enum { STEPS = 66000 };
  if (!test_cuda) {
    g_test_skip("no device");
    return;
  }
  TestRun r = { .config = test_config(40, 1, 4, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE),
                .steps = STEPS,
                .integration = STEPS,
                .cuts = cuts };
  r.config.integration = STEPS;
  gsize bytes = test_step_bytes(&r.config) * STEPS;
  guint8 *data = (guint8 *)test_data(&r.config, STEPS, 1);
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
  gpointer instance = test_cuda->create(&r.config, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(test_cuda->host_out(instance));
  for (gsize at = 0; at < bytes; at += 250 * test_step_bytes(&r.config)) {
    AstroBlock in = { data + at, 250 * test_step_bytes(&r.config) };
    g_assert_true(test_cuda->submit(instance, &in, 1, NULL, 0, &arguments, NULL, &error));
  }
  AstroCorrelatorArguments dump = { .dump = TRUE };
  AstroBlock to = { out, astro_correlator_output_bytes(&r.config) };
  g_assert_false(test_cuda->submit(instance, NULL, 0, &to, 1, &dump, NULL, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
  g_assert_nonnull(strstr(error->message, "channel 2 "));
  for (gsize i = 0; i < to.bytes; i++)
    g_assert_cmphex(out[i], ==, 0xa5); /* nothing was written */
  g_clear_error(&error);
  test_cuda->destroy(instance);
  unsetenv("ASTRO_CUDA_MEMORY");
  test_free(data);
}

static void test_shapes(void)
{
  const AstroCorrelatorConfig good = test_config(4, 2, 6, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI32LE);
  struct {
    AstroCorrelatorConfig config;
    const char *says;
  } bad[] = {
    { good, "stations" },     { good, "polarisations" }, { good, "channels" },
    { good, "F32LE" },        { good, "CF64LE" },        { good, "exact sums" },
    { good, "channel step" }, { good, "channel step" },  { good, "axis station" },
    { good, "unknown" },      { good, "unknown" },       { good, "no axis channel" },
  };
  bad[0].config.stations = 0;
  bad[1].config.pols = 3;
  bad[2].config.channels = 0;
  bad[3].config.from = ASTRO_FORMAT_F32LE;
  bad[4].config.to = ASTRO_FORMAT_CF64LE;
  bad[5].config.from = ASTRO_FORMAT_CF32LE;
  bad[6].config.channel_step = 4;
  bad[7].config.channel_step = 0;
  bad[8].config.stations = 5;
  bad[9].config.from = ASTRO_FORMAT_UNKNOWN;
  bad[10].config.to = ASTRO_N_FORMATS;
  test_set_layout(&bad[11].config, "time:station:pol");
  for (guint b = 0; test_backends[b]; b++) {
    g_assert_true(test_backends[b]->shape(&good, NULL));
    for (guint k = 0; k < G_N_ELEMENTS(bad); k++) {
      GError *error = NULL;
      g_assert_false(test_backends[b]->shape(&bad[k].config, &error));
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
      test_says(error->message, bad[k].says);
      g_clear_error(&error);
      g_assert_null(test_backends[b]->create(&bad[k].config, NULL, NULL, &error));
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
      g_clear_error(&error);
    }
  }
}

static void test_blocks(void)
{
  AstroCorrelatorConfig config = test_config(2, 1, 1, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI32LE);
  gint8 data[] = { 1, 0, 1, 0 };
  gint32 out[6];
  for (guint b = 0; test_backends[b]; b++) {
    GError *error = NULL;
    gpointer instance = test_backends[b]->create(&config, NULL, NULL, NULL);
    AstroBlock in = { data, 4 }, to = { out, sizeof out }, small = { out, sizeof out - 1 };
    AstroCorrelatorArguments long_block = { .steps = 2, .count = 1 };
    g_assert_false(test_backends[b]->submit(instance, &in, 1, NULL, 0, &long_block, NULL, &error));
    g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
    g_clear_error(&error);
    AstroCorrelatorArguments beyond = { .steps = 1, .first = 1, .count = 1 };
    g_assert_false(test_backends[b]->submit(instance, &in, 1, NULL, 0, &beyond, NULL, &error));
    g_clear_error(&error);
    AstroCorrelatorArguments dump = { .dump = TRUE };
    g_assert_false(test_backends[b]->submit(instance, NULL, 0, &small, 1, &dump, NULL, &error));
    g_clear_error(&error);
    AstroCorrelatorArguments nothing = { .dump = TRUE };
    AstroResult told = { .samples = 7 };
    g_assert_true(test_backends[b]->submit(instance, NULL, 0, &to, 1, &nothing, &told, &error));
    g_assert_cmpuint(told.samples, ==, 0);
    for (guint i = 0; i < 6; i++)
      g_assert_cmpint(out[i], ==, 0);
    /* A submit that failed added nothing, and `begin` drops what was added before; a dump may come
     * without a block. */
    AstroCorrelatorArguments good = { .steps = 1, .count = 1 };
    g_assert_true(test_backends[b]->submit(instance, &in, 1, NULL, 0, &good, NULL, &error));
    good.begin = TRUE;
    g_assert_true(test_backends[b]->submit(instance, &in, 1, NULL, 0, &good, NULL, &error));
    g_assert_true(test_backends[b]->submit(instance, NULL, 0, &to, 1, &dump, &told, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(told.samples, ==, 1);
    for (guint i = 0; i < 6; i++)
      g_assert_cmpint(out[i], ==, i % 2 == 0);
    test_backends[b]->destroy(instance);
  }
}

/* Integrations of a few steps, where tiles of 64 would be mostly padding. */
static void test_short_integrations(void)
{
  static const struct {
    AstroFormat from;
    guint stations;
    guint64 integration;
    const char *variant;
  } cases[] = {
    { ASTRO_FORMAT_CF32LE, 9, 47, "avx512" },  { ASTRO_FORMAT_CF32LE, 9, 48, "amx-int8" },
    { ASTRO_FORMAT_CF16LE, 9, 1, "avx512" },   { ASTRO_FORMAT_CF16LE, 9, 0, "amx-int8" },
    { ASTRO_FORMAT_CI16LE, 9, 15, "avx512" },  { ASTRO_FORMAT_CI16LE, 8, 16, "amx-int8" },
    { ASTRO_FORMAT_CI8, 9, 1, "amx-int8" },    { ASTRO_FORMAT_CI8, 8, 95, "avx512-vnni" },
    { ASTRO_FORMAT_CI4, 8, 1, "avx512-vnni" }, { ASTRO_FORMAT_CI8, 8, 96, "amx-int8" },
  };
  if (astro_cpu_level() < ASTRO_CPU_AMX) {
    g_test_skip("no matrix tiles");
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    TestRun r = { .config =
                      test_config(cases[i].stations, 2, 1, cases[i].from, ASTRO_FORMAT_CF32LE) };
    r.config.integration = cases[i].integration;
    r.steps = r.integration = MAX(cases[i].integration, 1);
    r.data = test_data(&r.config, r.steps, i);
    TestResult expected = test_correlate(&astro_correlator_reference, &r, NULL);
    TestResult found = test_correlate(&astro_correlator_cpu, &r, cases[i].variant);
    test_compare(&r.config, &expected, &found);
    test_result_clear(&expected);
    test_result_clear(&found);
    test_free((gpointer)r.data);
  }
}

typedef struct {
  AstroCorrelatorConfig config;
  AstroCorrelatorPart parts[2];
  gconstpointer values[2];
} Parts;

/* By a backend; the block out has a guard behind it where it is on a device. */
static gboolean join(const AstroBackend *backend, const Parts *parts, gpointer joined,
                     GError **error)
{
  const gsize bytes = astro_correlator_output_bytes(&parts->config);
  const AstroPlace place = { .threads = 2 };
  const AstroCorrelatorArguments arguments = { .parts = parts->parts };
  gpointer other = g_memdup2(parts->values[1], bytes);
  const AstroBlock in = { other, bytes }, out = { joined, bytes };
  gpointer instance = backend->create(&parts->config, &place, NULL, error);
  g_assert_no_error(*error);
  memcpy(joined, parts->values[0], bytes);
  const gboolean ok = backend->submit(instance, &in, 1, &out, 1, &arguments, NULL, error);
  backend->destroy(instance);
  g_free(other);
  return ok;
}

/* Sums of parts, and one that does not fit although each of its parts does. */
static void check_sums_of_parts(const AstroBackend *backend)
{
  gint32 a[] = { 5, -7, G_MAXINT32, 0, 2, 3 }, b[] = { -9, 8, 0, G_MININT32, 4, 5 }, sums[6];
  const Parts parts = { test_config(1, 1, 3, ASTRO_FORMAT_CI16LE, ASTRO_FORMAT_CI32LE),
                        { { 10, NULL }, { 30, NULL } },
                        { a, b } };
  GError *error = NULL;
  g_assert_true(join(backend, &parts, sums, &error));
  for (guint i = 0; i < 6; i++)
    g_assert_cmpint(sums[i], ==, a[i] + b[i]);
  for (guint i = 2; i < 4; i++) {
    const gint32 kept = b[i];
    b[i] = i == 2 ? 1 : kept;
    a[i] = i == 2 ? a[i] : -1;
    g_assert_false(join(backend, &parts, sums, &error));
    g_assert_nonnull(strstr(error->message, "a sum of channel 1 does not fit CI32LE"));
    g_clear_error(&error);
    a[i] = b[i] = 0;
  }
  const AstroBlock little = { a, 8 };
  const AstroCorrelatorArguments arguments = { .parts = parts.parts };
  gpointer instance = backend->create(&parts.config, &(AstroPlace){ 0 }, NULL, NULL);
  g_assert_false(backend->submit(instance, &little, 1, &little, 1, &arguments, NULL, &error));
  g_assert_nonnull(strstr(error->message, "expected visibilities of 24 bytes"));
  g_clear_error(&error);
  backend->destroy(instance);
}

/* Means by their counts; a part without good samples adds nothing, whatever it holds. */
static void check_means_of_parts(const AstroBackend *backend)
{
  const float x[] = { 1, 2, 3, 4, NAN, 6 }, y[] = { 5, 6, NAN, NAN, 1, 2 };
  guint32 lost[] = { 2, 0, 8 };
  const Parts parts = { test_config(1, 1, 3, ASTRO_FORMAT_CI16LE, ASTRO_FORMAT_CF32LE),
                        { { 6, NULL }, { 8, lost } },
                        { x, y } };
  float means[6];
  GError *error = NULL;
  g_assert_true(join(backend, &parts, means, &error));
  g_assert_cmpfloat(means[0], ==, (6 * 1 + 2 * 5) / 8.0f);
  g_assert_cmpfloat(means[2], ==, 3);
  g_assert_cmpfloat(means[3], ==, 4);
  g_assert_true(isnan(means[4]));
}

/* Random parts of an odd size, with and without counts: all backends alike to the last bit. */
static void check_many_parts(const AstroBackend *backend, AstroFormat to, guint lossy)
{
  enum { STATIONS = 13, CHANNELS = 7 };
  Parts parts = { test_config(STATIONS, 2, CHANNELS, ASTRO_FORMAT_CI8, to),
                  { { 1000, NULL }, { 70000, NULL } },
                  { NULL } };
  const gsize bytes = astro_correlator_output_bytes(&parts.config), n = bytes / 4, counts = n / 8;
  g_autofree gint32 *a = g_malloc(bytes), *b = g_malloc(bytes);
  g_autofree guint8 *expected = g_malloc(bytes), *got = g_malloc(bytes);
  g_autofree guint32 *good = g_new(guint32, 2 * counts);
  GError *error = NULL;
  for (gsize i = 0; i < n; i++) {
    a[i] = g_test_rand_int() / 4;
    b[i] = g_test_rand_int() / 4;
    if (to == ASTRO_FORMAT_CF32LE) {
      ((float *)a)[i] = (float)a[i] / 1000;
      ((float *)b)[i] = (float)b[i] / 10;
    }
  }
  for (gsize i = 0; i < 2 * counts; i++)
    good[i] = g_test_rand_int() & 1 ? (guint32)(g_test_rand_int() & 0xffff) : 0;
  for (guint k = 0; k < 2; k++)
    parts.parts[k].counts = lossy & (1u << k) ? good + k * counts : NULL;
  parts.values[0] = a;
  parts.values[1] = b;
  g_assert_true(join(&astro_correlator_reference, &parts, expected, &error));
  g_assert_true(join(backend, &parts, got, &error));
  g_assert_cmpmem(got, bytes, expected, bytes);
}

static void test_parts(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(test_backends) && test_backends[i]; i++) {
    check_sums_of_parts(test_backends[i]);
    check_means_of_parts(test_backends[i]);
    for (guint lossy = 0; lossy < 4; lossy++)
      check_many_parts(test_backends[i], ASTRO_FORMAT_CF32LE, lossy);
    check_many_parts(test_backends[i], ASTRO_FORMAT_CI32LE, 0);
  }
}

/* Counts of parts without any, of one, and of both. */
static void test_part_counts(void)
{
  guint32 first[] = { 3, 0 }, second[] = { 5, 7 };
  AstroCorrelatorPart whole = { 10, NULL };
  astro_correlator_part_add(&whole, &(AstroCorrelatorPart){ 20, NULL }, 2);
  g_assert_null(whole.counts);
  g_assert_cmpuint(whole.samples, ==, 30);
  astro_correlator_part_add(&whole, &(AstroCorrelatorPart){ 4, first }, 2);
  astro_correlator_part_add(&whole, &(AstroCorrelatorPart){ 8, second }, 2);
  g_assert_cmpuint(whole.samples, ==, 42);
  g_assert_cmpuint(whole.counts[0], ==, 38);
  g_assert_cmpuint(whole.counts[1], ==, 37);
  g_free(whole.counts);
}

/* How many counts of a dump differ: none, one for all that lost the same, one a baseline where
 * channels lost the same, or all. They are those that are written where nobody asks. */
static void check_different(const AstroBackend *backend, const guint8 *valid, gsize valid_channel,
                            guint step, guint64 expected)
{
  enum { STATIONS = 5, CHANNELS = 6, TIME = 70, PAIRS = 15 };
  AstroCorrelatorConfig config =
      test_config(STATIONS, 1, CHANNELS, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE);
  config.channel_step = step;
  const gsize bytes = astro_correlator_output_bytes(&config), n = PAIRS * CHANNELS / step;
  g_autofree gchar *out = g_malloc(bytes);
  gpointer data = test_data(&config, TIME, 3);
  guint32 counts[2][PAIRS * CHANNELS];
  guint64 different = G_MAXUINT64;
  const AstroBlock from = { data, TIME * test_step_bytes(&config) }, to = { out, bytes };
  gpointer instance = backend->create(&config, &(AstroPlace){ 0 }, NULL, NULL);
  for (guint asked = 0; asked < 2; asked++) {
    const AstroCorrelatorArguments arguments = { .steps = TIME,
                                                 .count = TIME,
                                                 .valid = valid,
                                                 .valid_time = CHANNELS * STATIONS,
                                                 .valid_channel = valid_channel,
                                                 .valid_station = 1,
                                                 .dump = TRUE,
                                                 .n_counts = asked ? &different : NULL };
    memset(counts[asked], 0x5a, sizeof counts[asked]);
    AstroResult told = { .counts = counts[asked] };
    g_assert_true(backend->submit(instance, &from, 1, &to, 1, &arguments, &told, NULL));
    g_assert_true(told.complete == (expected == 0));
    g_assert_cmpuint(told.samples, ==, TIME * step);
  }
  g_assert_cmpuint(different, ==, expected);
  for (gsize i = 0; expected > 0 && i < n; i++)
    g_assert_cmpuint(counts[1][i % different], ==, counts[0][i]);
  for (gsize i = expected > 1 ? expected : n; i < n; i++)
    g_assert_cmphex(counts[1][i], ==, 0x5a5a5a5a);
  backend->destroy(instance);
  test_free(data);
}

/* Flags of two calls, in runs and alone, along either axis first, common to all channels or not:
 * the counts are those of steps that both stations of a pair have. */
static void check_counted(GRand *rand, guint number)
{
  enum { STATIONS = 7, CHANNELS = 3, STEPS = 90 };
  static const AstroCorrelatorConfig config = { .stations = STATIONS,
                                                .channels = CHANNELS,
                                                .channel_step = 1 };
  guint8 valid[STEPS * CHANNELS * STATIONS];
  guint good[CHANNELS][STATIONS * (STATIONS + 1) / 2] = { { 0 } };
  AstroCorrelatorCounts counts;
  astro_correlator_counts_init(&counts, &config);
  for (guint call = 0; call < 2; call++) {
    const gboolean by_time = (number >> call) & 1, by_channel = (number >> (2 + call)) & 1;
    const AstroCorrelatorArguments arguments = {
      .steps = STEPS,
      .first = 11,
      .count = 70,
      .valid = valid,
      .valid_time = by_time ? 1 : CHANNELS * STATIONS,
      .valid_channel = !by_channel ? 0
                       : by_time   ? STEPS
                                   : STATIONS,
      .valid_station = by_time ? CHANNELS * STEPS : 1,
    };
    gboolean has_lost = FALSE, lost;
    for (guint i = 0; i < sizeof valid; i++)
      valid[i] = i > 0 && g_rand_int_range(rand, 0, 9) > 0 ? valid[i - 1]
                                                           : g_rand_int_range(rand, 0, 4) > 0;
    for (guint c = 0; c < CHANNELS; c++)
      for (guint t = 11; t < 81; t++)
        for (guint i = 0, pair = 0; i < STATIONS; i++)
          for (guint j = 0; j <= i; j++, pair++) {
            const guint8 *at = valid + t * arguments.valid_time + c * arguments.valid_channel;
            const gboolean both =
                at[i * arguments.valid_station] && at[j * arguments.valid_station];
            good[c][pair] += both;
            has_lost |= !both;
          }
    g_assert_true(astro_correlator_counts_add(&counts, &arguments, &lost, NULL));
    g_assert_true(lost == has_lost);
  }
  for (guint c = 0; c < CHANNELS; c++)
    for (guint pair = 0; pair < G_N_ELEMENTS(good[c]); pair++)
      g_assert_cmpuint(astro_correlator_counts_good(&counts, 1, c, pair), ==, good[c][pair]);
  astro_correlator_counts_free(&counts);
}

static void test_counted(void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(4);
  for (guint number = 0; number < 160; number++)
    check_counted(rand, number);
}

static void test_different_counts(void)
{
  enum { ROW = 6 * 5, TIME = 70 };
  guint8 valid[TIME * ROW];
  for (guint i = 0; i < G_N_ELEMENTS(test_backends) && test_backends[i]; i++) {
    memset(valid, 1, sizeof valid);
    check_different(test_backends[i], NULL, 0, 1, 0);
    check_different(test_backends[i], valid, 5, 1, 0);
    memset(valid + 64 * ROW, 0, 3 * ROW); /* three steps of all */
    check_different(test_backends[i], valid, 0, 1, 1);
    check_different(test_backends[i], valid, 5, 2, 1);
    valid[4 * ROW + 3] = 0; /* another of one station */
    check_different(test_backends[i], valid, 0, 1, 15);
    check_different(test_backends[i], valid, 0, 3, 15);
    check_different(test_backends[i], valid, 5, 1, 15 * 6);
    check_different(test_backends[i], valid, 5, 3, 15 * 2);
  }
}

static void add_tests(void)
{
  g_test_add_func("/correlator/counted", test_counted);
  g_test_add_func("/correlator/different-counts", test_different_counts);
  g_test_add_func("/correlator/parts", test_parts);
  g_test_add_func("/correlator/part-counts", test_part_counts);
  test_add_inputs("little-memory", test_little_memory);
  g_test_add_func("/correlator/little-memory/long", test_little_memory_long);
  g_test_add_func("/correlator/shapes", test_shapes);
  g_test_add_func("/correlator/blocks", test_blocks);
  g_test_add_func("/correlator/short-integrations", test_short_integrations);
}

int main(int argc, char **argv)
{
  return test_correlator(argc, argv, add_tests);
}
