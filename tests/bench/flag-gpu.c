/* Flags on a GPU, with blocks already there; verdicts on the host included. Kurtosis: bytes of
 * spectra a second; the limit is half the traffic of a copy on the device, as each sample is read
 * once. SumThreshold: values a second, beside the CPU's on all its cores. Measured alternately. */
#include "core/flag/flag.h"
#include "tests/bench/bench.h"
#include "tests/bench/device-copy.h"

enum { CALLS = 4 };

typedef struct {
  const AstroBackend *backend;
  gpointer instance;
  AstroBlock in;
  gpointer copy;
  AstroFlagArguments arguments;
  AstroFlagVerdict verdict;
  guint calls;
} Work;

static void run_calls(gpointer data)
{
  Work *w = data;
  AstroResult result = { .own = &w->verdict };
  GError *error = NULL;
  for (guint i = 0; i < w->calls; i++)
    if (!w->backend->submit(w->instance, &w->in, 1, NULL, 0, &w->arguments, &result, &error))
      g_error("%s", error->message);
}

static void run_copies(gpointer data)
{
  const Work *w = data;
  for (guint i = 0; i < w->calls; i++)
    bench_copy(w->copy, w->in.data, w->in.bytes);
  wait_for_device();
}

static Work make_work(const AstroBackend *backend, const AstroFlagConfig *config, guint calls)
{
  const AstroPlace place = { .device = backend->kind == ASTRO_BACKEND_CUDA ? device : NULL,
                             .queue = backend->kind == ASTRO_BACKEND_CUDA ? queue : NULL };
  Work work = { .backend = backend,
                .arguments = { .block_steps = config->block, .steps = config->block, .end = TRUE },
                .calls = calls };
  const char *variant = NULL;
  GError *error = NULL;
  work.in.bytes = config->block * astro_stream_step_bytes(&config->in);
  work.verdict.flags = g_malloc(astro_flag_rows(config, &work.arguments) *
                                astro_flag_units(&config->in) * astro_flag_channels(&config->in));
  work.instance = backend->create(config, &place, &variant, &error);
  if (!work.instance)
    g_error("%s", error->message);
  return work;
}

static void end_work(Work *work)
{
  work->backend->destroy(work->instance);
  g_free(work->verdict.flags);
}

/* ---- kurtosis ---- */

typedef struct {
  AstroFormat format;
  AstroLayout layout;
  guint block;
  const char *name;
} Spectra;

#define FAST_CHANNELS(stations, channels)                                                          \
  {                                                                                                \
    4, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION, ASTRO_AXIS_POL, ASTRO_AXIS_CHANNEL },                \
    {                                                                                              \
      0, stations, 2, channels                                                                     \
    }                                                                                              \
  }
#define FAST_TIME(stations, channels)                                                              \
  {                                                                                                \
    4, { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION, ASTRO_AXIS_POL, ASTRO_AXIS_TIME },                \
    {                                                                                              \
      channels, stations, 2, 0                                                                     \
    }                                                                                              \
  }

static void kurtosis(const Spectra *spectra)
{
  const AstroFlagConfig config = {
    .in = { .quantity = ASTRO_QUANTITY_SPECTRA,
            .format = spectra->format,
            .layout = spectra->layout },
    .method = ASTRO_FLAG_KURTOSIS,
    .block = spectra->block,
    .false_alarm = 1e-3,
  };
  Work work = make_work(astro_module_backend("flag"), &config, CALLS);
  double ours, limit;
  work.in.data = bench_device_block(work.in.bytes, spectra->format == ASTRO_FORMAT_CF32LE);
  work.copy = bench_device_block(work.in.bytes, FALSE);
  bench_pair(run_calls, &work, run_copies, &work, 7, &ours, &limit);
  const double bytes = CALLS * (double)work.in.bytes;
  g_autofree char *what =
      g_strdup_printf("kurtosis, %s, %s, %u steps", astro_format_name(spectra->format),
                      spectra->name, spectra->block);
  bench_row(what, bytes / ours * 1e-9, 2 * bytes / limit * 1e-9, "GB/s", 0);
  device->funcs->free(device, work.in.data);
  device->funcs->free(device, work.copy);
  end_work(&work);
}

/* ---- threshold ---- */

static void threshold(guint channels, guint baselines, guint pols)
{
  const AstroFlagConfig config = {
    .in = { .quantity = ASTRO_QUANTITY_VISIBILITIES,
            .format = ASTRO_FORMAT_CF32LE,
            .layout = { 4,
                        { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE, ASTRO_AXIS_POL, ASTRO_AXIS_POL },
                        { channels, baselines, pols, pols } } },
    .method = ASTRO_FLAG_THRESHOLD,
    .block = 64,
    .threshold = 5,
    .longest = 64,
  };
  Work gpu = make_work(astro_module_backend("flag"), &config, 1),
       cpu = make_work(&astro_flag_cpu, &config, 1);
  const gsize n = gpu.in.bytes / sizeof(float[2]);
  g_autofree float *values = g_new(float, 2 * n);
  g_autoptr(GRand) rand = g_rand_new_with_seed(1);
  double ours, theirs;
  for (gsize i = 0; i < 2 * n; i++)
    values[i] = (float)(g_rand_double(rand) + g_rand_double(rand) + g_rand_double(rand) +
                        g_rand_double(rand) - 2);
  cpu.in.data = values;
  gpu.in.data = bench_device_block(gpu.in.bytes, FALSE);
  device->funcs->queue_copy(device, queue, ASTRO_COPY_UP, gpu.in.data, values, gpu.in.bytes, NULL);
  bench_pair(run_calls, &gpu, run_calls, &cpu, 3, &ours, &theirs);
  g_autofree char *what = g_strdup_printf("threshold, CF32LE, %u channels x %u baselines x %u",
                                          channels, baselines, pols * pols);
  bench_row(what, (double)n / ours * 1e-6, (double)n / theirs * 1e-6, "M/s", 0);
  device->funcs->free(device, gpu.in.data);
  end_work(&gpu);
  end_work(&cpu);
}

int main(int argc, char **argv)
{
  static const Spectra spectra[] = {
    { ASTRO_FORMAT_CI8, FAST_CHANNELS(64, 1024), 1024, "64 stations x 1024 channels" },
    { ASTRO_FORMAT_CI16LE, FAST_CHANNELS(64, 1024), 1024, "64 stations x 1024 channels" },
    { ASTRO_FORMAT_CF32LE, FAST_CHANNELS(64, 1024), 512, "64 stations x 1024 channels" },
    { ASTRO_FORMAT_CF32LE, FAST_CHANNELS(1, 4096), 8192, "1 station x 4096 channels" },
    { ASTRO_FORMAT_CI8, FAST_TIME(64, 1024), 1024, "64 stations x 1024 channels, time fastest" },
    { ASTRO_FORMAT_CF32LE, FAST_TIME(64, 1024), 512, "64 stations x 1024 channels, time fastest" },
  };
  gst_init(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (!bench_open_device("flag-gpu") || !bench_load_copy())
    return 0;
  g_autofree char *title =
      g_strdup_printf("%s: flags (limits: traffic of a device copy; the CPU)", device->name);
  bench_head(title);
  for (guint i = 0; i < G_N_ELEMENTS(spectra); i++)
    kurtosis(&spectra[i]);
  threshold(256, 210, 1);
  threshold(256, 210, 2);
  threshold(1024, 2016, 1);
  threshold(4096, 1, 1);
  device->funcs->queue_free(device, queue);
  astro_device_unref(device);
  return 0;
}
