/* Beams: the reference against the formula in long double, every variant against the reference,
 * losses, weights, blocks cut anywhere, and refusals. */
#include "tests/core/beamform/beamform.h"

#include "core/beamform/losses.h"
#include "core/lib/formats/half.h"
#include "tests/core/on-device.h"

#define PREFERRED "channel:station:pol:time"

static const char *const levels[] = { "c", "avx2", "avx512" };

/* ---- the reference ---- */

static void test_reference(void)
{
  enum { CHANNELS = 3, STATIONS = 5, POLS = 2, STEPS = 7, BEAMS = 4 };
  const TestBeams beams = { ASTRO_FORMAT_CF32LE,
                            ASTRO_FORMAT_CF32LE,
                            PREFERRED,
                            CHANNELS,
                            STATIONS,
                            POLS,
                            BEAMS,
                            11,
                            STEPS,
                            3 };
  const AstroBeamformConfig config = test_beams_config(&beams);
  TestSteering s;
  test_steering_init(&s, &beams, TRUE);
  s.stations.scale = 1.5;
  const complex float *in = test_beams_samples(&config.in, STEPS);
  complex float *out =
      test_beams_form(&astro_beamform_reference, &config, in, &s.arguments, 1, NULL, NULL);
  for (guint i = 0; i < CHANNELS * BEAMS * POLS * STEPS; i++) {
    const guint t = i % STEPS, p = i / STEPS % POLS, b = i / STEPS / POLS % BEAMS,
                c = i / STEPS / POLS / BEAMS;
    const guint interval = (11 + t) / 3 - 11 / 3;
    const double *offset = s.offsets + 3 * (interval * BEAMS + b);
    const long double f = 1.5e8L + 1e6L * ((c + 0.5L) / CHANNELS - 0.5L);
    complex long double sum = 0;
    long double total = 0;
    for (guint n = 0; n < STATIONS; n++) {
      const double *at = s.seconds + 3 * n;
      const float *w = s.weights + 2 * (c * STATIONS + n);
      const long double tau = (long double)at[0] * offset[0] + (long double)at[1] * offset[1] +
                              (long double)at[2] * offset[2];
      const long double angle = -2 * acosl(-1) * f * tau;
      sum += (w[0] + I * w[1]) * (cosl(angle) + I * sinl(angle)) *
             in[((c * STATIONS + n) * POLS + p) * STEPS + t];
      total += hypotl(w[0], w[1]);
    }
    test_near_complex(out[i], (complex double)(1.5L * sum / total), 1e-5);
  }
  test_free(out);
  test_free((gpointer)in);
  test_steering_clear(&s);
}

/* With weights of 1 a beam at the phase centre is the mean; a wave from the direction of a beam
 * keeps its amplitude there. */
static void test_wave(void)
{
  enum { STATIONS = 9, STEPS = 5, BEAMS = 2, CHANNELS = 2 };
  const TestBeams beams = {
    ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, PREFERRED, CHANNELS, STATIONS, 1, BEAMS, 0, STEPS, 100
  };
  const AstroBeamformConfig config = test_beams_config(&beams);
  TestSteering s;
  test_steering_init(&s, &beams, FALSE);
  memset(s.offsets, 0, 3 * sizeof(double)); /* the first beam */
  complex float *in = test_beams_samples(&config.in, STEPS);
  for (guint i = 0; i < CHANNELS * STATIONS * STEPS; i++) {
    const guint n = i / STEPS % STATIONS, c = i / STEPS / STATIONS;
    const double f = 1.5e8 + 1e6 * ((c + 0.5) / CHANNELS - 0.5), *at = s.seconds + 3 * n,
                 *to = s.offsets + 3;
    in[i] = (complex float)(3 * cexp(2 * G_PI * I * f *
                                     (at[0] * to[0] + at[1] * to[1] + at[2] * to[2])));
  }
  complex float *out =
      test_beams_form(&astro_beamform_cpu, &config, in, &s.arguments, 1, NULL, NULL);
  for (guint i = 0; i < CHANNELS * BEAMS * STEPS; i++) {
    const guint t = i % STEPS, b = i / STEPS % BEAMS, c = i / STEPS / BEAMS;
    complex double mean = 0;
    for (guint n = 0; n < STATIONS; n++)
      mean += in[(c * STATIONS + n) * STEPS + t] / STATIONS;
    test_near_complex(out[i], b ? 3 : mean, 1e-5);
  }
  test_free(out);
  test_free(in);
  test_steering_clear(&s);
}

