/* Blocks by NCCL. A kernel of NCCL keeps a part of its device busy until the one of the other rank
 * is there, and memory cannot be allocated on a device meanwhile. So neither is begun before both
 * ends can. */
#include "config.h"
#include "core/backend/backend.h"
#include "core/kit/fail.h"
#include "elements/mpi/mover.h"
#include "elements/mpi/nccl.h"

/* Thread blocks of NCCL's kernels on a device, for all bonds of a rank together: all of them have
 * to find room at once, beside the work of stages, on GPUs of about a hundred multiprocessors. */
#define BLOCKS_OF_A_DEVICE 64
#define MOST_BLOCKS 32

static int role_of(const Bond *bond)
{
  return bond->role == BOND_SENDER ? NCCL_SENDER : NCCL_RECEIVER;
}

static gboolean find_id(NcclId *id, GBytes *told, GError **error)
{
  gsize bytes;
  gconstpointer data = told ? g_bytes_get_data(told, &bytes) : NULL;
  if (!told)
    return nccl_new_id(id, error);
  if (bytes != sizeof *id)
    return astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE,
                      "the id of a pair has %" G_GSIZE_FORMAT " bytes, expected %d", bytes,
                      NCCL_ID_BYTES);
  *id = *(const NcclId *)data;
  return TRUE;
}

static gboolean open_pair(Bond *bond, GBytes **told, guint ranks, GError **error)
{
  const guint blocks = BLOCKS_OF_A_DEVICE / (2 * (ranks - 1));
  NcclId id;
  if (!find_id(&id, *told, error))
    return FALSE;
  bond->own = nccl_pair_new(&id, role_of(bond), CLAMP(blocks, 1, MOST_BLOCKS), error);
  if (bond->own && !*told)
    *told = g_bytes_new(&id, sizeof id);
  return bond->own != NULL;
}

static void close_pair(Bond *bond)
{
  nccl_pair_abort(g_steal_pointer(&bond->own));
}

static GBytes *tell_room(Bond *bond, BondBlock *block, GError **error)
{
  return g_bytes_new(NULL, 0);
}

/* NCCL only notes it. */
static gboolean begin(Bond *bond, BondBlock *block, GError **error)
{
  g_bytes_unref(g_queue_pop_head(&bond->heard));
  if (bond->role == BOND_SENDER)
    bond_say(bond, PARCEL_GO, NULL);
  bond_enter(block, BOND_QUEUES);
  return nccl_move(bond->own, role_of(bond), block->face, gst_buffer_get_size(block->buffer),
                   bond->moves, error);
}

static gboolean can_begin(Bond *bond, const GList *at)
{
  return at && !g_queue_is_empty(&bond->heard) &&
         ((const BondBlock *)at->data)->stretch == BOND_WAITS;
}

/* All that can move, from that block on, which is the next. */
static gboolean begin_from(Bond *bond, GList *at, GError **error)
{
  if (!nccl_begin_moves(error))
    return FALSE;
  gboolean ok = TRUE;
  for (; ok && can_begin(bond, at); at = at->next)
    ok = begin(bond, at->data, error);
  return nccl_end_moves(ok ? error : NULL) && ok;
}

static gboolean advance(Bond *bond, gboolean may_begin, GError **error)
{
  const NcclState state = nccl_state(bond->own, error);
  gboolean ok = state != NCCL_FAILED;
  GList *at = bond->blocks.head;
  for (; at && ok && ((BondBlock *)at->data)->stretch >= BOND_QUEUES; at = at->next)
    if (((BondBlock *)at->data)->stretch == BOND_QUEUES && state == NCCL_READY)
      ok = bond_moves(bond, at->data, error);
  if (ok && may_begin && state == NCCL_READY && can_begin(bond, at))
    ok = begin_from(bond, at, error);
  return ok;
}

const BondMover bond_by_nccl = { open_pair, close_pair, tell_room, advance, NULL };
