/* Delays in special cases: what is refused, empty blocks, and lost samples. */
#include "core/delay/losses.h"
#include "tests/core/delay/delay.h"

static void test_calibration_errors(void)
{
  static const char *const cases[][2] = {
    { "gain\n", "c.txt:1: expected gain STATION POL AMPLITUDE [DEGREES]" },
    { "\ngain A001 0 1 2 3\n", "c.txt:2: expected gain" },
    { "gain A001 0 x\n", "c.txt:1: expected gain" },
    { "gain A001 0 0\n", "amplitude 0, expected 1e-15 to 1e+15" },
    { "gain A001 0 1e-300\n", "amplitude 1e-300, expected 1e-15 to 1e+15" },
    { "gain A001 0 2e15\n", "amplitude 2e+15, expected 1e-15 to 1e+15" },
    { "bandpass 1e8 1e16\n", "amplitudes of 1e-15 to 1e+15" },
    { "gain Z 0 1\n", "no input is station \"Z\", polarisation \"0\": there are 3 stations" },
    { "delay A001 2 1\n", "polarisations 0 to 1" },
    { "delay * * 1e12\n", "within a second" },
    { "bandpass 2 1\nbandpass 1 1\n", "c.txt:2: bandpass 1 1: expected frequencies that rise" },
    { "bandpass 2 0\n", "rise and amplitudes of 1e-15" },
    { "bandpass 2 1\nbandpass A002 * 1 1\n", "c.txt:2: bandpass 1 1: expected frequencies that" },
    { "bandpass Z 0 1e8 1\n", "no input is station \"Z\"" },
    { "bandpass A001 0 1e8\n", "c.txt:1: expected bandpass [STATION POL] HZ AMPLITUDE" },
    { "bandpass A001 0 1e8 1 1\n", "c.txt:1: expected bandpass" },
    { "bandpass 1e8\n", "c.txt:1: expected bandpass" },
    { "phase 1 2\n", "found \"phase\", expected gain, delay or bandpass" },
  };
  g_autoptr(AstroObservation) observation = test_observe_aside("disc", 3);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(test_calibrate(cases[i][0], observation, 2, &error));
    g_assert_nonnull(error);
    test_says(error->message, cases[i][1]);
  }
  observation->has_phase_centre = FALSE;
  g_autoptr(GError) error = NULL;
  g_assert_null(astro_delay_model_new(observation, TRUE, 1, NULL, &error));
  g_assert_nonnull(strstr(error->message, "no phase centre"));
}

/* Blocks without steps, in the order of rows and in others. */
static void test_empty(void)
{
  static const char *const layouts[] = { "station:pol:time:channel", "channel:time:station:pol",
                                         "station:pol:time", "time:station:pol" };
  g_autoptr(AstroObservation) observation = test_observe_aside("disc", 2);
  g_autoptr(AstroDelayModel) model = test_model_of(observation, 1, NULL);
  guint8 block[1];
  for (guint l = 0; l < G_N_ELEMENTS(layouts); l++)
    for (guint b = 0; test_backends[b]; b++) {
      AstroStream stream =
          test_stream_of(ASTRO_FORMAT_CI8, layouts[l], 2, 1, l < 2 ? 8 : 0, 1.4e9, 1000000);
      AstroDelayArguments arguments = { .model = model, .restart = TRUE };
      TestStage stage = test_open_stage(test_backends[b], &stream, ASTRO_FORMAT_CI8);
      test_submit(&stage, block, 0, block, 0, &arguments);
      test_close_stage(&stage);
    }
}

static void test_shapes(void)
{
  AstroStream good = test_stream_of(ASTRO_FORMAT_CI8, "time:station:pol", 2, 1, 0, 1e9, 1000);
  AstroDelayConfig configs[7];
  for (guint i = 0; i < G_N_ELEMENTS(configs); i++)
    configs[i] = (AstroDelayConfig){ good, good };
  configs[0].in.rate_n = 0;
  configs[1].out.frequency = 0;
  configs[2].in.format = ASTRO_FORMAT_CF16LE;
  configs[3].out.layout.extents[1] = 3;
  configs[4].in.quantity = ASTRO_QUANTITY_IMAGE;
  configs[5].in = configs[5].out =
      test_stream_of(ASTRO_FORMAT_I8, "time:station:pol", 2, 1, 0, 1e9, 1000);
  configs[5].out.format = ASTRO_FORMAT_CI8;
  configs[6].in = configs[6].out =
      test_stream_of(ASTRO_FORMAT_F32LE, "time:station:pol:channel", 2, 1, 4, 1e9, 1000);
  for (guint i = 0; i < G_N_ELEMENTS(configs); i++)
    for (guint b = 0; test_backends[b]; b++) {
      g_autoptr(GError) error = NULL;
      g_assert_false(test_backends[b]->shape(&configs[i], &error));
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
    }
}

