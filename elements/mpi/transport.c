/* Sends and receives parcels by MPI.
 *
 * A parcel is a message with a Label and its head, followed by messages with its body, if it has
 * one. Who gets the first finds the room for the others and asks MPI for them, so that large bodies
 * are written where they stay. Bodies from device to device go beside MPI, in the order of their
 * labels (elements/mpi/bonds.h). */
#include "config.h"
#include "elements/mpi/transport.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "core/kit/fail.h"
#include "core/memory/memory.h"
#include "core/stream/stream.h"
#include "elements/mpi/bonds.h"

#define MAGIC 0x6173746fu
#define MOST_PIECE ((gsize)1 << 30) /* MPI counts with int */
#define MOST_REQUESTS 64            /* looked at in one call */
#define LEFT_IN_TROUBLE 1           /* a key of no link: the rank has told what is wrong */

/* MPI has nothing to sleep on. While bytes are on the way the thread looks for news at once, then
 * the more seldom the longer there were none. Where a rank has some processors to itself, it goes
 * on at once for longer: to sleep and wake takes longer than most messages. */
#define BUSY_ROUNDS 200
#define ROOMY_PROCESSORS 4
#define ROOMY_US 10000
#define LEAST_SLEEP_US 50
#define MOST_SLEEP_US 1000

/* MPI starts when it has on all ranks: a large job may take a while. */
#define START_S 120

enum { TAG_FIRST = 1, TAG_BODY = 2 };

typedef struct {
  guint32 magic, kind;
  guint64 key, head_bytes, body_bytes, way;
} Label;

/* A parcel on its way out or in. */
typedef struct {
  Parcel *parcel;
  guint8 *first; /* label and head, on the way out */
  GstMapInfo map;
  gsize beside; /* bytes of a body that goes beside MPI */
  gboolean is_mapped, is_out;
  guint n_open; /* requests that are not done, and such a body */
} Transit;

static struct {
  GMutex lock;
  GCond posted, drained;
  gboolean is_started, is_known, is_one_host, spoiled, ends;
  char *trouble; /* why it did not start */
  AstroWorld world;
  char *job;
  TransportTake take;
  GThread *thread;
  GQueue outbox; /* of Parcel */
  guint n_out;   /* parcels posted that have not left */
  TransportCounts counts;

