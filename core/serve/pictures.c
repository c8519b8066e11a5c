/* The server of pictures: its thread, and the newest picture. */
#include "config.h"
#include "core/serve/pictures-parts.h"

#include "core/serve/host.h"
#include "core/serve/listen.h"

/* The time that viewers have to receive the last picture. */
#define LAST_SECONDS 5

struct _AstroPictureServer {
  GSocketListener *listener;
  GInetAddress *address;
  guint16 port;
  char *page;

  /* the thread, and what only it uses once it runs */
  GThread *thread;
  GMainContext *context;
  GMainLoop *loop;
  SoupServer *soup;
  AstroCallers *callers;
  AstroAnswers *answers;

  GMutex lock;
  GCond changed;
  AstroShown newest;
  guint viewers;
  gboolean is_over, is_cancelled, is_released;
};

/* ---- pictures ---- */

void astro_shown_clear(AstroShown *shown)
{
  g_clear_pointer(&shown->picture, g_bytes_unref);
  g_clear_pointer(&shown->type, g_free);
}

gboolean astro_picture_server_newest(AstroPictureServer *s, guint64 number, AstroShown *shown,
                                     gboolean *is_over)
{
  g_mutex_lock(&s->lock);
  const gboolean is_new = s->newest.number != number;
  if (is_new)
    *shown =
        (AstroShown){ g_bytes_ref(s->newest.picture), g_strdup(s->newest.type), s->newest.number };
  if (is_over)
    *is_over = s->is_over;
  g_mutex_unlock(&s->lock);
  return is_new;
}

void astro_picture_server_count_viewer(AstroPictureServer *s, gint change)
{
  g_mutex_lock(&s->lock);
  s->viewers = (guint)((gint)s->viewers + change);
  g_cond_broadcast(&s->changed);
  g_mutex_unlock(&s->lock);
}

/* ---- the thread ---- */

/* Never runs the function at once, as g_main_context_invoke would if the thread has not started
 * yet. */
static void run_in_thread(AstroPictureServer *s, GSourceFunc function)
{
  g_autoptr(GSource) source = g_idle_source_new();
  g_source_set_priority(source, G_PRIORITY_DEFAULT);
  g_source_set_callback(source, function, s, NULL);
  g_source_attach(source, s->context);
}

static gboolean tell_answers(gpointer data)
{
  astro_answers_changed(((AstroPictureServer *)data)->answers);
  return G_SOURCE_REMOVE;
}

static gboolean quit(gpointer data)
{
  g_main_loop_quit(((AstroPictureServer *)data)->loop);
  return G_SOURCE_REMOVE;
}

/* Closes all connections, and lets the operations under way see it. */
static void close_all(AstroPictureServer *s)
{
  g_socket_listener_close(s->listener);
  soup_server_disconnect(s->soup);
  while (g_main_context_iteration(s->context, FALSE))
    ;
  g_clear_pointer(&s->callers, astro_callers_free);
  g_clear_object(&s->soup);
  while (g_main_context_iteration(s->context, FALSE))
    ;
  g_clear_pointer(&s->answers, astro_answers_free);
}

static gpointer run(gpointer data)
{
  AstroPictureServer *s = data;
  g_main_context_push_thread_default(s->context);
  g_main_loop_run(s->loop);
  close_all(s);
  g_main_context_pop_thread_default(s->context);
  return NULL;
}

/* ---- the server ---- */

static gboolean listen_at(AstroPictureServer *s, const char *address, guint16 port, GError **error)
{
  g_autoptr(GInetSocketAddress) at = astro_listen(s->listener, address, port, error);
  if (!at)
    return FALSE;
  s->port = g_inet_socket_address_get_port(at);
  s->address = g_object_ref(g_inet_socket_address_get_address(at));
  s->page = astro_host_page(s->address, s->port);
  return TRUE;
}

static gboolean start(AstroPictureServer *s, guint patience_ms, GError **error)
{
  g_main_context_push_thread_default(s->context);
  s->soup = soup_server_new(NULL, NULL);
  s->answers = astro_answers_new(s->soup, s);
  s->callers = astro_callers_new(s->listener, s->soup, patience_ms, ASTRO_PICTURES_MOST_CALLERS);
  g_main_context_pop_thread_default(s->context);
  s->thread = g_thread_try_new("astro-pictures", run, s, error);
  return s->thread != NULL;
}

AstroPictureServer *astro_picture_server_new_patient(const char *address, guint16 port,
                                                     guint patience_ms, GError **error)
{
  AstroPictureServer *s = g_new0(AstroPictureServer, 1);
  s->listener = g_socket_listener_new();
  s->context = g_main_context_new();
  s->loop = g_main_loop_new(s->context, FALSE);
  g_mutex_init(&s->lock);
  g_cond_init(&s->changed);
  if (listen_at(s, address, port, error) && start(s, patience_ms, error))
    return s;
  astro_picture_server_free(s);
  return NULL;
}

AstroPictureServer *astro_picture_server_new(const char *address, guint16 port, GError **error)
{
  return astro_picture_server_new_patient(address, port, ASTRO_PICTURES_PATIENCE_MS, error);
}

void astro_picture_server_free(AstroPictureServer *s)
{
  if (s->thread) {
    run_in_thread(s, quit);
    g_thread_join(s->thread);
  } else if (s->soup) {
    g_main_context_push_thread_default(s->context);
    close_all(s);
    g_main_context_pop_thread_default(s->context);
  }
  g_object_unref(s->listener);
  g_main_loop_unref(s->loop);
  g_main_context_unref(s->context);
  g_clear_object(&s->address);
  g_free(s->page);
  astro_shown_clear(&s->newest);
  g_cond_clear(&s->changed);
  g_mutex_clear(&s->lock);
  g_free(s);
}

guint16 astro_picture_server_port(const AstroPictureServer *s)
{
  return s->port;
}

const char *astro_picture_server_page(const AstroPictureServer *s)
{
  return s->page;
}

GInetAddress *astro_picture_server_address(AstroPictureServer *s)
{
  return s->address;
}

void astro_picture_server_show(AstroPictureServer *s, GBytes *picture, const char *type)
{
  g_mutex_lock(&s->lock);
  const guint64 number = s->newest.number + 1;
  astro_shown_clear(&s->newest);
  s->newest = (AstroShown){ g_bytes_ref(picture), g_strdup(type), number };
  s->is_over = FALSE;
  g_mutex_unlock(&s->lock);
  run_in_thread(s, tell_answers);
}

gboolean astro_picture_server_is_seen(AstroPictureServer *s)
{
  g_mutex_lock(&s->lock);
  const gboolean seen = s->viewers || s->is_released;
  g_mutex_unlock(&s->lock);
  return seen;
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

void astro_picture_server_finish(AstroPictureServer *s)
{
  const gint64 end = g_get_monotonic_time() + LAST_SECONDS * G_USEC_PER_SEC;
  g_mutex_lock(&s->lock);
  s->is_over = TRUE;
  run_in_thread(s, tell_answers);
  while (s->viewers && !s->is_cancelled)
    if (!g_cond_wait_until(&s->changed, &s->lock, end))
      break;
  g_mutex_unlock(&s->lock);
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