/* A layout is its axes and their extents, not what else its memory holds. */
static void test_same_layout(void)
{
  AstroStream stream = test_stream_of(ASTRO_FORMAT_CI8, "time:station:pol", 2, 1, 0, 1e9, 1000);
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
  for (guint b = 0; test_backends[b]; b++) {
    g_autoptr(GError) error = NULL;
    test_backends[b]->shape(&config, &error);
    g_assert_no_error(error);
  }
}

/* A loss moves with its station's delay and grows by the interpolation's reach, and no more. */
static void check_losses(AstroFormat format, gint reach)
{
  enum { STATIONS = 3, STEPS = 2000 };
  g_autoptr(AstroObservation) observation = test_observe_aside("lofar-like", STATIONS);
  g_autoptr(AstroDelayModel) model = test_model_of(observation, 1, NULL);
  AstroStream stream = test_stream_of(format, "time:station:pol", STATIONS, 1, 0, 1e8, 1000000);
  stream.rate_n = 1000000;
  AstroLayout shape = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION }, { STEPS, STATIONS } };
  AstroLosses *losses = astro_losses_new(&stream);
  const AstroWindows samples = { .step = 1, .span = 1 };
  g_autoptr(GstBuffer) in = gst_buffer_new_and_alloc(STEPS * STATIONS * 2);
  double delays[STATIONS];
  astro_delay_model_at(model, 5000000, delays);

  AstroValidityMeta *meta = astro_buffer_add_validity(in, &shape, 1);
  for (guint i = 700; i < 710; i++)
    meta->counts[i * STATIONS + 1] = 0;
  astro_delay_losses_read(losses, model, &stream, in, 5000, STEPS);
  for (guint block = 0; block < 2; block++) {
    g_autoptr(GstBuffer) out = gst_buffer_new_and_alloc(STEPS / 2 * STATIONS * 2);
    astro_losses_mark(losses, out, &stream.layout, &samples, 5000 + block * STEPS / 2, STEPS / 2);
    AstroValidityMeta *found = astro_buffer_get_validity(out);
    double lag = delays[1] * 1e6;
    for (guint i = 0; found && i < STEPS / 2; i++)
      for (guint s = 0; s < STATIONS; s++) {
        double at = block * STEPS / 2.0 + i - lag; /* the sample it is made of */
        guint32 count = found->counts[i * STATIONS + s];
        if (s != 1 || at < 700 - (reach + 4) || at > 709 + (reach + 4))
          g_assert_cmpuint(count, ==, 1);
        else if (at > 700 - (reach - 1) && at < 709 + (reach - 1))
          g_assert_cmpuint(count, ==, 0);
      }
    g_assert_true((found != NULL) == (block == (guint)((700 + lag) * 2 / STEPS)));
  }

  /* A gap affects all stations; losses that are forgotten do not come back. */
  g_autoptr(GstBuffer) gap = gst_buffer_new_and_alloc(STEPS * STATIONS * 2);
  GST_BUFFER_FLAG_SET(gap, GST_BUFFER_FLAG_GAP);
  astro_delay_losses_read(losses, model, &stream, gap, 7000, STEPS);
  g_autoptr(GstBuffer) out = gst_buffer_new_and_alloc(STATIONS * 2);
  astro_losses_mark(losses, out, &stream.layout, &samples, 8000, 1);
  for (guint s = 0; s < STATIONS; s++)
    g_assert_cmpuint(astro_buffer_get_validity(out)->counts[s], ==, 0);
  astro_losses_clear(losses);
  g_autoptr(GstBuffer) later = gst_buffer_new_and_alloc(STATIONS * 2);
  astro_losses_mark(losses, later, &stream.layout, &samples, 8001, 1);
  g_assert_null(astro_buffer_get_validity(later));
  astro_losses_free(losses);
}

