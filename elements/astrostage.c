#include "config.h"
#include "elements/astrostage.h"

#include <string.h>
#include "core/memory/memory.h"
#include "core/memory/pool.h"
#include "elements/astroreader.h"

GST_DEBUG_CATEGORY_STATIC(stage_debug);
#define GST_CAT_DEFAULT stage_debug

/* Blocks that the device may have in work before the host waits for the oldest. */
#define IN_FLIGHT ASTRO_POOL_DEPTH
/* Of the blocks that a pool begins with, together. */
#define MANY_BYTES ((guint64)2 << 30)
/* Blocks that a device stage holds back where the host reads next: while the host waits for one,
 * the next are in work. */
#define HOLD_BACK 2

typedef struct {
  GstBufferPool *pool;
  gsize bytes; /* of a block */
} Pool;

typedef struct {
  /* properties */
  AstroBackendKind kind;
  gint device_index;
  guint threads;

  /* what was agreed on */
  gboolean agreed;
  AstroStream in, out;
  AstroObservation *observation;
  guint64 config[ASTRO_MAX_CONFIG_BYTES / sizeof(guint64)];
  const AstroBackend *backend;
  const char *variant;
  gpointer instance;
  AstroDevice *device;
  AstroQueue *queue;
  GQueue in_flight; /* AstroEvent *, oldest first */

  GstBuffer *input; /* in work, while it is ours */

  /* output */
  Pool blocks, aside;
  AstroDevice *reader;    /* where downstream reads; NULL: on the host */
  gboolean answered_host; /* upstream was told that we read on the host */
  GQueue ready;           /* GstBuffer *, oldest first */
  GstFlowReturn pushed;   /* what downstream said to astro_stage_push */

  /* timing */
  gboolean time_segment;    /* upstream's segment counts time, so its OFFSET counts steps */
  gboolean segment_pending; /* downstream still has to learn of a TIME segment */
  gboolean started;
  guint64 next_step;
  GstClockTime epoch; /* the time of step 0 */
  gboolean discont;
  GstClockTime block_duration;

  /* statistics */
  GstPadChainFunction chain;
  guint64 buffers_in, buffers_out, bytes_in, bytes_out, host_copies;
  gint64 busy_ns, input_wait_ns, output_wait_ns, chain_left;
} AstroStagePrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_CODE(AstroStage, astro_stage, GST_TYPE_BASE_TRANSFORM,
                                 G_ADD_PRIVATE(AstroStage);
                                 GST_DEBUG_CATEGORY_INIT(stage_debug, "astrostage", 0,
                                                         "Base of gst-astro's stages"))

#define PRIV(stage) ((AstroStagePrivate *)astro_stage_get_instance_private(stage))

static gint64 now_ns(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * G_GINT64_CONSTANT(1000000000) + t.tv_nsec;
}

const AstroStream *astro_stage_in(AstroStage *stage)
{
  return &PRIV(stage)->in;
}

const AstroStream *astro_stage_out(AstroStage *stage)
{
  return &PRIV(stage)->out;
}

const AstroObservation *astro_stage_observation(AstroStage *stage)
{
  return PRIV(stage)->observation;
}

gpointer astro_stage_instance(AstroStage *stage)
{
  return PRIV(stage)->instance;
}

guint astro_stage_threads(AstroStage *stage)
{
  return PRIV(stage)->threads;
}

gboolean astro_stage_prefers_device(AstroStage *stage)
{
  return astro_backend_prefers_device(ASTRO_STAGE_GET_CLASS(stage)->stage, PRIV(stage)->kind,
                                      PRIV(stage)->device_index);
}

static void post_error(AstroStage *stage, GError *error)
{
  GST_ELEMENT_ERROR(stage, STREAM, FAILED, ("%s", error ? error->message : "failed"), (NULL));
}

/* ---- the backend's instance ---- */

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

