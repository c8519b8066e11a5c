#pragma once

#include "core/image/image.h"

G_BEGIN_DECLS

gboolean astro_image_check(gconstpointer config, GError **error);
gboolean astro_image_check_call(const AstroImageConfig *config, const AstroBlock *in, guint n_in,
                                const AstroBlock *out, guint n_out,
                                const AstroImageArguments *arguments, GError **error);

/* Of the map of touched tiles, for each row whether none of its tiles was touched, [channel][v]. */
void astro_image_find_blank(const AstroImageConfig *config, const guint8 *map, guint8 *blank);

/* n - 1 at so far from the phase centre, without losing it in 1. */
double astro_image_n_minus_1(double l, double m);

/* What a term is multiplied by: its factor over the weights. NaN where there are none. */
double astro_image_scale(const AstroImageConfig *config, const AstroImageArguments *arguments,
                         guint channel, const AstroImageTerm *term);

/* Whether the middle of the image, which this plane finishes, is asked for. */
gboolean astro_image_wants_middle(const AstroImageArguments *arguments, const AstroResult *result);
/* For backends on the host: that middle, where it is. */
void astro_image_copy_middle(const AstroImageConfig *config, const AstroImageArguments *arguments,
                             gconstpointer image, AstroResult *result);
/* Bytes from the image's begin to that middle's, and from row to row. */
gsize astro_image_middle(const AstroImageConfig *config, const AstroImageArguments *arguments,
                         gsize *pitch);

G_END_DECLS
