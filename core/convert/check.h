/* The checks that all backends of convert make. */
#pragma once

#include "core/convert/convert.h"

G_BEGIN_DECLS

/* AstroBackend.shape of every backend. */
gboolean astro_convert_shape(gconstpointer config, GError **error);

/* Whether submit was given one block in and one out, each large enough for the samples. */
gboolean astro_convert_check(const AstroConvertConfig *config, const AstroBlock *in, guint n_in,
                             const AstroBlock *out, guint n_out, const AstroConvertArguments *work,
                             GError **error);

G_END_DECLS
