#include <complex.h>
#include "core/stream/uvw.h"
#include "core/backend/backend.h"
#include "core/stream/validity.h"
#include "tests/core/images.h"
#include "tests/elements/elements.h"
#include "tests/elements/setter.h"

enum { STATIONS = 7, BASELINES = 28, CHANNELS = 3, DUMPS = 6, VALUES = CHANNELS * BASELINES * 4 };

#define VISIBILITIES                                                                               \
  "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,channels=3,"     \
  "baselines=28,pols=2,rate=1/600,frequency=150e6,bandwidth=3e6"
static const char *backend; /* that a test runs on */

#define SECOND G_GINT64_CONSTANT(1000000000)

static AstroObservation *observe(void)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(1);
  AstroObservation *observation = astro_observation_new(STATIONS);
  for (guint i = 0; i < STATIONS; i++) {
    const double enu[3] = { g_rand_double_range(random, -300, 300),
                            g_rand_double_range(random, -300, 300),
                            g_rand_double_range(random, -50, 50) };
    astro_geocentric_from_local(0.92, 0.12, 20, enu, &observation->positions[3 * i]);
  }
  g_assert_true(astro_observation_set_start(observation, "2026-11-20T12:00:00", NULL));
  observation->has_phase_centre = TRUE;
  observation->phase_ra = 4.1;
  observation->phase_dec = 0.8;
  return observation;
}

/* One source of 3 Jy at l, m, unpolarised; every dump but the first begins that many seconds after
 * the end of the one before. */
static complex float *predict_apart(double l, double m, guint pause)
{
  g_autoptr(AstroObservation) observation = observe();
  complex float *all = g_new(complex float, DUMPS *VALUES);
  const double n_minus_1 = sqrt(1 - l * l - m * m) - 1;
  for (guint d = 0; d < DUMPS; d++) {
    double s[3 * STATIONS];
    astro_uvw(observation, ((600 + pause) * d + 300) * SECOND, s);
    for (guint c = 0; c < CHANNELS; c++)
      for (guint i = 0; i < STATIONS; i++)
        for (guint j = 0; j <= i; j++) {
          const double path = (s[3 * i] - s[3 * j]) * l + (s[3 * i + 1] - s[3 * j + 1]) * m +
                              (s[3 * i + 2] - s[3 * j + 2]) * n_minus_1;
          const double per = (149e6 + 1e6 * c) / ASTRO_LIGHT_SPEED;
          complex float *v = all + d * VALUES + 4 * (c * BASELINES + i * (i + 1) / 2 + j);
          v[0] = v[3] = 3 * (complex float)cexp(2 * G_PI * I * path * per);
          v[1] = v[2] = 0;
        }
  }
  return all;
}

static complex float *predict(double l, double m)
{
  return predict_apart(l, m, 0);
}

/* ---- the element in a harness ---- */

typedef struct {
  GstHarness *h;
  GstBus *bus;
} Rig;

static void rig_open(Rig *rig, const char *settings, const char *downstream)
{
  g_autofree char *line = g_strconcat("astrogridder backend=", backend,
                                      " deterministic=true size=64 cell=200 ", settings, NULL);
  rig->h = gst_harness_new_parse(line);
  g_autoptr(GstElement) element = gst_harness_find_element(rig->h, "astrogridder");
  rig->bus = gst_bus_new();
  gst_element_set_bus(element, rig->bus);
  if (downstream)
    gst_harness_set_sink_caps_str(rig->h, downstream);
}

static void rig_start(Rig *rig, gboolean with_observation)
{
  g_autoptr(AstroObservation) observation = observe();
  gst_harness_set_src_caps_str(rig->h, VISIBILITIES);
  if (with_observation)
    gst_harness_push_event(rig->h, astro_observation_to_event(observation));
}

static GstBuffer *dumps(const complex float *all, guint first, guint n)
{
  GstBuffer *buffer =
      gst_buffer_new_memdup(all + first * VALUES, n * VALUES * sizeof(complex float));
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + n;
  GST_BUFFER_PTS(buffer) = first * 600 * GST_SECOND;
  GST_BUFFER_DURATION(buffer) = n * 600 * GST_SECOND;
  return buffer;
}

static void rig_close(Rig *rig)
{
  gst_harness_teardown(rig->h);
  gst_object_unref(rig->bus);
}

static char *rig_message(Rig *rig, GstMessageType type, char **debug)
{
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(rig->bus, type);
  g_autoptr(GError) error = NULL;
  if (!message)
    return NULL;
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, debug);
  else
    gst_message_parse_warning(message, &error, debug);
  return g_strdup(error->message);
}

