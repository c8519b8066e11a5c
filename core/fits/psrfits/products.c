/* The products of PSRFITS by its POL_TYPE, and their signs. */
#include "config.h"
#include "core/fits/psrfits/psrfits.h"

#include <string.h>

/* Products of the receiver's polarisations A and B; the first row that fits is written. */
static const struct {
  const char *pol_type;
  const char *parts[ASTRO_PSRFITS_MAX_POLS];
} types[] = {
  { "AA+BB", { "I" } },
  { "INTEN", { "I" } },
  { "AA", { "AA" } },
  { "BB", { "BB" } },
  { "AABB", { "AA", "BB" } },
  { "PPQQ", { "AA", "BB" } },
  { "AABBCRCI", { "AA", "BB", "CR", "CI" } },
  { "IQUV", { "I", "Q", "U", "V" } },
  { "STOKE", { "I", "Q", "U", "V" } },
};

/* With FD_HAND 1, A is X or L and B is Y or R. */
static const struct {
  const char *part, *linear, *circular;
  gboolean turns; /* its sign in the file is the other, with linear receivers */
  const char *other_linear, *other_circular; /* with FD_HAND -1, when A and B are exchanged */
} parts[] = {
  { "I", "I", "I", FALSE, "I", "I" },
  { "Q", "Q", "Q", FALSE, "Q", "Q" },
  { "U", "U", "U", FALSE, "U", "U" },
  { "V", "V", "V", TRUE, "V", "V" },
  { "AA", "XX", "LL", FALSE, "YY", "RR" },
  { "BB", "YY", "RR", FALSE, "XX", "LL" },
  { "CR", "XY-RE", "RL-RE", FALSE, "XY-RE", "RL-RE" },
  { "CI", "XY-IM", "RL-IM", TRUE, "XY-IM", "RL-IM" },
};

static guint find_part(const char *name)
{
  guint p = 0;
  while (strcmp(parts[p].part, name) != 0)
    p++;
  return p;
}

/* conj(A) B is conj(X conj(Y)), but R conj(L); exchanging A and B conjugates it. V does not depend
 * on the receiver. */
static float sign_of(guint part, gboolean is_circular, gint hand, gint phase)
{
  if (!parts[part].turns)
    return 1;
  if (strcmp(parts[part].part, "V") == 0)
    return -1;
  const gboolean is_turned = (!is_circular) ^ (hand < 0) ^ (phase < 0);
  return is_turned ? -1 : 1;
}

static const char *name_of(guint part, gboolean is_circular, gint hand)
{
  if (hand < 0)
    return is_circular ? parts[part].other_circular : parts[part].other_linear;
  return is_circular ? parts[part].circular : parts[part].linear;
}

static guint n_parts(guint type)
{
  guint n = 0;
  while (n < ASTRO_PSRFITS_MAX_POLS && types[type].parts[n])
    n++;
  return n;
}

static void fill(AstroPsrfitsPols *pols, guint type, gboolean is_circular, gint hand, gint phase)
{
  *pols = (AstroPsrfitsPols){ .is_circular = is_circular };
  pols->products.n = n_parts(type);
  for (guint i = 0; i < pols->products.n; i++) {
    const guint part = find_part(types[type].parts[i]);
    pols->products.names[i] = name_of(part, is_circular, hand);
    pols->signs[i] = sign_of(part, is_circular, hand, phase);
  }
}

gboolean astro_psrfits_pols_of(AstroPsrfitsPols *pols, const char *pol_type, guint n,
                               gboolean is_circular, gint hand, gint phase)
{
  for (guint t = 0; t < G_N_ELEMENTS(types); t++) {
    if (g_ascii_strcasecmp(types[t].pol_type, pol_type) != 0 || n_parts(t) != n)
      continue;
    fill(pols, t, is_circular, hand, phase);
    return TRUE;
  }
  return FALSE;
}

static gboolean is_same(const AstroPowerProducts *wanted, const AstroPowerProducts *has,
                        guint order[ASTRO_PSRFITS_MAX_POLS])
{
  if (wanted->n != has->n)
    return FALSE;
  for (guint i = 0; i < wanted->n; i++) {
    const gint found = astro_power_products_find(has, wanted->names[i]);
    if (found < 0)
      return FALSE;
    order[i] = (guint)found;
  }
  return TRUE;
}

const char *astro_psrfits_pol_type(const AstroPowerProducts *products,
                                   const AstroObservation *observation, AstroPsrfitsPols *pols,
                                   guint order[ASTRO_PSRFITS_MAX_POLS])
{
  const gboolean is_circular = g_strcmp0(observation->basis, "circular") == 0;
  for (guint t = 0; t < G_N_ELEMENTS(types); t++)
    for (guint i = 0; i < 2; i++) {
      fill(pols, t, i == 0 ? is_circular : !is_circular, 1, 1);
      if (is_same(&pols->products, products, order))
        return types[t].pol_type;
    }
  return NULL;
}