  /* the thread's own: */
  MPI_Comm comm;
  GArray *requests;    /* MPI_Request */
  GPtrArray *owners;   /* Transit of each */
  GQueue *arriving;    /* of Transit, for each rank, in the order in which they are given out */
  GstAllocator *room;  /* blocks of bodies are used again */
  gint64 moving_since; /* 0: nothing is on its way */
  gint64 last_news;
  gboolean is_roomy; /* on this host */
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

/* MPI's own faults, such as a host that is gone, end the job: that is its default. These are ours.
 */
static void refuse(guint rank, const char *what)
{
  g_printerr("gst-astro: rank %u sent %s: is gst-astro the same on all hosts?\n", rank, what);
  MPI_Abort(t.comm, EXIT_FAILURE);
}

/* Whether anything is on its way. */
static gboolean is_busy(void)
{
  return t.requests->len > 0 || bonds_are_busy();
}

/* ---- out ---- */

static void has_left(Transit *transit)
{
  const gsize bytes = transit->is_mapped ? transit->map.size : transit->beside;
  const Way way = transit->parcel->way;
  transit_free(transit);
  g_mutex_lock(&t.lock);
  t.counts.bytes_sent += bytes;
  t.counts.bytes_by[way] += bytes;
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
  const gboolean beside = parcel->way != WAY_MPI && parcel->body;
  transit->parcel = parcel;
  transit->is_out = TRUE;
  if (beside && !bonds_bind(parcel->way, parcel->rank)) {
    has_left(transit);
    return;
  }
  transit->beside = beside ? gst_buffer_get_size(parcel->body) : 0;
  transit->is_mapped =
      !beside && parcel->body && gst_buffer_map(parcel->body, &transit->map, GST_MAP_READ);
  const Label label = { MAGIC,
                        parcel->kind,
                        parcel->key,
                        head_bytes,
                        transit->is_mapped ? transit->map.size : transit->beside,
                        parcel->way };
  transit->first = g_malloc(sizeof label + head_bytes);
  memcpy(transit->first, &label, sizeof label);
  if (head_bytes)
    memcpy(transit->first + sizeof label, head, head_bytes);
  MPI_Isend(transit->first, (int)(sizeof label + head_bytes), MPI_BYTE, (int)parcel->rank,
            TAG_FIRST, t.comm, &request);
  add_request(request, transit);
  if (transit->is_mapped)
    move_body(transit, move_out);
  if (beside) {
    transit->n_open++;
    bonds_send(parcel->way, parcel->rank, g_steal_pointer(&parcel->body), transit);
  }
}

/* For the bonds. */
static void send_now(Parcel *parcel)
{
  g_mutex_lock(&t.lock);
  t.n_out++;
  g_mutex_unlock(&t.lock);
  send_parcel(parcel);
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

/* ---- in ---- */

/* Takes over the parcel. */
static void give(Parcel *parcel)
{
  if (parcel->kind != PARCEL_TRIAL) {
    t.take(parcel);
    return;
  }
  bonds_take_trial(parcel);
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
    t.counts.bytes_got += transit->is_mapped ? transit->map.size : transit->beside;
    g_mutex_unlock(&t.lock);
    transit->is_mapped = FALSE;
    if (!bonds_are_broken() || transit->parcel->kind == PARCEL_LEFT)
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

static void receive_beside(Transit *transit, gsize bytes)
{
  gboolean waits;
  if (!bonds_receive(transit->parcel->way, transit->parcel->rank, bytes, transit, &waits))
    refuse(transit->parcel->rank, "a block for a device, and no word before it");
  transit->beside = waits ? bytes : 0;
  transit->n_open += waits;
}

static gboolean is_of_devices(guint64 way)
{
  return way >= WAY_FIRST_OF_DEVICES && way < WAYS;
}

static void receive_first(MPI_Message *message, guint rank, gsize bytes)
{
  g_autofree guint8 *first = g_malloc(bytes + 1);
  Label label = { 0 };
  MPI_Mrecv(first, (int)bytes, MPI_BYTE, message, MPI_STATUS_IGNORE);
  if (bytes >= sizeof label)
    memcpy(&label, first, sizeof label);
  const gboolean is_of_bonds = label.kind >= PARCEL_TRIED;
  if (label.magic != MAGIC || label.head_bytes != bytes - sizeof label ||
      (is_of_bonds && !is_of_devices(label.key)) ||
      (label.way != WAY_MPI && !is_of_devices(label.way))) {
    refuse(rank, "data that are not ours");
    return;
  }
  Transit *transit = g_new0(Transit, 1);
  GBytes *head = g_bytes_new(first + sizeof label, label.head_bytes);
  transit->parcel = parcel_new(label.kind, rank, label.key, head, NULL);
  transit->parcel->way = (Way)label.way;
  if (label.kind >= PARCEL_BOND) {
    bonds_hear(transit->parcel);
    transit_free(transit);
    return;
  }
  if (label.kind == PARCEL_LEFT && label.key)
    bonds_break();
  if (label.kind == PARCEL_TRIED && label.head_bytes)
    bonds_leave_trial((Way)label.key);
  g_queue_push_tail(&t.arriving[rank], transit);
  if (label.way != WAY_MPI && label.body_bytes)
    receive_beside(transit, label.body_bytes);
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

/* For the bonds. */
static void body_is_done(gpointer owner, GstBuffer *body)
{
  Transit *transit = owner;
  if (body)
    transit->parcel->body = body;
  request_is_done(transit);
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

/* round: how often in succession there was no news. How long to sleep; 0: not at all. */
static gint64 find_sleep(guint round, gboolean busy)
{
  const gint64 now = g_get_monotonic_time(), idle = now - t.last_news;
  if (round == 0)
    t.last_news = now;
  if (round <= (busy ? BUSY_ROUNDS : 0) || (t.is_roomy && idle < ROOMY_US))
    return 0;
  return CLAMP(idle / 8, LEAST_SLEEP_US, MOST_SLEEP_US);
}

/* Whether the process ends. */
static gboolean rest(guint round)
{
  const gboolean busy = is_busy();
  const gint64 sleep = find_sleep(round, busy);
  g_mutex_lock(&t.lock);
  if (g_queue_is_empty(&t.outbox) && !t.ends && sleep > 0)
    g_cond_wait_until(&t.posted, &t.lock, g_get_monotonic_time() + sleep);
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
    bonds_break();
  const gboolean sent = send_posted();
  const gboolean received = receive_arrived();
  const gboolean stepped = bonds_step();
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
  t.is_roomy = g_get_num_processors() >= ROOMY_PROCESSORS * (guint)here;
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

/* For the bonds. */
static void take_own(Parcel *parcel)
{
  t.take(parcel);
}

static gpointer run(gpointer unused)
{
  static const BondsCalls calls = { send_now, take_own, body_is_done };
  guint round = 0;
  begin();
  t.requests = g_array_new(FALSE, FALSE, sizeof(MPI_Request));
  t.owners = g_ptr_array_new();
  t.arriving = g_new0(GQueue, t.world.ranks);
  bonds_start(&t.world, &calls);
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

void transport_wake(void)
{
  g_mutex_lock(&t.lock);
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