/* All of a stream, in one buffer or one a dump, and its end. */
static void rig_run(Rig *rig, const complex float *all, gboolean cut)
{
  rig_start(rig, TRUE);
  for (guint d = 0; d < DUMPS; d += cut ? 1 : DUMPS)
    g_assert_cmpint(gst_harness_push(rig->h, dumps(all, d, cut ? 1 : DUMPS)), ==, GST_FLOW_OK);
  g_assert_true(gst_harness_push_event(rig->h, gst_event_new_eos()));
}

/* The next whole grid's images, normalised, channels and products one after the other. */
static double *next_image(Rig *rig, AstroGrid *grid, guint channels, GstClockTime times[2])
{
  g_autofree double *corrections = NULL;
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(rig->h->sinkpad);
  double *image = NULL;
  times[0] = times[1] = GST_CLOCK_TIME_NONE;
  guint planes = 1;
  g_assert_true(astro_grid_from_caps(grid, caps, NULL));
  const guint products = g_strv_length(grid->products);
  const gsize k2 = (gsize)grid->image_size * grid->image_size;
  const gboolean is_double =
      g_str_equal(gst_structure_get_string(gst_caps_get_structure(caps, 0), "format"), "CF64LE");
  for (guint plane = 0; plane < planes; plane++) {
    GstBuffer *buffer = gst_harness_try_pull(rig->h);
    if (!buffer)
      break;
    const AstroGridMeta *meta = astro_buffer_get_grid(buffer);
    GstMapInfo map;
    g_assert_nonnull(meta);
    g_assert_cmpuint(meta->plane, ==, plane);
    g_assert_cmpuint(meta->n_weights, ==, channels * products);
    planes = meta->planes;
    if (!image)
      image = g_new0(double, channels *products *k2);
    gst_buffer_map(buffer, &map, GST_MAP_READ);
    g_assert_cmpuint(map.size, ==,
                     (gsize)grid->size * grid->size * products * channels * (is_double ? 16 : 8));
    for (guint c = 0; c < channels; c++)
      test_add_plane(grid, map.data + c * map.size / channels, is_double, products, meta->w,
                     meta->w_step, &corrections, image + c * products * k2);
    gst_buffer_unmap(buffer, &map);
    if (plane == planes - 1)
      for (gsize i = 0; i < channels * products * k2; i++)
        image[i] /= meta->weights[i / k2];
    times[0] = GST_BUFFER_PTS(buffer);
    times[1] = times[0] + GST_BUFFER_DURATION(buffer);
    gst_buffer_unref(buffer);
  }
  if (!image)
    astro_grid_clear(grid);
  return image;
}

static gsize peak_of(const double *image, gsize n)
{
  gsize peak = 0;
  for (gsize i = 0; i < n; i++)
    if (image[i] > image[peak])
      peak = i;
  return peak;
}

/* ---- tests ---- */

/* A source on a pixel has its flux there, whatever the algorithm, weights and centre. */
static void test_source(void)
{
  static const struct {
    const char *settings;
    guint channels, products, x, y;
    double error;
  } cases[] = {
    { "accuracy=1e-5", 1, 1, 42, 25, 1e-5 },
    { "accuracy=1e-10", 1, 1, 42, 25, 1e-6 },
    { "accuracy=1e-5 per-channel=true", 3, 1, 42, 25, 1e-5 },
    { "algorithm=direct stokes=IQUV", 1, 4, 42, 25, 1e-6 },
    { "algorithm=direct per-channel=true weighting=uniform", 3, 1, 42, 25, 1e-6 },
    { "algorithm=wprojection oversampling=32 pols=YY:XX", 1, 2, 42, 25, 5e-3 },
    { "weighting=uniform accuracy=1e-5", 1, 1, 42, 25, 1e-5 },
    { "weighting=briggs robust=0.5 accuracy=1e-5 pols=XX:I", 1, 2, 42, 25, 1e-5 },
    { "centre=0.0096962736,0 accuracy=1e-5", 1, 1, 32, 25, 1e-5 },
  };
  const double pixel = 200.0 / 3600 * G_PI / 180;
  g_autofree complex float *all = predict(10 * pixel, -7 * pixel);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroGrid grid;
    GstClockTime times[2];
    Rig rig;
    rig_open(&rig, cases[i].settings, NULL);
    rig_run(&rig, all, FALSE);
    g_autofree double *image = next_image(&rig, &grid, cases[i].channels, times);
    g_assert_nonnull(image);
    g_assert_cmpuint(g_strv_length(grid.products), ==, cases[i].products);
    for (guint c = 0; c < cases[i].channels; c++) {
      const double *first = image + c * cases[i].products * 64 * 64;
      g_assert_cmpuint(peak_of(first, 64 * 64), ==, cases[i].y * 64 + cases[i].x);
      g_assert_cmpfloat_with_epsilon(first[cases[i].y * 64 + cases[i].x], 3, 3 * cases[i].error);
    }
    if (cases[i].products == 4) /* nothing is polarised */
      for (guint k = 64 * 64; k < 4 * 64 * 64; k++)
        g_assert_cmpfloat(fabs(image[k]), <=, 1e-6);
    g_assert_cmpuint(times[0], ==, 0);
    g_assert_cmpuint(times[1], ==, 3600 * GST_SECOND);
    astro_grid_clear(&grid);
    rig_close(&rig);
  }
}

