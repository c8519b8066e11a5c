/* How near the correlator comes to the machine's peak: 8 operations for each pair of inputs,
 * channel and sample, N (N + 1) / 2 pairs, packing included; kernels that need only 6 may exceed
 * it. Peaks are measured alternately with each case, by loops of a single instruction with all
 * operands in registers, on as many threads. */
#include "core/backend/cpu.h"
#include "core/backend/threads.h"
#include "core/correlator/correlator.h"
#include "core/machine/peaks.h"
#include "tests/bench/bench.h"
#include "tests/bench/block.h"
#include "tests/bench/openblas.h"
#include "tests/tests.h"
#include <stdlib.h>

/* Runs one integration, from spectra to visibilities. */
typedef struct {
  AstroCorrelatorConfig config;
  gpointer instance;
  AstroBlock in, out;
  AstroCorrelatorArguments arguments;
  const char *variant;
  double operations;
} Case;

static void run_case(gpointer data)
{
  Case *c = data;
  if (!astro_correlator_cpu.submit(c->instance, &c->in, 1, &c->out, 1, &c->arguments, NULL, NULL))
    g_error("submit failed");
}

static Case case_new(guint stations, guint pols, guint channels, guint64 steps, AstroFormat from,
                     AstroCpuLevel level, const char *layout)
{
  Case c = { .config = { .stations = stations,
                         .pols = pols,
                         .channels = channels,
                         .from = from,
                         .to = ASTRO_FORMAT_CF32LE,
                         .channel_step = 1 } };
  astro_layout_parse(&c.config.layout, layout, ASTRO_QUANTITY_SPECTRA, NULL);
  for (guint i = 0; i < c.config.layout.n_axes; i++) {
    AstroAxis axis = c.config.layout.axes[i];
    c.config.layout.extents[i] = axis == ASTRO_AXIS_CHANNEL   ? channels
                                 : axis == ASTRO_AXIS_STATION ? stations
                                 : axis == ASTRO_AXIS_POL     ? pols
                                                              : 0;
  }
  double n = stations * pols;
  c.operations = 8 * n * (n + 1) / 2 * channels * (double)steps;
  c.in.bytes = steps * channels * stations * pols * astro_format_info(from)->bytes;
  c.in.data = bench_block(c.in.bytes);
  test_fill(c.in.data, c.in.bytes, 1);
  if (from == ASTRO_FORMAT_CF32LE)
    for (gsize i = 0; i < c.in.bytes / 4; i++)
      ((float *)c.in.data)[i] = (float)((gint32 *)c.in.data)[i];
  c.out.bytes = astro_correlator_output_bytes(&c.config);
  c.out.data = bench_block(c.out.bytes);
  c.arguments = (AstroCorrelatorArguments){ .steps = steps, .count = steps, .dump = TRUE };
  setenv("ASTRO_CPU", astro_cpu_level_name(level), 1);
  c.instance = astro_correlator_cpu.create(&c.config, NULL, &c.variant, NULL);
  unsetenv("ASTRO_CPU");
  if (!c.instance)
    g_error("create failed");
  return c;
}

static void case_free(Case *c)
{
  astro_correlator_cpu.destroy(c->instance);
  g_aligned_free(c->in.data);
  g_aligned_free(c->out.data);
}

static const char *const best_layout = "channel:time:station:pol";

#ifdef ASTRO_X86_KERNELS
/* Number of time steps, in whole passes of 2048, for about this many operations. */
static guint64 steps_for(guint stations, guint pols, guint channels, double operations)
{
  double n = stations * pols;
  guint64 steps = (guint64)(operations / (8 * n * (n + 1) / 2 * channels));
  return CLAMP(steps / 2048 * 2048, 2048, 8192);
}

/* Samples from -64 to 63, as most telescopes have: on these bytes three products suffice for a
 * complex one. */
static void halve(Case *c)
{
  for (gsize i = 0; i < c->in.bytes; i++)
    ((gint8 *)c->in.data)[i] /= 2;
}

typedef struct {
  AstroFormat from;
  gboolean half;
  AstroCpuLevel level;
  guint peak;
  double operations;
  double wanted_256, wanted_64; /* fraction of the peak, with 256 and with 64 stations */
} PeakRow;

