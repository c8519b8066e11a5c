/* How a block is cut for the CPU.
 *
 * The block is cut into boxes. A box is long along the innermost axes of the input and along those
 * of the output, so that on both sides memory is read and written in runs of many whole cache
 * lines. It goes through two stages: runs of the input are copied to the first, a strip at a time
 * that fits the innermost cache, a kernel turns the strip into its part of the second, and the
 * second leaves in runs of the output. The stages' rows lie an odd number of lines apart, so the
 * power-of-two strides of real blocks, all of whose lines fall in one set of a cache, never meet a
 * kernel.
 *
 *   block            box, of the input      first stage       second stage      output
 *   +----+----+      runs, as they lie      strips of rows    columns of them   runs again
 *   |box |    |      ======                 ======            | | |             ===
 *   +----+----+      ======         copy    ======    turn    | | |    copy     ===
 *   |    |    |      ======         --->    ------    --->    | | |    --->     ===
 *   +----+----+      ======                 (next strip)      | | |             === */
#pragma once

#include "core/lib/transpose/kernels.h"
#include "core/lib/transpose/config.h"

G_BEGIN_DECLS

#define ASTRO_TRANSPOSE_MAX_COLUMNS 8192

/* How a block is cut for a machine's memory. Long runs on both sides are good everywhere. A stage
 * that leaves the second cache, and rows asked for ahead, gain a half where the third cache is near
 * and lose as much where it is far. */
typedef struct {
  gsize stage_bytes; /* of the second stage, at most */
  gboolean asks;     /* for the next strip while one is turned */
} AstroTransposeMemory;

extern const AstroTransposeMemory astro_transpose_near_cache, astro_transpose_far_cache;

typedef struct {
  guint64 extent;
  gsize from, to; /* bytes between two steps in the input and the output */
  gsize block;    /* steps in a box */
  gsize boxes;    /* boxes side by side */
  gsize stage_from, stage_to;
  gboolean in_run, out_run;     /* lies within a run of the input, the output */
  gboolean in_columns, in_rows; /* of the planes that the kernel turns */
} AstroTransposeAxis;

typedef struct {
  gsize unit;                              /* bytes that stay together */
  guint n_axes;                            /* no axis at all: one unit is copied */
  AstroTransposeAxis axes[ASTRO_MAX_AXES]; /* slowest of the input first */
  guint order[ASTRO_MAX_AXES];
  gsize row_bytes;                                /* between rows of the first stage */
  guint32 column_to[ASTRO_TRANSPOSE_MAX_COLUMNS]; /* a plane's columns in the second stage */
  gsize stage_in_bytes, stage_out_bytes;
  guint64 boxes, boxes_per_task;
  guint64 pieces, pieces_per_task; /* of a unit that is long enough to be copied with no stages */
  gsize piece_bytes;
  gboolean past_caches; /* the output is larger than the caches */
  gboolean asks;        /* for rows ahead of their strip */
} AstroTransposePlan;

/* Of a checked configuration. memory: NULL is this machine's. */
void astro_transpose_plan(AstroTransposePlan *plan, const AstroTransposeMemory *memory,
                          const AstroTransposeConfig *config);

/* Of a part of one block that becomes a part of another: n axes in any order, of which extent, from
 * and to are set, and units of that many bytes. */
void astro_transpose_plan_part(AstroTransposePlan *plan, const AstroTransposeMemory *memory,
                               gsize unit, const AstroTransposeAxis *axes, guint n);

/* Steps of that many bytes that make whole cache lines. */
gsize astro_transpose_grain(gsize bytes);

/* Such a part, planned and moved at once. */
void astro_transpose_part(gpointer out, gconstpointer in, gsize unit,
                          const AstroTransposeAxis *axes, guint n, guint threads);

void astro_transpose_run(const AstroTransposePlan *plan, const AstroTransposeKernels *kernels,
                         guint threads, gpointer out, gconstpointer in);

G_END_DECLS
