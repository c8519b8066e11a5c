/* Answers requests, in the server's thread. */
#include "config.h"
#include "core/serve/pictures-parts.h"

#include <string.h>

#include "core/serve/host.h"
#include "core/serve/page.h"

struct _AstroAnswers {
  AstroPictureServer *pictures;
  GQueue viewers; /* Viewer * */
  GSource *look;  /* checks for viewers who have left */
};

/* How often to check for viewers who have left. */
#define LOOK_MS 500

/* A client that receives the stream. */
typedef struct {
  AstroAnswers *answers;
  SoupServerMessage *message;
  guint64 number; /* of the picture that was sent last */
  guint chunks;   /* number of chunks not yet sent completely */
  gboolean is_done;
} Viewer;

/* ---- the stream ---- */

static void send_bytes(Viewer *viewer, GBytes *bytes)
{
  soup_message_body_append_bytes(soup_server_message_get_response_body(viewer->message), bytes);
  viewer->chunks++;
}

static void send_text(Viewer *viewer, const char *text)
{
  g_autoptr(GBytes) bytes = g_bytes_new(text, strlen(text));
  send_bytes(viewer, bytes);
}

/* The boundary is sent directly after a picture, not before the next one: browsers show a part only
 * when they see its end. */
static void send_part(Viewer *viewer, const AstroShown *shown)
{
  g_autofree char *head =
      g_strdup_printf("Content-Type: %s\r\nContent-Length: %" G_GSIZE_FORMAT "\r\n\r\n",
                      shown->type, g_bytes_get_size(shown->picture));
  send_text(viewer, head);
  send_bytes(viewer, shown->picture);
  send_text(viewer, "\r\n--" ASTRO_PAGE_BOUNDARY "\r\n");
}

static void end_stream(Viewer *viewer)
{
  viewer->is_done = TRUE;
  soup_message_body_complete(soup_server_message_get_response_body(viewer->message));
}

/* Sends the next picture to a viewer that has received everything so far. FALSE: there is nothing
 * to send. */
static gboolean send_next(Viewer *viewer)
{
  AstroShown shown = { 0 };
  gboolean is_over = FALSE;
  if (astro_picture_server_newest(viewer->answers->pictures, viewer->number, &shown, &is_over)) {
    send_part(viewer, &shown);
    viewer->number = shown.number;
    astro_shown_clear(&shown);
  } else if (is_over) {
    end_stream(viewer);
  } else {
    astro_caller_note(viewer->message, ASTRO_CALLER_WAITS);
    return FALSE;
  }
  astro_caller_note(viewer->message, ASTRO_CALLER_TAKES);
  return TRUE;
}

static void on_chunk(SoupServerMessage *message, gpointer data)
{
  Viewer *viewer = data;
  if (--viewer->chunks == 0 && !viewer->is_done)
    send_next(viewer);
}

static void on_bytes(SoupServerMessage *message, guint bytes, gpointer data)
{
  astro_caller_note(message, ASTRO_CALLER_TAKES);
}

static G_DEFINE_QUARK(astro - viewer, viewer)

/* Called when the message is freed, as a server that is closed drops messages before they are
 * finished. */
static void free_viewer(gpointer data)
{
  Viewer *viewer = data;
  g_queue_remove(&viewer->answers->viewers, viewer);
  astro_picture_server_count_viewer(viewer->answers->pictures, -1);
  g_free(viewer);
}

static void on_finished(SoupServerMessage *message, gpointer viewer)
{
  g_signal_handlers_disconnect_by_data(message, viewer);
  g_object_set_qdata(G_OBJECT(message), viewer_quark(), NULL);
}

static gboolean is_waiting(const Viewer *viewer)
{
  return viewer->chunks == 0 && !viewer->is_done;
}

void astro_answers_changed(AstroAnswers *answers)
{
  for (GList *link = answers->viewers.head; link; link = link->next) {
    Viewer *viewer = link->data;
    if (is_waiting(viewer) && send_next(viewer))
      soup_server_message_unpause(viewer->message);
  }
}

static gboolean look_for_who_left(gpointer data)
{
  AstroAnswers *answers = data;
  for (GList *link = answers->viewers.head; link; link = link->next) {
    Viewer *viewer = link->data;
    if (is_waiting(viewer) && astro_caller_has_left(viewer->message)) {
      end_stream(viewer);
      astro_caller_note(viewer->message, ASTRO_CALLER_TAKES);
      soup_server_message_unpause(viewer->message);
    }
  }
  return G_SOURCE_CONTINUE;
}

static void begin_stream(AstroAnswers *answers, SoupServerMessage *message)
{
  SoupMessageHeaders *head = soup_server_message_get_response_headers(message);
  soup_server_message_set_status(message, SOUP_STATUS_OK, NULL);
  soup_message_headers_set_encoding(head, SOUP_ENCODING_EOF);
  soup_message_headers_replace(head, "Content-Type",
                               "multipart/x-mixed-replace; boundary=" ASTRO_PAGE_BOUNDARY);
  if (soup_server_message_get_method(message) == SOUP_METHOD_HEAD)
    return;
  soup_message_body_set_accumulate(soup_server_message_get_response_body(message), FALSE);
  Viewer *viewer = g_new(Viewer, 1);
  *viewer = (Viewer){ .answers = answers, .message = message };
  g_queue_push_tail(&answers->viewers, viewer);
  g_signal_connect(message, "wrote-chunk", G_CALLBACK(on_chunk), viewer);
  g_signal_connect(message, "finished", G_CALLBACK(on_finished), viewer);
  g_object_set_qdata_full(G_OBJECT(message), viewer_quark(), viewer, free_viewer);
  send_text(viewer, "--" ASTRO_PAGE_BOUNDARY "\r\n");
  astro_picture_server_count_viewer(answers->pictures, 1);
}

