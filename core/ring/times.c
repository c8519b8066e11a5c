/* The moments of triggers, as users and messages write them. */
#include "config.h"
#include "core/kit/fail.h"
#include "core/ring/ring.h"
#include "core/stream/stream.h"
#include "core/stream/typed.h"

#include <math.h>
#include <string.h>

#define MOST_SECONDS 9e9 /* fits in ns */

static gboolean parse_seconds(const char *text, gint64 *ns)
{
  char *end = NULL;
  const double seconds = g_ascii_strtod(text, &end);
  if (end == text || *end || !isfinite(seconds) || fabs(seconds) > MOST_SECONDS)
    return FALSE;
  *ns = llround(seconds * 1e9);
  return TRUE;
}

gboolean astro_ring_time_parse(AstroRingTime *time, const char *text, GError **error)
{
  time->is_utc = strchr(text, 'T') != NULL;
  if (time->is_utc ? astro_time_parse(text, &time->ns) : parse_seconds(text, &time->ns))
    return TRUE;
  return astro_fail(error, ASTRO_STREAM_ERROR, ASTRO_STREAM_ERROR_CAPS,
                    "the time of a trigger is \"%s\", expected UTC as 2026-11-20T12:00:00.25, or "
                    "seconds since the start of the observation",
                    text);
}

/* Between two commas at least one has to be. */
static gboolean add_times(GArray *times, const char *item, GError **error)
{
  const guint before = times->len;
  g_auto(GStrv) words = g_strsplit(item, " ", -1);
  for (char **word = words; *word; word++) {
    AstroRingTime time;
    if (!**word)
      continue;
    if (!astro_ring_time_parse(&time, *word, error))
      return FALSE;
    g_array_append_val(times, time);
  }
  return times->len > before || astro_ring_time_parse(&(AstroRingTime){ 0 }, "", error);
}

GArray *astro_ring_times_parse(const char *text, GError **error)
{
  g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(AstroRingTime));
  g_auto(GStrv) items = g_strsplit(text ? text : "", ",", -1);
  for (char **item = items; *item; item++)
    if (!add_times(times, *item, error))
      return NULL;
  return g_steal_pointer(&times);
}
