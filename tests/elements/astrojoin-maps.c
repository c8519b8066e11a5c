/* Joined grids and images: what one meta cannot say is warned of, and what does not belong together
 * is refused. */
#include "core/stream/grid.h"
#include "tests/elements/merging.h"

#define IMAGE                                                                                      \
  "application/x-astro-image,format=F32LE,layout=channel:pol:y:x,channels=1,pols=1,height=4,"      \
  "width=4,pixel=1e-3,products=I,bandwidth=1e6,frequency="
#define GRID                                                                                       \
  "application/x-astro-uvgrid,format=CF32LE,layout=channel:pol:v:u,channels=1,pols=1,height=4,"    \
  "width=4,cell=10.0,products=I,bandwidth=1e6,frequency="
#define BYTES 64

static GstBuffer *make_image(double major, double weight, gboolean cleaned)
{
  GstBuffer *buffer = test_buffer(BYTES, (guint32)weight);
  AstroImageMeta *meta = astro_buffer_add_image(buffer, 1);
  meta->has_beam = major > 0;
  meta->major = meta->minor = major;
  meta->weights[0] = weight;
  meta->levels[0] = (AstroImageLevels){ weight / 10, weight / 20 };
  meta->sidelobe = weight / 100;
  meta->cleaned = cleaned;
  return buffer;
}

static GstBuffer *make_grid(double w, double weight, guint n_weights)
{
  GstBuffer *buffer = test_buffer(2 * BYTES, (guint32)weight);
  AstroGridMeta *meta = astro_buffer_add_grid(buffer, n_weights);
  meta->planes = 1;
  meta->w = w;
  meta->weights[0] = weight;
  meta->used = 10;
  return buffer;
}

/* Two pads with adjoining channels. */
static TestMerge *begin(const char *kind)
{
  g_autofree char *low = g_strconcat(kind, "100e6", NULL), *high = g_strconcat(kind, "101e6", NULL);
  TestMerge *m = test_merge_new("astrojoin axis=channel", 2, FALSE);
  gst_element_set_state(m->element, GST_STATE_PLAYING);
  test_merge_begin(m, 0, low, NULL);
  test_merge_begin(m, 1, high, NULL);
  return m;
}

static void push(TestMerge *m, guint pad, GstBuffer *buffer)
{
  if (buffer)
    gst_pad_push(m->in[pad], buffer);
  else
    gst_pad_push_event(m->in[pad], gst_event_new_eos());
}

/* The text of the next warning or error; NULL: there is none by now. */
static char *pop_told(TestMerge *m, GstMessageType type, GstClockTime patience)
{
  g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(m->bus, patience, type);
  g_autoptr(GError) error = NULL;
  if (!message)
    return NULL;
  if (type == GST_MESSAGE_WARNING)
    gst_message_parse_warning(message, &error, NULL);
  else
    gst_message_parse_error(message, &error, NULL);
  return g_strdup(error->message);
}

/* A pad with fewer images than the other: zeros with a weight of 0, and one warning. */
static void test_fewer(void)
{
  TestMerge *m = begin(IMAGE);
  float values[2 * BYTES / sizeof(float)];
  push(m, 0, make_image(0.1, 5, FALSE));
  push(m, 1, make_image(0.1, 7, FALSE));
  g_autoptr(GstBuffer) both = test_merge_pull(m);
  const AstroImageMeta *meta = astro_buffer_get_image(both);
  g_assert_cmpuint(meta->n_weights, ==, 2);
  g_assert_cmpfloat(meta->weights[0], ==, 5);
  g_assert_cmpfloat(meta->weights[1], ==, 7);
  g_assert_cmpfloat(meta->levels[1].noise, ==, 0.7);
  g_assert_cmpfloat(meta->sidelobe, ==, 0.07);
  g_assert_true(meta->has_beam);
  g_assert_cmpfloat(meta->major, ==, 0.1);
  push(m, 1, NULL);
  push(m, 0, make_image(0.1, 6, FALSE));
  g_autoptr(GstBuffer) one = test_merge_pull(m);
  g_autofree char *told = pop_told(m, GST_MESSAGE_WARNING, 0);
  test_says(told, "pad sink_1: there is no buffer to join to those of the other pads");
  meta = astro_buffer_get_image(one);
  g_assert_cmpfloat(meta->weights[0], ==, 6);
  g_assert_cmpfloat(meta->weights[1], ==, 0);
  g_assert_cmpuint(gst_buffer_extract(one, 0, values, sizeof values), ==, sizeof values);
  for (guint i = BYTES / sizeof(float); i < G_N_ELEMENTS(values); i++)
    g_assert_cmpfloat(values[i], ==, 0);
  push(m, 0, NULL);
  test_merge_wait_over(m);
  test_merge_free(m);
}

