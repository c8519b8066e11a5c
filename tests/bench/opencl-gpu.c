/* Stages by OpenCL beside CUDA's, on blocks that are on the device already. Without a GPU of
 * NVIDIA's they are timed by themselves. An argument divides the sizes, for slow devices. */
#include "core/backend/module.h"
#include "core/channelizer/channelizer.h"
#include "core/convert/convert.h"
#include "core/correlator/correlator.h"
#include "core/histogram/histogram.h"
#include "core/lib/catalogue/catalogue.h"
#include "core/transpose/transpose.h"
#include "tests/bench/beams.h"
#include "tests/bench/bench.h"
#include "tests/bench/powers.h"
#include "tests/tests.h"

#include <string.h>

#define ROUNDS 5 /* calls that are timed */

/* A call of a stage. */
typedef struct {
  const char *stage;
  gconstpointer config, arguments;
  AstroResult *result; /* NULL: none is wanted */
  gsize bytes_in, bytes_out;
  gboolean is_float;       /* random samples are floats */
  const char *cuda_kernel; /* as ASTRO_CUDA names it; NULL: its choice */
} Work;

/* That work on one device. */
typedef struct {
  const Work *work;
  const AstroBackend *backend;
  AstroPlace place;
  gpointer instance;
  AstroBlock in, out;
} Run;

static gpointer block_new(const AstroPlace *place, gsize bytes, gboolean is_float)
{
  const AstroDeviceFuncs *funcs = place->device->funcs;
  GError *error = NULL;
  gpointer face = NULL;
  guint32 *host = g_malloc(bytes);
  test_fill(host, bytes, 1);
  for (gsize i = 0; i < bytes / 4 && is_float; i++)
    host[i] = (host[i] & 0x807fffff) | 0x3f000000; /* 0.5 to 1, with either sign */
  if (!funcs->alloc(place->device, bytes, &face, &error) ||
      !funcs->queue_copy(place->device, place->queue, ASTRO_COPY_UP, face, host, bytes, &error))
    g_error("%s", error->message);
  AstroEvent *event = funcs->event_record(place->device, place->queue, NULL);
  funcs->event_wait(place->device, event, NULL);
  funcs->event_free(place->device, event);
  g_free(host);
  return face;
}

static void call(gpointer data)
{
  Run *run = data;
  const AstroDeviceFuncs *funcs = run->place.device->funcs;
  GError *error = NULL;
  if (!run->backend->submit(run->instance, &run->in, 1, &run->out, 1, run->work->arguments,
                            run->work->result, &error))
    g_error("%s: %s", run->work->stage, error->message);
  AstroEvent *event = funcs->event_record(run->place.device, run->place.queue, &error);
  if (!event || !funcs->event_wait(run->place.device, event, &error))
    g_error("%s: %s", run->work->stage, error->message);
  funcs->event_free(run->place.device, event);
}

/* Seconds of one call; 0: there is no such device. */
static double seconds_of(const Work *work, AstroBackendKind kind)
{
  g_autoptr(GError) error = NULL;
  const char *variant = NULL;
  g_autoptr(AstroDevice) device = astro_device_open_of(kind, 0, &error);
  if (!device)
    return 0;
  Run run = { .work = work, .backend = astro_module_backend_of(kind, work->stage) };
  run.place.device = device;
  run.place.queue = device->funcs->queue_new(device, NULL);
  if (work->cuda_kernel)
    g_setenv("ASTRO_CUDA", work->cuda_kernel, TRUE);
  run.instance = run.backend->create(work->config, &run.place, &variant, &error);
  g_unsetenv("ASTRO_CUDA");
  if (!run.instance)
    g_error("%s: %s", work->stage, error->message);
  run.in = (AstroBlock){ block_new(&run.place, work->bytes_in, work->is_float), work->bytes_in };
  run.out = (AstroBlock){ block_new(&run.place, work->bytes_out, FALSE), work->bytes_out };
  const double seconds = bench_seconds(call, &run, ROUNDS);
  run.backend->destroy(run.instance);
  device->funcs->free(device, run.in.data);
  device->funcs->free(device, run.out.data);
  device->funcs->queue_free(device, run.place.queue);
  return seconds;
}

