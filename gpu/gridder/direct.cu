/* The direct transform: a thread sums all visibilities into its pixel, in double precision and in a
 * fixed order. The grid is the transform of that image, made by plain sums too: there are few of
 * them beside those over visibilities. */
#include "gpu/gridder/gridder.h"

extern "C" {
#include "core/gridder/direct.h"
#include "core/gridder/products.h"
}

enum {
  SIDE = 16,     /* pixels along a side of a block's square */
  TOGETHER = 64, /* rows that a block reads at once */
};

struct _AstroGridding {
  AstroGriddingConfig config;
  AstroPlace place;
  AstroGrid grid; /* without its products */
  guint products;
  gboolean waits; /* the image holds sums that are not in the grid yet */
  double2 *image; /* channels x products x size x size */
  double2 *lines; /* the same size, transformed along one axis */
  double2 *turns; /* exp(2 pi i k / size) */
};

static gsize cells(const AstroGridding *self)
{
  return (gsize)self->config.channels * self->products * self->grid.size * self->grid.size;
}

static cudaStream_t stream_of(const AstroGridding *self)
{
  return astro_cuda_stream(self->place.queue);
}

/* ---- visibilities to pixels ---- */

struct Sums {
  AstroGridRows rows;
  guint size, groups,
      channels; /* size of the grid; its channels; channels of rows in each of them */
  double pixel, centre_l, centre_m;
  double2 *image;
};

template <typename Value> static __device__ void add_pixel(const Sums &sum, guint group)
{
  __shared__ double uvw[TOGETHER * 3];
  const guint x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
  const guint thread = threadIdx.y * SIDE + threadIdx.x, products = sum.rows.products;
  const double l = ((double)x - sum.size / 2) * sum.pixel,
               m = ((double)y - sum.size / 2) * sum.pixel;
  const double r2 =
      (sum.centre_l + l) * (sum.centre_l + l) + (sum.centre_m + m) * (sum.centre_m + m);
  const double n_minus_1 = -r2 / (1 + sqrt(1 - r2));
  const bool is_sky = r2 < 1; /* below the horizon there is none */
  double2 sums[ASTRO_MAX_PRODUCTS] = {};

  for (guint64 first = 0; first < sum.rows.rows; first += TOGETHER) {
    const guint n = (guint)min((guint64)TOGETHER, sum.rows.rows - first);
    __syncthreads();
    if (thread < 3 * n)
      uvw[thread] = sum.rows.uvw[3 * first + thread];
    __syncthreads();
    for (guint row = 0; row < n; row++) {
      const double path = uvw[3 * row] * l + uvw[3 * row + 1] * m + uvw[3 * row + 2] * n_minus_1;
      for (guint c = 0; c < sum.channels; c++) {
        const guint channel = group * sum.channels + c;
        const double turns = path * sum.rows.wavenumbers[channel];
        const Value *value = (const Value *)sum.rows.values +
                             ((first + row) * sum.rows.channels + channel) * products;
        double re, im;
        sincospi(-2 * (turns - rint(turns)), &im, &re);
#pragma unroll
        for (guint p = 0; p < ASTRO_MAX_PRODUCTS; p++)
          if (p < products) {
            sums[p].x += value[p].x * re - value[p].y * im;
            sums[p].y += value[p].x * im + value[p].y * re;
          }
      }
    }
  }
  if (x >= sum.size || y >= sum.size || !is_sky)
    return;
  double2 *pixel = sum.image + ((gsize)group * products * sum.size + y) * sum.size + x;
#pragma unroll
  for (guint p = 0; p < ASTRO_MAX_PRODUCTS; p++)
    if (p < products) {
      double2 *there = pixel + (gsize)p * sum.size * sum.size;
      *there = make_double2(there->x + sums[p].x, there->y + sums[p].y);
    }
}

template <typename Value>
static __global__ void __launch_bounds__(SIDE *SIDE) add_pixels(const __grid_constant__ Sums sum)
{
  for (guint group = blockIdx.z; group < sum.groups; group += gridDim.z)
    add_pixel<Value>(sum, group);
}

static gboolean add(AstroGridding *self, const AstroGridRows *rows, gpointer grid, GError **error)
{
  Sums sum = {};
  const guint blocks = (self->grid.size + SIDE - 1) / SIDE;
  sum.rows = *rows;
  sum.size = self->grid.size;
  sum.groups = self->config.channels;
  sum.channels = rows->channels / sum.groups;
  sum.pixel = self->grid.pixel;
  sum.centre_l = self->grid.centre_l;
  sum.centre_m = self->grid.centre_m;
  sum.image = self->image;
  self->waits = TRUE;
  const dim3 shape(blocks, blocks, MIN(sum.groups, G_MAXUINT16)), threads(SIDE, SIDE);
  if (rows->is_double)
    add_pixels<double2><<<shape, threads, 0, stream_of(self)>>>(sum);
  else
    add_pixels<float2><<<shape, threads, 0, stream_of(self)>>>(sum);
  return CUDA_TRY(cudaGetLastError());
}

/* ---- pixels to cells ---- */

