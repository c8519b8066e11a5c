/* The base of sources that read files. */
#include "config.h"
#include "elements/base/astrofilesrc.h"

#include "core/backend/threads.h"
#include "elements/base/astrodeadline.h"
#include "elements/base/astrostage.h"

typedef struct {
  AstroDeadline deadline;
} AstroFileSrcPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE(AstroFileSrc, astro_file_src, GST_TYPE_PUSH_SRC)

static AstroDeadline *deadline_of(gpointer self)
{
  AstroFileSrcPrivate *own = astro_file_src_get_instance_private(self);
  return &own->deadline;
}

static gboolean start(GstBaseSrc *src)
{
  astro_deadline_clear(deadline_of(src));
  return TRUE;
}

/* Pads refuse all that is pushed once they flush, which they do before the source is told. */
static gboolean is_flushing(AstroFileSrc *self)
{
  GstPad *pad = GST_BASE_SRC_PAD(self);
  GST_OBJECT_LOCK(pad);
  const gboolean flushes = GST_PAD_IS_FLUSHING(pad);
  GST_OBJECT_UNLOCK(pad);
  return flushes || astro_deadline_is_stopped(deadline_of(self));
}

static GstFlowReturn create(GstPushSrc *src, GstBuffer **buffer)
{
  AstroFileSrc *self = ASTRO_FILE_SRC(src);
  AstroDeadline *deadline = deadline_of(src);
  astro_deadline_begin(deadline);
  const AstroStop *before = astro_stop_set(&deadline->stop);
  const GstFlowReturn flow = ASTRO_FILE_SRC_GET_CLASS(self)->make(self, buffer);
  astro_stop_set(before);
  if (flow == GST_FLOW_OK)
    return flow;
  if (is_flushing(self))
    return GST_FLOW_FLUSHING;
  return astro_deadline_is_missed(deadline) ? GST_FLOW_EOS : flow;
}

static gboolean unlock(GstBaseSrc *src)
{
  astro_deadline_set_stopped(deadline_of(src), TRUE);
  return TRUE;
}

static gboolean unlock_stop(GstBaseSrc *src)
{
  astro_deadline_set_stopped(deadline_of(src), FALSE);
  return TRUE;
}

static gboolean event(GstBaseSrc *src, GstEvent *event)
{
  if (gst_event_has_name(event, ASTRO_INTERRUPT_EVENT))
    astro_deadline_interrupt(deadline_of(src));
  return GST_BASE_SRC_CLASS(astro_file_src_parent_class)->event(src, event);
}

static void astro_file_src_init(AstroFileSrc *self)
{
  astro_deadline_init(deadline_of(self));
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
}

static void astro_file_src_class_init(AstroFileSrcClass *class)
{
  GstBaseSrcClass *src = GST_BASE_SRC_CLASS(class);
  src->start = start;
  src->unlock = unlock;
  src->unlock_stop = unlock_stop;
  src->event = event;
  GST_PUSH_SRC_CLASS(class)->create = create;
}
