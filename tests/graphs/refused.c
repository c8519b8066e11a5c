/* Mistakes are refused with one line on the standard error that says where and why. */
#include "tests/graphs/program.h"

#include <sys/stat.h>

static void test_refused_graphs(void)
{
  static const char *const cases[][2] = {
    { "godo", "no graph godo, did you mean good? (gst-astro list shows all)" },
    { "nothing-like-it", "no graph nothing-like-it (gst-astro list shows all)" },
    { "./absent.graph", "./absent.graph: No such file or directory" },
    { ".", "no graph ." },
    { "./", "./: not a regular file" },
    { "/dev/zero", "/dev/zero: not a regular file" },
    { "pipe.graph", "pipe.graph: not a regular file" },
    { "good blocsk=1",
      "good.graph: no parameter blocsk, did you mean blocks? It has blocks, output" },
    { "good blocks=1 blocks=2", "good.graph: parameter blocks is given twice" },
    { "good blocks=many", "good.graph:4: could not set property \"num-buffers\"" },
    { "good blocks=-2", "expected a whole number from -1 to 2147483647" },
    { "good blocks=", "\"num-buffers\" in element \"fakesrc\" to \"\": expected a whole number" },
    { "good blocks=99999999999", "good.graph:4: could not set property \"num-buffers\"" },
    { "random.graph", "random.graph:1: not text" },
    { "nul.graph", "nul.graph:2: not text: a control character (0x00)" },
    { "huge.graph", "huge.graph: larger than 1 MiB" },
  };
  g_autofree char *huge = g_strnfill(3 << 20, 'x');
  write_file("huge.graph", huge, -1);
  write_file("random.graph", "\x8f\x01\xff\xfe\x00\x1b[2J", 8);
  write_file("nul.graph", "fakesrc\n\0 ! fakesink", 20);
  g_autofree char *pipe = in_folder("pipe.graph");
  g_assert_cmpint(mkfifo(pipe, 0600), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(Result) result = run("run %s", cases[i][0]);
    assert_refused(&result, 1, cases[i][1]);
  }
}

