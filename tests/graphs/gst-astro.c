/* The program as a user meets it: a process with arguments, output, signals and an exit status. */
#include "config.h"
#include "core/paths.h"
#include "core/backend/backend.h"
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *program, *completion, *manual, *folder;

typedef struct {
  int status; /* exit status; -1: killed by a signal */
  char *out, *err;
} Result;

static void result_clear(Result *result)
{
  g_free(result->out);
  g_free(result->err);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Result, result_clear)

static int exit_status(int wait_status)
{
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
}

static Result run_argv(char **argv)
{
  Result result = { 0 };
  int status;
  g_autoptr(GError) error = NULL;
  g_spawn_sync(folder, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &result.out, &result.err,
               &status, &error);
  g_assert_no_error(error);
  result.status = exit_status(status);
  g_test_message("%s: %d\n%s%s", argv[1], result.status, result.out, result.err);
  return result;
}

/* Runs the program with arguments as a shell would split them. */
G_GNUC_PRINTF(1, 2)
static Result run(const char *format, ...)
{
  va_list list;
  va_start(list, format);
  g_autofree char *arguments = g_strdup_vprintf(format, list);
  va_end(list);
  g_autofree char *quoted = g_shell_quote(program);
  g_autofree char *line = g_strconcat(quoted, " ", arguments, NULL);
  g_auto(GStrv) argv = NULL;
  g_assert_true(g_shell_parse_argv(line, NULL, &argv, NULL));
  return run_argv(argv);
}

static Result run_shell(const char *script)
{
  char *argv[] = { "bash", "-c", (char *)script, NULL };
  return run_argv(argv);
}

static char *in_folder(const char *name)
{
  return g_build_filename(folder, name, NULL);
}

static void write_file(const char *name, const char *bytes, gssize length)
{
  g_autofree char *path = in_folder(name);
  g_assert_true(g_file_set_contents(path, bytes, length, NULL));
}

static gint64 file_size(const char *name)
{
  GStatBuf info;
  g_autofree char *path = in_folder(name);
  return g_stat(path, &info) == 0 ? (gint64)info.st_size : -1;
}

/* One line on the standard error that holds text, and nothing on the standard output. */
static void assert_refused(const Result *result, int status, const char *text)
{
  g_assert_cmpint(result->status, ==, status);
  g_assert_cmpstr(result->out, ==, "");
  g_assert_nonnull(strstr(result->err, text));
  g_assert_true(g_str_has_suffix(result->err, "\n"));
  g_assert_true(strchr(result->err, '\n') == result->err + strlen(result->err) - 1);
}

static void test_full_output(void)
{
  static const char *const commands[] = { "--version", "list", "show good", "print good" };
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
    g_autofree char *script = g_strdup_printf("%s %s >/dev/full", program, commands[i]);
    g_auto(Result) full = run_shell(script);
    g_assert_cmpint(full.status, ==, 1);
    g_assert_nonnull(strstr(full.err, "standard output: No space left"));
  }
}

static void test_help(void)
{
  static const char *const words[] = { "run", "list", "show", "print", "--help", "--version" };
  g_auto(Result) help = run("--help");
  g_assert_cmpint(help.status, ==, 0);
  g_assert_cmpstr(help.err, ==, "");
  for (guint i = 0; i < G_N_ELEMENTS(words); i++)
    g_assert_nonnull(strstr(help.out, words[i]));
  g_auto(Result) word = run("help");
  g_assert_cmpint(word.status, ==, 0);
  g_assert_cmpstr(word.out, ==, help.out);
  for (guint i = 0; i < 4; i++) {
    g_auto(Result) command = run("%s --help", words[i]);
    g_autofree char *usage = g_strdup_printf("Usage: gst-astro %s", words[i]);
    g_assert_cmpint(command.status, ==, 0);
    g_assert_true(g_str_has_prefix(command.out, usage));
  }
  g_auto(Result) graph = run("run good --help");
  g_assert_cmpint(graph.status, ==, 0);
  g_assert_nonnull(strstr(graph.out, "Usage: gst-astro run"));
  g_assert_nonnull(strstr(graph.out, "\nParameters:\n  blocks="));
  g_auto(Result) unknown = run("run godo --help");
  g_assert_cmpint(unknown.status, ==, 1);
  g_assert_nonnull(strstr(unknown.err, "no graph godo, did you mean good?"));
  g_auto(Result) version = run("--version");
  g_assert_cmpint(version.status, ==, 0);
  g_assert_true(g_str_has_prefix(version.out, "gst-astro "));
}