static void close_backend(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);

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
  AstroStagePrivate *priv = PRIV(stage);
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
static gboolean open_backend(AstroStage *stage, GError **error)
{
  AstroStagePrivate *priv = PRIV(stage);
  g_autoptr(GError) why_not = NULL;
  if (open_backend_of(stage, priv->kind, &why_not))
    return TRUE;
  if (priv->kind == ASTRO_BACKEND_AUTO && priv->device) {
    GST_WARNING_OBJECT(stage, "auto takes cpu: %s", why_not->message);
    close_backend(stage);
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

/* Whether output blocks are written on the device. */
static gboolean writes_on_device(const AstroStagePrivate *priv)
{
  return priv->device && !(priv->backend->host_out && priv->backend->host_out(priv->instance));
}

static gboolean open_face(AstroStage *stage, Face *face, GstMapFlags flags, GError **error)
{
  AstroStagePrivate *priv = PRIV(stage);

  face->block.bytes = gst_buffer_get_size(face->buffer);
  face->on_device = flags & GST_MAP_WRITE ? writes_on_device(priv) : priv->device != NULL;
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
  AstroStagePrivate *priv = PRIV(stage);

  if (face->on_device)
    return astro_buffer_release(face->buffer, priv->queue, flags,
                                (flags & GST_MAP_WRITE) && ready && !priv->reader, error);
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

/* All or none. */
static gboolean open_faces(AstroStage *stage, Faces *set, GstMapFlags flags, GError **error)
{
  for (guint i = 0; i < set->n; i++)
    if (!open_face(stage, &set->faces[i], flags, error)) {
      close_faces(stage, set, i, flags, FALSE, NULL);
      return FALSE;
    }
  return TRUE;
}

static gboolean submit_opened(AstroStage *stage, const Faces *from, Faces *to, gboolean in_place,
                              GstMapFlags flags, gpointer arguments, gboolean last, GError **error)
{
  AstroStagePrivate *priv = PRIV(stage);
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
  gboolean ok = priv->backend->submit(priv->instance, in, n_in, out, to->n, arguments, error);
  return close_faces(stage, to, to->n, flags, last, ok ? error : NULL) && ok;
}

gboolean astro_stage_submit(AstroStage *stage, GstBuffer *in, GstBuffer *out, gpointer arguments,
                            GError **error)
{
  return astro_stage_submit_part(stage, in, out, arguments, TRUE, TRUE, error);
}

gboolean astro_stage_submit_part(AstroStage *stage, GstBuffer *in, GstBuffer *out,
                                 gpointer arguments, gboolean first, gboolean last, GError **error)
{
  const AstroStageBlocks blocks = { { in }, { out } };
  return astro_stage_submit_blocks(stage, &blocks, arguments, first, last, error);
}

gboolean astro_stage_submit_blocks(AstroStage *stage, const AstroStageBlocks *blocks,
                                   gpointer arguments, gboolean first, gboolean last,
                                   GError **error)
{
  AstroStagePrivate *priv = PRIV(stage);
  const guint in_place = blocks->in[0] && blocks->in[0] == blocks->out[0];
  const GstMapFlags flags = first && !in_place ? GST_MAP_WRITE : GST_MAP_READWRITE;
  Faces from = { 0 }, to = { 0 };
  gboolean ok;

  /* What is not of our memory is read from a copy, which takes its place. */
  for (guint i = in_place; i < ASTRO_STAGE_BLOCKS && blocks->in[i]; i++)
    from.faces[from.n++].buffer = gst_buffer_ref(blocks->in[i]);
  for (guint i = 0; i < ASTRO_STAGE_BLOCKS && blocks->out[i]; i++)
    to.faces[to.n++].buffer = blocks->out[i];
  if ((ok = open_faces(stage, &from, GST_MAP_READ, error))) {
    ok = submit_opened(stage, &from, &to, in_place, flags, arguments, last, error);
    ok = close_faces(stage, &from, from.n, GST_MAP_READ, FALSE, ok ? error : NULL) && ok;
    for (guint i = 0; i < from.n; i++)
      priv->host_copies += from.faces[i].buffer != blocks->in[i + in_place];
  }
  for (guint i = 0; i < from.n; i++)
    gst_buffer_unref(from.faces[i].buffer);
  if (ok && priv->device) {
    AstroEvent *event = priv->device->funcs->event_record(priv->device, priv->queue, error);
    if (event)
      g_queue_push_tail(&priv->in_flight, event);
    ok = event && wait_oldest(priv, IN_FLIGHT, error);
  }
  /* What was queued has no event that close_backend could wait for. */
  if (!ok && priv->device && priv->backend->drain)
    priv->backend->drain(priv->instance, NULL);
  return ok;
}

/* ---- output ---- */

/* Deactivated and given up: its buffers come home one by one. */
static void drop_pool(Pool *pool)
{
  if (pool->pool)
    gst_buffer_pool_set_active(pool->pool, FALSE);
  gst_clear_object(&pool->pool);
}

static void drop_pools(AstroStagePrivate *priv)
{
  drop_pool(&priv->blocks);
  drop_pool(&priv->aside);
}

static GstBuffer *new_large_buffer(AstroDevice *device, gsize bytes, GError **error)
{
  GstMemory *memory = astro_memory_new(bytes, device);
  GstBuffer *buffer = memory ? gst_buffer_new() : NULL;
  if (buffer)
    gst_buffer_append_memory(buffer, memory);
  else
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
                "no memory for a block of %" G_GSIZE_FORMAT " bytes", bytes);
  return buffer;
}

/* The caps do not tell a block's size, so a pool is made for its first block. It has no upper
 * bound: whoever holds many of our buffers must not stop us; work in flight is bounded instead.
 * With a device on either side it begins with enough buffers that one whose work is not over rests
 * while others go round, unless they are too large to have many. What one device writes and reads
 * needs no host face for copies. */
static GstBufferPool *new_pool(const AstroStagePrivate *priv, gsize bytes)
{
  const gboolean on_device = writes_on_device(priv) || priv->reader;
  const guint64 many = MAX(MANY_BYTES / MAX(bytes, 1), 1);
  AstroDevice *locked_for = priv->device == priv->reader && writes_on_device(priv) ? NULL
                            : priv->device                                         ? priv->device
                                                                                   : priv->reader;
  return astro_buffer_pool_new_active(locked_for, NULL, bytes,
                                      on_device ? (guint)MIN(IN_FLIGHT + 1, many) : 1, 0);
}

static GstBuffer *take_block(AstroStagePrivate *priv, Pool *pool, gsize bytes, GError **error)
{
  GstBuffer *buffer = NULL;

  if (pool->pool && pool->bytes != bytes)
    drop_pool(pool);
  if (bytes > G_MAXUINT) /* more than GStreamer's pools can say */
    return new_large_buffer(priv->device ? priv->device : priv->reader, bytes, error);
  if (!pool->pool)
    pool->pool = new_pool(priv, bytes);
  pool->bytes = bytes;
  if (!pool->pool || gst_buffer_pool_acquire_buffer(pool->pool, &buffer, NULL) != GST_FLOW_OK) {
    if (!pool->pool || !astro_buffer_pool_take_error(pool->pool, error))
      g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
                  "no memory for a block of %" G_GSIZE_FORMAT " bytes", bytes);
    return NULL;
  }
  return buffer;
}

GstBuffer *astro_stage_new_buffer(AstroStage *stage, gsize bytes, GError **error)
{
  return take_block(PRIV(stage), &PRIV(stage)->blocks, bytes, error);
}

GstBuffer *astro_stage_new_aside(AstroStage *stage, gsize bytes, GError **error)
{
  return take_block(PRIV(stage), &PRIV(stage)->aside, bytes, error);
}

static GstClockTime step_time(const AstroStagePrivate *priv, guint64 step)
{
  return priv->epoch + gst_util_uint64_scale(step, GST_SECOND * (guint64)priv->out.rate_d,
                                             (guint64)priv->out.rate_n);
}

void astro_stage_emit(AstroStage *stage, GstBuffer *out, guint64 first, guint64 steps)
{
  AstroStagePrivate *priv = PRIV(stage);

  GST_BUFFER_OFFSET(out) = first;
  GST_BUFFER_OFFSET_END(out) = first + steps;
  if (priv->out.rate_n > 0) {
    GST_BUFFER_PTS(out) = step_time(priv, first);
    GST_BUFFER_DURATION(out) = step_time(priv, first + steps) - GST_BUFFER_PTS(out);
    if (priv->device && GST_BUFFER_DURATION(out) != priv->block_duration) {
      priv->block_duration = GST_BUFFER_DURATION(out);
      gst_element_post_message(GST_ELEMENT(stage), gst_message_new_latency(GST_OBJECT(stage)));
    }
  }
  if (priv->discont)
    GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_DISCONT);
  priv->discont = FALSE;
  g_queue_push_tail(&priv->ready, out);
}

