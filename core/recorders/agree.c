/* Headers and settings: what one leaves out comes from the other, and where they contradict each
 * other neither is believed in silence. */
#include "config.h"
#include "core/recorders/recording.h"

#include <math.h>

/* Headers round. */
#define SAME 1e-6

typedef __int128 Wide;

/* Over a hundred years: sums with the time of a header do not overflow. */
#define MOST_NS ((Wide)4000000000000000000)

gboolean astro_recording_agree(const AstroRecording *recording, const char *property,
                               const char *where, double told, double set, double *value,
                               GError **error)
{
  *value = set != 0 ? set : told;
  if (told == 0 || set == 0 || recording->settings->force || fabs(set - told) <= SAME * fabs(told))
    return TRUE;
  return astro_recorder_fail(error, SETTINGS,
                             "%s tells of %.12g, but %s=%.12g is set: leave it out, or set force "
                             "if the header is wrong",
                             where, told, property, set);
}

gboolean astro_recording_need(const AstroRecording *recording, const char *property,
                              const char *where, guint64 told, guint set, guint *value,
                              GError **error)
{
  double agreed;
  if (!astro_recording_agree(recording, property, where, (double)told, set, &agreed, error))
    return FALSE;
  *value = (guint)agreed;
  return *value > 0 ||
         astro_recorder_fail(error, SETTINGS, "%s does not tell: set %s", where, property);
}

static gboolean to_fraction(double rate, gint *n, gint *d)
{
  if (!(rate > 0) || rate > G_MAXINT)
    return FALSE;
  gst_util_double_to_fraction(rate, n, d);
  return *n > 0 && fabs((double)*n / *d - rate) <= 1e-9 * rate;
}

gboolean astro_recording_settle_rate(AstroRecording *recording, const char *where, GError **error)
{
  double agreed;
  const double given = (double)recording->given_n / recording->given_d;
  if (!astro_recording_agree(recording, "rate", where, recording->rate, given, &agreed, error))
    return FALSE;
  if (agreed == 0)
    return astro_recorder_fail(
        error, SETTINGS,
        "%s does not tell how many steps of time a second has: set rate, as in rate=32e6", where);
  recording->rate = agreed;
  recording->rate_n = recording->given_n;
  recording->rate_d = recording->given_d;
  return recording->given_n > 0 || to_fraction(agreed, &recording->rate_n, &recording->rate_d) ||
         astro_recorder_fail(error, FORMAT,
                             "%s tells of %.17g steps of time a second, expected more than 0 and "
                             "at most %d",
                             where, agreed, G_MAXINT);
}

gint64 astro_recording_ns(const AstroRecording *recording, gint64 steps)
{
  const Wide ns = (Wide)steps * recording->rate_d * (gint64)GST_SECOND;
  const Wide half = recording->rate_n / 2;
  const Wide rounded = (ns + (ns < 0 ? -half : half)) / recording->rate_n;
  return (gint64)CLAMP(rounded, -MOST_NS, MOST_NS);
}
