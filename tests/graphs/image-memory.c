/* max-memory of graph image: with little, visibilities are kept in a file, and the sources are the
 * same; what cannot be done is refused, and degridding in major cycles has its part. */
#include "tests/graphs/program.h"
#include "tests/tests.h"

#define IMAGE                                                                                      \
  "run image input=memory.uvfits backend=cpu size=128 cell=40 iterations=200 picture=memory.png "  \
  "weighting=uniform "

static void write_visibilities(void)
{
  g_auto(Result) made = run(
      "run synthesis stations=20 array=vla-like sky=0.00512,0.00437,5 start=2026-11-20T21:40:00 "
      "noise=3 channels=16 duration=3600 integration=120 size=64 cell=40 iterations=0 "
      "output=memory.uvfits image=unused.fits picture=unused.png --quiet");
  g_assert_cmpint(made.status, ==, 0);
}

/* The first line about a source. */
static char *source_of(const Result *result)
{
  const char *at = strstr(result->out, "source 1: ");
  g_assert_nonnull(at);
  return g_strndup(at, strcspn(at, "\n"));
}

/* How many bytes an error says are needed at least. */
static guint64 least_of(const Result *refused)
{
  const char *at = strstr(refused->err, " need ");
  g_assert_nonnull(at);
  return g_ascii_strtoull(at + strlen(" need "), NULL, 10);
}

static void test_little(void)
{
  static const char *const cycles[] = { "", "cycles=1" };
  write_visibilities();
  g_auto(Result) refused = run(IMAGE "max-memory=1M output=none.fits --quiet");
  if (skips(&refused))
    return;
  assert_refused(&refused, 1, "bytes at least, and max-memory allows 1048576");
  g_assert_nonnull(strstr(refused.err, "astrogridder0"));
  const guint64 least = least_of(&refused);
  for (guint i = 0; i < G_N_ELEMENTS(cycles); i++) {
    /* With cycles as much again for the model, its planes and an integration. */
    g_auto(Result) little =
        run(IMAGE "%s max-memory=%" G_GUINT64_FORMAT " output=little.fits --quiet", cycles[i],
            (i + 1) * least);
    g_auto(Result) ample = run(IMAGE "%s output=ample.fits --quiet", cycles[i]);
    g_assert_cmpstr(little.err, ==, ample.err);
    g_assert_cmpint(little.status, ==, 0);
    g_autofree char *found = source_of(&little), *expected = source_of(&ample);
    g_assert_cmpstr(found, ==, expected);
  }
}

/* Enough for the grid alone. */
static void test_cycles_refused(void)
{
  write_visibilities();
  g_auto(Result) refused = run(IMAGE "max-memory=1M output=none.fits --quiet");
  if (skips(&refused))
    return;
  g_auto(Result) cycles =
      run(IMAGE "cycles=1 max-memory=%" G_GUINT64_FORMAT " output=none.fits --quiet",
          least_of(&refused) + 1000);
  g_assert_cmpint(cycles.status, ==, 1);
  g_assert_nonnull(strstr(cycles.err, "major cycle"));
  g_assert_nonnull(strstr(cycles.err, "astrodegridder0"));
  g_assert_nonnull(strstr(cycles.err, "expected more memory"));
}

static void add_tests(void)
{
  g_test_add_func("/image-memory/little", test_little);
  g_test_add_func("/image-memory/cycles-refused", test_cycles_refused);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
