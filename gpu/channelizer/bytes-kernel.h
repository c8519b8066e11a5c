/* The kernel of bytes.cu: filter, transform and format conversion for CI4 or CI8 in and out, whose
 * copy is so quick that instructions count and not memory. A block makes groups of spectra, each of
 * one input: all threads filter; then they transform in passes; the last writes bytes in the order
 * of channels, which leave in words as wide as they are aligned to. */
#pragma once

#include "gpu/channelizer/bytes-filter.h"
#include "gpu/channelizer/bytes-out.h"

template <int R, typename Shape>
__device__ inline void pass_last(const ChannelizerRun &run, const Shape &shape,
                                 const BytesGroup *groups, const float2 *powers,
                                 const float2 *points, guint8 *out, int *clipped)
{
  const guint32 before = shape.before, units = shape.groups * shape.together * before;
#pragma unroll 1
  for (guint32 unit = threadIdx.x; unit < units; unit += shape.threads) {
    const guint32 spectrum = shape.over_before(unit), k = unit - spectrum * before;
    const guint32 of_block = shape.middle == 1 ? 0 : shape.over_first(k);
    const float2 *own = points + spectrum * shape.row + (k - of_block * shape.first) * shape.block +
                        of_block * shape.pitch;
    float2 v[R];
    if (spectrum % shape.together >= groups[spectrum / shape.together].there)
      continue;
    if constexpr (R % 2 == 0) {
#pragma unroll
      for (int r = 0; r < R; r += 2) {
        const float4 two = *(const float4 *)(own + r);
        v[r] = make_float2(two.x, two.y);
        v[r + 1] = make_float2(two.z, two.w);
      }
    } else {
#pragma unroll
      for (int r = 0; r < R; r++)
        v[r] = own[r];
    }
    transform_rotated<R>(powers, k, before, v);

    /* The centre of the band is in channel n / 2. */
    auto channel = [&](int r) -> guint32 {
      if constexpr (R % 2 == 0)
        return k + (r + R / 2) % R * before;
      else {
        const guint32 raw = k + r * before + shape.n / 2;
        return raw >= shape.n ? raw - shape.n : raw;
      }
    };
    if (run.gains)
#pragma unroll
      for (int r = 0; r < R; r++) {
        const float gain = run.gains[channel(r)];
        v[bin_place<R>(r)].x *= gain;
        v[bin_place<R>(r)].y *= gain;
      }
    if (run.to == ASTRO_FORMAT_CI8)
      give<R, ASTRO_FORMAT_CI8>(out + spectrum * shape.n * 2, v, channel, clipped);
    else
      give<R, ASTRO_FORMAT_CI4>(out + spectrum * shape.n, v, channel, clipped);
  }
}

template <typename Sample, int WIDTH, typename Shape>
__device__ inline void filter(const ChannelizerRun &run, const Shape &shape,
                              const BytesGroup *groups, float2 *points)
{
  const guint32 columns = shape.n / WIDTH;
#pragma unroll 1
  for (guint32 unit = threadIdx.x; unit < shape.groups * columns; unit += shape.threads) {
    const guint32 i = shape.over_columns(unit), point = (unit - i * columns) * WIDTH;
    const BytesGroup group = groups[i];
    const guint32 block = shape.over_after(point), of_block = point - block * shape.after,
                  runs = shape.middle == 1 ? 0 : shape.over_last(of_block);
    float2 *to = points + i * shape.together * shape.row + block * shape.block + of_block +
                 runs * (shape.pitch - shape.last);
    if (group.there == 0)
      continue;
    filter_group<Sample, WIDTH>(run, shape, group.input, group.first, group.there, point,
                                [&](guint32 spectrum, const float2(&sums)[WIDTH]) {
                                  float2 *own = to + spectrum * shape.row;
                                  if constexpr (WIDTH == 2)
                                    *(float4 *)own =
                                        make_float4(sums[0].x, sums[0].y, sums[1].x, sums[1].y);
                                  else
                                    *own = sums[0];
                                });
  }
}

template <typename Sample, typename Shape>
__device__ inline void filter_all(const ChannelizerRun &run, const Shape &shape,
                                  const BytesGroup *groups, float2 *points)
{
  if (shape.width == 2)
    filter<Sample, 2>(run, shape, groups, points);
  else
    filter<Sample, 1>(run, shape, groups, points);
}

template <typename Shape>
__global__ void __launch_bounds__(Shape::threads, 640 / Shape::threads)
    channelize(const __grid_constant__ ChannelizerRun run, const __grid_constant__ Shape shape,
               const __grid_constant__ BytesWork work)
{
  extern __shared__ __align__(16) guint8 out[];
  __shared__ BytesGroup groups[BYTES_MOST_GROUPS];
  float2 *points = (float2 *)(out + shape.out_bytes);
  const float2 *powers = run.powers;
  int clipped = 0;

  if (threadIdx.x < shape.groups) {
    const guint32 number = blockIdx.x * shape.groups + threadIdx.x, input = number / work.of_input;
    const guint64 first = (guint64)(number - input * work.of_input) * shape.together;
    groups[threadIdx.x] = { first, input,
                            number < work.total
                                ? (guint32)min((guint64)shape.together, run.count - first)
                                : 0 };
  }
  __syncthreads();
  if (work.from == ASTRO_FORMAT_CI4)
    filter_all<ChannelizerNibbles>(run, shape, groups, points);
  else
    filter_all<char2>(run, shape, groups, points);
  __syncthreads();
  shape.with_first([&](auto radix) { pass_first<radix>(shape, points); });
  __syncthreads();
  if (shape.middle > 1) {
    shape.with_middle([&](auto radix) {
      if constexpr (radix > 1)
        pass_middle<radix>(powers, shape, points);
    });
    powers += bytes_twiddles(shape.middle) * shape.first;
    __syncthreads();
  }
  shape.with_last(
      [&](auto radix) { pass_last<radix>(run, shape, groups, powers, points, out, &clipped); });
  __syncthreads();
  write_groups(run, shape, work, groups, out);
  channelizer_count(run, clipped);
}

/* ---- launch ---- */

/* Without spectra only makes the kernel ready. */
template <typename Shape>
static gboolean launch(AstroFormat from, const ChannelizerRun *run, const Shape &shape,
                       cudaStream_t stream, GError **error)
{
  const auto kernel = channelize<Shape>;
  if (run->count == 0)
    return astro_cuda_allow_shared((const void *)kernel, error);
  const gsize spectrum = run->n * astro_format_info(run->to)->bytes,
              apart = (guintptr)run->out | run->count * spectrum | shape.together * spectrum;
  const guint32 word = apart % 16 == 0 ? 16 : apart % 8 == 0 ? 8 : apart % 4 == 0 ? 4 : 1;
  BytesWork work = { .from = from,
                     .of_input = (guint32)((run->count + shape.together - 1) / shape.together),
                     .words = AstroDivisor((guint32)(shape.together * spectrum / word)),
                     .word = word };
  work.total = work.of_input * run->inputs;
  kernel<<<(work.total + shape.groups - 1) / shape.groups, shape.threads, bytes_shared(shape),
           stream>>>(*run, shape, work);
  return CUDA_TRY(cudaGetLastError());
}

template <typename Sharing>
static gboolean launch_any(AstroFormat from, const ChannelizerRun *run, BytesFactors factors,
                           cudaStream_t stream, GError **error)
{
  /* Two points side by side also have their samples so. */
  const guint32 width = run->n % 2 == 0 && run->turn % 2 == 0 ? 2 : 1;
  return launch(from, run, BytesAny<Sharing>(factors, width), stream, error);
}
