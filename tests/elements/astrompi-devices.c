/* astroalltoall from device to device, by copies and by NCCL, on ranks of this machine: fake
 * devices and a fake NCCL where there is no GPU. Files are those that MPI's way gives, to the bit;
 * where a way cannot be used, or does not start, all ranks say so, or take the next one with
 * transport=auto; and a rank that fails or dies ends the others without a file. */
#include <glib/gstdio.h>

#include "tests/elements/elements.h"
#include "tests/elements/fake-devices.h"
#include "tests/elements/fake-nccl.h"
#include "tests/elements/ranks.h"

/* Commands of each rank before its pipeline. */
static char *setting;
#define SHARES "export ASTRO_FAKE_SHARES=yes; " /* where devices are fake */

static const struct {
  const char *name, *said;
} ways[] = { { "copy", "blocks go by copies" }, { "nccl", "blocks go by NCCL" } };
enum { COPY, NCCL };

#define LAUNCH "exec gst-launch-1.0 -q "
#define LOGGED "export GST_DEBUG=astroalltoall:4; "
#define VOLTAGES                                                                                   \
  "astroskysrc stations=7 noise=1 num-buffers=$((20-4*r/(n-1))) block-steps=500 seed=3 "           \
  "! astroselect stations=$((7*r/n))-$((7*(r+1)/n-1)) ! astrochannelizer channels=10 "             \
  "! application/x-astro-spectra,format=CI8 "
#define CI16 "! application/x-astro-spectra,format=CI16LE "
#define UP "! astroconvert backend=cuda device=$r " CI16
#define TURN "! astroalltoall transport=$way "
#define DOWN "! astrotranspose backend=cuda device=$r layout=channel:time:station:pol "
#define GATHER "! astroalltoall from=channel to=none root=0 "
#define WRITE "! astrofitssink location="
#define FLOATS(bits) "! application/x-astro-visibilities,format=CF" bits "LE "

/* ---- the same files ---- */

static const struct {
  const char *name, *stream;
  guint turns, ranks; /* between devices that way; on GPUs two ranks */
  gboolean only_copies;
} turns[] = {
  /* rank n - 1 ends before the others: its stations are lost from then on */
  { "spectra", VOLTAGES UP TURN DOWN GATHER, 1, 3 },
  /* to and fro, with nothing in between */
  { "to-and-fro",
    VOLTAGES UP TURN TURN
    "from=channel to=station "
    "! astroconvert backend=cuda device=$r ! application/x-astro-spectra,format=CI8 "
    "! astroalltoall to=none root=1 ",
    2, 2 },
  /* counts of good samples beside them, and all to one rank */
  { "visibilities",
    "astrovissrc stations=5 channels=7 num-buffers=9 noise=1 loss=0.2 seed=3 " FLOATS(
        "64") "! astroselect channels=$r/$n ! astroconvert backend=cuda device=$r " FLOATS("32")
        TURN "from=channel to=none root=$((n-1)) "
             "! astroconvert backend=cuda device=$r " FLOATS(
                 "64") "! astroconvert backend=cpu " FLOATS("32"),
    1, 3 },
  /* one element by copies, the next one by NCCL */
  { "beside-nccl",
    VOLTAGES UP TURN
    "! astroalltoall transport=$([ $way = copy ] && echo nccl || echo $way) from=channel "
    "to=station "
    "! astroconvert backend=cuda device=$r ! application/x-astro-spectra,format=CI8 "
    "! astroalltoall transport=mpi to=none root=1 ",
    1, 2, TRUE },
  { "one-device",
    VOLTAGES "! astroconvert backend=cuda device=0 " CI16 TURN
             "! astrotranspose backend=cuda device=0 layout=channel:time:station:pol " GATHER,
    1, 2, TRUE },
};

static guint count(const char *text, const char *part)
{
  guint n = 0;
  for (const char *at = text; (at = strstr(at, part)); at++)
    n++;
  return n;
}

