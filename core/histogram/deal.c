/* Gives pairs of tops out to several instances. */
#include "core/histogram/deal.h"

void histogram_deal_init(AstroHistogramDeal *deal, const AstroPoints *a, const AstroPoints *b,
                         gboolean alone, guint own, guint rank, guint ranks)
{
  g_assert(own >= 1 && own <= ASTRO_MOST_DEVICES && rank < ranks);
  *deal = (AstroHistogramDeal){ .n_a = a->n_tops,
                                .n_b = b->n_tops,
                                .n_lanes = own * ranks,
                                .first = own * rank,
                                .own = own,
                                .alone = alone };
}

/* The next pair of tops in the columns of one lane. */
static gboolean take_from(AstroHistogramDeal *deal, guint lane, guint64 *a, guint64 *b)
{
  const guint owner = deal->first + lane;
  const guint64 columns = (deal->n_b + deal->n_lanes - 1 - owner) / deal->n_lanes;
  const guint64 all = columns * deal->n_a;
  while (__atomic_load_n(&deal->given[lane], __ATOMIC_RELAXED) < all) {
    const guint64 at = __atomic_fetch_add(&deal->given[lane], 1, __ATOMIC_RELAXED);
    if (at >= all)
      return FALSE;
    *a = at / columns;
    *b = at % columns * deal->n_lanes + owner;
    if (!deal->alone || *b >= *a)
      return TRUE;
  }
  return FALSE;
}

gboolean histogram_deal_take(AstroHistogramDeal *deal, guint lane, guint64 *a, guint64 *b,
                             gboolean *is_own)
{
  for (guint k = 0; k < deal->own && !g_atomic_int_get(&deal->ended); k++) {
    *is_own = k == 0;
    if (take_from(deal, (lane + k) % deal->own, a, b))
      return TRUE;
  }
  return FALSE;
}

gboolean histogram_deal_has(const AstroHistogramDeal *deal, guint lane, guint64 number)
{
  return number % deal->n_lanes == deal->first + lane;
}

void histogram_deal_end(AstroHistogramDeal *deal)
{
  g_atomic_int_set(&deal->ended, TRUE);
}
