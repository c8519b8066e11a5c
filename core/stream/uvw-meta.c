/* The meta with a buffer's own (u,v,w). */
#include "config.h"
#include "core/stream/uvw-meta.h"
#include "core/stream/meta-steps.h"
#include "core/stream/stream.h"

#include <string.h>

/* No tag: whatever is done to the values, their baselines and times stay the same. */
GType astro_uvw_meta_api_get_type(void)
{
  static gsize type = 0;
  static const gchar *tags[] = { NULL };
  if (g_once_init_enter(&type))
    g_once_init_leave(&type, gst_meta_api_type_register("AstroUvwMetaAPI", tags));
  return type;
}

static gboolean uvw_init(GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  AstroUvwMeta *self = (AstroUvwMeta *)meta;
  self->steps = self->baselines = 0;
  self->uvw = NULL;
  return TRUE;
}

static void uvw_free(GstMeta *meta, GstBuffer *buffer)
{
  g_free(((AstroUvwMeta *)meta)->uvw);
}

/* A part of a buffer gets its own steps. A part of a step gets no meta, and is refused if
 * (u,v,w) are needed. */
static gboolean uvw_transform(GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type,
                              gpointer data)
{
  const AstroUvwMeta *self = (AstroUvwMeta *)meta;
  guint64 first, steps = self->steps;
  if (!GST_META_TRANSFORM_IS_COPY(type))
    return FALSE;
  if (!astro_meta_find_steps(buffer, data, &first, &steps))
    return TRUE;
  const gsize row = 3 * self->baselines;
  AstroUvwMeta *other = astro_buffer_add_uvw(dest, steps, self->baselines);
  memcpy(other->uvw, self->uvw + first * row, steps * row * sizeof *other->uvw);
  return TRUE;
}

const GstMetaInfo *astro_uvw_meta_get_info(void)
{
  static const GstMetaInfo *info = NULL;
  if (g_once_init_enter((GstMetaInfo **)&info)) {
    const GstMetaInfo *registered =
        gst_meta_register(ASTRO_UVW_META_API, "AstroUvwMeta", sizeof(AstroUvwMeta), uvw_init,
                          uvw_free, uvw_transform);
    g_once_init_leave((GstMetaInfo **)&info, (GstMetaInfo *)registered);
  }
  return info;
}

static AstroUvwMeta *find(GstBuffer *buffer)
{
  return (AstroUvwMeta *)gst_buffer_get_meta(buffer, ASTRO_UVW_META_API);
}

AstroUvwMeta *astro_buffer_add_uvw(GstBuffer *buffer, guint64 steps, guint64 baselines)
{
  AstroUvwMeta *meta = find(buffer);
  if (!meta)
    meta = (AstroUvwMeta *)gst_buffer_add_meta(buffer, astro_uvw_meta_get_info(), NULL);
  g_free(meta->uvw);
  meta->steps = steps;
  meta->baselines = baselines;
  meta->uvw = g_new0(double, 3 * steps * baselines);
  return meta;
}

gboolean astro_buffer_find_uvw(GstBuffer *buffer, const AstroObservation *observation,
                               guint64 steps, guint64 baselines, const double **uvw, GError **error)
{
  *uvw = NULL;
  if (!observation || observation->uvw_metres == 0)
    return TRUE;
  const AstroUvwMeta *meta = find(buffer);
  if (!meta)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "the observation says that buffers have (u,v,w) of their own but this one has none: an "
        "element on the way dropped them, as a file or a payloader does; link "
        "astrofitssrc uvw=file without it, or set uvw=table there");
  if (meta->steps != steps || meta->baselines != baselines)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "a buffer has (u,v,w) of %" G_GUINT64_FORMAT
                               " times and %" G_GUINT64_FORMAT
                               " baselines, expected %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT,
                               meta->steps, meta->baselines, steps, baselines);
  *uvw = meta->uvw;
  return TRUE;
}
