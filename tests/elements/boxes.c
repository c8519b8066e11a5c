/* astroselect and astrojoin between stages on a device: files are those of the CPU, and what they
 * copy stays on the device. Without a GPU on the fake device. */
#include <glib/gstdio.h>

#include "core/memory/memory.h"
#include "tests/elements/fake-devices.h"
#include "tests/elements/ranks.h"
#include "tests/elements/running.h"

/* Blocks of integers, which are exact on any device; and visibilities with counts. */
#define BLOCKS 40
#define SPECTRA                                                                                    \
  "astroskysrc stations=6 noise=1 num-buffers=" G_STRINGIFY(                                       \
      BLOCKS) " block-steps=256 seed=4 ! "                                                         \
              "application/x-astro-voltages,format=CI8 ! astrochannelizer backend=cpu "            \
              "channels=16 ! "                                                                     \
              "application/x-astro-spectra,format=CI8 ! astroconvert backend=WHERE ! "             \
              "application/x-astro-spectra,format=CI16LE ! "
#define VISIBILITIES                                                                               \
  "astrovissrc stations=5 channels=8 num-buffers=" G_STRINGIFY(                                    \
      BLOCKS) " noise=1 loss=0.2 seed=1 ! "                                                        \
              "astrotranspose backend=WHERE layout=baseline:channel:pol:pol ! "
#define BACK "! astrotranspose backend=WHERE layout=channel:baseline:pol:pol "
#define TURN "! astrotranspose backend=WHERE layout=channel:time:station:pol "
#define QUEUE "queue max-size-buffers=1 ! "
#define WRITE "! astrofitssink location="

static guint64 bytes_down(void)
{
  AstroMemoryCounters counters;
  astro_memory_counters(&counters);
  return counters.bytes_down;
}

/* Bytes that went to the host while a line wrote a file. */
static guint64 write_file(const char *line, const char *where, const char *file)
{
  g_autofree char *stages = test_replace(line, "WHERE", where),
                  *whole = g_strconcat(stages, WRITE, file, NULL);
  const guint64 before = bytes_down();
  g_autofree char *message = test_launch(whole);
  g_assert_cmpstr(message, ==, NULL);
  return bytes_down() - before;
}

static gboolean has_devices(void)
{
  if (!test_has_devices())
    g_test_skip("there is no device");
  return test_has_devices();
}

static void remove_files(void)
{
  static const char *const files[] = { "all.fits", "expected.fits", "got.fits" };
  for (guint i = 0; i < G_N_ELEMENTS(files); i++)
    g_unlink(files[i]);
}

/* ---- astroselect ---- */

static const struct {
  const char *name, *all, *cut, *end;
  guint kept, of;    /* the part that is kept */
  gboolean is_there; /* whether it is cut on the device */
} cuts[] = {
  { "range", SPECTRA, "astroselect channels=4-11 ", TURN, 1, 2, TRUE },
  { "steps", SPECTRA, "astroselect stations=0-5:2 channels=8- ", TURN, 1, 4, TRUE },
  { "one", SPECTRA, "astroselect pols=1 ", TURN, 1, 2, TRUE },
  { "name", SPECTRA, "astroselect pols=X ", TURN, 1, 2, FALSE },
  { "then-host", SPECTRA, "astroselect channels=4-11 ", "", 1, 2, TRUE },
  { "counts", VISIBILITIES, "astroselect channels=2-5 ", BACK, 1, 2, TRUE },
  { "twice", SPECTRA, "astroselect channels=4-11 ! astroselect pols=0 ", TURN, 1, 4, TRUE },
  { "list", SPECTRA, "astroselect stations=4,0,1 ", TURN, 1, 2, FALSE },
  { "cpu", SPECTRA, "astroselect backend=cpu channels=4-11 ", TURN, 1, 2, FALSE },
};

/* Names are not known yet when upstream asks where blocks are read. */
static void test_cuts(gconstpointer which)
{
  const guint i = GPOINTER_TO_UINT(which);
  g_autofree char *all = g_strconcat(cuts[i].all, "identity ", cuts[i].end, NULL),
                  *cut = g_strconcat(cuts[i].all, cuts[i].cut, cuts[i].end, NULL);
  if (!has_devices())
    return;
  const guint64 whole = write_file(all, "cuda", "all.fits"),
                part = whole * cuts[i].kept / cuts[i].of;
  g_assert_cmpuint(write_file(cut, "cpu", "expected.fits"), ==, 0);
  const guint64 down = write_file(cut, "cuda", "got.fits");
  test_assert_same_files("expected.fits", "got.fits");
  g_assert_cmpuint(down, ==, cuts[i].is_there ? part : whole + part);
  remove_files();
}

/* ---- astrojoin ---- */

#define JOINED(axis, first, second)                                                                \
  "tee name=t t. ! " QUEUE "astroselect " first " ! " QUEUE "j.sink_0 t. ! " QUEUE                 \
  "astroselect " second " ! " QUEUE "j.sink_1 astrojoin name=j axis=" axis " "

static const struct {
  const char *name, *all, *joined, *end;
} joins[] = {
  { "channels", SPECTRA, JOINED("channel", "channels=0-4", "channels=5-"), TURN },
  { "stations", SPECTRA, JOINED("station", "stations=0-2", "stations=3-"), TURN },
  { "counts", VISIBILITIES, JOINED("channel", "channels=0-2", "channels=3-"), BACK },
  { "then-host", SPECTRA, JOINED("channel", "channels=0-4", "channels=5-"), "" },
};

/* The file takes all that is joined to the host once. */
static void test_joins(gconstpointer which)
{
  const guint i = GPOINTER_TO_UINT(which);
  g_autofree char *all = g_strconcat(joins[i].all, "identity ", joins[i].end, NULL),
                  *joined = g_strconcat(joins[i].all, joins[i].joined, joins[i].end, NULL);
  if (!has_devices())
    return;
  const guint64 whole = write_file(all, "cuda", "all.fits");
  write_file(joined, "cpu", "expected.fits");
  g_assert_cmpuint(write_file(joined, "cuda", "got.fits"), ==, whole);
  test_assert_same_files("expected.fits", "got.fits");
  remove_files();
}

static void add_tests(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(cuts); i++) {
    g_autofree char *path = g_strconcat("/boxes/select/", cuts[i].name, NULL);
    g_test_add_data_func(path, GUINT_TO_POINTER(i), test_cuts);
  }
  for (guint i = 0; i < G_N_ELEMENTS(joins); i++) {
    g_autofree char *path = g_strconcat("/boxes/join/", joins[i].name, NULL);
    g_test_add_data_func(path, GUINT_TO_POINTER(i), test_joins);
  }
}

int main(int argc, char **argv)
{
  test_fake_devices("1");
  return test_run(argc, argv, add_tests);
}
