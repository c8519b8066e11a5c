/* Checks of configurations and blocks for both backends. */
#pragma once

#include "core/add/add.h"

G_BEGIN_DECLS

gboolean astro_add_shape(gconstpointer config, GError **error);
gboolean astro_add_check(const AstroAddConfig *config, const AstroBlock *in, guint n_in,
                         const AstroBlock *out, guint n_out, const AstroAddArguments *arguments,
                         GError **error);

/* The axes of a piece's buffer. */
void astro_add_piece_shape(const AstroAddConfig *config, const AstroAddPiece *piece,
                           AstroLayout *shape);
/* Number of values in a step. */
guint64 astro_add_values(const AstroAddConfig *config);
gboolean astro_add_refuse_large(const AstroAddConfig *config, GError **error);

G_END_DECLS
