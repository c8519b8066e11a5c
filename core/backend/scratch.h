/* Memory for tasks that work side by side: kept, since a fresh block costs as much as the work. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

typedef struct AstroScratch AstroScratch;

AstroScratch *astro_scratch_new(gsize bytes);
void astro_scratch_free(AstroScratch *scratch);

/* At a page's begin; zeros at first, then what was left there. */
gpointer astro_scratch_take(AstroScratch *scratch);
void astro_scratch_give(AstroScratch *scratch, gpointer block);

ASTRO_END_DECLS
