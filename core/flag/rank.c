/* The scale-invariant rank operator, in time that is linear in the number of values. */
#include "config.h"
#include "core/flag/rank.h"

/* A flagged value weighs 1 and another -4: a stretch of four fifths sums to at least 0. */
#define OTHER (-4)

/* Along one line of n values, `stride` apart. With the sums up to each place, a value lies in such
 * a stretch if the largest sum behind it is not less than the smallest one before it. sums: room
 * for n. */
static void extend_line(const gint32 *usable, gint32 *bad, gint32 *sums, guint n, gsize stride)
{
  gint32 sum = 0, most = G_MININT32, least = 0;
  for (guint i = 0; i < n; i++) {
    const gsize at = i * stride;
    sum += bad[at] ? 1 : usable[at] ? OTHER : 0;
    sums[i] = sum;
  }
  /* The largest sum from each place on, in the place of the sums. */
  for (guint i = n; i-- > 0;)
    sums[i] = most = MAX(most, sums[i]);
  sum = 0;
  for (guint i = 0; i < n; i++) {
    const gsize at = i * stride;
    const gint32 weight = bad[at] ? 1 : usable[at] ? OTHER : 0;
    least = MIN(least, sum); /* up to before this value */
    if (usable[at] && sums[i] >= least)
      bad[at] = 1;
    sum += weight;
  }
}

static gboolean has_bad(const gint32 *bad, guint n, gsize stride)
{
  for (guint i = 0; i < n; i++)
    if (bad[i * stride])
      return TRUE;
  return FALSE;
}

void astro_flag_extend(AstroFlagPlane *plane)
{
  const guint rows = plane->rows, channels = plane->channels;
  for (guint c = 0; c < channels; c++)
    if (has_bad(plane->bad + c, rows, channels))
      extend_line(plane->usable + c, plane->bad + c, plane->room[0], rows, channels);
  for (guint t = 0; t < rows; t++) {
    const gsize at = (gsize)t * channels;
    if (has_bad(plane->bad + at, channels, 1))
      extend_line(plane->usable + at, plane->bad + at, plane->room[0], channels, 1);
  }
}
