/* Moves blocks to another rank, or from it, by NCCL. */
#include "config.h"
#include "elements/mpi/bond.h"

#include <string.h>

#include "core/backend/backend.h"
#include "core/kit/fail.h"
#include "core/memory/memory.h"
#include "elements/mpi/transport.h"

/* Thread blocks of NCCL's kernels on a device, for all bonds of a rank together: all of them have
 * to find room at once, beside the work of stages, on GPUs of about a hundred multiprocessors. */
#define BLOCKS_OF_A_DEVICE 64
#define MOST_BLOCKS 32

/* Both ends are there when a block is begun: one that takes longer will never end. */
#define MOST_S 60

typedef struct {
  GstBuffer *buffer;
  gpointer face, owner;
  BondStretch stretch;
  AstroEvent *event; /* the end of what it waits for; NULL: nothing */
  gint64 since;      /* of the stretch */
  guint64 us[BOND_STRETCHES];
} Block;

struct _Bond {
  AstroDevice *device;
  AstroQueue *before, *moves; /* work that comes before; NCCL's */
  NcclPair *pair;
  int role;
  guint rank;  /* the other one */
  guint heard; /* how often the other end was ready for a block that is not begun */
  GQueue blocks;
};

/* ---- beginning and end ---- */

static Bond *bond_new(AstroDevice *device, int role, guint rank)
{
  Bond *bond = g_new0(Bond, 1);
  bond->device = astro_device_ref(device);
  bond->role = role;
  bond->rank = rank;
  return bond;
}

/* Making a queue makes its device the current one, too. */
static Bond *connect(Bond *bond, const NcclId *id, guint ranks, GError **error)
{
  const AstroDeviceFuncs *funcs = bond->device->funcs;
  const guint blocks = BLOCKS_OF_A_DEVICE / (2 * (ranks - 1));
  if ((bond->before = funcs->queue_new(bond->device, error)) &&
      (bond->moves = funcs->queue_new(bond->device, error)) &&
      (bond->pair = nccl_pair_new(id, bond->role, CLAMP(blocks, 1, MOST_BLOCKS), error)))
    return bond;
  bond_free(bond); /* it has no blocks */
  return NULL;
}

Bond *bond_new_out(AstroDevice *device, guint rank, guint ranks, GBytes **id, GError **error)
{
  NcclId new_id;
  Bond *bond = nccl_new_id(&new_id, error)
                   ? connect(bond_new(device, NCCL_SENDER, rank), &new_id, ranks, error)
                   : NULL;
  if (bond)
    *id = g_bytes_new(&new_id, sizeof new_id);
  return bond;
}

Bond *bond_new_in(AstroDevice *device, guint rank, guint ranks, GBytes *id, GError **error)
{
  gsize bytes;
  const NcclId *told = g_bytes_get_data(id, &bytes);
  if (bytes == sizeof *told)
    return connect(bond_new(device, NCCL_RECEIVER, rank), told, ranks, error);
  astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE,
             "the id of a pair has %" G_GSIZE_FORMAT " bytes, expected %d", bytes, NCCL_ID_BYTES);
  return NULL;
}

static GstMapFlags use_of(const Bond *bond)
{
  return bond->role == NCCL_SENDER ? GST_MAP_READ : GST_MAP_WRITE;
}

static void block_free(Bond *bond, Block *block)
{
  if (block->event)
    bond->device->funcs->event_free(bond->device, block->event);
  gst_clear_buffer(&block->buffer);
  g_free(block);
}

void bond_abort(Bond *bond)
{
  if (bond->pair)
    nccl_pair_abort(g_steal_pointer(&bond->pair));
}

GSList *bond_free(Bond *bond)
{
  GSList *owners = NULL;
  Block *block;
  bond_abort(bond);
  while ((block = g_queue_pop_head(&bond->blocks))) {
    if (block->stretch < BOND_MOVES)
      astro_buffer_release(block->buffer, bond->before, use_of(bond), FALSE, NULL);
    owners = g_slist_append(owners, block->owner);
    block_free(bond, block);
  }
  if (bond->before)
    bond->device->funcs->queue_free(bond->device, bond->before);
  if (bond->moves)
    bond->device->funcs->queue_free(bond->device, bond->moves);
  astro_device_unref(bond->device);
  g_free(bond);
  return owners;
}

/* ---- blocks ---- */

static gboolean mark(Bond *bond, Block *block, AstroQueue *queue, GError **error)
{
  block->event = bond->device->funcs->event_record(bond->device, queue, error);
  return block->event != NULL;
}

gboolean bond_add(Bond *bond, GstBuffer *buffer, gpointer owner, GError **error)
{
  Block *block = g_new0(Block, 1);
  block->buffer = buffer;
  block->owner = owner;
  block->since = g_get_monotonic_time();
  const gboolean is_ours = astro_buffer_acquire(&block->buffer, bond->device, bond->before,
                                                use_of(bond), &block->face, error);
  if (is_ours && mark(bond, block, bond->before, error)) {
    g_queue_push_tail(&bond->blocks, block);
    return TRUE;
  }
  if (is_ours)
    astro_buffer_release(block->buffer, bond->before, use_of(bond), FALSE, NULL);
  block_free(bond, block);
  return FALSE;
}

