/* SumThreshold on the GPU: a group of threads has a plane, and goes through the rounds of
 * core/flag/plane.c. */
#include "gpu/flag/baseline.h"
#include "gpu/flag/windows.h"

enum { ROUNDS = 3, MERGE_THREADS = 256 };

static __device__ void lay(FlagPlane *plane, guint8 *room)
{
  const gsize values = plane->values;
  gint32 *arrays = (gint32 *)room;
  plane->cells = arrays;
  plane->turned = arrays + values;
  plane->spare = arrays + 2 * values;
  plane->spare_turned = arrays + 3 * values;
  plane->deviations = (float *)(arrays + 4 * values);
  plane->weights = (float *)(arrays + 5 * values);
  plane->weighted = (float *)(arrays + 6 * values);
}

/* Makes cells of what `whole` gives; none is flagged. */
template <typename Whole> static __device__ void make_cells(const FlagPlane &plane, Whole whole)
{
  for (guint32 i = threadIdx.x; i < plane.values; i += FLAG_THREADS) {
    const gint32 cell = (gint32)((guint32)whole(i) << CELL_BITS) |
                        (flag_is_usable(plane.amplitudes[i]) ? CELL_USABLE : 0);
    plane.cells[i] = cell;
    plane.turned[(gsize)(i % plane.channels) * plane.rows + i / plane.channels] = cell;
  }
  __syncthreads();
}

/* Rounds deviations to whole numbers, half away from 0. */
static __device__ void make_whole(const FlagPlane &plane, float deviation)
{
  const float times = __fdiv_rn(ASTRO_FLAG_UNIT, deviation), most = ASTRO_FLAG_MOST,
              *deviations = plane.deviations;
  make_cells(plane, [=](guint32 i) {
    float scaled = __fmul_rn(deviations[i], times);
    scaled = scaled > most ? most : scaled;
    scaled = scaled < -most ? -most : scaled;
    return (gint32)__fadd_rn(scaled, scaled < 0 ? -0.5f : 0.5f);
  });
}

static __device__ void swap(gint32 *&a, gint32 *&b)
{
  gint32 *kept = a;
  a = b;
  b = kept;
}

static __device__ void look_through_windows(FlagPlane &plane, guint32 longest, const gint32 *limits)
{
  for (guint32 n = 1; n <= longest; n *= 2) {
    if (n <= plane.rows) {
      flag_windows({ plane.channels, plane.rows, plane.cells, plane.spare, plane.turned }, n,
                   limits);
      swap(plane.cells, plane.spare);
    }
    if (n <= plane.channels && n > 1) {
      flag_windows({ plane.rows, plane.channels, plane.turned, plane.spare_turned, plane.cells }, n,
                   limits);
      swap(plane.turned, plane.spare_turned);
    }
  }
}

/* false: the plane has no noise to compare with, and nothing is flagged. */
static __device__ bool judge(FlagPlane &plane, const AstroFlagThresholds &thresholds,
                             const FlagAllTaps &taps)
{
  make_cells(plane, [](guint32 i) { return 0; });
  for (int round = 0; round < ROUNDS; round++) {
    if (round > 0)
      flag_smooth(plane, taps);
    else
      flag_begin_baseline(plane);
    const float deviation = flag_find_deviation(plane);
    if (!(deviation > 0) || __fdiv_rn(ASTRO_FLAG_UNIT, deviation) > G_MAXFLOAT)
      return false;
    make_whole(plane, deviation);
    look_through_windows(plane, thresholds.longest, thresholds.limits[round]);
  }
  gint32 *sums = (gint32 *)plane.weights;
  flag_extend({ plane.channels, plane.rows, NULL, plane.cells, plane.turned }, sums);
  flag_extend({ plane.rows, plane.channels, NULL, plane.turned, plane.cells }, sums);
  return true;
}

