/* A pool of buffers with our memory, which are reused. A buffer is given out again only after all
 * work queued on it is done; if the pool has an upper bound, its users wait for a buffer. Else it
 * makes another short one rather than wait for work, while the device has room. */
#pragma once

#include <gst/gst.h>
#include "core/backend/handles.h"

ASTRO_BEGIN_DECLS

#define ASTRO_POOL_DEPTH 3 /* enough to keep both directions of a bus busy */

#define ASTRO_TYPE_BUFFER_POOL astro_buffer_pool_get_type()
G_DECLARE_FINAL_TYPE(AstroBufferPool, astro_buffer_pool, ASTRO, BUFFER_POOL, GstBufferPool)

/* device may be NULL; else blocks are page-locked for it. */
GstBufferPool *astro_buffer_pool_new(AstroDevice *device);

/* Configures and activates a pool, as usually needed. NULL if that failed. Buffers may be larger
 * than the 4 GiB that a configuration can express. */
GstBufferPool *astro_buffer_pool_new_active(AstroDevice *device, GstCaps *caps, gsize bytes,
                                            guint min, guint max);

/* Deactivates and unrefs a pool, if there is one; buffers in use return to it later. */
void astro_buffer_pool_clear(GstBufferPool **pool);

/* The number of buffers that the pool has allocated so far. */
guint astro_buffer_pool_made(GstBufferPool *pool);

/* The error if the last buffer could not be given because a device failed. FALSE if there was
 * another reason. */
gboolean astro_buffer_pool_take_error(GstBufferPool *pool, GError **error);

ASTRO_END_DECLS
