/* Streams of items between ranks: their order, how many are on the way, and their ends. */
#include "config.h"
#include "elements/mpi/link.h"

#include <string.h>

#include "core/ranks/item.h"
#include "elements/base/astrolog.h"
#include "elements/mpi/bonds.h"
#include "elements/mpi/transport.h"

/* Items on their way to a rank that it has not taken yet: enough to keep a network busy, and to let
 * the sender get ahead a little. At least one is let through, whatever its size, and two from
 * device to device, so that one moves while the other is taken. */
#define MOST_ITEMS 8
#define MOST_BYTES ((guint64)256 << 20)

/* How long what was sent may take to leave at the end. */
#define PATIENCE_US (5 * G_USEC_PER_SEC)
#define PATIENCE_SPOILED_US (G_USEC_PER_SEC / 2)

/* An item that has come: from another rank as bytes, from this one as it is. */
typedef struct {
  Parcel *parcel;
  GstMiniObject *object;
} Arrived;

typedef struct {
  GCond changed;
  /* items to that rank */
  gboolean will_send, has_sent_end, is_flushing;
  GQueue sizes; /* bytes of those that it has not taken */
  guint64 bytes;
  /* items from it */
  gboolean will_take, has_come_to_end, has_taken_end;
  GQueue arrived;
  char *settings;  /* as the rank says; NULL: it has not said yet */
  WayFacts *facts; /* the same */
} Peer;

struct _AstroLink {
  guint64 key;
  char *settings;
  gboolean is_open, is_interrupted, is_closed;
  gboolean is_lost;      /* some rank is, and was told of; or this one has given up */
  gboolean has_given_up; /* and the others know */
  LinkLost lost;
  GObject *object;
  Peer *peers;
  Way way;           /* WAY_AUTO: it is to be found */
  Way wanted;        /* WAY_AUTO: any */
  gboolean has_told; /* the others its facts */
  LinkReads reads;
};

static struct {
  GMutex lock;
  AstroWorld world;
  GHashTable *links;  /* key -> AstroLink; those that are closed stay, without contents */
  GHashTable *opened; /* name -> how often */
  char **gone;        /* for each rank: why it takes part no more; NULL: it does */
  gboolean *ended;    /* it ended as it should */
  guint64 held_us;    /* that streams waited for other ranks to take items */
  struct {
    guint n;       /* by so many ranks without trouble */
    char *trouble; /* what it was on a rank; NULL: there is none */
    guint rank;    /* which */
  } tried[WAYS];
} all;

static void arrived_free(Arrived *arrived)
{
  g_clear_pointer(&arrived->parcel, parcel_free);
  g_clear_pointer(&arrived->object, gst_mini_object_unref);
  g_free(arrived);
}

/* ---- the table of links ---- */

static guint64 key_of(const char *name, guint time)
{
  g_autofree char *text = g_strdup_printf("%s\n%u", name, time);
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  guint8 digest[32];
  gsize bytes = sizeof digest;
  guint64 key;
  g_checksum_update(sum, (const guchar *)text, -1);
  g_checksum_get_digest(sum, digest, &bytes);
  memcpy(&key, digest, sizeof key);
  return key;
}

/* The link of that key: other ranks may send to it before it is opened here. */
static AstroLink *find(guint64 key)
{
  AstroLink *link = g_hash_table_lookup(all.links, &key);
  if (link)
    return link;
  link = g_new0(AstroLink, 1);
  link->key = key;
  link->way = WAY_MPI;
  link->peers = g_new0(Peer, all.world.ranks);
  for (guint rank = 0; rank < all.world.ranks; rank++)
    g_cond_init(&link->peers[rank].changed);
  g_hash_table_insert(all.links, &link->key, link);
  return link;
}

static void wake(AstroLink *link)
{
  for (guint rank = 0; rank < all.world.ranks; rank++)
    g_cond_broadcast(&link->peers[rank].changed);
}

/* ---- ranks that are lost ---- */

typedef struct {
  LinkLost lost;
  GObject *object;
  guint rank;
  char *why;
  gboolean is_told;
} Loss;

/* With the lock; NULL: there is nothing to tell. The caller gives the loss to tell_loss without it.
 */
static Loss *lose(AstroLink *link, guint rank, const char *why, gboolean is_told)
{
  if (link->is_lost || link->is_interrupted || !link->is_open)
    return NULL;
  link->is_lost = TRUE;
  wake(link);
  Loss *loss = g_new(Loss, 1);
  *loss = (Loss){ link->lost, g_object_ref(link->object), rank, g_strdup(why), is_told };
  return loss;
}

