/* A device for tests: its memory is a second host area, its queues are threads that do everything
 * late and, among each other, in any order. It stops the test where it is misused: an area that is
 * not there (any more), or one that is freed while queued work is still to touch it.
 *
 * Addresses of its memory have a bit set that makes the host crash on them. All locking is by
 * pthread, which ThreadSanitizer knows, so that it proves the order of host, copies and kernels:
 * nothing but the events orders them. GLib's slices pass memory between threads unseen by it: run
 * it with G_SLICE=always-malloc, as tests/environment sets. */
#pragma once

#include <fcntl.h>
#include <glib.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "core/backend/device.h"
#include "core/memory/memory.h"
#include "tests/tests.h"

typedef enum {
  FAKE_ALLOC,
  FAKE_LOCK,
  FAKE_QUEUE_NEW,
  FAKE_COPY,
  FAKE_QUEUE_WAIT,
  FAKE_RECORD,
  FAKE_EVENT_WAIT,
  FAKE_N_CALLS
} FakeCall;

typedef void (*FakeKernel)(guint8 *face, gsize bytes, gpointer data);

typedef struct {
  guint8 *start;
  gsize bytes;
  int file; /* 1 + its descriptor, where other processes can find it; 0: none */
} FakeArea;

#define FAKE_MAX_AREAS 4

typedef struct _FakeWork FakeWork;
struct _FakeWork {
  FakeWork *next;
  AstroEvent *wait, *record; /* one of them, or */
  guint8 *to;                /* a copy, or */
  const guint8 *from;
  FakeKernel kernel; /* from one to the other */
  gpointer data;
  GDestroyNotify free_data;
  gsize bytes, from_bytes;
  FakeArea areas[FAKE_MAX_AREAS]; /* that a kernel touches besides these */
  guint n_areas;
};

/* All fake devices of a program: queues of one wait for events of another. */
typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  GPtrArray *fakes; /* FakeDevice, open now */
} FakeWorld;

typedef struct {
  AstroDevice device;
  FakeWorld *world;
  GPtrArray *queues;
  GArray *faces, *locked;      /* of FakeArea */
  GArray *opened;              /* the same, of other processes */
  guint events;                /* alive */
  guint fail_in[FAKE_N_CALLS]; /* n: the nth call from now fails; 0: none does */
  guint failures;
  gsize free;    /* bytes that there are said to be; 0: very many */
  gboolean lost; /* every call fails, as after a kernel's fault */
  guint32 random;
  guint delay;    /* microseconds at most before each piece of work */
  gboolean alone; /* no other one is reached without the host */
} FakeDevice;

struct _AstroQueue {
  FakeDevice *fake;
  pthread_t thread;
  FakeWork *first, *last; /* the first one may be running */
  gboolean held, closing;
};

struct _AstroEvent {
  FakeDevice *owner;
  guint ref_count;
  gboolean done;
};

static gint fake_devices; /* open now */

#define FAKE_BIT ((guintptr)1 << 62)

static inline guint8 *fake_real(gconstpointer address)
{
  return (guint8 *)((guintptr)address & ~FAKE_BIT);
}

static inline gboolean fake_fails(FakeDevice *fake, FakeCall call, GError **error)
{
  static const char *const names[] = { "alloc",      "lock_host",    "queue_new", "queue_copy",
                                       "queue_wait", "event_record", "event_wait" };
  pthread_mutex_lock(&fake->world->lock);
  const gboolean fails = fake->lost || (fake->fail_in[call] > 0 && --fake->fail_in[call] == 0);
  fake->failures += fails;
  pthread_mutex_unlock(&fake->world->lock);
  if (fails)
    g_set_error(error, g_quark_from_static_string("fake"), call, "fake %s said no", names[call]);
  return fails;
}

static inline void fake_event_unref(AstroEvent *event)
{
  if (--event->ref_count == 0) {
    event->owner->events--;
    g_free(event);
  }
}

static inline gboolean fake_overlap(const guint8 *a, gsize a_bytes, const guint8 *b, gsize b_bytes)
{
  return a != NULL && a < b + b_bytes && b < a + a_bytes;
}

