/* W-projection on a GPU: the paper's observation as in tests/bench/wprojection.c, with all
 * visibilities on the device already, and everything from rows to a grid included. Speeds are in
 * grid-point additions (one visibility of one polarisation at one tap, 8 operations), by the
 * visibilities that came in, and by those left to spread after neighbours that need the same taps
 * at the same cells were added up. Beside them are cuBLAS's single-precision matrix products in the
 * same run, if it is not by OpenCL. wprojection-gpu [opencl] [part of a case's name]... */
#include "core/backend/module.h"
#include "tests/core/gridder/gridding-stage.h"
#include "tests/bench/bench.h"
#include "tests/bench/on-device.h"
#include "tests/bench/cublas.h"
#include "tests/bench/tracks.h"

#include <stdlib.h>
#include <string.h>

#define SIZE 2048
#define PLANES 32

static AstroBlock new_block(gsize bytes)
{
  AstroBlock block = { .bytes = bytes };
  GError *error = NULL;
  if (!device->funcs->alloc(device, bytes, &block.data, &error))
    g_error("%s", error->message);
  return block;
}

/* Sends the bytes to the device this many times over. */
static AstroBlock send(gconstpointer host, gsize bytes, gsize times)
{
  AstroBlock block = new_block(bytes * times);
  for (gsize i = 0; i < times; i++)
    device->funcs->queue_copy(device, queue, ASTRO_COPY_UP, (guint8 *)block.data + i * bytes, host,
                              bytes, NULL);
  wait_for_device();
  return block;
}

/* -- the limit -- */

/* Operations a second of single-precision products; 0: cuBLAS is not installed. */
static double run_gemm(void)
{
  enum { N = 8192, R_32F = 0, COMPUTE_32F = 68 };
  Cublas cublas;
  const float one = 1, zero = 0;
  double seconds[7];
  void *handle;

  if (!load_cublas(&cublas))
    return 0;
  float *host = g_new(float, N);
  for (guint i = 0; i < N; i++)
    host[i] = (float)(g_random_double() - 0.5);
  AstroBlock a = send(host, N * sizeof *host, N), b = send(host, N * sizeof *host, N);
  AstroBlock c = new_block(a.bytes);
  g_free(host);
  if (cublas.create(&handle) || cublas.set_stream(handle, queue))
    g_error("cuBLAS does not start");
  for (guint i = 0; i < G_N_ELEMENTS(seconds); i++) {
    gint64 start = g_get_monotonic_time();
    if (cublas.gemm(handle, 0, 0, N, N, N, &one, a.data, R_32F, N, b.data, R_32F, N, &zero, c.data,
                    R_32F, N, COMPUTE_32F, -1))
      g_error("cuBLAS refuses");
    wait_for_device();
    seconds[i] = (g_get_monotonic_time() - start) * 1e-6;
  }
  cublas.destroy(handle);
  device->funcs->free(device, a.data);
  device->funcs->free(device, b.data);
  device->funcs->free(device, c.data);
  qsort(seconds, G_N_ELEMENTS(seconds), sizeof *seconds, bench_compare);
  return 2.0 * N * N * N / seconds[G_N_ELEMENTS(seconds) / 2];
}

/* -- a case -- */

typedef struct {
  guint support, products;
  gboolean interpolated, deterministic;
  double wanted; /* giga grid-point additions a second */
} Case;

static const Case cases[] = {
  { 16, 4, FALSE, FALSE, 1500 },  { 32, 4, FALSE, FALSE, 2000 },  { 64, 4, FALSE, FALSE, 2500 },
  { 128, 4, FALSE, FALSE, 2500 }, { 256, 4, FALSE, FALSE, 2500 }, { 64, 1, FALSE, FALSE, 1000 },
  { 64, 4, TRUE, FALSE, 1250 },   { 16, 4, FALSE, TRUE, 0 },      { 64, 4, FALSE, TRUE, 0 },
};

typedef struct {
  const AstroBackend *backend;
  gpointer instance;
  AstroBlock in[3], out;
  TestGriddingArguments arguments;
  AstroResult result;
} Work;

static void run_once(gpointer data)
{
  Work *work = data;
  GError *error = NULL;
  if (!work->backend->submit(work->instance, work->in, 3, &work->out, 1, &work->arguments,
                             &work->result, &error))
    g_error("%s", error->message);
  wait_for_device();
}

static char *name_of(const Case *c)
{
  return g_strdup_printf("%u, %u product%s%s%s", c->support, c->products,
                         c->products > 1 ? "s" : "", c->interpolated ? ", interpolated" : "",
                         c->deterministic ? ", deterministic" : "");
}

