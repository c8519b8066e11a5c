/* The two faces of one block and what is queued on them: the state machine behind AstroMemory.
 *
 * Two bits say which face holds the bytes; both are set where they agree, and in a new block, whose
 * bytes mean nothing yet. Apart from the bits, each face keeps marks of the queued work that writes
 * or reads it, so that nobody overwrites what is still read: a face can be current and still
 * coming. Any thread may call; whoever has to wait on the host does so without the lock. */
#pragma once

#include <gst/gst.h>
#include "core/backend/device.h"

ASTRO_BEGIN_DECLS

typedef struct _AstroFaces AstroFaces;

/* align is a mask, as in GstAllocationParams. NULL where memory is out. */
AstroFaces *astro_faces_new(gsize bytes, gsize align, AstroDevice *device);
/* Whether the block is worth keeping for the next user: page-locked, and no work on it was lost. */
gboolean astro_faces_can_rest(AstroFaces *faces);
/* Whether a block is of that size and alignment. */
gboolean astro_faces_fits(const AstroFaces *faces, gsize bytes, gsize align);
/* At once, or by the reaper after the work that is queued on them. */
void astro_faces_free(AstroFaces *faces);

/* That the host face is page-locked for; NULL where it is not. */
AstroDevice *astro_faces_lock_device(const AstroFaces *faces);

/* whole: the caller's range is the block, so that writing alone needs none of the old bytes. */
gpointer astro_faces_map(AstroFaces *faces, GstMapFlags flags, gboolean whole, GError **error);
void astro_faces_unmap(AstroFaces *faces);

gpointer astro_faces_acquire(AstroFaces *faces, AstroDevice *device, AstroQueue *queue,
                             GstMapFlags flags, gboolean whole, GError **error);
gboolean astro_faces_release(AstroFaces *faces, AstroQueue *queue, GstMapFlags flags,
                             gboolean copy_down, GError **error);

gboolean astro_faces_settle(AstroFaces *faces, GError **error);
void astro_faces_forget(AstroFaces *faces);

/* Counters of the process; astro_memory_counters() reads them. */
typedef struct {
  guint64 blocks, bytes, locked, device_bytes, copies_up, copies_down, bytes_up, bytes_down;
  guint64 host_copies, host_waits;
} AstroFacesCounters;
extern AstroFacesCounters astro_faces_counters;
#define ASTRO_COUNT(counter, n) __atomic_fetch_add(&(counter), (n), __ATOMIC_RELAXED)

/* For the reaper: waits for what is queued and frees. */
void astro_faces_destroy(AstroFaces *faces);
/* The reaper's own link. */
AstroFaces **astro_faces_link(AstroFaces *faces);

void astro_reaper_give(AstroFaces *faces);
void astro_reaper_wait(void);

ASTRO_END_DECLS