static inline gboolean fake_work_touches(const FakeWork *work, const guint8 *start, gsize bytes)
{
  for (guint i = 0; i < work->n_areas; i++)
    if (fake_overlap(work->areas[i].start, work->areas[i].bytes, start, bytes))
      return TRUE;
  return fake_overlap(work->to, work->bytes, start, bytes) ||
         fake_overlap(work->from, work->from_bytes, start, bytes);
}

/* With the lock held: whether queued work will still touch that area. */
static inline gboolean fake_touches(FakeDevice *fake, const guint8 *start, gsize bytes)
{
  for (guint i = 0; i < fake->queues->len; i++)
    for (FakeWork *work = ((AstroQueue *)fake->queues->pdata[i])->first; work; work = work->next)
      if (fake_work_touches(work, start, bytes))
        return TRUE;
  return FALSE;
}

/* The same of any device: one may copy from another. */
static inline gboolean fake_touched(FakeDevice *fake, const guint8 *start, gsize bytes)
{
  for (guint i = 0; i < fake->world->fakes->len; i++)
    if (fake_touches(fake->world->fakes->pdata[i], start, bytes))
      return TRUE;
  return FALSE;
}

static inline gint fake_find(GArray *areas, const guint8 *start, gsize bytes)
{
  for (guint i = 0; i < areas->len; i++) {
    const FakeArea *area = &g_array_index(areas, FakeArea, i);
    if (start >= area->start && start + bytes <= area->start + area->bytes)
      return (gint)i;
  }
  return -1;
}

static inline gpointer fake_run(gpointer data)
{
  AstroQueue *queue = data;
  FakeDevice *fake = queue->fake;
  pthread_mutex_lock(&fake->world->lock);
  for (;;) {
    FakeWork *work = queue->first;
    if (work == NULL && queue->closing)
      break;
    if (work == NULL || (queue->held && !queue->closing) || (work->wait && !work->wait->done)) {
      pthread_cond_wait(&fake->world->changed, &fake->world->lock);
      continue;
    }
    fake->random = fake->random * 1664525u + 1013904223u;
    const guint delay = fake->random & 0x80000000u ? (fake->random >> 8) % (fake->delay + 1) : 0;
    pthread_mutex_unlock(&fake->world->lock);
    if (delay > 0)
      g_usleep(delay);
    if (work->kernel != NULL)
      work->kernel(work->to, work->bytes, work->data);
    else if (work->to != NULL)
      memcpy(work->to, work->from, work->bytes);
    if (work->free_data != NULL)
      work->free_data(work->data);
    pthread_mutex_lock(&fake->world->lock);
    if (work->record != NULL) {
      work->record->done = TRUE;
      fake_event_unref(work->record);
    }
    if (work->wait != NULL)
      fake_event_unref(work->wait);
    queue->first = work->next;
    if (queue->first == NULL)
      queue->last = NULL;
    g_free(work);
    pthread_cond_broadcast(&fake->world->changed);
  }
  pthread_mutex_unlock(&fake->world->lock);
  return NULL;
}

static inline void fake_push(AstroQueue *queue, FakeWork work)
{
  FakeWork *copy = g_new(FakeWork, 1);
  *copy = work;
  if (queue->last != NULL)
    queue->last->next = copy;
  else
    queue->first = copy;
  queue->last = copy;
  pthread_cond_broadcast(&queue->fake->world->changed);
}

/* Whether devices share memory with those of other processes, or pretend to: ASTRO_FAKE_SHARES=yes;
 * with =fails nothing of another process can be opened, with =spoils what is copied there first
 * arrives as something else. */
static inline const char *fake_shares(void)
{
  return g_getenv("ASTRO_FAKE_SHARES");
}

