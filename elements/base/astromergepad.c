/* The sink pads of AstroMerge. */
#include "config.h"
#include "elements/base/astromergepad.h"

#include <string.h>

#include "core/stream/histogram-summary.h"
#include "core/memory/memory.h"
#include "core/stream/validity.h"
#include "elements/base/astroincoming.h"
#include "elements/base/astromerge-parts.h"

G_DEFINE_TYPE(AstroMergePad, astro_merge_pad, GST_TYPE_AGGREGATOR_PAD)

AstroMergeStream *astro_merge_stream_ref(AstroMergeStream *stream)
{
  g_atomic_int_inc(&stream->ref_count);
  return stream;
}

void astro_merge_stream_unref(AstroMergeStream *stream)
{
  if (!g_atomic_int_dec_and_test(&stream->ref_count))
    return;
  gst_caps_unref(stream->caps);
  g_clear_pointer(&stream->observation, astro_observation_unref);
  g_free(stream);
}

void astro_merge_entry_free(AstroMergeEntry *entry)
{
  astro_merge_stream_unref(entry->of);
  gst_clear_buffer(&entry->buffer);
  gst_clear_event(&entry->told);
  g_free(entry);
}

/* ---- events ---- */

static void replace_latest(AstroMergePad *pad, const AstroStream *stream, GstCaps *caps)
{
  AstroMergeStream *latest = g_new0(AstroMergeStream, 1);
  latest->ref_count = 1;
  latest->stream = *stream;
  latest->caps = gst_caps_ref(caps);
  latest->observation = pad->observation ? astro_observation_ref(pad->observation) : NULL;
  g_clear_pointer(&pad->latest, astro_merge_stream_unref);
  pad->latest = latest;
}

static gboolean take_caps(AstroMergePad *pad, GstEvent *event, GError **error)
{
  AstroStream stream;
  GstCaps *caps;
  gst_event_parse_caps(event, &caps);
  if (pad->latest && gst_caps_is_equal(pad->latest->caps, caps))
    return TRUE;
  if (!astro_stream_from_caps(&stream, caps, error) || !astro_stream_check_sums(&stream, error))
    return FALSE;
  if (pad->latest)
    astro_steps_follow_rate(&pad->steps, &pad->latest->stream, &stream);
  replace_latest(pad, &stream, caps);
  return TRUE;
}

/* The same observation again, as it comes when an element is linked in mid-stream, is not a new
 * one. */
static gboolean take_observation(AstroMergePad *pad, GstEvent *event, GError **error)
{
  g_autoptr(GstEvent) known =
      pad->observation ? astro_observation_to_event(pad->observation) : NULL;
  AstroObservation *observation = astro_observation_from_event(event, error);
  if (!observation)
    return FALSE;
  g_autoptr(GstEvent) given = astro_observation_to_event(observation);
  if (known &&
      gst_structure_is_equal(gst_event_get_structure(known), gst_event_get_structure(given))) {
    astro_observation_unref(observation);
    return TRUE;
  }
  g_clear_pointer(&pad->observation, astro_observation_unref);
  pad->observation = observation;
  pad->steps.is_anew = TRUE;
  if (pad->latest) {
    const AstroStream stream = pad->latest->stream;
    g_autoptr(GstCaps) caps = gst_caps_ref(pad->latest->caps);
    replace_latest(pad, &stream, caps);
  }
  return TRUE;
}

/* Events wait in the pad's queue, while the sticky event on the pad is already the latest. */
static void take_segment(AstroMergePad *pad, GstEvent *event)
{
  const GstSegment *segment;
  gst_event_parse_segment(event, &segment);
  pad->steps.retime = TRUE;
  if (gst_segment_is_equal(&pad->segment, segment))
    return;
  gst_segment_copy_into(segment, &pad->segment);
  pad->steps.counts_time = segment->format == GST_FORMAT_TIME;
  pad->steps.is_anew = TRUE;
}

static void take_stream_start(AstroMergePad *pad, GstEvent *event)
{
  const char *id;
  gst_event_parse_stream_start(event, &id);
  pad->steps.is_anew |= pad->stream_id && g_strcmp0(pad->stream_id, id) != 0;
  g_free(pad->stream_id);
  pad->stream_id = g_strdup(id);
}

gboolean astro_merge_pad_take_event(AstroMergePad *pad, GstEvent *event, GError **error)
{
  switch (GST_EVENT_TYPE(event)) {
  case GST_EVENT_CAPS:
    return take_caps(pad, event, error);
  case GST_EVENT_SEGMENT:
    take_segment(pad, event);
    return TRUE;
  case GST_EVENT_STREAM_START:
    take_stream_start(pad, event);
    return TRUE;
  case GST_EVENT_GAP:
    pad->steps.retime = TRUE;
    return TRUE;
  case GST_EVENT_CUSTOM_DOWNSTREAM_STICKY:
    if (astro_event_is_summary(event))
      gst_event_replace(&pad->told, event);
    return !astro_event_is_observation(event) || take_observation(pad, event, error);
  default:
    return TRUE;
  }
}

/* ---- buffers ---- */

static GstClockTime running_time(const AstroMergePad *pad, GstClockTime time)
{
  return pad->segment.format == GST_FORMAT_TIME && GST_CLOCK_TIME_IS_VALID(time)
             ? gst_segment_to_running_time(&pad->segment, GST_FORMAT_TIME, time)
             : GST_CLOCK_TIME_NONE;
}