static void tell_loss(Loss *loss)
{
  if (!loss)
    return;
  loss->lost(loss->rank, loss->why, loss->is_told, loss->object);
  g_object_unref(loss->object);
  g_free(loss->why);
  g_free(loss);
}

static gboolean waits_for(const AstroLink *link, guint rank)
{
  const Peer *peer = &link->peers[rank];
  return (peer->will_take && !peer->has_come_to_end) ||
         (peer->will_send && (!peer->has_sent_end || peer->sizes.length > 0));
}

/* A rank that ended as it should is missed only by those that wait for it. */
static Loss *lose_gone(AstroLink *link, guint rank)
{
  if (!all.gone[rank] || (all.ended[rank] && !waits_for(link, rank)))
    return NULL;
  return lose(link, rank, all.gone[rank], !all.ended[rank]);
}

static Loss *compare_settings(AstroLink *link, guint rank)
{
  const char *theirs = link->peers[rank].settings;
  if (!link->is_open || !theirs || g_str_equal(theirs, link->settings))
    return NULL;
  g_autofree char *why = g_strdup_printf("has %s there, expected %s, as on this rank (%u)", theirs,
                                         link->settings, all.world.rank);
  return lose(link, rank, why, FALSE);
}

/* ---- the way of blocks ---- */

/* The better one first. */
static const Way ways_of_devices[] = { WAY_COPY, WAY_NCCL };

/* With the lock. What is wrong with that way on a rank; NULL: it works on all, or, *is_known FALSE,
 * that is not known yet. */
static char *find_trouble(const AstroLink *link, Way way, guint *rank, gboolean *is_known)
{
  g_autofree const WayFacts **facts = g_new0(const WayFacts *, all.world.ranks);
  *is_known = TRUE;
  for (guint i = 0; i < all.world.ranks; i++) {
    facts[i] = link->peers[i].facts;
    *is_known &= facts[i] != NULL;
  }
  char *trouble = way_find_trouble(way, facts, all.world.ranks, rank);
  if (trouble || !*is_known)
    return trouble;
  *rank = all.tried[way].rank;
  *is_known = all.tried[way].trouble || all.tried[way].n == all.world.ranks;
  if (!*is_known)
    bonds_try(way);
  return g_strdup(all.tried[way].trouble);
}

static void tell_way(AstroLink *link, Way way, guint rank, const char *trouble)
{
  g_autofree char *version =
      way == WAY_NCCL ? g_strdup_printf(" %u", link->peers[all.world.rank].facts->version)
                      : g_strdup("");
  link->way = way;
  wake(link);
  if (trouble)
    ASTRO_INFO(link->object, "blocks go by %s%s: rank %u %s", way_name(way), version, rank,
               trouble);
  else
    ASTRO_INFO(link->object, "blocks go by %s%s", way_name(way), version);
}

/* With the lock, when more is known: the loss is of a rank that cannot do what must be. */
static Loss *find_way(AstroLink *link)
{
  g_autofree char *trouble = NULL;
  guint rank = 0;
  if (!link->is_open || link->way != WAY_AUTO)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS(ways_of_devices); i++) {
    const Way way = ways_of_devices[i];
    gboolean is_known;
    guint other;
    if (link->wanted != WAY_AUTO && link->wanted != way)
      continue;
    g_autofree char *found = find_trouble(link, way, &other, &is_known);
    if (!found && !is_known)
      return NULL;
    if (!found) {
      tell_way(link, way, rank, trouble);
      return NULL;
    }
    g_free(trouble);
    trouble = g_steal_pointer(&found);
    rank = other;
  }
  tell_way(link, WAY_MPI, rank, trouble);
  return link->wanted == WAY_AUTO ? NULL : lose(link, rank, trouble, FALSE);
}

static void tell_facts(AstroLink *link, GstBuffer *first)
{
  WayFacts *facts = g_new(WayFacts, 1);
  way_find_facts(facts, first, link->reads && link->reads(link->object));
  for (guint rank = 0; rank < all.world.ranks; rank++)
    if (rank != all.world.rank)
      transport_post(
          parcel_new(PARCEL_FACTS, rank, link->key, g_bytes_new(facts, sizeof *facts), NULL));
  g_mutex_lock(&all.lock);
  link->peers[all.world.rank].facts = facts;
  Loss *loss = find_way(link);
  g_mutex_unlock(&all.lock);
  tell_loss(loss);
}

