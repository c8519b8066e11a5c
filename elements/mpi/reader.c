/* Finds who reads a stream. */
#include "config.h"
#include "elements/mpi/reader.h"

#include "elements/base/astrostage.h"

/* An astroselect that may work where its blocks lie. */
static gboolean only_cuts(AstroStage *stage)
{
  return g_str_equal(ASTRO_STAGE_GET_CLASS(stage)->stage, "select");
}

/* Its only source pad; a new reference. NULL: it has none, or several. */
static GstPad *find_way_on(GstElement *element)
{
  GST_OBJECT_LOCK(element);
  GstPad *src = element->numsrcpads == 1 ? gst_object_ref(element->srcpads->data) : NULL;
  GST_OBJECT_UNLOCK(element);
  return src;
}

gboolean mpi_is_read_on_device(GstPad *src)
{
  g_autoptr(GstPad) sink = gst_pad_get_peer(src);
  g_autoptr(GstElement) reader = sink ? gst_pad_get_parent_element(sink) : NULL;
  if (!reader)
    return FALSE;
  if (ASTRO_IS_STAGE(reader) && !only_cuts(ASTRO_STAGE(reader)))
    return astro_stage_prefers_device(ASTRO_STAGE(reader));
  g_autoptr(GstPad) next = find_way_on(reader);
  return next && mpi_is_read_on_device(next);
}
