/* VDIF's seconds, which are counted from half years on, as seconds of UTC. */
#include "config.h"
#include "core/lib/vdif/seconds.h"

#include <erfa.h>

#define DAY 86400
#define MJD_1970 40587
#define SECONDS_BITS 30
#define MOST_EPOCHS 64

/* MJD of an epoch: 0h on 1 January or 1 July. */
static gint64 epoch_mjd(guint epoch)
{
  double zero, mjd = 0;
  eraCal2jd(2000 + (int)epoch / 2, epoch % 2 ? 7 : 1, 1, &zero, &mjd);
  return (gint64)mjd;
}

static double tai_minus_utc(gint64 mjd)
{
  double seconds = 0, fraction;
  int year, month, day;
  eraJd2cal(2400000.5, (double)mjd, &year, &month, &day, &fraction);
  eraDat(year, month, day, 0, &seconds);
  return seconds;
}

/* Seconds since an epoch include leap seconds, which are inserted at the end of a half year, so
 * they matter for a sender that keeps its epoch for longer. A leap second itself becomes the first
 * second of the next day, as on clocks without leap seconds. */
gint64 astro_vdif_second(guint epoch, guint64 seconds)
{
  const gint64 begin = epoch_mjd(epoch);
  gint64 mjd = begin + (gint64)(seconds / DAY), since = (gint64)seconds;
  const gint64 leaps = (gint64)(tai_minus_utc(mjd) - tai_minus_utc(begin));
  since -= leaps;
  mjd = begin + since / DAY;
  const gint64 fewer = (gint64)(tai_minus_utc(mjd) - tai_minus_utc(begin));
  if (fewer != leaps)
    since = (gint64)seconds - fewer;
  return (begin - MJD_1970) * DAY + since;
}

gboolean astro_vdif_find_epoch(gint64 second, guint *epoch, guint64 *seconds)
{
  for (guint i = MOST_EPOCHS; i-- > 0;) {
    const gint64 begin = (epoch_mjd(i) - MJD_1970) * DAY;
    if (second < begin)
      continue;
    *epoch = i;
    *seconds = (guint64)(second - begin);
    return *seconds < (guint64)1 << SECONDS_BITS;
  }
  return FALSE;
}
