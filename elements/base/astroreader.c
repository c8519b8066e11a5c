/* Asks the reader downstream of a pad what it takes. */
#include "config.h"
#include "elements/base/astroreader.h"

#include "core/backend/module.h"
#include "core/memory/memory.h"
#include "core/stream/grid.h"
#include "core/stream/validity.h"
#include "elements/base/astrostage.h"

#define READER "astro-reader"

void astro_reader_add(GstQuery *query, AstroDevice *device)
{
  GstAllocationParams params = { .align = ASTRO_MEMORY_ALIGN - 1 };
  g_autoptr(GstAllocator) allocator = astro_allocator_new(device);

  gst_query_add_allocation_param(query, allocator, &params);
  g_autoptr(GstStructure) reader =
      device ? gst_structure_new(READER, "device", G_TYPE_INT, device->index, "kind", G_TYPE_INT,
                                 device->kind, NULL)
             : NULL;
  gst_query_add_allocation_meta(query, ASTRO_VALIDITY_META_API, reader);
}

/* The name of something that a reader can do, listed without details: of what has some, a tee lists
 * nothing. */
static GType any_place_get_type(void)
{
  static gsize type;
  static const gchar *no_tags[] = { NULL };
  if (g_once_init_enter(&type))
    g_once_init_leave(&type, gst_meta_api_type_register("AstroAnyPlaceAPI", no_tags));
  return type;
}

void astro_reader_take_any(GstQuery *query)
{
  gst_query_add_allocation_meta(query, any_place_get_type(), NULL);
}

gboolean astro_reader_takes_any(GstQuery *query)
{
  return gst_query_find_allocation_meta(query, any_place_get_type(), NULL);
}

AstroDevice *astro_reader_find(GstQuery *query)
{
  const GstStructure *reader;
  guint index;
  gint device, kind;

  if (!gst_query_find_allocation_meta(query, ASTRO_VALIDITY_META_API, &index))
    return NULL;
  gst_query_parse_nth_allocation_meta(query, index, &reader);
  if (!reader || !gst_structure_has_name(reader, READER) ||
      !gst_structure_get_int(reader, "device", &device) ||
      !gst_structure_get_int(reader, "kind", &kind) || !astro_backend_is_device(kind))
    return NULL;
  return astro_device_open_of(kind, device, NULL);
}

void astro_reader_take_maps(GstQuery *query)
{
  gst_query_add_allocation_meta(query, ASTRO_GRID_META_API, NULL);
}

gboolean astro_reader_takes_maps(GstQuery *query)
{
  return gst_query_find_allocation_meta(query, ASTRO_GRID_META_API, NULL);
}

void astro_reader_take_image_only(GstQuery *query)
{
  gst_query_add_allocation_meta(query, ASTRO_GRID_IMAGE_ONLY_API, NULL);
}

gboolean astro_reader_takes_image_only(GstQuery *query)
{
  return gst_query_find_allocation_meta(query, ASTRO_GRID_IMAGE_ONLY_API, NULL);
}

/* The source pad that passes on what comes in at a sink pad; NULL: there is none, or there are
 * several. */
static GstPad *only_way_on(GstPad *sink)
{
  GstIterator *links = gst_pad_iterate_internal_links(sink);
  GValue value = G_VALUE_INIT;
  GstPad *found = NULL;

  if (!links)
    return NULL;
  if (gst_iterator_next(links, &value) == GST_ITERATOR_OK) {
    found = g_value_dup_object(&value);
    g_value_reset(&value);
    if (gst_iterator_next(links, &value) != GST_ITERATOR_DONE)
      gst_clear_object(&found);
  }
  if (G_IS_VALUE(&value))
    g_value_unset(&value);
  gst_iterator_free(links);
  return found;
}

static gboolean stage_takes(GstObject *owner, const char *form)
{
  const char *const *takes = ASTRO_STAGE_GET_CLASS(owner)->takes;
  return takes && g_strv_contains(takes, form);
}

gboolean astro_reader_takes(GstPad *src, const char *form)
{
  GstPad *sink = gst_pad_get_peer(src);

  while (sink) {
    g_autoptr(GstPad) here = sink;
    g_autoptr(GstObject) owner = gst_pad_get_parent(here);
    if (!owner || ASTRO_IS_STAGE(owner))
      return owner && stage_takes(owner, form);
    g_autoptr(GstPad) next = only_way_on(here);
    sink = next ? gst_pad_get_peer(next) : NULL;
  }
  return FALSE;
}

void astro_query_add_latency(GstQuery *query, GstClockTime own)
{
  GstClockTime min, max;
  gboolean is_live;

  gst_query_parse_latency(query, &is_live, &min, &max);
  gst_query_set_latency(query, is_live, min + own, GST_CLOCK_TIME_IS_VALID(max) ? max + own : max);
}

gboolean astro_transform_query(GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  GstBaseTransformClass *base = g_type_class_peek(GST_TYPE_BASE_TRANSFORM);
  GstPad *sink = GST_BASE_TRANSFORM_SINK_PAD(trans);

  /* ALLOCATION queries hold the pad's stream lock. Stopping sets the flag and then waits for that
   * lock. */
  if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION && GST_PAD_IS_FLUSHING(sink))
    return FALSE;
  return base->query(trans, direction, query);
}
