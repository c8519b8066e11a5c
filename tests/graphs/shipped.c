/* The graphs that are installed, with small parameters. */
#include "tests/earth-orientation.h"
#include "tests/graphs/program.h"

/* Each ends with a line about the file that it wrote. */
static void test_graphs(void)
{
  static const char *const graphs[][2] = {
    { "correlate stations=5 array=vla-like sky=0.002,0,1 noise=5 duration=0.05 channels=20 taps=4 "
      "integration=1000 format=CI8 backend=cpu",
      "stations 5, baselines 15, channels 20, products 4, integrations 3, " },
    { "filterbank channels=10 taps=1 window=hann integration=100 duration=0.005",
      "stations 1, baselines 1, channels 10, products 1, integrations 5, " },
    { "fringe duration=120", "stations 2, baselines 3, channels 8, products 1, integrations 2, " },
  };
  for (guint i = 0; i < G_N_ELEMENTS(graphs); i++) {
    g_auto(Result) result = run("run %s output=graph.uvfits", graphs[i][0]);
    g_assert_cmpint(result.status, ==, 0);
    g_assert_nonnull(strstr(result.err, ": 100.0 %, "));
    g_assert_true(g_str_has_prefix(result.out, "graph.uvfits: format UVFITS, "));
    g_assert_nonnull(strstr(result.out, graphs[i][1]));
  }
}

/* The program finds our own elements by itself, and prints their counts and reports. */
static void test_first_light(void)
{
  g_auto(Result) result = run("run first-light stations=4 channels=16 integration=500 "
                              "duration=0.05 output=light.uvfits image=light.fits "
                              "picture=light.png --stats --quiet");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_true(g_regex_match_simple("(?m)^astrotranspose0 +astrotranspose +[0-9]+ +[0-9]+ "
                                     "+3.[0-9]+ MB +3.[0-9]+ MB +[0-9.]+ .?B/s +[0-9.]+ s "
                                     "+[0-9.]+ s +[0-9.]+ s +[0-9]+ +0 +(cpu|cuda)/",
                                     result.out, 0, 0));
  /* The last lines describe the image and the files. */
  g_assert_cmpint(file_size("light.uvfits"), >, 0);
  g_assert_cmpint(file_size("light.fits"), >, 0);
  g_assert_cmpint(file_size("light.png"), >, 0);
  g_assert_nonnull(strstr(result.out, "\nimage I, channel 0: 3 sources, noise "));
  g_assert_true(g_regex_match_simple(
      "noise [0-9.]+ Jy/beam, beam [0-9]+ x [0-9]+ arcsec, position "
      "angle -?[0-9]+ degrees, 256 x 256 pixels of 45 arcsec, 3.2 degrees wide\n",
      result.out, 0, 0));
  g_assert_nonnull(strstr(result.out, "\nsource 3: true l 0.001000, m -0.007000, 0.5 Jy; "));
  g_assert_nonnull(strstr(result.out, "\nlight.fits: format FITS image, images 1, width 256, "));
  g_assert_true(g_regex_match_simple(
      "\nlight.uvfits: format UVFITS, stations 4, baselines 10, channels 16, products 4, "
      "integrations 7, start 2026-11-20T12:00:00Z, seconds 0.049936, least-weight [0-9]+, "
      "most-weight 500, flagged 0\n",
      result.out, 0, 0));
  g_assert_true(g_str_has_suffix(result.out, "\npicture: light.png\n")); /* --quiet */
  /* A run that fails leaves no file, and keeps the picture of the last one. */
  gint64 pictured = file_size("light.png");
  g_auto(Result) failed = run("run first-light stations=4 channels=16 integration=500 "
                              "duration=0.05 output=/proc/light.uvfits image=failed.fits "
                              "picture=light.png --quiet");
  g_assert_cmpint(failed.status, ==, 1);
  g_assert_nonnull(strstr(failed.err, "astrofitssink0: cannot create /proc/light.uvfits.part"));
  g_assert_cmpint(file_size("light.png"), ==, pictured);
  g_assert_cmpint(file_size("failed.fits"), <, 0);
  write_file("back.graph", "astrofitssrc location=light.uvfits ! fakesink", -1);
  g_auto(Result) back = run("run ./back.graph");
  g_assert_cmpint(back.status, ==, 0);
  g_assert_nonnull(strstr(back.err, "back: 100.0 %, 7 buffers, "));
  /* Results from before an error are kept and reported. */
  write_file("cut.graph",
             "astrofitssrc location=light.uvfits ! identity error-after=4 ! astrofitssink "
             "location=cut.uvfits",
             -1);
  g_auto(Result) cut = run("run ./cut.graph");
  g_assert_cmpint(cut.status, ==, 1);
  g_assert_nonnull(strstr(cut.err, "identity0: "));
  g_assert_true(g_str_has_prefix(cut.out, "cut.uvfits: format UVFITS, stations 4, "));
  g_assert_nonnull(strstr(cut.out, "integrations 3, "));
  write_file(
      "clip.graph",
      "fakesrc num-buffers=3 sizetype=fixed sizemax=65536 filltype=random\n"
      "! "
      "application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=2,pols=2,rate=1/1\n"
      "! astroconvert scale=0.0595 ! application/x-astro-voltages,format=CI4 ! fakesink",
      -1);
  g_auto(Result) clip = run("run ./clip.graph --quiet --verbose");
  g_assert_cmpint(clip.status, ==, 0);
  g_assert_true(g_regex_match_simple("^astroconvert0: clipped: [^\n]*clipped [0-9]+[^\n]*\n$",
                                     clip.err, 0, 0));
  g_auto(Result) silent = run("run ./clip.graph --quiet");
  g_assert_cmpint(silent.status, ==, 0);
  g_assert_cmpstr(silent.err, ==, "");
}