static void test_losses(void)
{
  check_losses(ASTRO_FORMAT_CI8, 16);
  check_losses(ASTRO_FORMAT_I8, 32);
}

/* The whole samples by which a station lags. */
static double whole_lag(AstroDelayModel *model, const AstroStream *stream, guint64 sample)
{
  double delays[3];
  astro_delay_model_at(model, (gint64)astro_stream_time(stream, sample), delays);
  return floor(delays[1] * stream->rate_n);
}

/* Adds a loss of a station to the blocks in which samples come, and returns where it ends up. */
static GstBuffer *mark_cut(AstroDelayModel *model, const AstroStream *stream, guint64 first,
                           const guint *cuts, guint n_cuts)
{
  enum { STATIONS = 3, FROM = 1500, TO = 1600 };
  AstroLosses *losses = astro_losses_new(stream);
  const AstroWindows samples = { .step = 1, .span = 1 };
  for (guint k = 0; k + 1 < n_cuts; k++) {
    const guint steps = cuts[k + 1] - cuts[k];
    const AstroLayout shape = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION }, { steps, STATIONS } };
    g_autoptr(GstBuffer) in = gst_buffer_new_and_alloc(steps * STATIONS * 2);
    AstroValidityMeta *meta = astro_buffer_add_validity(in, &shape, 1);
    for (guint i = 0; i < steps; i++)
      if (cuts[k] + i >= FROM && cuts[k] + i < TO)
        meta->counts[i * STATIONS + 1] = 0;
    astro_delay_losses_read(losses, model, stream, in, first + cuts[k], steps);
  }
  const guint64 out_steps = 200000;
  GstBuffer *out = gst_buffer_new_and_alloc(out_steps * STATIONS * 2);
  astro_losses_mark(losses, out, &stream->layout, &samples, first - out_steps / 2, out_steps);
  astro_losses_free(losses);
  return out;
}

/* Where a loss ends up does not depend on how the input is cut, also where the delay passes a whole
 * sample between the first sample of a block and the loss. */
static void test_cuts(void)
{
  static const guint whole[] = { 0, 2000 }, parts[] = { 0, 700, 1400, 1530, 1531, 2000 };
  g_autoptr(AstroObservation) observation = test_observe_aside("lofar-like", 3);
  g_autoptr(AstroDelayModel) model = test_model_of(observation, 1, NULL);
  AstroStream stream =
      test_stream_of(ASTRO_FORMAT_CI8, "time:station:pol", 3, 1, 0, 1e8, 100000000);
  stream.rate_n = 100000000;
  guint64 before = 1000000, after = before;
  while (whole_lag(model, &stream, after) == whole_lag(model, &stream, before))
    after += 100000000;
  while (after - before > 1) {
    const guint64 middle = (before + after) / 2;
    if (whole_lag(model, &stream, middle) == whole_lag(model, &stream, before))
      before = middle;
    else
      after = middle;
  }
  g_autoptr(GstBuffer) once = mark_cut(model, &stream, after - 1000, whole, G_N_ELEMENTS(whole));
  g_autoptr(GstBuffer) often = mark_cut(model, &stream, after - 1000, parts, G_N_ELEMENTS(parts));
  const AstroValidityMeta *a = astro_buffer_get_validity(once),
                          *b = astro_buffer_get_validity(often);
  g_assert_nonnull(a);
  g_assert_nonnull(b);
  g_assert_cmpmem(a->counts, astro_validity_n_counts(a) * sizeof *a->counts, b->counts,
                  astro_validity_n_counts(b) * sizeof *b->counts);
}

static void add_tests(void)
{
  test_find_devices();
  g_test_add_func("/delay/calibration/errors", test_calibration_errors);
  g_test_add_func("/delay/shapes", test_shapes);
  g_test_add_func("/delay/same-layout", test_same_layout);
  g_test_add_func("/delay/empty", test_empty);
  g_test_add_func("/delay/losses", test_losses);
  g_test_add_func("/delay/losses-cut", test_cuts);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
