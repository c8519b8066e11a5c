/* Sends and receives parcels by MPI.
 *
 * A parcel is a message with a Label and its head, followed by messages with its body, if it has
 * one. Who gets the first finds the room for the others and asks MPI for them, so that large bodies
 * are written where they stay. Bodies by NCCL go beside MPI, in the order of their labels. */
#include "config.h"
#include "elements/mpi/transport.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend/backend.h"
#include "core/kit/fail.h"
#include "core/memory/faces.h"
#include "core/memory/memory.h"
#include "core/stream/stream.h"
#include "elements/mpi/bond.h"
#include "elements/mpi/room.h"
#include "elements/mpi/trial.h"

#define MAGIC 0x6173746fu
#define MOST_PIECE ((gsize)1 << 30) /* MPI counts with int */
#define MOST_REQUESTS 64            /* looked at in one call */
#define LEFT_IN_TROUBLE 1           /* a key of no link: the rank has told what is wrong */

/* The thread looks for news this often: at once while bytes are on the way, then more and more
 * seldom, since MPI has nothing to sleep on. */
#define BUSY_ROUNDS 200
#define LEAST_SLEEP_US 50
#define MOST_SLEEP_US 1000

/* MPI starts when it has on all ranks: a large job may take a while. */
#define START_S 120

enum { TAG_FIRST = 1, TAG_BODY = 2 };

typedef struct {
  guint32 magic, kind;
  guint64 key, head_bytes, body_bytes, by_nccl;
} Label;

/* A parcel on its way out or in. */
typedef struct {
  Parcel *parcel;
  guint8 *first; /* label and head, on the way out */
  GstMapInfo map;
  gsize by_nccl; /* bytes of a body that goes so */
  gboolean is_mapped, is_out;
  guint n_open; /* requests that are not done, and such a body */
} Transit;

/* The ways to another rank by NCCL, and from it; NULL: nothing has gone so yet. */
typedef struct {
  Bond *out, *in;
  GQueue roomless; /* Transit of bodies that wait for room */
} Bonds;

/* Whether NCCL works: not asked yet, or each rank waits for a block of each other one. */
typedef enum { TRIAL_NOT_BEGUN, TRIAL_RUNS, TRIAL_OVER } Trial;

static struct {
  GMutex lock;
  GCond posted, drained;
  gboolean is_started, is_known, is_one_host, spoiled, ends, wants_trial;
  char *trouble; /* why it did not start */
  AstroWorld world;
  char *job;
  TransportTake take;
  GThread *thread;
  GQueue outbox; /* of Parcel */
  guint n_out;   /* parcels posted that have not left */
  TransportCounts counts;
  AstroDevice *device; /* where bodies by NCCL come to; NULL: it is not known yet */

  /* the thread's own: */
  MPI_Comm comm;
  GArray *requests;    /* MPI_Request */
  GPtrArray *owners;   /* Transit of each */
  GQueue *arriving;    /* of Transit, for each rank, in the order in which they are given out */
  GstAllocator *room;  /* blocks of bodies are used again */
  gint64 moving_since; /* 0: nothing is on its way */
  Bonds *bonds;        /* to and from each rank */
  Room *device_room;
  guint lacking;      /* the rank whose bodies lacked room last */
  gboolean is_cut;    /* NCCL is given up */
  gboolean is_broken; /* and with it all that the process exchanges */
  Trial trial;
  gint64 trial_until;
  guint n_tried; /* ranks whose blocks have come */
} t;

/* ---- transits ---- */

static void transit_free(Transit *transit)
{
  if (transit->is_mapped)
    gst_buffer_unmap(transit->parcel->body, &transit->map);
  g_clear_pointer(&transit->parcel, parcel_free);
  g_free(transit->first);
  g_free(transit);
}

static void add_request(MPI_Request request, Transit *transit)
{
  g_array_append_val(t.requests, request);
  g_ptr_array_add(t.owners, transit);
  transit->n_open++;
}

typedef int (*Move)(void *data, int n, guint rank, MPI_Request *request);