static void test_usage(void)
{
  static const char *const cases[][2] = {
    { "", "which command?" },
    { "rnu", "no command rnu, did you mean run?" },
    { "--halp", "no option --halp" },
    { "run", "which graph?" },
    { "run good --stat", "no option --stat, did you mean --stats?" },
    { "run good --dot", "--dot needs a FILE" },
    { "run good --dot=", "--dot needs a FILE" },
    { "run good extra", "unexpected argument extra: parameters are given as name=value" },
    { "show", "which graph?" },
    { "show good blocks=1", "unexpected argument blocks=1" },
    { "print good --stats", "no option --stats" },
    { "list good", "unexpected argument good" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(Result) result = run("%s", cases[i][0]);
    assert_refused(&result, 2, cases[i][1]);
  }
}

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
    { "random.graph", "random.graph:1: not a text" },
    { "nul.graph", "nul.graph:2: not a text: a control character (0x00)" },
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
      "to \"257\": expected one of 257 values, from auto to 256" },
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
    { "astroskysrc ! application/x-astro-voltages,pols=2 ! astrorender ! fakesink",
      "pols=(int)2: astrorender0 takes application/" },
    { "fakesrc ! x/y,f=(int)z ! fakesink", "could not parse caps" },
    { "fakesrc ! . fakesink", "bad.graph: syntax error" },
    { "fakesrc ! ! fakesink", "bad.graph:1: ! has no element before it" },
    { "fakesrc ! identity x=\"y", "bad.graph:1: the quote \" that begins here is not closed" },
    { "\n\nidentity", "bad.graph:3: identity0: nothing is linked to its input" },
    { "fakesrc num-buffers=1 ! fakesink\nidentity ! fakesink",
      "bad.graph:2: identity0: nothing is linked" },
    { "fakesrc num-buffers=0", "bad.graph: the pipeline has no sink" },
    { "fakesrc ! identity ! tee", "bad.graph: the pipeline has no sink" },
    { "filesrc location=bad.graph !\n filesink location=./bad.graph",
      "bad.graph:2: filesink0 would write to ./bad.graph, which filesrc0 reads" },
    { "fakesrc ! filesink location=new fakesrc ! filesink location=a/../new",
      "would write to a/../new, which filesink0 writes, too" },
    { "fakesrc ! identity fakesrc ! fakesink",
      "fakesrc0: Internal data stream error. (streaming stopped, reason not-linked (-1))" },
    { "filesrc location=/nonexistent/a ! fakesink", "filesrc0: Resource not found. (No such file" },
    { "fakesrc num-buffers=2 ! filesink location=/proc/absent name=out",
      "out: Could not open file" },
    { "fakesrc num-buffers=2 !\n filesink location=/nonexistent/a/b name=out",
      "bad.graph:2: out would write to /nonexistent/a/b, but there is no folder /nonexistent/a" },
    { "fakesrc num-buffers=2 !\n multifilesink location=absent/%d.png",
      "bad.graph:2: multifilesink0 would write to absent/%d.png, but there is no folder absent" },
    { "fakesrc num-buffers=2 !\n multifilesink location=.",
      "bad.graph:2: multifilesink0 would write to ., which is a folder" },
    { "filesrc ! fakesink", "filesrc0: No file name specified" },
    { "fakesrc num-buffers=2 !\n multifilesink location=\"\"",
      "bad.graph:2: multifilesink0 has an empty location, expected the name of a file" },
    { "fakesrc ! fakesink state-error=null-to-ready", "fakesink0: " },
    { "fakesrc ! fakesink state-error=ready-to-paused", "fakesink0: " },
    { "fakesrc ! fakesink state-error=paused-to-playing", "fakesink0: " },
    { "fakesrc ! identity error-after=3 name=broken ! fakesink",
      "broken: Failed after iterations" },
    { "queue name=q ! queue ! q.", "nothing would flow" },
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
  write_file("two.csv", "RA,DEC\n1,2\n3,4\n", -1);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    write_file("bad.graph", cases[i][0], -1);
    g_auto(Result) result = run("run ./bad.graph");
    assert_refused(&result, 1, cases[i][1]);
  }
}

/* Of nothing GStreamer makes the number 0, and caps with a NaN do not even meet themselves. */
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

/* What sinks of other plugins make of a location is theirs to say. */
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

static void test_run(void)
{
  g_auto(Result) result = run("run --quiet good blocks=3 output=run.raw");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_cmpstr(result.out, ==, "");
  g_assert_cmpstr(result.err, ==, "");
  g_assert_cmpint(file_size("run.raw"), ==, 3 * 1000);
  g_auto(Result) path = run("run graphs/good.graph output=path.raw -- blocks=2");
  g_assert_cmpint(path.status, ==, 0);
  g_assert_cmpint(file_size("path.raw"), ==, 2 * 1000);
  g_assert_true(g_str_has_prefix(path.err, "good: 100.0 %, 2 buffers, 2.00 kB in "));
  g_autofree char *script = g_strdup_printf(
      "echo 'fakesrc num-buffers=4 ! filesink location=in.raw' | '%s' run - --quiet", program);
  g_auto(Result) input = run_shell(script);
  g_assert_cmpint(input.status, ==, 0);
  g_assert_cmpstr(input.err, ==, "");
  g_assert_cmpint(file_size("in.raw"), ==, 0);
}

static void test_list_and_show(void)
{
  g_auto(Result) list = run("list");
  g_assert_cmpint(list.status, ==, 0);
  g_assert_true(g_regex_match_simple("^good +Zeros to a file\\.$", list.out, G_REGEX_MULTILINE, 0));
  g_assert_nonnull(strstr(list.out, "first-light  "));
  g_assert_null(strstr(list.out, "More words."));
  g_auto(Result) show = run("show good");
  g_assert_cmpint(show.status, ==, 0);
  g_assert_true(g_str_has_prefix(show.out, "Zeros to a file.\nMore words.\n\nParameters:\n"
                                           "  blocks=10         how many\n"
                                           "  output='a b.raw'  the file\n"));
  g_assert_nonnull(strstr(show.out, "filesink location=${output}\n"));
  g_auto(Result) absent = run("show godo");
  assert_refused(&absent, 1, "no graph godo, did you mean good?");
}

static void test_list_broken(void)
{
  g_autofree char *script =
      g_strdup_printf("mkdir -p broken && echo 'a ! ! b' >broken/wrong.graph && "
                      "GST_ASTRO_GRAPHS=broken:none '%s' list",
                      program);
  g_auto(Result) list = run_shell(script);
  g_assert_cmpint(list.status, ==, 1);
  g_assert_cmpstr(list.err, ==, "broken/wrong.graph:1: ! has no element before it\n");
  g_assert_nonnull(strstr(list.out, "first-light  "));
}

