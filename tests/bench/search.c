/* The search for pulses, in values a second, beside real time of 64 us samples at 1024 trials. */
#include "tests/bench/bench.h"
#include "tests/core/search/search.h"

#define DMS 1024
#define STEPS 8192

typedef struct {
  gpointer instance;
  TestSeries series;
  guint64 at;
  AstroSearchFound found;
} Bench;

static void run_search(gpointer data)
{
  Bench *bench = data;
  const AstroBlock in = { bench->series.values, (gsize)STEPS * DMS * sizeof(float) };
  const AstroSearchArguments arguments = {
    .first = bench->at, .steps = STEPS, .begin = bench->at == 0, .found = &bench->found
  };
  GError *error = NULL;
  if (!astro_search_cpu.submit(bench->instance, &in, 1, NULL, 0, &arguments, NULL, &error))
    g_error("%s", error->message);
  bench->at += STEPS;
}

int main(int argc, char **argv)
{
  static const char *const widths[] = { "1", "1,2,4,8,16,32", "1,2,3,4,6,8,12,16,24,32,48,64" };
  gst_init(&argc, &argv);
  bench_head("search: 1024 dispersion measures; limit: 64 us samples in real time");
  Bench bench = { .series = test_series_new(1, DMS, STEPS, 10, 1, 1) };
  bench.found.hits = g_array_new(FALSE, FALSE, sizeof(AstroSearchHit));
  for (guint i = 0; i < G_N_ELEMENTS(widths); i++) {
    const AstroSearchConfig config = test_search_config(&bench.series, widths[i], 4096, 6);
    bench.instance = astro_search_cpu.create(&config, &(AstroPlace){ 0 }, NULL, NULL);
    bench.at = 0;
    const double seconds = bench_seconds(run_search, &bench, 5);
    bench_row(widths[i], (double)STEPS * DMS / seconds * 1e-6, DMS / 64e-6 * 1e-6, "Mvalues/s", 0);
    astro_search_cpu.destroy(bench.instance);
  }
  g_array_unref(bench.found.hits);
  test_series_clear(&bench.series);
  return 0;
}
