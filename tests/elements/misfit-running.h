/* Runs a stream through an element, and keeps its output and messages: for each misfit, and for the
 * good stream that it is compared with. */
#pragma once

#include "tests/elements/misfit-model.h"
#include "tests/elements/misfit-stages.h"
#include "tests/elements/recorded.h"
#include "tests/remove-all.h"

#include <glib/gstdio.h>
#include <gst/base/gstaggregator.h>

typedef struct {
  GByteArray *data;    /* all that came out */
  GString *output;     /* where runs of buffers begin, and what is missing in them */
  GHashTable *buffers; /* checksums of each */
  GString *events;     /* caps and observations that came out */
  AstroStream stream;  /* by the last caps */
  gboolean has_marks;  /* signs of what is missing: counts, DISCONT, GAP, jumps */
  GstClockTime next;   /* when the next buffer begins */
  char *error;
  gboolean warned;
  char *told; /* parts of statistics and messages that do not depend on time or on how buffers are
               * cut */
} TestMisfitResult;

static inline void test_misfit_result_init(TestMisfitResult *result)
{
  *result =
      (TestMisfitResult){ .data = g_byte_array_new(),
                          .output = g_string_new(NULL),
                          .events = g_string_new(NULL),
                          .buffers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                          .next = GST_CLOCK_TIME_NONE };
}

static inline void test_misfit_result_clear(TestMisfitResult *result)
{
  g_byte_array_unref(result->data);
  g_string_free(result->output, TRUE);
  g_string_free(result->events, TRUE);
  g_hash_table_unref(result->buffers);
  g_free(result->error);
  g_free(result->told);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TestMisfitResult, test_misfit_result_clear)

static inline gboolean test_misfit_has_output(const TestMisfitResult *result)
{
  return g_hash_table_size(result->buffers) > 0;
}

/* ---- what came out ---- */

static inline void add_validity(TestMisfitResult *result, GstBuffer *buffer)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  if (!meta || !meta->counts)
    return;
  const guint64 n = astro_validity_n_counts(meta);
  for (guint64 i = 0; i < n; i++)
    if (meta->counts[i] < meta->full) {
      g_string_append_printf(result->output, " %" G_GUINT64_FORMAT ":%u", i, meta->counts[i]);
      result->has_marks = TRUE;
    }
}

static inline void add_time(TestMisfitResult *result, GstBuffer *buffer)
{
  const gboolean is_first = !test_misfit_has_output(result);
  const gboolean follows = !is_first && GST_BUFFER_PTS(buffer) == result->next;
  const gboolean is_gap = GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP);
  if (!follows || is_gap)
    g_string_append_printf(result->output, "\n%s at %" G_GUINT64_FORMAT, is_gap ? "gap" : "data",
                           GST_BUFFER_PTS(buffer));
  const gboolean jumps = GST_CLOCK_TIME_IS_VALID(result->next) && !follows;
  if (is_gap || (!is_first && (jumps || GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT))))
    result->has_marks = TRUE;
  result->next = GST_BUFFER_PTS_IS_VALID(buffer) && GST_BUFFER_DURATION_IS_VALID(buffer)
                     ? GST_BUFFER_PTS(buffer) + GST_BUFFER_DURATION(buffer)
                     : GST_CLOCK_TIME_NONE;
}

static inline void add_bytes(TestMisfitResult *result, gconstpointer data, gsize bytes)
{
  g_byte_array_append(result->data, data, (guint)bytes);
  g_hash_table_add(result->buffers, g_compute_checksum_for_data(G_CHECKSUM_SHA1, data, bytes));
}

/* If time is the fastest axis, the bytes of two blocks differ from those of one block with both:
 * they are compared with time as the slowest. */
