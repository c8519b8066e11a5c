/* A catalogue in a temporary file, ordered along the sky and cut into slices that fit into memory.
 *
 *          in the file, in slices across the widest axis of the points
 *      +-------+-------+-------+-------+      Each slice has a box around its points. Two slices
 *      |  . .  | .   . |  ..   | . .   |      whose boxes are further apart than the last edge of
 *      | .  .  |  . .  | .  .  |  .  . |      the bins have no pairs that count, and are never read
 *      +-------+-------+-------+-------+      together. */
#pragma once

#include "core/histogram/histogram.h"
#include "core/lib/catalogue/spill.h"

G_BEGIN_DECLS

typedef struct {
  guint64 first, n;
  double low[3], high[3]; /* of unit vectors, in space times the distance */
} Slice;

typedef struct {
  AstroSpill *spill;
  Slice *slices;
  guint n_slices;
} Slices;

/* Memory that ordering takes besides the slices' own. */
#define SLICES_WORK_BYTES (4u << 20)

/* most: points in a slice. spill is freed. */
Slices *slices_new(AstroSpill *spill, gboolean in_space, guint64 most, guint threads,
                   const AstroStop *stop, GError **error);
void slices_free(Slices *slices);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Slices, slices_free)

/* Whether a point of one slice may be within reach of one of the other. */
gboolean slices_may_meet(const Slice *a, const Slice *b, double reach);

G_END_DECLS
