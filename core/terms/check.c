/* Checks configurations and calls of terms, and does what both backends do the same way. */
#include "config.h"
#include "core/terms/check.h"

#include "core/kit/noise.h"

#include <math.h>

gboolean astro_terms_check(gconstpointer given, GError **error)
{
  const AstroTermsConfig *config = given;
  if (config->format != ASTRO_FORMAT_F32LE && config->format != ASTRO_FORMAT_F64LE)
    return astro_backend_refuse(error, "terms: an image of format %s, expected F32LE or F64LE",
                                astro_format_info(config->format)->name);
  if (!config->width || !config->height || !config->channels || !config->products ||
      config->products > ASTRO_TERMS_MOST_PRODUCTS)
    return astro_backend_refuse(
        error,
        "terms: %u channels of %u products of %u x %u pixels, expected 1 or more of each, and at "
        "most %u products",
        config->channels, config->products, config->width, config->height,
        ASTRO_TERMS_MOST_PRODUCTS);
  if (!(config->cut >= 0 && isfinite(config->cut)))
    return astro_backend_refuse(error, "terms: cut %g times the noise, expected at least 0",
                                config->cut);
  if (config->terms < 1 || config->terms > ASTRO_POLYNOMIAL_MOST_TERMS ||
      config->terms > config->channels)
    return astro_backend_refuse(error,
                                "terms: %u terms for %u channels, expected 1 to %u, and no more "
                                "than channels",
                                config->terms, config->channels, ASTRO_POLYNOMIAL_MOST_TERMS);
  if (config->terms > 1 && !(config->frequency > 0 && config->bandwidth > 0))
    return astro_backend_refuse(error,
                                "terms: %u terms of channels at a frequency of %g Hz with a "
                                "bandwidth of %g Hz, expected both above 0",
                                config->terms, config->frequency, config->bandwidth);
  return TRUE;
}

gsize astro_terms_pixels(const AstroTermsConfig *config)
{
  return (gsize)config->width * config->height;
}

static gsize image_bytes(const AstroTermsConfig *config)
{
  return astro_terms_pixels(config) * astro_format_info(config->format)->bytes;
}

gconstpointer astro_terms_plane(const AstroTermsConfig *config, gconstpointer in, guint channel,
                                guint product)
{
  return (const guint8 *)in + (channel * config->products + product) * image_bytes(config);
}

gboolean astro_terms_check_call(const AstroTermsConfig *config, const AstroBlock *in, guint n_in,
                                const AstroBlock *out, guint n_out, GError **error)
{
  const gsize bytes_in = image_bytes(config) * config->products * config->channels,
              bytes_out = image_bytes(config) * astro_terms_products_out(config);
  if (n_in == 1 && n_out == 1 && in->bytes >= bytes_in && out->bytes >= bytes_out)
    return TRUE;
  return astro_backend_refuse(
      error,
      "terms: %u blocks in and %u out of %" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT
      " bytes, expected one of %" G_GSIZE_FORMAT " and one of %" G_GSIZE_FORMAT,
      n_in, n_out, n_in ? in->bytes : 0, n_out ? out->bytes : 0, bytes_in, bytes_out);
}

/* ---- products ---- */

static gboolean has(const AstroTermsConfig *config, AstroTermsKind kind, guint product)
{
  const gboolean plain = config->plain >> product & 1;
  switch (kind) {
  case ASTRO_TERMS_VALUE:
    return TRUE;
  case ASTRO_TERMS_CURVATURE:
    return plain && config->terms > 2;
  default:
    return plain && config->terms > 1;
  }
}

gint astro_terms_find(const AstroTermsConfig *config, AstroTermsKind kind, guint product)
{
  const guint n = astro_terms_products_out(config);
  for (guint i = 0; i < n; i++) {
    const AstroTermsProduct found = astro_terms_product(config, i);
    if (found.kind == kind && found.product == product)
      return (gint)i;
  }
  return -1;
}