static void test_turns(gconstpointer which)
{
  const guint way = GPOINTER_TO_UINT(which) % G_N_ELEMENTS(ways),
              of = GPOINTER_TO_UINT(which) / G_N_ELEMENTS(ways),
              n = test_devices_are_fake() ? turns[of].ranks : 2;
  int status;
  g_autofree char *by_mpi =
      g_strconcat(setting, "way=mpi; " LAUNCH, turns[of].stream, WRITE "expected.fits", NULL);
  g_autofree char *between = g_strconcat(setting, SHARES LOGGED "way=", ways[way].name, "; " LAUNCH,
                                         turns[of].stream, WRITE "got.fits", NULL);
  test_ranks(n, by_mpi);
  g_autofree char *said = test_run_ranks(n, between, &status);
  if (status || count(said, ways[way].said) != turns[of].turns * n)
    g_error("%u ranks: \"%s\": %s", n, between, said);
  test_assert_same_files("expected.fits", "got.fits");
  g_unlink("expected.fits");
  g_unlink("got.fits");
}

/* ---- where it cannot be ---- */

static const struct {
  guint ways; /* bits */
  const char *before, *stream, *says;
  guint times; /* that it is said */
} cases[] = {
  { 1 << COPY | 1 << NCCL, "",
    VOLTAGES "! astroconvert backend=$([ $r = 1 ] && echo cpu || echo cuda) device=$r " CI16 TURN
        DOWN GATHER WRITE "bad.fits",
    "rank 1 has its blocks in the memory of the host, expected a device", 2 },
  { 1 << COPY | 1 << NCCL, "",
    VOLTAGES UP TURN "! astrotranspose backend=cpu layout=channel:time:station:pol " GATHER WRITE
                     "bad.fits",
    " reads what it gets on the host, expected a device", 2 },
  { 1 << NCCL, "",
    VOLTAGES "! astroconvert backend=cuda device=0 " CI16 TURN
             "! astrotranspose backend=cuda device=0 layout=channel:time:station:pol " GATHER WRITE
             "bad.fits",
    "as rank 0 has, expected one of its own", 2 },
  { 1 << NCCL, "export LD_LIBRARY_PATH=$PWD/none:$LD_LIBRARY_PATH; ",
    VOLTAGES UP TURN DOWN GATHER WRITE "bad.fits", " cannot use NCCL: NCCL cannot be loaded", 2 },
  { 1 << NCCL, "[ $r = 0 ] || way=mpi; ", VOLTAGES UP TURN DOWN GATHER WRITE "bad.fits",
    "has astroalltoall from=station to=channel transport=", 1 },
};

static void assert_refused(guint of, guint way)
{
  int status;
  g_autofree char *command = g_strconcat(setting, SHARES "way=", ways[way].name, "; ",
                                         cases[of].before, LAUNCH, cases[of].stream, NULL);
  g_autofree char *said = test_run_ranks(2, command, &status);
  if (!status || status == 124 || count(said, cases[of].says) < cases[of].times)
    g_error("\"%s\" ended with %d: expected %u times \"%s\": %s", command, status, cases[of].times,
            cases[of].says, said);
  g_assert_false(g_file_test("bad.fits", G_FILE_TEST_EXISTS));
  g_unlink("bad.fits.part");
}

static void test_impossible(void)
{
  g_assert_cmpint(g_mkdir("none", 0700), ==, 0);
  g_assert_true(g_file_set_contents("none/libnccl.so.2", "no library", -1, NULL));
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    for (guint way = 0; way < G_N_ELEMENTS(ways); way++)
      if (cases[i].ways & 1u << way)
        assert_refused(i, way);
  g_unlink("none/libnccl.so.2");
  g_rmdir("none");
}

/* ---- ways that seem to be there and do not work ---- */

