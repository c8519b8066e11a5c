/* Graphs that image in rounds: major cycles, and self-calibration. */
#include "tests/graphs/program.h"
#include "tests/tests.h"

#include <math.h>

/* The noise in the last line about an image, Jy/beam. */
static double noise_of(const Result *result)
{
  const char *at = NULL;
  for (const char *next = result->out; (next = strstr(next, "noise ")); next++)
    at = next;
  g_assert_nonnull(at);
  return g_ascii_strtod(at + strlen("noise "), NULL);
}

/* All dynamic ranges that were printed, in order. */
static GArray *dynamic_ranges(const Result *result)
{
  GArray *ranges = g_array_new(FALSE, FALSE, sizeof(double));
  for (const char *at = result->out; (at = strstr(at, "dynamic range ")); at++) {
    const double range = g_ascii_strtod(at + strlen("dynamic range "), NULL);
    g_array_append_val(ranges, range);
  }
  return ranges;
}

/* A bright source off the pixels and a faint one below the errors of one image's cycles. */
static void write_visibilities(void)
{
  g_auto(Result) made =
      run("run synthesis stations=16 array=vla-like sky=\"0.00512,0.00437,5;-0.0061,0.0042,0.05\" "
          "start=2026-11-20T21:40:00 noise=30 channels=1 duration=7200 integration=120 size=256 "
          "cell=20 iterations=0 "
          "output=cycles.uvfits image=unused.fits picture=unused.png --quiet");
  g_assert_cmpint(made.status, ==, 0);
}

#define IMAGE                                                                                      \
  "run image input=cycles.uvfits size=256 cell=20 iterations=4000 gain=0.1 picture=cycles.png "    \
  "weighting=uniform --quiet "

/* The point-spread function of a grid of low accuracy leaves errors; going back to the visibilities
 * takes them out, and the faint source shows. */
static void test_cycles(void)
{
  write_visibilities();
  g_auto(Result) once = run(IMAGE "accuracy=1e-2 output=once.fits");
  if (skips(&once))
    return;
  g_assert_cmpint(once.status, ==, 0);
  g_auto(Result) cycles =
      run(IMAGE "accuracy=1e-2 cycles=2 images=all output=cycles.fits --keep kept");
  g_assert_cmpint(cycles.status, ==, 0);
  g_assert_cmpint(file_size("kept/model-2.fits"), >, 256 * 256 * 4);
  g_assert_cmpint(file_size("cycles.fits"), >, 4 * 256 * 256 * 4);
  g_assert_nonnull(strstr(cycles.out, "last cycle:\n"));
  g_assert_null(strstr(once.out, "source 2: "));
  const char *faint = strstr(cycles.out, "source 2: "),
             *flux = faint ? strstr(faint, ", 0.0") : NULL;
  g_assert_nonnull(flux);
  g_assert_cmpfloat_with_epsilon(g_ascii_strtod(flux + 2, NULL), 0.05, 0.002);
  g_test_message("noise %g once, %g in cycles", noise_of(&once), noise_of(&cycles));
  g_assert_cmpfloat(noise_of(&cycles), <, 0.1 * noise_of(&once));
}

/* A mask, scales and a threshold reach CLEAN. */
static void test_settings(void)
{
  write_visibilities();
  g_auto(Result) result =
      run(IMAGE "output=set.fits scales=0,4 auto-mask=6 threshold=0.02 mask=none.fits");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 1);
  g_assert_nonnull(strstr(result.err, "none.fits"));
  g_auto(Result) wrong = run(IMAGE "output=set.fits threshold=20MJy");
  g_assert_cmpint(wrong.status, ==, 1);
  g_assert_nonnull(strstr(wrong.err, "threshold \"20MJy\", expected a flux"));
  g_auto(Result) good = run(IMAGE "output=set.fits scales=0,4 auto-mask=6 threshold=20mJy --stats");
  g_assert_cmpint(good.status, ==, 0);
  g_assert_nonnull(strstr(good.err, "end threshold"));
}

/* The flux of a channel's brightest source, Jy/beam. */
static double flux_of_channel(const Result *result, guint channel)
{
  g_autofree char *title = g_strdup_printf("image I, channel %u: ", channel);
  const char *at = strstr(result->out, title), *source = at ? strstr(at, "source 1: ") : NULL,
             *end = source ? strstr(source, " Jy/beam") : NULL;
  g_assert_nonnull(end);
  while (end[-1] != ' ')
    end--;
  return g_ascii_strtod(end, NULL);
}

/* Channels are cleaned together, over major cycles: a source has its spectral index in the cube,
 * and a second image has all channels in one. */