/* Scans begin when they do, not whole integrations after one another. */
static void test_between_steps(void)
{
  enum { PAUSE = 250 };
  const double pixel = 200.0 / 3600 * G_PI / 180;
  g_autofree complex float *all = predict_apart(10 * pixel, -7 * pixel, PAUSE);
  AstroGrid grid;
  GstClockTime times[2];
  Rig rig;
  rig_open(&rig, "accuracy=1e-5", NULL);
  rig_start(&rig, TRUE);
  for (guint d = 0; d < DUMPS; d++) {
    GstBuffer *buffer = dumps(all, d, 1);
    GST_BUFFER_PTS(buffer) = d * (600 + PAUSE) * GST_SECOND;
    GST_BUFFER_OFFSET(buffer) = (d * (600 + PAUSE) + 300) / 600;
    GST_BUFFER_OFFSET_END(buffer) = GST_BUFFER_OFFSET(buffer) + 1;
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
    g_assert_cmpint(gst_harness_push(rig.h, buffer), ==, GST_FLOW_OK);
  }
  g_assert_true(gst_harness_push_event(rig.h, gst_event_new_eos()));
  g_autofree double *image = next_image(&rig, &grid, 1, times);
  g_assert_cmpfloat_with_epsilon(image[25 * 64 + 42], 3, 3e-4);
  g_assert_cmpuint(times[1], ==, ((DUMPS - 1) * (600 + PAUSE) + 600) * GST_SECOND);
  astro_grid_clear(&grid);
  rig_close(&rig);
}

static GByteArray *bytes_of(const char *settings, const complex float *all, gboolean cut)
{
  Rig rig;
  rig_open(&rig, settings, NULL);
  rig_run(&rig, all, cut);
  GByteArray *bytes = test_pull_all(rig.h);
  rig_close(&rig);
  return bytes;
}

/* How the stream is cut changes no bit. */
static void test_cuts(void)
{
  static const char *const settings[] = { "", "algorithm=direct", "weighting=uniform stokes=IQUV",
                                          "interval=4", "algorithm=wprojection" };
  g_autofree complex float *all = predict(0.02, 0.01);
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    g_autoptr(GByteArray) whole = bytes_of(settings[i], all, FALSE);
    g_autoptr(GByteArray) cut = bytes_of(settings[i], all, TRUE);
    g_assert_cmpuint(whole->len, >, 0);
    g_assert_cmpmem(whole->data, whole->len, cut->data, cut->len);
  }
}

/* A graph's parameter that is empty sets nothing. */
static void test_empty_texts(void)
{
  g_autofree complex float *all = predict(0.02, 0.01);
  g_autoptr(GByteArray) unset = bytes_of("stokes=IQUV", all, FALSE);
  g_autoptr(GByteArray) empty = bytes_of("stokes=IQUV pols=\"\" centre=\"\"", all, FALSE);
  g_assert_cmpmem(unset->data, unset->len, empty->data, empty->len);
}

/* Blocks that count from their recording's start lie where their times say, as those do that count
 * from the observation's, or do not count. */
