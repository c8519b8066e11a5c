/* Images of random planes: the CPU's and the device's compared with the reference, and the device's
 * with the CPU's. */
#include "tests/core/image/image.h"

#include <complex.h>
#include <math.h>

static const struct {
  guint size, image_size, channels, n_in, planes;
  double pixel, centre_l, centre_m, w, w_step;
  AstroSpreadKind spread;
} shapes[] = {
  { 1, 1, 1, 1, 1, 1e-3, 0, 0, 0, 0, ASTRO_SPREAD_NONE },
  { 2, 1, 1, 1, 2, 1e-3, 0, 0, 3, 4, ASTRO_SPREAD_SEMICIRCLE },
  { 33, 33, 1, 2, 1, 1e-3, 0, 0, 0, 0, ASTRO_SPREAD_NONE },
  { 32, 32, 2, 4, 1, 1e-3, 0.1, 0.1, 55, 0, ASTRO_SPREAD_NONE },
  { 40, 25, 1, 4, 3, 0.01, 0.2, -0.3, -20, 3.5, ASTRO_SPREAD_SEMICIRCLE },
  { 64, 41, 3, 1, 4, 0.02, 0, 0, 100, 1.5, ASTRO_SPREAD_SEMICIRCLE },
  { 1100, 1030, 1, 1, 1, 2e-4, 0.3, 0.5, 2000, 0, ASTRO_SPREAD_NONE },
  /* Around the phase centre all four sides are alike, or two of them. */
  { 560, 554, 1, 1, 2, 2e-4, 0, 0, 2000, 3, ASTRO_SPREAD_SEMICIRCLE },
  { 554, 554, 1, 2, 2, 2e-4, 0, 0, 2000, 3, ASTRO_SPREAD_SEMICIRCLE },
  { 548, 519, 1, 1, 1, 2e-4, 0, 0.1, 2000, 0, ASTRO_SPREAD_SEMICIRCLE },
  { 50, 50, 2, 2, 2, 0.01, 0.1, 0, 300, 2, ASTRO_SPREAD_SEMICIRCLE },
  /* Several strips of columns, and lines of several cache lines. */
  { 150, 127, 1, 2, 2, 2e-3, 0, 0, 300, 2, ASTRO_SPREAD_SEMICIRCLE },
  { 96, 96, 2, 1, 2, 2e-3, 0, 0, 300, 2, ASTRO_SPREAD_SEMICIRCLE },
  { 480, 64, 1, 2, 1, 2e-3, 0.1, 0, 300, 0, ASTRO_SPREAD_NONE },
};

static const AstroFormat pairs[][2] = { { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_F32LE },
                                        { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_F64LE },
                                        { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_F64LE },
                                        { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_F32LE } };

static double difference(const double *a, const double *b, gsize n)
{
  double error = 0, sum = 0;
  for (gsize i = 0; i < n; i++) {
    g_assert_true(isfinite(a[i]));
    error += (a[i] - b[i]) * (a[i] - b[i]);
    sum += b[i] * b[i];
  }
  return sum > 0 ? sqrt(error / sum) : sqrt(error); /* nothing but zeros is an image, too */
}

/* The forms of planes: transformed, or along u alone, without or with maps of touched tiles. */
typedef enum { TRANSFORMED, ALONG_U, MAPPED, N_WAYS } Way;

/* The reference's images, made once for all variants: its corrections take a while. */
static double *references[N_WAYS][G_N_ELEMENTS(shapes)][G_N_ELEMENTS(pairs)];

static void poison(const AstroImageConfig *config, gpointer plane, gsize cell)
{
  if (astro_format_is_double(config->from))
    ((double complex *)plane)[cell] = NAN;
  else
    ((float complex *)plane)[cell] = NAN;
}

/* Columns outside the image, and rows without a touched tile, must not be read. */
static void poison_plane(const AstroImageConfig *config, gpointer plane, const guint8 *map)
{
  const gsize size = config->grid.size, image = config->grid.image_size;
  const gsize tiles = astro_grid_tiles(config->grid.size);

  for (gsize row = 0; row < config->channels * config->n_in * size; row++) {
    const gsize v = row % size, channel = row / size / config->n_in;
    const gboolean touched =
        !map || memchr(map + (channel * tiles + v / ASTRO_GRID_TILE) * tiles, TRUE, tiles);
    for (gsize u = 0; u < size; u++) {
      const gsize x = (size / 2 + image / 2 + size - u) % size; /* l = image / 2 - x */
      if (!touched || x >= image)
        poison(config, plane, row * size + u);
    }
  }
}