void link_try_devices(AstroLink *link, Way wanted, LinkReads reads)
{
  g_mutex_lock(&all.lock);
  link->way = WAY_AUTO;
  link->wanted = wanted;
  link->reads = reads;
  Loss *loss = find_way(link);
  g_mutex_unlock(&all.lock);
  tell_loss(loss);
}

Way link_way(AstroLink *link)
{
  g_mutex_lock(&all.lock);
  const Way way = link->way;
  g_mutex_unlock(&all.lock);
  return way;
}

/* ---- what arrives ---- */

static void arrive(Peer *peer, Parcel *parcel, GstMiniObject *object)
{
  Arrived *arrived = g_new(Arrived, 1);
  *arrived = (Arrived){ parcel, object };
  g_queue_push_tail(&peer->arrived, arrived);
  g_cond_broadcast(&peer->changed);
}

static void was_taken(Peer *peer)
{
  peer->bytes -= GPOINTER_TO_SIZE(g_queue_pop_head(&peer->sizes));
  g_cond_broadcast(&peer->changed);
}

/* A link that is closed has no use for more. */
static Loss *take_parcel(AstroLink *link, Parcel **parcel)
{
  const guint rank = (*parcel)->rank;
  Peer *peer = link->is_closed ? NULL : &link->peers[rank];
  if (!peer)
    return NULL;
  switch ((*parcel)->kind) {
  case PARCEL_HELLO:
    peer->settings =
        g_strndup(g_bytes_get_data((*parcel)->head, NULL), g_bytes_get_size((*parcel)->head));
    return compare_settings(link, rank);
  case PARCEL_LAST:
    peer->has_come_to_end = TRUE;
    arrive(peer, g_steal_pointer(parcel), NULL);
    return NULL;
  case PARCEL_FACTS:
    if (g_bytes_get_size((*parcel)->head) == sizeof *peer->facts && !peer->facts)
      peer->facts = g_memdup2(g_bytes_get_data((*parcel)->head, NULL), sizeof *peer->facts);
    return find_way(link);
  case PARCEL_ITEM:
    arrive(peer, g_steal_pointer(parcel), NULL);
    return NULL;
  default:
    was_taken(peer);
    return NULL;
  }
}

static GSList *take_leave(const Parcel *parcel)
{
  GSList *losses = NULL;
  GHashTableIter links;
  gpointer link;
  if (!all.gone[parcel->rank])
    all.gone[parcel->rank] =
        g_strndup(g_bytes_get_data(parcel->head, NULL), g_bytes_get_size(parcel->head));
  all.ended[parcel->rank] = parcel->key == 0;
  g_hash_table_iter_init(&links, all.links);
  while (g_hash_table_iter_next(&links, NULL, &link)) {
    Loss *loss = ((AstroLink *)link)->is_closed ? NULL : lose_gone(link, parcel->rank);
    if (loss)
      losses = g_slist_prepend(losses, loss);
  }
  return losses;
}

/* Links may wait for that. */
static GSList *take_trial(const Parcel *parcel)
{
  GSList *losses = NULL;
  GHashTableIter links;
  gpointer link;
  const gsize bytes = g_bytes_get_size(parcel->head);
  const Way way = (Way)parcel->key;
  all.tried[way].n += bytes == 0;
  if (bytes && !all.tried[way].trouble) {
    all.tried[way].trouble = g_strndup(g_bytes_get_data(parcel->head, NULL), bytes);
    all.tried[way].rank = parcel->rank;
  }
  g_hash_table_iter_init(&links, all.links);
  while (g_hash_table_iter_next(&links, NULL, &link))
    losses = g_slist_prepend(losses, find_way(link));
  return losses;
}

/* Called by the thread of MPI. */
static void take(Parcel *arrived)
{
  g_autoptr(Parcel) parcel = arrived;
  GSList *losses = NULL;
  g_mutex_lock(&all.lock);
  if (parcel->kind == PARCEL_LEFT)
    losses = take_leave(parcel);
  else if (parcel->kind == PARCEL_TRIED)
    losses = take_trial(parcel);
  else
    losses = g_slist_prepend(losses, take_parcel(find(parcel->key), &parcel));
  g_mutex_unlock(&all.lock);
  g_slist_free_full(losses, (GDestroyNotify)tell_loss);
}

