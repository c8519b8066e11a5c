/* Single calls of the channelizer: missing samples, no block at all, and what is refused. */
#include "tests/core/channelizer/channelizer.h"

#include <math.h>
#include <stdlib.h>

/* ---- what is missing ---- */

enum { LOSSES_FIRST = 80, LOSSES_STEPS = 160, LOSSES_TOTAL = 28 };

/* Two blocks of three stations, station:pol:time, the first with losses (n 0: none). */
static guint8 *spectra_with(const AstroBackend *backend, const AstroChannelizerConfig *config,
                            gconstpointer in, gconstpointer more, const AstroLoss *losses, guint n)
{
  TestRun run = { backend,      config,       test_create(backend, config, 2),
                  LOSSES_FIRST, LOSSES_FIRST, { 0 } };
  guint8 *out = test_alloc(6 * LOSSES_TOTAL * 80);
  guint64 given = test_call(&run, in, LOSSES_STEPS, TRUE, losses, n, out, LOSSES_TOTAL, 0).count;
  given += test_call(&run, more, LOSSES_STEPS, FALSE, NULL, 0, out, LOSSES_TOTAL, given).count;
  g_assert_cmpuint(given, ==, LOSSES_TOTAL);
  backend->destroy(run.instance);
  return out;
}

/* Lost samples count as zeros whatever the buffer holds, in the block and in samples held from
 * it. */
static void check_losses(const AstroBackend *backend, const char *format, AstroFormat to,
                         const AstroLoss *losses, guint n)
{
  AstroChannelizerConfig config = test_config(format, "station:pol:time", 3, 2, 10, 4);
  config.to = to;
  const gsize given = 6 * LOSSES_TOTAL * 10 * astro_format_info(to)->bytes;
  const gsize bytes = astro_stream_sample_bytes(&config.in), block = 6 * LOSSES_STEPS * bytes;
  guint8 *in = test_random_samples(config.in.format, 6 * LOSSES_STEPS, 1);
  guint8 *more = test_random_samples(config.in.format, 6 * LOSSES_STEPS, 2),
         *zeroed = test_alloc(block);
  memcpy(zeroed, in, block);
  for (guint i = 0; i < n; i++)
    for (guint pol = 0; pol < 2; pol++) {
      gsize at = (losses[i].station * 2 + pol) * LOSSES_STEPS + losses[i].from - LOSSES_FIRST;
      gsize count = losses[i].to - losses[i].from;
      memset(in + at * bytes, 0xff, count * bytes); /* NaN, for floats */
      memset(zeroed + at * bytes, 0, count * bytes);
    }
  guint8 *found = spectra_with(backend, &config, in, more, losses, n);
  guint8 *expected = spectra_with(backend, &config, zeroed, more, NULL, 0);
  g_assert_cmpmem(found, given, expected, given);
  for (guint i = 0; to == ASTRO_FORMAT_CF32LE && i < given / sizeof(float); i++)
    g_assert_true(isfinite(((float *)found)[i]));
  test_free(found);
  test_free(expected);
  test_free(in);
  test_free(zeroed);
  test_free(more);
}

static void test_losses(gconstpointer data)
{
  static const AstroLoss losses[] = {
    { 0, 0, 1, 100, 101 }, { 0, 0, 1, 130, 220 }, { 0, 0, 1, 239, 240 },
    { 2, 0, 1, 80, 81 },   { 2, 0, 1, 90, 240 },
  };
  check_losses(data, "CF32LE", ASTRO_FORMAT_CF32LE, losses, G_N_ELEMENTS(losses));
  check_losses(data, "CI8", ASTRO_FORMAT_CF32LE, losses, G_N_ELEMENTS(losses));
  check_losses(data, "CI8", ASTRO_FORMAT_CI8, losses, G_N_ELEMENTS(losses));
  check_losses(data, "CI4", ASTRO_FORMAT_CI4, losses, G_N_ELEMENTS(losses));
}

/* Losses of one sample each: as many as a device takes in one launch, more, and as many as in
 * two. */
