/* Runs a pipeline up to its first block, which is dropped where it would enter the first stage. A
 * marker follows the caps through the pipeline: when it has come to all stages, all caps are agreed
 * on. */
#include "graphs/plan-shapes.h"
#include "core/stream/stream.h"
#include "graphs/plan-sinks.h"

#include <gst/base/gstaggregator.h>
#include <string.h>

#define MARKER ASTRO_PLAN_END
#define PATIENCE (20 * G_USEC_PER_SEC)

typedef struct {
  AstroPlanShapes *shapes;
  GstElement *pipeline;
  GMutex lock;
  GHashTable *sent;    /* pads that have sent the marker */
  GHashTable *awaited; /* elements that it has not come to */
} Planning;

static void stage_free(gpointer data)
{
  AstroPlanStage *stage = data;
  gst_object_unref(stage->element);
  g_free(stage->stage);
  g_free(stage->backend);
  g_free(stage->besides);
  g_free(stage);
}

void astro_plan_shapes_free(AstroPlanShapes *shapes)
{
  g_ptr_array_unref(shapes->stages);
  g_free(shapes);
}

/* ---- the first block ---- */

static gboolean stream_at(GstPad *pad, AstroStream *stream)
{
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  return caps && gst_caps_is_fixed(caps) &&
         g_str_has_prefix(gst_structure_get_name(gst_caps_get_structure(caps, 0)),
                          "application/x-astro-") &&
         astro_stream_from_caps(stream, caps, NULL);
}

static double rate_of(const AstroStream *stream)
{
  return stream->rate_n > 0 ? (double)stream->rate_n / stream->rate_d : 0;
}

static gboolean is_from_network(GstPad *pad)
{
  g_autoptr(GstElement) element = gst_pad_get_parent_element(pad);
  const char *kind = element ? gst_element_get_metadata(element, GST_ELEMENT_METADATA_KLASS) : NULL;
  return kind && strstr(kind, "Network") && strstr(kind, "Source");
}

static void note_source(Planning *planning, GstPad *pad, const AstroStream *stream, gsize bytes)
{
  AstroPlanShapes *shapes = planning->shapes;
  const double step = (double)astro_stream_step_bytes(stream), rate = rate_of(stream);
  g_mutex_lock(&planning->lock);
  if (shapes->bandwidth <= 0)
    shapes->bandwidth = stream->bandwidth;
  if (shapes->block <= 0 && rate > 0)
    shapes->block = (double)bytes / step / rate;
  if (is_from_network(pad))
    shapes->received += step * rate;
  g_mutex_unlock(&planning->lock);
}

/* A stream of ours that has its caps goes no further; bytes of which they are made do. */
static GstPadProbeReturn on_block(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Planning *planning = data;
  AstroStream stream;
  if (!info->data || !stream_at(pad, &stream))
    return GST_PAD_PROBE_OK;
  g_mutex_lock(&planning->lock);
  const gboolean is_first = g_hash_table_add(planning->sent, pad);
  g_mutex_unlock(&planning->lock);
  if (is_first) {
    gsize bytes = 0;
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
      bytes = gst_buffer_get_size(GST_PAD_PROBE_INFO_BUFFER(info));
    note_source(planning, pad, &stream, bytes);
    gst_pad_push_event(
        pad, gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty(MARKER)));
  }
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST)
    gst_buffer_list_unref(GST_PAD_PROBE_INFO_BUFFER_LIST(info));
  else
    gst_buffer_unref(GST_PAD_PROBE_INFO_BUFFER(info));
  info->data = NULL;
  GST_PAD_PROBE_INFO_FLOW_RETURN(info) = GST_FLOW_FLUSHING;
  return GST_PAD_PROBE_HANDLED;
}

static void watch_pad(GstElement *element, GstPad *pad, gpointer planning)
{
  if (GST_PAD_IS_SRC(pad))
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, on_block,
                      planning, NULL);
}

static gboolean watch_each_pad(GstElement *element, GstPad *pad, gpointer planning)
{
  watch_pad(element, pad, planning);
  return TRUE;
}

static void watch_element(GstElement *element, gpointer planning)
{
  if (GST_IS_BIN(element))
    return;
  gst_element_foreach_pad(element, watch_each_pad, planning);
  g_signal_connect(element, "pad-added", G_CALLBACK(watch_pad), planning);
}

static void watch_each(const GValue *value, gpointer planning)
{
  watch_element(g_value_get_object(value), planning);
}

static void on_added(GstBin *pipeline, GstBin *bin, GstElement *element, gpointer planning)
{
  watch_element(element, planning);
}

