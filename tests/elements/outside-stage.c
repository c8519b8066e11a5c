/* A stage as one outside the tree may be: counts of its own, figures of its own, its log, and the
 * errors that its author and its user get. */
#include <string.h>

#include "core/stream/validity.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrostage.h"
#include "tests/elements/elements.h"

enum { STEPS = 4, STATIONS = 2 };

#define CAPS(format)                                                                               \
  "application/x-astro-voltages,format=" format                                                    \
  ",layout=time:station:pol,stations=2,pols=1,rate=1000/1"

/* ---- the stage ---- */

typedef struct {
  AstroStream in;
} Config;

/* Its result, beside blocks. */
typedef struct {
  guint64 zeros;
} Figures;

static gboolean shape(gconstpointer config, GError **error)
{
  const AstroFormat format = ((const Config *)config)->in.format;
  return format == ASTRO_FORMAT_CI8 ||
         astro_backend_refuse(error, "format=%s, expected CI8", astro_format_name(format));
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  *variant = "c";
  return g_memdup2(config, sizeof(Config));
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  Figures *figures = result->own;
  const guint8 *bytes = in->data;
  memcpy(out->data, in->data, out->bytes);
  for (gsize i = 0; figures && i < in->bytes; i++)
    figures->zeros += bytes[i] == 0;
  return TRUE;
}

static const AstroBackend cpu = {
  .stage = "marker",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(Config),
  .shape = shape,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};
static const AstroBackend *const backends[] = { &cpu, NULL };

static gboolean passes; /* the stage has nothing to do */

static gboolean configure(AstroStage *stage, gpointer config, gboolean *pass_through,
                          GError **error)
{
  *pass_through = passes;
  ((Config *)config)->in = *astro_stage_in(stage);
  return TRUE;
}

/* The last step of the last station is lost, beside what was lost before. */
static gboolean work(AstroStage *stage, GstBuffer *in, GstBuffer *out, guint64 steps,
                     GError **error)
{
  const AstroValidityMeta *had = astro_buffer_get_validity(in);
  AstroLayout layout;
  if (!astro_stage_submit(stage, in, out, NULL, error))
    return FALSE;
  astro_stream_shape(astro_stage_in(stage), steps, &layout);
  AstroValidityMeta *counts = astro_buffer_add_validity(out, &layout, had ? had->full : 1);
  if (had)
    memcpy(counts->counts, had->counts, STEPS * STATIONS * sizeof *counts->counts);
  counts->counts[STEPS * STATIONS - 1] = 0;
  return TRUE;
}

static void set_up_class(AstroStageClass *stage)
{
  static const AstroQuantity voltages[] = { ASTRO_QUANTITY_VOLTAGES, ASTRO_QUANTITY_UNKNOWN };
  stage->stage = "marker";
  stage->backends = backends;
  stage->configure = configure;
  stage->work = work;
  astro_stage_class_add_pads(stage, voltages, voltages);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(stage), "Marker", "Filter",
                                        "Marks a sample as lost", "The gst-astro authors");
}

G_DECLARE_FINAL_TYPE(Marker, marker, TEST, MARKER, AstroStage)
struct _Marker {
  AstroStage parent;
  Figures figures;
};
G_DEFINE_TYPE(Marker, marker, ASTRO_TYPE_STAGE)

static gboolean start(AstroStage *stage)
{
  Marker *self = TEST_MARKER(stage);
  if (!ASTRO_STAGE_CLASS(marker_parent_class)->start(stage))
    return FALSE;
  self->figures = (Figures){ 0 };
  astro_stage_result(stage)->own = &self->figures;
  return TRUE;
}

static void marker_class_init(MarkerClass *klass)
{
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);
  set_up_class(stage);
  stage->start = start;
  stage->adds_counts = TRUE;
}

static void marker_init(Marker *self)
{
  astro_fields_set_defaults(self);
}

/* Forgot adds_counts. */
G_DECLARE_FINAL_TYPE(Forgetful, forgetful, TEST, FORGETFUL, AstroStage)
struct _Forgetful {
  AstroStage parent;
};
G_DEFINE_TYPE(Forgetful, forgetful, ASTRO_TYPE_STAGE)

static void forgetful_class_init(ForgetfulClass *klass)
{
  set_up_class(ASTRO_STAGE_CLASS(klass));
}

static void forgetful_init(Forgetful *self)
{
  astro_fields_set_defaults(self);
}

/* ---- counts ---- */