static const struct {
  const char *before; /* of rank 1 */
  const char *taken;  /* with transport=auto */
  const char *says;
} starts[] = {
  { "export ASTRO_FAKE_SHARES=fails", "blocks go by NCCL 22809: rank 1",
    "rank 1 cannot use copies with rank 0: fake open_shared said no" },
  { "export ASTRO_FAKE_SHARES=spoils", "blocks go by NCCL 22809: rank 0",
    "rank 0 got other bytes by copies than rank 1 has sent: 4098 of 4099 words are right" },
  { "unset ASTRO_FAKE_SHARES", "blocks go by NCCL 22809: rank 1",
    "rank 1 has a device whose memory no other process reaches" },
  { "export ASTRO_FAKE_SHARES=fails ASTRO_FAKE_NCCL_START=fails", "blocks go by MPI: rank 1",
    "rank 1 cannot use NCCL with rank 0: NCCL: ncclCommInitRankConfig: a fake error" },
  { "unset ASTRO_FAKE_SHARES; export ASTRO_FAKE_NCCL_START=breaks", "blocks go by MPI: rank ",
    "NCCL: what was begun has failed: a fake error" },
  { "unset ASTRO_FAKE_SHARES; export ASTRO_FAKE_NCCL_START=hangs ASTRO_NCCL_SECONDS=2",
    "blocks go by MPI: rank ",
    "rank 1 has got blocks by NCCL from 0 of 1 ranks within 2 s (ASTRO_NCCL_SECONDS), expected one "
    "from each" },
  { "unset ASTRO_FAKE_SHARES; export ASTRO_FAKE_NCCL_START=spoils", "blocks go by MPI: rank 0",
    "rank 0 got other bytes by NCCL than rank 1 has sent: 4098 of 4099 words are right" },
};

/* All ranks hear of it; where that way must be, it is an error. */
static void assert_does_not_start(guint of, const char *way)
{
  int status;
  g_autofree char *command =
      g_strconcat(setting, SHARES LOGGED "way=", way, "; [ $r = 0 ] || { ", starts[of].before,
                  "; }; " LAUNCH VOLTAGES UP TURN DOWN GATHER WRITE "got.fits", NULL);
  g_autofree char *said = test_run_ranks(2, command, &status);
  const gboolean must = !g_str_equal(way, "auto");
  if ((status != 0) != must || status == 124 || count(said, starts[of].says) < 2 ||
      (!must && count(said, starts[of].taken) < 2))
    g_error("\"%s\" ended with %d: expected twice \"%s\" and \"%s\": %s", command, status,
            starts[of].says, starts[of].taken, said);
}

/* auto comes through by the next way, with the right bytes. */
static void test_start(void)
{
  if (!test_devices_are_fake()) {
    g_test_skip("real ways start");
    return;
  }
  test_ranks(2, "way=mpi; " LAUNCH VOLTAGES UP TURN DOWN GATHER WRITE "expected.fits");
  for (guint i = 0; i < G_N_ELEMENTS(starts); i++) {
    assert_does_not_start(i, "auto");
    test_assert_same_files("expected.fits", "got.fits");
    g_unlink("got.fits");
  }
  assert_does_not_start(0, "copy");
  assert_does_not_start(3, "nccl");
  g_assert_false(g_file_test("got.fits", G_FILE_TEST_EXISTS));
  g_unlink("got.fits.part");
  g_unlink("expected.fits");
}

/* ---- transport=auto ---- */

static const struct {
  const char *name, *device, *way; /* of rank 1; what is taken */
} autos[] = {
  { "by-copies", "cuda", "blocks go by copies" },
  { "by-mpi", "cpu",
    "blocks go by MPI: rank 1 has its blocks in the memory of the host, expected a device" },
};

static void test_auto(gconstpointer which)
{
  const guint of = GPOINTER_TO_UINT(which);
  int status;
  g_autofree char *line = g_strconcat(
      LAUNCH VOLTAGES "! astroconvert backend=$([ $r = 1 ] && echo ", autos[of].device,
      " || echo cuda) device=$r " CI16 "! astroalltoall transport=$way " DOWN GATHER WRITE, NULL);
  g_autofree char *by_mpi = g_strconcat(setting, "way=mpi; ", line, "expected.fits", NULL);
  g_autofree char *any = g_strconcat(setting, SHARES LOGGED "way=auto; ", line, "got.fits", NULL);
  test_ranks(2, by_mpi);
  g_autofree char *said = test_run_ranks(2, any, &status);
  if (status || count(said, autos[of].way) != 2)
    g_error("\"%s\" ended with %d: expected twice \"%s\": %s", any, status, autos[of].way, said);
  test_assert_same_files("expected.fits", "got.fits");
  g_unlink("expected.fits");
  g_unlink("got.fits");
}

/* ---- what goes wrong ---- */

