/* Checks of configurations and blocks of the search. */
#pragma once

#include "core/search/search.h"

G_BEGIN_DECLS

gboolean astro_search_shape(gconstpointer configuration, GError **error);
gboolean astro_search_check_blocks(const AstroSearchConfig *config, const AstroBlock *in,
                                   guint n_in, const AstroSearchArguments *arguments,
                                   GError **error);

/* Strides of a block of power, in values. */
typedef struct {
  gsize time, station, dm;
} AstroSearchStrides;

void astro_search_strides(AstroSearchStrides *strides, const AstroSearchConfig *config,
                          guint64 steps);

static inline guint astro_search_widest(const AstroSearchConfig *config)
{
  return config->widths[config->n_widths - 1];
}

G_END_DECLS
