/* Which samples of a block can be used, all at once. Blocks of large arrays have millions of
 * samples, most of them without any loss. */
#include "config.h"
#include "core/stream/validity.h"

#include <string.h>

gboolean astro_validity_all_whole(const AstroValiditySamples *samples)
{
  const guint32 *counts = samples->meta->counts;
  const guint64 n = astro_validity_n_counts(samples->meta);
  for (guint64 i = 0; i < n; i++)
    if (counts[i] < samples->least)
      return FALSE;
  return TRUE;
}

/* Whole numbers of groups are passed without a division for each sample. */
static void mark_stations(const AstroValiditySamples *samples, const guint32 *counts,
                          guint64 stations, guint8 *marks)
{
  const AstroValidityAxis station = samples->station;
  memset(marks, 1, stations);
  for (guint64 pol = 0; pol < samples->pols; pol++) {
    const guint32 *at = counts + pol / samples->pol.group * samples->pol.stride;
    for (guint64 s = 0; s < stations; at += station.stride)
      for (const guint64 end = MIN(s + station.group, stations); s < end; s++)
        marks[s] &= *at >= samples->least;
  }
}

void astro_validity_mark(const AstroValiditySamples *samples, guint64 steps, guint64 channels,
                         guint64 stations, guint8 *marks)
{
  const guint64 row = channels * stations;
  for (guint64 t = 0; t < steps; t++, marks += row) {
    if (t % samples->time.group != 0) { /* these steps share their counts */
      memcpy(marks, marks - row, row);
      continue;
    }
    const guint32 *counts = samples->meta->counts + t / samples->time.group * samples->time.stride;
    for (guint64 c = 0; c < channels; c++)
      mark_stations(samples, counts + c / samples->channel.group * samples->channel.stride,
                    stations, marks + c * stations);
  }
}
