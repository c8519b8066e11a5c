#include "core/serve/pictures.h"

#include <string.h>

#define MOST_CONNECTIONS 64
#define MOST_REQUEST 8192
#define PATIENCE 10 /* seconds for a request, and for one who takes no bytes */
#define BOUNDARY "gst-astro-picture"

struct _AstroPictureServer {
  GSocketListener *listener;
  GThread *accepting;
  GCancellable *closing;
  guint16 port;

  GMutex lock;
  GCond changed;
  GBytes *picture;
  char *type;
  guint64 number; /* of the picture; 0: there is none */
  guint connections, viewers;
  gboolean is_closing, is_cancelled, is_released;
};

static const char page[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>gst-astro</title>\n"
    "<style>body{margin:0;background:#111;display:flex;height:100vh}"
    "img{margin:auto;max-width:100%;max-height:100%}</style>\n"
    "<img src=\"/stream\" alt=\"No picture has come yet\"></html>\n";

/* ---- what goes out ---- */

static gboolean send(GOutputStream *out, GCancellable *closing, gconstpointer data, gsize bytes)
{
  return g_output_stream_write_all(out, data, bytes, NULL, closing, NULL);
}

static gboolean send_text(GOutputStream *out, GCancellable *closing, const char *text)
{
  return send(out, closing, text, strlen(text));
}

/* length: -1 where nobody knows. */
static gboolean send_head(GOutputStream *out, GCancellable *closing, const char *status,
                          const char *type, gssize length, const char *more)
{
  g_autoptr(GString) head = g_string_new(NULL);
  g_string_append_printf(head,
                         "HTTP/1.1 %s\r\nContent-Type: %s\r\nCache-Control: no-store\r\n"
                         "Connection: close\r\n%s",
                         status, type, more);
  if (length >= 0)
    g_string_append_printf(head, "Content-Length: %" G_GSSIZE_FORMAT "\r\n", length);
  g_string_append(head, "\r\n");
  return send(out, closing, head->str, head->len);
}

static void send_answer(GOutputStream *out, GCancellable *closing, const char *status,
                        const char *type, const char *more, const char *text, gboolean is_head)
{
  if (send_head(out, closing, status, type, (gssize)strlen(text), more) && !is_head)
    send_text(out, closing, text);
}

/* ---- pictures ---- */

typedef struct {
  GBytes *picture;
  char *type;
  guint64 number;
} Shown;

static void shown_clear(Shown *shown)
{
  g_clear_pointer(&shown->picture, g_bytes_unref);
  g_clear_pointer(&shown->type, g_free);
}

/* The newest picture once it is another than number. FALSE: there will be none. */
static gboolean next_picture(AstroPictureServer *s, guint64 number, gboolean wait, Shown *shown)
{
  g_mutex_lock(&s->lock);
  while (wait && s->number == number && !s->is_closing)
    g_cond_wait(&s->changed, &s->lock);
  gboolean good = s->number != number && !s->is_closing;
  *shown = (Shown){ 0 };
  if (good)
    *shown = (Shown){ g_bytes_ref(s->picture), g_strdup(s->type), s->number };
  g_mutex_unlock(&s->lock);
  return good;
}

/* The boundary goes out right behind a picture, not before the next one: browsers show a part when
 * they see where it ends. */
static gboolean send_part(AstroPictureServer *s, GOutputStream *out, const Shown *shown)
{
  gsize bytes;
  gconstpointer data = g_bytes_get_data(shown->picture, &bytes);
  g_autofree char *head = g_strdup_printf(
      "Content-Type: %s\r\nContent-Length: %" G_GSIZE_FORMAT "\r\n\r\n", shown->type, bytes);
  return send_text(out, s->closing, head) && send(out, s->closing, data, bytes) &&
         send_text(out, s->closing, "\r\n--" BOUNDARY "\r\n");
}

static void count_viewer(AstroPictureServer *s, gint change)
{
  g_mutex_lock(&s->lock);
  s->viewers = (guint)((gint)s->viewers + change);
  g_cond_broadcast(&s->changed);
  g_mutex_unlock(&s->lock);
}

static void send_stream(AstroPictureServer *s, GOutputStream *out)
{
  Shown shown;
  guint64 number = 0;
  gboolean good = send_head(out, s->closing, "200 OK",
                            "multipart/x-mixed-replace; boundary=" BOUNDARY, -1, "") &&
                  send_text(out, s->closing, "--" BOUNDARY "\r\n");
  count_viewer(s, 1);
  while (good && next_picture(s, number, TRUE, &shown)) {
    good = send_part(s, out, &shown);
    number = shown.number;
    shown_clear(&shown);
  }
  count_viewer(s, -1);
}

static void send_picture(AstroPictureServer *s, GOutputStream *out, gboolean is_head)
{
  Shown shown;
  if (!next_picture(s, 0, FALSE, &shown)) {
    send_answer(out, s->closing, "503 Service Unavailable", "text/plain", "Retry-After: 1\r\n",
                "No picture has come yet.\n", is_head);
    return;
  }
  gsize bytes;
  gconstpointer data = g_bytes_get_data(shown.picture, &bytes);
  if (send_head(out, s->closing, "200 OK", shown.type, (gssize)bytes, "") && !is_head)
    send(out, s->closing, data, bytes);
  shown_clear(&shown);
}

/* ---- requests ---- */

/* The request's head as text; FALSE: it did not come whole. */
static gboolean read_request(AstroPictureServer *s, GInputStream *in, char text[MOST_REQUEST + 1])
{
  gsize had = 0;
  while (had < MOST_REQUEST) {
    gssize n = g_input_stream_read(in, text + had, MOST_REQUEST - had, s->closing, NULL);
    if (n <= 0)
      return FALSE;
    had += (gsize)n;
    text[had] = 0;
    if (strstr(text, "\r\n\r\n") || strstr(text, "\n\n"))
      return TRUE;
  }
  return FALSE;
}

static void answer(AstroPictureServer *s, GOutputStream *out, const char *request)
{
  g_autofree char *line = g_strndup(request, strcspn(request, "\r\n"));
  g_auto(GStrv) words = g_strsplit(line, " ", 3);
  guint n = g_strv_length(words);
  const char *method = n > 0 ? words[0] : "", *path = n > 1 ? words[1] : "";
  gboolean is_head = g_str_equal(method, "HEAD");
  g_autofree char *place = g_strndup(path, strcspn(path, "?#"));
  if (n != 3 || !g_str_has_prefix(words[2], "HTTP/1."))
    send_answer(out, s->closing, "400 Bad Request", "text/plain", "", "This is no HTTP/1.\n",
                FALSE);
  else if (!is_head && !g_str_equal(method, "GET"))
    send_answer(out, s->closing, "405 Method Not Allowed", "text/plain", "Allow: GET, HEAD\r\n",
                "There is only GET.\n", FALSE);
  else if (g_str_equal(place, "/"))
    send_answer(out, s->closing, "200 OK", "text/html; charset=utf-8", "", page, is_head);
  else if (g_str_equal(place, "/picture"))
    send_picture(s, out, is_head);
  else if (!g_str_equal(place, "/stream"))
    send_answer(out, s->closing, "404 Not Found", "text/plain", "",
                "There are /, /stream and /picture.\n", is_head);
  else if (is_head)
    send_head(out, s->closing, "200 OK", "multipart/x-mixed-replace; boundary=" BOUNDARY, -1, "");
  else
    send_stream(s, out);
}

void astro_picture_server_answer(AstroPictureServer *s, GInputStream *in, GOutputStream *out)
{
  char request[MOST_REQUEST + 1];
  if (read_request(s, in, request))
    answer(s, out, request);
}

/* ---- connections ---- */

typedef struct {
  AstroPictureServer *server;
  GSocketConnection *connection;
} Caller;

static void hang_up(AstroPictureServer *s)
{
  g_mutex_lock(&s->lock);
  s->connections--;
  g_cond_broadcast(&s->changed);
  g_mutex_unlock(&s->lock);
}

/* Runs in a thread of its own for each connection. */
static gpointer serve(gpointer data)
{
  g_autofree Caller *caller = data;
  AstroPictureServer *s = caller->server;
  GIOStream *stream = G_IO_STREAM(caller->connection);
  g_socket_set_timeout(g_socket_connection_get_socket(caller->connection), PATIENCE);
  astro_picture_server_answer(s, g_io_stream_get_input_stream(stream),
                              g_io_stream_get_output_stream(stream));
  g_io_stream_close(stream, NULL, NULL);
  g_object_unref(stream);
  hang_up(s);
  return NULL;
}

/* FALSE: there are as many as can be. */
static gboolean count_connection(AstroPictureServer *s)
{
  g_mutex_lock(&s->lock);
  gboolean good = s->connections < MOST_CONNECTIONS && !s->is_closing;
  s->connections += good;
  g_mutex_unlock(&s->lock);
  return good;
}

static void take_call(AstroPictureServer *s, GSocketConnection *connection)
{
  Caller *caller = g_new(Caller, 1);
  *caller = (Caller){ s, connection };
  if (count_connection(s)) {
    GThread *thread = g_thread_try_new("astro-viewer", serve, caller, NULL);
    if (thread) {
      g_thread_unref(thread);
      return;
    }
    hang_up(s);
  }
  g_io_stream_close(G_IO_STREAM(connection), NULL, NULL);
  g_object_unref(connection);
  g_free(caller);
}

/* No main loop need run for this. */
static gpointer accept_calls(gpointer data)
{
  AstroPictureServer *s = data;
  while (!g_cancellable_is_cancelled(s->closing)) {
    g_autoptr(GError) error = NULL;
    GSocketConnection *connection = g_socket_listener_accept(s->listener, NULL, s->closing, &error);
    if (connection)
      take_call(s, connection);
    else if (!g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
      g_usleep(G_USEC_PER_SEC / 10); /* no descriptors are left, for instance */
  }
  return NULL;
}

/* ---- the server ---- */

static gboolean listen_at(AstroPictureServer *s, const char *address, guint16 port, GError **error)
{
  g_autoptr(GSocketAddress) wanted = g_inet_socket_address_new_from_string(address, port);
  g_autoptr(GSocketAddress) got = NULL;
  g_autoptr(GError) why = NULL;
  if (!wanted) {
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                "%s is no address of an interface, expected one in figures, as 127.0.0.1", address);
    return FALSE;
  }
  if (!g_socket_listener_add_address(s->listener, wanted, G_SOCKET_TYPE_STREAM,
                                     G_SOCKET_PROTOCOL_TCP, NULL, &got, &why)) {
    g_set_error(error, why->domain, why->code, "cannot listen at %s, port %u: %s", address, port,
                why->message);
    return FALSE;
  }
  s->port = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(got));
  return TRUE;
}

