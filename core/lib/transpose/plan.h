/* How a block is cut for the CPU.
 *
 * The block is cut into boxes. A box is long along the innermost axes of the input and along those
 * of the output, so that memory is read and written in runs of many whole cache lines. It goes
 * through two stages. Runs of the input are copied to the first, a strip at a time that fits the
 * innermost cache; a kernel transposes the strip into its part of the second; and the second is
 * copied out in runs of the output. The rows of stages lie an odd number of cache lines apart, so
 * that kernels never meet the power-of-two strides of real blocks, whose lines all compete for the
 * same set of a cache.
 *
 *   block            a box of the input:    first stage:      second stage:     output:
 *   +----+----+      runs                   strips of rows    their columns     runs again
 *   |box |    |      ======                 ======            | | |             ===
 *   +----+----+      ======         copy    ======   kernel   | | |    copy     ===
 *   |    |    |      ======         --->    ------    --->    | | |    --->     ===
 *   +----+----+      ======                 (next strip)      | | |             === */
#pragma once

#include "core/lib/transpose/kernels.h"
#include "core/lib/transpose/config.h"

G_BEGIN_DECLS

#define ASTRO_TRANSPOSE_MAX_COLUMNS 8192

/* Settings that suit a machine's memory. Long runs on both sides are good everywhere. A stage
 * larger than the second cache, and rows that are fetched ahead, gain a half if the third cache is
 * near and lose as much if it is far. */
typedef struct {
  gsize stage_bytes; /* of the second stage, at most */
  gboolean fetches;  /* the next strip while one is transposed */
} AstroTransposeMemory;

extern const AstroTransposeMemory astro_transpose_near_cache, astro_transpose_far_cache;

typedef struct {
  guint64 extent;
  gsize from, to; /* bytes between two steps in the input and the output */
  gsize block;    /* steps in a box */
  gsize boxes;    /* boxes side by side */
  gsize stage_from, stage_to;
  gboolean in_run, out_run;     /* part of a run of the input, of the output */
  gboolean in_columns, in_rows; /* part of the planes that the kernel transposes */
} AstroTransposeAxis;

typedef struct {
  gsize unit;                              /* bytes that stay together */
  guint n_axes;                            /* 0: one unit is copied */
  AstroTransposeAxis axes[ASTRO_MAX_AXES]; /* slowest of the input first */
  guint order[ASTRO_MAX_AXES];
  gsize row_bytes; /* between rows of the first stage */
  guint32
      column_to[ASTRO_TRANSPOSE_MAX_COLUMNS]; /* where a plane's columns go in the second stage */
  gsize stage_in_bytes, stage_out_bytes;
  guint64 boxes, boxes_per_task;
  guint64 pieces, pieces_per_task; /* of units that are long enough to be copied without stages */
  gsize piece_bytes;
  gboolean past_caches; /* the output is larger than the caches */
  gboolean fetches;     /* rows ahead of their strip */
} AstroTransposePlan;

/* The plan for a checked configuration. memory: NULL for this machine's. */
void astro_transpose_plan(AstroTransposePlan *plan, const AstroTransposeMemory *memory,
                          const AstroTransposeConfig *config);

/* The plan for a part of one block that becomes a part of another: units of that many bytes, along
 * n axes in any order, of which extent, from and to are set. */
void astro_transpose_plan_part(AstroTransposePlan *plan, const AstroTransposeMemory *memory,
                               gsize unit, const AstroTransposeAxis *axes, guint n);

/* How many steps of that many bytes make whole cache lines. */
gsize astro_transpose_grain(gsize bytes);

/* Plans and moves such a part at once. */
void astro_transpose_part(gpointer out, gconstpointer in, gsize unit,
                          const AstroTransposeAxis *axes, guint n, guint threads);

void astro_transpose_run(const AstroTransposePlan *plan, const AstroTransposeKernels *kernels,
                         guint threads, gpointer out, gconstpointer in);

G_END_DECLS
