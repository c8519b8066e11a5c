/* Pulses that were put in are found with the S/N that they have, noise gives as many false alarms
 * as it should, and neither interference nor losses change that. */
#include "tests/core/search/search.h"

static const AstroBackend *const backends[] = { &astro_search_reference, &astro_search_cpu };

/* Probability of a Gaussian above x. */
static double tail(double x)
{
  return erfc(x / sqrt(2)) / 2;
}

static const AstroSearchHit *hit(const GArray *hits, guint i)
{
  return &g_array_index(hits, AstroSearchHit, i);
}

/* Mean of the S/N and of the widths of hits near each pulse; each must be found once. */
static double mean_snr(const GArray *hits, guint64 every, guint n, guint width, guint64 offset)
{
  double sum = 0;
  guint found = 0;
  for (guint i = 0; i < hits->len; i++) {
    const AstroSearchHit *one = hit(hits, i);
    const guint64 place = one->first + one->steps / 2 - offset, from = place % every;
    if (from < every / 2 - width || from > every / 2 + width)
      continue;
    sum += one->snr;
    found++;
  }
  g_assert_cmpuint(found, ==, n);
  return sum / n;
}

/* The mean S/N of many pulses is within 10 % of what went in (in fact 3 %: the noise chooses the
 * best of several boxcars, and a wide pulse raises its own baseline a little), in noise of any
 * level and rms, alone or with strong interference in a twentieth of all values, or with losses of
 * a third (which take a third of the pulse: S/N falls by the root). */
static void test_pulses(void)
{
  static const struct {
    guint width;
    double level, rms;
    gboolean interference, losses;
  } cases[] = {
    { 1, 10, 1, FALSE, FALSE },  { 4, 1e6, 250, FALSE, FALSE }, { 16, -3, 1e-6, FALSE, FALSE },
    { 4, 10, 1, TRUE, FALSE },   { 16, 10, 1, TRUE, FALSE },    { 16, 10, 1, FALSE, TRUE },
    { 64, 10, 1, FALSE, FALSE },
  };
  const double snr = 15;
  const guint every = 6000, n = 30;
  for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
    g_auto(TestSeries) series =
        test_series_new(1, 1, (guint64)every * n, cases[c].level, cases[c].rms, c);
    guint64 state = c + 77;
    const double height = snr * cases[c].rms / sqrt(cases[c].width);
    if (cases[c].losses)
      series.counts = g_new(guint32, series.steps);
    for (guint i = 0; i < n; i++)
      test_add_pulse(&series, (guint64)i * every + every / 2 - cases[c].width / 2, cases[c].width,
                     0, 0, height);
    for (guint64 t = 0; t < series.steps; t++) {
      const gboolean is_near = t % every > every / 2 - 100 && t % every < every / 2 + 100;
      if (cases[c].interference && !is_near && test_uniform(&state) < 0.05)
        series.values[t] += (float)(100 * cases[c].rms * test_uniform(&state));
      if (cases[c].losses)
        series.counts[t] = test_uniform(&state) < 1.0 / 3 ? 0 : TEST_FULL;
      if (series.counts && !series.counts[t])
        series.values[t] = 0;
    }
    const AstroSearchConfig config = test_search_config(&series, "1,2,4,8,16,32,64", 4096, 7);
    for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
      g_autoptr(GArray) hits = test_search(backends[b], &config, &series, 0, 777, NULL);
      const double expected = cases[c].losses ? snr * sqrt(2.0 / 3) : snr;
      const double found = mean_snr(hits, every, n, MAX(cases[c].width, 8), 0);
      g_test_message("case %u: S/N %g of %g", c, found, expected);
      g_assert_cmpfloat_with_epsilon(found / expected, 1, 0.07);
    }
  }
}

/* False alarms of boxcars of one step: as many as Gaussian noise has in a million independent
 * trials, within 4 times the counting error. With an interferer in each tenth value their number
 * must stay; with the plain rms as noise there would be none. */
