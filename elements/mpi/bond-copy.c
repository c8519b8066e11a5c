/* Blocks by copies: the sender's device writes them into memory of the receiver's device that other
 * processes reach, from where the receiver takes them. Nothing waits for the other rank on a
 * device. */
#include "config.h"
#include "core/backend/backend.h"
#include "core/kit/fail.h"
#include "elements/mpi/bonds.h"
#include "elements/mpi/mover.h"
#include "elements/mpi/room.h"

/* ---- the receiver: landings ---- */

/* Others write here, so that it belongs to no block, and stays to the end of the process. */
typedef struct {
  gpointer face;
  gsize bytes;
  GBytes *ticket;
  gboolean is_used; /* a block is to come, or still here */
} Landing;

/* Bonds that have ended leave theirs here: some rank may still write there. */
static GPtrArray *left;

/* The least one that is free; NULL: none is. */
static Landing *find_landing(const GPtrArray *landings, gsize bytes)
{
  Landing *best = NULL;
  for (guint i = 0; i < landings->len; i++) {
    Landing *landing = landings->pdata[i];
    if (!landing->is_used && landing->bytes >= bytes && (!best || landing->bytes < best->bytes))
      best = landing;
  }
  return best;
}

static Landing *make_landing(Bond *bond, gsize bytes, GError **error)
{
  const AstroDeviceFuncs *funcs = bond->device->funcs;
  AstroTicket ticket;
  gpointer face;
  if (!funcs->alloc(bond->device, bytes, &face, error))
    return NULL;
  if (!funcs->share(bond->device, face, &ticket, error)) {
    funcs->free(bond->device, face);
    return NULL;
  }
  Landing *landing = g_new0(Landing, 1);
  *landing = (Landing){ face, bytes, g_bytes_new(&ticket, sizeof ticket), FALSE };
  g_ptr_array_add(bond->own, landing);
  return landing;
}

static GBytes *tell_room(Bond *bond, BondBlock *block, GError **error)
{
  const gsize bytes = gst_buffer_get_size(block->buffer);
  Landing *landing = find_landing(bond->own, bytes);
  if (!landing && bonds_may_allocate())
    landing = make_landing(bond, room_round_up(bytes, ASTRO_SHARED_UNIT), error);
  if (!landing)
    return NULL;
  landing->is_used = TRUE;
  block->own = landing;
  return g_bytes_ref(landing->ticket);
}

static gboolean take_from_landing(Bond *bond, BondBlock *block, GError **error)
{
  const gsize bytes = gst_buffer_get_size(block->buffer);
  return bond->device->funcs->queue_copy_rows(bond->device, bond->moves, block->face, bytes,
                                              ((const Landing *)block->own)->face, bytes, bytes, 1,
                                              error);
}

/* ---- the sender: ticket of a landing -> where it reaches it ---- */

/* It stays open until the bond ends. */
static gpointer reach_landing(Bond *bond, GBytes *said, GError **error)
{
  gsize bytes;
  const AstroTicket *ticket = g_bytes_get_data(said, &bytes);
  if (bytes != sizeof *ticket) {
    astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE,
               "a place has %" G_GSIZE_FORMAT " bytes, expected %" G_GSIZE_FORMAT, bytes,
               sizeof *ticket);
    return NULL;
  }
  gpointer face = g_hash_table_lookup(bond->own, said);
  if (!face && (face = bond->device->funcs->open_shared(bond->device, ticket, error)))
    g_hash_table_insert(bond->own, g_bytes_ref(said), face);
  return face;
}

static gboolean send_to_landing(Bond *bond, BondBlock *block, GBytes *said, GError **error)
{
  gpointer landing = reach_landing(bond, said, error);
  return landing &&
         bond->device->funcs->queue_copy_out(bond->device, bond->moves, landing, block->face,
                                             gst_buffer_get_size(block->buffer), error);
}

/* Copies that were begun come to their end by themselves; of a device that has failed nothing is
 * closed. */
static gboolean settle(Bond *bond)
{
  const AstroDeviceFuncs *funcs = bond->device->funcs;
  AstroEvent *last = funcs->event_record(bond->device, bond->moves, NULL);
  const gboolean is_settled = last && funcs->event_wait(bond->device, last, NULL);
  if (last)
    funcs->event_free(bond->device, last);
  return is_settled;
}

static void close_landings(Bond *bond, GHashTable *landings)
{
  GHashTableIter iter;
  gpointer face;
  g_hash_table_iter_init(&iter, landings);
  if (settle(bond))
    while (g_hash_table_iter_next(&iter, NULL, &face))
      bond->device->funcs->close_shared(bond->device, face);
  g_hash_table_unref(landings);
}

/* ---- both ---- */

static gboolean open_landings(Bond *bond, GBytes **id, guint ranks, GError **error)
{
  if (bond->role == BOND_SENDER) {
    bond->own =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    *id = g_bytes_new(NULL, 0);
  } else {
    bond->own = g_ptr_array_new();
  }
  return TRUE;
}

static void end(Bond *bond)
{
  gpointer own = g_steal_pointer(&bond->own);
  if (bond->role == BOND_SENDER) {
    close_landings(bond, own);
    return;
  }
  if (!left)
    left = g_ptr_array_new();
  g_ptr_array_extend_and_steal(left, own);
}

/* The receiver hears that the block has landed. */
static gboolean begin(Bond *bond, BondBlock *block, GBytes *said, GError **error)
{
  bond_enter(block, BOND_QUEUES);
  return (bond->role == BOND_SENDER ? send_to_landing(bond, block, said, error)
                                    : take_from_landing(bond, block, error)) &&
         bond_moves(bond, block, error);
}

static gboolean advance(Bond *bond, gboolean may_begin, GError **error)
{
  GList *at = bond->blocks.head;
  while (at && ((BondBlock *)at->data)->stretch >= BOND_MOVES)
    at = at->next;
  for (; at && may_begin && !g_queue_is_empty(&bond->heard); at = at->next) {
    BondBlock *block = at->data;
    if (block->stretch != BOND_WAITS)
      break;
    g_autoptr(GBytes) said = g_queue_pop_head(&bond->heard);
    if (!begin(bond, block, said, error))
      return FALSE;
  }
  return TRUE;
}

static void has_moved(Bond *bond, BondBlock *block)
{
  if (bond->role == BOND_SENDER)
    bond_say(bond, PARCEL_GO, NULL);
  else
    ((Landing *)block->own)->is_used = FALSE;
}

const BondMover bond_by_copy = { open_landings, end, tell_room, advance, has_moved };
