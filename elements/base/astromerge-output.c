/* The backend of AstroMerge, and the blocks that it sends downstream. */
#include "config.h"
#include "elements/base/astromerge-parts.h"

#include "core/backend/module.h"
#include "core/memory/memory.h"
#include "core/memory/pool.h"
#include "elements/base/astroreader.h"

#define PRIV(merge) astro_merge_parts(merge)

/* ---- the backend ---- */

void astro_merge_close(AstroMerge *merge)
{
  AstroMergePrivate *priv = PRIV(merge);
  if (priv->instance)
    priv->backend->destroy(priv->instance);
  priv->instance = NULL;
  astro_box_place_clear(&priv->boxes);
  astro_buffer_pool_clear(&priv->pool);
  GST_OBJECT_LOCK(merge);
  priv->backend = NULL;
  priv->variant = NULL;
  GST_OBJECT_UNLOCK(merge);
}

gboolean astro_merge_open(AstroMerge *merge, GError **error)
{
  AstroMergePrivate *priv = PRIV(merge);
  AstroMergeClass *klass = ASTRO_MERGE_GET_CLASS(merge);
  AstroDevice *device = NULL;
  const char *variant = NULL;
  g_autofree char *why = NULL;

  GST_OBJECT_LOCK(merge);
  const AstroBackendKind kind = priv->choice.kind;
  const AstroPlace place = { .threads = priv->choice.threads };
  GST_OBJECT_UNLOCK(merge);
  const AstroBackend *backend = astro_backend_choose(
      klass->stage, klass->backends, kind == ASTRO_BACKEND_AUTO ? ASTRO_BACKEND_CPU : kind, 0,
      priv->config, &device, &why, error);
  g_clear_pointer(&device, astro_device_unref);
  if (!backend) {
    g_prefix_error(error, "backend=%s: ", astro_backend_kind_name(kind));
    return FALSE;
  }
  g_assert(backend->config_bytes <= sizeof priv->config);
  priv->instance = backend->create(priv->config, &place, &variant, error);
  GST_OBJECT_LOCK(merge);
  priv->backend = backend;
  priv->variant = variant;
  GST_OBJECT_UNLOCK(merge);
  g_object_notify(G_OBJECT(merge), "active-backend");
  if (priv->instance)
    astro_work_log(merge, backend, variant, NULL, place.threads,
                   kind == ASTRO_BACKEND_AUTO ? "auto takes cpu: no device does this work" : why);
  return priv->instance != NULL;
}

typedef struct {
  GstMapInfo map;
  gboolean is_mapped;
} Mapped;

static gboolean map_pieces(const AstroMergeBlock *block, Mapped *mapped, AstroBlock *in,
                           GError **error)
{
  for (guint i = 0; i < block->n_pieces; i++) {
    GstBuffer *buffer = block->pieces[i].buffer;
    in[i] = (AstroBlock){ 0 };
    if (!buffer)
      continue;
    mapped[i].is_mapped = gst_buffer_map(buffer, &mapped[i].map, GST_MAP_READ);
    if (!mapped[i].is_mapped)
      return astro_backend_no_memory(
          error, "a buffer of %" G_GSIZE_FORMAT " bytes cannot be mapped for reading",
          gst_buffer_get_size(buffer));
    in[i] = (AstroBlock){ mapped[i].map.data, mapped[i].map.size };
  }
  return TRUE;
}

gboolean astro_merge_submit(AstroMerge *merge, const AstroMergeBlock *block, GstBuffer *out,
                            gconstpointer arguments, GError **error)
{
  AstroMergePrivate *priv = PRIV(merge);
  g_autofree Mapped *mapped = g_new0(Mapped, block->n_pieces);
  g_autofree AstroBlock *in = g_new(AstroBlock, block->n_pieces);
  GstMapInfo map;

  gboolean ok = map_pieces(block, mapped, in, error);
  if (ok && !gst_buffer_map(out, &map, GST_MAP_WRITE)) {
    ok = astro_backend_no_memory(error, "a block cannot be mapped for writing");
  } else if (ok) {
    const AstroBlock to = { map.data, map.size };
    ok = priv->backend->submit(priv->instance, in, block->n_pieces, &to, 1, arguments, NULL, error);
    gst_buffer_unmap(out, &map);
  }
  for (guint i = 0; i < block->n_pieces; i++)
    if (mapped[i].is_mapped)
      gst_buffer_unmap(block->pieces[i].buffer, &mapped[i].map);
  return ok;
}

/* ---- blocks ---- */

