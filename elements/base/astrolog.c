#include "config.h"
#include "elements/base/astrolog.h"

#include "core/memory/pool.h"

/* Shorter ones come with every block. */
#define WAIT_TOLD (10 * GST_MSECOND)

static G_DEFINE_QUARK(astro_log_category, category)

/* An element that no factory made is called as its type, in small letters. */
static GstDebugCategory *make_category(GObject *object)
{
  GstDebugCategory *category = NULL;
  GstElement *element = GST_IS_ELEMENT(object) ? GST_ELEMENT(object) : NULL;
  GstElementFactory *factory = element ? gst_element_get_factory(element) : NULL;
  g_autofree char *name = factory ? g_strdup(GST_OBJECT_NAME(factory))
                                  : g_ascii_strdown(G_OBJECT_TYPE_NAME(object), -1);
  const char *about =
      factory ? gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_LONGNAME) : NULL;
  GST_DEBUG_CATEGORY_INIT(category, name, 0, about);
  return category;
}

static GstDebugCategory *category_of(GObject *object)
{
  static GMutex lock;
  GstDebugCategory *category = g_type_get_qdata(G_OBJECT_TYPE(object), category_quark());
  if (category)
    return category;
  g_mutex_lock(&lock);
  category = g_type_get_qdata(G_OBJECT_TYPE(object), category_quark());
  if (!category) {
    category = make_category(object);
    g_type_set_qdata(G_OBJECT_TYPE(object), category_quark(), category);
  }
  g_mutex_unlock(&lock);
  return category;
}

GstDebugCategory *astro_log_category(gpointer object)
{
  if (!GST_IS_PAD(object))
    return category_of(object);
  g_autoptr(GstObject) parent = gst_object_get_parent(object);
  return category_of(parent ? G_OBJECT(parent) : object);
}

void astro_log_caps(gpointer element, const GstCaps *in, const GstCaps *out)
{
  if (in && out)
    ASTRO_INFO(element, "caps agreed: in %" GST_PTR_FORMAT ", out %" GST_PTR_FORMAT, in, out);
  else
    ASTRO_INFO(element, "caps agreed: %s %" GST_PTR_FORMAT, in ? "in" : "out", in ? in : out);
}

void astro_log_wait(gpointer element, const char *what, guint64 ns)
{
  if (ns >= WAIT_TOLD)
    ASTRO_DEBUG(element, "waited %.1f ms %s", (double)ns / GST_MSECOND, what);
}

void astro_log_growth(gpointer element, GstBufferPool *pool, guint before)
{
  const guint now = astro_buffer_pool_made(pool);
  if (now > before)
    ASTRO_DEBUG(element, "pool grows to %u blocks: those before are in use downstream", now);
}

void astro_log_block(gpointer element, const char *way, GstBuffer *block)
{
  ASTRO_LOG(element, "%s: %" GST_PTR_FORMAT, way, block);
}