/* Counted where a buffer leaves. */
static GstBuffer *pop_ready(AstroStagePrivate *priv)
{
  GstBuffer *buffer = g_queue_pop_head(&priv->ready);
  if (buffer) {
    priv->buffers_out++;
    priv->bytes_out += gst_buffer_get_size(buffer);
  }
  return buffer;
}

static void push_time_segment(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  GstSegment segment;

  if (!priv->segment_pending)
    return;
  priv->segment_pending = FALSE;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(GST_BASE_TRANSFORM_SRC_PAD(stage), gst_event_new_segment(&segment));
}

/* Buffers that wait for those after them to be in work. */
static guint held_back(const AstroStagePrivate *priv)
{
  return priv->device && !priv->reader ? HOLD_BACK : 0;
}

GstFlowReturn astro_stage_push(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  GstBuffer *buffer;

  priv->pushed = GST_FLOW_OK;
  while (priv->pushed == GST_FLOW_OK && priv->ready.length > held_back(priv)) {
    buffer = pop_ready(priv);
    push_time_segment(stage);
    priv->pushed = gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(stage), buffer);
  }
  return priv->pushed;
}

/* Everything that is held goes out. */
static gboolean drain(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  g_autoptr(GError) error = NULL;
  GstBuffer *buffer;
  gboolean ok = TRUE;

  if (!priv->instance)
    return TRUE;
  if (klass->finish)
    ok = klass->finish(stage, &error);
  if (ok && priv->backend->drain)
    ok = priv->backend->drain(priv->instance, &error);
  if (!ok)
    post_error(stage, error);
  else if (klass->drained)
    klass->drained(stage);
  while ((buffer = pop_ready(priv))) {
    push_time_segment(stage);
    if (gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(stage), buffer) < GST_FLOW_EOS)
      ok = FALSE;
  }
  return ok;
}

static void reset(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);

  g_queue_clear_full(&priv->ready, (GDestroyNotify)gst_buffer_unref);
  priv->started = FALSE;
  priv->next_step = 0;
  priv->epoch = 0;
  priv->discont = FALSE;
  if (ASTRO_STAGE_GET_CLASS(stage)->reset)
    ASTRO_STAGE_GET_CLASS(stage)->reset(stage);
}

/* ---- input ---- */

/* The time step that a block begins with: its OFFSET where that counts steps, else its PTS, else
 * one after the last. Notes jumps. */
