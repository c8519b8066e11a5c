/* Pictures over HTTP, with viewers that are slow, silent, many or not what they seem: none of them
 * locks out another. */
#include "core/serve/pictures.h"
#include "tests/tests.h"
#include "tests/viewer.h"

#define PATIENCE_MS 300

static AstroPictureServer *new_server(void)
{
  GError *error = NULL;
  AstroPictureServer *server =
      astro_picture_server_new_patient("127.0.0.1", 0, PATIENCE_MS, &error);
  g_assert_no_error(error);
  return server;
}

static void show(AstroPictureServer *server, gsize bytes)
{
  g_autoptr(GBytes) picture = g_bytes_new_take(g_malloc0(bytes), bytes);
  astro_picture_server_show(server, picture, "image/jpeg");
}

/* No byte, or only the first line: the connection ends by itself. */
static void say_nothing(void)
{
  static const char *const asked[] = { "", "GET / HT", "GET / HTTP/1.1\r\nHost: localhost\r\n",
                                       "POST / HTTP/1.1\r\nHost: localhost\r\n"
                                       "Content-Length: 1000000000\r\n\r\nabc" };
  AstroPictureServer *server = new_server();
  for (guint i = 0; i < G_N_ELEMENTS(asked); i++) {
    Viewer viewer;
    const gint64 begin = g_get_monotonic_time();
    viewer_connect(&viewer, astro_picture_server_port(server));
    viewer_send(&viewer, asked[i], strlen(asked[i]));
    g_autofree char *line = viewer_line(&viewer);
    g_test_message("%u: %s after %g s", i, line, (double)(g_get_monotonic_time() - begin) / 1e6);
    g_assert_true(!line || g_str_has_prefix(line, "HTTP/1.1 4"));
    g_assert_cmpint(g_get_monotonic_time() - begin, >, PATIENCE_MS * 500);
    viewer_close(&viewer);
  }
  astro_picture_server_free(server);
}

/* Sending letter by letter does not keep a connection. */
static void drip(void)
{
  AstroPictureServer *server = new_server();
  Viewer viewer;
  viewer_connect(&viewer, astro_picture_server_port(server));
  guint letters = 0;
  while (letters < 1000 && viewer_send(&viewer, "x", 1)) {
    g_usleep(PATIENCE_MS * 100);
    letters++;
  }
  g_assert_cmpuint(letters, <, 1000);
  viewer_close(&viewer);
  astro_picture_server_free(server);
}

/* More silent connections than there is room for. */
static void many_idle(void)
{
  enum { N = ASTRO_PICTURES_MOST_CALLERS + 50 };
  g_autofree Viewer *idle = g_new(Viewer, N);
  GError *error = NULL;
  AstroPictureServer *server = astro_picture_server_new("127.0.0.1", 0, &error);
  g_assert_no_error(error);
  show(server, 1000);
  for (guint i = 0; i < N; i++)
    viewer_connect(&idle[i], astro_picture_server_port(server));
  const gint64 begin = g_get_monotonic_time();
  Viewer viewer;
  viewer_get(&viewer, astro_picture_server_port(server), "/picture");
  g_assert_cmpuint(viewer.status, ==, 200);
  g_autoptr(GBytes) picture = viewer_body(&viewer);
  g_assert_cmpuint(g_bytes_get_size(picture), ==, 1000);
  viewer_close(&viewer);
  g_assert_cmpint(g_get_monotonic_time() - begin, <,
                  ASTRO_PICTURES_PATIENCE_MS * (gint64)1000 / 2); /* nobody was waited for */
  for (guint i = 0; i < N; i++)
    viewer_close(&idle[i]);
  astro_picture_server_free(server);
}

/* A viewer that asked for pictures and takes none is disconnected; one that waits for the next is
 * not. */
