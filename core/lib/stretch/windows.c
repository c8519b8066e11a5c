/* Which values of a stream of windows are complete. */
#include "config.h"
#include "core/lib/stretch/windows.h"

#include "core/backend/backend.h"

AstroSpectra astro_windows_between(const AstroWindows *windows, guint64 begin, guint64 end)
{
  const guint64 step = windows->step, span = windows->span, lead = windows->lead;
  AstroSpectra values = { .first = (begin + lead + step - 1) / step };
  guint64 complete = end + lead >= span ? (end + lead - span) / step + 1 : 0;
  values.count = complete > values.first ? complete - values.first : 0;
  return values;
}

gboolean astro_windows_of_block(const AstroWindows *windows, guint64 begin, guint64 first,
                                guint64 steps, AstroSpectra *values, GError **error)
{
  guint64 most = G_MAXUINT64 - 2 * windows->span;
  if (first > most || steps > most - first)
    return astro_backend_refuse(error,
                                "a block of %" G_GUINT64_FORMAT " samples from %" G_GUINT64_FORMAT
                                " on exceeds the largest sample index",
                                steps, first);
  AstroSpectra before = astro_windows_between(windows, begin, first);
  *values = astro_windows_between(windows, begin, first + steps);
  values->first += before.count;
  values->count -= before.count;
  return TRUE;
}