static void test_refused_pipelines(void)
{
  static const char *const cases[][2] = {
    { "fakesrc\n ! nosuch\n ! fakesink", "bad.graph:2: no element \"nosuch\"" },
    { "fakesrc\n ! identity foo=1 ! fakesink",
      "bad.graph:2: no property \"foo\" in element \"identity\"" },
    { "fakesrc num-buffers=x ! fakesink", "bad.graph:1: could not set property" },
    { "fakesrc num-buffers=1 ! fakesink\n sync=false\n sync=true",
      "bad.graph:3: property \"sync\" of element \"fakesink\" is set twice" },
    { "fakesrc name=a num-buffers=1 !\n fakesink name=\"a\"",
      "bad.graph:2: two elements are named \"a\", expected a name of its own for each" },
    { "fakesrc !\n queue max-size-buffers=-7 ! fakesink",
      "bad.graph:2: could not set property \"max-size-buffers\" in element \"queue\" to \"-7\": "
      "expected a whole number from 0 to 4294967295" },
    { "fakesrc ! identity drop-probability=1.5 ! fakesink", "expected a number from 0 to 1" },
    { "fakesrc filltype=some ! fakesink",
      "expected nothing, zero, random, pattern or pattern-span" },
    { "fakesrc filltype=\"\" ! fakesink", "to \"\": expected nothing, zero, random" },
    { "fakesrc is-live=maybe ! fakesink", "to \"maybe\": expected true or false" },
    { "astrovissrc ! astrogridder support=257 ! fakesink",
      "to \"257\": expected auto or a whole number from 1 to 256" },
    { "fakesrc !\n identity ! fakesrc", "bad.graph:2: could not link identity0 to fakesrc1" },
    { "astroskysrc !\n astrocorrelator ! fakesink",
      "bad.graph:1: could not link astroskysrc0 to astrocorrelator0: astroskysrc0 gives "
      "application/x-astro-voltages, format=" },
    { "astrovissrc ! astrorender ! astrofft ! fakesink", ", and astrofft0 takes application/" },
    { "fakesrc ! application/x-astro-voltages,format=CF16LE,layout=time,rate=1/1 ! astroobserve !\n"
      "astrodelay ! fakesink",
      "astrodelay0: astroobserve0 gives application/x-astro-voltages, format=(string)CF16LE, and "
      "astrodelay0 takes application/x-astro-voltages, format=(string){ " },
    { "astroskysrc ! application/x-astro-voltages,format=CI9,pols=2 ! astrodelay ! fakesink",
      "CI9, pols=(int)2: astroskysrc0 gives application/x-astro-voltages, format=(string){ " },
    { "astroskysrc ! application/x-astro-voltages,pols=2 ! astroclean ! fakesink",
      "pols=(int)2: astroclean0 takes application/" },
    { "fakesrc ! x/y,f=(int)z ! fakesink", "could not parse caps" },
    { "fakesrc ! . fakesink", "bad.graph: syntax error" },
    { "fakesrc ! ! fakesink", "bad.graph:1: ! has no element before it" },
    { "fakesrc ! identity x=\"y", "bad.graph:1: the quote \" that begins here is not closed" },
    { "\n\nidentity", "bad.graph:3: identity0: its input is not linked" },
    { "fakesrc num-buffers=1 ! fakesink\nidentity ! fakesink",
      "bad.graph:2: identity0: its input is not linked" },
    { "fakesrc num-buffers=0", "bad.graph: the pipeline has no sink" },
    { "fakesrc ! identity ! tee", "bad.graph: the pipeline has no sink" },
    { "filesrc location=bad.graph !\n filesink location=./bad.graph",
      "bad.graph:2: filesink0 would write to ./bad.graph, which filesrc0 reads" },
    { "fakesrc ! filesink location=new fakesrc ! filesink location=a/../new",
      "would write to a/../new, which filesink0 also writes" },
    { "fakesrc ! identity fakesrc ! fakesink",
      "fakesrc0: Internal data stream error. (streaming stopped, reason not-linked (-1))" },
    { "filesrc location=/nonexistent/a ! fakesink", "filesrc0: Resource not found. (No such file" },
    { "fakesrc num-buffers=2 ! filesink location=/proc/absent name=out",
      "out: Could not open file" },
    { "fakesrc num-buffers=2 !\n filesink location=/nonexistent/a/b name=out",
      "bad.graph:2: out would write to /nonexistent/a/b, but folder /nonexistent/a does not "
      "exist" },
    { "fakesrc num-buffers=2 !\n multifilesink location=absent/%d.png",
      "bad.graph:2: multifilesink0 would write to absent/%d.png, but folder absent does not "
      "exist" },
    { "fakesrc num-buffers=2 !\n multifilesink location=.",
      "bad.graph:2: multifilesink0 would write to ., which is a folder" },
    { "fakesrc num-buffers=2 !\n multifilesink location=\"100% sure.png\"",
      "bad.graph:2: multifilesink0 would write to 100% sure.png, where \"% sure.png\" is no "
      "number: "
      "expected one number at most, such as %04d, and %% for a percent sign" },
    { "fakesrc num-buffers=2 !\n multifilesink location=output.pipe",
      "bad.graph:2: multifilesink0 would take the place of output.pipe, which is no regular file" },
    { "fakesrc num-buffers=2 ! multifilesink location=%s/a.png",
      "where \"%s/a.png\" is no number" },
    { "fakesrc num-buffers=2 ! multifilesink location=a%d-%d", "where \"%d\" is no number" },
    { "fakesrc num-buffers=2 ! multifilesink location=%n", "where \"%n\" is no number" },
    { "fakesrc num-buffers=2 ! multifilesink location=%03%d", "where \"%03%d\" is no number" },
    { "fakesrc num-buffers=2 ! multifilesink location=50%", "where \"%\" is no number" },
    { "filesrc ! fakesink", "filesrc0: No file name specified" },
    { "fakesrc num-buffers=2 !\n multifilesink location=\"\"",
      "bad.graph:2: multifilesink0 has an empty location, expected the name of a file" },
    { "fakesrc ! fakesink state-error=null-to-ready", "fakesink0: " },
    { "fakesrc ! fakesink state-error=ready-to-paused", "fakesink0: " },
    { "fakesrc ! fakesink state-error=paused-to-playing", "fakesink0: " },
    { "fakesrc ! identity error-after=3 name=broken ! fakesink",
      "broken: Failed after iterations" },
    { "queue name=q ! queue ! q.", "no data would flow" },
    { "astrocatsrc ! application/x-astro-catalogue,format=F32LE ! fakesink",
      "astrocatsrc0: downstream takes none of the catalogues made here (made "
      "application/x-astro-catalogue, format=(string)F64LE, " },
    { "astrofitssrc location=two.csv ! application/x-astro-catalogue,columns=ra:dec:weight ! "
      "fakesink",
      "astrofitssrc0: downstream takes none of the catalogue made here (made " },
    { "astrocatsrc ! h.data astrohistogram name=h ! application/x-astro-histogram,bins=3 ! "
      "fakesink",
      "h: downstream takes none of the histograms made here (made " },
    { "astrocatsrc ! h.data astrocatsrc ! h.random astrohistogram name=h ! astrotpacf ! "
      "application/x-astro-correlation-function,bins=3 ! fakesink",
      "astrotpacf0: downstream takes none of the correlation functions made here (made " },
  };
  g_autofree char *pipe = in_folder("output.pipe");
  write_file("two.csv", "RA,DEC\n1,2\n3,4\n", -1);
  g_assert_cmpint(mkfifo(pipe, 0600), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    write_file("bad.graph", cases[i][0], -1);
    g_auto(Result) result = run("run ./bad.graph");
    assert_refused(&result, 1, cases[i][1]);
  }
}

