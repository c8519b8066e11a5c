/* Keeps the bonds of all ranks and ways, finds room for what comes, and tries ways. */
#include "config.h"
#include "elements/mpi/bonds.h"

#include <string.h>

#include "core/memory/faces.h"
#include "elements/mpi/room.h"
#include "elements/mpi/transport.h"
#include "elements/mpi/trial.h"

/* A body that is to come. */
typedef struct {
  gsize bytes;
  gpointer owner;
} Coming;

/* To another rank, and from it; NULL: nothing has gone so yet. */
typedef struct {
  Bond *out, *in;
  GQueue roomless; /* Coming, which wait for room */
} Pair;

/* Whether a way works: not asked yet, or each rank waits for a block of each other one. */
typedef enum { TRIAL_NOT_BEGUN, TRIAL_RUNS, TRIAL_OVER } Trial;

typedef struct {
  Pair *pairs; /* with each rank */
  Room *room;
  guint lacking;   /* the rank whose bodies lacked room last */
  gboolean is_cut; /* it is given up */
  Trial trial;
  gint64 trial_until;
  guint n_tried; /* ranks whose blocks have come */
} Lane;

static struct {
  AstroWorld world;
  const BondsCalls *calls;
  Lane lanes[WAYS];
  gboolean is_broken; /* all that the process exchanges */
  GMutex lock;
  AstroDevice *device; /* where bodies come to; NULL: it is not known yet */
  gboolean wants_trial[WAYS];
  BondsCounts counts[WAYS][2];
} b;

void bonds_start(const AstroWorld *world, const BondsCalls *calls)
{
  b.world = *world;
  b.calls = calls;
  for (Way way = WAY_FIRST_OF_DEVICES; way < WAYS; way++) {
    b.lanes[way].pairs = g_new0(Pair, world->ranks);
    b.lanes[way].room = room_new();
  }
}

static AstroDevice *find_device(void)
{
  g_mutex_lock(&b.lock);
  AstroDevice *device = b.device;
  g_mutex_unlock(&b.lock);
  return device;
}

gboolean bonds_use_device(AstroDevice *device)
{
  g_mutex_lock(&b.lock);
  if (!b.device)
    b.device = astro_device_ref(device);
  const gboolean is_used = b.device == device;
  g_mutex_unlock(&b.lock);
  return is_used;
}

/* ---- ends ---- */

static void cut_bond(Bond **bond)
{
  if (!*bond)
    return;
  GSList *owners = bond_free(g_steal_pointer(bond));
  for (GSList *owner = owners; owner; owner = owner->next)
    b.calls->is_done(owner->data, NULL);
  g_slist_free(owners);
}

/* Nothing waits for that way any more: kernels of NCCL would wait for ever for a rank that has
 * stopped. */
static void cut(Way way)
{
  Lane *lane = &b.lanes[way];
  if (lane->is_cut)
    return;
  lane->is_cut = TRUE;
  if (way == WAY_NCCL)
    astro_pools_keep_few(FALSE);
  for (guint rank = 0; rank < b.world.ranks; rank++) {
    if (lane->pairs[rank].out)
      bond_abort(lane->pairs[rank].out);
    if (lane->pairs[rank].in)
      bond_abort(lane->pairs[rank].in);
  }
  for (guint rank = 0; rank < b.world.ranks; rank++) {
    Coming *coming;
    cut_bond(&lane->pairs[rank].out);
    cut_bond(&lane->pairs[rank].in);
    while ((coming = g_queue_pop_head(&lane->pairs[rank].roomless))) {
      b.calls->is_done(coming->owner, NULL);
      g_free(coming);
    }
  }
}

void bonds_break(void)
{
  b.is_broken = TRUE;
  for (Way way = WAY_FIRST_OF_DEVICES; way < WAYS; way++)
    cut(way);
}

gboolean bonds_are_broken(void)
{
  return b.is_broken;
}

/* All ranks, this one too, hear what came of the trial here; empty: no trouble. */
static void end_trial(Way way, const char *trouble)
{
  b.lanes[way].trial = TRIAL_OVER;
  if (*trouble)
    cut(way);
  for (guint rank = 0; rank < b.world.ranks; rank++) {
    Parcel *told = parcel_new(PARCEL_TRIED, rank, way, g_bytes_new(trouble, strlen(trouble)), NULL);
    if (rank == b.world.rank)
      b.calls->take(told);
    else
      transport_post(told);
  }
}

void bonds_leave_trial(Way way)
{
  b.lanes[way].trial = TRIAL_OVER;
  cut(way);
}