AstroPictureServer *astro_picture_server_new(const char *address, guint16 port, GError **error)
{
  AstroPictureServer *s = g_new0(AstroPictureServer, 1);
  s->listener = g_socket_listener_new();
  s->closing = g_cancellable_new();
  g_mutex_init(&s->lock);
  g_cond_init(&s->changed);
  if (listen_at(s, address, port, error) &&
      (s->accepting = g_thread_try_new("astro-pictures", accept_calls, s, error)))
    return s;
  astro_picture_server_free(s);
  return NULL;
}

void astro_picture_server_free(AstroPictureServer *s)
{
  g_mutex_lock(&s->lock);
  s->is_closing = TRUE;
  g_cond_broadcast(&s->changed);
  g_mutex_unlock(&s->lock);
  g_cancellable_cancel(s->closing);
  if (s->accepting)
    g_thread_join(s->accepting);
  g_mutex_lock(&s->lock);
  while (s->connections)
    g_cond_wait(&s->changed, &s->lock);
  g_mutex_unlock(&s->lock);
  g_socket_listener_close(s->listener);
  g_object_unref(s->listener);
  g_object_unref(s->closing);
  g_clear_pointer(&s->picture, g_bytes_unref);
  g_free(s->type);
  g_cond_clear(&s->changed);
  g_mutex_clear(&s->lock);
  g_free(s);
}

