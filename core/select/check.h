/* Checks of configurations and blocks for both backends. */
#pragma once

#include "core/select/select.h"

G_BEGIN_DECLS

gboolean astro_select_shape(gconstpointer config, GError **error);
gboolean astro_select_check(const AstroSelectConfig *config, const AstroBlock *in, guint n_in,
                            const AstroBlock *out, guint n_out,
                            const AstroSelectArguments *arguments, GError **error);

/* The axes of a block with that many steps, and the part that is kept of each. */
typedef struct {
  AstroLayout in, out;
  AstroSelectPick pick[ASTRO_MAX_AXES];
  gint baseline, pol[2]; /* positions of these axes; -1: none */
  gboolean has_reversed;
} AstroSelectAxes;

void astro_select_axes(const AstroSelectConfig *config, guint64 steps, AstroSelectAxes *axes);

/* The index in the input for an index of the output's axis. */
static inline guint64 astro_select_from(const AstroSelectPick *pick, guint64 i)
{
  return pick->n ? pick->index[i] & ~ASTRO_SELECT_REVERSED : i;
}

static inline gboolean astro_select_is_reversed(const AstroSelectPick *pick, guint64 i)
{
  return pick->n && (pick->index[i] & ASTRO_SELECT_REVERSED);
}

/* Strides with the two polarisation axes exchanged, as reversed pairs need them. */
void astro_select_swap(const AstroSelectAxes *axes, const guint64 strides[ASTRO_MAX_AXES],
                       guint64 swapped[ASTRO_MAX_AXES]);

/* Conjugates one value. An integer that cannot be negated saturates. */
void astro_select_conjugate(AstroFormat format, gpointer out, gconstpointer in);

G_END_DECLS
