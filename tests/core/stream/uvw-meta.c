/* (u,v,w), and which baselines are absent, in metas: kept by copies and by parts of whole steps,
 * and an error if they got lost. */
#include "core/stream/absent.h"
#include "core/stream/uvw-meta.h"
#include "tests/tests.h"

enum { STEPS = 4, BASELINES = 3, STEP_BYTES = 48 };

static GstBuffer *new_buffer(void)
{
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, STEPS * STEP_BYTES, NULL);
  AstroUvwMeta *meta = astro_buffer_add_uvw(buffer, STEPS, BASELINES);
  AstroAbsentMeta *absent = astro_buffer_add_absent(buffer, STEPS, BASELINES);
  for (guint i = 0; i < STEPS * BASELINES; i++)
    absent->is_absent[i] = (guint8)i;
  for (guint i = 0; i < STEPS * BASELINES * 3; i++) {
    g_assert_cmpfloat(meta->uvw[i], ==, 0);
    meta->uvw[i] = i;
  }
  return buffer;
}

static AstroObservation *new_observation(double metres)
{
  AstroObservation *observation = astro_observation_new(2);
  observation->uvw_metres = metres;
  return observation;
}

static void test_parts(void)
{
  static const struct {
    gsize offset, size;
    guint first, steps; /* 0: it has none */
  } parts[] = {
    { 0, STEPS * STEP_BYTES, 0, STEPS },
    { STEP_BYTES, 2 * STEP_BYTES, 1, 2 },
    { 0, STEP_BYTES, 0, 1 },
    { 8, STEP_BYTES, 0, 0 },
    { 0, STEP_BYTES - 8, 0, 0 },
  };
  g_autoptr(AstroObservation) observation = new_observation(1000);
  g_autoptr(GstBuffer) buffer = new_buffer();
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GstBuffer) part =
        gst_buffer_copy_region(buffer, GST_BUFFER_COPY_ALL, parts[i].offset, parts[i].size);
    const double *uvw;
    const gboolean found =
        astro_buffer_find_uvw(part, observation, MAX(parts[i].steps, 1), BASELINES, &uvw, &error);
    g_assert_true(found == (parts[i].steps > 0));
    for (guint k = 0; k < parts[i].steps * BASELINES * 3; k++)
      g_assert_cmpfloat(uvw[k], ==, parts[i].first * BASELINES * 3 + k);
    const guint8 *absent = astro_buffer_find_absent(part, parts[i].steps, BASELINES);
    g_assert_true((absent != NULL) == (parts[i].steps > 0));
    for (guint k = 0; k < parts[i].steps * BASELINES; k++)
      g_assert_cmpuint(absent[k], ==, parts[i].first * BASELINES + k);
    g_assert_null(astro_buffer_find_absent(part, parts[i].steps + 1, BASELINES));
  }
}

/* The observation says whose (u,v,w) are valid. */
static void test_found(void)
{
  g_autoptr(AstroObservation) brings = new_observation(1000), without = new_observation(0);
  g_autoptr(GstBuffer) buffer = new_buffer(), empty = gst_buffer_new();
  g_autoptr(GError) error = NULL;
  const double *uvw;
  g_assert_true(astro_buffer_find_uvw(buffer, brings, STEPS, BASELINES, &uvw, &error));
  g_assert_nonnull(uvw);
  g_assert_true(astro_buffer_find_uvw(buffer, without, STEPS, BASELINES, &uvw, &error));
  g_assert_null(uvw);
  g_assert_true(astro_buffer_find_uvw(empty, NULL, STEPS, BASELINES, &uvw, &error));
  g_assert_false(astro_buffer_find_uvw(empty, brings, STEPS, BASELINES, &uvw, &error));
  test_says(error->message, "this one has none: an element on the way dropped them");
  g_clear_error(&error);
  g_assert_false(astro_buffer_find_uvw(buffer, brings, STEPS, BASELINES + 1, &uvw, &error));
  test_says(error->message, "4 times and 3 baselines, expected 4 and 4");
}

static void test_event(void)
{
  g_autoptr(AstroObservation) brings = new_observation(1234.5), without = new_observation(0);
  AstroObservation *all[] = { brings, without };
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
    g_autoptr(GstEvent) event = astro_observation_to_event(all[i]);
    g_autoptr(AstroObservation) found = astro_observation_from_event(event, NULL);
    g_assert_cmpfloat(found->uvw_metres, ==, all[i]->uvw_metres);
  }
  g_autoptr(GstEvent) event = astro_observation_to_event(without);
  g_autoptr(GError) error = NULL;
  gst_structure_set(gst_event_writable_structure(event), "uvw-metres", G_TYPE_DOUBLE, -1.0, NULL);
  g_assert_null(astro_observation_from_event(event, &error));
  test_says(error->message, "uvw-metres");
}

static void add_tests(void)
{
  g_test_add_func("/uvw-meta/parts", test_parts);
  g_test_add_func("/uvw-meta/found", test_found);
  g_test_add_func("/uvw-meta/event", test_event);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
