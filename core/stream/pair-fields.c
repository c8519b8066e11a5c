/* Names of the sums over pairs of points that carry something. */
#include "core/stream/pair-fields.h"

#include "core/kit/enum.h"

#include <string.h>

ASTRO_ENUM_TYPE(astro_pair_fields_get_type, "AstroPairFields",
                { ASTRO_PAIR_FIELDS_NONE, "Points alone: pairs are counted", "none" },
                { ASTRO_PAIR_FIELDS_KK, "A scalar (k) with a scalar", "kk" },
                { ASTRO_PAIR_FIELDS_NK, "A scalar (k) of data2 around the points of data", "nk" },
                { ASTRO_PAIR_FIELDS_NG, "The shear (g1, g2) of data2 around the points of data",
                  "ng" },
                { ASTRO_PAIR_FIELDS_GG, "A shear (g1, g2) with a shear", "gg" })

static const struct {
  const char *name;
  AstroCarried first, second;
  const char *planes[ASTRO_PAIR_MOST_PLANES + 1]; /* behind that of weights, up to a NULL */
} fields_table[] = {
  [ASTRO_PAIR_FIELDS_NONE] = { "none", ASTRO_CARRIED_NOTHING, ASTRO_CARRIED_NOTHING, { NULL } },
  [ASTRO_PAIR_FIELDS_KK] = { "kk",
                             ASTRO_CARRIED_SCALAR,
                             ASTRO_CARRIED_SCALAR,
                             { "r", "xi", "var" } },
  [ASTRO_PAIR_FIELDS_NK] = { "nk",
                             ASTRO_CARRIED_NOTHING,
                             ASTRO_CARRIED_SCALAR,
                             { "r", "kappa", "var" } },
  [ASTRO_PAIR_FIELDS_NG] = { "ng",
                             ASTRO_CARRIED_NOTHING,
                             ASTRO_CARRIED_SHEAR,
                             { "r", "gamT", "gamX", "var" } },
  [ASTRO_PAIR_FIELDS_GG] = { "gg",
                             ASTRO_CARRIED_SHEAR,
                             ASTRO_CARRIED_SHEAR,
                             { "r", "xip", "xim", "xip_im", "xim_im", "var" } },
};

const char *astro_pair_fields_name(AstroPairFields fields)
{
  return fields_table[fields].name;
}

AstroCarried astro_pair_fields_carried(AstroPairFields fields, gboolean second)
{
  return second ? fields_table[fields].second : fields_table[fields].first;
}

guint astro_pair_fields_planes(AstroPairFields fields)
{
  guint planes = 1;
  while (fields_table[fields].planes[planes - 1])
    planes++;
  return planes;
}

const char *astro_pair_fields_plane(AstroPairFields fields, guint plane)
{
  return plane == ASTRO_PAIR_PLANE_WEIGHT ? NULL : fields_table[fields].planes[plane - 1];
}

/* The first plane of products has a name of its own in each. */
AstroPairFields astro_pair_fields_of_kinds(const char *kinds)
{
  g_auto(GStrv) names = g_strsplit(kinds ? kinds : "", ":", -1);
  for (guint f = ASTRO_PAIR_FIELDS_NONE + 1; f < G_N_ELEMENTS(fields_table); f++) {
    g_autofree char *first =
        g_strconcat("dd_", fields_table[f].planes[ASTRO_PAIR_PLANE_FIRST - 1], NULL);
    if (g_strv_contains((const char *const *)names, first))
      return (AstroPairFields)f;
  }
  return ASTRO_PAIR_FIELDS_NONE;
}
