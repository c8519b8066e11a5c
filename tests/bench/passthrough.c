/* The cost of a stage with nothing to do, for each buffer, beside GStreamer's identity; and of
 * astroselect if what it keeps is contiguous in a block, so that nothing is copied. */
#include "tests/bench/bench.h"

#include <gst/gst.h>

#define CAPS "application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=64,pols=2"
#define BLOCKS                                                                                     \
  "application/x-astro-spectra,format=CF32LE,layout=station:pol:time:channel,stations=64,pols=2,"  \
  "channels=256"
#define BLOCK_BYTES (64 * 2 * 256 * 8)
#define BUFFERS 200000

typedef struct {
  GstPad *src;
  GstBuffer *buffer;
} Line;

static GstFlowReturn swallow(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref(buffer);
  return GST_FLOW_OK;
}

static void push_all(gpointer data)
{
  Line *line = data;
  for (guint i = 0; i < BUFFERS; i++)
    gst_pad_push(line->src, gst_buffer_ref(line->buffer));
}

static void open_line(Line *line, const char *what, const char *caps_text, gsize bytes)
{
  GstElement *element = gst_parse_launch(what, NULL);
  GstPad *sink = gst_pad_new("sink", GST_PAD_SINK);
  g_autoptr(GstCaps) caps = gst_caps_from_string(caps_text);
  GstSegment segment;

  if (!element)
    g_error("no element %s", what);
  line->src = gst_pad_new("src", GST_PAD_SRC);
  line->buffer = gst_buffer_new_allocate(NULL, bytes, NULL);
  gst_pad_set_chain_function(sink, swallow);
  gst_pad_link(line->src, gst_element_get_static_pad(element, "sink"));
  gst_pad_link(gst_element_get_static_pad(element, "src"), sink);
  gst_pad_set_active(sink, TRUE);
  gst_pad_set_active(line->src, TRUE);
  gst_element_set_state(element, GST_STATE_PLAYING);
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(line->src, gst_event_new_stream_start("bench"));
  gst_pad_push_event(line->src, gst_event_new_caps(caps));
  gst_pad_push_event(line->src, gst_event_new_segment(&segment));
}

static void measure(const char *what, const char *caps, gsize bytes, double part)
{
  Line ours, identity;
  double a, b;
  open_line(&identity, "identity", caps, bytes);
  open_line(&ours, what, caps, bytes);
  bench_pair(push_all, &ours, push_all, &identity, 9, &a, &b);
  bench_row(what, BUFFERS / a, BUFFERS / b * part, "1/s", 1);
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  bench_head("pass-through, buffers a second (limit: half of identity's)");
  measure("astrotranspose", CAPS, 256, 0.5);
  measure("astroconvert", CAPS, 256, 0.5);
  bench_head("a slice, buffers a second (limit: identity's)");
  measure("astroselect stations=16-47", BLOCKS, BLOCK_BYTES, 1);
  return 0;
}
