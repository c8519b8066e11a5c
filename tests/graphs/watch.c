/* The graph watch as a browser sees it: the program says where to look, and pictures come from
 * there until the observation ends. */
#include "tests/graphs/program.h"
#include "tests/tests.h"
#include "tests/viewer.h"

/* The port in the address on the program's first line, which is what a user would open. */
static guint read_port(GIOChannel *errors)
{
  static const char where[] = "open http://127.0.0.1:";
  g_autofree char *line = NULL;
  char *end;
  g_assert_cmpint(g_io_channel_read_line(errors, &line, NULL, NULL, NULL), ==, G_IO_STATUS_NORMAL);
  g_test_message("%s", line);
  g_assert_true(g_str_has_prefix(line, where));
  const guint port = (guint)g_ascii_strtoull(line + strlen(where), &end, 10);
  g_assert_cmpstr(end, ==, "/\n");
  return port;
}

static void check_picture(GBytes *picture)
{
  gint width = 0, height = 0;
  gst_buffer_unref(viewer_decode(picture, &width, &height));
  g_assert_cmpint(width, ==, 1280);
  g_assert_cmpint(height, ==, 720);
}

/* Runs the graph until it says where to look; errors: to be unref'd. */
static GPid begin(guint *port, GIOChannel **errors)
{
  g_autofree char *name = find_program();
  char *argv[] = { name,           "run",     "watch",      "port=0", "stations=5",
                   "duration=600", "size=64", "interval=1", NULL };
  /* Output of the leaks tracer would come first. */
  g_auto(GStrv) environment = g_environ_unsetenv(g_get_environ(), "GST_DEBUG");
  g_autoptr(GError) error = NULL;
  GPid child;
  gint fd;
  g_spawn_async_with_pipes(NULL, argv, environment, G_SPAWN_DO_NOT_REAP_CHILD, end_with_parent,
                           NULL, &child, NULL, NULL, &fd, &error);
  g_assert_no_error(error);
  *errors = g_io_channel_unix_new(fd);
  g_io_channel_set_close_on_unref(*errors, TRUE);
  *port = read_port(*errors);
  return child;
}

/* Waits for the child; returns the status that waitpid gives. */
static int wait_for_end(GPid child)
{
  int status = 0;
  gboolean ended = FALSE;
  for (guint i = 0; i < VIEWER_PATIENCE * 20 && !ended; i++) {
    ended = waitpid(child, &status, WNOHANG) == child;
    g_usleep(G_USEC_PER_SEC / 20);
  }
  g_assert_true(ended);
  g_spawn_close_pid(child);
  return status;
}

static gboolean have(const char *element)
{
  g_autoptr(GstElementFactory) factory = gst_element_factory_find(element);
  if (!factory)
    g_test_skip(element);
  return factory != NULL;
}

static gboolean have_elements(void)
{
  return have("jpegdec") && have("astrohttpsink");
}

/* A build without libsoup says that the element was left out. */
static void left_out(void)
{
#ifdef HAVE_SOUP
  g_test_skip("it is not left out");
#else
  g_autofree char *name = find_program(), *err = NULL;
  char *argv[] = { name, "run", "watch", NULL };
  int status;
  g_assert_true(g_spawn_sync(NULL, argv, NULL, 0, NULL, NULL, NULL, &err, &status, NULL));
  g_assert_cmpint(exit_status(status), !=, 0);
  test_says(err, "no element \"astrohttpsink\": it needs libsoup-3.0");
#endif
}

static void watch(void)
{
  guint port, pictures = 0;
  Viewer viewer;
  GBytes *picture;
  GIOChannel *errors;
  if (!have_elements())
    return;
  GPid child = begin(&port, &errors);
  viewer_get(&viewer, port, "/stream");
  g_assert_cmpuint(viewer.status, ==, 200);
  while ((picture = viewer_part(&viewer))) {
    check_picture(picture);
    g_bytes_unref(picture);
    pictures++;
  }
  viewer_close(&viewer);
  int status = wait_for_end(child);
  g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  g_assert_cmpuint(pictures, >, 0);
  g_assert_cmpuint(pictures, <=, 10);
  g_io_channel_unref(errors);
}

/* If nobody looks, the program says so once, instead of a rate and time left, and one interrupt is
 * enough. */
static void interrupt(void)
{
  guint port;
  GIOChannel *errors;
  g_autofree char *said = NULL, *where = NULL;
  if (!have_elements())
    return;
  GPid child = begin(&port, &errors);
  do { /* skip warnings about the small picture, and the time until the program has begun */
    g_free(said);
    g_assert_cmpint(g_io_channel_read_line(errors, &said, NULL, NULL, NULL), ==,
                    G_IO_STATUS_NORMAL);
  } while (!g_str_has_prefix(said, "watch: ") || !strcmp(said, "watch: 0.0 %, -, ? left\n"));
  where = g_strdup_printf("watch: waiting for somebody to look at http://127.0.0.1:%u/\n", port);
  g_assert_cmpstr(said, ==, where);
  kill(child, SIGINT);
  int status = wait_for_end(child);
  /* The shell learns how the program ended. */
  g_assert_true(WIFEXITED(status) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT));
  g_io_channel_unref(errors);
}

static void add_tests(void)
{
  g_test_add_func("/watch/left-out", left_out);
  g_test_add_func("/watch/viewer", watch);
  g_test_add_func("/watch/interrupt", interrupt);
}

int main(int argc, char **argv)
{
  start_quietly();
  return test_run(argc, argv, add_tests);
}
