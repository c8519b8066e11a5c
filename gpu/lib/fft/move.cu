/* Copies that move origins and rotate phases; adjacent threads handle a row of the fastest axis. */
#include "gpu/lib/fft/parts.h"

extern "C" {
#include "core/stream/grid.h"
}

enum { THREADS = 256, MOST_BLOCKS = 1 << 16 };

struct Axis {
  guint64 extent, roll, turn, period;
};

struct Move {
  guint n_axes; /* without the fastest, which follows them */
  Axis axes[ASTRO_MAX_AXES + 1], fast;
  guint64 rows;
  bool signs; /* all rotations are by whole or half cycles */
  bool turns;
  double scale, sign;
};

__device__ inline guint64 quotient(guint64 n, guint64 by)
{
  return (n | by) >> 32 ? n / by : (guint32)n / (guint32)by;
}

/* Rotation of sample i in cycles: halves are counted, and other fractions are kept small. */
__device__ inline double turned(const Axis &axis, guint64 i, bool signs)
{
  if (axis.turn == 0)
    return 0;
  if (signs)
    return i & 1 ? 0.5 : 0;
  guint64 product = i * axis.turn;
  return (double)(product - quotient(product, axis.period) * axis.period) / (double)axis.period;
}

template <typename To, typename From> struct Convert {
  static __device__ To of(From sample)
  {
    return sample;
  }
};
template <> struct Convert<float2, float> {
  static __device__ float2 of(float sample)
  {
    return make_float2(sample, 0);
  }
};
template <> struct Convert<double2, double> {
  static __device__ double2 of(double sample)
  {
    return make_double2(sample, 0);
  }
};
template <> struct Convert<float, float2> {
  static __device__ float of(float2 sample)
  {
    return sample.x;
  }
};
template <> struct Convert<double, double2> {
  static __device__ double of(double2 sample)
  {
    return sample.x;
  }
};

template <typename Part> __device__ inline Part scaled(Part sample, Part factor)
{
  return sample * factor;
}
__device__ inline float2 scaled(float2 sample, float factor)
{
  return make_float2(sample.x * factor, sample.y * factor);
}
__device__ inline double2 scaled(double2 sample, double factor)
{
  return make_double2(sample.x * factor, sample.y * factor);
}

template <typename Part> __device__ inline Part phased(Part sample, double)
{
  return sample; /* real samples are never rotated by other fractions */
}
__device__ inline float2 phased(float2 a, double turns)
{
  double re, im;
  sincospi(2 * turns, &im, &re);
  float2 b = make_float2((float)re, (float)im);
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__device__ inline double2 phased(double2 a, double turns)
{
  double re, im;
  sincospi(2 * turns, &im, &re);
  return make_double2(a.x * re - a.y * im, a.x * im + a.y * re);
}

template <typename From, typename To, typename Part>
__global__ void __launch_bounds__(THREADS)
    move(const __grid_constant__ Move m, const From *in, To *out)
{
  for (guint64 row = (guint64)blockIdx.x * blockDim.y + threadIdx.y; row < m.rows;
       row += (guint64)gridDim.x * blockDim.y) {
    guint64 rest = row, from = 0, stride = m.fast.extent;
    double row_turns = 0;
    for (guint a = m.n_axes; a-- > 0;) {
      const Axis &axis = m.axes[a];
      guint64 next = quotient(rest, axis.extent), i = rest - next * axis.extent;
      guint64 j = i + axis.roll;
      from += (j >= axis.extent ? j - axis.extent : j) * stride;
      stride *= axis.extent;
      row_turns += turned(axis, i, m.signs);
      rest = next;
    }
#pragma unroll 4
    for (guint64 i = threadIdx.x; i < m.fast.extent; i += blockDim.x) {
      guint64 j = i + m.fast.roll;
      From sample = in[from + (j >= m.fast.extent ? j - m.fast.extent : j)];
      Part factor = (Part)m.scale;
      if (m.turns) {
        double turns = row_turns + turned(m.fast, i, m.signs);
        turns -= rint(turns);
        if (m.signs)
          factor = turns != 0 ? -factor : factor;
        else
          sample = phased(sample, m.sign * turns);
      }
      out[row * m.fast.extent + i] = Convert<To, From>::of(scaled(sample, factor));
    }
  }
}

template <typename From, typename To, typename Part>
static void launch(const Move *m, gconstpointer in, gpointer out, cudaStream_t stream)
{
  guint across = 1;
  while (across < THREADS && across < m->fast.extent)
    across *= 2;
  dim3 threads(across, THREADS / across);
  guint blocks = (guint)CLAMP((m->rows + threads.y - 1) / threads.y, 1, MOST_BLOCKS);
  move<From, To, Part><<<blocks, threads, 0, stream>>>(*m, (const From *)in, (To *)out);
}

static const struct {
  AstroFormat from, to;
  void (*launch)(const Move *m, gconstpointer in, gpointer out, cudaStream_t stream);
} kernels[] = {
  { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, launch<float2, float2, float> },
  { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_CF64LE, launch<double2, double2, double> },
  { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_F32LE, launch<float, float, float> },
  { ASTRO_FORMAT_F64LE, ASTRO_FORMAT_F64LE, launch<double, double, double> },
  { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_CF32LE, launch<float, float2, float> },
  { ASTRO_FORMAT_F64LE, ASTRO_FORMAT_CF64LE, launch<double, double2, double> },
  { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_F32LE, launch<float2, float, float> },
  { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_F64LE, launch<double2, double, double> },
};

gboolean astro_fft_move(const AstroFftMove *wanted, gconstpointer in, gpointer out,
                        cudaStream_t stream, GError **error)
{
  Move m = {
    .rows = 1, .signs = true, .scale = wanted->scale, .sign = wanted->backwards ? -1.0 : 1.0
  };
  guint n = 0, k = 0;

  /* Axes that are not moved are merged with those before them. */
  for (guint i = 0; i < wanted->n_axes; i++) {
    Axis axis = { wanted->axes[i].extent, wanted->axes[i].roll, wanted->axes[i].turn,
                  wanted->axes[i].period };
    m.turns |= axis.turn != 0;
    m.signs &= axis.turn == 0 || axis.turn * 2 == axis.period;
    if (n && !axis.roll && !axis.turn && !m.fast.roll && !m.fast.turn)
      axis.extent *= m.axes[--n].extent;
    m.fast = m.axes[n++] = axis;
  }
  for (m.n_axes = 0; m.n_axes + 1 < n; m.n_axes++)
    m.rows *= m.axes[m.n_axes].extent;
  while (kernels[k].from != wanted->from || kernels[k].to != wanted->to)
    k++;
  kernels[k].launch(&m, in, out, stream);
  return CUDA_TRY(cudaGetLastError());
}

/* ---- bins ---- */

template <typename Complex>
__global__ void __launch_bounds__(THREADS)
    clean(Complex *bins, guint64 lines, guint64 inner, guint64 line, guint64 middle)
{
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < lines;
       i += (guint64)gridDim.x * THREADS) {
    Complex *first = bins + quotient(i, inner) * line * inner + i % inner;
    first->y = 0;
    if (middle)
      first[middle * inner].y = 0;
  }
}