static void compare_seconds(const char *what, double opencl, double cuda, double amount,
                            const char *unit, double wanted)
{
  if (cuda > 0)
    bench_row(what, amount / opencl, amount / cuda, unit, wanted);
  else
    printf("%-64s %10.4g %10s %-8s\n", what, amount / opencl, "-", unit);
}

static void compare(const char *what, const Work *work, double amount, const char *unit,
                    double wanted)
{
  compare_seconds(what, seconds_of(work, ASTRO_BACKEND_OPENCL),
                  seconds_of(work, ASTRO_BACKEND_CUDA), amount, unit, wanted);
}

static void move(const char *what, guint64 rows, guint64 columns, guint sample_bytes,
                 gboolean turns)
{
  const AstroTransposeConfig config = { .n_axes = 2,
                                        .sample_bytes = sample_bytes,
                                        .extents = { rows, columns },
                                        .order = { turns ? 1 : 0, turns ? 0 : 1 } };
  const gsize bytes = rows * columns * sample_bytes;
  const Work work = {
    .stage = "transpose", .config = &config, .bytes_in = bytes, .bytes_out = bytes
  };
  compare(what, &work, 2e-9 * (double)bytes, "GB/s", 0.9);
}

static void convert(const char *what, AstroFormat from, AstroFormat to, guint64 samples)
{
  const AstroConvertConfig config = { from, to };
  const AstroConvertArguments arguments = { .scale = 2, .samples = samples };
  const Work work = { .stage = "convert",
                      .config = &config,
                      .arguments = &arguments,
                      .bytes_in = samples * astro_format_info(from)->bytes,
                      .bytes_out = samples * astro_format_info(to)->bytes,
                      .is_float = astro_format_info(from)->is_float };
  compare(what, &work, 1e-9 * (double)(work.bytes_in + work.bytes_out), "GB/s", 0.9);
}

static void correlate(const char *what, guint stations, guint channels, guint64 steps,
                      AstroFormat from, const char *cuda_kernel, double wanted)
{
  AstroCorrelatorConfig config = { .stations = stations,
                                   .pols = 2,
                                   .channels = channels,
                                   .from = from,
                                   .to = ASTRO_FORMAT_CF32LE,
                                   .channel_step = 1 };
  g_assert_true(
      astro_layout_parse(&config.layout, "channel:station:pol:time", ASTRO_QUANTITY_SPECTRA, NULL));
  config.layout.extents[0] = channels;
  config.layout.extents[1] = stations;
  config.layout.extents[2] = 2;
  const AstroCorrelatorArguments arguments = {
    .steps = steps, .count = steps, .begin = TRUE, .dump = TRUE
  };
  const double inputs = 2.0 * stations;
  const Work work = { .stage = "correlator",
                      .config = &config,
                      .arguments = &arguments,
                      .bytes_in =
                          (gsize)stations * 2 * channels * steps * astro_format_info(from)->bytes,
                      .bytes_out = astro_correlator_output_bytes(&config),
                      .is_float = astro_format_info(from)->is_float,
                      .cuda_kernel = cuda_kernel };
  compare(what, &work, 1e-12 * 8 * inputs * (inputs + 1) / 2 * channels * (double)steps, "Top/s",
          wanted);
}

/* From 64 stations; 8 taps. */
static void channelize(const char *what, guint channels, AstroFormat from, guint64 spectra)
{
  AstroChannelizerConfig config = { .in = { .quantity = ASTRO_QUANTITY_VOLTAGES, .format = from },
                                    .to = ASTRO_FORMAT_CF32LE,
                                    .channels = channels,
                                    .taps = 8,
                                    .beta = ASTRO_WINDOW_BETA,
                                    .gain = 1 };
  g_assert_true(
      astro_layout_parse(&config.in.layout, "station:pol:time", ASTRO_QUANTITY_VOLTAGES, NULL));
  config.in.layout.extents[0] = 64;
  config.in.layout.extents[1] = 2;
  const AstroChannelizerArguments arguments = { .steps = spectra * channels, .restart = TRUE };
  const guint64 made = astro_channelizer_spectra(&config, 0, arguments.steps).count;
  const Work work = { .stage = "channelizer",
                      .config = &config,
                      .arguments = &arguments,
                      .bytes_in = arguments.steps * astro_stream_step_bytes(&config.in),
                      .bytes_out = made * channels * 128 * 2 * sizeof(float),
                      .is_float = astro_format_info(from)->is_float };
  compare(what, &work, 1e-9 * 128 * (double)(made * channels), "Gsample/s", 0);
}

