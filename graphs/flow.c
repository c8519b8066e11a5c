/* Counts buffers at pads by probes. */
#include "graphs/flow.h"

/* One for each pad, since each pad has a streaming thread of its own. */
typedef struct {
  GstPad *pad;
  gulong probe;
  guint64 buffers, bytes, end;
} PadCount;

struct _AstroFlow {
  GstElement *element;
  GstPadDirection direction;
  gulong handler;
  GMutex lock;
  GPtrArray *pads;
};

static void add(guint64 *counter, guint64 n)
{
  __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

static void count_buffer(PadCount *count, GstBuffer *buffer)
{
  add(&count->buffers, 1);
  add(&count->bytes, gst_buffer_get_size(buffer));
  if (GST_BUFFER_PTS_IS_VALID(buffer) && GST_BUFFER_DURATION_IS_VALID(buffer)) {
    guint64 end = GST_BUFFER_PTS(buffer) + GST_BUFFER_DURATION(buffer);
    if (end > __atomic_load_n(&count->end, __ATOMIC_RELAXED))
      __atomic_store_n(&count->end, end, __ATOMIC_RELAXED);
  }
}

static GstPadProbeReturn on_data(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST(info);
    for (guint i = 0; list && i < gst_buffer_list_length(list); i++)
      count_buffer(data, gst_buffer_list_get(list, i));
  } else if (info->data) { /* in pull mode the probe is called once before there is a buffer */
    count_buffer(data, GST_PAD_PROBE_INFO_BUFFER(info));
  }
  return GST_PAD_PROBE_OK;
}

static void watch_pad(GstElement *element, GstPad *pad, gpointer data)
{
  AstroFlow *flow = data;
  if (GST_PAD_DIRECTION(pad) != flow->direction)
    return;
  PadCount *count = g_new0(PadCount, 1);
  count->pad = gst_object_ref(pad);
  g_mutex_lock(&flow->lock);
  g_ptr_array_add(flow->pads, count);
  g_mutex_unlock(&flow->lock);
  count->probe = gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST,
                                   on_data, count, NULL);
}

static gboolean watch_each(GstElement *element, GstPad *pad, gpointer data)
{
  watch_pad(element, pad, data);
  return TRUE;
}

static void pad_count_free(gpointer data)
{
  PadCount *count = data;
  gst_pad_remove_probe(count->pad, count->probe);
  gst_object_unref(count->pad);
  g_free(count);
}

AstroFlow *astro_flow_new(GstElement *element, GstPadDirection direction)
{
  AstroFlow *flow = g_new0(AstroFlow, 1);
  flow->element = gst_object_ref(element);
  flow->direction = direction;
  flow->pads = g_ptr_array_new_with_free_func(pad_count_free);
  g_mutex_init(&flow->lock);
  gst_element_foreach_pad(element, watch_each, flow);
  flow->handler = g_signal_connect(element, "pad-added", G_CALLBACK(watch_pad), flow);
  return flow;
}

AstroFlowCount astro_flow_count(AstroFlow *flow)
{
  AstroFlowCount sum = { 0 };
  g_mutex_lock(&flow->lock);
  for (guint i = 0; i < flow->pads->len; i++) {
    PadCount *count = flow->pads->pdata[i];
    sum.buffers += __atomic_load_n(&count->buffers, __ATOMIC_RELAXED);
    sum.bytes += __atomic_load_n(&count->bytes, __ATOMIC_RELAXED);
    sum.end = MAX(sum.end, __atomic_load_n(&count->end, __ATOMIC_RELAXED));
  }
  g_mutex_unlock(&flow->lock);
  return sum;
}

void astro_flow_free(AstroFlow *flow)
{
  g_signal_handler_disconnect(flow->element, flow->handler);
  g_ptr_array_unref(flow->pads);
  gst_object_unref(flow->element);
  g_mutex_clear(&flow->lock);
  g_free(flow);
}
