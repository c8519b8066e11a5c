/* Takes the amplitudes of an input block into planes, one for each unit and part. */
#include "gpu/flag/flag.h"
#include "gpu/runtime/samples.h"

/* Threads lie along channels, as planes do, and along units, which lie together in visibilities;
 * each has a few steps, which may lie together too. */
enum { CHANNELS = 32, UNITS = 8, STEPS = 8, MOST = 65535 };

static __device__ float amplitude_of(float2 sample)
{
  const double re = (double)sample.x, im = (double)sample.y;
  return (float)__dsqrt_rn(__dadd_rn(__dmul_rn(re, re), __dmul_rn(im, im)));
}

template <AstroFormat FORMAT> static __device__ float read_amplitude(const guint8 *in, guint64 at)
{
  if constexpr (FORMAT == ASTRO_FORMAT_F32LE) {
    return ((const float *)in)[at];
  } else if constexpr (FORMAT == ASTRO_FORMAT_CI32LE) {
    const int2 sample = ((const int2 *)in)[at];
    return amplitude_of(make_float2((float)sample.x, (float)sample.y));
  } else if constexpr (FORMAT == ASTRO_FORMAT_CF64LE) {
    const double2 sample = ((const double2 *)in)[at];
    return amplitude_of(make_float2((float)sample.x, (float)sample.y));
  } else {
    return amplitude_of(read_sample(in, at, FORMAT));
  }
}

/* x: tiles of channels and of units; y: steps. */
template <AstroFormat FORMAT>
static __global__ void __launch_bounds__(CHANNELS *UNITS)
    take(const __grid_constant__ FlagBlock block, const __grid_constant__ FlagPlanes planes)
{
  const AstroFlagPlaces &places = block.places;
  const guint32 tiles = (planes.channels + CHANNELS - 1) / CHANNELS,
                c = blockIdx.x % tiles * CHANNELS + threadIdx.x;
  const guint64 u = (guint64)(blockIdx.x / tiles) * UNITS + threadIdx.y;
  if (c >= planes.channels || u >= planes.units)
    return;
  for (guint64 from = (guint64)blockIdx.y * STEPS; from < block.steps; from += gridDim.y * STEPS)
    for (guint32 part = 0; part < planes.parts; part++) {
      const guint8 *in = block.in;
      const guint64 base = c * places.channel + u * places.unit + places.part[part],
                    place = block.counts.counts ? flag_count_place(block.counts, c, u, part) : 0;
      float *out = planes.amplitudes +
                   ((u * planes.parts + part) * planes.block + block.row) * planes.channels + c;
      for (guint64 i = from; i < from + STEPS && i < block.steps; i++) {
        const guint64 t = block.first + i;
        float amplitude = read_amplitude<FORMAT>(in, base + t * places.time);
        if (!flag_is_good(block.counts, t, place))
          continue;
        if (FORMAT == ASTRO_FORMAT_CI32LE && block.counts.counts)
          amplitude = __fdiv_rn(
              amplitude,
              (float)block.counts
                  .counts[t / block.counts.time.group * block.counts.time.stride + place]);
        out[i * planes.channels] = isfinite(amplitude) ? amplitude : INFINITY;
      }
    }
}

template <AstroFormat FORMAT>
static void launch(const FlagBlock *block, const FlagPlanes *planes, dim3 grid, cudaStream_t stream)
{
  take<FORMAT><<<grid, dim3(CHANNELS, UNITS), 0, stream>>>(*block, *planes);
}

gboolean astro_flag_take(const FlagBlock *block, AstroFormat format, const FlagPlanes *planes,
                         cudaStream_t stream, GError **error)
{
  static const struct {
    AstroFormat format;
    void (*launch)(const FlagBlock *block, const FlagPlanes *planes, dim3 grid,
                   cudaStream_t stream);
  } known[] = {
    { ASTRO_FORMAT_CI4, launch<ASTRO_FORMAT_CI4> },
    { ASTRO_FORMAT_CI8, launch<ASTRO_FORMAT_CI8> },
    { ASTRO_FORMAT_CI16LE, launch<ASTRO_FORMAT_CI16LE> },
    { ASTRO_FORMAT_CF16LE, launch<ASTRO_FORMAT_CF16LE> },
    { ASTRO_FORMAT_CF32LE, launch<ASTRO_FORMAT_CF32LE> },
    { ASTRO_FORMAT_F32LE, launch<ASTRO_FORMAT_F32LE> },
    { ASTRO_FORMAT_CI32LE, launch<ASTRO_FORMAT_CI32LE> },
    { ASTRO_FORMAT_CF64LE, launch<ASTRO_FORMAT_CF64LE> },
  };
  const guint64 tiles = (guint64)((planes->channels + CHANNELS - 1) / CHANNELS) *
                        ((planes->units + UNITS - 1) / UNITS);
  if (tiles > G_MAXINT32)
    return astro_backend_refuse(
        error, "flags: %" G_GUINT64_FORMAT " stations, beams or baselines are too many for a GPU",
        planes->units);
  const dim3 grid((unsigned)tiles,
                  (unsigned)MIN((block->steps + STEPS - 1) / STEPS, (guint64)MOST));
  for (guint i = 0; i < G_N_ELEMENTS(known); i++)
    if (known[i].format == format)
      known[i].launch(block, planes, grid, stream);
  return CUDA_TRY(cudaGetLastError());
}
