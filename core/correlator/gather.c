/* Gathers spectra, and sets lost samples to zero. */
#include "core/correlator/gather.h"
#include "core/backend/threads.h"
#include "core/lib/transpose/plan.h"
#include <string.h>

enum { ROWS = 32 }; /* rows per task */

static void copy_rows(gpointer data, guint64 task)
{
  const AstroCorrelatorGather *gather = data;
  gsize bytes = (gsize)gather->stations * gather->pols * gather->sample_bytes;
  guint64 channel = task % gather->channels, time = task / gather->channels * ROWS;
  for (guint64 t = time; t < MIN(time + ROWS, gather->count); t++)
    memcpy(gather->to + channel * gather->to_channel + t * gather->to_time,
           gather->from + channel * gather->strides.channel + t * gather->strides.time, bytes);
}

void astro_correlator_gather(const AstroCorrelatorGather *gather, guint threads)
{
  gsize bytes = gather->sample_bytes;
  const AstroCorrelatorStrides *from = &gather->strides;
  if (astro_correlator_has_rows(from, gather->pols, gather->stations, bytes)) {
    astro_parallel((gather->count + ROWS - 1) / ROWS * gather->channels, threads, copy_rows,
                   (gpointer)gather);
    return;
  }
  const AstroTransposeAxis axes[] = {
    { .extent = gather->channels, .from = from->channel, .to = gather->to_channel },
    { .extent = gather->count, .from = from->time, .to = gather->to_time },
    { .extent = gather->stations, .from = from->station, .to = gather->pols * bytes },
    { .extent = gather->pols, .from = from->pol, .to = bytes },
  };
  astro_transpose_part(gather->to, gather->from, bytes, axes, G_N_ELEMENTS(axes), threads);
}

typedef struct {
  const AstroCorrelatorGather *gather;
  const AstroCorrelatorArguments *arguments;
  guint64 skip;
} Blank;

static void blank_channel(gpointer data, guint64 channel)
{
  const Blank *blank = data;
  const AstroCorrelatorGather *gather = blank->gather;
  const AstroCorrelatorArguments *arguments = blank->arguments;
  gsize bytes = gather->pols * gather->sample_bytes;
  const guint8 *valid = arguments->valid +
                        (arguments->first + blank->skip) * arguments->valid_time +
                        channel * arguments->valid_channel;
  guint8 *to = gather->to + channel * gather->to_channel;
  for (guint64 t = 0; t < gather->count; t++)
    for (guint s = 0; s < gather->stations; s++)
      if (!valid[t * arguments->valid_time + s * arguments->valid_station])
        memset(to + t * gather->to_time + s * bytes, 0, bytes);
}

void astro_correlator_blank(const AstroCorrelatorGather *gather,
                            const AstroCorrelatorArguments *arguments, guint64 skip, guint threads)
{
  Blank blank = { gather, arguments, skip };
  astro_parallel(gather->channels, threads, blank_channel, &blank);
}
