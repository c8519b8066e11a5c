/* Ends a run whose data stand still. */
#include "graphs/watchdog.h"
#include "core/kit/lines.h"
#include "graphs/counts.h"
#include <unistd.h>

#define LEAST_SECONDS 0.1
#define MOST_SECONDS 86400
/* How often to look, within the seconds. */
#define LOOKS 10
/* For elements to stop and files to be completed. */
#define GRACE_SECONDS 3

struct _AstroWatchdog {
  AstroCounts *counts;
  gint64 patience; /* us */
  guint timer;
  gboolean rests;
  gint64 moved;       /* us: when a count last changed */
  GHashTable *before; /* GstElement -> guint64 *, its buffers then */
  char *last;
  AstroStalled stalled;
  gpointer data;
};

static gboolean read_seconds(const char *text, double *seconds)
{
  return astro_number_parse(text, seconds) && *seconds >= LEAST_SECONDS && *seconds <= MOST_SECONDS;
}

char *astro_watchdog_check(const char *text)
{
  double seconds;
  if (read_seconds(text, &seconds))
    return NULL;
  return g_strdup_printf("--watchdog=%s: expected seconds, from %g to %d", text, LEAST_SECONDS,
                         MOST_SECONDS);
}

static guint64 count_buffers(AstroCounts *counts, GstElement *element)
{
  g_autoptr(GstStructure) told = astro_counts_of(counts, element);
  guint64 in = 0, out = 0;
  gst_structure_get_uint64(told, "buffers-in", &in);
  gst_structure_get_uint64(told, "buffers-out", &out);
  return in + out;
}

static void look_at(AstroWatchdog *watchdog, GstElement *element)
{
  const guint64 now = count_buffers(watchdog->counts, element);
  guint64 *before = g_hash_table_lookup(watchdog->before, element);
  if (before && *before == now)
    return;
  g_hash_table_insert(watchdog->before, gst_object_ref(element), g_memdup2(&now, sizeof now));
  g_free(watchdog->last);
  watchdog->last = gst_object_get_name(GST_OBJECT(element));
  watchdog->moved = g_get_monotonic_time();
}

static gboolean look(gpointer data)
{
  AstroWatchdog *watchdog = data;
  if (watchdog->rests)
    return G_SOURCE_CONTINUE;
  g_autoptr(GPtrArray) elements = astro_counts_elements(watchdog->counts);
  for (guint i = 0; i < elements->len; i++)
    look_at(watchdog, elements->pdata[i]);
  if (g_get_monotonic_time() - watchdog->moved <= watchdog->patience)
    return G_SOURCE_CONTINUE;
  watchdog->timer = 0;
  watchdog->stalled(watchdog->last, watchdog->data);
  return G_SOURCE_REMOVE;
}

AstroWatchdog *astro_watchdog_new(GstElement *pipeline, const char *text, AstroStalled stalled,
                                  gpointer data)
{
  AstroWatchdog *watchdog = g_new0(AstroWatchdog, 1);
  double seconds = MOST_SECONDS;
  read_seconds(text, &seconds);
  watchdog->counts = astro_counts_new(pipeline);
  watchdog->patience = (gint64)(seconds * G_USEC_PER_SEC);
  watchdog->rests = TRUE;
  watchdog->before = g_hash_table_new_full(NULL, NULL, gst_object_unref, g_free);
  watchdog->stalled = stalled;
  watchdog->data = data;
  watchdog->timer = g_timeout_add((guint)(seconds * 1000 / LOOKS), look, watchdog);
  return watchdog;
}

void astro_watchdog_rest(AstroWatchdog *watchdog, gboolean rests)
{
  if (!watchdog)
    return;
  watchdog->rests = rests;
  watchdog->moved = g_get_monotonic_time();
}

void astro_watchdog_free(AstroWatchdog *watchdog)
{
  if (!watchdog)
    return;
  if (watchdog->timer)
    g_source_remove(watchdog->timer);
  astro_counts_free(watchdog->counts);
  g_hash_table_unref(watchdog->before);
  g_free(watchdog->last);
  g_free(watchdog);
}

static gpointer end_late(gpointer status)
{
  g_usleep(GRACE_SECONDS * G_USEC_PER_SEC);
  _exit(GPOINTER_TO_INT(status));
}

void astro_watchdog_last_resort(int status)
{
  g_thread_unref(g_thread_new("last-resort", end_late, GINT_TO_POINTER(status)));
}
