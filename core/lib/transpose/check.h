/* What both host backends ask of a configuration and of the blocks. */
#pragma once

#include "core/lib/transpose/transpose.h"

G_BEGIN_DECLS

/* Whether the configuration is one, with *bytes those of its block. */
gboolean astro_transpose_check(const AstroTransposeConfig *config, gsize *bytes, GError **error);

/* The same for AstroBackend.shape. */
gboolean astro_transpose_shape(gconstpointer config, GError **error);

/* Whether there is one block in and one out, apart from each other, that hold a block of that
 * configuration. */
gboolean astro_transpose_check_blocks(const AstroTransposeConfig *config, const AstroBlock *in,
                                      guint n_in, const AstroBlock *out, guint n_out,
                                      GError **error);

G_END_DECLS
