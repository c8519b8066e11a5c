/* Runs the program as a user does: as a process with arguments, output, signals and an exit status.
 */
#pragma once

#include "config.h"
#include "core/backend/module.h"
#include "core/paths.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char *program, *folder; /* the folder is where it runs; it is removed at the end */

typedef struct {
  int status; /* exit status; -1: killed by a signal */
  char *out, *err;
} Result;

static inline void result_clear(Result *result)
{
  g_free(result->out);
  g_free(result->err);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Result, result_clear)

static inline int exit_status(int wait_status)
{
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
}

static inline Result run_argv(char **argv)
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
static inline Result run(const char *format, ...)
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

static inline Result run_shell(const char *script)
{
  char *argv[] = { "bash", "-c", (char *)script, NULL };
  return run_argv(argv);
}

static inline char *in_folder(const char *name)
{
  return g_build_filename(folder, name, NULL);
}

static inline void write_file(const char *name, const char *bytes, gssize length)
{
  g_autofree char *path = in_folder(name);
  g_assert_true(g_file_set_contents(path, bytes, length, NULL));
}

static inline gint64 file_size(const char *name)
{
  GStatBuf info;
  g_autofree char *path = in_folder(name);
  return g_stat(path, &info) == 0 ? (gint64)info.st_size : -1;
}

/* Removes the lines of progress that a slow machine may print. */
static inline char *strip_progress(const char *err)
{
  g_autoptr(GRegex) progress = g_regex_new(
      "^[a-z-]+: [^\n]*( left|/s|, finishing|, -)(; [^\n]*)?\n", G_REGEX_MULTILINE, 0, NULL);
  return g_regex_replace_literal(progress, err, -1, 0, "", 0, NULL);
}

/* Checks for one line on the standard error that contains text, and no standard output. */
static inline void assert_refused(const Result *result, int status, const char *text)
{
  g_autofree char *line = strip_progress(result->err);
  g_assert_cmpint(result->status, ==, status);
  g_assert_cmpstr(result->out, ==, "");
  g_assert_nonnull(strstr(line, text));
  g_assert_true(g_str_has_suffix(line, "\n"));
  g_assert_true(strchr(line, '\n') == line + strlen(line) - 1);
}

/* Whether GStreamer's own launcher can load our elements; with a sanitizer it cannot. */
static inline gboolean can_launch(void)
{
#ifdef __SANITIZE_ADDRESS__
  return FALSE;
#else
  g_autofree char *launch = g_find_program_in_path("gst-launch-1.0");
  g_autofree char *inspect = g_find_program_in_path("gst-inspect-1.0");
  return launch && inspect;
#endif
}

/* Skips the test if plugins for pictures are missing. */
static inline gboolean skips(const Result *result)
{
  gboolean lacks = result->status && strstr(result->err, "no element");
  if (lacks)
    g_test_skip(result->err);
  return lacks;
}

static inline void assert_png(const char *name)
{
  g_autofree char *path = in_folder(name), *bytes = NULL;
  gsize n;
  g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
  g_assert_cmpuint(n, >, 1000);
  g_assert_cmpmem(bytes, 8, "\x89PNG\r\n\x1a\n", 8);
}

/* Ends the child with the test, so that a failed test leaves no process behind. */
static inline void end_with_parent(gpointer data)
{
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static inline int finish(GPid pid)
{
  int status;
  g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
  return exit_status(status);
}

static inline char *read_all(int fd)
{
  GString *text = g_string_new(NULL);
  char block[1000];
  for (gssize n; (n = read(fd, block, sizeof block)) > 0;)
    g_string_append_len(text, block, n);
  close(fd);
  return g_string_free(text, FALSE);
}

/* The file in the build tree, or else the installed one. */
static inline char *find_built(const char *built, const char *installed)
{
  return g_file_test(built, G_FILE_TEST_EXISTS) ? g_canonicalize_filename(built, NULL)
                                                : astro_relocate(installed);
}

static inline char *find_program(void)
{
  return find_built("graphs/gst-astro", ASTRO_BINDIR "/gst-astro");
}

/* Writes a folder of graphs with one graph, good.graph. */
static inline void write_graphs(void)
{
  g_autofree char *graphs = in_folder("graphs");
  g_mkdir(graphs, 0700);
  g_setenv("GST_ASTRO_GRAPHS", graphs, TRUE);
  write_file("graphs/good.graph",
             "# Zeros to a file.\n# More words.\n@blocks 10 \"how many\"\n"
             "fakesrc num-buffers=${blocks} sizetype=fixed sizemax=1000 filltype=zero\n"
             "! filesink location=${output}\n@output \"a b.raw\" \"the file\"\n",
             -1);
}

/* Under AddressSanitizer only: see tests/graphs/quiet-start.c. */
static inline void start_quietly(void)
{
#ifdef __SANITIZE_ADDRESS__
  const char *build = g_getenv("G_TEST_BUILDDIR"), *options = g_getenv("ASAN_OPTIONS");
  if (!build || !options)
    return;
  g_autofree char *preloaded = g_build_filename(build, "tests/graphs/.libs/quiet-start.so", NULL);
  g_autofree char *more = g_strconcat(options, ":verify_asan_link_order=0", NULL);
  g_assert_true(g_file_test(preloaded, G_FILE_TEST_EXISTS));
  g_setenv("LD_PRELOAD", preloaded, TRUE);
  g_setenv("ASAN_OPTIONS", more, TRUE);
#endif
}

static inline int test_program(int argc, char **argv, void (*add_tests)(void))
{
  g_test_init(&argc, &argv, NULL);
  alarm(600); /* ends a hang, even on a machine ten times slower than ours */
  program = find_program();
  folder = g_dir_make_tmp("gst-astro-XXXXXX", NULL);
  /* Leaks still give a warning, which tests of the standard error notice; other output is too much.
   */
  g_unsetenv("GST_DEBUG");
  g_setenv("LC_ALL", "C.UTF-8", TRUE);
  start_quietly();
  write_graphs();
  add_tests();
  int status = g_test_run();
  char *remove[] = { "rm", "-rf", folder, NULL };
  g_spawn_sync(NULL, remove, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
  g_free(program);
  g_free(folder);
  return status;
}