/* ---- open and close ---- */

static void begin(const AstroWorld *world)
{
  g_mutex_lock(&all.lock);
  if (!all.links) {
    all.world = *world;
    all.links = g_hash_table_new(g_int64_hash, g_int64_equal);
    all.opened = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    all.gone = g_new0(char *, world->ranks);
    all.ended = g_new0(gboolean, world->ranks);
  }
  g_mutex_unlock(&all.lock);
}

static void send_to_others(ParcelKind kind, const AstroLink *link, const char *text)
{
  for (guint rank = 0; rank < all.world.ranks; rank++)
    if (rank != all.world.rank)
      transport_post(parcel_new(kind, rank, link->key, g_bytes_new(text, strlen(text)), NULL));
}

AstroLink *link_open(const AstroWorld *world, const char *job, const char *name,
                     const char *settings, LinkLost lost, GObject *object, GError **error)
{
  GSList *losses = NULL;
  begin(world);
  if (world->ranks > 1 && !transport_start(world, job, take, error))
    return NULL;
  g_mutex_lock(&all.lock);
  const guint time = GPOINTER_TO_UINT(g_hash_table_lookup(all.opened, name)) + 1;
  g_hash_table_insert(all.opened, g_strdup(name), GUINT_TO_POINTER(time));
  AstroLink *link = find(key_of(name, time));
  link->settings = g_strdup(settings);
  link->lost = lost;
  link->object = object;
  link->is_open = TRUE;
  for (guint rank = 0; rank < world->ranks; rank++)
    losses = g_slist_prepend(losses, compare_settings(link, rank));
  g_mutex_unlock(&all.lock);
  send_to_others(PARCEL_HELLO, link, settings);
  g_slist_free_full(losses, (GDestroyNotify)tell_loss);
  return link;
}

void link_interrupt(AstroLink *link)
{
  g_mutex_lock(&all.lock);
  link->is_interrupted = TRUE;
  wake(link);
  g_mutex_unlock(&all.lock);
}

void link_give_up(AstroLink *link)
{
  g_mutex_lock(&all.lock);
  const gboolean was_known = link->has_given_up || all.world.ranks == 1;
  link->has_given_up = link->is_lost = TRUE;
  wake(link);
  g_mutex_unlock(&all.lock);
  if (was_known)
    return;
  transport_spoil();
  send_to_others(PARCEL_LEFT, link, "has stopped before the end of its stream");
}

static gboolean is_over(const AstroLink *link)
{
  for (guint rank = 0; rank < all.world.ranks; rank++) {
    const Peer *peer = &link->peers[rank];
    if ((peer->will_take && !peer->has_taken_end) || (peer->will_send && !peer->has_sent_end))
      return FALSE;
  }
  return !link->is_lost;
}

static void clear(AstroLink *link)
{
  for (guint rank = 0; rank < all.world.ranks; rank++) {
    Peer *peer = &link->peers[rank];
    g_queue_clear_full(&peer->arrived, (GDestroyNotify)arrived_free);
    g_queue_clear(&peer->sizes);
    g_cond_clear(&peer->changed);
    g_free(peer->settings);
    g_free(peer->facts);
  }
  g_clear_pointer(&link->peers, g_free);
  g_clear_pointer(&link->settings, g_free);
  link->is_closed = TRUE;
}

/* How long blocks of the process took that way so far, which says what holds them up. */
static void tell_times(const AstroLink *link)
{
  static const char *const names[] = { "sent", "got" };
  BondsCounts counts[G_N_ELEMENTS(names)];
  if (link->way < WAY_FIRST_OF_DEVICES)
    return;
  bonds_count(link->way, counts);
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    const guint64 *us = counts[i].us, n = MAX(counts[i].blocks, 1);
    ASTRO_INFO(link->object,
               "%s by %s: %" G_GUINT64_FORMAT " blocks, each %" G_GUINT64_FORMAT
               " us until the device was done with it, %" G_GUINT64_FORMAT
               " us until both ends could begin, %" G_GUINT64_FORMAT
               " us until it was queued, %" G_GUINT64_FORMAT " us until it had moved",
               names[i], way_name(link->way), counts[i].blocks, us[BOND_PREPARES] / n,
               us[BOND_WAITS] / n, us[BOND_QUEUES] / n, us[BOND_MOVES] / n);
  }
}

