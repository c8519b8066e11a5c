/* Cuts steps off the front of a buffer, with their counts. */
#include "config.h"
#include "core/stream/validity.h"

#include <string.h>

static guint64 product(const AstroLayout *shape, guint from, guint to)
{
  guint64 n = 1;
  for (guint i = from; i < to; i++)
    n *= shape->extents[i];
  return n;
}

/* Copies the elements of a shape from step `first` of its axis `at` on. */
static void copy_rows(guint8 *to, const guint8 *from, const AstroLayout *shape, guint at,
                      guint64 first, gsize bytes)
{
  const guint64 steps = shape->extents[at];
  const gsize inner = product(shape, at + 1, shape->n_axes) * bytes;
  for (guint64 row = 0, n = product(shape, 0, at); row < n; row++)
    memcpy(to + row * (steps - first) * inner, from + (row * steps + first) * inner,
           (steps - first) * inner);
}

/* Groups of steps that share a count may not begin at the cut, so each step gets its own count. */
static void cut_counts(GstBuffer *out, const AstroValidityMeta *meta, guint64 steps, guint64 first)
{
  AstroLayout shape = meta->shape;
  const gint at = astro_layout_find(&shape, ASTRO_AXIS_TIME);

  if (at >= 0)
    shape.extents[at] = steps - first;
  AstroValidityMeta *cut = astro_buffer_add_validity(out, &shape, meta->full);
  cut->slowest_first = meta->slowest_first;
  const guint64 n = astro_validity_n_counts(cut);
  if (at < 0) {
    memcpy(cut->counts, meta->counts, n * sizeof *cut->counts);
    return;
  }
  const guint64 inner = product(&shape, (guint)at + 1, shape.n_axes), kept = steps - first;
  const guint64 groups = meta->shape.extents[at], group = steps / groups;
  for (guint64 i = 0; i < n; i++) {
    const guint64 row = i / inner / kept, step = i / inner % kept + first;
    cut->counts[i] = meta->counts[(row * groups + step / group) * inner + i % inner];
  }
}

/* Copies the samples that are kept, if time is not the slowest axis. */
static GstBuffer *gather(GstBuffer *buffer, const AstroLayout *shape, guint at, guint64 first,
                         gsize bytes)
{
  const gsize size =
      gst_buffer_get_size(buffer) / shape->extents[at] * (shape->extents[at] - first);
  GstBuffer *out = gst_buffer_new_allocate(NULL, size, NULL);
  GstMapInfo from, to;

  if (!out)
    return NULL;
  if (!gst_buffer_map(buffer, &from, GST_MAP_READ)) {
    gst_buffer_unref(out);
    return NULL;
  }
  if (gst_buffer_map(out, &to, GST_MAP_WRITE)) {
    copy_rows(to.data, from.data, shape, at, first, bytes);
    gst_buffer_unmap(out, &to);
  } else {
    gst_clear_buffer(&out);
  }
  gst_buffer_unmap(buffer, &from);
  return out;
}

GstBuffer *astro_buffer_from_step(GstBuffer *buffer, const AstroStream *stream, guint64 steps,
                                  guint64 first)
{
  const gsize whole = gst_buffer_get_size(buffer);
  const GstBufferCopyFlags said = GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_META;
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  AstroLayout shape;

  astro_stream_shape(stream, steps, &shape);
  const gint at = astro_layout_find(&shape, ASTRO_AXIS_TIME);
  const gsize offset = (gsize)(whole / steps * first);
  GstBuffer *out =
      at <= 0
          ? gst_buffer_copy_region(buffer, said | GST_BUFFER_COPY_MEMORY, offset, whole - offset)
          : gather(buffer, &shape, (guint)at, first, astro_stream_sample_bytes(stream));
  if (out && at > 0)
    gst_buffer_copy_into(out, buffer, said, 0, -1);
  if (out && meta)
    cut_counts(out, meta, steps, first);
  return out;
}
