/* W-projection of the paper's observation: 44 stations, six hours in steps of 10 s, 16 channels of
 * a subband, four products on 2048 x 2048, taps of 32 w-planes oversampled 8 times; the longest
 * baseline reaches the border. It is compared with the peak of fused multiply-adds on all cores,
 * measured alternately with each case: 8 operations for each grid point and product of a
 * visibility. Neighbours that need the same taps are added up first, so that less is computed; the
 * fraction left is printed. Wide supports are timed on a part of the baselines. wprojection
 * [support | costs]... */
#include "core/backend/cpu.h"
#include "core/backend/threads.h"
#include "core/gridder/wprojection/wprojection.h"
#include "tests/bench/bench.h"
#include "tests/bench/tracks.h"

#include <immintrin.h>
#include <math.h>
#include <stdlib.h>

#define SIZE 2048
#define PLANES 32

/* -- the peak -- */

#define TASKS 64
#define LOOPS 100000

#define PEAK(name, features, Vector, zero, fma, hold)                                              \
  __attribute__((target(features))) static void name(gpointer data, guint64 task)                  \
  {                                                                                                \
    Vector s0 = zero, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0, s8 = s0,      \
           s9 = s0, a = s0, b = s0;                                                                \
    for (guint i = 0; i < LOOPS; i++) {                                                            \
      __asm__ volatile("" : "+" hold(a), "+" hold(b));                                             \
      s0 = fma(a, b, s0), s1 = fma(a, b, s1), s2 = fma(a, b, s2), s3 = fma(a, b, s3);              \
      s4 = fma(a, b, s4), s5 = fma(a, b, s5), s6 = fma(a, b, s6), s7 = fma(a, b, s7);              \
      s8 = fma(a, b, s8), s9 = fma(a, b, s9);                                                      \
    }                                                                                              \
    __asm__ volatile("" : : hold(s0), hold(s1), hold(s2), hold(s3), hold(s4));                     \
    __asm__ volatile("" : : hold(s5), hold(s6), hold(s7), hold(s8), hold(s9));                     \
  }
PEAK(peak_512, "avx512f", __m512, _mm512_setzero_ps(), _mm512_fmadd_ps, "v")
PEAK(peak_256, "avx2,fma", __m256, _mm256_setzero_ps(), _mm256_fmadd_ps, "x")

static void run_peak(gpointer unused)
{
  astro_parallel(TASKS, 0, astro_cpu_level() >= ASTRO_CPU_AVX512 ? peak_512 : peak_256, NULL);
}

static double peak_operations(void)
{
  return (double)TASKS * LOOPS * 10 * 2 * (astro_cpu_level() >= ASTRO_CPU_AVX512 ? 16 : 8);
}

/* -- a case -- */

typedef struct {
  AstroWProjectionConfig config;
  const Tracks *tracks;
  guint64 steps;
  gpointer grid;
  AstroWProjectionCounts counts;
} Run;

static void run_gridding(gpointer data)
{
  Run *run = data;
  const Tracks *tracks = run->tracks;
  AstroWProjection *gridder = astro_wprojection_new(&run->config, NULL);
  for (guint64 step = 0; step < run->steps; step++) {
    AstroGridRows rows = { tracks->rows,
                           CHANNELS,
                           run->config.products,
                           FALSE,
                           tracks->uvw + 3 * tracks->rows * step,
                           tracks->wavenumbers,
                           tracks->values };
    astro_wprojection_add(gridder, &rows, 0, CHANNELS, run->grid);
  }
  astro_wprojection_flush(gridder, run->grid);
  astro_wprojection_counts(gridder, &run->counts);
  astro_wprojection_free(gridder);
}

