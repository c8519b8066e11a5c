/* Buffers of our memory that go round. One goes out again only after all work queued on it is done;
 * a pool that has an upper bound makes its users wait for one. */
#pragma once

#include <gst/gst.h>
#include "core/backend/handles.h"

ASTRO_BEGIN_DECLS

#define ASTRO_POOL_DEPTH 3 /* enough to keep both directions of a bus busy */

#define ASTRO_TYPE_BUFFER_POOL astro_buffer_pool_get_type()
G_DECLARE_FINAL_TYPE(AstroBufferPool, astro_buffer_pool, ASTRO, BUFFER_POOL, GstBufferPool)

/* device may be NULL; else blocks are page-locked for it. */
GstBufferPool *astro_buffer_pool_new(AstroDevice *device);

/* Configures and activates: a shortcut for the usual case. NULL where that failed. */
GstBufferPool *astro_buffer_pool_new_active(AstroDevice *device, GstCaps *caps, gsize bytes,
                                            guint min, guint max);

/* Deactivates and gives up a pool where there is one; its buffers come home one by one. */
void astro_buffer_pool_clear(GstBufferPool **pool);

/* Buffers that it made since it was made itself. */
guint astro_buffer_pool_made(GstBufferPool *pool);

/* Why the last buffer was not given, where a device failed: FALSE where it was something else. */
gboolean astro_buffer_pool_take_error(GstBufferPool *pool, GError **error);

ASTRO_END_DECLS
