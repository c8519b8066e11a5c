/* A transposition: the same samples with their axes in another order. */
#pragma once

#include "core/stream/stream.h"

G_BEGIN_DECLS

/* extents: of the input's axes, slowest first, all set. order[i]: the input axis that is at place i
 * of the output. sample_bytes: 1, 2, 4, 8 or 16. */
typedef struct {
  guint n_axes;
  guint64 extents[ASTRO_MAX_AXES];
  guint order[ASTRO_MAX_AXES];
  gsize sample_bytes;
} AstroTransposeConfig;

/* The configuration that transposes a block of layout `from`, with all extents set, to layout `to`.
 */
gboolean astro_transpose_config(AstroTransposeConfig *config, const AstroLayout *from,
                                const AstroLayout *to, gsize sample_bytes, GError **error);

/* Drops axes of length 1 and merges axes that stay neighbours. An innermost axis that stays
 * innermost is folded into the sample if that makes a sample of 1, 2, 4, 8 or 16 bytes. */
void astro_transpose_simplify(AstroTransposeConfig *config);

/* Whether the configuration is valid; *bytes is set to the size of its blocks. */
gboolean astro_transpose_check(const AstroTransposeConfig *config, gsize *bytes, GError **error);

G_END_DECLS
