/* The program's commands and their output, completion, and the manual. */
#include "tests/graphs/program.h"

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

/* Like git's help: help with a command or a graph shows the same as --help after it. */
static void test_help_on(void)
{
  g_auto(Result) general = run("--help");
  g_auto(Result) again = run("help help");
  g_assert_cmpint(again.status, ==, 0);
  g_assert_cmpstr(again.out, ==, general.out);
  g_assert_nonnull(strstr(general.out, "\n  help    [COMMAND | GRAPH] "));
  g_auto(Result) command = run("help print");
  g_auto(Result) asked = run("print --help");
  g_assert_cmpint(command.status, ==, 0);
  g_assert_cmpstr(command.out, ==, asked.out);
  g_auto(Result) both = run("help run good");
  g_auto(Result) both_asked = run("run good --help");
  g_assert_cmpint(both.status, ==, 0);
  g_assert_cmpstr(both.out, ==, both_asked.out);
  g_auto(Result) graph = run("help good");
  g_assert_cmpint(graph.status, ==, 0);
  g_assert_cmpstr(graph.out, ==,
                  "Zeros to a file.\nMore words.\n\nParameters:\n"
                  "  blocks=10         how many\n  output='a b.raw'  the file\n");
  g_auto(Result) path = run("help ./graphs/good.graph");
  g_assert_cmpint(path.status, ==, 0);
  g_assert_cmpstr(path.out, ==, graph.out);
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

static void test_usage(void)
{
  static const char *const cases[][2] = {
    { "", "name a command" },
    { "rnu", "no command rnu, did you mean run?" },
    { "hepl", "no command hepl, did you mean help?" },
    { "version", "no command version, did you mean --version?" },
    { "--halp", "no option --halp, did you mean --help?" },
    { "--verson", "no option --verson, did you mean --version?" },
    { "good", "no command good, did you mean run good?" },
    { "help rnu", "no command or graph rnu, did you mean run?" },
    { "help godo", "no command or graph godo, did you mean good?" },
    { "help nothing-like-it", "no command or graph nothing-like-it (gst-astro --help" },
    { "help good extra", "unexpected argument extra" },
    { "help print --stats", "no option --stats" },
    { "run", "name a graph" },
    { "run good --stat", "no option --stat, did you mean --stats?" },
    { "run good --dot", "--dot needs a FILE" },
    { "run good --dot=", "--dot needs a FILE" },
    { "run good --clock", "--clock needs a CLOCK" },
    { "run good --clock=ptp", "--clock=ptp: expected system, realtime, or ptp: and a domain" },
    { "run good --clock=ptp:256", "--clock=ptp:256: expected system, realtime, or ptp:" },
    { "run good --clock=utc", "--clock=utc: expected system, realtime, or ptp:" },
    { "run good extra", "unexpected argument extra: parameters are given as name=value; "
                        "their names are in gst-astro help good" },
    { "show", "name a graph" },
    { "show good blocks=1", "unexpected argument blocks=1" },
    { "print good --stats", "no option --stats" },
    { "list good", "unexpected argument good" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(Result) result = run("%s", cases[i][0]);
    assert_refused(&result, 2, cases[i][1]);
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
  g_assert_nonnull(strstr(path.err, "good: 100.0 %, 2 buffers, 2.00 kB in "));
  g_autofree char *script = g_strdup_printf(
      "echo 'fakesrc num-buffers=4 ! filesink location=in.raw' | '%s' run - --quiet", program);
  g_auto(Result) input = run_shell(script);
  g_assert_cmpint(input.status, ==, 0);
  g_assert_cmpstr(input.err, ==, "");
  g_assert_cmpint(file_size("in.raw"), ==, 0);
}

/* One branch of a tee only has output at the end, while the other's queue fills soon. */
static void test_clock(void)
{
  static const char *const clocks[] = { "system", "realtime" };
  for (guint i = 0; i < G_N_ELEMENTS(clocks); i++) {
    g_auto(Result) result = run("run good blocks=2 output=clock.raw --clock %s", clocks[i]);
    g_assert_cmpint(result.status, ==, 0);
    g_assert_cmpint(file_size("clock.raw"), >, 0);
  }
}

/* A domain without a master is refused after the time that the user allows, or at once where PTP
 * cannot be used at all. Nothing of it stays in the output. */
static void test_ptp_clock(void)
{
  g_autofree char *script =
      g_strdup_printf("GST_ASTRO_CLOCK_WAIT=%%s timeout -s KILL 60 '%s' run good blocks=2 "
                      "output=ptp.raw --quiet --clock=ptp:231",
                      program);
  g_autofree char *short_wait = g_strdup_printf(script, "1");
  const gint64 begun = g_get_monotonic_time();
  g_auto(Result) result = run_shell(short_wait);
  g_assert_cmpint(g_get_monotonic_time() - begun, <, 20 * G_USEC_PER_SEC);
  g_assert_cmpint(result.status, ==, 1);
  g_assert_true(g_str_has_prefix(result.err, "--clock=ptp:231: "));
  g_assert_true(strstr(result.err, ": no PTP master gave the time within 1 s: ") ||
                strstr(result.err, ": PTP cannot be used here: "));
  g_assert_null(strstr(result.err, "EOF"));
  g_assert_cmpint(file_size("ptp.raw"), <, 0);
  /* A helper that says nothing: GStreamer would wait for it without end. */
  g_assert_true(g_file_set_contents("mute", "#!/bin/sh\nexec cat >/dev/null\n", -1, NULL));
  g_assert_cmpint(g_chmod("mute", 0700), ==, 0);
  g_autofree char *mute =
      g_strdup_printf("export GST_PTP_HELPER_1_0=./mute GST_PTP_HELPER=./mute; %s", short_wait);
  g_auto(Result) silent = run_shell(mute);
  g_assert_cmpint(silent.status, ==, 1);
  g_assert_true(strstr(silent.err, ": PTP cannot be used here: "));
  g_unlink("mute");
  g_autofree char *wrong_wait = g_strdup_printf(script, "soon");
  g_auto(Result) wrong = run_shell(wrong_wait);
  g_assert_cmpint(wrong.status, ==, 1);
  g_assert_true(
      g_str_has_prefix(wrong.err, "GST_ASTRO_CLOCK_WAIT=soon: expected how many seconds"));
}

static void test_late_branch(void)
{
  g_autofree char *script = g_strdup_printf(
      "echo 'astrovissrc stations=4 num-buffers=8 ! tee name=all ! queue max-size-buffers=1 ! "
      "filesink location=early.raw all. ! queue max-size-buffers=1 ! astrogridder size=32 "
      "cell=100 ! filesink location=late.raw' | timeout -s KILL 60 '%s' run - --quiet",
      program);
  g_auto(Result) result = run_shell(script);
  g_assert_cmpint(result.status, ==, 0);
  g_assert_cmpint(file_size("early.raw"), >, 0);
  g_assert_cmpint(file_size("late.raw"), >, 0);
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
  /* The description and parameters are not repeated with the pipeline. */
  g_assert_true(g_str_has_suffix(show.out,
                                 "good.graph:\nfakesrc num-buffers=${blocks} sizetype=fixed "
                                 "sizemax=1000 filltype=zero\n! filesink location=${output}\n"));
  g_assert_true(strstr(show.out, "Zeros to") == g_strrstr(show.out, "Zeros to"));
  g_assert_null(strchr(show.out, '@'));
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

/* The printed command makes the same file as run does, whatever its name. */
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
}

/* print refuses what run would refuse. */
static void test_print_refused(void)
{
  g_auto(Result) unknown = run("print good blocsk=2");
  assert_refused(&unknown, 1, "no parameter blocsk");
  g_assert_null(strstr(unknown.err, "Graphs with parameter"));
  /* For a parameter of other graphs, the error names these. */
  g_auto(Result) other = run("print good iterations=3");
  assert_refused(&other, 1,
                 "good.graph: no parameter iterations; it has blocks, output. Graphs with "
                 "parameter iterations: calibrate, camera, image, selfcal, synthesis, watch\n");
  g_auto(Result) twice = run("print good blocks=2 blocks=3");
  assert_refused(&twice, 1, "parameter blocks is given twice\n");
  g_auto(Result) many = run("print good blocks=many");
  assert_refused(&many, 1, "good.graph:4: could not set property \"num-buffers\"");
  write_file("needs.graph",
             "# Needs.\n\n@rate \"\" \"samples a second, a whole number (required)\"\n\n"
             "fakesrc ! application/x-astro-voltages,rate=${rate}/1,channels=1 ! fakesink\n",
             -1);
  g_auto(Result) lacks = run("print ./needs.graph");
  assert_refused(&lacks, 1,
                 "parameter rate has to be given: samples a second, a whole number (required)");
  g_auto(Result) has = run("print ./needs.graph rate=2e5");
  g_assert_cmpint(has.status, ==, 0);
  g_assert_nonnull(strstr(has.out, ",rate=200000/1,"));
  write_file("elsewhere.graph", "nosuch number=many ! fakesink", -1);
  g_auto(Result) elsewhere = run("print ./elsewhere.graph"); /* it may be for another machine */
  g_assert_cmpint(elsewhere.status, ==, 0);
}

/* A file of the sources, or as it was installed. */
static char *our_file(const char *name, const char *installed)
{
  const char *source = g_getenv("srcdir");
  g_autofree char *built = g_build_filename(source ? source : ".", "graphs", name, NULL);
  return find_built(built, installed);
}

static char *find_completion(void)
{
  return our_file("gst-astro.bash", ASTRO_COMPLETIONDIR "/gst-astro");
}

/* Completes words; options that are asked of bash are printed before the results. */
static void complete(const char *words, const char *expected)
{
  g_autofree char *completion = find_completion();
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
  complete("gst-astro ''",
           "run list show print devices plan machine qualify help --help --version");
  complete("gst-astro pr", "print");
  complete("gst-astro help dev", "devices");
  complete("gst-astro help goo", "good");
  complete("gst-astro help run goo", "good");
  complete("gst-astro help good ''", "");
  complete("gst-astro run go", "good");
  complete("gst-astro run --stats first-l", "first-light");
  complete("gst-astro show graphs/good.gr", "-o filenames graphs/good.graph");
  complete("gst-astro run good ''", "-o nospace blocks= output=");
  complete("gst-astro run --dot x.dot good bl", "-o nospace blocks=");
  complete("gst-astro print ./graphs/good.graph --stats o", "-o nospace output=");
  complete("gst-astro run good blocks = 3 ''", "-o nospace output=");
  complete("gst-astro run good blocks=3 ''",
           "-o nospace output="); /* words are only split at blanks */
  complete("gst-astro run good output = blocks ''", "-o nospace blocks=");
  complete("gst-astro run good output = blocks = 1 ''", "-o nospace blocks=");
  complete("gst-astro run good blocks", "-o nospace blocks=");
  complete("gst-astro run good --s", "--stats");
  complete("gst-astro run --clock r", "realtime");
  complete("gst-astro run --clock = p", "ptp:");
  complete("gst-astro run --clock =", "system realtime ptp:");
  complete("gst-astro run --clock = ptp : 0 good bl", "-o nospace blocks=");
  complete("gst-astro run --clock ptp:0 good bl", "-o nospace blocks=");
  complete("gst-astro run --stats good --",
           "--machine --dot --clock --keep --control --control-token --watchdog --quiet "
           "--verbose --help");
  complete("gst-astro run --control 127.0.0.1 : 80 good bl", "-o nospace blocks=");
  complete("gst-astro show --", "--help");
  complete("gst-astro show good ''", "");
  complete("gst-astro list ''", "");
  complete("gst-astro run - ''", "-o nospace "); /* the standard input is not read as a graph */
  complete("gst-astro run good output = graphs/good.g", "-o filenames graphs/good.graph");
  complete("gst-astro run good --dot graphs/good.g", "-o filenames graphs/good.graph");
}

/* Every option shown in any help is in the manual, and can be completed. */
static void test_manual(void)
{
  static const char *const commands[] = { "",        "run",  "list",    "show",    "print",
                                          "devices", "plan", "machine", "qualify", "help" };
  g_autofree char *manual = our_file("gst-astro.1", ASTRO_MANDIR "/man1/gst-astro.1");
  g_autofree char *completion = find_completion();
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

static void add_tests(void)
{
  g_test_add_func("/gst-astro/help", test_help);
  g_test_add_func("/gst-astro/help-on", test_help_on);
  g_test_add_func("/gst-astro/full-output", test_full_output);
  g_test_add_func("/gst-astro/usage", test_usage);
  g_test_add_func("/gst-astro/run", test_run);
  g_test_add_func("/gst-astro/clock", test_clock);
  g_test_add_func("/gst-astro/clock/ptp", test_ptp_clock);
  g_test_add_func("/gst-astro/late-branch", test_late_branch);
  g_test_add_func("/gst-astro/list-and-show", test_list_and_show);
  g_test_add_func("/gst-astro/list-broken", test_list_broken);
  g_test_add_func("/gst-astro/print", test_print);
  g_test_add_func("/gst-astro/print-refused", test_print_refused);
  g_test_add_func("/gst-astro/completion", test_completion);
  g_test_add_func("/gst-astro/manual", test_manual);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
