/* Events and buffers come out of their bytes as they went in; other bytes are refused. */
#include "core/ranks/item.h"

#include "core/stream/absent.h"
#include "core/stream/grid.h"
#include "core/stream/histogram-summary.h"
#include "core/stream/observation.h"
#include "core/stream/uvw-meta.h"
#include "core/stream/validity.h"
#include "tests/tests.h"

/* ---- events ---- */

static GstEvent *pass_event(GstEvent *event)
{
  g_autoptr(GBytes) item = astro_item_of_event(event);
  g_autoptr(GError) error = NULL;
  GstMiniObject *object = astro_item_read(item, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(GST_IS_EVENT(object));
  g_assert_cmpint(GST_EVENT_TYPE(object), ==, GST_EVENT_TYPE(event));
  gst_event_unref(event);
  return GST_EVENT_CAST(object);
}

static void assert_structure(GstEvent *event)
{
  g_autoptr(GstEvent) passed = pass_event(gst_event_ref(event));
  g_assert_true(
      gst_structure_is_equal(gst_event_get_structure(event), gst_event_get_structure(passed)));
  gst_event_unref(event);
}

static void test_segment(void)
{
  GstSegment segment;
  const GstSegment *passed;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.base = 5;
  segment.start = 7;
  segment.stop = 11;
  segment.time = 13;
  segment.position = 17;
  g_autoptr(GstEvent) event = pass_event(gst_event_new_segment(&segment));
  gst_event_parse_segment(event, &passed);
  g_assert_true(gst_segment_is_equal(&segment, passed));
}

static void test_events(void)
{
  AstroObservation *observation = astro_observation_new(3);
  AstroSummary summary;
  for (guint i = 0; i < 9; i++)
    observation->positions[i] = 1e6 / (i + 1.0);
  g_assert_true(astro_observation_set_start(observation, "2026-11-20T12:00:00.25", NULL));
  assert_structure(astro_observation_to_event(observation));
  astro_observation_unref(observation);
  astro_summary_init(&summary, 2, 1, 4);
  test_fill(summary.pairs, 2 * sizeof *summary.pairs, 1);
  assert_structure(astro_summary_to_event(&summary));
  astro_summary_clear(&summary);
  g_autoptr(GstCaps) caps = gst_caps_from_string("application/x-astro-power, rate = (fraction) "
                                                 "1/3, layout = (string) \"time:channel\"");
  assert_structure(gst_event_new_caps(caps));
  gst_event_unref(pass_event(gst_event_new_eos()));
  gst_event_unref(pass_event(gst_event_new_stream_start("a stream")));
  gst_event_unref(pass_event(gst_event_new_gap(3, 4)));
  g_autoptr(GstEvent) flush = gst_event_new_flush_start();
  g_assert_null(astro_item_of_event(flush));
}

/* ---- buffers ---- */

static GBytes *samples_of(GstBuffer *buffer)
{
  gpointer data;
  gsize bytes;
  gst_buffer_extract_dup(buffer, 0, -1, &data, &bytes);
  return g_bytes_new_take(data, bytes);
}

static GstBuffer *pass_buffer(GstBuffer *buffer)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) item = astro_item_of_buffer(buffer, &error), samples = samples_of(buffer);
  g_assert_no_error(error);
  GstMiniObject *object = astro_item_read(item, gst_buffer_new_wrapped_bytes(samples), &error);
  g_assert_no_error(error);
  g_assert_true(GST_IS_BUFFER(object));
  return GST_BUFFER_CAST(object);
}

static void test_times(void)
{
  g_autoptr(GstBuffer) buffer = gst_buffer_new_allocate(NULL, 24, NULL);
  gst_buffer_memset(buffer, 0, 3, 24);
  GST_BUFFER_PTS(buffer) = 1;
  GST_BUFFER_DURATION(buffer) = 2;
  GST_BUFFER_OFFSET(buffer) = 3;
  GST_BUFFER_OFFSET_END(buffer) = 4;
  GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP | GST_BUFFER_FLAG_DISCONT);
  g_autoptr(GstBuffer) passed = pass_buffer(buffer);
  g_assert_cmpuint(gst_buffer_get_size(passed), ==, 24);
  g_assert_cmpuint(GST_BUFFER_PTS(passed), ==, 1);
  g_assert_cmpuint(GST_BUFFER_DTS(passed), ==, GST_CLOCK_TIME_NONE);
  g_assert_cmpuint(GST_BUFFER_DURATION(passed), ==, 2);
  g_assert_cmpuint(GST_BUFFER_OFFSET(passed), ==, 3);
  g_assert_cmpuint(GST_BUFFER_OFFSET_END(passed), ==, 4);
  g_assert_true(GST_BUFFER_FLAG_IS_SET(passed, GST_BUFFER_FLAG_GAP));
  g_assert_true(GST_BUFFER_FLAG_IS_SET(passed, GST_BUFFER_FLAG_DISCONT));
}