static void test_clock(void)
{
  static const guint64 counted_from[] = { 2, 0, GST_BUFFER_OFFSET_NONE };
  g_autofree complex float *all = predict(0.02, 0.01);
  g_autofree double *expected = NULL;
  for (guint i = 0; i < G_N_ELEMENTS(counted_from); i++) {
    AstroGrid grid;
    GstClockTime times[2];
    Rig rig;
    rig_open(&rig, "", NULL);
    rig_start(&rig, TRUE);
    for (guint d = 2; d < DUMPS; d++) {
      GstBuffer *in = dumps(all, d, 1);
      GST_BUFFER_OFFSET(in) =
          counted_from[i] == GST_BUFFER_OFFSET_NONE ? counted_from[i] : counted_from[i] + d - 2;
      GST_BUFFER_OFFSET_END(in) = GST_BUFFER_OFFSET_NONE;
      g_assert_cmpint(gst_harness_push(rig.h, in), ==, GST_FLOW_OK);
    }
    g_assert_true(gst_harness_push_event(rig.h, gst_event_new_eos()));
    g_autofree double *image = next_image(&rig, &grid, 1, times);
    g_assert_nonnull(image);
    g_assert_cmpuint(times[0], ==, 1200 * GST_SECOND);
    g_assert_cmpuint(times[1], ==, 3600 * GST_SECOND);
    if (expected)
      g_assert_cmpmem(image, 64 * 64 * sizeof *image, expected, 64 * 64 * sizeof *image);
    else
      expected = g_steal_pointer(&image);
    astro_grid_clear(&grid);
    rig_close(&rig);
  }
}

/* Grids of two dumps each, their own or with all before them. */
static void test_intervals(void)
{
  static const char *const algorithms[] = { "direct", "wstacking accuracy=1e-5", "wprojection" };
  g_autofree complex float *all = predict(0.01, 0.02);
  for (guint a = 0; a < G_N_ELEMENTS(algorithms); a++)
    for (guint cumulative = 0; cumulative < 2; cumulative++) {
      g_autofree char *settings = g_strdup_printf("interval=2 cumulative=%s algorithm=%s",
                                                  cumulative ? "true" : "false", algorithms[a]);
      g_autofree char *whole_settings = g_strdup_printf("algorithm=%s", algorithms[a]);
      AstroGrid grid;
      GstClockTime times[2];
      Rig rig, whole;
      rig_open(&rig, settings, NULL);
      rig_run(&rig, all, TRUE);
      rig_open(&whole, whole_settings, NULL);
      rig_run(&whole, all, TRUE);
      g_autofree double *expected = next_image(&whole, &grid, 1, times);
      g_autofree double *sum = g_new0(double, 64 * 64);
      astro_grid_clear(&grid);
      for (guint i = 0; i < 3; i++) {
        g_autofree double *image = next_image(&rig, &grid, 1, times);
        g_assert_nonnull(image);
        g_assert_cmpuint(times[0], ==, cumulative ? 0 : i * 1200 * GST_SECOND);
        g_assert_cmpuint(times[1], ==, (i + 1) * 1200 * GST_SECOND);
        for (guint k = 0; k < 64 * 64; k++)
          sum[k] = cumulative ? image[k] : sum[k] + image[k] / 3;
        astro_grid_clear(&grid);
      }
      g_assert_null(gst_harness_try_pull(rig.h));
      double worst = 0;
      for (guint k = 0; k < 64 * 64; k++)
        worst = MAX(worst, fabs(sum[k] - expected[k]));
      g_test_message("%s: %.2e", settings, worst);
      g_assert_cmpfloat(worst, <=, 6e-5);
      rig_close(&rig);
      rig_close(&whole);
    }
}

/* An interval that is set in mid-stream is one for the next caps. */
static void test_late_interval(void)
{
  g_autofree complex float *all = predict(0.01, 0.02);
  Rig rig;
  rig_open(&rig, "algorithm=direct interval=2", NULL);
  g_autoptr(GstElement) element = gst_harness_find_element(rig.h, "astrogridder");
  rig_start(&rig, TRUE);
  for (guint d = 0; d < DUMPS; d++) {
    g_assert_cmpint(gst_harness_push(rig.h, dumps(all, d, 1)), ==, GST_FLOW_OK);
    g_object_set(element, "interval", 5, NULL);
  }
  g_assert_true(gst_harness_push_event(rig.h, gst_event_new_eos()));
  g_assert_cmpuint(gst_harness_buffers_received(rig.h), ==, DUMPS / 2);
  rig_close(&rig);
}

static guint count_told(Rig *rig)
{
  GstMessage *message;
  guint n = 0;
  while ((message = gst_bus_pop_filtered(rig->bus, GST_MESSAGE_ELEMENT))) {
    n += gst_structure_has_name(gst_message_get_structure(message), "astro-gridder");
    gst_message_unref(message);
  }
  return n;
}

