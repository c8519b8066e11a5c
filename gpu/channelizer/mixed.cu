/* Filter, transform and format conversion in one kernel, for any number of points that fits shared
 * memory. A block makes some spectra of one input, which stay there until they are written: each
 * thread filters one point of four spectra at a time, then one pass after another takes them from
 * one half of the memory to the other. A pass makes transforms of up to 16 points in registers;
 * a larger prime factor has a slower pass of its own. */
#include "gpu/channelizer/channelizer.h"
#include "gpu/lib/fft/butterflies.h"

enum {
  THREADS = 256,
  POINTS = 4096,
  ROOM = POINTS + POINTS / 16, /* for the points of all spectra of a block */
  SHARED_BYTES = 2 * ROOM * sizeof(float2),
  TOGETHER = 4, /* spectra that a thread filters at a time */
  WIDEST = 16,  /* points in registers */
  MOST_PASSES = 12,
};

/* A pass of this radix, after others that made transforms of `before` points. */
struct Pass {
  guint32 radix;
  AstroDivisor before, of_spectrum; /* of_spectrum: transforms in one spectrum */
};

struct Plan {
  guint32 n_passes, spectra; /* spectra of a block */
  AstroDivisor points, channels, groups;
  Pass passes[MOST_PASSES];
};

/* Leaves a gap after every sixteen points, so that few strides often hit the same bank. */
__device__ inline guint32 place(guint32 point)
{
  return point + point / 16;
}

/* ---- the filter ---- */

/* Filters a point of up to TOGETHER spectra, whose samples lie n apart. The samples of these
 * spectra overlap, and each is read once. TAPS 0: any number. */
template <int TAPS, typename Load>
__device__ inline void filter_point(const ChannelizerRun &run, guint32 point, guint32 spectra,
                                    Load load, float2 (&sum)[TOGETHER])
{
  const guint32 taps = TAPS ? TAPS : run.taps, rows = taps + TOGETHER - 1;
  const guint32 there = taps + spectra - 1;
  float weight[TOGETHER] = {};
#pragma unroll(TAPS ? TAPS + TOGETHER - 1 : 1)
  for (guint32 row = 0; row < rows; row++) {
    const float2 x = row < there ? load(row) : make_float2(0, 0);
#pragma unroll
    for (int s = TOGETHER - 1; s > 0; s--)
      weight[s] = weight[s - 1];
    weight[0] = row < taps ? run.weights[row * run.n + point] : 0;
#pragma unroll
    for (guint32 s = 0; s < TOGETHER; s++)
      if (row - s < taps) {
        sum[s].x += weight[s] * x.x;
        sum[s].y += weight[s] * x.y;
      }
  }
}

template <typename Sample>
__device__ inline void filter(const ChannelizerRun &run, const Plan &plan, guint32 input,
                              guint64 first, guint32 there, float2 *points)
{
  const gint64 base = (gint64)first * run.n;
  const bool in_block = base >= run.in.split && run.in.block;
  const Sample *block =
      (const Sample *)run.in.block + (input * run.in.block_row + (base - run.in.split));
  const guint32 units = (there + TOGETHER - 1) / TOGETHER * run.n;

  for (guint32 unit = threadIdx.x; unit < units; unit += THREADS) {
    const guint32 group = plan.points.divide(unit), point = unit - group * run.n;
    const guint32 begin = group * TOGETHER, spectra = min(there - begin, (guint32)TOGETHER);
    const guint32 turned = point + run.turn,
                  at = begin * run.n + (turned >= run.n ? turned - run.n : turned);
    float2 sum[TOGETHER] = {};
    auto near = [&](guint32 row) { return channelizer_value(block[at + row * run.n]); };
    if (in_block && run.taps == 8)
      filter_point<8>(run, point, spectra, near, sum);
    else if (in_block && run.taps == 4)
      filter_point<4>(run, point, spectra, near, sum);
    else
      filter_point<0>(
          run, point, spectra,
          [&](guint32 row) {
            return channelizer_sample<Sample>(run.in, input, base + at + (guint64)row * run.n);
          },
          sum);
#pragma unroll
    for (guint32 s = 0; s < TOGETHER; s++)
      if (s < spectra)
        points[place((begin + s) * run.n + point)] = sum[s];
  }
}

