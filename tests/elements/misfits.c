/* What each element does with a stream that is not quite what it expects. The answers stand in
 * doc/misfits.md, and are these: refused (an error of the element), accounted (the output or the
 * statistics say what is missing or came again), warned, passed on (what comes out is what came in,
 * or each buffer stands for itself, so that the next element sees it as well), or the same as of a
 * good stream, where that is right. An answer that differs from a good stream's in silence is a
 * failure, as is one that the page does not have. With MISFITS_PAGE=FILE the page's table is
 * written there. */
#include "tests/elements/misfit-kinds.h"
#include "tests/elements/misfit-stages.h"

#include <glib/gstdio.h>
#include <gst/base/gstaggregator.h>
#include <math.h>

typedef enum { REFUSED, ACCOUNTED, WARNED, PASSED_ON, SAME, SILENT } Answer;

static const char *const answers[] = { "refused",   "accounted", "warned",
                                       "passed on", "the same",  "silent" };

typedef struct {
  GByteArray *data;    /* all that came out */
  GString *output;     /* where runs of buffers begin, with what is not whole in them */
  GHashTable *buffers; /* checksums of each */
  GString *events;     /* caps and observations that came out */
  AstroStream stream;  /* by the last caps */
  gboolean has_marks;  /* of what is missing: counts, DISCONT, GAP, jumps */
  GstClockTime next;   /* when the next buffer begins */
  char *error;
  gboolean warned;
  char *told; /* by statistics and messages: what does not depend on time and on how buffers are cut
               */
} Result;

static void result_init(Result *result)
{
  *result = (Result){ .data = g_byte_array_new(),
                      .output = g_string_new(NULL),
                      .events = g_string_new(NULL),
                      .buffers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                      .next = GST_CLOCK_TIME_NONE };
}

static void result_clear(Result *result)
{
  g_byte_array_unref(result->data);
  g_string_free(result->output, TRUE);
  g_string_free(result->events, TRUE);
  g_hash_table_unref(result->buffers);
  g_free(result->error);
  g_free(result->told);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Result, result_clear)

static gboolean has_output(const Result *result)
{
  return g_hash_table_size(result->buffers) > 0;
}

/* Sums of floats that are made in other parts differ in their last digits. */
static gboolean is_close(const Result *a, const Result *b)
{
  const float *x = (const float *)(gconstpointer)a->data->data;
  const float *y = (const float *)(gconstpointer)b->data->data;
  float largest = 0, apart = 0;
  for (gsize i = 0; i < a->data->len / sizeof *x; i++) {
    largest = MAX(largest, fabsf(x[i]));
    apart = MAX(apart, fabsf(x[i] - y[i]));
    if (isnan(x[i]) != isnan(y[i]))
      return FALSE;
  }
  return apart <= 1e-5f * largest;
}

static gboolean is_float(const Result *result)
{
  return result->stream.format == ASTRO_FORMAT_F32LE ||
         result->stream.format == ASTRO_FORMAT_CF32LE;
}

static gboolean has_same_data(const Result *a, const Result *b)
{
  if (a->data->len != b->data->len)
    return FALSE;
  return memcmp(a->data->data, b->data->data, a->data->len) == 0 ||
         (is_float(a) && is_float(b) && is_close(a, b));
}

static gboolean is_same(const Result *a, const Result *b)
{
  return has_same_data(a, b) && g_string_equal(a->output, b->output);
}

/* ---- what came out ---- */

static void add_validity(Result *result, GstBuffer *buffer)
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

