/* The meta with counts of good samples. */
#include "config.h"
#include "core/stream/validity.h"

#include <string.h>

/* The tag keeps GstBaseTransform from copying counts unchanged to a buffer with other axes. */
#define TAG_AXES "astro-axes"

GType astro_validity_meta_api_get_type(void)
{
  static gsize type = 0;
  static const gchar *tags[] = { TAG_AXES, NULL };
  if (g_once_init_enter(&type))
    g_once_init_leave(&type, gst_meta_api_type_register("AstroValidityMetaAPI", tags));
  return type;
}

static gboolean meta_init(GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  AstroValidityMeta *self = (AstroValidityMeta *)meta;
  memset(&self->shape, 0, sizeof self->shape);
  self->full = 0;
  self->counts = NULL;
  self->storage = NULL;
  self->slowest_first = FALSE;
  self->capacity = 0;
  return TRUE;
}

static void meta_free(GstMeta *meta, GstBuffer *buffer)
{
  g_free(((AstroValidityMeta *)meta)->storage);
}

guint64 astro_validity_n_counts(const AstroValidityMeta *meta)
{
  return astro_layout_samples(&meta->shape);
}

static guint32 smallest(const AstroValidityMeta *meta)
{
  guint32 least = meta->full;
  for (guint64 i = 0, n = astro_validity_n_counts(meta); i < n; i++)
    least = MIN(least, meta->counts[i]);
  return least;
}

/* A part of a buffer keeps its own counts if it consists of whole steps of the slowest counted axis
 * and that axis is the buffer's slowest. Any other part gets the smallest count of the whole
 * buffer: too few good samples are safe, too many are not. */
static void copy_region(GstBuffer *dest, const AstroValidityMeta *meta, gsize offset, gsize size,
                        gsize whole)
{
  AstroLayout shape = meta->shape;
  guint64 n = astro_validity_n_counts(meta), slow = shape.n_axes ? shape.extents[0] : 1;

  if (meta->slowest_first && shape.n_axes && slow && whole % slow == 0 && whole / slow &&
      offset % (whole / slow) == 0 && size % (whole / slow) == 0) {
    gsize step = whole / slow, row = n / slow;
    shape.extents[0] = size / step;
    AstroValidityMeta *copy = astro_buffer_add_validity(dest, &shape, meta->full);
    copy->slowest_first = TRUE;
    memcpy(copy->counts, meta->counts + offset / step * row,
           size / step * row * sizeof *copy->counts);
    return;
  }
  AstroLayout single = { 0 };
  astro_buffer_add_validity(dest, &single, meta->full)->counts[0] = smallest(meta);
}

static gboolean meta_transform(GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type,
                               gpointer data)
{
  AstroValidityMeta *self = (AstroValidityMeta *)meta;
  GstMetaTransformCopy *copy = data;
  gsize whole = gst_buffer_get_size(buffer);

  if (!GST_META_TRANSFORM_IS_COPY(type))
    return FALSE;
  if (!self->counts)
    return TRUE;
  if (copy->region && (copy->offset != 0 || copy->size != whole)) {
    copy_region(dest, self, copy->offset, copy->size, whole);
    return TRUE;
  }
  AstroValidityMeta *other = astro_buffer_add_validity(dest, &self->shape, self->full);
  other->slowest_first = self->slowest_first;
  memcpy(other->counts, self->counts, astro_validity_n_counts(self) * sizeof *self->counts);
  return TRUE;
}

const GstMetaInfo *astro_validity_meta_get_info(void)
{
  static const GstMetaInfo *info = NULL;
  if (g_once_init_enter((GstMetaInfo **)&info)) {
    const GstMetaInfo *registered =
        gst_meta_register(ASTRO_VALIDITY_META_API, "AstroValidityMeta", sizeof(AstroValidityMeta),
                          meta_init, meta_free, meta_transform);
    g_once_init_leave((GstMetaInfo **)&info, (GstMetaInfo *)registered);
  }
  return info;
}

static AstroValidityMeta *find(GstBuffer *buffer)
{
  return (AstroValidityMeta *)gst_buffer_get_meta(buffer, ASTRO_VALIDITY_META_API);
}

AstroValidityMeta *astro_buffer_add_validity(GstBuffer *buffer, const AstroLayout *shape,
                                             guint32 full)
{
  AstroValidityMeta *meta = find(buffer);
  guint64 n = astro_layout_samples(shape);

  if (!meta) {
    meta = (AstroValidityMeta *)gst_buffer_add_meta(buffer, astro_validity_meta_get_info(), NULL);
    /* A pool then keeps the storage for the buffer's next use; its reset clears the counts. */
    if (buffer->pool)
      GST_META_FLAG_SET(meta, GST_META_FLAG_POOLED);
  }
  if (meta->capacity < MAX(n, 1)) {
    meta->capacity = MAX(n, 1);
    meta->storage = g_renew(guint32, meta->storage, meta->capacity);
  }
  meta->counts = meta->storage;
  meta->shape = *shape;
  meta->full = full;
  meta->slowest_first = FALSE;
  for (guint64 i = 0; i < n; i++)
    meta->counts[i] = full;
  return meta;
}

