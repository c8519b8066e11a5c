/* The beamformer on a GPU, with blocks already there: 8 operations for each sample of a station and
 * each beam; phases, reading and writing included. Beside each case is cuBLAS's product of the same
 * shape in halves, added in single precision: twice as many rows as beams by twice as many terms as
 * stations, for all samples, with the same weights in all channels. */
#include "core/backend/module.h"
#include "tests/bench/beams.h"
#include "tests/bench/bench.h"
#include "tests/bench/device-work.h"
#include "tests/bench/cublas.h"
#include "tests/tests.h"

enum { STEPS = 2048 };
enum { TRANSPOSED = 1, PLAIN = 0, R_32F = 0, R_16F = 2, COMPUTE_32F = 68 };

static gpointer block_of(gsize bytes, gboolean is_float)
{
  const gsize part = MIN((gsize)32 << 20, bytes);
  guint32 *host = g_malloc(part);
  GError *error = NULL;
  gpointer face;
  test_fill(host, part, 1);
  for (gsize i = 0; i < part / 4 && is_float; i++)
    host[i] = (host[i] & 0x807fffff) | 0x3f000000;
  if (!device->funcs->alloc(device, bytes, &face, &error))
    g_error("%s", error->message);
  for (gsize at = 0; at < bytes; at += part)
    device->funcs->queue_copy(device, queue, ASTRO_COPY_UP, (guint8 *)face + at, host,
                              MIN(part, bytes - at), NULL);
  wait_for_device();
  g_free(host);
  return face;
}

/* ---- cuBLAS ---- */

typedef struct {
  const Cublas *cublas;
  const BenchBeams *shape;
  void *handle;
  gpointer a, b, c;
} Gemm;

static void run_gemm(gpointer data)
{
  const Gemm *g = data;
  const int rows = (int)(2 * g->shape->beams), terms = (int)(2 * g->shape->stations),
            columns = (int)(g->shape->channels * BENCH_BEAMS_POLS * STEPS);
  float one = 1, zero = 0;
  for (guint i = 0; i < CALLS; i++)
    if (g->cublas->gemm(g->handle, TRANSPOSED, PLAIN, rows, columns, terms, &one, g->a, R_16F,
                        terms, g->b, R_16F, terms, &zero, g->c, R_32F, rows, COMPUTE_32F, -1))
      g_error("cuBLAS refuses");
  wait_for_device();
}

/* Returns operations a second. */
static double measure_gemm(const Cublas *cublas, const BenchBeams *shape)
{
  const gsize samples = (gsize)shape->channels * BENCH_BEAMS_POLS * STEPS;
  Gemm g = { .cublas = cublas, .shape = shape };
  g.a = block_of((gsize)8 * shape->beams * shape->stations, FALSE);
  g.b = block_of(4 * samples * shape->stations, FALSE);
  g.c = block_of(8 * samples * shape->beams, FALSE);
  if (cublas->create(&g.handle) || cublas->set_stream(g.handle, queue))
    g_error("cuBLAS does not start");
  run_gemm(&g);
  const double seconds = bench_seconds(run_gemm, &g, 7) / CALLS;
  cublas->destroy(g.handle);
  device->funcs->free(device, g.a);
  device->funcs->free(device, g.b);
  device->funcs->free(device, g.c);
  return bench_beams_operations(shape) / seconds;
}

/* ---- the beamformer ---- */

static double measure(const BenchBeams *shape, const char **variant)
{
  BenchBeamsWork beams;
  bench_beams_init(&beams, shape);
  const gsize in = beams.bytes_in, out = beams.bytes_out;
  DeviceWork work = { .backend = astro_module_backend("beamform"),
                      .arguments = &beams.arguments,
                      .in = { block_of(in, strstr(shape->from, "CF") != NULL), in },
                      .out = { block_of(out, FALSE), out } };
  device_work_make(&work, &beams.config, variant);
  device_work_call(&work);
  const double taken = bench_seconds(device_work_call, &work, 7) / CALLS;
  device_work_clear(&work);
  bench_beams_clear(&beams);
  return bench_beams_operations(shape) / taken;
}

#define OWN "channel:AXIS:pol:time"

int main(int argc, char **argv)
{
  static const BenchBeams shapes[] = {
    { "CI8", "CF32LE", OWN, 64, 16, 64, STEPS, 0.5 },
    { "CI8", "CF32LE", OWN, 64, 64, 64, STEPS, 0.5 },
    { "CI8", "CI8", OWN, 64, 64, 64, STEPS, 0.5 },
    { "CI4", "CF32LE", OWN, 64, 64, 64, STEPS, 0.5 },
    { "CI8", "CF32LE", OWN, 256, 256, 16, STEPS, 0.5 },
    { "CI8", "CF32LE", OWN, 512, 400, 8, STEPS, 0.5 },
    { "CI16LE", "CF32LE", OWN, 256, 256, 16, STEPS, 0 },
    { "CF16LE", "CF32LE", OWN, 256, 256, 16, STEPS, 0 },
    { "CF32LE", "CF32LE", OWN, 256, 256, 16, STEPS, 0 },
    { "CI8", "CF32LE", "channel:time:AXIS:pol", 64, 64, 64, STEPS, 0 },
  };
  Cublas cublas;
  gst_init(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (!bench_open_device("beamform-gpu"))
    return 0;
  const gboolean have = load_cublas(&cublas);
  g_autofree char *title =
      g_strdup_printf("%s: two polarisations, %d samples (limit: cuBLAS in halves%s)", device->name,
                      STEPS, have ? "" : ", which is not here");
  bench_head(title);
  for (guint i = 0; i < G_N_ELEMENTS(shapes); i++) {
    const char *variant = NULL;
    const double ours = measure(&shapes[i], &variant),
                 limit = have ? measure_gemm(&cublas, &shapes[i]) : 0;
    g_autofree char *what = g_strdup_printf(
        "%s to %s, %u stations x %u beams x %u channels, %s, %s", shapes[i].from, shapes[i].to,
        shapes[i].stations, shapes[i].beams, shapes[i].channels, shapes[i].layout, variant);
    bench_row(what, ours * 1e-12, limit * 1e-12, "TFLOP/s", shapes[i].wanted);
  }
  device->funcs->queue_free(device, queue);
  astro_device_unref(device);
  return 0;
}
