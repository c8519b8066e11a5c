/* What both host backends ask of a configuration and of the blocks. */
#pragma once

#include "core/transpose/transpose.h"

G_BEGIN_DECLS

/* astro_transpose_check for AstroBackend.shape. */
gboolean astro_transpose_shape(gconstpointer config, GError **error);

/* Whether there is one block in and one out, apart from each other, that hold a block of that
 * configuration. */
gboolean astro_transpose_check_blocks(const AstroTransposeConfig *config, const AstroBlock *in,
                                      guint n_in, const AstroBlock *out, guint n_out,
                                      GError **error);

G_END_DECLS
