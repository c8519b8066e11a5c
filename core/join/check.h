/* Checks of configurations and blocks for both backends. */
#pragma once

#include "core/join/join.h"

G_BEGIN_DECLS

gboolean astro_join_shape(gconstpointer config, GError **error);
gboolean astro_join_check(const AstroJoinConfig *config, const AstroBlock *in, guint n_in,
                          const AstroBlock *out, guint n_out, const AstroJoinArguments *arguments,
                          GError **error);

/* A block's axes; time is -1 if the block is one frame of a layout without time. */
typedef struct {
  AstroLayout shape;
  gint time, axis;
} AstroJoinAxes;

void astro_join_axes(const AstroJoinConfig *config, guint64 steps, AstroJoinAxes *axes);
/* The axes of the buffer to which a piece belongs. */
void astro_join_piece_shape(const AstroJoinAxes *axes, const AstroJoinPiece *piece,
                            AstroLayout *shape);
/* For an axis of the block: where the piece begins in the block and in its buffer, and its length.
 */
void astro_join_piece_range(const AstroJoinAxes *axes, const AstroJoinPiece *piece, guint axis,
                            guint64 *to, guint64 *from, guint64 *n);

G_END_DECLS