static const PeakRow peak_rows[] = {
  { ASTRO_FORMAT_CI8, FALSE, ASTRO_CPU_AMX, ASTRO_PEAK_AMX, 7e10, 0.5, 0.35 },
  { ASTRO_FORMAT_CI4, FALSE, ASTRO_CPU_AMX, ASTRO_PEAK_AMX, 7e10, 0.5, 0.35 },
  { ASTRO_FORMAT_CI8, FALSE, ASTRO_CPU_VNNI, ASTRO_PEAK_VNNI, 2e10, 0.6, 0.45 },
  { ASTRO_FORMAT_CI8, TRUE, ASTRO_CPU_VNNI, ASTRO_PEAK_VNNI, 2e10, 0.6, 0.45 },
  { ASTRO_FORMAT_CI4, FALSE, ASTRO_CPU_VNNI, ASTRO_PEAK_VNNI, 2e10, 0.6, 0.45 },
  { ASTRO_FORMAT_CI8, FALSE, ASTRO_CPU_AVX512, ASTRO_PEAK_MADD_512, 1e10, 0, 0 },
  { ASTRO_FORMAT_CI8, FALSE, ASTRO_CPU_AVX2, ASTRO_PEAK_MADD_256, 1e10, 0, 0 },
  { ASTRO_FORMAT_CF32LE, FALSE, ASTRO_CPU_AMX, ASTRO_PEAK_FMA_512, 2e10, 0, 0 },
  { ASTRO_FORMAT_CF16LE, FALSE, ASTRO_CPU_AMX, ASTRO_PEAK_FMA_512, 2e10, 0, 0 },
  { ASTRO_FORMAT_CI16LE, FALSE, ASTRO_CPU_AMX, ASTRO_PEAK_FMA_512, 2e10, 0, 0 },
  { ASTRO_FORMAT_CF32LE, FALSE, ASTRO_CPU_AVX512, ASTRO_PEAK_FMA_512, 1e10, 0.75, 0.65 },
  { ASTRO_FORMAT_CF16LE, FALSE, ASTRO_CPU_AVX512, ASTRO_PEAK_FMA_512, 1e10, 0, 0 },
  { ASTRO_FORMAT_CF32LE, FALSE, ASTRO_CPU_AVX2, ASTRO_PEAK_FMA_256, 1e10, 0, 0 },
  { ASTRO_FORMAT_CI16LE, FALSE, ASTRO_CPU_AVX512, ASTRO_PEAK_FMA_512, 1e10, 0, 0 },
};

static void against_peak(const PeakRow *row, guint stations, guint channels, double wanted)
{
  const AstroPeak *peak = &astro_peaks[row->peak];
  if (astro_cpu_level() < MAX(row->level, peak->level))
    return;
  Case c = case_new(stations, 2, channels, steps_for(stations, 2, channels, row->operations),
                    row->from, row->level, best_layout);
  if (row->half)
    halve(&c);
  double seconds, peak_seconds;
  bench_pair(run_case, &c, astro_peak_run, (gpointer)peak, 7, &seconds, &peak_seconds);
  g_autofree char *what =
      g_strdup_printf("%s%s cpu/%s, %u x 2, %u channels, of %s", astro_format_info(row->from)->name,
                      row->half ? " +-63" : "", c.variant, stations, channels, peak->name);
  bench_row(what, c.operations / seconds * 1e-12,
            peak->operations * ASTRO_PEAK_TASKS / peak_seconds * 1e-12, "TOP/s", wanted);
  case_free(&c);
}

static void against_peaks(void)
{
  bench_head("Against the peak of the instruction set");
  for (guint i = 0; i < G_N_ELEMENTS(peak_rows); i++)
    against_peak(&peak_rows[i], 256, 8, peak_rows[i].wanted_256);
  for (guint i = 0; i < G_N_ELEMENTS(peak_rows); i++)
    against_peak(&peak_rows[i], 64, 32, peak_rows[i].wanted_64);
}
#endif

/* Times the first alternately with the second; wanted: ratio of their speeds. */
static void pair_row(const char *what, Case first, Case second, double wanted)
{
  double a, b;
  bench_pair(run_case, &first, run_case, &second, 5, &a, &b);
  bench_row(what, first.operations / a * 1e-12, second.operations / b * 1e-12, "TOP/s", wanted);
  case_free(&first);
  case_free(&second);
}

