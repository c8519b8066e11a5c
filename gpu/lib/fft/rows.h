/* Transforms of rows (n = r0 r1 r2 r3, or three of these), each in the shared memory of a block.
 * Stages of r points, in registers, put their results where their points were, so that the digits
 * of a result's number are those of its place in reverse order; the last stage puts them in order.
 * The stages are here; each precision is compiled in a file of its own. */
#pragma once

#include "gpu/lib/fft/parts.h"
#include "gpu/lib/fft/butterflies.h"

extern "C" {
#include "core/stream/grid.h"
}

enum {
  FFT_ROWS_STAGES = 4,
  FFT_ROWS_TILES = 2048, /* most tiles along a row */
};

/* Kinds of kernels by their radices: more points in a thread give fewer stages. */
typedef enum { FFT_ROWS_16, FFT_ROWS_24, FFT_ROWS_32, N_FFT_ROWS } FftRowsKind;

/* Most threads in a block. */
static constexpr guint32 FFT_ROWS_THREADS[N_FFT_ROWS] = { 256, 192, 256 };

/* Powers of a root of one that take more than one multiplication to compute. */
template <typename C> struct alignas(16) FftTwiddle {
  C once, fourth, eighth, sixteenth;
};

/* Transform number b of a stage: the digits of b, least significant first, give its points. */
struct AstroFftRowsStage {
  guint32 radix, stride, transforms;
  AstroDivisor extents[2]; /* of the first two digits */
  guint32 strides[3];
  AstroDivisor period; /* of the twiddles */
  guint32 twiddles;    /* index of the first one */
};

struct AstroFftRowsPass {
  guint32 n, first, threads; /* first: first stage */
  FftRowsKind kind;
  AstroFftRowsStage stages[FFT_ROWS_STAGES];
  gsize room_bytes;
  guint32 origin_in, origin_out;
  guint32 n_wanted; /* samples that are written, from the first of out on */
  float im;         /* factor on imaginary parts that are read */
  gconstpointer in, tables;
  gpointer out; /* may be in, unless only some is wanted */
  /* Marks rows that are all zeros, which are not written, in the order that transforms of columns
   * need: [plane][row of points of the first pass][point]. NULL: all rows are written, except those
   * without touched tiles. */
  guint8 *blank;
  AstroDivisor height, others;
  guint32 column_origin;
  /* Maps of touched tiles, or NULL; planes share them, and first_plane planes came before. */
  const guint8 *touched;
  guint32 tiles, first_plane;
  AstroDivisor share, tile_rows;
  /* Those rows of tiles in all maps that have a touched tile, after their number; other rows are
   * left out. NULL: other rows are marked as blank. */
  const guint32 *listed;
  AstroDivisor listed_rows; /* rows for each of them */
};

/* Fills listed, which has room for all rows of tiles in this many maps. */
gboolean astro_fft_rows_list(const AstroFftRowsPass *pass, guint32 maps, guint32 *listed,
                             cudaStream_t stream, GError **error);

/* Sets all but what is to be transformed. FALSE: there are no kernels for rows of n samples in this
 * much shared memory. */
gboolean astro_fft_rows_plan(guint64 n, gboolean is_double, gsize most_bytes,
                             AstroFftRowsPass *pass);
/* Fills tables, unless NULL, and returns their size. */
gsize astro_fft_rows_tables(const AstroFftRowsPass *pass, gboolean is_double, gpointer tables);

typedef gboolean (*AstroFftRowsFunc)(const AstroFftRowsPass *pass, guint32 rows,
                                     cudaStream_t stream, GError **error);
gboolean astro_fft_rows_single(const AstroFftRowsPass *pass, guint32 rows, cudaStream_t stream,
                               GError **error);
gboolean astro_fft_rows_double(const AstroFftRowsPass *pass, guint32 rows, cudaStream_t stream,
                               GError **error);

#ifdef ROW /* float2 or double2: the including file makes the kernel */
/* Least number of blocks on a multiprocessor, for which registers have to suffice. */
template <typename C>
constexpr int ROWS_BLOCKS[N_FFT_ROWS] = { sizeof(C) == sizeof(float2) ? 3 : 2, 4, 2 };

enum Role { FIRST, MIDDLE, LAST };

/* Compares bits, ignoring signs. */
template <int R> __device__ __forceinline__ bool are_zeros(const float2 (&v)[R])
{
  guint32 bits = 0;
#pragma unroll
  for (int r = 0; r < R; r++)
    bits |= __float_as_uint(v[r].x) | __float_as_uint(v[r].y);
  return bits << 1 == 0;
}
template <int R> __device__ __forceinline__ bool are_zeros(const double2 (&v)[R])
{
  guint32 low = 0, high = 0;
#pragma unroll
  for (int r = 0; r < R; r++) {
    low |= (guint32)__double2loint(v[r].x) | (guint32)__double2loint(v[r].y);
    high |= (guint32)__double2hiint(v[r].x) | (guint32)__double2hiint(v[r].y);
  }
  return (low | high << 1) == 0;
}

