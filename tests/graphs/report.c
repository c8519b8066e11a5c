/* The reports of a run: its progress, the table of --stats, the graph of --dot. */
#include "tests/graphs/program.h"

#include <fcntl.h>

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
     "+again "
     "+backend"),
    "src +fakesrc +0 +7 +0 B +700 B +[0-9.]+ .?B/s +- +- +- +- +- +-",
    "t +tee +7 +14 +700 B +1\\.40 kB +[0-9.]+ .?B/s +- +- +- +- +- +-",
    "q +queue +7 +7 +700 B +700 B +[0-9.]+ .?B/s +- +- +- +- +- +-",
    "i +identity +7 +7 +700 B +700 B +[0-9.]+ .?B/s +- +- +- +- +- +-",
    "one +fakesink +7 +0 +700 B +0 B +[0-9.]+ .?B/s +- +- +- +- +- +-",
    "two +fakesink +7 +0 +700 B +0 B +[0-9.]+ .?B/s +- +- +- +- +- +-",
  };
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *pattern = g_strdup_printf("(?m)^%s$", rows[i]);
    g_assert_true(g_regex_match_simple(pattern, result.out, 0, 0));
  }
}

/* Copies between host and GPUs are reported: blocks go up once and down once. */
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

/* The energy of GPUs, or why there is none. */
static void test_stats_of_energy(void)
{
  g_autofree char *fake =
      g_test_build_filename(G_TEST_BUILT, "tests/core/machine/.libs/fake-nvml.so", NULL);
  write_file("energy.graph", "fakesrc num-buffers=7 sizetype=fixed sizemax=100 ! fakesink", -1);
  g_setenv("ASTRO_NVML", "/nowhere.so", TRUE);
  g_auto(Result) without = run("run ./energy.graph --stats --quiet");
  g_assert_cmpint(without.status, ==, 0);
  g_assert_true(g_regex_match_simple("(?m)^energy of the machine: .*; not of GPUs: /nowhere\\.so "
                                     "cannot be loaded: it comes with NVIDIA's driver$",
                                     without.out, 0, 0));
  if (g_file_test(fake, G_FILE_TEST_EXISTS)) { /* not among installed tests */
    g_setenv("ASTRO_NVML", fake, TRUE);
    g_setenv("ASTRO_FAKE_MILLIJOULES", "+,", TRUE);
    g_auto(Result) result = run("run ./energy.graph --stats --quiet");
    g_assert_cmpint(result.status, ==, 0);
    g_assert_true(g_regex_match_simple("(?m)^energy of the machine:.* gpu-0 \\(Fake GPU\\) 1\\.5 J "
                                       "\\([0-9.e+]+ W\\)(; not of the CPU.*)?$",
                                       result.out, 0, 0));
  }
  g_unsetenv("ASTRO_NVML");
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

static void test_progress_lines(void)
{
  write_file("lines.graph",
             "fakesrc num-buffers=34 sizetype=fixed sizemax=1000 ! identity sleep-time=100000 "
             "! fakesink",
             -1);
  g_auto(Result) result = run("run lines.graph");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_true(
      g_regex_match_simple("^(lines: [^\n]* left\n)*"
                           "lines: [0-9.]+ %, [0-9.]+ k?B/s, 0:0[0-9]:[0-9]+ left\n"
                           "(lines: [^\n]* (left|finishing)\n)*"
                           "lines: 100.0 %, 34 buffers, 34.0 kB in [0-9.]+ s, [0-9.]+ k?B/s\n$",
                           result.err, 0, 0));
  /* Once sources are done, it is not known how long other elements still take. */
  write_file("slow-end.graph",
             "fakesrc num-buffers=1 sizetype=fixed sizemax=1000 ! queue\n"
             "! identity sleep-time=3500000 ! fakesink",
             -1);
  g_auto(Result) slow = run("run slow-end.graph");
  g_assert_cmpint(slow.status, ==, 0);
  g_assert_true(g_regex_match_simple("^(slow-end: [^\n]* left\n)*"
                                     "(slow-end: 100.0 %, [0-9.]+ k?B/s, finishing\n)+"
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
    g_test_skip("this machine has no pseudo terminals");
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
  g_assert_cmpstr(line_end, ==, "\n"); /* all other lines were redrawn */
}

static void add_tests(void)
{
  g_test_add_func("/gst-astro/stats", test_stats);
  g_test_add_func("/gst-astro/stats/device", test_stats_of_device);
  g_test_add_func("/gst-astro/stats/energy", test_stats_of_energy);
  g_test_add_func("/gst-astro/dot", test_dot);
  g_test_add_func("/gst-astro/progress-lines", test_progress_lines);
  g_test_add_func("/gst-astro/progress-terminal", test_progress_terminal);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