/* What print prints makes the file that run would make, whatever its name. */
static void test_print(void)
{
  static const char *const names[] = { "a b", "'",  "\"",   "\"q\"", "$HOME", "`id`",     "a\\",
                                       "\\",  "-v", "a -v", "!",     "a ! b", "#",        "*",
                                       "a;b", "~",  "(c)",  "{a,b}", "=",     "h\xc3\xa9" };
  g_autofree char *launch = g_find_program_in_path("gst-launch-1.0");
  if (!launch) {
    g_test_skip("no gst-launch-1.0");
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *assignment = g_strconcat("output=", names[i], NULL);
    char *argv[] = { program, "print", "good", "blocks=2", assignment, NULL };
    g_auto(Result) printed = run_argv(argv);
    g_assert_cmpint(printed.status, ==, 0);
    g_assert_cmpint(file_size(names[i]), ==, -1);
    char *shell[] = { "sh", "-c", printed.out, NULL };
    g_auto(Result) result = run_argv(shell);
    g_assert_cmpint(result.status, ==, 0);
    g_assert_cmpint(file_size(names[i]), ==, 2 * 1000);
  }
  g_auto(Result) wrong = run("print good blocsk=2");
  assert_refused(&wrong, 1, "no parameter blocsk");
}

static void test_stats(void)
{
  write_file("stats.graph",
             "fakesrc name=src num-buffers=7 sizetype=fixed sizemax=100 ! tee name=t\n"
             "t. ! queue name=q ! fakesink name=one  t. ! ( name=inner identity name=i ! fakesink "
             "name=two )",
             -1);
  g_auto(Result) result = run("run ./stats.graph --stats --quiet");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_cmpstr(result.err, ==, "");
  static const char *const rows[] = {
    ("element +factory +buffers in +out +bytes in +out +rate +busy +waits in +out +host copies "
     "+backend"),
    "src +fakesrc +0 +7 +0 B +700 B +[0-9.]+ .?B/s +- +- +- +- +-",
    "t +tee +7 +14 +700 B +1\\.40 kB +[0-9.]+ .?B/s +- +- +- +- +-",
    "q +queue +7 +7 +700 B +700 B +[0-9.]+ .?B/s +- +- +- +- +-",
    "i +identity +7 +7 +700 B +700 B +[0-9.]+ .?B/s +- +- +- +- +-",
    "one +fakesink +7 +0 +700 B +0 B +[0-9.]+ .?B/s +- +- +- +- +-",
    "two +fakesink +7 +0 +700 B +0 B +[0-9.]+ .?B/s +- +- +- +- +-",
  };
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *pattern = g_strdup_printf("(?m)^%s$", rows[i]);
    g_assert_true(g_regex_match_simple(pattern, result.out, 0, 0));
  }
}

/* What goes between host and GPUs is told: blocks up once and down once. */
static void test_stats_of_device(void)
{
  const char *build = g_getenv("G_TEST_BUILDDIR"), *before = g_getenv("ASTRO_CUDA_MODULE");
  g_autofree char *module =
      build ? g_build_filename(build, "tests/elements/.libs/fake-module.so", NULL) : NULL;
  if (!module || !g_file_test(module, G_FILE_TEST_EXISTS)) {
    g_test_skip("no fake module beside this test");
    return;
  }
  write_file(
      "device.graph",
      "fakesrc num-buffers=9 sizetype=fixed sizemax=49152\n"
      "  ! application/x-astro-spectra, format=CI8, layout=time:station:channel, stations=4,\n"
      "    channels=16\n"
      "  ! astroconvert backend=cuda ! application/x-astro-spectra, format=CF32LE\n"
      "  ! astrotranspose backend=cuda layout=channel:station:time ! fakesink",
      -1);
  g_autofree char *restored = g_strdup(before);
  g_setenv("ASTRO_CUDA_MODULE", module, TRUE);
  g_auto(Result) result = run("run ./device.graph --stats --quiet");
  if (restored)
    g_setenv("ASTRO_CUDA_MODULE", restored, TRUE);
  else
    g_unsetenv("ASTRO_CUDA_MODULE");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_true(g_regex_match_simple("(?m)^copies to GPUs 9 \\(442 kB\\), back 9 \\(1\\.77 MB\\), "
                                     "on the host [0-9]+; the host waited [0-9]+ times$",
                                     result.out, 0, 0));
}

static void test_dot(void)
{
  g_auto(Result) result = run("run good blocks=2 output=dot.raw --quiet --dot good.dot");
  g_autofree char *path = in_folder("good.dot"), *dot = NULL;
  g_assert_cmpint(result.status, ==, 0);
  g_assert_true(g_file_get_contents(path, &dot, NULL, NULL));
  g_assert_true(g_str_has_prefix(dot, "digraph "));
  g_assert_nonnull(strstr(dot, "filesink0"));
  g_auto(Result) nowhere = run("run good blocks=2 output=dot.raw --quiet --dot=/nonexistent/a.dot");
  assert_refused(&nowhere, 1, "/nonexistent/a.dot: No such file or directory");
  write_file("broken.graph", "filesrc location=/nonexistent/a ! fakesink", -1);
  g_auto(Result) broken = run("run ./broken.graph --quiet --dot=broken.dot");
  g_autofree char *broken_path = in_folder("broken.dot");
  g_assert_cmpint(broken.status, ==, 1);
  g_assert_true(g_file_test(broken_path, G_FILE_TEST_EXISTS));
}

