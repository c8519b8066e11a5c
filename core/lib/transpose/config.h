/* A transposition: the same samples with their axes in another order. */
#pragma once

#include "core/stream/stream.h"

G_BEGIN_DECLS

/* extents: of the input's axes, slowest first, all set. order[i]: which input axis stands at place
 * i of the output. sample_bytes: 1, 2, 4, 8 or 16. */
typedef struct {
  guint n_axes;
  guint64 extents[ASTRO_MAX_AXES];
  guint order[ASTRO_MAX_AXES];
  gsize sample_bytes;
} AstroTransposeConfig;

/* The configuration that turns a block of from's layout (all extents set) into to's. */
gboolean astro_transpose_config(AstroTransposeConfig *config, const AstroLayout *from,
                                const AstroLayout *to, gsize sample_bytes, GError **error);

/* Drops axes of length 1, merges axes that stay neighbours, and folds an innermost axis that stays
 * innermost into the sample where a sample of 1, 2, 4, 8 or 16 bytes comes of it. */
void astro_transpose_simplify(AstroTransposeConfig *config);

/* Whether the configuration is one, with *bytes those of its block. */
gboolean astro_transpose_check(const AstroTransposeConfig *config, gsize *bytes, GError **error);

G_END_DECLS