static void test_joined(void)
{
  write_file("spectral.txt", "291.5 52.95 2 -0.8\n", -1);
  g_auto(Result) made =
      run("run synthesis stations=16 array=vla-like sky=spectral.txt frequency=1e9 bandwidth=2e8 "
          "channels=3 noise=30 duration=600 integration=60 size=128 cell=8 iterations=0 "
          "start=2026-11-20T21:40:00 output=joined.uvfits image=unused.fits picture=unused.png "
          "--quiet");
  g_assert_cmpint(made.status, ==, 0);
  g_auto(Result) result = run(
      "run image input=joined.uvfits size=128 cell=8 iterations=500 cycles=1 picture=joined.png "
      "per-channel=true join=true spectral-terms=2 output=joined.fits spectra=spectra.fits "
      "--quiet");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  const double first = flux_of_channel(&result, 0), last = flux_of_channel(&result, 2);
  const double index = log(last / first) / log((1 + 2 / 30.) / (1 - 2 / 30.));
  g_test_message("%g and %g Jy/beam, spectral index %g", first, last, index);
  g_assert_cmpfloat_with_epsilon(index, -0.8, 0.05);
  g_assert_nonnull(strstr(result.out, "channels 3, products I\n"));
  g_assert_nonnull(strstr(result.out, "products I:I-SLOPE:I-INDEX\n"));
  g_assert_cmpint(file_size("spectra.fits"), >, 3 * 128 * 128 * 4);
  g_auto(Result) alone = run("run image input=joined.uvfits size=128 cell=8 iterations=5 join=true "
                             "output=joined.fits picture=joined.png");
  g_assert_cmpint(alone.status, ==, 1);
  g_assert_nonnull(strstr(alone.err, "expected a cube of several"));
}

/* A source has the flux that the dishes would have received on their axis, also in a cube. */
static void test_primary_beam(void)
{
  write_visibilities();
  g_auto(Result) result = run(IMAGE "output=beam.fits primary-beam=airy diameter=60 "
                                    "per-channel=true");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  const double x = G_PI * 60 * hypot(0.00512, 0.00437) * 150e6 / 299792458.0;
  const double beam = pow(2 * j1(x) / x, 2);
  g_test_message("the beam there is %g", beam);
  g_auto(Result) seen = run(IMAGE "output=beam.fits per-channel=true");
  g_assert_cmpint(seen.status, ==, 0);
  g_assert_cmpfloat_with_epsilon(flux_of_channel(&result, 0) / flux_of_channel(&seen, 0), 1 / beam,
                                 2e-3);
  g_auto(Result) wrong = run(IMAGE "output=beam.fits primary-beam=airy");
  g_assert_cmpint(wrong.status, ==, 1);
  g_assert_nonnull(strstr(wrong.err, "a dish with a diameter of 0 m"));
}

/* One bright source and a hundred faint ones. */
static void write_sky(void)
{
  g_autoptr(GString) sky = g_string_new("291.52 52.91 1\n");
  g_autoptr(GRand) rand = g_rand_new_with_seed(7);
  for (guint i = 0; i < 100; i++)
    g_string_append_printf(sky, "%.6f %.6f %.5f\n", 291.5 + g_rand_double_range(rand, -0.4, 0.4),
                           52.9 + g_rand_double_range(rand, -0.25, 0.25),
                           g_rand_double_range(rand, 0.0005, 0.003));
  write_file("hundred.txt", sky->str, (gssize)sky->len);
}

#define SELFCAL                                                                                    \
  "run selfcal sky=hundred.txt stations=20 duration=300 noise=40 size=256 cell=12 "                \
  "iterations=2000 output=self.fits before=before.png picture=after.png gains=self-gains.fits "    \
  "gains-picture=self-gains.png "                                                                  \
  "corrected=self.uvfits --quiet "

/* With phase errors of 30 degrees the image before is ruled by them; at the end its noise is within
 * 1.5 of that of an array without errors. */
static void test_selfcal(void)
{
  write_sky();
  g_auto(Result) perfect = run(SELFCAL "phase-error=0 rounds=0");
  if (skips(&perfect))
    return;
  g_assert_cmpint(perfect.status, ==, 0);
  g_auto(Result) solved = run(SELFCAL "rounds=2");
  g_assert_cmpint(solved.status, ==, 0);
  g_autoptr(GArray) ranges = dynamic_ranges(&solved);
  g_assert_cmpuint(ranges->len, ==, 4);
  const double *range = (double *)(gpointer)ranges->data;
  g_test_message("dynamic ranges %g %g %g %g; noise %g, %g without errors", range[0], range[1],
                 range[2], range[3], noise_of(&solved), noise_of(&perfect));
  g_assert_cmpfloat(range[3], >, 3 * range[0]);
  g_assert_cmpfloat(noise_of(&solved), <, 1.5 * noise_of(&perfect));
  assert_png("before.png");
  assert_png("after.png");
  assert_png("self-gains.png");
  g_assert_cmpint(file_size("self-gains.fits"), >, 0);
  g_assert_cmpint(file_size("self.uvfits"), >, 0);
  g_assert_nonnull(strstr(solved.out, "image, round 2 of 2:\n"));
}

static void add_tests(void)
{
  g_test_add_func("/graphs-cycles/cycles", test_cycles);
  g_test_add_func("/graphs-cycles/settings", test_settings);
  g_test_add_func("/graphs-cycles/joined", test_joined);
  g_test_add_func("/graphs-cycles/primary-beam", test_primary_beam);
  g_test_add_func("/graphs-cycles/selfcal", test_selfcal);
}

int main(int argc, char **argv)
{
  test_init_gstreamer(&argc, &argv);
  return test_program(argc, argv, add_tests);
}
