/* Examples with many streams: data recorded, correlated or gridded separately give the same file as
 * a single run over all of it. */
#include "tests/graphs/program.h"

#define VOLTAGES                                                                                   \
  "astroskysrc stations=8 pols=2 noise=1 num-buffers=2 block-steps=3200 bandwidth=1e6 "
#define CORRELATE                                                                                  \
  " ! astrodelay ! astrochannelizer channels=8 ! astrotranspose ! astrocorrelator "                \
  "integration=100 ! astrofitssink location="
#define VISIBILITIES(seed)                                                                         \
  "astrovissrc stations=6 num-buffers=3 noise=1 sky=0.001,0.001,1 phase-centre=40,50 latitude=52 " \
  "longitude=6 start-time=2026-11-20T22:00:00 seed=" seed
#define GRID " ! astrogridder size=32 cell=30 algorithm=wprojection"

/* Runs examples with the elements that were built, by GStreamer's own launcher. */
static void check_script(const char *lines)
{
  const char *source = g_getenv("G_TEST_SRCDIR"), *build = g_getenv("G_TEST_BUILDDIR");
  g_autofree char *examples = g_build_filename(source ? source : ".", "examples", NULL);
  if (!build || !can_launch() || !g_file_test(examples, G_FILE_TEST_EXISTS)) {
    g_test_skip("needs the sources and GStreamer's own programs, without a sanitizer");
    return;
  }
  g_autofree char *place = g_path_get_dirname(program);
  g_autofree char *script =
      g_strdup_printf("set -e; export GST_PLUGIN_PATH_1_0='%s/elements/.libs:%s/tests/plugins' "
                      "GST_REGISTRY_1_0=\"$PWD/many.bin\"; PATH='%s:%s':$PATH; run() { "
                      "gst-launch-1.0 -q \"$@\"; }; %s",
                      build, build, place, examples, lines);
  g_auto(Result) result = run_shell(script);
  g_test_message("%s%s", result.out, result.err);
  g_assert_cmpint(result.status, ==, 0);
}

static void test_receivers(void)
{
  check_script(
      "run " VOLTAGES CORRELATE "one.uvfits; set --; "
      "for i in 0 1 2 3 4 5 6 7; do "
      "set -- \"$@\" t. ! queue ! astroselect stations=$i ! astrofitssink location=r$i.fits; "
      "done; run " VOLTAGES "! tee name=t \"$@\"; "
      "recorded.sh joined.uvfits station 8 r[0-7].fits; cmp one.uvfits joined.uvfits; "
      "if recorded.sh twice.uvfits station 8 r0.fits r0.fits 2>twice; then exit 9; fi; grep -q "
      "sink_1 twice");
}

/* Receivers' files of plain samples are joined to the samples that all had together. */
static void test_raw_receivers(void)
{
  check_script("raw=application/x-astro-voltages,format=CI8,layout=time:station:pol; set --; "
               "for i in 0 1 2 3 4 5 6 7; do "
               "set -- \"$@\" t. ! queue ! astroselect stations=$i ! filesink location=r$i.raw; "
               "done; run " VOLTAGES "! $raw ! tee name=t t. ! queue ! filesink location=all.raw "
               "\"$@\"; receivers.sh joined.raw 1000000 1 r[0-7].raw; cmp all.raw joined.raw");
}

/* Visibilities of some stations of a file are those of a file of these stations. */
static void test_subset(void)
{
  check_script("run " VOLTAGES "! astrodelay ! astrochannelizer channels=8 ! tee name=t "
               "t. ! queue ! astrotranspose ! astrocorrelator integration=100 ! astrofitssink "
               "location=all.uvfits t. ! queue ! astroselect stations=1-3,A007 ! astrotranspose ! "
               "astrocorrelator integration=100 ! astrofitssink location=some.uvfits; "
               "subset.sh all.uvfits subset.uvfits 1-3,A007; "
               "for f in all some subset; do run astrofitssrc location=$f.uvfits ! filesink "
               "location=$f.raw; done; cmp some.raw subset.raw; "
               "if cmp -s all.raw subset.raw; then exit 9; fi");
}