/* All links that wait for that rank have lost it, unless the way is only being tried. */
static void lose(Way way, guint rank, const GError *error)
{
  const gboolean is_tried = b.lanes[way].trial == TRIAL_OVER;
  g_autofree char *why =
      is_tried
          ? g_strdup_printf("is not reached by %s any more: %s", way_name(way), error->message)
          : g_strdup_printf("cannot use %s with rank %u: %s", way_name(way), rank, error->message);
  if (!is_tried) {
    end_trial(way, why);
    return;
  }
  b.calls->take(parcel_new(PARCEL_LEFT, rank, 0, g_bytes_new(why, strlen(why)), NULL));
  bonds_break();
}

/* ---- bodies ---- */

gboolean bonds_bind(Way way, guint rank)
{
  Lane *lane = &b.lanes[way];
  GBytes *id = NULL;
  g_autoptr(GError) error = NULL;
  if (lane->is_cut || lane->pairs[rank].out)
    return !lane->is_cut;
  lane->pairs[rank].out = bond_new_out(way, find_device(), rank, b.world.ranks, &id, &error);
  if (!lane->pairs[rank].out) {
    lose(way, rank, error);
    return FALSE;
  }
  b.calls->send_now(parcel_new(PARCEL_BOND, rank, way, id, NULL));
  return TRUE;
}

static void add(Way way, Bond *bond, guint rank, GstBuffer *body, gpointer owner)
{
  g_autoptr(GError) error = NULL;
  if (bond_add(bond, body, owner, &error))
    return;
  lose(way, rank, error);
  b.calls->is_done(owner, NULL);
}

void bonds_send(Way way, guint rank, GstBuffer *body, gpointer owner)
{
  add(way, b.lanes[way].pairs[rank].out, rank, body, owner);
}

gboolean bonds_receive(Way way, guint rank, gsize bytes, gpointer owner, gboolean *waits)
{
  *waits = !b.lanes[way].is_cut;
  if (!*waits)
    return TRUE;
  Pair *pair = &b.lanes[way].pairs[rank];
  if (!pair->in)
    return FALSE;
  Coming *coming = g_new(Coming, 1);
  *coming = (Coming){ bytes, owner };
  g_queue_push_tail(&pair->roomless, coming);
  return TRUE;
}

void bonds_hear(const Parcel *word)
{
  const Way way = (Way)word->key;
  Lane *lane = &b.lanes[way];
  Pair *pair = &lane->pairs[word->rank];
  g_autoptr(GError) error = NULL;
  Bond *bond = word->kind == PARCEL_READY ? pair->out : pair->in;
  if (word->kind != PARCEL_BOND && bond)
    bond_hear(bond, word->head);
  if (word->kind != PARCEL_BOND || lane->is_cut || bond)
    return;
  pair->in = bond_new_in(way, find_device(), word->rank, b.world.ranks, word->head, &error);
  if (!pair->in)
    lose(way, word->rank, error);
}

/* ---- room ---- */

gboolean bonds_may_allocate(void)
{
  const Lane *lane = &b.lanes[WAY_NCCL];
  gboolean any = FALSE;
  for (guint rank = 0; rank < b.world.ranks && !any; rank++)
    any = (lane->pairs[rank].out && bond_has_begun(lane->pairs[rank].out)) ||
          (lane->pairs[rank].in && bond_has_begun(lane->pairs[rank].in));
  return !any;
}

/* In the order in which the bodies come. */
static gboolean find_room(Way way, guint rank)
{
  Lane *lane = &b.lanes[way];
  const Coming *first = g_queue_peek_head(&lane->pairs[rank].roomless);
  g_autoptr(GError) error = NULL;
  GstBuffer *body =
      first ? room_take(lane->room, first->bytes, bonds_may_allocate(), &error) : NULL;
  if (error)
    lose(way, rank, error);
  if (!body)
    return FALSE;
  g_autofree Coming *coming = g_queue_pop_head(&lane->pairs[rank].roomless);
  add(way, lane->pairs[rank].in, rank, body, coming->owner);
  return !lane->is_cut;
}

/* Whether a body still waits: then nothing more is begun by any way, and no other gets room, until
 * there was a moment in which room could be made. */
static gboolean lack_room(Way way)
{
  Lane *lane = &b.lanes[way];
  for (guint i = 0; i < b.world.ranks && !lane->is_cut; i++) {
    const guint rank = (lane->lacking + i) % b.world.ranks;
    while (find_room(way, rank))
      continue;
    const Pair *pair = &lane->pairs[rank];
    if (pair->roomless.length > 0 || (pair->in && bond_lacks_room(pair->in))) {
      lane->lacking = rank;
      return TRUE;
    }
  }
  return FALSE;
}

/* ---- steps ---- */

static void count_moved(Way way, gboolean is_out, const BondMoved *moved)
{
  g_mutex_lock(&b.lock);
  BondsCounts *counts = &b.counts[way][is_out ? 0 : 1];
  counts->blocks++;
  for (guint i = 0; i < BOND_STRETCHES; i++)
    counts->us[i] += moved->us[i];
  g_mutex_unlock(&b.lock);
}

