/* Blocks that astroflag holds back until all steps that are judged together have come. */
#pragma once

#include "core/flag/flag.h"

G_BEGIN_DECLS

/* A buffer that waits. */
typedef struct {
  GstBuffer *buffer;
  guint64 first, steps;
} AstroFlagHeld;

typedef struct {
  guint64 length;   /* steps judged together: those from number * length on */
  gsize row;        /* bytes of a row of flags */
  gboolean one_row; /* for all steps of a block */
  GQueue held;      /* AstroFlagHeld *, oldest first */
  GQueue verdicts;  /* the flags of blocks, in their order */
  gboolean open;    /* part of a block has come: */
  guint64 number;   /* which, */
  guint64 phase;    /* and how many steps from its beginning on */
} AstroFlagBlocks;

void astro_flag_blocks_init(AstroFlagBlocks *blocks);
void astro_flag_blocks_clear(AstroFlagBlocks *blocks); /* forgets all */

void astro_flag_blocks_hold(AstroFlagBlocks *blocks, GstBuffer *buffer, guint64 first,
                            guint64 steps);
/* Takes the flags of the open block, and closes it. */
void astro_flag_blocks_judged(AstroFlagBlocks *blocks, guint8 *flags);

/* The next buffer all of whose steps are judged, to be freed with astro_flag_held_free; NULL: there
 * is none. */
AstroFlagHeld *astro_flag_blocks_pop(AstroFlagBlocks *blocks);
void astro_flag_held_free(AstroFlagHeld *held);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroFlagHeld, astro_flag_held_free)

/* The rows of its steps, to be freed. Flags stay until the next call of pop. */
const guint8 **astro_flag_blocks_rows(const AstroFlagBlocks *blocks, const AstroFlagHeld *held);

G_END_DECLS
