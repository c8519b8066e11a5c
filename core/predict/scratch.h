/* Memory for tasks that work side by side: kept, since a fresh block costs as much as the work. */
#pragma once

#include <glib.h>

typedef struct AstroScratch AstroScratch;

AstroScratch *astro_scratch_new(gsize bytes);
void astro_scratch_free(AstroScratch *scratch);

gpointer astro_scratch_take(AstroScratch *scratch); /* 64-byte aligned, of any content */
void astro_scratch_give(AstroScratch *scratch, gpointer block);
