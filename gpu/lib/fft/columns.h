/* Transforms of columns in two passes (n = n1 n2). Each thread has some points of one column in
 * registers, and a block's threads exchange them in shared memory. Lanes are neighbouring columns,
 * so that all accesses are to whole rows of 256 bytes, and twiddles are the same for all lanes. A
 * pass is here; each precision is compiled in a file of its own. */
#pragma once

#include "gpu/lib/fft/parts.h"
#include "gpu/lib/fft/butterflies.h"

/* A pass over all planes. Point p of transform t is row p from + t from_other, rolled, and goes to
 * row p to + t to_other, rolled. */
struct AstroFftColumnsPass {
  guint32 n, width, transforms;
  guint32 in_row, out_row; /* bytes from row to row */
  guint32 from, from_other, from_roll, to, to_other, to_roll;
  guint32 n_wanted;    /* rows that are written: the first ones, after rolling */
  gsize roots, twists; /* offsets of the twiddles in the tables */
  gboolean has_twists; /* results are multiplied by twists */
  guint32 width_roll;  /* columns of the input that come last */
  gboolean flip;       /* negate every second column of the input */
  float im_in, im_out; /* factors on imaginary parts read and written */
  gconstpointer in, tables;
  const guint8
      *blank; /* [plane][transform][point]: marks points that are zero and not read; or NULL */
  gpointer out;
};

typedef gboolean (*AstroFftColumnsFunc)(const AstroFftColumnsPass *pass, guint32 planes,
                                        cudaStream_t stream, GError **error);

/* Numbers of points for which a pass has kernels, as products of the points that threads transform
 * first and second, in the order that leaves fewer of them idle in the second. With them all even
 * sizes of grids that astrogridder chooses, from 512 to 16384, are products of two. */
#define ASTRO_FFT_COLUMNS(ROW)                                                                     \
  ROW(4, 4), ROW(8, 3), ROW(5, 5), ROW(9, 3), ROW(8, 4), ROW(5, 7), ROW(8, 5), ROW(6, 7),          \
      ROW(9, 5), ROW(6, 8), ROW(7, 7), ROW(10, 5), ROW(7, 8), ROW(10, 6), ROW(8, 8), ROW(10, 7),   \
      ROW(8, 9), ROW(8, 10), ROW(9, 9), ROW(14, 7), ROW(10, 10), ROW(9, 12), ROW(14, 8),           \
      ROW(10, 12), ROW(14, 9), ROW(16, 8), ROW(10, 14), ROW(12, 12), ROW(15, 10), ROW(16, 10),     \
      ROW(14, 14), ROW(16, 16)

/* In the same order. */
extern const AstroFftColumnsFunc astro_fft_columns_single[], astro_fft_columns_double[];
gint astro_fft_columns_kernel(guint64 points); /* -1: there is none */

/* Sets up both passes: the first has as many points as the second has transforms, and vice versa.
 */
void astro_fft_columns_passes(const AstroFftColumns *columns, AstroFftColumnsPass *first,
                              AstroFftColumnsPass *second);

#ifdef COLUMN /* float2 or double2: the including file makes the kernels */
enum { ROW_BYTES = 256 };
/* Least number of threads on a multiprocessor, for which registers have to suffice. */
template <typename C, int R1, int R2>
constexpr int RESIDENT = (R1 >= 12 || R2 >= 12 ? 768 : 1024) / (sizeof(C) / sizeof(float2));

/* A bit for each of a thread's points, set if it is blank; all lanes of a column's row call this.
 */
template <typename C, int R1, int R2>
__device__ __forceinline__ guint32 blank_of(const AstroFftColumnsPass &pass, gsize first_row,
                                            guint32 other, guint32 t)
{
  constexpr guint32 LANES = ROW_BYTES / sizeof(C), AT_ONCE = 32 / LANES;
  static_assert(R1 <= LANES);
  const guint8 *blank = pass.blank + first_row + other * (R1 * R2) + t;
  const bool is_blank = threadIdx.x < R1 && blank[threadIdx.x * R2];
  return __ballot_sync(__activemask(), is_blank) >> (t % AT_ONCE * LANES) & ((1u << R1) - 1);
}

/* Loads the points of transform `other` with which thread t of its column begins. With SOME, blank
 * has a bit for each point that is not read. */
template <typename C, int R1, int R2, bool SOME>
__device__ __forceinline__ void read_points(const AstroFftColumnsPass &pass, const guint8 *in,
                                            guint32 other, guint32 t, guint32 blank, C (&v)[R1])
{
  const guint32 first = t * pass.from + other * pass.from_other + pass.from_roll;
#pragma unroll
  for (int r = 0; r < R1; r++) {
    const guint32 row = within(first + r * (R2 * pass.from), pass.n);
    const C *point = (const C *)(in + (gsize)row * pass.in_row);
    v[r] = SOME ? load_if(~blank >> r & 1, point) : *point;
  }
}

/* First half of a transform, to shared memory; points: of this lane's column. */
template <typename C, int R1, int R2>
__device__ __forceinline__ void put_points(const AstroFftColumnsPass &pass, guint32 t, C (&v)[R1],
                                           C *points)
{
  constexpr int LANES = ROW_BYTES / sizeof(C);
  const C *roots = (const C *)pass.tables + pass.roots;
  C powers[4], results[R1];
#pragma unroll
  for (int i = 0; (1 << i) < R1; i++)
    powers[i] = roots[(t << i) % (R1 * R2)];
  fft<R1>(v);
#pragma unroll
  for (int r = 0; r < R1; r++)
    results[r] = v[fft_place<R1>(r)];
  fft_twiddle<R1>(results, powers);
#pragma unroll
  for (int r = 0; r < R1; r++)
    points[(r * R2 + t) * LANES] = results[r];
}