/* ---- the marker ---- */

static GstPadProbeReturn on_marker(GstPad *pad, GstPadProbeInfo *info, gpointer element)
{
  if (gst_event_has_name(GST_PAD_PROBE_INFO_EVENT(info), MARKER))
    gst_element_post_message(
        element, gst_message_new_application(GST_OBJECT(element), gst_structure_new_empty(MARKER)));
  return GST_PAD_PROBE_OK;
}

static void await(Planning *planning, GstElement *element, GstPad *pad)
{
  if (g_hash_table_add(planning->awaited, element))
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_marker, element, NULL);
}

static gboolean await_pad(GstElement *element, GstPad *pad, gpointer planning)
{
  await(planning, element, pad);
  return TRUE;
}

/* The stages, which have backends. One with several inputs has told its work only once the marker
 * has come on all of them. */
static void await_stage(const GValue *value, gpointer planning)
{
  GstElement *element = g_value_get_object(value);
  if (!g_object_class_find_property(G_OBJECT_GET_CLASS(element), "active-backend"))
    return;
  if (GST_IS_AGGREGATOR(element))
    g_hash_table_add(((Planning *)planning)->awaited, element);
  else
    gst_element_foreach_sink_pad(element, await_pad, planning);
}

/* The sinks of our streams. Encoders of pictures, which wait for the first one, hold events back.
 */
static void await_sinks(Planning *planning, GPtrArray *sinks)
{
  for (guint i = 0; i < sinks->len; i++) {
    const AstroPlanSink *sink = sinks->pdata[i];
    if (sink->is_ours)
      await(planning, sink->element, sink->pad);
  }
}

static void note_sinks(AstroPlanShapes *shapes, GPtrArray *sinks)
{
  for (guint i = 0; i < sinks->len; i++) {
    const AstroPlanSink *sink = sinks->pdata[i];
    AstroStream stream;
    if (sink->is_file && stream_at(sink->pad, &stream))
      shapes->written += (double)astro_stream_step_bytes(&stream) * rate_of(&stream);
  }
}

/* ---- messages ---- */

AstroPlanShapes *astro_plan_shapes_new(void)
{
  AstroPlanShapes *shapes = g_new0(AstroPlanShapes, 1);
  shapes->stages = g_ptr_array_new_with_free_func(stage_free);
  return shapes;
}

AstroPlanStage *astro_plan_shapes_stage(const AstroPlanShapes *shapes, gconstpointer element)
{
  for (guint i = 0; i < shapes->stages->len; i++) {
    AstroPlanStage *stage = shapes->stages->pdata[i];
    if (stage->element == element)
      return stage;
  }
  return NULL;
}

static AstroPlanStage *find_stage(AstroPlanShapes *shapes, gpointer element)
{
  AstroPlanStage *stage = astro_plan_shapes_stage(shapes, element);
  if (stage)
    return stage;
  stage = g_new0(AstroPlanStage, 1);
  stage->element = gst_object_ref(element);
  g_ptr_array_add(shapes->stages, stage);
  return stage;
}

static double number(const GstStructure *s, const char *field)
{
  double value = 0;
  gst_structure_get_double(s, field, &value);
  return value;
}

/* A stage tells again if its caps change; the last word counts. */
void astro_plan_shapes_hear(AstroPlanShapes *shapes, GstMessage *message)
{
  const GstStructure *s = gst_message_get_structure(message);
  AstroPlanStage *stage = find_stage(shapes, GST_MESSAGE_SRC(message));
  g_free(stage->stage);
  g_free(stage->backend);
  g_free(stage->besides);
  stage->stage = g_strdup(gst_structure_get_string(s, "stage"));
  stage->backend = g_strdup(gst_structure_get_string(s, "backend"));
  stage->besides = g_strdup(gst_structure_get_string(s, "besides"));
  gst_structure_get_boolean(s, "pass-through", &stage->passes);
  gst_structure_get_boolean(s, "told", &stage->told);
  stage->rate_in = number(s, "rate-in");
  stage->rate_out = number(s, "rate-out");
  stage->step_out = number(s, "bytes-out");
  const gboolean has_rate = stage->rate_in > 0;
  stage->bytes_in = number(s, "bytes-in") * (has_rate ? stage->rate_in : 1);
  stage->bytes_out = stage->step_out * (has_rate ? stage->rate_out : 1);
  stage->kept = number(s, "kept");
  stage->moved = number(s, "moved");
  for (guint i = 0; i < ASTRO_N_ARITHMETICS; i++)
    stage->operations[i] = number(s, astro_arithmetic_name((AstroArithmetic)i));
}