static GstHarness *new_stage(GType type, GstBus **bus)
{
  GstElement *element = g_object_new(type, NULL);
  *bus = gst_bus_new();
  gst_element_set_bus(element, *bus);
  GstHarness *h = gst_harness_new_with_element(element, "sink", "src");
  gst_object_unref(element);
  return h;
}

static void free_stage(GstHarness *h, GstBus *bus)
{
  gst_element_set_bus(h->element, NULL);
  gst_bus_set_flushing(bus, TRUE);
  gst_object_unref(bus);
  gst_harness_teardown(h);
}

static GstBuffer *block(guint64 first)
{
  GstBuffer *in = test_buffer(STEPS * STATIONS * 2, 1);
  GST_BUFFER_OFFSET(in) = first;
  GST_BUFFER_OFFSET_END(in) = first + STEPS;
  return in;
}

static GstBuffer *block_with_a_loss(guint64 first)
{
  const AstroLayout layout = { .n_axes = 3,
                               .axes = { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION, ASTRO_AXIS_POL },
                               .extents = { STEPS, STATIONS, 1 } };
  GstBuffer *in = block(first);
  astro_buffer_add_validity(in, &layout, 8)->counts[2] = 3;
  return in;
}

static gboolean says_counts(GstPad *pad)
{
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  return astro_field_is_true(gst_caps_get_structure(caps, 0), "counts");
}

static void check_marked(gconstpointer has_counts)
{
  const gboolean had = GPOINTER_TO_INT(has_counts);
  GstBus *bus;
  GstHarness *h = new_stage(marker_get_type(), &bus);
  gst_harness_set_src_caps_str(h, CAPS("CI8"));
  g_assert_cmpint(gst_harness_push(h, had ? block_with_a_loss(0) : block(0)), ==, GST_FLOW_OK);
  g_autoptr(GstBuffer) out = gst_harness_pull(h);
  const AstroValidityMeta *counts = astro_buffer_get_validity(out);
  g_assert_nonnull(counts);
  g_assert_cmpuint(counts->full, ==, had ? 8 : 1);
  for (guint i = 0; i < STEPS * STATIONS; i++)
    g_assert_cmpuint(counts->counts[i], ==,
                     i == STEPS * STATIONS - 1 ? 0
                     : had && i == 2           ? 3
                                               : counts->full);
  g_assert_true(says_counts(h->sinkpad));
  free_stage(h, bus);
}

/* If every block has counts, a gap has too. */
static void test_gap(void)
{
  GstBus *bus;
  GstHarness *h = new_stage(marker_get_type(), &bus);
  gst_harness_set_src_caps_str(h, CAPS("CI8"));
  GstBuffer *gap = block(0);
  GST_BUFFER_FLAG_SET(gap, GST_BUFFER_FLAG_GAP);
  g_assert_cmpint(gst_harness_push(h, gap), ==, GST_FLOW_OK);
  g_autoptr(GstBuffer) out = gst_harness_pull(h);
  const AstroValidityMeta *counts = astro_buffer_get_validity(out);
  g_assert_nonnull(counts);
  g_assert_cmpuint(astro_validity_n_counts(counts), ==, 1);
  g_assert_cmpuint(counts->counts[0], ==, 0);
  free_stage(h, bus);
}

/* Blocks that pass have counts too, once the caps promise them. */
static void test_passed(void)
{
  GstBus *bus;
  passes = TRUE;
  GstHarness *h = new_stage(marker_get_type(), &bus);
  gst_harness_set_src_caps_str(h, CAPS("CI8"));
  g_assert_cmpint(gst_harness_push(h, block(0)), ==, GST_FLOW_OK);
  g_autoptr(GstBuffer) out = gst_harness_pull(h);
  const AstroValidityMeta *counts = astro_buffer_get_validity(out);
  g_assert_true(says_counts(h->sinkpad));
  g_assert_nonnull(counts);
  g_assert_cmpuint(counts->counts[0], ==, counts->full);
  free_stage(h, bus);
  passes = FALSE;
}

/* Downstream may ask for counts, but not for a stream without. */
static void test_asked(void)
{
  GstBus *bus;
  GstHarness *h = new_stage(marker_get_type(), &bus);
  GstPad *sink = GST_BASE_TRANSFORM_SINK_PAD(h->element);
  g_autoptr(GstCaps) plain = gst_caps_from_string(CAPS("CI8"));
  g_autoptr(GstCaps) with = gst_caps_from_string(CAPS("CI8") ",counts=true");
  g_autoptr(GstCaps) without = gst_caps_from_string(CAPS("CI8") ",counts=false");
  gst_harness_set_sink_caps(h, gst_caps_ref(with));
  g_autoptr(GstCaps) some = gst_pad_query_caps(sink, NULL);
  g_assert_false(gst_caps_is_empty(some));
  g_assert_true(gst_caps_is_subset(plain, some));
  gst_harness_set_sink_caps(h, gst_caps_ref(without));
  g_autoptr(GstCaps) none = gst_pad_query_caps(sink, NULL);
  g_assert_true(gst_caps_is_empty(none));
  free_stage(h, bus);
}