/* Second half: result c + R1 r of the transform is at fft_place<R2>(r). */
template <typename C, int R2>
__device__ __forceinline__ void take_points(const C *points, guint32 c, C (&v)[R2])
{
#pragma unroll
  for (int r = 0; r < R2; r++)
    v[r] = points[(c * R2 + r) * (ROW_BYTES / sizeof(C))];
  fft<R2>(v);
}

/* The rest of a pass, once all threads of a block have put their points: results of this lane's
 * column, times `sign`, go to out; inside: there is such a column. */
template <typename C, int R1, int R2>
__device__ __forceinline__ void finish_points(const AstroFftColumnsPass &pass, const C *points,
                                              guint32 other, guint32 t, bool inside,
                                              decltype(C::x) sign, guint8 *out)
{
  using Part = decltype(C::x);
  constexpr int TURNS = (R1 + R2 - 1) / R2;
  const C *table = (const C *)pass.tables + pass.twists + other * (R1 * R2);
  /* Loads the twiddles needed last, while other threads are still at their points. */
  C twists[TURNS][R2];
  if (pass.has_twists)
#pragma unroll
    for (int i = 0; i < TURNS; i++)
#pragma unroll
      for (int r = 0; r < R2; r++)
        if (R1 % R2 == 0 || i * R2 + t < R1)
          twists[i][r] = table[i * R2 + t + R1 * r];
  __syncthreads();
  const guint32 n_wanted = inside ? pass.n_wanted : 0;
  const Part re_out = sign, im_out = re_out * (Part)pass.im_out;
#pragma unroll
  for (int i = 0; i < TURNS; i++) {
    const guint32 c = i * R2 + t;
    if (R1 % R2 && c >= R1)
      break;
    const guint32 first = c * pass.to + other * pass.to_other + pass.to_roll;
    C v[R2];
    take_points<C, R2>(points, c, v);
#pragma unroll
    for (int r = 0; r < R2; r++) {
      const guint32 row = within(first + r * (R1 * pass.to), pass.n);
      C value = v[fft_place<R2>(r)];
      if (pass.has_twists)
        value = fft_mul(value, twists[i][r]);
      value = C{ value.x * re_out, value.y * im_out };
      if (row < n_wanted)
        *(C *)(out + (gsize)row * pass.out_row) = value;
    }
  }
}

/* Blocks of a pass: lanes are columns, and there are this many bytes of shared memory. */
template <typename C, int R1, int R2>
static gboolean blocks_of_pass(const AstroFftColumnsPass *pass, guint32 planes, const void *kernel,
                               dim3 *grid, dim3 *threads, GError **error)
{
  constexpr guint32 LANES = ROW_BYTES / sizeof(C), BYTES = R1 * R2 * ROW_BYTES;
  *grid = dim3((pass->width + LANES - 1) / LANES, pass->transforms, planes);
  *threads = dim3(LANES, R2);
  return BYTES <= 48 << 10 ||
         CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES));
}

template <typename C, int R1, int R2>
__global__ void __launch_bounds__(ROW_BYTES / sizeof(C) * R2,
                                  RESIDENT<C, R1, R2> / (ROW_BYTES / sizeof(C) * R2))
    columns(const __grid_constant__ AstroFftColumnsPass pass)
{
  using Part = decltype(C::x);
  constexpr int LANES = ROW_BYTES / sizeof(C);
  extern __shared__ double2 shared[];
  C *points = (C *)shared + threadIdx.x;
  const guint32 t = threadIdx.y, x = blockIdx.x * LANES + threadIdx.x, other = blockIdx.y;
  const guint32 from_x = within(min(x, pass.width - 1) + pass.width_roll, pass.width);
  const gsize first_row = (gsize)blockIdx.z * pass.n;

  {
    const guint8 *in = kept((const guint8 *)pass.in + first_row * pass.in_row + from_x * sizeof(C));
    const guint32 blank = pass.blank ? blank_of<C, R1, R2>(pass, first_row, other, t) : 0;
    C v[R1];
    read_points<C, R1, R2, true>(pass, in, other, t, blank, v);
    const Part im_in = pass.im_in;
#pragma unroll
    for (int r = 0; r < R1; r++)
      v[r].y *= im_in;
    put_points<C, R1, R2>(pass, t, v, points);
  }
  finish_points<C, R1, R2>(pass, points, other, t, x < pass.width, pass.flip && from_x & 1 ? -1 : 1,
                           kept((guint8 *)pass.out + first_row * pass.out_row + x * sizeof(C)));
}

template <typename C, int R1, int R2>
static gboolean launch(const AstroFftColumnsPass *pass, guint32 planes, cudaStream_t stream,
                       GError **error)
{
  dim3 grid, threads;
  if (!blocks_of_pass<C, R1, R2>(pass, planes, (const void *)columns<C, R1, R2>, &grid, &threads,
                                 error))
    return FALSE;
  columns<C, R1, R2><<<grid, threads, R1 * R2 * ROW_BYTES, stream>>>(*pass);
  return CUDA_TRY(cudaGetLastError());
}

#define COLUMNS_LAUNCH(r1, r2) launch<COLUMN, r1, r2>
#endif
