/* Flags in graphs: interference that was put in vanishes from powers, weights and images, and the
 * picture of before and after. */
#include "tests/graphs/detected.h"
#include "tests/tests.h"

#include <math.h>

/* A transmitter in the middle of channel 13 of 64, on for a fifth of the time, as strong as all the
 * noise of its channel four times over. With flags what is left of the channel is the noise. */
static void test_power(void)
{
  static const char *const flags[] = { "", "flag=kurtosis flag-block=500" };
  double means[2];
  for (guint i = 0; i < 2; i++) {
    g_auto(Result) result =
        run("run spectrometer sky=0,0,0.001 rfi=149.703125e6,6,on=0.1,period=0.5 noise=10 taps=1 "
            "duration=2.1 channels=64 integration-time=1 output=p.fits picture=p.png %s --stats",
            flags[i]);
    if (skips(&result))
      return;
    g_assert_cmpint(result.status, ==, 0);
    g_assert_true(!strstr(result.out, "astroflag0 flagged ") == !i);
    g_auto(Power) power = read_power("p.fits");
    g_assert_cmpuint(power.steps, ==, 2);
    means[i] = mean_of(&power, 0, 0, 13);
    for (guint c = 20; c < 64; c++)
      g_assert_cmpfloat_with_epsilon(mean_of(&power, 0, 0, c), 10, 0.6);
  }
  g_test_message("power of the channel: %g, with flags %g", means[0], means[1]);
  g_assert_cmpfloat(means[0], >, 40);
  g_assert_cmpfloat_with_epsilon(means[1], 10, 1);
}

/* Weights of UVFITS are counts: what was flagged lowers them in its channel and time. */
static void test_weights(void)
{
  static const char *const graph =
      "run correlate stations=3 noise=10 duration=1 channels=16 integration-time=0.1 "
      "rfi=149.9e6,100,on=0.1,period=0.5 output=w.uvfits";
  g_auto(Result) plain = run("%s", graph);
  g_assert_cmpint(plain.status, ==, 0);
  g_assert_nonnull(strstr(plain.out, "flagged 0\n"));
  g_assert_nonnull(strstr(plain.out, "least-weight 62"));
  g_auto(Result) flagged = run("%s flag=kurtosis flag-block=1000", graph);
  g_assert_cmpint(flagged.status, ==, 0);
  const char *least = strstr(flagged.out, "least-weight ");
  g_assert_nonnull(least);
  g_assert_cmpint(g_ascii_strtoll(least + strlen("least-weight "), NULL, 10), <, 5500);
}

/* "noise 0.3 Jy/beam, beam ...", or "noise and sidelobes 0.3 Jy/beam, ...". */
static double noise_of(const Result *result)
{
  const char *end = strstr(result->out, " Jy/beam, beam ");
  g_assert_nonnull(end);
  while (end[-1] != ' ')
    end--;
  return g_ascii_strtod(end, NULL);
}

/* A transmitter that is on in some integrations is more than the noise in the image of the
 * visibilities; threshold and a list both take it out. */
static void test_image(void)
{
  write_file("tone.flags", "# the channel of the transmitter and its neighbours\nchannels=5-7\n",
             -1);
  g_auto(Result) made = run("run correlate stations=12 array=disc sky=0.004,0.003,4 noise=20 "
                            "duration=1.6 channels=16 integration-time=0.02 output=i.uvfits "
                            "rfi=149.9e6,300,on=0.1,period=0.8");
  g_assert_cmpint(made.status, ==, 0);
  static const char *const flags[] = { "", "flag=threshold", "flag=list flag-list=tone.flags" };
  double noise[3];
  for (guint i = 0; i < 3; i++) {
    g_auto(Result) result =
        run("run image uvfits=i.uvfits size=256 cell=90 output=i.fits picture=i.png %s", flags[i]);
    if (skips(&result))
      return;
    g_assert_cmpint(result.status, ==, 0);
    noise[i] = noise_of(&result);
  }
  g_test_message("noise %g, with threshold %g, with the list %g", noise[0], noise[1], noise[2]);
  g_assert_cmpfloat(noise[1], <, 0.7 * noise[0]);
  g_assert_cmpfloat(noise[2], <, 0.7 * noise[0]);
}

static void test_picture(void)
{
  static const char *const methods[] = { "kurtosis", "threshold" };
  for (guint i = 0; i < 2; i++) {
    g_auto(Result) result = run("run flag duration=0.8 channels=64 method=%s output=f.fits "
                                "picture=f.png --stats",
                                methods[i]);
    if (skips(&result))
      return;
    g_assert_cmpint(result.status, ==, 0);
    assert_png("f.png");
    g_assert_nonnull(strstr(result.out, "astroflag0 flagged "));
  }
  g_auto(Result) refused = run("run flag duration=0.1 method=list");
  assert_refused(&refused, 1, "method=list without location");
}

/* With flags the transmitter is gone from the table, and the burst stays. */
static void test_search(void)
{
  static const char *const flags[] = { "", "flag=threshold" };
  for (guint i = 0; i < 2; i++) {
    g_auto(Result) result = run("run search output=c.csv picture=c.png %s", flags[i]);
    if (skips(&result))
      return;
    g_assert_cmpint(result.status, ==, 0);
    g_autofree char *path = in_folder("c.csv"), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(g_strchomp(text), "\n", -1);
    g_test_message("%s", text);
    if (i == 0)
      g_assert_cmpuint(g_strv_length(lines), >, 4); /* the names of the columns are one */
    else
      g_assert_cmpuint(g_strv_length(lines), ==, 2);
    g_assert_nonnull(strstr(text, ",40,"));
  }
}

static void add_tests(void)
{
  g_test_add_func("/graphs-flags/power", test_power);
  g_test_add_func("/graphs-flags/weights", test_weights);
  g_test_add_func("/graphs-flags/image", test_image);
  g_test_add_func("/graphs-flags/picture", test_picture);
  g_test_add_func("/graphs-flags/search", test_search);
}

int main(int argc, char **argv)
{
  test_init_gstreamer(&argc, &argv);
  return test_program(argc, argv, add_tests);
}
