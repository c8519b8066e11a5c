/* A pool of buffers with our memory. */
#include "core/memory/pool.h"
#include "core/memory/faces.h"
#include "core/memory/memory.h"
#include "core/backend/backend.h"
#include "core/stream/validity.h"

/* Blocks of up to so many bytes are short, and pools grow by them up to so many bytes and blocks.
 */
#define SHORT_BYTES ((gsize)64 << 20)
#define MOST_BYTES ((gsize)1 << 30)
#define MOST_HOST_SHARE 32 /* of the host's memory, one in so many bytes */
#define MOST_BLOCKS 256

struct _AstroBufferPool {
  GstBufferPool parent;
  AstroDevice *device;
  gsize large; /* size of a buffer that a configuration cannot express; 0: as configured */
  gsize bytes; /* size of a buffer, and parameters of its memory */
  GstAllocationParams params;
  GError *error; /* of the last buffer that did not settle; under the object's lock */
  guint made;    /* number of buffers, atomic */
  gint is_full;  /* the device has no room for more than are needed; atomic */
};

G_DEFINE_TYPE(AstroBufferPool, astro_buffer_pool, GST_TYPE_BUFFER_POOL)

#define PARENT GST_BUFFER_POOL_CLASS(astro_buffer_pool_parent_class)

static gboolean pool_set_config(GstBufferPool *pool, GstStructure *config)
{
  AstroBufferPool *self = ASTRO_BUFFER_POOL(pool);
  guint bytes;
  GstAllocationParams params;
  if (!gst_buffer_pool_config_get_params(config, NULL, &bytes, NULL, NULL) ||
      !gst_buffer_pool_config_get_allocator(config, NULL, &params)) {
    GST_WARNING_OBJECT(pool, "incomplete configuration %" GST_PTR_FORMAT, config);
    return FALSE;
  }
  /* Regardless of the requested allocator, the blocks of this pool are ours. */
  g_autoptr(GstAllocator) allocator = astro_allocator_get();
  gst_buffer_pool_config_set_allocator(config, allocator, &params);
  self->bytes = self->large ? self->large : bytes;
  self->params = params;
  return PARENT->set_config(pool, config);
}

/* The base class keeps only buffers of the size that is configured: larger ones rest at the most
 * that can be, and are as large as they should be while they are in use. */
static gsize resting_bytes(const AstroBufferPool *self)
{
  return MIN(self->bytes, G_MAXUINT);
}

static GstFlowReturn pool_alloc_buffer(GstBufferPool *pool, GstBuffer **buffer,
                                       GstBufferPoolAcquireParams *unused)
{
  AstroBufferPool *self = ASTRO_BUFFER_POOL(pool);
  GstMemory *memory = astro_memory_new_full(self->bytes, &self->params, self->device);
  if (memory == NULL) {
    GST_ERROR_OBJECT(pool, "out of memory: a block of %" G_GSIZE_FORMAT " bytes", self->bytes);
    return GST_FLOW_ERROR;
  }
  *buffer = gst_buffer_new();
  gst_buffer_append_memory(*buffer, memory);
  gst_buffer_set_size(*buffer, (gssize)resting_bytes(self));
  g_atomic_int_inc(&self->made);
  return GST_FLOW_OK;
}

static gint keeps_few; /* atomic */

void astro_pools_keep_few(gboolean few)
{
  g_atomic_int_set(&keeps_few, few);
}

guint astro_pool_most_busy(gsize bytes)
{
  const guint64 most = MIN(MOST_BYTES, astro_host_memory() / MOST_HOST_SHARE);
  return bytes > SHORT_BYTES || g_atomic_int_get(&keeps_few)
             ? 0
             : (guint)MIN(most / MAX(bytes, 1), MOST_BLOCKS);
}

static gboolean is_worth_another(AstroBufferPool *self, GstMemory *oldest)
{
  if (g_atomic_int_get(&self->is_full) ||
      astro_buffer_pool_made(GST_BUFFER_POOL(self)) >= astro_pool_most_busy(self->bytes) ||
      !astro_memory_is_busy(oldest))
    return FALSE;
  const gboolean has_room = astro_memory_has_room(oldest);
  g_atomic_int_set(&self->is_full, !has_room);
  return has_room;
}

/* While work uses the buffer that has rested longest, all others are set aside, so that the base
 * class makes one, unless it may not. */
static void take_another(AstroBufferPool *self, GstBuffer **buffer)
{
  GstBufferPool *pool = GST_BUFFER_POOL(self);
  GstBufferPoolAcquireParams params = { .flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT };
  GPtrArray *aside = g_ptr_array_new();
  const guint made = astro_buffer_pool_made(pool);
  GstBuffer *next = NULL;
  do
    g_ptr_array_add(aside, *buffer);
  while (astro_buffer_pool_made(pool) == made &&
         PARENT->acquire_buffer(pool, buffer, &params) == GST_FLOW_OK);
  if (astro_buffer_pool_made(pool) > made)
    next = g_ptr_array_remove_index(aside, aside->len - 1);
  else
    next = g_ptr_array_remove_index(aside, 0);
  for (guint i = 0; i < aside->len; i++)
    PARENT->release_buffer(pool, aside->pdata[i]);
  g_ptr_array_unref(aside);
  *buffer = next;
}