/* Profiles come out of a recording, and each of its three files is needed. */
static void test_fold(void)
{
  check_script(
      "printf 'RAJ 1:00:00\\nDECJ 52:00:00\\nF0 500\\nPEPOCH 61000\\nDM 0\\n' >a.par; "
      "echo 3826577.462 461022.624 5064892.526 >place; "
      "run astroskysrc stations=1 duration=0.05 start-time=2026-11-20T12:00:00 ! "
      "application/x-astro-voltages,format=CI8 ! astrofitssink location=v.fits; "
      "fold.sh v.fits a.par place p.fits; "
      "run astrofitssrc location=p.fits ! application/x-astro-profile,bins=256,period=0.002 "
      "! filesink location=p.raw; test $(wc -c <p.raw) = 1048576; "
      "if fold.sh v.fits none.par place q.fits 2>none; then exit 9; fi; "
      "grep -q none.par none");
}

/* The example gives what the line in it gives, for a file of the same voltages. */
static void test_stokes(void)
{
  check_script("run " VOLTAGES "! tee name=t t. ! queue ! astrofitssink location=v.fits "
               "t. ! queue ! astrochannelizer channels=64 ! astropower products=I:Q:U:V "
               "integration-time=0.002 ! filesink location=a.raw; "
               "stokes.sh v.fits s.fits 0.002; "
               "run astrofitssrc location=s.fits ! filesink location=b.raw; cmp a.raw b.raw");
}

static void test_pols(void)
{
  check_script("run " VOLTAGES CORRELATE "one.uvfits; "
               "run " VOLTAGES "! tee name=t t. ! queue ! astroselect pols=X ! astrofitssink "
               "location=x.fits t. ! queue ! astroselect pols=Y ! astrofitssink location=y.fits; "
               "recorded.sh joined.uvfits pol 8 x.fits y.fits; cmp one.uvfits joined.uvfits");
}

static void test_bands(void)
{
  check_script("run " VOLTAGES CORRELATE "one.uvfits; "
               "run " VOLTAGES "! astrofitssink location=all.fits; "
               "bands.sh all.fits joined.uvfits 8; cmp one.uvfits joined.uvfits");
}

/* Beams that were recorded apart, with their names and directions, are those recorded together. */
static void test_beams(void)
{
  check_script("run " VOLTAGES "phase-centre=zenith ! astrodelay ! astrochannelizer channels=8 ! "
               "astrobeamform beams='0,0;0.001,0;0,0.002' ! tee name=t t. ! queue ! "
               "astrofitssink location=one.fits t. ! queue ! astroselect beams=0 ! astrofitssink "
               "location=b0.fits t. ! queue ! astroselect beams=B1- ! astrofitssink "
               "location=wrong.fits 2>message && exit 9; grep -q 'there is no \"B1-\"' message; "
               "run " VOLTAGES "phase-centre=zenith ! astrodelay ! astrochannelizer channels=8 ! "
               "astrobeamform beams='0,0;0.001,0;0,0.002' ! tee name=t t. ! queue ! "
               "astrofitssink location=one.fits t. ! queue ! astroselect beams=0 ! astrofitssink "
               "location=b0.fits t. ! queue ! astroselect beams=B1,B2 ! astrofitssink "
               "location=b1.fits; run astrojoin name=j axis=beam ! astrofitssink "
               "location=joined.fits astrofitssrc location=b0.fits ! j. astrofitssrc "
               "location=b1.fits ! j.; cmp one.fits joined.fits; grep -q 'beam-directions' "
               "joined.fits");
}

