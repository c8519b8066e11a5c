/* The meta that says which baselines a file has no rows of. */
#include "config.h"
#include "core/stream/absent.h"

#include <string.h>

#include "core/stream/meta-steps.h"

/* No tag: whatever is done to the values, their baselines and times stay the same. */
GType astro_absent_meta_api_get_type(void)
{
  static gsize type = 0;
  static const gchar *tags[] = { NULL };
  if (g_once_init_enter(&type))
    g_once_init_leave(&type, gst_meta_api_type_register("AstroAbsentMetaAPI", tags));
  return type;
}

static gboolean absent_init(GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  AstroAbsentMeta *self = (AstroAbsentMeta *)meta;
  self->steps = self->baselines = 0;
  self->is_absent = NULL;
  return TRUE;
}

static void absent_free(GstMeta *meta, GstBuffer *buffer)
{
  g_free(((AstroAbsentMeta *)meta)->is_absent);
}

static gboolean absent_transform(GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type,
                                 gpointer data)
{
  const AstroAbsentMeta *self = (AstroAbsentMeta *)meta;
  guint64 first, steps = self->steps;
  if (!GST_META_TRANSFORM_IS_COPY(type))
    return FALSE;
  if (!astro_meta_find_steps(buffer, data, &first, &steps))
    return TRUE;
  AstroAbsentMeta *other = astro_buffer_add_absent(dest, steps, self->baselines);
  memcpy(other->is_absent, self->is_absent + first * self->baselines, steps * self->baselines);
  return TRUE;
}

const GstMetaInfo *astro_absent_meta_get_info(void)
{
  static const GstMetaInfo *info = NULL;
  if (g_once_init_enter((GstMetaInfo **)&info)) {
    const GstMetaInfo *registered =
        gst_meta_register(ASTRO_ABSENT_META_API, "AstroAbsentMeta", sizeof(AstroAbsentMeta),
                          absent_init, absent_free, absent_transform);
    g_once_init_leave((GstMetaInfo **)&info, (GstMetaInfo *)registered);
  }
  return info;
}

AstroAbsentMeta *astro_buffer_get_absent(GstBuffer *buffer)
{
  return (AstroAbsentMeta *)gst_buffer_get_meta(buffer, ASTRO_ABSENT_META_API);
}

AstroAbsentMeta *astro_buffer_add_absent(GstBuffer *buffer, guint64 steps, guint64 baselines)
{
  AstroAbsentMeta *meta = astro_buffer_get_absent(buffer);
  if (!meta)
    meta = (AstroAbsentMeta *)gst_buffer_add_meta(buffer, astro_absent_meta_get_info(), NULL);
  g_free(meta->is_absent);
  meta->steps = steps;
  meta->baselines = baselines;
  meta->is_absent = g_new0(guint8, steps * baselines);
  return meta;
}

const guint8 *astro_buffer_find_absent(GstBuffer *buffer, guint64 steps, guint64 baselines)
{
  const AstroAbsentMeta *meta = astro_buffer_get_absent(buffer);
  return meta && meta->steps == steps && meta->baselines == baselines ? meta->is_absent : NULL;
}
