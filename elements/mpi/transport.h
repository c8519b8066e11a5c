/* The one thread of the process that talks to MPI. Others hand parcels to it, which it sends
 * without waiting for any of them, so that no call of theirs hangs in MPI.
 *
 * MPI is started with the first element that needs it, and ended when the process exits. A process
 * of a job of one rank never starts it. */
#pragma once

#include "core/ranks/world.h"
#include "elements/mpi/parcel.h"

G_BEGIN_DECLS

/* Called by the thread for each parcel that arrives, which it takes over; those of a rank come in
 * the order in which it sent them. */
typedef void (*TransportTake)(Parcel *parcel);

/* Once for a process; FALSE with an error if MPI is not what the environment said, or if job, lines
 * of what has to be the same on all ranks, is not that of rank 0. */
gboolean transport_start(const AstroWorld *world, const char *job, TransportTake take,
                         GError **error);

/* Takes over the parcel. */
void transport_post(Parcel *parcel);

/* Waits until all that was posted has left, or for that long: a rank that has died takes nothing.
 * Whether it has. */
gboolean transport_drain(gint64 most_us);

/* Whether all ranks run on one host. */
gboolean transport_is_one_host(void);

/* The thread looks for news at once. */
void transport_wake(void);

/* Traffic so far: bytes of bodies, those sent by each way, and the time in which anything was on
 * its way. */
typedef struct {
  guint64 bytes_sent, bytes_got, bytes_by[WAYS], moving_ns;
} TransportCounts;
void transport_count(TransportCounts *counts);

/* This process was not able to do its part: when it exits, MPI ends the whole job. */
void transport_spoil(void);

G_END_DECLS
