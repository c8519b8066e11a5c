/* Values of a block and the counts behind them, along one axis of its shape. */
#pragma once

#include "core/stream/validity.h"

G_BEGIN_DECLS

/* How far apart values and their counts are along an axis; 0 if there is no such axis. */
typedef struct {
  guint64 stride;
  AstroValidityAxis counts;
} AstroCountedAxis;

/* Strides and counts of all axes of a shape. */
typedef struct {
  guint64 strides[ASTRO_MAX_AXES];
  AstroValidityAxis counts[ASTRO_MAX_AXES];
} AstroCounted;

static inline void astro_counted_init(AstroCounted *counted, const AstroLayout *shape,
                                      const AstroValidityMeta *meta)
{
  for (guint i = 0; i < ASTRO_MAX_AXES; i++)
    counted->counts[i] = (AstroValidityAxis){ .group = 1 };
  astro_layout_strides(shape, counted->strides);
  if (meta)
    astro_validity_axes(meta, shape, counted->counts);
}

static inline AstroCountedAxis astro_counted_axis(const AstroCounted *counted,
                                                  const AstroLayout *shape, AstroAxis axis)
{
  const gint at = astro_layout_find(shape, axis);
  return at < 0 ? (AstroCountedAxis){ .counts.group = 1 }
                : (AstroCountedAxis){ counted->strides[at], counted->counts[at] };
}

static inline guint64 astro_counted_at(const AstroCountedAxis *axis, guint64 index)
{
  return index / axis->counts.group * axis->counts.stride;
}

G_END_DECLS
