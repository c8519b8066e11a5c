/* A libnccl.so.2 for machines without a GPU: moves the memory of the fake device
 * (tests/core/fake-device.h) between processes by sockets, late and in the order of the device's
 * queues. A kernel that sends or receives does not end before the other one, or an abort, as NCCL's
 * own. ASTRO_FAKE_NCCL_FAILS=N: what this rank begins to send for the Nth time fails.
 * ASTRO_FAKE_NCCL_START=fails, =breaks or =hangs: on this rank no pair is made, at once, later or
 * ever; =spoils: what it sends first arrives as something else. */
#include "config.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/core/fake-device.h"

enum { SUCCESS = 0, SYSTEM_ERROR = 2, INVALID_USAGE = 5, IN_PROGRESS = 7 };
enum { FAKE_VERSION = 22809, FAKE_SENDER = 0 };

typedef struct {
  char path[128];
} Id;

typedef struct {
  gint ref_count;
  int listens, socket; /* -1: none */
  gint is_connected, is_aborted, has_failed, n_begun;
  pthread_t thread;
  Id id;
} Pair;

typedef struct {
  Pair *pair;
  guint8 *data;
  gsize bytes;
  gboolean sends, spoils;
} Work;

/* NCCL's own library has functions of these names. */
int ncclGetVersion(int *version);
const char *ncclGetErrorString(int status);
int ncclGetUniqueId(Id *id);
int ncclCommInitRankConfig(Pair **made, int n, Id id, int rank, gpointer config);
int ncclCommGetAsyncError(Pair *pair, int *status);
int ncclCommAbort(Pair *pair);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclSend(gconstpointer data, gsize n, int type, int peer, Pair *pair, AstroQueue *queue);
int ncclRecv(gpointer data, gsize n, int type, int peer, Pair *pair, AstroQueue *queue);

/* The sender's sockets until its pair is made. */
static GHashTable *listening;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct sockaddr_un address_of(const Id *id)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  g_strlcpy(address.sun_path + 1, id->path, sizeof address.sun_path - 1); /* in no folder */
  return address;
}

static void unref(gpointer data)
{
  Pair *pair = data;
  if (!g_atomic_int_dec_and_test(&pair->ref_count))
    return;
  if (pair->listens >= 0)
    close(pair->listens);
  if (pair->socket >= 0)
    close(pair->socket);
  g_free(pair);
}

/* ---- pairs ---- */

int ncclGetVersion(int *version)
{
  *version = FAKE_VERSION;
  return SUCCESS;
}

const char *ncclGetErrorString(int status)
{
  return status == SYSTEM_ERROR ? "a fake error" : "a mistake in the use of the fake NCCL";
}

int ncclGetUniqueId(Id *id)
{
  static guint n;
  *id = (Id){ { 0 } };
  pthread_mutex_lock(&lock);
  g_snprintf(id->path, sizeof id->path, "fake-nccl-%d-%u-%" G_GINT64_FORMAT, (int)getpid(), n++,
             g_get_real_time());
  const struct sockaddr_un address = address_of(id);
  const int listens = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (!listening)
    listening = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_hash_table_insert(listening, g_strdup(id->path), GINT_TO_POINTER(listens));
  pthread_mutex_unlock(&lock);
  return bind(listens, (const struct sockaddr *)&address, sizeof address) == 0 &&
                 listen(listens, 1) == 0
             ? SUCCESS
             : SYSTEM_ERROR;
}

/* Whether this rank has to do that. */
static gboolean has_to(const char *start)
{
  return g_strcmp0(g_getenv("ASTRO_FAKE_NCCL_START"), start) == 0;
}

static gpointer connect_pair(gpointer data)
{
  Pair *pair = data;
  int connected = -1;
  while (has_to("hangs") && !g_atomic_int_get(&pair->is_aborted))
    g_usleep(1000);
  if (has_to("hangs") || has_to("breaks")) {
    connected = -1;
  } else if (pair->listens >= 0) {
    connected = accept(pair->listens, NULL, NULL);
  } else {
    const struct sockaddr_un address = address_of(&pair->id);
    connected = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(connected, (const struct sockaddr *)&address, sizeof address) != 0) {
      close(connected);
      connected = -1;
    }
  }
  pthread_mutex_lock(&lock);
  pair->socket = connected;
  pthread_mutex_unlock(&lock);
  g_atomic_int_set(connected >= 0 ? &pair->is_connected : &pair->has_failed, TRUE);
  unref(pair);
  return NULL;
}

