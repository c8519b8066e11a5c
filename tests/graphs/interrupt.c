/* Signals: the first ends the stream and keeps the results so far, the second stops at once. */
#include "tests/graphs/interrupted.h"

#include <sys/stat.h>

/* Ignores SIGHUP, as nohup does. Done in the child, because GLib resets there what a parent
 * ignores. */
static void ignore_hangup(gpointer data)
{
  end_with_parent(data);
  signal(SIGHUP, SIG_IGN);
}

/* Waits for the program's word: two signals before it handles the first would count as one. */
static void wait_for_word(int err)
{
  g_autoptr(GString) text = g_string_new(NULL);
  char letter;
  while (!strstr(text->str, "interrupted: ")) {
    g_assert_cmpint(read(err, &letter, 1), ==, 1);
    g_string_append_c(text, letter);
  }
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
  if (number == SIGHUP) /* kernel and shell both send it: two do not mean stop at once */
    kill(pid, number);
  g_assert_cmpint(finish(pid), ==, 0);
  g_autofree char *text = read_all(err);
  g_assert_nonnull(strstr(text, "interrupted: ending the stream"));
  g_assert_cmpint(file_size(output) % 1000, ==, 0);
  /* The last line counts all data; after the end of the stream all of it is in the file.
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

/* Under nohup the loss of the terminal does not end the stream: the file keeps growing. */
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
  wait_for_word(err);
  kill(pid, SIGINT);
  g_assert_cmpint(finish(pid), ==, 130);
  close(err);
}

/* Opening the pipe blocks the main thread, since nobody ever writes to it. */
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

/* The second signal ends a pipeline that still works but does not end. */
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
  wait_for_word(err);
  kill(pid, SIGINT);
  g_assert_cmpint(finish(pid), ==, 130);
  close(err);
}

/* Reads up to a line that contains text. */
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

/* A count that takes minutes is not waited for, and an incomplete one is not a result. */
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

static void add_tests(void)
{
  g_test_add_func("/gst-astro/interrupt-once", test_interrupt_once);
  g_test_add_func("/gst-astro/no-hangup", test_no_hangup);
  g_test_add_func("/gst-astro/interrupt-twice", test_interrupt_twice);
  g_test_add_func("/gst-astro/interrupt-blocked", test_interrupt_blocked);
  g_test_add_func("/gst-astro/interrupt-slow", test_interrupt_slow);
  g_test_add_func("/gst-astro/interrupt-count", test_interrupt_count);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