/* How far from its true place the first source was found, in pixels. */
static double offset_of(const char *out)
{
  const char *source = strstr(out, "\nsource 1: ");
  g_assert_nonnull(source);
  const char *end = strstr(source, " pixel apart");
  g_assert_nonnull(end);
  while (end[-1] != ' ')
    end--;
  return g_ascii_strtod(end, NULL);
}

/* Checks the place of the first source of an image. */
static void assert_source(const char *out, double l, double m)
{
  const char *source = strstr(out, "source 1: found l ");
  g_assert_nonnull(source);
  g_assert_cmpfloat_with_epsilon(g_ascii_strtod(source + 18, NULL), l, 5e-6);
  g_assert_cmpfloat_with_epsilon(g_ascii_strtod(strstr(source, " m ") + 3, NULL), m, 5e-6);
}

/* Makes an image from predicted visibilities, and one from the file of the same visibilities. */
static void test_images(void)
{
  g_auto(Result) result = run("run synthesis stations=20 array=vla-like sky=0.0041,0.0033,2 "
                              "duration=3600 integration=120 channels=2 size=256 cell=20 "
                              "centre= weighting=natural output=s.uvfits image=s.fits "
                              "picture=s.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  assert_png("s.png");
  g_assert_cmpfloat(offset_of(result.out), <, 0.05);
  g_assert_nonnull(strstr(result.out, "stations 20, baselines 210, channels 2, products 4, "
                                      "integrations 30, "));
  g_auto(Result) again = run("run image uvfits=s.uvfits output=i.fits size=256 cell=20 "
                             "picture=i.png");
  g_assert_cmpint(again.status, ==, 0);
  assert_png("i.png");
  assert_source(again.out, 0.0041, 0.0033);
  g_assert_nonnull(strstr(again.out, "i.fits: format FITS image, "));
  /* Cleaning removes the array's sidelobes, and errors that CLEAN leaves along the edges are not
   * listed as sources. */
  g_auto(Result) cleaned = run("run image uvfits=s.uvfits output=i.fits size=256 cell=20 "
                               "iterations=200");
  g_assert_nonnull(strstr(cleaned.out, "channel 0: 1 source, "));
  g_assert_null(strstr(cleaned.out, "fluxes in a dirty image"));
  /* For users who have a dead polarisation, or want all of them. */
  g_auto(Result) one = run("run image uvfits=s.uvfits output=i.fits size=256 cell=20 pols=XX");
  g_assert_cmpint(one.status, ==, 0);
  g_assert_nonnull(strstr(one.out, "image XX, channel 0: "));
  assert_source(one.out, 0.0041, 0.0033);
  g_auto(Result) all = run("run image uvfits=s.uvfits output=i.fits size=256 cell=20 pols=I,Q,U,V");
  g_assert_cmpint(all.status, ==, 0);
  g_assert_nonnull(strstr(all.out, "products I:Q:U:V\n"));
  g_auto(Result) wrong = run("run image uvfits=s.uvfits output=wrong.fits pols=X");
  assert_refused(&wrong, 1, "\"X\" is no product, expected some of XX XY YX YY, ");
  g_auto(Result) none = run("run image uvfits=nowhere.uvfits");
  g_assert_cmpint(none.status, ==, 1);
  g_assert_nonnull(strstr(none.err, "nowhere.uvfits"));
}

static void image_bytes(const char *settings, GBytes **image)
{
  g_autofree char *path = in_folder("w.fits"), *bytes = NULL;
  gsize n;
  g_auto(Result) result = run("run first-light stations=6 channels=4 integration=500 "
                              "duration=0.01 size=64 output=w.uvfits image=w.fits picture=w.png "
                              "%s",
                              settings);
  g_assert_cmpstr(result.status ? result.err : "", ==, "");
  g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
  *image = g_bytes_new_take(g_steal_pointer(&bytes), n);
}

/* The last lines are commands that work as written. */
static void test_next_commands(void)
{
  g_auto(Result) result = run("run first-light stations=4 channels=4 integration=500 "
                              "duration=0.01 size=64 output='a b.uvfits' image=n.fits "
                              "picture=n.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  const char *next = strstr(result.out, "\npicture: n.png\nto try next:\n  ");
  g_assert_nonnull(next);
  g_auto(GStrv) lines = g_strsplit(strstr(next, "next:\n") + 6, "\n", -1);
  g_assert_cmpuint(g_strv_length(lines), ==, 4); /* the last is empty */
  for (guint i = 0; i < 3; i++) {
    /* The second would wait for somebody to look. */
    g_autofree char *script = g_strdup_printf("timeout 10 %s%s", lines[i],
                                              i == 1 ? " wait=false duration=60 port=0" : "");
    g_auto(Result) followed = run_shell(script);
    g_assert_cmpint(followed.status, ==, 0);
  }
  g_assert_nonnull(strstr(lines[0], "uvfits='a b.uvfits'"));
  g_assert_cmpint(file_size("image.png"), >, 0);
  g_auto(Result) shown = run("help first-light");
  g_assert_nonnull(strstr(shown.out, "uvfits=first-light.uvfits size="));
  g_assert_null(strstr(shown.out, "${"));
}

/* An integration time instead of a number of spectra: the nearest number is printed. */
static void test_integration_time(void)
{
  g_auto(Result) result = run("run correlate stations=3 channels=20 duration=0.05 "
                              "integration-time=0.0201 output=time.uvfits");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_nonnull(
      strstr(result.err, "astrocorrelator0: integration: spectra 1005, seconds 0.0201\n"));
  g_assert_nonnull(strstr(result.out, "integrations 3, "));
  /* An integration cut short by the end has the length of its data. */
  g_auto(Result) cut = run("run correlate stations=3 channels=20 duration=0.05 "
                           "integration=1000000 output=cut.uvfits");
  g_assert_cmpint(cut.status, ==, 0);
  g_assert_nonnull(strstr(cut.out, "integrations 1, "));
  g_assert_nonnull(strstr(cut.out, "seconds 0.049"));
  static const char *const others[] = { "first-light", "filterbank", "fringe",
                                        "correlate-file rate=1000 frequency=1e8" };
  for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
    g_auto(Result) other = run("print %s integration-time=0.25", others[i]);
    g_assert_nonnull(strstr(other.out, " integration-time=0.25 "));
  }
  g_auto(Result) short_one = run("run correlate stations=3 duration=0.01 integration-time=1e-7 "
                                 "output=time.uvfits");
  assert_refused(&short_one, 1, "less than half of one of the spectra");
}

/* Fluxes that include other sources' sidelobes are marked as such: for several sources, not
 * cleaned. */
static void test_dirty(void)
{
  static const struct {
    const char *settings;
    gboolean says;
  } cases[] = {
    { "iterations=0", TRUE },
    { "iterations=200", FALSE },
    { "iterations=0 sky=0.002,0,2", FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(Result) result = run("run synthesis stations=12 array=vla-like duration=600 "
                                "integration=60 channels=1 size=256 cell=20 centre= noise=0 "
                                "weighting=natural output=d.uvfits image=d.fits picture=d.png %s",
                                cases[i].settings);
    if (skips(&result))
      return;
    g_assert_cmpint(result.status, ==, 0);
    g_assert_cmpint(strstr(result.out, "\nfluxes in a dirty image include the sidelobes") != NULL,
                    ==, cases[i].says);
  }
}

/* The settings that CLEAN's warnings tell people to change can be changed. */
static void test_clean_settings(void)
{
  static const char *const graphs[] = { "image", "synthesis" };
  for (guint i = 0; i < G_N_ELEMENTS(graphs); i++) {
    g_auto(Result) result = run("print %s gain=0.03 border=17", graphs[i]);
    g_assert_cmpint(result.status, ==, 0);
    g_assert_true(g_regex_match_simple("astroclean iterations=[0-9]+ gain=0.03 border=17 ",
                                       result.out, 0, 0));
  }
  g_auto(Result) watch = run("print watch gain=0.03");
  g_assert_nonnull(strstr(watch.out, "astroclean iterations=0 gain=0.03 "));
}

/* Pictures are PNG, and no name may say that they are something else. */
static void test_other_pictures(void)
{
  static const char *const names[] = { "x.jpg", "x.JPEG", "x.pdf" };
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    g_auto(Result) result = run("run synthesis duration=10 picture=%s", names[i]);
    if (skips(&result))
      return;
    assert_refused(&result, 1, ", expected a name that ends in .png");
    g_assert_cmpint(file_size(names[i]), <, 0);
  }
}

/* With its defaults the graph watch gives no warning: its pixels suit the array. */
static void test_watch_defaults(void)
{
  g_auto(Result) result = run("run watch port=0 wait=false duration=300 --quiet");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_assert_null(strstr(result.err, "warning: "));
}

/* Each of array, weighting and robust changes the image. */
static void test_first_light_settings(void)
{
  static const char *const settings[] = {
    "",
    "array=vla-like",
    "weighting=uniform",
    "weighting=briggs robust=1",
    "weighting=briggs robust=-1",
  };
  GBytes *images[G_N_ELEMENTS(settings)];
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++)
    image_bytes(settings[i], &images[i]);
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++)
    for (guint j = 0; j < i; j++)
      g_assert_false(g_bytes_equal(images[i], images[j]));
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++)
    g_bytes_unref(images[i]);
  g_auto(Result) watch = run("print watch array=vla-like weighting=briggs robust=1");
  g_assert_nonnull(strstr(watch.out, " array=vla-like "));
  g_assert_nonnull(strstr(watch.out, " robust=1 "));
  g_auto(Result) wrong = run("run image robust=9");
  assert_refused(&wrong, 1,
                 "could not set property \"robust\" in element \"astrogridder\" to "
                 "\"9\": expected a number from -5 to 5");
}

