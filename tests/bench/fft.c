/* Transforms compared with bare FFTW of the same shape, planned as thoroughly, in one run. FFTW's
 * transforms are not centred and do nothing else. */
#include <fftw3.h>

#include "core/backend/threads.h"
#include "core/lib/fft/columns.h"
#include "core/lib/fft/fft.h"
#include "core/lib/fft/planner.h"
#include "tests/bench/bench.h"
#include "tests/bench/block.h"

#define ROUNDS 5

typedef struct {
  gpointer instance;
  guint64 steps;
  AstroBlock in, out;
  gboolean is_double;
  fftwf_plan single;
  fftw_plan in_double;
} Bench;

static void run_ours(gpointer data)
{
  Bench *bench = data;
  GError *error = NULL;
  if (!astro_fft_cpu.submit(bench->instance, &bench->in, 1, &bench->out, 1, &bench->steps, NULL,
                            &error))
    g_error("%s", error->message);
}

static void run_fftw(gpointer data)
{
  Bench *bench = data;
  if (bench->is_double)
    fftw_execute(bench->in_double);
  else
    fftwf_execute(bench->single);
}

/* Plans the last `rank` axes of [steps][n][n] or [steps][n]. */
static void plan(Bench *bench, guint rank, int n, guint threads)
{
  const int sizes[] = { n, n };
  int all = rank == 2 ? n * n : n;
  int steps = (int)bench->steps;

  astro_fft_planner_lock();
  if (bench->is_double) {
    fftw_plan_with_nthreads((int)threads);
    bench->in_double =
        fftw_plan_many_dft((int)rank, sizes, steps, bench->in.data, NULL, 1, all, bench->out.data,
                           NULL, 1, all, FFTW_FORWARD, FFTW_MEASURE);
    fftw_plan_with_nthreads(1);
  } else {
    fftwf_plan_with_nthreads((int)threads);
    bench->single = fftwf_plan_many_dft((int)rank, sizes, steps, bench->in.data, NULL, 1, all,
                                        bench->out.data, NULL, 1, all, FFTW_FORWARD, FFTW_MEASURE);
    fftwf_plan_with_nthreads(1);
  }
  /* Plans for threads must not get into the saved wisdom, which other programs could not read. */
  fftw_forget_wisdom();
  fftwf_forget_wisdom();
  astro_fft_planner_unlock();
}

static void compare(guint rank, int n, guint64 steps, gboolean is_double, guint threads,
                    double wanted)
{
  Bench bench = { .steps = steps, .is_double = is_double };
  gsize bytes = steps * (gsize)n * (rank == 2 ? (gsize)n : 1) * (is_double ? 16 : 8);
  AstroFormat format = is_double ? ASTRO_FORMAT_CF64LE : ASTRO_FORMAT_CF32LE;
  AstroFftAxis centred = { TRUE, (guint64)n / 2, (guint64)n / 2 };
  AstroFftConfig config = { .from = format,
                            .to = format,
                            .n_axes = rank,
                            .extents = { (guint64)n, (guint64)n },
                            .axes = { centred, centred } };
  AstroPlace place = { .threads = threads };
  const char *variant;
  GError *error = NULL;
  double ours, bare;

  bench.in = (AstroBlock){ bench_block(bytes), bytes };
  bench.out = (AstroBlock){ bench_block(bytes), bytes };
  bench.instance = astro_fft_cpu.create(&config, &place, &variant, &error);
  if (!bench.instance)
    g_error("%s", error->message);
  plan(&bench, rank, n, threads ? threads : astro_threads());
  bench_pair(run_ours, &bench, run_fftw, &bench, ROUNDS, &ours, &bare);
  double operations =
      5.0 * (double)bytes / (is_double ? 16 : 8) * (rank == 2 ? 2 : 1) * __builtin_log2(n) * 1e-9;
  g_autofree char *shape = rank == 2 ? g_strdup_printf("%d x %d", n, n)
                                     : g_strdup_printf("%" G_GUINT64_FORMAT " x %d", steps, n);
  g_autofree char *name =
      g_strdup_printf("%s, %s, %u threads (%s)", shape, is_double ? "double" : "single",
                      threads ? threads : astro_threads(), variant);
  bench_row(name, operations / ours, operations / bare, "GFLOP/s", wanted);
  astro_fft_planner_lock();
  if (bench.single)
    fftwf_destroy_plan(bench.single);
  if (bench.in_double)
    fftw_destroy_plan(bench.in_double);
  astro_fft_planner_unlock();
  astro_fft_cpu.destroy(bench.instance);
  g_aligned_free(bench.in.data);
  g_aligned_free(bench.out.data);
}

