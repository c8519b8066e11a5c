/* The two faces of a block: the state machine behind AstroMemory. */
#include "core/memory/faces.h"
#include "core/memory/memory.h"
#include "core/backend/backend.h"
#include "core/backend/device.h"
#include "core/backend/locked.h"
#include "core/backend/node.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

AstroFacesCounters astro_faces_counters;

/* An event shared by several holders: a face, the other face (a copy reads one and writes the
 * other), and threads that wait for it without the lock. */
typedef struct {
  gint ref_count;
  AstroDevice *device;
  AstroEvent *event;
} Mark;

enum { HOST = 1, DEVICE = 2 };

/* A face on another device than the present one. Its bytes are not current, but queued work may
 * still touch them. */
typedef struct {
  AstroDevice *device;
  gpointer face;
  gboolean stays; /* else it is freed as soon as nothing touches it, which waits for the device */
} Left;

/* Faces that stay on devices that the block has left, whatever room there is; and the share of the
 * free memory that a larger one may have. */
#define SMALL_LEFT ((gsize)256 << 20)
#define LEFT_SHARE 8

/* A device has room for more blocks than are needed as long as one byte in so many is free. */
#define ROOM_SHARE 4

struct _AstroFaces {
  /* pthread's, not GLib's: ThreadSanitizer knows it, and so can check everything that it guards. */
  pthread_mutex_t lock;
  pthread_cond_t released;
  AstroFaces *next; /* in the reaper's list */

  gsize bytes;
  gpointer host;
  AstroDevice *lock_device; /* the one that page-locked the host face, or NULL */
  gpointer face;            /* on device; NULL until a device asks for it */
  AstroDevice *device;
  GArray *left;   /* Left: faces on devices that had the block before, for when it comes back */
  guint current;  /* HOST, DEVICE or both; 0: a device failed and the bytes are lost */
  guint acquired; /* number of acquires not yet released */
  /* Work is queued after which no event could be recorded, so that its end is unknown. What it
   * writes is not used again, what it reads is not overwritten, and functions that free wait for
   * the device. */
  gboolean broken;

  Mark *host_writer;         /* a copy from the device that is under way */
  GPtrArray *host_readers;   /* copies to the device */
  Mark *device_writer;       /* a kernel or a copy to the device */
  GPtrArray *device_readers; /* kernels and copies from the device */
};

static Mark *mark_ref(Mark *mark)
{
  g_atomic_int_inc(&mark->ref_count);
  return mark;
}

static void mark_unref(Mark *mark)
{
  if (!g_atomic_int_dec_and_test(&mark->ref_count))
    return;
  mark->device->funcs->event_free(mark->device, mark->event);
  astro_device_unref(mark->device);
  g_free(mark);
}

static gboolean mark_done(Mark *mark)
{
  return mark->device->funcs->event_done(mark->device, mark->event);
}

static void mark_set(Mark **place, Mark *mark)
{
  if (*place != NULL)
    mark_unref(*place);
  *place = mark;
}

/* Every failing call of a device comes here, so that the error names it. */
static gboolean failed(AstroDevice *device, const char *call, GError **error)
{
  if (error != NULL && *error == NULL)
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE, "%s: %s failed",
                device->name, call);
  else
    g_prefix_error(error, "%s: %s: ", device->name, call);
  return FALSE;
}

static gboolean lost(GError **error)
{
  g_set_error(
      error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE,
      "the bytes of this memory are lost or still in use, as work of a device on it has failed");
  return FALSE;
}

static Mark *record(AstroFaces *faces, AstroQueue *queue, GError **error)
{
  AstroDevice *device = faces->device;
  AstroEvent *event = device->funcs->event_record(device, queue, error);
  if (event == NULL) {
    faces->broken = TRUE;
    failed(device, "event_record", error);
    return NULL;
  }
  Mark *mark = g_new(Mark, 1);
  mark->ref_count = 1;
  mark->device = astro_device_ref(device);
  mark->event = event;
  return mark;
}

static gboolean queue_after(AstroDevice *device, AstroQueue *queue, Mark *mark, GError **error)
{
  return mark == NULL || device->funcs->queue_wait(device, queue, mark->event, error) ||
         failed(device, "queue_wait", error);
}