static void run_case(const Case *c, double limit)
{
  static char *names[] = { "XX", "XY", "YX", "YY", NULL };
  Tracks tracks = make_tracks(1, 1, c->products);
  const double longest = tracks.longest * tracks.wavenumbers[CHANNELS - 1];
  const double cell = longest / (SIZE / 2 - c->support / 2 - 4);
  AstroPlace place = { .device = device, .queue = queue };
  TestGriddingConfig config = {
    .algorithm = &astro_wprojection,
    .gridder = { .channels = 1,
                 .longest = longest,
                 .support = c->support,
                 .w_planes = PLANES,
                 .deterministic = c->deterministic },
    .grid = { .size = SIZE,
              .image_size = SIZE * 2 / 3,
              .cell = cell,
              .pixel = 1 / (SIZE * cell),
              .products = names + 4 - c->products,
              .spread = { .kind = ASTRO_SPREAD_KAISER_BESSEL,
                          .support = c->support,
                          .beta = 8,
                          .oversampling = 8,
                          .interpolated = c->interpolated } },
  };
  guint64 spread = 0, again = 0;
  Work work = { .arguments = { .rows = tracks.rows * STEPS, .channels = CHANNELS, .first = TRUE } };
  const char *variant;
  GError *error = NULL;

  work.backend = test_gridding_backend();
  gint64 start = g_get_monotonic_time();
  work.instance = work.backend->create(&config, &place, &variant, &error);
  if (!work.instance)
    g_error("%s", error->message);
  wait_for_device();
  double building = (g_get_monotonic_time() - start) * 1e-6;
  const gsize step_values = tracks.rows * CHANNELS * c->products * 2 * sizeof(float);
  work.in[0] = send(tracks.uvw, 3 * tracks.rows * STEPS * sizeof(double), 1);
  work.in[1] = send(tracks.wavenumbers, sizeof tracks.wavenumbers, 1);
  work.in[2] = send(tracks.values, step_values, STEPS);
  work.out = new_block((gsize)SIZE * SIZE * c->products * 2 * sizeof(float));
  work.result.spread = &spread;
  run_once(&work);
  work.result.spread = &again;
  run_once(&work);
  spread = again - spread;
  work.result.spread = NULL;
  double seconds = bench_seconds(run_once, &work, 5);
  double visibilities = (double)tracks.rows * STEPS * CHANNELS;
  double additions = visibilities * c->support * c->support * c->products;
  double share = spread / visibilities;
  char *name = name_of(c);
  printf("%-30s %-20s %9.3f %9.0f %6.3f %8.0f %7.3f %7.2f", name, variant, seconds * 1e3,
         additions / seconds * 1e-9, share, additions * share / seconds * 1e-9,
         limit > 0 ? 8 * additions * share / seconds / limit : 0, building);
  if (c->wanted > 0)
    printf("  (at least %.0f)%s", c->wanted,
           additions / seconds * 1e-9 < c->wanted ? "  SHORT" : "");
  printf("\n");
  g_free(name);
  work.backend->destroy(work.instance);
  for (guint i = 0; i < 3; i++)
    device->funcs->free(device, work.in[i].data);
  device->funcs->free(device, work.out.data);
  clear_tracks(&tracks);
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  const gboolean by_opencl = argc > 1 && g_str_equal(argv[1], "opencl");
  const int first = by_opencl ? 2 : 1;
  test_gridding_kind = by_opencl ? ASTRO_BACKEND_OPENCL : ASTRO_BACKEND_CUDA;
  if (!bench_open_device_of(test_gridding_kind, "wprojection-gpu"))
    return 0;
  const double limit = by_opencl ? 0 : run_gemm();
  printf("\n%s: wprojection, %.1f Mvis on %d x %d; single-precision products %.1f TFLOP/s\n"
         "%-30s %-20s %9s %9s %6s %8s %7s %7s\n",
         device->name, 0.5e-6 * STATIONS * (STATIONS - 1) * STEPS * CHANNELS, SIZE, SIZE,
         limit * 1e-12, "support", "", "ms", "GGPAPS", "spread", "GGPAPS", "of FMA", "s before");
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *name = name_of(&cases[i]);
    gboolean chosen = argc <= first;
    for (int a = first; a < argc; a++)
      chosen |= strstr(name, argv[a]) != NULL;
    if (chosen)
      run_case(&cases[i], limit);
  }
  device->funcs->queue_free(device, queue);
  astro_device_unref(device);
  return 0;
}
