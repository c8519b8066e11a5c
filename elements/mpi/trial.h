/* The block by which a way between devices is tried: one that seems to be there may not work (no
 * memory is shared between containers, say, or a driver is too old), and nothing may depend on it
 * before. Each rank sends one to each other rank; the way works if all of them come. */
#pragma once

#include "elements/mpi/room.h"
#include "elements/mpi/way.h"

G_BEGIN_DECLS

/* How long that may take: 30 s, or as many as the environment says. */
#define TRIAL_VARIABLE "ASTRO_NCCL_SECONDS"
gint64 trial_seconds(void);

/* Such a block of a rank, which has no other use for room meanwhile. NULL with an error. */
GstBuffer *trial_new(Room *room, guint rank, GError **error);

/* NULL, or what is wrong with the block that came from that rank. */
char *trial_check(Way way, GstBuffer *block, guint rank);

/* That blocks of only so many other ranks have come in time. */
char *trial_tell_late(Way way, guint n, guint others);

G_END_DECLS