void link_close(AstroLink *link)
{
  g_mutex_lock(&all.lock);
  const gboolean ends_early = all.world.ranks > 1 && !is_over(link);
  link->is_open = FALSE;
  g_mutex_unlock(&all.lock);
  if (ends_early)
    link_give_up(link);
  if (all.world.ranks > 1)
    transport_drain(ends_early ? PATIENCE_SPOILED_US : PATIENCE_US);
  tell_times(link);
  g_mutex_lock(&all.lock);
  clear(link);
  g_mutex_unlock(&all.lock);
}

static void will(AstroLink *link, guint rank, gboolean sends)
{
  Peer *peer = &link->peers[rank];
  g_mutex_lock(&all.lock);
  if (sends)
    peer->will_send = TRUE;
  else
    peer->will_take = TRUE;
  Loss *loss = lose_gone(link, rank);
  g_mutex_unlock(&all.lock);
  tell_loss(loss);
}

void link_will_send(AstroLink *link, guint to)
{
  will(link, to, TRUE);
}

void link_will_take(AstroLink *link, guint from)
{
  will(link, from, FALSE);
}

/* ---- items ---- */

static gsize bytes_of(GstMiniObject *item)
{
  return GST_IS_BUFFER(item) ? gst_buffer_get_size(GST_BUFFER_CAST(item)) : 0;
}

static LinkResult state_of(const AstroLink *link, const Peer *peer)
{
  if (link->is_interrupted || peer->is_flushing)
    return LINK_STOPPED;
  return link->is_lost ? LINK_FAILED : LINK_OK;
}

/* With the lock: waits until that rank has taken something, or the link changes. */
static void wait_for_taking(guint to, Peer *peer)
{
  const gint64 begun = g_get_monotonic_time();
  g_cond_wait(&peer->changed, &all.lock);
  if (to != all.world.rank)
    all.held_us += (guint64)(g_get_monotonic_time() - begun);
}

/* With the lock. */
static LinkResult wait_for_room(AstroLink *link, guint to, gsize bytes)
{
  Peer *peer = &link->peers[to];
  const guint least = link->way >= WAY_FIRST_OF_DEVICES ? 2 : 1;
  LinkResult state;
  while ((state = state_of(link, peer)) == LINK_OK && peer->sizes.length >= least &&
         (peer->sizes.length >= MOST_ITEMS || peer->bytes + bytes > MOST_BYTES))
    wait_for_taking(to, peer);
  return state;
}

/* Takes over the item. NULL with an error, or, without one, if it does not travel. */
static Parcel *pack(AstroLink *link, guint to, GstMiniObject *item, GError **error)
{
  GstBuffer *buffer = GST_IS_BUFFER(item) ? GST_BUFFER_CAST(item) : NULL;
  const gboolean is_last = !buffer && GST_EVENT_TYPE(item) == GST_EVENT_EOS;
  GBytes *head =
      buffer ? astro_item_of_buffer(buffer, error) : astro_item_of_event(GST_EVENT_CAST(item));
  if (!head || !buffer)
    g_clear_pointer(&item, gst_mini_object_unref);
  return head ? parcel_new(is_last ? PARCEL_LAST : PARCEL_ITEM, to, link->key, head,
                           GST_BUFFER_CAST(item))
              : NULL;
}

/* Takes over parcel and object, one of which is NULL. */
static LinkResult deliver(AstroLink *link, guint to, Parcel *parcel, GstMiniObject *object,
                          gsize bytes, gboolean is_last)
{
  Peer *peer = &link->peers[to];
  g_mutex_lock(&all.lock);
  const LinkResult state = wait_for_room(link, to, bytes);
  if (state == LINK_OK) {
    g_queue_push_tail(&peer->sizes, GSIZE_TO_POINTER(bytes));
    peer->bytes += bytes;
    peer->has_sent_end |= is_last;
    if (parcel)
      transport_post(g_steal_pointer(&parcel));
    else
      arrive(peer, NULL, g_steal_pointer(&object));
    if (to == all.world.rank)
      peer->has_come_to_end |= is_last;
  }
  g_mutex_unlock(&all.lock);
  g_clear_pointer(&parcel, parcel_free);
  g_clear_pointer(&object, gst_mini_object_unref);
  return state;
}