/* Subbands that are split by a second filter bank apart are those that are split together. */
static void test_subbands(void)
{
  check_script("run " VOLTAGES "! astrodelay ! astrochannelizer channels=8 ! astrochannelizer "
               "channels=16 ! astrotranspose ! astrocorrelator integration=10 ! astrofitssink "
               "location=one.uvfits; "
               "run " VOLTAGES "! astrodelay ! astrochannelizer channels=8 ! tee name=t "
               "t. ! queue ! astroselect channels=0-2 ! astrochannelizer channels=16 ! j. "
               "t. ! queue ! astroselect channels=3-7 ! astrochannelizer channels=16 ! j. "
               "astrojoin name=j axis=channel ! astrotranspose ! astrocorrelator integration=10 ! "
               "astrofitssink location=two.uvfits; cmp one.uvfits two.uvfits; "
               "subbands.sh three.uvfits; test -s three.uvfits");
}

static void test_fields(void)
{
  check_script("run " VISIBILITIES(
      "1") " ! astrofitssink location=v.uvfits; "
           "fields.sh v.uvfits 32 30 40,50 a.fits 40.05,50.05 b.fits; "
           "shift.sh v.uvfits 40,50 one.fits 32 30 >shifted; cmp one.fits a.fits; "
           "shift.sh v.uvfits 40.05,50.05 two.fits 32 30 >shifted; cmp two.fits b.fits; "
           "if cmp -s one.fits two.fits; then exit 9; fi");
}

/* The same each time; how good residuals are is a matter for tests/elements/astrodegridder. */
static void test_residual(void)
{
  check_script(
      "run " VISIBILITIES("1") " ! astrofitssink location=v.uvfits; "
                               "residual.sh v.uvfits model.fits left.fits 64 30 >/dev/null; "
                               "residual.sh v.uvfits again.fits again-left.fits 64 30 >/dev/null; "
                               "cmp left.fits again-left.fits; "
                               "if cmp -s model.fits left.fits; then exit 9; fi");
}

static void test_nights(void)
{
  check_script("run " VISIBILITIES("1") GRID " ! astrofitssink location=a.fits; "
                                             "run " VISIBILITIES("2") GRID
               " ! astrofitssink location=b.fits; "
               "add.sh kept.fits a.fits b.fits; "
               "run astroadd name=s ! astrofitssink location=one.fits " VISIBILITIES("1") GRID
               " ! s. " VISIBILITIES("2") GRID
               " ! s.; "
               "cmp one.fits kept.fits; if cmp -s a.fits kept.fits; then exit 9; fi; "
               "run astrofitssrc location=kept.fits ! astrofft ! astroimage ! astrofitssink "
               "location=kept-image.fits; "
               "for i in 1 2; do run " VISIBILITIES(
                   "$i") " ! astrofitssink location=v$i.uvfits; done; "
                         "nights.sh image.fits 32 30 v1.uvfits v2.uvfits; test -s image.fits; "
                         "test -s kept-image.fits");
}

static void test_packets(void)
{
  check_script("run astroskysrc stations=3 pols=2 bandwidth=1e6 duration=0.1 ! "
               "application/x-astro-voltages,format=CI8 ! astropay packet=vdif loss=0.02 ! "
               "filesink location=in.vdif; "
               "printf 'site 34 -107\\n0 0 0\\n100 0 0\\n0 200 0\\n' >pos; "
               "packets.sh in.vdif 0-2 1000000 150e6 pos zenith out.uvfits; test -s out.uvfits");
}

static void add_tests(void)
{
  g_test_add_func("/many/packets", test_packets);
  g_test_add_func("/many/receivers", test_receivers);
  g_test_add_func("/many/raw-receivers", test_raw_receivers);
  g_test_add_func("/many/subset", test_subset);
  g_test_add_func("/many/fold", test_fold);
  g_test_add_func("/many/stokes", test_stokes);
  g_test_add_func("/many/pols", test_pols);
  g_test_add_func("/many/bands", test_bands);
  g_test_add_func("/many/beams", test_beams);
  g_test_add_func("/many/subbands", test_subbands);
  g_test_add_func("/many/fields", test_fields);
  g_test_add_func("/many/residual", test_residual);
  g_test_add_func("/many/nights", test_nights);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
