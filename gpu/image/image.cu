/* Images on the GPU. A thread makes some pixels of a column of the image, so that only the middle
 * of a plane is read, once, and the image is read and written once. Planes that come transformed
 * along u are handled in gpu/image/columns.h. */
#include "gpu/image/columns.h"
#include "gpu/lib/spread/series.h"
#include "gpu/runtime/sum.h"

extern "C" {
#include "core/lib/fft/fft.h"
}

enum { THREADS = 256, ROWS = 8 /* of a thread, in a column */ };

struct Term {
  guint32 product;
  gboolean imaginary;
  double scale;
};

/* One channel of a plane. */
struct Plane {
  gconstpointer in; /* product 0 */
  gpointer out;
  guint32 size, image, n_out;
  guint32 n_terms[ASTRO_IMAGE_MAX_PRODUCTS];
  Term terms[ASTRO_IMAGE_MAX_PRODUCTS][2];
  bool first, last;
  double w, pixel, centre_l, centre_m;
  const double *inverse;
  AstroImageSeries series;
};

typedef struct {
  AstroImageConfig config;
  AstroPlace place;
  AstroImageColumns *columns; /* these also transform along v; or NULL */
  gpointer transform;         /* an instance of astro_cuda_fft if that does it, and its blocks */
  AstroBlock taken, transformed;
  double *inverse; /* on the device */
  double w_step;   /* for which the series was made */
  AstroImageSeries series;
} Image;

/* ---- a pixel ---- */

/* When the last of several planes is added, the correction has a part that depends on w. */
enum Plays { GOES_ON, LAST, LAST_OF_MANY };

/* Least number of blocks on a multiprocessor, for which registers have to suffice. */
template <typename Real, bool TURNS, Plays PLAYS>
constexpr int BLOCKS = PLAYS == LAST_OF_MANY || sizeof(Real) == sizeof(double) ? 2
                       : TURNS                                                 ? 3
                                                                               : 4;

/* Real is the precision of the computation. */
template <typename Sample, typename Pixel, typename Real, bool TURNS, Plays PLAYS>
__global__ void __launch_bounds__(THREADS, BLOCKS<Real, TURNS, PLAYS>)
    add_plane(const __grid_constant__ Plane plane)
{
  using Phase = decltype(image_phase(0, Real()));
  const guint32 x = blockIdx.x * THREADS + threadIdx.x, y = blockIdx.y * ROWS;
  const guint32 image = plane.image, half = image / 2;
  /* If the image is as large as the grid, its columns wrap around. */
  const guint32 at = plane.size / 2 + half - x, u = at >= plane.size ? at - plane.size : at;
  const gsize from = (gsize)(plane.size / 2 - half + y) * plane.size + u, to = (gsize)y * image + x;
  const gsize cells = (gsize)plane.size * plane.size, pixels = (gsize)image * image;
  const int rows = MIN(image - y, (guint32)ROWS);
  const double l = plane.centre_l + ((double)half - (double)x) * plane.pixel;
  const ImageColumn column = { l * l, plane.centre_m + ((double)y - (double)half) * plane.pixel,
                               plane.pixel };
  Phase phases[ROWS];
  Real factors[ROWS] = {};

  if (x >= image)
    return;
  if (TURNS)
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      phases[r] = image_phase(plane.w * column.n_minus_1((guint32)r, Real()), Real());
  if (PLAYS != GOES_ON) {
    constexpr int TOGETHER = 4;
    const double inverse = plane.inverse[2 * half - x];
#pragma unroll
    for (int first = 0; first < ROWS; first += TOGETHER) {
      double heights[TOGETHER], values[TOGETHER];
#pragma unroll
      for (int i = 0; i < TOGETHER; i++) {
        heights[i] = column.n_minus_1((guint32)(first + i), Real());
        values[i] = 1;
      }
      if (PLAYS == LAST_OF_MANY)
        series_at(plane.series, heights, values);
#pragma unroll
      for (int i = 0; i < TOGETHER; i++)
        if (first + i < rows)
          factors[first + i] = (Real)(inverse * plane.inverse[y + first + i] * values[i]);
    }
  }
  for (guint32 product = 0; product < plane.n_out; product++) {
    Pixel *out = (Pixel *)plane.out + product * pixels + to;
    Real sums[ROWS] = {};
    if (!plane.first)
#pragma unroll
      for (int r = 0; r < ROWS; r++)
        if (r < rows)
          sums[r] = __ldcs(out + (gsize)r * image);
    for (guint32 i = 0; i < plane.n_terms[product]; i++) {
      const Term &term = plane.terms[product][i];
      const Sample *in = (const Sample *)plane.in + term.product * cells + from;
      const Real scale = (Real)term.scale;
      Sample samples[ROWS] = {};
#pragma unroll
      for (int r = 0; r < ROWS; r++)
        if (r < rows)
          samples[r] = __ldcs(in + (gsize)r * plane.size);
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        Real re = samples[r].x, im = samples[r].y, value;
        if (TURNS)
          value = term.imaginary ? re * phases[r].y + im * phases[r].x
                                 : re * phases[r].x - im * phases[r].y;
        else
          value = term.imaginary ? im : re;
        sums[r] += scale * value;
      }
    }
    if (PLAYS != GOES_ON)
#pragma unroll
      for (int r = 0; r < ROWS; r++)
        sums[r] *= factors[r];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      if (r < rows)
        __stcs(out + (gsize)r * image, (Pixel)sums[r]);
  }
}

