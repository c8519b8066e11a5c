/* Shared by tests of the delays: models of arrays that look away from their zenith, streams, and
 * backends as stages. */
#pragma once

#include "core/delay/delay.h"
#include "tests/core/on-device.h"
#include "tests/near.h"
#include "tests/observe.h"
#include "tests/tests.h"

#include <complex.h>
#include <math.h>

#define TEST_TURN(turns) cexp(2 * I * G_PI * ((turns)-floor(turns)))

static const char *const test_levels[] = { "c", "avx2", "avx512" };

/* The devices' backends are the last, where there are any. */
static const AstroBackend *test_backends[5] = { &astro_delay_reference, &astro_delay_cpu };
static const AstroBackend *test_cuda, *test_opencl;

static inline void test_find_devices(void)
{
  test_cuda = test_on_device("delay");
  test_opencl = test_on_opencl("delay");
  test_backends[2] = test_cuda ? test_cuda : test_opencl;
  test_backends[3] = test_cuda ? test_opencl : NULL;
}

static inline void test_with_level(const char *level)
{
  static char *before;
  if (level) {
    before = before ? before : g_strdup(g_getenv("ASTRO_CPU") ? g_getenv("ASTRO_CPU") : "");
    g_setenv("ASTRO_CPU", level, TRUE);
  } else if (before) {
    g_setenv("ASTRO_CPU", before, TRUE);
    g_clear_pointer(&before, g_free);
  }
}

static inline AstroObservation *test_observe_aside(const char *array, guint stations)
{
  AstroObservation *observation = test_observe(array, stations);
  observation->phase_ra += 0.3;
  observation->phase_dec += 0.2;
  return observation;
}

static inline AstroCalibration *
test_calibrate(const char *text, const AstroObservation *observation, guint pols, GError **error)
{
  AstroLines lines;
  astro_lines_init(&lines, "c.txt", g_strdup(text));
  AstroCalibration *calibration = astro_calibration_read(&lines, observation, pols, error);
  astro_lines_clear(&lines);
  return calibration;
}

static inline AstroDelayModel *test_model_of(AstroObservation *observation, guint pols,
                                             const char *calibration)
{
  g_autoptr(GError) error = NULL;
  AstroCalibration *read =
      calibration ? test_calibrate(calibration, observation, pols, &error) : NULL;
  g_assert_no_error(error);
  AstroDelayModel *model = astro_delay_model_new(observation, TRUE, pols, read, &error);
  g_assert_no_error(error);
  return model;
}

static inline AstroStream test_stream_of(AstroFormat format, const char *layout, guint stations,
                                         guint pols, guint channels, double frequency,
                                         gint bandwidth)
{
  AstroStream stream = { .quantity = channels ? ASTRO_QUANTITY_SPECTRA : ASTRO_QUANTITY_VOLTAGES,
                         .format = format,
                         .rate_n = bandwidth * (astro_format_info(format)->is_complex ? 1 : 2),
                         .rate_d = (gint)MAX(channels, 1),
                         .frequency = frequency,
                         .bandwidth = bandwidth };
  g_assert_true(astro_layout_parse(&stream.layout, layout, stream.quantity, NULL));
  for (guint i = 0; i < stream.layout.n_axes; i++)
    stream.layout.extents[i] = stream.layout.axes[i] == ASTRO_AXIS_STATION   ? stations
                               : stream.layout.axes[i] == ASTRO_AXIS_POL     ? pols
                               : stream.layout.axes[i] == ASTRO_AXIS_CHANNEL ? channels
                                                                             : 0;
  return stream;
}

typedef struct {
  const AstroBackend *backend;
  gpointer instance;
} TestStage;

static inline TestStage test_open_stage(const AstroBackend *backend, const AstroStream *in,
                                        AstroFormat out)
{
  AstroDelayConfig config = { *in, *in };
  AstroPlace place = { .threads = 2 };
  g_autoptr(GError) error = NULL;
  const char *variant = NULL;
  config.out.format = out;
  g_assert_true(backend->shape(&config, &error));
  TestStage stage = { backend, backend->create(&config, &place, &variant, &error) };
  g_assert_no_error(error);
  g_assert_nonnull(variant);
  return stage;
}

static inline void test_submit(TestStage *stage, gpointer in, gsize in_bytes, gpointer out,
                               gsize out_bytes, AstroDelayArguments *arguments)
{
  g_autoptr(GError) error = NULL;
  AstroBlock from = { in, in_bytes }, to = { out, out_bytes };
  stage->backend->submit(stage->instance, &from, in != NULL, &to, out != NULL, arguments, NULL,
                         &error);
  g_assert_no_error(error);
}

static inline void test_close_stage(TestStage *stage)
{
  stage->backend->destroy(stage->instance);
}

static inline void test_add_for_backends(const char *name, GTestDataFunc test)
{
  g_autofree char *on_cpu = g_strdup_printf("/delay/%s/cpu", name);
  g_autofree char *on_cuda = g_strdup_printf("/delay/%s/cuda", name);
  g_autofree char *on_opencl = g_strdup_printf("/delay/%s/opencl", name);
  g_test_add_data_func(on_cpu, test_backends[1], test);
  test_add_on_device(on_cuda, test_cuda, test);
  test_add_on_device(on_opencl, test_opencl, test);
}