static inline gpointer in_order_of_time(const AstroStream *stream, const guint8 *data, gsize bytes)
{
  const gint time = astro_layout_find(&stream->layout, ASTRO_AXIS_TIME);
  const gsize sample = astro_stream_sample_bytes(stream);
  guint64 strides[ASTRO_MAX_AXES], steps;
  AstroLayout shape;

  if (time < 1 || !astro_stream_steps(stream, bytes, &steps, NULL))
    return g_memdup2(data, bytes);
  astro_stream_shape(stream, steps, &shape);
  astro_layout_strides(&shape, strides);
  const guint64 inner = strides[time], outer = bytes / sample / (steps * inner);
  guint8 *ordered = g_malloc(bytes), *at = ordered;
  for (guint64 t = 0; t < steps; t++)
    for (guint64 o = 0; o < outer; o++, at += inner * sample)
      memcpy(at, data + (o * steps + t) * inner * sample, inner * sample);
  return ordered;
}

static inline void test_misfit_add_buffer(TestMisfitResult *result, GstBuffer *buffer)
{
  GstMapInfo map;
  add_time(result, buffer);
  add_validity(result, buffer);
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  g_autofree gpointer ordered = in_order_of_time(&result->stream, map.data, map.size);
  add_bytes(result, ordered, map.size);
  gst_buffer_unmap(buffer, &map);
}

/* A folder is a Measurement Set, whose files have more in them than what was written: it is read
 * again. */
static inline void add_folder(TestMisfitResult *result, const char *folder)
{
  g_autofree char *file = g_strconcat(folder, ".uvfits", NULL), *text = NULL;
  g_autofree char *line =
      g_strdup_printf("astromssrc location=%s uvw=file ! astrofitssink location=%s", folder, file);
  g_autofree char *failed = test_launch(line);
  gsize length = 0;
  g_assert_cmpstr(failed, ==, NULL);
  g_assert_true(g_file_get_contents(file, &text, &length, NULL));
  add_bytes(result, text, length);
  g_unlink(file);
  test_remove_all(folder);
}

static inline void add_file(TestMisfitResult *result, const char *file)
{
  if (g_file_test(file, G_FILE_TEST_IS_DIR)) {
    add_folder(result, file);
    return;
  }
  g_autofree char *text = NULL;
  gsize length = 0;
  if (g_file_get_contents(file, &text, &length, NULL))
    add_bytes(result, text, length);
  g_unlink(file);
}

static inline void add_event(TestMisfitResult *result, GstEvent *event)
{
  GstCaps *caps;
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    gst_event_parse_caps(event, &caps);
    g_autofree char *text = gst_caps_to_string(caps);
    g_string_append_printf(result->events, "%s\n", text);
    astro_stream_from_caps(&result->stream, caps, NULL);
  } else if (astro_event_is_observation(event)) {
    g_autofree char *text = gst_structure_to_string(gst_event_get_structure(event));
    g_string_append_printf(result->events, "%s\n", text);
  }
}

static inline void add_output(TestMisfitResult *result, GstHarness *h)
{
  GstBuffer *buffer;
  GstEvent *event;
  while ((event = gst_harness_try_pull_event(h))) {
    add_event(result, event);
    gst_event_unref(event);
  }
  while ((buffer = gst_harness_try_pull(h))) {
    test_misfit_add_buffer(result, buffer);
    gst_buffer_unref(buffer);
  }
}

/* Counts of what is missing or came again, without those of buffers, bytes and nanoseconds. */
static inline gboolean add_count(GQuark field, const GValue *value, gpointer told)
{
  const char *name = g_quark_to_string(field);
  if (G_VALUE_HOLDS_UINT64(value) && g_str_has_prefix(name, "steps"))
    g_string_append_printf(told, "%s=%" G_GUINT64_FORMAT " ", name, g_value_get_uint64(value));
  return TRUE;
}

static inline void add_stats(GString *told, GstElement *element)
{
  GstStructure *stats = NULL;
  if (!g_object_class_find_property(G_OBJECT_GET_CLASS(element), "stats"))
    return;
  g_object_get(element, "stats", &stats, NULL);
  gst_structure_foreach(stats, add_count, told);
  gst_structure_free(stats);
}

/* Keeps the element messages that report results: counts of astro-gridder, the weights of a
 * file. */
static inline void add_message(GstMessage *message, GString *told)
{
  const GstStructure *s = gst_message_get_structure(message);
  if (!gst_structure_has_name(s, "astro-stats")) {
    g_autofree char *text = gst_structure_to_string(s);
    g_string_append_printf(told, "%s ", text);
  }
}

