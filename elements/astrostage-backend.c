#include "config.h"
#include "elements/astrostage-parts.h"

#include "core/memory/memory.h"

static gboolean wait_oldest(AstroStagePrivate *priv, guint leave, GError **error)
{
  gboolean ok = TRUE;
  while (priv->in_flight.length > leave) {
    AstroEvent *event = g_queue_pop_head(&priv->in_flight);
    ok = priv->device->funcs->event_wait(priv->device, event, ok ? error : NULL) && ok;
    priv->device->funcs->event_free(priv->device, event);
  }
  return ok;
}

void astro_stage_close_backend(AstroStage *stage)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);

  if (priv->device)
    wait_oldest(priv, 0, NULL);
  if (priv->instance)
    priv->backend->destroy(priv->instance);
  if (priv->queue)
    priv->device->funcs->queue_free(priv->device, priv->queue);
  g_clear_pointer(&priv->device, astro_device_unref);
  priv->queue = NULL;
  priv->instance = NULL;
  GST_OBJECT_LOCK(stage);
  priv->backend = NULL;
  priv->variant = NULL;
  GST_OBJECT_UNLOCK(stage);
}

static gboolean open_backend_of(AstroStage *stage, AstroBackendKind kind, GError **error)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  const char *variant = NULL;
  const AstroBackend *backend = astro_backend_choose(
      klass->stage, klass->backends, kind, priv->device_index, priv->config, &priv->device, error);

  if (!backend)
    return FALSE;
  g_assert(backend->config_bytes <= sizeof priv->config);
  if (priv->device && !(priv->queue = priv->device->funcs->queue_new(priv->device, error)))
    return FALSE;
  AstroPlace place = { .threads = priv->threads, .device = priv->device, .queue = priv->queue };
  priv->instance = backend->create(priv->config, &place, &variant, error);
  GST_OBJECT_LOCK(stage);
  priv->backend = backend;
  priv->variant = variant;
  GST_OBJECT_UNLOCK(stage);
  return priv->instance != NULL;
}

/* What auto found room for in shape alone may not be there: the host then does it. */
gboolean astro_stage_open_backend(AstroStage *stage, GError **error)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  g_autoptr(GError) why_not = NULL;
  if (open_backend_of(stage, priv->kind, &why_not))
    return TRUE;
  if (priv->kind == ASTRO_BACKEND_AUTO && priv->device) {
    GST_WARNING_OBJECT(stage, "auto takes cpu: %s", why_not->message);
    astro_stage_close_backend(stage);
    return open_backend_of(stage, ASTRO_BACKEND_CPU, error);
  }
  g_propagate_error(error, g_steal_pointer(&why_not));
  return FALSE;
}

/* ---- faces ---- */

typedef struct {
  GstBuffer *buffer;
  gboolean on_device;
  GstMapInfo map;
  AstroBlock block;
} Face;

gboolean astro_stage_writes_on_device(const AstroStagePrivate *priv)
{
  return priv->device && !(priv->backend->host_out && priv->backend->host_out(priv->instance));
}

static gboolean open_face(AstroStage *stage, Face *face, GstMapFlags flags, GError **error)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);

  face->block.bytes = gst_buffer_get_size(face->buffer);
  face->on_device =
      flags & GST_MAP_WRITE ? astro_stage_writes_on_device(priv) : priv->device != NULL;
  if (face->on_device)
    return astro_buffer_acquire(&face->buffer, priv->device, priv->queue, flags, &face->block.data,
                                error);
  if (!gst_buffer_map(face->buffer, &face->map, flags)) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
                "a buffer of %" G_GSIZE_FORMAT " bytes cannot be mapped", face->block.bytes);
    return FALSE;
  }
  face->block.data = face->map.data;
  return TRUE;
}

static gboolean close_face(AstroStage *stage, Face *face, GstMapFlags flags, gboolean ready,
                           GError **error)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);

  if (face->on_device)
    return astro_buffer_release(face->buffer, priv->queue, flags,
                                (flags & GST_MAP_WRITE) && ready && !priv->reader, error);
  gst_buffer_unmap(face->buffer, &face->map);
  return TRUE;
}

gboolean astro_stage_submit(AstroStage *stage, GstBuffer *in, GstBuffer *out, gpointer arguments,
                            GError **error)
{
  return astro_stage_submit_part(stage, in, out, arguments, TRUE, TRUE, error);
}

gboolean astro_stage_submit_part(AstroStage *stage, GstBuffer *in, GstBuffer *out,
                                 gpointer arguments, gboolean first, gboolean last, GError **error)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  const gboolean in_place = in && in == out, apart = in && !in_place;
  Face from = { .buffer = apart ? gst_buffer_ref(in) : NULL }, to = { .buffer = out };
  const GstMapFlags flags = first && !in_place ? GST_MAP_WRITE : GST_MAP_READWRITE;
  gboolean ok = TRUE;

  if (apart && !open_face(stage, &from, GST_MAP_READ, error)) {
    gst_buffer_unref(from.buffer);
    return FALSE;
  }
  if (!out || (ok = open_face(stage, &to, flags, error))) {
    ok = priv->backend->submit(priv->instance, in_place ? &to.block : &from.block, in != NULL,
                               &to.block, out != NULL, arguments, error);
    if (out)
      ok = close_face(stage, &to, flags, last, ok ? error : NULL) && ok;
  }
  if (apart) {
    ok = close_face(stage, &from, GST_MAP_READ, FALSE, ok ? error : NULL) && ok;
    priv->host_copies += from.buffer != in;
    gst_buffer_unref(from.buffer);
  }
  if (ok && priv->device) {
    AstroEvent *event = priv->device->funcs->event_record(priv->device, priv->queue, error);
    if (event)
      g_queue_push_tail(&priv->in_flight, event);
    ok = event && wait_oldest(priv, ASTRO_STAGE_IN_FLIGHT, error);
  }
  /* What was queued has no event that astro_stage_close_backend could wait for. */
  if (!ok && priv->device && priv->backend->drain)
    priv->backend->drain(priv->instance, NULL);
  return ok;
}