static guint64 first_step(AstroStage *stage, GstBuffer *in, guint64 steps)
{
  AstroStagePrivate *priv = PRIV(stage);
  guint64 step = priv->next_step, offset = GST_BUFFER_OFFSET(in), end = GST_BUFFER_OFFSET_END(in);
  gboolean has_rate = priv->in.rate_n > 0;

  if (priv->time_segment && offset != GST_BUFFER_OFFSET_NONE &&
      (end == GST_BUFFER_OFFSET_NONE || end - offset == steps)) {
    step = offset;
    if ((!priv->started || GST_BUFFER_IS_DISCONT(in)) && has_rate && GST_BUFFER_PTS_IS_VALID(in)) {
      GstClockTime since = gst_util_uint64_scale(step, GST_SECOND * (guint64)priv->in.rate_d,
                                                 (guint64)priv->in.rate_n);
      priv->epoch = GST_BUFFER_PTS(in) > since ? GST_BUFFER_PTS(in) - since : 0;
    }
  } else if (priv->time_segment && has_rate && GST_BUFFER_PTS_IS_VALID(in)) {
    /* Half a step of slack: times are rounded to nanoseconds. */
    guint64 at = gst_util_uint64_scale_round(GST_BUFFER_PTS(in), (guint64)priv->in.rate_n,
                                             GST_SECOND * (guint64)priv->in.rate_d);
    if (!priv->started || GST_BUFFER_IS_DISCONT(in))
      step = at;
  }
  if (GST_BUFFER_IS_DISCONT(in) || (priv->started && step != priv->next_step))
    priv->discont = TRUE;
  priv->started = TRUE;
  priv->next_step = step + steps;
  return step;
}

static gboolean copy_foreign_meta(GstBuffer *in, GstMeta **meta, gpointer out)
{
  const GstMetaInfo *info = (*meta)->info;
  GstMetaTransformCopy whole = { FALSE, 0, (gsize)-1 };

  /* Tagged metas are bound to what the stage changes: the axes, in our own case. */
  const gchar *const *tags = gst_meta_api_type_get_tags(info->api); /* NULL where there is none */
  if ((!tags || !tags[0]) && info->transform_func &&
      !GST_META_FLAG_IS_SET(*meta, GST_META_FLAG_POOLED))
    info->transform_func(out, *meta, in, _gst_meta_transform_copy, &whole);
  return TRUE;
}

static gboolean default_validity(AstroStage *stage, GstBuffer *in, GstBuffer *out)
{
  return astro_validity_follow(out, in, &PRIV(stage)->out.layout);
}

/* Whether the output may be made where the input lies: nobody else has the block, which is of our
 * own memory, and as its next reader wants it. */
static gboolean can_reuse(const AstroStagePrivate *priv, GstBuffer *in, gsize bytes)
{
  if (!priv->backend->in_place || in != priv->input || !gst_buffer_is_writable(in) ||
      gst_buffer_n_memory(in) != 1 || gst_buffer_get_size(in) != bytes)
    return FALSE;
  GstMemory *memory = gst_buffer_peek_memory(in, 0);
  return astro_memory_is(memory) && !GST_MEMORY_IS_READONLY(memory) &&
         gst_memory_is_writable(memory) && (!priv->reader || astro_memory_is_locked(memory));
}

static gboolean drop_meta(GstBuffer *buffer, GstMeta **meta, gpointer unused)
{
  const GstMetaFlags kept = GST_META_FLAG_POOLED | GST_META_FLAG_LOCKED;
  if (!((*meta)->flags & kept))
    *meta = NULL;
  return TRUE;
}

/* Leaves a buffer as a pool gives them; what it said of itself is in the one that is returned. */
static GstBuffer *strip(GstBuffer *buffer)
{
  GstBuffer *said = gst_buffer_new();
  AstroValidityMeta *validity = astro_buffer_get_validity(buffer);

  gst_buffer_copy_into(said, buffer,
                       GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META, 0,
                       -1);
  if (validity)
    astro_validity_meta_clear(validity);
  gst_buffer_foreach_meta(buffer, drop_meta, NULL);
  GST_BUFFER_FLAGS(buffer) &= GST_BUFFER_FLAG_TAG_MEMORY;
  GST_BUFFER_PTS(buffer) = GST_BUFFER_DTS(buffer) = GST_BUFFER_DURATION(buffer) =
      GST_CLOCK_TIME_NONE;
  GST_BUFFER_OFFSET(buffer) = GST_BUFFER_OFFSET_END(buffer) = GST_BUFFER_OFFSET_NONE;
  return said;
}

/* What the output says of itself follows from what the input does. */
static gboolean describe(AstroStage *stage, GstBuffer *in, GstBuffer *out, GError **error)
{
  if (!ASTRO_STAGE_GET_CLASS(stage)->validity(stage, in, out))
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "the validity of a buffer counts over axes that its layout does not have");
  gst_buffer_foreach_meta(in, copy_foreign_meta, out);
  if (PRIV(stage)->out.rate_n == 0)
    gst_buffer_copy_into(out, in, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  return TRUE;
}

