/* Keeps blocks. */
#include "config.h"
#include "elements/mpi/room.h"

#include "core/backend/backend.h"
#include "core/kit/fail.h"
#include "core/memory/memory.h"

#define UNIT 256 /* bytes */
/* Free ones of other sizes that are kept. */
#define MOST_OTHERS 16

struct _Room {
  GPtrArray *blocks; /* GstMemory; free if nobody else has a reference; longest unused first */
};

Room *room_new(void)
{
  Room *room = g_new(Room, 1);
  room->blocks = g_ptr_array_new_with_free_func((GDestroyNotify)gst_memory_unref);
  return room;
}

gsize room_round_up(gsize bytes, gsize unit)
{
  while (unit * 8 < bytes)
    unit *= 2;
  return (bytes + unit - 1) / unit * unit;
}

static gboolean is_free(const GstMemory *block)
{
  return GST_MINI_OBJECT_REFCOUNT_VALUE(block) == 1;
}

/* NULL: there is none. It becomes the one that was used last. */
static GstMemory *find_free(Room *room, gsize bytes)
{
  for (guint i = 0; i < room->blocks->len; i++) {
    GstMemory *block = room->blocks->pdata[i];
    if (is_free(block) && block->maxsize == bytes) {
      g_ptr_array_steal_index(room->blocks, i);
      g_ptr_array_add(room->blocks, block);
      return block;
    }
  }
  return NULL;
}

static void drop_others(Room *room)
{
  guint n = 0;
  for (guint i = room->blocks->len; i-- > 0;)
    if (is_free(room->blocks->pdata[i]) && ++n > MOST_OTHERS)
      g_ptr_array_remove_index(room->blocks, i);
}

static GstMemory *make(Room *room, gsize bytes, GError **error)
{
  drop_others(room);
  GstMemory *block = astro_memory_new(bytes, NULL);
  if (block)
    g_ptr_array_add(room->blocks, block);
  else
    astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
               "no memory for a block of %" G_GSIZE_FORMAT " bytes", bytes);
  return block;
}

GstBuffer *room_take(Room *room, gsize bytes, gboolean may_make, GError **error)
{
  GstMemory *block = find_free(room, room_round_up(bytes, UNIT));
  if (!block && may_make)
    block = make(room, room_round_up(bytes, UNIT), error);
  if (!block)
    return NULL;
  astro_memory_forget(block);
  gst_memory_resize(block, -(gssize)block->offset, bytes);
  GstBuffer *buffer = gst_buffer_new();
  gst_buffer_append_memory(buffer, gst_memory_ref(block));
  return buffer;
}
