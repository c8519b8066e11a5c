/* Streams that are not quite what an element expects: each kind changes a good stream in one way,
 * as networks, files and elements of other plugins do. */
#pragma once

#include "core/stream/observation.h"
#include "tests/elements/recorded.h"

/* The results that are allowed without an error or warning. */
typedef enum {
  NOTHING_SILENT,
  HARMLESS,  /* the output for a good stream, with any times */
  NO_OUTPUT, /* nothing, of nothing */
  VISIBLE,   /* other values, which show it themselves */
  ANEW /* the output for a stream that begins there: a flush or a new observation means that */
} TestMisfitRight;

typedef struct {
  const char *name;
  void (*apply)(GPtrArray *items);
  TestMisfitRight right;
} TestMisfit;

enum { MISFIT_AT = 2 }; /* the buffer that it begins with */

static inline void for_each_buffer(GPtrArray *items, void (*change)(GstBuffer *buffer, guint n))
{
  for (guint i = 0, n = 0; i < items->len; i++)
    if (GST_IS_BUFFER(items->pdata[i]))
      change(test_own_buffer(items, i), n++);
}

/* ---- order ---- */

static void comes_twice(GPtrArray *items)
{
  const guint at = test_find_buffer(items, MISFIT_AT);
  g_ptr_array_insert(items, (gint)at, gst_buffer_copy(items->pdata[at]));
}

static void comes_swapped(GPtrArray *items)
{
  const guint at = test_find_buffer(items, MISFIT_AT),
              next = test_find_buffer(items, MISFIT_AT + 1);
  gpointer first = items->pdata[at];
  items->pdata[at] = items->pdata[next];
  items->pdata[next] = first;
}

static void comes_again_at_the_end(GPtrArray *items)
{
  const guint last = test_find_buffer(items, test_count_buffers(items) - 1);
  g_ptr_array_insert(items, (gint)last + 1,
                     gst_buffer_copy(items->pdata[test_find_buffer(items, 0)]));
}

static void is_lost(GPtrArray *items)
{
  g_ptr_array_remove_index(items, test_find_buffer(items, MISFIT_AT));
}

/* ---- numbers and times ---- */

static void clear_offset(GstBuffer *buffer, guint n)
{
  GST_BUFFER_OFFSET(buffer) = GST_BUFFER_OFFSET_END(buffer) = GST_BUFFER_OFFSET_NONE;
}

static void clear_time(GstBuffer *buffer, guint n)
{
  GST_BUFFER_PTS(buffer) = GST_BUFFER_DTS(buffer) = GST_BUFFER_DURATION(buffer) =
      GST_CLOCK_TIME_NONE;
}

static void is_lost_and_times_alone_say_so(GPtrArray *items)
{
  for_each_buffer(items, clear_offset);
  is_lost(items);
}

static void is_lost_and_offsets_alone_say_so(GPtrArray *items)
{
  for_each_buffer(items, clear_time);
  is_lost(items);
}

static void zero_offset(GstBuffer *buffer, guint n)
{
  GST_BUFFER_OFFSET(buffer) = 0;
  GST_BUFFER_OFFSET_END(buffer) = GST_BUFFER_OFFSET_NONE;
}

static void has_offset_0_always(GPtrArray *items)
{
  for_each_buffer(items, zero_offset);
}

static void offset_in_bytes(GstBuffer *buffer, guint n)
{
  GST_BUFFER_OFFSET(buffer) = n * gst_buffer_get_size(buffer);
  GST_BUFFER_OFFSET_END(buffer) = GST_BUFFER_OFFSET_NONE;
}

static void has_offsets_in_bytes(GPtrArray *items)
{
  for_each_buffer(items, offset_in_bytes);
}

static void time_stands(GstBuffer *buffer, guint n)
{
  GST_BUFFER_PTS(buffer) = 0;
}

static void has_times_that_stand_still(GPtrArray *items)
{
  for_each_buffer(items, time_stands);
}

static void time_jumps(GstBuffer *buffer, guint n)
{
  if (n >= MISFIT_AT && GST_BUFFER_PTS_IS_VALID(buffer))
    GST_BUFFER_PTS(buffer) += 10 * GST_BUFFER_DURATION(buffer);
}

static void has_times_that_jump(GPtrArray *items)
{
  for_each_buffer(items, time_jumps);
}

