/* Parses rates and times that a user gives. */
#include "config.h"
#include "core/packets/settings.h"

#include "core/stream/typed.h"

gboolean astro_packet_rate_parse(const char *text, gint *rate_n, gint *rate_d, GError **error)
{
  *rate_n = 0;
  *rate_d = 1;
  if (!text || !*text || astro_rate_parse(text, rate_n, rate_d))
    return TRUE;
  return astro_fail(
      error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
      "rate=%s: expected steps of time a second, as 1000000, 1e6, 390625/2 or 195312.5, "
      "a fraction of numbers up to 2147483647",
      text);
}

gboolean astro_packet_time_parse(const char *property, const char *text, gint64 *ns, GError **error)
{
  return astro_time_parse(text, ns) ||
         astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                    "%s=%s: expected UTC as 2026-11-20T12:00:00[.fraction], or seconds since "
                    "1970, as 1795176000.5",
                    property, text);
}
