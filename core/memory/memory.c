/* The allocator of AstroMemory. */
#include "core/memory/memory.h"
#include "core/memory/faces.h"
#include "core/backend/backend.h"
#include "core/backend/device.h"

/* Parts made by gst_memory_share() point to their root's faces and keep the root alive. */
typedef struct {
  GstMemory memory;
  AstroFaces *faces;
} AstroMemory;

/* The allocator of the process has no device. Allocators for a device page-lock their blocks, and
 * since page-locking costs far more than a copy, they keep some freed blocks for reuse. */
#define MAX_IDLE 8
/* A freed block may still be copied from, and its next user would wait for that; so blocks are
 * reused only when at least this many are idle. */
#define MIN_IDLE 4

struct _AstroAllocator {
  GstAllocator parent;
  AstroDevice *device;
  GMutex lock;
  GQueue idle; /* AstroFaces *, whole blocks, longest idle first */
};

G_DEFINE_TYPE(AstroAllocator, astro_allocator, GST_TYPE_ALLOCATOR)

static gboolean is_whole(const GstMemory *memory)
{
  return memory->offset == 0 && memory->size == memory->maxsize;
}

static GstMemory *wrap(GstAllocator *allocator, AstroFaces *faces, guint flags, GstMemory *root,
                       gsize maxsize, gsize align, gsize offset, gsize size)
{
  AstroMemory *memory = g_new(AstroMemory, 1);
  gst_memory_init(GST_MEMORY_CAST(memory), flags, allocator, root, maxsize, align, offset, size);
  memory->faces = faces;
  return GST_MEMORY_CAST(memory);
}

static gsize whole_align(const GstAllocationParams *params)
{
  return params->align | (ASTRO_MEMORY_ALIGN - 1);
}

gsize astro_memory_prefix(const GstAllocationParams *params)
{
  const gsize align = whole_align(params);
  return params->prefix > G_MAXSIZE - align ? G_MAXSIZE : (params->prefix + align) & ~align;
}

static AstroFaces *take_idle(AstroAllocator *self, gsize bytes, gsize align)
{
  AstroFaces *found = NULL;

  g_mutex_lock(&self->lock);
  GList *link = self->idle.length < MIN_IDLE ? NULL : self->idle.head;
  while (link && !astro_faces_fits(link->data, bytes, align))
    link = link->next;
  if (link) {
    found = link->data;
    g_queue_delete_link(&self->idle, link);
  }
  g_mutex_unlock(&self->lock);
  if (found)
    astro_faces_forget(found);
  return found;
}

static GstMemory *new_full(GstAllocator *allocator, gsize bytes, const GstAllocationParams *params,
                           AstroDevice *device)
{
  static const GstAllocationParams plain = { 0 };
  if (params == NULL)
    params = &plain;
  g_return_val_if_fail(((params->align + 1) & params->align) == 0, NULL);
  const gsize align = whole_align(params), prefix = astro_memory_prefix(params);
  gsize maxsize = G_MAXSIZE;
  AstroFaces *faces = NULL;
  if (g_size_checked_add(&maxsize, prefix, bytes) &&
      g_size_checked_add(&maxsize, maxsize, params->padding)) {
    faces = take_idle(ASTRO_ALLOCATOR(allocator), maxsize, align);
    if (faces == NULL)
      faces = astro_faces_new(maxsize, align, device);
  }
  if (faces == NULL) {
    GST_ERROR("out of memory: %" G_GSIZE_FORMAT " bytes needed", maxsize);
    return NULL;
  }
  const gsize zero_prefix = params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED ? prefix : 0;
  const gsize zero_padding = params->flags & GST_MEMORY_FLAG_ZERO_PADDED ? params->padding : 0;
  if (zero_prefix + zero_padding > 0) {
    g_autoptr(GError) error = NULL;
    guint8 *host = astro_faces_map(faces, GST_MAP_WRITE, TRUE, &error);
    if (host == NULL) {
      GST_ERROR("cannot clear: %s", error->message);
      astro_faces_free(faces);
      return NULL;
    }
    memset(host, 0, zero_prefix);
    memset(host + maxsize - zero_padding, 0, zero_padding);
    astro_faces_unmap(faces);
  }
  return wrap(allocator, faces, params->flags, NULL, maxsize, align, prefix, bytes);
}

GstMemory *astro_memory_new_full(gsize bytes, const GstAllocationParams *params,
                                 AstroDevice *device)
{
  g_autoptr(GstAllocator) allocator = astro_allocator_get();
  return new_full(allocator, bytes, params, device);
}

GstMemory *astro_memory_new(gsize bytes, AstroDevice *device)
{
  return astro_memory_new_full(bytes, NULL, device);
}

GstBuffer *astro_buffer_new(gsize bytes, AstroDevice *device)
{
  GstMemory *memory = astro_memory_new(bytes, device);
  if (!memory)
    return NULL;
  GstBuffer *buffer = gst_buffer_new();
  gst_buffer_append_memory(buffer, memory);
  return buffer;
}