static inline void add_messages(TestMisfitResult *result, GstBus *bus, GString *told)
{
  GstMessage *message;
  while ((message = gst_bus_pop(bus))) {
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR && !result->error) {
      g_autoptr(GError) error = NULL;
      gst_message_parse_error(message, &error, NULL);
      result->error = g_strdup(error->message);
    }
    result->warned |= GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT)
      add_message(message, told);
    gst_message_unref(message);
  }
}

/* ---- a stream through an element ---- */

static inline GstHarness *new_harness(const TestMisfitStage *stage, const char *file)
{
  GError *error = NULL;
  GstElement *element = gst_parse_launch(stage->element, &error);
  g_assert_no_error(error);
  if (file)
    g_object_set(element, "location", file, NULL);
  if (stage->has_model)
    test_misfit_set_model(element);
  GstHarness *h =
      gst_harness_new_with_element(element, stage->pad ? stage->pad : "sink", file ? NULL : "src");
  if (stage->wanted)
    gst_harness_set_sink_caps_str(h, stage->wanted);
  gst_harness_set_live(h, FALSE);
  gst_object_unref(element);
  return h;
}

/* Whether the element sends in a thread of its own. */
static inline gboolean has_thread(GstElement *element)
{
  return GST_IS_AGGREGATOR(element) || GST_IS_BIN(element) ||
         g_str_equal(G_OBJECT_TYPE_NAME(element), "AstroRing");
}

/* Elements with a thread of their own are done when they have sent EOS, or an error. */
static inline void wait_for_end(GstHarness *h, TestMisfitResult *result, GstBus *bus, GString *told)
{
  const gint64 patience = g_get_monotonic_time() + TEST_PATIENCE / GST_USECOND;
  g_autoptr(GstPad) src = gst_element_get_static_pad(h->element, "src");
  if (!has_thread(h->element))
    return;
  while (!(GST_PAD_IS_EOS(src) || result->error)) {
    g_assert_cmpint(g_get_monotonic_time(), <, patience);
    g_usleep(1000);
    add_messages(result, bus, told);
  }
}

/* Waits for the element's thread, since a flush would drop what it has not taken yet: a query
 * that waits in the pad's queue is answered once the thread has come to it. */
static inline void wait_for_queue(GstHarness *h)
{
  g_autoptr(GstQuery) query = gst_query_new_drain();
  if (has_thread(h->element))
    gst_pad_peer_query(h->srcpad, query);
}

/* disturb, or NULL, is called before each buffer, with its number. */
typedef void (*TestMisfitDisturb)(GstHarness *h, guint number);

static inline TestMisfitResult
test_misfit_run_disturbed(const TestMisfitStage *stage, GPtrArray *items, TestMisfitDisturb disturb)
{
  g_autofree char *file =
      stage->location ? g_build_filename(g_get_tmp_dir(), stage->location, NULL) : NULL;
  TestMisfitResult result;
  GString *told = g_string_new(NULL);
  GstBus *bus = gst_bus_new();
  GstHarness *h = new_harness(stage, file);
  guint number = 0;

  test_misfit_result_init(&result);
  gst_element_set_bus(h->element, bus);
  for (guint i = 0; i < items->len; i++) {
    gpointer item = gst_mini_object_ref(items->pdata[i]);
    if (!GST_IS_BUFFER(item) && GST_EVENT_TYPE(item) == GST_EVENT_FLUSH_START)
      wait_for_queue(h);
    if (GST_IS_BUFFER(item) && disturb)
      disturb(h, number++);
    if (GST_IS_BUFFER(item))
      gst_harness_push(h, item);
    else
      gst_harness_push_event(h, item);
  }
  wait_for_end(h, &result, bus, told);
  if (file)
    add_file(&result, file);
  else
    add_output(&result, h);
  add_stats(told, h->element);
  add_messages(&result, bus, told);
  gst_element_set_bus(h->element, NULL);
  gst_object_unref(bus);
  gst_harness_teardown(h);
  result.told = g_string_free(told, FALSE);
  return result;
}

static inline TestMisfitResult test_misfit_run(const TestMisfitStage *stage, GPtrArray *items)
{
  return test_misfit_run_disturbed(stage, items, NULL);
}
