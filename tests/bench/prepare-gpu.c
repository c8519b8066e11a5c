/* Preparing dumps of visibilities for gridding on a GPU, and weighting them, beside moving the
 * fewest bytes possible at the speed of a copy in device memory, in the same run. */
#include <stdlib.h>

#include "core/backend/module.h"
#include "core/gridder/backend.h"
#include "tests/bench/bench.h"
#include "tests/bench/on-device.h"
#include "tests/observe.h"
#include "tests/tests.h"

enum { STATIONS = 256, CHANNELS = 64, PAIRS = STATIONS * (STATIONS - 1) / 2, SIZE = 4096 };
enum { BASELINES = PAIRS + STATIONS };
/* Room for rows grows by doubling: after 17 dumps there is room for 32. */
enum { WARM = 17, TIMED = 15 };

static const AstroLayout shape = { .n_axes = 4,
                                   .axes = { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE,
                                             ASTRO_AXIS_POL, ASTRO_AXIS_POL },
                                   .extents = { CHANNELS, BASELINES, 2, 2 } };

static AstroBlock new_block(gsize bytes)
{
  GError *error = NULL;
  AstroBlock block = { .bytes = bytes };
  if (!device->funcs->alloc(device, bytes, &block.data, &error))
    g_error("%s", error->message);
  return block;
}

/* Nothing is gridded: with these weights rows wait for all others, and the direct transform has no
 * planes to begin with. */
static gpointer new_gridder(const AstroBackend *backend, char **products, AstroWeighting weighting)
{
  const AstroPlace place = { .device = device, .queue = queue };
  g_autoptr(AstroObservation) observation = test_observe("lofar-like", STATIONS);
  GError *error = NULL;
  const char *variant;
  AstroGridderConfig config = {
    .algorithm = &astro_direct,
    .gridder = { .channels = 1 },
    .grid = { .image_size = SIZE, .products = products },
    .prepare = { .channels = CHANNELS,
                 .baselines = BASELINES,
                 .pols = 2,
                 .format = ASTRO_FORMAT_CF32LE,
                 .frequency = 150e6,
                 .bandwidth = 10e6,
                 .keep_weights = TRUE },
    .weighting = weighting,
  };
  config.grid.pixel = 0.4 / astro_prepare_longest(&config.prepare, observation);
  astro_direct.choose(&config.gridder, &config.grid, NULL);
  const AstroGridderArguments arguments = { .call = ASTRO_GRID_OBSERVE,
                                            .observation = observation };
  gpointer gridder = backend->create(&config, &place, &variant, &error);
  if (!gridder || !backend->submit(gridder, NULL, 0, NULL, 0, &arguments, NULL, &error))
    g_error("%s", error->message);
  return gridder;
}

static double add_dumps(const AstroBackend *backend, gpointer gridder, const AstroBlock *dump,
                        const AstroValidityMeta *validity, guint n)
{
  GError *error = NULL;
  wait_for_device();
  const gint64 start = g_get_monotonic_time();
  for (guint i = 0; i < n; i++) {
    AstroGridderArguments arguments = { .call = ASTRO_GRID_ADD,
                                        .shape = &shape,
                                        .validity = validity,
                                        .middle_ns = i * G_GINT64_CONSTANT(10000000000) };
    if (!backend->submit(gridder, dump, 1, NULL, 0, &arguments, NULL, &error))
      g_error("%s", error->message);
  }
  wait_for_device();
  return (double)(g_get_monotonic_time() - start) * 1e-6;
}

/* Bytes read and written a second by a copy. */
static double copy_rate(const AstroBackend *backend, gpointer gridder)
{
  AstroBlock from = new_block((gsize)1 << 30), to = new_block((gsize)1 << 30);
  AstroGridderArguments arguments = { .call = ASTRO_GRID_COPY };
  double seconds = 0;
  for (guint round = 0; round < 2; round++) {
    wait_for_device();
    const gint64 start = g_get_monotonic_time();
    for (guint i = 0; i < 20; i++)
      backend->submit(gridder, &from, 1, &to, 1, &arguments, NULL, NULL);
    wait_for_device();
    seconds = (double)(g_get_monotonic_time() - start) * 1e-6 / 20;
  }
  device->funcs->free(device, from.data);
  device->funcs->free(device, to.data);
  return 2.0 * (double)from.bytes / seconds;
}

