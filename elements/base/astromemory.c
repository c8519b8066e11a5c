/* The query for memory. */
#include "config.h"
#include "elements/base/astromemory.h"

#define NAME "astro-memory"

gboolean astro_memory_is_asked(GstQuery *query)
{
  const GstStructure *s = gst_query_get_structure(query);
  return GST_QUERY_TYPE(query) == GST_QUERY_CUSTOM && s && gst_structure_has_name(s, NAME);
}

static guint64 bytes_of(GstQuery *query)
{
  guint64 bytes = 0;
  gst_structure_get_uint64(gst_query_get_structure(query), "bytes", &bytes);
  return bytes;
}

void astro_memory_add(GstQuery *query, guint64 bytes)
{
  gst_structure_set(gst_query_writable_structure(query), "bytes", G_TYPE_UINT64,
                    bytes_of(query) + bytes, NULL);
}

/* Nobody says that the query is answered, so that a tee asks all its branches. */
guint64 astro_memory_downstream(GstPad *src)
{
  g_autoptr(GstQuery) query =
      gst_query_new_custom(GST_QUERY_CUSTOM, gst_structure_new(NAME, "bytes", G_TYPE_UINT64,
                                                               G_GUINT64_CONSTANT(0), NULL));
  gst_pad_peer_query(src, query);
  return bytes_of(query);
}