static void against_each_other(void)
{
  bench_head("Against each other");
  pair_row("CI8 AVX2 of portable, 64 x 2",
           case_new(64, 2, 16, 2048, ASTRO_FORMAT_CI8, ASTRO_CPU_AVX2, best_layout),
           case_new(64, 2, 16, 2048, ASTRO_FORMAT_CI8, ASTRO_CPU_C, best_layout), 3);
  pair_row("CI4 of CI8, 64 x 2, best variant",
           case_new(64, 2, 32, 8192, ASTRO_FORMAT_CI4, ASTRO_CPU_AMX, best_layout),
           case_new(64, 2, 32, 8192, ASTRO_FORMAT_CI8, ASTRO_CPU_AMX, best_layout), 1);
  const struct {
    const char *what;
    AstroFormat format;
  } on_tiles[] = {
    { "CF32LE on AMX of AVX-512, 64 x 2", ASTRO_FORMAT_CF32LE },
    { "CI16LE on AMX of AVX-512, 64 x 2", ASTRO_FORMAT_CI16LE },
  };
  for (guint i = 0; i < G_N_ELEMENTS(on_tiles) && astro_cpu_level() >= ASTRO_CPU_AMX; i++)
    pair_row(on_tiles[i].what,
             case_new(64, 2, 32, 2048, on_tiles[i].format, ASTRO_CPU_AMX, best_layout),
             case_new(64, 2, 32, 2048, on_tiles[i].format, ASTRO_CPU_AVX512, best_layout), 1);
  pair_row("time:channel:station:pol of the best order, CI8, 64 x 2",
           case_new(64, 2, 32, 8192, ASTRO_FORMAT_CI8, ASTRO_CPU_AMX, "time:channel:station:pol"),
           case_new(64, 2, 32, 8192, ASTRO_FORMAT_CI8, ASTRO_CPU_AMX, best_layout), 0);
  pair_row("station:pol:time:channel of the best order, CI8, 64 x 2",
           case_new(64, 2, 32, 8192, ASTRO_FORMAT_CI8, ASTRO_CPU_AMX, "station:pol:time:channel"),
           case_new(64, 2, 32, 8192, ASTRO_FORMAT_CI8, ASTRO_CPU_AMX, best_layout), 0);
  pair_row("64 spectra a visibility of 8192, CI8, 64 x 2",
           case_new(64, 2, 1024, 64, ASTRO_FORMAT_CI8, ASTRO_CPU_AMX, best_layout),
           case_new(64, 2, 32, 8192, ASTRO_FORMAT_CI8, ASTRO_CPU_AMX, best_layout), 0);
  pair_row("1024 spectra a visibility of 8192, CI8, 64 x 2",
           case_new(64, 2, 64, 1024, ASTRO_FORMAT_CI8, ASTRO_CPU_AMX, best_layout),
           case_new(64, 2, 32, 8192, ASTRO_FORMAT_CI8, ASTRO_CPU_AMX, best_layout), 0);
}

/* OpenBLAS's cherk, channel by channel: what a user would write without us. Only for this
 * comparison. */
typedef struct {
  OpenblasCherk cherk;
  Case *c;
  float *out;
} Cherk;

static void run_cherk(gpointer data)
{
  Cherk *cherk = data;
  const AstroCorrelatorConfig *config = &cherk->c->config;
  int n = (int)(config->stations * config->pols), k = (int)cherk->c->arguments.steps;
  for (guint i = 0; i < config->channels; i++)
    cherk->cherk(OPENBLAS_COLUMN_MAJOR, OPENBLAS_LOWER, OPENBLAS_NO_TRANSPOSE, n, k, 1,
                 (const float *)cherk->c->in.data + (gsize)i * 2 * n * k, n, 0,
                 cherk->out + (gsize)i * 2 * n * n, n);
}

/* Its threads spin for 2^28 ticks (130 ms at 2.1 GHz) before they sleep, on cores that others need:
 * without a rest these seem half as fast. */
#define CHERK_REST 300000

