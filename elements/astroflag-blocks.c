/* Blocks that wait for a verdict. */
#include "config.h"
#include "elements/astroflag-blocks.h"

typedef struct {
  guint64 number;
  guint8 *flags;
} Verdict;

static void free_verdict(gpointer data)
{
  Verdict *verdict = data;
  g_free(verdict->flags);
  g_free(verdict);
}

void astro_flag_held_free(AstroFlagHeld *held)
{
  gst_buffer_unref(held->buffer);
  g_free(held);
}

static void free_held(gpointer data)
{
  astro_flag_held_free(data);
}

void astro_flag_blocks_init(AstroFlagBlocks *blocks)
{
  g_queue_init(&blocks->held);
  g_queue_init(&blocks->verdicts);
}

void astro_flag_blocks_clear(AstroFlagBlocks *blocks)
{
  g_queue_clear_full(&blocks->held, free_held);
  g_queue_clear_full(&blocks->verdicts, free_verdict);
  blocks->open = FALSE;
}

void astro_flag_blocks_hold(AstroFlagBlocks *blocks, GstBuffer *buffer, guint64 first,
                            guint64 steps)
{
  AstroFlagHeld *held = g_new(AstroFlagHeld, 1);
  *held = (AstroFlagHeld){ gst_buffer_ref(buffer), first, steps };
  g_queue_push_tail(&blocks->held, held);
}

void astro_flag_blocks_judged(AstroFlagBlocks *blocks, guint8 *flags)
{
  Verdict *verdict = g_new(Verdict, 1);
  *verdict = (Verdict){ blocks->number, flags };
  g_queue_push_tail(&blocks->verdicts, verdict);
  blocks->open = FALSE;
}

AstroFlagHeld *astro_flag_blocks_pop(AstroFlagBlocks *blocks)
{
  const AstroFlagHeld *next = g_queue_peek_head(&blocks->held);
  if (!next || (blocks->open && (next->first + next->steps - 1) / blocks->length >= blocks->number))
    return NULL;
  const guint64 number = next->first / blocks->length;
  while (blocks->verdicts.head && ((Verdict *)blocks->verdicts.head->data)->number < number)
    free_verdict(g_queue_pop_head(&blocks->verdicts));
  return g_queue_pop_head(&blocks->held);
}

const guint8 **astro_flag_blocks_rows(const AstroFlagBlocks *blocks, const AstroFlagHeld *held)
{
  const guint8 **rows = g_new(const guint8 *, held->steps);
  const GList *at = blocks->verdicts.head;
  for (guint64 t = 0; t < held->steps; t++) {
    const guint64 step = held->first + t;
    while (((const Verdict *)at->data)->number < step / blocks->length)
      at = at->next;
    rows[t] = ((const Verdict *)at->data)->flags +
              (blocks->one_row ? 0 : step % blocks->length * blocks->row);
  }
  return rows;
}
