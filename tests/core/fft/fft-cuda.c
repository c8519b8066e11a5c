/* Transforms on a device compared with the CPU's, where the reference would take too long. */
#include "tests/core/fft/fft.h"
#include "core/backend/module.h"

/* Planes of every length with kernels for columns, and others; widths that do not fill a row of
 * threads; any origin. */
static void test_planes(gconstpointer data)
{
  static const guint heights[] = { 256,   512,   600,   729,   1024,  1225,  1600,  1764,  2025,
                                   2304,  2401,  2500,  3136,  3600,  4096,  4900,  5184,  6400,
                                   6561,  7000,  8192,  9000,  9604,  10000, 11664, 12544, 14400,
                                   15876, 16384, 19600, 20736, 22500, 25600, 38416, 65536 };
  static const guint widths[] = { 32, 33, 50, 96 };
  for (guint i = 0; i < G_N_ELEMENTS(heights); i++)
    for (guint is_double = 0; is_double < 2; is_double++) {
      const guint kind = 2 * is_double + (i + is_double) % 2, centred = (i + kind) % 3;
      guint64 height = heights[i], width = widths[(i + kind / 2) % G_N_ELEMENTS(widths)];
      AstroFftConfig config = { .from = test_kinds[kind].from,
                                .to = test_kinds[kind].to,
                                .inverse = test_kinds[kind].inverse,
                                .n_axes = 3,
                                .extents = { height > 2000 ? 1 : 3, height, width },
                                .axes = { [1] = { TRUE }, [2] = { TRUE } } };
      if (centred == 1)
        test_centre(&config, 3);
      if (centred == 2) {
        config.axes[1] = (AstroFftAxis){ TRUE, 7, height - 3 };
        config.axes[2] = (AstroFftAxis){ TRUE, width - 1, 0 };
      }
      test_compare_device(&astro_fft_cpu, &config, 2, test_kinds[kind].tolerance);
    }
}