/* A test that fails leaves no process behind. */
static void end_with_parent(gpointer data)
{
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* As nohup does. Here, since GLib undoes in the child what a parent ignores. */
static void ignore_hangup(gpointer data)
{
  end_with_parent(data);
  signal(SIGHUP, SIG_IGN);
}

static GPid start_with(const char *graph, int *err, GSpawnChildSetupFunc setup)
{
  char *argv[] = { program, "run", (char *)graph, NULL };
  GPid pid;
  g_assert_true(g_spawn_async_with_pipes(folder, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, setup, NULL,
                                         &pid, NULL, NULL, err, NULL));
  return pid;
}

static GPid start(const char *graph, int *err)
{
  return start_with(graph, err, end_with_parent);
}

/* Whether the process handles signals by now. In a build tree it begins as libtool's shell script,
 * and the shell may have handlers of its own. */
static gboolean handles_interrupt(GPid pid)
{
  g_autofree char *link = g_strdup_printf("/proc/%d/exe", pid);
  g_autofree char *path = g_strdup_printf("/proc/%d/status", pid), *text = NULL;
  g_autofree char *running = g_file_read_link(link, NULL);
  if (!running || !g_str_has_suffix(running, "gst-astro") ||
      !g_file_get_contents(path, &text, NULL, NULL))
    return FALSE;
  const char *caught = strstr(text, "SigCgt:");
  guint64 set = caught ? g_ascii_strtoull(caught + strlen("SigCgt:"), NULL, 16) : 0;
  return set & 1 << (SIGINT - 1) && set & 1 << (SIGTERM - 1);
}

static int finish(GPid pid)
{
  int status;
  g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
  return exit_status(status);
}

static char *read_all(int fd)
{
  GString *text = g_string_new(NULL);
  char block[1000];
  for (gssize n; (n = read(fd, block, sizeof block)) > 0;)
    g_string_append_len(text, block, n);
  close(fd);
  return g_string_free(text, FALSE);
}

static void interrupt_once(int number, const char *output)
{
  int err;
  g_autofree char *graph = g_strdup_printf(
      "fakesrc sizetype=fixed sizemax=1000 filltype=zero ! identity sleep-time=1000 ! queue\n"
      "! filesink location=%s buffer-mode=unbuffered",
      output);
  write_file("endless.graph", graph, -1);
  GPid pid = start("./endless.graph", &err);
  while (!handles_interrupt(pid) || file_size(output) <= 0)
    g_usleep(1000);
  kill(pid, number);
  if (number ==
      SIGHUP) /* it comes of the kernel and of the shell: two are no wish to stop at once */
    kill(pid, number);
  g_assert_cmpint(finish(pid), ==, 0);
  g_autofree char *text = read_all(err);
  g_assert_nonnull(strstr(text, "interrupted: ending the stream"));
  g_assert_cmpint(file_size(output) % 1000, ==, 0);
  /* The last line tells of all that went in; with the end of the stream all of it is in the file.
   */
  g_autofree char *buffers =
      g_strdup_printf("endless: %d buffers, ", (int)(file_size(output) / 1000));
  g_assert_nonnull(strstr(text, buffers));
}

static void test_interrupt_once(void)
{
  interrupt_once(SIGINT, "int.raw");
  interrupt_once(SIGTERM, "term.raw");
  interrupt_once(SIGHUP, "hup.raw");
}

/* Under nohup the loss of the terminal ends nothing: the file goes on growing. */
static void test_no_hangup(void)
{
  int err;
  write_file("nohup.graph",
             "fakesrc sizetype=fixed sizemax=1000 ! identity sleep-time=1000\n"
             "! filesink location=nohup.raw buffer-mode=unbuffered",
             -1);
  GPid pid = start_with("./nohup.graph", &err, ignore_hangup);
  while (!handles_interrupt(pid) || file_size("nohup.raw") <= 0)
    g_usleep(1000);
  kill(pid, SIGHUP);
  const gint64 before = file_size("nohup.raw");
  while (file_size("nohup.raw") < before + 200 * 1000) {
    g_assert_cmpint(waitpid(pid, NULL, WNOHANG), ==, 0);
    g_usleep(1000);
  }
  kill(pid, SIGINT);
  g_assert_cmpint(finish(pid), ==, 0);
  close(err);
}

static void test_interrupt_twice(void)
{
  int err;
  write_file("stuck.graph",
             "fakesrc sizetype=fixed sizemax=1000 ! tee name=t\n"
             "t. ! filesink location=stuck.raw buffer-mode=unbuffered async=false\n"
             "t. ! identity sleep-time=1000000000 ! fakesink async=false",
             -1);
  GPid pid = start("./stuck.graph", &err);
  while (!handles_interrupt(pid) || file_size("stuck.raw") <= 0)
    g_usleep(1000);
  kill(pid, SIGINT);
  g_usleep(100000);
  kill(pid, SIGINT);
  g_assert_cmpint(finish(pid), ==, 130);
  close(err);
}

/* Opening the pipe keeps the main thread; nobody ever writes to it. */
static void test_interrupt_blocked(void)
{
  int err;
  g_autofree char *fifo = in_folder("fifo");
  g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
  write_file("blocked.graph", "filesrc location=fifo ! fakesink", -1);
  GPid pid = start("./blocked.graph", &err);
  while (!handles_interrupt(pid))
    g_usleep(1000);
  kill(pid, SIGINT);
  g_usleep(100000);
  kill(pid, SIGTERM);
  g_assert_cmpint(finish(pid), ==, 130);
  close(err);
}

/* The second signal ends a pipeline that lives but does not end. */
static void test_interrupt_slow(void)
{
  int err;
  write_file("slow.graph",
             "fakesrc ! queue max-size-buffers=0 max-size-bytes=0 max-size-time=0\n"
             "! identity sleep-time=20000 ! filesink location=slow.raw",
             -1);
  GPid pid = start("./slow.graph", &err);
  while (!handles_interrupt(pid) || file_size("slow.raw") < 0)
    g_usleep(1000);
  g_usleep(300000);
  kill(pid, SIGINT);
  g_usleep(100000);
  kill(pid, SIGINT);
  g_assert_cmpint(finish(pid), ==, 130);
  close(err);
}

/* Reads up to a line that holds text. */
static void await_line(int fd, const char *text)
{
  g_autoptr(GString) line = g_string_new(NULL);
  for (char c; read(fd, &c, 1) == 1; g_string_append_c(line, c))
    if (c == '\n') {
      if (strstr(line->str, text))
        return;
      g_string_truncate(line, 0);
    }
  g_error("it ended without a line of %s", text);
}

/* A count that takes minutes is not waited for, and a part of it is no result. */
static void test_interrupt_count(void)
{
  int err;
  write_file("count.graph",
             "astrocatsrc points=200000 ! pairs.data astrohistogram name=pairs backend=reference\n"
             "! tee name=t ! queue ! astrotpacf estimator=natural ! astrofitssink location=w.csv\n"
             "astrocatsrc points=100 ! pairs.random\n"
             "t. ! queue ! filesink location=pairs.u64 async=false",
             -1);
  GPid pid = start("./count.graph", &err);
  await_line(err, "; dd: ");
  kill(pid, SIGINT);
  g_assert_cmpint(finish(pid), ==, 1);
  g_autofree char *text = read_all(err);
  g_assert_nonnull(strstr(text, "interrupted: ending the stream"));
  g_assert_nonnull(strstr(text, "\npairs: interrupted before "));
  g_auto(Result) left = run_shell("ls w.csv* .w.csv* *.part .*.part");
  g_assert_cmpstr(left.out, ==, "");
  g_assert_cmpint(file_size("pairs.u64"), ==, 0);
}

static void test_progress_lines(void)
{
  write_file("lines.graph",
             "fakesrc num-buffers=34 sizetype=fixed sizemax=1000 ! identity sleep-time=100000 "
             "! fakesink",
             -1);
  g_auto(Result) result = run("run lines.graph");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_true(
      g_regex_match_simple("^lines: [0-9.]+ %, [0-9.]+ k?B/s, 0:0[0-9]:[0-9]+ left\n"
                           "(lines: [^\n]* left\n)*"
                           "lines: 100.0 %, 34 buffers, 34.0 kB in [0-9.]+ s, [0-9.]+ k?B/s\n$",
                           result.err, 0, 0));
  /* Where sources gave all and others have work left, nothing is known of how long it takes. */
  write_file("slow-end.graph",
             "fakesrc num-buffers=1 sizetype=fixed sizemax=1000 ! queue\n"
             "! identity sleep-time=3500000 ! fakesink",
             -1);
  g_auto(Result) slow = run("run slow-end.graph");
  g_assert_cmpint(slow.status, ==, 0);
  g_assert_true(g_regex_match_simple("^(slow-end: 100.0 %, [0-9.]+ k?B/s, finishing\n)+"
                                     "slow-end: 100.0 %, 1 buffers, [^\n]*\n$",
                                     slow.err, 0, 0));
}

static void test_progress_terminal(void)
{
  write_file(
      "terminal.graph",
      "fakesrc num-buffers=8 sizetype=fixed sizemax=1000 ! identity sleep-time=100000 ! fakesink",
      -1);
  int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
    g_test_skip("this machine gives no pseudo terminals");
    return;
  }
  int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
  const char *argv[] = { program, "run", "terminal.graph", NULL };
  GPid pid;
  g_assert_true(g_spawn_async_with_fds(folder, (char **)argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL,
                                       NULL, &pid, -1, -1, terminal, NULL));
  close(terminal);
  g_autofree char *text = read_all(master);
  g_assert_cmpint(finish(pid), ==, 0);
  g_assert_true(g_regex_match_simple("\rterminal: [0-9.]+ %, [^\n]* left\033\\[K", text, 0, 0));
  const char *line_end = strchr(text, '\n');
  g_assert_nonnull(line_end);
  g_assert_cmpstr(line_end, ==, "\n"); /* all the others were redrawn */
}