static void test_false_alarms(void)
{
  static const double thresholds[] = { 2.5, 3, 3.5, 4 };
  const guint64 steps = 1 << 20;
  for (guint with = 0; with < 2; with++) {
    g_auto(TestSeries) series = test_series_new(1, 4, steps / 4, 5, 2, 3 + with);
    if (with)
      for (guint64 t = 0; t < steps; t += 10)
        series.values[t] -= 500;
    for (guint i = 0; i < G_N_ELEMENTS(thresholds); i++) {
      const AstroSearchConfig config = test_search_config(&series, "1", 4096, thresholds[i]);
      g_autoptr(GArray) hits = test_search(&astro_search_cpu, &config, &series, 1000, 10000, NULL);
      guint64 found = 0; /* steps above the threshold */
      for (guint k = 0; k < hits->len; k++)
        found += hit(hits, k)->end - hit(hits, k)->begin;
      /* Interference that is cut at 3 rms widens the bound a little. */
      const double trials = (double)steps * (with ? 0.9 : 1),
                   expected = trials * tail(thresholds[i]);
      g_test_message("%g sigma: %" G_GUINT64_FORMAT " of %g", thresholds[i], found, expected);
      g_assert_cmpfloat(fabs((double)found - expected), <,
                        4 * sqrt(expected) + (with ? 0.12 : 0.02) * expected);
    }
  }
}

/* No false alarm at 6 sigma is expected in a million trials of any width: 0.001 by one. */
static void test_quiet(void)
{
  g_auto(TestSeries) series = test_series_new(2, 8, 1 << 16, 5, 2, 9);
  const AstroSearchConfig config = test_search_config(&series, "1,2,4,8,16,32", 4096, 6);
  g_autoptr(GArray) hits = test_search(&astro_search_cpu, &config, &series, 0, 10000, NULL);
  g_assert_cmpuint(hits->len, <=, 1);
}

/* A baseline that drifts by many rms between windows is followed. */
static void test_drift(void)
{
  g_auto(TestSeries) series = test_series_new(1, 1, 1 << 16, 0, 1, 10);
  for (guint64 t = 0; t < series.steps; t++)
    series.values[t] += (float)(20 * sin((double)t / 5000));
  test_add_pulse(&series, 30000, 8, 0, 0, 12 / sqrt(8));
  const AstroSearchConfig config = test_search_config(&series, "1,2,4,8,16", 512, 6.5);
  g_autoptr(GArray) hits = test_search(&astro_search_cpu, &config, &series, 0, 10000, NULL);
  g_assert_cmpuint(hits->len, ==, 1);
  g_assert_cmpuint(hit(hits, 0)->first + hit(hits, 0)->steps / 2, >=, 30000);
  g_assert_cmpuint(hit(hits, 0)->first + hit(hits, 0)->steps / 2, <=, 30008);
}

static void assert_same(const GArray *a, const GArray *b, double tolerance)
{
  g_assert_cmpuint(a->len, ==, b->len);
  for (guint i = 0; i < a->len; i++) {
    const AstroSearchHit *x = hit(a, i), *y = hit(b, i);
    g_assert_cmpuint(x->station, ==, y->station);
    g_assert_cmpuint(x->dm, ==, y->dm);
    g_assert_cmpuint(x->first, ==, y->first);
    g_assert_cmpuint(x->steps, ==, y->steps);
    g_assert_cmpuint(x->begin, ==, y->begin);
    g_assert_cmpuint(x->end, ==, y->end);
    g_assert_cmpfloat_with_epsilon(x->snr, y->snr, tolerance * y->snr);
  }
}

