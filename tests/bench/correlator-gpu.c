/* The correlator's kernels on a GPU, with blocks already there: 8 operations for each pair of
 * inputs, channel and sample, N (N + 1) / 2 pairs. All that the backend does with a block is
 * included, and visibilities are written. Beside them are cuBLAS's products of 8192 x 8192 x 8192
 * in the same run. Arguments select cases by a part of their name. */
#include "core/backend/module.h"
#include "core/correlator/correlator.h"
#include "tests/bench/bench.h"
#include "tests/bench/on-device.h"
#include "tests/bench/cublas.h"
#include "tests/tests.h"

#include <stdlib.h>

/* Random samples; in floating point between 0.5 and 1, with either sign. */
static gpointer random_block(gsize bytes, AstroFormat format)
{
  const gsize part = (gsize)32 << 20;
  guint32 *host = g_malloc(part);
  GError *error = NULL;
  gpointer face;

  test_fill(host, part, 1);
  for (gsize i = 0; i < part / 4; i++)
    if (format == ASTRO_FORMAT_CF32LE)
      host[i] = (host[i] & 0x807fffff) | 0x3f000000;
    else if (format == ASTRO_FORMAT_CF16LE)
      host[i] = (host[i] & 0x83ff83ff) | 0x38003800;
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

enum { TRANSPOSED = 1, PLAIN = 0, GEMM = 8192 };
enum { R_32F = 0, R_16F = 2, R_8I = 3, R_32I = 10, COMPUTE_32F = 68, COMPUTE_32I = 72 };

/* Returns operations a second. */
static double run_gemm(const Cublas *cublas, gboolean bytes)
{
  const gsize n = (gsize)GEMM * GEMM;
  gint32 one_int = 1, zero_int = 0;
  float one = 1, zero = 0;
  gpointer a = random_block(n * (bytes ? 1 : 2), bytes ? ASTRO_FORMAT_CI8 : ASTRO_FORMAT_CF16LE);
  gpointer b = random_block(n * (bytes ? 1 : 2), bytes ? ASTRO_FORMAT_CI8 : ASTRO_FORMAT_CF16LE);
  gpointer c = random_block(n * 4, ASTRO_FORMAT_CI8);
  void *handle;
  double seconds[9];

  if (cublas->create(&handle) || cublas->set_stream(handle, queue))
    g_error("cuBLAS does not start");
  for (guint i = 0; i < G_N_ELEMENTS(seconds); i++) {
    gint64 start = g_get_monotonic_time();
    if (cublas->gemm(handle, TRANSPOSED, PLAIN, GEMM, GEMM, GEMM,
                     bytes ? (void *)&one_int : (void *)&one, a, bytes ? R_8I : R_16F, GEMM, b,
                     bytes ? R_8I : R_16F, GEMM, bytes ? (void *)&zero_int : (void *)&zero, c,
                     bytes ? R_32I : R_32F, GEMM, bytes ? COMPUTE_32I : COMPUTE_32F, -1))
      g_error("cuBLAS refuses");
    wait_for_device();
    seconds[i] = (g_get_monotonic_time() - start) * 1e-6;
  }
  cublas->destroy(handle);
  device->funcs->free(device, a);
  device->funcs->free(device, b);
  device->funcs->free(device, c);
  qsort(seconds, G_N_ELEMENTS(seconds), sizeof *seconds, bench_compare);
  return 2.0 * GEMM * GEMM * GEMM / seconds[G_N_ELEMENTS(seconds) / 2];
}

/* ---- the correlator ---- */

typedef struct {
  const AstroBackend *backend;
  gpointer instance;
  AstroBlock in, out;
  AstroCorrelatorArguments arguments;
} Work;

enum { CALLS = 16 };

static void run_calls(gpointer data)
{
  Work *work = data;
  GError *error = NULL;
  for (guint i = 0; i < CALLS; i++)
    if (!work->backend->submit(work->instance, &work->in, 1, &work->out, 1, &work->arguments, NULL,
                               &error))
      g_error("%s", error->message);
  wait_for_device();
}

/* Returns operations a second. */
static double run_case(const AstroCorrelatorConfig *config, guint64 steps, char **variant)
{
  AstroPlace place = { .device = device, .queue = queue };
  const char *name = NULL;
  GError *error = NULL;
  gsize in = steps * config->stations * config->pols * config->channels *
             astro_format_info(config->from)->bytes;
  gsize out = astro_correlator_output_bytes(config);
  Work work = { .arguments = { .steps = steps, .count = steps, .dump = TRUE } };

  work.backend = astro_module_backend("correlator");
  work.instance = work.backend->create(config, &place, &name, &error);
  if (!work.instance)
    g_error("%s", error->message);
  work.in = (AstroBlock){ random_block(in, config->from), in };
  work.out = (AstroBlock){ random_block(out, config->from), out };
  run_calls(&work);
  double seconds = bench_seconds(run_calls, &work, 7) / CALLS, n = config->stations * config->pols;
  *variant = g_strdup(name);
  work.backend->destroy(work.instance);
  device->funcs->free(device, work.in.data);
  device->funcs->free(device, work.out.data);
  return 8 * n * (n + 1) / 2 * config->channels * (double)steps / seconds;
}

static const struct {
  AstroFormat from;
  guint stations, channels;
  const char *layout;
  double wanted; /* tera-operations a second */
  const char *level;
} cases[] = {
  { ASTRO_FORMAT_CI8, 576, 120, "channel:station:pol:time", 900 },
  { ASTRO_FORMAT_CI8, 1024, 60, "channel:station:pol:time", 950 },
  { ASTRO_FORMAT_CI8, 256, 240, "channel:station:pol:time", 0 },
  { ASTRO_FORMAT_CI8, 128, 480, "channel:station:pol:time", 750 },
  { ASTRO_FORMAT_CI8, 64, 480, "channel:station:pol:time", 600 },
  { ASTRO_FORMAT_CI8, 576, 120, "channel:time:station:pol", 0 },
  { ASTRO_FORMAT_CI8, 576, 120, "station:pol:time:channel", 0 },
  { ASTRO_FORMAT_CI4, 64, 480, "channel:station:pol:time", 0 },
  { ASTRO_FORMAT_CI4, 128, 480, "channel:station:pol:time", 0 },
  { ASTRO_FORMAT_CI4, 256, 240, "channel:station:pol:time", 0 },
  { ASTRO_FORMAT_CI4, 576, 120, "channel:station:pol:time", 1350 },
  { ASTRO_FORMAT_CI4, 1024, 60, "channel:station:pol:time", 0 },
  { ASTRO_FORMAT_CI4, 576, 120, "channel:time:station:pol", 0 },
  { ASTRO_FORMAT_CI4, 576, 120, "channel:station:pol:time", 0, "wgmma" },
  { ASTRO_FORMAT_CF16LE, 576, 120, "channel:station:pol:time", 500 },
  { ASTRO_FORMAT_CF32LE, 512, 60, "channel:station:pol:time", 100 },
  { ASTRO_FORMAT_CI16LE, 256, 60, "channel:station:pol:time", 0 },
  { ASTRO_FORMAT_CI8, 576, 60, "channel:station:pol:time", 0, "mma" },
  { ASTRO_FORMAT_CF16LE, 576, 60, "channel:station:pol:time", 0, "mma" },
  { ASTRO_FORMAT_CF32LE, 512, 60, "channel:station:pol:time", 45, "simt" },
};

int main(int argc, char **argv)
{
  Cublas cublas;
  gst_init(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (!bench_open_device("correlator-gpu"))
    return 0;
  gboolean have = load_cublas(&cublas);
  double peak_s8 = have ? run_gemm(&cublas, TRUE) : 0,
         peak_f16 = have ? run_gemm(&cublas, FALSE) : 0;
  g_autofree char *title = g_strdup_printf(
      "%s: two polarisations, 3072 samples, tera-operations a second (limit: cuBLAS%s)",
      device->name, have ? "" : ", which is not here");
  bench_head(title);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroCorrelatorConfig config = {
      .stations = cases[i].stations,
      .pols = 2,
      .channels = cases[i].channels,
      .from = cases[i].from,
      .to = ASTRO_FORMAT_CF32LE,
      .channel_step = 1,
    };
    astro_layout_parse(&config.layout, cases[i].layout, ASTRO_QUANTITY_SPECTRA, NULL);
    for (guint a = 0; a < config.layout.n_axes; a++)
      if (config.layout.axes[a] == ASTRO_AXIS_CHANNEL)
        config.layout.extents[a] = config.channels;
      else if (config.layout.axes[a] == ASTRO_AXIS_STATION)
        config.layout.extents[a] = config.stations;
      else if (config.layout.axes[a] == ASTRO_AXIS_POL)
        config.layout.extents[a] = config.pols;
    g_autofree char *variant = NULL;
    g_autofree char *what =
        g_strdup_printf("%s %u stations, %u channels, %s", astro_format_info(cases[i].from)->name,
                        config.stations, config.channels, cases[i].layout);
    g_autofree char *key = g_strdup_printf("%s %s", what, cases[i].level ? cases[i].level : "");
    gboolean chosen = argc < 2;
    for (int a = 1; a < argc; a++)
      chosen |= strstr(key, argv[a]) != NULL;
    if (!chosen)
      continue;
    if (cases[i].level)
      g_setenv("ASTRO_CUDA", cases[i].level, TRUE);
    double rate = run_case(&config, 3072, &variant);
    g_unsetenv("ASTRO_CUDA");
    double peak = astro_format_info(cases[i].from)->is_float ? peak_f16 : peak_s8;
    printf("%-60s %-12s %8.4g %8.4g %6.3f", what, variant, rate * 1e-12, peak * 1e-12,
           have ? rate / peak : 0);
    if (cases[i].wanted > 0)
      printf("  (at least %g)%s", cases[i].wanted, rate * 1e-12 < cases[i].wanted ? "  SHORT" : "");
    printf("\n");
  }
  device->funcs->queue_free(device, queue);
  astro_device_unref(device);
  return 0;
}
