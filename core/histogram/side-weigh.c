/* Checks the values of a catalogue, and adds up the weights of its regions. */
#include "core/histogram/side-parts.h"

#include "core/histogram/pair-weights.h"
#include "core/kit/fail.h"

#include <math.h>

#define MOST_WEIGHT 1e154 /* of a catalogue: its square is still finite */
#define MOST_CARRIED 1e75 /* the same for the square of a product of two */

typedef struct {
  Side *side;
  const SideRules *rules;
  AstroSide which;
  double size;    /* of all weights together */
  double carried; /* the same times what the points carry */
  guint64 above, below;
} Weighing;

static gboolean weigh(Weighing *w, guint64 i, double weight, guint region, GError **error)
{
  Side *side = w->side;
  w->size += fabs(weight);
  w->above += weight > 0;
  w->below += weight < 0;
  side->weight[region] += weight;
  side->square[region] += weight * weight;
  /* Random weights may not be negative, as every estimator divides by pairs with random points. */
  return weight >= 0 || !side_is_random(w->which) ||
         astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                    "the %s catalogue has a weight of %g at point %" G_GUINT64_FORMAT
                    ", expected none below 0",
                    astro_side_name(w->which), weight, i);
}

/* FALSE: a value is no finite number. */
static gboolean weigh_carried(Weighing *w, const AstroCatalogue *chunk, guint64 i, guint64 at,
                              double weight, GError **error)
{
  const double *columns[] = { chunk->k, chunk->g1, chunk->g2 };
  const gboolean shear = w->side->carried == ASTRO_CARRIED_SHEAR;
  const guint first = shear ? 1 : 0, last = shear ? 3 : w->side->carried == ASTRO_CARRIED_SCALAR;
  for (guint c = first; c < last; c++) {
    static const char *const names[] = { "k", "g1", "g2" };
    if (!isfinite(columns[c][i]))
      return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                        "%s: point %" G_GUINT64_FORMAT ": %s is %g, expected a finite number",
                        astro_side_name(w->which), at, names[c], columns[c][i]);
    w->carried += fabs(weight) * fabs(columns[c][i]);
  }
  return TRUE;
}

/* FALSE: a word of bits is none, or more bits are set than there are realisations. */
static gboolean weigh_bits(Weighing *w, const AstroCatalogue *chunk, guint64 i, guint64 at,
                           double weight, guint region, GError **error)
{
  const AstroPairBits *bits = &w->rules->config->bits;
  const guint classes = 32 * bits->n_words + 1;
  if (!w->side->of_bits)
    return TRUE;
  for (guint k = 0; k < bits->n_words; k++) {
    const double word = chunk->bits[k][i];
    if (!(word >= 0 && word <= G_MAXUINT32 && word == floor(word)))
      return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                        "%s: point %" G_GUINT64_FORMAT ": bits%u is %.12g, expected a whole number "
                        "of 32 bits",
                        astro_side_name(w->which), at, k, word);
  }
  const guint n = pair_bits_set(chunk->bits, bits->n_words, i);
  if (n > bits->realizations - bits->offset)
    return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                      "%s: point %" G_GUINT64_FORMAT " is selected by %u realisations, expected "
                      "%u at most, nrealizations less noffset",
                      astro_side_name(w->which), at, n, bits->realizations - bits->offset);
  w->side->of_bits[(gsize)region * classes + n] += weight;
  w->side->square_of_bits[(gsize)region * classes + n] += weight * weight;
  return TRUE;
}

static gboolean weigh_chunk(gpointer data, const AstroCatalogue *chunk, guint64 first,
                            GError **error)
{
  Weighing *w = data;
  const SideRules *rules = w->rules;
  const double *region = rules->has_region_column ? chunk->region : NULL;
  const PointColumns columns = side_columns_of(rules, chunk, region);
  g_autofree double *made = NULL;
  if (!points_check(&columns, first, rules->config->n_regions, error)) {
    g_prefix_error(error, "%s: ", astro_side_name(w->which));
    return FALSE;
  }
  if (!side_region_column(rules, chunk, &made, error))
    return FALSE;
  if (made)
    region = made;
  for (guint64 i = 0; i < chunk->n; i++) {
    const double weight = chunk->weight ? chunk->weight[i] : 1;
    const guint of_region = region ? (guint)region[i] : 0;
    if (!weigh(w, first + i, weight, of_region, error) ||
        !weigh_bits(w, chunk, i, first + i, weight, of_region, error) ||
        !weigh_carried(w, chunk, i, first + i, weight, error))
      return FALSE;
  }
  return TRUE;
}

/* Negative weights beside positive ones are allowed, as in differences of catalogues. If all are
 * negative, a sign is wrong, or a value that stands for a missing weight was taken for one. */
static gboolean check_weights(const Weighing *w, guint64 n, GError **error)
{
  const double most =
      w->rules->config->fields == ASTRO_PAIR_FIELDS_NONE ? MOST_WEIGHT : MOST_CARRIED;
  if (w->size > most)
    return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                      "the %s catalogue has weights whose sizes sum up to %g, expected %g at most",
                      astro_side_name(w->which), w->size, most);
  if (!(w->carried <= MOST_CARRIED))
    return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                      "the %s catalogue has values whose sizes, times weights, sum up to %g, "
                      "expected %g at most",
                      astro_side_name(w->which), w->carried, MOST_CARRIED);
  return w->below == 0 || w->above > 0 ||
         astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                    "the %s catalogue has weights below 0, %" G_GUINT64_FORMAT
                    " of %" G_GUINT64_FORMAT ", and none above: expected weights of 0 or more",
                    astro_side_name(w->which), w->below, n);
}

gboolean side_weigh(Side *side, const SideRules *rules, AstroSide which, const AstroHeld *held,
                    GError **error)
{
  const guint regions = astro_histogram_regions(rules->config);
  Weighing weighing = { .side = side, .rules = rules, .which = which };
  side->n = held->n;
  side->weight = g_new0(double, regions);
  side->square = g_new0(double, regions);
  if (astro_catalogue_n_words(held->columns)) {
    const gsize classes = 32 * rules->config->bits.n_words + 1;
    side->of_bits = g_new0(double, regions *classes);
    side->square_of_bits = g_new0(double, regions *classes);
  }
  if (!astro_held_visit(held, weigh_chunk, &weighing, error) ||
      !check_weights(&weighing, held->n, error))
    return FALSE;
  side->n_negative = weighing.below;
  return TRUE;
}