static int move_out(void *data, int n, guint rank, MPI_Request *request)
{
  return MPI_Isend(data, n, MPI_BYTE, (int)rank, TAG_BODY, t.comm, request);
}

static int move_in(void *data, int n, guint rank, MPI_Request *request)
{
  return MPI_Irecv(data, n, MPI_BYTE, (int)rank, TAG_BODY, t.comm, request);
}

static void move_body(Transit *transit, Move move)
{
  for (gsize at = 0; at < transit->map.size; at += MOST_PIECE) {
    MPI_Request request;
    move(transit->map.data + at, (int)MIN(MOST_PIECE, transit->map.size - at),
         transit->parcel->rank, &request);
    add_request(request, transit);
  }
}

/* ---- by NCCL ---- */

/* MPI's own faults, such as a host that is gone, end the job: that is its default. These are ours.
 */
static void refuse(guint rank, const char *what)
{
  g_printerr("gst-astro: rank %u sent %s: is gst-astro the same on all hosts?\n", rank, what);
  MPI_Abort(t.comm, EXIT_FAILURE);
}

static void request_is_done(Transit *transit);

static void cut(Bond **bond)
{
  if (!*bond)
    return;
  GSList *owners = bond_free(g_steal_pointer(bond));
  for (GSList *owner = owners; owner; owner = owner->next)
    request_is_done(owner->data);
  g_slist_free(owners);
}

/* Nothing waits for NCCL any more: its kernels would wait for ever for a rank that has stopped. */
static void cut_bonds(void)
{
  if (t.is_cut)
    return;
  t.is_cut = TRUE;
  astro_pools_keep_few(FALSE);
  for (guint rank = 0; rank < t.world.ranks; rank++) {
    if (t.bonds[rank].out)
      bond_abort(t.bonds[rank].out);
    if (t.bonds[rank].in)
      bond_abort(t.bonds[rank].in);
  }
  for (guint rank = 0; rank < t.world.ranks; rank++) {
    Transit *transit;
    cut(&t.bonds[rank].out);
    cut(&t.bonds[rank].in);
    while ((transit = g_queue_pop_head(&t.bonds[rank].roomless)))
      request_is_done(transit);
  }
}

/* Bodies that were on their way are lost, and no order is left in what comes behind them. */
static void break_bonds(void)
{
  t.is_broken = TRUE;
  cut_bonds();
}

/* All ranks, this one too, hear what came of the trial here; empty: no trouble. */
static void end_trial(const char *trouble)
{
  t.trial = TRIAL_OVER;
  if (*trouble)
    cut_bonds();
  for (guint rank = 0; rank < t.world.ranks; rank++) {
    Parcel *told = parcel_new(PARCEL_TRIED, rank, 0, g_bytes_new(trouble, strlen(trouble)), NULL);
    if (rank == t.world.rank)
      t.take(told);
    else
      transport_post(told);
  }
}

/* NCCL does not work there, and goes no further here: nobody has come to depend on it. */
static void leave_trial(void)
{
  t.trial = TRIAL_OVER;
  cut_bonds();
}

/* All links that wait for that rank have lost it, unless NCCL is only being tried. */
static void lose_bonds(guint rank, const GError *error)
{
  const gboolean is_tried = t.trial == TRIAL_OVER;
  g_autofree char *why =
      is_tried ? g_strdup_printf("is not reached by NCCL any more: %s", error->message)
               : g_strdup_printf("cannot use NCCL with rank %u: %s", rank, error->message);
  if (!is_tried) {
    end_trial(why);
    return;
  }
  t.take(parcel_new(PARCEL_LEFT, rank, 0, g_bytes_new(why, strlen(why)), NULL));
  break_bonds();
}

static AstroDevice *find_device(void)
{
  g_mutex_lock(&t.lock);
  AstroDevice *device = t.device;
  g_mutex_unlock(&t.lock);
  return device;
}

static void send_parcel(Parcel *parcel);

/* The other rank has to know of the bond before the first label that is meant for it. Whether
 * bodies can go there. */