/* If downstream reads on a device, blocks are page-locked for it. */
void astro_merge_ask_reader(AstroMerge *merge)
{
  AstroMergePrivate *priv = PRIV(merge);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(GST_AGGREGATOR_SRC_PAD(merge));
  g_clear_pointer(&priv->reader, astro_device_unref);
  priv->reads_any = FALSE;
  astro_buffer_pool_clear(&priv->pool);
  if (!caps)
    return;
  g_autoptr(GstQuery) query = gst_query_new_allocation(caps, FALSE);
  if (!gst_pad_peer_query(GST_AGGREGATOR_SRC_PAD(merge), query))
    return;
  priv->reader = astro_reader_find(query);
  priv->reads_any = !priv->reader && astro_reader_takes_any(query);
}

static GstBuffer *new_buffer(AstroMerge *merge, gsize bytes, GError **error)
{
  AstroMergePrivate *priv = PRIV(merge);
  AstroDevice *device = priv->reader ? priv->reader : priv->boxes.device;
  GstBuffer *buffer = NULL;
  if (priv->pool_bytes != bytes)
    astro_buffer_pool_clear(&priv->pool);
  priv->pool_bytes = bytes;
  if (priv->pool || (priv->pool = astro_buffer_pool_new_active(device, NULL, bytes, 1, 0))) {
    const guint made = astro_buffer_pool_made(priv->pool);
    gst_buffer_pool_acquire_buffer(priv->pool, &buffer, NULL);
    astro_log_growth(merge, priv->pool, made);
  }
  if (!buffer)
    astro_backend_no_memory(error, "no memory for a block of %" G_GSIZE_FORMAT " bytes", bytes);
  return buffer;
}

static void set_times(AstroMerge *merge, const AstroMergeNext *next, GstBuffer *out)
{
  AstroMergePrivate *priv = PRIV(merge);
  const guint64 first = (guint64)next->first;
  if (priv->discont)
    GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_DISCONT);
  if (!astro_steps_count_once(&priv->out)) {
    if (next->like)
      gst_buffer_copy_into(out, next->like, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
    return;
  }
  GST_BUFFER_OFFSET(out) = first;
  GST_BUFFER_OFFSET_END(out) = first + next->steps;
  if (priv->out.rate_n > 0) {
    GST_BUFFER_PTS(out) = astro_merge_time(priv, first);
    GST_BUFFER_DURATION(out) = astro_merge_time(priv, first + next->steps) - GST_BUFFER_PTS(out);
  }
  if (next->steps == 1 && next->length > 0 && GST_BUFFER_DURATION_IS_VALID(out))
    GST_BUFFER_DURATION(out) = MIN(GST_BUFFER_DURATION(out), next->length);
}

/* If every block has counts, a gap has a count of 0. */
static void fill_gap(AstroMerge *merge, GstBuffer *out)
{
  static const AstroLayout one = { 0 };
  gst_buffer_memset(out, 0, 0, gst_buffer_get_size(out));
  GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_GAP);
  astro_buffer_add_validity(out, &one, 1)->counts[0] = 0;
}

static gsize block_bytes(AstroMerge *merge, const AstroMergeNext *next)
{
  const AstroStream *out = &PRIV(merge)->out;
  const guint64 frames = next->like ? next->frames : 1;
  return (astro_steps_count_once(out) ? next->steps : frames) * astro_stream_step_bytes(out);
}

GstFlowReturn astro_merge_push(AstroMerge *merge, const AstroMergeNext *next, GError **error)
{
  const AstroMergeBlock block = { next->steps,
                                  (const AstroMergePiece *)(gpointer)next->pieces->data,
                                  next->pieces->len };
  GstBuffer *out = new_buffer(merge, block_bytes(merge, next), error);
  if (!out)
    return GST_FLOW_ERROR;
  set_times(merge, next, out);
  PRIV(merge)->discont = FALSE;
  if (next->is_lost) {
    fill_gap(merge, out);
  } else if (!ASTRO_MERGE_GET_CLASS(merge)->combine(merge, &block, out, error)) {
    gst_buffer_unref(out);
    return GST_FLOW_ERROR;
  }
  const gsize bytes = gst_buffer_get_size(out);
  const gint64 begun = g_get_monotonic_time();
  astro_log_block(merge, next->is_lost ? "out, of which all is lost" : "out", out);
  const GstFlowReturn flow = gst_aggregator_finish_buffer(GST_AGGREGATOR(merge), out);
  const guint64 waited = (guint64)(g_get_monotonic_time() - begun) * 1000;
  astro_log_wait(merge, "for downstream", waited);
  GST_OBJECT_LOCK(merge);
  PRIV(merge)->stats.buffers_out++;
  PRIV(merge)->stats.bytes_out += bytes;
  PRIV(merge)->stats.output_wait_ns += waited;
  GST_OBJECT_UNLOCK(merge);
  return flow;
}
