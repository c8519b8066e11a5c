/* Images of a model, corrected; and rotated to planes, for sizes without kernels that do it while
 * they transform. A thread makes some pixels of a column, of all products, which have the same
 * phases. */
#include "gpu/gridder/degrid/degrid.h"
#include "gpu/lib/spread/pixel.h"
#include "gpu/lib/spread/series.h"

enum { THREADS = 128, ROWS = 4 /* of a thread, in a column */ };

/* The column that begins at pixel (x, y), with x as images have it. */
static __device__ ImageColumn column_of(const DegridImages &images, guint x, guint y)
{
  const guint half = images.image / 2;
  const double l = images.centre_l + ((double)half - (double)x) * images.pixel;
  return { l * l, images.centre_m + ((double)y - (double)half) * images.pixel, images.pixel };
}

static __device__ double correction_at(const DegridImages &images, const AstroImageSeries &series,
                                       guint x, guint y)
{
  const double height[1] = { column_of(images, x, y).n_minus_1(0, double()) };
  double value[1] = { 1 };
  if (series.n)
    series_at(series, height, value);
  return images.inverse[2 * (images.image / 2) - x] * images.inverse[y] * value[0];
}

/* A thread exchanges two pixels of a row, or has the one in the middle. */
template <typename Real>
static __global__ void __launch_bounds__(THREADS)
    correct(const __grid_constant__ DegridImages images,
            const __grid_constant__ AstroImageSeries series, Real *pixels)
{
  const guint x = blockIdx.x * THREADS + threadIdx.x, y = blockIdx.y, other = images.image - 1 - x;
  if (2 * x >= images.image)
    return;
  const double here = correction_at(images, series, x, y),
               there = correction_at(images, series, other, y);
  for (guint product = 0; product < images.products; product++) {
    Real *row = pixels + ((gsize)product * images.image + y) * images.image;
    const Real left = row[x], right = row[other];
    row[other] = (Real)(left * here);
    row[x] = (Real)(right * there);
  }
}

gboolean astro_degrid_correct_on_device(const DegridImages *images, const AstroImageSeries *series,
                                        gpointer pixels, cudaStream_t stream, GError **error)
{
  const dim3 grid((images->image / 2 + THREADS) / THREADS, images->image);
  if (images->is_double)
    correct<<<grid, THREADS, 0, stream>>>(*images, *series, (double *)pixels);
  else
    correct<<<grid, THREADS, 0, stream>>>(*images, *series, (float *)pixels);
  return CUDA_TRY(cudaGetLastError());
}

template <typename Real>
static __global__ void __launch_bounds__(THREADS)
    rotate(const __grid_constant__ DegridImages images, const Real *pixels, guint products,
           double w, typename WstackingComplex<Real>::Type *planes)
{
  typedef typename WstackingComplex<Real>::Type Cell;
  const guint at = blockIdx.x * THREADS + threadIdx.x, y = blockIdx.y * ROWS, n = images.image,
              size = images.size;
  if (at >= n)
    return;
  const ImageColumn column = column_of(images, n - 1 - at, y);
  const guint past = astro_degrid_first_column(&images) + at, u = past >= size ? past - size : past;
  const gsize from = (gsize)y * n + at, to = (gsize)(size / 2 - n / 2 + y) * size + u;
  decltype(image_phase(0, Real())) phases[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++)
    phases[r] = image_phase(w * column.n_minus_1((guint)r, Real()), Real());
  for (guint product = 0; product < products; product++)
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      if (y + r < n) {
        const Real pixel = pixels[((gsize)product * n + r) * n + from];
        Cell cell;
        cell.x = pixel * phases[r].x;
        cell.y = pixel * phases[r].y;
        planes[((gsize)product * size + r) * size + to] = cell;
      }
}

gboolean astro_degrid_rotate(const DegridImages *images, gconstpointer pixels, guint products,
                             double w, gpointer planes, cudaStream_t stream, GError **error)
{
  const dim3 grid((images->image + THREADS - 1) / THREADS, (images->image + ROWS - 1) / ROWS);
  if (images->is_double)
    rotate<<<grid, THREADS, 0, stream>>>(*images, (const double *)pixels, products, w,
                                         (double2 *)planes);
  else
    rotate<<<grid, THREADS, 0, stream>>>(*images, (const float *)pixels, products, w,
                                         (float2 *)planes);
  return CUDA_TRY(cudaGetLastError());
}