static gboolean queue_after_all(AstroDevice *device, AstroQueue *queue, GPtrArray *marks,
                                GError **error)
{
  for (guint i = 0; i < marks->len; i++)
    if (!queue_after(device, queue, marks->pdata[i], error))
      return FALSE;
  return TRUE;
}

static Mark *any_mark(AstroFaces *faces)
{
  if (faces->host_writer != NULL)
    return faces->host_writer;
  if (faces->device_writer != NULL)
    return faces->device_writer;
  if (faces->host_readers->len > 0)
    return faces->host_readers->pdata[0];
  return faces->device_readers->len > 0 ? faces->device_readers->pdata[0] : NULL;
}

static void free_face(AstroFaces *faces, AstroDevice *device, gpointer face)
{
  device->funcs->free(device, face);
  ASTRO_COUNT(astro_faces_counters.device_bytes, -faces->bytes);
  astro_device_unref(device);
}

static gboolean may_stay(AstroDevice *device, gsize bytes)
{
  AstroDeviceMemory memory;
  return bytes <= SMALL_LEFT ||
         (device->funcs->memory(device, &memory, NULL) && bytes <= memory.free / LEFT_SHARE);
}

static void free_left(AstroFaces *faces, gboolean all)
{
  for (guint i = faces->left->len; i-- > 0;) {
    Left *left = &g_array_index(faces->left, Left, i);
    if (left->stays && !all)
      continue;
    free_face(faces, left->device, left->face);
    g_array_remove_index_fast(faces->left, i);
  }
}

static void drop_done_marks(AstroFaces *faces)
{
  Mark **single[] = { &faces->host_writer, &faces->device_writer };
  for (guint i = 0; i < G_N_ELEMENTS(single); i++)
    if (*single[i] != NULL && mark_done(*single[i]))
      mark_set(single[i], NULL);
  GPtrArray *several[] = { faces->host_readers, faces->device_readers };
  for (guint i = 0; i < G_N_ELEMENTS(several); i++)
    for (guint j = several[i]->len; j-- > 0;)
      if (mark_done(several[i]->pdata[j]))
        g_ptr_array_remove_index_fast(several[i], j);
  if (faces->left->len > 0 && !any_mark(faces) && !faces->broken)
    free_left(faces, FALSE);
}

/* Waits without the lock, so that the caller must check everything again. If the work failed, the
 * face that it should have written is no longer current; its mark stays, since the work may still
 * be running. */
static gboolean wait_for(AstroFaces *faces, Mark *mark, GError **error)
{
  AstroDevice *device = mark->device;
  mark_ref(mark);
  pthread_mutex_unlock(&faces->lock);
  gboolean done = mark_done(mark);
  if (!done) {
    ASTRO_COUNT(device->host_waits, 1);
    ASTRO_COUNT(astro_faces_counters.host_waits, 1);
    done = device->funcs->event_wait(device, mark->event, error) ||
           failed(device, "event_wait", error);
  }
  pthread_mutex_lock(&faces->lock);
  if (!done) {
    if (mark == faces->host_writer)
      faces->current &= ~HOST;
    /* A failed copy to the device also spoils what kernels made from it. */
    if (mark == faces->device_writer || g_ptr_array_find(faces->host_readers, mark, NULL))
      faces->current &= ~DEVICE;
  }
  mark_unref(mark);
  return done;
}

static gboolean copy_down(AstroFaces *faces, GError **error)
{
  AstroDevice *device = faces->device;
  if (faces->broken || !(faces->current & DEVICE))
    return lost(error);
  /* That writer is queued after the copies to the device that read the host face. */
  if (!queue_after(device, device->down, faces->device_writer, error))
    return FALSE;
  if (!device->funcs->queue_copy(device, device->down, ASTRO_COPY_DOWN, faces->host, faces->face,
                                 faces->bytes, error))
    return failed(device, "queue_copy down", error);
  ASTRO_COUNT(device->bytes_down, faces->bytes);
  ASTRO_COUNT(astro_faces_counters.bytes_down, faces->bytes);
  ASTRO_COUNT(astro_faces_counters.copies_down, 1);
  Mark *mark = record(faces, device->down, error);
  if (mark == NULL)
    return FALSE;
  g_ptr_array_add(faces->device_readers, mark_ref(mark));
  mark_set(&faces->host_writer, mark);
  faces->current |= HOST;
  return TRUE;
}