/* One block in, one block out, the same steps; a block that is all gap is not computed. */
static gboolean default_feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps,
                             GError **error)
{
  AstroStagePrivate *priv = PRIV(stage);
  const gsize bytes = steps * astro_stream_step_bytes(&priv->out);
  const gboolean is_gap = GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP);
  const gboolean reused = !is_gap && can_reuse(priv, in, bytes);
  GstBuffer *out =
      reused ? g_steal_pointer(&priv->input) : astro_stage_new_buffer(stage, bytes, error);

  if (!out)
    return FALSE;
  if (is_gap) {
    gst_buffer_memset(out, 0, 0, bytes);
    GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_GAP);
  } else if (!ASTRO_STAGE_GET_CLASS(stage)->work(stage, in, out, steps, error)) {
    gst_buffer_unref(out);
    return FALSE;
  }
  g_autoptr(GstBuffer) said = reused ? strip(in) : gst_buffer_ref(in);
  if (!describe(stage, said, out, error)) {
    gst_buffer_unref(out);
    return FALSE;
  }
  astro_stage_emit(stage, out, first, steps);
  return TRUE;
}

static GstFlowReturn feed(AstroStage *stage, GstBuffer *in)
{
  AstroStagePrivate *priv = PRIV(stage);
  g_autoptr(GError) error = NULL;
  guint64 steps;
  gint64 start = now_ns();
  priv->pushed = GST_FLOW_OK;
  gboolean ok = astro_stream_steps(&priv->in, gst_buffer_get_size(in), &steps, &error);

  if (ok && steps > 0)
    ok = ASTRO_STAGE_GET_CLASS(stage)->feed(stage, in, first_step(stage, in, steps), steps, &error);
  priv->busy_ns += now_ns() - start;
  if (ok)
    return priv->pushed;
  post_error(stage, error);
  return GST_FLOW_ERROR;
}

/* Never called, since generate_output is ours; but without it the base class takes us for an
 * element that works in place and asks downstream for no allocation. */
static GstFlowReturn transform(GstBaseTransform *trans, GstBuffer *in, GstBuffer *out)
{
  return GST_FLOW_NOT_SUPPORTED;
}

static GstFlowReturn generate_output(GstBaseTransform *trans, GstBuffer **out)
{
  AstroStage *stage = ASTRO_STAGE(trans);
  AstroStagePrivate *priv = PRIV(stage);

  if (gst_base_transform_is_passthrough(trans)) {
    GstFlowReturn flow =
        GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)->generate_output(trans, out);
    if (*out) {
      priv->buffers_out++;
      priv->bytes_out += gst_buffer_get_size(*out);
    }
    return flow;
  }
  *out = NULL;
  if (trans->queued_buf) {
    priv->input = g_steal_pointer(&trans->queued_buf);
    GstFlowReturn flow = feed(stage, priv->input);
    gst_clear_buffer(&priv->input);
    if (flow != GST_FLOW_OK)
      return flow;
  }
  if (priv->ready.length > held_back(priv)) {
    push_time_segment(stage);
    *out = pop_ready(priv);
  }
  return GST_FLOW_OK;
}

/* Around the base class's chain function: what is not work here is waiting for others. */
static GstFlowReturn timed_chain(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  AstroStagePrivate *priv = PRIV(ASTRO_STAGE(parent));
  gint64 entered = now_ns(), busy = priv->busy_ns;

  if (priv->chain_left)
    priv->input_wait_ns += entered - priv->chain_left;
  priv->buffers_in++;
  priv->bytes_in += gst_buffer_get_size(buffer);
  GstFlowReturn flow = priv->chain(pad, parent, buffer);
  priv->chain_left = now_ns();
  priv->output_wait_ns += priv->chain_left - entered - (priv->busy_ns - busy);
  return flow;
}

/* ---- caps and events ---- */

/* Queries with a filter come back in the filter's order, so the peer is asked again without one:
 * what it names first is what it prefers. */
GstCaps *astro_stage_fixate_preferred(GstBaseTransform *trans, GstPadDirection direction,
                                      GstCaps *caps, GstCaps *othercaps)
{
  GstPad *pad = direction == GST_PAD_SINK ? GST_BASE_TRANSFORM_SRC_PAD(trans)
                                          : GST_BASE_TRANSFORM_SINK_PAD(trans);
  g_autoptr(GstCaps) peer = gst_pad_peer_query_caps(pad, NULL);
  GstCaps *preferred = gst_caps_intersect_full(peer, othercaps, GST_CAPS_INTERSECT_FIRST);

  if (gst_caps_is_empty(preferred)) {
    gst_caps_unref(preferred);
    return gst_caps_fixate(othercaps);
  }
  gst_caps_unref(othercaps);
  return gst_caps_fixate(preferred);
}

GstCaps *astro_stage_fixate_same(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                                 GstCaps *othercaps)
{
  GstCaps *same = gst_caps_intersect_full(caps, othercaps, GST_CAPS_INTERSECT_FIRST);

  if (gst_caps_is_empty(same)) {
    gst_caps_unref(same);
    return astro_stage_fixate_preferred(trans, direction, caps, othercaps);
  }
  gst_caps_unref(othercaps);
  return gst_caps_fixate(same);
}

GstCaps *astro_stage_filter_caps(GstCaps *caps, GstCaps *filter)
{
  if (!filter)
    return caps;
  GstCaps *filtered = gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(caps);
  return filtered;
}

