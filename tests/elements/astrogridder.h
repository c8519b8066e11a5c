/* Shared by tests of astrogridder: visibilities of a source, the element in a harness, images of
 * its grids, and tests that run on every backend. */
#pragma once

#include <complex.h>
#include "core/backend/module.h"
#include "core/stream/uvw.h"
#include "tests/core/gridder/images.h"
#include "tests/elements/elements.h"

enum {
  TEST_STATIONS = 7,
  TEST_BASELINES = 28,
  TEST_CHANNELS = 3,
  TEST_DUMPS = 6,
  TEST_VALUES = TEST_CHANNELS * TEST_BASELINES * 4
};

#define TEST_VISIBILITIES                                                                          \
  "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,channels=3,"     \
  "baselines=28,pols=2,rate=1/600,frequency=150e6,bandwidth=3e6"

static inline AstroObservation *test_rig_observation(void)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(1);
  AstroObservation *observation = astro_observation_new(TEST_STATIONS);
  for (guint i = 0; i < TEST_STATIONS; i++) {
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
 * the previous one ended. */
static inline complex float *test_predict_apart(double l, double m, guint pause)
{
  g_autoptr(AstroObservation) observation = test_rig_observation();
  complex float *all = g_new(complex float, TEST_DUMPS *TEST_VALUES);
  const double n_minus_1 = sqrt(1 - l * l - m * m) - 1;
  for (guint d = 0; d < TEST_DUMPS; d++) {
    double s[3 * TEST_STATIONS];
    astro_uvw(observation, ((600 + pause) * d + 300) * G_GINT64_CONSTANT(1000000000), s);
    for (guint c = 0; c < TEST_CHANNELS; c++)
      for (guint i = 0; i < TEST_STATIONS; i++)
        for (guint j = 0; j <= i; j++) {
          const double path = (s[3 * i] - s[3 * j]) * l + (s[3 * i + 1] - s[3 * j + 1]) * m +
                              (s[3 * i + 2] - s[3 * j + 2]) * n_minus_1;
          const double per = (149e6 + 1e6 * c) / ASTRO_LIGHT_SPEED;
          complex float *v = all + d * TEST_VALUES + 4 * (c * TEST_BASELINES + i * (i + 1) / 2 + j);
          v[0] = v[3] = 3 * (complex float)cexp(2 * G_PI * I * path * per);
          v[1] = v[2] = 0;
        }
  }
  return all;
}

static inline complex float *test_predict(double l, double m)
{
  return test_predict_apart(l, m, 0);
}

typedef struct {
  GstHarness *h;
  GstBus *bus;
} TestRig;

static const char *test_backend; /* that a test runs on */

static inline void test_rig_open(TestRig *rig, const char *settings, const char *downstream)
{
  g_autofree char *line = g_strconcat("astrogridder backend=", test_backend,
                                      " deterministic=true size=64 cell=200 ", settings, NULL);
  rig->h = gst_harness_new_parse(line);
  g_autoptr(GstElement) element = gst_harness_find_element(rig->h, "astrogridder");
  rig->bus = gst_bus_new();
  gst_element_set_bus(element, rig->bus);
  if (downstream)
    gst_harness_set_sink_caps_str(rig->h, downstream);
}

static inline void test_rig_start(TestRig *rig, gboolean with_observation)
{
  g_autoptr(AstroObservation) observation = test_rig_observation();
  gst_harness_set_src_caps_str(rig->h, TEST_VISIBILITIES);
  if (with_observation)
    gst_harness_push_event(rig->h, astro_observation_to_event(observation));
}

static inline GstBuffer *test_dumps(const complex float *all, guint first, guint n)
{
  GstBuffer *buffer =
      gst_buffer_new_memdup(all + first * TEST_VALUES, n * TEST_VALUES * sizeof(complex float));
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + n;
  GST_BUFFER_PTS(buffer) = first * 600 * GST_SECOND;
  GST_BUFFER_DURATION(buffer) = n * 600 * GST_SECOND;
  return buffer;
}

static inline void test_rig_close(TestRig *rig)
{
  gst_harness_teardown(rig->h);
  gst_object_unref(rig->bus);
}

/* Pushes all of a stream, in one buffer or one a dump, and EOS. */
static inline void test_rig_run(TestRig *rig, const complex float *all, gboolean cut)
{
  test_rig_start(rig, TRUE);
  for (guint d = 0; d < TEST_DUMPS; d += cut ? 1 : TEST_DUMPS)
    g_assert_cmpint(gst_harness_push(rig->h, test_dumps(all, d, cut ? 1 : TEST_DUMPS)), ==,
                    GST_FLOW_OK);
  g_assert_true(gst_harness_push_event(rig->h, gst_event_new_eos()));
}

/* The images of the next whole grid, normalised, channel by channel and product by product. */
static inline double *test_rig_image(TestRig *rig, AstroGrid *grid, guint channels,
                                     GstClockTime times[2])
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

typedef struct {
  const char *name;
  void (*test)(void);
} TestNamed;

typedef struct {
  const char *backend;
  void (*test)(void);
} TestCase;

static inline void test_run_case(gconstpointer data)
{
  const TestCase *c = data;
  test_backend = c->backend;
  c->test();
}

/* Runs every test on every backend that exists here. */
static inline void test_add_on_backends(const TestNamed *tests, guint n)
{
  static const char *const backends[] = { "cpu", "cuda" };
  g_autoptr(AstroDevice) device = astro_device_open(0, NULL);
  for (guint b = 0; b < (device ? 2 : 1); b++)
    for (guint i = 0; i < n; i++) {
      g_autofree char *path = g_strdup_printf("/astrogridder/%s/%s", backends[b], tests[i].name);
      TestCase *c = g_new(TestCase, 1);
      *c = (TestCase){ backends[b], tests[i].test };
      g_test_add_data_func_full(path, c, test_run_case, g_free);
    }
}