/* A stream behind the end of another has grids of its own. */
static void test_next_stream(void)
{
  static const char *const settings[] = { "", "interval=4", "interval=4 cumulative=true" };
  g_autofree complex float *all = predict(0.01, 0.02);
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    g_autoptr(GByteArray) first = NULL;
    GstSegment segment;
    Rig rig;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    rig_open(&rig, settings[i], NULL);
    rig_run(&rig, all, TRUE);
    first = test_pull_all(rig.h);
    g_assert_cmpuint(count_told(&rig), ==, 1);
    gst_harness_push_event(rig.h, gst_event_new_stream_start("next"));
    gst_harness_push_event(rig.h, gst_event_new_segment(&segment));
    rig_run(&rig, all, TRUE);
    g_autoptr(GByteArray) next = test_pull_all(rig.h);
    g_assert_cmpuint(first->len, >, 0);
    g_assert_cmpmem(next->data, next->len, first->data, first->len);
    g_assert_cmpuint(count_told(&rig), ==, 1);
    rig_close(&rig);
  }
}

/* Who asks for the PSF gets it as one more product: 1 in the middle. */
static void test_psf(void)
{
  static const char *const settings[] = { "accuracy=1e-5", "accuracy=1e-5 centre=0.05,-0.1" };
  g_autofree complex float *all = predict(0.01, 0.02);
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    AstroGrid grid;
    GstClockTime times[2];
    Rig rig;
    rig_open(&rig, settings[i], "application/x-astro-uvgrid,psf=true");
    rig_run(&rig, all, FALSE);
    g_autofree double *image = next_image(&rig, &grid, 1, times);
    g_assert_cmpint(astro_grid_find(&grid, "PSF"), ==, 1);
    g_assert_cmpuint(peak_of(image + 64 * 64, 64 * 64), ==, 32 * 64 + 32);
    g_assert_cmpfloat_with_epsilon(image[64 * 64 + 32 * 64 + 32], 1, 1e-5);
    astro_grid_clear(&grid);
    rig_close(&rig);
  }
}

/* The last message of the element, which tells of all grids. */
static void assert_told(Rig *rig, guint64 used, guint64 outside, guint64 flagged, guint64 bad)
{
  const struct {
    const char *name;
    guint64 expected;
  } fields[] = {
    { "used", used }, { "outside", outside }, { "flagged", flagged }, { "not-finite", bad }
  };
  for (;;) {
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(rig->bus, GST_MESSAGE_ELEMENT);
    const GstStructure *s = message ? gst_message_get_structure(message) : NULL;
    g_assert_nonnull(message);
    if (!gst_structure_has_name(s, "astro-gridder"))
      continue;
    for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
      guint64 found;
      g_assert_true(gst_structure_get_uint64(s, fields[i].name, &found));
      g_assert_cmpuint(found, ==, fields[i].expected);
    }
    return;
  }
}

/* What cannot be used is told of, in the grid and at the end, and changes nothing. The PSF is made
 * of no visibilities. */
static void test_counts(void)
{
  static const char *const downstream[] = { NULL, "application/x-astro-uvgrid,psf=true" };
  const AstroLayout shape = { .n_axes = 2,
                              .axes = { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE },
                              .extents = { CHANNELS, BASELINES } };
  for (guint i = 0; i < G_N_ELEMENTS(downstream); i++) {
    g_autofree complex float *all = predict(0, 0);
    GstClockTime times[2];
    AstroGrid grid;
    Rig rig;
    rig_open(&rig, "accuracy=1e-5", downstream[i]);
    rig_start(&rig, TRUE);
    all[4 * 1] = NAN;
    GstBuffer *buffer = dumps(all, 0, 1);
    astro_buffer_add_validity(buffer, &shape, 5)->counts[3] = 0;
    gst_harness_push(rig.h, buffer);
    buffer = dumps(all, 1, 1);
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
    gst_harness_push(rig.h, buffer);
    gst_harness_push_event(rig.h, gst_event_new_gap(1200 * GST_SECOND, 600 * GST_SECOND));
    g_assert_null(gst_harness_try_pull(rig.h));
    gst_harness_push(rig.h, dumps(all, 3, 1));
    g_assert_true(gst_harness_push_event(rig.h, gst_event_new_eos()));
    g_autofree double *image = next_image(&rig, &grid, 1, times);
    g_assert_cmpfloat_with_epsilon(image[32 * 64 + 32], 3, 1e-4);
    assert_told(&rig, 126 - 2, 0, 1 + 63, 1);
    astro_grid_clear(&grid);
    rig_close(&rig);
  }
}