/* Options that bash is asked for go before the words. */
static void complete(const char *words, const char *expected)
{
  g_autofree char *script = g_strdup_printf(
      "compopt() { printf '%%s ' \"$@\"; }\n"
      "source '%s'; COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
      "_gst_astro '%s' \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\" "
      "<<<'@typed 1 \"h\" \nfakesrc num-buffers=${typed} ! fakesink'\n"
      "echo \"${COMPREPLY[@]}\"",
      completion, words, program);
  g_auto(Result) result = run_shell(script);
  g_autofree char *line = g_strconcat(expected, "\n", NULL);
  g_assert_cmpint(result.status, ==, 0);
  g_assert_cmpstr(result.out, ==, line);
  g_assert_cmpstr(result.err, ==, "");
}

static void test_completion(void)
{
  complete("gst-astro ''", "run list show print devices --help --version");
  complete("gst-astro pr", "print");
  complete("gst-astro run go", "good");
  complete("gst-astro run --stats first-l", "first-light");
  complete("gst-astro show graphs/good.gr", "-o filenames graphs/good.graph");
  complete("gst-astro run good ''", "-o nospace blocks= output=");
  complete("gst-astro run --dot x.dot good bl", "-o nospace blocks=");
  complete("gst-astro print ./graphs/good.graph --stats o", "-o nospace output=");
  complete("gst-astro run good --s", "--stats");
  complete("gst-astro show --", "--help");
  complete("gst-astro show good ''", "");
  complete("gst-astro list ''", "");
  complete("gst-astro run - ''", "-o nospace "); /* what is typed is not read as a graph */
  complete("gst-astro run good output = graphs/good.g", "-o filenames graphs/good.graph");
  complete("gst-astro run good --dot graphs/good.g", "-o filenames graphs/good.graph");
}

