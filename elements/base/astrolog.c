/* Debug categories of elements, and the lines that all stages log. */
#include "config.h"
#include "elements/base/astrolog.h"

#include "core/memory/pool.h"
#include "core/stream/validity.h"

/* Shorter waits come with every block. */
#define WAIT_TOLD (10 * GST_MSECOND)

static G_DEFINE_QUARK(astro_log_category, category)

/* An element that was made without a factory goes by the name of its type. astro*:5 is to show the
 * elements of other plugins too, so their names get a prefix. */
static GstDebugCategory *make_category(GObject *object)
{
  GstDebugCategory *category = NULL;
  GstElement *element = GST_IS_ELEMENT(object) ? GST_ELEMENT(object) : NULL;
  GstElementFactory *factory = element ? gst_element_get_factory(element) : NULL;
  g_autofree char *called = factory ? g_strdup(GST_OBJECT_NAME(factory))
                                    : g_ascii_strdown(G_OBJECT_TYPE_NAME(object), -1);
  g_autofree char *name =
      g_strconcat(g_str_has_prefix(called, "astro") ? "" : "astro-", called, NULL);
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
    ASTRO_DEBUG(element, "pool grows to %u blocks: the others are in use downstream", now);
}

/* ", counts over time:station: 87.5 % good, 2 of 16 below 8, the lowest 0" */
static char *describe_counts(GstBuffer *block)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(block);
  if (!meta || !meta->counts)
    return g_strdup(", no counts");
  const guint64 n = astro_validity_n_counts(meta);
  guint64 sum = 0, below = 0;
  guint32 lowest = meta->full;
  for (guint64 i = 0; i < n; i++) {
    sum += meta->counts[i];
    below += meta->counts[i] < meta->full;
    lowest = MIN(lowest, meta->counts[i]);
  }
  g_autofree char *axes = astro_layout_to_string(&meta->shape);
  return g_strdup_printf(", counts over %s: %.4g %% good, %" G_GUINT64_FORMAT
                         " of %" G_GUINT64_FORMAT " below %u, the lowest %u",
                         *axes ? axes : "the whole block",
                         100.0 * (double)sum / (double)n / MAX(meta->full, 1), below, n, meta->full,
                         lowest);
}

void astro_log_block(gpointer element, const char *way, GstBuffer *block)
{
  /* Looking up the category takes a lock, which is too dear for every block. */
  if (_gst_debug_min < GST_LEVEL_LOG ||
      gst_debug_category_get_threshold(astro_log_category(element)) < GST_LEVEL_LOG)
    return;
  g_autofree char *counts = describe_counts(block);
  ASTRO_LOG(element, "%s: %" GST_PTR_FORMAT "%s", way, block, counts);
}
