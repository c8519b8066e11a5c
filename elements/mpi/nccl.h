/* NVIDIA's library NCCL, which moves blocks between GPUs: loaded at run time, where it is there.
 *
 * Only pairs of ranks are made, and no call waits: what was begun is looked after by nccl_state. */
#pragma once

#include "core/backend/device.h"

G_BEGIN_DECLS

typedef struct _NcclPair NcclPair; /* an ncclComm of two */

enum { NCCL_SENDER, NCCL_RECEIVER };

#define NCCL_ID_BYTES 128
typedef struct {
  char bytes[NCCL_ID_BYTES];
} NcclId;

/* Loads libnccl.so.2, once for the process. An error if it is not there or too old. */
gboolean nccl_load(GError **error);
/* As NCCL counts: 22809 is 2.28.9. */
guint nccl_version(void);

gboolean nccl_new_id(NcclId *id, GError **error);

/* A pair is made by both of its ranks with one id, each with its device, which has to be the
 * current one of this thread. most_blocks: thread blocks that it may occupy on a device. NULL with
 * an error. */
NcclPair *nccl_pair_new(const NcclId *id, int role, guint most_blocks, GError **error);
/* Ends all that was begun, also where the other rank is gone, and frees the pair: soon, by a thread
 * of its own. */
void nccl_pair_abort(NcclPair *pair);

typedef enum { NCCL_READY, NCCL_BUSY, NCCL_FAILED } NcclState;

/* Whether the pair is made and what was begun last has been queued; only then may more begin. */
NcclState nccl_state(NcclPair *pair, GError **error);

/* Between these, moves are only noted, and then begin together: NCCL takes tens of microseconds to
 * begin, for one or several, in a thread of its own. */
gboolean nccl_begin_moves(GError **error);
gboolean nccl_end_moves(GError **error);

/* Sends to the other one of the pair, or receives from it, by that queue of the device. */
gboolean nccl_move(NcclPair *pair, int role, gpointer face, gsize bytes, AstroQueue *queue,
                   GError **error);

G_END_DECLS
