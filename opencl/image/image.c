/* The opencl backend of image. An item makes a pixel of all products, so that only the middle of a
 * plane is read. Where planes come transformed along u, some columns at a time become lines, which
 * are transformed and added to the image. */
#include "config.h"
#include "core/image/check.h"
#include "core/lib/spread/series.h"
#include "opencl/lib/fft/lines.h"
#include "opencl/runtime/sum.h"

static const char text[] =
#include "opencl/image/image.cl.h"
    ;

#define PART_SAMPLES ((gsize)1 << 22) /* of lines that are transformed together */

/* As in image.cl. */
typedef struct {
  double scale;
  cl_uint product, imaginary;
} Term;

typedef struct {
  Term terms[ASTRO_IMAGE_MAX_PRODUCTS][2];
  cl_uint n_terms[ASTRO_IMAGE_MAX_PRODUCTS];
  double w, pixel, centre_l, centre_m;
  cl_uint size, image, n_out, first_x, n_x;
  cl_uint first, last, has_series, is_lines;
} Plane;
G_STATIC_ASSERT(ASTRO_IMAGE_MAX_PRODUCTS == 8 && sizeof(Plane) % 8 == 0);

enum { ADD_PLANE, FIND_ROWS, TAKE_LINES, N_KERNELS };

typedef struct {
  AstroImageConfig config;
  AstroPlace place;
  cl_kernel kernels[N_KERNELS];
  gpointer inverse, series; /* on the device */
  double w_step;            /* for which the series was made */
  gboolean has_series;
  /* Where the transform along v is made here: */
  AstroOpenclLines lines;
  AstroOpenclRooms rooms;
  gpointer has_any; /* of rows of tiles, whether one is touched */
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
                  .n_x = grid->image_size,
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

static gboolean launch(const Image *self, guint kernel, const AstroOpenclArgument *arguments,
                       guint n_arguments, guint64 items, GError **error)
{
  return astro_opencl_launch_items(&self->place, self->kernels[kernel], arguments, n_arguments,
                                   items, 64, error);
}

static gboolean add_columns(const Image *self, const Plane *plane, gpointer in, gpointer out,
                            GError **error)
{
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(in), OPENCL_FACE(out),
                                            OPENCL_FACE(self->inverse), OPENCL_FACE(self->series),
                                            OPENCL_VALUE(*plane) };
  return launch(self, ADD_PLANE, arguments, G_N_ELEMENTS(arguments),
                (guint64)plane->n_x * plane->image, error);
}

static gboolean find_rows(const Image *self, gpointer touched, GError **error)
{
  const cl_uint tiles = astro_grid_tiles(self->config.grid.size),
                rows = tiles * self->config.channels;
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(touched), OPENCL_FACE(self->has_any),
                                            OPENCL_VALUE(rows), OPENCL_VALUE(tiles) };
  return launch(self, FIND_ROWS, arguments, G_N_ELEMENTS(arguments), rows, error);
}

/* Transforms plane->n_x columns of all products and adds them. has_any: of the channel; NULL: there
 * is no map. */
static gboolean add_lines(Image *self, const Plane *plane, gpointer in, gpointer has_any,
                          gpointer out, GError **error)
{
  const cl_uint has_map = has_any != NULL;
  const guint64 count = (guint64)plane->n_x * self->config.n_in;
  const cl_ulong n = count * plane->size;
  const AstroOpenclArgument arguments[] = {
    OPENCL_FACE(in), OPENCL_FACE(has_any),  OPENCL_FACE(self->rooms.faces[0]),
    OPENCL_VALUE(n), OPENCL_VALUE(has_map), OPENCL_VALUE(*plane)
  };
  guint at;
  return launch(self, TAKE_LINES, arguments, G_N_ELEMENTS(arguments), n, error) &&
         astro_opencl_lines_run(&self->lines, &self->rooms, count, &at, error) &&
         add_columns(self, plane, self->rooms.faces[at], out, error);
}