gboolean astro_memory_is(GstMemory *memory)
{
  return memory != NULL && memory->allocator != NULL && ASTRO_IS_ALLOCATOR(memory->allocator);
}

static AstroFaces *faces_of(GstMemory *memory)
{
  return ((AstroMemory *)memory)->faces;
}

gboolean astro_memory_is_on(GstMemory *memory, const AstroDevice *device)
{
  return astro_memory_is(memory) && astro_faces_are_on(faces_of(memory), device);
}

gboolean astro_memory_is_busy(GstMemory *memory)
{
  return astro_memory_is(memory) && astro_faces_are_busy(faces_of(memory));
}

gboolean astro_memory_has_room(GstMemory *memory)
{
  return astro_memory_is(memory) && astro_faces_have_room(faces_of(memory));
}

AstroDevice *astro_memory_only_on(GstMemory *memory)
{
  return astro_memory_is(memory) ? astro_faces_only_on(faces_of(memory)) : NULL;
}

gboolean astro_memory_is_locked(GstMemory *memory)
{
  return astro_memory_is(memory) && astro_faces_lock_device(faces_of(memory)) != NULL;
}

gboolean astro_memory_acquire(GstMemory *memory, AstroDevice *device, AstroQueue *queue,
                              GstMapFlags flags, gpointer *face, GError **error)
{
  g_return_val_if_fail(astro_memory_is(memory), FALSE);
  const GstLockFlags access = (GstLockFlags)(flags & GST_MAP_READWRITE);
  if (!gst_mini_object_lock(GST_MINI_OBJECT_CAST(memory), access)) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE,
                "memory cannot be %s by %s: it is mapped, shared or read-only",
                flags & GST_MAP_WRITE ? "written" : "read", device->name);
    return FALSE;
  }
  guint8 *start =
      astro_faces_acquire(faces_of(memory), device, queue, flags, is_whole(memory), error);
  if (start == NULL) {
    gst_mini_object_unlock(GST_MINI_OBJECT_CAST(memory), access);
    return FALSE;
  }
  *face = start + memory->offset;
  return TRUE;
}

gboolean astro_memory_release(GstMemory *memory, AstroQueue *queue, GstMapFlags flags,
                              gboolean copy_down, GError **error)
{
  g_return_val_if_fail(astro_memory_is(memory), FALSE);
  const gboolean ok = astro_faces_release(faces_of(memory), queue, flags, copy_down, error);
  gst_mini_object_unlock(GST_MINI_OBJECT_CAST(memory), (GstLockFlags)(flags & GST_MAP_READWRITE));
  return ok;
}

gboolean astro_memory_settle(GstMemory *memory, GError **error)
{
  g_return_val_if_fail(astro_memory_is(memory), FALSE);
  return astro_faces_settle(faces_of(memory), error);
}

gboolean astro_memory_look(GstMemory *memory, gint *device, gpointer *face, GError **error)
{
  if (!astro_memory_settle(memory, error))
    return FALSE;
  guint8 *start = astro_faces_look(faces_of(memory), device);
  *face = start ? start + memory->offset : NULL;
  return TRUE;
}

void astro_memory_forget(GstMemory *memory)
{
  g_return_if_fail(astro_memory_is(memory));
  astro_faces_forget(faces_of(memory));
}

void astro_memory_reap(void)
{
  astro_reaper_wait();
}

void astro_memory_counters(AstroMemoryCounters *counters)
{
  const AstroFacesCounters *from = &astro_faces_counters;
  counters->blocks = __atomic_load_n(&from->blocks, __ATOMIC_RELAXED);
  counters->bytes = __atomic_load_n(&from->bytes, __ATOMIC_RELAXED);
  counters->locked = __atomic_load_n(&from->locked, __ATOMIC_RELAXED);
  counters->device_bytes = __atomic_load_n(&from->device_bytes, __ATOMIC_RELAXED);
  counters->copies_up = __atomic_load_n(&from->copies_up, __ATOMIC_RELAXED);
  counters->copies_down = __atomic_load_n(&from->copies_down, __ATOMIC_RELAXED);
  counters->bytes_up = __atomic_load_n(&from->bytes_up, __ATOMIC_RELAXED);
  counters->bytes_down = __atomic_load_n(&from->bytes_down, __ATOMIC_RELAXED);
  counters->host_copies = __atomic_load_n(&from->host_copies, __ATOMIC_RELAXED);
  counters->host_waits = __atomic_load_n(&from->host_waits, __ATOMIC_RELAXED);
}

static gpointer memory_map(GstMemory *memory, GstMapInfo *info, gsize maxsize)
{
  g_autoptr(GError) error = NULL;
  gpointer host = astro_faces_map(faces_of(memory), info->flags, is_whole(memory), &error);
  if (host == NULL)
    GST_ERROR("cannot map: %s", error->message);
  return host;
}

static void memory_unmap(GstMemory *memory, GstMapInfo *info)
{
  astro_faces_unmap(faces_of(memory));
}

