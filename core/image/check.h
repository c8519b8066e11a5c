#pragma once

#include "core/image/image.h"

G_BEGIN_DECLS

gboolean astro_image_check(gconstpointer config, GError **error);
gboolean astro_image_check_call(const AstroImageConfig *config, const AstroBlock *in, guint n_in,
                                const AstroBlock *out, guint n_out, GError **error);

/* n - 1 at so far from the phase centre, without losing it in 1. */
double astro_image_n_minus_1(double l, double m);

/* What a term is multiplied by: its factor over the weights. NaN where there are none. */
double astro_image_scale(const AstroImageConfig *config, const AstroImageArguments *arguments,
                         guint channel, const AstroImageTerm *term);

G_END_DECLS