/* The graphs that accept an IERS file use it, from voltages to an image. */
static void check_earth_orientation(void)
{
  write_file("finals2000A.all", test_finals_2026, -1);
  g_auto(Result) result = run("run correlate-file input=own.raw skip=30 stations=14 rate=400000 "
                              "bandwidth=200000 frequency=150e6 array=positions.txt "
                              "centre=200,-30 start=2026-11-20T12:00:00 channels=20 "
                              "integration=500 format=I8 sideband=lower output=earth.uvfits "
                              "earth-orientation=finals2000A.all");
  g_assert_cmpint(result.status, ==, 0);
  g_auto(Result) image = run("run image uvfits=earth.uvfits output=earth.fits size=256 cell=20 "
                             "earth-orientation=finals2000A.all");
  g_assert_cmpint(image.status, ==, 0);
  /* Samples were simulated with UT1 = UTC, so that the sky is an arcsec off for the file's days. */
  assert_source(image.out, 0.0040935, 0.0033);
  /* own.uvfits was made without the file. */
  g_auto(Result) other = run("run image uvfits=own.uvfits output=bad.fits size=256 cell=20 "
                             "earth-orientation=finals2000A.all");
  assert_refused(&other, 1, "was computed with the Earth orientation none, UT1 = UTC");
}