static gsize rest(const GstMemory *memory, gssize offset, gssize size)
{
  return size >= 0 ? (gsize)size : memory->size - offset;
}

static GstMemory *memory_copy(GstMemory *memory, gssize offset, gssize size)
{
  g_autoptr(GError) error = NULL;
  AstroFaces *faces = faces_of(memory);
  const gsize bytes = rest(memory, offset, size);
  const GstAllocationParams params = { .align = memory->align };
  GstMemory *copy = astro_memory_new_full(bytes, &params, astro_faces_lock_device(faces));
  if (copy == NULL)
    return NULL;
  const guint8 *from = astro_faces_map(faces, GST_MAP_READ, FALSE, &error);
  if (from == NULL) {
    GST_ERROR("cannot copy: %s", error->message);
    gst_memory_unref(copy);
    return NULL;
  }
  memcpy(astro_faces_map(faces_of(copy), GST_MAP_WRITE, TRUE, NULL), from + memory->offset + offset,
         bytes);
  astro_faces_unmap(faces_of(copy));
  astro_faces_unmap(faces);
  return copy;
}

/* Read-only, like parts of system memory: GStreamer then copies before it writes to one. */
static GstMemory *memory_share(GstMemory *memory, gssize offset, gssize size)
{
  GstMemory *root = memory->parent != NULL ? memory->parent : memory;
  return wrap(memory->allocator, faces_of(memory),
              GST_MINI_OBJECT_FLAGS(root) | GST_MINI_OBJECT_FLAG_LOCK_READONLY, root,
              memory->maxsize, memory->align, memory->offset + offset, rest(memory, offset, size));
}

static gboolean memory_is_span(GstMemory *first, GstMemory *second, gsize *offset)
{
  if (offset != NULL)
    *offset = first->offset - first->parent->offset;
  return first->offset + first->size == second->offset;
}

static GstMemory *allocator_alloc(GstAllocator *allocator, gsize bytes, GstAllocationParams *params)
{
  return new_full(allocator, bytes, params, ASTRO_ALLOCATOR(allocator)->device);
}

/* Whether the allocator keeps the block. Work queued on it continues: the next user waits for it.
 */
static gboolean keep_idle(AstroAllocator *self, AstroFaces *faces)
{
  AstroFaces *oldest = NULL;

  if (self->device == NULL || !astro_faces_can_rest(faces))
    return FALSE;
  g_mutex_lock(&self->lock);
  g_queue_push_tail(&self->idle, faces);
  if (self->idle.length > MAX_IDLE)
    oldest = g_queue_pop_head(&self->idle);
  g_mutex_unlock(&self->lock);
  if (oldest != NULL)
    astro_faces_free(oldest);
  return TRUE;
}

static void allocator_free(GstAllocator *allocator, GstMemory *memory)
{
  /* A part has released its root before it came here: the faces may be freed already. */
  if (memory->parent == NULL && !keep_idle(ASTRO_ALLOCATOR(allocator), faces_of(memory)))
    astro_faces_free(faces_of(memory));
  g_free(memory);
}

static void allocator_finalize(GObject *object)
{
  AstroAllocator *self = ASTRO_ALLOCATOR(object);

  g_queue_clear_full(&self->idle, (GDestroyNotify)astro_faces_free);
  g_mutex_clear(&self->lock);
  g_clear_pointer(&self->device, astro_device_unref);
  G_OBJECT_CLASS(astro_allocator_parent_class)->finalize(object);
}

static void astro_allocator_class_init(AstroAllocatorClass *class)
{
  G_OBJECT_CLASS(class)->finalize = allocator_finalize;
  GST_ALLOCATOR_CLASS(class)->alloc = allocator_alloc;
  GST_ALLOCATOR_CLASS(class)->free = allocator_free;
}

static void astro_allocator_init(AstroAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR(self);
  g_mutex_init(&self->lock);
  g_queue_init(&self->idle);
  allocator->mem_type = ASTRO_MEMORY_TYPE;
  allocator->mem_map_full = memory_map;
  allocator->mem_unmap_full = memory_unmap;
  allocator->mem_copy = memory_copy;
  allocator->mem_share = memory_share;
  allocator->mem_is_span = memory_is_span;
}

GstAllocator *astro_allocator_get(void)
{
  static GstAllocator *allocator;
  if (g_once_init_enter(&allocator)) {
    GstAllocator *made = g_object_new(ASTRO_TYPE_ALLOCATOR, NULL);
    gst_object_ref_sink(made);
    GST_OBJECT_FLAG_SET(made, GST_OBJECT_FLAG_MAY_BE_LEAKED);
    g_once_init_leave(&allocator, made);
  }
  return gst_object_ref(allocator);
}

GstAllocator *astro_allocator_new(AstroDevice *device)
{
  AstroAllocator *self = g_object_new(ASTRO_TYPE_ALLOCATOR, NULL);
  gst_object_ref_sink(self);
  if (device != NULL)
    self->device = astro_device_ref(device);
  return GST_ALLOCATOR(self);
}