static void test_beams(void)
{
  static const struct {
    double major[2], taken;
    gboolean warns;
  } cases[] = {
    { { 0.2, 0.2 }, 0.2, FALSE }, { { 0.2, 0.2001 }, 0.2001, FALSE },
    { { 0.2, 0.1 }, 0.1, TRUE },  { { 0.2, 0 }, 0.2, TRUE },
    { { 0, 0 }, 0, FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    TestMerge *m = begin(IMAGE);
    push(m, 0, make_image(cases[i].major[0], 1, TRUE));
    push(m, 1, make_image(cases[i].major[1], 1, TRUE));
    g_autoptr(GstBuffer) both = test_merge_pull(m);
    const AstroImageMeta *meta = astro_buffer_get_image(both);
    g_assert_cmpint(meta->has_beam, ==, cases[i].taken > 0);
    g_assert_cmpfloat(meta->major, ==, cases[i].taken);
    g_assert_true(meta->cleaned);
    g_autofree char *told = pop_told(m, GST_MESSAGE_WARNING, 0);
    g_assert_cmpint(told != NULL, ==, cases[i].warns);
    if (told)
      test_says(told, "the images have different beams");
    test_merge_free(m);
  }
}

static void check_refused(const char *kind, GstBuffer *a, GstBuffer *b, const char *says)
{
  TestMerge *m = begin(kind);
  push(m, 0, a);
  push(m, 1, b);
  g_autofree char *told = pop_told(m, GST_MESSAGE_ERROR, TEST_PATIENCE);
  test_says(told, says);
  test_merge_free(m);
}

static void test_refused_maps(void)
{
  GstBuffer *touched = make_grid(0, 1, 1);
  astro_buffer_get_grid(touched)->touched = gst_buffer_new_memdup("t", 1);
  check_refused(IMAGE, make_image(0.1, 1, TRUE), make_image(0.1, 1, FALSE),
                "pad sink_1: the image was not cleaned");
  check_refused(GRID, make_grid(0, 1, 1), make_grid(3, 1, 1), "w-stacking chooses its planes");
  check_refused(GRID, make_grid(0, 1, 1), make_grid(0, 1, 2),
                "pad sink_1: a buffer with 2 sums of weights, expected 1");
  check_refused(GRID, make_grid(0, 1, 1), touched, "pad sink_1: the grid leaves empty tiles");
}

static void test_grids(void)
{
  TestMerge *m = begin(GRID);
  push(m, 0, make_grid(2, 3, 1));
  push(m, 1, make_grid(2, 4, 1));
  g_autoptr(GstBuffer) both = test_merge_pull(m);
  const AstroGridMeta *meta = astro_buffer_get_grid(both);
  g_assert_cmpuint(meta->n_weights, ==, 2);
  g_assert_cmpfloat(meta->weights[0], ==, 3);
  g_assert_cmpfloat(meta->weights[1], ==, 4);
  g_assert_cmpfloat(meta->w, ==, 2);
  g_assert_cmpuint(meta->used, ==, 20);
  test_merge_free(m);
}

static void add_tests(void)
{
  g_test_add_func("/maps/fewer", test_fewer);
  g_test_add_func("/maps/beams", test_beams);
  g_test_add_func("/maps/refused", test_refused_maps);
  g_test_add_func("/maps/grids", test_grids);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