/* Copies the map of the row's tiles, a byte each; returns whether any is touched. All threads call
 * it. */
static __device__ __forceinline__ bool take_map(const AstroFftRowsPass &pass, guint32 plane,
                                                guint32 v, guint8 *tiles)
{
  const guint8 *row =
      pass.touched + ((gsize)pass.share.divide(pass.first_plane + plane) * pass.tile_rows.by +
                      v / ASTRO_GRID_TILE) *
                         pass.tiles;
  bool any = false;
  for (guint32 i = threadIdx.x; i < pass.tiles; i += blockDim.x) {
    tiles[i] = row[i] != 0;
    any |= row[i] != 0;
  }
  return __syncthreads_or(any);
}

/* A bit for each of samples b, b + apart, ... of a row: whether they lie in touched tiles. */
template <int R>
__device__ __forceinline__ guint32 touched_of(const AstroFftRowsPass &pass, guint32 b,
                                              guint32 apart, const guint8 *tiles)
{
  guint32 bits = 0;
  if (!pass.touched)
    return ~0u;
#pragma unroll
  for (int r = 0; r < R; r++)
    bits |= (guint32)tiles[within(b + r * apart, pass.n) / ASTRO_GRID_TILE] << r;
  return bits;
}

/* Runs a stage. The first one returns whether any of this thread's samples is not zero. */
template <typename C, int R, Role ROLE>
__device__ __forceinline__ bool stage(const AstroFftRowsPass &pass, const AstroFftRowsStage &s,
                                      C *room, const C *in, C *out, const guint8 *tiles)
{
  using Part = decltype(C::x);
  const FftTwiddle<C> *twiddles = (const FftTwiddle<C> *)pass.tables + s.twiddles;
  bool any = false;
#pragma unroll 1
  for (guint32 b = threadIdx.x; b < s.transforms; b += blockDim.x) {
    const guint32 rest = s.extents[0].divide(b), last = s.extents[1].divide(rest);
    C *points = room + (b - rest * s.extents[0].by) * s.strides[0] +
                (rest - last * s.extents[1].by) * s.strides[1] + last * s.strides[2];
    C v[R], results[R];
    bool is_blank = false;
    if (ROLE == FIRST) {
      const guint32 first = b + pass.origin_in;
      const guint32 touched = touched_of<R>(pass, first, s.transforms, tiles);
#pragma unroll
      for (int r = 0; r < R; r++)
        v[r] = load_if(touched >> r & 1, in + within(first + r * s.transforms, pass.n));
      is_blank = are_zeros(v);
      any |= !is_blank;
#pragma unroll
      for (int r = 0; r < R; r++)
        v[r].y *= (Part)pass.im;
    } else {
#pragma unroll
      for (int r = 0; r < R; r++)
        v[r] = points[r * s.stride];
    }
    if (!is_blank)
      fft<R>(v);
#pragma unroll
    for (int r = 0; r < R; r++)
      results[r] = v[fft_place<R>(r)];
    if (ROLE == LAST) {
#pragma unroll
      for (int r = 0; r < R; r++) {
        const guint32 at = within(b + pass.origin_out + r * s.transforms, pass.n);
        if (at < pass.n_wanted)
          out[at] = results[r];
      }
      continue;
    }
    if (!is_blank) {
      const guint32 j = b - s.period.divide(b) * s.period.by;
      const FftTwiddle<C> w = twiddles[j];
      const C powers[5] = { w.once, fft_mul(w.once, w.once), w.fourth, w.eighth, w.sixteenth };
      fft_twiddle<R>(results, powers);
    }
#pragma unroll
    for (int r = 0; r < R; r++)
      points[r * s.stride] = results[r];
  }
  return any;
}

#define STAGE(radix)                                                                               \
  case radix:                                                                                      \
    return stage<C, radix, ROLE>(pass, s, room, in, out, tiles);

