/* Images of planes that come transformed along u. The first pass over the columns is the
 * transform's (gpu/lib/fft/columns.h); the second, which is here, adds its results to the image.
 * Each precision is compiled in a file of its own. */
#pragma once

#include "gpu/lib/fft/columns.h"
#include "gpu/lib/spread/pixel.h"

extern "C" {
#include "core/image/check.h"
}

/* A term of a product of the image: the part of a product of the grid that is added to it. */
struct AstroImageJob {
  guint32 from, to;
  gboolean imaginary, begins,
      ends; /* begins: the first for the image; ends: the last term of the product */
  double scale;
};

/* Columns are those of the image, in reverse order; the pass's wanted rows are the image's. */
struct AstroImagePass {
  gpointer out; /* product 0 */
  guint32 image, n_jobs;
  double w, pixel, centre_l, centre_m;
  const double *inverse;                        /* NULL: no correction */
  AstroImageJob jobs[ASTRO_IMAGE_MAX_PRODUCTS]; /* each for another product of the image */
};

/* Belongs to an instance of the stage. */
typedef struct AstroImageColumns AstroImageColumns;

/* Whether there are kernels for this size: for others the transform comes first (gpu/fft/fft.cu).
 */
gboolean astro_image_columns_fit(const AstroImageConfig *config);
AstroImageColumns *astro_image_columns_new(const AstroImageConfig *config, const AstroPlace *place,
                                           GError **error);
/* Adds a channel's plane to the image. touched: its map, or NULL. inverse: the correction; NULL:
 * the image is not complete yet, or is corrected afterwards. */
gboolean astro_image_columns_run(AstroImageColumns *self, guint channel, gconstpointer in,
                                 const guint8 *touched, gpointer out,
                                 const AstroImageArguments *arguments, const double *inverse,
                                 GError **error);
void astro_image_columns_free(AstroImageColumns *self);

typedef gboolean (*AstroImageColumnsFunc)(const AstroFftColumnsPass *pass,
                                          const AstroImagePass *image, cudaStream_t stream,
                                          GError **error);

/* In the order of ASTRO_FFT_COLUMNS; samples and pixels have the same precision. */
extern const AstroImageColumnsFunc astro_image_columns_single[], astro_image_columns_double[];

#ifdef COLUMN
/* Makes the compiler compute with this number anew, instead of keeping earlier results in
 * registers, of which there are few. */
static __device__ __forceinline__ guint32 anew(guint32 number)
{
  asm volatile("" : "+r"(number));
  return number;
}

/* The rows of the image for results c + R1 r of a transform. */
template <int R1> struct ImageRows {
  guint32 first, step, n;

  __device__ __forceinline__ ImageRows(const AstroFftColumnsPass &pass, guint32 c)
      : first(anew(c * pass.to + blockIdx.y * pass.to_other + pass.to_roll)), step(R1 * pass.to),
        n(pass.n)
  {
  }

  __device__ __forceinline__ guint32 at(int r) const
  {
    return within(first + r * step, n);
  }
};

/* Products are added one after the other in a block, so that phases, which are the same for all,
 * are computed once. Each thread keeps its own in shared memory. */