static gboolean copy_up(AstroFaces *faces, GError **error)
{
  AstroDevice *device = faces->device;
  if (!(faces->current & HOST))
    return lost(error);
  if (!queue_after(device, device->up, faces->host_writer, error) ||
      !queue_after(device, device->up, faces->device_writer, error) ||
      !queue_after_all(device, device->up, faces->device_readers, error))
    return FALSE;
  if (!device->funcs->queue_copy(device, device->up, ASTRO_COPY_UP, faces->face, faces->host,
                                 faces->bytes, error))
    return failed(device, "queue_copy up", error);
  ASTRO_COUNT(device->bytes_up, faces->bytes);
  ASTRO_COUNT(astro_faces_counters.bytes_up, faces->bytes);
  ASTRO_COUNT(astro_faces_counters.copies_up, 1);
  Mark *mark = record(faces, device->up, error);
  if (mark == NULL)
    return FALSE;
  g_ptr_array_add(faces->host_readers, mark_ref(mark));
  mark_set(&faces->device_writer, mark);
  faces->current |= DEVICE;
  return TRUE;
}

static void free_device_face(AstroFaces *faces)
{
  if (faces->face != NULL)
    free_face(faces, faces->device, faces->face);
  faces->face = NULL;
  faces->device = NULL;
}

static gpointer alloc_face(AstroFaces *faces, AstroDevice *device, GError **error)
{
  gpointer face = NULL;
  if (device->funcs->alloc(device, MAX(faces->bytes, 1), &face, error)) {
    ASTRO_COUNT(astro_faces_counters.device_bytes, faces->bytes);
    astro_device_ref(device);
    return face;
  }
  if (error != NULL && *error == NULL)
    astro_backend_no_memory(error, "out of device memory: %" G_GSIZE_FORMAT " bytes needed",
                            faces->bytes);
  else
    g_prefix_error(error, "%s: alloc of %" G_GSIZE_FORMAT " bytes: ", device->name, faces->bytes);
  return NULL;
}

/* ---- from device to device ---- */

/* Makes the face on this device the present one, and keeps the other for when the block comes back:
 * blocks of a pool go to and fro. */
static gboolean change_device(AstroFaces *faces, AstroDevice *device, GError **error)
{
  const Left left = { faces->device, faces->face, may_stay(faces->device, faces->bytes) };
  for (guint i = 0; i < faces->left->len; i++) {
    Left *back = &g_array_index(faces->left, Left, i);
    if (back->device == device) {
      faces->device = back->device;
      faces->face = back->face;
      *back = left;
      return TRUE;
    }
  }
  gpointer face = alloc_face(faces, device, error);
  if (face == NULL)
    return FALSE;
  g_array_append_val(faces->left, left);
  faces->device = device;
  faces->face = face;
  return TRUE;
}

static gboolean copy_across(AstroFaces *faces, AstroDevice *from, gconstpointer face,
                            GError **error)
{
  AstroDevice *device = faces->device;
  /* Readers too: some may still read what this device's face held when the block was here before.
   */
  if (!queue_after(device, device->across, faces->device_writer, error) ||
      !queue_after_all(device, device->across, faces->device_readers, error))
    return FALSE;
  if (!device->funcs->queue_copy_across(device, device->across, faces->face, from, face,
                                        faces->bytes, error))
    return failed(device, "queue_copy_across", error);
  ASTRO_COUNT(device->bytes_across, faces->bytes);
  ASTRO_COUNT(astro_faces_counters.bytes_across, faces->bytes);
  ASTRO_COUNT(astro_faces_counters.copies_across, 1);
  Mark *mark = record(faces, device->across, error);
  if (mark == NULL)
    return FALSE;
  g_ptr_array_add(faces->device_readers, mark_ref(mark));
  mark_set(&faces->device_writer, mark);
  return TRUE;
}

/* Nothing waits here but queues: bytes go straight across where there is a way, else down to the
 * host, from where the caller copies them up. */
