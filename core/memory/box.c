/* Copies boxes of samples on a device. */
#include "config.h"
#include "core/memory/box.h"

#include "core/backend/device.h"
#include "core/memory/faces.h"
#include "core/memory/memory.h"

/* Calls of a device for one box. A call takes microseconds, in which a bus moves 100 kB. */
#define MOST_CALLS 256

/* ---- shapes ---- */

static void drop_axis(AstroBox *box, guint axis)
{
  box->n_axes--;
  for (guint i = axis; i < box->n_axes; i++) {
    box->n[i] = box->n[i + 1];
    box->to_step[i] = box->to_step[i + 1];
    box->from_step[i] = box->from_step[i + 1];
  }
}

/* Whether an axis goes on where the next one ends, in both blocks. */
static gboolean follows(const AstroBox *box, guint axis)
{
  return box->to_step[axis] == box->n[axis + 1] * box->to_step[axis + 1] &&
         box->from_step[axis] == box->n[axis + 1] * box->from_step[axis + 1];
}

void astro_box_simplify(AstroBox *box)
{
  for (guint i = box->n_axes; i-- > 0;)
    if (box->n[i] == 1)
      drop_axis(box, i);
  for (guint i = box->n_axes; i-- > 1;)
    if (follows(box, i - 1)) {
      box->n[i] *= box->n[i - 1];
      drop_axis(box, i - 1);
    }
  const guint last = box->n_axes - 1;
  if (box->n_axes > 0 && box->to_step[last] == box->bytes && box->from_step[last] == box->bytes) {
    box->bytes *= box->n[last];
    box->n_axes--;
  }
}

/* The axis of the rows of one call: the longest; -1: there is one row. */
static gint axis_of_rows(const AstroBox *box)
{
  gint longest = -1;
  for (guint i = 0; i < box->n_axes; i++)
    if (longest < 0 || box->n[i] > box->n[longest])
      longest = (gint)i;
  return longest;
}

static guint64 count_calls(const AstroBox *box)
{
  const gint rows = axis_of_rows(box);
  guint64 calls = 1;
  for (guint i = 0; i < box->n_axes; i++)
    calls *= (gint)i == rows ? 1 : box->n[i];
  return calls;
}

gboolean astro_box_is_simple(const AstroBox *box)
{
  return count_calls(box) <= MOST_CALLS;
}

/* ---- the device ---- */

/* The device that alone has the bytes of a block; NULL: the host has them too. */
static AstroDevice *only_on(GstBuffer *buffer)
{
  return gst_buffer_n_memory(buffer) == 1 ? astro_memory_only_on(gst_buffer_peek_memory(buffer, 0))
                                          : NULL;
}

static void take_device(AstroBoxPlace *place, AstroDevice *device)
{
  if (place->device == device)
    return;
  astro_box_place_clear(place);
  place->queue = device->funcs->queue_new(device, NULL);
  if (place->queue)
    place->device = astro_device_ref(device);
}

gboolean astro_box_place_choose(AstroBoxPlace *place, GstBuffer *const *from, guint n,
                                AstroDevice *reader)
{
  g_autoptr(AstroDevice) first = NULL;
  guint found = 0;
  for (guint i = 0; i < n; i++) {
    g_autoptr(AstroDevice) device = only_on(from[i]);
    if (device && !first)
      first = astro_device_ref(device);
    found += device && device == first;
  }
  AstroDevice *device = first && reader && reader->kind == first->kind ? reader
                        : found == n                                   ? first
                                                                       : NULL;
  if (device)
    take_device(place, device);
  return device && place->device == device;
}

void astro_box_place_clear(AstroBoxPlace *place)
{
  if (place->device)
    place->device->funcs->queue_free(place->device, place->queue);
  place->queue = NULL;
  g_clear_pointer(&place->device, astro_device_unref);
}

/* ---- copies ---- */

static gboolean queue_box(const AstroBoxPlace *place, const AstroBox *box, guint8 *to,
                          const guint8 *from, GError **error)
{
  const gint rows = axis_of_rows(box);
  const guint64 calls = count_calls(box);
  for (guint64 call = 0; call < calls; call++) {
    gsize to_at = box->to, from_at = box->from;
    guint64 number = call;
    for (guint i = box->n_axes; i-- > 0;) {
      if ((gint)i == rows)
        continue;
      to_at += number % box->n[i] * box->to_step[i];
      from_at += number % box->n[i] * box->from_step[i];
      number /= box->n[i];
    }
    if (!place->device->funcs->queue_copy_rows(
            place->device, place->queue, to + to_at, rows < 0 ? box->bytes : box->to_step[rows],
            from + from_at, rows < 0 ? box->bytes : box->from_step[rows], box->bytes,
            rows < 0 ? 1 : box->n[rows], error))
      return FALSE;
  }
  return TRUE;
}

static gboolean copy_one(const AstroBoxPlace *place, GstBuffer *from, const AstroBox *box,
                         guint8 *to, GError **error)
{
  g_autoptr(GstBuffer) buffer = gst_buffer_ref(from); /* foreign memory is read from a copy */
  gpointer face;
  if (!astro_buffer_acquire(&buffer, place->device, place->queue, GST_MAP_READ, &face, error))
    return FALSE;
  const gboolean ok = queue_box(place, box, to, face, error);
  return astro_buffer_release(buffer, place->queue, GST_MAP_READ, FALSE, ok ? error : NULL) && ok;
}

gboolean astro_box_copy(const AstroBoxPlace *place, GstBuffer *const *from, const AstroBox *boxes,
                        guint n, GstBuffer *out, gboolean copy_down, GError **error)
{
  gboolean ok = TRUE;
  gpointer to;
  if (!astro_buffer_acquire(&out, place->device, place->queue, GST_MAP_WRITE, &to, error))
    return FALSE;
  for (guint i = 0; i < n && ok; i++)
    ok = copy_one(place, from[i], &boxes[i], to, error);
  return astro_buffer_release(out, place->queue, GST_MAP_WRITE, copy_down && ok,
                              ok ? error : NULL) &&
         ok;
}
