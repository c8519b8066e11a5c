/* The channelizer compared with FFTW's transforms alone: as many of the same size, in single
 * precision, planned in the same way, on as many threads. */
#include "core/backend/threads.h"
#include "core/channelizer/channelizer.h"
#include "core/lib/fft/planner.h"
#include "tests/bench/bench.h"

#include <fftw3.h>

/* Bare FFTW does as many transforms at once as give 512 KiB of output, which stay in a core's
 * cache. */
#define BARE_BYTES (512 * 1024)

typedef struct {
  gpointer instance;
  AstroBlock in, out;
  AstroChannelizerArguments arguments;
} Channelize;

typedef struct {
  fftwf_plan plan;
  fftwf_complex *in, *out;
  guint batch, size;
} Bare;

static void channelize(gpointer data)
{
  Channelize *c = data;
  GError *error = NULL;
  if (!astro_channelizer_cpu.submit(c->instance, &c->in, 1, &c->out, 1, &c->arguments, NULL,
                                    &error))
    g_error("%s", error->message);
  c->arguments.first += c->arguments.steps;
}

static void bare_task(gpointer data, guint64 task)
{
  Bare *bare = data;
  gsize at = task * bare->batch * bare->size;
  fftwf_execute_dft(bare->plan, bare->in + at, bare->out + at);
}

typedef struct {
  Bare bare;
  guint64 tasks;
} BareCall;

/* Repeats one batch of transforms in each thread, so that it stays in the core's cache. */
static void cached_task(gpointer data, guint64 task)
{
  BareCall *call = data;
  guint64 threads = astro_threads();
  for (guint64 i = task; i < call->tasks; i += threads)
    bare_task(&call->bare, task);
}

static void transform_cached(gpointer data)
{
  astro_parallel(astro_threads(), 0, cached_task, data);
}

static void transform(gpointer data)
{
  BareCall *call = data;
  astro_parallel(call->tasks, 0, bare_task, &call->bare);
}

static gsize resident_bytes(void)
{
  g_autofree char *text = NULL;
  g_file_get_contents("/proc/self/statm", &text, NULL, NULL);
  char **fields = g_strsplit(text ? text : "0 0", " ", 3);
  gsize pages = g_ascii_strtoull(fields[1], NULL, 10);
  g_strfreev(fields);
  return pages * 4096;
}

/* Compares with FFTW from memory to memory, as the channelizer works, or (cached) within caches. */
static void bench(gboolean cached, const char *format, const char *layout, AstroFormat to,
                  guint inputs, guint channels, guint taps, guint spectra, double wanted)
{
  AstroChannelizerConfig config = {
    .to = to, .channels = channels, .taps = taps, .beta = ASTRO_WINDOW_BETA, .gain = 1
  };
  g_autofree char *text =
      g_strdup_printf("application/x-astro-voltages,format=%s,layout=%s,stations=%u,pols=2", format,
                      layout, inputs / 2);
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  const guint64 samples = (guint64)inputs * spectra * channels;
  const char *variant;
  double seconds, bare_seconds;
  if (!astro_stream_from_caps(&config.in, caps, NULL))
    g_error("%s", text);
  gsize in_bytes = samples * astro_stream_sample_bytes(&config.in);
  gsize out_bytes = samples * astro_format_info(to)->bytes;
  Channelize c = {
    .instance = astro_channelizer_cpu.create(&config, &(AstroPlace){ 0 }, &variant, NULL),
    .in = { g_aligned_alloc0(1, in_bytes, 4096), in_bytes },
    .out = { g_aligned_alloc0(1, out_bytes, 4096), out_bytes },
    .arguments = { 0, (guint64)spectra * channels, TRUE, NULL, 0 },
  };
  gint8 *bytes = c.in.data;
  if (g_str_equal(format, "CF32LE"))
    for (gsize i = 0; i < 2 * samples; i++)
      ((float *)c.in.data)[i] = (float)(i * 2654435761u % 255) - 127;
  else
    for (gsize i = 0; i < in_bytes; i++)
      bytes[i] = (gint8)(i * 2654435761u >> 24);

  int n = (int)channels, batch = MAX(1, BARE_BYTES / (8 * n));
  BareCall bare = { { .batch = batch, .size = channels }, (guint64)inputs * spectra / batch };
  bare.bare.in = g_aligned_alloc0(samples, 8, 4096);
  bare.bare.out = g_aligned_alloc0(samples, 8, 4096);
  astro_fft_planner_lock();
  bare.bare.plan = fftwf_plan_many_dft(1, &n, batch, bare.bare.in, NULL, 1, n, bare.bare.out, NULL,
                                       1, n, FFTW_FORWARD, FFTW_MEASURE);
  astro_fft_planner_keep();
  astro_fft_planner_unlock();
  for (gsize i = 0; i < samples; i++)
    bare.bare.in[i][0] = (float)(i % 255) - 127;

  /* The first block has no spectra before it: so it gives fewer. */
  AstroBlock short_out = c.out;
  gsize held = resident_bytes();
  AstroSpectra first = astro_channelizer_spectra(&config, 0, c.arguments.steps);
  short_out.bytes = inputs * first.count * channels * astro_format_info(to)->bytes;
  astro_channelizer_cpu.submit(c.instance, &c.in, 1, &short_out, 1, &c.arguments, NULL, NULL);
  c.arguments.restart = FALSE;
  c.arguments.first = c.arguments.steps;
  channelize(&c);
  held = resident_bytes();
  bench_pair(channelize, &c, cached ? transform_cached : transform, &bare, 9, &seconds,
             &bare_seconds);
  gssize grown = (gssize)resident_bytes() - (gssize)held;
  char *what =
      g_strdup_printf("%s %s to %s, %u inputs, %u channels, %u taps (cpu/%s)", format, layout,
                      astro_format_info(to)->name, inputs, channels, taps, variant);
  double done = (double)inputs * spectra / 1e6;
  bench_row(what, done / seconds, done / bare_seconds, "Mspec/s", wanted);
  if (grown > 1024 * 1024)
    printf("    grown by %" G_GSSIZE_FORMAT " bytes  SHORT\n", grown);
  g_free(what);
  astro_channelizer_cpu.destroy(c.instance);
  astro_fft_planner_lock();
  fftwf_destroy_plan(bare.bare.plan);
  astro_fft_planner_unlock();
  g_aligned_free(c.in.data);
  g_aligned_free(c.out.data);
  g_aligned_free(bare.bare.in);
  g_aligned_free(bare.bare.out);
}

