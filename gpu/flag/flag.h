/* Shared by the kernels of flags.
 *
 * Verdicts equal those of the reference to the bit. Products are rounded before they are added to,
 * sums of floats are made in the order of time or of the taps, by one thread each, and medians are
 * exact; sums of integers are exact in any order. */
#pragma once

#include "core/flag/check.h"
#include "core/flag/plane.h"
#include "gpu/runtime/cuda.h"

/* An input block, and those of its steps that are meant. */
struct FlagBlock {
  const guint8 *in;
  AstroFlagPlaces places; /* in the block, */
  AstroFlagPlaces shape;  /* and in one step */
  AstroFlagCounts counts; /* on the device */
  guint64 first, steps;
  guint64 row;   /* of the judged block, for the first step */
  guint64 cells; /* values of a step, in the order of memory */
  guint64 run;   /* those faster than time, which lie together; a layout without time has all */
};

/* Whether a part of a value can be used; `place` is that of its count but for time. */
static __device__ inline bool flag_is_good(const AstroFlagCounts &counts, guint64 t, guint64 place)
{
  return !counts.counts ||
         counts.counts[t / counts.time.group * counts.time.stride + place] >= counts.least;
}

static __device__ inline guint64 flag_count_place(const AstroFlagCounts &counts, guint64 c,
                                                  guint64 u, guint32 part)
{
  return c / counts.channel.group * counts.channel.stride +
         u / counts.unit.group * counts.unit.stride + counts.part[part];
}

/* ---- kurtosis ---- */

/* For each cell; see AstroFlagCpu. */
struct FlagSums {
  double *sums, *squares;
  guint32 *good;
};

gboolean astro_flag_add(const FlagBlock *block, AstroFormat format, const FlagSums *sums,
                        cudaStream_t stream, GError **error);
/* limits: low and high, for each number of samples up to a block's. */
gboolean astro_flag_judge_sums(const AstroFlagPlaces *shape, const FlagSums *sums,
                               const double2 *limits, double coarse, guint8 *flags,
                               cudaStream_t stream, GError **error);
/* limits: for each count of the block. */
gboolean astro_flag_judge_means(const FlagBlock *block, const double2 *limits, guint8 *flags,
                                cudaStream_t stream, GError **error);

/* ---- threshold ---- */

struct FlagPlanes {
  float *amplitudes; /* [unit][part][row][channel]; NaN: missing; infinite: not finite */
  guint32 block;     /* rows that there is room for */
  guint32 rows, channels, parts;
  guint64 units;
  bool is_power[ASTRO_FLAG_MAX_VALUES];
  const AstroFlagThresholds *thresholds;
  guint8 *room;   /* for so many planes at a time */
  guint32 groups; /* of threads, each of which works on a plane */
  guint8 *found;  /* flags of each plane */
  guint8 *flags;  /* [row][unit][channel] */
};

gboolean astro_flag_take(const FlagBlock *block, AstroFormat format, const FlagPlanes *planes,
                         cudaStream_t stream, GError **error);

/* Bytes to work on a plane of so many values. */
gsize astro_flag_room_bytes(guint64 values);
/* How many planes the device works on at a time, if there are enough. */
gboolean astro_flag_groups(const AstroDevice *device, guint32 *groups, GError **error);
gboolean astro_flag_judge_planes(const FlagPlanes *planes, cudaStream_t stream, GError **error);
