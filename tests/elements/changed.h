/* Pipelines in which something is set while they play, with what their sink gets. */
#pragma once

#include "core/stream/observation.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"

typedef struct {
  GBytes *bytes;
  guint64 first, end;
  GstClockTime time, duration;
  gboolean is_discont, is_gap;
  guint64 lost;         /* counts of validity that are 0 */
  guint64 good;         /* the sum of its counts */
  guint64 counts;       /* how many these are */
  guint64 observations; /* how many came before it */
  double rate;
  double phase_ra;
} Block;

typedef struct {
  GArray *blocks;
  guint64 observations, warnings;
  double rate; /* of the last caps */
  double phase_ra;
  char *warned; /* all warnings */
} Record;

static inline void clear_block(gpointer data)
{
  g_bytes_unref(((Block *)data)->bytes);
}

static inline void count_samples(GstBuffer *buffer, Block *block)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  for (guint64 i = 0; meta && i < astro_validity_n_counts(meta); i++) {
    block->lost += meta->counts[i] == 0;
    block->good += meta->counts[i];
    block->counts++;
  }
}

static inline double rate_of(GstEvent *event)
{
  gint n = 0, d = 1;
  GstCaps *caps;
  gst_event_parse_caps(event, &caps);
  gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "rate", &n, &d);
  return (double)n / d;
}

static inline GstPadProbeReturn on_data(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Record *record = data;
  GstMapInfo map;
  if (info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    g_autoptr(AstroObservation) observation =
        astro_observation_from_event(GST_PAD_PROBE_INFO_EVENT(info), NULL);
    if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_CAPS)
      record->rate = rate_of(GST_PAD_PROBE_INFO_EVENT(info));
    if (observation) {
      record->observations++;
      record->phase_ra = observation->phase_ra;
    }
    return GST_PAD_PROBE_OK;
  }
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  Block block = { .bytes = g_bytes_new(map.data, map.size),
                  .first = GST_BUFFER_OFFSET(buffer),
                  .end = GST_BUFFER_OFFSET_END(buffer),
                  .time = GST_BUFFER_PTS(buffer),
                  .duration = GST_BUFFER_DURATION(buffer),
                  .is_gap = GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP),
                  .is_discont = GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT),
                  .rate = record->rate,
                  .observations = record->observations,
                  .phase_ra = record->phase_ra };
  count_samples(buffer, &block);
  gst_buffer_unmap(buffer, &map);
  g_array_append_val(record->blocks, block);
  return GST_PAD_PROBE_OK;
}

typedef struct {
  GstElement *element;
  const char *name, *value; /* as in a line */
  guint at;                 /* before which buffer of the element's input */
  guint seen;
} Change;

static inline GstPadProbeReturn on_input(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Change *change = data;
  if (change->seen++ == change->at)
    gst_util_set_object_arg(G_OBJECT(change->element), change->name, change->value);
  return GST_PAD_PROBE_OK;
}

static inline GstElement *parse_line(const char *line)
{
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  return pipeline;
}

static inline GstElement *parse(const char *source, const char *stage)
{
  g_autofree char *line = g_strdup_printf("%s ! %s name=stage ! fakesink name=sink", source, stage);
  return parse_line(line);
}

static inline void probe(GstElement *pipeline, const char *name, GstPadProbeType type,
                         GstPadProbeCallback callback, gpointer data)
{
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), name);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "sink");
  gst_pad_add_probe(pad, type, callback, data, NULL);
}

static inline void read_bus(GstElement *pipeline, Record *record)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  GstMessage *message;
  gboolean ended = FALSE;
  while (!ended &&
         (message = gst_bus_timed_pop_filtered(
              bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING))) {
    g_autoptr(GError) error = NULL;
    ended = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
      gst_message_parse_error(message, &error, NULL);
    g_assert_no_error(error);
    if (!ended) {
      gst_message_parse_warning(message, &error, NULL);
      g_test_message("%s", error->message);
      char *before = record->warned;
      record->warned = g_strconcat(before ? before : "", error->message, "\n", NULL);
      g_free(before);
      record->warnings++;
    }
    gst_message_unref(message);
  }
  g_assert_true(ended);
}

static inline Record *record_pipeline(GstElement *pipeline)
{
  Record *record = g_new0(Record, 1);
  record->blocks = g_array_new(FALSE, TRUE, sizeof(Block));
  g_array_set_clear_func(record->blocks, clear_block);
  probe(pipeline, "sink", GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_data,
        record);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  read_bus(pipeline, record);
  return record;
}

static inline void record_free(Record *record)
{
  g_array_unref(record->blocks);
  g_free(record->warned);
  g_free(record);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Record, record_free)

static inline void close_pipeline(GstElement *pipeline)
{
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

static inline Record *record_line(const char *source, const char *stage)
{
  GstElement *pipeline = parse(source, stage);
  Record *record = record_pipeline(pipeline);
  close_pipeline(pipeline);
  return record;
}

static inline const Block *block_of(const Record *record, guint i)
{
  return &g_array_index(record->blocks, Block, i);
}