static gboolean move_between(AstroFaces *faces, AstroDevice *device, gboolean needs_bytes,
                             GError **error)
{
  AstroDevice *from = faces->device;
  gconstpointer face = faces->face;
  const gboolean has_bytes = needs_bytes && (faces->current & DEVICE);
  const gboolean straight = has_bytes && device->funcs->reaches(device, from);
  if (has_bytes && !straight && !(faces->current & HOST) && !copy_down(faces, error))
    return FALSE;
  if (!change_device(faces, device, error))
    return FALSE;
  if (straight && !copy_across(faces, from, face, error)) {
    faces->current &= HOST;
    return FALSE;
  }
  if (!straight)
    faces->current &= HOST;
  return TRUE;
}

/* Devices of another kind, whose events mean nothing to this one's queues: the host waits between
 * them. */
static gboolean leave_by_host(AstroFaces *faces, AstroDevice *device, GError **error)
{
  while (faces->device != NULL && faces->device != device) {
    if (faces->acquired > 0) {
      pthread_cond_wait(&faces->released, &faces->lock);
      continue;
    }
    if (faces->broken)
      return lost(error);
    drop_done_marks(faces);
    if (!(faces->current & HOST) && faces->current != 0 && !copy_down(faces, error))
      return FALSE;
    Mark *pending = any_mark(faces);
    if (pending != NULL) {
      if (!wait_for(faces, pending, error))
        return FALSE;
      continue;
    }
    free_device_face(faces);
    /* Both bits are set if the bytes are undefined, or if host and device agree. Only in the first
     * case would a new device face be current, and the cases cannot be told apart. */
    faces->current &= HOST;
  }
  return TRUE;
}

static gboolean leave_other_device(AstroFaces *faces, AstroDevice *device, gboolean needs_bytes,
                                   GError **error)
{
  while (faces->acquired > 0 && faces->device != device)
    pthread_cond_wait(&faces->released, &faces->lock);
  if (faces->device == NULL || faces->device == device)
    return TRUE;
  if (faces->broken)
    return lost(error);
  return faces->device->funcs == device->funcs && device->across
             ? move_between(faces, device, needs_bytes, error)
             : leave_by_host(faces, device, error);
}

static gboolean make_device_face(AstroFaces *faces, AstroDevice *device, GError **error)
{
  if (faces->face == NULL && (faces->face = alloc_face(faces, device, error)))
    faces->device = device;
  return faces->face != NULL;
}

gpointer astro_faces_map(AstroFaces *faces, GstMapFlags flags, gboolean whole, GError **error)
{
  const gboolean write = (flags & GST_MAP_WRITE) != 0;
  const gboolean needs_bytes = (flags & GST_MAP_READ) || !whole;
  gpointer host = NULL;

  pthread_mutex_lock(&faces->lock);
  for (;;) {
    drop_done_marks(faces);
    if (faces->broken && (write || !(faces->current & HOST))) {
      lost(error);
      break;
    }
    if (needs_bytes && !(faces->current & HOST) && !copy_down(faces, error))
      break;
    Mark *pending = faces->host_writer;
    if (pending == NULL && write && faces->host_readers->len > 0)
      pending = faces->host_readers->pdata[0];
    if (pending == NULL) {
      host = faces->host;
      if (write)
        faces->current = HOST;
      break;
    }
    if (!wait_for(faces, pending, error))
      break;
  }
  pthread_mutex_unlock(&faces->lock);
  return host;
}

/* Changes nothing: a write counts from its map on. The lock orders what was written before what
 * other threads do next, also for ThreadSanitizer, which cannot see GStreamer's reference counts.
 */
void astro_faces_unmap(AstroFaces *faces)
{
  pthread_mutex_lock(&faces->lock);
  pthread_mutex_unlock(&faces->lock);
}