static gboolean bind_to(guint rank)
{
  GBytes *id = NULL;
  g_autoptr(GError) error = NULL;
  if (t.is_cut || t.bonds[rank].out)
    return !t.is_cut;
  t.bonds[rank].out = bond_new_out(find_device(), rank, t.world.ranks, &id, &error);
  if (!t.bonds[rank].out) {
    lose_bonds(rank, error);
    return FALSE;
  }
  g_mutex_lock(&t.lock);
  t.n_out++;
  g_mutex_unlock(&t.lock);
  send_parcel(parcel_new(PARCEL_BOND, rank, 0, id, NULL));
  return TRUE;
}

/* The body is one of the things that the transit waits for. */
static void add_to_bond(Bond *bond, GstBuffer *body, Transit *transit)
{
  const guint rank = transit->parcel->rank;
  g_autoptr(GError) error = NULL;
  if (bond_add(bond, body, transit, &error))
    return;
  lose_bonds(rank, error);
  request_is_done(transit);
}

/* Whether a kernel of NCCL may be waiting on the device. */
static gboolean has_begun(void)
{
  gboolean any = FALSE;
  for (guint rank = 0; rank < t.world.ranks && !any; rank++)
    any = (t.bonds[rank].out && bond_has_begun(t.bonds[rank].out)) ||
          (t.bonds[rank].in && bond_has_begun(t.bonds[rank].in));
  return any;
}

/* In the order in which the bodies come. */
static gboolean find_room(guint rank)
{
  Transit *transit = g_queue_peek_head(&t.bonds[rank].roomless);
  g_autoptr(GError) error = NULL;
  GstBuffer *body =
      transit ? room_take(t.device_room, transit->by_nccl, !has_begun(), &error) : NULL;
  if (error)
    lose_bonds(rank, error);
  if (!body)
    return FALSE;
  g_queue_pop_head(&t.bonds[rank].roomless);
  add_to_bond(t.bonds[rank].in, body, transit);
  return !t.is_cut;
}

/* Whether a body still waits: then nothing more is begun, and no other gets room, until there was a
 * moment in which room could be made. */
static gboolean lack_room(void)
{
  for (guint i = 0; i < t.world.ranks && !t.is_cut; i++) {
    const guint rank = (t.lacking + i) % t.world.ranks;
    while (find_room(rank))
      continue;
    if (!g_queue_is_empty(&t.bonds[rank].roomless)) {
      t.lacking = rank;
      return TRUE;
    }
  }
  return FALSE;
}

static void receive_by_nccl(Transit *transit, gsize bytes)
{
  Bonds *bonds = &t.bonds[transit->parcel->rank];
  if (!t.is_cut && !bonds->in)
    refuse(transit->parcel->rank, "a block by NCCL, and no word before it");
  if (t.is_cut)
    return;
  transit->by_nccl = bytes;
  transit->n_open++;
  g_queue_push_tail(&bonds->roomless, transit);
}

/* The two ends of a bond say when they are ready. */
static void take_word(const Parcel *word)
{
  Bonds *bonds = &t.bonds[word->rank];
  g_autoptr(GError) error = NULL;
  Bond *bond = word->kind == PARCEL_READY ? bonds->out : bonds->in;
  if (word->kind != PARCEL_BOND && bond)
    bond_hear(bond);
  if (word->kind != PARCEL_BOND || t.is_cut || bond)
    return;
  bonds->in = bond_new_in(find_device(), word->rank, t.world.ranks, word->head, &error);
  if (!bonds->in)
    lose_bonds(word->rank, error);
}

static void count_moved(const BondMoved *moved)
{
  const int role = ((const Transit *)moved->owner)->is_out ? NCCL_SENDER : NCCL_RECEIVER;
  g_mutex_lock(&t.lock);
  t.counts.nccl[role].blocks++;
  for (guint i = 0; i < BOND_STRETCHES; i++)
    t.counts.nccl[role].us[i] += moved->us[i];
  g_mutex_unlock(&t.lock);
}