/* Every third row of tiles has no touched tile. */
static guint8 *random_map(const AstroImageConfig *config, guint32 seed)
{
  const gsize tiles = astro_grid_tiles(config->grid.size);
  guint8 *map = g_malloc(test_map_bytes(config));
  test_fill(map, test_map_bytes(config), seed);
  for (gsize i = 0; i < test_map_bytes(config); i++)
    map[i] = (i / tiles + seed) % 3 ? map[i] % 5 == 0 : FALSE;
  return map;
}

static void compare(const AstroBackend *backend, guint shape, guint pair, Way way)
{
  AstroImageConfig config = test_simple(shapes[shape].size, shapes[shape].image_size);
  double weights[12];
  gpointer planes[4];
  guint8 *maps[4] = { NULL };
  config.transforms_v = way != TRANSFORMED;
  config.from = pairs[pair][0];
  config.to = pairs[pair][1];
  config.channels = shapes[shape].channels;
  config.n_in = shapes[shape].n_in;
  config.grid.pixel = shapes[shape].pixel;
  config.grid.cell = 1 / (config.grid.pixel * config.grid.size);
  config.grid.centre_l = shapes[shape].centre_l;
  config.grid.centre_m = shapes[shape].centre_m;
  config.grid.spread = (AstroSpread){ shapes[shape].spread, 6, 13.8, 0, FALSE };
  for (config.n_out = 0; config.n_out < MIN(config.n_in, 3); config.n_out++) {
    guint last = config.n_in - 1 - config.n_out;
    config.products[config.n_out] =
        (AstroImageProduct){ "P", 2, { { config.n_out, FALSE, 0.5 }, { last, TRUE, -0.25 } } };
  }
  for (guint i = 0; i < 12; i++)
    weights[i] = 3 + i;
  for (guint i = 0; i < shapes[shape].planes; i++) {
    planes[i] = test_random_grid(&config, shape * 7 + i);
    if (way == MAPPED)
      maps[i] = random_map(&config, shape + i);
    if (way != TRANSFORMED)
      poison_plane(&config, planes[i], maps[i]);
  }
  gsize n = test_pixels_out(&config);
  double **expected = &references[way][shape][pair], *images[2];
  if (!*expected)
    *expected = test_make_mapped_image(&astro_image_reference, &config, planes,
                                       way == MAPPED ? maps : NULL, shapes[shape].planes,
                                       shapes[shape].w, shapes[shape].w_step, weights, 0);
  for (guint threads = 0; threads < 2; threads++)
    images[threads] = test_make_mapped_image(backend, &config, planes, way == MAPPED ? maps : NULL,
                                             shapes[shape].planes, shapes[shape].w,
                                             shapes[shape].w_step, weights, threads);
  /* A transform in single precision has errors of its own. */
  const double single = way == TRANSFORMED ? 2e-7 : 4e-7;
  const gboolean in_double = astro_format_is_double(config.to) &&
                             (way == TRANSFORMED || astro_format_is_double(config.from));
  g_assert_cmpfloat(difference(images[1], *expected, n), <, in_double ? 2e-12 : single);
  g_assert_cmpmem(images[0], n * sizeof(double), images[1], n * sizeof(double));
  for (guint i = 0; i < shapes[shape].planes; i++) {
    test_free(planes[i]);
    g_free(maps[i]);
  }
  g_free(images[0]);
  g_free(images[1]);
}

/* Only one pair for large images, since the reference's transforms of those take long. */
static void test_reference(gconstpointer backend)
{
  for (guint shape = 0; shape < G_N_ELEMENTS(shapes); shape++)
    for (guint pair = 0; pair < (shapes[shape].size > 100 ? 1 : G_N_ELEMENTS(pairs)); pair++)
      compare(backend, shape, pair, TRANSFORMED);
}

static void test_transforms(gconstpointer backend)
{
  for (guint shape = 0; shape < G_N_ELEMENTS(shapes); shape++)
    for (guint pair = 0;
         pair < (shapes[shape].size > 100 ? 2 : G_N_ELEMENTS(pairs)) && shapes[shape].size < 500;
         pair++)
      for (Way way = ALONG_U; way < N_WAYS; way++)
        compare(backend, shape, pair, way);
}

/* Columns of a plane's length, on the CPU and on the device: products of one term and of two, a map
 * or none. */
