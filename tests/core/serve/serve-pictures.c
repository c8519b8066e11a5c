/* Pictures over HTTP: the answers to requests, and viewers that come late, are slow or go away. */
#include "core/serve/pictures.h"
#include "tests/tests.h"
#include "tests/viewer.h"

typedef struct {
  AstroPictureServer *server;
  guint port;
} Place;

static void set_up(Place *place, gconstpointer data)
{
  GError *error = NULL;
  place->server = astro_picture_server_new("127.0.0.1", 0, &error);
  g_assert_no_error(error);
  place->port = astro_picture_server_port(place->server);
}

static void tear_down(Place *place, gconstpointer data)
{
  if (place->server)
    astro_picture_server_free(place->server);
}

static GBytes *new_picture(guint number, gsize bytes)
{
  guint8 *data = g_malloc(bytes);
  test_fill(data, bytes, number);
  return g_bytes_new_take(data, bytes);
}

static void show(Place *place, guint number, gsize bytes)
{
  g_autoptr(GBytes) picture = new_picture(number, bytes);
  astro_picture_server_show(place->server, picture, "image/jpeg");
}

static void expect_picture(GBytes *found, guint number, gsize bytes)
{
  g_autoptr(GBytes) expected = new_picture(number, bytes);
  g_assert_nonnull(found);
  g_assert_true(g_bytes_equal(found, expected));
  g_bytes_unref(found);
}