static gboolean step(Bond **bond, guint rank, gboolean may_begin)
{
  BondMoved moved;
  g_autoptr(GError) error = NULL;
  gboolean any = FALSE;
  while (*bond) {
    if (!bond_step(*bond, may_begin, &moved, &error)) {
      lose_bonds(rank, error);
      return TRUE;
    }
    if (!moved.buffer)
      return any;
    count_moved(&moved);
    ((Transit *)moved.owner)->parcel->body = moved.buffer;
    request_is_done(moved.owner);
    any = TRUE;
  }
  return any;
}

static gboolean step_bonds(void)
{
  const gboolean may_begin = !lack_room();
  gboolean any = FALSE;
  for (guint rank = 0; rank < t.world.ranks; rank++) {
    any |= step(&t.bonds[rank].out, rank, may_begin);
    any |= step(&t.bonds[rank].in, rank, may_begin);
  }
  return any;
}

/* Whether anything is on its way. */
static gboolean is_busy(void)
{
  gboolean any = t.requests->len > 0;
  for (guint rank = 0; rank < t.world.ranks && !any; rank++)
    any = (t.bonds[rank].out && bond_is_busy(t.bonds[rank].out)) ||
          (t.bonds[rank].in && bond_is_busy(t.bonds[rank].in)) ||
          !g_queue_is_empty(&t.bonds[rank].roomless);
  return any;
}

/* ---- out ---- */

static void has_left(Transit *transit)
{
  const gsize bytes = transit->is_mapped ? transit->map.size : transit->by_nccl;
  const gsize by_nccl = transit->by_nccl;
  transit_free(transit);
  g_mutex_lock(&t.lock);
  t.counts.bytes_sent += bytes;
  t.counts.bytes_by_nccl += by_nccl;
  if (--t.n_out == 0)
    g_cond_broadcast(&t.drained);
  g_mutex_unlock(&t.lock);
}

/* Takes over the parcel. */
static void send_parcel(Parcel *parcel)
{
  Transit *transit = g_new0(Transit, 1);
  MPI_Request request;
  gsize head_bytes = 0;
  gconstpointer head = parcel->head ? g_bytes_get_data(parcel->head, &head_bytes) : NULL;
  const gboolean by_nccl = parcel->by_nccl && parcel->body;
  transit->parcel = parcel;
  transit->is_out = TRUE;
  if (by_nccl && !bind_to(parcel->rank)) {
    has_left(transit);
    return;
  }
  transit->by_nccl = by_nccl ? gst_buffer_get_size(parcel->body) : 0;
  transit->is_mapped =
      !by_nccl && parcel->body && gst_buffer_map(parcel->body, &transit->map, GST_MAP_READ);
  const Label label = { MAGIC,
                        parcel->kind,
                        parcel->key,
                        head_bytes,
                        transit->is_mapped ? transit->map.size : transit->by_nccl,
                        by_nccl };
  transit->first = g_malloc(sizeof label + head_bytes);
  memcpy(transit->first, &label, sizeof label);
  if (head_bytes)
    memcpy(transit->first + sizeof label, head, head_bytes);
  MPI_Isend(transit->first, (int)(sizeof label + head_bytes), MPI_BYTE, (int)parcel->rank,
            TAG_FIRST, t.comm, &request);
  add_request(request, transit);
  if (transit->is_mapped)
    move_body(transit, move_out);
  if (by_nccl) {
    transit->n_open++;
    add_to_bond(t.bonds[parcel->rank].out, g_steal_pointer(&parcel->body), transit);
  }
}

static gboolean send_posted(void)
{
  gboolean any = FALSE;
  for (;;) {
    g_mutex_lock(&t.lock);
    Parcel *parcel = g_queue_pop_head(&t.outbox);
    g_mutex_unlock(&t.lock);
    if (!parcel)
      return any;
    send_parcel(parcel);
    any = TRUE;
  }
}

/* ---- whether NCCL works ---- */

