/* The opencl backend of image. An item makes a pixel of all products, so that only the middle of a
 * plane is read. */
#include "config.h"
#include "core/image/check.h"
#include "core/lib/fft/fft.h"
#include "core/lib/spread/series.h"
#include "opencl/runtime/opencl.h"
#include "opencl/runtime/sum.h"

static const char text[] =
#include "opencl/image/image.cl.h"
    ;

/* As in image.cl. */
typedef struct {
  double scale;
  cl_uint product, imaginary;
} Term;

typedef struct {
  Term terms[ASTRO_IMAGE_MAX_PRODUCTS][2];
  cl_uint n_terms[ASTRO_IMAGE_MAX_PRODUCTS];
  double w, pixel, centre_l, centre_m;
  cl_uint size, image, n_out;
  cl_uint first, last, has_series;
} Plane;
G_STATIC_ASSERT(ASTRO_IMAGE_MAX_PRODUCTS == 8 && sizeof(Plane) % 8 == 0);

typedef struct {
  AstroImageConfig config;
  AstroPlace place;
  cl_kernel add_plane, take_rows;
  gpointer inverse, series; /* on the device */
  double w_step;            /* for which the series was made */
  gboolean has_series;
  /* Where the transform along v is made here: an instance of astro_opencl_fft, and its blocks. */
  gpointer transform;
  AstroBlock taken, transformed;
} Image;

static gsize sample_bytes(const Image *self)
{
  return astro_format_info(self->config.from)->bytes;
}

/* ---- planes ---- */

static Plane plane_of(const Image *self, const AstroImageArguments *arguments, guint channel)
{
  const AstroImageConfig *config = &self->config;
  const AstroGrid *grid = &config->grid;
  Plane plane = { .w = arguments->w,
                  .pixel = grid->pixel,
                  .centre_l = grid->centre_l,
                  .centre_m = grid->centre_m,
                  .size = grid->size,
                  .image = grid->image_size,
                  .n_out = config->n_out,
                  .first = arguments->first != FALSE,
                  .last = arguments->last != FALSE,
                  .has_series = (cl_uint)self->has_series };
  for (guint i = 0; i < config->n_out; i++) {
    plane.n_terms[i] = config->products[i].n_terms;
    for (guint k = 0; k < plane.n_terms[i]; k++) {
      const AstroImageTerm *term = &config->products[i].terms[k];
      plane.terms[i][k] = (Term){ astro_image_scale(config, arguments, channel, term),
                                  term->product, term->imaginary != FALSE };
    }
  }
  return plane;
}

static gboolean add_planes(const Image *self, guint8 *in, guint8 *out,
                           const AstroImageArguments *arguments, GError **error)
{
  const AstroImageConfig *config = &self->config;
  const gsize size = config->grid.size, image = config->grid.image_size;
  const gsize in_bytes = config->n_in * size * size * sample_bytes(self);
  const gsize out_bytes = config->n_out * image * image * astro_format_info(config->to)->bytes;
  const AstroOpenclRange range = { 1, { image * image }, { 64 } };
  for (guint channel = 0; channel < config->channels; channel++) {
    const Plane plane = plane_of(self, arguments, channel);
    const AstroOpenclArgument given[] = { OPENCL_FACE(in + channel * in_bytes),
                                          OPENCL_FACE(out + channel * out_bytes),
                                          OPENCL_FACE(self->inverse), OPENCL_FACE(self->series),
                                          OPENCL_VALUE(plane) };
    if (!astro_opencl_launch(&self->place, self->add_plane, given, G_N_ELEMENTS(given), &range,
                             error))
      return FALSE;
  }
  return TRUE;
}

/* Rows without touched tiles hold anything: a copy has zeros there. */
static gboolean take_rows(const Image *self, gpointer in, gpointer touched, GError **error)
{
  const AstroImageConfig *config = &self->config;
  const cl_uint size = config->grid.size, tiles = astro_grid_tiles(size), products = config->n_in;
  const cl_ulong n = (cl_ulong)config->channels * products * size * size;
  const AstroOpenclRange range = { 1, { n }, { 64 } };
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(in),       OPENCL_FACE(self->taken.data),
                                            OPENCL_FACE(touched),  OPENCL_VALUE(n),
                                            OPENCL_VALUE(size),    OPENCL_VALUE(tiles),
                                            OPENCL_VALUE(products) };
  return astro_opencl_launch(&self->place, self->take_rows, arguments, G_N_ELEMENTS(arguments),
                             &range, error);
}

static gboolean add_transformed(Image *self, const AstroBlock *in, guint n_in, gpointer out,
                                const AstroImageArguments *arguments, GError **error)
{
  const guint64 steps = 1;
  const gboolean has_map = n_in > 1;
  return (!has_map || take_rows(self, in->data, in[1].data, error)) &&
         astro_opencl_fft.submit(self->transform, has_map ? &self->taken : in, 1,
                                 &self->transformed, 1, &steps, NULL, error) &&
         add_planes(self, self->transformed.data, out, arguments, error);
}

/* ---- calls ---- */

