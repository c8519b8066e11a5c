/* For metas with an entry for each time step of their buffer. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Which of the steps a copied part of the buffer has: from *first on *steps, which is all of them
 * before. FALSE: it is no whole number of steps. */
static inline gboolean astro_meta_find_steps(GstBuffer *buffer, const GstMetaTransformCopy *copy,
                                             guint64 *first, guint64 *steps)
{
  const gsize whole = gst_buffer_get_size(buffer), step = *steps ? whole / *steps : 0;
  *first = 0;
  if (!copy->region || (copy->offset == 0 && copy->size == whole))
    return TRUE;
  if (step == 0 || whole % *steps || copy->offset % step || copy->size % step)
    return FALSE;
  *first = copy->offset / step;
  *steps = copy->size / step;
  return TRUE;
}

G_END_DECLS