static __device__ void tell(const FlagPlane &plane, bool has_noise, guint8 *found)
{
  for (guint32 i = threadIdx.x; i < plane.values; i += FLAG_THREADS) {
    const float amplitude = plane.amplitudes[i];
    const bool is_bad = isinf(amplitude) || (has_noise && plane.cells[i] & CELL_BAD);
    found[i] = isnan(amplitude) ? 0
               : is_bad         ? ASTRO_FLAG_JUDGED | ASTRO_FLAG_BAD
               : has_noise      ? ASTRO_FLAG_JUDGED
                                : 0;
  }
  __syncthreads();
}

static __device__ void load_taps(FlagAllTaps *taps, const AstroFlagThresholds &thresholds)
{
  for (guint32 i = threadIdx.x; i < 3 * ASTRO_FLAG_TIME_TAPS; i += FLAG_THREADS)
    taps->time.of[i / ASTRO_FLAG_TIME_TAPS][i % ASTRO_FLAG_TIME_TAPS] =
        thresholds.time_taps[i / ASTRO_FLAG_TIME_TAPS][i % ASTRO_FLAG_TIME_TAPS];
  for (guint32 i = threadIdx.x; i < 3 * ASTRO_FLAG_CHANNEL_TAPS; i += FLAG_THREADS)
    taps->channel.of[i / ASTRO_FLAG_CHANNEL_TAPS][i % ASTRO_FLAG_CHANNEL_TAPS] =
        thresholds.channel_taps[i / ASTRO_FLAG_CHANNEL_TAPS][i % ASTRO_FLAG_CHANNEL_TAPS];
  __syncthreads();
}

static __global__ void __launch_bounds__(FLAG_THREADS, 2)
    judge_planes(const __grid_constant__ FlagPlanes planes)
{
  __shared__ FlagAllTaps taps;
  const guint64 all = planes.units * planes.parts;
  FlagPlane plane = {};
  plane.rows = planes.rows;
  plane.channels = planes.channels;
  plane.values = planes.rows * planes.channels;
  load_taps(&taps, *planes.thresholds);
  for (guint64 at = blockIdx.x; at < all; at += gridDim.x) {
    lay(&plane,
        planes.room + blockIdx.x * (gsize)FLAG_PLANE_ARRAYS * plane.values * sizeof(gint32));
    plane.amplitudes = planes.amplitudes + at * planes.block * planes.channels;
    plane.is_power = planes.is_power[at % planes.parts];
    const bool has_noise = judge(plane, *planes.thresholds, taps);
    tell(plane, has_noise, planes.found + at * plane.values);
  }
}

/* A value is flagged if any of its parts is. */
static __global__ void __launch_bounds__(MERGE_THREADS)
    merge_parts(const __grid_constant__ FlagPlanes planes)
{
  const guint64 i = (guint64)blockIdx.x * MERGE_THREADS + threadIdx.x,
                values = (guint64)planes.rows * planes.channels, u = i / values,
                t = i % values / planes.channels, c = i % planes.channels;
  guint8 flags = 0;
  if (u >= planes.units)
    return;
  for (guint32 part = 0; part < planes.parts; part++)
    flags |= planes.found[(u * planes.parts + part) * values + i % values];
  planes.flags[(t * planes.units + u) * planes.channels + c] = flags;
}

/* ---- launches ---- */

gsize astro_flag_room_bytes(guint64 values)
{
  return FLAG_PLANE_ARRAYS * values * sizeof(gint32);
}

gboolean astro_flag_groups(const AstroDevice *device, guint32 *groups, GError **error)
{
  int processors, each;
  if (!CUDA_TRY(
          cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device->index)) ||
      !CUDA_TRY(
          cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, judge_planes, FLAG_THREADS, 0)))
    return FALSE;
  *groups = (guint32)(processors * MAX(each, 1));
  return TRUE;
}

gboolean astro_flag_judge_planes(const FlagPlanes *planes, cudaStream_t stream, GError **error)
{
  const guint64 values = planes->units * planes->rows * planes->channels;
  judge_planes<<<planes->groups, FLAG_THREADS, 0, stream>>>(*planes);
  merge_parts<<<(unsigned)((values + MERGE_THREADS - 1) / MERGE_THREADS), MERGE_THREADS, 0,
                stream>>>(*planes);
  return CUDA_TRY(cudaGetLastError());
}