template <typename Sample, typename Pixel, typename Real>
static void launch(const Plane *plane, cudaStream_t stream)
{
  dim3 grid((plane->image + THREADS - 1) / THREADS, (plane->image + ROWS - 1) / ROWS);
  static void (*const kernels[2][3])(Plane) = {
    { add_plane<Sample, Pixel, Real, false, GOES_ON>, add_plane<Sample, Pixel, Real, false, LAST>,
      add_plane<Sample, Pixel, Real, false, LAST_OF_MANY> },
    { add_plane<Sample, Pixel, Real, true, GOES_ON>, add_plane<Sample, Pixel, Real, true, LAST>,
      add_plane<Sample, Pixel, Real, true, LAST_OF_MANY> },
  };
  const Plays plays = !plane->last ? GOES_ON : plane->series.n ? LAST_OF_MANY : LAST;
  kernels[plane->w != 0][plays]<<<grid, THREADS, 0, stream>>>(*plane);
}

static const struct {
  AstroFormat from, to;
  void (*launch)(const Plane *plane, cudaStream_t stream);
} kernels[] = {
  { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_F32LE, launch<float2, float, float> },
  { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_F64LE, launch<float2, double, double> },
  { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_F32LE, launch<double2, float, double> },
  { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_F64LE, launch<double2, double, double> },
};

/* ---- the backend ---- */

static Plane plane_of(const Image *self, const AstroImageArguments *arguments, gconstpointer in,
                      gpointer out, guint channel)
{
  const AstroImageConfig *config = &self->config;
  const AstroGrid *grid = &config->grid;
  const gsize cells = (gsize)grid->size * grid->size,
              pixels = (gsize)grid->image_size * grid->image_size;
  Plane plane = {
    .in = (const guint8 *)in +
          channel * config->n_in * cells * astro_format_info(config->from)->bytes,
    .out = (guint8 *)out + channel * config->n_out * pixels * astro_format_info(config->to)->bytes,
    .size = grid->size,
    .image = grid->image_size,
    .n_out = config->n_out,
    .first = arguments->first != FALSE,
    .last = arguments->last != FALSE,
    .w = arguments->w,
    .pixel = grid->pixel,
    .centre_l = grid->centre_l,
    .centre_m = grid->centre_m,
    .inverse = self->inverse,
  };
  if (plane.last)
    plane.series = self->series;
  for (guint i = 0; i < config->n_out; i++) {
    plane.n_terms[i] = config->products[i].n_terms;
    for (guint k = 0; k < plane.n_terms[i]; k++) {
      const AstroImageTerm *term = &config->products[i].terms[k];
      plane.terms[i][k] = { term->product, term->imaginary,
                            astro_image_scale(config, arguments, channel, term) };
    }
  }
  return plane;
}