gboolean astro_fft_clean(const AstroFftPass *pass, gboolean is_double, gpointer bins,
                         cudaStream_t stream, GError **error)
{
  guint64 lines = pass->outer * pass->inner, middle = pass->n % 2 ? 0 : pass->n / 2;
  guint blocks = (guint)CLAMP((lines + THREADS - 1) / THREADS, 1, MOST_BLOCKS);
  if (is_double)
    clean<<<blocks, THREADS, 0, stream>>>((double2 *)bins, lines, pass->inner, pass->n_in, middle);
  else
    clean<<<blocks, THREADS, 0, stream>>>((float2 *)bins, lines, pass->inner, pass->n_in, middle);
  return CUDA_TRY(cudaGetLastError());
}

/* ---- touched tiles ---- */

/* A block copies one row of a plane at a time. */
template <typename Sample>
static __global__ void __launch_bounds__(THREADS)
    take_touched(const __grid_constant__ AstroFftMap map, const Sample *in, Sample *out,
                 guint64 rows)
{
  const guint32 tiles = (map.width + ASTRO_GRID_TILE - 1) / ASTRO_GRID_TILE;
  const guint32 tile_rows = (map.height + ASTRO_GRID_TILE - 1) / ASTRO_GRID_TILE;
  for (guint64 row = blockIdx.x; row < rows; row += gridDim.x) {
    const guint64 plane = row / map.height, first = row * map.width;
    const guint32 v = (guint32)(row - plane * map.height);
    const guint8 *touched =
        map.touched +
        ((plane + map.first_plane) / map.share * tile_rows + v / ASTRO_GRID_TILE) * tiles;
    for (guint32 u = threadIdx.x; u < map.width; u += THREADS)
      out[first + u] = touched[u / ASTRO_GRID_TILE] ? in[first + u] : Sample{};
  }
}

gboolean astro_fft_take_touched(const AstroFftMap *map, gconstpointer in, gpointer out,
                                guint64 planes, gboolean is_double, cudaStream_t stream,
                                GError **error)
{
  const guint64 rows = planes * map->height;
  const guint blocks = (guint)CLAMP(rows, 1, MOST_BLOCKS);
  if (is_double)
    take_touched<<<blocks, THREADS, 0, stream>>>(*map, (const double2 *)in, (double2 *)out, rows);
  else
    take_touched<<<blocks, THREADS, 0, stream>>>(*map, (const float2 *)in, (float2 *)out, rows);
  return CUDA_TRY(cudaGetLastError());
}