void bond_hear(Bond *bond)
{
  bond->heard++;
}

gboolean bond_is_busy(Bond *bond)
{
  return !g_queue_is_empty(&bond->blocks);
}

/* They begin in order. */
gboolean bond_has_begun(Bond *bond)
{
  const Block *first = g_queue_peek_head(&bond->blocks);
  return first && first->stretch >= BOND_QUEUES;
}

static void say(const Bond *bond, ParcelKind what)
{
  transport_post(parcel_new(what, bond->rank, 0, NULL, NULL));
}

static gboolean has_happened(Bond *bond, Block *block)
{
  if (!bond->device->funcs->event_done(bond->device, block->event))
    return FALSE;
  bond->device->funcs->event_free(bond->device, g_steal_pointer(&block->event));
  return TRUE;
}

static void enter(Block *block, BondStretch stretch)
{
  const gint64 now = g_get_monotonic_time();
  block->us[block->stretch] = (guint64)(now - block->since);
  block->stretch = stretch;
  block->since = now;
}

/* NCCL only notes it. */
static gboolean begin(Bond *bond, Block *block, GError **error)
{
  bond->heard--;
  if (bond->role == NCCL_SENDER)
    say(bond, PARCEL_GO);
  enter(block, BOND_QUEUES);
  return nccl_move(bond->pair, bond->role, block->face, gst_buffer_get_size(block->buffer),
                   bond->moves, error);
}

/* All that can move, from that block on, which is the next. */
static gboolean begin_from(Bond *bond, GList *at, GError **error)
{
  if (!nccl_begin_moves(error))
    return FALSE;
  gboolean ok = TRUE;
  for (; at && ok && bond->heard > 0 && ((Block *)at->data)->stretch == BOND_WAITS; at = at->next)
    ok = begin(bond, at->data, error);
  return nccl_end_moves(ok ? error : NULL) && ok;
}

/* NCCL has queued it. */
static gboolean is_queued(Bond *bond, Block *block, GError **error)
{
  enter(block, BOND_MOVES);
  return astro_buffer_release(block->buffer, bond->moves, use_of(bond), FALSE, error) &&
         mark(bond, block, bond->moves, error);
}

static gboolean is_late(const Bond *bond, const Block *block, GError **error)
{
  if (g_get_monotonic_time() - block->since < (gint64)MOST_S * G_USEC_PER_SEC)
    return FALSE;
  astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE,
             "a block %s rank %u by NCCL has not ended within %d s",
             bond->role == NCCL_SENDER ? "to" : "from", bond->rank, MOST_S);
  return TRUE;
}

/* Blocks are got ready in order, and the other end is told. */
static void prepare(Bond *bond)
{
  for (GList *at = bond->blocks.head; at; at = at->next) {
    Block *block = at->data;
    if (block->stretch != BOND_PREPARES)
      continue;
    if (!has_happened(bond, block))
      return;
    enter(block, BOND_WAITS);
    if (bond->role == NCCL_RECEIVER)
      say(bond, PARCEL_READY);
  }
}

static gboolean advance(Bond *bond, gboolean may_begin, GError **error)
{
  const NcclState state = nccl_state(bond->pair, error);
  gboolean ok = state != NCCL_FAILED;
  GList *at = bond->blocks.head;
  for (; at && ok && ((Block *)at->data)->stretch >= BOND_QUEUES; at = at->next) {
    Block *block = at->data;
    if (block->stretch == BOND_QUEUES && state == NCCL_READY)
      ok = is_queued(bond, block, error);
    else
      ok = !is_late(bond, block, error);
  }
  if (ok && may_begin && state == NCCL_READY && at && bond->heard > 0 &&
      ((Block *)at->data)->stretch == BOND_WAITS)
    ok = begin_from(bond, at, error);
  return ok;
}

gboolean bond_step(Bond *bond, gboolean may_begin, BondMoved *moved, GError **error)
{
  moved->buffer = NULL;
  if (!bond_is_busy(bond))
    return TRUE;
  prepare(bond);
  if (!advance(bond, may_begin || bond->role == NCCL_RECEIVER, error))
    return FALSE;
  Block *first = g_queue_peek_head(&bond->blocks);
  if (first->stretch != BOND_MOVES || !has_happened(bond, first))
    return TRUE;
  enter(first, BOND_STRETCHES);
  moved->buffer = g_steal_pointer(&first->buffer);
  moved->owner = first->owner;
  memcpy(moved->us, first->us, sizeof moved->us);
  block_free(bond, g_queue_pop_head(&bond->blocks));
  return TRUE;
}
