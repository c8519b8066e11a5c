/* What the backends ask of a configuration and of blocks. */
#pragma once

#include "core/select/select.h"

G_BEGIN_DECLS

gboolean astro_select_shape(gconstpointer config, GError **error);
gboolean astro_select_check(const AstroSelectConfig *config, const AstroBlock *in, guint n_in,
                            const AstroBlock *out, guint n_out,
                            const AstroSelectArguments *arguments, GError **error);

/* The axes of a block of so many steps, with what is kept of each. */
typedef struct {
  AstroLayout in, out;
  AstroSelectPick pick[ASTRO_MAX_AXES];
  gint baseline, pol[2]; /* their places; -1: there is none */
  gboolean has_turned;
} AstroSelectAxes;

void astro_select_axes(const AstroSelectConfig *config, guint64 steps, AstroSelectAxes *axes);

/* Where an index of the output's axis comes from. */
static inline guint64 astro_select_from(const AstroSelectPick *pick, guint64 i)
{
  return pick->n ? pick->index[i] & ~ASTRO_SELECT_TURNED : i;
}

static inline gboolean astro_select_is_turned(const AstroSelectPick *pick, guint64 i)
{
  return pick->n && (pick->index[i] & ASTRO_SELECT_TURNED);
}

/* With the two polarisation axes in each other's place, as pairs that are turned have them. */
void astro_select_swap(const AstroSelectAxes *axes, const guint64 strides[ASTRO_MAX_AXES],
                       guint64 swapped[ASTRO_MAX_AXES]);

/* One value of that format. What has no counterpart among integers becomes the nearest one. */
void astro_select_conjugate(AstroFormat format, gpointer out, gconstpointer in);

G_END_DECLS