static void detect(const BenchPower *shape)
{
  const AstroPowerConfig config = bench_power_config(shape);
  const AstroPowerArguments arguments = { .steps = shape->steps,
                                          .integration = shape->integration };
  const guint64 ended = astro_power_ended(&arguments);
  g_autofree guint32 *counts = g_new(guint32, ended * astro_power_counts(&config));
  AstroResult result = { .counts = counts };
  const Work work = { .stage = "power",
                      .config = &config,
                      .arguments = &arguments,
                      .result = &result,
                      .bytes_in = shape->steps * bench_power_step_bytes(shape),
                      .bytes_out = ended * astro_power_output_bytes(&config),
                      .is_float = astro_format_info(shape->from)->is_float };
  g_autofree char *what =
      g_strdup_printf("power %s, %u stations, %s, %s", shape->products, shape->stations,
                      astro_format_name(shape->from), shape->layout);
  compare(what, &work, 1e-9 * (double)work.bytes_in, "GB/s", shape->wanted);
}

static void form_beams(const BenchBeams *shape)
{
  BenchBeamsWork beams;
  bench_beams_init(&beams, shape);
  const Work work = { .stage = "beamform",
                      .config = &beams.config,
                      .arguments = &beams.arguments,
                      .bytes_in = beams.bytes_in,
                      .bytes_out = beams.bytes_out,
                      .is_float = g_str_has_prefix(shape->from, "CF") };
  g_autofree char *what =
      g_strdup_printf("%u beams of %u stations, %s", shape->beams, shape->stations, shape->from);
  compare(what, &work, 1e-12 * bench_beams_operations(shape), "TFLOP/s", shape->wanted);
  bench_beams_clear(&beams);
}

/* ---- pairs ---- */

typedef struct {
  const AstroBackend *backend;
  gpointer instance;
  AstroPoints *points;
  guint64 counts[ASTRO_HISTOGRAM_MAX_EDGES];
} Pairs;

static void call_pairs(gpointer data)
{
  Pairs *pairs = data;
  GError *error = NULL;
  const AstroBlock in = { pairs->points, 0 }, out = { pairs->counts, sizeof pairs->counts };
  if (!pairs->backend->submit(pairs->instance, &in, 1, &out, 1, NULL, NULL, &error) ||
      (pairs->backend->drain && !pairs->backend->drain(pairs->instance, NULL, &error)))
    g_error("%s", error->message);
}

/* Seconds for all pairs of the points, whose tree is made; 0: there is no such device. */
static double seconds_of_pairs(Pairs *pairs, AstroBackendKind kind)
{
  g_autoptr(AstroDevice) device = astro_device_open_of(kind, 0, NULL);
  const AstroPlace place = { .device = device };
  AstroHistogramConfig config = { 0 };
  const char *variant;
  if (!device)
    return 0;
  astro_histogram_edges_per_decade(&config, 0.01, 10000, 5, NULL);
  pairs->backend = astro_module_backend_of(kind, "histogram");
  pairs->instance = pairs->backend->create(&config, &place, &variant, NULL);
  const double seconds = bench_seconds(call_pairs, pairs, ROUNDS);
  pairs->backend->destroy(pairs->instance);
  return seconds;
}

