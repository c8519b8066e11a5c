/* Values from the correlator: cases worked by hand, the largest and smallest samples, NaNs, lost
 * samples. */
#include "tests/core/correlator/correlator.h"

/* V_ij = E_i conj(E_j) with i the later station: a wave that reaches station 1 later by tau has the
 * phase -2 pi nu tau at frequency nu there, and so on the baseline (1, 0). */
static void test_sign(void)
{
  enum { TIME = 100 };
  for (guint b = 0; test_backends[b]; b++) {
    TestRun r = { .config = test_config(2, 1, 3, ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE),
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
    TestResult result = test_correlate(test_backends[b], &r, NULL);
    const float(*out)[3][2] = (gconstpointer)result.out;
    for (guint c = 0; c < 3; c++) {
      g_assert_cmpfloat_with_epsilon(out[c][0][0], 1, 1e-5);
      g_assert_cmpfloat_with_epsilon(out[c][1][0], 2 * cos(2 * G_PI * (1 + c) * tau), 1e-5);
      g_assert_cmpfloat_with_epsilon(out[c][1][1], -2 * sin(2 * G_PI * (1 + c) * tau), 1e-5);
      g_assert_cmpfloat_with_epsilon(out[c][2][0], 4, 1e-5);
      g_assert_cmpfloat_with_epsilon(out[c][2][1], 0, 1e-5);
    }
    test_result_clear(&result);
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
  for (guint b = 0; test_backends[b]; b++) {
    TestRun r = { .config = test_config(2, 2, 1, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI32LE),
                  .data = (const guint8 *)data,
                  .steps = 1,
                  .integration = 1 };
    TestResult result = test_correlate(test_backends[b], &r, NULL);
    g_assert_cmpuint(result.bytes, ==, 3 * sizeof v00);
    g_assert_cmpmem(result.out, 32, v00, 32);
    g_assert_cmpmem(result.out + 32, 32, v10, 32);
    g_assert_cmpmem(result.out + 64, 32, v11, 32);
    test_result_clear(&result);
    r.config.triangle = ASTRO_TRIANGLE_FULL;
    result = test_correlate(test_backends[b], &r, NULL);
    g_assert_cmpuint(result.bytes, ==, 4 * sizeof v00);
    g_assert_cmpmem(result.out, 32, v00, 32);
    g_assert_cmpmem(result.out + 32, 32, v01, 32);
    g_assert_cmpmem(result.out + 64, 32, v10, 32);
    g_assert_cmpmem(result.out + 96, 32, v11, 32);
    test_result_clear(&result);
  }
}

/* -128 and -8 in every place, and then mixed with the largest values. */
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
      TestRun r = { .config = test_config(19, 2, 1, cases[k].from, ASTRO_FORMAT_CI32LE),
                    .steps = 10007,
                    .integration = 10007 };
      gsize bytes = test_step_bytes(&r.config) * r.steps;
      guint8 *data = test_alloc(bytes), *random = test_alloc(bytes);
      test_fill(random, bytes, mix);
      for (gsize i = 0; i < bytes; i++)
        data[i] = mix == 0 || (mix == 1 && (random[i] & 1)) || (mix == 2 && i / 38 % 2)
                      ? cases[k].least
                      : cases[k].greatest;
      r.steps = r.integration = mix == 0 ? 10007 : 501;
      r.data = data;
      if (mix == 0) {
        TestResult result = test_correlate(&astro_correlator_cpu, &r, NULL);
        for (gsize i = 0; i < result.bytes / 8; i++) {
          g_assert_cmpint(((const gint32 *)result.out)[2 * i], ==, cases[k].square * 10007);
          g_assert_cmpint(((const gint32 *)result.out)[2 * i + 1], ==, 0);
        }
        test_result_clear(&result);
        r.steps = r.integration = 501;
      }
      test_check(&r);
      test_free(data);
      test_free(random);
    }
}

