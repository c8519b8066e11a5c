/* The reference backend: subtracts the whole point-spread function from the whole image, in double
 * precision. */
#include "config.h"
#include "core/clean/check.h"
#include "core/clean/stop.h"

#include <math.h>

typedef struct {
  AstroCleanConfig config;
} Reference;

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_clean_check(config, error))
    return NULL;
  Reference *self = g_new(Reference, 1);
  self->config = *(const AstroCleanConfig *)config;
  *variant = "hogbom";
  return self;
}

typedef struct {
  const AstroCleanConfig *config;
  double *psf, *residual, *model;
} Image;

static gboolean is_finite(const double *values, gsize n)
{
  for (gsize i = 0; i < n; i++)
    if (!isfinite(values[i]))
      return FALSE;
  return TRUE;
}

/* Masks pixels that are NaN or infinite. FALSE if there is no other pixel inside the border. */
static gboolean mask(const Image *image)
{
  guint size = image->config->size, border = image->config->border;
  gboolean any = FALSE;

  for (guint y = 0; y < size; y++)
    for (guint x = 0; x < size; x++) {
      double *value = &image->residual[(gsize)y * size + x];
      if (!isfinite(*value))
        *value = NAN;
      else
        any |= MIN(x, y) >= border && MAX(x, y) < size - border;
    }
  return any;
}

static void find_peak(const Image *image, guint *x, guint *y)
{
  guint size = image->config->size, border = image->config->border;
  double highest = -1;

  for (guint row = border; row < size - border; row++)
    for (guint column = border; column < size - border; column++)
      if (fabs(image->residual[row * size + column]) > highest) {
        highest = fabs(image->residual[row * size + column]);
        *x = column;
        *y = row;
      }
}

/* Subtracts where the point-spread function is known. */
static void subtract(const Image *image, guint x, guint y, double flux)
{
  gint size = (gint)image->config->size, psf = (gint)image->config->in_size;

  for (gint row = 0; row < size; row++)
    for (gint column = 0; column < size; column++) {
      gint from_y = row - (gint)y + psf / 2, from_x = column - (gint)x + psf / 2;
      if (from_y >= 0 && from_y < psf && from_x >= 0 && from_x < psf)
        image->residual[row * size + column] -= flux * image->psf[from_y * psf + from_x];
    }
}

static AstroCleanResult clean(const Image *image)
{
  const AstroCleanConfig *config = image->config;
  AstroCleanResult result = { .end = ASTRO_CLEAN_EMPTY };
  AstroCleanStop stop;

  if (!is_finite(image->psf, (gsize)config->in_size * config->in_size) || !mask(image))
    return result;
  astro_clean_stop_init(&stop, config, image->residual, TRUE);
  for (;; result.iterations++) {
    guint x = 0, y = 0;
    find_peak(image, &x, &y);
    double peak = image->residual[y * config->size + x];
    if (astro_clean_stop(&stop, fabs(peak), &result))
      break;
    image->model[y * config->size + x] += config->gain * peak;
    result.flux += config->gain * peak;
    subtract(image, x, y, config->gain * peak);
  }
  astro_clean_stop_clear(&stop);
  return result;
}

static double *read_image(const AstroCleanConfig *config, gconstpointer data, gsize at, gsize n)
{
  double *values = g_new(double, n);
  for (gsize i = 0; i < n; i++)
    values[i] = astro_clean_get(config, data, at + i);
  return values;
}

/* Reads only the middle of an image. */
static double *read_middle(const AstroCleanConfig *config, gconstpointer data, gsize at)
{
  const gsize n = (gsize)config->size * config->size;
  g_autofree gpointer middle = g_malloc(n * sizeof(double));
  astro_clean_crop(config, data, at, middle);
  return read_image(config, middle, 0, n);
}

/* Values rounded to the image's format; to be freed. */
static gpointer rounded(const AstroCleanConfig *config, const double *values)
{
  gsize n = (gsize)config->size * config->size;
  gpointer to = g_malloc(n * sizeof(double));
  for (gsize i = 0; i < n; i++)
    astro_clean_set(config, to, i, values[i]);
  return to;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer given, AstroResult *result, GError **error)
{
  const AstroCleanConfig *config = &((Reference *)instance)->config;
  const AstroCleanArguments *arguments = given;

  if (!astro_clean_check_call(config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  AstroCleanBeam beam = astro_clean_beam(config, arguments);
  for (guint channel = 0; channel < config->channels; channel++)
    for (guint product = 0; product < config->products; product++) {
      Image image = { config,
                      read_image(config, in->data,
                                 astro_clean_in(config, channel, config->products),
                                 (gsize)config->in_size * config->in_size),
                      read_middle(config, in->data, astro_clean_in(config, channel, product)),
                      g_new0(double, (gsize)config->size * config->size) };
      const AstroCleanResult cleaned = clean(&image);
      if (result && result->cleaned)
        result->cleaned[channel * config->products + product] = cleaned;
      g_autofree gpointer model = rounded(config, image.model);
      g_autofree gpointer residual = rounded(config, image.residual);
      astro_clean_write(config, channel, product, &beam, in->data, model, residual, out->data);
      g_free(image.psf);
      g_free(image.residual);
      g_free(image.model);
    }
  return TRUE;
}

const AstroBackend astro_clean_reference = {
  .stage = "clean",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroCleanConfig),
  .shape = astro_clean_check,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};