/* ---- the others ---- */

static void answer_text(SoupServerMessage *message, guint status, const char *type,
                        const char *text)
{
  soup_server_message_set_status(message, status, NULL);
  soup_server_message_set_response(message, type, SOUP_MEMORY_COPY, text, strlen(text));
}

static void answer_page(AstroAnswers *answers, SoupServerMessage *message)
{
  answer_text(message, SOUP_STATUS_OK, "text/html; charset=utf-8", astro_page);
}

static void answer_picture(AstroAnswers *answers, SoupServerMessage *message)
{
  AstroShown shown = { 0 };
  SoupMessageHeaders *head = soup_server_message_get_response_headers(message);
  if (!astro_picture_server_newest(answers->pictures, 0, &shown, NULL)) {
    soup_message_headers_replace(head, "Retry-After", "1");
    answer_text(message, SOUP_STATUS_SERVICE_UNAVAILABLE, "text/plain",
                "No picture has come yet.\n");
    return;
  }
  soup_server_message_set_status(message, SOUP_STATUS_OK, NULL);
  soup_message_headers_replace(head, "Content-Type", shown.type);
  soup_message_body_append_bytes(soup_server_message_get_response_body(message), shown.picture);
  astro_shown_clear(&shown);
}

static const struct {
  const char *path;
  void (*answer)(AstroAnswers *answers, SoupServerMessage *message);
} places[] = { { "/", answer_page }, { "/picture", answer_picture }, { "/stream", begin_stream } };

/* ---- requests ---- */

static gboolean is_read_only(SoupServerMessage *message)
{
  const char *method = soup_server_message_get_method(message);
  return method == SOUP_METHOD_GET || method == SOUP_METHOD_HEAD;
}

/* Called before the body of a request is read: bodies are not kept. */
static void on_head(SoupServer *server, SoupServerMessage *message, const char *path,
                    GHashTable *query, gpointer data)
{
  AstroAnswers *answers = data;
  SoupMessageHeaders *head = soup_server_message_get_response_headers(message);
  const char *host =
      soup_message_headers_get_one(soup_server_message_get_request_headers(message), "Host");
  soup_message_headers_replace(head, "Cache-Control", "no-store");
  soup_message_headers_replace(head, "X-Content-Type-Options", "nosniff");
  soup_message_headers_replace(head, "Connection", "close");
  soup_message_body_set_accumulate(soup_server_message_get_request_body(message), FALSE);
  if (!astro_host_is_ours(host, astro_picture_server_address(answers->pictures))) {
    g_autofree char *text = g_strdup_printf("These pictures are at another address. Open %s\n",
                                            astro_picture_server_page(answers->pictures));
    answer_text(message, SOUP_STATUS_FORBIDDEN, "text/plain", text);
  } else if (!is_read_only(message)) {
    soup_message_headers_replace(head, "Allow", "GET, HEAD");
    answer_text(message, SOUP_STATUS_METHOD_NOT_ALLOWED, "text/plain", "Only GET is supported.\n");
  }
}

static void on_request(SoupServer *server, SoupServerMessage *message, const char *path,
                       GHashTable *query, gpointer data)
{
  /* libsoup takes a query as part of the path if an HTTP/1.0 request names no host. */
  g_autofree char *place = g_strndup(path, strcspn(path, "?"));
  for (guint i = 0; i < G_N_ELEMENTS(places); i++)
    if (g_str_equal(place, places[i].path)) {
      places[i].answer(data, message);
      return;
    }
  answer_text(message, SOUP_STATUS_NOT_FOUND, "text/plain", "There are /, /stream and /picture.\n");
}

static void on_started(SoupServer *server, SoupServerMessage *message, gpointer data)
{
  g_signal_connect(message, "wrote-body-data", G_CALLBACK(on_bytes), NULL);
}

static void on_read(SoupServer *server, SoupServerMessage *message, gpointer data)
{
  astro_caller_note(message, ASTRO_CALLER_TAKES);
}

AstroAnswers *astro_answers_new(SoupServer *server, AstroPictureServer *pictures)
{
  AstroAnswers *answers = g_new0(AstroAnswers, 1);
  answers->pictures = pictures;
  soup_server_add_early_handler(server, NULL, on_head, answers, NULL);
  soup_server_add_handler(server, NULL, on_request, answers, NULL);
  g_signal_connect(server, "request-started", G_CALLBACK(on_started), answers);
  g_signal_connect(server, "request-read", G_CALLBACK(on_read), answers);
  answers->look = g_timeout_source_new(LOOK_MS);
  g_source_set_callback(answers->look, look_for_who_left, answers, NULL);
  g_source_attach(answers->look, g_main_context_get_thread_default());
  return answers;
}

void astro_answers_free(AstroAnswers *answers)
{
  g_source_destroy(answers->look);
  g_source_unref(answers->look);
  g_free(answers);
}