static void take_nothing(void)
{
  enum { BYTES = 64 << 20 };
  AstroPictureServer *server = new_server();
  Viewer stuck, waiting;
  viewer_get(&waiting, astro_picture_server_port(server), "/stream");
  show(server, 100);
  g_bytes_unref(viewer_part(&waiting));
  g_usleep(PATIENCE_MS * 4000);
  viewer_get(&stuck, astro_picture_server_port(server), "/stream");
  show(server, BYTES);
  GBytes *whole = viewer_part(&waiting);
  g_assert_cmpuint(g_bytes_get_size(whole), ==, BYTES);
  g_bytes_unref(whole);
  g_usleep(PATIENCE_MS * 4000);
  GBytes *picture = viewer_part(&stuck); /* a socket can only hold a few of that many bytes */
  g_assert_true(!picture || g_bytes_get_size(picture) == 100);
  if (picture) {
    g_bytes_unref(picture);
    g_assert_null(viewer_part(&stuck));
  }
  viewer_close(&stuck);
  viewer_close(&waiting);
  astro_picture_server_free(server);
}

/* Pages of other sites, for which a browser says by which name it found us. */
static void foreign_host(void)
{
  static const struct {
    const char *host;
    guint status;
  } cases[] = { { "localhost", 503 },    { "localhost:1", 503 },     { "127.0.0.1", 503 },
                { "evil.example", 403 }, { "evil.example:80", 403 }, { "10.0.0.1", 403 } };
  AstroPictureServer *server = new_server();
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    Viewer viewer;
    g_autofree char *request =
        g_strdup_printf("GET /picture HTTP/1.1\r\nHost: %s\r\n\r\n", cases[i].host);
    viewer_ask(&viewer, astro_picture_server_port(server), request);
    g_assert_cmpuint(viewer.status, ==, cases[i].status);
    if (viewer.status == 403) {
      g_autoptr(GBytes) body = viewer_body(&viewer);
      g_autofree char *text = g_strndup(g_bytes_get_data(body, NULL), g_bytes_get_size(body));
      test_says(text, astro_picture_server_page(server));
    }
    viewer_close(&viewer);
  }
  astro_picture_server_free(server);
}

/* A viewer that leaves while there is nothing to send is soon noticed. */
static void leave(void)
{
  AstroPictureServer *server = new_server();
  Viewer viewer;
  show(server, 100);
  viewer_get(&viewer, astro_picture_server_port(server), "/stream");
  g_bytes_unref(viewer_part(&viewer));
  viewer_close(&viewer);
  const gint64 begin = g_get_monotonic_time();
  astro_picture_server_finish(server);
  g_assert_cmpint(g_get_monotonic_time() - begin, <, 4 * G_USEC_PER_SEC);
  astro_picture_server_free(server);
}

/* The last picture reaches all viewers, and their streams end after it. */
static void finish(void)
{
  AstroPictureServer *server = new_server();
  Viewer viewer, late;
  viewer_get(&viewer, astro_picture_server_port(server), "/stream");
  show(server, 1000000);
  GThread *thread =
      g_thread_new("finish", (GThreadFunc)(void (*)(void))astro_picture_server_finish, server);
  GBytes *picture = viewer_part(&viewer);
  g_assert_cmpuint(g_bytes_get_size(picture), ==, 1000000);
  g_bytes_unref(picture);
  g_assert_null(viewer_part(&viewer));
  g_thread_join(thread);
  viewer_get(&late, astro_picture_server_port(server), "/stream");
  picture = viewer_part(&late);
  g_assert_cmpuint(g_bytes_get_size(picture), ==, 1000000);
  g_bytes_unref(picture);
  g_assert_null(viewer_part(&late));
  viewer_close(&late);
  viewer_close(&viewer);
  astro_picture_server_free(server);
}

static void add_tests(void)
{
  g_test_add_func("/pictures/say-nothing", say_nothing);
  g_test_add_func("/pictures/drip", drip);
  g_test_add_func("/pictures/many-idle", many_idle);
  g_test_add_func("/pictures/take-nothing", take_nothing);
  g_test_add_func("/pictures/foreign-host", foreign_host);
  g_test_add_func("/pictures/leave", leave);
  g_test_add_func("/pictures/finish", finish);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