static void take_trial(const Parcel *trial)
{
  if (t.trial == TRIAL_OVER)
    return;
  g_autofree char *trouble = trial_check(trial->body, trial->rank);
  if (trouble)
    end_trial(trouble);
  else
    t.n_tried++;
}

/* A block for each other rank. */
static void begin_trial(void)
{
  g_autoptr(GError) error = NULL;
  t.trial = TRIAL_RUNS;
  /* To allocate memory waits for NCCL's kernels, which wait for those of another rank. */
  astro_pools_keep_few(TRUE);
  t.trial_until = g_get_monotonic_time() + trial_seconds() * G_USEC_PER_SEC;
  for (guint rank = 0; rank < t.world.ranks && t.trial == TRIAL_RUNS; rank++) {
    GstBuffer *block = rank == t.world.rank ? NULL : trial_new(t.device_room, t.world.rank, &error);
    if (error)
      lose_bonds(rank, error);
    if (!block)
      continue;
    Parcel *parcel = parcel_new(PARCEL_TRIAL, rank, 0, NULL, block);
    parcel->by_nccl = TRUE;
    transport_post(parcel);
  }
}

static gboolean wants_trial(void)
{
  g_mutex_lock(&t.lock);
  const gboolean wants = t.wants_trial;
  g_mutex_unlock(&t.lock);
  return wants;
}

static void watch_trial(void)
{
  if (t.trial == TRIAL_NOT_BEGUN && wants_trial())
    begin_trial();
  if (t.trial != TRIAL_RUNS)
    return;
  if (t.n_tried == t.world.ranks - 1)
    end_trial("");
  if (t.trial != TRIAL_RUNS || g_get_monotonic_time() < t.trial_until)
    return;
  g_autofree char *late = trial_tell_late(t.n_tried, t.world.ranks - 1);
  end_trial(late);
}

/* ---- in ---- */

/* Takes over the parcel. */
static void give(Parcel *parcel)
{
  if (parcel->kind != PARCEL_TRIAL) {
    t.take(parcel);
    return;
  }
  take_trial(parcel);
  parcel_free(parcel);
}

/* After something has not come, nothing else may be taken for what comes next. */
static void give_out(guint rank)
{
  Transit *transit;
  while ((transit = g_queue_peek_head(&t.arriving[rank])) && transit->n_open == 0) {
    g_queue_pop_head(&t.arriving[rank]);
    if (transit->is_mapped)
      gst_buffer_unmap(transit->parcel->body, &transit->map);
    g_mutex_lock(&t.lock);
    t.counts.bytes_got += transit->is_mapped ? transit->map.size : transit->by_nccl;
    g_mutex_unlock(&t.lock);
    transit->is_mapped = FALSE;
    if (!t.is_broken || transit->parcel->kind == PARCEL_LEFT)
      give(g_steal_pointer(&transit->parcel));
    transit_free(transit);
  }
}

static void receive_body(Transit *transit, guint64 bytes)
{
  transit->parcel->body = gst_buffer_new_allocate(t.room, bytes, NULL);
  transit->is_mapped =
      transit->parcel->body && gst_buffer_map(transit->parcel->body, &transit->map, GST_MAP_WRITE);
  if (!transit->is_mapped) {
    g_printerr("gst-astro: no memory for %" G_GUINT64_FORMAT " bytes from rank %u\n", bytes,
               transit->parcel->rank);
    MPI_Abort(t.comm, EXIT_FAILURE);
    return;
  }
  move_body(transit, move_in);
}

