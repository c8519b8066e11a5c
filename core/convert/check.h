/* What all backends of convert refuse. */
#pragma once

#include "core/convert/convert.h"

G_BEGIN_DECLS

/* The shape query of every backend. */
gboolean astro_convert_shape(gconstpointer config, GError **error);

/* Whether submit was given one block each way and each holds work's samples. */
gboolean astro_convert_check(const AstroConvertConfig *config, const AstroBlock *in, guint n_in,
                             const AstroBlock *out, guint n_out, const AstroConvertArguments *work,
                             GError **error);

G_END_DECLS