/* Columns that fill a cache line, beside as many lines by FFTW, both in a core's caches. Nothing is
 * copied except what transforms of columns begin with. */
typedef struct {
  AstroFftColumns *fft;
  const AstroFftColumnsKernels *kernels;
  AstroFftColumnsFrom from;
  gpointer room, work, made;
  fftwf_plan single;
  fftw_plan in_double;
} Columns;

static void run_columns(gpointer data)
{
  Columns *columns = data;
  columns->kernels->gather(columns->fft, &columns->from, columns->fft->n / 2, columns->room);
  columns->kernels->begin(columns->fft, columns->room, columns->work);
  for (guint k1 = 0; k1 < columns->fft->steps[0].m; k1++)
    columns->kernels->finish(columns->fft, k1, columns->room, columns->made, columns->work);
}

static void run_batch(gpointer data)
{
  Columns *columns = data;
  if (columns->fft->is_double)
    fftw_execute(columns->in_double);
  else
    fftwf_execute(columns->single);
}

static void compare_columns(int n, gboolean is_double)
{
  static const AstroFftColumnsKernels(*const all[])[2] = ASTRO_KERNELS(astro_fft_columns);
  const AstroFftColumnsKernels *best = ASTRO_KERNELS_PICK(all);
  AstroFftColumns *fft = astro_fft_columns_new((guint)n, is_double);
  const int batch = (int)fft->columns;
  const gsize cell = is_double ? 16 : 8, bytes = cell * (gsize)batch * (gsize)n;
  gpointer in = bench_block(bytes), out = bench_block(bytes);
  Columns columns = { .fft = fft,
                      .kernels = &best[is_double],
                      .from = { in, (gsize)batch * cell, NULL, fft->columns, fft->columns },
                      .room = bench_block(astro_fft_columns_room_bytes(fft)),
                      .work = bench_block(astro_fft_columns_work_bytes(fft)),
                      .made = bench_block(bytes) };
  double ours, bare;

  astro_fft_planner_lock();
  if (is_double)
    columns.in_double = fftw_plan_many_dft(1, &n, batch, in, NULL, 1, n, out, NULL, 1, n,
                                           FFTW_FORWARD, FFTW_MEASURE);
  else
    columns.single = fftwf_plan_many_dft(1, &n, batch, in, NULL, 1, n, out, NULL, 1, n,
                                         FFTW_FORWARD, FFTW_MEASURE);
  astro_fft_planner_unlock();
  bench_pair(run_columns, &columns, run_batch, &columns, 100, &ours, &bare);
  const double operations = 5.0 * n * batch * __builtin_log2(n) * 1e-9;
  g_autofree char *name =
      g_strdup_printf("%d columns of %d, %s, 1 thread (%s)", batch, n,
                      is_double ? "double" : "single", columns.kernels->variant.name);
  bench_row(name, operations / ours, operations / bare, "GFLOP/s", 1);
  astro_fft_planner_lock();
  if (is_double)
    fftw_destroy_plan(columns.in_double);
  else
    fftwf_destroy_plan(columns.single);
  astro_fft_planner_unlock();
  g_aligned_free(in);
  g_aligned_free(out);
  g_aligned_free(columns.room);
  g_aligned_free(columns.work);
  g_aligned_free(columns.made);
  astro_fft_columns_free(fft);
}

/* Whether to run this size: all, or those named. */
static gboolean is_wanted(int argc, char **argv, int n)
{
  for (int i = 1; i < argc; i++)
    if (atoi(argv[i]) == n)
      return TRUE;
  return argc == 1;
}

int main(int argc, char **argv)
{
  static const struct {
    guint rank;
    int n;
    guint64 steps;
    double wanted;
  } cases[] = { { 2, 4096, 1, 0.85 }, { 2, 2048, 1, 0 }, { 2, 1536, 1, 0 }, { 1, 1024, 8192, 0 } };

  fftw_init_threads();
  fftwf_init_threads();
  bench_head("centred Fourier transforms; limit: FFTW of the same shape, measured plans, not "
             "centred");
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    for (guint is_double = 0; is_double < 2; is_double++)
      for (guint threads = 0; threads < 2 && is_wanted(argc, argv, cases[i].n); threads++)
        compare(cases[i].rank, cases[i].n, cases[i].steps, is_double, threads, cases[i].wanted);
  static const int columns[] = { 4096, 4800, 5120, 5760, 6144 };
  bench_head("columns side by side, in the caches; limit: FFTW's batch of as many lines there");
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    for (guint is_double = 0; is_double < 2 && is_wanted(argc, argv, columns[i]); is_double++)
      compare_columns(columns[i], is_double);
  return 0;
}
