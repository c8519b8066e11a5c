/* Scratch memory for parallel tasks. */
#include "config.h"
#include "core/backend/scratch.h"

#define PAGE 4096

struct AstroScratch {
  gsize bytes;
  GAsyncQueue *idle;
};

AstroScratch *astro_scratch_new(gsize bytes)
{
  AstroScratch *scratch = g_new(AstroScratch, 1);
  scratch->bytes = bytes;
  scratch->idle = g_async_queue_new_full(g_aligned_free);
  return scratch;
}

void astro_scratch_free(AstroScratch *scratch)
{
  if (!scratch)
    return;
  g_async_queue_unref(scratch->idle);
  g_free(scratch);
}

gpointer astro_scratch_take(AstroScratch *scratch)
{
  gpointer block = g_async_queue_try_pop(scratch->idle);
  return block ? block : g_aligned_alloc0(1, scratch->bytes, PAGE);
}

/* Pushed in front, so that the next task takes the block that is still in the caches. */
void astro_scratch_give(AstroScratch *scratch, gpointer block)
{
  g_async_queue_push_front(scratch->idle, block);
}