/* Inputs that never change. */
static void check_constants(AstroFormat from, gconstpointer sample, guint inputs, guint64 steps)
{
  TestRun r = { .config = test_config(inputs, 1, 1, from, ASTRO_FORMAT_CF32LE),
                .steps = steps,
                .integration = steps };
  const gsize bytes = test_step_bytes(&r.config);
  guint8 *data = test_alloc(bytes * steps);
  for (guint64 t = 0; t < steps; t++)
    memcpy(data + t * bytes, sample, bytes);
  r.data = data;
  test_check(&r);
  test_free(data);
}

/* The extremes of half a byte, of one and of two: sums over a span, above all of (re + im)(re -
 * im), are as large as possible, and so are those of low bytes, which are unsigned. */
static void test_corners(void)
{
  static const gint8 corners[][2] = {
    { -128, -128 }, { -128, 127 },  { 127, -128 }, { 127, 127 },
    { -128, -127 }, { -127, -128 }, { -127, 127 }, { 126, -128 }
  };
  static const gint16 words[][2] = { { G_MININT16, G_MININT16 },
                                     { G_MAXINT16, G_MININT16 },
                                     { G_MAXINT16, G_MAXINT16 },
                                     { -1, 255 },
                                     { -256, 256 },
                                     { -32513, 32512 },
                                     { 127, -129 },
                                     { 0, -1 } };
  static const guint8 nibbles[] = { 0x88, 0x87, 0x78, 0x77, 0x80, 0x08, 0x8f, 0xf8, 0x70 };
  /* Also as many steps as are summed at once. */
  for (guint steps = 65535; steps < 70003; steps += 4466)
    check_constants(ASTRO_FORMAT_CI4, nibbles, G_N_ELEMENTS(nibbles), steps);
  check_constants(ASTRO_FORMAT_CI8, corners, G_N_ELEMENTS(corners), 70001);
  /* The largest sums whose means a device makes in single precision, and just beyond. */
  for (guint steps = 509; steps < 516; steps += 3)
    check_constants(ASTRO_FORMAT_CI8, corners, G_N_ELEMENTS(corners), steps);
  check_constants(ASTRO_FORMAT_CI16LE, words, G_N_ELEMENTS(words), 70001);
}

/* Spectra around the numbers where a device goes from one kernel to the other
 * (gpu/correlator/choice.h), read in place, and as a part that sums go on from. */
static void test_crossings(void)
{
  static const struct {
    guint stations, pols, steps;
  } cases[] = { { 64, 2, 192 }, { 65, 2, 768 }, { 193, 1, 384 }, { 257, 1, 320 }, { 513, 1, 192 } };
  static const guint cuts[] = { 200, 0 };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++)
    for (guint more = 0; more <= 8; more += 8)
      for (guint cut = 0; cut < 2; cut++) {
        TestRun r = { .config = test_config(cases[k].stations, cases[k].pols, 2, ASTRO_FORMAT_CI8,
                                            ASTRO_FORMAT_CI32LE),
                      .steps = cases[k].steps + more,
                      .cuts = cut ? cuts : NULL };
        r.integration = r.steps;
        test_set_layout(&r.config, "channel:station:pol:time");
        r.data = test_data(&r.config, r.steps, k);
        test_check(&r);
        test_free((gpointer)r.data);
      }
}

/* CI4, whose integrations are multiplied by three products or by four where their length is known,
 * and by three where it is not. */
static void test_three_or_four(void)
{
  static const guint steps[] = { 8, 16, 17, 32, 512, 1025 }, cuts[] = { 250, 0 };
  for (guint k = 0; test_cuda && k < 4 * G_N_ELEMENTS(steps); k++) {
    const guint n = steps[k / 4];
    TestRun r = { .config = test_config(67, 2, 2, ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI32LE),
                  .steps = n,
                  .integration = n,
                  .cuts = k % 2 ? cuts : NULL };
    r.config.integration = k / 2 % 2 ? n : 0;
    test_set_layout(&r.config, "channel:station:pol:time");
    r.data = test_data(&r.config, r.steps, k);
    TestResult expected = test_correlate(&astro_correlator_reference, &r, NULL);
    test_check_device(&r, &expected);
    test_result_clear(&expected);
    test_free((gpointer)r.data);
  }
  if (!test_cuda)
    g_test_skip("no device");
}