/* The list for a dirty image has none of its sidelobes, says so, and says what to do; that of a
 * cleaned one has all sources and nothing else. Sources known to lie outside are reported as such.
 */
static void test_lists(void)
{
  g_auto(Result) result = run("run synthesis stations=20 array=vla-like "
                              "sky=0.0041,0.0033,2;-0.002,0.003,1;0.001,-0.004,0.3;0.02,0,1e-9 "
                              "duration=600 integration=120 channels=2 size=256 cell=20 noise=5 "
                              "centre= weighting=natural output=s.uvfits image=s.fits");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_nonnull(strstr(result.out, "Jy; outside the image\n"));
  g_auto(Result) dirty = run("run image uvfits=s.uvfits output=i.fits size=256 cell=20");
  g_assert_nonnull(strstr(dirty.out, "image I, channel 0: 2 sources, noise and sidelobes "));
  g_assert_true(g_regex_match_simple("\npeaks below [0-9.]+ Jy/beam are not listed: they may be "
                                     "sidelobes of these, which CLEAN removes "
                                     "\\(iterations=1000\\)\n",
                                     dirty.out, 0, 0));
  g_auto(Result) begun =
      run("run image uvfits=s.uvfits output=i.fits size=256 cell=20 iterations=5");
  g_assert_nonnull(strstr(begun.out, "which more iterations of CLEAN remove\n"));
  g_auto(Result) cleaned =
      run("run image uvfits=s.uvfits output=i.fits size=256 cell=20 iterations=1000");
  g_assert_nonnull(strstr(cleaned.out, "image I, channel 0: 3 sources, noise "));
  g_assert_null(strstr(cleaned.out, "not listed"));
  g_assert_true(g_regex_match_simple("\nsource 3: found l 0.00[01][0-9]+, m -0.00[34][0-9]+, "
                                     "0.[23][0-9]+ Jy/beam, at [0-9]+:[0-9]+:[0-9.]+, "
                                     "[+-][0-9]+:[0-9]+:[0-9.]+\n",
                                     cleaned.out, 0, 0));
  /* Pixels and field are not set: they follow from the stations. */
  g_auto(Result) unset = run("run image uvfits=s.uvfits output=i.fits iterations=1000");
  g_assert_nonnull(strstr(unset.out, "image I, channel 0: 3 sources, noise "));
  g_assert_nonnull(strstr(unset.out, ", 1024 x 1024 pixels of "));
  g_assert_null(strstr(unset.err, "warning"));
  /* Without a list of sources, the beam has a line of its own. */
  write_file("beam.graph",
             "astrofitssrc location=s.uvfits ! astrogridder size=256 cell=20 ! astrofft ! "
             "astroimage psf=true ! fakesink",
             -1);
  g_auto(Result) beam = run("run ./beam.graph --quiet");
  g_assert_true(g_regex_match_simple("^astroimage0: beam [0-9]+ x [0-9.]+ arcsec, position angle "
                                     "-?[0-9]+ degrees\n$",
                                     beam.out, 0, 0));
}