/* A prime, a power of two, many short lines along and across a block. */
static void test_large(gconstpointer data)
{
  static const AstroFftConfig cases[] = {
    { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 1, { 1000003 }, { { TRUE, 500001, 500001 } } },
    { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 1, { 1 << 22 }, { { TRUE, 1 << 21, 1 << 21 } } },
    { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_CF32LE, 1, { 1000003 }, { { TRUE, 3, 0 } } },
    { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 2, { 0, 6 }, { [1] = { TRUE, 3, 3 } } },
    { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 3, { 0, 6, 5 }, { [1] = { TRUE, 3, 3 } } },
    { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_CF32LE, 3, { 0, 6, 5 }, { [1] = { TRUE, 3, 0 } } },
    { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 2, { 6, 0 }, { { TRUE, 3, 3 } } },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    test_compare_device(&astro_fft_cpu, &cases[i], cases[i].n_axes == 1 ? 1 : 100000, 1e-6);
}

/* Blocks of different numbers of steps through one instance, more of them than it remembers. */
static void test_steps(gconstpointer data)
{
  AstroFftConfig config = {
    ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 3, { 0, 18, 5 }, { [1] = { TRUE, 9, 9 } }
  };
  static const guint64 steps[] = { 5, 1, 70, 2, 71, 5, 300, 0, 7, 70, 2 };
  AstroPlace place = { 0 };
  const char *variant;
  GError *error = NULL;
  gpointer instance = test_backends[2]->create(&config, &place, &variant, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
    guint64 n = steps[i];
    gpointer in = test_samples_of(&config, n);
    AstroBlock from = { in, test_block_bytes(&config, n, FALSE) };
    AstroBlock to = { test_alloc(from.bytes), from.bytes };
    test_backends[2]->submit(instance, &from, 1, &to, 1, &n, NULL, &error);
    g_assert_no_error(error);
    gpointer expected = test_transform(&astro_fft_cpu, &config, in, n, 0);
    g_assert_cmpfloat(test_difference(config.to, to.data, expected, to.bytes), <, 1e-6);
    test_free(in);
    test_free(to.data);
    test_free(expected);
  }
  test_backends[2]->destroy(instance);
}

/* The wanted part of a transform equals that part of the whole. */
static void test_wanted_planes(gconstpointer data)
{
  enum { HEIGHT = 384, WIDTH = 40 };
  for (guint kind = 0; kind < 4; kind++)
    for (guint i = 0; i < 4; i++) {
      const guint wanted[][2] = { { 0, 1 }, { 100, 201 }, { 383, 1 }, { 0, 384 } };
      AstroFftConfig config = { .from = test_kinds[kind].from,
                                .to = test_kinds[kind].to,
                                .inverse = test_kinds[kind].inverse,
                                .n_axes = 3,
                                .extents = { 3, HEIGHT, WIDTH },
                                .axes = { [1] = { TRUE, 192, 192 }, [2] = { TRUE, 20, 20 } } };
      gsize row = WIDTH * astro_format_info(config.to)->bytes, plane = HEIGHT * row;
      gpointer in = test_samples_of(&config, 2);
      guint8 *all = test_transform(&astro_fft_cpu, &config, in, 2, 0);
      config.axes[1].wanted = wanted[i][0];
      config.axes[1].n_wanted = wanted[i][1];
      config.axes[2].wanted = 3;
      config.axes[2].n_wanted = 30;
      guint8 *part = test_transform(test_backends[2], &config, in, 2, 0);
      for (guint p = 0; p < 6; p++)
        for (guint k = 0; k < wanted[i][1]; k++) {
          const gsize at = p * plane + (wanted[i][0] + k) * row + 3 * row / WIDTH;
          g_assert_cmpfloat(test_difference(config.to, part + at, all + at, 30 * row / WIDTH), <,
                            10 * test_kinds[kind].tolerance);
        }
      test_free(in);
      test_free(all);
      test_free(part);
    }
}

/* Rows of three and four of each radix; the last are too long in double precision, or of planes so
 * large that cuFFT does them. */
static void test_rows(gconstpointer data)
{
  static const guint widths[] = { 32,   105,  210,  1000, 1250,  1344,  3375,  4096,
                                  5760, 6144, 8192, 9000, 13500, 13608, 14112, 16384 };
  for (guint i = 0; i < G_N_ELEMENTS(widths); i++)
    for (guint is_double = 0; is_double < 2; is_double++) {
      const guint kind = 2 * is_double + (i + is_double) % 2;
      AstroFftConfig config = { .from = test_kinds[kind].from,
                                .to = test_kinds[kind].to,
                                .inverse = test_kinds[kind].inverse,
                                .n_axes = 2,
                                .extents = { widths[i] < 14112 ? 256 : 512, widths[i] },
                                .axes = { { TRUE, 9, 250 }, { TRUE, widths[i] / 2, 5 } } };
      if (is_double && widths[i] > 8192 && widths[i] < 14112)
        continue;
      if (i % 3)
        test_centre(&config, 3);
      test_compare_device(&astro_fft_cpu, &config, 1, test_kinds[kind].tolerance);
    }
}

/* Fills planes that go through one instance: all rows of a plane are empty, or none, all but one,
 * or most; some have a single sample left. */
static void fill_planes(const AstroFftConfig *config, guint8 *planes, guint64 n)
{
  const gsize unit = astro_format_info(config->from)->bytes, row = config->extents[2] * unit;
  const guint64 height = config->extents[1];
  test_fill_samples(config->from, planes, test_block_bytes(config, n, FALSE), 3);
  for (guint64 plane = 0; plane < n; plane++)
    for (guint64 i = 0; i < height; i++) {
      guint8 *at = planes + (plane * height + i) * row;
      const guint64 kept = (i * 7 + plane) % config->extents[2];
      const gboolean is_empty[] = { TRUE, FALSE, i != height - 1, i % 5 != 2 };
      if (is_empty[plane % 4])
        memset(at, 0, row);
      else if (plane % 4 == 2 || i % 3 == 0) {
        memset(at, 0, kept * unit);
        memset(at + (kept + 1) * unit, 0, row - (kept + 1) * unit);
      }
    }
}

static void test_empty_planes(gconstpointer data)
{
  static const guint64 sizes[][2] = { { 256, 33 }, { 384, 40 }, { 729, 105 }, { 256, 1250 } };
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
    for (guint is_double = 0; is_double < 2; is_double++)
      for (guint first = 0; first < 3; first++) {
        const guint kind = 2 * is_double + (i + first) % 2;
        const guint64 height = sizes[i][0], width = sizes[i][1], planes = 4 + first;
        AstroFftConfig config = {
          .from = test_kinds[kind].from,
          .to = test_kinds[kind].to,
          .inverse = test_kinds[kind].inverse,
          .n_axes = 3,
          .extents = { 1, height, width },
          .axes = { [1] = { TRUE, height / 2, height / 2 }, [2] = { TRUE, width / 2, width / 2 } }
        };
        const gsize unit = astro_format_info(config.to)->bytes;
        guint8 *in = test_alloc(test_block_bytes(&config, planes, FALSE));
        fill_planes(&config, in, planes);
        guint8 *all = test_transform(&astro_fft_cpu, &config, in, planes, 0);
        for (guint axis = 1; axis < 3 && first; axis++) {
          config.axes[axis].wanted = config.extents[axis] / (2 + first);
          config.axes[axis].n_wanted = config.extents[axis] / 3;
        }
        const AstroFftAxis *y = &config.axes[1], *x = &config.axes[2];
        guint8 *part = test_transform(test_backends[2], &config, in, planes, 0);
        for (guint64 k = 0; k < planes * height; k++)
          if (!first || k % height - y->wanted < y->n_wanted) {
            const gsize at = (k * width + x->wanted) * unit;
            g_assert_cmpfloat(test_difference(config.to, part + at, all + at,
                                              (first ? x->n_wanted : width) * unit),
                              <, 30 * test_kinds[kind].tolerance);
          }
        test_free(in);
        test_free(all);
        test_free(part);
      }
}

/* A block that is its own output. */
static void test_in_place(gconstpointer data)
{
  AstroFftConfig config = { ASTRO_FORMAT_CF32LE,
                            ASTRO_FORMAT_CF32LE,
                            3,
                            { 2, 600, 3000 },
                            { { FALSE }, { TRUE, 300, 300 }, { TRUE, 1500, 1500 } } };
  TestOnDevice on = { .place = { .device = astro_device_open(0, NULL) } };
  const AstroDeviceFuncs *funcs = on.place.device->funcs;
  const gsize bytes = test_block_bytes(&config, 1, FALSE);
  const char *variant;
  guint64 steps = 1;
  gpointer in = test_samples_of(&config, 1), found = test_alloc(bytes);
  gpointer expected = test_transform(&astro_fft_cpu, &config, in, 1, 0);
  GError *error = NULL;
  on.place.queue = funcs->queue_new(on.place.device, NULL);
  test_face_need(&on, on.out, bytes);
  test_face_copy(&on, ASTRO_COPY_UP, on.out->face, in, bytes);
  gpointer instance =
      test_device_backends[ASTRO_BACKEND_CUDA]->create(&config, &on.place, &variant, &error);
  g_assert_no_error(error);
  const AstroBlock block = { on.out->face, bytes };
  test_device_backends[ASTRO_BACKEND_CUDA]->submit(instance, &block, 1, &block, 1, &steps, NULL,
                                                   &error);
  g_assert_no_error(error);
  test_face_copy(&on, ASTRO_COPY_DOWN, found, on.out->face, bytes);
  g_assert_cmpfloat(test_difference(config.to, found, expected, bytes), <, 1e-6);
  test_device_backends[ASTRO_BACKEND_CUDA]->destroy(instance);
  funcs->free(on.place.device, on.out->face);
  funcs->queue_free(on.place.device, on.place.queue);
  astro_device_unref(on.place.device);
  test_free(in);
  test_free(found);
  test_free(expected);
}

static gpointer transform_in_thread(gpointer data)
{
  for (guint i = 0; i < 20; i++)
    test_compare_device(&astro_fft_cpu, data, 2, 1e-6);
  return NULL;
}

/* Two of them on one device at once. */
static void test_two(gconstpointer data)
{
  AstroFftConfig configs[] = { { ASTRO_FORMAT_CF32LE,
                                 ASTRO_FORMAT_CF32LE,
                                 2,
                                 { 512, 512 },
                                 { { TRUE, 256, 256 }, { TRUE, 256, 256 } } },
                               { ASTRO_FORMAT_CF32LE,
                                 ASTRO_FORMAT_CF32LE,
                                 2,
                                 { 300, 301 },
                                 { { TRUE, 150, 150 }, { TRUE, 150, 150 } } } };
  GThread *thread = g_thread_new("other", transform_in_thread, &configs[0]);
  transform_in_thread(&configs[1]);
  g_thread_join(thread);
}

static gpointer transform_often(gpointer data)
{
  const AstroFftConfig *config = data;
  AstroPlace place = { .device = astro_device_open(0, NULL) };
  const AstroDeviceFuncs *funcs = place.device->funcs;
  const gsize bytes = test_block_bytes(config, 1, FALSE);
  const char *variant;
  guint64 steps = 1;
  gpointer face;
  GError *error = NULL;

  place.queue = funcs->queue_new(place.device, NULL);
  g_assert_true(funcs->alloc(place.device, 2 * bytes, &face, NULL));
  gpointer instance =
      test_device_backends[ASTRO_BACKEND_CUDA]->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  const AstroBlock in = { face, bytes }, out = { (guint8 *)face + bytes, bytes };
  for (guint i = 0; i < 20000; i++) {
    test_device_backends[ASTRO_BACKEND_CUDA]->submit(instance, &in, 1, &out, 1, &steps, NULL,
                                                     &error);
    g_assert_no_error(error);
  }
  test_device_backends[ASTRO_BACKEND_CUDA]->destroy(instance);
  funcs->free(place.device, face);
  funcs->queue_free(place.device, place.queue);
  astro_device_unref(place.device);
  return NULL;
}

/* Rows of two widths in two threads: one kernel, whose launches need 64 and 8 KiB of shared
 * memory. */
static void test_two_widths(gconstpointer data)
{
  static const guint64 widths[] = { 4096, 512 };
  AstroFftConfig configs[2];
  for (guint i = 0; i < G_N_ELEMENTS(widths); i++)
    configs[i] = (AstroFftConfig){ ASTRO_FORMAT_CF64LE,
                                   ASTRO_FORMAT_CF64LE,
                                   2,
                                   { 16, widths[i] },
                                   { [1] = { TRUE, widths[i] / 2, widths[i] / 2 } } };
  GThread *thread = g_thread_new("other", transform_often, &configs[0]);
  transform_often(&configs[1]);
  g_thread_join(thread);
}

/* Work areas that do not fit on the device. */
static void test_no_room(gconstpointer data)
{
  AstroFftConfig config = { ASTRO_FORMAT_CF64LE,  ASTRO_FORMAT_F64LE,     2,
                            { 1 << 20, 1 << 20 }, { { TRUE }, { TRUE } }, TRUE };
  AstroPlace place = { .device = astro_device_open(0, NULL) };
  const char *variant;
  g_autoptr(GError) error = NULL;
  guint64 steps = 1;
  gpointer face;
  place.queue = place.device->funcs->queue_new(place.device, NULL);
  place.device->funcs->alloc(place.device, 64, &face, NULL);
  gpointer instance =
      test_device_backends[ASTRO_BACKEND_CUDA]->create(&config, &place, &variant, NULL);
  AstroBlock in = { face, G_MAXSIZE }, out = { face, G_MAXSIZE };
  g_assert_false(test_device_backends[ASTRO_BACKEND_CUDA]->submit(instance, &in, 1, &out, 1, &steps,
                                                                  NULL, &error));
  if (!strstr(error->message, "are free") && !strstr(error->message, "cuFFT"))
    g_error("\"%s\" does not say what is free", error->message);
  test_device_backends[ASTRO_BACKEND_CUDA]->destroy(instance);
  place.device->funcs->free(place.device, face);
  place.device->funcs->queue_free(place.device, place.queue);
  astro_device_unref(place.device);
}

static void add_tests(void)
{
  test_backends[2] = test_on_device("fft");
  test_add_on_device("/fft/cuda/planes", test_backends[2], test_planes);
  test_add_on_device("/fft/cuda/large", test_backends[2], test_large);
  test_add_on_device("/fft/cuda/wanted", test_backends[2], test_wanted_planes);
  test_add_on_device("/fft/cuda/rows", test_backends[2], test_rows);
  test_add_on_device("/fft/cuda/empty-planes", test_backends[2], test_empty_planes);
  test_add_on_device("/fft/cuda/in-place", test_backends[2], test_in_place);
  test_add_on_device("/fft/cuda/steps", test_backends[2], test_steps);
  test_add_on_device("/fft/cuda/two", test_backends[2], test_two);
  test_add_on_device("/fft/cuda/two-widths", test_backends[2], test_two_widths);
  test_add_on_device("/fft/cuda/no-room", test_backends[2], test_no_room);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