/* Each late by another part of a block. */
static void time_of_arrival(GstBuffer *buffer, guint n)
{
  clear_offset(buffer, n);
  if (GST_BUFFER_PTS_IS_VALID(buffer) && GST_BUFFER_DURATION_IS_VALID(buffer))
    GST_BUFFER_PTS(buffer) += GST_BUFFER_DURATION(buffer) * (1 + n * 7 % 5) / 6;
  GST_BUFFER_DURATION(buffer) = GST_CLOCK_TIME_NONE;
}

static void has_times_of_arrival(GPtrArray *items)
{
  for_each_buffer(items, time_of_arrival);
}

static void has_no_times(GPtrArray *items)
{
  for_each_buffer(items, clear_offset);
  for_each_buffer(items, clear_time);
}

/* ---- events ---- */

static void drop_event(GPtrArray *items, GstEventType type)
{
  const gint at = test_find_event(items, type);
  if (at >= 0)
    g_ptr_array_remove_index(items, (guint)at);
}

static void has_no_segment(GPtrArray *items)
{
  drop_event(items, GST_EVENT_SEGMENT);
}

static void has_no_observation(GPtrArray *items)
{
  drop_event(items, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY);
}

static void has_no_stream_start(GPtrArray *items)
{
  drop_event(items, GST_EVENT_STREAM_START);
}

static GstEvent *other_observation(GPtrArray *items, gboolean fewer)
{
  const gint at = test_find_event(items, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY);
  if (at < 0 || !astro_event_is_observation(items->pdata[at]))
    return NULL;
  g_autoptr(AstroObservation) now = astro_observation_from_event(items->pdata[at], NULL);
  g_autoptr(AstroObservation) other =
      fewer ? astro_observation_new(now->n_stations - 1) : astro_observation_copy(now);
  other->has_phase_centre = other->has_start = TRUE;
  other->phase_ra = now->phase_ra + 0.01;
  other->phase_dec = now->phase_dec;
  other->start_mjd = now->start_mjd;
  other->start_ns = now->start_ns;
  return astro_observation_to_event(other);
}

static void has_another_observation_amid(GPtrArray *items)
{
  GstEvent *other = other_observation(items, FALSE);
  if (other)
    g_ptr_array_insert(items, (gint)test_find_buffer(items, MISFIT_AT), other);
}

static void has_fewer_stations_in_the_observation(GPtrArray *items)
{
  GstEvent *other = other_observation(items, TRUE);
  if (other)
    test_replace_item(items, (guint)test_find_event(items, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY),
                      other);
}

/* The caps, to be changed. */
static GstCaps *copy_caps(GPtrArray *items)
{
  GstCaps *caps;
  gst_event_parse_caps(items->pdata[test_find_event(items, GST_EVENT_CAPS)], &caps);
  return gst_caps_copy(caps);
}

static void insert_caps(GPtrArray *items, GstCaps *caps)
{
  g_ptr_array_insert(items, (gint)test_find_buffer(items, MISFIT_AT), gst_event_new_caps(caps));
  gst_caps_unref(caps);
}

static void has_another_frequency_amid(GPtrArray *items)
{
  GstCaps *caps = copy_caps(items);
  gst_caps_set_simple(caps, "frequency", G_TYPE_DOUBLE, 2.5e8, NULL);
  insert_caps(items, caps);
}

static void has_another_shape_amid(GPtrArray *items)
{
  static const char *const fields[] = { "channels", "stations", "width", "pols" };
  GstCaps *caps = copy_caps(items);
  gint extent = 0;
  for (guint i = 0; i < G_N_ELEMENTS(fields) && extent < 2; i++)
    if (gst_structure_get_int(gst_caps_get_structure(caps, 0), fields[i], &extent) && extent > 1)
      gst_caps_set_simple(caps, fields[i], G_TYPE_INT, extent - 1, NULL);
  insert_caps(items, caps);
}

static void drop_field(GPtrArray *items, const char *field)
{
  GstCaps *caps = copy_caps(items);
  gst_structure_remove_field(gst_caps_get_structure(caps, 0), field);
  test_replace_item(items, (guint)test_find_event(items, GST_EVENT_CAPS), gst_event_new_caps(caps));
  gst_caps_unref(caps);
}

static void has_no_rate(GPtrArray *items)
{
  drop_field(items, "rate");
}

