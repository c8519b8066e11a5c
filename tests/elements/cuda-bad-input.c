/* Gridding, imaging and pair counting on a GPU with nothing to do, too little memory, or no time to
 * finish: the CPU's results, errors that say what is missing, and nothing left behind. Skipped
 * without a GPU. */
#include "tests/elements/left.h"

#include <math.h>

#define IMAGE(source, gridder, backend)                                                            \
  "astrovissrc stations=20 channels=4 sky=\"0.01,0.008,2;-0.012,0.004,1\" noise=1 " source         \
  " ! astrogridder name=g cell=120 " gridder " backend=" backend " ! astrofft backend=" backend    \
  " ! astroimage backend=" backend
#define PAIRS(data, random, backend)                                                               \
  "astrocatsrc " data " ! h.data astrocatsrc " random                                              \
  " ! h.random astrohistogram name=h regions=4 backend=" backend

/* ---- nothing to do ---- */

/* The output of a pipeline, up to its end or an error. */
static GByteArray *answer(const char *line_format, const char *backend, char **error)
{
  g_autofree char *line = test_replace(line_format, "BACKEND", backend);
  GByteArray *bytes = g_byte_array_new();
  GstElement *pipeline = test_start(line, bytes);
  *error = test_wait(pipeline);
  test_stop(pipeline);
  return bytes;
}

/* The outputs of both backends for a line: the same floats within 1e-4 of the largest, NaN as NaN,
 * the same integers, or the same error. */
static void compare(const char *line_format, gboolean floats)
{
  g_autofree char *says = NULL, *should_say = NULL;
  g_autoptr(GByteArray) wanted = answer(line_format, "cpu", &should_say);
  g_autoptr(GByteArray) found = answer(line_format, "cuda", &says);
  g_test_message("%s: %u bytes, %s", line_format, wanted->len, should_say);
  g_assert_cmpstr(says, ==, should_say);
  g_assert_true(should_say || wanted->len > 0);
  g_assert_cmpuint(found->len, ==, wanted->len);
  if (!floats) {
    g_assert_cmpmem(found->data, found->len, wanted->data, wanted->len);
    return;
  }
  const float *a = (const float *)found->data, *b = (const float *)wanted->data;
  double most = 0;
  for (guint i = 0; i < wanted->len / sizeof *b; i++)
    most = MAX(most, fabs((double)b[i]));
  for (guint i = 0; i < wanted->len / sizeof *b; i++)
    g_assert_true(isnan(a[i]) ? isnan(b[i]) : fabs((double)a[i] - (double)b[i]) <= 1e-4 * most);
}

/* One integration alone; and all data lost, which is an error. */
static void test_few_visibilities(void)
{
  static const char *const gridders[] = { "algorithm=wstacking", "algorithm=wprojection",
                                          "algorithm=direct",
                                          "algorithm=wstacking weighting=uniform",
                                          "algorithm=wprojection weighting=briggs" };
  static const char *const sources[] = { "num-buffers=1", "num-buffers=3 loss=1" };
  g_autoptr(AstroDevice) device = test_open_device();
  for (guint i = 0; device && i < G_N_ELEMENTS(gridders) * G_N_ELEMENTS(sources); i++) {
    g_autofree char *any =
        test_replace(IMAGE("SOURCE", "size=128 GRIDDER", "BACKEND"), "SOURCE", sources[i % 2]);
    g_autofree char *line = test_replace(any, "GRIDDER", gridders[i / 2]);
    compare(line, TRUE);
  }
}

static void test_few_points(void)
{
  static const char *const few[] = { "points=0", "points=1", "points=2", "points=33" };
  g_autoptr(AstroDevice) device = test_open_device();
  for (guint i = 0; device && i < G_N_ELEMENTS(few); i++)
    for (guint j = 0; j < G_N_ELEMENTS(few); j++) {
      g_autofree char *data = test_replace(PAIRS("DATA", "RANDOM", "BACKEND"), "DATA", few[i]);
      g_autofree char *both = test_replace(data, "RANDOM", few[j]);
      g_autofree char *line = test_replace(both, "regions=4", "regions=1");
      compare(line, FALSE);
    }
}

/* ---- two at once ---- */

/* Counts beside images. */
static void test_two_kinds(void)
{
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  const char *images = IMAGE("num-buffers=40", "size=256 interval=10 algorithm=wstacking", "cuda");
  const char *pairs = PAIRS("points=20000 seed=3", "points=15000 catalogues=9 seed=4", "cuda");
  g_autoptr(GByteArray) wanted_images = test_run_line(images), wanted_pairs = test_run_line(pairs);
  for (guint i = 0; i < 5; i++) {
    g_autoptr(GByteArray) a = g_byte_array_new(), b = g_byte_array_new();
    GstElement *first = test_start(i % 2 ? images : pairs, i % 2 ? a : b);
    GstElement *second = test_start(i % 2 ? pairs : images, i % 2 ? b : a);
    g_assert_cmpstr(test_wait(first), ==, NULL);
    g_assert_cmpstr(test_wait(second), ==, NULL);
    test_stop(first);
    test_stop(second);
    g_assert_cmpmem(a->data, a->len, wanted_images->data, wanted_images->len);
    g_assert_cmpmem(b->data, b->len, wanted_pairs->data, wanted_pairs->len);
  }
}