/* ---- the transform ---- */

template <int R>
__device__ inline void transform(const ChannelizerRun &run, const Pass &pass, guint32 there,
                                 const float2 *from, float2 *to)
{
  const guint32 stride = run.n / R, before = pass.before.by, grain = stride / before;
  for (guint32 unit = threadIdx.x; unit < there * stride; unit += THREADS) {
    const guint32 spectrum = pass.of_spectrum.divide(unit), j = unit - spectrum * stride;
    const guint32 done = pass.before.divide(j), k = j - done * before, base = spectrum * run.n;
    float2 v[R];
#pragma unroll
    for (int r = 0; r < R; r++)
      v[r] = from[place(base + j + r * stride)];
    if (before > 1) {
      float2 powers[4];
#pragma unroll
      for (int p = 0; (1 << p) < R; p++)
        powers[p] = run.twiddles[(k * grain) << p];
      fft_twiddle<R>(v, powers);
    }
    fft<R>(v);
    const guint32 begin = base + done * before * R + k;
#pragma unroll
    for (int r = 0; r < R; r++)
      to[place(begin + r * before)] = v[fft_place<R>(r)];
  }
}

/* The same for a radix that is a larger prime: a thread makes one point. Its sums are long, and
 * errors of single precision stay within parts of them. */
__device__ inline void transform_prime(const ChannelizerRun &run, const Pass &pass, guint32 there,
                                       const float2 *from, float2 *to)
{
  enum { PART = 16 };
  const guint32 radix = pass.radix, stride = run.n / radix, before = pass.before.by,
                grain = stride / before;
  for (guint32 unit = threadIdx.x; unit < there * run.n; unit += THREADS) {
    /* Threads next to each other read the same inputs, where that is possible. */
    const guint32 group = unit / radix, m = unit - group * radix;
    const guint32 spectrum = pass.of_spectrum.divide(group), j = group - spectrum * stride;
    const guint32 done = pass.before.divide(j), k = j - done * before, base = spectrum * run.n;
    const guint32 step = (k + before * m) * grain;
    double re = 0, im = 0;
    for (guint32 r = 0, angle = 0; r < radix;) {
      float part_re = 0, part_im = 0;
      for (const guint32 end = min(r + PART, radix); r < end; r++) {
        const float2 a = from[place(base + j + r * stride)], w = run.twiddles[angle];
        part_re += a.x * w.x - a.y * w.y;
        part_im += a.x * w.y + a.y * w.x;
        angle += step;
        angle -= angle >= run.n ? run.n : 0;
      }
      re += part_re;
      im += part_im;
    }
    to[place(base + done * before * radix + k + m * before)] = make_float2((float)re, (float)im);
  }
}

__device__ inline void transform_any(const ChannelizerRun &run, const Pass &pass, guint32 there,
                                     const float2 *from, float2 *to)
{
  switch (pass.radix) {
#define RADIX(r)                                                                                   \
  case r:                                                                                          \
    return transform<r>(run, pass, there, from, to);
    CHANNELIZER_RADIXES
#undef RADIX
  default:
    transform_prime(run, pass, there, from, to);
  }
}

/* ---- the output ---- */

/* The spectra of a block lie one after another in the output. */
__device__ inline void give(const ChannelizerRun &run, const Plan &plan, guint64 row, guint32 there,
                            const float2 *points, int *clipped)
{
  const guint64 first = row * run.channels;
  for (guint32 i = threadIdx.x; i < there * run.channels; i += THREADS) {
    const guint32 spectrum = plan.channels.divide(i), channel = i - spectrum * run.channels,
                  bin = channel < run.below ? channel + run.channels - run.below
                                            : channel - run.below;
    float2 value = points[place(spectrum * run.n + bin)];
    if (run.gains) {
      value.x *= run.gains[channel];
      value.y *= run.gains[channel];
    }
    write_sample(run.out, first + i, run.to, value, clipped);
  }
}