/* Where 24 bits, and three signed digits of eight bits, begin to be too small for a sample: 8355711
 * is 0x7f7f7f. */
static void test_digits(void)
{
  static const float samples[][2] = {
    { 8355711, -8355711 },        { 8355711.5F, 3 },       { 8355712, -8355712 },
    { 8388607, -8388607 },        { 8388608, 8388607 },    { 16711422, -16711423 },
    { 16711424, -255 },           { 16777215, -16777215 }, { 32639, -32640 },
    { 0x1.fdfdfep-40F, -1e-18F }, { 127.5F, -128 },        { 0, 0x1.fdfdfcp40F },
  };
  check_constants(ASTRO_FORMAT_CF32LE, samples, G_N_ELEMENTS(samples), 1500);
}

/* 100,003 spectra: sums beyond int32 in CI8 and CI16, seen as means; exact sums in CI4. */
static void test_long(void)
{
  static const guint cuts[] = { 40000, 100, 33000, 1, 0 };
  for (guint f = 0; f < 3; f++) {
    TestRun r = { .config = test_config(2, 2, 1, test_inputs[f],
                                        f == 0 ? ASTRO_FORMAT_CI32LE : ASTRO_FORMAT_CF32LE),
                  .steps = 100003,
                  .integration = 100003,
                  .cuts = cuts };
    gsize bytes = test_step_bytes(&r.config) * r.steps;
    guint8 *data = test_alloc(bytes);
    guint8 least[] = { 0x88, 0x80, 0x00 };
    memset(data, least[f], bytes);
    if (test_inputs[f] == ASTRO_FORMAT_CI16LE)
      for (gsize i = 1; i < bytes; i += 2)
        data[i] = 0x80;
    test_fill(data + bytes / 2, bytes / 64, f); /* and another integration in between */
    r.data = data;
    test_check(&r);
    test_free(data);
  }
}

/* Sums that just fit CI32LE and those that just do not. */
static void test_overflow(void)
{
  for (guint b = 0; test_backends[b]; b++)
    for (guint extra = 0; extra < 2; extra++) {
      AstroCorrelatorConfig config = test_config(1, 1, 1, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI32LE);
      guint64 steps = 65535 + extra;
      guint8 *data = test_alloc(2 * steps);
      gint32 *out = test_alloc(8);
      GError *error = NULL;
      memset(data, 0x80, 2 * steps);
      gpointer instance = test_backends[b]->create(&config, NULL, NULL, &error);
      g_assert_no_error(error);
      AstroCorrelatorArguments arguments = { .steps = steps, .count = steps, .dump = TRUE };
      AstroBlock in = { data, 2 * steps }, block = { out, 8 };
      gboolean done =
          test_backends[b]->submit(instance, &in, 1, &block, 1, &arguments, NULL, &error);
      if (extra) {
        g_assert_false(done);
        g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
        g_assert_cmphex((guint32)out[0], ==, 0xa5a5a5a5); /* nothing was written */
        g_clear_error(&error);
        /* The next integration starts from nothing. */
        arguments.steps = arguments.count = 1;
        AstroResult result = { 0 };
        g_assert_true(
            test_backends[b]->submit(instance, &in, 1, &block, 1, &arguments, &result, &error));
        g_assert_cmpint(out[0], ==, 32768);
        g_assert_cmpuint(result.samples, ==, 1);
      } else {
        g_assert_no_error(error);
        g_assert_cmpint(out[0], ==, 2147450880);
        g_assert_cmpint(out[1], ==, 0);
      }
      test_check_guard(out, 8);
      test_backends[b]->destroy(instance);
      test_free(data);
      test_free(out);
    }
}

