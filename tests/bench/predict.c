/* Prediction: visibilities times sources a second (in one polarisation; the others cost nothing),
 * beside the machine's fused multiply-adds in double precision, of which each needs four. */
#include "core/backend/threads.h"
#include "core/lib/predict/kernels.h"
#include "core/lib/predict/predict.h"
#include "tests/bench/bench.h"
#include "tests/observe.h"
#include <math.h>

#define PEAK_ROUNDS 20000
#define PEAK_SOURCES 64

typedef struct {
  AstroPredict *predict;
  guint64 number;
  gpointer out;
} Case;

static void make(gpointer data)
{
  Case *c = data;
  astro_predict_fill(c->predict, c->number, (gint64)c->number * 10000000000, 10000000000, c->out,
                     NULL);
  c->number++;
}

/* Products alone, of phasors that stay in the L1 cache: as fast as this machine multiplies. */
static void multiply(gpointer data, guint64 task)
{
  const AstroPredictKernels *kernels = data;
  guint lanes = kernels->lanes;
  double a[2 * 8 * PEAK_SOURCES] = { 0 }, b[2 * 8 * PEAK_SOURCES] = { 0 }, re[64] = { 0 },
                   im[64] = { 0 };
  for (guint i = 0; i < PEAK_ROUNDS; i++)
    kernels->products(a, b, PEAK_SOURCES, re, im, lanes);
}

static void peak(gpointer data)
{
  astro_parallel(astro_threads(), 0, multiply, data);
}

int main(int argc, char **argv)
{
  static const struct {
    guint stations, channels, sources;
    double noise;
  } cases[] = { { 44, 16, 1, 0 },    { 44, 16, 10, 0 },  { 44, 16, 10, 10 }, { 44, 16, 100, 0 },
                { 44, 16, 1000, 0 }, { 256, 8, 100, 0 }, { 512, 4, 1000, 0 } };
  gst_init(&argc, &argv);
  const AstroPredictKernels *kernels = astro_predict_kernels();
  bench_head(
      "astrovissrc, CF32LE, 2 pols, both cores: visibilities x sources; limit: the machine's "
      "products of phasors");
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    guint64 baselines = (guint64)cases[i].stations * (cases[i].stations + 1) / 2;
    AstroObservation *observation = test_observe("vla-like", cases[i].stations);
    double make_seconds, peak_seconds;
    GString *text = g_string_new("");
    for (guint s = 0; s < cases[i].sources; s++)
      g_string_append_printf(text, "%g,%g,1;", 0.1 * sin(s), 0.1 * cos(3 * s));
    AstroSky *sky = astro_sky_new(text->str, NULL);
    astro_sky_resolve(sky, observation, NULL);
    AstroPredictConfig config = {
      .observation = observation,
      .sky = sky,
      .noise = cases[i].noise,
      .points = 1,
      .stream = { .quantity = ASTRO_QUANTITY_VISIBILITIES,
                  .format = ASTRO_FORMAT_CF32LE,
                  .rate_n = 1,
                  .rate_d = 10,
                  .frequency = 150e6,
                  .bandwidth = 1e6 },
    };
    astro_layout_parse(&config.stream.layout, "channel:baseline:pol:pol",
                       ASTRO_QUANTITY_VISIBILITIES, NULL);
    config.stream.layout.extents[0] = cases[i].channels;
    config.stream.layout.extents[1] = baselines;
    config.stream.layout.extents[2] = config.stream.layout.extents[3] = 2;
    Case c = { .predict = astro_predict_new(&config, NULL),
               .out = g_malloc0(astro_stream_step_bytes(&config.stream)) };
    bench_pair(make, &c, peak, (gpointer)kernels, 9, &make_seconds, &peak_seconds);
    double visibilities = (double)baselines * cases[i].channels;
    double limit = (double)PEAK_ROUNDS * PEAK_SOURCES * kernels->lanes * kernels->lanes *
                   astro_threads() / peak_seconds;
    g_autofree char *what = g_strdup_printf(
        "%u stations, %u channels, %u sources%s; %.1f Mvis/s", cases[i].stations, cases[i].channels,
        cases[i].sources, cases[i].noise > 0 ? ", noise" : "", visibilities / make_seconds / 1e6);
    bench_row(what, visibilities * cases[i].sources / make_seconds / 1e6, limit / 1e6, "M/s", 0);
    astro_predict_free(c.predict);
    astro_sky_free(sky);
    astro_observation_unref(observation);
    g_free(c.out);
    g_string_free(text, TRUE);
  }
  return 0;
}
