/* Counts after a transform. */
#include "config.h"
#include "core/fft/validity.h"

static gboolean is_one_of(AstroAxis axis, const AstroAxis *axes, guint n)
{
  for (guint i = 0; i < n; i++)
    if (axes[i] == axis)
      return TRUE;
  return FALSE;
}

void astro_fft_validity(GstBuffer *out, GstBuffer *in, const AstroAxis *transformed, guint n)
{
  const AstroValidityMeta *from = astro_buffer_get_validity(in);
  AstroLayout kept = { 0 };
  guint64 strides[ASTRO_MAX_AXES], steps[ASTRO_MAX_AXES] = { 0 };

  if (!from)
    return;
  for (guint i = 0; i < from->shape.n_axes; i++)
    if (!is_one_of(from->shape.axes[i], transformed, n)) {
      kept.axes[kept.n_axes] = from->shape.axes[i];
      kept.extents[kept.n_axes++] = from->shape.extents[i];
    }
  astro_layout_strides(&kept, strides);
  for (guint i = 0, k = 0; i < from->shape.n_axes; i++)
    if (!is_one_of(from->shape.axes[i], transformed, n))
      steps[i] = strides[k++];

  AstroValidityMeta *to = astro_buffer_add_validity(out, &kept, from->full);
  to->slowest_first = from->slowest_first && kept.n_axes && kept.axes[0] == from->shape.axes[0];
  for (guint64 i = 0, total = astro_validity_n_counts(from); i < total; i++) {
    guint64 rest = i, at = 0;
    for (guint a = from->shape.n_axes; a-- > 0; rest /= from->shape.extents[a])
      at += rest % from->shape.extents[a] * steps[a];
    to->counts[at] = MIN(to->counts[at], from->counts[i]);
  }
}
