/* Cuts steps out of a buffer, with their counts. */
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

/* The steps that are kept. */
typedef struct {
  guint64 first, n;
} Kept;

/* Copies the elements of a shape at the kept steps of its axis `at`. */
static void copy_rows(guint8 *to, const guint8 *from, const AstroLayout *shape, guint at,
                      const Kept *kept, gsize bytes)
{
  const guint64 steps = shape->extents[at];
  const gsize inner = product(shape, at + 1, shape->n_axes) * bytes;
  for (guint64 row = 0, n = product(shape, 0, at); row < n; row++)
    memcpy(to + row * kept->n * inner, from + (row * steps + kept->first) * inner, kept->n * inner);
}

/* Groups of steps that share a count may not begin at the cut, so each step gets its own count. */
static void cut_counts(GstBuffer *out, const AstroValidityMeta *meta, guint64 steps,
                       const Kept *kept)
{
  AstroLayout shape = meta->shape;
  const gint at = astro_layout_find(&shape, ASTRO_AXIS_TIME);

  if (at >= 0)
    shape.extents[at] = kept->n;
  AstroValidityMeta *cut = astro_buffer_add_validity(out, &shape, meta->full);
  cut->slowest_first = meta->slowest_first;
  const guint64 n = astro_validity_n_counts(cut);
  if (at < 0) {
    memcpy(cut->counts, meta->counts, n * sizeof *cut->counts);
    return;
  }
  const guint64 inner = product(&shape, (guint)at + 1, shape.n_axes);
  const guint64 groups = meta->shape.extents[at], group = steps / groups;
  for (guint64 i = 0; i < n; i++) {
    const guint64 row = i / inner / kept->n, step = i / inner % kept->n + kept->first;
    cut->counts[i] = meta->counts[(row * groups + step / group) * inner + i % inner];
  }
}

/* Copies the samples that are kept, if time is not the slowest axis. */
static GstBuffer *gather(GstBuffer *buffer, const AstroLayout *shape, guint at, const Kept *kept,
                         gsize bytes)
{
  const gsize size = gst_buffer_get_size(buffer) / shape->extents[at] * kept->n;
  GstBuffer *out = gst_buffer_new_allocate(NULL, size, NULL);
  GstMapInfo from, to;

  if (!out)
    return NULL;
  if (!gst_buffer_map(buffer, &from, GST_MAP_READ)) {
    gst_buffer_unref(out);
    return NULL;
  }
  if (gst_buffer_map(out, &to, GST_MAP_WRITE)) {
    copy_rows(to.data, from.data, shape, at, kept, bytes);
    gst_buffer_unmap(out, &to);
  } else {
    gst_clear_buffer(&out);
  }
  gst_buffer_unmap(buffer, &from);
  return out;
}

GstBuffer *astro_buffer_of_steps(GstBuffer *buffer, const AstroStream *stream, guint64 steps,
                                 guint64 first, guint64 n)
{
  const gsize step = gst_buffer_get_size(buffer) / steps;
  const GstBufferCopyFlags said = GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_META;
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  const Kept kept = { first, n };
  AstroLayout shape;

  astro_stream_shape(stream, steps, &shape);
  const gint at = astro_layout_find(&shape, ASTRO_AXIS_TIME);
  GstBuffer *out =
      at <= 0 ? gst_buffer_copy_region(buffer, said | GST_BUFFER_COPY_MEMORY, (gsize)first * step,
                                       (gsize)n * step)
              : gather(buffer, &shape, (guint)at, &kept, astro_stream_sample_bytes(stream));
  if (out && at > 0)
    gst_buffer_copy_into(out, buffer, said, 0, -1);
  if (out && meta)
    cut_counts(out, meta, steps, &kept);
  return out;
}

GstBuffer *astro_buffer_from_step(GstBuffer *buffer, const AstroStream *stream, guint64 steps,
                                  guint64 first)
{
  return astro_buffer_of_steps(buffer, stream, steps, first, steps - first);
}