/* Copies the middle of the image, which the host asked for, and waits for it. */
static gboolean send_middle(const Image *self, const AstroImageArguments *arguments,
                            gconstpointer image, AstroResult *result, GError **error)
{
  cudaStream_t stream = astro_cuda_stream(self->place.queue);
  gsize pitch, row = arguments->middle_size * astro_format_info(self->config.to)->bytes;
  const guint8 *from = (const guint8 *)image + astro_image_middle(&self->config, arguments, &pitch);

  return CUDA_TRY(cudaMemcpy2DAsync(result->middle, row, from, pitch, row, arguments->middle_size,
                                    cudaMemcpyDeviceToHost, stream)) &&
         CUDA_TRY(cudaStreamSynchronize(stream));
}

static gboolean add_plane_of(const Image *self, const Plane *plane, GError **error)
{
  guint k = 0;

  while (kernels[k].from != self->config.from || kernels[k].to != self->config.to)
    k++;
  kernels[k].launch(plane, astro_cuda_stream(self->place.queue));
  return CUDA_TRY(cudaGetLastError());
}

static gboolean add_planes(const Image *self, gconstpointer planes, gpointer out,
                           const AstroImageArguments *arguments, GError **error)
{
  for (guint channel = 0; channel < self->config.channels; channel++) {
    const Plane plane = plane_of(self, arguments, planes, out, channel);
    if (!add_plane_of(self, &plane, error))
      return FALSE;
  }
  return TRUE;
}

/* If several planes make an image, its correction for w takes another pass after the last plane. */
static gboolean add_columns(Image *self, const AstroBlock *in, guint n_in, gpointer out,
                            const AstroImageArguments *arguments, GError **error)
{
  const gsize tiles = astro_grid_tiles(self->config.grid.size);
  const gboolean is_many = self->series.n != 0;

  for (guint channel = 0; channel < self->config.channels; channel++) {
    const guint8 *touched = n_in > 1 ? (const guint8 *)in[1].data + channel * tiles * tiles : NULL;
    Plane plane = plane_of(self, arguments, in->data, out, channel);
    if (!astro_image_columns_run(self->columns, channel, plane.in, touched, plane.out, arguments,
                                 plane.last && !is_many ? self->inverse : NULL, error))
      return FALSE;
    if (!plane.last || !is_many)
      continue;
    plane.first = false;
    plane.w = 0;
    for (guint i = 0; i < plane.n_out; i++)
      plane.n_terms[i] = 0;
    if (!add_plane_of(self, &plane, error))
      return FALSE;
  }
  return TRUE;
}

/* Copies rows, with zeros for those without any touched tile. A block copies one row of a plane. */
template <typename Sample>
static __global__ void __launch_bounds__(THREADS)
    take_rows(const Sample *in, Sample *out, const guint8 *touched, guint32 size, guint32 tiles,
              guint32 products)
{
  const guint32 plane = blockIdx.x / size, v = blockIdx.x % size;
  const guint8 *row = touched + ((gsize)(plane / products) * tiles + v / ASTRO_GRID_TILE) * tiles;
  bool any = false;
  for (guint32 i = threadIdx.x; i < tiles; i += THREADS)
    any |= row[i] != 0;
  any = __syncthreads_or(any);
  for (gsize i = threadIdx.x; i < size; i += THREADS)
    out[(gsize)blockIdx.x * size + i] = any ? in[(gsize)blockIdx.x * size + i] : Sample{};
}