/* ---- errors ---- */

/* All errors that were posted, a line each. */
static char *errors_on(GstBus *bus)
{
  GString *errors = g_string_new(NULL);
  GstMessage *message;
  while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR))) {
    g_autoptr(GError) error = NULL;
    gst_message_parse_error(message, &error, NULL);
    g_string_append_printf(errors, "%s\n", error->message);
    gst_message_unref(message);
  }
  return g_string_free(errors, FALSE);
}

/* Counts that the caps do not announce would be lost in a file. */
static void test_forgot_to_say(void)
{
  GstBus *bus;
  GstHarness *h = new_stage(forgetful_get_type(), &bus);
  gst_harness_set_src_caps_str(h, CAPS("CI8"));
  g_assert_cmpint(gst_harness_push(h, block(0)), ==, GST_FLOW_ERROR);
  g_autofree char *errors = errors_on(bus);
  g_assert_nonnull(strstr(errors, "caps do not say counts=true"));
  g_assert_nonnull(strstr(errors, "adds_counts"));
  free_stage(h, bus);
}

/* If the input has counts there is nothing to refuse: those that work wrote go on. */
static void test_need_not_say(void)
{
  GstBus *bus;
  GstHarness *h = new_stage(forgetful_get_type(), &bus);
  gst_harness_set_src_caps_str(h, CAPS("CI8"));
  g_assert_cmpint(gst_harness_push(h, block_with_a_loss(0)), ==, GST_FLOW_OK);
  free_stage(h, bus);
}

/* The reason that shape gives is the only error, though GStreamer sends the caps again with each
 * event. */
static void test_one_error(void)
{
  GstBus *bus;
  GstHarness *h = new_stage(marker_get_type(), &bus);
  gst_harness_set_src_caps_str(h, CAPS("CF32LE"));
  gst_element_post_message(h->element, gst_message_new_latency(GST_OBJECT(h->element)));
  g_assert_cmpint(gst_harness_push(h, block(0)), ==, GST_FLOW_NOT_NEGOTIATED);
  gst_harness_push_event(h, gst_event_new_eos());
  g_autofree char *errors = errors_on(bus);
  g_assert_cmpstr(errors, ==, "format=CF32LE, expected CI8\n");
  free_stage(h, bus);
}