int main(int argc, char **argv)
{
  static const char *const tuned = "station:pol:time", *const by_time = "time:station:pol";
  gst_init(&argc, &argv);
  printf("limit: FFTW alone, from memory to memory, batches of %d KiB, on as many threads (%u)\n",
         BARE_BYTES / 1024, astro_threads());
  bench_head("channelizer: spectra of all inputs a second");
  bench(FALSE, "CI8", tuned, ASTRO_FORMAT_CF32LE, 128, 1024, 8, 64, 0.6);
  bench(FALSE, "CI8", tuned, ASTRO_FORMAT_CI8, 128, 1024, 8, 64, 0.6);
  bench(FALSE, "CI4", tuned, ASTRO_FORMAT_CF32LE, 128, 1024, 8, 64, 0.6);
  bench(FALSE, "CF32LE", tuned, ASTRO_FORMAT_CF32LE, 128, 1024, 8, 64, 0.6);
  bench_head("the same; limit: FFTW on data that never leaves the cache");
  bench(TRUE, "CI8", tuned, ASTRO_FORMAT_CF32LE, 128, 1024, 8, 64, 0);
  bench(TRUE, "CI8", tuned, ASTRO_FORMAT_CI8, 128, 1024, 8, 64, 0);
  bench(TRUE, "CI8", tuned, ASTRO_FORMAT_CF32LE, 16, 1024, 8, 16, 0);
  bench_head("other shapes");
  bench(FALSE, "CI8", by_time, ASTRO_FORMAT_CF32LE, 128, 1024, 8, 64, 0);
  bench(FALSE, "CI8", tuned, ASTRO_FORMAT_CF32LE, 128, 1024, 1, 64, 0);
  bench(FALSE, "CI8", tuned, ASTRO_FORMAT_CF32LE, 128, 1024, 32, 64, 0);
  bench(FALSE, "CI8", tuned, ASTRO_FORMAT_CF32LE, 128, 2, 8, 32768, 0);
  bench(FALSE, "CI8", tuned, ASTRO_FORMAT_CF32LE, 128, 64, 8, 1024, 0);
  bench(FALSE, "CI8", tuned, ASTRO_FORMAT_CF32LE, 128, 1000, 8, 64, 0);
  bench(FALSE, "CI8", tuned, ASTRO_FORMAT_CF32LE, 128, 1023, 8, 64, 0);
  bench(FALSE, "CI8", tuned, ASTRO_FORMAT_CF32LE, 8, 65536, 8, 16, 0);
  return 0;
}