static gboolean set_series(Image *self, double w_step, GError **error)
{
  AstroImageSeries series;
  if (w_step == self->w_step)
    return TRUE;
  astro_image_series_set(&series, &self->config.grid, w_step);
  self->w_step = w_step;
  self->has_series = series.n > 0;
  return astro_opencl_upload(&self->place, self->series, &series, sizeof series, error);
}

/* The host waits for the middle of a finished image, of which it makes the beam. */
static gboolean send_middle(const Image *self, const AstroImageArguments *arguments, gpointer image,
                            AstroResult *result, GError **error)
{
  AstroDevice *device = self->place.device;
  const gsize row = arguments->middle_size * astro_format_info(self->config.to)->bytes;
  gsize pitch;
  const guint8 *from = (guint8 *)image + astro_image_middle(&self->config, arguments, &pitch);
  for (guint i = 0; i < arguments->middle_size; i++)
    if (!device->funcs->queue_copy(device, self->place.queue, ASTRO_COPY_DOWN,
                                   (guint8 *)result->middle + i * row, from + i * pitch, row,
                                   error))
      return FALSE;
  return astro_opencl_drain(&self->place, error);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer argument, AstroResult *result, GError **error)
{
  Image *self = instance;
  const AstroImageArguments *arguments = argument;
  if (!astro_image_check_call(&self->config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  if (arguments->adds_image)
    return astro_opencl_sum(&self->place, out->data, in->data, astro_image_bytes(&self->config),
                            self->config.to == ASTRO_FORMAT_F64LE, error);
  if (arguments->last && !set_series(self, arguments->w_step, error))
    return FALSE;
  const gboolean added = self->transform
                             ? add_transformed(self, in, n_in, out->data, arguments, error)
                             : add_planes(self, in->data, out->data, arguments, error);
  return added && (!astro_image_wants_middle(arguments, result) ||
                   send_middle(self, arguments, out->data, result, error));
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  return astro_opencl_drain(&((Image *)instance)->place, error);
}

/* ---- instances ---- */

static void destroy(gpointer instance)
{
  Image *self = instance;
  if (self->transform)
    astro_opencl_fft.destroy(self->transform);
  gpointer *faces[] = { &self->inverse, &self->series, &self->taken.data, &self->transformed.data };
  for (guint i = 0; i < G_N_ELEMENTS(faces); i++)
    astro_opencl_free(&self->place, faces[i]);
  if (self->add_plane)
    clReleaseKernel(self->add_plane);
  if (self->take_rows)
    clReleaseKernel(self->take_rows);
  g_free(self);
}

static gboolean open_kernels(Image *self, GError **error)
{
  AstroDevice *device = self->place.device;
  const AstroOpenclProgram program = { "image", text, TRUE };
  const gboolean from = self->config.from == ASTRO_FORMAT_CF64LE,
                 to = self->config.to == ASTRO_FORMAT_F64LE;
  g_autofree char *options =
      g_strdup_printf("-DFROM=%s -DTO=%s -DREAL=%s -DTILE=%d", from ? "double" : "float",
                      to ? "double" : "float", from || to ? "double" : "float", ASTRO_GRID_TILE);
  return (self->add_plane = astro_opencl_kernel(device, &program, options, "add_plane", error)) &&
         (self->take_rows = astro_opencl_kernel(device, &program, options, "take_rows", error));
}

static gboolean send_inverse(Image *self, GError **error)
{
  g_autofree double *inverse = astro_image_inverse(&self->config.grid);
  const gsize n = self->config.grid.image_size + 1;
  return astro_opencl_alloc(&self->place, "image", &self->series, 1, sizeof(AstroImageSeries),
                            error) &&
         astro_opencl_alloc(&self->place, "image", &self->inverse, n, sizeof *inverse, error) &&
         astro_opencl_upload(&self->place, self->inverse, inverse, n * sizeof *inverse, error);
}

static gboolean make_transform(Image *self, GError **error)
{
  const AstroImageConfig *config = &self->config;
  const guint64 size = config->grid.size, planes = (guint64)config->channels * config->n_in;
  const AstroFftConfig fft = { .from = config->from,
                               .to = config->from,
                               .n_axes = 3,
                               .extents = { planes, size, size },
                               .axes = { { 0 }, { TRUE, size / 2, size / 2 } } };
  const char *variant;
  if (!config->transforms_v)
    return TRUE;
  self->taken.bytes = self->transformed.bytes = planes * size * size * sample_bytes(self);
  return (self->transform = astro_opencl_fft.create(&fft, &self->place, &variant, error)) &&
         astro_opencl_alloc(&self->place, "image", &self->taken.data, self->taken.bytes, 1,
                            error) &&
         astro_opencl_alloc(&self->place, "image", &self->transformed.data, self->transformed.bytes,
                            1, error);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_image_check(config, error))
    return NULL;
  Image *self = g_new0(Image, 1);
  self->config = *(const AstroImageConfig *)config;
  self->place = *place;
  *variant = self->config.transforms_v ? "transform and pixels" : "pixels";
  if (open_kernels(self, error) && send_inverse(self, error) && make_transform(self, error))
    return self;
  destroy(self);
  return NULL;
}

const AstroBackend astro_opencl_image = {
  .stage = "image",
  .kind = ASTRO_BACKEND_OPENCL,
  .config_bytes = sizeof(AstroImageConfig),
  .shape = astro_image_check,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
};