/* A second run posts the error again. */
static void test_error_again(void)
{
  GstBus *bus;
  GstHarness *h = new_stage(marker_get_type(), &bus);
  gst_harness_set_src_caps_str(h, CAPS("CF32LE"));
  gst_element_set_state(h->element, GST_STATE_NULL);
  gst_element_set_state(h->element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str(h, CAPS("CF32LE"));
  gst_harness_push_event(h, gst_event_new_stream_start("again"));
  gst_harness_push(h, block(0));
  g_autofree char *errors = errors_on(bus);
  g_assert_cmpstr(errors, ==, "format=CF32LE, expected CI8\nformat=CF32LE, expected CI8\n");
  free_stage(h, bus);
}

static void test_backends(void)
{
  GstBus *bus;
  GstHarness *h = new_stage(marker_get_type(), &bus);
  gst_element_set_state(h->element, GST_STATE_READY);
  gst_util_set_object_arg(G_OBJECT(h->element), "backend", "reference");
  g_assert_cmpint(gst_element_set_state(h->element, GST_STATE_PAUSED), ==,
                  GST_STATE_CHANGE_FAILURE);
  g_autofree char *errors = errors_on(bus);
  g_assert_cmpstr(
      errors, ==,
      "backend=reference: this element has none of that kind, expected one of auto, cpu\n");
  gst_util_set_object_arg(G_OBJECT(h->element), "backend", "cpu");
  g_assert_cmpint(gst_element_set_state(h->element, GST_STATE_PAUSED), ==,
                  GST_STATE_CHANGE_SUCCESS);
  free_stage(h, bus);
}

/* Without kernels for this stage the error names its other backends. */
static void test_no_kernels(void)
{
  GstBus *bus;
  GstHarness *h = new_stage(marker_get_type(), &bus);
  gst_element_set_state(h->element, GST_STATE_READY);
  gst_util_set_object_arg(G_OBJECT(h->element), "backend", "cuda");
  g_assert_cmpint(gst_element_set_state(h->element, GST_STATE_PAUSED), ==,
                  GST_STATE_CHANGE_FAILURE);
  g_autofree char *errors = errors_on(bus);
  g_test_message("%s", errors);
  g_assert_true(g_str_has_prefix(errors, "backend=cuda: "));
  g_assert_true(g_str_has_suffix(errors, " auto, cpu\n"));
  free_stage(h, bus);
}

/* ---- figures ---- */

/* The element can read what the backend writes beside blocks, and a new start counts anew. */
static void test_figures(void)
{
  GstBus *bus;
  GstHarness *h = new_stage(marker_get_type(), &bus);
  const Marker *marker = TEST_MARKER(h->element);
  gst_harness_set_src_caps_str(h, CAPS("CI8"));
  for (guint i = 0; i < 2; i++) {
    GstBuffer *in = block(i * STEPS);
    gst_buffer_memset(in, 0, 7, STEPS * STATIONS * 2);
    gst_buffer_memset(in, 3, 0, 5);
    g_assert_cmpint(gst_harness_push(h, in), ==, GST_FLOW_OK);
  }
  g_assert_cmpuint(marker->figures.zeros, ==, 10);
  gst_element_set_state(h->element, GST_STATE_NULL);
  gst_element_set_state(h->element, GST_STATE_PLAYING);
  g_assert_cmpuint(marker->figures.zeros, ==, 0);
  free_stage(h, bus);
}

/* ---- the log ---- */

#ifndef GST_DISABLE_GST_DEBUG
typedef struct {
  guint counted;
} Seen;

static void take(GstDebugCategory *category, GstDebugLevel level, const gchar *file,
                 const gchar *function, gint line, GObject *object, GstDebugMessage *message,
                 gpointer data)
{
  Seen *seen = data;
  const char *text = gst_debug_message_get(message);
  if (g_str_equal(gst_debug_category_get_name(category), "astro-marker") &&
      g_pattern_match_simple("out: *, counts over time:station:pol: 79.69 % good, 2 of 8 below 8, "
                             "the lowest 0",
                             text))
    seen->counted++;
}

/* astro*:6 shows the element, though its name begins otherwise, and the counts of each block. */
static void test_log(void)
{
  Seen seen = { 0 };
  GstBus *bus;
  gst_debug_set_threshold_from_string("astro*:6", FALSE);
  test_leaks_of_gstreamer();
  gst_debug_remove_log_function(gst_debug_log_default);
  gst_debug_add_log_function(take, &seen, NULL);
  test_no_leaks_of_gstreamer();
  GstHarness *h = new_stage(marker_get_type(), &bus);
  gst_harness_set_src_caps_str(h, CAPS("CI8"));
  g_assert_cmpint(gst_harness_push(h, block_with_a_loss(0)), ==, GST_FLOW_OK);
  free_stage(h, bus);
  test_leaks_of_gstreamer();
  gst_debug_remove_log_function_by_data(&seen);
  gst_debug_add_log_function(gst_debug_log_default, NULL, NULL);
  test_no_leaks_of_gstreamer();
  gst_debug_set_threshold_from_string("astro*:0", FALSE);
  g_assert_cmpuint(seen.counted, ==, 1);
}
#endif

static void add_tests(void)
{
  g_test_add_data_func("/outside-stage/counts/none-before", GINT_TO_POINTER(FALSE), check_marked);
  g_test_add_data_func("/outside-stage/counts/some-before", GINT_TO_POINTER(TRUE), check_marked);
  g_test_add_func("/outside-stage/counts/gap", test_gap);
  g_test_add_func("/outside-stage/counts/passed", test_passed);
  g_test_add_func("/outside-stage/counts/asked", test_asked);
  g_test_add_func("/outside-stage/errors/forgot-to-say", test_forgot_to_say);
  g_test_add_func("/outside-stage/errors/need-not-say", test_need_not_say);
  g_test_add_func("/outside-stage/errors/one", test_one_error);
  g_test_add_func("/outside-stage/errors/again", test_error_again);
  g_test_add_func("/outside-stage/errors/backend", test_backends);
  g_test_add_func("/outside-stage/errors/no-kernels", test_no_kernels);
  g_test_add_func("/outside-stage/figures", test_figures);
#ifndef GST_DISABLE_GST_DEBUG
  g_test_add_func("/outside-stage/log", test_log);
#endif
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
