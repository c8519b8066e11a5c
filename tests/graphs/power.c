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
      run("run spectrometer pattern=tone rfi= tone=150.203125e6 channels=64 taps=1 duration=0.1 "
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
  g_auto(Result) a =
      run("run spectrometer sky=0,0,30 rfi= duration=0.2 output=a.fits picture=a.png");
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

/* Power that is detected already, from PSRFITS and into it. */
static void test_detected(void)
{
  g_auto(Result) a = run("run spectrometer duration=0.5 products=XX:YY channels=64 output=a.sf "
                         "picture=a.png");
  if (skips(&a))
    return;
  g_auto(Result) b = run("run spectrometer input=a.sf detected=yes output=b.sf picture=b.png");
  g_assert_cmpint(a.status, ==, 0);
  g_assert_cmpint(b.status, ==, 0);
  g_auto(Power) x = read_power("a.sf"), y = read_power("b.sf");
  g_assert_cmpuint(x.steps, >, 20);
  g_assert_cmpuint(x.products.n, ==, 2);
  g_assert_cmpmem(x.values->data, x.values->len * sizeof(double), y.values->data,
                  y.values->len * sizeof(double));
  g_auto(Result) refused = run("run spectrometer input=a.sf detected=yes channels=32");
  assert_refused(&refused, 1, "parameter channels is not used with detected");
}

/* The flux, centre and place of a spectral line, and a tone that is on for part of the time. */
static void test_line(void)
{
  g_auto(Result) result = run(
      "run spectrometer sky=0,0,10,line=150.2e6:1e5:40 rfi=149.703125e6,3,on=0.5,period=1 taps=1 "
      "duration=1 channels=64 output=line.fits picture=line.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_auto(Power) power = read_power("line.fits");
  const double width = power.stream.bandwidth / 64;
  double flux = 0, moment = 0, tone = 0;
  for (guint c = 0; c < 64; c++) {
    const double frequency =
                     astro_channel_frequency(power.stream.frequency, power.stream.bandwidth, 64, c),
                 above = mean_of(&power, 0, 0, c) - 20; /* of the source and of the receiver */
    if (frequency < 149.8e6)
      tone += above / 64;
    else if (fabs(frequency - 150.2e6) < 2e5)
      flux += above * width;
    if (fabs(frequency - 150.2e6) < 2e5)
      moment += above * width * frequency;
  }
  const double expected = 40 * 1e5 * sqrt(G_PI / log(16)); /* the area of a Gaussian */
  g_test_message("line: %g of %g at %.0f; tone: %g", flux, expected, moment / flux, tone);
  g_assert_cmpfloat_with_epsilon(flux, expected, 0.03 * expected);
  g_assert_cmpfloat_with_epsilon(moment / flux, 150.2e6, 2e3);
  g_assert_cmpfloat_with_epsilon(tone, 1.5, 0.1);
}

/* Stokes parameters are those of the source, in either basis. */
static void test_stokes(void)
{
  static const char *const bases[] = { "linear", "circular" };
  const double expected[] = { 11, 3, -2, 1.5 }; /* with the noise of the receivers */
  for (guint b = 0; b < G_N_ELEMENTS(bases); b++) {
    g_autofree char *text = g_strdup_printf(
        "astroskysrc stations=1 sky=0,0,10,q=3,u=-2,v=1.5 noise=1 basis=%s duration=1 ! "
        "application/x-astro-voltages,format=CF32LE ! astrochannelizer channels=32 ! "
        "astropower products=I:Q:U:V integration=500 ! astrofitssink location=stokes.fits",
        bases[b]);
    write_file("stokes.graph", text, -1);
    g_auto(Result) result = run("run ./stokes.graph");
    g_assert_cmpint(result.status, ==, 0);
    g_auto(Power) power = read_power("stokes.fits");
    for (guint p = 0; p < 4; p++) {
      double mean = 0;
      for (guint c = 0; c < 32; c++)
        mean += mean_of(&power, 0, p, c) / 32;
      g_test_message("%s %s: %g", bases[b], power.products.names[p], mean);
      g_assert_cmpfloat_with_epsilon(mean, expected[p], 0.06);
    }
  }
}

/* With the mean of the squares, the spectral kurtosis is 1 for noise and 0 for a tone. */
static void test_kurtosis(void)
{
  g_auto(Result) result =
      run("run spectrometer pattern=noise rfi=149.703125e6,300 products=XX square=true channels=64 "
          "duration=1 output=square.fits picture=square.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_auto(Power) power = read_power("square.fits");
  g_assert_cmpint(astro_power_products_square(&power.products, 0), ==, 1);
  const double m = 312; /* spectra in an integration */
  double noise = 0, tone = 0;
  for (guint64 t = 0; t < power.steps; t++)
    for (guint c = 0; c < 64; c++) {
      const double mean = g_array_index(power.values, double, (t * 2) * 64 + c),
                   square = g_array_index(power.values, double, (t * 2 + 1) * 64 + c),
                   kurtosis = (m + 1) / (m - 1) * (square / (mean * mean) - 1);
      if (c == 13)
        tone += kurtosis / (double)power.steps;
      else if (c < 12 || c > 14)
        noise += kurtosis / (61 * (double)power.steps);
    }
  g_test_message("kurtosis of noise %g, of the tone %g", noise, tone);
  g_assert_cmpfloat_with_epsilon(noise, 1, 0.02);
  g_assert_cmpfloat_with_epsilon(tone, 0, 0.01);
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
  /* Two polarisations and 156 spectra are averaged; the deviations are known to 1 %. */
  g_assert_cmpfloat_with_epsilon(of_one, 1 / sqrt(2 * 156), 0.03 / sqrt(2 * 156));
  g_assert_cmpfloat_with_epsilon(of_one / of_all, 4, 0.16);
}

static void add_tests(void)
{
  g_test_add_func("/graphs-power/tone", test_tone);
  g_test_add_func("/graphs-power/input", test_input);
  g_test_add_func("/graphs-power/detected", test_detected);
  g_test_add_func("/graphs-power/line", test_line);
  g_test_add_func("/graphs-power/stokes", test_stokes);
  g_test_add_func("/graphs-power/kurtosis", test_kurtosis);
  g_test_add_func("/graphs-power/incoherent", test_incoherent);
}

int main(int argc, char **argv)
{
  test_init_gstreamer(&argc, &argv);
  return test_program(argc, argv, add_tests);
}
