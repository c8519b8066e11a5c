/* Ends the stream of a pipeline, and its sinks. */
#include "config.h"
#include "graphs/run-parts.h"

#include "core/stream/stream.h"

static void send_eos(GstElement *source, gpointer unused)
{
  gst_element_send_event(source, gst_event_new_eos());
}

/* A source takes EOS only after the block that it is pushing, for which the main loop, with a
 * second interrupt and the control, must not wait. */
static void end_source(const GValue *value, gpointer unused)
{
  gst_element_call_async(g_value_get_object(value), send_eos, NULL, NULL);
}

/* EOS is sent to the sources. If it were sent to the pipeline, it would lock its state while a
 * source is blocked in pushing its first block, which a sink keeps until the pipeline plays, which
 * needs that lock: a deadlock. */
static void end_sources(AstroRun *run)
{
  GstIterator *sources = gst_bin_iterate_sources(GST_BIN(run->pipeline));
  while (gst_iterator_foreach(sources, end_source, NULL) == GST_ITERATOR_RESYNC)
    gst_iterator_resync(sources);
  gst_iterator_free(sources);
}

void astro_run_end_stream(AstroRun *run)
{
  /* Tells sinks that wait for a viewer, because they would hold up the end of the stream. */
  gst_element_send_event(run->pipeline,
                         gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM,
                                              gst_structure_new_empty(ASTRO_INTERRUPT_EVENT)));
  end_sources(run);
}

static void stop_sink(const GValue *value, gpointer unused)
{
  GstElement *sink = g_value_get_object(value);
  gst_element_set_locked_state(sink, TRUE);
  gst_element_set_state(sink, GST_STATE_NULL);
}

static void unlock_sink(const GValue *value, gpointer unused)
{
  gst_element_set_locked_state(g_value_get_object(value), FALSE);
}

static void for_each_sink(AstroRun *run, GstIteratorForeachFunction call)
{
  GstIterator *sinks = gst_bin_iterate_sinks(GST_BIN(run->pipeline));
  while (gst_iterator_foreach(sinks, call, NULL) == GST_ITERATOR_RESYNC)
    gst_iterator_resync(sinks);
  gst_iterator_free(sinks);
}

void astro_run_stop_sinks(AstroRun *run)
{
  for_each_sink(run, stop_sink);
}

void astro_run_unlock_sinks(AstroRun *run)
{
  for_each_sink(run, unlock_sink);
}

static void leave_sink(const GValue *value, gpointer unused)
{
  gst_element_set_state(g_value_get_object(value), GST_STATE_READY);
}

/* A source that waits to take EOS keeps its state locked until the block that it is pushing gets
 * somewhere. In a pipeline that goes to PAUSED first a sink would keep that block: sinks go first.
 */
void astro_run_leave_sinks(AstroRun *run)
{
  for_each_sink(run, leave_sink);
}
