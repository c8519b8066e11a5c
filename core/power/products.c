/* The table of products. */
#include "config.h"
#include "core/power/products.h"

#include <string.h>

typedef struct {
  AstroPowerRecipe mean, square;
} Recipes;

#define ONLY(sum)                                                                                  \
  {                                                                                                \
    { ASTRO_POWER_##sum, 0 },                                                                      \
    {                                                                                              \
      1, 0                                                                                         \
    }                                                                                              \
  }
#define AS_IT_IS(sum)                                                                              \
  {                                                                                                \
    ONLY(sum), ONLY(sum##2)                                                                        \
  }
#define HALF(sign, square)                                                                         \
  {                                                                                                \
    { { ASTRO_POWER_XX, ASTRO_POWER_YY }, { 0.5, sign 0.5 } },                                     \
    {                                                                                              \
      { ASTRO_POWER_##square, 0 },                                                                 \
      {                                                                                            \
        0.25, 0                                                                                    \
      }                                                                                            \
    }                                                                                              \
  }

/* XY = U + iV of linear receivers, RL = Q + iU of circular ones (doc/conventions.md). */
static const struct {
  const char *name;
  AstroPowerKind kind;
  Recipes linear, circular;
} table[] = {
  { "I", ASTRO_POWER_ONE, HALF(+, TOTAL2), HALF(+, TOTAL2) },
  { "Q", ASTRO_POWER_CROSS, HALF(-, DIFFERENCE2), AS_IT_IS(RE) },
  { "U", ASTRO_POWER_CROSS, AS_IT_IS(RE), AS_IT_IS(IM) },
  { "V", ASTRO_POWER_CROSS, AS_IT_IS(IM), HALF(-, DIFFERENCE2) },
  { "XX", ASTRO_POWER_ONE, AS_IT_IS(XX), AS_IT_IS(XX) },
  { "YY", ASTRO_POWER_PAIR, AS_IT_IS(YY), AS_IT_IS(YY) },
  { "XY-RE", ASTRO_POWER_CROSS, AS_IT_IS(RE), AS_IT_IS(RE) },
  { "XY-IM", ASTRO_POWER_CROSS, AS_IT_IS(IM), AS_IT_IS(IM) },
  { "RR", ASTRO_POWER_ONE, AS_IT_IS(XX), AS_IT_IS(XX) },
  { "LL", ASTRO_POWER_PAIR, AS_IT_IS(YY), AS_IT_IS(YY) },
  { "RL-RE", ASTRO_POWER_CROSS, AS_IT_IS(RE), AS_IT_IS(RE) },
  { "RL-IM", ASTRO_POWER_CROSS, AS_IT_IS(IM), AS_IT_IS(IM) },
};

/* I of the only polarisation is its power, as for images. */
static const Recipes alone = AS_IT_IS(XX);

static guint find(const char *name)
{
  const gsize length =
      strlen(name) - (astro_power_is_square(name) ? strlen(ASTRO_POWER_SQUARE) : 0);
  for (guint i = 0; i < G_N_ELEMENTS(table); i++)
    if (strlen(table[i].name) == length && strncmp(table[i].name, name, length) == 0)
      return i;
  g_assert_not_reached(); /* core/stream/power.c knows the same names */
}

AstroPowerKind astro_power_kind(const AstroPowerConfig *config)
{
  AstroPowerKind kind = config->pols == 2 ? ASTRO_POWER_PAIR : ASTRO_POWER_ONE;
  for (guint i = 0; i < config->products.n; i++)
    kind = MAX(kind, table[find(config->products.names[i])].kind);
  return kind;
}

gboolean astro_power_has_squares(const AstroPowerConfig *config)
{
  for (guint i = 0; i < config->products.n; i++)
    if (astro_power_is_square(config->products.names[i]))
      return TRUE;
  return FALSE;
}

gboolean astro_power_check_products(const AstroPowerConfig *config, GError **error)
{
  if (config->products.n < 1)
    return astro_backend_refuse(error, "no products");
  for (guint i = 0; config->pols == 1 && i < config->products.n; i++)
    if (table[find(config->products.names[i])].kind != ASTRO_POWER_ONE)
      return astro_backend_refuse(error,
                                  "product %s needs two polarisations and the spectra have one, "
                                  "expected I, XX or RR",
                                  config->products.names[i]);
  return TRUE;
}

void astro_power_recipes(const AstroPowerConfig *config, gboolean is_circular,
                         AstroPowerRecipe recipes[ASTRO_POWER_MAX_PRODUCTS])
{
  for (guint i = 0; i < config->products.n; i++) {
    const char *name = config->products.names[i];
    const guint at = find(name);
    const Recipes *own = config->pols == 1 ? &alone
                         : is_circular     ? &table[at].circular
                                           : &table[at].linear;
    recipes[i] = astro_power_is_square(name) ? own->square : own->mean;
  }
}