static void compare_columns(const AstroBackend *backend, guint size, guint image_size,
                            guint n_planes, guint number)
{
  const gboolean in_double = number % 2, is_mapped = number / 2 % 3;
  AstroImageConfig config = test_simple(size, image_size);
  const double weights[] = { 3, 4, 5, 6 };
  gpointer planes[2];
  guint8 *maps[2] = { NULL };
  double *images[2];
  config.transforms_v = TRUE;
  config.grid.pixel = 1e-4;
  config.grid.cell = 1 / (config.grid.pixel * size);
  config.grid.centre_l = number % 4 ? 0.1 : 0;
  config.grid.spread = (AstroSpread){ ASTRO_SPREAD_SEMICIRCLE, 6, 13.8, 0, FALSE };
  config.from = in_double ? ASTRO_FORMAT_CF64LE : ASTRO_FORMAT_CF32LE;
  config.to = in_double ? ASTRO_FORMAT_F64LE : ASTRO_FORMAT_F32LE;
  config.channels = size < 500 ? 2 : 1;
  config.n_in = config.n_out = size < 1300 ? 2 : 1;
  config.products[0].n_terms = 2;
  config.products[0].terms[1] = (AstroImageTerm){ config.n_in - 1, TRUE, -0.25 };
  config.products[1] = (AstroImageProduct){ "Q", 1, { { config.n_in - 1, number % 4 == 3, 2 } } };
  const gsize n = test_pixels_out(&config);
  for (guint i = 0; i < n_planes; i++) {
    planes[i] = test_random_grid(&config, number + i);
    if (is_mapped)
      maps[i] = random_map(&config, number + i);
    poison_plane(&config, planes[i], maps[i]);
  }
  const double w = number % 5 ? 1000 : 0, w_step = n_planes > 1 ? 3 : 0;
  for (guint b = 0; b < 2; b++)
    images[b] = test_make_mapped_image(b ? backend : &astro_image_cpu, &config, planes,
                                       is_mapped ? maps : NULL, n_planes, w, w_step, weights, 0);
  const double wrong = difference(images[1], images[0], n);
  if (!(wrong < (in_double ? 2e-12 : 6e-7)))
    g_error("%u pixels of %u, %s, w %g: error %g", image_size, size,
            in_double ? "double" : "single", w, wrong);
  for (guint i = 0; i < n_planes; i++) {
    test_free(planes[i]);
    g_free(maps[i]);
  }
  g_free(images[0]);
  g_free(images[1]);
}

