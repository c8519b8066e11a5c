/* How near the beamformer comes to the machine's peak: 8 operations for each sample of a station
 * and each beam; reading, phases, and writing included. The peak is measured alternately with each
 * case, by a loop of FMA instructions with all operands in registers, on as many threads. */
#include "core/machine/peaks.h"
#include "tests/bench/beams.h"
#include "tests/bench/bench.h"
#include "tests/bench/block.h"
#include "tests/tests.h"

#include <stdlib.h>

#ifdef ASTRO_X86_KERNELS
typedef struct {
  BenchBeamsWork work;
  AstroBlock in, out;
  gpointer instance;
  const char *variant;
} Case;

static void run_case(gpointer data)
{
  Case *c = data;
  if (!astro_beamform_cpu.submit(c->instance, &c->in, 1, &c->out, 1, &c->work.arguments, NULL,
                                 NULL))
    g_error("submit failed");
}

static void measure(const BenchBeams *shape, AstroCpuLevel level)
{
  const AstroPeak *peak =
      &astro_peaks[level == ASTRO_CPU_AVX512 ? ASTRO_PEAK_FMA_512 : ASTRO_PEAK_FMA_256];
  Case c = { .in = { 0 } };
  if (astro_cpu_level() < level)
    return;
  bench_beams_init(&c.work, shape);
  setenv("ASTRO_CPU", astro_cpu_level_name(level), 1);
  c.instance = astro_beamform_cpu.create(&c.work.config, &(AstroPlace){ 0 }, &c.variant, NULL);
  unsetenv("ASTRO_CPU");
  c.in.bytes = c.work.bytes_in;
  c.out.bytes = c.work.bytes_out;
  c.in.data = bench_block(c.in.bytes);
  c.out.data = bench_block(c.out.bytes);
  if (g_str_has_prefix(shape->from, "CI")) /* random bits of floats may be slow denormals */
    test_fill(c.in.data, c.in.bytes, 1);
  double ours, limit;
  bench_pair(run_case, &c, astro_peak_run, (gpointer)peak, 9, &ours, &limit);
  g_autofree char *what = g_strdup_printf(
      "%s to %s, %u stations x %u beams, %" G_GUINT64_FORMAT " x %d samples, %s", shape->from,
      shape->to, shape->stations, shape->beams, shape->steps, BENCH_BEAMS_POLS, c.variant);
  bench_row(what, bench_beams_operations(shape) / ours * 1e-9,
            ASTRO_PEAK_TASKS * peak->operations / limit * 1e-9, "GFLOP/s", shape->wanted);
  astro_beamform_cpu.destroy(c.instance);
  g_aligned_free(c.in.data);
  g_aligned_free(c.out.data);
  bench_beams_clear(&c.work);
}

#define OWN "channel:AXIS:pol:time"

int main(int argc, char **argv)
{
  static const BenchBeams shapes[] = {
    { "CI8", "CF32LE", OWN, 64, 1, 64, 512, 0 },
    { "CI8", "CF32LE", OWN, 64, 4, 64, 512, 0 },
    { "CI8", "CF32LE", OWN, 64, 16, 64, 512, 0.6 },
    { "CI8", "CI8", OWN, 64, 16, 64, 512, 0.6 },
    { "CI8", "CF32LE", OWN, 64, 64, 64, 512, 0.6 },
    { "CI8", "CF32LE", OWN, 64, 64, 512, 32, 0 },
    { "CI8", "CF32LE", OWN, 512, 64, 16, 512, 0.6 },
    { "CI8", "CF32LE", OWN, 64, 400, 16, 512, 0.6 },
    { "CI16LE", "CF32LE", OWN, 64, 64, 64, 512, 0.6 },
    { "CF32LE", "CF32LE", OWN, 64, 16, 64, 512, 0.6 },
    { "CI8", "CF32LE", "channel:time:AXIS:pol", 64, 16, 64, 512, 0 },
    { "CI8", "CF32LE", "AXIS:pol:time:channel", 64, 16, 64, 512, 0 },
  };
  gst_init(&argc, &argv);
  bench_head("beamformer: sums over stations; limit: FMA");
  for (guint i = 0; i < G_N_ELEMENTS(shapes); i++)
    for (AstroCpuLevel level = ASTRO_CPU_AVX2; level <= ASTRO_CPU_AVX512; level++)
      measure(&shapes[i], level);
  return 0;
}
#else
int main(void)
{
  return 0;
}
#endif