AstroValidityMeta *astro_buffer_get_validity(GstBuffer *buffer)
{
  AstroValidityMeta *meta = find(buffer);
  return meta && meta->counts ? meta : NULL;
}

void astro_validity_meta_clear(AstroValidityMeta *meta)
{
  meta->counts = NULL;
}

/* "station=4:time=100" */
static char *describe(const AstroLayout *shape)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < shape->n_axes; i++)
    g_string_append_printf(text, "%s%s=%" G_GUINT64_FORMAT, i ? ":" : "",
                           astro_axis_name(shape->axes[i]), shape->extents[i]);
  return g_string_free(text, FALSE);
}

/* The first counted axis that the shape has. A single frame has no time axis, but its counts may
 * have one. */
static guint first_counted(const AstroLayout *counted, const AstroLayout *shape)
{
  return counted->n_axes && counted->axes[0] == ASTRO_AXIS_TIME && counted->extents[0] == 1 &&
         astro_layout_find(shape, ASTRO_AXIS_TIME) < 0;
}

static gboolean fits(const AstroLayout *counted, const AstroLayout *shape)
{
  guint at = 0;
  for (guint i = first_counted(counted, shape); i < counted->n_axes; i++, at++) {
    while (at < shape->n_axes && shape->axes[at] != counted->axes[i])
      at++;
    if (at == shape->n_axes || !counted->extents[i] ||
        shape->extents[at] % counted->extents[i] != 0)
      return FALSE;
  }
  return TRUE;
}

gboolean astro_validity_check(const AstroValidityMeta *meta, const AstroLayout *shape,
                              GError **error)
{
  if (fits(&meta->shape, shape))
    return TRUE;
  g_autofree char *counted = describe(&meta->shape), *had = describe(shape);
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                             "the counts of a buffer are over %s, expected axes of the "
                             "buffer's %s in their order, and extents that divide theirs",
                             counted, had);
}

void astro_validity_axes(const AstroValidityMeta *meta, const AstroLayout *shape,
                         AstroValidityAxis axes[ASTRO_MAX_AXES])
{
  const AstroLayout *counted = &meta->shape;
  guint64 strides[ASTRO_MAX_AXES];
  guint next = first_counted(counted, shape);
  astro_layout_strides(counted, strides);
  /* Counted axes are in the stream's order, so one pass finds them; an axis named twice is matched
   * in order. */
  for (guint i = 0; i < shape->n_axes; i++) {
    axes[i] = (AstroValidityAxis){ .group = MAX(shape->extents[i], 1) };
    if (next == counted->n_axes || counted->axes[next] != shape->axes[i])
      continue;
    axes[i].group = MAX(axes[i].group / MAX(counted->extents[next], 1), 1);
    axes[i].stride = strides[next++];
  }
}

static guint64 place(AstroValidityAxis axis, guint64 index)
{
  return index / axis.group * axis.stride;
}

static guint32 count_at(const AstroValidityMeta *meta, const AstroValidityAxis *axes, guint n_axes,
                        const guint64 *index)
{
  guint64 at = 0;
  for (guint i = 0; i < n_axes; i++)
    at += place(axes[i], index[i]);
  return meta->counts[at];
}

guint32 astro_validity_at(const AstroValidityMeta *meta, const AstroLayout *shape,
                          const guint64 index[ASTRO_MAX_AXES])
{
  AstroValidityAxis axes[ASTRO_MAX_AXES];
  astro_validity_axes(meta, shape, axes);
  return count_at(meta, axes, shape->n_axes, index);
}

void astro_validity_run_init(AstroValidityRun *run, const AstroValidityMeta *meta,
                             const AstroLayout *shape)
{
  *run = (AstroValidityRun){ .meta = meta, .shape = shape };
  astro_validity_axes(meta, shape, run->axes);
}

/* Moves to the next group along the fastest axis. */
static void step_group(AstroValidityRun *run)
{
  guint axis = run->shape->n_axes - 1;
  run->index[axis] += run->axes[axis].group;
  for (; axis > 0 && run->index[axis] == run->shape->extents[axis]; axis--) {
    run->index[axis] = 0;
    run->index[axis - 1]++;
  }
}

gboolean astro_validity_next_run(AstroValidityRun *run)
{
  const AstroLayout *shape = run->shape;
  const guint64 group = run->axes[shape->n_axes - 1].group;

  run->first += run->length;
  run->length = 0;
  while (run->index[0] < shape->extents[0]) {
    const guint32 count = count_at(run->meta, run->axes, shape->n_axes, run->index);
    if (run->length && count != run->count)
      break;
    run->count = count;
    run->length += group;
    step_group(run);
  }
  return run->length > 0;
}

