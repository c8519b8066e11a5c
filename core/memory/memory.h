/* Memory with a host face and, once a device stage has used it, a device face.
 *
 * gst_memory_map() gives the host face, and first copies from the device if the device face is
 * newer. astro_memory_acquire() gives the device face for work queued on a device queue; it does
 * not wait on the host. See ARCHITECTURE.md, "Where it flows". */
#pragma once

#include <gst/gst.h>
#include "core/backend/handles.h"

ASTRO_BEGIN_DECLS

#define ASTRO_MEMORY_TYPE "AstroMemory"
#define ASTRO_MEMORY_ALIGN 64
#define ASTRO_MEMORY_HUGE (2u << 20) /* blocks from this size on request huge pages */

#define ASTRO_TYPE_ALLOCATOR astro_allocator_get_type()
G_DECLARE_FINAL_TYPE(AstroAllocator, astro_allocator, ASTRO, ALLOCATOR, GstAllocator)

GstAllocator *astro_allocator_get(void); /* the one for the process; a new reference */

/* An allocator whose blocks are page-locked for a device and reused when they are freed: for
 * sources that do not use a pool. device may be NULL. */
GstAllocator *astro_allocator_new(AstroDevice *device);

/* A block whose host face is page-locked for that device; device may be NULL. If page-locking fails
 * the block is returned all the same: copies are then slow, but correct. NULL if there is no
 * memory. */
GstMemory *astro_memory_new(gsize bytes, AstroDevice *device);

/* A buffer with one such block. */
GstBuffer *astro_buffer_new(gsize bytes, AstroDevice *device);

/* A block with GStreamer's parameters; the prefix is rounded up, so that the bytes after it are
 * aligned too. */
GstMemory *astro_memory_new_full(gsize bytes, const GstAllocationParams *params,
                                 AstroDevice *device);
gsize astro_memory_prefix(const GstAllocationParams *params); /* after rounding */

gboolean astro_memory_is(GstMemory *memory);
gboolean astro_memory_is_locked(GstMemory *memory); /* page-locked */

/* Work on the device face, queued on queue: between acquire and release the caller queues kernels
 * that read (GST_MAP_READ), write (GST_MAP_WRITE) or do both. Acquire makes queue wait for all work
 * that must come first; release records what later users must wait for. The pointer respects the
 * memory's offset. Every successful acquire must be released, even if the work failed. copy_down:
 * the next reader is the host, so a copy to it is queued at once. */
gboolean astro_memory_acquire(GstMemory *memory, AstroDevice *device, AstroQueue *queue,
                              GstMapFlags flags, gpointer *face, GError **error);
gboolean astro_memory_release(GstMemory *memory, AstroQueue *queue, GstMapFlags flags,
                              gboolean copy_down, GError **error);

/* Waits on the host until no queued work uses the memory. FALSE: the device failed. */
gboolean astro_memory_settle(GstMemory *memory, GError **error);

/* For readers outside this library that keep the memory until they are done: waits until the bytes
 * are there, and sets the address of the device face and the index of its device. *face is NULL if
 * the newest bytes are on the host only, or on a device without addresses, as OpenCL's are: mapping
 * gives them. FALSE: the device failed. */
gboolean astro_memory_look(GstMemory *memory, gint *device, gpointer *face, GError **error);

/* Makes the bytes undefined, as in a new block, so that they are not copied from face to face. */
void astro_memory_forget(GstMemory *memory);

/* Memory freed while work is pending is released later, when that work is done; this waits until
 * all of it is. The last reference to a device may be dropped there. */
void astro_memory_reap(void);

/* The same for a buffer. It may hold one AstroMemory or several, which are merged first. Foreign
 * memory is copied to a new block, and so is shared memory that is to be written. *buffer is
 * replaced if it is not writable. */
gboolean astro_buffer_acquire(GstBuffer **buffer, AstroDevice *device, AstroQueue *queue,
                              GstMapFlags flags, gpointer *face, GError **error);
gboolean astro_buffer_release(GstBuffer *buffer, AstroQueue *queue, GstMapFlags flags,
                              gboolean copy_down, GError **error);

/* Samples are read as numbers, whose addresses must be multiples of their size: at most 8 bytes,
 * except for device kernels, which load whole samples and fail for good at other addresses. */
#define ASTRO_SAMPLES_ALIGN 8
/* If a buffer's bytes do not begin at a multiple of unit, as after another program's header, copies
 * them to an aligned block, page-locked for the device if there is one. *buffer is replaced if it
 * is not writable. */
gboolean astro_buffer_align(GstBuffer **buffer, AstroDevice *device, gsize unit, GError **error);

/* A reference to part i of n equal parts of a buffer, without its metas and times; the buffer
 * itself if n is 1; NULL for NULL. */
GstBuffer *astro_buffer_part(GstBuffer *buffer, guint64 i, guint64 n);

/* Counters for the process, for tests and --stats. */
typedef struct {
  guint64 blocks; /* number of live blocks */
  guint64 bytes;  /* size of their host faces */
  guint64 locked; /* page-locked part of it */
  guint64 device_bytes;
  guint64 copies_up, copies_down, bytes_up, bytes_down; /* copies between faces */
  guint64 host_copies; /* from foreign memory to ours, and merges */
  guint64 host_waits;  /* times the host waited for an event that was not done */
} AstroMemoryCounters;
void astro_memory_counters(AstroMemoryCounters *counters);

ASTRO_END_DECLS
