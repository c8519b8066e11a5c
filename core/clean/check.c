/* Checks configurations and calls of CLEAN, and writes its output. */
#include "config.h"
#include "core/clean/check.h"
#include "core/clean/method.h"
#include "core/kit/polynomial.h"

#include <math.h>
#include <string.h>

/* The beam is drawn down to this level. */
#define FAINTEST 1e-8

/* A component needs room for all of it inside the border. */
static gboolean check_scales(const AstroCleanConfig *config, GError **error)
{
  if (config->n_scales > ASTRO_CLEAN_MOST_SCALES)
    return astro_backend_refuse(error, "clean: %u scales, expected at most %u", config->n_scales,
                                ASTRO_CLEAN_MOST_SCALES);
  for (guint i = 0; i < config->n_scales; i++) {
    const double scale = config->scales[i];
    if (!(scale >= 0 && isfinite(scale)) || (i && !(scale > config->scales[i - 1])))
      return astro_backend_refuse(
          error, "clean: a scale of %g pixels, expected 0 or more, each larger than the last",
          scale);
    if (scale > config->size ||
        2 * ((guint64)config->border + astro_clean_radius(scale)) >= config->size)
      return astro_backend_refuse(error,
                                  "clean: a scale of %g pixels is too large for an image of %u "
                                  "with a border of %u",
                                  scale, config->size, config->border);
  }
  return TRUE;
}

static gboolean check_joined(const AstroCleanConfig *config, GError **error)
{
  const guint terms = config->spectral_terms;
  if (!terms)
    return TRUE;
  if (!config->joined)
    return astro_backend_refuse(error,
                                "clean: %u spectral terms of channels that are cleaned one by one, "
                                "expected joined channels, or 0",
                                terms);
  if (terms > ASTRO_POLYNOMIAL_MOST_TERMS)
    return astro_backend_refuse(error, "clean: %u spectral terms, expected at most %u", terms,
                                ASTRO_POLYNOMIAL_MOST_TERMS);
  if (terms > config->channels)
    return astro_backend_refuse(error,
                                "clean: %u spectral terms for %u channels, expected no more than "
                                "channels",
                                terms, config->channels);
  if (terms > 1 && !(config->frequency > 0 && config->bandwidth > 0))
    return astro_backend_refuse(error,
                                "clean: %u spectral terms of channels at a frequency of %g Hz with "
                                "a bandwidth of %g Hz, expected both above 0",
                                terms, config->frequency, config->bandwidth);
  return TRUE;
}

gboolean astro_clean_check(gconstpointer given, GError **error)
{
  const AstroCleanConfig *config = given;

  if (config->format != ASTRO_FORMAT_F32LE && config->format != ASTRO_FORMAT_F64LE)
    return astro_backend_refuse(error, "clean: an image of format %s, expected F32LE or F64LE",
                                astro_format_info(config->format)->name);
  if (!config->size || !config->channels || !config->products)
    return astro_backend_refuse(
        error, "clean: %u channels of %u products of %u pixels, expected 1 or more",
        config->channels, config->products, config->size);
  if (config->in_size < config->size)
    return astro_backend_refuse(
        error, "clean: the middle %u pixels of an image of %u, expected at most as many",
        config->size, config->in_size);
  if (!(config->gain > 0 && config->gain <= 1))
    return astro_backend_refuse(error, "clean: gain %g, expected more than 0 and at most 1",
                                config->gain);
  if (!(config->threshold >= 0))
    return astro_backend_refuse(error, "clean: threshold %g Jy/beam, expected at least 0",
                                config->threshold);
  if (!(config->auto_threshold >= 0))
    return astro_backend_refuse(error,
                                "clean: auto-threshold %g times the noise, expected at least 0",
                                config->auto_threshold);
  if (!(config->fraction >= 0 && config->fraction < 1))
    return astro_backend_refuse(error,
                                "clean: ends at %g of the first peak, expected 0 or more and less "
                                "than 1",
                                config->fraction);
  if (!(config->auto_mask >= 0 && isfinite(config->auto_mask)))
    return astro_backend_refuse(error, "clean: auto-mask %g times the noise, expected at least 0",
                                config->auto_mask);
  if (!check_scales(config, error))
    return FALSE;
  if (2 * (guint64)config->border >= config->size)
    return astro_backend_refuse(error,
                                "clean: a border of %u pixels leaves nothing of an image of %u",
                                config->border, config->size);
  if (config->output > ASTRO_CLEAN_ALL)
    return astro_backend_refuse(error, "clean: there is no output %d", config->output);
  return check_joined(config, error);
}