AstroTermsProduct astro_terms_product(const AstroTermsConfig *config, guint number)
{
  guint seen = 0;
  for (AstroTermsKind kind = ASTRO_TERMS_VALUE; kind <= ASTRO_TERMS_INDEX; kind++)
    for (guint product = 0; product < config->products; product++)
      if (has(config, kind, product) && seen++ == number)
        return (AstroTermsProduct){ kind, product };
  return (AstroTermsProduct){ ASTRO_TERMS_VALUE, 0 };
}

guint astro_terms_products_out(const AstroTermsConfig *config)
{
  guint n = 0;
  for (AstroTermsKind kind = ASTRO_TERMS_VALUE; kind <= ASTRO_TERMS_INDEX; kind++)
    for (guint product = 0; product < config->products; product++)
      n += has(config, kind, product) ? 1 : 0;
  return n;
}

/* ---- the fit ---- */

static gboolean has_pixels(const AstroTermsConfig *config, gconstpointer plane)
{
  for (gsize i = 0; i < astro_terms_pixels(config); i++)
    if (isfinite(astro_terms_get(config, plane, i)))
      return TRUE;
  return FALSE;
}

guint astro_terms_fitted(const AstroTermsConfig *config, guint product)
{
  return config->means >> product & 1 ? 1 : config->terms;
}

gboolean astro_terms_fit(const AstroTermsConfig *config, gconstpointer in, guint product,
                         const double *weights, AstroPolynomial *fit, gboolean *any, GError **error)
{
  const guint n = config->channels, terms = astro_terms_fitted(config, product);
  g_autofree double *x = g_new0(double, n), *shares = g_new(double, n);
  guint used = 0;
  *fit = (AstroPolynomial){ 0 };
  for (guint i = 0; i < n; i++) {
    const double weight = weights ? weights[i * config->products + product] : 1;
    shares[i] =
        weight > 0 && has_pixels(config, astro_terms_plane(config, in, i, product)) ? weight : 0;
    used += shares[i] > 0;
    if (terms > 1)
      x[i] =
          astro_channel_frequency(config->frequency, config->bandwidth, n, i) / config->frequency -
          1;
  }
  *any = used > 0;
  if (!used || astro_polynomial_init(fit, x, shares, n, terms))
    return TRUE;
  return astro_backend_refuse(error,
                              "terms: %u terms, and %u of %u channels have data: expected no more "
                              "terms than channels with data",
                              terms, used, n);
}

/* ---- spectral indexes ---- */

static double noise_of(const AstroTermsConfig *config, gconstpointer image)
{
  const gsize n = astro_terms_pixels(config);
  g_autofree double *sizes = g_new(double, n);
  gsize used = 0;
  for (gsize i = 0; i < n; i++) {
    const double value = fabs(astro_terms_get(config, image, i));
    if (isfinite(value))
      sizes[used++] = value;
  }
  return used ? astro_noise_of_sizes(sizes, used) : 0;
}

/* The noise is measured in doubles. */
guint64 astro_terms_memory(gconstpointer config, guint threads)
{
  return astro_terms_pixels(config) * sizeof(double);
}

static gpointer image_out(const AstroTermsConfig *config, gpointer out, gint number)
{
  return (guint8 *)out + (gsize)number * image_bytes(config);
}

void astro_terms_fill_indexes(const AstroTermsConfig *config, gpointer out)
{
  for (guint product = 0; product < config->products; product++) {
    const gint to = astro_terms_find(config, ASTRO_TERMS_INDEX, product);
    if (to < 0)
      continue;
    const gint slopes = astro_terms_find(config, ASTRO_TERMS_SLOPE, product);
    gconstpointer values = image_out(config, out, (gint)product);
    const double least = config->cut * noise_of(config, values);
    for (gsize i = 0; i < astro_terms_pixels(config); i++) {
      const double value = astro_terms_get(config, values, i);
      const double slope = astro_terms_get(config, image_out(config, out, slopes), i);
      astro_terms_put(config, image_out(config, out, to), i, value > least ? slope / value : NAN);
    }
  }
}