static gboolean read_caps(AstroStage *stage, AstroStream *stream, GstCaps *caps)
{
  g_autoptr(GError) error = NULL;
  if (astro_stream_from_caps(stream, caps, &error))
    return TRUE;
  GST_ELEMENT_ERROR(stage, STREAM, WRONG_TYPE, ("%s", error->message),
                    ("caps: %" GST_PTR_FORMAT, caps));
  return FALSE;
}

static gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  AstroStage *stage = ASTRO_STAGE(trans);
  AstroStagePrivate *priv = PRIV(stage);
  AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  g_autoptr(GError) error = NULL;
  gboolean pass_through = FALSE;

  if (!drain(stage))
    return FALSE;
  close_backend(stage);
  drop_pools(priv);
  priv->agreed = FALSE;
  if (!read_caps(stage, &priv->in, in) || !read_caps(stage, &priv->out, out))
    return FALSE;
  memset(priv->config, 0, sizeof priv->config);
  if (!klass->configure(stage, priv->config, &pass_through, &error)) {
    post_error(stage, error);
    return FALSE;
  }
  gst_base_transform_set_passthrough(trans, pass_through);
  if (!pass_through && !open_backend(stage, &error)) {
    post_error(stage, error);
    close_backend(stage);
    return FALSE;
  }
  priv->agreed = TRUE;
  /* A source may have asked for its allocation before there were caps: it has to ask again. */
  if (priv->device && priv->answered_host)
    gst_base_transform_reconfigure_sink(trans);
  GST_INFO_OBJECT(stage, "%s", pass_through ? "pass-through" : priv->variant);
  return TRUE;
}

/* GStreamer itself says only "not negotiated": this says between what. */
static gboolean caps_event(AstroStage *stage, GstEvent *event)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(stage);
  AstroStream stream;
  GstCaps *caps;

  gst_event_parse_caps(event, &caps);
  if (!read_caps(stage, &stream, caps)) {
    gst_event_unref(event);
    return FALSE;
  }
  g_autoptr(GstCaps) in = gst_caps_ref(caps);
  if (GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)->sink_event(trans, event))
    return TRUE;
  if (GST_PAD_IS_FLUSHING(GST_BASE_TRANSFORM_SRC_PAD(trans)))
    return FALSE;
  g_autoptr(GstCaps) accepted = gst_pad_peer_query_caps(GST_BASE_TRANSFORM_SRC_PAD(trans), NULL);
  GST_ELEMENT_ERROR(
      stage, CORE, NEGOTIATION, ("input cannot be turned into what downstream accepts"),
      ("found %" GST_PTR_FORMAT ", downstream accepts %" GST_PTR_FORMAT, in, accepted));
  return FALSE;
}

/* Offsets of a segment in bytes count no steps; what leaves here is timed by steps. */
static gboolean segment_event(AstroStage *stage, GstEvent *event)
{
  AstroStagePrivate *priv = PRIV(stage);
  const GstSegment *segment;

  drain(stage);
  gst_event_parse_segment(event, &segment);
  priv->time_segment = segment->format == GST_FORMAT_TIME;
  priv->segment_pending = FALSE;
  if (!priv->time_segment && !gst_base_transform_is_passthrough(GST_BASE_TRANSFORM(stage))) {
    GstSegment time;
    gst_segment_init(&time, GST_FORMAT_TIME);
    GstEvent *replaced = gst_event_new_segment(&time);
    gst_event_set_seqnum(replaced, gst_event_get_seqnum(event));
    gst_event_unref(event);
    event = replaced;
  }
  return GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)
      ->sink_event(GST_BASE_TRANSFORM(stage), event);
}

/* Whether it says what the one before said: sticky events come again after links change. */
static gboolean is_known(AstroStage *stage, GstEvent *event)
{
  GstPad *pad = GST_BASE_TRANSFORM_SINK_PAD(stage);
  gboolean same = FALSE;
  GstEvent *known;

  for (guint i = 0; !same && (known = gst_pad_get_sticky_event(pad, GST_EVENT_TYPE(event), i));
       i++) {
    same = gst_structure_is_equal(gst_event_get_structure(known), gst_event_get_structure(event));
    gst_event_unref(known);
  }
  return same;
}

/* What is held belongs to the observation before. */
static gboolean observation_event(AstroStage *stage, GstEvent *event)
{
  AstroStagePrivate *priv = PRIV(stage);
  AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  g_autoptr(GError) error = NULL;
  AstroObservation *observation;

  if (priv->observation && is_known(stage, event))
    return GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)
        ->sink_event(GST_BASE_TRANSFORM(stage), event);
  if (priv->observation && !drain(stage)) {
    gst_event_unref(event);
    return FALSE;
  }
  observation = astro_observation_from_event(event, &error);
  if (observation) {
    g_clear_pointer(&priv->observation, astro_observation_unref);
    priv->observation = observation;
    if (!klass->observed || klass->observed(stage, &error))
      return GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)
          ->sink_event(GST_BASE_TRANSFORM(stage), event);
  }
  post_error(stage, error);
  gst_event_unref(event);
  return FALSE;
}

static gboolean post_stats(AstroStage *stage);