static void count_pairs(const char *what, guint64 n)
{
  static const AstroFootprint half = { .ra_max = 360, .dec_max = 90 };
  AstroCatalogue sky;
  AstroRandom random;
  astro_random_init(&random, 1, 0);
  astro_catalogue_uniform(&half, n, &random, &sky, NULL);
  Pairs pairs = { .points = astro_points_new(sky.ra, sky.dec, NULL, NULL, n, 0, 0, NULL, NULL) };
  compare_seconds(what, seconds_of_pairs(&pairs, ASTRO_BACKEND_OPENCL),
                  seconds_of_pairs(&pairs, ASTRO_BACKEND_CUDA),
                  0.5e-9 * (double)n * (double)(n - 1), "Gpairs/s", 0.7);
  astro_points_free(pairs.points);
  astro_catalogue_clear(&sky);
}

/* Steps are those of the sizes for fast devices. */
static const BenchPower powers[] = {
  { ASTRO_FORMAT_CI8, "I", FAST_CHANNELS, 64, 1024, 1024, 1024, FALSE, 0 },
  { ASTRO_FORMAT_CI8, "I", FAST_TIME, 64, 1024, 1024, 1024, FALSE, 0 },
  { ASTRO_FORMAT_CF32LE, "I", FAST_CHANNELS, 64, 1024, 512, 512, FALSE, 0 },
  { ASTRO_FORMAT_CF32LE, "I:Q:U:V", FAST_CHANNELS, 64, 1024, 512, 512, FALSE, 0 },
};
static const BenchBeams all_beams[] = {
  { "CI8", "CF32LE", "channel:AXIS:pol:time", 64, 64, 64, 2048, 0 },
  { "CI8", "CF32LE", "channel:AXIS:pol:time", 256, 256, 16, 2048, 0 },
  { "CF32LE", "CF32LE", "channel:AXIS:pol:time", 256, 256, 16, 2048, 0 },
};

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  const guint64 divisor = argc > 1 ? g_ascii_strtoull(argv[1], NULL, 10) : 1;
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroDevice) device = astro_device_open_of(ASTRO_BACKEND_OPENCL, 0, &error);
  if (!device || divisor == 0) {
    printf("opencl-gpu: skipped: %s\n", device ? "a divisor of 0" : error->message);
    return 0;
  }
  bench_head("By OpenCL beside CUDA (limit) on the same device");
  printf("%s\n", device->name);
  move("copy of 256 MB", 8192 / divisor, 4096, 8, FALSE);
  move("transpose of 8192 x 4096 samples of 8 bytes", 8192 / divisor, 4096, 8, TRUE);
  move("transpose of 16384 x 8192 samples of 2 bytes", 16384 / divisor, 8192, 2, TRUE);
  convert("convert CI8 to CF32LE", ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE, (1 << 26) / divisor);
  convert("convert CF32LE to CI8", ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CI8, (1 << 26) / divisor);
  correlate("correlator, 64 stations, CI8", 64, 64, 4096 / divisor, ASTRO_FORMAT_CI8, NULL, 0);
  correlate("correlator, 256 stations, CI8", 256, 16, 4096 / divisor, ASTRO_FORMAT_CI8, NULL, 0);
  correlate("correlator, 256 stations, CF32LE, CUDA's in half precision thrice", 256, 60,
            2048 / divisor, ASTRO_FORMAT_CF32LE, NULL, 0);
  correlate("correlator, 256 stations, CF32LE, CUDA's in single precision", 256, 60, 2048 / divisor,
            ASTRO_FORMAT_CF32LE, "simt", 0.9);
  channelize("filter bank, 1024 channels, CI8", 1024, ASTRO_FORMAT_CI8, 1024 / divisor);
  channelize("filter bank, 1000 channels, CF32LE", 1000, ASTRO_FORMAT_CF32LE, 1024 / divisor);
  for (guint i = 0; i < G_N_ELEMENTS(powers); i++) {
    BenchPower shape = powers[i];
    shape.integration = shape.steps /= divisor;
    detect(&shape);
  }
  for (guint i = 0; i < G_N_ELEMENTS(all_beams); i++) {
    BenchBeams shape = all_beams[i];
    shape.steps /= divisor;
    form_beams(&shape);
  }
  count_pairs("pairs of a million points, 0.01 to 10000 arcmin, 31 bins", 1000000 / divisor);
  return 0;
}