static void add_time(Result *result, GstBuffer *buffer)
{
  const gboolean is_first = !has_output(result);
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

static void add_bytes(Result *result, gconstpointer data, gsize bytes)
{
  g_byte_array_append(result->data, data, (guint)bytes);
  g_hash_table_add(result->buffers, g_compute_checksum_for_data(G_CHECKSUM_SHA1, data, bytes));
}

/* Where time is the fastest axis, the bytes of two blocks are others than those of one that has
 * both: they are compared with time as the slowest. */
static gpointer in_order_of_time(const AstroStream *stream, const guint8 *data, gsize bytes)
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

static void add_buffer(Result *result, GstBuffer *buffer)
{
  GstMapInfo map;
  add_time(result, buffer);
  add_validity(result, buffer);
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  g_autofree gpointer ordered = in_order_of_time(&result->stream, map.data, map.size);
  add_bytes(result, ordered, map.size);
  gst_buffer_unmap(buffer, &map);
}

static void add_file(Result *result, const char *file)
{
  g_autofree char *text = NULL;
  gsize length = 0;
  if (g_file_get_contents(file, &text, &length, NULL))
    add_bytes(result, text, length);
  g_unlink(file);
}

static void add_event(Result *result, GstEvent *event)
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

static void add_output(Result *result, GstHarness *h)
{
  GstBuffer *buffer;
  GstEvent *event;
  while ((event = gst_harness_try_pull_event(h))) {
    add_event(result, event);
    gst_event_unref(event);
  }
  while ((buffer = gst_harness_try_pull(h))) {
    add_buffer(result, buffer);
    gst_buffer_unref(buffer);
  }
}

/* Counts of what is missing or came again; not those of buffers, bytes and nanoseconds. */
static gboolean add_count(GQuark field, const GValue *value, gpointer told)
{
  const char *name = g_quark_to_string(field);
  if (G_VALUE_HOLDS_UINT64(value) && g_str_has_prefix(name, "steps"))
    g_string_append_printf(told, "%s=%" G_GUINT64_FORMAT " ", name, g_value_get_uint64(value));
  return TRUE;
}

static void add_stats(GString *told, GstElement *element)
{
  GstStructure *stats = NULL;
  if (!g_object_class_find_property(G_OBJECT_GET_CLASS(element), "stats"))
    return;
  g_object_get(element, "stats", &stats, NULL);
  gst_structure_foreach(stats, add_count, told);
  gst_structure_free(stats);
}

/* Of element messages those that tell how it went: astro-gridder's counts, a file's weights. */
static void add_message(GstMessage *message, GString *told)
{
  const GstStructure *s = gst_message_get_structure(message);
  if (!gst_structure_has_name(s, "astro-stats")) {
    g_autofree char *text = gst_structure_to_string(s);
    g_string_append_printf(told, "%s ", text);
  }
}

static void add_messages(Result *result, GstBus *bus, GString *told)
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

static GstHarness *new_harness(const TestMisfitStage *stage, const char *file)
{
  GError *error = NULL;
  GstElement *element = gst_parse_launch(stage->element, &error);
  g_assert_no_error(error);
  if (file)
    g_object_set(element, "location", file, NULL);
  GstHarness *h =
      gst_harness_new_with_element(element, stage->pad ? stage->pad : "sink", file ? NULL : "src");
  if (stage->wanted)
    gst_harness_set_sink_caps_str(h, stage->wanted);
  gst_harness_set_live(h, FALSE);
  gst_object_unref(element);
  return h;
}

/* Aggregators work in a thread of their own: they are done when they said EOS, or an error. */
static void wait_for_end(GstHarness *h, Result *result, GstBus *bus, GString *told)
{
  const gint64 patience = g_get_monotonic_time() + TEST_PATIENCE / GST_USECOND;
  g_autoptr(GstPad) src = gst_element_get_static_pad(h->element, "src");
  if (!GST_IS_AGGREGATOR(h->element))
    return;
  while (!(GST_PAD_IS_EOS(src) || result->error)) {
    g_assert_cmpint(g_get_monotonic_time(), <, patience);
    g_usleep(1000);
    add_messages(result, bus, told);
  }
}

/* What an aggregator's thread has not come to yet a flush drops: a query that waits in the pad's
 * queue is answered when it has. */
static void wait_for_queue(GstHarness *h)
{
  g_autoptr(GstQuery) query = gst_query_new_drain();
  if (GST_IS_AGGREGATOR(h->element))
    gst_pad_peer_query(h->srcpad, query);
}

static Result run(const TestMisfitStage *stage, GPtrArray *items)
{
  g_autofree char *file =
      stage->location ? g_build_filename(g_get_tmp_dir(), stage->location, NULL) : NULL;
  Result result;
  GString *told = g_string_new(NULL);
  GstBus *bus = gst_bus_new();
  GstHarness *h = new_harness(stage, file);

  result_init(&result);
  gst_element_set_bus(h->element, bus);
  for (guint i = 0; i < items->len; i++) {
    gpointer item = gst_mini_object_ref(items->pdata[i]);
    if (!GST_IS_BUFFER(item) && GST_EVENT_TYPE(item) == GST_EVENT_FLUSH_START)
      wait_for_queue(h);
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

/* ---- what is said of it ---- */

/* What an element that does nothing would have given. */
static gboolean is_as_it_came(const Result *result, GPtrArray *items)
{
  g_auto(Result) input;
  result_init(&input);
  for (guint i = 0; i < items->len; i++)
    if (GST_IS_BUFFER(items->pdata[i]))
      add_buffer(&input, items->pdata[i]);
  return is_same(&input, result);
}

static gboolean has_buffers_of(const Result *good, const Result *result)
{
  GHashTableIter iter;
  gpointer sum;
  g_hash_table_iter_init(&iter, result->buffers);
  while (g_hash_table_iter_next(&iter, &sum, NULL))
    if (!g_hash_table_contains(good->buffers, sum))
      return FALSE;
  return has_output(result);
}

static gboolean is_right(TestMisfitRight right, const Result *good, const Result *result)
{
  return right == HARMLESS    ? has_same_data(good, result)
         : right == NO_OUTPUT ? !has_output(result)
                              : is_same(good, result);
}

static Answer judge(const TestMisfitStage *stage, const TestMisfit *misfit, const Result *good,
                    const Result *result, GPtrArray *changed)
{
  if (result->error)
    return REFUSED;
  if (result->warned && !good->warned)
    return WARNED;
  if (strcmp(good->told, result->told) != 0)
    return ACCOUNTED;
  const gboolean tells = !g_string_equal(good->events, result->events);
  if (is_right(misfit->right, good, result))
    return tells && misfit->right != NO_OUTPUT ? PASSED_ON : SAME;
  if (is_as_it_came(result, changed))
    return PASSED_ON;
  if (result->has_marks)
    return ACCOUNTED;
  if ((stage->each_alone && has_buffers_of(good, result)) ||
      (misfit->right == VISIBLE && has_output(result)) || misfit->right == ANEW)
    return PASSED_ON;
  return SILENT;
}

/* ---- the page ---- */

#define N_STAGES G_N_ELEMENTS(test_misfit_stages)
#define N_MISFITS G_N_ELEMENTS(test_misfits)

static Answer found[N_MISFITS][N_STAGES];

static char *name_of(const TestMisfitStage *stage)
{
  return g_strndup(stage->element, strcspn(stage->element, " "));
}

static char *row_of(guint misfit)
{
  GString *row = g_string_new("| ");
  g_string_append(row, test_misfits[misfit].name);
  for (guint answer = 0; answer < SILENT; answer++) {
    const char *separator = " | ";
    for (guint s = 0; s < N_STAGES; s++)
      if (found[misfit][s] == answer) {
        g_autofree char *name = name_of(&test_misfit_stages[s]);
        g_string_append_printf(row, "%s%s", separator, name + strlen("astro"));
        separator = ", ";
      }
    if (*separator == ' ')
      g_string_append(row, " |");
  }
  g_string_append(row, " |");
  return g_string_free(row, FALSE);
}

static void try_stage(gconstpointer data)
{
  const guint s = GPOINTER_TO_UINT(data);
  const TestMisfitStage *stage = &test_misfit_stages[s];
  g_autoptr(GPtrArray) items = test_record(stage->stream);
  g_auto(Result) good = run(stage, items);
  gboolean failed = FALSE;

  if (good.error)
    g_error("%s refuses a good stream: %s", stage->element, good.error);
  g_assert_true(has_output(&good));
  const TestLog log = test_log_of_events();
  for (guint m = 0; m < N_MISFITS; m++) {
    g_autoptr(GPtrArray) changed = test_items_copy(items);
    test_misfits[m].apply(changed);
    g_auto(Result) result = run(stage, changed);
    found[m][s] = judge(stage, &test_misfits[m], &good, &result, changed);
    g_test_message("%s: %s%s%s", test_misfits[m].name, answers[found[m][s]],
                   result.error ? ": " : "", result.error ? result.error : "");
    failed |= found[m][s] == SILENT;
  }
  test_log_end(log);
  if (failed)
    g_test_fail_printf("%s gives other answers in silence", stage->element);
}

static void check_page(void)
{
  g_autofree char *path = g_test_build_filename(G_TEST_DIST, "doc", "misfits.md", NULL);
  g_autofree char *page = NULL;
  g_autoptr(GString) table = g_string_new(NULL);
  const char *wanted = g_getenv("MISFITS_PAGE");

  for (guint m = 0; m < N_MISFITS; m++) {
    g_autofree char *row = row_of(m);
    g_string_append_printf(table, "%s\n", row);
  }
  if (wanted)
    g_assert_true(g_file_set_contents(wanted, table->str, -1, NULL));
  if (!g_file_get_contents(path, &page, NULL, NULL)) {
    g_test_skip("doc/misfits.md is not installed");
    return;
  }
  for (guint m = 0; m < N_MISFITS; m++) {
    g_autofree char *row = row_of(m);
    if (!strstr(page, row))
      g_test_fail_printf("doc/misfits.md does not have: %s", row);
  }
}

static void add_tests(void)
{
  for (guint s = 0; s < N_STAGES; s++) {
    g_autofree char *name = name_of(&test_misfit_stages[s]);
    g_autofree char *path = g_strdup_printf("/misfits/%s", name);
    g_test_add_data_func(path, GUINT_TO_POINTER(s), try_stage);
  }
  g_test_add_func("/misfits/page", check_page);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