guint16 astro_picture_server_port(const AstroPictureServer *s)
{
  return s->port;
}

void astro_picture_server_show(AstroPictureServer *s, GBytes *picture, const char *type)
{
  g_mutex_lock(&s->lock);
  g_clear_pointer(&s->picture, g_bytes_unref);
  g_free(s->type);
  s->picture = g_bytes_ref(picture);
  s->type = g_strdup(type);
  s->number++;
  g_cond_broadcast(&s->changed);
  g_mutex_unlock(&s->lock);
}

gboolean astro_picture_server_wait(AstroPictureServer *s)
{
  g_mutex_lock(&s->lock);
  while (!s->viewers && !s->is_cancelled && !s->is_released)
    g_cond_wait(&s->changed, &s->lock);
  gboolean good = !s->is_cancelled;
  g_mutex_unlock(&s->lock);
  return good;
}

void astro_picture_server_release(AstroPictureServer *s)
{
  g_mutex_lock(&s->lock);
  s->is_released = TRUE;
  g_cond_broadcast(&s->changed);
  g_mutex_unlock(&s->lock);
}

void astro_picture_server_cancel(AstroPictureServer *s, gboolean cancel)
{
  g_mutex_lock(&s->lock);
  s->is_cancelled = cancel;
  g_cond_broadcast(&s->changed);
  g_mutex_unlock(&s->lock);
}