static void against_cherk(const Openblas *blas, const OpenblasTrial *own, const OpenblasTrial *best)
{
  Cherk cherk = { .cherk = blas->cherk };
  bench_head("Against OpenBLAS cherk on CF32");
  printf("%s\nits fastest kernels here: %s (%.3g TOP/s); by itself it takes %s (%.3g TOP/s)\n",
         blas->config(), best->name, best->rate, own->name, own->rate);
  for (guint stations = 64; stations <= 256; stations *= 4) {
    guint channels = stations == 64 ? 16 : 8;
    Case floats =
        case_new(stations, 2, channels, 2048, ASTRO_FORMAT_CF32LE, ASTRO_CPU_AMX, best_layout);
    Case bytes =
        case_new(stations, 2, channels, 2048, ASTRO_FORMAT_CI8, ASTRO_CPU_AMX, best_layout);
    cherk.c = &floats;
    cherk.out = g_new(float, (gsize)channels * 8 * stations * stations);
    double ours, theirs, ours_8, theirs_8;
    bench_pair_rested(run_case, &floats, run_cherk, &cherk, 5, CHERK_REST, &ours, &theirs);
    bench_pair_rested(run_case, &bytes, run_cherk, &cherk, 5, CHERK_REST, &ours_8, &theirs_8);
#ifdef ASTRO_X86_KERNELS
    if (astro_cpu_level() >= ASTRO_CPU_AVX512) {
      double theirs_alone, peak;
      g_autofree char *of_peak =
          g_strdup_printf("cherk (%s) itself, %u x 2, of AVX-512 FMA", blas->kernels(), stations);
      bench_pair_rested(run_cherk, &cherk, astro_peak_run,
                        (gpointer)&astro_peaks[ASTRO_PEAK_FMA_512], 5, CHERK_REST, &theirs_alone,
                        &peak);
      bench_row(of_peak, floats.operations / theirs_alone * 1e-12,
                astro_peaks[ASTRO_PEAK_FMA_512].operations * ASTRO_PEAK_TASKS / peak * 1e-12,
                "TOP/s", 0);
    }
#endif
    g_autofree char *what = g_strdup_printf("CF32LE cpu/%s of cherk (%s), %u x 2", floats.variant,
                                            blas->kernels(), stations);
    g_autofree char *what_8 = g_strdup_printf("CI8 cpu/%s of cherk (%s), %u x 2", bytes.variant,
                                              blas->kernels(), stations);
    bench_row(what, floats.operations / ours * 1e-12, floats.operations / theirs * 1e-12, "TOP/s",
              1.5);
    bench_row(what_8, bytes.operations / ours_8 * 1e-12, bytes.operations / theirs_8 * 1e-12,
              "TOP/s", 20);
    g_free(cherk.out);
    case_free(&floats);
    case_free(&bytes);
  }
}

static void growth(void)
{
  printf("\nGrowth with stations, channels and time, CI8, best variant\n%8s %8s %8s %12s %10s\n",
         "stations", "channels", "steps", "ns a pair*", "TOP/s");
  static const guint cases[][3] = { { 8, 64, 2048 },   { 16, 64, 2048 },  { 32, 64, 2048 },
                                    { 64, 64, 2048 },  { 128, 16, 2048 }, { 256, 8, 2048 },
                                    { 512, 4, 2048 },  { 1024, 1, 2048 }, { 64, 16, 2048 },
                                    { 64, 256, 2048 }, { 64, 64, 512 },   { 64, 64, 8192 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    Case c = case_new(cases[i][0], 2, cases[i][1], cases[i][2], ASTRO_FORMAT_CI8, ASTRO_CPU_AMX,
                      best_layout);
    double seconds = bench_seconds(run_case, &c, 3);
    printf("%8u %8u %8u %12.5f %10.4g\n", cases[i][0], cases[i][1], cases[i][2],
           seconds / c.operations * 8e9, c.operations / seconds * 1e-12);
    case_free(&c);
  }
  printf("* and channel and time step\n");
}

int main(void)
{
  Openblas blas;
  OpenblasTrial own, best;
  const gboolean has_blas = openblas_open(&blas, &own, &best);
#ifdef ASTRO_X86_KERNELS
  against_peaks();
#endif
  against_each_other();
  if (has_blas)
    against_cherk(&blas, &own, &best);
  else
    printf("\nno libopenblas.so.0 here: not compared\n");
  growth();
  return 0;
}