/* The advice must be possible: a sum of one step, or of each channel by itself, cannot be made of
 * fewer. */
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
  for (guint b = 0; test_backends[b]; b++)
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      AstroCorrelatorConfig config = test_config(1, 1, 2, ASTRO_FORMAT_CI16LE, ASTRO_FORMAT_CI32LE);
      config.channel_step = cases[i].channel_step;
      gint16 data[8]; /* the largest product there is, in every sample */
      for (guint k = 0; k < G_N_ELEMENTS(data); k++)
        data[k] = G_MININT16;
      gint32 out[4];
      AstroBlock in = { data, cases[i].steps * test_step_bytes(&config) }, to = { out, sizeof out };
      AstroCorrelatorArguments arguments = { .steps = cases[i].steps,
                                             .count = cases[i].steps,
                                             .dump = TRUE };
      GError *error = NULL;
      gpointer instance = test_backends[b]->create(&config, NULL, NULL, &error);
      g_assert_no_error(error);
      g_assert_false(test_backends[b]->submit(instance, &in, 1, &to, 1, &arguments, NULL, &error));
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
      if (!g_str_has_suffix(error->message, cases[i].end))
        g_error("\"%s\" does not end in \"%s\"", error->message, cases[i].end);
      g_clear_error(&error);
      test_backends[b]->destroy(instance);
    }
}

/* A million samples, random, and such that all roundings go the same way. */
static void test_float_error(void)
{
  static const guint cuts[] = { 4096, 0 };
  for (guint k = 0; k < 4; k++) {
    TestRun r = { .config = test_config(2, 1, 1, ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE),
                  .steps = 1000000,
                  .integration = 1000000,
                  .cuts = cuts };
    float *data = (float *)test_data(&r.config, r.steps, k);
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
    test_check(&r);
    test_free(data);
  }
}

/* Inputs that never change, with a number each, so that all errors of the sums add up. */
static void test_constants(void)
{
  TestRun r = { .config = test_config(64, 2, 1, ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE),
                .steps = 4096,
                .integration = 4096 };
  for (guint seed = 0; seed < 4; seed++) {
    float *data = (float *)test_data(&r.config, r.steps, seed);
    gsize row = test_step_bytes(&r.config);
    for (guint64 t = 1; t < r.steps; t++)
      memcpy((guint8 *)data + t * row, data, row);
    r.data = (const guint8 *)data;
    test_check(&r);
    test_free(data);
  }
}

/* Inputs from faint to strong, which also change from pass to pass: the sums of each pass have
 * their own powers of two. */
static void test_magnitudes(void)
{
  enum { STATIONS = 21, STEPS = 3000 };
  TestRun r = { .config = test_config(STATIONS, 1, 2, ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE),
                .steps = STEPS,
                .integration = STEPS };
  float *data = (float *)test_data(&r.config, STEPS, 1);
  for (gsize i = 0; i < STEPS * 2 * STATIONS * 2; i++) {
    const gint station = (gint)(i / 2 % STATIONS), step = (gint)(i / 2 / STATIONS / 2);
    data[i] *= (float)pow(10, station - STATIONS / 2 + step * (station + 1) / 700 % 6);
  }
  r.data = (const guint8 *)data;
  test_check(&r);
  test_free(data);
}

/* Pulses on inputs that never change, so that the rounding errors of samples beside them add up.
 * With sums in floats the error may be 7e-6 (correlator.h). */
static void test_pulses(void)
{
  static const float pulses[] = { 3, 16, 40, 3162 };
  TestRun r = { .config = test_config(64, 1, 1, ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE),
                .steps = 4096,
                .integration = 4096 };
  const gsize row = test_step_bytes(&r.config);
  setenv("ASTRO_CPU", astro_cpu_level_name(ASTRO_CPU_AMX), 1);
  if (astro_cpu_level() < ASTRO_CPU_AMX)
    g_test_skip("no matrix tiles");
  for (guint k = 0; astro_cpu_level() == ASTRO_CPU_AMX && k < 4 * G_N_ELEMENTS(pulses); k++) {
    float *data = (float *)test_data(&r.config, r.steps, k);
    for (guint64 t = 1; t < r.steps; t++)
      memcpy((guint8 *)data + t * row, data, row);
    for (guint64 t = 5; t < r.steps; t += 256 << k % 4)
      for (gsize i = 0; i < row / sizeof *data; i++)
        data[t * row / sizeof *data + i] = copysignf(pulses[k / 4], data[i]);
    r.data = (const guint8 *)data;
    TestResult expected = test_correlate(&astro_correlator_reference, &r, NULL);
    TestResult found = test_correlate(&astro_correlator_cpu, &r, "amx-int8");
    test_compare(&r.config, &expected, &found);
    test_result_clear(&expected);
    test_result_clear(&found);
    test_free(data);
  }
  unsetenv("ASTRO_CPU");
}