/* Samples of a simulated array, after a header that is skipped, become visibilities and an image.
 */
static void check_own_voltages(const char *format, gssize bytes, const char *sideband)
{
  const guint rate = *format == 'C' ? 200000 : 400000;
  g_autofree char *graph = g_strdup_printf(
      "astroskysrc array=positions.txt sky=0.0041,0.0033,2 noise=1 phase-centre=200,-30 "
      "bandwidth=200e3 duration=0.2 ! application/x-astro-voltages,format=%s ! "
      "astrosideband sideband=%s ! astroconvert ! "
      "application/x-astro-voltages,format=%s,layout=time:station:pol ! filesink location=samples",
      g_str_equal(format, "CF16LE") ? "CF32LE" : format, sideband, format);
  write_file("own.graph", graph, -1);
  g_auto(Result) made = run("run ./own.graph");
  g_assert_cmpint(made.status, ==, 0);
  g_auto(Result) joined =
      run_shell("(printf 'a header of 30 bytes: 12345678'; cat samples) > own.raw");
  g_assert_cmpint(joined.status, ==, 0);
  g_assert_cmpint(file_size("own.raw"), ==, 30 + rate / 5 * 14 * 2 * bytes);
  g_auto(Result) result = run(
      "run correlate-file input=own.raw skip=30 stations=14 rate=%u bandwidth=200000 "
      "frequency=150e6 array=positions.txt centre=200,-30 start=2026-11-20T12:00:00 channels=20 "
      "integration=500 format=%s sideband=%s output=own.uvfits",
      rate, format, sideband);
  g_assert_cmpint(result.status, ==, 0);
  g_assert_nonnull(strstr(result.out, "stations 14, baselines 105, channels 20, products 4, "
                                      "integrations 4, start 2026-11-20T12:00:00Z"));
  g_auto(Result) image = run("run image uvfits=own.uvfits output=own.fits size=256 cell=20");
  g_assert_cmpint(image.status, ==, 0);
  assert_source(image.out, 0.0041, 0.0033);
}