guint astro_clean_planes(const AstroCleanConfig *config)
{
  return config->joined ? config->channels : 1;
}

guint astro_clean_n_results(const AstroCleanConfig *config)
{
  return (config->channels + (config->joined ? 1 : 0)) * config->products;
}

guint astro_clean_products_out(const AstroCleanConfig *config)
{
  return config->output == ASTRO_CLEAN_ALL ? 3 * config->products + 1 : config->products;
}

gboolean astro_clean_needs_beam(const AstroCleanConfig *config)
{
  return config->iterations > 0 &&
         (config->output == ASTRO_CLEAN_RESTORED || config->output == ASTRO_CLEAN_ALL);
}

guint astro_clean_exact_border(guint size, guint in_size)
{
  return size > in_size / 2 ? (size - in_size / 2) / 2 : 0;
}

static gsize pixels(const AstroCleanConfig *config)
{
  return (gsize)config->size * config->size;
}

gsize astro_clean_in(const AstroCleanConfig *config, guint channel, guint product)
{
  return (channel * (config->products + 1) + product) * config->in_size * config->in_size;
}

/* In both images the centre is at pixel size / 2. */
void astro_clean_crop(const AstroCleanConfig *config, gconstpointer in, gsize at, gpointer image)
{
  const gsize bytes = astro_format_info(config->format)->bytes, size = config->size;
  const gsize first = config->in_size / 2 - size / 2;

  for (gsize y = 0; y < size; y++)
    memcpy((guint8 *)image + y * size * bytes,
           (const guint8 *)in + (at + (first + y) * config->in_size + first) * bytes, size * bytes);
}

static gsize image_out(const AstroCleanConfig *config, guint channel, guint product)
{
  return (channel * astro_clean_products_out(config) + product) * pixels(config);
}

gboolean astro_clean_check_call(const AstroCleanConfig *config, const AstroBlock *in, guint n_in,
                                const AstroBlock *out, guint n_out,
                                const AstroCleanArguments *arguments, GError **error)
{
  gsize bytes = astro_format_info(config->format)->bytes;
  gsize bytes_in = astro_clean_in(config, config->channels, 0) * bytes;
  gsize bytes_out = image_out(config, config->channels, 0) * bytes;

  if (astro_clean_needs_beam(config) &&
      !(arguments->major > 0 && arguments->minor > 0 && isfinite(arguments->major)))
    return astro_backend_refuse(error, "clean: a beam of %g x %g pixels cannot restore an image",
                                arguments->major, arguments->minor);
  if (n_in == 1 && n_out == 1 && in->bytes >= bytes_in && out->bytes >= bytes_out)
    return TRUE;
  return astro_backend_refuse(
      error,
      "clean: %u blocks in and %u out of %" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT
      " bytes, expected one of %" G_GSIZE_FORMAT " and one of %" G_GSIZE_FORMAT,
      n_in, n_out, n_in ? in->bytes : 0, n_out ? out->bytes : 0, bytes_in, bytes_out);
}

/* East is toward negative x: an axis at angle t from north through east points to (-sin t, cos t).
 */
