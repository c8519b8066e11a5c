/* Imaging holds one grid (W-stacking: one plane), the image, and no more visibilities than it must:
 * each case is measured in a process of its own. */
#include "tests/peak.h"
#include "tests/tests.h"

#include <stdlib.h>

/* Hardly any visibilities and tables. */
#define FEW "stations=20 array=disc channels=1 duration=40 "

/* A plane that is mostly empty takes memory only for the rest, unless all of it is asked for. */
#define WHOLE " ! application/x-astro-uvgrid,touched-only=false"

/* most: a multiple of grid, image, and visibilities with their u, v and w. */
static const struct {
  const char *name, *source, *gridder;
  double least, most; /* least: or it was not measured */
} cases[] = {
  { "wstacking", FEW, "size=2048 cell=10" WHOLE, 0.99, 1.3 },
  { "wstacking-iquv", FEW, "size=1024 cell=20 stokes=IQUV" WHOLE, 0.99, 1.3 },
  { "wstacking-double", FEW, "size=1024 cell=20 accuracy=1e-7 stokes=IQUV" WHOLE, 0.99, 1.3 },
  { "touched", FEW, "size=2048 cell=10", 0.2, 0.5 },
  { "touched-iquv", FEW, "size=1024 cell=20 stokes=IQUV", 0.2, 0.6 },
  { "touched-double", FEW, "size=1024 cell=20 accuracy=1e-7 stokes=IQUV", 0.1, 0.3 },
  { "visibilities", "stations=44 array=lofar-like channels=16 duration=7200 ", "size=1024 cell=3",
    0.99, 1.3 },
  { "wprojection", FEW, "size=2048 cell=1 algorithm=wprojection", 0.99, 1.3 },
};

static void measure(gconstpointer data)
{
  const typeof(cases[0]) *test = data;
  g_autofree char *line = g_strdup_printf(
      "astrovissrc %s phase-centre=291.5,52.9 start-time=2026-11-20T12:00:00 integration=10 "
      "threads=2 ! astrogridder name=gridder backend=cpu threads=2 %s ! astrofft backend=cpu "
      "threads=2 ! astroimage name=image backend=cpu threads=2 ! fakesink",
      test->source, test->gridder);
  Peak peak;
  peak_run(line, &peak);
  gst_caps_unref(peak.grid_caps);
  const double ratio =
      (double)peak.peak / (double)(peak.grid + peak.image + peak.values + peak.places);
  printf("%s: %.3f\n", test->name, ratio);
  g_assert_cmpfloat(ratio, >, test->least);
  g_assert_cmpfloat(ratio, <=, test->most);
}

/* The reason why peak memory here differs from that of the program; NULL: it does not. */
static const char *not_measurable(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "a sanitizer keeps memory of its own";
#else
  const char *preloaded = g_getenv("LD_PRELOAD");
  if (preloaded && strstr(preloaded, "vgpreload"))
    return "valgrind keeps memory of its own";
  return peak_status("VmHWM:") ? NULL : "the system does not tell how much memory a process has";
#endif
}

static void in_process(gconstpointer data)
{
  const typeof(cases[0]) *test = data;
  g_autofree char *path = g_strdup_printf("/imaging-memory/%s/subprocess/measure", test->name);
  const char *reason = not_measurable();
  if (reason) {
    g_test_skip(reason);
    return;
  }
  g_test_trap_subprocess(path, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed();
}

int main(int argc, char **argv)
{
  test_init_gstreamer(NULL, NULL);
  g_test_init(&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = g_strdup_printf("/imaging-memory/%s", cases[i].name);
    g_autofree char *measured = g_strconcat(path, "/subprocess/measure", NULL);
    g_test_add_data_func(path, &cases[i], in_process);
    g_test_add_data_func(measured, &cases[i], measure);
  }
  int status = g_test_run();
  gst_deinit();
  return status;
}
