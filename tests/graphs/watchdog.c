/* gst-astro run as a service: the watchdog, word to systemd, lines for its journal, and the unit in
 * examples/. */
#include "tests/graphs/asked.h"

#include <sys/socket.h>
#include <sys/un.h>

/* ---- the watchdog ---- */

static void bites(void)
{
  write_file("stalled.graph",
             "fakesrc name=source num-buffers=3 ! identity name=hangs sleep-time=900000\n"
             "! fakesink async=false",
             -1);
  g_auto(Result) result = run("run ./stalled.graph --watchdog 0.3 --quiet");
  assert_refused(&result, 3,
                 "no element has taken or made a buffer for 0.3 s (--watchdog); the last that did "
                 "was");
}

/* An element that does not even stop. */
static void bites_for_good(void)
{
  write_file("dead.graph",
             "fakesrc name=source ! identity sleep-time=1000000000 ! fakesink async=false", -1);
  const gint64 begin = g_get_monotonic_time();
  g_auto(Result) result = run("run ./dead.graph --watchdog 0.3 --quiet");
  assert_refused(&result, 3, "(--watchdog)");
  g_assert_cmpint(g_get_monotonic_time() - begin, <, 60 * G_USEC_PER_SEC);
}

/* A file that was begun is completed. */
static void completes_files(void)
{
  write_file("begun.graph",
             "astrovissrc stations=4 num-buffers=5 ! tee name=t\n"
             "t. ! queue ! astrofitssink location=begun.fits\n"
             "t. ! queue ! identity eos-after=-1 sleep-time=2000000 ! fakesink async=false",
             -1);
  g_auto(Result) result = run("run ./begun.graph --watchdog 0.5");
  g_assert_cmpint(result.status, ==, 3);
  g_assert_cmpint(file_size("begun.fits"), >, 2880);
}

static void lets_slow_ones_be(void)
{
  write_file("slow.graph", "fakesrc num-buffers=8 ! identity sleep-time=250000 ! fakesink", -1);
  g_auto(Result) result = run("run ./slow.graph --watchdog 1.5 --quiet");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_cmpstr(result.err, ==, "");
}

/* A graph that is stopped by the control moves no data, and is left alone. */
static void lets_stopped_ones_be(void)
{
#ifndef HAVE_SOUP
  g_test_skip("there is no control without libsoup");
#else
  write_file("stops.graph", "fakesrc ! identity sleep-time=1000 ! fakesink", -1);
  Controlled c = control_start("./stops.graph", "--watchdog 0.5");
  control_expect(&c, "POST", "/stop", NULL, 200, "stop");
  control_await(&c, "\"stopped\"");
  g_usleep(1000000);
  control_expect(&c, "POST", "/start", NULL, 200, "playing");
  g_usleep(700000);
  control_expect(&c, "GET", "/state", NULL, 200, "\"playing\"");
  g_assert_cmpint(control_end(&c), ==, 0);
#endif
}

static void wrong_seconds(void)
{
  static const char *const wrong[] = { "0", "-1", "x", "1e9", "nan", "0.01" };
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_auto(Result) result = run("run good --watchdog=%s", wrong[i]);
    assert_refused(&result, 2, "expected seconds, from 0.1 to 86400");
  }
}

/* ---- systemd ---- */

/* A socket as systemd's, at a path in the folder. */
static int open_socket(const char *name)
{
  g_autofree char *path = in_folder(name);
  struct sockaddr_un at = { .sun_family = AF_UNIX };
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  g_assert_cmpint(fd, >=, 0);
  g_assert_cmpuint(g_strlcpy(at.sun_path, path, sizeof at.sun_path), <, sizeof at.sun_path);
  g_assert_cmpint(bind(fd, (struct sockaddr *)&at, sizeof at), ==, 0);
  return fd;
}

static void notifies(void)
{
  const int fd = open_socket("notify");
  char words[100];
  guint ready = 0, alive = 0, stopping = 0;
  gssize n;
  write_file("second.graph", "fakesrc num-buffers=20 ! identity sleep-time=50000 ! fakesink", -1);
  g_auto(Result) result =
      run_shell("NOTIFY_SOCKET=$PWD/notify WATCHDOG_USEC=600000 ${PROGRAM} run ./second.graph");
  g_assert_cmpint(result.status, ==, 0);
  while ((n = recv(fd, words, sizeof words - 1, MSG_DONTWAIT)) > 0) {
    words[n] = 0;
    g_test_message("%s", words);
    g_assert_cmpuint(stopping, ==, 0); /* the last word */
    ready += g_str_equal(words, "READY=1");
    alive += g_str_equal(words, "WATCHDOG=1");
    stopping += g_str_equal(words, "STOPPING=1");
    g_assert_cmpuint(ready, ==, 1); /* the first word */
  }
  g_assert_cmpuint(alive, >=, 2);
  g_assert_cmpuint(stopping, ==, 1);
  close(fd);
}

