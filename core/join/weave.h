/* Joins streams that each have only a few bytes in a row, such as one station with two
 * polarisations: copying so little at a time takes longer than memory does. A row of all streams is
 * a column of the table whose rows are the streams, so this is a transposition. */
#pragma once

#include "core/backend/scratch.h"
#include "core/join/check.h"
#include "core/lib/transpose/kernels.h"

G_BEGIN_DECLS

#define ASTRO_JOIN_WEAVE_MOST 64                   /* streams */
#define ASTRO_JOIN_WEAVE_BOX ((gsize)16 << 10)     /* bytes made at a time: half a first cache */
#define ASTRO_JOIN_WEAVE_SCRATCH ((gsize)48 << 10) /* bytes of scratch memory for that */

typedef struct {
  const AstroTransposeKernels *kernels;
  AstroScratch *scratch; /* of ASTRO_JOIN_WEAVE_SCRATCH bytes */
  gboolean past_caches;
  guint8 *out;
  const guint8 *from[ASTRO_JOIN_WEAVE_MOST]; /* NULL: lost */
  guint n;                                   /* streams */
  gsize unit;                                /* bytes of one stream in a row */
  guint64 rows;
} AstroJoinWeave;

/* Sets from, n, unit and rows if a block can be made that way: every stream is one piece for the
 * whole block, all pieces have the same few bytes in a row, and their rows follow one another.
 * bytes: of a sample. */
gboolean astro_join_find_weave(const AstroJoinAxes *axes, gsize bytes,
                               const AstroJoinArguments *arguments, const AstroBlock *in,
                               guint n_in, AstroJoinWeave *weave);
void astro_join_weave(const AstroJoinWeave *weave, guint threads);

G_END_DECLS