/* ---- variants ---- */

typedef struct {
  const AstroBeamformConfig *config;
  const AstroBeamformArguments *arguments;
  gconstpointer in, expected;
  guint64 expected_clipped;
} Case;

static void check_backend(const Case *c, const AstroBackend *backend, guint threads)
{
  const AstroFormat to = c->config->out.format;
  const double largest = c->config->in.format == ASTRO_FORMAT_CI16LE ? 32768 : 128;
  const gsize n = 2 * c->arguments->steps * astro_stream_step_bytes(&c->config->out) /
                  astro_stream_sample_bytes(&c->config->out);
  guint64 clipped;
  gpointer found =
      test_beams_form(backend, c->config, c->in, c->arguments, threads, &clipped, NULL);
  for (gsize i = 0; i < n; i++)
    if (to == ASTRO_FORMAT_CF16LE)
      test_near(astro_half_value(((guint16 *)found)[i]),
                astro_half_value(((const guint16 *)c->expected)[i]), 4e-3);
    else /* an integer may be rounded to its neighbour, halfway between both */
      test_near(test_beams_component(to, found, i), test_beams_component(to, c->expected, i),
                to == ASTRO_FORMAT_CF32LE ? 1e-6 * largest : 1);
  g_assert_cmpuint(clipped, <=, c->expected_clipped + n / 1000);
  g_assert_cmpuint(clipped + n / 1000, >=, c->expected_clipped);
  test_free(found);
}

/* on_device: the backend to compare; NULL: the CPU's, at all levels. */
static void compare(const AstroBeamformConfig *config, const AstroBeamformArguments *arguments,
                    gconstpointer in, guint threads, const AstroBackend *on_device)
{
  Case c = { config, arguments, in, NULL, 0 };
  gpointer expected = test_beams_form(&astro_beamform_reference, config, in, arguments, 1,
                                      &c.expected_clipped, NULL);
  c.expected = expected;
  if (on_device)
    check_backend(&c, on_device, threads);
  for (guint level = 0; level < G_N_ELEMENTS(levels) && !on_device; level++) {
    setenv("ASTRO_CPU", levels[level], 1);
    check_backend(&c, &astro_beamform_cpu, threads);
    unsetenv("ASTRO_CPU");
  }
  test_free(expected);
}

