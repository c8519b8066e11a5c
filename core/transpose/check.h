/* The checks that all backends of transpose make. */
#pragma once

#include "core/transpose/transpose.h"

G_BEGIN_DECLS

/* AstroBackend.shape of the host backends: astro_transpose_check. */
gboolean astro_transpose_shape(gconstpointer config, GError **error);

/* Whether there is one block in and one out, which do not overlap and are large enough for the
 * configuration. */
gboolean astro_transpose_check_blocks(const AstroTransposeConfig *config, const AstroBlock *in,
                                      guint n_in, const AstroBlock *out, guint n_out,
                                      GError **error);

G_END_DECLS
