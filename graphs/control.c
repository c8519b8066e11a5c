/* The server of the control. */
#include "config.h"
#include "graphs/control-parts.h"
#include "core/serve/callers.h"
#include "core/serve/host.h"
#include "core/serve/listen.h"
#include "core/serve/token.h"
#include <string.h>

/* How long a request may take to arrive, and an answer to be read. */
#define PATIENCE_MS 10000
/* Connections at once; those that were idle longest are closed for new ones. */
#define MOST_CALLERS 64
/* Counters of energy wrap after some minutes. */
#define USAGE_SECONDS 60

struct _AstroControl {
  AstroControlled controlled;
  AstroControlState state;
  GSocketListener *listener;
  GInetAddress *address;
  char *token; /* NULL: none is required */
  char *page;
  SoupServer *soup;
  AstroCallers *callers;
  guint timer;
};

/* ---- requests ---- */

static void respond(SoupServerMessage *message, AstroAnswer *answer)
{
  SoupMessageHeaders *head = soup_server_message_get_response_headers(message);
  if (answer->allow)
    soup_message_headers_replace(head, "Allow", answer->allow);
  const gsize bytes = answer->text->len;
  soup_server_message_set_status(message, answer->status, NULL);
  soup_server_message_set_response(message, answer->type, SOUP_MEMORY_TAKE,
                                   g_string_free(answer->text, FALSE), bytes);
}

G_GNUC_PRINTF(3, 4)
static void refuse(SoupServerMessage *message, guint status, const char *format, ...)
{
  AstroAnswer answer = { .text = g_string_new(NULL) };
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  astro_answer_refuse(&answer, status, "%s", text);
  respond(message, &answer);
}

static const char *header(SoupServerMessage *message, const char *name)
{
  return soup_message_headers_get_one(soup_server_message_get_request_headers(message), name);
}

/* A browser names the site of the page that asks, for any request that can change something: a page
 * of another site must not stop an observation. */
static gboolean is_from_other_site(SoupServerMessage *message)
{
  const char *origin = header(message, "Origin"), *host = header(message, "Host");
  g_autofree char *ours = g_strconcat("http://", host ? host : "", NULL);
  return origin && g_ascii_strcasecmp(origin, ours) != 0;
}

static gboolean is_page(SoupServerMessage *message, const char *path)
{
  return g_str_equal(path, "/") && soup_server_message_get_method(message) != SOUP_METHOD_PUT;
}

static G_DEFINE_QUARK(astro - control - body, body)

/* Keeps a body up to its limit; one that is longer is marked by one byte more. */
static void on_body(SoupServerMessage *message, GBytes *chunk, gpointer data)
{
  GByteArray *body = data;
  const gsize room = ASTRO_CONTROL_MOST_BODY + 1 - body->len;
  gsize bytes;
  const guint8 *more = g_bytes_get_data(chunk, &bytes);
  g_byte_array_append(body, more, (guint)MIN(bytes, room));
}

static void keep_body(SoupServerMessage *message)
{
  GByteArray *body = g_byte_array_new();
  g_object_set_qdata_full(G_OBJECT(message), body_quark(), body,
                          (GDestroyNotify)g_byte_array_unref);
  g_signal_connect(message, "got-chunk", G_CALLBACK(on_body), body);
}

/* Called before the body is read: what is refused here is not kept. */
static void on_head(SoupServer *server, SoupServerMessage *message, const char *path,
                    GHashTable *query, gpointer data)
{
  AstroControl *control = data;
  SoupMessageHeaders *head = soup_server_message_get_response_headers(message);
  soup_message_headers_replace(head, "Cache-Control", "no-store");
  soup_message_headers_replace(head, "X-Content-Type-Options", "nosniff");
  soup_message_headers_replace(head, "X-Frame-Options", "DENY");
  soup_message_headers_replace(head, "Connection", "close");
  soup_message_body_set_accumulate(soup_server_message_get_request_body(message), FALSE);
  if (!astro_host_is_ours(header(message, "Host"), control->address)) {
    refuse(message, SOUP_STATUS_FORBIDDEN, "this is another host: open %s", control->page);
  } else if (is_from_other_site(message)) {
    refuse(message, SOUP_STATUS_FORBIDDEN, "the request comes from a page of another site");
  } else if (control->token && !is_page(message, path) &&
             !astro_token_is_in(control->token, header(message, "Authorization"))) {
    soup_message_headers_replace(head, "WWW-Authenticate", "Bearer");
    refuse(message, SOUP_STATUS_UNAUTHORIZED,
           "expected the header Authorization: Bearer TOKEN, with the token of --control-token");
  } else if (soup_message_headers_get_content_length(
                 soup_server_message_get_request_headers(message)) > ASTRO_CONTROL_MOST_BODY) {
    refuse(message, SOUP_STATUS_REQUEST_ENTITY_TOO_LARGE, "expected a body of at most %u bytes",
           ASTRO_CONTROL_MOST_BODY);
  } else {
    keep_body(message);
  }
}