/* GStreamer would read an empty value as 0, and caps with a NaN do not even equal themselves. */
static void test_bad_caps_values(void)
{
  static const char *const cases[][2] = {
    { "frequency=nan",
      "bad.graph:5: parameter frequency is \"nan\", expected a finite number in caps" },
    { "stations=-inf", "bad.graph:5: parameter stations is \"-inf\", expected a finite number" },
    { "stations=", "bad.graph:5: parameter stations is \"\", expected a value in caps" },
    { "frequency=", "bad.graph:5: parameter frequency is \"\", expected a value in caps" },
  };
  write_file(
      "bad.graph",
      "@stations 3 \"s\"\n@frequency 1e8 \"f\"\n@more \"\" \"fields, or none\"\n"
      "fakesrc num-buffers=1 !\n application/x-astro-voltages,format=CI8,layout=time:station,"
      "stations=${stations},frequency=(double)${frequency}${more} ! fakesink",
      -1);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(Result) result = run("run ./bad.graph %s", cases[i][0]);
    assert_refused(&result, 1, cases[i][1]);
  }
  g_auto(Result) good = run("run --quiet ./bad.graph");
  g_assert_cmpint(good.status, ==, 0);
}

/* Only the sinks of other plugins know what their locations mean. */
static void test_other_locations(void)
{
  static const char *const locations[] = { "%d/picture.png", "file://absent/picture.png" };
  for (guint i = 0; i < G_N_ELEMENTS(locations); i++) {
    g_autofree char *text =
        g_strdup_printf("fakesrc num-buffers=2 ! multifilesink name=out location=%s", locations[i]);
    write_file("other.graph", text, -1);
    g_auto(Result) result = run("run ./other.graph");
    assert_refused(&result, 1, "out: Error while writing to file");
  }
}

/* Large numbers, as people write them, are written out as digits for GStreamer. */
static void test_exponents(void)
{
  static const char *const cases[][2] = {
    { "blocks=1e1 rate=1.5e6 stations=2e0", "num-buffers=10 ! 'application/x-astro-voltages," },
    { "blocks=1e1 rate=1.5e6 stations=2e0", "stations=2,rate=1500000/1,frequency=(double)1e8" },
    { "blocks=10.0 rate=1", "num-buffers=10 " },
    { "blocks=2.5 rate=1",
      "could not set property \"num-buffers\" in element \"fakesrc\" to \"2.5\"" },
    { "blocks=1e10 rate=1", "to \"1e10\": expected a whole number from -1 to 2147483647" },
    { "blocks=1 rate=2.5e-1",
      "parameter rate is \"2.5e-1\", expected a whole number such as 1000000 or 1e6 in caps" },
    { "blocks=1 rate=100k",
      "parameter rate is \"100k\", expected a whole number such as 1000000 or 1e6 in caps: r" },
    { "blocks=1 rate=1 stations=0e0",
      "parameter stations is \"0e0\", expected a whole number of at least 1 in caps" },
    { "blocks=1", "bad.graph:5: parameter rate has to be given: r" },
  };
  write_file("bad.graph",
             "@blocks 3 \"b\"\n@rate \"\" \"r\"\n@stations 2 \"s\"\n"
             "fakesrc num-buffers=${blocks} !\n application/x-astro-voltages,format=CI8,"
             "layout=time:station,stations=${stations},rate=${rate}/1,frequency=(double)1e8 ! "
             "fakesink",
             -1);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(Result) result = run("print ./bad.graph %s", cases[i][0]);
    g_assert_nonnull(strstr(result.status ? result.err : result.out, cases[i][1]));
  }
}

/* Other files given to the graph image instead of UVFITS: one line says what they are. */
static void test_wrong_files(void)
{
  static const char *const cases[][2] = {
    { "two.csv", "two.csv: found text (a catalogue), expected visibilities (UVFITS)" },
    { "noise.raw", "noise.raw: found bytes of an unknown kind, expected FITS, a recording" },
    { "made.fits", "made.fits: found an image, expected visibilities (UVFITS): an image "
                   "goes to astrorender, as examples/picture.sh" },
    { "made.png", "made.png is a PNG picture" },
  };
  write_file("two.csv", "RA,DEC\n1,2\n3,4\n", -1);
  write_file("noise.raw", "\x01\x02\x03\x04\x05", -1);
  write_file("made.png", "\x89PNG\r\n\x1a\n...", -1);
  write_file("made.graph",
             "astrovissrc stations=4 num-buffers=1 ! astrogridder size=32 cell=60 ! astrofft ! "
             "astroimage ! astrofitssink location=made.fits",
             -1);
  g_auto(Result) made = run("run --quiet ./made.graph");
  g_assert_cmpint(made.status, ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(Result) result = run("run image uvfits=%s", cases[i][0]);
    if (skips(&result))
      return;
    assert_refused(&result, 1, cases[i][1]);
  }
}

static void add_tests(void)
{
  g_test_add_func("/gst-astro/refused-graphs", test_refused_graphs);
  g_test_add_func("/gst-astro/refused-pipelines", test_refused_pipelines);
  g_test_add_func("/gst-astro/bad-caps-values", test_bad_caps_values);
  g_test_add_func("/gst-astro/wrong-files", test_wrong_files);
  g_test_add_func("/gst-astro/exponents", test_exponents);
  g_test_add_func("/gst-astro/other-locations", test_other_locations);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
