/* The reference backend: the formula for every pixel, in double precision. */
#include "config.h"
#include "core/backend/count.h"
#include "core/image/check.h"

#include <complex.h>
#include <math.h>

#include "core/lib/fft/fft.h"
#include "core/lib/spread/spread.h"

typedef struct {
  AstroImageConfig config;
} Reference;

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_image_check(config, error))
    return NULL;
  Reference *self = g_new(Reference, 1);
  self->config = *(const AstroImageConfig *)config;
  *variant = "pixels";
  return self;
}

typedef struct {
  const AstroImageConfig *config;
  const AstroImageArguments *arguments;
  gconstpointer in;
  gpointer out;
  const double *corrections; /* for each x, then for each y */
} Call;

static double complex cell(const Call *call, gsize at)
{
  return call->config->from == ASTRO_FORMAT_CF64LE ? ((const double complex *)call->in)[at]
                                                   : ((const float complex *)call->in)[at];
}

static double get(const Call *call, gsize at)
{
  return call->config->to == ASTRO_FORMAT_F64LE ? ((const double *)call->out)[at]
                                                : ((const float *)call->out)[at];
}

static void set(const Call *call, gsize at, double value)
{
  if (call->config->to == ASTRO_FORMAT_F64LE)
    ((double *)call->out)[at] = value;
  else
    ((float *)call->out)[at] = (float)value;
}

static void make_pixel(const Call *call, guint channel, guint product, guint y, guint x)
{
  const AstroImageConfig *config = call->config;
  const AstroImageArguments *arguments = call->arguments;
  const AstroGrid *grid = &config->grid;
  gsize size = grid->size, image = grid->image_size;
  double l = ((double)(image / 2) - x) * grid->pixel, m = (y - (double)(image / 2)) * grid->pixel;
  double n_minus_1 = astro_grid_n_minus_1(grid->centre_l + l, grid->centre_m + m);
  double cycles = arguments->w * n_minus_1;
  double complex phase = cexp(-2 * G_PI * I * (cycles - rint(cycles)));
  /* If the image is as large as the grid, columns wrap around. */
  gsize u = (size / 2 + image / 2 - x) % size, v = size / 2 - image / 2 + y;
  gsize at = ((gsize)(channel * config->n_out + product) * image + y) * image + x;
  double sum = arguments->first ? 0 : get(call, at);

  for (guint i = 0; i < config->products[product].n_terms; i++) {
    const AstroImageTerm *term = &config->products[product].terms[i];
    gsize from = ((gsize)(channel * config->n_in + term->product) * size + v) * size + u;
    double complex value = cell(call, from) * phase;
    ASTRO_COUNT(5); /* one part of it is wanted, scaled and added */
    sum += astro_image_scale(config, arguments, channel, term) *
           (term->imaginary ? cimag(value) : creal(value));
  }
  if (arguments->last)
    sum /= call->corrections[x] * call->corrections[image + y] *
           astro_spread_correction_w(grid, arguments->w_step, n_minus_1);
  set(call, at, sum);
}

static double *find_corrections(const AstroGrid *grid)
{
  const guint image = grid->image_size;
  double *corrections = g_new(double, 2 * image);
  for (guint i = 0; i < image; i++) {
    const double offset = (i - (double)(image / 2)) * grid->pixel;
    corrections[i] = astro_spread_correction(grid, -offset);
    corrections[image + i] = astro_spread_correction(grid, offset);
  }
  return corrections;
}

/* Transforms a plane along v in double precision; rows without touched tiles count as zeros. */
static double complex *transform_v(const AstroImageConfig *config, gconstpointer plane,
                                   const guint8 *map, GError **error)
{
  const guint64 size = config->grid.size, planes = (guint64)config->channels * config->n_in;
  AstroFftConfig transform = { .from = ASTRO_FORMAT_CF64LE,
                               .to = ASTRO_FORMAT_CF64LE,
                               .n_axes = 3,
                               .extents = { planes, size, size },
                               .axes = { [1] = { TRUE, size / 2, size / 2 } } };
  const AstroPlace place = { 0 };
  const char *variant;
  gpointer fft = astro_fft_reference.create(&transform, &place, &variant, error);
  if (!fft)
    return NULL;
  const Call call = { .config = config, .in = plane };
  double complex *samples = g_new(double complex, planes *size *size);
  g_autofree guint8 *blank = g_new0(guint8, config->channels * size);
  if (map)
    astro_image_find_blank(config, map, blank);
  for (guint64 row = 0; row < planes * size; row++)
    for (guint64 x = 0; x < size; x++)
      samples[row * size + x] =
          blank[row / (config->n_in * size) * size + row % size] ? 0 : cell(&call, row * size + x);
  AstroBlock block = { samples, planes * size * size * sizeof *samples };
  guint64 steps = 1;
  gboolean done = astro_fft_reference.submit(fft, &block, 1, &block, 1, &steps, NULL, error);
  astro_fft_reference.destroy(fft);
  if (!done)
    g_clear_pointer(&samples, g_free);
  return samples;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  const AstroImageConfig *config = &((Reference *)instance)->config;
  AstroImageConfig transformed = *config;
  g_autofree double complex *samples = NULL;

  if (!astro_image_check_call(config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  if (((const AstroImageArguments *)arguments)->adds_image) {
    astro_image_add(config, in->data, out->data);
    return TRUE;
  }
  g_autofree double *corrections = find_corrections(&config->grid);
  Call call = { config, arguments, in->data, out->data, corrections };
  if (config->transforms_v) {
    samples = transform_v(config, in->data, n_in > 1 ? in[1].data : NULL, error);
    if (!samples)
      return FALSE;
    transformed.from = ASTRO_FORMAT_CF64LE;
    call.config = &transformed;
    call.in = samples;
  }
  for (guint channel = 0; channel < config->channels; channel++)
    for (guint product = 0; product < config->n_out; product++)
      for (guint y = 0; y < config->grid.image_size; y++)
        for (guint x = 0; x < config->grid.image_size; x++)
          make_pixel(&call, channel, product, y, x);
  astro_image_copy_middle(config, arguments, out->data, result);
  return TRUE;
}

const AstroBackend astro_image_reference = {
  .stage = "image",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroImageConfig),
  .shape = astro_image_check,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};