static void has_no_frequency(GPtrArray *items)
{
  drop_field(items, "frequency");
}

static void has_a_gap_event(GPtrArray *items)
{
  const guint at = test_find_buffer(items, MISFIT_AT);
  const GstBuffer *lost = items->pdata[at];
  if (GST_BUFFER_PTS_IS_VALID(lost))
    test_replace_item(items, at,
                      gst_event_new_gap(GST_BUFFER_PTS(lost), GST_BUFFER_DURATION(lost)));
}

static void is_flushed_amid(GPtrArray *items)
{
  const guint at = test_find_buffer(items, MISFIT_AT);
  const gint segment = test_find_event(items, GST_EVENT_SEGMENT);
  g_ptr_array_insert(items, (gint)at, gst_event_new_flush_start());
  g_ptr_array_insert(items, (gint)at + 1, gst_event_new_flush_stop(TRUE));
  g_ptr_array_insert(items, (gint)at + 2, gst_event_ref(items->pdata[segment]));
}

static void has_another_segment_amid(GPtrArray *items)
{
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = segment.time = segment.position = 5 * GST_SECOND;
  g_ptr_array_insert(items, (gint)test_find_buffer(items, MISFIT_AT),
                     gst_event_new_segment(&segment));
}

static void has_a_segment_of_bytes(GPtrArray *items)
{
  GstSegment segment;
  const gint at = test_find_event(items, GST_EVENT_SEGMENT);
  gst_segment_init(&segment, GST_FORMAT_BYTES);
  if (at >= 0)
    test_replace_item(items, (guint)at, gst_event_new_segment(&segment));
}

static void ends_before_its_first_buffer(GPtrArray *items)
{
  for (guint i = items->len; i-- > 0;)
    if (GST_IS_BUFFER(items->pdata[i]))
      g_ptr_array_remove_index(items, i);
}

/* ---- bytes and metas ---- */

static void lacks_a_byte(GPtrArray *items)
{
  GstBuffer *buffer = test_own_buffer(items, test_find_buffer(items, MISFIT_AT));
  gst_buffer_set_size(buffer, (gssize)gst_buffer_get_size(buffer) - 1);
}

static void is_empty(GPtrArray *items)
{
  gst_buffer_set_size(test_own_buffer(items, test_find_buffer(items, MISFIT_AT)), 0);
}

static gboolean drop_meta(GstBuffer *buffer, GstMeta **meta, gpointer unused)
{
  *meta = NULL;
  return TRUE;
}

static void drop_metas(GstBuffer *buffer, guint n)
{
  gst_buffer_foreach_meta(buffer, drop_meta, NULL);
}

/* As after gdppay, files and sockets. */
static void has_lost_its_metas(GPtrArray *items)
{
  for_each_buffer(items, drop_metas);
}

static void has_counts_over_an_axis_that_is_not_there(GPtrArray *items)
{
  const AstroLayout shape = { .n_axes = 1, .axes = { ASTRO_AXIS_PLANE }, .extents = { 3 } };
  astro_buffer_add_validity(test_own_buffer(items, test_find_buffer(items, MISFIT_AT)), &shape, 7);
}

static void is_a_gap_buffer(GPtrArray *items)
{
  GST_BUFFER_FLAG_SET(test_own_buffer(items, test_find_buffer(items, MISFIT_AT)),
                      GST_BUFFER_FLAG_GAP);
}

/* Only floats can be NaN: other formats stay as they are. */
static void is_not_finite(GPtrArray *items)
{
  const AstroStream stream = test_items_stream(items);
  const guint at = test_find_buffer(items, MISFIT_AT);
  const gsize bytes = gst_buffer_get_size(items->pdata[at]);
  const char *format = astro_format_info(stream.format)->name;
  if (!strstr(format, "F32") && !strstr(format, "F64"))
    return;
  /* All bits set is a NaN in either width. */
  guint8 *data = g_malloc(bytes);
  memset(data, 0xff, bytes);
  GstBuffer *buffer = gst_buffer_new_wrapped(data, bytes);
  gst_buffer_copy_into(buffer, items->pdata[at],
                       GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META, 0,
                       -1);
  test_replace_item(items, at, buffer);
}

/* Every buffer cut in two, as transports do; if time is not the slowest axis bytes cannot be
 * cut. */
