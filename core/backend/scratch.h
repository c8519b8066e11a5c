/* Scratch memory for parallel tasks. Blocks are kept, because allocating a new one costs as much as
 * the work. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

typedef struct AstroScratch AstroScratch;

AstroScratch *astro_scratch_new(gsize bytes);
void astro_scratch_free(AstroScratch *scratch);

/* Aligned to a page; zeros the first time, later whatever the last user left in it. */
gpointer astro_scratch_take(AstroScratch *scratch);
void astro_scratch_give(AstroScratch *scratch, gpointer block);

ASTRO_END_DECLS
