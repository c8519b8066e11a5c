/* Cuts blocks of power for backends on devices. */
#include "config.h"
#include "core/power/splits.h"

/* Threads that keep a device busy; a split of fewer steps is not worth its sums. */
#define BUSY ((guint64)1 << 18)
#define LEAST_SPLIT 64
#define MOST_SPLITS 65535

guint64 astro_power_pieces(const AstroPowerArguments *arguments)
{
  const guint64 passed = arguments->phase + arguments->steps, integration = arguments->integration;
  return MAX((passed + integration - 1) / integration, 1);
}

guint32 astro_power_splits(const AstroPowerConfig *config, const AstroPowerArguments *arguments,
                           guint64 pieces)
{
  const guint64 cells = (guint64)config->stations * config->channels,
                length = MIN(arguments->integration, MAX(arguments->steps, 1)),
                needed = (length + ASTRO_POWER_MOST_SPLIT - 1) / ASTRO_POWER_MOST_SPLIT,
                wanted = BUSY / MAX(cells * pieces, 1), most = MAX(length / LEAST_SPLIT, 1);
  return (guint32)MIN(MAX(MIN(wanted, most), needed), MOST_SPLITS);
}

guint32 astro_power_kept(AstroPowerKind kind, gboolean squares,
                         AstroPowerSum kept[ASTRO_POWER_SUMS])
{
  guint32 n = 0;
  for (guint sum = 0; sum < ASTRO_POWER_SUMS; sum++)
    if (astro_power_keeps(kind, squares, sum))
      kept[n++] = sum;
  return n;
}

static guint32 place_of(const AstroPowerSum *kept, guint32 n, AstroPowerSum sum)
{
  guint32 at = 0;
  while (at + 1 < n && kept[at] != sum)
    at++;
  return at;
}

void astro_power_place(const AstroPowerConfig *config, gboolean is_circular,
                       AstroPowerPlaced placed[ASTRO_POWER_MAX_PRODUCTS])
{
  AstroPowerRecipe recipes[ASTRO_POWER_MAX_PRODUCTS];
  AstroPowerSum kept[ASTRO_POWER_SUMS];
  const guint32 n =
      astro_power_kept(astro_power_kind(config), astro_power_has_squares(config), kept);
  astro_power_recipes(config, is_circular, recipes);
  for (guint p = 0; p < config->products.n; p++)
    for (guint i = 0; i < 2; i++) {
      placed[p].which[i] = place_of(kept, n, recipes[p].which[i]);
      placed[p].factor[i] = recipes[p].factor[i];
    }
}

gsize astro_power_valid_bytes(const AstroPowerConfig *config, const AstroPowerArguments *arguments)
{
  if (!arguments->valid || arguments->steps == 0)
    return 0;
  return (arguments->steps - 1) * arguments->valid_time +
         (config->channels - 1) * arguments->valid_channel +
         (config->stations - 1) * arguments->valid_station + 1;
}