static inline void fake_alloc_shared(FakeArea *area)
{
  const int file = (int)syscall(SYS_memfd_create, "fake", 1 /* closed by exec */);
  g_assert_cmpint(ftruncate(file, (off_t)area->bytes), ==, 0);
  area->start = mmap(NULL, area->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  g_assert_true(area->start != MAP_FAILED);
  area->file = file + 1;
}

static inline gboolean fake_alloc(AstroDevice *device, gsize bytes, gpointer *face, GError **error)
{
  FakeDevice *fake = (FakeDevice *)device;
  if (fake_fails(fake, FAKE_ALLOC, error))
    return FALSE;
  FakeArea area = { NULL, bytes, 0 };
  if (fake_shares() && bytes > 0 && bytes % ASTRO_SHARED_UNIT == 0)
    fake_alloc_shared(&area);
  else
    area.start = g_aligned_alloc(1, MAX(bytes, 1), 256); /* as a GPU's lies */
  memset(area.start, 0xa5, bytes);
  pthread_mutex_lock(&fake->world->lock);
  g_array_append_val(fake->faces, area);
  pthread_mutex_unlock(&fake->world->lock);
  *face = (gpointer)((guintptr)area.start | FAKE_BIT);
  return TRUE;
}

static inline gboolean fake_memory(AstroDevice *device, AstroDeviceMemory *memory, GError **error)
{
  FakeDevice *fake = (FakeDevice *)device;
  *memory =
      (AstroDeviceMemory){ .free = fake->free ? fake->free : G_MAXSIZE / 2, .whole = G_MAXSIZE };
  pthread_mutex_lock(&fake->world->lock);
  for (guint i = 0; i < fake->faces->len; i++)
    memory->ours += g_array_index(fake->faces, FakeArea, i).bytes;
  pthread_mutex_unlock(&fake->world->lock);
  return TRUE;
}

static inline gint fake_find_start(GArray *areas, const guint8 *start)
{
  for (guint i = 0; i < areas->len; i++)
    if (g_array_index(areas, FakeArea, i).start == start)
      return (gint)i;
  return -1;
}

/* With the lock held: calls of any device that have failed. */
static inline guint fake_all_failures(const FakeWorld *world)
{
  guint failures = 0;
  for (guint i = 0; i < world->fakes->len; i++)
    failures += ((const FakeDevice *)world->fakes->pdata[i])->failures;
  return failures;
}

/* As cudaFree does, this waits for work that still touches the area, but only a failure excuses
 * that. */
static inline FakeArea fake_remove(FakeDevice *fake, GArray *areas, guint8 *start)
{
  pthread_mutex_lock(&fake->world->lock);
  const gint i = fake_find_start(areas, start);
  g_assert_cmpint(i, >=, 0);
  const gsize bytes = g_array_index(areas, FakeArea, i).bytes;
  while (fake_touched(fake, start, bytes)) {
    g_assert_cmpuint(fake_all_failures(fake->world), >, 0);
    pthread_cond_wait(&fake->world->changed, &fake->world->lock);
  }
  const gint at = fake_find_start(areas, start);
  const FakeArea removed = g_array_index(areas, FakeArea, at);
  g_array_remove_index_fast(areas, (guint)at);
  pthread_mutex_unlock(&fake->world->lock);
  return removed;
}

static inline void fake_free(AstroDevice *device, gpointer face)
{
  FakeDevice *fake = (FakeDevice *)device;
  g_assert_cmpuint((guintptr)face & FAKE_BIT, !=, 0);
  const FakeArea area = fake_remove(fake, fake->faces, fake_real(face));
  if (area.file)
    munmap(area.start, area.bytes);
  else
    g_aligned_free(area.start);
  if (area.file)
    close(area.file - 1);
}

static inline gboolean fake_lock_host(AstroDevice *device, gpointer host, gsize bytes,
                                      GError **error)
{
  FakeDevice *fake = (FakeDevice *)device;
  if (fake_fails(fake, FAKE_LOCK, error))
    return FALSE;
  const FakeArea area = { host, bytes };
  pthread_mutex_lock(&fake->world->lock);
  g_array_append_val(fake->locked, area);
  pthread_mutex_unlock(&fake->world->lock);
  return TRUE;
}

static inline void fake_unlock_host(AstroDevice *device, gpointer host)
{
  FakeDevice *fake = (FakeDevice *)device;
  fake_remove(fake, fake->locked, host);
}

static inline AstroQueue *fake_queue_new(AstroDevice *device, GError **error)
{
  FakeDevice *fake = (FakeDevice *)device;
  if (fake_fails(fake, FAKE_QUEUE_NEW, error))
    return NULL;
  AstroQueue *queue = g_new0(AstroQueue, 1);
  queue->fake = fake;
  pthread_mutex_lock(&fake->world->lock);
  g_ptr_array_add(fake->queues, queue);
  g_assert_cmpint(pthread_create(&queue->thread, NULL, fake_run, queue), ==, 0);
  pthread_mutex_unlock(&fake->world->lock);
  return queue;
}

static inline void fake_queue_free(AstroDevice *device, AstroQueue *queue)
{
  FakeDevice *fake = (FakeDevice *)device;
  pthread_mutex_lock(&fake->world->lock);
  g_assert_false(queue->closing);
  queue->closing = TRUE;
  pthread_cond_broadcast(&fake->world->changed);
  pthread_mutex_unlock(&fake->world->lock);
}

static inline gboolean fake_queue_copy(AstroDevice *device, AstroQueue *queue,
                                       AstroCopyDirection direction, gpointer to,
                                       gconstpointer from, gsize bytes, GError **error)
{
  FakeDevice *fake = (FakeDevice *)device;
  gconstpointer face = direction == ASTRO_COPY_UP ? to : from;
  gconstpointer host = direction == ASTRO_COPY_UP ? from : to;
  if (fake_fails(fake, FAKE_COPY, error))
    return FALSE;
  pthread_mutex_lock(&fake->world->lock);
  g_assert_true(queue == (direction == ASTRO_COPY_UP ? device->up : device->down));
  g_assert_cmpuint((guintptr)face & FAKE_BIT, !=, 0);
  g_assert_cmpuint((guintptr)host & FAKE_BIT, ==, 0);
  g_assert_cmpint(fake_find(fake->faces, fake_real(face), bytes), >=, 0);
  fake_push(queue, (FakeWork){ .to = fake_real(to),
                               .from = fake_real(from),
                               .bytes = bytes,
                               .from_bytes = bytes });
  pthread_mutex_unlock(&fake->world->lock);
  return TRUE;
}

static inline gboolean fake_queue_wait(AstroDevice *device, AstroQueue *queue, AstroEvent *event,
                                       GError **error)
{
  FakeDevice *fake = (FakeDevice *)device;
  if (fake_fails(fake, FAKE_QUEUE_WAIT, error))
    return FALSE;
  pthread_mutex_lock(&fake->world->lock);
  event->ref_count++;
  fake_push(queue, (FakeWork){ .wait = event });
  pthread_mutex_unlock(&fake->world->lock);
  return TRUE;
}

static inline AstroEvent *fake_event_record(AstroDevice *device, AstroQueue *queue, GError **error)
{
  FakeDevice *fake = (FakeDevice *)device;
  if (fake_fails(fake, FAKE_RECORD, error))
    return NULL;
  AstroEvent *event = g_new0(AstroEvent, 1);
  event->owner = fake;
  event->ref_count = 2;
  pthread_mutex_lock(&fake->world->lock);
  fake->events++;
  fake_push(queue, (FakeWork){ .record = event });
  pthread_mutex_unlock(&fake->world->lock);
  return event;
}

static inline void fake_event_free(AstroDevice *device, AstroEvent *event)
{
  FakeDevice *fake = (FakeDevice *)device;
  pthread_mutex_lock(&fake->world->lock);
  fake_event_unref(event);
  pthread_mutex_unlock(&fake->world->lock);
}

static inline gboolean fake_event_done(AstroDevice *device, AstroEvent *event)
{
  FakeDevice *fake = (FakeDevice *)device;
  pthread_mutex_lock(&fake->world->lock);
  const gboolean done = event->done && !fake->lost;
  pthread_mutex_unlock(&fake->world->lock);
  return done;
}

static inline gboolean fake_event_wait(AstroDevice *device, AstroEvent *event, GError **error)
{
  FakeDevice *fake = (FakeDevice *)device;
  if (fake_fails(fake, FAKE_EVENT_WAIT, error))
    return FALSE;
  pthread_mutex_lock(&fake->world->lock);
  while (!event->done)
    pthread_cond_wait(&fake->world->changed, &fake->world->lock);
  pthread_mutex_unlock(&fake->world->lock);
  return TRUE;
}

/* The queue of another device may still hold an event of this one that it was told to wait for. */
static inline void fake_await_events(FakeDevice *fake)
{
  guint events = 1;
  for (guint i = 0; i < 10000 && events > 0; i++) {
    pthread_mutex_lock(&fake->world->lock);
    events = fake->events;
    pthread_mutex_unlock(&fake->world->lock);
    if (events > 0)
      g_usleep(1000);
  }
}

static inline void fake_close(AstroDevice *device)
{
  FakeDevice *fake = (FakeDevice *)device;
  pthread_mutex_lock(&fake->world->lock);
  for (guint i = 0; i < fake->queues->len; i++)
    ((AstroQueue *)fake->queues->pdata[i])->closing = TRUE;
  pthread_cond_broadcast(&fake->world->changed);
  pthread_mutex_unlock(&fake->world->lock);
  for (guint i = 0; i < fake->queues->len; i++)
    pthread_join(((AstroQueue *)fake->queues->pdata[i])->thread, NULL);
  fake_await_events(fake);

  pthread_mutex_lock(&fake->world->lock);
  g_ptr_array_remove_fast(fake->world->fakes, fake);
  pthread_mutex_unlock(&fake->world->lock);
  g_assert_cmpuint(fake->events, ==, 0);
  g_assert_cmpuint(fake->faces->len, ==, 0);
  g_assert_cmpuint(fake->locked->len, ==, 0);
  g_assert_cmpuint(fake->opened->len, ==, 0);
  g_ptr_array_unref(fake->queues);
  g_array_unref(fake->faces);
  g_array_unref(fake->locked);
  g_array_unref(fake->opened);
  g_free(device->name);
  g_free(fake);
  __atomic_fetch_sub(&fake_devices, 1, __ATOMIC_SEQ_CST);
}

static inline gboolean fake_reaches(AstroDevice *device, AstroDevice *other)
{
  return !((FakeDevice *)device)->alone && !((FakeDevice *)other)->alone;
}

static inline gboolean fake_queue_copy_across(AstroDevice *device, AstroQueue *queue, gpointer to,
                                              AstroDevice *other, gconstpointer from, gsize bytes,
                                              GError **error)
{
  FakeDevice *fake = (FakeDevice *)device, *there = (FakeDevice *)other;
  if (fake_fails(fake, FAKE_COPY, error))
    return FALSE;
  pthread_mutex_lock(&fake->world->lock);
  g_assert_true(queue == device->across && fake != there);
  g_assert_cmpint(fake_find(fake->faces, fake_real(to), bytes), >=, 0);
  g_assert_cmpint(fake_find(there->faces, fake_real(from), bytes), >=, 0);
  fake_push(queue, (FakeWork){ .to = fake_real(to),
                               .from = fake_real(from),
                               .bytes = bytes,
                               .from_bytes = bytes });
  pthread_mutex_unlock(&fake->world->lock);
  return TRUE;
}

/* A kernel that reads one face and writes another. */
static inline void fake_queue_kernel_between(AstroDevice *device, AstroQueue *queue,
                                             FakeKernel kernel, gconstpointer from,
                                             gsize from_bytes, gpointer to, gsize bytes,
                                             gpointer data, GDestroyNotify free_data)
{
  FakeDevice *fake = (FakeDevice *)device;
  pthread_mutex_lock(&fake->world->lock);
  g_assert_cmpuint((guintptr)from & FAKE_BIT, !=, 0);
  g_assert_cmpuint((guintptr)to & FAKE_BIT, !=, 0);
  g_assert_cmpint(fake_find(fake->faces, fake_real(from), from_bytes), >=, 0);
  g_assert_cmpint(fake_find(fake->faces, fake_real(to), bytes), >=, 0);
  fake_push(queue, (FakeWork){ .to = fake_real(to),
                               .from = fake_real(from),
                               .kernel = kernel,
                               .data = data,
                               .free_data = free_data,
                               .bytes = bytes,
                               .from_bytes = from_bytes });
  pthread_mutex_unlock(&fake->world->lock);
}

typedef struct {
  guint8 *to;
  const guint8 *from;
  gsize to_step, from_step, bytes, n;
} FakeRows;

static inline void fake_kernel_rows(guint8 *face, gsize bytes, gpointer data)
{
  const FakeRows *rows = data;
  for (gsize i = 0; i < rows->n; i++)
    memcpy(rows->to + i * rows->to_step, rows->from + i * rows->from_step, rows->bytes);
}

static inline gboolean fake_queue_copy_rows(AstroDevice *device, AstroQueue *queue, gpointer to,
                                            gsize to_step, gconstpointer from, gsize from_step,
                                            gsize bytes, gsize n, GError **error)
{
  const FakeRows rows = { fake_real(to), fake_real(from), to_step, from_step, bytes, n };
  if (fake_fails((FakeDevice *)device, FAKE_COPY, error))
    return FALSE;
  g_assert_cmpuint(n, >, 0);
  g_assert_cmpuint(MIN(to_step, from_step), >=, bytes);
  fake_queue_kernel_between(device, queue, fake_kernel_rows, from, (n - 1) * from_step + bytes, to,
                            (n - 1) * to_step + bytes, g_memdup2(&rows, sizeof rows), g_free);
  return TRUE;
}

typedef struct {
  int process, file;
  gsize bytes;
} FakeTicket;

static inline gboolean fake_share(AstroDevice *device, gpointer face, AstroTicket *ticket,
                                  GError **error)
{
  FakeDevice *fake = (FakeDevice *)device;
  pthread_mutex_lock(&fake->world->lock);
  const gint at = fake_find_start(fake->faces, fake_real(face));
  g_assert_cmpint(at, >=, 0);
  const FakeArea area = g_array_index(fake->faces, FakeArea, at);
  pthread_mutex_unlock(&fake->world->lock);
  g_assert_cmpint(area.file, >, 0);
  const FakeTicket told = { getpid(), area.file - 1, area.bytes };
  memset(ticket, 0, sizeof *ticket);
  memcpy(ticket, &told, sizeof told);
  return TRUE;
}

static inline gpointer fake_open_shared(AstroDevice *device, const AstroTicket *ticket,
                                        GError **error)
{
  FakeDevice *fake = (FakeDevice *)device;
  FakeTicket told;
  memcpy(&told, ticket, sizeof told);
  g_autofree char *path = g_strdup_printf("/proc/%d/fd/%d", told.process, told.file);
  const int file = g_strcmp0(fake_shares(), "fails") ? open(path, O_RDWR | O_CLOEXEC) : -1;
  FakeArea area = { NULL, told.bytes, file + 1 };
  if (file < 0) {
    g_set_error(error, g_quark_from_static_string("fake"), 0, "fake open_shared said no");
    return NULL;
  }
  area.start = mmap(NULL, area.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  g_assert_true(area.start != MAP_FAILED);
  pthread_mutex_lock(&fake->world->lock);
  g_array_append_val(fake->opened, area);
  pthread_mutex_unlock(&fake->world->lock);
  return (gpointer)((guintptr)area.start | FAKE_BIT);
}

static inline void fake_close_shared(AstroDevice *device, gpointer face)
{
  FakeDevice *fake = (FakeDevice *)device;
  const FakeArea area = fake_remove(fake, fake->opened, fake_real(face));
  munmap(area.start, area.bytes);
  close(area.file - 1);
}

static inline void fake_kernel_spoil(guint8 *face, gsize bytes, gpointer data)
{
  *face ^= 1;
}

static inline gboolean fake_queue_copy_out(AstroDevice *device, AstroQueue *queue, gpointer to,
                                           gconstpointer from, gsize bytes, GError **error)
{
  FakeDevice *fake = (FakeDevice *)device;
  static gint spoilt;
  if (fake_fails(fake, FAKE_COPY, error))
    return FALSE;
  pthread_mutex_lock(&fake->world->lock);
  g_assert_cmpint(fake_find(fake->opened, fake_real(to), bytes), >=, 0);
  g_assert_cmpint(fake_find(fake->faces, fake_real(from), bytes), >=, 0);
  fake_push(queue, (FakeWork){ .to = fake_real(to),
                               .from = fake_real(from),
                               .bytes = bytes,
                               .from_bytes = bytes });
  if (g_strcmp0(fake_shares(), "spoils") == 0 && g_atomic_int_add(&spoilt, 1) == 0)
    fake_push(queue, (FakeWork){ .to = fake_real(to), .bytes = 1, .kernel = fake_kernel_spoil });
  pthread_mutex_unlock(&fake->world->lock);
  return TRUE;
}

static inline void fake_find_bus(AstroDevice *device, char bus[ASTRO_BUS_CHARS])
{
  g_snprintf(bus, ASTRO_BUS_CHARS, "fake:%02x:00.0", (guint)device->index);
}

static inline FakeWorld *fake_world(void)
{
  static FakeWorld world = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL };
  pthread_mutex_lock(&world.lock);
  if (!world.fakes)
    world.fakes = g_ptr_array_new();
  pthread_mutex_unlock(&world.lock);
  return &world;
}

#define FAKE_FUNCS                                                                                 \
  .alloc = fake_alloc, .free = fake_free, .memory = fake_memory, .lock_host = fake_lock_host,      \
  .unlock_host = fake_unlock_host, .queue_new = fake_queue_new, .queue_free = fake_queue_free,     \
  .queue_copy = fake_queue_copy, .queue_wait = fake_queue_wait, .event_record = fake_event_record, \
  .event_free = fake_event_free, .event_done = fake_event_done, .event_wait = fake_event_wait,     \
  .close = fake_close, .reaches = fake_reaches, .queue_copy_across = fake_queue_copy_across,       \
  .find_bus = fake_find_bus, .queue_copy_rows = fake_queue_copy_rows

static inline AstroDevice *fake_device_new(guint32 seed)
{
  static const AstroDeviceFuncs funcs = { FAKE_FUNCS }, sharing = {
    FAKE_FUNCS, .share = fake_share, .open_shared = fake_open_shared,
    .close_shared = fake_close_shared, .queue_copy_out = fake_queue_copy_out
  };
  FakeDevice *fake = g_new0(FakeDevice, 1);
  AstroDevice *device = &fake->device;
  device->funcs = fake_shares() ? &sharing : &funcs;
  device->ref_count = 1;
  device->name = g_strdup("fake");
  fake->world = fake_world();
  pthread_mutex_lock(&fake->world->lock);
  g_ptr_array_add(fake->world->fakes, fake);
  pthread_mutex_unlock(&fake->world->lock);
  fake->queues = g_ptr_array_new_with_free_func(g_free);
  fake->faces = g_array_new(FALSE, FALSE, sizeof(FakeArea));
  fake->locked = g_array_new(FALSE, FALSE, sizeof(FakeArea));
  fake->opened = g_array_new(FALSE, FALSE, sizeof(FakeArea));
  fake->random = seed;
  fake->delay = 60;
  device->up = fake_queue_new(device, NULL);
  device->down = fake_queue_new(device, NULL);
  device->across = fake_queue_new(device, NULL);
  __atomic_fetch_add(&fake_devices, 1, __ATOMIC_SEQ_CST);
  return device;
}

/* A held queue takes work and does none of it. */
static inline void fake_hold(AstroQueue *queue, gboolean hold)
{
  pthread_mutex_lock(&queue->fake->world->lock);
  queue->held = hold;
  pthread_cond_broadcast(&queue->fake->world->changed);
  pthread_mutex_unlock(&queue->fake->world->lock);
}

static inline void fake_fail(AstroDevice *device, FakeCall call, guint nth)
{
  FakeDevice *fake = (FakeDevice *)device;
  pthread_mutex_lock(&fake->world->lock);
  fake->fail_in[call] = nth;
  pthread_mutex_unlock(&fake->world->lock);
}

static inline void fake_lose(AstroDevice *device, gboolean lost)
{
  FakeDevice *fake = (FakeDevice *)device;
  pthread_mutex_lock(&fake->world->lock);
  fake->lost = lost;
  pthread_mutex_unlock(&fake->world->lock);
}

static inline guint fake_failures(AstroDevice *device)
{
  FakeDevice *fake = (FakeDevice *)device;
  pthread_mutex_lock(&fake->world->lock);
  const guint failures = fake->failures;
  pthread_mutex_unlock(&fake->world->lock);
  return failures;
}

/* Whether queued work will still touch the host area: a pool must not hand it out. */
static inline gboolean fake_host_busy(AstroDevice *device, gconstpointer host, gsize bytes)
{
  FakeDevice *fake = (FakeDevice *)device;
  pthread_mutex_lock(&fake->world->lock);
  const gboolean busy = fake_touched(fake, host, bytes);
  pthread_mutex_unlock(&fake->world->lock);
  return busy;
}

static inline void fake_queue_kernel(AstroDevice *device, AstroQueue *queue, FakeKernel kernel,
                                     gpointer face, gsize bytes, gpointer data,
                                     GDestroyNotify free_data)
{
  fake_queue_kernel_between(device, queue, kernel, face, bytes, face, bytes, data, free_data);
}

/* A kernel that touches any areas of the device's memory, whatever it is given. */
static inline void fake_queue_kernel_over(AstroDevice *device, AstroQueue *queue, FakeKernel kernel,
                                          const FakeArea *areas, guint n, gpointer data,
                                          GDestroyNotify free_data)
{
  FakeDevice *fake = (FakeDevice *)device;
  FakeWork work = { .kernel = kernel, .data = data, .free_data = free_data, .n_areas = n };
  g_assert_cmpuint(n, <=, FAKE_MAX_AREAS);
  pthread_mutex_lock(&fake->world->lock);
  for (guint i = 0; i < n; i++) {
    g_assert_cmpuint((guintptr)areas[i].start & FAKE_BIT, !=, 0);
    work.areas[i] = (FakeArea){ fake_real(areas[i].start), areas[i].bytes };
    g_assert_cmpint(fake_find(fake->faces, work.areas[i].start, areas[i].bytes), >=, 0);
  }
  fake_push(queue, work);
  pthread_mutex_unlock(&fake->world->lock);
}

/* Waits until a queue is empty, whatever calls of the device do. */
static inline void fake_settle(AstroQueue *queue)
{
  pthread_mutex_lock(&queue->fake->world->lock);
  while (queue->first)
    pthread_cond_wait(&queue->fake->world->changed, &queue->fake->world->lock);
  pthread_mutex_unlock(&queue->fake->world->lock);
}

/* Kernels: fill as test_fill() does, change every byte, compare with the bytes in data. */
static inline void fake_kernel_fill(guint8 *face, gsize bytes, gpointer data)
{
  test_fill(face, bytes, GPOINTER_TO_UINT(data));
}

static inline void fake_kernel_change(guint8 *face, gsize bytes, gpointer data)
{
  for (gsize i = 0; i < bytes; i++)
    face[i] ^= (guint8)(GPOINTER_TO_UINT(data) + i);
}

static inline void fake_kernel_compare(guint8 *face, gsize bytes, gpointer data)
{
  g_assert_cmpmem(face, bytes, data, bytes);
}

/* Everything that a test made is gone after it. */
static inline void fake_check_nothing_left(void)
{
  AstroMemoryCounters left;
  astro_memory_reap();
  astro_memory_counters(&left);
  g_assert_cmpuint(left.blocks, ==, 0);
  g_assert_cmpuint(left.bytes, ==, 0);
  g_assert_cmpuint(left.locked, ==, 0);
  g_assert_cmpuint(left.device_bytes, ==, 0);
  g_assert_cmpint(__atomic_load_n(&fake_devices, __ATOMIC_SEQ_CST), ==, 0);
}
