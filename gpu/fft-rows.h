/* Transforms of rows (n = r0 r1 r2 r3, or of three of them), one in the shared memory of a block:
 * stages of r points in registers, each of which puts its results where its points were, so that a
 * result's number has the digits of its place in the opposite order. The last one puts them where
 * they belong. Here are the stages, of one precision a file. */
#pragma once

#include "gpu/fft-parts.h"
#include "gpu/fft.h"

enum { FFT_ROWS_STAGES = 4, FFT_ROWS_THREADS = 256, FFT_ROWS_LEAST_THREADS = 32 };

/* Transform number b of a stage: the digits of b, from the least on, say where its points lie. */
struct AstroFftRowsStage {
  guint32 radix, stride, transforms;
  AstroDivisor extents[2]; /* of the first two digits */
  guint32 strides[3];
  AstroDivisor period; /* of its twiddles: their first and fourth powers lie side by side */
  gsize twiddles;
};

struct AstroFftRowsPass {
  guint32 n, first, threads; /* first: the stage */
  AstroFftRowsStage stages[FFT_ROWS_STAGES];
  gsize room_bytes;
  guint32 origin_in, origin_out;
  guint32 wanted, n_wanted; /* samples that are written */
  double re, im;            /* factors of what is read */
  gconstpointer in, tables;
  gpointer out;  /* may be in */
  guint8 *blank; /* of rows: whether all of it was zeros, and nothing is written */
};

/* Fills in all but what is transformed; FALSE: there are no kernels for rows of n samples in so
 * much shared memory. */
gboolean astro_fft_rows_plan(guint64 n, gboolean is_double, gsize most_bytes,
                             AstroFftRowsPass *pass);
/* Fills tables, if there are, and returns their bytes. */
gsize astro_fft_rows_tables(const AstroFftRowsPass *pass, gboolean is_double, gpointer tables);

typedef gboolean (*AstroFftRowsFunc)(const AstroFftRowsPass *pass, guint32 rows,
                                     cudaStream_t stream, GError **error);
gboolean astro_fft_rows_single(const AstroFftRowsPass *pass, guint32 rows, cudaStream_t stream,
                               GError **error);
gboolean astro_fft_rows_double(const AstroFftRowsPass *pass, guint32 rows, cudaStream_t stream,
                               GError **error);

#ifdef ROW /* float2 or double2: the including file makes the kernel */
/* Blocks of a multiprocessor, at least: registers for as many. */
template <typename C> constexpr int ROWS_BLOCKS = sizeof(C) == sizeof(float2) ? 3 : 2;

enum Role { FIRST, MIDDLE, LAST };

/* Returns whether one of this thread's samples is not zero, in the first stage. */
template <typename C, int R, Role ROLE>
__device__ __forceinline__ bool stage(const AstroFftRowsPass &pass, const AstroFftRowsStage &s,
                                      C *room, const C *in, C *out)
{
  using Part = decltype(C::x);
  const C *twiddles = (const C *)pass.tables + s.twiddles;
  bool any = false;
#pragma unroll 1
  for (guint32 b = threadIdx.x; b < s.transforms; b += blockDim.x) {
    const guint32 rest = s.extents[0].divide(b), last = s.extents[1].divide(rest);
    C *points = room + (b - rest * s.extents[0].by) * s.strides[0] +
                (rest - last * s.extents[1].by) * s.strides[1] + last * s.strides[2];
    C v[R], results[R];
    bool is_blank = ROLE == FIRST;
#pragma unroll
    for (int r = 0; r < R; r++)
      if (ROLE == FIRST) {
        guint32 at = b + r * s.transforms + pass.origin_in;
        at = at >= pass.n ? at - pass.n : at;
        v[r] = in[at];
      } else {
        v[r] = points[r * s.stride];
      }
    if (ROLE == FIRST) {
#pragma unroll
      for (int r = 0; r < R; r++) {
        is_blank &= v[r].x == 0 && v[r].y == 0;
        v[r] = C{ v[r].x * (Part)pass.re, v[r].y * (Part)pass.im };
      }
      any |= !is_blank;
    }
    if (!is_blank)
      fft<R>(v);
#pragma unroll
    for (int r = 0; r < R; r++)
      results[r] = v[fft_place<R>(r)];
    if (ROLE == LAST) {
#pragma unroll
      for (int r = 0; r < R; r++) {
        guint32 at = b + r * s.transforms + pass.origin_out;
        at = at >= pass.n ? at - pass.n : at;
        if (at - pass.wanted < pass.n_wanted)
          out[at] = results[r];
      }
      continue;
    }
    if (!is_blank) {
      const guint32 j = b - s.period.divide(b) * s.period.by;
      const C once = twiddles[2 * j], fourth = twiddles[2 * j + 1];
      const C powers[4] = { once, fft_mul(once, once), fourth, fft_mul(fourth, fourth) };
      fft_twiddle<R>(results, powers);
    }
#pragma unroll
    for (int r = 0; r < R; r++)
      points[r * s.stride] = results[r];
  }
  return any;
}

template <typename C, Role ROLE>
__device__ __forceinline__ bool any_stage(const AstroFftRowsPass &pass, const AstroFftRowsStage &s,
                                          C *room, const C *in, C *out)
{
  switch (s.radix) {
#define STAGE(radix)                                                                               \
  case radix:                                                                                      \
    return stage<C, radix, ROLE>(pass, s, room, in, out);
    STAGE(2)
    STAGE(3)
    STAGE(4)
    STAGE(5)
    STAGE(6)
    STAGE(7)
    STAGE(8)
    STAGE(9)
    STAGE(10)
    STAGE(12)
    STAGE(14)
    STAGE(15)
    STAGE(16)
#undef STAGE
  }
  return false;
}

template <typename C>
__global__ void __launch_bounds__(FFT_ROWS_THREADS, ROWS_BLOCKS<C>)
    rows(const __grid_constant__ AstroFftRowsPass pass)
{
  extern __shared__ double2 shared[];
  C *room = (C *)shared;
  const gsize row = blockIdx.x;
  const C *in = (const C *)pass.in + row * pass.n;
  C *out = (C *)pass.out + row * pass.n;
  const bool any = any_stage<C, FIRST>(pass, pass.stages[pass.first], room, in, out);
  const bool is_blank = !__syncthreads_or(any);

  if (threadIdx.x == 0)
    pass.blank[row] = is_blank;
  if (is_blank)
    return;
  for (guint32 i = pass.first + 1; i + 1 < FFT_ROWS_STAGES; i++) {
    any_stage<C, MIDDLE>(pass, pass.stages[i], room, in, out);
    __syncthreads();
  }
  any_stage<C, LAST>(pass, pass.stages[FFT_ROWS_STAGES - 1], room, in, out);
}

template <typename C>
static gboolean launch(const AstroFftRowsPass *pass, guint32 n_rows, cudaStream_t stream,
                       GError **error)
{
  if (!CUDA_TRY(cudaFuncSetAttribute(rows<C>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)pass->room_bytes)))
    return FALSE;
  rows<C><<<n_rows, pass->threads, pass->room_bytes, stream>>>(*pass);
  return CUDA_TRY(cudaGetLastError());
}
#endif
