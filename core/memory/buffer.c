/* Buffers for a device: their memories are combined to one AstroMemory. */
#include "core/memory/memory.h"
#include "core/memory/faces.h"
#include "core/backend/backend.h"

/* Shares the bytes of several memories if they are contiguous in one block, as after splitting. */
static GstMemory *share_span(GstBuffer *buffer)
{
  const guint n = gst_buffer_n_memory(buffer);
  GstMemory *first = n > 0 ? gst_buffer_peek_memory(buffer, 0) : NULL;
  if (n < 2 || !astro_memory_is(first))
    return NULL;
  gsize start = 0;
  for (guint i = 1; i < n; i++) {
    gsize offset = 0;
    if (!gst_memory_is_span(gst_buffer_peek_memory(buffer, i - 1),
                            gst_buffer_peek_memory(buffer, i), &offset))
      return NULL;
    if (i == 1)
      start = offset;
  }
  return gst_memory_share(first->parent, start, gst_buffer_get_size(buffer));
}

static GstMemory *gather(GstBuffer *buffer, AstroDevice *device, gboolean needs_bytes,
                         GError **error)
{
  const gsize bytes = gst_buffer_get_size(buffer);
  GstMemory *memory = astro_memory_new(bytes, device);
  GstMapInfo map;
  if (memory == NULL) {
    astro_backend_no_memory(error, "out of memory: %" G_GSIZE_FORMAT " bytes needed", bytes);
    return NULL;
  }
  if (!needs_bytes)
    return memory;
  gsize got = 0;
  if (gst_memory_map(memory, &map, GST_MAP_WRITE)) {
    got = gst_buffer_extract(buffer, 0, map.data, bytes);
    gst_memory_unmap(memory, &map);
    ASTRO_COUNT(astro_faces_counters.host_copies, 1);
  }
  if (got == bytes)
    return memory;
  astro_backend_no_memory(
      error, "a buffer of %" G_GSIZE_FORMAT " bytes cannot be mapped for reading", bytes);
  gst_memory_unref(memory);
  return NULL;
}

static gboolean can_use(GstBuffer *buffer, gboolean write)
{
  if (gst_buffer_n_memory(buffer) != 1)
    return FALSE;
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
  return astro_memory_is(memory) &&
         (!write || (!GST_MEMORY_IS_READONLY(memory) && gst_memory_is_writable(memory)));
}

gboolean astro_buffer_acquire(GstBuffer **buffer, AstroDevice *device, AstroQueue *queue,
                              GstMapFlags flags, gpointer *face, GError **error)
{
  const gboolean write = (flags & GST_MAP_WRITE) != 0;
  if (write)
    *buffer = gst_buffer_make_writable(*buffer);
  if (!can_use(*buffer, write)) {
    GstMemory *memory = write ? NULL : share_span(*buffer);
    if (memory == NULL)
      memory = gather(*buffer, device, (flags & GST_MAP_READ) != 0, error);
    if (memory == NULL)
      return FALSE;
    *buffer = gst_buffer_make_writable(*buffer);
    gst_buffer_replace_all_memory(*buffer, memory);
  }
  return astro_memory_acquire(gst_buffer_peek_memory(*buffer, 0), device, queue, flags, face,
                              error);
}

gboolean astro_buffer_release(GstBuffer *buffer, AstroQueue *queue, GstMapFlags flags,
                              gboolean copy_down, GError **error)
{
  return astro_memory_release(gst_buffer_peek_memory(buffer, 0), queue, flags, copy_down, error);
}

/* Our blocks are aligned, so that nothing needs to be copied from a device to check it. */
static gboolean is_aligned(GstBuffer *buffer, gsize unit)
{
  GstMemory *first = gst_buffer_n_memory(buffer) > 0 ? gst_buffer_peek_memory(buffer, 0) : NULL;
  GstMapInfo map;
  gsize at;
  if (first == NULL)
    return TRUE;
  if (astro_memory_is(first)) {
    gst_memory_get_sizes(first, &at, NULL);
    return at % unit == 0;
  }
  if (!gst_memory_map(first, &map, GST_MAP_READ))
    return TRUE; /* whoever reads it will report the error */
  at = (gsize)map.data;
  gst_memory_unmap(first, &map);
  return at % unit == 0;
}

gboolean astro_buffer_align(GstBuffer **buffer, AstroDevice *device, gsize unit, GError **error)
{
  if (is_aligned(*buffer, unit))
    return TRUE;
  GstMemory *memory = gather(*buffer, device, TRUE, error);
  if (memory == NULL)
    return FALSE;
  *buffer = gst_buffer_make_writable(*buffer);
  gst_buffer_replace_all_memory(*buffer, memory);
  return TRUE;
}

GstBuffer *astro_buffer_part(GstBuffer *buffer, guint64 i, guint64 n)
{
  if (!buffer || n == 1)
    return buffer ? gst_buffer_ref(buffer) : NULL;
  const gsize bytes = gst_buffer_get_size(buffer) / n;
  return gst_buffer_copy_region(buffer, GST_BUFFER_COPY_MEMORY, i * bytes, bytes);
}
