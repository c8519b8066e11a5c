/* Creates the backend of a stage, and submits work to it. */
#include "config.h"
#include "elements/base/astrostage-parts.h"

#include "core/backend/module.h"
#include "core/memory/faces.h"
#include "core/memory/memory.h"

static gboolean wait_oldest(AstroStage *stage, guint leave, GError **error)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  const gint64 begun = astro_stage_now();
  gboolean ok = TRUE;
  AstroStageLane *lane = priv->lane;
  while (lane->in_flight.length > leave) {
    AstroEvent *event = g_queue_pop_head(&lane->in_flight);
    ok = lane->device->funcs->event_wait(lane->device, event, ok ? error : NULL) && ok;
    lane->device->funcs->event_free(lane->device, event);
  }
  astro_log_wait(stage, "for the device", (guint64)(astro_stage_now() - begun));
  return ok;
}

/* How many blocks may stay queued before the host goes on: of short ones as many as a pool has, so
 * that neither the bus is idle while a kernel works on many of them at once, nor the device while
 * this thread wakes up. Of visibilities few, since astrogridder tells beforehand how much memory it
 * needs. A device whose memory is the host's has no bus, and may be slow. */
static guint most_in_flight(const AstroStagePrivate *priv, GstBuffer *in)
{
  const guint most = astro_pool_most_busy(in ? gst_buffer_get_size(in) : 0);
  if (priv->lane->device->on_host || (in && priv->in.quantity == ASTRO_QUANTITY_VISIBILITIES))
    return ASTRO_STAGE_IN_FLIGHT;
  return MAX(most, ASTRO_STAGE_IN_FLIGHT);
}

static void close_lane(AstroStage *stage, AstroStageLane *lane)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  AstroDevice *device = lane->device;

  priv->lane = lane;
  if (device)
    wait_oldest(stage, 0, NULL);
  if (lane->instance)
    priv->backend->destroy(lane->instance);
  if (lane->queue)
    device->funcs->queue_free(device, lane->queue);
  lane->queue = NULL;
  lane->instance = NULL;
  GST_OBJECT_LOCK(stage);
  lane->device = NULL;
  GST_OBJECT_UNLOCK(stage);
  g_clear_pointer(&device, astro_device_unref);
}

void astro_stage_close_backend(AstroStage *stage)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);

  for (guint i = G_N_ELEMENTS(priv->lanes); i-- > 0;)
    close_lane(stage, &priv->lanes[i]);
  astro_box_place_clear(&priv->boxes);
  GST_OBJECT_LOCK(stage);
  priv->n_lanes = 0;
  priv->backend = NULL;
  priv->variant = NULL;
  GST_OBJECT_UNLOCK(stage);
}

/* Opens the next lane. why_cpu: why auto did not take its first choice; or NULL. */
static gboolean open_backend_of(AstroStage *stage, const AstroWorkChoice *choice,
                                const char *why_cpu, GError **error)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  AstroStageLane *lane = &priv->lanes[priv->n_lanes];
  const char *variant = NULL;
  g_autofree char *why = NULL;
  const AstroBackend *backend =
      astro_backend_choose(klass->stage, klass->backends, choice->kind, choice->device,
                           priv->config, &lane->device, &why, error);

  if (!backend)
    return FALSE;
  g_assert(backend->config_bytes <= sizeof priv->config);
  if (lane->device && !(lane->queue = lane->device->funcs->queue_new(lane->device, error)))
    return FALSE;
  AstroPlace place = { .threads = choice->threads,
                       .device = lane->device,
                       .queue = lane->queue,
                       .stop = &priv->deadline.stop };
  lane->instance = backend->create(priv->config, &place, &variant, error);
  GST_OBJECT_LOCK(stage);
  priv->backend = backend;
  priv->variant = variant;
  priv->n_lanes += lane->instance != NULL;
  GST_OBJECT_UNLOCK(stage);
  if (!lane->instance)
    return FALSE;
  astro_work_log(stage, backend, variant, lane->device, choice->threads, why_cpu ? why_cpu : why);
  return TRUE;
}

/* The first lane says where output blocks are written, which holds for all. */
static gboolean check_room(AstroStagePrivate *priv, GError **error)
{
  for (guint i = 0; i < priv->n_lanes && priv->n_lanes > 1 && priv->backend->host_out; i++)
    if (priv->backend->host_out(priv->lanes[i].instance))
      return astro_backend_no_memory(error,
                                     "%s has no room for whole blocks of output, which several "
                                     "devices that share the work need: expected one device, or "
                                     "less work at once",
                                     priv->lanes[i].device->name);
  return TRUE;
}

