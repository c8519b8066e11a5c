/* Blocks for bodies that come from the devices of other ranks, on one device. Those that are free
 * again are used again. */
#pragma once

#include "core/backend/device.h"

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _Room Room;

Room *room_new(void);

/* A buffer of that size; NULL: none is free, and a new one may not be made now, or, with an error,
 * there is no memory. While a kernel of NCCL waits for the one of another rank, memory must not be
 * allocated on the device, nor freed: two ranks would wait for each other for ever. */
GstBuffer *room_take(Room *room, gsize bytes, gboolean may_make, GError **error);

/* Rounds up to a multiple of the unit, or by at most an eighth, so that memory fits for other sizes
 * too. */
gsize room_round_up(gsize bytes, gsize unit);

G_END_DECLS