static void test_two_counts(void)
{
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  const char *data = "points=20000 seed=3", *random = "points=15000 catalogues=4 seed=4";
  g_autofree char *with_data = test_replace(PAIRS("DATA", "RANDOM", "BACKEND"), "DATA", data);
  g_autofree char *line = test_replace(with_data, "RANDOM", random);
  g_autofree char *on_cpu = test_replace(line, "BACKEND", "cpu");
  g_autofree char *on_cuda = test_replace(line, "BACKEND", "cuda");
  g_autofree char *brute = test_replace(on_cuda, "regions=4", "regions=4 method=brute");
  g_autoptr(GByteArray) wanted = test_run_line(on_cpu);
  for (guint i = 0; i < 3; i++) {
    g_autoptr(GByteArray) a = g_byte_array_new(), b = g_byte_array_new();
    GstElement *first = test_start(on_cuda, a), *second = test_start(brute, b);
    g_assert_cmpstr(test_wait(first), ==, NULL);
    g_assert_cmpstr(test_wait(second), ==, NULL);
    test_stop(first);
    test_stop(second);
    g_assert_cmpmem(a->data, a->len, wanted->data, wanted->len);
    g_assert_cmpmem(b->data, b->len, wanted->data, wanted->len);
  }
}

/* ---- stops ---- */

/* A thousand times, with either line in turn. */
static void stop_often(const char *const lines[2])
{
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  for (gulong i = 0; i < 20; i++)
    test_stop_soon(lines[i % 2], i * 2000);
  const TestLeft before = test_look(device);
  for (gulong i = 0; i < 1000; i++)
    test_stop_soon(lines[i % 2], i % 13 * 700);
  test_check_left(device, &before);
}

/* With a small table of taps: making one may take seconds, and nothing is in work meanwhile. */
static void test_stopped_images(void)
{
  static const char *const lines[] = {
    IMAGE("", "size=512 algorithm=wstacking interval=7", "cuda"),
    IMAGE("",
          "size=512 algorithm=wprojection w-planes=2 oversampling=2 interval=7 weighting=uniform",
          "cuda"),
  };
  stop_often(lines);
}

/* Stopped some time after the first counts, which are sent on before the last catalogue. */
static void test_stopped_counts(void)
{
  static const char *const lines[] = {
    PAIRS("points=20000", "points=20000 catalogues=50", "cuda interval=2"),
    PAIRS("points=20000", "points=20000 catalogues=50", "cuda method=brute interval=2"),
  };
  stop_often(lines);
}

/* ---- no memory ---- */

static void test_no_memory(void)
{
  static const struct {
    const char *limit, *line;
    const char *words[5];
  } cases[] = {
    { "32M",
      IMAGE("", "size=4096 cell=30 algorithm=wstacking", "cuda"),
      { "g: a grid of ", " needs ", " bytes, " } },
    { "1M", /* there is memory for the grid, but not for the slots */
      IMAGE("", "size=128 algorithm=wstacking", "cuda"),
      { "g: a grid of ", " needs ", " bytes, ", " has " } },
    { "32M", IMAGE("", "size=2048 algorithm=wprojection", "cuda"), { "g: ", " need", " bytes" } },
    { "200K", PAIRS("points=30000", "points=30000", "cuda"), { "h: ", " bytes of ", "204800" } },
  };
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  for (guint i = 0; i < 2; i++) { /* the first run makes things that stay: contexts, libraries */
    g_byte_array_unref(test_run_line(IMAGE("num-buffers=3", "size=128", "cuda")));
    g_byte_array_unref(test_run_line(PAIRS("points=1000", "points=1000", "cuda")));
  }
  const TestLeft before = test_look(device);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_setenv("ASTRO_CUDA_MEMORY", cases[i].limit, TRUE);
    test_fails(cases[i].line, cases[i].words);
    g_unsetenv("ASTRO_CUDA_MEMORY");
    test_check_left(device, &before);
  }
  g_byte_array_unref(test_run_line(IMAGE("num-buffers=3", "size=128", "cuda")));
  test_check_left(device, &before);
}

static void add_tests(void)
{
  g_test_add_func("/cuda-bad-input/few-visibilities", test_few_visibilities);
  g_test_add_func("/cuda-bad-input/few-points", test_few_points);
  g_test_add_func("/cuda-bad-input/two-counts", test_two_counts);
  g_test_add_func("/cuda-bad-input/two-kinds", test_two_kinds);
  g_test_add_func("/cuda-bad-input/no-memory", test_no_memory);
  g_test_add_func("/cuda-bad-input/stopped-images", test_stopped_images);
  g_test_add_func("/cuda-bad-input/stopped-counts", test_stopped_counts);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