static char *error_of(GstMessage *message)
{
  g_autoptr(GError) error = NULL;
  gst_message_parse_error(message, &error, NULL);
  return g_strdup_printf("%s: %s", GST_OBJECT_NAME(message->src), error->message);
}

static char *late(Planning *planning)
{
  GHashTableIter iter;
  gpointer element;
  g_hash_table_iter_init(&iter, planning->awaited);
  g_hash_table_iter_next(&iter, &element, NULL);
  return g_strdup_printf("%s: its stream is only known once data comes; expected elements upstream "
                         "that tell their caps at once, such as a file or a simulated sky",
                         GST_OBJECT_NAME(element));
}

/* Waits until the marker has come everywhere; FALSE, with the reason, if there is an error or it
 * does not. */
static gboolean wait(Planning *planning, char **trouble)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(planning->pipeline);
  const gint64 end = g_get_monotonic_time() + PATIENCE;
  while (g_hash_table_size(planning->awaited) > 0) {
    const gint64 left = MAX(end - g_get_monotonic_time(), 0);
    g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
        bus, (GstClockTime)left * 1000,
        GST_MESSAGE_ERROR | GST_MESSAGE_EOS | GST_MESSAGE_ELEMENT | GST_MESSAGE_APPLICATION);
    if (!message || GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) {
      *trouble = late(planning);
      return FALSE;
    }
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      *trouble = error_of(message);
      return FALSE;
    }
    const GstStructure *s = gst_message_get_structure(message);
    if (gst_structure_has_name(s, ASTRO_PLAN_MESSAGE)) {
      astro_plan_shapes_hear(planning->shapes, message);
      if (GST_IS_AGGREGATOR(GST_MESSAGE_SRC(message)))
        g_hash_table_remove(planning->awaited, GST_MESSAGE_SRC(message));
    } else if (gst_structure_has_name(s, MARKER))
      g_hash_table_remove(planning->awaited, GST_MESSAGE_SRC(message));
  }
  return TRUE;
}

/* From sources to sinks, as the pipeline sorts its elements. */
static void sort_stages(Planning *planning)
{
  AstroPlanShapes *shapes = planning->shapes;
  GPtrArray *sorted = g_ptr_array_new_with_free_func(stage_free);
  GstIterator *elements = gst_bin_iterate_sorted(GST_BIN(planning->pipeline));
  GValue value = G_VALUE_INIT;
  while (gst_iterator_next(elements, &value) == GST_ITERATOR_OK) {
    for (guint i = 0; i < shapes->stages->len; i++) {
      AstroPlanStage *stage = shapes->stages->pdata[i];
      if (stage->element == g_value_get_object(&value)) {
        g_ptr_array_steal_index(shapes->stages, i);
        g_ptr_array_insert(sorted, 0, stage);
        break;
      }
    }
    g_value_unset(&value);
  }
  gst_iterator_free(elements);
  g_ptr_array_extend_and_steal(sorted, g_steal_pointer(&shapes->stages));
  shapes->stages = sorted;
}

AstroPlanShapes *astro_plan_shapes(GstElement *pipeline, char **trouble)
{
  Planning planning = { .shapes = astro_plan_shapes_new(), .pipeline = pipeline };
  g_autoptr(GstContext) context = gst_context_new(ASTRO_PLAN_CONTEXT, FALSE);
  g_autoptr(GPtrArray) sinks = astro_plan_replace_sinks(pipeline);
  planning.sent = g_hash_table_new(NULL, NULL);
  planning.awaited = g_hash_table_new(NULL, NULL);
  g_mutex_init(&planning.lock);
  gst_element_set_context(pipeline, context);
  GstIterator *elements = gst_bin_iterate_recurse(GST_BIN(pipeline));
  gst_iterator_foreach(elements, watch_each, &planning);
  gst_iterator_resync(elements);
  gst_iterator_foreach(elements, await_stage, &planning);
  gst_iterator_free(elements);
  g_signal_connect(pipeline, "deep-element-added", G_CALLBACK(on_added), &planning);
  await_sinks(&planning, sinks);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  const gboolean ok = wait(&planning, trouble);
  if (ok) {
    note_sinks(planning.shapes, sinks);
    sort_stages(&planning);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  g_hash_table_unref(planning.sent);
  g_hash_table_unref(planning.awaited);
  g_mutex_clear(&planning.lock);
  if (!ok)
    g_clear_pointer(&planning.shapes, astro_plan_shapes_free);
  return planning.shapes;
}