/* Every option that any help shows is in the manual and completes. */
static void test_manual(void)
{
  static const char *const commands[] = { "", "run", "list", "show", "print" };
  g_autofree char *page = NULL, *script = NULL;
  g_assert_true(g_file_get_contents(manual, &page, NULL, NULL));
  g_assert_true(g_file_get_contents(completion, &script, NULL, NULL));
  guint found = 0;
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
    g_auto(Result) help = run("%s --help", commands[i]);
    g_autoptr(GRegex) pattern = g_regex_new("--[a-z]+", 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    for (g_regex_match(pattern, help.out, 0, &match); g_match_info_matches(match);
         g_match_info_next(match, NULL)) {
      g_autofree char *option = g_match_info_fetch(match, 0);
      g_autofree char *written = g_strconcat("\\-\\-", option + 2, NULL);
      g_assert_nonnull(strstr(page, written));
      g_assert_nonnull(strstr(script, option));
      found++;
    }
    if (*commands[i]) {
      g_autofree char *command = g_strdup_printf(".B %s\n", commands[i]);
      g_assert_nonnull(strstr(page, command));
    }
  }
  g_assert_cmpuint(found, >=, 10);
}

/* The graphs that come with us, made small: each ends with a line on the file that it wrote. */
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

/* Our own elements: found by the program itself, with what they count and what they report. */
static void test_first_light(void)
{
  g_auto(Result) result = run("run first-light stations=4 channels=16 integration=500 "
                              "duration=0.05 output=light.uvfits image=light.fits "
                              "picture=light.png --stats --quiet");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_true(g_regex_match_simple("(?m)^astrotranspose0 +astrotranspose +[0-9]+ +[0-9]+ "
                                     "+3.[0-9]+ MB +3.[0-9]+ MB +[0-9.]+ .?B/s +[0-9.]+ s "
                                     "+[0-9.]+ s +[0-9.]+ s +[0-9]+ +(cpu|cuda)/",
                                     result.out, 0, 0));
  /* The last lines say what is in the image and in the files. */
  g_assert_cmpint(file_size("light.uvfits"), >, 0);
  g_assert_cmpint(file_size("light.fits"), >, 0);
  g_assert_cmpint(file_size("light.png"), >, 0);
  g_assert_nonnull(strstr(result.out, "\nimage I, channel 0: 3 sources, noise "));
  g_assert_nonnull(strstr(result.out, "\nsource 3: true l 0.001000, m -0.007000, 0.5 Jy; "));
  g_assert_nonnull(strstr(result.out, "\nlight.fits: format FITS image, images 1, width 256, "));
  g_assert_true(g_regex_match_simple(
      "\nlight.uvfits: format UVFITS, stations 4, baselines 10, channels 16, products 4, "
      "integrations 7, start 2026-11-20T12:00:00.000000000Z, seconds 0.056, least-weight [0-9]+, "
      "most-weight 500, flagged 0\n",
      result.out, 0, 0));
  /* A run that fails leaves no file, and the picture of the last one as it was. */
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
  /* What was made before an error is kept, and said. */
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
      "! astroconvert ! application/x-astro-voltages,format=CI4 ! fakesink",
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

/* Of the first source of an image. */
static void assert_source(const char *out, double l, double m)
{
  const char *source = strstr(out, "source 1: found l ");
  g_assert_nonnull(source);
  g_assert_cmpfloat_with_epsilon(g_ascii_strtod(source + 18, NULL), l, 5e-6);
  g_assert_cmpfloat_with_epsilon(g_ascii_strtod(strstr(source, " m ") + 3, NULL), m, 5e-6);
}

/* Samples of a simulated array, behind a header that is cut off, to visibilities and an image. */
static void check_own_voltages(const char *format, gssize bytes)
{
  g_autofree char *graph = g_strdup_printf(
      "astroskysrc array=positions.txt sky=0.0041,0.0033,2 noise=1 phase-centre=200,-30 "
      "bandwidth=200e3 duration=0.2 ! application/x-astro-voltages,format=%s ! astroconvert ! "
      "application/x-astro-voltages,format=%s,layout=time:station:pol ! filesink location=samples",
      g_str_equal(format, "CI8") ? "CI8" : "CF32LE", format);
  write_file("own.graph", graph, -1);
  g_auto(Result) made = run("run ./own.graph");
  g_assert_cmpint(made.status, ==, 0);
  g_auto(Result) joined =
      run_shell("(printf 'a header of 30 bytes: 12345678'; cat samples) > own.raw");
  g_assert_cmpint(file_size("own.raw"), ==, 30 + 200000 / 5 * 14 * 2 * bytes);
  g_auto(Result) result =
      run("run correlate-file input=own.raw skip=30 stations=14 rate=200000 array=positions.txt "
          "centre=200,-30 start=2026-11-20T12:00:00 channels=20 integration=500 format=%s "
          "output=own.uvfits",
          format);
  g_assert_cmpint(result.status, ==, 0);
  g_assert_nonnull(strstr(result.out, "stations 14, baselines 105, channels 20, products 4, "
                                      "integrations 4, start 2026-11-20T12:00:00.000000000Z"));
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
  check_own_voltages("CF16LE", 4);
  check_own_voltages("CI8", 2);
  static const char *const bad[][2] = {
    { "stations=13 array=positions.txt", "positions.txt: 14 stations found, expected 13" },
    { "stations=14 start=2026-11-20T12:00:00", "array is not set and none came" },
    { "stations=14 array=disc centre=1,2", "no start time" },
    { "stations=14 array=disc start=2026-11-20T12:00:00", "no phase centre" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_auto(Result) refused =
        run("run correlate-file input=own.raw %s output=bad.uvfits", bad[i][0]);
    assert_refused(&refused, 1, bad[i][1]);
    g_assert_cmpint(file_size("bad.uvfits"), ==, -1);
  }
}

/* Predicted visibilities to an image, and an image of the file that they went to. */
static void test_images(void)
{
  g_auto(Result) result = run("run synthesis stations=20 array=vla-like sky=0.0041,0.0033,2 "
                              "duration=3600 integration=120 channels=2 size=256 cell=20 "
                              "centre= weighting=natural output=s.uvfits image=s.fits");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_cmpfloat(offset_of(result.out), <, 0.05);
  g_assert_nonnull(strstr(result.out, "stations 20, baselines 210, channels 2, products 4, "
                                      "integrations 30, "));
  g_auto(Result) again = run("run image uvfits=s.uvfits output=i.fits size=256 cell=20");
  g_assert_cmpint(again.status, ==, 0);
  assert_source(again.out, 0.0041, 0.0033);
  g_assert_nonnull(strstr(again.out, "i.fits: format FITS image, "));
  /* Cleaned, what the array adds to it is gone, and what CLEAN left along the edges is no source.
   */
  g_auto(Result) cleaned = run("run image uvfits=s.uvfits output=i.fits size=256 cell=20 "
                               "iterations=200");
  g_assert_nonnull(strstr(cleaned.out, "channel 0: 1 sources, "));
  g_auto(Result) none = run("run image uvfits=nowhere.uvfits");
  g_assert_cmpint(none.status, ==, 1);
  g_assert_nonnull(strstr(none.err, "nowhere.uvfits"));
}

static char *pick(const char *built, char *installed)
{
  if (!g_file_test(built, G_FILE_TEST_EXISTS))
    return installed;
  g_free(installed);
  return g_canonicalize_filename(built, NULL);
}

/* Points on a grid of 4 degrees, turned by some. */
static void write_points(const char *name, const char *heading, double turn)
{
  g_autoptr(GString) text = g_string_new(heading);
  for (guint i = 0; i < 400; i++)
    g_string_append_printf(text, "%g,%g,%u\n", i % 20 * 4 + turn * (i / 20), i / 20 * 4 - 40.0, i);
  write_file(name, text->str, (gssize)text->len);
}

/* Pictures need plugins that may be absent. */
static gboolean skips(const Result *result)
{
  gboolean lacks = result->status && strstr(result->err, "no element");
  if (lacks)
    g_test_skip(result->err);
  return lacks;
}

static void assert_png(const char *name)
{
  g_autofree char *path = in_folder(name), *bytes = NULL;
  gsize n;
  g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
  g_assert_cmpuint(n, >, 1000);
  g_assert_cmpmem(bytes, 8, "\x89PNG\r\n\x1a\n", 8);
}

/* A table, a picture, and the slope that is found beside the one put in. */
static void test_tpacf(void)
{
  g_auto(Result) result = run("run tpacf points=20000 randoms=2 footprint=band:0,60,0,40 regions=8 "
                              "output=mock.csv plot=mock.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  assert_png("mock.png");
  g_auto(Result) refused = run("run tpacf output=mock.csv plot=absent/mock.png");
  assert_refused(&refused, 1, "would write to absent/mock.png, but there is no folder absent");
  g_assert_true(g_regex_match_simple("astrocatsrc[0-9]+: mock: slope -0.8, ", result.err, 0, 0));
  g_assert_true(
      g_regex_match_simple("astrotpacf[0-9]+: tpacf: [^\n]*slope -0\\.[6-9]", result.err, 0, 0));
  /* Catalogues take no time that the run could be beside. */
  g_assert_nonnull(strstr(result.err, "tpacf: 100.0 %, 3 buffers, "));
  g_assert_null(strstr(result.err, "real time"));
}

/* A user's own files: text for the data, several for the random points, to CSV and to FITS. */
static void test_tpacf_files(void)
{
  g_autofree char *table = NULL, *path = in_folder("w.csv");
  write_points("stars.csv", "RA,DEC,MAG\n", 0);
  write_points("random-1.csv", "RA,DEC,MAG\n", 0.25);
  write_points("random-2.csv", "RA,DEC,MAG\n", 0.75);
  for (guint i = 0; i < 2; i++) {
    g_auto(Result) result = run("run tpacf-files data=stars.csv random='random-?.csv' regions=4 "
                                "from=100 to=10000 bins=2 output=w.%s plot=w.png",
                                i ? "fits" : "csv");
    if (skips(&result))
      return;
    g_assert_cmpint(result.status, ==, 0);
    assert_png("w.png");
  }
  g_assert_true(g_file_get_contents(path, &table, NULL, NULL));
  g_assert_true(g_str_has_prefix(table, "theta,low,high,w,error,dd,dr,rr,cov0,"));
  g_assert_cmpint(file_size("w.fits"), ==, 4 * 2880); /* the table has two blocks of header */
  g_auto(Result) refused = run("run tpacf-files data=stars.csv random='none-*' output=none.csv "
                               "plot=none.png");
  g_assert_cmpint(refused.status, !=, 0);
  g_assert_nonnull(strstr(refused.err, "No file matches none-*"));
  g_autofree char *plot = in_folder("none.png");
  g_assert_false(g_file_test(plot, G_FILE_TEST_EXISTS));
}

/* Random points in columns of other names, and with no weights where the data have some. */
static void test_tpacf_random_columns(void)
{
  static const char *const columns[] = { "random='same-?.csv' random-weight=''",
                                         "random='other-?.csv' random-ra=A random-dec='D 0' "
                                         "random-weight=" };
  char *tables[G_N_ELEMENTS(columns)] = { NULL };
  g_autofree char *path = in_folder("columns.csv");
  write_points("stars.csv", "RA,DEC,MAG\n", 0);
  write_points("same-1.csv", "RA,DEC,MAG\n", 0.25);
  write_points("other-1.csv", "A,D 0,none\n", 0.25);
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++) {
    g_auto(Result) result = run("run tpacf-files data=stars.csv weight=MAG %s regions=4 from=100 "
                                "bins=2 output=columns.csv plot=w.png",
                                columns[i]);
    if (skips(&result))
      return;
    g_assert_cmpstr(result.status ? result.err : "", ==, "");
    g_assert_true(g_file_get_contents(path, &tables[i], NULL, NULL));
  }
  g_assert_cmpstr(tables[1], ==, tables[0]);
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    g_free(tables[i]);
  g_auto(Result) shown = run("show tpacf-files");
  g_assert_nonnull(strstr(shown.out, "  random-ra=RA "));
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  alarm(120);
  g_autofree char *source = g_strdup(g_getenv("srcdir") ? g_getenv("srcdir") : ".");
  g_autofree char *built_manual = g_build_filename(source, "graphs", "gst-astro.1", NULL);
  g_autofree char *built_completion = g_build_filename(source, "graphs", "gst-astro.bash", NULL);
  program = pick("graphs/gst-astro", astro_relocate(ASTRO_BINDIR "/gst-astro"));
  manual = pick(built_manual, astro_relocate(ASTRO_MANDIR "/man1/gst-astro.1"));
  completion = pick(built_completion, astro_relocate(ASTRO_COMPLETIONDIR "/gst-astro"));
  folder = g_dir_make_tmp("gst-astro-XXXXXX", NULL);
  g_autofree char *graphs = in_folder("graphs");
  g_mkdir(graphs, 0700);
  g_setenv("GST_ASTRO_GRAPHS", graphs, TRUE);
  /* Leaks still make a warning, which the tests of the standard error see; the rest is too much. */
  g_unsetenv("GST_DEBUG");
  g_setenv("LC_ALL", "C.UTF-8", TRUE);
  write_file("graphs/good.graph",
             "# Zeros to a file.\n# More words.\n@blocks 10 \"how many\"\n"
             "fakesrc num-buffers=${blocks} sizetype=fixed sizemax=1000 filltype=zero\n"
             "! filesink location=${output}\n@output \"a b.raw\" \"the file\"\n",
             -1);
  static const struct {
    const char *path;
    void (*function)(void);
  } tests[] = {
    { "/gst-astro/help", test_help },
    { "/gst-astro/full-output", test_full_output },
    { "/gst-astro/usage", test_usage },
    { "/gst-astro/refused-graphs", test_refused_graphs },
    { "/gst-astro/refused-pipelines", test_refused_pipelines },
    { "/gst-astro/bad-caps-values", test_bad_caps_values },
    { "/gst-astro/other-locations", test_other_locations },
    { "/gst-astro/run", test_run },
    { "/gst-astro/list-and-show", test_list_and_show },
    { "/gst-astro/list-broken", test_list_broken },
    { "/gst-astro/print", test_print },
    { "/gst-astro/stats", test_stats },
    { "/gst-astro/stats/device", test_stats_of_device },
    { "/gst-astro/dot", test_dot },
    { "/gst-astro/interrupt-once", test_interrupt_once },
    { "/gst-astro/no-hangup", test_no_hangup },
    { "/gst-astro/interrupt-twice", test_interrupt_twice },
    { "/gst-astro/interrupt-blocked", test_interrupt_blocked },
    { "/gst-astro/interrupt-slow", test_interrupt_slow },
    { "/gst-astro/interrupt-count", test_interrupt_count },
    { "/gst-astro/progress-lines", test_progress_lines },
    { "/gst-astro/progress-terminal", test_progress_terminal },
    { "/gst-astro/completion", test_completion },
    { "/gst-astro/manual", test_manual },
    { "/gst-astro/first-light", test_first_light },
    { "/gst-astro/images", test_images },
    { "/gst-astro/tpacf", test_tpacf },
    { "/gst-astro/own-voltages", test_own_voltages },
    { "/gst-astro/tpacf-files", test_tpacf_files },
    { "/gst-astro/tpacf-random-columns", test_tpacf_random_columns },
    { "/gst-astro/graphs", test_graphs },
  };
  for (guint i = 0; i < G_N_ELEMENTS(tests); i++)
    g_test_add_func(tests[i].path, tests[i].function);
  int status = g_test_run();
  char *remove[] = { "rm", "-rf", folder, NULL };
  g_spawn_sync(NULL, remove, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
  g_free(program);
  g_free(manual);
  g_free(completion);
  g_free(folder);
  return status;
}
