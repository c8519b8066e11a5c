/* Sources in images that pass through: the messages about them, images that stay as they were, and
 * errors. */
#include "core/memory/memory.h"
#include "core/stream/grid.h"
#include "core/stream/observation.h"
#include "tests/elements/elements.h"
#include <math.h>

#define SIZE 64
#define PIXEL 1e-3
#define CAPS                                                                                       \
  "application/x-astro-image,format=F32LE,layout=pol:y:x,width=64,height=64,pols=1,pixel=1e-3,"    \
  "centre-l=0.01,centre-m=-0.02,products=I"

/* Sources at l, m; x runs against l. */
static GstBuffer *new_image(const double (*sources)[3], guint n)
{
  float *pixels = g_new0(float, SIZE *SIZE);
  for (guint i = 0; i < n; i++)
    for (guint y = 0; y < SIZE; y++)
      for (guint x = 0; x < SIZE; x++) {
        double l = 0.01 + (SIZE / 2 - (double)x) * PIXEL, m = -0.02 + (y - SIZE / 2.) * PIXEL;
        pixels[y * SIZE + x] +=
            sources[i][2] *
            exp(-(pow(l - sources[i][0], 2) + pow(m - sources[i][1], 2)) / (6 * PIXEL * PIXEL));
      }
  return gst_buffer_new_wrapped(pixels, SIZE * SIZE * sizeof *pixels);
}

static void observe(GstHarness *h)
{
  AstroObservation *observation = astro_observation_new(2);
  observation->has_phase_centre = TRUE;
  observation->phase_ra = 1;
  observation->phase_dec = 0.5;
  gst_harness_push_event(h, astro_observation_to_event(observation));
  astro_observation_unref(observation);
}

/* The structures that an image's message has. */
static GstStructure *measure(const char *properties, const double (*sources)[3], guint n,
                             guint border)
{
  g_autofree char *line = g_strdup_printf("astromeasure %s", properties);
  GstHarness *h = gst_harness_new_parse(line);
  g_autoptr(GstBus) bus = gst_bus_new();
  GstBuffer *image = new_image(sources, n);

  astro_buffer_add_image(image, 0)->border = border;
  gst_element_set_bus(h->element, bus);
  gst_harness_set_src_caps_str(h, CAPS);
  observe(h);
  GstBuffer *out = gst_harness_push_and_pull(h, gst_buffer_ref(image));
  g_assert_true(out == image);
  gst_buffer_unref(out);
  gst_buffer_unref(image);
  GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT);
  g_assert_nonnull(message);
  GstStructure *told = gst_structure_copy(gst_message_get_structure(message));
  gst_message_unref(message);
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
  g_assert_cmpstr(gst_structure_get_name(told), ==, "astro-sources");
  return told;
}

static const GstStructure *source_of(const GstStructure *told, guint index)
{
  const GValue *sources = gst_structure_get_value(told, "sources");
  g_assert_cmpuint(gst_value_array_get_size(sources), >, index);
  return gst_value_get_structure(gst_value_array_get_value(sources, index));
}

static double number(const GstStructure *source, const char *field)
{
  double value;
  g_assert_true(gst_structure_get_double(source, field, &value));
  return value;
}

static const double sources[][3] = { { 0.0203, -0.0108, 1 }, { -0.0021, -0.0302, 3 } };

static void test_sky(void)
{
  GstStructure *told =
      measure("sky=\"0.0203,-0.0108,1;-0.0021,-0.0302,2.5;0.03,-0.04,1\"", sources, 2, 0);
  const GValue *all = gst_structure_get_value(told, "sources");
  g_assert_cmpuint(gst_value_array_get_size(all), ==, 3);
  for (guint i = 0; i < 2; i++) {
    const GstStructure *source = source_of(told, i);
    g_assert_cmpfloat_with_epsilon(number(source, "l"), sources[i][0], 1e-7);
    g_assert_cmpfloat_with_epsilon(number(source, "m"), sources[i][1], 1e-7);
    g_assert_cmpfloat_with_epsilon(number(source, "flux"), sources[i][2], 1e-4);
    g_assert_cmpfloat(number(source, "offset"), <, 1e-4);
    g_assert_cmpfloat(number(source, "true-l"), ==, sources[i][0]);
    g_assert_cmpfloat(number(source, "true-flux"), ==, i ? 2.5 : 1);
  }
  g_assert_false(gst_structure_has_field(source_of(told, 2), "l"));
  g_assert_cmpfloat(number(source_of(told, 2), "true-m"), ==, -0.04);
  gst_structure_free(told);
}

