/* One direction between two ranks whose blocks go from device to device. All of it belongs to the
 * thread of MPI, and no call waits for the other rank.
 *
 * Blocks go in the order in which they are added at both ends. The receiver says PARCEL_READY when
 * it has room for a block, with what the sender has to know of it; the sender says PARCEL_GO when a
 * block begins to go (by NCCL) or has come (by copies). */
#pragma once

#include "core/backend/device.h"
#include "elements/mpi/parcel.h"
#include "elements/mpi/way.h"

G_BEGIN_DECLS

typedef struct _Bond Bond;

/* The sender's end, and what the receiver has to know for its own. ranks: of the job, so that the
 * bonds of all of them find room on a device. NULL with an error. */
Bond *bond_new_out(Way way, AstroDevice *device, guint rank, guint ranks, GBytes **id,
                   GError **error);
Bond *bond_new_in(Way way, AstroDevice *device, guint rank, guint ranks, GBytes *id,
                  GError **error);

/* Ends all that is on its way, at once, or, for copies, when those that were begun are done: before
 * the first of several bonds is freed, since the device may wait for the kernels of all. */
void bond_abort(Bond *bond);
/* The same; returns the owners of what was on its way, in order. */
GSList *bond_free(Bond *bond);

/* The next block, to be sent or filled; takes over the buffer. FALSE with an error: it is not on
 * its way. */
gboolean bond_add(Bond *bond, GstBuffer *buffer, gpointer owner, GError **error);

/* The other end has said PARCEL_READY or PARCEL_GO. */
void bond_hear(Bond *bond, GBytes *said);

/* Stretches of the time of a block. */
typedef enum {
  BOND_PREPARES, /* work on it that came before is not done */
  BOND_WAITS,    /* for its turn, and for the other end */
  BOND_QUEUES,   /* NCCL begins */
  BOND_MOVES,
  BOND_STRETCHES
} BondStretch;

/* A block that has arrived or left; buffer NULL: none. */
typedef struct {
  GstBuffer *buffer;
  gpointer owner;
  guint64 us[BOND_STRETCHES];
} BondMoved;

/* Does what can be done. may_begin: a sender begins with further blocks; a receiver has to, as the
 * other end has. FALSE with an error: NCCL or the device has failed. */
gboolean bond_step(Bond *bond, gboolean may_begin, BondMoved *moved, GError **error);

/* Whether any block is on its way; whether one has begun, so that a kernel of NCCL may be waiting.
 */
gboolean bond_is_busy(Bond *bond);
gboolean bond_has_begun(Bond *bond);
/* Whether a block waits until memory may be allocated for it. */
gboolean bond_lacks_room(Bond *bond);

G_END_DECLS
