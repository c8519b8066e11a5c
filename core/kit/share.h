/* How an axis is dealt out to ranks: neighbours stay together, in the order of the ranks, and no
 * rank gets more than one more than another. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint64 first, n;
} AstroShare;

/* n is 0 for some ranks if there are fewer elements than ranks. */
static inline AstroShare astro_share_of(guint64 elements, guint rank, guint ranks)
{
  const guint64 each = elements / ranks, more = elements % ranks;
  return (AstroShare){ rank * each + MIN(rank, more), each + (rank < more) };
}

/* Reads RANK/RANKS, such as 1/4. NULL and "" are 0/1: all of it. */
gboolean astro_share_read(const char *text, guint *rank, guint *ranks, GError **error);

#define ASTRO_SHARE_HELP                                                                           \
  "RANK/RANKS, such as 1/4: what process RANK, from 0, does of the work of so many (unset: all "   \
  "of "                                                                                            \
  "it)"

G_END_DECLS