static void test_counts(void)
{
  g_autoptr(GstBuffer) buffer = gst_buffer_new_allocate(NULL, 24, NULL);
  const AstroLayout shape = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION }, { 3, 2 } };
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 9);
  for (guint i = 0; i < 6; i++)
    meta->counts[i] = i;
  meta->slowest_first = TRUE;
  g_autoptr(GstBuffer) passed = pass_buffer(buffer);
  const AstroValidityMeta *got = astro_buffer_get_validity(passed);
  g_assert_nonnull(got);
  g_assert_true(astro_layout_is_equal(&got->shape, &shape));
  g_assert_cmpuint(got->full, ==, 9);
  g_assert_true(got->slowest_first);
  g_assert_cmpmem(got->counts, 24, meta->counts, 24);
}

static void test_grid(void)
{
  g_autoptr(GstBuffer) buffer = gst_buffer_new_allocate(NULL, 24, NULL);
  AstroGridMeta *grid = astro_buffer_add_grid(buffer, 2);
  g_autoptr(GError) error = NULL;
  grid->weights[0] = 0.1;
  grid->weights[1] = 1e300;
  grid->planes = 3;
  grid->w_step = 1. / 3;
  grid->flagged = 7;
  g_autoptr(GstBuffer) passed = pass_buffer(buffer);
  const AstroGridMeta *got = astro_buffer_get_grid(passed);
  g_assert_cmpuint(got->n_weights, ==, 2);
  g_assert_cmpmem(got->weights, 16, grid->weights, 16);
  g_assert_cmpuint(got->planes, ==, 3);
  g_assert_true(got->w_step == grid->w_step);
  g_assert_cmpuint(got->flagged, ==, 7);
  grid->touched = gst_buffer_new();
  g_assert_null(astro_item_of_buffer(buffer, &error));
  test_says(error->message, "touched-only=false");
}

static void test_baselines(void)
{
  g_autoptr(GstBuffer) buffer = gst_buffer_new_allocate(NULL, 24, NULL);
  AstroUvwMeta *uvw = astro_buffer_add_uvw(buffer, 2, 3);
  AstroAbsentMeta *absent = astro_buffer_add_absent(buffer, 2, 3);
  test_fill(uvw->uvw, 18 * sizeof *uvw->uvw, 1);
  absent->is_absent[4] = 1;
  g_autoptr(GstBuffer) passed = pass_buffer(buffer);
  const AstroUvwMeta *got = (AstroUvwMeta *)gst_buffer_get_meta(passed, ASTRO_UVW_META_API);
  g_assert_cmpuint(got->steps, ==, 2);
  g_assert_cmpuint(got->baselines, ==, 3);
  g_assert_cmpmem(got->uvw, 144, uvw->uvw, 144);
  g_assert_cmpmem(astro_buffer_get_absent(passed)->is_absent, 6, absent->is_absent, 6);
}

/* ---- damage ---- */

/* Whatever the bytes are, an error or something whole comes out. */
static void test_damaged(void)
{
  g_autoptr(GstBuffer) buffer = gst_buffer_new_allocate(NULL, 24, NULL);
  const AstroLayout shape = { 1, { ASTRO_AXIS_TIME }, { 6 } };
  astro_buffer_add_validity(buffer, &shape, 9);
  astro_buffer_add_uvw(buffer, 2, 3);
  g_autoptr(GBytes) good = astro_item_of_buffer(buffer, NULL);
  gsize bytes;
  const guint8 *data = g_bytes_get_data(good, &bytes);
  guint refused = 0;
  for (gsize i = 0; i < 8 * bytes; i++) {
    guint8 *bad = g_memdup2(data, bytes);
    bad[i / 8] ^= (guint8)(1u << i % 8);
    g_autoptr(GBytes) item = g_bytes_new_take(bad, bytes);
    g_autoptr(GError) error = NULL;
    GstMiniObject *object = astro_item_read(item, gst_buffer_new(), &error);
    g_assert_true(!object == (error != NULL));
    refused += error != NULL;
    g_clear_pointer(&object, gst_mini_object_unref);
  }
  g_assert_cmpuint(refused, >, 0);
  g_autoptr(GBytes) none = g_bytes_new(NULL, 0);
  g_autoptr(GError) error = NULL;
  g_assert_null(astro_item_read(none, NULL, &error));
  test_says(error->message, "the same on all hosts");
}

static void add_tests(void)
{
  g_test_add_func("/ranks/item/segment", test_segment);
  g_test_add_func("/ranks/item/events", test_events);
  g_test_add_func("/ranks/item/times", test_times);
  g_test_add_func("/ranks/item/counts", test_counts);
  g_test_add_func("/ranks/item/grid", test_grid);
  g_test_add_func("/ranks/item/baselines", test_baselines);
  g_test_add_func("/ranks/item/damaged", test_damaged);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
