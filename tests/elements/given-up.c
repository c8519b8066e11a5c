/* A user asks for the end while a stage works, and the time that it is given runs out. What a call
 * had made by then is kept if it gave up nothing, and no other block is begun. */
#include <string.h>

#include "elements/base/astrodeadline.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrostage.h"
#include "tests/elements/elements.h"

enum { STEPS = 4, CALLS = 3 };

/* How the stage treats each block. */
typedef enum {
  WORKS_ON, /* without asking whether to */
  ASKS      /* and leaves when it is told */
} Manner;

static GstHarness *harness;
static Manner manner;
static gboolean counts; /* after the block, in a call without blocks */
static guint submits, counted;

static void run_out_of_time(void)
{
  gst_harness_push_upstream_event(
      harness, gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM,
                                    gst_structure_new_empty(ASTRO_INTERRUPT_EVENT)));
  g_usleep((ASTRO_DEADLINE_MS + 50) * 1000);
}

/* ---- the backend ---- */

static gboolean shape(gconstpointer config, GError **error)
{
  return TRUE;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  *variant = "c";
  return g_malloc(1);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  if (n_out == 0) {
    counted++;
    return TRUE;
  }
  if (++submits == 1)
    run_out_of_time();
  if (manner == ASKS && astro_is_given_up())
    return TRUE;
  memcpy(out->data, in->data, out->bytes);
  return TRUE;
}

static const AstroBackend cpu = {
  .stage = "slow",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = 1,
  .shape = shape,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};
static const AstroBackend *const backends[] = { &cpu, NULL };

/* ---- the stage ---- */

G_DECLARE_FINAL_TYPE(Slow, slow, TEST, SLOW, AstroStage)
struct _Slow {
  AstroStage parent;
};
G_DEFINE_TYPE(Slow, slow, ASTRO_TYPE_STAGE)

static gboolean configure(AstroStage *stage, gpointer config, gboolean *pass_through,
                          GError **error)
{
  return TRUE;
}

/* The same block several times. */
static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  for (guint64 i = 0; i < CALLS; i++) {
    GstBuffer *out = astro_stage_new_buffer(stage, gst_buffer_get_size(in), error);
    if (!astro_stage_submit(stage, in, out, NULL, error)) {
      gst_buffer_unref(out);
      return FALSE;
    }
    astro_stage_emit(stage, out, first + i * steps, steps);
    astro_stage_push(stage);
    if (counts)
      return astro_stage_submit(stage, NULL, NULL, NULL, error);
  }
  return TRUE;
}

static void slow_class_init(SlowClass *klass)
{
  static const AstroQuantity voltages[] = { ASTRO_QUANTITY_VOLTAGES, ASTRO_QUANTITY_UNKNOWN };
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);
  stage->stage = "slow";
  stage->backends = backends;
  stage->configure = configure;
  stage->feed = feed;
  astro_stage_class_add_pads(stage, voltages, voltages);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Slow", "Filter",
                                        "Works for longer than it is given",
                                        "The gst-astro "
                                        "authors");
}

static void slow_init(Slow *self)
{
  astro_fields_set_defaults(self);
}

/* ---- tests ---- */

static char *error_on(GstBus *bus)
{
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_autoptr(GError) error = NULL;
  if (message)
    gst_message_parse_error(message, &error, NULL);
  return error ? g_strdup(error->message) : NULL;
}

/* Returns the error of a block that is fed to the stage, or NULL, and how many blocks came of it.
 */
static char *feed_one(Manner how, gboolean and_counts, guint *blocks)
{
  g_autoptr(GstBus) bus = gst_bus_new();
  GstElement *element = g_object_new(slow_get_type(), NULL);
  harness = gst_harness_new_with_element(element, "sink", "src");
  manner = how;
  counts = and_counts;
  submits = counted = 0;
  gst_element_set_bus(element, bus);
  gst_harness_set_src_caps_str(harness, "application/x-astro-voltages,format=CI8,layout=time:"
                                        "station:pol,stations=1,pols=1,rate=1000/1");
  gst_harness_push(harness, test_buffer(STEPS * 2, 1));
  *blocks = gst_harness_buffers_received(harness);
  gst_element_set_bus(element, NULL);
  gst_harness_teardown(harness);
  gst_object_unref(element);
  return error_on(bus);
}

/* Nothing asked whether to stop in the first call, and the second does not begin. */
static void no_other_block(void)
{
  guint blocks;
  g_autofree char *error = feed_one(WORKS_ON, FALSE, &blocks);
  g_assert_nonnull(error);
  g_assert_nonnull(strstr(error, "interrupted"));
  g_assert_cmpuint(submits, ==, 1);
  g_assert_cmpuint(blocks, ==, 1);
}

static void half_made(void)
{
  guint blocks;
  g_autofree char *error = feed_one(ASKS, FALSE, &blocks);
  g_assert_nonnull(error);
  g_assert_nonnull(strstr(error, "interrupted"));
  g_assert_cmpuint(submits, ==, 1);
  g_assert_cmpuint(blocks, ==, 0);
}

/* A whole block, and a call that makes none: nothing is lost, and no error is posted. */
static void whole(void)
{
  guint blocks;
  g_autofree char *error = feed_one(WORKS_ON, TRUE, &blocks);
  g_assert_cmpstr(error, ==, NULL);
  g_assert_cmpuint(counted, ==, 1);
  g_assert_cmpuint(blocks, ==, 1);
}

static void add_tests(void)
{
  g_test_add_func("/given-up/whole", whole);
  g_test_add_func("/given-up/half-made", half_made);
  g_test_add_func("/given-up/no-other-block", no_other_block);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