static void receive_first(MPI_Message *message, guint rank, gsize bytes)
{
  g_autofree guint8 *first = g_malloc(bytes + 1);
  Label label = { 0 };
  MPI_Mrecv(first, (int)bytes, MPI_BYTE, message, MPI_STATUS_IGNORE);
  if (bytes >= sizeof label)
    memcpy(&label, first, sizeof label);
  if (label.magic != MAGIC || label.head_bytes != bytes - sizeof label) {
    refuse(rank, "data that are not ours");
    return;
  }
  Transit *transit = g_new0(Transit, 1);
  GBytes *head = g_bytes_new(first + sizeof label, label.head_bytes);
  transit->parcel = parcel_new(label.kind, rank, label.key, head, NULL);
  if (label.kind >= PARCEL_BOND) {
    take_word(transit->parcel);
    transit_free(transit);
    return;
  }
  if (label.kind == PARCEL_LEFT && label.key)
    break_bonds();
  if (label.kind == PARCEL_TRIED && label.head_bytes)
    leave_trial();
  g_queue_push_tail(&t.arriving[rank], transit);
  if (label.by_nccl)
    receive_by_nccl(transit, label.body_bytes);
  else if (label.body_bytes)
    receive_body(transit, label.body_bytes);
  give_out(rank);
}

static gboolean receive_arrived(void)
{
  gboolean any = FALSE;
  for (;;) {
    MPI_Message message;
    MPI_Status status;
    int is_there, bytes;
    MPI_Improbe(MPI_ANY_SOURCE, TAG_FIRST, t.comm, &is_there, &message, &status);
    if (!is_there)
      return any;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    receive_first(&message, (guint)status.MPI_SOURCE, (gsize)bytes);
    any = TRUE;
  }
}

/* ---- the thread ---- */

static void request_is_done(Transit *transit)
{
  if (--transit->n_open > 0)
    return;
  if (transit->is_out)
    has_left(transit);
  else
    give_out(transit->parcel->rank);
}

/* Removes the requests at those places, which rise, and then says so to their transits: that may
 * add no others. */
static void remove_requests(guint first, const int *places, guint n)
{
  Transit *done[MOST_REQUESTS];
  for (guint i = n; i-- > 0;) {
    const guint at = first + (guint)places[i];
    done[i] = t.owners->pdata[at];
    g_array_remove_index(t.requests, at);
    g_ptr_array_remove_index(t.owners, at);
  }
  for (guint i = 0; i < n; i++)
    request_is_done(done[i]);
}

static int compare_places(gconstpointer a, gconstpointer b)
{
  return *(const int *)a - *(const int *)b;
}

static gboolean test_requests(void)
{
  gboolean any = FALSE;
  for (guint first = 0; first < t.requests->len;) {
    int places[MOST_REQUESTS], n = 0;
    const guint group = MIN(t.requests->len - first, MOST_REQUESTS);
    MPI_Testsome((int)group, &g_array_index(t.requests, MPI_Request, first), &n, places,
                 MPI_STATUSES_IGNORE);
    n = n == MPI_UNDEFINED ? 0 : n;
    qsort(places, (gsize)n, sizeof *places, compare_places);
    remove_requests(first, places, (guint)n);
    any |= n > 0;
    first += group - (guint)n;
  }
  return any;
}

/* round: how often in succession there was no news. Whether the process ends. */
static gboolean rest(guint round)
{
  const gint64 sleep = LEAST_SLEEP_US * (1 + round / 8);
  const gboolean busy = is_busy();
  g_mutex_lock(&t.lock);
  if (g_queue_is_empty(&t.outbox) && !t.ends && round > (busy ? BUSY_ROUNDS : 0))
    g_cond_wait_until(&t.posted, &t.lock, g_get_monotonic_time() + MIN(sleep, MOST_SLEEP_US));
  const gboolean ends = t.ends;
  g_mutex_unlock(&t.lock);
  if (busy)
    g_thread_yield();
  return ends;
}

/* Adds the time from the last look on, if anything was on its way then or has passed since. */
static void note_time(gint64 begun, gboolean any)
{
  const gint64 now = g_get_monotonic_time();
  if (t.moving_since || any) {
    g_mutex_lock(&t.lock);
    t.counts.moving_ns += (guint64)(now - (t.moving_since ? t.moving_since : begun)) * 1000;
    g_mutex_unlock(&t.lock);
  }
  t.moving_since = is_busy() ? now : 0;
}