static void is_cut_in_halves(GPtrArray *items)
{
  const AstroStream stream = test_items_stream(items);
  if (stream.layout.n_axes > 0 && stream.layout.axes[0] != ASTRO_AXIS_TIME &&
      astro_layout_find(&stream.layout, ASTRO_AXIS_TIME) > 0)
    return;
  if (stream.quantity == ASTRO_QUANTITY_CATALOGUE)
    return;
  for (guint i = 0; i < items->len; i++) {
    guint64 steps;
    if (!GST_IS_BUFFER(items->pdata[i]) ||
        !astro_stream_steps(&stream, gst_buffer_get_size(items->pdata[i]), &steps, NULL) ||
        steps < 2)
      continue;
    GstBuffer *whole = items->pdata[i];
    const gsize bytes = steps / 2 * astro_stream_step_bytes(&stream);
    GstBuffer *first = gst_buffer_copy_region(whole, GST_BUFFER_COPY_ALL, 0, bytes);
    GstBuffer *second = gst_buffer_copy_region(whole, GST_BUFFER_COPY_ALL, bytes, -1);
    clear_offset(first, 0);
    clear_time(first, 0);
    GST_BUFFER_PTS(first) = GST_BUFFER_PTS(whole);
    GST_BUFFER_OFFSET(first) = GST_BUFFER_OFFSET(whole);
    clear_time(second, 0);
    clear_offset(second, 0);
    GST_BUFFER_FLAG_UNSET(second, GST_BUFFER_FLAG_DISCONT);
    test_replace_item(items, i, first);
    g_ptr_array_insert(items, (gint)++i, second);
  }
}

static const TestMisfit test_misfits[] = {
  { "a buffer comes twice", comes_twice, NOTHING_SILENT },
  { "two buffers are swapped", comes_swapped, NOTHING_SILENT },
  { "the first buffer comes again at the end", comes_again_at_the_end, NOTHING_SILENT },
  { "a buffer is lost", is_lost, NOTHING_SILENT },
  { "a buffer is lost, and PTS alone says so", is_lost_and_times_alone_say_so, NOTHING_SILENT },
  { "a buffer is lost, and OFFSET alone says so", is_lost_and_offsets_alone_say_so,
    NOTHING_SILENT },
  { "OFFSET is always 0", has_offset_0_always, NOTHING_SILENT },
  { "OFFSET counts bytes", has_offsets_in_bytes, NOTHING_SILENT },
  { "PTS is always 0", has_times_that_stand_still, NOTHING_SILENT },
  { "PTS jumps and OFFSET does not", has_times_that_jump, NOTHING_SILENT },
  { "PTS is a time of arrival", has_times_of_arrival, NOTHING_SILENT },
  { "there are no times and no numbers", has_no_times, HARMLESS },
  { "there is no segment", has_no_segment, HARMLESS },
  { "the segment counts bytes", has_a_segment_of_bytes, HARMLESS },
  { "there is no stream-start", has_no_stream_start, HARMLESS },
  { "there is no observation", has_no_observation, HARMLESS },
  { "the observation becomes another", has_another_observation_amid, ANEW },
  { "the observation has a station less", has_fewer_stations_in_the_observation, HARMLESS },
  { "the frequency becomes another", has_another_frequency_amid, ANEW },
  { "the shape becomes another", has_another_shape_amid, NOTHING_SILENT },
  { "caps have no rate", has_no_rate, HARMLESS },
  { "caps have no frequency", has_no_frequency, HARMLESS },
  { "a gap event comes for a buffer", has_a_gap_event, NOTHING_SILENT },
  { "a buffer is flagged as a gap", is_a_gap_buffer, NOTHING_SILENT },
  { "a flush comes amid", is_flushed_amid, ANEW },
  { "another segment comes amid", has_another_segment_amid, NOTHING_SILENT },
  { "nothing comes but the end", ends_before_its_first_buffer, NO_OUTPUT },
  { "a buffer lacks a byte", lacks_a_byte, NOTHING_SILENT },
  { "a buffer is empty", is_empty, NOTHING_SILENT },
  { "buffers are cut in halves", is_cut_in_halves, HARMLESS },
  { "metas are lost", has_lost_its_metas, HARMLESS },
  { "counts are over an axis that is not there", has_counts_over_an_axis_that_is_not_there,
    HARMLESS },
  { "samples are NaN", is_not_finite, VISIBLE },
};