/* Samples whose re + im and re - im fit in a byte, samples where one of them sometimes just does
 * not, and any samples, each in panels of their own, so that kernels that distinguish them meet
 * every pair. */
static void test_sizes(void)
{
  enum { PANEL = 16, SMALL, SUM, DIFFERENCE, ANY };
  static const guint8 kinds[] = { SMALL, SUM, SMALL, DIFFERENCE, SMALL, SMALL, ANY, SMALL };
  static const guint stations[] = { 125, 13, 32 };
  for (guint k = 0; k < G_N_ELEMENTS(stations); k++) {
    const guint n = stations[k];
    TestRun r = { .config = test_config(n, 1, 9, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI32LE),
                  .steps = 1300,
                  .integration = 1300 };
    test_set_layout(&r.config, "channel:time:station:pol");
    gint8 *data = (gint8 *)test_data(&r.config, r.steps, k);
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
    test_check(&r);
    test_free(data);
  }
}

/* Random losses, shared by channels or not: counts are those counted here, and lost samples hold
 * NaN. */
static void test_validity(gconstpointer format)
{
  AstroFormat from = *(const AstroFormat *)format;
  enum { TIME = 300, CHANNELS = 3, STATIONS = 9, POLS = 2, INTEGRATION = 100 };
  static const guint cuts[] = { 17, 100, 1, 70, 0 };
  for (guint per_channel = 0; per_channel < 3; per_channel++) {
    TestRun r = { .config = test_config(STATIONS, POLS, CHANNELS, from, ASTRO_FORMAT_CF32LE),
                  .steps = TIME,
                  .integration = INTEGRATION,
                  .cuts = cuts,
                  .whole_block = per_channel == 1 };
    guint8 *data = test_data(&r.config, TIME, per_channel);
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
    test_check(&r);
    TestResult result = test_correlate(&astro_correlator_cpu, &r, NULL);
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
    test_result_clear(&result);
    test_free(valid);
    test_free(data);
  }
}

/* A NaN spoils only the baselines of its station, and only its integration. */
static void test_not_a_number(gconstpointer format)
{
  enum { STATIONS = 19, POLS = 2, INTEGRATION = 133, BAD = 7 };
  static const guint channels[] = { 1, 9 };
  for (guint k = 0; k < G_N_ELEMENTS(channels); k++) {
    TestRun r = { .config = test_config(STATIONS, POLS, channels[k], *(const AstroFormat *)format,
                                        ASTRO_FORMAT_CF32LE),
                  .steps = 3 * INTEGRATION,
                  .integration = INTEGRATION };
    guint8 *data = test_data(&r.config, r.steps, k);
    r.data = data;
    TestResult expected = test_correlate(&astro_correlator_reference, &r, NULL);
    const gsize station = test_step_bytes(&r.config) / channels[k] / STATIONS;
    for (gsize row = 0; row < INTEGRATION * channels[k]; row++)
      memset(data + (row * STATIONS + BAD) * station, 0xff, station);
    for (guint l = 0; l < G_N_ELEMENTS(test_levels); l++) {
      setenv("ASTRO_CPU", astro_cpu_level_name(test_levels[l].level), 1);
      if (astro_cpu_level() < test_levels[l].level)
        continue;
      TestResult found = test_correlate(&astro_correlator_cpu, &r, test_levels[l].floats);
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
      test_compare(&r.config, &expected, &found);
      test_result_clear(&found);
    }
    unsetenv("ASTRO_CPU");
    test_result_clear(&expected);
    test_free(data);
  }
}

