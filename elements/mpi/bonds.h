/* All bonds of the process: bodies go from device to device, in the order in which the ranks tell
 * each other of them by MPI. What is not said to be for any thread belongs to the thread of MPI. */
#pragma once

#include "core/ranks/world.h"
#include "elements/mpi/bond.h"

G_BEGIN_DECLS

/* The transport does this for them. */
typedef struct {
  /* Before anything else that goes to that rank. Takes over the parcel. */
  void (*send_now)(Parcel *parcel);
  /* Takes over the parcel, as if it had come from that rank. */
  void (*take)(Parcel *parcel);
  /* A body has left or come, or is lost: NULL. */
  void (*is_done)(gpointer owner, GstBuffer *body);
} BondsCalls;

void bonds_start(const AstroWorld *world, const BondsCalls *calls);

/* Bodies come to that device from then on: before another rank may send any. FALSE: they already
 * go to another one. For any thread. */
gboolean bonds_use_device(AstroDevice *device);

/* Sends a small block that way to each other rank, once for the process, whatever becomes of it:
 * the parcels PARCEL_TRIED of all ranks, this one among them, say what. All ranks have to call
 * this, after bonds_use_device on all of them. For any thread. */
void bonds_try(Way way);

/* Tells the other rank of the bond, if it does not know it yet. Whether bodies can go there. */
gboolean bonds_bind(Way way, guint rank);
/* After that rank was told what the body belongs to; takes over the body. */
void bonds_send(Way way, guint rank, GstBuffer *body, gpointer owner);

/* The same of one that comes. FALSE: the rank has no bond for it, which is a mistake. *waits:
 * whether the owner will hear of it. */
gboolean bonds_receive(Way way, guint rank, gsize bytes, gpointer owner, gboolean *waits);

/* PARCEL_BOND, PARCEL_READY and PARCEL_GO; PARCEL_TRIAL. */
void bonds_hear(const Parcel *word);
void bonds_take_trial(const Parcel *trial);
/* The way does not work on another rank, and goes no further here: nobody depends on it yet. */
void bonds_leave_trial(Way way);

/* Bodies that are on their way are lost, and no order is left in what comes behind them. */
void bonds_break(void);
gboolean bonds_are_broken(void);

/* Does what can be done; whether that was anything. */
gboolean bonds_step(void);
/* Whether memory of the device may be allocated now: no kernel of NCCL waits there. */
gboolean bonds_may_allocate(void);
/* Whether anything is on its way. */
gboolean bonds_are_busy(void);

/* Blocks that were sent and got that way so far, and how long they took. For any thread. */
typedef struct {
  guint64 blocks, us[BOND_STRETCHES];
} BondsCounts;
void bonds_count(Way way, BondsCounts counts[2]);

G_END_DECLS