/* No socket, or none that there is, changes nothing. */
static void notifies_nobody(void)
{
  static const char *const sockets[] = { "/nowhere", "relative", "", "@nobody", "/" };
  for (guint i = 0; i < G_N_ELEMENTS(sockets); i++) {
    g_autofree char *line =
        g_strdup_printf("NOTIFY_SOCKET=%s ${PROGRAM} run --quiet good", sockets[i]);
    g_auto(Result) result = run_shell(line);
    g_assert_cmpint(result.status, ==, 0);
    g_assert_cmpstr(result.err, ==, "");
  }
}

static char *write_journal(const char *stream, const char *command)
{
  g_autofree char *line =
      g_strdup_printf("exec 2>journal; export JOURNAL_STREAM=%s; %s; true", stream, command);
  g_autofree char *path = in_folder("journal");
  char *text = NULL;
  g_auto(Result) result = run_shell(line);
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_test_message("%s", text);
  return text;
}

/* Lines begin with their priority if they go to the journal, and only then. */
static void journal(void)
{
  static const char here[] = "$(stat -L -c %d:%i /proc/self/fd/2)";
#define CLIPPED                                                                                    \
  "echo 'astroskysrc stations=2 num-buffers=1 ! application/x-astro-voltages,format=CF32LE ! "     \
  "astroconvert scale=1e9 ! application/x-astro-voltages,format=CI8 ! fakesink' | "                \
  "${PROGRAM} run - --verbose"
  static const struct {
    const char *command, *prefix;
  } cases[] = { { "echo 'fakesrc ! nothing' | ${PROGRAM} run -", "<3>" },
                { "echo 'filesrc location=/nowhere ! fakesink' | ${PROGRAM} run -", "<3>" },
                { CLIPPED, "<4>warning: " },
                { CLIPPED, "<6>" } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = write_journal(here, cases[i].command);
    g_autofree char *elsewhere = write_journal("1:1", cases[i].command);
    test_says(text, cases[i].prefix);
    g_assert_null(strstr(elsewhere, "<"));
  }
}

/* The unit is one that systemd takes, and whose sandbox it thinks well of. */
static void unit(void)
{
  const char *source = g_getenv("G_TEST_SRCDIR");
  g_autofree char *path =
      g_build_filename(source ? source : ".", "examples", "gst-astro@.service", NULL);
  g_autofree char *analyze = g_find_program_in_path("systemd-analyze"), *text = NULL;
  if (!analyze || !g_file_get_contents(path, &text, NULL, NULL)) {
    g_test_skip("there is no systemd-analyze, or no source");
    return;
  }
  g_autoptr(GString) here = g_string_new(text);
  g_string_replace(here, "/usr/bin/gst-astro", "/bin/true", 0); /* systemd looks for the program */
  write_file("gst-astro@test.service", here->str, -1);
  g_auto(Result) verified = run_shell("systemd-analyze verify ./gst-astro@test.service");
  g_assert_cmpint(verified.status, ==, 0);
  g_assert_null(strstr(verified.err, "gst-astro@test.service:"));
  g_auto(Result) judged =
      run_shell("systemd-analyze security --offline=yes --threshold=25 ./gst-astro@test.service");
  if (!strstr(judged.err, "nrecognized option") && !strstr(judged.err, "nvalid"))
    g_assert_cmpint(judged.status, ==, 0);
}

static void add_tests(void)
{
  g_setenv("PROGRAM", program, TRUE);
  g_test_add_func("/watchdog/bites", bites);
  g_test_add_func("/watchdog/bites-for-good", bites_for_good);
  g_test_add_func("/watchdog/completes-files", completes_files);
  g_test_add_func("/watchdog/lets-slow-ones-be", lets_slow_ones_be);
  g_test_add_func("/watchdog/lets-stopped-ones-be", lets_stopped_ones_be);
  g_test_add_func("/watchdog/wrong-seconds", wrong_seconds);
  g_test_add_func("/service/notifies", notifies);
  g_test_add_func("/service/notifies-nobody", notifies_nobody);
  g_test_add_func("/service/journal", journal);
  g_test_add_func("/service/unit", unit);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