/* One station is lost throughout: the means of the others are unchanged, its own are 0 with count
 * 0. */
static void test_lost_station(void)
{
  enum { TIME = 64, STATIONS = 3 };
  guint8 valid[TIME * STATIONS];
  gint8 data[TIME * STATIONS * 2];
  memset(data, 2, sizeof data);
  for (guint i = 0; i < TIME * STATIONS; i++)
    valid[i] = i % STATIONS == 1 ? 0 : i / STATIONS < 60 || i % STATIONS == 0;
  for (guint b = 0; test_backends[b]; b++) {
    TestRun r = { .config = test_config(STATIONS, 1, 1, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE),
                  .data = (const guint8 *)data,
                  .steps = TIME,
                  .integration = TIME,
                  .valid = valid,
                  .valid_time = STATIONS,
                  .valid_station = 1 };
    TestResult result = test_correlate(test_backends[b], &r, NULL);
    static const guint32 counts[] = { 64, 0, 0, 60, 0, 60 };
    for (guint i = 0; i < 6; i++) {
      g_assert_cmpuint(result.counts[i], ==, counts[i]);
      g_assert_cmpfloat(((const float *)result.out)[2 * i], ==, counts[i] ? 8 : 0);
      g_assert_cmpfloat(((const float *)result.out)[2 * i + 1], ==, 0);
    }
    test_result_clear(&result);
  }
}

/* Sums of bytes that are odd and far beyond 2^24, where floats have even numbers alone. */
static void test_odd_sums(void)
{
  enum { STEPS = 3001, INPUTS = 2, SUM = 127 * 127 + 126 * 126 };
  gint8 data[STEPS * INPUTS * 2];
  for (guint i = 0; i < sizeof data; i++)
    data[i] = i % 2 ? -126 : 127;
  for (guint b = 0; test_backends[b]; b++) {
    const TestRun r = { .config = test_config(INPUTS, 1, 1, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI32LE),
                        .data = (const guint8 *)data,
                        .steps = STEPS,
                        .integration = STEPS };
    TestResult result = test_correlate(test_backends[b], &r, NULL);
    for (guint i = 0; i < 3; i++) {
      g_assert_cmpint(((const gint32 *)result.out)[2 * i], ==, STEPS * SUM);
      g_assert_cmpint(((const gint32 *)result.out)[2 * i + 1], ==, 0);
    }
    test_result_clear(&result);
  }
}

static void add_tests(void)
{
  g_test_add_func("/correlator/sign", test_sign);
  g_test_add_func("/correlator/products", test_products);
  g_test_add_func("/correlator/full-scale", test_full_scale);
  g_test_add_func("/correlator/corners", test_corners);
  g_test_add_func("/correlator/long", test_long);
  g_test_add_func("/correlator/overflow", test_overflow);
  g_test_add_func("/correlator/overflow-advice", test_overflow_advice);
  g_test_add_func("/correlator/float-error", test_float_error);
  g_test_add_func("/correlator/constants", test_constants);
  g_test_add_func("/correlator/digits", test_digits);
  g_test_add_func("/correlator/crossings", test_crossings);
  g_test_add_func("/correlator/three-or-four", test_three_or_four);
  g_test_add_func("/correlator/magnitudes", test_magnitudes);
  g_test_add_func("/correlator/pulses", test_pulses);
  g_test_add_func("/correlator/odd-sums", test_odd_sums);
  g_test_add_func("/correlator/sizes", test_sizes);
  test_add_inputs("validity", test_validity);
  g_test_add_data_func("/correlator/not-a-number/CF16LE", &test_inputs[3], test_not_a_number);
  g_test_add_data_func("/correlator/not-a-number/CF32LE", &test_inputs[4], test_not_a_number);
  g_test_add_func("/correlator/lost-station", test_lost_station);
}

int main(int argc, char **argv)
{
  return test_correlator(argc, argv, add_tests);
}