/* Waits until the way of blocks is known, or nothing can be sent. */
static LinkResult await_way(AstroLink *link, guint to, GstMiniObject *item)
{
  Peer *peer = &link->peers[to];
  LinkResult state;
  g_mutex_lock(&all.lock);
  const gboolean must_tell = link->way == WAY_AUTO && !link->has_told;
  link->has_told |= must_tell;
  g_mutex_unlock(&all.lock);
  if (must_tell)
    tell_facts(link, GST_IS_BUFFER(item) ? GST_BUFFER_CAST(item) : NULL);
  g_mutex_lock(&all.lock);
  while ((state = state_of(link, peer)) == LINK_OK && link->way == WAY_AUTO)
    wait_for_taking(to, peer);
  g_mutex_unlock(&all.lock);
  return state;
}

LinkResult link_send(AstroLink *link, guint to, GstMiniObject *item, GError **error)
{
  const gsize bytes = bytes_of(item);
  const gboolean is_last = GST_IS_EVENT(item) && GST_EVENT_TYPE(item) == GST_EVENT_EOS;
  const LinkResult state = bytes || is_last ? await_way(link, to, item) : LINK_OK;
  GError *trouble = NULL;
  if (state != LINK_OK) {
    gst_mini_object_unref(item);
    return state;
  }
  if (to == all.world.rank)
    return deliver(link, to, NULL, item, bytes, is_last);
  Way way = bytes ? link_way(link) : WAY_MPI;
  if (way != WAY_MPI && !way_is_on_device(GST_BUFFER_CAST(item)))
    way = WAY_MPI;
  Parcel *parcel = pack(link, to, item, &trouble);
  if (parcel)
    parcel->way = way;
  if (parcel)
    return deliver(link, to, parcel, NULL, bytes, is_last);
  g_propagate_error(error, trouble);
  return trouble ? LINK_FAILED : LINK_OK;
}

LinkResult link_settle(AstroLink *link, guint to)
{
  Peer *peer = &link->peers[to];
  LinkResult state;
  g_mutex_lock(&all.lock);
  while ((state = state_of(link, peer)) == LINK_OK && !g_queue_is_empty(&peer->sizes))
    wait_for_taking(to, peer);
  g_mutex_unlock(&all.lock);
  return state;
}

void link_set_flushing(AstroLink *link, guint to, gboolean flushing)
{
  g_mutex_lock(&all.lock);
  link->peers[to].is_flushing = flushing;
  wake(link);
  g_mutex_unlock(&all.lock);
}

static LinkResult open_parcel(Arrived *arrived, GstMiniObject **item, GError **error)
{
  if (arrived->parcel)
    *item = astro_item_read(arrived->parcel->head, g_steal_pointer(&arrived->parcel->body), error);
  else
    *item = g_steal_pointer(&arrived->object);
  arrived_free(arrived);
  return *item ? LINK_OK : LINK_FAILED;
}

LinkResult link_take(AstroLink *link, guint from, GstMiniObject **item, GError **error)
{
  Peer *peer = &link->peers[from];
  Arrived *arrived = NULL;
  g_mutex_lock(&all.lock);
  while (!link->is_interrupted && !link->is_lost && g_queue_is_empty(&peer->arrived))
    g_cond_wait(&peer->changed, &all.lock);
  const LinkResult state = link->is_interrupted ? LINK_STOPPED
                           : link->is_lost      ? LINK_FAILED
                                                : LINK_OK;
  if (state == LINK_OK)
    arrived = g_queue_pop_head(&peer->arrived);
  g_mutex_unlock(&all.lock);
  if (!arrived)
    return state;
  const LinkResult result = open_parcel(arrived, item, error);
  if (result == LINK_OK && GST_IS_EVENT(*item) && GST_EVENT_TYPE(*item) == GST_EVENT_EOS) {
    g_mutex_lock(&all.lock);
    peer->has_taken_end = TRUE;
    g_mutex_unlock(&all.lock);
  }
  return result;
}

void link_taken(AstroLink *link, guint from)
{
  if (from != all.world.rank) {
    transport_post(parcel_new(PARCEL_ACK, from, link->key, NULL, NULL));
    return;
  }
  g_mutex_lock(&all.lock);
  was_taken(&link->peers[from]);
  g_mutex_unlock(&all.lock);
}

void link_count(LinkCounts *counts)
{
  TransportCounts moved;
  transport_count(&moved);
  g_mutex_lock(&all.lock);
  *counts = (LinkCounts){ moved.bytes_sent,         moved.bytes_got, moved.bytes_by[WAY_COPY],
                          moved.bytes_by[WAY_NCCL], moved.moving_ns, all.held_us * 1000 };
  g_mutex_unlock(&all.lock);
}
