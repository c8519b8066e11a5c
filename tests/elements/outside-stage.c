/* A stage, as one outside the tree may be, that marks samples as lost: what it writes in work
 * stays, whether the input has counts or not. */
#include <string.h>

#include "core/stream/validity.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrostage.h"
#include "tests/elements/elements.h"

enum { STEPS = 4, STATIONS = 2 };

typedef struct {
  AstroStream in;
} Config;

static gboolean shape(gconstpointer config, GError **error)
{
  return TRUE;
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
  memcpy(out->data, in->data, out->bytes);
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

G_DECLARE_FINAL_TYPE(Marker, marker, TEST, MARKER, AstroStage)
struct _Marker {
  AstroStage parent;
};
G_DEFINE_TYPE(Marker, marker, ASTRO_TYPE_STAGE)

static gboolean configure(AstroStage *stage, gpointer config, gboolean *pass_through,
                          GError **error)
{
  ((Config *)config)->in = *astro_stage_in(stage);
  return TRUE;
}

/* The last step of the last station is lost, beside what was before. */
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

static void marker_class_init(MarkerClass *klass)
{
  static const AstroQuantity voltages[] = { ASTRO_QUANTITY_VOLTAGES, ASTRO_QUANTITY_UNKNOWN };
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);
  stage->stage = "marker";
  stage->backends = backends;
  stage->configure = configure;
  stage->work = work;
  astro_stage_class_add_pads(stage, voltages, voltages);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Marker", "Filter",
                                        "Marks a sample as lost", "The gst-astro authors");
}

static void marker_init(Marker *self)
{
  astro_fields_set_defaults(self);
}

static void check_marked(gconstpointer has_counts)
{
  const gboolean had = GPOINTER_TO_INT(has_counts);
  const AstroLayout layout = { .n_axes = 3,
                               .axes = { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION, ASTRO_AXIS_POL },
                               .extents = { STEPS, STATIONS, 1 } };
  GstElement *element = g_object_new(marker_get_type(), NULL);
  GstHarness *h = gst_harness_new_with_element(element, "sink", "src");
  GstBuffer *in = test_buffer(STEPS * STATIONS * 2, 1);
  gst_harness_set_src_caps_str(
      h, "application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=2,pols=1,"
         "rate=1000/1");
  GST_BUFFER_OFFSET(in) = 0;
  GST_BUFFER_OFFSET_END(in) = STEPS;
  if (had)
    astro_buffer_add_validity(in, &layout, 8)->counts[2] = 3;
  g_assert_cmpint(gst_harness_push(h, in), ==, GST_FLOW_OK);
  g_autoptr(GstBuffer) out = gst_harness_pull(h);
  const AstroValidityMeta *counts = astro_buffer_get_validity(out);
  g_assert_nonnull(counts);
  g_assert_cmpuint(counts->full, ==, had ? 8 : 1);
  for (guint i = 0; i < STEPS * STATIONS; i++)
    g_assert_cmpuint(counts->counts[i], ==,
                     i == STEPS * STATIONS - 1 ? 0
                     : had && i == 2           ? 3
                                               : counts->full);
  gst_harness_teardown(h);
  gst_object_unref(element);
}

static void add_tests(void)
{
  g_test_add_data_func("/own-counts/none-before", GINT_TO_POINTER(FALSE), check_marked);
  g_test_add_data_func("/own-counts/some-before", GINT_TO_POINTER(TRUE), check_marked);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