static void test_many_losses(gconstpointer data)
{
  static const struct {
    guint apart, stations;
  } cases[] = { { 2, 3 }, { 1, 2 }, { 1, 3 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroLoss losses[3 * LOSSES_STEPS];
    guint n = 0;
    for (guint station = 0; station < cases[i].stations; station++)
      for (guint at = 0; at < LOSSES_STEPS; at += cases[i].apart)
        losses[n++] = (AstroLoss){ station, 0, 1, LOSSES_FIRST + at, LOSSES_FIRST + at + 1 };
    check_losses(data, i % 2 ? "CI8" : "CF32LE", ASTRO_FORMAT_CF32LE, losses, n);
    check_losses(data, "CI4", ASTRO_FORMAT_CI4, losses, n);
  }
}

/* No block is a block of zeros; a restart forgets what was held. */
static void test_no_block(gconstpointer data)
{
  const AstroBackend *backend = data;
  AstroChannelizerConfig config = test_config("CI8", "time:station:pol", 3, 1, 10, 4);
  const guint64 steps = 95, total = 25;
  guint8 *in = test_random_samples(ASTRO_FORMAT_CI8, 3 * steps, 1),
         *zeros = test_alloc(3 * steps * 2);
  guint8 *out[2];
  memset(zeros, 0, 3 * steps * 2);
  for (guint which = 0; which < 2; which++) {
    TestRun run = { backend, &config, test_create(backend, &config, 2), 0, 0, { 0 } };
    out[which] = test_alloc(3 * total * 80);
    guint64 given = test_call(&run, in, steps, TRUE, NULL, 0, out[which], total, 0).count;
    given += test_call(&run, which ? zeros : NULL, steps, FALSE, NULL, 0, out[which], total, given)
                 .count;
    given += test_call(&run, in, steps, FALSE, NULL, 0, out[which], total, given).count;
    g_assert_cmpuint(given, ==, total);
    backend->destroy(run.instance);
  }
  g_assert_cmpmem(out[0], 3 * total * 80, out[1], 3 * total * 80);

  TestRun again = { backend, &config, test_create(backend, &config, 2), 0, 0, { 0 } };
  TestRun fresh = { backend, &config, test_create(backend, &config, 2), 95, 95, { 0 } };
  test_call(&again, zeros, steps, TRUE, NULL, 0, NULL, 0, 0);
  AstroSpectra a = test_call(&again, in, steps, TRUE, NULL, 0, out[0], total, 0);
  AstroSpectra b = test_call(&fresh, in, steps, TRUE, NULL, 0, out[1], total, 0);
  g_assert_cmpuint(a.first, ==, b.first);
  g_assert_cmpuint(a.count, ==, 6);
  g_assert_cmpuint(b.count, ==, 6);
  g_assert_cmpmem(out[0], 3 * total * 80, out[1], 3 * total * 80);
  backend->destroy(again.instance);
  backend->destroy(fresh.instance);
  test_free(out[0]);
  test_free(out[1]);
  test_free(in);
  test_free(zeros);
}

/* ---- errors ---- */

static void assert_refused(const AstroBackend *backend, const AstroChannelizerConfig *config,
                           const char *says)
{
  AstroPlace place = { 0 };
  const char *variant;
  GError *error = NULL;
  g_assert_false(backend->shape(config, NULL));
  g_assert_false(backend->shape(config, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
  test_says(error->message, says);
  g_clear_error(&error);
  g_assert_null(backend->create(config, &place, &variant, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
  g_clear_error(&error);
}

static void test_bad_config(gconstpointer backend)
{
  const AstroChannelizerConfig good = test_config("CI8", "station:pol:time", 3, 2, 16, 8);
  AstroChannelizerConfig bad;
#define REFUSED(field, value, says)                                                                \
  bad = good;                                                                                      \
  bad.field = value;                                                                               \
  assert_refused(backend, &bad, says)
  REFUSED(channels, 0, "0 channels");
  REFUSED(channels, 1, "1 channels");
  REFUSED(channels, 65537, "65537 channels");
  REFUSED(taps, 0, "0 taps");
  REFUSED(taps, 33, "33 taps");
  REFUSED(window, ASTRO_N_WINDOWS, "window");
  REFUSED(beta, -1, "beta -1");
  REFUSED(beta, NAN, "beta");
  REFUSED(gain, INFINITY, "gain");
  REFUSED(to, ASTRO_FORMAT_F32LE, "output of format F32LE");
  REFUSED(to, ASTRO_FORMAT_UNKNOWN, "output of format unknown");
  REFUSED(in.format, ASTRO_FORMAT_CF64LE, "input of format CF64LE");
  REFUSED(in.format, ASTRO_FORMAT_F64LE, "input of format F64LE");
  REFUSED(in.format, ASTRO_FORMAT_U64LE, "input of format U64LE");
  REFUSED(to, ASTRO_FORMAT_I8, "output of format I8");
  REFUSED(in.layout.axes[0], ASTRO_AXIS_CHANNEL, "channel:pol:time");
#undef REFUSED
}

static void test_bad_calls(gconstpointer data)
{
  const AstroBackend *backend = data;
  AstroChannelizerConfig config = test_config("CI8", "station:pol:time", 3, 2, 16, 2);
  guint8 *in = test_alloc(6 * 64 * 2), *out = test_alloc(6 * 2 * 16 * 8);
  const struct {
    AstroChannelizerArguments arguments;
    gsize in_bytes, out_bytes;
    guint n_in, n_out;
    const char *says;
  } cases[] = {
    { { 0, 64, TRUE }, 767, 1536, 1, 1, "767 bytes in" },
    { { 0, 64, TRUE }, 768, 1535, 1, 1, "1535" },
    { { 0, 64, TRUE }, 768, 1536, 1, 0, "0 out" },
    { { 0, 39, TRUE }, 768, 1536, 1, 1, "1 out" },
    { { 0, 64, TRUE }, 768, 1536, 2, 1, "2 blocks in" },
    { { 5, 64, FALSE }, 768, 1536, 1, 1, "from sample 5" },
    { { G_MAXUINT64 - 3, 64, TRUE }, 768, 1536, 1, 1, "exceeds" },
    { { 0, G_MAXUINT64 - 3, TRUE }, 768, 1536, 1, 1, "exceeds" },
    { { 0, G_MAXUINT64 / 2, TRUE }, 768, 1536, 0, 1, "more bytes" },
  };
  memset(in, 1, 768);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    gpointer instance = test_create(backend, &config, 1);
    AstroChannelizerArguments arguments = cases[i].arguments;
    AstroBlock a[] = { { in, cases[i].in_bytes }, { in, 0 } }, b = { out, cases[i].out_bytes };
    GError *error = NULL;
    g_assert_false(
        backend->submit(instance, a, cases[i].n_in, &b, cases[i].n_out, &arguments, NULL, &error));
    g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
    test_says(error->message, cases[i].says);
    g_clear_error(&error);
    for (gsize byte = 0; byte < 1536; byte++)
      g_assert_cmphex(out[byte], ==, 0xa5);
    backend->destroy(instance);
  }
  test_free(in);
  test_free(out);
}

static void test_variant_names(void)
{
  AstroChannelizerConfig config = test_config("CI8", "time", 1, 1, 16, 2);
  AstroPlace place = { 0 };
  const char *variant;
  setenv("ASTRO_CPU", "c", 1);
  gpointer instance = astro_channelizer_cpu.create(&config, &place, &variant, NULL);
  g_assert_cmpstr(variant, ==, "c");
  astro_channelizer_cpu.destroy(instance);
  unsetenv("ASTRO_CPU");
}

static void add_tests(void)
{
  test_find_devices();
  test_add_for_backends("losses", test_losses);
  test_add_for_backends("many-losses", test_many_losses);
  test_add_for_backends("no-block", test_no_block);
  test_add_for_backends("bad-config", test_bad_config);
  test_add_for_backends("bad-calls", test_bad_calls);
  g_test_add_func("/channelizer/variant-names", test_variant_names);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
