/* The graphs of beams and voltages: what they find is what was put in. */
#include "tests/graphs/detected.h"
#include "tests/graphs/program.h"
#include "tests/tests.h"

#include <math.h>

static double mean_of_band(const Power *power, guint beam, guint channels)
{
  double sum = 0;
  for (guint c = 0; c < channels; c++)
    sum += mean_of(power, beam, 0, c) / channels;
  return sum;
}

/* A beam on a source of 5 Jy has its power and an eighth of the noise of eight stations, 10 Jy
 * each; a beam far from it has the noise and little else. */
static void test_beam(void)
{
  g_auto(Result) result =
      run("run beam antennas=8 duration=0.2 channels=16 output=beam.fits picture=beam.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_auto(Power) power = read_power("beam.fits");
  g_assert_cmpuint(astro_stream_extent(&power.stream, ASTRO_AXIS_BEAM), ==, 2);
  const double on = mean_of_band(&power, 0, 16), off = mean_of_band(&power, 1, 16);
  g_test_message("%g on the source, %g beside it", on, off);
  g_assert_cmpfloat_with_epsilon(on, 5 + 10. / 8, 0.02 * on);
  g_assert_cmpfloat(off, <, 3);
  g_auto(Result) dark = run("run beam antennas=8 duration=0.2 channels=16 sky=0,0,0 "
                            "output=dark.fits picture=beam.png");
  g_assert_cmpint(dark.status, ==, 0);
  g_auto(Power) noise = read_power("dark.fits");
  for (guint beam = 0; beam < 2; beam++)
    g_assert_cmpfloat_with_epsilon(mean_of_band(&noise, beam, 16), 10. / 8, 0.02 * 10 / 8);
}

/* Beams scan the sky, and the strongest is the one next to the source. */
static void test_scan(void)
{
  enum { SIDE = 7 };
  g_autoptr(GString) beams = g_string_new(NULL);
  for (guint i = 0; i < SIDE * SIDE; i++)
    g_string_append_printf(beams, "lm %g %g at-%u-%u\n", (i % SIDE - 3.) * 0.001,
                           (i / SIDE - 3.) * 0.001, i % SIDE, i / SIDE);
  write_file("beams.txt", beams->str, -1);
  g_auto(Result) result = run("run beam antennas=24 duration=0.05 channels=8 beams=beams.txt "
                              "sky=0.0021,-0.0009,5 output=scan.fits picture=scan.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_auto(Power) power = read_power("scan.fits");
  guint best = 0;
  for (guint i = 0; i < SIDE * SIDE; i++)
    if (mean_of_band(&power, i, 8) > mean_of_band(&power, best, 8))
      best = i;
  g_assert_cmpuint(best % SIDE, ==, 3 + 2);
  g_assert_cmpuint(best / SIDE, ==, 3 - 1);
}

static void check_same(const char *one, const char *other)
{
  g_autofree char *paths[] = { in_folder(one), in_folder(other) }, *bytes[2];
  gsize n[2];
  for (guint i = 0; i < 2; i++)
    g_assert_true(g_file_get_contents(paths[i], &bytes[i], &n[i], NULL));
  g_assert_cmpmem(bytes[0], n[0], bytes[1], n[1]);
  for (guint i = 0; i < 2; i++) {
    g_free(paths[i]);
    g_free(bytes[i]);
    paths[i] = bytes[i] = NULL;
  }
}

/* A recording is replayed bit for bit, and its beams are those of the stream. */
static void test_replayed(void)
{
  static const char *const lines[] = {
    "run voltages duration=0.1 output=a.fits picture=a.png",
    "run voltages input=a.fits output=b.fits picture=b.png",
    "run voltages duration=0.1 stations=6 sky=0.004,0.003,5 format=CF32LE output=v.fits "
    "picture=v.png",
    "run beam input=v.fits channels=16 output=x.fits picture=x.png",
    "run beam antennas=6 duration=0.1 channels=16 output=y.fits picture=y.png",
  };
  for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_auto(Result) result = run("%s", lines[i]);
    if (skips(&result))
      return;
    g_assert_cmpstr(result.status ? result.err : "", ==, "");
  }
  check_same("a.fits", "b.fits");
  g_auto(Power) recorded = read_power("x.fits"), streamed = read_power("y.fits");
  g_assert_cmpuint(recorded.steps, >, 5);
  const double a = mean_of_band(&recorded, 0, 16), b = mean_of_band(&streamed, 0, 16);
  g_assert_cmpfloat_with_epsilon(a, 5 + 10. / 6, 0.03 * a);
  g_assert_cmpfloat_with_epsilon(a, b, 0.03 * a);
}

static void test_refused(void)
{
  static const struct {
    const char *line, *says;
  } cases[] = {
    { "run beam input=none.fits noise=3", "parameter noise is not used with input" },
    { "run voltages input=none.fits format=CI8", "parameter format is not used with input" },
    { "run beam beams= duration=0.01", "has no beams, expected directions" },
    { "run beam beams=4,5;0,0 duration=0.01", "expected all in one kind" },
    { "run beam stations=40 duration=0.01", "stations: \"40\" is beyond the 32" },
    { "run beam weights=none.txt duration=0.01", "none.txt" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(Result) result = run("%s output=r.fits picture=r.png", cases[i].line);
    if (skips(&result))
      return;
    g_assert_cmpint(result.status, ==, 1);
    test_says(result.err, cases[i].says);
  }
}

static void add_tests(void)
{
  g_test_add_func("/graphs-beams/beam", test_beam);
  g_test_add_func("/graphs-beams/scan", test_scan);
  g_test_add_func("/graphs-beams/replayed", test_replayed);
  g_test_add_func("/graphs-beams/refused", test_refused);
}

int main(int argc, char **argv)
{
  test_init_gstreamer(&argc, &argv);
  return test_program(argc, argv, add_tests);
}