/* seconds: within which each rank has ended; 0: it may be killed. */
static void assert_ends(guint way, const char *before, const char *says, guint seconds)
{
  int status;
  g_autofree char *limit = g_strdup_printf("exec timeout %u gst-launch-1.0 -q ", seconds);
  g_autofree char *command =
      g_strconcat(setting, SHARES "way=", ways[way].name, "; ", before, seconds ? limit : LAUNCH,
                  "astroskysrc stations=7 noise=1 num-buffers=1000000 block-steps=500 "
                  "! astroselect stations=$r/$n ! astrochannelizer channels=10 "
                  "! application/x-astro-spectra,format=CI8 "
                  "! identity error-after=${last:--1} " UP TURN DOWN GATHER WRITE "bad.fits",
                  NULL);
  g_autofree char *said = test_run_ranks(2, command, &status);
  g_assert_cmpint(status, !=, 0);
  g_assert_cmpint(status, !=, 124);
  if (!strstr(said, says))
    g_error("expected \"%s\": %s", says, said);
  g_assert_false(g_file_test("bad.fits", G_FILE_TEST_EXISTS));
  g_unlink("bad.fits.part");
}

static void test_fails(void)
{
  /* fakes run on hosts that are busy with other tests */
  const guint seconds = test_devices_are_fake() ? 40 : 20;
  for (guint way = 0; way < G_N_ELEMENTS(ways); way++)
    assert_ends(way, "[ $r = 0 ] || last=20; ", "rank 1 has stopped before the end of its stream",
                seconds);
  if (test_devices_are_fake())
    assert_ends(NCCL, "[ $r = 0 ] || export ASTRO_FAKE_NCCL_FAILS=3; ",
                "rank 0 is not reached by NCCL any more: NCCL: ncclSend: a fake error", seconds);
}

/* Before, and while, blocks are on their way. */
static void test_killed(void)
{
  const guint times = test_devices_are_fake() ? 2 : 1;
  for (guint i = 0; i < times * G_N_ELEMENTS(ways); i++) {
    g_autofree char *before =
        g_strdup_printf("[ $r = 0 ] || { sleep %.1f; touch killed; kill -9 $$; } & ",
                        (i % times + 1) * (test_devices_are_fake() ? 0.4 : 3));
    assert_ends(i / times, before, "", 0);
    GStatBuf killed;
    g_assert_cmpint(g_stat("killed", &killed), ==, 0);
    g_assert_cmpint(g_get_real_time() / G_USEC_PER_SEC - killed.st_mtime, <, 40);
    g_unlink("killed");
  }
}

/* Real ones are a GPU for each of two ranks, and a library. */
static gboolean has_devices_of_two(void)
{
  if (test_devices_are_fake() || g_getenv("ASTRO_TEST_DEVICES"))
    return TRUE;
  g_test_skip("there are no two devices (ASTRO_TEST_DEVICES=0,1 says that there are)");
  return FALSE;
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_fake_devices("3");
  test_init_gstreamer(&argc, &argv);
  test_allow_ranks();
  g_autofree char *folder = g_dir_make_tmp(NULL, NULL), *before = g_get_current_dir();
  g_assert_cmpint(g_chdir(folder), ==, 0);
  setting = test_fake_nccl(folder);
  if (test_has_launching_ranks() && has_devices_of_two()) {
    for (guint i = 0; i < G_N_ELEMENTS(turns) * G_N_ELEMENTS(ways); i++) {
      const guint way = i % G_N_ELEMENTS(ways), of = i / G_N_ELEMENTS(ways);
      g_autofree char *path =
          g_strdup_printf("/astrompi-devices/%s/%s", turns[of].name, ways[way].name);
      if (way == COPY || !turns[of].only_copies)
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_turns);
    }
    g_test_add_func("/astrompi-devices/refused", test_impossible);
    g_test_add_func("/astrompi-devices/start", test_start);
    for (guint i = 0; i < G_N_ELEMENTS(autos); i++) {
      g_autofree char *path = g_strconcat("/astrompi-devices/auto-", autos[i].name, NULL);
      g_test_add_data_func(path, GUINT_TO_POINTER(i), test_auto);
    }
    g_test_add_func("/astrompi-devices/fails", test_fails);
    g_test_add_func("/astrompi-devices/killed", test_killed);
  }
  int status = g_test_run();
  test_forget_fake_nccl(folder);
  g_assert_cmpint(g_chdir(before), ==, 0);
  g_rmdir(folder);
  g_free(setting);
  gst_deinit();
  return status;
}
