/* Clocks that know UTC. */
#include "config.h"
#include "elements/base/astroutcclock.h"

#include <gst/net/gstptpclock.h>
#include <sys/timex.h>
#include <time.h>

/* TAI - UTC since 2017, when the latest leap second was. */
#define TAI_OFFSET 37
#define US_A_SECOND 1e6

AstroUtcKind astro_utc_clock_kind(GstClock *clock)
{
  GstClockType type = GST_CLOCK_TYPE_OTHER;
  if (clock && GST_IS_PTP_CLOCK(clock))
    return ASTRO_UTC_PTP;
  if (clock && G_OBJECT_TYPE(clock) == GST_TYPE_SYSTEM_CLOCK)
    g_object_get(clock, "clock-type", &type, NULL);
  return type == GST_CLOCK_TYPE_REALTIME ? ASTRO_UTC_REALTIME : ASTRO_UTC_NONE;
}

guint astro_utc_tai_offset(gint kernel)
{
  return kernel > 0 ? (guint)kernel : TAI_OFFSET;
}

/* Reads what the kernel knows of its clock, and sets nothing. */
static struct timex kernel_clock(gboolean *is_synchronised)
{
  struct timex told = { .modes = 0 };
  *is_synchronised = adjtimex(&told) != TIME_ERROR && !(told.status & STA_UNSYNC);
  return told;
}

gint64 astro_utc_clock_ahead(GstClock *clock)
{
  struct timespec now;
  gboolean is_synchronised;
  if (astro_utc_clock_kind(clock) != ASTRO_UTC_PTP)
    return 0;
  const gint64 tai = (gint64)gst_clock_get_time(clock);
  clock_gettime(CLOCK_REALTIME, &now);
  const gint64 leaps = astro_utc_tai_offset(kernel_clock(&is_synchronised).tai);
  return tai - (leaps + now.tv_sec) * (gint64)GST_SECOND - now.tv_nsec;
}

GstStructure *astro_utc_clock_tell(GstClock *clock, const char *name)
{
  gboolean is_synchronised;
  guint domain = 0;
  guint64 master = 0;
  const struct timex kernel = kernel_clock(&is_synchronised);
  if (astro_utc_clock_kind(clock) == ASTRO_UTC_REALTIME)
    return gst_structure_new(name, "clock", G_TYPE_STRING, "realtime", "synchronised",
                             G_TYPE_BOOLEAN, is_synchronised, "clock-error", G_TYPE_DOUBLE,
                             (double)kernel.maxerror / US_A_SECOND, NULL);
  g_object_get(clock, "domain", &domain, "grandmaster-clock-id", &master, NULL);
  g_autofree char *which = g_strdup_printf("ptp:%u", domain);
  g_autofree char *id = g_strdup_printf("%016" G_GINT64_MODIFIER "x", master);
  return gst_structure_new(name, "clock", G_TYPE_STRING, which, "grandmaster", G_TYPE_STRING, id,
                           "tai-offset", G_TYPE_UINT, astro_utc_tai_offset(kernel.tai), NULL);
}
