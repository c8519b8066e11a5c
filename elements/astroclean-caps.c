/* Images as astroclean takes them, and what it makes of them, in caps. */
#include "config.h"
#include "elements/astroclean-caps.h"

#include "core/stream/grid.h"

/* The output's products that are made from each input product, ending with NULL. */
static const char *const suffixes[][4] = {
  [ASTRO_CLEAN_RESTORED] = { "" },
  [ASTRO_CLEAN_MODEL] = { "-MODEL" },
  [ASTRO_CLEAN_RESIDUAL] = { "-RESIDUAL" },
  [ASTRO_CLEAN_ALL] = { "", "-MODEL", "-RESIDUAL" },
};

/* Products of the output; NULL where the input's caps do not name theirs. */
static char *products_out(AstroCleanOutput output, const GstStructure *s, guint *n)
{
  const char *text = gst_structure_get_string(s, "products");
  gint pols = 0;

  gst_structure_get_int(s, "pols", &pols);
  if (!text && pols != 2)
    return NULL;
  g_auto(GStrv) names = g_strsplit(text ? text : "I:" ASTRO_PRODUCT_PSF, ":", -1);
  GString *made = g_string_new(NULL);
  *n = 0;
  for (guint k = 0; suffixes[output][k]; k++)
    for (guint i = 0; names[i]; i++)
      if (!g_str_equal(names[i], ASTRO_PRODUCT_PSF))
        g_string_append_printf(made, "%s%s%s", (*n)++ ? ":" : "", names[i], suffixes[output][k]);
  if (output == ASTRO_CLEAN_ALL)
    g_string_append_printf(made, "%s" ASTRO_PRODUCT_PSF, (*n)++ ? ":" : "");
  return g_string_free(made, FALSE);
}

void astro_clean_describe_output(GstStructure *s, AstroCleanOutput output)
{
  guint n;
  gint middle;
  g_autofree char *products = products_out(output, s, &n);

  if (gst_structure_get_int(s, "middle", &middle) && middle > 0)
    gst_structure_set(s, "width", G_TYPE_INT, middle, "height", G_TYPE_INT, middle, NULL);
  gst_structure_remove_fields(s, "middle", "wide-psf", NULL);
  gst_structure_set(s, "psf", G_TYPE_BOOLEAN, output == ASTRO_CLEAN_ALL, NULL);
  if (products && *products)
    gst_structure_set(s, "products", G_TYPE_STRING, products, "pols", G_TYPE_INT, (gint)n, NULL);
  else if (!products)
    gst_structure_remove_fields(s, "products", "pols", NULL);
}

void astro_clean_append_input(const GstStructure *given, gboolean is_wide, GstCaps *result)
{
  GstStructure *s = gst_structure_copy(given), *wide;

  gst_structure_remove_fields(s, "products", "pols", "middle", "wide-psf", NULL);
  gst_structure_set(s, "psf", G_TYPE_BOOLEAN, TRUE, NULL);
  if (is_wide) {
    wide = gst_structure_copy(s);
    gst_structure_remove_fields(wide, "width", "height", NULL);
    gst_structure_set(wide, "wide-psf", G_TYPE_BOOLEAN, TRUE, NULL);
    gst_caps_append_structure(result, wide);
  }
  gst_caps_append_structure(result, s);
}
