/* The graph watch as a browser meets it: a program that says where to look, and pictures that come
 * from there until the observation ends. */
#include "config.h"
#include "core/backend/backend.h"
#include "core/paths.h"
#include "tests/tests.h"
#include "tests/viewer.h"

#include <gst/check/gstharness.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static char *program(void)
{
  return g_file_test("graphs/gst-astro", G_FILE_TEST_EXISTS)
             ? g_canonicalize_filename("graphs/gst-astro", NULL)
             : astro_relocate(ASTRO_BINDIR "/gst-astro");
}

/* The port of the address in the program's first lines. */
static guint read_port(GIOChannel *errors)
{
  static const char where[] = "location http://127.0.0.1:";
  for (;;) {
    g_autofree char *line = NULL;
    g_assert_cmpint(g_io_channel_read_line(errors, &line, NULL, NULL, NULL), ==,
                    G_IO_STATUS_NORMAL);
    g_test_message("%s", line);
    const char *found = strstr(line, where);
    if (found)
      return (guint)g_ascii_strtoull(found + strlen(where), NULL, 10);
  }
}

static void check_picture(GBytes *picture)
{
  GstHarness *h = gst_harness_new("jpegdec");
  gint width = 0, height = 0;
  gst_harness_set_src_caps_str(h, "image/jpeg,framerate=0/1");
  g_assert_cmpint(gst_harness_push(h, gst_buffer_new_wrapped_bytes(picture)), ==, GST_FLOW_OK);
  gst_buffer_unref(gst_harness_pull(h));
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  const GstStructure *fields = gst_caps_get_structure(caps, 0);
  gst_structure_get_int(fields, "width", &width);
  gst_structure_get_int(fields, "height", &height);
  g_assert_cmpint(width, ==, 1280);
  g_assert_cmpint(height, ==, 720);
  gst_harness_teardown(h);
}

/* A test that fails leaves no program behind that waits for a viewer. */
static void die_with_parent(gpointer data)
{
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void watch(void)
{
  g_autofree char *name = program();
  char *argv[] = { name,           "run",     "watch",      "port=0", "stations=5",
                   "duration=600", "size=64", "interval=1", NULL };
  g_autoptr(GError) error = NULL;
  GPid child;
  gint errors, status;
  guint pictures = 0;
  Viewer viewer;
  GBytes *picture;
  g_autoptr(GstElementFactory) decoder = gst_element_factory_find("jpegdec");
  if (!decoder) {
    g_test_skip("without jpegdec");
    return;
  }
  g_spawn_async_with_pipes(NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, die_with_parent, NULL,
                           &child, NULL, NULL, &errors, &error);
  g_assert_no_error(error);
  GIOChannel *channel = g_io_channel_unix_new(errors);
  g_io_channel_set_close_on_unref(channel, TRUE);
  viewer_get(&viewer, read_port(channel), "/stream");
  g_assert_cmpuint(viewer.status, ==, 200);
  while ((picture = viewer_part(&viewer))) {
    check_picture(picture);
    g_bytes_unref(picture);
    pictures++;
  }
  viewer_close(&viewer);
  g_assert_cmpint(waitpid(child, &status, 0), ==, child);
  g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  g_assert_cmpuint(pictures, >, 0);
  g_assert_cmpuint(pictures, <=, 10);
  g_spawn_close_pid(child);
  g_io_channel_unref(channel);
}

static void add_tests(void)
{
  g_test_add_func("/watch/viewer", watch);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