template <typename Sample>
__global__ void __launch_bounds__(THREADS, 3)
    channelize(const __grid_constant__ ChannelizerRun run, const __grid_constant__ Plan plan)
{
  extern __shared__ float2 points[];
  const guint32 input = plan.groups.divide(blockIdx.x), group = blockIdx.x - input * plan.groups.by;
  const guint64 first = (guint64)group * plan.spectra;
  const guint32 there = (guint32)min((guint64)plan.spectra, run.count - first);
  float2 *from = points, *to = points + ROOM;
  int clipped = 0;

  filter<Sample>(run, plan, input, first, there, from);
  __syncthreads();
  for (guint32 i = 0; i < plan.n_passes; i++) {
    transform_any(run, plan.passes[i], there, from, to);
    __syncthreads();
    float2 *swap = from;
    from = to;
    to = swap;
  }
  give(run, plan, input * run.count + first, there, from, &clipped);
  channelizer_count(run, clipped);
}

/* ---- launch ---- */

/* Factors of n: as few as possible, then with the smallest sum. They are tried in turn from `least`
 * on; best: the number so far, and their sum. */
static void find_factors(guint32 n, guint32 least, guint32 *factors, guint32 made, guint32 sum,
                         guint32 *found, guint32 *best, guint32 *best_sum)
{
  if (n == 1) {
    if (made < *best || (made == *best && sum < *best_sum)) {
      *best = made;
      *best_sum = sum;
      memcpy(found, factors, made * sizeof *found);
    }
    return;
  }
  for (guint32 radix = least; made < *best && radix <= WIDEST; radix++)
    if (n % radix == 0) {
      factors[made] = radix;
      find_factors(n / radix, radix, factors, made + 1, sum + radix, found, best, best_sum);
    }
}

static Plan plan_of(guint32 n, guint32 channels)
{
  Plan plan = { .spectra = POINTS / n };
  guint32 radices[MOST_PASSES], tried[MOST_PASSES + 1], primes = 0, large = n, before = 1;

  for (guint32 factor = 2; factor <= WIDEST; factor++)
    while (large % factor == 0)
      large /= factor;
  guint32 best = MOST_PASSES, sum = G_MAXUINT32;
  find_factors(n / large, 2, tried, 0, 0, radices, &best, &sum);
  for (guint32 prime = WIDEST + 1; large > 1; prime += 2)
    for (; large % prime == 0; large /= prime)
      radices[best + primes++] = prime;
  plan.n_passes = primes + best;
  for (guint32 i = 0; i < plan.n_passes; before *= radices[i++])
    plan.passes[i] = { radices[i], AstroDivisor(before), AstroDivisor(n / radices[i]) };
  plan.points = AstroDivisor(n);
  plan.channels = AstroDivisor(channels);
  return plan;
}

gboolean astro_channelizer_mixes(guint32 n)
{
  return n <= POINTS;
}

static void (*const kernels[])(ChannelizerRun run, Plan plan) = { channelize<float2>,
                                                                  channelize<char2> };

gboolean astro_channelizer_mixed_init(gboolean bytes, GError **error)
{
  return CUDA_TRY(cudaFuncSetAttribute(kernels[bytes ? 1 : 0],
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
}

gboolean astro_channelizer_mixed(gboolean bytes, const ChannelizerRun *run, cudaStream_t stream,
                                 GError **error)
{
  Plan plan = plan_of(run->n, run->channels);
  const guint64 groups = (run->count + plan.spectra - 1) / plan.spectra;

  plan.groups = AstroDivisor((guint32)groups);
  kernels[bytes ? 1 : 0]<<<(unsigned)(groups * run->inputs), THREADS, SHARED_BYTES, stream>>>(*run,
                                                                                              plan);
  return CUDA_TRY(cudaGetLastError());
}
