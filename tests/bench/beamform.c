/* How near the beamformer comes to the machine's peak: 8 operations for each sample of a station
 * and each beam; reading, phases, and writing included. The peak is measured alternately with each
 * case, by a loop of FMA instructions with all operands in registers, on as many threads. */
#include "core/beamform/beamform.h"
#include "core/machine/peaks.h"
#include "tests/bench/bench.h"
#include "tests/bench/block.h"
#include "tests/tests.h"

#include <stdlib.h>

#ifdef ASTRO_X86_KERNELS
typedef struct {
  AstroBeamformConfig config;
  AstroBeamformStations stations;
  AstroBeamformArguments arguments;
  AstroBlock in, out;
  gpointer instance;
  const char *variant;
} Case;

static void run_case(gpointer data)
{
  Case *c = data;
  if (!astro_beamform_cpu.submit(c->instance, &c->in, 1, &c->out, 1, &c->arguments, NULL, NULL))
    g_error("submit failed");
}

typedef struct {
  const char *from, *to, *layout;
  guint stations, beams, channels, pols;
  guint64 steps;
  double wanted;
} Shape;

static AstroStream stream_of(const Shape *shape, const char *axis, const char *format)
{
  g_auto(GStrv) halves = g_strsplit(shape->layout, "AXIS", 2);
  g_autofree char *text =
      g_strdup_printf("application/x-astro-spectra,format=%s,layout=%s%s%s,channels=%u,"
                      "stations=%u,beams=%u,pols=%u,rate=1000/1,frequency=1.5e8,bandwidth=1e6",
                      format, halves[0], axis, halves[1], shape->channels, shape->stations,
                      shape->beams, shape->pols);
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  AstroStream stream;
  if (!astro_stream_from_caps(&stream, caps, NULL))
    g_error("%s", text);
  return stream;
}

static void measure(const Shape *shape, AstroCpuLevel level)
{
  const AstroPeak *peak =
      &astro_peaks[level == ASTRO_CPU_AVX512 ? ASTRO_PEAK_FMA_512 : ASTRO_PEAK_FMA_256];
  Case c = { .config = { stream_of(shape, "station", shape->from),
                         stream_of(shape, "beam", shape->to) } };
  if (astro_cpu_level() < level)
    return;
  setenv("ASTRO_CPU", astro_cpu_level_name(level), 1);
  c.instance = astro_beamform_cpu.create(&c.config, &(AstroPlace){ 0 }, &c.variant, NULL);
  unsetenv("ASTRO_CPU");
  guint *index = g_new(guint, shape->stations);
  double *seconds = g_new(double, 3 * shape->stations), *offsets = g_new(double, 3 * shape->beams);
  for (guint i = 0; i < shape->stations; i++)
    index[i] = i;
  for (guint i = 0; i < 3 * shape->stations; i++)
    seconds[i] = 1e-8 * i;
  for (guint i = 0; i < 3 * shape->beams; i++)
    offsets[i] = 1e-4 * i;
  c.stations = (AstroBeamformStations){ shape->stations, index, seconds, NULL, 1 };
  c.arguments = (AstroBeamformArguments){
    .stations = &c.stations, .steps = shape->steps, .interval = 1 << 20, .offsets = offsets
  };
  c.in.bytes = shape->steps * astro_stream_step_bytes(&c.config.in);
  c.out.bytes = shape->steps * astro_stream_step_bytes(&c.config.out);
  c.in.data = bench_block(c.in.bytes);
  c.out.data = bench_block(c.out.bytes);
  if (g_str_has_prefix(shape->from, "CI")) /* random bits of floats may be slow denormals */
    test_fill(c.in.data, c.in.bytes, 1);
  double ours, limit;
  bench_pair(run_case, &c, astro_peak_run, (gpointer)peak, 9, &ours, &limit);
  const double operations =
      8. * shape->stations * shape->beams * shape->channels * shape->pols * (double)shape->steps;
  g_autofree char *what = g_strdup_printf(
      "%s to %s, %u stations x %u beams, %" G_GUINT64_FORMAT " x %u samples, %s", shape->from,
      shape->to, shape->stations, shape->beams, shape->steps, shape->pols, c.variant);
  bench_row(what, operations / ours * 1e-9, ASTRO_PEAK_TASKS * peak->operations / limit * 1e-9,
            "GFLOP/s", shape->wanted);
  astro_beamform_cpu.destroy(c.instance);
  g_aligned_free(c.in.data);
  g_aligned_free(c.out.data);
  g_free(index);
  g_free(seconds);
  g_free(offsets);
}

#define OWN "channel:AXIS:pol:time"

int main(int argc, char **argv)
{
  static const Shape shapes[] = {
    { "CI8", "CF32LE", OWN, 64, 1, 64, 2, 512, 0 },
    { "CI8", "CF32LE", OWN, 64, 4, 64, 2, 512, 0 },
    { "CI8", "CF32LE", OWN, 64, 16, 64, 2, 512, 0.6 },
    { "CI8", "CI8", OWN, 64, 16, 64, 2, 512, 0.6 },
    { "CI8", "CF32LE", OWN, 64, 64, 64, 2, 512, 0.6 },
    { "CI8", "CF32LE", OWN, 64, 64, 512, 2, 32, 0 },
    { "CI8", "CF32LE", OWN, 512, 64, 16, 2, 512, 0.6 },
    { "CI8", "CF32LE", OWN, 64, 400, 16, 2, 512, 0.6 },
    { "CI16LE", "CF32LE", OWN, 64, 64, 64, 2, 512, 0.6 },
    { "CF32LE", "CF32LE", OWN, 64, 16, 64, 2, 512, 0.6 },
    { "CI8", "CF32LE", "channel:time:AXIS:pol", 64, 16, 64, 2, 512, 0 },
    { "CI8", "CF32LE", "AXIS:pol:time:channel", 64, 16, 64, 2, 512, 0 },
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