static gboolean sink_event(GstBaseTransform *trans, GstEvent *event)
{
  AstroStage *stage = ASTRO_STAGE(trans);

  switch (GST_EVENT_TYPE(event)) {
  case GST_EVENT_CAPS:
    return caps_event(stage, event);
  case GST_EVENT_SEGMENT:
    return segment_event(stage, event);
  case GST_EVENT_CUSTOM_DOWNSTREAM_STICKY:
    if (astro_event_is_observation(event))
      return observation_event(stage, event);
    break;
  case GST_EVENT_EOS:
    drain(stage);
    post_stats(stage);
    break;
  case GST_EVENT_GAP:
    drain(stage);
    break;
  case GST_EVENT_FLUSH_STOP:
    reset(stage);
    break;
  default:
    break;
  }
  return GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)->sink_event(trans, event);
}

/* ---- allocation ---- */

static gboolean propose_allocation(GstBaseTransform *trans, GstQuery *decide, GstQuery *query)
{
  AstroStagePrivate *priv = PRIV(ASTRO_STAGE(trans));

  if (!decide) /* pass-through: downstream answers */
    return GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)
        ->propose_allocation(trans, decide, query);
  astro_reader_add(query, priv->device);
  return TRUE;
}

static gboolean decide_allocation(GstBaseTransform *trans, GstQuery *query)
{
  AstroStagePrivate *priv = PRIV(ASTRO_STAGE(trans));

  /* Blocks come from our own pool: only we know their size. */
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
  g_clear_pointer(&priv->reader, astro_device_unref);
  priv->reader = astro_reader_find(query);
  drop_pools(priv);
  return TRUE;
}

/* ---- queries ---- */

static gboolean add_latency(AstroStage *stage, GstQuery *query)
{
  AstroStagePrivate *priv = PRIV(stage);
  AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  GstClockTime min, max, own = 0;
  gboolean live;

  gst_query_parse_latency(query, &live, &min, &max);
  if (klass->latency_steps && priv->in.rate_n > 0)
    own += gst_util_uint64_scale(klass->latency_steps(stage), GST_SECOND * (guint64)priv->in.rate_d,
                                 (guint64)priv->in.rate_n);
  own += held_back(priv) * priv->block_duration;
  gst_query_set_latency(query, live, min + own, GST_CLOCK_TIME_IS_VALID(max) ? max + own : max);
  return TRUE;
}

static gboolean query(GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  /* Noted here, since before there are caps the base class answers by itself. */
  if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION)
    PRIV(ASTRO_STAGE(trans))->answered_host = !PRIV(ASTRO_STAGE(trans))->device;
  gboolean answered = astro_transform_query(trans, direction, query);
  if (answered && direction == GST_PAD_SRC && GST_QUERY_TYPE(query) == GST_QUERY_LATENCY)
    return add_latency(ASTRO_STAGE(trans), query);
  return answered;
}

/* ---- states ---- */

