/* Checks and small computations that the backends of imaging share. */
#pragma once

#include "core/image/image.h"

G_BEGIN_DECLS

gboolean astro_image_check(gconstpointer config, GError **error);
gboolean astro_image_check_call(const AstroImageConfig *config, const AstroBlock *in, guint n_in,
                                const AstroBlock *out, guint n_out,
                                const AstroImageArguments *arguments, GError **error);

/* Finds rows in which no tile is touched: blank[channel][v]. */
void astro_image_find_blank(const AstroImageConfig *config, const guint8 *map, guint8 *blank);

/* The weight of a term: its factor divided by the sum of weights; NaN if that is 0. */
double astro_image_scale(const AstroImageConfig *config, const AstroImageArguments *arguments,
                         guint channel, const AstroImageTerm *term);

/* Whether the result wants the middle of the image, and this plane completes the image. */
gboolean astro_image_wants_middle(const AstroImageArguments *arguments, const AstroResult *result);
/* For host backends: copies that middle, if it is wanted. */
void astro_image_copy_middle(const AstroImageConfig *config, const AstroImageArguments *arguments,
                             gconstpointer image, AstroResult *result);
gsize astro_image_bytes(const AstroImageConfig *config);
/* For host backends: adds the image that another instance has made. */
void astro_image_add(const AstroImageConfig *config, gconstpointer other, gpointer image);
/* Offset of that middle in the image in bytes, and bytes from row to row. */
gsize astro_image_middle(const AstroImageConfig *config, const AstroImageArguments *arguments,
                         gsize *pitch);

G_END_DECLS