gpointer astro_faces_acquire(AstroFaces *faces, AstroDevice *device, AstroQueue *queue,
                             GstMapFlags flags, gboolean whole, GError **error)
{
  const gboolean write = (flags & GST_MAP_WRITE) != 0;
  const gboolean needs_bytes = (flags & GST_MAP_READ) || !whole;
  gpointer face = NULL;

  pthread_mutex_lock(&faces->lock);
  drop_done_marks(faces);
  if (leave_other_device(faces, device, needs_bytes, error) && (!faces->broken || lost(error)) &&
      make_device_face(faces, device, error) &&
      (!needs_bytes || (faces->current & DEVICE) || copy_up(faces, error)) &&
      queue_after(device, queue, faces->device_writer, error) &&
      (!write || queue_after_all(device, queue, faces->device_readers, error))) {
    faces->acquired++;
    face = faces->face;
  }
  pthread_mutex_unlock(&faces->lock);
  return face;
}

gboolean astro_faces_release(AstroFaces *faces, AstroQueue *queue, GstMapFlags flags, gboolean down,
                             GError **error)
{
  const gboolean write = (flags & GST_MAP_WRITE) != 0;

  pthread_mutex_lock(&faces->lock);
  Mark *mark = record(faces, queue, error);
  if (write) {
    faces->current = DEVICE;
    mark_set(&faces->device_writer, mark);
  } else if (mark != NULL) {
    g_ptr_array_add(faces->device_readers, mark);
  }
  const gboolean ok = mark != NULL && (!down || (faces->current & HOST) || copy_down(faces, error));
  faces->acquired--;
  pthread_cond_broadcast(&faces->released);
  pthread_mutex_unlock(&faces->lock);
  return ok;
}

gboolean astro_faces_are_on(AstroFaces *faces, const AstroDevice *device)
{
  pthread_mutex_lock(&faces->lock);
  const gboolean are = faces->device == device && (faces->current & DEVICE);
  pthread_mutex_unlock(&faces->lock);
  return are;
}

AstroDevice *astro_faces_only_on(AstroFaces *faces)
{
  pthread_mutex_lock(&faces->lock);
  AstroDevice *device =
      faces->device && faces->current == DEVICE ? astro_device_ref(faces->device) : NULL;
  pthread_mutex_unlock(&faces->lock);
  return device;
}

gboolean astro_faces_settle(AstroFaces *faces, GError **error)
{
  pthread_mutex_lock(&faces->lock);
  gboolean ok = !faces->broken || lost(error);
  while (ok) {
    drop_done_marks(faces);
    Mark *pending = any_mark(faces);
    if (pending == NULL)
      break;
    ok = wait_for(faces, pending, error);
  }
  pthread_mutex_unlock(&faces->lock);
  return ok;
}

gboolean astro_faces_are_busy(AstroFaces *faces)
{
  pthread_mutex_lock(&faces->lock);
  drop_done_marks(faces);
  const gboolean busy = !faces->broken && any_mark(faces) != NULL;
  pthread_mutex_unlock(&faces->lock);
  return busy;
}

gboolean astro_faces_have_room(AstroFaces *faces)
{
  AstroDeviceMemory memory;
  pthread_mutex_lock(&faces->lock);
  AstroDevice *device = faces->device;
  const gboolean room = device && !device->on_host &&
                        device->funcs->memory(device, &memory, NULL) &&
                        memory.free >= memory.whole / ROOM_SHARE;
  pthread_mutex_unlock(&faces->lock);
  return room;
}

void astro_faces_forget(AstroFaces *faces)
{
  pthread_mutex_lock(&faces->lock);
  if (!faces->broken)
    faces->current = HOST | DEVICE;
  pthread_mutex_unlock(&faces->lock);
}

gpointer astro_faces_look(AstroFaces *faces, gint *device)
{
  pthread_mutex_lock(&faces->lock);
  gpointer face = !faces->broken && faces->current & DEVICE ? faces->face : NULL;
  if (face && faces->device->kind == ASTRO_BACKEND_OPENCL)
    face = NULL; /* such addresses mean something to the module alone */
  if (face)
    *device = faces->device->index;
  pthread_mutex_unlock(&faces->lock);
  return face;
}

AstroDevice *astro_faces_lock_device(const AstroFaces *faces)
{
  return faces->lock_device;
}

gboolean astro_faces_can_rest(AstroFaces *faces)
{
  pthread_mutex_lock(&faces->lock);
  const gboolean can = faces->lock_device != NULL && !faces->broken;
  pthread_mutex_unlock(&faces->lock);
  return can;
}

