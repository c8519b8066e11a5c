/* Where it flows: memory with a host face and, once a device stage has touched it, a device face.
 *
 * gst_memory_map() gives the host face and copies down first where the device face is newer.
 * astro_memory_acquire() gives the device face to work queued on a device queue; nothing there
 * waits on the host. See ARCHITECTURE.md, "Where it flows". */
#pragma once

#include <gst/gst.h>
#include "core/backend/handles.h"

ASTRO_BEGIN_DECLS

#define ASTRO_MEMORY_TYPE "AstroMemory"
#define ASTRO_MEMORY_ALIGN 64
#define ASTRO_MEMORY_HUGE (2u << 20) /* blocks from this size on ask for huge pages */

#define ASTRO_TYPE_ALLOCATOR astro_allocator_get_type()
G_DECLARE_FINAL_TYPE(AstroAllocator, astro_allocator, ASTRO, ALLOCATOR, GstAllocator)

GstAllocator *astro_allocator_get(void); /* the one of the process; a new reference */

/* One whose blocks are page-locked for a device and used again when they are freed: for sources
 * that know no pool. device may be NULL. */
GstAllocator *astro_allocator_new(AstroDevice *device);

/* A block whose host face is page-locked for that device; device may be NULL. A block that cannot
 * be page-locked is still given: copies of it are slow, not wrong. NULL where memory is out. */
GstMemory *astro_memory_new(gsize bytes, AstroDevice *device);

/* A buffer of one such block. */
GstBuffer *astro_buffer_new(gsize bytes, AstroDevice *device);

/* A block with GStreamer's parameters; the prefix is rounded up, so that the bytes after it are
 * aligned as well. */
GstMemory *astro_memory_new_full(gsize bytes, const GstAllocationParams *params,
                                 AstroDevice *device);
gsize astro_memory_prefix(const GstAllocationParams *params); /* as rounded */

gboolean astro_memory_is(GstMemory *memory);
gboolean astro_memory_is_locked(GstMemory *memory); /* page-locked */

/* Work on the device face, queued on queue: between acquire and release the caller queues kernels
 * that read (GST_MAP_READ), write (GST_MAP_WRITE) or both. Acquire makes queue wait for whatever
 * has to be done before; release records what later users wait for. The pointer honours the
 * memory's offset. Every acquire that succeeded is released, also where the work failed. copy_down:
 * the next reader is the host, so the copy is queued at once. */
gboolean astro_memory_acquire(GstMemory *memory, AstroDevice *device, AstroQueue *queue,
                              GstMapFlags flags, gpointer *face, GError **error);
gboolean astro_memory_release(GstMemory *memory, AstroQueue *queue, GstMapFlags flags,
                              gboolean copy_down, GError **error);

/* Waits on the host until no queued work touches the memory any more. FALSE: the device failed. */
gboolean astro_memory_settle(GstMemory *memory, GError **error);

/* The bytes mean nothing any more, as in a new block: no face is copied to the other for them. */
void astro_memory_forget(GstMemory *memory);

/* Memory freed with work pending is released behind the caller's back when that work is done; this
 * waits until all of it is. The last reference to a device can go there. */
void astro_memory_reap(void);

/* The same for a buffer that holds one AstroMemory or several (several are merged first, a foreign
 * one is copied into a new block, and so is one that others share and this buffer is to write).
 * *buffer is replaced where it cannot be changed. */
gboolean astro_buffer_acquire(GstBuffer **buffer, AstroDevice *device, AstroQueue *queue,
                              GstMapFlags flags, gpointer *face, GError **error);
gboolean astro_buffer_release(GstBuffer *buffer, AstroQueue *queue, GstMapFlags flags,
                              gboolean copy_down, GError **error);

/* Samples are read as the numbers they are, whose addresses are multiples of their size: 8 bytes at
 * most, but for kernels on a device, which load whole samples and stop for good at others. */
#define ASTRO_SAMPLES_ALIGN 8
/* Copies a buffer's bytes to an aligned block, of that device where one is given, where they begin
 * elsewhere than at a multiple of unit, as behind a header of another program's. *buffer is
 * replaced where it cannot be changed. */
gboolean astro_buffer_align(GstBuffer **buffer, AstroDevice *device, gsize unit, GError **error);

/* A reference to part i of n that are as large, without what the buffer says of itself: the buffer
 * where n is 1; NULL of none. */
GstBuffer *astro_buffer_part(GstBuffer *buffer, guint64 i, guint64 n);

/* Counters over the process, for tests and --stats. */
typedef struct {
  guint64 blocks; /* alive now */
  guint64 bytes;  /* of their host faces */
  guint64 locked; /* of these page-locked */
  guint64 device_bytes;
  guint64 copies_up, copies_down, bytes_up, bytes_down; /* between the faces */
  guint64 host_copies; /* of foreign memory into ours, and merges */
  guint64 host_waits;  /* of the host for an event that was not done */
} AstroMemoryCounters;
void astro_memory_counters(AstroMemoryCounters *counters);

ASTRO_END_DECLS