/* The cell that a text advises holds all visibilities. */
static void check_advice(const char *text, const char *settings, const complex float *all)
{
  const char *advice = strstr(text, "expected a cell of at most");
  g_autofree char *debug = NULL;
  double cell;
  Rig rig;
  g_assert_nonnull(advice);
  g_assert_cmpint(sscanf(advice, "expected a cell of at most %lf arcsec", &cell), ==, 1);
  g_autofree char *advised = g_strdup_printf("%s cell=%.9g", settings, cell);
  rig_open(&rig, advised, NULL);
  rig_run(&rig, all, FALSE);
  g_autofree char *warning = rig_message(&rig, GST_MESSAGE_WARNING, &debug);
  g_assert_cmpstr(warning, ==, NULL);
  g_autoptr(GstBuffer) buffer = gst_harness_pull(rig.h);
  g_assert_cmpuint(astro_buffer_get_grid(buffer)->outside, ==, 0);
  rig_close(&rig);
}

/* A grid that holds none of them is an error, which says what would. */
static void test_all_outside(void)
{
  static const char *const settings[] = { "size=4 cell=60000", "size=4 cell=0 field-of-view=60",
                                          "size=4 cell=60000 algorithm=direct" };
  static const char *const sizes[] = { "size=4", "size=4", "size=4 algorithm=direct" };
  g_autofree complex float *all = predict(0, 0);
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    g_autofree char *debug = NULL;
    Rig rig;
    rig_open(&rig, settings[i], NULL);
    rig_start(&rig, TRUE);
    gst_harness_push(rig.h, dumps(all, 0, DUMPS));
    gst_harness_push_event(rig.h, gst_event_new_eos());
    g_autofree char *error = rig_message(&rig, GST_MESSAGE_ERROR, &debug);
    g_test_message("%s", error);
    test_says(error, "378 outside the grid");
    check_advice(error, sizes[i], all);
    rig_close(&rig);
  }
}

/* A cell too large for the longest baselines costs those, with a warning that says how far it
 * reaches, with what they are spread over. */
static void test_outside(void)
{
  static const char *const settings[] = { "size=32 cell=1000",
                                          "size=32 cell=300 algorithm=wprojection support=24" };
  g_autofree complex float *all = predict(0, 0);
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    g_autofree char *debug = NULL;
    double reach, longest;
    Rig rig;
    rig_open(&rig, settings[i], NULL);
    rig_run(&rig, all, FALSE);
    g_autofree char *warning = rig_message(&rig, GST_MESSAGE_WARNING, &debug);
    g_assert_nonnull(warning);
    g_assert_nonnull(strstr(warning, "outside the grid"));
    const char *numbers = strstr(debug, "reaches");
    g_assert_nonnull(numbers);
    g_assert_cmpint(
        sscanf(numbers, "reaches %lf wavelengths, the longest baseline is %lf", &reach, &longest),
        ==, 2);
    g_assert_cmpfloat(reach, <, longest);
    check_advice(debug, settings[i], all);
    GstBuffer *buffer = gst_harness_pull(rig.h);
    g_assert_cmpuint(astro_buffer_get_grid(buffer)->outside, >, 0);
    gst_buffer_unref(buffer);
    rig_close(&rig);
  }
}

/* An accuracy that a table of taps has not is told of, if it was asked for. */
static void test_coarse_taps(void)
{
  static const struct {
    const char *settings, *says; /* NULL: nothing */
  } cases[] = {
    { "" },
    { "accuracy=1e-5" },
    { "algorithm=wprojection" },
    { "algorithm=wprojection accuracy=0.01",
      "reaches about 0.014: expected kernel=nearest oversampling=11 or kernel=interpolated "
      "oversampling=8 or algorithm=wstacking" },
    { "algorithm=wprojection accuracy=0.01 oversampling=11" },
    { "algorithm=wprojection accuracy=0.02" },
    { "algorithm=wprojection accuracy=1e-3 oversampling=64",
      "reaches about 0.0017: expected kernel=interpolated oversampling=64 or algorithm" },
    { "algorithm=wprojection accuracy=1e-3 kernel=interpolated" },
    { "algorithm=wprojection accuracy=1e-5 kernel=interpolated",
      "reaches about 0.00025: expected kernel=interpolated oversampling=40 or algorithm" },
    { "algorithm=wprojection accuracy=1e-5 kernel=interpolated oversampling=40" },
    { "algorithm=wprojection accuracy=1e-7", "reaches about 0.014: expected algorithm=wstacking" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *debug = NULL;
    Rig rig;
    rig_open(&rig, cases[i].settings, NULL);
    rig_start(&rig, TRUE);
    g_autofree char *warning = rig_message(&rig, GST_MESSAGE_WARNING, &debug);
    g_test_message("%s: %s", cases[i].settings, warning);
    g_assert_cmpint(warning != NULL, ==, cases[i].says != NULL);
    g_assert_true(!warning || strstr(warning, cases[i].says));
    rig_close(&rig);
  }
}

/* What another thread sets after caps were made and before they are agreed on is not taken, or
 * refused: buffers are as large as the caps say. */
static void test_late_settings(void)
{
  static const char *const settings[][2] = { { "deterministic", "true" },
                                             { "per-channel", "true" },
                                             { "size", "128" },
                                             { "stokes", "IQUV" },
                                             { "algorithm", "direct" } };
  g_autofree complex float *all = predict(0.01, 0.02);
  double expected = 0;
  backend = "cpu";
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    g_autofree char *debug = NULL;
    Rig rig;
    rig_open(&rig, "", NULL);
    g_autoptr(GstElement) element = gst_harness_find_element(rig.h, "astrogridder");
    TestLate late = { element, settings[i][0], settings[i][1] };
    test_set_late(rig.h, &late);
    rig_start(&rig, TRUE);
    gst_harness_push(rig.h, dumps(all, 0, DUMPS));
    gst_harness_push_event(rig.h, gst_event_new_eos());
    g_test_message("%s", late.name);
    if (i > 1) {
      g_autofree char *says = rig_message(&rig, GST_MESSAGE_ERROR, &debug);
      test_says(says, TEST_LATE_SAYS);
    } else {
      g_autoptr(GstBuffer) buffer = gst_harness_pull(rig.h);
      const AstroGridMeta *meta = astro_buffer_get_grid(buffer);
      g_assert_cmpuint(meta->n_weights, ==, 1);
      if (i == 0)
        expected = meta->weights[0];
      g_assert_cmpfloat(meta->weights[0], >, 0);
      g_assert_cmpfloat(meta->weights[0], ==, expected);
    }
    rig_close(&rig);
  }
}