AstroCleanBeam astro_clean_beam(const AstroCleanConfig *config,
                                const AstroCleanArguments *arguments)
{
  if (!astro_clean_needs_beam(config))
    return (AstroCleanBeam){ 0 };
  double along = 4 * G_LN2 / (arguments->major * arguments->major);
  double across = 4 * G_LN2 / (arguments->minor * arguments->minor);
  double s = sin(arguments->angle), c = cos(arguments->angle);
  double widest = MAX(arguments->major, arguments->minor);
  return (AstroCleanBeam){
    .a = along * s * s + across * c * c,
    .b = (across - along) * s * c,
    .c = along * c * c + across * s * s,
    .reach = (guint)ceil(sqrt(-log(FAINTEST) / (4 * G_LN2)) * widest),
  };
}

double astro_clean_get(const AstroCleanConfig *config, gconstpointer data, gsize at)
{
  return config->format == ASTRO_FORMAT_F64LE ? ((const double *)data)[at]
                                              : ((const float *)data)[at];
}

void astro_clean_set(const AstroCleanConfig *config, gpointer data, gsize at, double value)
{
  if (config->format == ASTRO_FORMAT_F64LE)
    ((double *)data)[at] = value;
  else
    ((float *)data)[at] = (float)value;
}

static void copy(const AstroCleanConfig *config, gconstpointer from, gpointer to, gsize at)
{
  gsize bytes = astro_format_info(config->format)->bytes;
  memcpy((guint8 *)to + at * bytes, from, pixels(config) * bytes);
}

static void draw(const AstroCleanConfig *config, const AstroCleanBeam *beam, guint x, guint y,
                 double flux, gpointer out, gsize at)
{
  guint reach = beam->reach, size = config->size;

  for (guint row = y - MIN(y, reach); row < MIN(size, y + reach + 1); row++)
    for (guint column = x - MIN(x, reach); column < MIN(size, x + reach + 1); column++) {
      double dx = (double)column - x, dy = (double)row - y;
      gsize pixel = at + (gsize)row * size + column;
      double value = flux * exp(-(beam->a * dx * dx + 2 * beam->b * dx * dy + beam->c * dy * dy));
      astro_clean_set(config, out, pixel, astro_clean_get(config, out, pixel) + value);
    }
}

static void restore(const AstroCleanConfig *config, const AstroCleanBeam *beam, gconstpointer model,
                    gconstpointer residual, gpointer out, gsize at)
{
  copy(config, residual, out, at);
  for (guint y = 0; y < config->size; y++)
    for (guint x = 0; x < config->size; x++) {
      double flux = astro_clean_get(config, model, (gsize)y * config->size + x);
      if (flux != 0)
        draw(config, beam, x, y, flux, out, at);
    }
}

void astro_clean_finish_model(const AstroCleanConfig *config, guint channel, guint product,
                              const AstroCleanArguments *arguments, gpointer model)
{
  const gsize n = pixels(config), at = (channel * config->products + product) * n;
  for (gsize i = 0; arguments->start && i < n; i++)
    astro_clean_set(config, model, i,
                    astro_clean_get(config, model, i) + (double)arguments->start[at + i]);
  for (gsize i = 0; arguments->model && i < n; i++)
    arguments->model[at + i] = (float)astro_clean_get(config, model, i);
}

void astro_clean_write(const AstroCleanConfig *config, guint channel, guint product,
                       const AstroCleanBeam *beam, gconstpointer in, gconstpointer model,
                       gconstpointer residual, gpointer out)
{
  gboolean all = config->output == ASTRO_CLEAN_ALL;
  guint n = config->products;
  gsize bytes = astro_format_info(config->format)->bytes;

  if (all || config->output == ASTRO_CLEAN_RESTORED)
    restore(config, beam, model, residual, out, image_out(config, channel, product));
  if (all || config->output == ASTRO_CLEAN_MODEL)
    copy(config, model, out, image_out(config, channel, product + (all ? n : 0)));
  if (all || config->output == ASTRO_CLEAN_RESIDUAL)
    copy(config, residual, out, image_out(config, channel, product + (all ? 2 * n : 0)));
  if (all && product == 0)
    astro_clean_crop(config, in, astro_clean_in(config, channel, n),
                     (guint8 *)out + image_out(config, channel, 3 * n) * bytes);
}
