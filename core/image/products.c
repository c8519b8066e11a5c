/* Combines products of the grid to Stokes parameters. */
#include "config.h"
#include "core/image/image.h"

#include <string.h>

/* Stokes parameters from products of receivers: V_ij = <E_i conj(E_j)>, XY = U + iV, RL = Q + iU.
 * Images of cross products are complex, since each visibility is gridded once. If the reversed
 * baselines were gridded too, which have the conjugate of the other product, the image of XY would
 * be (XY + conj(YX)) / 2. */
static const struct {
  char stokes;
  struct {
    const char *product;
    gboolean imaginary;
    double factor;
  } terms[2];
} stokes_of[] = {
  { 'I', { { "XX", FALSE, 0.5 }, { "YY", FALSE, 0.5 } } },
  { 'Q', { { "XX", FALSE, 0.5 }, { "YY", FALSE, -0.5 } } },
  { 'U', { { "XY", FALSE, 0.5 }, { "YX", FALSE, 0.5 } } },
  { 'V', { { "XY", TRUE, 0.5 }, { "YX", TRUE, -0.5 } } },
  { 'I', { { "RR", FALSE, 0.5 }, { "LL", FALSE, 0.5 } } },
  { 'Q', { { "RL", FALSE, 0.5 }, { "LR", FALSE, 0.5 } } },
  { 'U', { { "RL", TRUE, 0.5 }, { "LR", TRUE, -0.5 } } },
  { 'V', { { "RR", FALSE, 0.5 }, { "LL", FALSE, -0.5 } } },
  { 'I', { { "I", FALSE, 1 } } },
  { 'Q', { { "Q", FALSE, 1 } } },
  { 'U', { { "U", FALSE, 1 } } },
  { 'V', { { "V", FALSE, 1 } } },
};

static const char *letter_name(char stokes)
{
  static const char *const names[] = { "I", "Q", "U", "V" };
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    if (names[i][0] == stokes)
      return names[i];
  return NULL;
}

static gboolean make(const AstroGrid *grid, char stokes, AstroImageProduct *product)
{
  for (guint i = 0; i < G_N_ELEMENTS(stokes_of); i++) {
    *product = (AstroImageProduct){ .name = letter_name(stokes) };
    if (stokes_of[i].stokes != stokes)
      continue;
    for (guint k = 0; k < 2 && stokes_of[i].terms[k].product; k++) {
      gint at = astro_grid_find(grid, stokes_of[i].terms[k].product);
      if (at < 0)
        break;
      product->terms[product->n_terms++] =
          (AstroImageTerm){ (guint)at, stokes_of[i].terms[k].imaginary,
                            stokes_of[i].terms[k].factor };
    }
    if (product->n_terms == (stokes_of[i].terms[1].product ? 2 : 1))
      return TRUE;
  }
  return FALSE;
}

static guint fail(const AstroGrid *grid, const char *stokes, const char *expected, GError **error)
{
  g_autofree char *names = g_strjoinv(":", grid->products);
  astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                      "stokes is \"%s\" but the products are %s, expected %s", stokes ? stokes : "",
                      names, expected);
  return 0;
}

guint astro_image_products(const AstroGrid *grid, const char *stokes,
                           AstroImageProduct products[ASTRO_IMAGE_MAX_PRODUCTS], GError **error)
{
  guint n = 0;

  if (!stokes || !*stokes) {
    for (; grid->products[n]; n++) {
      if (n == ASTRO_IMAGE_MAX_PRODUCTS)
        return fail(grid, stokes, "fewer products", error);
      products[n] = (AstroImageProduct){ grid->products[n], 1, { { n, FALSE, 1 } } };
    }
    return n;
  }
  for (const char *letter = stokes; *letter; letter++) {
    if (!letter_name(*letter) || strchr(letter + 1, *letter))
      return fail(grid, stokes, "some of the letters I, Q, U and V", error);
    if (!make(grid, *letter, &products[n++]))
      return fail(grid, stokes, "products from which it can be made", error);
  }
  gint psf = astro_grid_find(grid, ASTRO_PRODUCT_PSF);
  if (psf >= 0)
    products[n++] = (AstroImageProduct){ ASTRO_PRODUCT_PSF, 1, { { (guint)psf, FALSE, 1 } } };
  return n;
}

double *astro_image_weights(const AstroImageConfig *config, const AstroGrid *grid,
                            const double *weights, double jansky)
{
  const guint n = config->channels * config->n_in;
  const gint psf = astro_grid_find(grid, ASTRO_PRODUCT_PSF);
  double *scaled = g_memdup2(weights, n * sizeof *weights);
  for (guint i = 0; jansky > 0 && i < n; i++)
    if ((gint)(i % config->n_in) != psf)
      scaled[i] /= jansky;
  return scaled;
}
