/* Checks and small computations that the backends of imaging share. */
#include "config.h"
#include "core/image/check.h"
#include "core/kit/add-values.h"

#include <math.h>
#include <string.h>

static gboolean has_format(AstroFormat format, gboolean is_complex)
{
  if (is_complex)
    return format == ASTRO_FORMAT_CF32LE || format == ASTRO_FORMAT_CF64LE;
  return format == ASTRO_FORMAT_F32LE || format == ASTRO_FORMAT_F64LE;
}

/* No pixel may be beyond the horizon, where n does not exist. */
static gboolean check_field(const AstroGrid *grid, GError **error)
{
  double half = grid->image_size / 2 * grid->pixel;
  double l = fabs(grid->centre_l) + half, m = fabs(grid->centre_m) + half;

  if (l * l + m * m < 1)
    return TRUE;
  return astro_backend_refuse(
      error,
      "the image reaches beyond the hemisphere: its farthest corner has l^2 + m^2 = %.3f, "
      "expected less than 1",
      l * l + m * m);
}

gboolean astro_image_check(gconstpointer given, GError **error)
{
  const AstroImageConfig *config = given;

  if (!has_format(config->from, TRUE) || !has_format(config->to, FALSE))
    return astro_backend_refuse(error,
                                "image: %s to %s, expected CF32LE or CF64LE to F32LE or F64LE",
                                astro_format_name(config->from), astro_format_name(config->to));
  if (!config->channels || !config->n_in || !config->n_out ||
      config->n_out > ASTRO_IMAGE_MAX_PRODUCTS)
    return astro_backend_refuse(
        error,
        "image: %u channels of %u products to %u, expected 1 or more, and at most %d products out",
        config->channels, config->n_in, config->n_out, ASTRO_IMAGE_MAX_PRODUCTS);
  for (guint i = 0; i < config->n_out; i++)
    if (!config->products[i].n_terms)
      return astro_backend_refuse(error, "image: product %u has no terms, expected 1 or 2", i);
  for (guint i = 0; i < config->n_out; i++)
    for (guint k = 0; k < config->products[i].n_terms; k++)
      if (config->products[i].terms[k].product >= config->n_in)
        return astro_backend_refuse(error, "image: product %u of %u",
                                    config->products[i].terms[k].product, config->n_in);
  if (config->grid.image_size == 0 || config->grid.image_size > config->grid.size ||
      !(config->grid.pixel > 0))
    return astro_backend_refuse(
        error, "image: %u pixels of %g radians from a grid of %u, expected 1 to as many",
        config->grid.image_size, config->grid.pixel, config->grid.size);
  return check_field(&config->grid, error);
}

/* Size of the map of touched tiles. */
static gsize map_bytes(const AstroImageConfig *config)
{
  gsize tiles = astro_grid_tiles(config->grid.size);
  return config->channels * tiles * tiles;
}

gboolean astro_image_check_call(const AstroImageConfig *config, const AstroBlock *in, guint n_in,
                                const AstroBlock *out, guint n_out,
                                const AstroImageArguments *arguments, GError **error)
{
  gsize size = config->grid.size, image = config->grid.image_size;
  gsize bytes_in = astro_format_info(config->from)->bytes * config->channels * config->n_in;
  gsize bytes_out = astro_format_info(config->to)->bytes * config->channels * config->n_out;

  if (arguments->middle_size > image ||
      arguments->middle_product >= config->channels * config->n_out)
    return astro_backend_refuse(
        error, "image: the middle %u pixels of product %u, expected %u of %u at most",
        arguments->middle_size, arguments->middle_product, config->grid.image_size,
        config->channels * config->n_out);
  if (arguments->adds_image) {
    size = image;
    bytes_in = bytes_out;
  } else if (config->transforms_v && n_in == 2) {
    if (in[1].bytes < map_bytes(config))
      return astro_backend_refuse(error,
                                  "image: a map of touched tiles of %" G_GSIZE_FORMAT
                                  " bytes, expected %" G_GSIZE_FORMAT,
                                  in[1].bytes, map_bytes(config));
    n_in = 1;
  }
  if (n_in == 1 && n_out == 1 && in->bytes >= bytes_in * size * size &&
      out->bytes >= bytes_out * image * image)
    return TRUE;
  return astro_backend_refuse(error,
                              "image: %u blocks in and %u out of %" G_GSIZE_FORMAT
                              " and %" G_GSIZE_FORMAT " bytes, expected one of %" G_GSIZE_FORMAT
                              " and one of %" G_GSIZE_FORMAT,
                              n_in, n_out, n_in ? in->bytes : 0, n_out ? out->bytes : 0,
                              bytes_in * size * size, bytes_out * image * image);
}

void astro_image_find_blank(const AstroImageConfig *config, const guint8 *map, guint8 *blank)
{
  const gsize size = config->grid.size, tiles = astro_grid_tiles(config->grid.size);

  for (gsize channel = 0; channel < config->channels; channel++)
    for (gsize v = 0; v < size; v += ASTRO_GRID_TILE) {
      const guint8 *row = map + (channel * tiles + v / ASTRO_GRID_TILE) * tiles;
      guint8 any = 0;
      for (gsize i = 0; i < tiles; i++)
        any |= row[i];
      memset(blank + channel * size + v, !any, MIN(size - v, ASTRO_GRID_TILE));
    }
}

double astro_image_scale(const AstroImageConfig *config, const AstroImageArguments *arguments,
                         guint channel, const AstroImageTerm *term)
{
  double weight = arguments->weights[channel * config->n_in + term->product];
  return weight > 0 ? term->factor / weight : NAN;
}

gsize astro_image_middle(const AstroImageConfig *config, const AstroImageArguments *arguments,
                         gsize *pitch)
{
  gsize image = config->grid.image_size, bytes = astro_format_info(config->to)->bytes;
  gsize begin = image / 2 - arguments->middle_size / 2;

  *pitch = image * bytes;
  return ((arguments->middle_product * image + begin) * image + begin) * bytes;
}

gboolean astro_image_wants_middle(const AstroImageArguments *arguments, const AstroResult *result)
{
  return result && result->middle && arguments->last && arguments->middle_size;
}

gsize astro_image_bytes(const AstroImageConfig *config)
{
  const gsize size = config->grid.image_size;
  return astro_format_info(config->to)->bytes * config->channels * config->n_out * size * size;
}

void astro_image_add(const AstroImageConfig *config, gconstpointer other, gpointer image)
{
  astro_add_values(image, other, astro_image_bytes(config), config->to == ASTRO_FORMAT_F64LE);
}

void astro_image_copy_middle(const AstroImageConfig *config, const AstroImageArguments *arguments,
                             gconstpointer image, AstroResult *result)
{
  gsize pitch, row = arguments->middle_size * astro_format_info(config->to)->bytes;

  if (!astro_image_wants_middle(arguments, result))
    return;
  const guint8 *from = (const guint8 *)image + astro_image_middle(config, arguments, &pitch);
  for (gsize y = 0; y < arguments->middle_size; y++)
    memcpy((guint8 *)result->middle + y * row, from + y * pitch, row);
}