/* Caps are of one text or the other, whoever sets them meanwhile. */
static void test_set_meanwhile(void)
{
  static const char *const pols[] = { "XX,YY", "I,Q,U,V", NULL };
  static const char *const centres[] = { "0.01,0.02", "0.03,0.04", NULL };
  GstHarness *h = gst_harness_new_parse("astrogridder backend=cpu size=64 cell=200");
  g_autoptr(GstElement) element = gst_harness_find_element(h, "astrogridder");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "src");
  TestSetter sets_pols = { .object = element, .name = "pols", .texts = pols };
  TestSetter sets_centre = { .object = element, .name = "centre", .texts = centres };
  test_setter_start(&sets_pols);
  test_setter_start(&sets_centre);
  for (guint i = 0; i < 10000; i++) {
    g_autoptr(GstCaps) caps = gst_pad_query_caps(pad, NULL);
    const GstStructure *s = gst_caps_get_structure(caps, 0);
    const char *products = gst_structure_get_string(s, "products");
    double l = 0, m = 0;
    if (g_strcmp0(products, "XX:YY"))
      g_assert_cmpstr(products, ==, "I:Q:U:V");
    g_assert_true(
        gst_structure_get(s, "centre-l", G_TYPE_DOUBLE, &l, "centre-m", G_TYPE_DOUBLE, &m, NULL));
    g_assert_cmpfloat(l, ==, l < 0.02 ? 0.01 : 0.03);
    g_assert_cmpfloat(m, ==, l < 0.02 ? 0.02 : 0.04);
  }
  test_setter_stop(&sets_pols);
  test_setter_stop(&sets_centre);
  gst_harness_teardown(h);
}

