/* Moves blocks to another rank, or from it. */
#include "config.h"
#include "elements/mpi/bond.h"

#include <string.h>

#include "core/backend/backend.h"
#include "core/kit/fail.h"
#include "core/memory/memory.h"
#include "elements/mpi/mover.h"
#include "elements/mpi/transport.h"

/* Both ends are there when a block is begun: one that takes longer will never end. */
#define MOST_S 60

static const BondMover *const movers[] = { [WAY_NCCL] = &bond_by_nccl, [WAY_COPY] = &bond_by_copy };

/* ---- beginning and end ---- */

/* Making a queue makes its device the current one, too. */
static Bond *bond_new(Way way, AstroDevice *device, BondRole role, guint rank, guint ranks,
                      GBytes **id, GError **error)
{
  Bond *bond = g_new0(Bond, 1);
  bond->way = way;
  bond->mover = movers[way];
  bond->device = astro_device_ref(device);
  bond->role = role;
  bond->rank = rank;
  if ((bond->before = device->funcs->queue_new(device, error)) &&
      (bond->moves = device->funcs->queue_new(device, error)) &&
      bond->mover->open(bond, id, ranks, error))
    return bond;
  bond_free(bond); /* it has no blocks */
  return NULL;
}

Bond *bond_new_out(Way way, AstroDevice *device, guint rank, guint ranks, GBytes **id,
                   GError **error)
{
  *id = NULL;
  return bond_new(way, device, BOND_SENDER, rank, ranks, id, error);
}

Bond *bond_new_in(Way way, AstroDevice *device, guint rank, guint ranks, GBytes *id, GError **error)
{
  return bond_new(way, device, BOND_RECEIVER, rank, ranks, &id, error);
}

static GstMapFlags use_of(const Bond *bond)
{
  return bond->role == BOND_SENDER ? GST_MAP_READ : GST_MAP_WRITE;
}

static void block_free(Bond *bond, BondBlock *block)
{
  if (block->event)
    bond->device->funcs->event_free(bond->device, block->event);
  gst_clear_buffer(&block->buffer);
  g_free(block);
}

void bond_abort(Bond *bond)
{
  if (bond->own)
    bond->mover->close(bond);
}

GSList *bond_free(Bond *bond)
{
  GSList *owners = NULL;
  BondBlock *block;
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
  g_queue_clear_full(&bond->heard, (GDestroyNotify)g_bytes_unref);
  astro_device_unref(bond->device);
  g_free(bond);
  return owners;
}

/* ---- blocks ---- */

static gboolean mark(Bond *bond, BondBlock *block, AstroQueue *queue, GError **error)
{
  block->event = bond->device->funcs->event_record(bond->device, queue, error);
  return block->event != NULL;
}

gboolean bond_add(Bond *bond, GstBuffer *buffer, gpointer owner, GError **error)
{
  BondBlock *block = g_new0(BondBlock, 1);
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

void bond_hear(Bond *bond, GBytes *said)
{
  g_queue_push_tail(&bond->heard, g_bytes_ref(said));
}

gboolean bond_is_busy(Bond *bond)
{
  return !g_queue_is_empty(&bond->blocks);
}

gboolean bond_lacks_room(Bond *bond)
{
  return bond->lacks_room;
}

/* They begin in order. */
gboolean bond_has_begun(Bond *bond)
{
  const BondBlock *first = g_queue_peek_head(&bond->blocks);
  return first && first->stretch >= BOND_QUEUES;
}

void bond_say(const Bond *bond, ParcelKind what, GBytes *bytes)
{
  transport_post(parcel_new(what, bond->rank, bond->way, bytes, NULL));
}

void bond_enter(BondBlock *block, BondStretch stretch)
{
  const gint64 now = g_get_monotonic_time();
  block->us[block->stretch] = (guint64)(now - block->since);
  block->stretch = stretch;
  block->since = now;
}

gboolean bond_moves(Bond *bond, BondBlock *block, GError **error)
{
  bond_enter(block, BOND_MOVES);
  return astro_buffer_release(block->buffer, bond->moves, use_of(bond), FALSE, error) &&
         mark(bond, block, bond->moves, error);
}

static gboolean has_happened(Bond *bond, BondBlock *block)
{
  if (!block->event)
    return TRUE;
  if (!bond->device->funcs->event_done(bond->device, block->event))
    return FALSE;
  bond->device->funcs->event_free(bond->device, g_steal_pointer(&block->event));
  return TRUE;
}

static gboolean is_late(const Bond *bond, const BondBlock *block, GError **error)
{
  if (block->stretch < BOND_QUEUES ||
      g_get_monotonic_time() - block->since < (gint64)MOST_S * G_USEC_PER_SEC)
    return FALSE;
  astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE,
             "a block %s rank %u by %s has not ended within %d s",
             bond->role == BOND_SENDER ? "to" : "from", bond->rank, way_name(bond->way), MOST_S);
  return TRUE;
}

/* Whether there is room for the block, and the sender was told; else, without an error, there may
 * be later. */
static gboolean make_room(Bond *bond, BondBlock *block, GError **error)
{
  if (bond->role == BOND_SENDER)
    return TRUE;
  GBytes *room = bond->mover->tell_room(bond, block, error);
  bond->lacks_room = room == NULL;
  if (room)
    bond_say(bond, PARCEL_READY, room);
  return room != NULL;
}

/* Blocks are got ready in order. */
static gboolean prepare(Bond *bond, GError **error)
{
  GError *trouble = NULL;
  for (GList *at = bond->blocks.head; at; at = at->next) {
    BondBlock *block = at->data;
    if (block->stretch != BOND_PREPARES)
      continue;
    if (!has_happened(bond, block) || !make_room(bond, block, &trouble))
      break;
    bond_enter(block, BOND_WAITS);
  }
  if (trouble)
    g_propagate_error(error, trouble);
  return !trouble;
}

gboolean bond_step(Bond *bond, gboolean may_begin, BondMoved *moved, GError **error)
{
  moved->buffer = NULL;
  if (!bond_is_busy(bond))
    return TRUE;
  if (!prepare(bond, error) ||
      !bond->mover->advance(bond, may_begin || bond->role == BOND_RECEIVER, error))
    return FALSE;
  BondBlock *first = g_queue_peek_head(&bond->blocks);
  if (first->stretch != BOND_MOVES || !has_happened(bond, first))
    return !is_late(bond, first, error);
  bond_enter(first, BOND_STRETCHES);
  moved->buffer = g_steal_pointer(&first->buffer);
  moved->owner = first->owner;
  memcpy(moved->us, first->us, sizeof moved->us);
  if (bond->mover->has_moved)
    bond->mover->has_moved(bond, first);
  block_free(bond, g_queue_pop_head(&bond->blocks));
  return TRUE;
}
