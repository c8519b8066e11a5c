/* The reader of catalogues in text, on any text. */
#include "core/lib/catalogue/catalogue.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  static const AstroCatalogueColumns columns[] = { { "1", "2" }, { "ra", "dec", "w", "3" } };

  for (guint c = 0; c < G_N_ELEMENTS(columns); c++) {
    AstroCatalogue catalogue;
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(guint64));
    gboolean good = astro_catalogue_parse_text((const char *)data, size, "fuzz", &columns[c],
                                               &catalogue, ends, &error);
    if (good == (error != NULL))
      abort();
    for (guint i = 0; i < ends->len && good; i++)
      if (astro_catalogue_part(&catalogue, ends, i).n == 0)
        abort();
    for (guint64 i = 0; i < catalogue.n; i++)
      if (!isfinite(catalogue.ra[i]) || !(fabs(catalogue.dec[i]) <= 90))
        abort();
    astro_catalogue_clear(&catalogue);
  }
  return 0;
}