/* For sizes without kernels that transform and add at once. */
static gboolean add_transformed(Image *self, const AstroBlock *in, guint n_in, gpointer out,
                                const AstroImageArguments *arguments, GError **error)
{
  const AstroImageConfig *config = &self->config;
  const guint32 size = config->grid.size, rows = size * config->channels * config->n_in;
  const cudaStream_t stream = astro_cuda_stream(self->place.queue);
  AstroBlock from = *in;
  guint64 steps = 1;

  if (n_in > 1) {
    const guint8 *touched = (const guint8 *)in[1].data;
    from.data = self->taken.data;
    if (config->from == ASTRO_FORMAT_CF64LE)
      take_rows<<<rows, THREADS, 0, stream>>>((const double2 *)in->data, (double2 *)from.data,
                                              touched, size, astro_grid_tiles(size), config->n_in);
    else
      take_rows<<<rows, THREADS, 0, stream>>>((const float2 *)in->data, (float2 *)from.data,
                                              touched, size, astro_grid_tiles(size), config->n_in);
  }
  return CUDA_TRY(cudaGetLastError()) &&
         astro_cuda_fft.submit(self->transform, &from, 1, &self->transformed, 1, &steps, NULL,
                               error) &&
         add_planes(self, self->transformed.data, out, arguments, error);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer argument, AstroResult *result, GError **error)
{
  Image *self = (Image *)instance;
  const AstroImageArguments *arguments = (const AstroImageArguments *)argument;

  if (!astro_image_check_call(&self->config, in, n_in, out, n_out, arguments, error) ||
      !astro_cuda_enter(self->place.device, error))
    return FALSE;
  if (arguments->adds_image)
    return astro_cuda_sum(&self->place, out->data, in->data, astro_image_bytes(&self->config),
                          self->config.to == ASTRO_FORMAT_F64LE, error);
  if (arguments->last && arguments->w_step != self->w_step) {
    self->w_step = arguments->w_step;
    astro_image_series_set(&self->series, &self->config.grid, self->w_step);
  }
  const gboolean added = self->columns ? add_columns(self, in, n_in, out->data, arguments, error)
                         : self->transform
                             ? add_transformed(self, in, n_in, out->data, arguments, error)
                             : add_planes(self, in->data, out->data, arguments, error);
  return added && (!astro_image_wants_middle(arguments, result) ||
                   send_middle(self, arguments, out->data, result, error));
}

static void destroy(gpointer instance)
{
  Image *self = (Image *)instance;
  if (self->columns)
    astro_image_columns_free(self->columns);
  if (self->transform)
    astro_cuda_fft.destroy(self->transform);
  astro_cuda_free(&self->place, &self->taken.data);
  astro_cuda_free(&self->place, &self->transformed.data);
  astro_cuda_free(&self->place, &self->inverse);
  g_free(self);
}

static gboolean make_transform(Image *self, GError **error)
{
  const AstroImageConfig *config = &self->config;
  const AstroDeviceFuncs *funcs = self->place.device->funcs;
  const guint64 size = config->grid.size, planes = (guint64)config->channels * config->n_in;
  const AstroFftConfig fft = { .from = config->from,
                               .to = config->from,
                               .n_axes = 3,
                               .extents = { planes, size, size },
                               .axes = { {}, { TRUE, size / 2, size / 2 } } };
  const char *variant;

  self->taken.bytes = self->transformed.bytes =
      planes * size * size * astro_format_info(config->from)->bytes;
  self->transform = astro_cuda_fft.create(&fft, &self->place, &variant, error);
  return self->transform &&
         funcs->alloc(self->place.device, self->taken.bytes, &self->taken.data, error) &&
         funcs->alloc(self->place.device, self->transformed.bytes, &self->transformed.data, error);
}

/* The call returns only once the array has been copied from the host. */
static gboolean send_inverse(Image *self, GError **error)
{
  g_autofree double *inverse = astro_image_inverse(&self->config.grid);
  gsize bytes = (self->config.grid.image_size + 1) * sizeof *inverse;
  gpointer face;

  if (!self->place.device->funcs->alloc(self->place.device, bytes, &face, error))
    return FALSE;
  self->inverse = (double *)face;
  return CUDA_TRY(cudaMemcpyAsync(face, inverse, bytes, cudaMemcpyHostToDevice,
                                  astro_cuda_stream(self->place.queue)));
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_image_check(config, error) || !astro_cuda_enter(place->device, error))
    return NULL;
  Image *self = g_new0(Image, 1);
  self->config = *(const AstroImageConfig *)config;
  self->place = *place;
  *variant = "pixels";
  gboolean ok = send_inverse(self, error);
  if (ok && self->config.transforms_v && astro_image_columns_fit(&self->config)) {
    *variant = "columns";
    self->columns = astro_image_columns_new(&self->config, place, error);
    ok = self->columns != NULL;
  } else if (ok && self->config.transforms_v)
    ok = make_transform(self, error);
  if (ok)
    return self;
  destroy(self);
  return NULL;
}

const AstroBackend astro_cuda_image = {
  .stage = "image",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroImageConfig),
  .shape = astro_image_check,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