static AstroValidityAxis find_axis(const AstroValidityAxis *axes, const AstroLayout *shape,
                                   AstroAxis axis)
{
  const gint at = astro_layout_find(shape, axis);
  return at < 0 ? (AstroValidityAxis){ .group = 1 } : axes[at];
}

void astro_validity_samples(AstroValiditySamples *samples, const AstroValidityMeta *meta,
                            const AstroLayout *shape)
{
  const gint time = astro_layout_find(shape, ASTRO_AXIS_TIME);
  const gboolean has_beams = astro_layout_find(shape, ASTRO_AXIS_BEAM) >= 0;
  AstroValidityAxis axes[ASTRO_MAX_AXES];
  astro_validity_axes(meta, shape, axes);
  *samples = (AstroValiditySamples){
    .meta = meta,
    .time = find_axis(axes, shape, ASTRO_AXIS_TIME),
    .channel = find_axis(axes, shape, ASTRO_AXIS_CHANNEL),
    .station = find_axis(axes, shape, has_beams ? ASTRO_AXIS_BEAM : ASTRO_AXIS_STATION),
    .pol = find_axis(axes, shape, ASTRO_AXIS_POL),
    .pols = 1,
    .steps = time < 0 ? 1 : shape->extents[time], /* a frame is one step */
    .least = has_beams ? 1 : meta->full,
  };
  if (samples->pol.stride)
    samples->pols = shape->extents[astro_layout_find(shape, ASTRO_AXIS_POL)];
}

gboolean astro_validity_is_whole(const AstroValiditySamples *samples, guint64 time, guint64 channel,
                                 guint64 station)
{
  const guint32 *counts = samples->meta->counts + place(samples->time, time) +
                          place(samples->channel, channel) + place(samples->station, station);
  for (guint64 pol = 0; pol < samples->pols; pol++)
    if (counts[place(samples->pol, pol)] < samples->least)
      return FALSE;
  return TRUE;
}

gboolean astro_validity_next_loss(const AstroValiditySamples *samples, guint64 channel,
                                  guint64 station, guint64 *from, guint64 *to)
{
  const guint64 group = samples->time.group, steps = samples->steps;
  guint64 step = *to;
  while (step < steps && astro_validity_is_whole(samples, step, channel, station))
    step += group;
  *from = step;
  while (step < steps && !astro_validity_is_whole(samples, step, channel, station))
    step += group;
  *to = step;
  return *from < *to;
}

/* In layouts without time, frames put it in front of all axes. */
static AstroLayout with_frames(const AstroLayout *layout, const AstroLayout *counted)
{
  AstroLayout all = { 0 };
  if (astro_layout_find(layout, ASTRO_AXIS_TIME) < 0 &&
      astro_layout_find(counted, ASTRO_AXIS_TIME) >= 0 && layout->n_axes < ASTRO_MAX_AXES)
    all.axes[all.n_axes++] = ASTRO_AXIS_TIME;
  for (guint i = 0; i < layout->n_axes; i++)
    all.axes[all.n_axes++] = layout->axes[i];
  return all;
}

gboolean astro_validity_follow(GstBuffer *dest, GstBuffer *src, const AstroLayout *layout)
{
  AstroValidityMeta *from = astro_buffer_get_validity(src), *to;
  AstroLayout shape = { 0 };
  guint64 strides[ASTRO_MAX_AXES], step[ASTRO_MAX_AXES] = { 0 }, index[ASTRO_MAX_AXES] = { 0 };
  gboolean used[ASTRO_MAX_AXES] = { FALSE };

  if (!from)
    return TRUE;
  const AstroLayout all = with_frames(layout, &from->shape);
  astro_layout_strides(&from->shape, strides);
  for (guint i = 0; i < all.n_axes; i++)
    for (guint j = 0; j < from->shape.n_axes; j++)
      if (!used[j] && from->shape.axes[j] == all.axes[i]) {
        used[j] = TRUE;
        shape.axes[shape.n_axes] = all.axes[i];
        shape.extents[shape.n_axes] = from->shape.extents[j];
        step[shape.n_axes++] = strides[j];
        break;
      }
  if (shape.n_axes != from->shape.n_axes)
    return FALSE;

  to = astro_buffer_add_validity(dest, &shape, from->full);
  to->slowest_first = shape.n_axes && all.axes[0] == shape.axes[0];
  for (guint64 i = 0, n = astro_layout_samples(&shape), at = 0; i < n; i++) {
    to->counts[i] = from->counts[at];
    for (guint a = shape.n_axes; a-- > 0;) {
      at += step[a];
      if (++index[a] < shape.extents[a])
        break;
      at -= step[a] * shape.extents[a];
      index[a] = 0;
    }
  }
  return TRUE;
}