gboolean astro_faces_fits(const AstroFaces *faces, gsize bytes, gsize align)
{
  return faces->bytes == bytes && ((guintptr)faces->host & align) == 0;
}

AstroFaces **astro_faces_link(AstroFaces *faces)
{
  return &faces->next;
}

AstroFaces *astro_faces_new(gsize bytes, gsize align, AstroDevice *device)
{
  align |= ASTRO_MEMORY_ALIGN - 1;
  gsize room = MAX(bytes, 1);
  if (device != NULL) {
    /* Whole pages, as two blocks in one page cannot both be page-locked. */
    const gsize page = (gsize)sysconf(_SC_PAGESIZE) - 1;
    align |= page;
    room = room > G_MAXSIZE - page ? G_MAXSIZE : (room + page) & ~page;
  }
  AstroNodeMemory near = { 0 };
  if (device != NULL)
    astro_node_memory_enter(&near, device);
  AstroDevice *locker;
  g_autoptr(GError) error = NULL;
  gpointer host = astro_locked_alloc(device, room, align + 1, bytes, &locker, &error);
  astro_node_memory_leave(&near);
  if (host == NULL)
    return NULL;

  AstroFaces *faces = g_new0(AstroFaces, 1);
  pthread_mutex_init(&faces->lock, NULL);
  pthread_cond_init(&faces->released, NULL);
  faces->bytes = bytes;
  faces->host = host;
  faces->current = HOST | DEVICE;
  faces->left = g_array_new(FALSE, FALSE, sizeof(Left));
  faces->host_readers = g_ptr_array_new_with_free_func((GDestroyNotify)mark_unref);
  faces->device_readers = g_ptr_array_new_with_free_func((GDestroyNotify)mark_unref);
  ASTRO_COUNT(astro_faces_counters.blocks, 1);
  ASTRO_COUNT(astro_faces_counters.bytes, bytes);
  if (locker != NULL) {
    faces->lock_device = astro_device_ref(locker);
    ASTRO_COUNT(astro_faces_counters.locked, bytes);
  } else if (device != NULL && bytes > 0) {
    GST_INFO("%s: %" G_GSIZE_FORMAT " bytes are not page-locked: %s; copies will be slow",
             device->name, bytes, error != NULL ? error->message : "failed");
  }
  return faces;
}

/* There are no other holders, but threads may have released the lock just now: taking it once more
 * orders their last access before the end. */
void astro_faces_free(AstroFaces *faces)
{
  pthread_mutex_lock(&faces->lock);
  drop_done_marks(faces);
  const gboolean pending = faces->broken || any_mark(faces) != NULL;
  pthread_mutex_unlock(&faces->lock);
  if (pending)
    astro_reaper_give(faces);
  else
    astro_faces_destroy(faces);
}

void astro_faces_destroy(AstroFaces *faces)
{
  GPtrArray *several[] = { faces->host_readers, faces->device_readers };
  Mark *single[] = { faces->host_writer, faces->device_writer };
  /* Memory is freed even if a wait fails: freeing also waits for the device. */
  for (guint i = 0; i < 2; i++) {
    for (guint j = 0; j < several[i]->len; j++) {
      Mark *mark = several[i]->pdata[j];
      mark->device->funcs->event_wait(mark->device, mark->event, NULL);
    }
    if (single[i] != NULL)
      single[i]->device->funcs->event_wait(single[i]->device, single[i]->event, NULL);
  }
  free_device_face(faces);
  free_left(faces, TRUE);
  g_array_unref(faces->left);
  astro_locked_free(faces->host, faces->lock_device);
  if (faces->lock_device != NULL) {
    ASTRO_COUNT(astro_faces_counters.locked, -faces->bytes);
    astro_device_unref(faces->lock_device);
  }
  ASTRO_COUNT(astro_faces_counters.blocks, -1);
  ASTRO_COUNT(astro_faces_counters.bytes, -faces->bytes);
  mark_set(&faces->host_writer, NULL);
  mark_set(&faces->device_writer, NULL);
  g_ptr_array_unref(faces->host_readers);
  g_ptr_array_unref(faces->device_readers);
  pthread_cond_destroy(&faces->released);
  pthread_mutex_destroy(&faces->lock);
  g_free(faces);
}