/* A buffer that does not settle is not used again: the tag makes the pool drop it. */
static GstFlowReturn pool_acquire_buffer(GstBufferPool *pool, GstBuffer **buffer,
                                         GstBufferPoolAcquireParams *params)
{
  AstroBufferPool *self = ASTRO_BUFFER_POOL(pool);
  GstFlowReturn flow = PARENT->acquire_buffer(pool, buffer, params);
  if (flow != GST_FLOW_OK)
    return flow;
  if (is_worth_another(self, gst_buffer_peek_memory(*buffer, 0)))
    take_another(self, buffer);
  g_autoptr(GError) error = NULL;
  GstMemory *memory = gst_buffer_peek_memory(*buffer, 0);
  if (!astro_memory_settle(memory, &error)) {
    GST_ERROR_OBJECT(pool, "%s", error->message);
    GST_BUFFER_FLAG_SET(*buffer, GST_BUFFER_FLAG_TAG_MEMORY);
    GST_OBJECT_LOCK(pool);
    g_clear_error(&self->error);
    self->error = g_steal_pointer(&error);
    GST_OBJECT_UNLOCK(pool);
    flow = GST_FLOW_ERROR;
  } else if (GST_BUFFER_POOL_IS_FLUSHING(pool)) {
    flow = GST_FLOW_FLUSHING;
  } else {
    gst_buffer_set_size(*buffer, (gssize)self->bytes);
    if (!(self->params.flags & (GST_MEMORY_FLAG_ZERO_PREFIXED | GST_MEMORY_FLAG_ZERO_PADDED)))
      astro_memory_forget(memory);
    return GST_FLOW_OK;
  }
  PARENT->release_buffer(pool, *buffer);
  *buffer = NULL;
  return flow;
}

static void pool_reset_buffer(GstBufferPool *pool, GstBuffer *buffer)
{
  AstroBufferPool *self = ASTRO_BUFFER_POOL(pool);
  PARENT->reset_buffer(pool, buffer);
  GstMeta *meta = gst_buffer_get_meta(buffer, ASTRO_VALIDITY_META_API);
  if (meta != NULL)
    astro_validity_meta_clear((AstroValidityMeta *)meta);
  /* The base class moves a resized buffer back to the very start of its memory. */
  if (!GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_TAG_MEMORY)) {
    const gsize prefix = astro_memory_prefix(&self->params);
    gsize offset;
    gst_buffer_get_sizes(buffer, &offset, NULL);
    if (offset != prefix)
      gst_buffer_resize(buffer, (gssize)(prefix - offset), (gssize)resting_bytes(self));
  }
}

gboolean astro_buffer_pool_take_error(GstBufferPool *pool, GError **error)
{
  GST_OBJECT_LOCK(pool);
  GError *taken = g_steal_pointer(&ASTRO_BUFFER_POOL(pool)->error);
  GST_OBJECT_UNLOCK(pool);
  if (taken)
    g_propagate_error(error, taken);
  return taken != NULL;
}

static void pool_finalize(GObject *object)
{
  AstroBufferPool *self = ASTRO_BUFFER_POOL(object);
  AstroDevice *device = self->device;
  g_clear_error(&self->error);
  G_OBJECT_CLASS(astro_buffer_pool_parent_class)->finalize(object);
  if (device != NULL)
    astro_device_unref(device);
}

static void astro_buffer_pool_class_init(AstroBufferPoolClass *class)
{
  GstBufferPoolClass *pool_class = GST_BUFFER_POOL_CLASS(class);
  G_OBJECT_CLASS(class)->finalize = pool_finalize;
  pool_class->set_config = pool_set_config;
  pool_class->alloc_buffer = pool_alloc_buffer;
  pool_class->acquire_buffer = pool_acquire_buffer;
  pool_class->reset_buffer = pool_reset_buffer;
}

static void astro_buffer_pool_init(AstroBufferPool *self)
{
}

GstBufferPool *astro_buffer_pool_new(AstroDevice *device)
{
  AstroBufferPool *self = g_object_new(ASTRO_TYPE_BUFFER_POOL, NULL);
  gst_object_ref_sink(self);
  if (device != NULL)
    self->device = astro_device_ref(device);
  return GST_BUFFER_POOL(self);
}

GstBufferPool *astro_buffer_pool_new_active(AstroDevice *device, GstCaps *caps, gsize bytes,
                                            guint min, guint max)
{
  if (max != 0 && max < min) {
    GST_ERROR("a pool of at least %u and at most %u buffers", min, max);
    return NULL;
  }
  GstBufferPool *pool = astro_buffer_pool_new(device);
  GstStructure *config = gst_buffer_pool_get_config(pool);
  ASTRO_BUFFER_POOL(pool)->large = bytes > G_MAXUINT ? bytes : 0;
  gst_buffer_pool_config_set_params(config, caps, (guint)MIN(bytes, G_MAXUINT), min, max);
  if (!gst_buffer_pool_set_config(pool, config) || !gst_buffer_pool_set_active(pool, TRUE)) {
    gst_object_unref(pool);
    return NULL;
  }
  return pool;
}

guint astro_buffer_pool_made(GstBufferPool *pool)
{
  return g_atomic_int_get(&ASTRO_BUFFER_POOL(pool)->made);
}

void astro_buffer_pool_clear(GstBufferPool **pool)
{
  if (*pool)
    gst_buffer_pool_set_active(*pool, FALSE);
  gst_clear_object(pool);
}