static int by_place(gconstpointer a, gconstpointer b)
{
  const AstroSearchHit *x = a, *y = b;
  const guint64 i = ((guint64)x->station << 32) + x->dm, j = ((guint64)y->station << 32) + y->dm;
  return i != j ? (i < j ? -1 : 1) : x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Both backends find the same in streams that begin and end anywhere, have losses of all kinds,
 * values that are not finite and some that are huge; and however the stream is cut. */
static void test_variants(void)
{
  static const guint64 firsts[] = { 0, 1, 100, 255, 256, 1000 },
                       lengths[] = { 1, 31, 257, 512, 700, 2048, 5000 };
  for (guint i = 0; i < G_N_ELEMENTS(firsts) * G_N_ELEMENTS(lengths); i++) {
    const guint64 first = firsts[i % G_N_ELEMENTS(firsts)],
                  steps = lengths[i / G_N_ELEMENTS(firsts)];
    g_auto(TestSeries) series = test_series_new(2, 5, steps, 3, 1, i);
    guint64 state = i + 1, expected = 0, found[2];
    series.counts = g_new(guint32, steps * 10);
    for (guint64 k = 0; k < steps * 10; k++) {
      const double what = test_uniform(&state);
      series.counts[k] = i % 3 == 0 || what > 0.3 ? TEST_FULL : what > 0.1 ? 40 : 0;
      if (what > 0.999)
        series.values[k] = what > 0.9995 ? NAN : INFINITY;
      else if (what > 0.998)
        series.values[k] = 1e30f;
      expected += what > 0.999;
    }
    const AstroSearchConfig config = test_search_config(&series, "1,3,4,8", 256, 3);
    g_autoptr(GArray) slow =
        test_search(&astro_search_reference, &config, &series, first, steps, &found[0]);
    g_autoptr(GArray) fast = test_search(&astro_search_cpu, &config, &series, first, 97, &found[1]);
    g_array_sort(slow, by_place);
    g_array_sort(fast, by_place);
    assert_same(fast, slow, 1e-6);
    g_assert_cmpuint(found[0], ==, expected);
    g_assert_cmpuint(found[1], ==, expected);
    if (steps == 5000)
      g_assert_cmpuint(slow->len, >, 30);
  }
}

/* A lost value is neither high nor low: zeros that are counted as lost make no hits, and a hole is
 * no pulse. */
static void test_lost(void)
{
  g_auto(TestSeries) series = test_series_new(1, 1, 8192, -1000, 1, 20);
  series.counts = g_new(guint32, series.steps);
  for (guint64 t = 0; t < series.steps; t++) {
    series.counts[t] = t % 1000 < 300 ? 0 : TEST_FULL;
    if (!series.counts[t])
      series.values[t] = 0;
  }
  const AstroSearchConfig config = test_search_config(&series, "1,2,4,8,16", 1024, 6);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    g_autoptr(GArray) hits = test_search(backends[b], &config, &series, 0, 1000, NULL);
    g_assert_cmpuint(hits->len, ==, 0);
  }
}

/* The noise of a value is that of the samples behind it: values of a quarter of them have twice the
 * rms, and give no more false alarms. */
static void test_weights(void)
{
  g_auto(TestSeries) series = test_series_new(1, 1, 1 << 18, 0, 1, 21);
  series.counts = g_new(guint32, series.steps);
  for (guint64 t = 0; t < series.steps; t++) {
    series.counts[t] = t % 2 ? TEST_FULL : TEST_FULL / 4;
    series.values[t] *= t % 2 ? 1 : 2;
  }
  const AstroSearchConfig config = test_search_config(&series, "1", 4096, 3.5);
  g_autoptr(GArray) hits = test_search(&astro_search_cpu, &config, &series, 0, 5000, NULL);
  const double expected = (double)series.steps * tail(3.5);
  g_assert_cmpfloat(fabs((double)hits->len - expected), <, 4 * sqrt(expected) + 0.03 * expected);
}

static void test_refused(void)
{
  g_auto(TestSeries) series = test_series_new(2, 3, 1, 0, 1, 1);
  static const char *const texts[] = { "", "0", "1,x", "4,2", "1,1", "70000" };
  const AstroSearchConfig good = test_search_config(&series, "1,8", 256, 6);
  AstroSearchConfig configs[] = { good, good, good, good };
  static const char *const says[] = { "a window of 100 steps, expected 256", "a threshold of 0",
                                      "does not fit", "expected 256" };
  configs[0].window = 100;
  configs[1].threshold = 0;
  configs[2].dms = 4;
  configs[3].window = G_MAXUINT;
  for (guint i = 0; i < G_N_ELEMENTS(configs); i++)
    for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
      const AstroPlace place = { 0 };
      g_autoptr(GError) error = NULL;
      g_assert_null(backends[b]->create(&configs[i], &place, NULL, &error));
      g_assert_nonnull(error);
      test_says(error->message, says[i]);
    }
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
    AstroSearchConfig config;
    g_autoptr(GError) error = NULL;
    g_assert_false(astro_search_parse_widths(&config, texts[i], &error));
    test_says(error->message, "expected");
  }
}

static void add_tests(void)
{
  g_test_add_func("/search/pulses", test_pulses);
  g_test_add_func("/search/false-alarms", test_false_alarms);
  g_test_add_func("/search/quiet", test_quiet);
  g_test_add_func("/search/drift", test_drift);
  g_test_add_func("/search/variants", test_variants);
  g_test_add_func("/search/lost", test_lost);
  g_test_add_func("/search/weights", test_weights);
  g_test_add_func("/search/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