/* Lengths of many kernels for columns; images as large as the grid and less. */
static void test_columns(gconstpointer backend)
{
  static const guint sizes[][2] = {
    { 256, 256 },  { 256, 255 },  { 400, 321 }, { 600, 600 }, { 729, 729 },  { 729, 150 },
    { 1024, 97 },  { 1120, 300 }, { 1225, 64 }, { 1600, 64 }, { 1764, 65 },  { 2025, 33 },
    { 2304, 130 }, { 2401, 40 },  { 2500, 50 }, { 3136, 40 }, { 3600, 500 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
    for (guint k = 0; k < (sizes[i][0] < 1300 ? 2 : 1); k++)
      compare_columns(backend, sizes[i][0], sizes[i][1], 1 + k, i + 5 * k);
}

/* If a device cannot hold all products they are made two at a time. */
static void test_groups(gconstpointer backend)
{
  AstroImageConfig config = test_simple(256, 256);
  const double weights[] = { 3, 4, 5, 6 };
  config.transforms_v = TRUE;
  config.from = ASTRO_FORMAT_CF32LE;
  config.to = ASTRO_FORMAT_F32LE;
  config.grid.pixel = 1e-3;
  config.n_in = config.n_out = 4;
  for (guint i = 0; i < 4; i++)
    config.products[i] = (AstroImageProduct){
      "P", i ? 2 : 1, { { 3 - i, i % 2, 0.5 }, { i == 2 ? 0 : i, i > 1, i - 1.5 } }
    };
  gpointer planes[] = { test_random_grid(&config, 1), test_random_grid(&config, 2) };
  g_autofree double *expected =
      test_make_image(&astro_image_cpu, &config, planes, 2, 100, 2, weights, 0);
  g_setenv("ASTRO_CUDA_MEMORY", "6M", TRUE);
  g_autofree double *found = test_make_image(backend, &config, planes, 2, 100, 2, weights, 0);
  g_unsetenv("ASTRO_CUDA_MEMORY");
  g_assert_cmpfloat(difference(found, expected, test_pixels_out(&config)), <, 6e-7);
  test_free(planes[0]);
  test_free(planes[1]);
}

/* Two instances add up planes of one image; the second one's image is added before the last plane,
 * which finishes what both have made. */
static void share(const AstroBackend *backend, guint pair)
{
  enum { PLANES = 3 };
  static const double weights[] = { 3, 4 };
  static const guint turns[PLANES] = { 0, 1, 0 };
  AstroImageConfig config = test_simple(40, 33);
  const AstroPlace place = { .threads = 2 };
  gpointer planes[PLANES], instances[2];
  AstroBlock images[2];
  gboolean is_begun[2] = { FALSE };
  GError *error = NULL;
  const char *variant;
  config.from = pairs[pair][0];
  config.to = pairs[pair][1];
  config.channels = 2;
  for (guint i = 0; i < 2; i++) {
    const gsize bytes = test_pixels_out(&config) * astro_format_info(config.to)->bytes;
    images[i] = (AstroBlock){ test_alloc(bytes), bytes };
    instances[i] = backend->create(&config, &place, &variant, &error);
    g_assert_no_error(error);
  }
  for (guint i = 0; i < PLANES; i++) {
    const guint turn = turns[i];
    const AstroBlock plane = { planes[i] = test_random_grid(&config, i), test_bytes_in(&config) };
    const AstroImageArguments add = { .adds_image = TRUE },
                              arguments = { 10 + 2 * i, 2, weights, !is_begun[turn],
                                            i == PLANES - 1 };
    g_assert_true(!arguments.last || backend->submit(instances[turn], &images[1], 1, &images[0], 1,
                                                     &add, NULL, &error));
    g_assert_true(
        backend->submit(instances[turn], &plane, 1, &images[turn], 1, &arguments, NULL, &error));
    is_begun[turn] = TRUE;
  }
  g_autofree double *expected =
      test_make_image(&astro_image_reference, &config, planes, PLANES, 10, 2, weights, 0);
  g_autofree double *found = g_new(double, test_pixels_out(&config));
  for (gsize i = 0; i < test_pixels_out(&config); i++)
    found[i] = astro_format_is_double(config.to) ? ((double *)images[0].data)[i]
                                                 : ((float *)images[0].data)[i];
  g_assert_cmpfloat(difference(found, expected, test_pixels_out(&config)), <,
                    astro_format_is_double(config.to) ? 2e-12 : 3e-7);
  test_check_guard(images[0].data, images[0].bytes);
  const AstroImageArguments add = { .adds_image = TRUE };
  const AstroBlock little = { images[1].data, images[1].bytes - 1 };
  g_assert_false(backend->submit(instances[0], &little, 1, &images[0], 1, &add, NULL, &error));
  g_assert_nonnull(strstr(error->message, "blocks in"));
  g_clear_error(&error);
  for (guint i = 0; i < 2; i++) {
    backend->destroy(instances[i]);
    test_free(images[i].data);
  }
  for (guint i = 0; i < PLANES; i++)
    test_free(planes[i]);
}

static void test_shared(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(test_backends) && test_backends[i]; i++)
    for (guint pair = 0; pair < G_N_ELEMENTS(pairs); pair++)
      share(test_backends[i], pair);
}

static void forget_references(void)
{
  for (Way way = 0; way < N_WAYS; way++)
    for (guint shape = 0; shape < G_N_ELEMENTS(shapes); shape++)
      for (guint pair = 0; pair < G_N_ELEMENTS(pairs); pair++)
        g_clear_pointer(&references[way][shape][pair], g_free);
}

static void on_cpu(const char *level, void (*test)(gconstpointer backend))
{
  g_setenv("ASTRO_CPU", level, TRUE);
  test(&astro_image_cpu);
  g_unsetenv("ASTRO_CPU");
}

static void test_cpu(gconstpointer level)
{
  on_cpu(level, test_reference);
}

static void test_transforms_on_cpu(gconstpointer level)
{
  on_cpu(level, test_transforms);
}

static void add_tests(void)
{
  const AstroBackend *cuda = test_on_device("image"), *opencl = test_on_opencl("image");
  test_backends[2] = cuda ? cuda : opencl;
  test_backends[3] = cuda ? opencl : NULL;
  g_test_add_func("/image/shared", test_shared);
  g_test_add_data_func("/image/cpu/c", "c", test_cpu);
  g_test_add_data_func("/image/cpu/avx2", "avx2", test_cpu);
  g_test_add_data_func("/image/cpu/avx512", "avx512", test_cpu);
  g_test_add_data_func("/image/transforms/c", "c", test_transforms_on_cpu);
  g_test_add_data_func("/image/transforms/avx2", "avx2", test_transforms_on_cpu);
  g_test_add_data_func("/image/transforms/avx512", "avx512", test_transforms_on_cpu);
  test_add_on_device("/image/cuda", cuda, test_reference);
  test_add_on_device("/image/cuda-transforms", cuda, test_transforms);
  test_add_on_device("/image/cuda-columns", cuda, test_columns);
  test_add_on_device("/image/cuda-groups", cuda, test_groups);
  test_add_on_device("/image/opencl", opencl, test_reference);
  test_add_on_device("/image/opencl-transforms", opencl, test_transforms);
}

int main(int argc, char **argv)
{
  const int status = test_run(argc, argv, add_tests);
  forget_references();
  return status;
}