int ncclCommInitRankConfig(Pair **made, int n, Id id, int rank, gpointer config)
{
  if (has_to("fails"))
    return SYSTEM_ERROR;
  Pair *pair = g_new0(Pair, 1);
  g_assert_cmpint(n, ==, 2);
  pair->ref_count = 2;
  pair->listens = pair->socket = -1;
  pair->id = id;
  if (rank == FAKE_SENDER) {
    pthread_mutex_lock(&lock);
    pair->listens = GPOINTER_TO_INT(g_hash_table_lookup(listening, id.path));
    g_hash_table_remove(listening, id.path);
    pthread_mutex_unlock(&lock);
  }
  g_assert_cmpint(pthread_create(&pair->thread, NULL, connect_pair, pair), ==, 0);
  pthread_detach(pair->thread);
  *made = pair;
  return IN_PROGRESS;
}

int ncclCommGetAsyncError(Pair *pair, int *status)
{
  *status = g_atomic_int_get(&pair->has_failed)     ? SYSTEM_ERROR
            : g_atomic_int_get(&pair->is_connected) ? SUCCESS
                                                    : IN_PROGRESS;
  return SUCCESS;
}

int ncclCommAbort(Pair *pair)
{
  g_atomic_int_set(&pair->is_aborted, TRUE);
  pthread_mutex_lock(&lock);
  if (pair->listens >= 0)
    shutdown(pair->listens, SHUT_RDWR);
  if (pair->socket >= 0)
    shutdown(pair->socket, SHUT_RDWR);
  pthread_mutex_unlock(&lock);
  unref(pair);
  return SUCCESS;
}

/* ---- blocks ---- */

static gboolean move_piece(const Work *work, gsize *at)
{
  const int fd = work->pair->socket;
  const gsize left = work->bytes - *at;
  const gssize n = work->sends ? send(fd, work->data + *at, left, MSG_NOSIGNAL)
                               : recv(fd, work->data + *at, left, 0);
  if (n > 0)
    *at += (gsize)n;
  return n > 0;
}

/* Until the other one says that it is there too, as a real kernel waits. */
static void run(guint8 *face, gsize bytes, gpointer data)
{
  const Work *work = data;
  char word = 0;
  gsize at = 0;
  if (work->spoils)
    *work->data ^= 1;
  while (at < work->bytes && move_piece(work, &at))
    continue;
  const gssize n = work->sends ? recv(work->pair->socket, &word, 1, 0)
                               : send(work->pair->socket, &word, 1, MSG_NOSIGNAL);
  while ((at < work->bytes || n != 1) && !g_atomic_int_get(&work->pair->is_aborted))
    g_usleep(1000); /* the other rank is gone */
}

static void work_free(gpointer data)
{
  Work *work = data;
  unref(work->pair);
  g_free(work);
}

static int begin(gpointer data, gsize bytes, int type, Pair *pair, AstroQueue *queue,
                 gboolean sends)
{
  const char *fails = g_getenv("ASTRO_FAKE_NCCL_FAILS");
  const FakeArea area = { data, bytes };
  if (type != 0 || !g_atomic_int_get(&pair->is_connected))
    return INVALID_USAGE;
  if (sends)
    pair->n_begun++;
  if (sends && fails && pair->n_begun == atoi(fails))
    return SYSTEM_ERROR;
  Work *work = g_new(Work, 1);
  *work = (Work){ pair, fake_real(data), bytes, sends,
                  sends && pair->n_begun == 1 && has_to("spoils") };
  g_atomic_int_inc(&pair->ref_count);
  fake_queue_kernel_over(&queue->fake->device, queue, run, &area, 1, work, work_free);
  return SUCCESS;
}

/* Moves of a group begin one by one, before it ends: that is early, and does no harm. */
static gint n_groups;

int ncclGroupStart(void)
{
  n_groups++;
  return SUCCESS;
}

int ncclGroupEnd(void)
{
  return n_groups-- > 0 ? IN_PROGRESS : INVALID_USAGE;
}

int ncclSend(gconstpointer data, gsize n, int type, int peer, Pair *pair, AstroQueue *queue)
{
  return begin((gpointer)data, n, type, pair, queue, TRUE);
}

int ncclRecv(gpointer data, gsize n, int type, int peer, Pair *pair, AstroQueue *queue)
{
  return begin(data, n, type, pair, queue, FALSE);
}
