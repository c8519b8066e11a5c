/* Limits of the correlator, some refused and some handled: shapes, blocks, a device's memory. */
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
  gpointer instance = test_backends[2]->create(&r->config, NULL, NULL, NULL);
  g_assert_nonnull(instance);
  g_assert_true(test_backends[2]->host_out(instance));
  test_backends[2]->destroy(instance);
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
  for (guint k = 0; test_backends[2] && k < (astro_format_info(from)->is_float ? 3 : 5); k++) {
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
  if (!test_backends[2])
    g_test_skip("no device");
}

/* Sums that are carried over before they overflow, and exact ones of which one does not fit. */
static void test_little_memory_long(void)
{
  static const guint cuts[] = { 250, 0 };
  enum { STEPS = 66000 };
  if (!test_backends[2]) {
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
  gpointer instance = test_backends[2]->create(&r.config, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(test_backends[2]->host_out(instance));
  for (gsize at = 0; at < bytes; at += 250 * test_step_bytes(&r.config)) {
    AstroBlock in = { data + at, 250 * test_step_bytes(&r.config) };
    g_assert_true(test_backends[2]->submit(instance, &in, 1, NULL, 0, &arguments, NULL, &error));
  }
  AstroCorrelatorArguments dump = { .dump = TRUE };
  AstroBlock to = { out, astro_correlator_output_bytes(&r.config) };
  g_assert_false(test_backends[2]->submit(instance, NULL, 0, &to, 1, &dump, NULL, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
  g_assert_nonnull(strstr(error->message, "channel 2 "));
  for (gsize i = 0; i < to.bytes; i++)
    g_assert_cmphex(out[i], ==, 0xa5); /* nothing was written */
  g_clear_error(&error);
  test_backends[2]->destroy(instance);
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

/* Parts of an integration are joined by their counts; a sum of theirs that does not fit is refused
 * although each of them does. */
static void test_parts(void)
{
  AstroCorrelatorConfig config = test_config(1, 1, 3, ASTRO_FORMAT_CI16LE, ASTRO_FORMAT_CI32LE);
  gint32 a[] = { 5, -7, G_MAXINT32, 0, 2, 3 }, b[] = { -9, 8, 0, G_MININT32, 4, 5 }, sums[6];
  const float x[] = { 1, 2, 3, 4, NAN, 6 }, y[] = { 5, 6, NAN, NAN, 1, 2 };
  const guint32 lost[] = { 2, 0, 8 };
  guint32 counts[3];
  float means[6];
  AstroResult result = { .counts = counts };
  GError *error = NULL;
  const AstroCorrelatorPart parts[] = { { a, 10, NULL }, { b, 30, NULL } };
  g_assert_true(astro_correlator_join_parts(&config, parts, 2, sums, 1, &result, &error));
  g_assert_no_error(error);
  g_assert_true(result.complete);
  g_assert_cmpuint(result.samples, ==, 40);
  for (guint i = 0; i < 6; i++)
    g_assert_cmpint(sums[i], ==, a[i] + b[i]);
  b[2] = 1;
  g_assert_false(astro_correlator_join_parts(&config, parts, 2, sums, 1, &result, &error));
  g_assert_nonnull(strstr(error->message, "a sum of channel 1 does not fit CI32LE"));
  g_clear_error(&error);

  config.to = ASTRO_FORMAT_CF32LE;
  const AstroCorrelatorPart halves[] = { { x, 6, NULL }, { y, 8, lost } };
  g_assert_true(astro_correlator_join_parts(&config, halves, 2, means, 1, &result, &error));
  g_assert_false(result.complete);
  g_assert_cmpfloat(means[0], ==, (6 * 1 + 2 * 5) / 8.0f);
  g_assert_cmpfloat(means[2], ==, 3); /* the other part has nothing of it, whatever it holds */
  g_assert_cmpfloat(means[3], ==, 4);
  g_assert_true(isnan(means[4]));
  g_assert_cmpuint(counts[0], ==, 8);
  g_assert_cmpuint(counts[1], ==, 6);
  g_assert_cmpuint(counts[2], ==, 14);
}

static void add_tests(void)
{
  g_test_add_func("/correlator/parts", test_parts);
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
