/* Memory on large pages, whose addresses the processor keeps at hand: a wish, since a machine may
 * have none. Blocks shorter than such a page are as any other. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

#define ASTRO_LARGE_PAGE ((gsize)2 << 20)

/* At whole cache lines, or whole multiples of align (a power of two) where that is more, for
 * free(); NULL where there is none. */
gpointer astro_pages_alloc(gsize bytes);
gpointer astro_pages_alloc_aligned(gsize bytes, gsize align);

/* Zeros that are no memory before they are touched; NULL where there are none. */
gpointer astro_pages_zeros(gsize bytes);
void astro_pages_zeros_free(gpointer memory, gsize bytes);

/* The same wish for what malloc gave. */
void astro_pages_wish(gpointer memory, gsize bytes);

/* Memory of the process's own that nobody reads any more: what of it is whole pages goes back to
 * the system before it is freed. */
void astro_pages_give_back(gpointer memory, gsize bytes);

ASTRO_END_DECLS
