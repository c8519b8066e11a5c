/* Blocks by copies: the sender's device writes them where the receiver's device has room. Nothing
 * waits for the other rank on a device. */
#include "config.h"
#include <string.h>

#include "core/backend/backend.h"
#include "core/kit/fail.h"
#include "elements/mpi/mover.h"

/* The sender's table: AstroTicket of a face of the receiver -> where it reaches it. The receiver's:
 * a face of its own -> GBytes with its ticket. Faces are used again and again, and stay. */

static guint hash_ticket(gconstpointer ticket)
{
  guint32 words[sizeof(AstroTicket) / sizeof(guint32)], sum = 0;
  memcpy(words, ticket, sizeof words);
  for (guint i = 0; i < G_N_ELEMENTS(words); i++)
    sum = sum * 31 + words[i];
  return sum;
}

static gboolean same_tickets(gconstpointer a, gconstpointer b)
{
  return memcmp(a, b, sizeof(AstroTicket)) == 0;
}

static gboolean open_faces(Bond *bond, GBytes **id, guint ranks, GError **error)
{
  if (bond->role == BOND_SENDER) {
    bond->own = g_hash_table_new_full(hash_ticket, same_tickets, g_free, NULL);
    *id = g_bytes_new(NULL, 0);
  } else {
    bond->own = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_bytes_unref);
  }
  return TRUE;
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

static void close_faces(Bond *bond)
{
  GHashTable *faces = g_steal_pointer(&bond->own);
  GHashTableIter iter;
  gpointer face;
  g_hash_table_iter_init(&iter, faces);
  if (bond->role == BOND_SENDER && settle(bond))
    while (g_hash_table_iter_next(&iter, NULL, &face))
      bond->device->funcs->close_shared(bond->device, face);
  g_hash_table_unref(faces);
}

static GBytes *tell_room(Bond *bond, BondBlock *block, GError **error)
{
  AstroTicket ticket;
  GBytes *told = g_hash_table_lookup(bond->own, block->face);
  if (!told && bond->device->funcs->share(bond->device, block->face, &ticket, error)) {
    told = g_bytes_new(&ticket, sizeof ticket);
    g_hash_table_insert(bond->own, block->face, told);
  }
  return told ? g_bytes_ref(told) : NULL;
}

static gpointer find_room(Bond *bond, GBytes *said, GError **error)
{
  gsize bytes;
  const AstroTicket *ticket = g_bytes_get_data(said, &bytes);
  if (bytes != sizeof *ticket) {
    astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE,
               "a place has %" G_GSIZE_FORMAT " bytes, expected %" G_GSIZE_FORMAT, bytes,
               sizeof *ticket);
    return NULL;
  }
  gpointer face = g_hash_table_lookup(bond->own, ticket);
  if (!face && (face = bond->device->funcs->open_shared(bond->device, ticket, error)))
    g_hash_table_insert(bond->own, g_memdup2(ticket, sizeof *ticket), face);
  return face;
}

/* A receiver hears that the block is there. */
static gboolean begin(Bond *bond, BondBlock *block, GBytes *said, GError **error)
{
  const AstroDeviceFuncs *funcs = bond->device->funcs;
  bond_enter(block, BOND_QUEUES);
  if (bond->role == BOND_SENDER) {
    gpointer room = find_room(bond, said, error);
    if (!room || !funcs->queue_copy_out(bond->device, bond->moves, room, block->face,
                                        gst_buffer_get_size(block->buffer), error))
      return FALSE;
  }
  return bond_moves(bond, block, error);
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

static void has_gone(Bond *bond)
{
  bond_say(bond, PARCEL_GO, NULL);
}

const BondMover bond_by_copy = { open_faces, close_faces, tell_room, advance, has_gone };