void bonds_count(Way way, BondsCounts counts[2])
{
  g_mutex_lock(&b.lock);
  memcpy(counts, b.counts[way], sizeof b.counts[way]);
  g_mutex_unlock(&b.lock);
}

static gboolean step(Way way, guint rank, Bond **bond, gboolean is_out, gboolean may_begin)
{
  BondMoved moved;
  g_autoptr(GError) error = NULL;
  gboolean any = FALSE;
  while (*bond) {
    if (!bond_step(*bond, may_begin, &moved, &error)) {
      lose(way, rank, error);
      return TRUE;
    }
    if (!moved.buffer)
      return any;
    count_moved(way, is_out, &moved);
    b.calls->is_done(moved.owner, moved.buffer);
    any = TRUE;
  }
  return any;
}

static gboolean step_lane(Way way, gboolean may_begin)
{
  gboolean any = FALSE;
  for (guint rank = 0; rank < b.world.ranks; rank++) {
    any |= step(way, rank, &b.lanes[way].pairs[rank].out, TRUE, may_begin);
    any |= step(way, rank, &b.lanes[way].pairs[rank].in, FALSE, may_begin);
  }
  return any;
}

gboolean bonds_are_busy(void)
{
  gboolean any = FALSE;
  for (Way way = WAY_FIRST_OF_DEVICES; way < WAYS; way++)
    for (guint rank = 0; rank < b.world.ranks && !any; rank++) {
      Pair *pair = &b.lanes[way].pairs[rank];
      any = (pair->out && bond_is_busy(pair->out)) || (pair->in && bond_is_busy(pair->in)) ||
            !g_queue_is_empty(&pair->roomless);
    }
  return any;
}

/* ---- whether a way works ---- */

void bonds_try(Way way)
{
  g_mutex_lock(&b.lock);
  b.wants_trial[way] = TRUE;
  g_mutex_unlock(&b.lock);
  transport_wake();
}

void bonds_take_trial(const Parcel *trial)
{
  Lane *lane = &b.lanes[trial->way];
  if (lane->trial == TRIAL_OVER)
    return;
  g_autofree char *trouble = trial_check(trial->way, trial->body, trial->rank);
  if (trouble)
    end_trial(trial->way, trouble);
  else
    lane->n_tried++;
}

/* A block for each other rank. */
static void begin_trial(Way way)
{
  Lane *lane = &b.lanes[way];
  g_autoptr(GError) error = NULL;
  lane->trial = TRIAL_RUNS;
  /* To allocate memory waits for NCCL's kernels, which wait for those of another rank. */
  if (way == WAY_NCCL)
    astro_pools_keep_few(TRUE);
  lane->trial_until = g_get_monotonic_time() + trial_seconds() * G_USEC_PER_SEC;
  for (guint rank = 0; rank < b.world.ranks && lane->trial == TRIAL_RUNS; rank++) {
    GstBuffer *block = rank == b.world.rank ? NULL : trial_new(lane->room, b.world.rank, &error);
    if (error)
      lose(way, rank, error);
    if (!block)
      continue;
    Parcel *parcel = parcel_new(PARCEL_TRIAL, rank, 0, NULL, block);
    parcel->way = way;
    transport_post(parcel);
  }
}

static gboolean wants_trial(Way way)
{
  g_mutex_lock(&b.lock);
  const gboolean wants = b.wants_trial[way];
  g_mutex_unlock(&b.lock);
  return wants;
}

/* Whether the blocks for all other ranks have left: nothing else goes that way meanwhile. */
static gboolean have_all_gone(const Lane *lane)
{
  gboolean all = TRUE;
  for (guint rank = 0; rank < b.world.ranks && all; rank++)
    all = rank == b.world.rank || (lane->pairs[rank].out && !bond_is_busy(lane->pairs[rank].out));
  return all;
}

static void watch_trial(Way way)
{
  Lane *lane = &b.lanes[way];
  if (lane->trial == TRIAL_NOT_BEGUN && wants_trial(way))
    begin_trial(way);
  if (lane->trial == TRIAL_RUNS && lane->n_tried == b.world.ranks - 1 && have_all_gone(lane))
    end_trial(way, "");
  if (lane->trial != TRIAL_RUNS || g_get_monotonic_time() < lane->trial_until)
    return;
  g_autofree char *late = trial_tell_late(way, lane->n_tried, b.world.ranks - 1);
  end_trial(way, late);
}

gboolean bonds_step(void)
{
  gboolean lacks = FALSE, any = FALSE;
  for (Way way = WAY_FIRST_OF_DEVICES; way < WAYS; way++) {
    watch_trial(way);
    lacks |= lack_room(way);
  }
  for (Way way = WAY_FIRST_OF_DEVICES; way < WAYS; way++)
    any |= step_lane(way, !lacks);
  return any;
}
