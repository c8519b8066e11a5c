/* The two faces of a block (its bytes on the host and on a device) and the work queued on them: the
 * state machine behind AstroMemory.
 *
 * Two bits say which faces are current; both are set if the faces agree, and in a new block, whose
 * bytes are undefined. Besides, each face has marks of queued work that writes or reads it, so that
 * nothing is overwritten while it is still being read: a face can be current although the work that
 * writes it has not finished. A block that goes on to another device has its bytes copied there,
 * and keeps the face that it leaves for when it comes back. All functions are thread-safe; waiting
 * on the host is done without the lock. */
#pragma once

#include <gst/gst.h>
#include "core/backend/device.h"

ASTRO_BEGIN_DECLS

typedef struct _AstroFaces AstroFaces;

/* align is a mask, as in GstAllocationParams. NULL if there is no memory. */
AstroFaces *astro_faces_new(gsize bytes, gsize align, AstroDevice *device);
/* Whether the block is worth keeping for the next user: it is page-locked, and no work on it has
 * failed. */
gboolean astro_faces_can_rest(AstroFaces *faces);
/* Whether a block has that size and alignment. */
gboolean astro_faces_fits(const AstroFaces *faces, gsize bytes, gsize align);
/* Frees at once, or lets the reaper do it after the queued work. */
void astro_faces_free(AstroFaces *faces);

/* The device for which the host face is page-locked; NULL if it is not. */
AstroDevice *astro_faces_lock_device(const AstroFaces *faces);

/* whole: the caller's range is the whole block, so that a write needs none of the old bytes. */
gpointer astro_faces_map(AstroFaces *faces, GstMapFlags flags, gboolean whole, GError **error);
void astro_faces_unmap(AstroFaces *faces);

gpointer astro_faces_acquire(AstroFaces *faces, AstroDevice *device, AstroQueue *queue,
                             GstMapFlags flags, gboolean whole, GError **error);
gboolean astro_faces_release(AstroFaces *faces, AstroQueue *queue, GstMapFlags flags,
                             gboolean copy_down, GError **error);

/* Whether the bytes are on that device, or will be when its queues come to them. */
gboolean astro_faces_are_on(AstroFaces *faces, const AstroDevice *device);
/* The same of a block; FALSE for memory that is not ours. */
gboolean astro_memory_is_on(GstMemory *memory, const AstroDevice *device);
/* The device where the bytes are, or will be, and which the host has not; a new reference. NULL:
 * the host has them, or the memory is not ours. */
AstroDevice *astro_faces_only_on(AstroFaces *faces);
AstroDevice *astro_memory_only_on(GstMemory *memory);

gboolean astro_faces_settle(AstroFaces *faces, GError **error);
/* Whether queued work uses the block; and whether the device that it is on has a bus, and room for
 * more blocks than are needed. */
gboolean astro_faces_are_busy(AstroFaces *faces);
gboolean astro_faces_have_room(AstroFaces *faces);
/* The same of a block; FALSE for memory that is not ours. */
gboolean astro_memory_is_busy(GstMemory *memory);
gboolean astro_memory_has_room(GstMemory *memory);
/* How many blocks of so many bytes are worth having in work at once: many short ones, of long ones
 * no more than are needed, as 0 says. Else a kernel that takes many blocks at once, such as a
 * product of what was gathered, would keep the bus idle. Pools make as many. */
guint astro_pool_most_busy(gsize bytes);
/* Whether pools of the process make no more blocks than are needed, as where memory is not to be
 * allocated while kernels wait for those of other processes. */
void astro_pools_keep_few(gboolean few);
void astro_faces_forget(AstroFaces *faces);
/* The address and device of a current device face; NULL if there is none. */
gpointer astro_faces_look(AstroFaces *faces, gint *device);

/* Counters for the process; astro_memory_counters() reads them. */
typedef struct {
  guint64 blocks, bytes, locked, device_bytes, copies_up, copies_down, bytes_up, bytes_down;
  guint64 copies_across, bytes_across; /* from device to device */
  guint64 host_copies, host_waits;
} AstroFacesCounters;
extern AstroFacesCounters astro_faces_counters;
#define ASTRO_COUNT(counter, n) __atomic_fetch_add(&(counter), (n), __ATOMIC_RELAXED)

/* For the reaper: waits for queued work, then frees. */
void astro_faces_destroy(AstroFaces *faces);
/* The link of the reaper's list. */
AstroFaces **astro_faces_link(AstroFaces *faces);

void astro_reaper_give(AstroFaces *faces);
void astro_reaper_wait(void);

ASTRO_END_DECLS