static gboolean is_spoiled(void)
{
  g_mutex_lock(&t.lock);
  const gboolean spoiled = t.spoiled;
  g_mutex_unlock(&t.lock);
  return spoiled;
}

static gboolean move_all(void)
{
  const gint64 begun = g_get_monotonic_time();
  if (is_spoiled())
    break_bonds();
  watch_trial();
  const gboolean sent = send_posted();
  const gboolean received = receive_arrived();
  const gboolean stepped = step_bonds();
  const gboolean any = test_requests() || sent || received || stepped;
  note_time(begun, any);
  return any;
}

/* The first line of the job that rank 0 has otherwise; NULL: none. Called by all ranks. */
static char *find_other_job(void)
{
  int bytes = (int)strlen(t.job);
  MPI_Bcast(&bytes, 1, MPI_INT, 0, t.comm);
  g_autofree char *first = g_malloc0((gsize)bytes + 1);
  if (t.world.rank == 0)
    memcpy(first, t.job, (gsize)bytes);
  MPI_Bcast(first, bytes, MPI_BYTE, 0, t.comm);
  g_auto(GStrv) theirs = g_strsplit(first, "\n", -1), ours = g_strsplit(t.job, "\n", -1);
  for (guint i = 0; theirs[i] || ours[i]; i++) {
    if (g_strcmp0(theirs[i], ours[i]) != 0)
      return g_strdup_printf("rank %u has %s and rank 0 %s: expected the same graph with the same "
                             "parameters on all ranks (${rank} is for what differs)",
                             t.world.rank, ours[i] && *ours[i] ? ours[i] : "nothing more",
                             theirs[i] && *theirs[i] ? theirs[i] : "nothing more");
    if (!theirs[i] || !ours[i])
      break;
  }
  return NULL;
}

static void begin(void)
{
  int provided, rank, ranks, here;
  MPI_Comm host;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_dup(MPI_COMM_WORLD, &t.comm);
  MPI_Comm_rank(t.comm, &rank);
  MPI_Comm_size(t.comm, &ranks);
  MPI_Comm_split_type(t.comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &here);
  MPI_Comm_free(&host);
  g_autofree char *other = find_other_job();
  g_mutex_lock(&t.lock);
  t.is_one_host = here == ranks;
  if (provided < MPI_THREAD_FUNNELED)
    t.trouble = g_strdup("MPI does not work in a process with several threads: expected one that "
                         "was built with them");
  else if ((guint)rank != t.world.rank || (guint)ranks != t.world.ranks)
    t.trouble = g_strdup_printf("MPI says that this is rank %d of %d, and the environment rank %u "
                                "of %u: start gst-astro by the mpirun of the MPI that the plugin "
                                "was built with",
                                rank, ranks, t.world.rank, t.world.ranks);
  else
    t.trouble = g_steal_pointer(&other);
  t.spoiled |= t.trouble != NULL;
  t.is_known = TRUE;
  g_cond_broadcast(&t.drained);
  g_mutex_unlock(&t.lock);
}

/* MPI_Finalize would wait for the other ranks too, but without sleep. */
static void wait_for_others(void)
{
  MPI_Request request;
  int all_here = 0;
  MPI_Ibarrier(t.comm, &request);
  while (MPI_Test(&request, &all_here, MPI_STATUS_IGNORE) == MPI_SUCCESS && !all_here)
    if (!move_all())
      g_usleep(MOST_SLEEP_US);
}

static gpointer run(gpointer unused)
{
  guint round = 0;
  begin();
  t.requests = g_array_new(FALSE, FALSE, sizeof(MPI_Request));
  t.owners = g_ptr_array_new();
  t.arriving = g_new0(GQueue, t.world.ranks);
  t.bonds = g_new0(Bonds, t.world.ranks);
  t.device_room = room_new();
  t.room = astro_allocator_new(NULL);
  GST_OBJECT_FLAG_SET(t.room, GST_OBJECT_FLAG_MAY_BE_LEAKED); /* to the end of the process */
  for (gboolean ends = FALSE; !ends; ends = rest(round))
    round = move_all() ? 0 : round + 1;
  while (move_all())
    continue;
  if (t.spoiled)
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  wait_for_others();
  MPI_Comm_free(&t.comm);
  MPI_Finalize();
  g_array_unref(t.requests);
  g_ptr_array_unref(t.owners);
  g_free(t.arriving);
  gst_object_unref(t.room);
  return NULL;
}