static void test_any(void)
{
  GstStructure *told = measure("", sources, 2, 0);
  g_assert_cmpuint(gst_value_array_get_size(gst_structure_get_value(told, "sources")), ==, 2);
  g_assert_cmpfloat_with_epsilon(number(source_of(told, 0), "flux"), 3, 1e-4);
  g_assert_cmpfloat_with_epsilon(number(source_of(told, 1), "l"), 0.0203, 1e-7);
  /* East of the phase centre, right ascension is larger. */
  g_assert_cmpfloat(number(source_of(told, 1), "ra"), >, 180 / G_PI);
  g_assert_cmpfloat(number(source_of(told, 0), "ra"), <, 180 / G_PI);
  gst_structure_free(told);
  told = measure("max-sources=1", sources, 2, 0);
  g_assert_cmpuint(gst_value_array_get_size(gst_structure_get_value(told, "sources")), ==, 1);
  gst_structure_free(told);
}

/* An image that was cleaned inside a border: peaks in the border are not counted as sources that
 * were found, while sources of a given sky are looked for there too. */
static void test_cleaned(void)
{
  static const double far[][3] = { { 0.0203, -0.0108, 1 }, { -0.0151, -0.0302, 3 } };
  static const struct {
    const char *properties;
    guint border, n;
    double flux; /* of the first */
  } cases[] = { { "", 0, 2, 3 }, { "", 16, 1, 1 }, { "sky=-0.0151,-0.0302,3", 16, 1, 3 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GstStructure *told = measure(cases[i].properties, far, 2, cases[i].border);
    const GValue *all = gst_structure_get_value(told, "sources");
    g_assert_cmpuint(gst_value_array_get_size(all), ==, cases[i].n);
    g_assert_cmpfloat_with_epsilon(number(source_of(told, 0), "flux"), cases[i].flux, 1e-4);
    gst_structure_free(told);
  }
}

/* A given source outside the image is reported as such, and not looked for at the edge. */
static void test_outside(void)
{
  static const double edge[][3] = { { 0.041, -0.02, 1 } };
  GstStructure *told = measure("sky=\"0.041,-0.02,1;0.0427,-0.02,1;0.1,0,1\"", edge, 1, 0);
  for (guint i = 0; i < 3; i++) {
    gboolean outside = FALSE;
    gst_structure_get_boolean(source_of(told, i), "outside", &outside);
    g_assert_cmpint(outside, ==, i > 0);
    g_assert_cmpint(gst_structure_has_field(source_of(told, i), "l"), ==, i == 0);
  }
  gst_structure_free(told);
}

/* How the history of an image counts: where it was not cleaned, a peak that may be a sidelobe of a
 * brighter one is no source; where it was, a peak that CLEAN left over is none; and the noise is
 * what CLEAN said. */
static void test_sidelobes(void)
{
  static const struct {
    double sidelobe;
    gboolean cleaned;
    double left;
    guint n;
    const char *limited;
    double limit;
  } cases[] = {
    { 0, FALSE, 0, 2, "noise", -1 },           { 0.2, FALSE, 0, 2, "sidelobes", 0.88 },
    { 0.4, FALSE, 0, 1, "sidelobes", 1.32 },   { 0.4, TRUE, 0.5, 2, "sidelobes", 0.44 },
    { 0.4, TRUE, 0.01, 2, "noise", 8 * 0.02 }, { 0.4, TRUE, 3, 1, "sidelobes", 1.32 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GstHarness *h = gst_harness_new("astromeasure");
    g_autoptr(GstBus) bus = gst_bus_new();
    GstBuffer *image = new_image(sources, 2);
    AstroImageMeta *meta = astro_buffer_add_image(image, 1);
    gboolean cleaned;
    meta->sidelobe = cases[i].sidelobe;
    meta->cleaned = cases[i].cleaned;
    meta->levels[0] = (AstroImageLevels){ 0.02, cases[i].left };
    meta->has_beam = TRUE;
    meta->major = 3 * PIXEL;
    meta->minor = 2 * PIXEL;
    gst_element_set_bus(h->element, bus);
    gst_harness_set_src_caps_str(h, CAPS);
    gst_buffer_unref(gst_harness_push_and_pull(h, image));
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT);
    const GstStructure *told = gst_message_get_structure(message);
    g_assert_cmpuint(gst_value_array_get_size(gst_structure_get_value(told, "sources")), ==,
                     cases[i].n);
    g_assert_cmpstr(gst_structure_get_string(told, "limited-by"), ==, cases[i].limited);
    if (cases[i].limit > 0)
      g_assert_cmpfloat_with_epsilon(number(told, "limit"), cases[i].limit, 1e-3);
    g_assert_true(gst_structure_get_boolean(told, "cleaned", &cleaned));
    g_assert_cmpint(cleaned, ==, cases[i].cleaned);
    if (cleaned)
      g_assert_cmpfloat(number(told, "rms"), ==, 0.02);
    g_assert_cmpfloat_with_epsilon(number(told, "beam-minor"), 2 * PIXEL * 180 / G_PI, 1e-9);
    gst_element_set_bus(h->element, NULL);
    gst_harness_teardown(h);
  }
}

/* In a cleaned image, a peak may be noise if it is no higher than the deepest hole is deep. Nothing
 * follows from holes in an image that was not cleaned, or that has negative values by its
 * nature. */
static void test_depth(void)
{
  static const double below[][3] = { { 0.0203, -0.0108, 1 },
                                     { -0.0021, -0.0302, 3 },
                                     { 0.03, -0.04, -1.5 } };
  static const struct {
    gboolean cleaned;
    const char *product, *limited;
    guint n;
  } cases[] = { { TRUE, "I", "depth", 1 }, { FALSE, "I", "noise", 2 }, { TRUE, "Q", "noise", 2 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GstHarness *h = gst_harness_new("astromeasure");
    g_autoptr(GstBus) bus = gst_bus_new();
    GstBuffer *image = new_image(below, 3);
    AstroImageMeta *meta = astro_buffer_add_image(image, 1);
    g_autoptr(GstCaps) caps = gst_caps_from_string(CAPS);
    meta->cleaned = cases[i].cleaned;
    meta->levels[0] = (AstroImageLevels){ 0.02, 0.01 };
    gst_caps_set_simple(caps, "products", G_TYPE_STRING, cases[i].product, NULL);
    gst_element_set_bus(h->element, bus);
    gst_harness_set_src_caps(h, g_steal_pointer(&caps));
    gst_buffer_unref(gst_harness_push_and_pull(h, image));
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT);
    const GstStructure *told = gst_message_get_structure(message);
    g_assert_cmpuint(gst_value_array_get_size(gst_structure_get_value(told, "sources")), ==,
                     cases[i].n);
    g_assert_cmpstr(gst_structure_get_string(told, "limited-by"), ==, cases[i].limited);
    gst_element_set_bus(h->element, NULL);
    gst_harness_teardown(h);
  }
}

/* Pixels that begin at any address, as behind another program's header, are read from an aligned
 * copy; the buffer that goes on is the one that came. */
static void test_unaligned(void)
{
  GstHarness *h = gst_harness_new("astromeasure");
  g_autoptr(GstBus) bus = gst_bus_new();
  g_autoptr(GstBuffer) image = new_image(sources, 2),
                       shifted =
                           gst_buffer_new_allocate(NULL, gst_buffer_get_size(image) + 1, NULL);
  AstroMemoryCounters before, after;
  GstMapInfo map;
  g_assert_true(gst_buffer_map(image, &map, GST_MAP_READ));
  gst_buffer_fill(shifted, 1, map.data, map.size);
  gst_buffer_unmap(image, &map);
  gst_buffer_resize(shifted, 1, -1);
  gst_element_set_bus(h->element, bus);
  gst_harness_set_src_caps_str(h, CAPS);
  astro_memory_counters(&before);
  g_autoptr(GstBuffer) out = gst_harness_push_and_pull(h, gst_buffer_ref(shifted));
  astro_memory_counters(&after);
  g_assert_true(out == shifted);
  g_assert_cmpuint(after.host_copies - before.host_copies, ==, 1);
  g_autoptr(GstMessage) told = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT);
  g_assert_nonnull(told);
  g_assert_cmpfloat_with_epsilon(number(source_of(gst_message_get_structure(told), 0), "flux"), 3,
                                 1e-4);
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

/* A sky that is set in mid-stream is not an error: images before the next observation are measured
 * without it. */
static void test_late_sky(void)
{
  GstHarness *h = gst_harness_new("astromeasure");
  g_autoptr(GstBus) bus = gst_bus_new();
  GstBuffer *image = new_image(sources, 2);
  gst_element_set_bus(h->element, bus);
  gst_harness_set_src_caps_str(h, CAPS);
  observe(h);
  for (guint i = 0; i < 3; i++) {
    double place;
    g_assert_cmpint(gst_harness_push(h, gst_buffer_ref(image)), ==, GST_FLOW_OK);
    g_autoptr(GstMessage) told = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT);
    g_assert_nonnull(told);
    const GstStructure *source = source_of(gst_message_get_structure(told), 0);
    g_assert_cmpint(gst_structure_get_double(source, "true-l", &place), ==, i == 2);
    g_object_set(h->element, "sky", "-0.0021,-0.0302,3", NULL);
    if (i == 1)
      observe(h);
  }
  gst_buffer_unref(image);
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

/* Nor is it an error if no observation gives it a place. */
static void test_late_sky_without_place(void)
{
  GstHarness *h = gst_harness_new("astromeasure");
  GstBuffer *image = new_image(sources, 2);
  gst_harness_set_src_caps_str(h, CAPS);
  for (guint i = 0; i < 2; i++) {
    g_assert_cmpint(gst_harness_push(h, gst_buffer_ref(image)), ==, GST_FLOW_OK);
    g_object_set(h->element, "sky", "-0.0021,-0.0302,3", NULL);
  }
  gst_buffer_unref(image);
  gst_harness_teardown(h);
}

static void test_errors(void)
{
  static const char *const cases[][2] = {
    { CAPS " ! astromeasure sky=0,0,1", "no observation with a phase centre" },
    { "application/x-astro-image,format=CF32LE,layout=pol:y:x,width=4,height=4,pols=1,pixel=1e-3 ! "
      "astromeasure",
      "expected F32LE or F64LE" },
    { "application/x-astro-image,format=F32LE,layout=pol:y:x,width=4,height=4,pols=1 ! "
      "astromeasure",
      "pixel" },
    /* As large a square, with other axes. */
    { "application/x-astro-image,format=F32LE,layout=pol:x:channel,width=8,channels=8,pols=1,"
      "pixel=1e-3 ! astromeasure",
      "layout pol:x:channel, expected pol:y:x" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf(
        "fakesrc num-buffers=1 sizetype=fixed sizemax=16384 format=time ! %s ! fakesink",
        cases[i][0]);
    test_refused(line, cases[i][1]);
  }
}

static void add_tests(void)
{
  g_test_add_func("/astromeasure/sky", test_sky);
  g_test_add_func("/astromeasure/any", test_any);
  g_test_add_func("/astromeasure/cleaned", test_cleaned);
  g_test_add_func("/astromeasure/outside", test_outside);
  g_test_add_func("/astromeasure/sidelobes", test_sidelobes);
  g_test_add_func("/astromeasure/depth", test_depth);
  g_test_add_func("/astromeasure/unaligned", test_unaligned);
  g_test_add_func("/astromeasure/late-sky", test_late_sky);
  g_test_add_func("/astromeasure/late-sky-without-place", test_late_sky_without_place);
  g_test_add_func("/astromeasure/errors", test_errors);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
