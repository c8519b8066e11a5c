/* A source that costs nothing and, like sources of other plugins, uses the allocator it is offered.
 */
#pragma once

#include <gst/base/gstpushsrc.h>

typedef struct {
  GstPushSrc parent;
  guint64 blocks, sent;
} FreeSrc;
typedef GstPushSrcClass FreeSrcClass;

GType free_src_get_type(void);
G_DEFINE_TYPE(FreeSrc, free_src, GST_TYPE_PUSH_SRC)

static GstFlowReturn free_src_fill(GstPushSrc *src, GstBuffer *buffer)
{
  FreeSrc *self = (FreeSrc *)src;
  GstMapInfo map;
  if (self->sent++ == self->blocks)
    return GST_FLOW_EOS;
  /* A source has to map its block for writing, which waits for a copy that still reads it. */
  if (!gst_buffer_map(buffer, &map, GST_MAP_WRITE))
    return GST_FLOW_ERROR;
  gst_buffer_unmap(buffer, &map);
  return GST_FLOW_OK;
}

static void free_src_class_init(FreeSrcClass *klass)
{
  g_autoptr(GstCaps) any = gst_caps_new_any();
  klass->fill = free_src_fill;
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Free source", "Source",
                                        "Sends blocks that cost nothing", "The gst-astro authors");
  gst_element_class_add_pad_template(GST_ELEMENT_CLASS(klass),
                                     gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, any));
}

static void free_src_init(FreeSrc *self)
{
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}