template <typename C, int R1, int R2>
__global__ void __launch_bounds__(ROW_BYTES / sizeof(C) * R2,
                                  RESIDENT<C, R1, R2> / (ROW_BYTES / sizeof(C) * R2))
    add_columns(const __grid_constant__ AstroFftColumnsPass pass,
                const __grid_constant__ AstroImagePass image)
{
  using Real = decltype(C::x);
  constexpr int LANES = ROW_BYTES / sizeof(C), TURNS = (R1 + R2 - 1) / R2;
  extern __shared__ double2 shared[];
  C *points = (C *)shared + threadIdx.x, *phases = points + R1 * R2 * LANES;
  const guint32 t = threadIdx.y, at = min(blockIdx.x * LANES + threadIdx.x, image.image - 1);
  const guint32 n_wanted = blockIdx.x * LANES + threadIdx.x < image.image ? image.image : 0;
  const guint32 x = image.image - 1 - at, row_bytes = image.image * sizeof(Real);

#pragma unroll 1
  for (guint32 i = 0; i < image.n_jobs; i++) {
    const AstroImageJob &job = image.jobs[i];
    guint8 *out =
        kept((guint8 *)image.out + (gsize)job.to * image.image * row_bytes + x * sizeof(Real));
    const guint32 n_before = job.begins ? 0 : n_wanted;
    Real sums[R2];
    /* Loads the image so far. */
    const auto load = [&](guint32 c) {
      const ImageRows<R1> rows(pass, c);
#pragma unroll
      for (int r = 0; r < R2; r++) {
        sums[r] = 0;
        if (rows.at(r) < n_before)
          sums[r] = __ldcs((const Real *)(out + (gsize)rows.at(r) * row_bytes));
      }
    };
    {
      const gsize first_row = (gsize)job.from * pass.n;
      C v[R1];
      read_points<C, R1, R2, false>(
          pass, kept((const guint8 *)pass.in + first_row * pass.in_row + at * sizeof(C)),
          blockIdx.y, t, 0, v);
      if (image.w != 0 && i == 0) {
        const double half = image.image / 2, l = image.centre_l + (half - (double)x) * image.pixel;
        const ImageColumn column = { l * l, image.centre_m - half * image.pixel, image.pixel };
        for (guint32 c = t; c < R1; c += R2) {
          const ImageRows<R1> rows(pass, c);
#pragma unroll(sizeof(Real) == sizeof(float) ? 2 : 1)
          for (int r = 0; r < R2; r++)
            if (rows.at(r) < n_wanted)
              phases[(c * R2 + r) * LANES] =
                  image_phase(image.w * column.n_minus_1(rows.at(r), Real()), Real());
        }
      }
      put_points<C, R1, R2>(pass, t, v, points);
    }
    load(t); /* loads while the other threads finish */
    __syncthreads();
    const Real scale = (Real)job.scale;
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
      const guint32 c = turn * R2 + t;
      if (R1 % R2 && c >= R1)
        break;
      C v[R2];
      take_points<C, R2>(points, c, v);
#pragma unroll
      for (int r = 0; r < R2; r++) {
        C value = v[fft_place<R2>(r)];
        if (image.w != 0)
          value = fft_mul(value, phases[(c * R2 + r) * LANES]);
        sums[r] += scale * (job.imaginary ? value.y : value.x);
      }
      const ImageRows<R1> rows(pass, c);
      if (image.inverse && job.ends)
#pragma unroll
        for (int r = 0; r < R2; r++)
          if (rows.at(r) < n_wanted)
            sums[r] *= (Real)(image.inverse[image.image / 2 * 2 - x] * image.inverse[rows.at(r)]);
#pragma unroll
      for (int r = 0; r < R2; r++)
        if (rows.at(r) < n_wanted)
          __stcs((Real *)(out + (gsize)rows.at(r) * row_bytes), sums[r]);
      if (turn + 1 < TURNS && (R1 % R2 == 0 || c + R2 < R1))
        load(c + R2);
    }
    __syncthreads();
  }
}

template <typename C, int R1, int R2>
static gboolean add(const AstroFftColumnsPass *pass, const AstroImagePass *image,
                    cudaStream_t stream, GError **error)
{
  constexpr guint32 LANES = ROW_BYTES / sizeof(C);
  const guint32 bytes = R1 * R2 * ROW_BYTES * (image->w != 0 ? 2 : 1);
  dim3 grid((image->image + LANES - 1) / LANES, pass->transforms), threads(LANES, R2);

  if (!CUDA_TRY(cudaFuncSetAttribute(add_columns<C, R1, R2>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     2 * R1 * R2 * ROW_BYTES)))
    return FALSE;
  add_columns<C, R1, R2><<<grid, threads, bytes, stream>>>(*pass, *image);
  return CUDA_TRY(cudaGetLastError());
}

#define COLUMNS_ADD(r1, r2) add<COLUMN, r1, r2>
#endif
