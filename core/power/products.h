/* The sums that kernels keep for each station and channel, and how products are made of them. */
#pragma once

#include "core/power/power.h"

G_BEGIN_DECLS

/* Numbers of a sample with the polarisations x and y, whose sums are kept. A stream of one
 * polarisation has the first of each group, and the later groups are kept only where a product
 * needs them. */
typedef enum {
  ASTRO_POWER_XX,  /* |x|^2 */
  ASTRO_POWER_YY,  /* |y|^2 */
  ASTRO_POWER_RE,  /* re of x conj(y) */
  ASTRO_POWER_IM,  /* im of x conj(y) */
  ASTRO_POWER_XX2, /* the squares of these */
  ASTRO_POWER_YY2,
  ASTRO_POWER_RE2,
  ASTRO_POWER_IM2,
  ASTRO_POWER_TOTAL2,      /* (XX + YY)^2 */
  ASTRO_POWER_DIFFERENCE2, /* (XX - YY)^2 */
  ASTRO_POWER_SUMS
} AstroPowerSum;

/* Which of the sums the products of a configuration need: one polarisation, two, or two with their
 * cross product; and squares. */
typedef enum {
  ASTRO_POWER_ONE,
  ASTRO_POWER_PAIR,
  ASTRO_POWER_CROSS,
  ASTRO_POWER_KINDS
} AstroPowerKind;

/* Whether kernels keep a sum. */
static inline gboolean astro_power_keeps(AstroPowerKind kind, gboolean squares, AstroPowerSum sum)
{
  /* In the order of the enumeration, as C++ asks. */
  static const AstroPowerKind least[ASTRO_POWER_SUMS] = {
    [ASTRO_POWER_XX] = ASTRO_POWER_ONE,      [ASTRO_POWER_YY] = ASTRO_POWER_PAIR,
    [ASTRO_POWER_RE] = ASTRO_POWER_CROSS,    [ASTRO_POWER_IM] = ASTRO_POWER_CROSS,
    [ASTRO_POWER_XX2] = ASTRO_POWER_ONE,     [ASTRO_POWER_YY2] = ASTRO_POWER_PAIR,
    [ASTRO_POWER_RE2] = ASTRO_POWER_CROSS,   [ASTRO_POWER_IM2] = ASTRO_POWER_CROSS,
    [ASTRO_POWER_TOTAL2] = ASTRO_POWER_PAIR, [ASTRO_POWER_DIFFERENCE2] = ASTRO_POWER_PAIR,
  };
  return kind >= least[sum] && (squares || sum < ASTRO_POWER_XX2);
}

AstroPowerKind astro_power_kind(const AstroPowerConfig *config);
gboolean astro_power_has_squares(const AstroPowerConfig *config);

/* Refuses products that need a polarisation which the spectra do not have. */
gboolean astro_power_check_products(const AstroPowerConfig *config, GError **error);

/* A product is factor[0] * sums[which[0]] + factor[1] * sums[which[1]]. */
typedef struct {
  AstroPowerSum which[2];
  double factor[2];
} AstroPowerRecipe;

/* For each product of the configuration. */
void astro_power_recipes(const AstroPowerConfig *config, gboolean is_circular,
                         AstroPowerRecipe recipes[ASTRO_POWER_MAX_PRODUCTS]);

static inline double astro_power_product(const AstroPowerRecipe *recipe, const double *sums)
{
  /* A sum that is infinite must not meet a factor of 0. */
  double product = recipe->factor[0] * sums[recipe->which[0]];
  if (recipe->factor[1] != 0)
    product += recipe->factor[1] * sums[recipe->which[1]];
  return product;
}

G_END_DECLS
