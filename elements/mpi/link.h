/* The bond between the elements of one name on all ranks: streams of items from each rank to each,
 * in order, a few of them on the way at a time. To itself a rank hands items over as they
 * are.
 *
 * No call waits for a rank that has stopped, nor after link_interrupt. */
#pragma once

#include "core/ranks/world.h"
#include "elements/mpi/way.h"

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _AstroLink AstroLink;

typedef enum { LINK_OK, LINK_STOPPED, LINK_FAILED } LinkResult;

/* Called once, by any thread, if a rank stops before the end of its stream, or has an element of
 * that name with other settings. is_told: that rank says itself what is wrong. */
typedef void (*LinkLost)(guint rank, const char *why, gboolean is_told, GObject *object);

/* The n-th opening of a name belongs to the n-th of that name on every other rank. The settings,
 * and job of the first opening, have to be the same on all of them. NULL with an error if MPI does
 * not start. */
AstroLink *link_open(const AstroWorld *world, const char *job, const char *name,
                     const char *settings, LinkLost lost, GObject *object, GError **error);

/* Whether what this rank receives is read on the host. Called by a thread that sends. */
typedef gboolean (*LinkReads)(GObject *object);

/* Blocks may go from device to device, if all ranks find that it can be; without this they go by
 * MPI. The first block waits until all have found that. wanted: if it cannot be that way, it is an
 * error, as if the rank that cannot were lost. reads: NULL: this rank receives nothing. Before
 * anything is sent. */
void link_try_devices(AstroLink *link, Way wanted, LinkReads reads);
/* The way that blocks go; WAY_AUTO: that is not known yet. */
Way link_way(AstroLink *link);

/* All waiting ends, for good. */
void link_interrupt(AstroLink *link);

/* Something on this rank has failed: what was not sent stays so, and the other ranks are told. */
void link_give_up(AstroLink *link);

/* Frees the link, after what was sent has left. If some stream of it has not come to its end, other
 * ranks are told that this one has stopped. */
void link_close(AstroLink *link);

/* Says that items will be sent to that rank, or taken from it, up to EOS. */
void link_will_send(AstroLink *link, guint to);
void link_will_take(AstroLink *link, guint from);

/* Takes over the buffer or event; waits while too many are on the way. LINK_FAILED with an error if
 * it cannot be sent, without one if a rank was lost. */
LinkResult link_send(AstroLink *link, guint to, GstMiniObject *item, GError **error);

/* Waits until that rank has taken all that was sent to it. */
LinkResult link_settle(AstroLink *link, guint to);

/* While a stream is flushed, nothing of it waits. */
void link_set_flushing(AstroLink *link, guint to, gboolean flushing);

/* The next buffer or event from that rank. The rank may send more after link_taken. */
LinkResult link_take(AstroLink *link, guint from, GstMiniObject **item, GError **error);
void link_taken(AstroLink *link, guint from);

/* Traffic of this process with others so far, by all links. held_ns: how long streams waited
 * until a rank had taken enough of what was sent, or all of it at the end. */
typedef struct {
  guint64 bytes_sent, bytes_got, bytes_by_copy, bytes_by_nccl, moving_ns, held_ns;
} LinkCounts;
void link_count(LinkCounts *counts);

G_END_DECLS