static void on_request(SoupServer *server, SoupServerMessage *message, const char *path,
                       GHashTable *query, gpointer data)
{
  AstroControl *control = data;
  const GByteArray *body = g_object_get_qdata(G_OBJECT(message), body_quark());
  if (!body)
    return;
  if (body->len > ASTRO_CONTROL_MOST_BODY) {
    refuse(message, SOUP_STATUS_REQUEST_ENTITY_TOO_LARGE, "expected a body of at most %u bytes",
           ASTRO_CONTROL_MOST_BODY);
    return;
  }
  /* libsoup takes a query as part of the path if an HTTP/1.0 request names no host. */
  g_autofree char *place = g_strndup(path, strcspn(path, "?"));
  const AstroAsked asked = { soup_server_message_get_method(message), place,
                             (const char *)body->data, body->len, control->token != NULL };
  AstroAnswer answer = astro_control_answer(&control->state, &asked);
  respond(message, &answer);
}

static void on_bytes(SoupServerMessage *message, guint bytes, gpointer data)
{
  astro_caller_note(message, ASTRO_CALLER_TAKES);
}

static void on_started(SoupServer *server, SoupServerMessage *message, gpointer data)
{
  g_signal_connect(message, "wrote-body-data", G_CALLBACK(on_bytes), NULL);
}

static void on_read(SoupServer *server, SoupServerMessage *message, gpointer data)
{
  astro_caller_note(message, ASTRO_CALLER_TAKES);
}

static gboolean on_timer(gpointer data)
{
  astro_usage_read(((AstroControl *)data)->state.usage);
  return G_SOURCE_CONTINUE;
}

/* ---- the server ---- */

static gboolean listen_at(AstroControl *control, const char *where, GError **error)
{
  guint16 port;
  g_autofree char *address = astro_control_address(where, &port);
  g_autoptr(GInetSocketAddress) at = astro_listen(control->listener, address, port, error);
  if (!at)
    return FALSE;
  control->address = g_object_ref(g_inet_socket_address_get_address(at));
  control->page = astro_host_page(control->address, g_inet_socket_address_get_port(at));
  return TRUE;
}

static gboolean take_token(AstroControl *control, const char *where, const char *file,
                           GError **error)
{
  if (file)
    control->token = astro_token_read(file, error);
  if (file || g_inet_address_get_is_loopback(control->address))
    return !file || control->token;
  g_set_error(error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED,
              "--control=%s is open to other machines: expected --control-token and a file with a "
              "token that requests have to bring, or an address such as 127.0.0.1",
              where);
  return FALSE;
}

AstroControl *astro_control_new(const char *where, const char *token_file,
                                const AstroControlled *controlled, GError **error)
{
  AstroControl *control = g_new0(AstroControl, 1);
  control->controlled = *controlled;
  control->state =
      (AstroControlState){ &control->controlled, astro_counts_new(controlled->pipeline),
                           astro_usage_new(NULL), astro_glimpse_new() };
  control->listener = g_socket_listener_new();
  if (!listen_at(control, where, error) || !take_token(control, where, token_file, error)) {
    astro_control_free(control);
    return NULL;
  }
  control->soup = soup_server_new(NULL, NULL);
  soup_server_add_early_handler(control->soup, NULL, on_head, control, NULL);
  soup_server_add_handler(control->soup, NULL, on_request, control, NULL);
  g_signal_connect(control->soup, "request-started", G_CALLBACK(on_started), NULL);
  g_signal_connect(control->soup, "request-read", G_CALLBACK(on_read), NULL);
  control->callers = astro_callers_new(control->listener, control->soup, PATIENCE_MS, MOST_CALLERS);
  control->timer = g_timeout_add_seconds(USAGE_SECONDS, on_timer, control);
  return control;
}

const char *astro_control_page(const AstroControl *control)
{
  return control->page;
}

/* Closes all connections, and lets the operations under way see it. */
static void close_server(AstroControl *control)
{
  g_source_remove(control->timer);
  soup_server_disconnect(control->soup);
  while (g_main_context_iteration(NULL, FALSE))
    ;
  g_clear_pointer(&control->callers, astro_callers_free);
  g_clear_object(&control->soup);
  while (g_main_context_iteration(NULL, FALSE))
    ;
}

void astro_control_free(AstroControl *control)
{
  if (!control)
    return;
  g_socket_listener_close(control->listener);
  if (control->soup)
    close_server(control);
  g_object_unref(control->listener);
  g_clear_object(&control->address);
  astro_counts_free(control->state.counts);
  astro_usage_free(control->state.usage);
  astro_glimpse_free(control->state.glimpse);
  g_free(control->token);
  g_free(control->page);
  g_free(control);
}