/* out[line][k] = sum over j of in[line][j] exp(2 pi i (j - n/2)(k - n/2) / n) / n, written with
 * lines and elements exchanged, so that doing it twice transforms both axes and puts them back. */
static __global__ void __launch_bounds__(SIDE *SIDE)
    transform_lines(const double2 *in, double2 *out, const double2 *turns, guint n)
{
  const guint k = blockIdx.x * SIDE + threadIdx.x, line = blockIdx.y * SIDE + threadIdx.y;
  const gsize plane = (gsize)blockIdx.z * n * n;
  if (k >= n || line >= n)
    return;
  const guint step = (k + n - n / 2) % n;
  guint at = (guint)((guint64)(n - n / 2) * step % n); /* (j - n/2)(k - n/2) mod n */
  double2 sum = make_double2(0, 0);
  for (guint j = 0; j < n; j++) {
    const double2 value = in[plane + (gsize)line * n + j], turn = turns[at];
    sum.x += value.x * turn.x - value.y * turn.y;
    sum.y += value.x * turn.y + value.y * turn.x;
    at = at + step >= n ? at + step - n : at + step;
  }
  out[plane + (gsize)k * n + line] = make_double2(sum.x / n, sum.y / n);
}

template <typename Value> static __global__ void add_cells(const double2 *from, Value *to, gsize n)
{
  for (gsize i = (gsize)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += (gsize)gridDim.x * blockDim.x) {
    to[i].x += from[i].x;
    to[i].y += from[i].y;
  }
}

static gboolean finish(AstroGridding *self, gpointer grid, GError **error)
{
  const guint blocks = (self->grid.size + SIDE - 1) / SIDE;
  const guint planes = self->config.channels * self->products;
  const gsize n = cells(self), plane = (gsize)self->grid.size * self->grid.size;
  if (!self->waits)
    return TRUE;
  for (guint first = 0; first < planes; first += G_MAXUINT16) {
    const dim3 shape(blocks, blocks, MIN(planes - first, G_MAXUINT16)), threads(SIDE, SIDE);
    double2 *image = self->image + first * plane, *lines = self->lines + first * plane;
    transform_lines<<<shape, threads, 0, stream_of(self)>>>(image, lines, self->turns,
                                                            self->grid.size);
    transform_lines<<<shape, threads, 0, stream_of(self)>>>(lines, image, self->turns,
                                                            self->grid.size);
  }
  const guint n_blocks = (guint)MIN((n + 255) / 256, 1u << 16);
  if (self->config.is_double)
    add_cells<<<n_blocks, 256, 0, stream_of(self)>>>(self->image, (double2 *)grid, n);
  else
    add_cells<<<n_blocks, 256, 0, stream_of(self)>>>(self->image, (float2 *)grid, n);
  self->waits = FALSE;
  return CUDA_TRY(cudaGetLastError()) &&
         CUDA_TRY(cudaMemsetAsync(self->image, 0, n * sizeof *self->image, stream_of(self)));
}

/* ---- instances ---- */

static guint64 bytes(const AstroGriddingConfig *config, const AstroGrid *grid)
{
  const guint64 image =
      (guint64)grid->size * grid->size * g_strv_length(grid->products) * config->channels;
  return (2 * image + grid->size) * sizeof(double2);
}

static void destroy(AstroGridding *self)
{
  gpointer blocks[] = { self->image, self->lines, self->turns };
  for (guint i = 0; i < G_N_ELEMENTS(blocks); i++)
    astro_cuda_free(&self->place, &blocks[i]);
  g_free(self);
}

static gboolean send_turns(AstroGridding *self, GError **error)
{
  const guint n = self->grid.size;
  g_autofree double2 *turns = g_new(double2, n);
  for (guint k = 0; k < n; k++) {
    turns[k].x = cos(2 * G_PI * k / n);
    turns[k].y = sin(2 * G_PI * k / n);
  }
  return CUDA_TRY(cudaMemcpyAsync(self->turns, turns, n * sizeof *turns, cudaMemcpyHostToDevice,
                                  stream_of(self)));
}

static AstroGridding *create(const AstroGriddingConfig *config, const AstroGrid *grid,
                             const AstroPlace *place, const char **variant, GError **error)
{
  const AstroDeviceFuncs *funcs = place->device->funcs;
  AstroGridding *self = g_new0(AstroGridding, 1);
  self->config = *config;
  self->place = *place;
  self->grid = *grid;
  self->grid.products = NULL;
  self->products = g_strv_length(grid->products);
  const gsize image = cells(self) * sizeof *self->image;
  if (funcs->alloc(place->device, image, (gpointer *)&self->image, error) &&
      funcs->alloc(place->device, image, (gpointer *)&self->lines, error) &&
      funcs->alloc(place->device, grid->size * sizeof *self->turns, (gpointer *)&self->turns,
                   error) &&
      send_turns(self, error) &&
      CUDA_TRY(cudaMemsetAsync(self->image, 0, image, stream_of(self)))) {
    *variant = "direct";
    return self;
  }
  destroy(self);
  return NULL;
}

const AstroGridAlgorithm astro_cuda_direct = {
  .name = "direct",
  .bytes = bytes,
  .create = create,
  .add = add,
  .finish = finish,
  .destroy = destroy,
};