static void bench_case(const AstroBackend *backend, const AstroBlock *dump, char **products,
                       AstroWeighting weighting, const AstroValidityMeta *validity)
{
  const guint n = g_strv_length(products);
  const double visibilities = (double)PAIRS * CHANNELS;
  g_autofree char *names = g_strjoinv(",", products);
  g_autofree char *name = g_strdup_printf("%s of four polarisations%s", names,
                                          validity ? ", counts of samples from the host" : "");
  g_autofree char *weigh_name = g_strdup_printf(
      "weights of %s, %s", names, weighting == ASTRO_WEIGHTING_BRIGGS ? "Briggs" : "uniform");
  GError *error = NULL;
  const AstroGridderArguments begin = { .call = ASTRO_GRID_BEGIN };
  gpointer gridder = new_gridder(backend, products, weighting);
  const double rate = copy_rate(backend, gridder);
  add_dumps(backend, gridder, dump, validity, WARM);
  const double seconds = add_dumps(backend, gridder, dump, validity, TIMED);
  bench_row(name, TIMED * visibilities * (4 * 8 + n * 8 + 8) / seconds / 1e12, rate / 1e12, "TB/s",
            0);
  wait_for_device();
  const gint64 start = g_get_monotonic_time();
  if (!backend->submit(gridder, NULL, 0, NULL, 0, &begin, NULL, &error))
    g_error("%s", error->message);
  wait_for_device();
  const double weighing = (double)(g_get_monotonic_time() - start) * 1e-6;
  bench_row(weigh_name,
            ((WARM + TIMED) * visibilities * (4 + 8 + n * 16) + SIZE * SIZE * 16.0) / weighing /
                1e12,
            rate / 1e12, "TB/s", 0);
  backend->destroy(gridder);
}

int main(int argc, char **argv)
{
  static char *one[] = { "I", NULL }, *all[] = { "I", "Q", "U", "V", "PSF", NULL };
  g_autoptr(GError) error = NULL;
  gst_init(&argc, &argv);
  if (!bench_open_device("prepare-gpu"))
    return 0;
  const gsize bytes = (gsize)CHANNELS * BASELINES * 4 * 8;
  g_autofree float *host = g_new(float, bytes / 4);
  for (gsize i = 0; i < bytes / 4; i++)
    host[i] = (float)(i % 97) - 48;
  const AstroBlock dump = new_block(bytes);
  device->funcs->queue_copy(device, queue, ASTRO_COPY_UP, dump.data, host, bytes, NULL);
  GstBuffer *buffer = gst_buffer_new();
  const AstroLayout counted = { .n_axes = 2,
                                .axes = { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE },
                                .extents = { CHANNELS, BASELINES } };
  AstroValidityMeta *validity = astro_buffer_add_validity(buffer, &counted, 100);
  for (guint i = 0; i < CHANNELS * BASELINES; i++)
    validity->counts[i] = 50 + i % 51;

  bench_head("dumps of 256 stations, 64 channels, TB/s (limit: a copy inside device memory)");
  bench_case(astro_module_backend("gridder"), &dump, one, ASTRO_WEIGHTING_UNIFORM, NULL);
  bench_case(astro_module_backend("gridder"), &dump, one, ASTRO_WEIGHTING_BRIGGS, validity);
  bench_case(astro_module_backend("gridder"), &dump, all, ASTRO_WEIGHTING_UNIFORM, NULL);
  gst_buffer_unref(buffer);
  device->funcs->free(device, dump.data);
  device->funcs->queue_free(device, queue);
  astro_device_unref(device);
  return 0;
}