static void test_variants(gconstpointer on_device)
{
  static const TestBeams cases[] = {
    { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE, PREFERRED, 1, 1, 1, 1, 0, 1, 1 },
    { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE, PREFERRED, 2, 17, 2, 13, 5, 33, 1000 },
    { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI8, PREFERRED, 3, 16, 2, 7, 0, 200, 64 },
    { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8, PREFERRED, 2, 9, 1, 5, 3, 77, 10 },
    { ASTRO_FORMAT_CI16LE, ASTRO_FORMAT_CF32LE, PREFERRED, 2, 5, 2, 6, 0, 65, 7 },
    { ASTRO_FORMAT_CI16LE, ASTRO_FORMAT_CI16LE, PREFERRED, 1, 5, 1, 1, 0, 1100, 1 << 20 },
    { ASTRO_FORMAT_CF16LE, ASTRO_FORMAT_CF16LE, PREFERRED, 2, 8, 2, 3, 9, 64, 1 << 20 },
    { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, PREFERRED, 1, 33, 1, 195, 0, 20, 16 },
    { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CI8, "station:pol:time:channel", 5, 4, 2, 3, 2, 40, 9 },
    { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE, "channel:time:station:pol", 5, 4, 2, 3, 1, 40, 50 },
    { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CF16LE, "time:pol:channel:station", 3, 6, 2, 2, 0, 31, 8 },
    { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, "time:station", 1, 6, 1, 2, 0, 31, 8 },
    { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE, "station:time:channel", 7, 6, 1, 2, 0, 31, 1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    for (guint weighted = 0; weighted < 2; weighted++) {
      const AstroBeamformConfig config = test_beams_config(&cases[i]);
      TestSteering s;
      test_steering_init(&s, &cases[i], weighted);
      s.stations.scale = cases[i].to == ASTRO_FORMAT_CI8 && weighted ? 30 : 1.25;
      gpointer in = test_beams_samples(&config.in, cases[i].steps);
      compare(&config, &s.arguments, in, 1 + 3 * weighted, on_device);
      test_free(in);
      test_steering_clear(&s);
    }
}

/* -128 in every component, and the largest scale that still fits. */
static void test_extremes(void)
{
  const TestBeams beams = {
    ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI8, PREFERRED, 2, 64, 2, 16, 0, 100, 1000
  };
  const AstroBeamformConfig config = test_beams_config(&beams);
  TestSteering s;
  guint64 clipped;
  test_steering_init(&s, &beams, FALSE);
  memset(s.offsets, 0, 3 * 16 * sizeof(double));
  const gsize bytes = 100 * astro_stream_step_bytes(&config.in),
              out_bytes = 100 * astro_stream_step_bytes(&config.out);
  gint8 *in = test_alloc(bytes);
  memset(in, -128, bytes);
  for (guint twice = 0; twice < 2; twice++) {
    s.stations.scale = 1 + twice;
    gint8 *out = test_beams_form(&astro_beamform_cpu, &config, in, &s.arguments, 2, &clipped, NULL);
    for (gsize i = 0; i < out_bytes; i++)
      g_assert_cmpint(out[i], ==, -128);
    g_assert_cmpuint(clipped, ==, twice ? out_bytes : 0);
    test_free(out);
  }
  test_free(in);
  test_steering_clear(&s);
}

/* ---- losses ---- */

typedef struct {
  const char *axes;
  guint64 time; /* counts along time, where it is counted */
} Counted;

/* Counts over some axes, of which about a third have losses. */
static AstroValidityMeta *lose(GstBuffer *buffer, const AstroStream *stream, guint64 steps,
                               const Counted *counted)
{
  AstroLayout shape, counts;
  astro_stream_shape(stream, steps, &shape);
  astro_layout_parse(&counts, counted->axes, ASTRO_QUANTITY_SPECTRA, NULL);
  for (guint i = 0; i < counts.n_axes; i++)
    counts.extents[i] = counts.axes[i] == ASTRO_AXIS_TIME
                            ? counted->time
                            : shape.extents[astro_layout_find(&shape, counts.axes[i])];
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &counts, 4);
  for (guint64 i = 0; i < astro_validity_n_counts(meta); i++)
    meta->counts[i] = g_test_rand_int_range(0, 3) ? 4 : (guint32)g_test_rand_int_range(0, 4);
  return meta;
}

/* Lost samples are NaN: they must not be touched. */
static void spoil(complex float *in, const AstroStream *stream, guint64 steps,
                  const AstroValidityMeta *meta)
{
  AstroValidityRun run;
  AstroLayout shape;
  astro_stream_shape(stream, steps, &shape);
  astro_validity_run_init(&run, meta, &shape);
  while (astro_validity_next_run(&run))
    for (guint64 i = 0; run.count < meta->full && i < run.length; i++)
      in[run.first + i] = (float)NAN;
}

static void test_losses(gconstpointer on_device)
{
  static const Counted counted[] = { { "station", 1 },
                                     { "station:time", 60 },
                                     { "station:time", 6 },
                                     { "channel:station", 1 },
                                     { "channel:station:time", 20 },
                                     { "channel:station:pol:time", 60 },
                                     { "time", 60 },
                                     { "channel", 1 },
                                     { "pol", 1 } };
  const TestBeams beams = {
    ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, PREFERRED, 3, 4, 2, 3, 6, 60, 25
  };
  for (guint k = 0; k < 4 * G_N_ELEMENTS(counted); k++) {
    const AstroBeamformConfig config = test_beams_config(&beams);
    g_autoptr(GstBuffer) buffer = gst_buffer_new();
    TestSteering s;
    test_steering_init(&s, &beams, k % 2);
    if (k % 2) { /* a station without weight, whose samples do not matter */
      s.weights[2 * 1] = s.weights[2 * 1 + 1] = 0;
      s.weights[2 * 6] = s.weights[2 * 6 + 1] = 0;
    }
    s.arguments.validity = lose(buffer, &config.in, beams.steps, &counted[k / 4]);
    complex float *in = test_beams_samples(&config.in, beams.steps);
    spoil(in, &config.in, beams.steps, s.arguments.validity);
    for (guint64 i = 0; k % 2 && i < 2 * beams.steps; i++)
      in[1 * 2 * beams.steps + i] = in[6 * 2 * beams.steps + i] = (float)NAN;
    compare(&config, &s.arguments, in, 2, on_device);
    test_free(in);
    test_steering_clear(&s);
  }
}

/* Four stations all receive 5: any that are left still make 5, and none make 0. Counts say how
 * many they are. */
static void test_counts(void)
{
  enum { STATIONS = 4, CHANNELS = 2, STEPS = 6 };
  static const AstroBackend *const backends[] = { &astro_beamform_reference, &astro_beamform_cpu };
  const AstroLayout shape = { 3,
                              { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION, ASTRO_AXIS_TIME },
                              { CHANNELS, STATIONS, STEPS } };
  const TestBeams beams = {
    ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE, PREFERRED, CHANNELS, STATIONS, 1, 2, 0, STEPS, 100
  };
  const AstroBeamformConfig config = test_beams_config(&beams);
  g_autoptr(GstBuffer) from = gst_buffer_new(), to = gst_buffer_new();
  AstroValidityMeta *meta = astro_buffer_add_validity(from, &shape, 8);
  TestSteering s;
  test_steering_init(&s, &beams, FALSE);
  memset(s.offsets, 0, 6 * sizeof(double));
  s.arguments.validity = meta;
  gint8 in[CHANNELS][STATIONS][STEPS][2];
  for (guint c = 0; c < CHANNELS; c++)
    for (guint n = 0; n < STATIONS; n++)
      for (guint t = 0; t < STEPS; t++) {
        const gboolean is_lost = n < t - t * c / 2; /* the first ones */
        in[c][n][t][0] = is_lost ? 99 : 5;
        in[c][n][t][1] = is_lost ? -99 : 0;
        meta->counts[(c * STATIONS + n) * STEPS + t] = is_lost ? 7 : 8;
      }
  astro_beamform_validity(&config, &s.arguments, to);
  const AstroValidityMeta *counts = astro_buffer_get_validity(to);
  g_assert_cmpuint(counts->full, ==, STATIONS);
  g_assert_cmpuint(astro_validity_n_counts(counts), ==, CHANNELS * STEPS);
  for (guint k = 0; k < G_N_ELEMENTS(backends); k++) {
    complex float *out = test_beams_form(backends[k], &config, in, &s.arguments, 1, NULL, NULL);
    for (guint i = 0; i < CHANNELS * 2 * STEPS; i++) {
      const guint t = i % STEPS, c = i / STEPS / 2;
      const guint left = STATIONS - MIN(STATIONS, t - t * c / 2);
      test_near_complex(out[i], left ? 5 : 0, 1e-6);
      g_assert_cmpuint(counts->counts[c * STEPS + t], ==, left);
    }
    test_free(out);
  }
  test_steering_clear(&s);
}

/* Counts of stations with weights: a station with weight 0 is not missed, and if only such are
 * left, nothing is. */
static void test_weighted_counts(void)
{
  enum { STATIONS = 3, CHANNELS = 2 };
  const AstroLayout shape = { 1, { ASTRO_AXIS_STATION }, { STATIONS } };
  const TestBeams beams = {
    ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE, PREFERRED, CHANNELS, STATIONS, 1, 1, 0, 4, 100
  };
  const AstroBeamformConfig config = test_beams_config(&beams);
  g_autoptr(GstBuffer) from = gst_buffer_new(), to = gst_buffer_new();
  static float weights[CHANNELS][STATIONS][2] = { { { 0, 0 }, { 1, 0 }, { 1, 0 } },
                                                  { { 1, 0 }, { 0, 0 }, { 0, 0 } } };
  TestSteering s;
  test_steering_init(&s, &beams, FALSE);
  s.stations.weights = &weights[0][0][0];
  AstroValidityMeta *meta = astro_buffer_add_validity(from, &shape, 1);
  meta->counts[0] = 0;
  s.arguments.validity = meta;
  astro_beamform_validity(&config, &s.arguments, to);
  const AstroValidityMeta *counts = astro_buffer_get_validity(to);
  g_assert_cmpuint(astro_validity_n_counts(counts), ==, CHANNELS);
  g_assert_cmpuint(counts->counts[0], ==, STATIONS); /* its weight was 0 there */
  g_assert_cmpuint(counts->counts[1], ==, 0);
  test_steering_clear(&s);
}

/* A part of the stations, in any order. */
static void test_stations(gconstpointer on_device)
{
  const TestBeams beams = {
    ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE, PREFERRED, 2, 20, 2, 5, 0, 70, 32
  };
  const AstroBeamformConfig config = test_beams_config(&beams);
  static const guint some[] = { 19, 0, 7, 8, 3 };
  TestSteering s;
  test_steering_init(&s, &beams, FALSE);
  s.stations.n = G_N_ELEMENTS(some);
  s.stations.index = some;
  gpointer in = test_beams_samples(&config.in, beams.steps);
  compare(&config, &s.arguments, in, 1, on_device);
  test_free(in);
  test_steering_clear(&s);
}

/* ---- blocks ---- */

/* However a stream is cut, its beams are the same to the last bit. */
static void test_cuts(gconstpointer backend)
{
  enum { STEPS = 96, STATIONS = 7, BEAMS = 8 };
  const TestBeams whole = { ASTRO_FORMAT_CI8,
                            ASTRO_FORMAT_CF32LE,
                            "time:channel:station:pol",
                            3,
                            STATIONS,
                            2,
                            BEAMS,
                            10,
                            STEPS,
                            17 };
  const AstroBeamformConfig config = test_beams_config(&whole);
  const gsize in_step = astro_stream_step_bytes(&config.in),
              out_step = astro_stream_step_bytes(&config.out);
  TestSteering s;
  test_steering_init(&s, &whole, TRUE);
  guint8 *in = test_beams_samples(&config.in, STEPS);
  guint8 *expected = test_beams_form(backend, &config, in, &s.arguments, 1, NULL, NULL);
  for (guint64 length = 1; length < STEPS; length += 13)
    for (guint64 at = 0; at < STEPS; at += length) {
      AstroBeamformArguments part = s.arguments;
      part.first += at;
      part.steps = MIN(length, STEPS - at);
      part.offsets += 3 * BEAMS * (part.first / 17 - s.arguments.first / 17);
      guint8 *found = test_beams_form(backend, &config, in + at * in_step, &part, 1, NULL, NULL);
      g_assert_cmpmem(found, part.steps * out_step, expected + at * out_step,
                      part.steps * out_step);
      test_free(found);
    }
  test_free(expected);
  test_free(in);
  test_steering_clear(&s);
}

/* ---- refusals ---- */

static void test_refused(void)
{
  const TestBeams beams = { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE, PREFERRED, 2, 3, 2, 5, 0, 4, 1 };
  const AstroBeamformConfig good = test_beams_config(&beams);
  AstroBeamformConfig silent = good, wide = good, other = good, sums = good, many = good,
                      bare = good, voltages = good;
  silent.in.frequency = 0;
  wide.out.layout.extents[2]++;
  astro_layout_parse(&other.out.layout, "beam:channel:pol:time", ASTRO_QUANTITY_SPECTRA, NULL);
  sums.in.format = ASTRO_FORMAT_CI32LE;
  bare.out.format = ASTRO_FORMAT_CI4;
  many.out.layout.extents[1] = ASTRO_BEAMFORM_MAX_BEAMS + 1;
  voltages.in.quantity = ASTRO_QUANTITY_VOLTAGES;
  const struct {
    const AstroBeamformConfig *config;
    const char *says;
  } cases[] = {
    { &silent, "frequency=0 Hz" },
    { &wide, "the same channels and pols" },
    { &other, "beam in place of station" },
    { &sums, "input of format CI32LE" },
    { &bare, "output of format CI4" },
    { &many, "65537 beams, expected at most 65536" },
    { &voltages, "voltages of layout channel:station:pol:time, expected spectra" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_false(astro_beamform_cpu.shape(cases[i].config, &error));
    test_says(error ? error->message : NULL, cases[i].says);
  }
}

static void test_refused_arguments(void)
{
  const TestBeams beams = { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE, PREFERRED, 2, 3, 2, 5, 0, 4, 1 };
  const AstroBeamformConfig config = test_beams_config(&beams);
  gpointer in = test_beams_samples(&config.in, beams.steps);
  static const char *const says[] = { "station 3 takes part, and there are 3", "no station",
                                      "scale inf", "an interval of no steps" };
  for (guint i = 0; i < G_N_ELEMENTS(says); i++) {
    g_autoptr(GError) error = NULL;
    TestSteering s;
    test_steering_init(&s, &beams, FALSE);
    if (i == 0)
      s.index[1] = 3;
    else if (i == 1)
      s.stations.n = 0;
    else if (i == 2)
      s.stations.scale = (double)INFINITY;
    else
      s.arguments.interval = 0;
    g_assert_null(test_beams_form(&astro_beamform_cpu, &config, in, &s.arguments, 1, NULL, &error));
    test_says(error->message, says[i]);
    test_steering_clear(&s);
  }
  test_free(in);
}

static void add_tests(void)
{
  const AstroBackend *on_device = test_on_device("beamform"), *opencl = test_on_opencl("beamform");
  g_test_add_func("/beamform/reference", test_reference);
  g_test_add_func("/beamform/wave", test_wave);
  g_test_add_data_func("/beamform/variants", NULL, test_variants);
  test_add_on_device("/beamform/variants/cuda", on_device, test_variants);
  test_add_on_device("/beamform/variants/opencl", opencl, test_variants);
  g_test_add_func("/beamform/extremes", test_extremes);
  g_test_add_data_func("/beamform/losses", NULL, test_losses);
  test_add_on_device("/beamform/losses/cuda", on_device, test_losses);
  test_add_on_device("/beamform/losses/opencl", opencl, test_losses);
  g_test_add_func("/beamform/counts", test_counts);
  g_test_add_func("/beamform/weighted-counts", test_weighted_counts);
  g_test_add_data_func("/beamform/stations", NULL, test_stations);
  test_add_on_device("/beamform/stations/cuda", on_device, test_stations);
  test_add_on_device("/beamform/stations/opencl", opencl, test_stations);
  g_test_add_data_func("/beamform/cuts", &astro_beamform_cpu, test_cuts);
  test_add_on_device("/beamform/cuts/opencl", opencl, test_cuts);
  g_test_add_func("/beamform/refused", test_refused);
  g_test_add_func("/beamform/refused-arguments", test_refused_arguments);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