/* Settings that cannot be are told of when the element starts. */
static void test_settings(void)
{
  static const struct {
    const char *settings, *says;
  } cases[] = {
    { "size=0 cell=1", "size is 0" },
    { "size=7 cell=1", "even" },
    { "size=8", "cell" },
    { "size=8 cell=1 field-of-view=1", "both" },
    { "size=8 cell=1 pols=QQ", "QQ" },
    { "size=8 cell=1 pols=XX,QQ", "\"QQ\" is no product" },
    { "size=8 cell=1 pols=I:PSF", "PSF" },
    { "size=8 cell=1 pols=I:Q:U:V:XX", "one to four" },
    { "size=8 cell=1 centre=here", "centre" },
    { "size=1024 field-of-view=170", "hemisphere" },
    { "size=64 cell=1 accuracy=1e-8 support=5", "with any padding and support 5: expected 0" },
    { "size=64 cell=1 padding=1.05", "with padding 1.05 and any support: expected 0" },
    { "size=64 cell=1 support=17", "support is 17, expected 4 to 16" },
    { "size=64 cell=1 padding=0.5", "padding is 0.5" },
    { "size=64 cell=1 centre=1,0", "(a smaller field, or one nearer to the phase centre)" },
    { "size=64 cell=1 algorithm=wprojection support=256", "over 256 cells" },
    { "size=64 cell=1 algorithm=wprojection padding=0.5", "padding is 0.5" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf(
        "fakesrc ! " VISIBILITIES " ! astrogridder %s ! fakesink", cases[i].settings);
    test_refused(line, cases[i].says);
  }
}

/* As a number or a word, in text, and as a number in a program. */
static void test_support(void)
{
  static const struct {
    const char *text;
    guint value;
  } cases[] = { { "16", 16 }, { "auto", 0 }, { "256", 256 }, { "0", 0 }, { "4", 4 } };
  GstElement *gridder = gst_element_factory_make("astrogridder", NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    guint found = 99;
    gst_util_set_object_arg(G_OBJECT(gridder), "support", cases[i].text);
    g_object_get(gridder, "support", &found, NULL);
    g_assert_cmpuint(found, ==, cases[i].value);
  }
  guint found;
  g_object_set(gridder, "support", 32, NULL);
  g_object_get(gridder, "support", &found, NULL);
  g_assert_cmpuint(found, ==, 32);
  gst_object_unref(gst_object_ref_sink(gridder));
}

typedef struct {
  const char *settings, *caps, *says;
  gboolean observed;
  guint n;      /* dumps */
  gboolean bad; /* not a number */
} Refusal;

/* Streams that no grid can be made of. */
static void test_bad_streams(void)
{
  static const Refusal cases[] = {
    { "", VISIBILITIES, "no visibilities", TRUE, 0, FALSE },
    { "", VISIBILITIES, "63 not finite", TRUE, 1, TRUE },
    { "", VISIBILITIES, "no observation", FALSE, 1, FALSE },
    { "pols=RR", VISIBILITIES, "RR", TRUE, 1, FALSE },
    { "",
      "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,channels=3,"
      "baselines=28,pols=2,rate=1/600",
      "frequency", TRUE, 1, FALSE },
    { "size=400000 cell=0.1", VISIBILITIES, "bytes", TRUE, 1, FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(AstroObservation) observation = observe();
    g_autofree complex float *all = predict(0, 0);
    g_autofree char *debug = NULL;
    Rig rig;
    rig_open(&rig, cases[i].settings, NULL);
    gst_harness_set_src_caps_str(rig.h, cases[i].caps);
    if (cases[i].observed)
      gst_harness_push_event(rig.h, astro_observation_to_event(observation));
    for (guint k = 0; cases[i].bad && k < VALUES / 4; k++)
      all[4 * k] = NAN;
    if (cases[i].n)
      gst_harness_push(rig.h, dumps(all, 0, 1));
    gst_harness_push_event(rig.h, gst_event_new_eos());
    g_autofree char *error = rig_message(&rig, GST_MESSAGE_ERROR, &debug);
    g_assert_nonnull(error);
    test_says(error, cases[i].says);
    g_assert_null(gst_harness_try_pull(rig.h));
    rig_close(&rig);
  }
}

/* Every test on every backend that is there. */
static const struct {
  const char *name;
  void (*test)(void);
} tests[] = {
  { "source", test_source },
  { "cuts", test_cuts },
  { "intervals", test_intervals },
  { "psf", test_psf },
  { "counts", test_counts },
  { "outside", test_outside },
  { "all-outside", test_all_outside },
  { "refused", test_bad_streams },
  { "empty-texts", test_empty_texts },
  { "coarse-taps", test_coarse_taps },
  { "clock", test_clock },
  { "between-steps", test_between_steps },
  { "next-stream", test_next_stream },
  { "late-interval", test_late_interval },
};

typedef struct {
  const char *backend;
  void (*test)(void);
} Case;

static void run_case(gconstpointer data)
{
  const Case *c = data;
  backend = c->backend;
  c->test();
}

static void add_tests(void)
{
  static const char *const backends[] = { "cpu", "cuda" };
  static Case cases[G_N_ELEMENTS(backends)][G_N_ELEMENTS(tests)];
  g_autoptr(AstroDevice) device = astro_device_open(0, NULL);
  for (guint b = 0; b < (device ? 2 : 1); b++)
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++) {
      g_autofree char *path = g_strdup_printf("/astrogridder/%s/%s", backends[b], tests[i].name);
      cases[b][i] = (Case){ backends[b], tests[i].test };
      g_test_add_data_func(path, &cases[b][i], run_case);
    }
  g_test_add_func("/astrogridder/settings", test_settings);
  g_test_add_func("/astrogridder/set-late", test_late_settings);
  g_test_add_func("/astrogridder/set-meanwhile", test_set_meanwhile);
  g_test_add_func("/astrogridder/support", test_support);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
