/* Solving gains: an interval of 64 stations is added and solved by the cpu backend, beside the same
 * by plain loops over all visibilities in one thread, in one run. Both find the same gains. */
#include "core/calibrate/calibrate.h"
#include "tests/bench/bench.h"

#include <math.h>

enum { STATIONS = 64, CHANNELS = 64, POLS = 2, STEPS = 6, PASSES = 10 };
enum { BASELINES = STATIONS * (STATIONS + 1) / 2, PRODUCTS = POLS * POLS };
#define VALUES ((gsize)STEPS * CHANNELS * BASELINES * PRODUCTS)

typedef struct {
  AstroCalibrateConfig config;
  gpointer instance;
  float *data;           /* [step][channel][baseline][product][2] */
  complex double *model; /* the same without parts */
  complex double *gains; /* of the backend, [station][group][pol] */
  float *snr;
  double *delays;
  complex double plain[POLS][STATIONS];
} Bench;

static void submit(Bench *bench, const AstroBlock *in, const AstroCalibrateArguments *arguments,
                   AstroResult *result)
{
  GError *error = NULL;
  if (!astro_calibrate_cpu.submit(bench->instance, in, in ? 1 : 0, NULL, 0, arguments, result,
                                  &error))
    g_error("%s", error->message);
}

static void run_ours(gpointer data)
{
  Bench *bench = data;
  AstroCalibrateSolved solved = { .gains = bench->gains,
                                  .snr = bench->snr,
                                  .delays = bench->delays };
  AstroResult result = { .own = &solved };
  const AstroBlock in = { bench->data, VALUES * 2 * sizeof *bench->data };
  const AstroCalibrateArguments add = { .work = ASTRO_CALIBRATE_ADD,
                                        .steps = STEPS,
                                        .model = bench->model },
                                solve = { .work = ASTRO_CALIBRATE_SOLVE };
  submit(bench, &in, &add, &result);
  submit(bench, NULL, &solve, &result);
}

/* A pass over all visibilities of a polarisation, station by station, as the formula is written:
 * g_i = sum V_ij g_j conj(M_ij) / sum |g_j M_ij|^2, and a step half way to it. */
static void pass(Bench *bench, guint pol)
{
  complex double sums[STATIONS] = { 0 };
  double weights[STATIONS] = { 0 };
  complex double *gains = bench->plain[pol];
  for (gsize cell = 0; cell < (gsize)STEPS * CHANNELS; cell++)
    for (guint i = 0; i < STATIONS; i++)
      for (guint j = 0; j < i; j++) {
        const gsize at = (cell * BASELINES + i * (i + 1) / 2 + j) * PRODUCTS + pol * POLS + pol;
        const complex double v = (double)bench->data[2 * at] + I * (double)bench->data[2 * at + 1];
        const complex double m = bench->model[at], zi = gains[j] * conj(m), zj = gains[i] * m;
        sums[i] += v * zi;
        weights[i] += creal(zi * conj(zi));
        sums[j] += conj(v) * zj;
        weights[j] += creal(zj * conj(zj));
      }
  for (guint i = 0; i < STATIONS; i++)
    gains[i] = (gains[i] + sums[i] / weights[i]) / 2;
}

static void run_plain(gpointer data)
{
  Bench *bench = data;
  for (guint pol = 0; pol < POLS; pol++) {
    for (guint i = 0; i < STATIONS; i++)
      bench->plain[pol][i] = 1;
    for (guint k = 0; k < PASSES; k++)
      pass(bench, pol);
  }
}

static complex double gain_of(guint station, guint pol)
{
  return (1 + 0.01 * (station % 7)) * cexp(I * (0.05 * (station % 11) + 0.1 * pol));
}

static void fill(Bench *bench)
{
  for (gsize k = 0, cell = 0; cell < (gsize)STEPS * CHANNELS; cell++)
    for (guint i = 0; i < STATIONS; i++)
      for (guint j = 0; j <= i; j++)
        for (guint p = 0; p < PRODUCTS; p++, k++) {
          bench->model[k] = p % (POLS + 1) == 0 ? cexp(I * (0.1 * i - 0.07 * j)) : 0;
          const complex double v =
              gain_of(i, p / POLS) * bench->model[k] * conj(gain_of(j, p % POLS));
          bench->data[2 * k] = (float)creal(v);
          bench->data[2 * k + 1] = (float)cimag(v);
        }
}

/* A benchmark of something wrong is worth nothing. */
static void check(const Bench *bench, guint groups)
{
  for (guint i = 0; i < STATIONS; i++)
    for (guint p = 0; p < POLS; p++)
      if (cabs(bench->gains[(gsize)i * groups * POLS + p] -
               gain_of(i, p) * cexp(-I * carg(gain_of(0, p)))) > 1e-4)
        g_error("the gain of station %u is wrong", i);
}

static void measure(Bench *bench, AstroGainsType type, const char *what)
{
  const char *variant;
  GError *error = NULL;
  double ours, plain;
  bench->config.type = type;
  bench->config.channel_step = type == ASTRO_GAINS_BANDPASS ? 1 : 0;
  bench->instance =
      astro_calibrate_cpu.create(&bench->config, &(AstroPlace){ 0 }, &variant, &error);
  if (!bench->instance)
    g_error("%s", error->message);
  bench_pair(run_ours, bench, run_plain, bench, 5, &ours, &plain);
  check(bench, astro_calibrate_groups(&bench->config));
  astro_calibrate_cpu.destroy(bench->instance);
  bench_row(what, STEPS * 1e-3 / ours, STEPS * 1e-3 / plain, "steps/ms", 0);
}

int main(int argc, char **argv)
{
  Bench bench = { .data = g_new(float, 2 * VALUES),
                  .model = g_new(complex double, VALUES),
                  .gains = g_new(complex double, STATIONS *CHANNELS *POLS),
                  .snr = g_new(float, STATIONS *CHANNELS *POLS),
                  .delays = g_new(double, STATIONS *CHANNELS *POLS) };
  gst_init(&argc, &argv);
  g_autoptr(GstCaps) caps = gst_caps_from_string(
      "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,"
      "baselines=2080,channels=64,pols=2,rate=1/10,frequency=150e6,bandwidth=1e6");
  if (!astro_stream_from_caps(&bench.config.in, caps, NULL))
    g_error("the caps are wrong");
  bench.config.out = bench.config.in;
  fill(&bench);
  bench_head(
      "gains: 64 stations x 2 pols, 64 channels, 6 integrations; limit: plain loops, 10 passes");
  measure(&bench, ASTRO_GAINS_GAIN, "type=gain, one solution for all channels");
  measure(&bench, ASTRO_GAINS_BANDPASS, "type=bandpass, a solution a channel (plain: one for all)");
  g_free(bench.data);
  g_free(bench.model);
  g_free(bench.gains);
  g_free(bench.snr);
  g_free(bench.delays);
  return 0;
}
