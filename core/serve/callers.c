/* Accepts connections. libsoup could do it, but has neither time limits nor a limit for the number
 * of connections. Once accepted a connection belongs to libsoup, and is tracked here as long as it
 * lives. */
#include "config.h"
#include "core/serve/callers.h"

#include <sys/socket.h>

/* Delay before the next try if no connection can be accepted, for instance because there are no
 * file descriptors left. */
#define RETRY_MS 100

struct _AstroCallers {
  GSocketListener *listener;
  SoupServer *server;
  GCancellable *closing;
  gint64 patience; /* us */
  guint most;
  GSource *sweep, *retry;
  GQueue all; /* Caller *, except those that were hung up on */
};

typedef struct {
  AstroCallers *callers;         /* NULL: it was hung up on */
  GSocketConnection *connection; /* belongs to libsoup */
  AstroCallerPhase phase;
  gint64 since;
} Caller;

/* ---- one ---- */

static G_DEFINE_QUARK(astro - caller, caller)

/* Found by way of the connection's remote address, which a message refers to. */
static Caller *caller_of(SoupServerMessage *message)
{
  return g_object_get_qdata(G_OBJECT(soup_server_message_get_remote_address(message)),
                            caller_quark());
}

void astro_caller_note(SoupServerMessage *message, AstroCallerPhase phase)
{
  Caller *caller = caller_of(message);
  caller->phase = phase;
  caller->since = g_get_monotonic_time();
}

/* Clients send nothing after a request that is being answered, so that input means that they have
 * left. */
gboolean astro_caller_has_left(SoupServerMessage *message)
{
  const Caller *caller = caller_of(message);
  return !caller->callers ||
         g_socket_condition_check(g_socket_connection_get_socket(caller->connection),
                                  G_IO_IN | G_IO_HUP | G_IO_ERR) != 0;
}

static void forget(Caller *caller)
{
  if (caller->callers)
    g_queue_remove(&caller->callers->all, caller);
  caller->callers = NULL;
}

/* Shuts the connection down: libsoup notices its end, and closes it. */
static void hang_up(Caller *caller)
{
  g_socket_shutdown(g_socket_connection_get_socket(caller->connection), TRUE, TRUE, NULL);
  forget(caller);
}

static void on_closed(gpointer data, GObject *was)
{
  Caller *caller = data;
  forget(caller);
  caller->connection = NULL;
}

static void free_caller(gpointer data)
{
  Caller *caller = data;
  forget(caller);
  if (caller->connection)
    g_object_weak_unref(G_OBJECT(caller->connection), on_closed, caller);
  g_free(caller);
}

/* ---- all ---- */

/* The caller in that phase who has been inactive longest. */
static Caller *find_idlest(const AstroCallers *callers, AstroCallerPhase phase)
{
  Caller *idlest = NULL;
  for (GList *link = callers->all.head; link; link = link->next) {
    Caller *caller = link->data;
    if (caller->phase == phase && (!idlest || caller->since < idlest->since))
      idlest = caller;
  }
  return idlest;
}

/* FALSE: all callers are only waiting for what is to come. */
static gboolean make_room(AstroCallers *callers)
{
  if (callers->all.length < callers->most)
    return TRUE;
  Caller *idlest = find_idlest(callers, ASTRO_CALLER_ASKS);
  if (!idlest)
    idlest = find_idlest(callers, ASTRO_CALLER_TAKES);
  if (idlest)
    hang_up(idlest);
  return idlest != NULL;
}

static gboolean sweep(gpointer data)
{
  AstroCallers *callers = data;
  const gint64 now = g_get_monotonic_time();
  for (GList *link = callers->all.head, *next; link; link = next) {
    Caller *caller = link->data;
    next = link->next;
    if (caller->phase != ASTRO_CALLER_WAITS && now - caller->since > callers->patience)
      hang_up(caller);
  }
  return G_SOURCE_CONTINUE;
}

static void take_call(AstroCallers *callers, GSocketConnection *connection)
{
  g_autoptr(GSocketAddress) local = g_socket_connection_get_local_address(connection, NULL);
  g_autoptr(GSocketAddress) remote = g_socket_connection_get_remote_address(connection, NULL);
  if (!local || !remote || !make_room(callers)) /* the caller may be gone already */
    return;
  Caller *caller = g_new(Caller, 1);
  *caller = (Caller){ callers, connection, ASTRO_CALLER_ASKS, g_get_monotonic_time() };
  g_queue_push_tail(&callers->all, caller);
  g_object_weak_ref(G_OBJECT(connection), on_closed, caller);
  g_object_set_qdata_full(G_OBJECT(remote), caller_quark(), caller, free_caller);
  soup_server_accept_iostream(callers->server, G_IO_STREAM(connection), local, remote, NULL);
}

static void accept_next(AstroCallers *callers);

static gboolean accept_again(gpointer data)
{
  AstroCallers *callers = data;
  g_clear_pointer(&callers->retry, g_source_unref);
  accept_next(callers);
  return G_SOURCE_REMOVE;
}

static GSource *run_every(guint ms, GSourceFunc function, AstroCallers *callers)
{
  GSource *source = g_timeout_source_new(ms);
  g_source_set_callback(source, function, callers, NULL);
  g_source_attach(source, g_main_context_get_thread_default());
  return source;
}

static void on_call(GObject *listener, GAsyncResult *result, gpointer data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GSocketConnection) connection =
      g_socket_listener_accept_finish(G_SOCKET_LISTENER(listener), result, NULL, &error);
  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) /* callers is freed by now */
    return;
  AstroCallers *callers = data;
  if (connection)
    take_call(callers, connection);
  if (connection)
    accept_next(callers);
  else if (!g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CLOSED))
    callers->retry = run_every(RETRY_MS, accept_again, callers);
}

static void accept_next(AstroCallers *callers)
{
  g_socket_listener_accept_async(callers->listener, callers->closing, on_call, callers);
}

AstroCallers *astro_callers_new(GSocketListener *listener, SoupServer *server, guint patience_ms,
                                guint most)
{
  AstroCallers *callers = g_new0(AstroCallers, 1);
  callers->listener = g_object_ref(listener);
  callers->server = server;
  callers->closing = g_cancellable_new();
  callers->patience = patience_ms * (gint64)1000;
  callers->most = most;
  callers->sweep = run_every(MAX(patience_ms / 10, 10), sweep, callers);
  accept_next(callers);
  return callers;
}

static void end_source(GSource **source)
{
  if (*source)
    g_source_destroy(*source);
  g_clear_pointer(source, g_source_unref);
}

void astro_callers_free(AstroCallers *callers)
{
  Caller *caller;
  g_cancellable_cancel(callers->closing);
  end_source(&callers->sweep);
  end_source(&callers->retry);
  while ((caller = g_queue_peek_head(&callers->all)))
    forget(caller);
  g_object_unref(callers->listener);
  g_object_unref(callers->closing);
  g_free(callers);
}