template <typename C, FftRowsKind KIND, Role ROLE>
__device__ __forceinline__ bool any_stage(const AstroFftRowsPass &pass, const AstroFftRowsStage &s,
                                          C *room, const C *in, C *out, const guint8 *tiles)
{
  if constexpr (KIND == FFT_ROWS_16)
    switch (s.radix) {
      STAGE(2)
      STAGE(3)
      STAGE(4)
      STAGE(5)
      STAGE(6)
      STAGE(7)
      STAGE(8)
      STAGE(9)
      STAGE(10)
    }
  else
    switch (s.radix) {
      STAGE(18)
      STAGE(20)
      STAGE(21)
      STAGE(24)
    }
  if constexpr (KIND == FFT_ROWS_32)
    switch (s.radix) {
      STAGE(25)
      STAGE(27)
      STAGE(28)
      STAGE(30)
      STAGE(32)
    }
  switch (s.radix) {
    STAGE(12)
    STAGE(14)
    STAGE(15)
    STAGE(16)
  }
  return false;
}
#undef STAGE

struct FftRow {
  guint32 plane, v;
};

/* The row of this number, among all or among the listed ones; v may be past the last row. */
static __device__ __forceinline__ FftRow row_at(const AstroFftRowsPass &pass, guint32 number)
{
  if (!pass.listed) {
    const guint32 plane = pass.height.divide(number);
    return { plane, number - plane * pass.height.by };
  }
  const guint32 which = pass.listed_rows.divide(number), at = pass.listed[1 + which];
  const guint32 map = pass.tile_rows.divide(at), rest = number - which * pass.listed_rows.by;
  return { map * pass.share.by + rest / ASTRO_GRID_TILE,
           (at - map * pass.tile_rows.by) * ASTRO_GRID_TILE + rest % ASTRO_GRID_TILE };
}

template <typename C, FftRowsKind KIND>
static __device__ __forceinline__ void make_row(const AstroFftRowsPass &pass, const FftRow &row,
                                                C *room, guint8 *tiles)
{
  const guint32 n = pass.height.by;
  const gsize first = ((gsize)row.plane * n + row.v) * pass.n;
  const C *in = kept((const C *)pass.in + first);
  C *out = kept((C *)pass.out + first);
  const bool is_touched = !pass.touched || take_map(pass, row.plane, row.v, tiles);
  bool any = false;
  if (is_touched)
    any = any_stage<C, KIND, FIRST>(pass, pass.stages[pass.first], room, in, out, tiles);
  const bool is_blank = !__syncthreads_or(any);

  if (threadIdx.x == 0 && pass.blank) {
    const guint32 at = within(row.v + n - pass.column_origin, n), point = pass.others.divide(at);
    pass.blank[(gsize)row.plane * n + (at - point * pass.others.by) * (n / pass.others.by) +
               point] = is_blank;
  }
  if (!is_touched || (is_blank && pass.blank))
    return;
  for (guint32 i = pass.first + 1; i + 1 < FFT_ROWS_STAGES; i++) {
    any_stage<C, KIND, MIDDLE>(pass, pass.stages[i], room, in, out, tiles);
    __syncthreads();
  }
  any_stage<C, KIND, LAST>(pass, pass.stages[FFT_ROWS_STAGES - 1], room, in, out, tiles);
}

/* A block transforms one row, or some adjacent ones of those listed, which share a map. */
template <typename C, FftRowsKind KIND>
__global__ void __launch_bounds__(FFT_ROWS_THREADS[KIND], ROWS_BLOCKS<C>[KIND])
    rows(const __grid_constant__ AstroFftRowsPass pass)
{
  extern __shared__ double2 shared[];
  __shared__ guint8 tiles[FFT_ROWS_TILES];
  const guint32 all = pass.listed ? pass.listed[0] * pass.listed_rows.by : gridDim.x;
  const guint32 each = (all + gridDim.x - 1) / gridDim.x, from = blockIdx.x * each;
#pragma unroll 1
  for (guint32 i = from; i < min(from + each, all); i++) {
    const FftRow row = row_at(pass, i);
    if (row.v < pass.height.by)
      make_row<C, KIND>(pass, row, (C *)shared, tiles);
    if (pass.listed)
      __syncthreads();
  }
}

template <typename C, FftRowsKind KIND>
static gboolean launch(const AstroFftRowsPass *pass, guint32 n_rows, cudaStream_t stream,
                       GError **error)
{
  int blocks, multiprocessors, device;
  if (!astro_cuda_allow_shared((const void *)rows<C, KIND>, error))
    return FALSE;
  if (pass->listed &&
      (!CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
           &blocks, rows<C, KIND>, (int)pass->threads, pass->room_bytes)) ||
       !CUDA_TRY(cudaGetDevice(&device)) ||
       !CUDA_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device))))
    return FALSE;
  if (pass->listed)
    n_rows = MIN(n_rows, (guint32)(blocks * multiprocessors));
  rows<C, KIND><<<n_rows, pass->threads, pass->room_bytes, stream>>>(*pass);
  return CUDA_TRY(cudaGetLastError());
}
#endif