static void requests(Place *place, gconstpointer data)
{
  static const struct {
    const char *request;
    guint status;
    const char *type;
  } cases[] = {
    { "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 200, "text/html; charset=utf-8" },
    { "GET /?a=b HTTP/1.0\r\n\r\n", 200, "text/html; charset=utf-8" },
    { "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n", 200, "text/html; charset=utf-8" },
    { "HEAD /stream HTTP/1.1\r\nHost: localhost\r\n\r\n", 200,
      "multipart/x-mixed-replace; boundary=gst-astro-picture" },
    { "GET /picture HTTP/1.1\r\nHost: localhost\r\n\r\n", 503, "text/plain" },
    { "GET /favicon.ico HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "text/plain" },
    { "GET /../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "text/plain" },
    { "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "text/plain" },
    { "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", 405, "text/plain" },
    { "GET / HTTP/1.1\nHost: localhost\n\n", 200, "text/html; charset=utf-8" },
    { "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 403, "text/plain" },
    /* Requests that libsoup refuses by itself, with nothing behind the head. */
    { "GET / HTTP/1.1\r\n\r\n", 400, NULL },
    { "GET /\r\n\r\n", 400, NULL },
    { "GET / HTTP/2.0\r\n\r\n", 505, NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    Viewer viewer;
    g_test_message("%s", cases[i].request);
    viewer_ask(&viewer, place->port, cases[i].request);
    g_assert_cmpuint(viewer.status, ==, cases[i].status);
    g_assert_cmpstr(viewer_field(&viewer, "content-type"), ==, cases[i].type);
    if (cases[i].type)
      g_assert_cmpstr(viewer_field(&viewer, "connection"), ==, "close");
    if (cases[i].type && !g_str_has_prefix(cases[i].request, "HEAD")) {
      g_autoptr(GBytes) body = viewer_body(&viewer);
      g_assert_nonnull(body);
      g_assert_cmpuint(g_bytes_get_size(body), >, 0);
    }
    char *more = viewer_line(&viewer); /* it hangs up */
    g_assert_null(more);
    viewer_close(&viewer);
  }
}

/* A request without an end is not a request. */
static void endless_request(Place *place, gconstpointer data)
{
  Viewer viewer;
  g_autofree char *text = g_strnfill(100000, 'x');
  viewer_connect(&viewer, place->port);
  g_output_stream_write_all(g_io_stream_get_output_stream(G_IO_STREAM(viewer.connection)), text,
                            100000, NULL, NULL, NULL);
  char *line = viewer_line(&viewer);
  g_assert_null(line);
  viewer_close(&viewer);
}

static void each_picture(Place *place, gconstpointer data)
{
  Viewer viewer, page;
  viewer_get(&viewer, place->port, "/stream");
  for (guint i = 0; i < 20; i++) {
    show(place, i, 10 + i * 1000);
    expect_picture(viewer_part(&viewer), i, 10 + i * 1000);
    g_assert_cmpstr(viewer_field(&viewer, "content-type"), ==, "image/jpeg");
    viewer_get(&page, place->port, "/picture");
    g_assert_cmpuint(page.status, ==, 200);
    expect_picture(viewer_body(&page), i, 10 + i * 1000);
    viewer_close(&page);
  }
  viewer_close(&viewer);
}

static void late_viewer(Place *place, gconstpointer data)
{
  Viewer viewer;
  show(place, 1, 1000);
  show(place, 2, 2000);
  viewer_get(&viewer, place->port, "/stream");
  expect_picture(viewer_part(&viewer), 2, 2000);
  show(place, 3, 3000);
  expect_picture(viewer_part(&viewer), 3, 3000);
  viewer_close(&viewer);
}

/* A viewer that takes nothing does not hold up others, and gets whole pictures later. */
static void slow_viewer(Place *place, gconstpointer data)
{
  enum { N = 40, BYTES = 1 << 20 };
  Viewer slow, quick;
  viewer_get(&slow, place->port, "/stream");
  viewer_get(&quick, place->port, "/stream");
  for (guint i = 0; i < N; i++) {
    show(place, i, BYTES);
    expect_picture(viewer_part(&quick), i, BYTES);
  }
  guint got = 0, number = 0;
  while (number < N - 1) {
    g_autoptr(GBytes) picture = viewer_part(&slow);
    g_assert_nonnull(picture);
    for (;; number++) { /* in order */
      g_autoptr(GBytes) expected = new_picture(number, BYTES);
      g_assert_cmpuint(number, <, N);
      if (g_bytes_equal(picture, expected))
        break;
    }
    got++;
  }
  g_assert_cmpuint(got, <, N);
  viewer_close(&slow);
  viewer_close(&quick);
}

static void close_with_viewers(Place *place, gconstpointer data)
{
  Viewer viewers[5], silent;
  for (guint i = 0; i < G_N_ELEMENTS(viewers); i++)
    viewer_get(&viewers[i], place->port, "/stream");
  viewer_connect(&silent, place->port);
  show(place, 1, 5000000); /* nobody reads it all */
  astro_picture_server_free(place->server);
  place->server = NULL;
  for (guint i = 0; i < G_N_ELEMENTS(viewers); i++)
    viewer_close(&viewers[i]);
  viewer_close(&silent);
}

static void many_viewers(Place *place, gconstpointer data)
{
  Viewer viewers[30];
  show(place, 7, 70000);
  for (guint i = 0; i < G_N_ELEMENTS(viewers); i++)
    viewer_get(&viewers[i], place->port, "/stream");
  for (guint i = 0; i < G_N_ELEMENTS(viewers); i++)
    expect_picture(viewer_part(&viewers[i]), 7, 70000);
  for (guint i = 0; i < G_N_ELEMENTS(viewers); i++)
    viewer_close(&viewers[i]);
}

static gpointer view_once(gpointer data)
{
  Viewer viewer;
  viewer_get(&viewer, GPOINTER_TO_UINT(data), "/stream");
  g_usleep(100000);
  viewer_close(&viewer);
  return NULL;
}

static void wait_for_viewer(Place *place, gconstpointer data)
{
  astro_picture_server_cancel(place->server, TRUE);
  g_assert_false(astro_picture_server_wait(place->server));
  astro_picture_server_cancel(place->server, FALSE);
  GThread *thread = g_thread_new("viewer", view_once, GUINT_TO_POINTER(place->port));
  g_assert_true(astro_picture_server_wait(place->server));
  g_thread_join(thread);
  astro_picture_server_release(place->server);
  g_assert_true(astro_picture_server_wait(place->server));
}

static void cannot_listen(Place *place, gconstpointer data)
{
  static const struct {
    const char *address, *says;
  } cases[] = { { "localhost!", "is not an address" }, { "203.0.113.1", "cannot listen at" } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(astro_picture_server_new(cases[i].address, 0, &error));
    g_assert_nonnull(strstr(error->message, cases[i].says));
  }
  g_autoptr(GError) error = NULL;
  g_assert_null(astro_picture_server_new("127.0.0.1", (guint16)place->port, &error));
  g_assert_nonnull(strstr(error->message, "cannot listen at 127.0.0.1, port"));
}

static void add_tests(void)
{
  static const struct {
    const char *name;
    void (*test)(Place *, gconstpointer);
  } cases[] = {
    { "requests", requests },           { "endless-request", endless_request },
    { "each-picture", each_picture },   { "late-viewer", late_viewer },
    { "slow-viewer", slow_viewer },     { "close-with-viewers", close_with_viewers },
    { "many-viewers", many_viewers },   { "wait-for-viewer", wait_for_viewer },
    { "cannot-listen", cannot_listen },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = g_strconcat("/pictures/", cases[i].name, NULL);
    g_test_add(path, Place, NULL, set_up, cases[i].test, tear_down);
  }
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
