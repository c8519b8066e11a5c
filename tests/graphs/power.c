/* The graphs of detected power: what they find is what was put in. */
#include "tests/graphs/detected.h"
#include "tests/graphs/program.h"
#include "tests/tests.h"

#include <math.h>

/* A tone of power 1 in the middle of channel 45 of 64 is there alone, in both polarisations. Each
 * channel has the power that noise of its density would have in the whole band, so that the mean of
 * all channels is the power that came in. */
static void test_tone(void)
{
  g_auto(Result) result =
      run("run spectrometer pattern=tone tone=150.203125e6 channels=64 taps=1 duration=0.1 "
          "products=XX:YY integration-time=0.005 output=tone.fits picture=tone.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_auto(Power) power = read_power("tone.fits");
  g_assert_cmpuint(power.products.n, ==, 2);
  g_assert_cmpfloat_with_epsilon(
      astro_channel_frequency(power.stream.frequency, power.stream.bandwidth, 64, 45), 150.203125e6,
      1e-3);
  for (guint product = 0; product < 2; product++) {
    const double tone = mean_of(&power, 0, product, 45);
    g_test_message("power of the tone: %g", tone);
    g_assert_cmpfloat_with_epsilon(tone / 64, 1, 1e-3);
    for (guint c = 0; c < 64; c++)
      if (c != 45)
        g_assert_cmpfloat(mean_of(&power, 0, product, c), <, 1e-5 * tone);
  }
}

/* The noise of a source and of the receivers add up, and a file of the same voltages gives the same
 * power, bit for bit. Settings that only the simulated receivers have are refused with a file. */
static void test_input(void)
{
  write_file("voltages.graph",
             "astroskysrc stations=1 sky=0,0,30 noise=10 duration=0.2 ! "
             "application/x-astro-voltages,format=CF32LE ! astrofitssink location=voltages.fits",
             -1);
  g_auto(Result) written = run("run ./voltages.graph");
  g_assert_cmpint(written.status, ==, 0);
  g_auto(Result) a = run("run spectrometer duration=0.2 output=a.fits picture=a.png");
  if (skips(&a))
    return;
  g_auto(Result) b = run("run spectrometer input=voltages.fits output=b.fits picture=b.png");
  g_assert_cmpint(a.status, ==, 0);
  g_assert_cmpint(b.status, ==, 0);
  g_auto(Power) x = read_power("a.fits"), y = read_power("b.fits");
  g_assert_cmpuint(x.steps, >, 5);
  g_assert_cmpmem(x.values->data, x.values->len * sizeof(double), y.values->data,
                  y.values->len * sizeof(double));
  double all = 0;
  for (guint c = 0; c < 256; c++)
    all += mean_of(&x, 0, 0, c) / 256;
  g_assert_cmpfloat_with_epsilon(all, 40, 0.5);
  g_auto(Result) refused = run("run spectrometer input=voltages.fits noise=3");
  assert_refused(&refused, 1, "parameter noise is not used with input");
}

static double relative_deviation(const Power *power)
{
  double sum = 0, squares = 0;
  const double n = power->values->len;
  for (guint i = 0; i < power->values->len; i++) {
    const double value = g_array_index(power->values, double, i);
    sum += value;
    squares += value * value;
  }
  return sqrt(squares / n - sum / n * sum / n) / (sum / n);
}

/* The incoherent beam of N stations has the mean of one, and its noise divided by the root of N. */
static void test_incoherent(void)
{
  g_auto(Result) result = run("run incoherent stations=16 sky=0,0,0.001 duration=1 output=all.fits "
                              "single=one.fits picture=all.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_auto(Power) all = read_power("all.fits"), one = read_power("one.fits");
  g_assert_cmpuint(all.values->len, ==, one.values->len);
  double mean = 0;
  for (guint c = 0; c < 64; c++)
    mean += mean_of(&all, 0, 0, c) / 64;
  g_assert_cmpfloat_with_epsilon(mean, 10, 0.05);
  const double of_all = relative_deviation(&all), of_one = relative_deviation(&one);
  g_test_message("%g of one, %g of all", of_one, of_all);
  /* Of two polarisations and 156 spectra; the deviations are known to 1 %. */
  g_assert_cmpfloat_with_epsilon(of_one, 1 / sqrt(2 * 156), 0.03 / sqrt(2 * 156));
  g_assert_cmpfloat_with_epsilon(of_one / of_all, 4, 0.16);
}

static void add_tests(void)
{
  g_test_add_func("/graphs-power/tone", test_tone);
  g_test_add_func("/graphs-power/input", test_input);
  g_test_add_func("/graphs-power/incoherent", test_incoherent);
}

int main(int argc, char **argv)
{
  test_init_gstreamer(&argc, &argv);
  return test_program(argc, argv, add_tests);
}