static AstroTaps *make_taps(guint support, double cell, double longest, gboolean interpolated,
                            double *seconds)
{
  AstroGrid grid = { .size = SIZE,
                     .image_size = SIZE * 2 / 3,
                     .cell = cell,
                     .pixel = 1 / (SIZE * cell),
                     .spread = { .kind = ASTRO_SPREAD_KAISER_BESSEL,
                                 .beta = 8,
                                 .oversampling = 8,
                                 .interpolated = interpolated } };
  AstroTapsConfig config = {
    .grid = &grid, .w_max = longest, .planes = PLANES, .support = support, .accuracy = 1e-3
  };
  gint64 start = g_get_monotonic_time();
  AstroTaps *taps = astro_taps_build(&config, NULL);
  *seconds = (g_get_monotonic_time() - start) * 1e-6;
  return taps;
}

static void bench_case(guint support, guint baselines, guint steps, guint products, guint threads,
                       gboolean interpolated)
{
  Tracks tracks = make_tracks(baselines, steps, products);
  double longest = tracks.longest * tracks.wavenumbers[CHANNELS - 1], building, gridding, peak;
  double cell = longest / (SIZE / 2 - support / 2 - 4);
  AstroTaps *taps = make_taps(support, cell, longest, interpolated, &building);
  Run run = { .config = { .taps = taps,
                          .size = SIZE,
                          .cell = cell,
                          .products = products,
                          .threads = threads,
                          .memory = ((guint64)SIZE * SIZE * products * 8 + taps->bytes) / 8 },
              .tracks = &tracks,
              .steps = STEPS / steps,
              .grid = g_aligned_alloc0((gsize)SIZE * SIZE * products, 8, 64) };
  bench_pair(run_gridding, &run, run_peak, NULL, 3, &gridding, &peak);
  double points = (double)run.counts.gridded * support * support * products;
  double operations = peak_operations() / peak;
  char *what =
      g_strdup_printf("%u%s, %u product%s, %u core%s", support, interpolated ? " interpolated" : "",
                      products, products > 1 ? "s" : "", threads ? threads : astro_threads(),
                      (threads ? threads : astro_threads()) > 1 ? "s" : "");
  printf("%-34s %8.2f %8.2f %8.1f %8.3f %8.3f %8.3f %9.1f %8.2f\n", what, run.counts.gridded * 1e-6,
         gridding, points / gridding * 1e-9, 8 * points / gridding / operations,
         (double)run.counts.spread / run.counts.gridded,
         8 * points / gridding / operations * run.counts.spread / run.counts.gridded,
         taps->bytes / 1048576.0, building);
  fflush(stdout);
  g_free(what);
  g_aligned_free(run.grid);
  astro_taps_free(taps);
  clear_tracks(&tracks);
}

/* One in this many baselines is timed. */
static guint share_of(guint support)
{
  return support > 128 ? 32 : support > 64 ? 8 : support > 32 ? 2 : 1;
}

static void bench_costs(void)
{
  printf("cost against cores, visibilities, products, and interpolated\n");
  bench_case(32, 4, 1, 4, 1, FALSE);
  bench_case(32, 4, 1, 4, 0, FALSE);
  bench_case(32, 4, 4, 4, 0, FALSE);
  bench_case(32, 16, 1, 4, 0, FALSE);
  bench_case(32, 4, 1, 1, 0, FALSE);
  bench_case(32, 4, 1, 2, 0, FALSE);
  bench_case(32, 16, 1, 4, 0, TRUE);
}

int main(int argc, char **argv)
{
  static char *all[] = { (char *)"16",  (char *)"32",  (char *)"64",
                         (char *)"128", (char *)"256", (char *)"costs" };
  char **cases = argc > 1 ? argv + 1 : all;
  const guint n = argc > 1 ? (guint)argc - 1 : G_N_ELEMENTS(all);
  printf("\nwprojection: Mvis, seconds, GGPAPS, of FMA peak (at least 0.60), spread after adding "
         "up,\nof FMA peak by what was computed, MiB of taps, seconds to build them\n");
  for (guint i = 0; i < n; i++) {
    const guint support = (guint)atoi(cases[i]);
    if (support)
      bench_case(support, share_of(support), 1, 4, 0, FALSE);
    else
      bench_costs();
  }
  return 0;
}
