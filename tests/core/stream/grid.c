#include "core/stream/grid.h"
#include "tests/tests.h"

static GstCaps *example(void)
{
  return gst_caps_from_string("application/x-astro-uvgrid, format=CF32LE, layout=pol:v:u, pols=2, "
                              "width=96, height=96, cell=12.5, image-size=64, products=I:PSF, "
                              "spread=semicircle, support=7, beta=16.1, centre-l=0.01");
}

static void test_caps(void)
{
  GstCaps *caps = example(), *again = gst_caps_copy(caps);
  AstroGrid grid, other;
  GError *error = NULL;

  g_assert_true(astro_grid_from_caps(&grid, caps, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(grid.size, ==, 96);
  g_assert_cmpuint(grid.image_size, ==, 64);
  g_assert_cmpfloat_with_epsilon(grid.pixel, 1 / (96 * 12.5), 1e-15);
  g_assert_cmpint(grid.spread.kind, ==, ASTRO_SPREAD_SEMICIRCLE);
  g_assert_cmpuint(grid.spread.support, ==, 7);
  g_assert_cmpfloat(grid.centre_l, ==, 0.01);
  g_assert_cmpint(astro_grid_find(&grid, "PSF"), ==, 1);
  g_assert_cmpint(astro_grid_find(&grid, "Q"), ==, -1);

  astro_grid_to_caps(&grid, again);
  g_assert_true(astro_grid_from_caps(&other, again, &error));
  g_assert_cmpfloat(other.pixel, ==, grid.pixel);
  g_assert_cmpfloat(other.spread.beta, ==, 16.1);
  g_assert_cmpstrv(other.products, grid.products);
  astro_grid_clear(&grid);
  astro_grid_clear(&other);
  gst_caps_unref(caps);
  gst_caps_unref(again);
}

/* Rows of a grid that are transformed stay square. */
static void test_rows(void)
{
  GstCaps *caps = example();
  AstroGrid grid;
  AstroStream stream;

  gst_caps_set_simple(caps, "layout", G_TYPE_STRING, "pol:v:x", NULL);
  g_assert_true(astro_grid_from_caps(&grid, caps, NULL));
  g_assert_cmpuint(grid.size, ==, 96);
  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  g_assert_cmpint(astro_layout_find(&stream.layout, ASTRO_AXIS_X), ==, 2);
  g_assert_cmpuint(astro_grid_tiles(grid.size), ==, 6);
  g_assert_cmpuint(astro_grid_tiles(97), ==, 7);
  astro_grid_clear(&grid);
  gst_caps_unref(caps);
}

static void test_refused(void)
{
  static const struct {
    const char *field, *value, *word;
  } cases[] = {
    { "height", "(int)95", "square" },
    { "cell", "(double)0", "cell" },
    { "cell", "(double)-1", "cell" },
    { "spread", "(string)gauss", "gauss" },
    { "products", "(string)I", "products" },
    { "image-size", "(int)97", "image-size" },
    { "products", "(string)I:Q:U", "I:Q:U" },
    { "beta", "(int)14", "beta" },
    { "beta", "(double)nan", "beta" },
    { "centre-l", "(float)0.5", "centre-l" },
    { "centre-m", "(double)inf", "finite" },
    { "pixel", "(int)1", "pixel" },
    { "support", "(uint)8", "support" },
    { "oversampling", "(int)-1", "at least 0" },
    { "image-size", "(double)96", "image-size" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GstCaps *caps = example();
    GError *error = NULL;
    AstroGrid grid;
    g_autofree char *text = g_strdup_printf("x, %s=%s", cases[i].field, cases[i].value);
    GstStructure *fields = gst_structure_from_string(text, NULL);
    gst_caps_set_value(caps, cases[i].field, gst_structure_get_value(fields, cases[i].field));
    g_assert_false(astro_grid_from_caps(&grid, caps, &error));
    g_assert_nonnull(strstr(error->message, cases[i].word));
    g_error_free(error);
    astro_grid_clear(&grid);
    gst_structure_free(fields);
    gst_caps_unref(caps);
  }
}

static void test_metas(void)
{
  GstBuffer *a = gst_buffer_new(), *b = gst_buffer_new(), *touched = gst_buffer_new();
  AstroGridMeta *grid = astro_buffer_add_grid(a, 3);
  AstroImageMeta *image = astro_buffer_add_image(a, 2);
  grid->w = 5;
  grid->planes = 7;
  grid->outside = 11;
  grid->weights[2] = 1.5;
  grid->touched = gst_buffer_ref(touched);
  image->has_beam = TRUE;
  image->angle = 0.25;
  image->border = 6;
  image->weights[1] = 2.5;
  image->cleaned = TRUE;
  image->sidelobe = 0.125;
  image->levels[1] = (AstroImageLevels){ 0.5, 0.75 };
  gst_buffer_copy_into(b, a, GST_BUFFER_COPY_META, 0, -1);
  gst_buffer_unref(a);
  grid = astro_buffer_get_grid(b);
  image = astro_buffer_get_image(b);
  g_assert_true(image->cleaned);
  g_assert_cmpfloat(image->sidelobe, ==, 0.125);
  g_assert_cmpfloat(image->levels[0].noise, ==, 0);
  g_assert_cmpfloat(image->levels[1].noise, ==, 0.5);
  g_assert_cmpfloat(image->levels[1].left, ==, 0.75);
  g_assert_cmpfloat(grid->w, ==, 5);
  g_assert_cmpuint(grid->planes, ==, 7);
  g_assert_cmpuint(grid->outside, ==, 11);
  g_assert_cmpfloat(grid->weights[2], ==, 1.5);
  g_assert_true(grid->touched == touched);
  g_assert_cmpint(GST_MINI_OBJECT_REFCOUNT(touched), ==, 2);
  g_assert_true(image->has_beam);
  g_assert_cmpfloat(image->angle, ==, 0.25);
  g_assert_cmpuint(image->border, ==, 6);
  g_assert_cmpfloat(image->weights[1], ==, 2.5);
  /* Added again it begins anew. */
  g_assert_cmpfloat(astro_buffer_add_grid(b, 1)->weights[0], ==, 0);
  g_assert_cmpuint(astro_buffer_get_grid(b)->outside, ==, 0);
  g_assert_null(astro_buffer_get_grid(b)->touched);
  g_assert_cmpint(GST_MINI_OBJECT_REFCOUNT(touched), ==, 1);
  gst_buffer_unref(touched);
  gst_buffer_unref(b);
}

static void add_tests(void)
{
  g_test_add_func("/grid/caps", test_caps);
  g_test_add_func("/grid/rows", test_rows);
  g_test_add_func("/grid/refused", test_refused);
  g_test_add_func("/grid/metas", test_metas);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
