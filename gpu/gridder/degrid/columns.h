/* Columns of planes, made of images and transformed. The first pass rotates pixels as it reads
 * them; the second is the transform's (gpu/lib/fft/columns.h). Each precision is compiled in a file
 * of its own. */
#pragma once

#include "gpu/gridder/degrid/degrid.h"
#include "gpu/lib/fft/columns.h"
#include "gpu/lib/spread/pixel.h"

typedef gboolean (*DegridColumnsFunc)(const AstroFftColumnsPass *pass, const DegridImages *images,
                                      gconstpointer pixels, guint products, double w,
                                      cudaStream_t stream, GError **error);

/* In the order of ASTRO_FFT_COLUMNS. */
extern const DegridColumnsFunc astro_degrid_columns_single[], astro_degrid_columns_double[];

#ifdef COLUMN
/* pass.in is not used: rows of the plane beyond the images are zeros. */
template <typename C, int R1, int R2>
__global__ void __launch_bounds__(ROW_BYTES / sizeof(C) * R2,
                                  RESIDENT<C, R1, R2> / (ROW_BYTES / sizeof(C) * R2))
    begin_columns(const __grid_constant__ AstroFftColumnsPass pass,
                  const __grid_constant__ DegridImages images, const decltype(C::x) *pixels,
                  double w)
{
  using Real = decltype(C::x);
  constexpr int LANES = ROW_BYTES / sizeof(C);
  extern __shared__ double2 shared[];
  C *points = (C *)shared + threadIdx.x;
  const guint32 t = threadIdx.y, x = blockIdx.x * LANES + threadIdx.x, other = blockIdx.y;
  const guint32 n = images.image, half = n / 2, at = min(x, n - 1);
  const double l = images.centre_l + ((double)at - (double)(n - 1 - half)) * images.pixel;
  const ImageColumn column = { l * l, images.centre_m - (double)half * images.pixel, images.pixel };
  {
    const guint32 first = t * pass.from + other * pass.from_other + pass.from_roll;
    const Real *from = kept(pixels + (gsize)blockIdx.z * n * n + at);
    C v[R1];
#pragma unroll
    for (int r = 0; r < R1; r++) {
      const guint32 y = within(first + r * (R2 * pass.from), pass.n) - (images.size / 2 - half);
      const Real pixel = y < n ? from[(gsize)y * n] : (Real)0;
      const auto phase = image_phase(w * column.n_minus_1(min(y, n - 1), Real()), Real());
      v[r] = C{ pixel * phase.x, pixel * phase.y };
    }
    put_points<C, R1, R2>(pass, t, v, points);
  }
  finish_points<C, R1, R2>(
      pass, points, other, t, x < n, 1,
      kept((guint8 *)pass.out + (gsize)blockIdx.z * pass.n * pass.out_row + x * sizeof(C)));
}

template <typename C, int R1, int R2>
static gboolean begin(const AstroFftColumnsPass *pass, const DegridImages *images,
                      gconstpointer pixels, guint products, double w, cudaStream_t stream,
                      GError **error)
{
  dim3 grid, threads;
  if (!blocks_of_pass<C, R1, R2>(pass, products, (const void *)begin_columns<C, R1, R2>, &grid,
                                 &threads, error))
    return FALSE;
  begin_columns<C, R1, R2><<<grid, threads, R1 * R2 * ROW_BYTES, stream>>>(
      *pass, *images, (const decltype(C::x) *)pixels, w);
  return CUDA_TRY(cudaGetLastError());
}

#define COLUMNS_BEGIN(r1, r2) begin<COLUMN, r1, r2>
#endif