static gboolean open_on_devices(AstroStage *stage, AstroWorkChoice *choice, GError **error)
{
  gint indices[ASTRO_MOST_DEVICES];
  const guint n = astro_stage_find_devices(stage, choice, indices, error);
  if (n > 1 && choice->kind == ASTRO_BACKEND_AUTO) /* the host is no substitute for those named */
    choice->kind = ASTRO_BACKEND_CUDA;
  for (guint i = 0; i < n; i++) {
    choice->device = indices[i];
    if (!open_backend_of(stage, choice, NULL, error))
      return FALSE;
  }
  if (n == 0)
    return FALSE;
  astro_stage_take_lane(stage, 0);
  return check_room(astro_stage_parts(stage), error);
}

/* auto chose by shape alone. If the device has no room after all, the host does the work. */
static gboolean open_backend(AstroStage *stage, GError **error)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  AstroWorkChoice choice = astro_stage_choice(stage);
  g_autoptr(GError) why_not = NULL;
  if (open_on_devices(stage, &choice, &why_not))
    return TRUE;
  if (choice.kind == ASTRO_BACKEND_AUTO && astro_stage_device(priv)) {
    g_autofree char *why = g_strdup_printf("auto takes cpu: %s", why_not->message);
    ASTRO_WARN(stage, "%s", why);
    astro_stage_close_backend(stage);
    choice.kind = ASTRO_BACKEND_CPU;
    if (!open_backend_of(stage, &choice, why, error))
      return FALSE;
    astro_stage_take_lane(stage, 0);
    return TRUE;
  }
  g_propagate_error(error, g_steal_pointer(&why_not));
  return FALSE;
}

/* Making an instance may take long, so it can be given up as well. */
gboolean astro_stage_open_backend(AstroStage *stage, GError **error)
{
  AstroDeadline *deadline = &astro_stage_parts(stage)->deadline;
  astro_deadline_begin(deadline);
  const AstroStop *before = astro_stop_set(&deadline->stop);
  const gboolean ok = open_backend(stage, error) && astro_backend_goes_on(error);
  astro_stop_set(before);
  return ok;
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
  const AstroStageLane *lane = &priv->lanes[0];
  return lane->device && !(priv->backend->host_out && priv->backend->host_out(lane->instance));
}

static gboolean open_face(AstroStage *stage, Face *face, GstMapFlags flags, GError **error)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);

  face->block.bytes = gst_buffer_get_size(face->buffer);
  face->on_device =
      flags & GST_MAP_WRITE ? astro_stage_writes_on_device(priv) : priv->lane->device != NULL;
  if (face->on_device)
    return astro_buffer_acquire(&face->buffer, priv->lane->device, priv->lane->queue, flags,
                                &face->block.data, error);
  if (!gst_buffer_map(face->buffer, &face->map, flags))
    return astro_backend_no_memory(error, "a buffer of %" G_GSIZE_FORMAT " bytes cannot be mapped",
                                   face->block.bytes);
  face->block.data = face->map.data;
  return TRUE;
}

static gboolean close_face(AstroStage *stage, Face *face, GstMapFlags flags, gboolean ready,
                           GError **error)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);

  if (face->on_device)
    return astro_buffer_release(
        face->buffer, priv->lane->queue, flags,
        (flags & GST_MAP_WRITE) && ready && astro_stage_is_read_on_host(priv), error);
  gst_buffer_unmap(face->buffer, &face->map);
  return TRUE;
}

typedef struct {
  guint n;
  Face faces[ASTRO_STAGE_BLOCKS];
} Faces;

static gboolean close_faces(AstroStage *stage, Faces *set, guint n, GstMapFlags flags,
                            gboolean ready, GError **error)
{
  gboolean ok = TRUE;
  for (guint i = 0; i < n; i++)
    ok = close_face(stage, &set->faces[i], flags, ready, ok ? error : NULL) && ok;
  return ok;
}

/* Opens all faces, or none. */
static gboolean open_faces(AstroStage *stage, Faces *set, GstMapFlags flags, GError **error)
{
  for (guint i = 0; i < set->n; i++)
    if (!open_face(stage, &set->faces[i], flags, error)) {
      close_faces(stage, set, i, flags, FALSE, NULL);
      return FALSE;
    }
  return TRUE;
}

/* Whether a part that a call has made before it was told to stop counts as a result. If the stream
 * is stopped it does not, since nobody takes it. */
static gboolean keeps_part(AstroStage *stage)
{
  return ASTRO_STAGE_GET_CLASS(stage)->keeps_part &&
         !astro_deadline_is_stopped(&astro_stage_parts(stage)->deadline);
}

/* As astro_backend_goes_on(), for a stop that is not set for this thread. */
static gboolean goes_on(const AstroStop *stop, GError **error)
{
  const AstroStop *before = astro_stop_set(stop);
  const gboolean ok = astro_backend_goes_on(error);
  astro_stop_set(before);
  return ok;
}

