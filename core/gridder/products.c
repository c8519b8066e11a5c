/* The combinations of correlations that make each product. */
#include "config.h"
#include "core/gridder/products.h"

#include <complex.h>
#include <string.h>
#include "core/backend/backend.h"
#include "core/stream/grid.h"

typedef struct {
  const char *name;
  complex double factors[4];
} Row;

/* I, Q, U, V by the IAU's definition: XX = I + Q, XY = U + iV; RR = I + V, RL = Q + iU. */
static const Row linear[] = {
  { "XX", { 1, 0, 0, 0 } },    { "XY", { 0, 1, 0, 0 } },
  { "YX", { 0, 0, 1, 0 } },    { "YY", { 0, 0, 0, 1 } },
  { "I", { 0.5, 0, 0, 0.5 } }, { "Q", { 0.5, 0, 0, -0.5 } },
  { "U", { 0, 0.5, 0.5, 0 } }, { "V", { 0, -0.5 * I, 0.5 * I, 0 } },
};
static const Row circular[] = {
  { "RR", { 1, 0, 0, 0 } },
  { "RL", { 0, 1, 0, 0 } },
  { "LR", { 0, 0, 1, 0 } },
  { "LL", { 0, 0, 0, 1 } },
  { "I", { 0.5, 0, 0, 0.5 } },
  { "Q", { 0, 0.5, 0.5, 0 } },
  { "U", { 0, -0.5 * I, 0.5 * I, 0 } },
  { "V", { 0.5, 0, 0, -0.5 } },
};
static const Row single_linear[] = { { "XX", { 1 } }, { "I", { 1 } } };
static const Row single_circular[] = { { "RR", { 1 } }, { "I", { 1 } } };
static const Row stokes[] = { { "I", { 1 } } };

static const struct {
  const char *basis;
  guint pols;
  const Row *rows;
  guint n;
} tables[] = {
  { "linear", 2, linear, G_N_ELEMENTS(linear) },
  { "circular", 2, circular, G_N_ELEMENTS(circular) },
  { "linear", 1, single_linear, G_N_ELEMENTS(single_linear) },
  { "circular", 1, single_circular, G_N_ELEMENTS(single_circular) },
  { "stokes", 1, stokes, G_N_ELEMENTS(stokes) },
};

static const Row *find(guint table, const char *name)
{
  for (guint i = 0; i < tables[table].n; i++)
    if (!strcmp(tables[table].rows[i].name, name))
      return &tables[table].rows[i];
  return NULL;
}

gboolean astro_product_is_known(const char *name)
{
  for (guint t = 0; t < G_N_ELEMENTS(tables); t++)
    if (find(t, name))
      return TRUE;
  return !strcmp(name, ASTRO_PRODUCT_PSF);
}

gboolean astro_product_find(AstroProduct *product, const char *name, const char *basis, guint pols,
                            GError **error)
{
  g_autoptr(GString) there = g_string_new(NULL);
  memset(product, 0, sizeof *product);
  product->is_psf = !strcmp(name, ASTRO_PRODUCT_PSF);
  if (product->is_psf)
    return TRUE;
  for (guint t = 0; t < G_N_ELEMENTS(tables); t++) {
    if (strcmp(tables[t].basis, basis) || tables[t].pols != pols)
      continue;
    const Row *row = find(t, name);
    for (guint k = 0; row && k < 4; k++) {
      product->factors[k][0] = creal(row->factors[k]);
      product->factors[k][1] = cimag(row->factors[k]);
      product->used[k] = row->factors[k] != 0;
    }
    if (row)
      return TRUE;
    for (guint i = 0; i < tables[t].n; i++)
      g_string_append_printf(there, " %s", tables[t].rows[i].name);
  }
  return astro_backend_refuse(error, "product %s: visibilities of %u %s polarisation%s have%s",
                              name, pols, basis, pols == 1 ? "" : "s",
                              there->len ? there->str : " none that is known");
}