static void test_own_voltages(void)
{
  g_autoptr(GString) positions = g_string_new("site -30 21 1000\n");
  for (guint i = 0; i < 14; i++)
    g_string_append_printf(positions, "%u %u 0\n", i * i * 911 % 4000, i * i * 577 % 3900);
  write_file("positions.txt", positions->str, (gssize)positions->len);
  check_own_voltages("CF16LE", 4, "upper");
  check_own_voltages("CI8", 2, "lower");
  check_own_voltages("I8", 1, "upper");
  check_own_voltages("I8", 1, "lower");
  check_earth_orientation();
  static const char *const bad[][2] = {
    { "format=CI8 stations=13 array=positions.txt",
      "positions.txt: 14 stations found, expected 13" },
    { "format=CI8 stations=14 start=2026-11-20T12:00:00",
      "array is not set and no observation came" },
    { "format=CI8 stations=14 array=disc centre=1,2", "no start time" },
    { "format=CI8 stations=14 array=disc start=2026-11-20T12:00:00", "no phase centre" },
    { "format=CI8 stations=0 array=disc", "stations=0, expected a whole number of at least 1" },
    { "format=CI8 stations=2 pols=0", "pols=0, expected a whole number of at least 1" },
    { "stations=2", "own.raw: found bytes of an unknown kind" },
    { "format=CI8", "stations is not set, and a file without a header does not tell it" },
    { "stations=14 array=disc start=2026-11-20T12:00:00 centre=zenith format=I8",
      "bandwidth=200000 Hz, expected at most 100000 Hz, which real samples" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_auto(Result) refused =
        run("run correlate-file input=own.raw rate=200000 frequency=150e6 %s output=bad.uvfits",
            bad[i][0]);
    assert_refused(&refused, 1, bad[i][1]);
    g_assert_cmpint(file_size("bad.uvfits"), ==, -1);
  }
  /* These have no defaults, since no default would be right. */
  g_auto(Result) no_rate =
      run("run correlate-file input=own.raw format=CI8 stations=14 frequency=150e6");
  assert_refused(&no_rate, 1,
                 "own.raw has no header that tells the rate and the frequency of its samples");
  g_auto(Result) no_frequency =
      run("run correlate-file input=own.raw format=CI8 stations=14 rate=200000");
  assert_refused(&no_frequency, 1,
                 "own.raw has no header that tells the rate and the frequency of its samples");
}

static void add_tests(void)
{
  g_test_add_func("/gst-astro/first-light", test_first_light);
  g_test_add_func("/gst-astro/first-light-settings", test_first_light_settings);
  g_test_add_func("/gst-astro/next-commands", test_next_commands);
  g_test_add_func("/gst-astro/integration-time", test_integration_time);
  g_test_add_func("/gst-astro/images", test_images);
  g_test_add_func("/gst-astro/dirty", test_dirty);
  g_test_add_func("/gst-astro/clean-settings", test_clean_settings);
  g_test_add_func("/gst-astro/other-pictures", test_other_pictures);
  g_test_add_func("/gst-astro/watch-defaults", test_watch_defaults);
  g_test_add_func("/gst-astro/lists", test_lists);
  g_test_add_func("/gst-astro/own-voltages", test_own_voltages);
  g_test_add_func("/gst-astro/graphs", test_graphs);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