/* MPI is ended by the thread that started it. The others are told first that this rank is gone, in
 * case one waits for what will not come. */
static void at_exit(void)
{
  g_mutex_lock(&t.lock);
  const gboolean is_known = t.is_known;
  g_mutex_unlock(&t.lock);
  if (!is_known)
    return;
  static const char why[] = "has ended, without an element of that name";
  const guint64 key = t.spoiled ? LEFT_IN_TROUBLE : 0;
  for (guint rank = 0; rank < t.world.ranks; rank++)
    if (rank != t.world.rank)
      transport_post(parcel_new(PARCEL_LEFT, rank, key, g_bytes_new_static(why, sizeof why), NULL));
  transport_drain(t.spoiled ? G_USEC_PER_SEC / 2 : 5 * G_USEC_PER_SEC);
  g_mutex_lock(&t.lock);
  t.ends = TRUE;
  g_cond_signal(&t.posted);
  g_mutex_unlock(&t.lock);
  g_thread_join(t.thread);
}

/* ---- for the others ---- */

gboolean transport_start(const AstroWorld *world, const char *job, TransportTake take,
                         GError **error)
{
  g_mutex_lock(&t.lock);
  if (!t.is_started) {
    t.is_started = TRUE;
    t.world = *world;
    t.job = g_strdup(job);
    t.take = take;
    t.thread = g_thread_new("astro-mpi", run, NULL);
    atexit(at_exit);
  }
  const gint64 until = g_get_monotonic_time() + START_S * G_USEC_PER_SEC;
  while (!t.is_known && g_cond_wait_until(&t.drained, &t.lock, until))
    continue;
  const gboolean is_known = t.is_known;
  g_mutex_unlock(&t.lock);
  if (!is_known)
    return astro_fail(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
                      "MPI has not started on all %u ranks within %d s: expected an astroreduce or "
                      "astroalltoall in the pipeline of each",
                      world->ranks, START_S);
  return !t.trouble ||
         astro_fail(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, "%s", t.trouble);
}

gboolean transport_is_one_host(void)
{
  g_mutex_lock(&t.lock);
  const gboolean is = t.is_one_host;
  g_mutex_unlock(&t.lock);
  return is;
}

gboolean transport_use_device(AstroDevice *device)
{
  g_mutex_lock(&t.lock);
  if (!t.device)
    t.device = astro_device_ref(device);
  const gboolean is_used = t.device == device;
  g_mutex_unlock(&t.lock);
  return is_used;
}

void transport_try_nccl(void)
{
  g_mutex_lock(&t.lock);
  t.wants_trial = TRUE;
  g_cond_signal(&t.posted);
  g_mutex_unlock(&t.lock);
}

void transport_post(Parcel *parcel)
{
  g_mutex_lock(&t.lock);
  g_queue_push_tail(&t.outbox, parcel);
  t.n_out++;
  g_cond_signal(&t.posted);
  g_mutex_unlock(&t.lock);
}

gboolean transport_drain(gint64 most_us)
{
  const gint64 until = g_get_monotonic_time() + most_us;
  gboolean in_time = TRUE;
  g_mutex_lock(&t.lock);
  while (t.n_out > 0 && in_time)
    in_time = g_cond_wait_until(&t.drained, &t.lock, until);
  g_mutex_unlock(&t.lock);
  return in_time;
}

void transport_spoil(void)
{
  g_mutex_lock(&t.lock);
  t.spoiled = TRUE;
  g_mutex_unlock(&t.lock);
}

void transport_count(TransportCounts *counts)
{
  g_mutex_lock(&t.lock);
  *counts = t.counts;
  g_mutex_unlock(&t.lock);
}
