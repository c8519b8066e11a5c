/* Cubes and images of astroterms in caps. */
#include "config.h"
#include "elements/astroterms-caps.h"

#include "core/stream/grid.h"

#include <string.h>

static const char *const suffixes[] = { [ASTRO_TERMS_VALUE] = "",
                                        [ASTRO_TERMS_SLOPE] = "-SLOPE",
                                        [ASTRO_TERMS_CURVATURE] = "-CURVATURE",
                                        [ASTRO_TERMS_INDEX] = "-INDEX" };

static void sort_products(AstroTermsConfig *config, char *const *products)
{
  config->products = g_strv_length((char **)products);
  config->plain = config->means = 0;
  for (guint i = 0; i < MIN(config->products, ASTRO_TERMS_MOST_PRODUCTS); i++) {
    const gboolean is_psf = g_str_equal(products[i], ASTRO_PRODUCT_PSF);
    config->means |= (is_psf ? 1U : 0U) << i;
    config->plain |= (!is_psf && !strchr(products[i], '-') ? 1U : 0U) << i;
  }
}

gboolean astro_terms_read_products(AstroTermsConfig *config, char *const *products, GError **error)
{
  sort_products(config, products);
  if (config->terms < 2 || config->plain)
    return TRUE;
  g_autofree char *names = g_strjoinv(":", (char **)products);
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "%u terms of an image of products %s: expected a plain one such as I, "
                             "or terms=1",
                             config->terms, names);
}

static char *products_out(char *const *products, guint terms, guint *n)
{
  AstroTermsConfig config = { .terms = terms };
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  sort_products(&config, products);
  config.products = MIN(config.products, ASTRO_TERMS_MOST_PRODUCTS);
  *n = astro_terms_products_out(&config);
  for (guint i = 0; i < *n; i++) {
    const AstroTermsProduct product = astro_terms_product(&config, i);
    g_ptr_array_add(names, g_strconcat(products[product.product], suffixes[product.kind], NULL));
  }
  g_ptr_array_add(names, NULL);
  return g_strjoinv(":", (char **)names->pdata);
}

/* Where caps do not name products, their number does (core/stream/grid.h). */
static char **names_of(const GstStructure *s)
{
  static const char *const by_number[] = { NULL, "I", "XX:YY", NULL, "XX:XY:YX:YY" };
  const char *text = gst_structure_get_string(s, "products");
  gint pols = 0;
  gst_structure_get_int(s, "pols", &pols);
  if (!text && pols > 0 && pols < (gint)G_N_ELEMENTS(by_number))
    text = by_number[pols];
  return text ? g_strsplit(text, ":", -1) : NULL;
}

/* Other layouts stay, and the element says what is wrong with them. */
static void leave_out_channels(GstStructure *s)
{
  const char *layout = gst_structure_get_string(s, "layout");
  gst_structure_remove_field(s, "channels");
  if (!layout || g_str_equal(layout, "channel:pol:y:x"))
    gst_structure_set(s, "layout", G_TYPE_STRING, "pol:y:x", NULL);
}

void astro_terms_describe_output(GstStructure *s, guint terms)
{
  g_auto(GStrv) names = names_of(s);
  leave_out_channels(s);
  if (!names) {
    gst_structure_remove_fields(s, "products", "pols", NULL);
    return;
  }
  guint n;
  g_autofree char *products = products_out(names, terms, &n);
  gst_structure_set(s, "products", G_TYPE_STRING, products, "pols", G_TYPE_INT, (gint)n, NULL);
}

/* Any layout: the element says what is wrong with one that it does not take. */
void astro_terms_describe_input(GstStructure *s)
{
  gst_structure_remove_fields(s, "layout", "channels", "products", "pols", NULL);
}