static guint columns_together(const Image *self)
{
  const AstroImageConfig *config = &self->config;
  const gsize most = PART_SAMPLES / ((gsize)config->n_in * self->lines.room);
  return (guint)CLAMP(most, 1, config->grid.image_size);
}

static gboolean add_channel(Image *self, const AstroImageArguments *arguments, guint channel,
                            gpointer in, gpointer has_any, gpointer out, GError **error)
{
  Plane plane = plane_of(self, arguments, channel);
  if (!self->config.transforms_v)
    return add_columns(self, &plane, in, out, error);
  const guint together = columns_together(self);
  plane.is_lines = TRUE;
  for (; plane.first_x < plane.image; plane.first_x += together) {
    plane.n_x = MIN(plane.image - plane.first_x, together);
    if (!add_lines(self, &plane, in, has_any, out, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean add_planes(Image *self, const AstroBlock *in, guint n_in, guint8 *out,
                           const AstroImageArguments *arguments, GError **error)
{
  const AstroImageConfig *config = &self->config;
  const gsize size = config->grid.size, image = config->grid.image_size;
  const gsize in_bytes = config->n_in * size * size * sample_bytes(self);
  const gsize out_bytes = config->n_out * image * image * astro_format_info(config->to)->bytes;
  const gboolean has_map = n_in > 1;
  if (has_map && !find_rows(self, in[1].data, error))
    return FALSE;
  for (guint channel = 0; channel < config->channels; channel++)
    if (!add_channel(self, arguments, channel, (guint8 *)in->data + channel * in_bytes,
                     has_map ? (guint8 *)self->has_any + channel * astro_grid_tiles((guint)size)
                             : NULL,
                     out + channel * out_bytes, error))
      return FALSE;
  return TRUE;
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
  return add_planes(self, in, n_in, out->data, arguments, error) &&
         (!astro_image_wants_middle(arguments, result) ||
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
  gpointer *faces[] = { &self->inverse, &self->series, &self->has_any };
  for (guint i = 0; i < G_N_ELEMENTS(faces); i++)
    astro_opencl_free(&self->place, faces[i]);
  if (self->config.transforms_v) {
    astro_opencl_lines_clear(&self->lines);
    astro_opencl_rooms_clear(&self->rooms, &self->place);
  }
  astro_opencl_kernels_release(self->kernels, N_KERNELS);
  g_free(self);
}

static gboolean open_kernels(Image *self, GError **error)
{
  static const char *const names[N_KERNELS] = { "add_plane", "find_rows", "take_lines" };
  AstroDevice *device = self->place.device;
  const AstroOpenclProgram program = { "image", text, TRUE };
  const gboolean from = self->config.from == ASTRO_FORMAT_CF64LE,
                 to = self->config.to == ASTRO_FORMAT_F64LE;
  g_autofree char *options =
      g_strdup_printf("-DFROM=%s -DTO=%s -DREAL=%s -DTILE=%d", from ? "double" : "float",
                      to ? "double" : "float", from || to ? "double" : "float", ASTRO_GRID_TILE);
  return astro_opencl_kernels(device, &program, options, names, N_KERNELS, self->kernels, error);
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

static gboolean open_lines(Image *self, GError **error)
{
  const AstroImageConfig *config = &self->config;
  const guint size = config->grid.size;
  const gsize rows = (gsize)config->channels * astro_grid_tiles(size);
  return !config->transforms_v ||
         (astro_opencl_lines_init(&self->lines, &self->place, "image", size, FALSE,
                                  config->from == ASTRO_FORMAT_CF64LE, error) &&
          astro_opencl_rooms_need(&self->rooms, &self->place, "image",
                                  (gsize)columns_together(self) * config->n_in * self->lines.room *
                                      sample_bytes(self),
                                  error) &&
          astro_opencl_alloc(&self->place, "image", &self->has_any, rows, 1, error));
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_image_check(config, error))
    return NULL;
  Image *self = g_new0(Image, 1);
  self->config = *(const AstroImageConfig *)config;
  self->place = *place;
  *variant = self->config.transforms_v ? "columns" : "pixels";
  if (open_kernels(self, error) && send_inverse(self, error) && open_lines(self, error))
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
