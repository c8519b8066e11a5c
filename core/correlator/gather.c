#include "core/correlator/gather.h"
#include "core/backend/threads.h"
#include <string.h>

/* A patch of the inputs by the source's faster axis of channel and time: a cache line of each input
 * holds this many of its samples, and lines of this many inputs stay in the first cache. */
enum { PATCH = 32 };

typedef struct {
  gsize to, from;
  guint64 extent;
} Axis;

typedef struct {
  const AstroCorrelatorGather *gather;
  Axis fast, slow;
  guint64 patches; /* along the fast axis */
  gboolean whole_rows;
} Job;

static inline __attribute__((always_inline)) void copy_patch(const AstroCorrelatorGather *gather,
                                                             guint8 *to, const guint8 *from,
                                                             const Axis *fast, guint64 steps,
                                                             gsize bytes)
{
  gsize inputs = (gsize)gather->stations * gather->pols;
  for (gsize first = 0; first < inputs; first += PATCH)
    for (guint64 f = 0; f < steps; f++) {
      guint8 *row = to + f * fast->to;
      const guint8 *source = from + f * fast->from;
      for (gsize i = first; i < MIN(first + PATCH, inputs); i++)
        memcpy(row + i * bytes,
               source + i / gather->pols * gather->strides.station +
                   i % gather->pols * gather->strides.pol,
               bytes);
    }
}

static void gather_patch(gpointer data, guint64 task)
{
  const Job *job = data;
  const AstroCorrelatorGather *gather = job->gather;
  guint64 slow = task / job->patches, fast = task % job->patches * PATCH;
  guint64 steps = MIN(job->fast.extent - fast, PATCH);
  guint8 *to = gather->to + slow * job->slow.to + fast * job->fast.to;
  const guint8 *from = gather->from + slow * job->slow.from + fast * job->fast.from;
  if (job->whole_rows) {
    gsize bytes = (gsize)gather->stations * gather->pols * gather->sample_bytes;
    for (guint64 f = 0; f < steps; f++)
      memcpy(to + f * job->fast.to, from + f * job->fast.from, bytes);
    return;
  }
  switch (gather->sample_bytes) {
  case 1:
    copy_patch(gather, to, from, &job->fast, steps, 1);
    break;
  case 2:
    copy_patch(gather, to, from, &job->fast, steps, 2);
    break;
  case 4:
    copy_patch(gather, to, from, &job->fast, steps, 4);
    break;
  default:
    copy_patch(gather, to, from, &job->fast, steps, 8);
    break;
  }
}

void astro_correlator_gather(const AstroCorrelatorGather *gather, guint threads)
{
  Axis time = { gather->to_time, gather->strides.time, gather->count };
  Axis channel = { gather->to_channel, gather->strides.channel, gather->channels };
  gboolean time_is_fast = time.from < channel.from || channel.extent == 1;
  Job job = {
    .gather = gather,
    .fast = time_is_fast ? time : channel,
    .slow = time_is_fast ? channel : time,
    .whole_rows = astro_correlator_has_rows(&gather->strides, gather->pols, gather->stations,
                                            gather->sample_bytes),
  };
  job.patches = (job.fast.extent + PATCH - 1) / PATCH;
  astro_parallel(job.slow.extent * job.patches, threads, gather_patch, &job);
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