static gboolean is_told_to_stop(gpointer call)
{
  return astro_is_stopped(call);
}

/* A call has given something up only if it asked and was told to stop. If time merely ran out in
 * the meantime, what it made is whole and is used. The next call is not begun then, unless it has
 * no blocks: such calls only count or forget. */
static gboolean submit_blocks(AstroStage *stage, const AstroBlock *in, guint n_in,
                              const AstroBlock *out, guint n_out, gconstpointer arguments,
                              GError **error)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  AstroStoppable call = { .stop = &priv->deadline.stop };
  const AstroStop stop = { is_told_to_stop, &call };

  if (n_in + n_out > 0 && !keeps_part(stage) && !goes_on(call.stop, error))
    return FALSE;
  const AstroStop *before = astro_stop_set(&stop);
  const gboolean ok = priv->backend->submit(priv->lane->instance, in, n_in, out, n_out, arguments,
                                            &priv->result, error);
  astro_stop_set(before);
  return ok && (!g_atomic_int_get(&call.stopped) || keeps_part(stage) || goes_on(call.stop, error));
}

static gboolean submit_opened(AstroStage *stage, const Faces *from, Faces *to, gboolean in_place,
                              GstMapFlags flags, gconstpointer arguments, gboolean last,
                              GError **error)
{
  AstroBlock in[ASTRO_STAGE_BLOCKS], out[ASTRO_STAGE_BLOCKS];
  guint n_in = 0;

  if (!open_faces(stage, to, flags, error))
    return FALSE;
  if (in_place)
    in[n_in++] = to->faces[0].block;
  for (guint i = 0; i < from->n; i++)
    in[n_in++] = from->faces[i].block;
  for (guint i = 0; i < to->n; i++)
    out[i] = to->faces[i].block;
  const gboolean ok = submit_blocks(stage, in, n_in, out, to->n, arguments, error);
  return close_faces(stage, to, to->n, flags, last, ok ? error : NULL) && ok;
}

gboolean astro_stage_submit(AstroStage *stage, GstBuffer *in, GstBuffer *out,
                            gconstpointer arguments, GError **error)
{
  return astro_stage_submit_part(stage, in, out, arguments, TRUE, TRUE, error);
}

gboolean astro_stage_submit_part(AstroStage *stage, GstBuffer *in, GstBuffer *out,
                                 gconstpointer arguments, gboolean first, gboolean last,
                                 GError **error)
{
  const AstroStageBlocks blocks = { { in }, { out } };
  return astro_stage_submit_blocks(stage, &blocks, arguments, first, last, error);
}

gboolean astro_stage_submit_blocks(AstroStage *stage, const AstroStageBlocks *blocks,
                                   gconstpointer arguments, gboolean first, gboolean last,
                                   GError **error)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  const guint in_place = blocks->in[0] && blocks->in[0] == blocks->out[0];
  const GstMapFlags flags = first && !in_place ? GST_MAP_WRITE : GST_MAP_READWRITE;
  Faces from = { 0 }, to = { 0 };
  gboolean ok;

  /* A block in foreign memory is read from a copy, which replaces it in faces. */
  for (guint i = in_place; i < ASTRO_STAGE_BLOCKS && blocks->in[i]; i++)
    from.faces[from.n++].buffer = gst_buffer_ref(blocks->in[i]);
  for (guint i = 0; i < ASTRO_STAGE_BLOCKS && blocks->out[i]; i++)
    to.faces[to.n++].buffer = blocks->out[i];
  if ((ok = open_faces(stage, &from, GST_MAP_READ, error))) {
    ok = submit_opened(stage, &from, &to, in_place, flags, arguments, last, error);
    ok = close_faces(stage, &from, from.n, GST_MAP_READ, FALSE, ok ? error : NULL) && ok;
    for (guint i = 0; i < from.n; i++)
      if (from.faces[i].buffer != blocks->in[i + in_place]) {
        astro_stage_count(stage, &(AstroWorkStats){ .host_copies = 1 });
        ASTRO_DEBUG(stage, "a block is copied, since it is not in memory that a device can read");
      }
  }
  for (guint i = 0; i < from.n; i++)
    gst_buffer_unref(from.faces[i].buffer);
  AstroStageLane *lane = priv->lane;
  if (ok && lane->device) {
    AstroEvent *event = lane->device->funcs->event_record(lane->device, lane->queue, error);
    if (event)
      g_queue_push_tail(&lane->in_flight, event);
    ok = event && wait_oldest(stage, most_in_flight(priv, blocks->in[0]), error);
  }
  /* Work that was queued has no event that astro_stage_close_backend could wait for. */
  if (!ok && lane->device && priv->backend->drain)
    priv->backend->drain(lane->instance, &priv->result, NULL);
  return ok;
}
