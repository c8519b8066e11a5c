/* A signal in the middle of work that takes minutes ends it within a second. Promises are kept: an
 * image as far as CLEAN got, files that were complete, and no file of incomplete results. */
#include "tests/graphs/interrupted.h"

/* Sanitizers make the work between two looks at the signal some five times as long. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOWER 5
#else
#define SLOWER 1
#endif
/* The machine may be busy with other things, so the quickest of some tries counts. */
enum { TRIES = 3, MOST_MS = 1000 * SLOWER };

typedef struct {
  const char *name, *graph;
  const char *begun; /* a file that is not empty once the work has begun */
  guint after_ms;    /* this long afterwards the work is in progress */
  int status;
  const char *says;   /* expected on the standard error */
  const char *made;   /* a file that must be there; NULL: none */
  const char *absent; /* a file that must not be there; NULL: none */
} Case;

#define VISIBILITIES "astrovissrc stations=20 duration=600 integration=60 sky=0.001,0.002,3 "
/* The first branch gets a block before the long work does, in the same thread. */
#define SEEN "tee name=t\nt. ! filesink location=seen buffer-mode=unbuffered async=false\nt. "

static const Case cases[] = {
  { "clean",
    VISIBILITIES
    "! astrogridder backend=cpu size=1024 cell=20 ! astrofft ! astroimage psf=true ! " SEEN
    "! astroclean iterations=1000000000 gain=1e-7 ! astrofitssink location=made.fits",
    "seen", 400, 0, "interrupted: I of channel 0 has ", "made.fits", NULL },
  { "clean-reference",
    VISIBILITIES
    "! astrogridder backend=cpu size=512 cell=20 ! astrofft ! astroimage psf=true ! " SEEN
    "! astroclean backend=reference iterations=1000000000 gain=1e-7 "
    "! astrofitssink location=made.fits",
    "seen", 400, 0, "interrupted: I of channel 0 has ", "made.fits", NULL },
  { "wprojection-table",
    VISIBILITIES "! " SEEN
                 "! astrogridder backend=cpu algorithm=wprojection size=2048 cell=90 w-planes=1000 "
                 "oversampling=16 support=16 ! astrofft ! astroimage "
                 "! astrofitssink location=made.fits",
    "seen", 400, 1, "interrupted in the middle of long work", NULL, "made.fits" },
  { "direct",
    VISIBILITIES "! tee name=u\nu. ! queue ! astrofitssink location=made.uvfits async=false\nu. "
                 "! " SEEN
                 "! astrogridder backend=cpu algorithm=direct size=2048 cell=20 ! astrofft "
                 "! astroimage ! astrofitssink location=made.fits async=false",
    "seen", 1500, 1, "interrupted in the middle of long work", "made.uvfits", "made.fits" },
  { "visibilities",
    "astrovissrc stations=400 channels=4000 sky=sky.txt duration=600 integration=60 "
    "! filesink location=made.raw",
    NULL, 1500, 0, NULL, "made.raw", NULL },
  { "voltages", "astroskysrc stations=100 sky=sky.txt duration=600 ! filesink location=made.raw",
    NULL, 1500, 0, NULL, "made.raw", NULL },
  { "mock",
    "astrocatsrc points=10000 slope=-0.8 footprint=cap:10,10,0.02 cluster-radius=8 "
    "! filesink location=made.raw",
    NULL, 1500, 0, NULL, "made.raw", NULL },
};

static void write_sky(void)
{
  g_autoptr(GString) sky = g_string_new(NULL);
  for (guint i = 0; i < 20000; i++)
    g_string_append_printf(sky, "%.4f %.4f 0.001\n", 200 + i % 141 * 0.01, -30 + i / 141 * 0.01);
  write_file("sky.txt", sky->str, -1);
}

static void forget_files(void)
{
  g_auto(Result) removed = run_shell("rm -f seen made.* .made.* *.part .*.part");
}

/* Milliseconds from the signal to the end. */
static gint64 interrupt_one(const Case *c, int number)
{
  int err;
  forget_files();
  write_file("long.graph", c->graph, -1);
  GPid pid = start("./long.graph", &err);
  while (!handles_interrupt(pid) || (c->begun && file_size(c->begun) <= 0)) {
    g_assert_cmpint(waitpid(pid, NULL, WNOHANG), ==, 0);
    g_usleep(1000);
  }
  g_usleep(c->after_ms * 1000);
  g_assert_cmpint(waitpid(pid, NULL, WNOHANG), ==, 0);
  const gint64 begin = g_get_monotonic_time();
  kill(pid, number);
  const int status = finish(pid);
  const gint64 took = (g_get_monotonic_time() - begin) / 1000;
  g_autofree char *text = read_all(err);
  g_test_message("%s: status %d after %" G_GINT64_FORMAT " ms\n%s", c->name, status, took, text);
  g_assert_cmpint(status, ==, c->status);
  g_assert_nonnull(strstr(text, "interrupted: ending the stream"));
  g_assert_true(!c->says || strstr(text, c->says));
  g_assert_true(!c->made || file_size(c->made) >= 0);
  g_assert_true(!c->absent || file_size(c->absent) < 0);
  g_auto(Result) left = run_shell("ls -a | grep part");
  g_assert_cmpstr(left.out, ==, "");
  return took;
}

/* Work at the end of the stream is not given up at once: an image that takes longer than a moment
 * is what the observation was for. */
static void test_end(void)
{
  static const Case end = {
    "end",
    "astrovissrc stations=20 channels=1 integration=60 duration=0 sky=0.001,0.002,3 "
    "! identity sleep-time=50000 ! " SEEN
    "! astrogridder backend=cpu algorithm=direct weighting=uniform "
    "size=100 cell=100 ! astrofft ! astroimage ! astrofitssink location=made.fits async=false",
    "seen",
    500,
    0,
    NULL,
    "made.fits",
    NULL
  };
  interrupt_one(&end, SIGINT);
}

static void test_long(gconstpointer data)
{
  static const int signals[TRIES] = { SIGTERM, SIGINT, SIGHUP };
  gint64 least = G_MAXINT64;
  for (guint i = 0; i < TRIES && least >= MOST_MS; i++) {
    const gint64 took = interrupt_one(data, signals[i]);
    least = MIN(least, took);
  }
  g_assert_cmpint(least, <, MOST_MS);
}

static void add_tests(void)
{
  write_sky();
  g_test_add_func("/gst-astro/interrupt-long/end", test_end);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = g_strconcat("/gst-astro/interrupt-long/", cases[i].name, NULL);
    g_test_add_data_func(path, &cases[i], test_long);
  }
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
