/* Memory on large pages, which need fewer entries in the processor's address cache (TLB). This is
 * only a request, as a machine may have none. Blocks smaller than a large page are ordinary memory.
 */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

#define ASTRO_LARGE_PAGE ((gsize)2 << 20)

/* Aligned to cache lines, or to align (a power of two) if that is more. Free with free(); NULL if
 * there is no memory. */
gpointer astro_pages_alloc(gsize bytes);
gpointer astro_pages_alloc_aligned(gsize bytes, gsize align);

/* Zeros that take no physical memory before they are touched; NULL if there is no memory. */
gpointer astro_pages_zeros(gsize bytes);
void astro_pages_zeros_free(gpointer memory, gsize bytes);

/* Requests large pages for memory that malloc returned. */
void astro_pages_wish(gpointer memory, gsize bytes);

/* Returns whole pages of memory whose contents are no longer needed to the system, before the
 * memory is freed. */
void astro_pages_give_back(gpointer memory, gsize bytes);

ASTRO_END_DECLS
