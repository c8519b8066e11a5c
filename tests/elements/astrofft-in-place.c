/* Blocks that are transformed in place, and those that must not be. */
#include "core/memory/memory.h"
#include "core/stream/grid.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"

#define COUNTED_SPECTRA                                                                            \
  "application/x-astro-spectra,format=CF32LE,layout=time:channel:station,channels=4,stations=3"
#define BOUND_META "TestOfSamples" /* about the input's samples: an output does not have it */
#define FREE_META "TestOfStream"   /* stays */

typedef enum {
  ALONE,   /* a block in our memory with no other owner */
  HELD,    /* somebody has the buffer */
  SHARED,  /* another buffer shares the memory */
  PART,    /* of a larger block */
  FOREIGN, /* not our memory */
  N_OWNERS
} Owner;

/* Steps 2 and 3 of a stream that jumped there, with all the metadata there is; others: what shares
 * their memory, or NULL. */
static GstBuffer *counted(Owner owner, GstBuffer **others)
{
  const gsize bytes = 2 * 4 * 3 * 8;
  AstroLayout shape = { 3,
                        { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION },
                        { 2, 4, 3 } };
  g_autoptr(GstAllocator) ours = owner == FOREIGN ? NULL : astro_allocator_get();
  GstBuffer *in = gst_buffer_new_allocate(ours, bytes * (owner == PART ? 2 : 1), NULL);
  float samples[2 * 4 * 3 * 2];
  for (guint i = 0; i < G_N_ELEMENTS(samples); i++)
    samples[i] = (float)(i * 7919 % 1000) / 1000;
  gst_buffer_fill(in, 0, samples, bytes);
  *others = NULL;
  if (owner == PART) {
    *others = in;
    in = gst_buffer_copy_region(*others, GST_BUFFER_COPY_MEMORY, 0, bytes);
  }
  AstroValidityMeta *meta = astro_buffer_add_validity(in, &shape, 9);
  meta->counts[(1 * 4 + 2) * 3 + 1] = 4;
  astro_buffer_add_grid(in, 2)->weights[1] = 7;
  gst_buffer_add_custom_meta(in, BOUND_META);
  gst_buffer_add_custom_meta(in, FREE_META);
  GST_BUFFER_OFFSET(in) = 2;
  GST_BUFFER_OFFSET_END(in) = 4;
  GST_BUFFER_PTS(in) = 5;
  GST_BUFFER_DTS(in) = 6;
  GST_BUFFER_DURATION(in) = 7;
  GST_BUFFER_FLAG_SET(in, GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_MARKER);
  if (owner == HELD)
    *others = gst_buffer_ref(in);
  if (owner == SHARED)
    *others = gst_buffer_copy(in);
  return in;
}

static void check_same(GstBuffer *a, GstBuffer *b)
{
  const AstroValidityMeta *x = astro_buffer_get_validity(a), *y = astro_buffer_get_validity(b);
  GstMapInfo from, to;
  g_assert_cmpuint(GST_BUFFER_FLAGS(a), ==, GST_BUFFER_FLAGS(b));
  g_assert_cmpuint(GST_BUFFER_PTS(a), ==, GST_BUFFER_PTS(b));
  g_assert_cmpuint(GST_BUFFER_DTS(a), ==, GST_BUFFER_DTS(b));
  g_assert_cmpuint(GST_BUFFER_DURATION(a), ==, GST_BUFFER_DURATION(b));
  g_assert_cmpuint(GST_BUFFER_OFFSET(a), ==, GST_BUFFER_OFFSET(b));
  g_assert_cmpuint(GST_BUFFER_OFFSET_END(a), ==, GST_BUFFER_OFFSET_END(b));
  g_assert_cmpmem(&x->shape, sizeof x->shape, &y->shape, sizeof y->shape);
  g_assert_cmpmem(x->counts, astro_validity_n_counts(x) * sizeof *x->counts, y->counts,
                  astro_validity_n_counts(y) * sizeof *y->counts);
  g_assert_cmpfloat(astro_buffer_get_grid(a)->weights[1], ==, 7);
  g_assert_cmpfloat(astro_buffer_get_grid(b)->weights[1], ==, 7);
  g_assert_cmpuint(gst_buffer_get_n_meta(a, ASTRO_GRID_META_API), ==, 1);
  g_assert_cmpuint(gst_buffer_get_n_meta(a, ASTRO_VALIDITY_META_API), ==, 1);
  g_assert_nonnull(gst_buffer_get_custom_meta(a, FREE_META));
  g_assert_nonnull(gst_buffer_get_custom_meta(b, FREE_META));
  g_assert_null(gst_buffer_get_custom_meta(a, BOUND_META));
  g_assert_null(gst_buffer_get_custom_meta(b, BOUND_META));
  gst_buffer_map(a, &from, GST_MAP_READ);
  gst_buffer_map(b, &to, GST_MAP_READ);
  g_assert_cmpmem(from.data, from.size, to.data, to.size);
  gst_buffer_unmap(a, &from);
  gst_buffer_unmap(b, &to);
}

static gpointer place_of(GstBuffer *buffer)
{
  GstMapInfo map;
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  gst_buffer_unmap(buffer, &map);
  return map.data;
}

/* A block without another owner becomes the output, and any other block is left as it was. All
 * outputs have the same samples and metadata, after another transform's pool as well. */
static void check_in_place(const char *line)
{
  static const gchar *bound[] = { "test-samples", NULL }, *unbound[] = { NULL };
  g_autoptr(GstBuffer) expected = NULL;
  if (!gst_meta_get_info(BOUND_META)) {
    gst_meta_register_custom(BOUND_META, bound, NULL, NULL, NULL);
    gst_meta_register_custom(FREE_META, unbound, NULL, NULL, NULL);
  }
  for (Owner owner = ALONE; owner < N_OWNERS; owner++) {
    GstHarness *h = gst_harness_new_parse(line);
    gst_harness_set_src_caps_str(h, COUNTED_SPECTRA);
    GstBuffer *others, *in = counted(owner, &others);
    gconstpointer place = place_of(in);
    GstBuffer *out = gst_harness_push_and_pull(h, in);
    g_assert_cmpint(place_of(out) == place, ==, owner == ALONE);
    if (others) {
      const float *samples = place_of(others);
      for (guint i = 0; i < 2 * 4 * 3 * 2; i++)
        g_assert_cmpfloat(samples[i], ==, (float)(i * 7919 % 1000) / 1000);
      gst_buffer_unref(others);
    }
    if (!expected)
      expected = gst_buffer_ref(out);
    check_same(out, expected);
    gst_buffer_unref(out);
    gst_harness_teardown(h);
  }
}

static void test_in_place(gconstpointer backend)
{
  g_autofree char *one = g_strdup_printf("astrofft axes=station backend=%s", (const char *)backend);
  g_autofree char *two = g_strdup_printf("%s ! %s direction=inverse", one, one);
  check_in_place(one);
  check_in_place(two);
}

static void add_tests(void)
{
  g_test_add_data_func("/astrofft/in-place/cpu", "cpu", test_in_place);
  g_test_add_data_func("/astrofft/in-place/reference", "reference", test_in_place);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
