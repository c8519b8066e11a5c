/* Events and buffers of a stream as bytes, for another rank: everything that our elements read from
 * them, so that the stream goes on there as it was. The samples of a buffer are not among these
 * bytes; they travel beside them as they are. */
#pragma once

#include <gst/gst.h>

#include "core/kit/fail.h"

G_BEGIN_DECLS

/* NULL: the event means nothing on another rank, as a tag or a flush. */
GBytes *astro_item_of_event(GstEvent *event);

/* An error if the buffer has something that does not travel. */
GBytes *astro_item_of_buffer(GstBuffer *buffer, GError **error);

/* The event; or, if the bytes describe a buffer, samples with what belongs to them. samples is an
 * own reference, taken over; NULL stands for an empty buffer. NULL with an error if the bytes are
 * damaged. */
GstMiniObject *astro_item_read(GBytes *item, GstBuffer *samples, GError **error);

G_END_DECLS