/* A GAP event, which arrives as an empty buffer that GstAggregator has made. */
static void take_gap(AstroMergePad *pad, GstBuffer *buffer)
{
  pad->steps.retime = TRUE;
  if (GST_BUFFER_PTS_IS_VALID(buffer) && GST_BUFFER_DURATION_IS_VALID(buffer))
    pad->gap_end = GST_BUFFER_PTS(buffer) + GST_BUFFER_DURATION(buffer);
}

static void add_entry(AstroMergePad *pad, GstBuffer *buffer, guint64 steps, guint64 skip,
                      guint64 first)
{
  const AstroStream *stream = &pad->latest->stream;
  AstroMergeEntry *entry = g_new0(AstroMergeEntry, 1);
  entry->of = astro_merge_stream_ref(pad->latest);
  entry->buffer =
      GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP) ? NULL : gst_buffer_ref(buffer);
  entry->told = pad->told ? gst_event_ref(pad->told) : NULL;
  entry->steps = steps;
  entry->skip = skip;
  entry->first = first;
  entry->epoch = pad->steps.epoch;
  entry->running = running_time(pad, stream->rate_n ? astro_steps_time(&pad->steps, stream, first)
                                                    : GST_BUFFER_PTS(buffer));
  pad->gap_end = GST_CLOCK_TIME_NONE;
  g_queue_push_tail(&pad->entries, entry);
}

static gboolean place_buffer(AstroMergePad *pad, GstBuffer *buffer, guint64 *again, GError **error)
{
  const AstroStream *stream = &pad->latest->stream;
  AstroStepsPlace place;
  guint64 steps;
  if (!astro_stream_steps(stream, gst_buffer_get_size(buffer), &steps, error))
    return FALSE;
  if (steps == 0)
    return TRUE;
  if (!astro_incoming_check_counts(stream, buffer, steps, error))
    return FALSE;
  if (!astro_steps_count_once(stream)) {
    add_entry(pad, buffer, 1, 0, pad->n++);
    return TRUE;
  }
  if (!astro_steps_find(&pad->steps, stream, buffer, steps, &place, error))
    return FALSE;
  *again = place.again;
  if (place.again < steps)
    add_entry(pad, buffer, steps, place.again, place.first);
  return TRUE;
}

gboolean astro_merge_pad_take_buffer(AstroMergePad *pad, AstroMergeTaken *taken, GError **error)
{
  GstBuffer *buffer = gst_aggregator_pad_pop_buffer(GST_AGGREGATOR_PAD(pad));
  gboolean ok = TRUE;
  *taken = (AstroMergeTaken){ 0 };
  if (!buffer)
    return FALSE;
  taken->bytes = gst_buffer_get_size(buffer);
  if (gst_buffer_get_size(buffer) == 0)
    take_gap(pad, buffer);
  else if (!pad->latest)
    ok = astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "a buffer came without caps, which say what it holds. A source of "
                             "bytes, such as filesrc, needs a capsfilter behind it");
  else
    ok = astro_buffer_align(&buffer, NULL, ASTRO_SAMPLES_ALIGN, error) &&
         place_buffer(pad, buffer, &taken->again, error);
  gst_buffer_unref(buffer);
  return ok;
}

/* ---- states ---- */

void astro_merge_pad_flush(AstroMergePad *pad)
{
  g_queue_clear_full(&pad->entries, (GDestroyNotify)astro_merge_entry_free);
  astro_steps_reset(&pad->steps);
  pad->gap_end = GST_CLOCK_TIME_NONE;
  pad->is_lagging = pad->is_wanted = FALSE;
  pad->is_flushed = TRUE;
  pad->n = 0;
}

void astro_merge_pad_reset(AstroMergePad *pad)
{
  astro_merge_pad_flush(pad);
  pad->steps = (AstroSteps){ .counts_time = TRUE };
  gst_segment_init(&pad->segment, GST_FORMAT_UNDEFINED);
  pad->is_planned = FALSE;
  g_clear_pointer(&pad->latest, astro_merge_stream_unref);
  g_clear_pointer(&pad->agreed, astro_merge_stream_unref);
  g_clear_pointer(&pad->observation, astro_observation_unref);
  gst_clear_event(&pad->told);
  g_clear_pointer(&pad->stream_id, g_free);
}

/* Any pad may be flushed at any time, by its own thread. */
static GstFlowReturn flush(GstAggregatorPad *pad, GstAggregator *aggregator)
{
  astro_merge_lock(ASTRO_MERGE(aggregator));
  astro_merge_pad_flush(ASTRO_MERGE_PAD(pad));
  astro_merge_unlock(ASTRO_MERGE(aggregator));
  return GST_FLOW_OK;
}

static void finalize(GObject *object)
{
  astro_merge_pad_reset(ASTRO_MERGE_PAD(object));
  G_OBJECT_CLASS(astro_merge_pad_parent_class)->finalize(object);
}

static void astro_merge_pad_class_init(AstroMergePadClass *klass)
{
  G_OBJECT_CLASS(klass)->finalize = finalize;
  GST_AGGREGATOR_PAD_CLASS(klass)->flush = flush;
}

static void astro_merge_pad_init(AstroMergePad *pad)
{
  /* Caps that do not match are refused by an error that says why. */
  GST_PAD_SET_ACCEPT_TEMPLATE(pad);
  g_queue_init(&pad->entries);
  astro_merge_pad_reset(pad);
}
