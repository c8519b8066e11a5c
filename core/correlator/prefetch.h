/* Prefetches memory that is needed after a product, spread evenly over the product, which leaves
 * memory idle. Private to core/correlator. */
#pragma once

#include "core/correlator/kernels.h"

typedef struct {
  AstroCorrelatorNext want;
  const guint8 *at;
  gssize left;       /* bytes left in the present row */
  guint lines, line; /* number of prefetches at a time, and their distance in bytes */
} AstroCorrelatorAhead;

/* times: how often the kernel calls astro_correlator_ask in each tile. */
static inline AstroCorrelatorAhead astro_correlator_ahead(const AstroCorrelatorProduct *product,
                                                          guint times)
{
  enum { LINE = 64 };
  const AstroCorrelatorNext *next = &product->next;
  gsize all = 0;
  for (guint i = 0; i < product->rows; i++)
    all += (gsize)astro_correlator_columns(product, i) * times;
  gsize bytes = (next->rows * next->row_bytes + all - 1) / all;
  return (AstroCorrelatorAhead){ *next, next->first, (gssize)next->row_bytes,
                                 (guint)((bytes + LINE - 1) / LINE), (guint)MIN(bytes, LINE) };
}

static inline __attribute__((always_inline)) void astro_correlator_ask(AstroCorrelatorAhead *ahead)
{
  enum { TO_SECOND_CACHE = 2 };
  for (guint l = 0; l < ahead->lines; l++) {
    __builtin_prefetch(ahead->at, 0, TO_SECOND_CACHE);
    ahead->at += ahead->line;
    ahead->left -= ahead->line;
    if (ahead->left <= 0) {
      ahead->at += ahead->want.stride - ahead->want.row_bytes;
      ahead->left += ahead->want.row_bytes;
    }
  }
}