static gboolean start(GstBaseTransform *trans)
{
  AstroStage *stage = ASTRO_STAGE(trans);
  AstroStagePrivate *priv = PRIV(stage);

  priv->buffers_in = priv->buffers_out = priv->bytes_in = priv->bytes_out = priv->host_copies = 0;
  priv->busy_ns = priv->input_wait_ns = priv->output_wait_ns = priv->chain_left = 0;
  priv->time_segment = TRUE;
  priv->segment_pending = FALSE;
  priv->block_duration = 0;
  if (priv->kind == ASTRO_BACKEND_CUDA) {
    /* Asked for by name: said at once where there is none, not at the first buffer. */
    g_autoptr(GError) error = NULL;
    g_autoptr(AstroDevice) device = astro_device_open(priv->device_index, &error);
    if (!device) {
      GST_ELEMENT_ERROR(stage, RESOURCE, NOT_FOUND, ("backend=cuda: %s", error->message), (NULL));
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean stop(GstBaseTransform *trans)
{
  AstroStage *stage = ASTRO_STAGE(trans);
  AstroStagePrivate *priv = PRIV(stage);

  reset(stage);
  close_backend(stage);
  drop_pools(priv);
  priv->agreed = FALSE;
  g_clear_pointer(&priv->reader, astro_device_unref);
  g_clear_pointer(&priv->observation, astro_observation_unref);
  return TRUE;
}

/* ---- properties ---- */

static char *active_backend(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  char *text = NULL;

  GST_OBJECT_LOCK(stage);
  if (priv->backend)
    text = g_strdup_printf("%s/%s", astro_backend_kind_name(priv->backend->kind),
                           priv->variant ? priv->variant : "");
  GST_OBJECT_UNLOCK(stage);
  return text ? text : g_strdup(priv->agreed ? "pass-through" : "none");
}

static GstStructure *stats(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  g_autofree char *backend = active_backend(stage);

  return gst_structure_new(
      "astro-stats", "buffers-in", G_TYPE_UINT64, priv->buffers_in, "buffers-out", G_TYPE_UINT64,
      priv->buffers_out, "bytes-in", G_TYPE_UINT64, priv->bytes_in, "bytes-out", G_TYPE_UINT64,
      priv->bytes_out, "busy-ns", G_TYPE_UINT64, (guint64)priv->busy_ns, "input-wait-ns",
      G_TYPE_UINT64, (guint64)priv->input_wait_ns, "output-wait-ns", G_TYPE_UINT64,
      (guint64)priv->output_wait_ns, "host-copies", G_TYPE_UINT64, priv->host_copies, "backend",
      G_TYPE_STRING, backend, NULL);
}

static gboolean post_stats(AstroStage *stage)
{
  return gst_element_post_message(GST_ELEMENT(stage),
                                  gst_message_new_element(GST_OBJECT(stage), stats(stage)));
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  AstroStagePrivate *priv = PRIV(ASTRO_STAGE(object));

  switch (id) {
  case ASTRO_STAGE_PROP_BACKEND:
    priv->kind = g_value_get_enum(value);
    break;
  case ASTRO_STAGE_PROP_DEVICE:
    priv->device_index = g_value_get_int(value);
    break;
  case ASTRO_STAGE_PROP_THREADS:
    priv->threads = g_value_get_uint(value);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  AstroStage *stage = ASTRO_STAGE(object);
  AstroStagePrivate *priv = PRIV(stage);

  switch (id) {
  case ASTRO_STAGE_PROP_BACKEND:
    g_value_set_enum(value, priv->kind);
    break;
  case ASTRO_STAGE_PROP_ACTIVE_BACKEND:
    g_value_take_string(value, active_backend(stage));
    break;
  case ASTRO_STAGE_PROP_DEVICE:
    g_value_set_int(value, priv->device_index);
    break;
  case ASTRO_STAGE_PROP_THREADS:
    g_value_set_uint(value, priv->threads);
    break;
  case ASTRO_STAGE_PROP_STATS:
    g_value_take_boxed(value, stats(stage));
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

static void astro_stage_class_init(AstroStageClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  const GParamFlags read = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

  object->set_property = set_property;
  object->get_property = get_property;
  g_object_class_install_property(object, ASTRO_STAGE_PROP_BACKEND,
                                  g_param_spec_enum("backend", "Backend", "Who does the work",
                                                    ASTRO_TYPE_BACKEND_KIND, ASTRO_BACKEND_AUTO,
                                                    ready));
  g_object_class_install_property(
      object, ASTRO_STAGE_PROP_ACTIVE_BACKEND,
      g_param_spec_string("active-backend", "Active backend",
                          "Who does the work now, and with which kernel, for instance cpu/avx512",
                          "none", read));
  g_object_class_install_property(object, ASTRO_STAGE_PROP_DEVICE,
                                  g_param_spec_int("device", "Device",
                                                   "Index of the GPU that backend=cuda uses", 0,
                                                   G_MAXINT, 0, ready));
  g_object_class_install_property(object, ASTRO_STAGE_PROP_THREADS,
                                  g_param_spec_uint("threads", "Threads",
                                                    "CPU threads at most (0: one a core)", 0, 4096,
                                                    0, ready));
  g_object_class_install_property(
      object, ASTRO_STAGE_PROP_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "Buffers, bytes, and nanoseconds of work and of waiting since the start",
                         GST_TYPE_STRUCTURE, read));

  trans->set_caps = set_caps;
  trans->transform = transform;
  trans->generate_output = generate_output;
  trans->sink_event = sink_event;
  trans->query = query;
  trans->propose_allocation = propose_allocation;
  trans->decide_allocation = decide_allocation;
  trans->start = start;
  trans->stop = stop;
  klass->feed = default_feed;
  klass->validity = default_validity;
  gst_type_mark_as_plugin_api(ASTRO_TYPE_BACKEND_KIND, 0);
  gst_type_mark_as_plugin_api(ASTRO_TYPE_STAGE, 0);
}

static void astro_stage_init(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  GstPad *sink = GST_BASE_TRANSFORM_SINK_PAD(stage);

  g_queue_init(&priv->ready);
  g_queue_init(&priv->in_flight);
  priv->time_segment = TRUE;
  gst_base_transform_set_gap_aware(GST_BASE_TRANSFORM(stage), TRUE);
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(stage), FALSE);
  priv->chain = GST_PAD_CHAINFUNC(sink);
  gst_pad_set_chain_function(sink, timed_chain);
}

const AstroQuantity astro_stage_any[] = {
  ASTRO_QUANTITY_VOLTAGES,  ASTRO_QUANTITY_SPECTRA, ASTRO_QUANTITY_VISIBILITIES,
  ASTRO_QUANTITY_UVGRID,    ASTRO_QUANTITY_IMAGE,   ASTRO_QUANTITY_CATALOGUE,
  ASTRO_QUANTITY_HISTOGRAM, ASTRO_QUANTITY_UNKNOWN,
};

static GstCaps *media_types(const AstroQuantity *quantities)
{
  GstCaps *caps = gst_caps_new_empty();
  for (; *quantities != ASTRO_QUANTITY_UNKNOWN; quantities++)
    gst_caps_append(caps, gst_caps_new_empty_simple(astro_quantity_media_type(*quantities)));
  return caps;
}

void astro_stage_class_add_pads(AstroStageClass *klass, const AstroQuantity *sink,
                                const AstroQuantity *src)
{
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  g_autoptr(GstCaps) in = media_types(sink), out = media_types(src);

  gst_element_class_add_pad_template(
      element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, in));
  gst_element_class_add_pad_template(element,
                                     gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, out));
}
