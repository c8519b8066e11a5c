/* Graphs that make a picture: it exists, and shows what was asked for. */
#include "tests/graphs/program.h"

/* The bytes of a PNG file; NULL if this machine has no plugin to write it. */
static GBytes *draw(const char *line, const char *picture)
{
  g_autofree char *path = in_folder(picture);
  char *bytes = NULL;
  gsize n = 0;
  g_auto(Result) result = run("run %s picture=%s", line, picture);
  if (result.status && strstr(result.err, "no element")) {
    g_test_skip(result.err);
    return NULL;
  }
  g_assert_cmpstr(result.status ? result.err : "", ==, "");
  g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
  g_assert_cmpuint(n, >, 5000);
  g_assert_cmpmem(bytes, 8, "\x89PNG\r\n\x1a\n", 8);
  return g_bytes_new_take(bytes, n);
}

/* The same input gives the same picture, including the last integration; another input gives
 * another picture. */
static void check(const char *graph, const char *other)
{
  g_autofree char *changed = g_strdup_printf("%s %s", graph, other);
  g_autoptr(GBytes) a = draw(graph, "a.png"), b = a ? draw(graph, "b.png") : NULL,
                    c = a ? draw(changed, "c.png") : NULL;
  if (!a)
    return;
  g_assert_true(g_bytes_equal(a, b));
  g_assert_false(g_bytes_equal(a, c));
}

static void spectrum(void)
{
  check("filterbank channels=16 integration=100 duration=0.01 output=graph.uvfits", "taps=1");
}

static void fringe(void)
{
  check("fringe duration=300 output=graph.uvfits", "sky=0,0,10");
}

/* The picture is that of the last integration, whatever was dropped on the way. */
static void power(void)
{
  check("spectrometer duration=0.2 channels=64 output=graph.fits", "flatten=true");
  check("beam duration=0.05 antennas=6 output=graph.fits", "beams=0,0");
  check("voltages duration=0.1 output=graph.fits", "format=CI4");
  check("pulsar duration=0.4 channels=16 interval=0.1 output=graph.fits", "flatten=true");
  check("flag duration=0.2 channels=64 output=graph.fits", "method=threshold");
  check("search duration=1 burst=0,0,0.01,time=0.5,width=0.004,dm=40 output=graph.csv",
        "dm=0:50:1");
  check("incoherent duration=0.1 output=graph.fits single=one.fits", "stations=5");
}

/* The recording is looked at, not the name of its file. */
static void look(void)
{
  write_file("make.graph",
             "astroskysrc stations=1 pols=2 noise=400 bandwidth=1e5 frequency=150e6 duration=1 "
             "start-time=2026-11-20T12:00:00 ! application/x-astro-voltages,format=CI8 ! "
             "tee name=t t. ! queue ! astrorecordsink format=vdif location=a.vdif "
             "t. ! queue ! astrorecordsink format=vdif location=b.dada",
             -1);
  g_auto(Result) made = run("run --quiet ./make.graph");
  g_assert_cmpint(made.status, ==, 0);
  g_autoptr(GBytes) one = draw("look input=a.vdif frequency=150e6", "0.png");
  if (!one)
    return;
  g_autoptr(GBytes) same = draw("look input=b.dada frequency=150e6", "1.png");
  g_autoptr(GBytes) other = draw("look input=a.vdif frequency=151e6", "2.png");
  g_assert_true(g_bytes_equal(one, same));
  g_assert_false(g_bytes_equal(one, other));
}

/* Pictures have default names, and a folder that does not exist is refused before the run. */
static void names(void)
{
  static const char *const graphs[] = { "filterbank", "fringe",    "spectrometer", "incoherent",
                                        "beam",       "voltages",  "pulsar",       "flag",
                                        "search",     "transient", "calibrate",    "selfcal" };
  for (guint i = 0; i < G_N_ELEMENTS(graphs); i++) {
    g_autofree char *parameter = g_strdup_printf("  picture=%s.png ", graphs[i]);
    g_auto(Result) shown = run("show %s", graphs[i]);
    g_assert_nonnull(strstr(shown.out, parameter));
    g_auto(Result) refused = run("run %s output=none.uvfits picture=absent/a.png", graphs[i]);
    assert_refused(&refused, 1, "would write to absent/a.png, but folder absent does not exist");
    g_assert_cmpint(file_size("none.uvfits"), <, 0);
  }
  write_file("any", "", 0);
  g_auto(Result) shown = run("show look"), refused = run("run look input=any picture=absent/a.png");
  g_assert_nonnull(strstr(shown.out, "  picture=look.png "));
  assert_refused(&refused, 1, "would write to absent/a.png, but folder absent does not exist");
}

static void add_tests(void)
{
  g_test_add_func("/pictures/spectrum", spectrum);
  g_test_add_func("/pictures/fringe", fringe);
  g_test_add_func("/pictures/power", power);
  g_test_add_func("/pictures/look", look);
  g_test_add_func("/pictures/names", names);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
