/* Images: the reference by hand, cpu and cuda against the reference, the beam, and the whole way
 * from visibilities of known sources. */
#include "core/image/image.h"

#include <complex.h>
#include <math.h>

#include "core/fft/fft.h"
#include "core/gridder/gridder.h"
#include "core/image/kernels.h"
#include "tests/core/on-device.h"
#include "tests/tests.h"

static const AstroBackend *backends[4] = { &astro_image_reference, &astro_image_cpu };

static gboolean is_double(AstroFormat format)
{
  return format == ASTRO_FORMAT_CF64LE || format == ASTRO_FORMAT_F64LE;
}

static gsize bytes_in(const AstroImageConfig *config)
{
  return (gsize)config->channels * config->n_in * config->grid.size * config->grid.size *
         astro_format_info(config->from)->bytes;
}

static gsize pixels_out(const AstroImageConfig *config)
{
  return (gsize)config->channels * config->n_out * config->grid.image_size *
         config->grid.image_size;
}

static gsize map_bytes(const AstroImageConfig *config)
{
  return (gsize)config->channels * astro_grid_tiles(config->grid.size) *
         astro_grid_tiles(config->grid.size);
}

/* One product as it is. */
static AstroImageConfig simple(guint size, guint image_size)
{
  return (AstroImageConfig){
    .from = ASTRO_FORMAT_CF64LE,
    .to = ASTRO_FORMAT_F64LE,
    .grid = { .size = size, .image_size = image_size, .pixel = 1e-3, .cell = 1 / (1e-3 * size) },
    .channels = 1,
    .n_in = 1,
    .n_out = 1,
    .products = { { "I", 1, { { 0, FALSE, 1 } } } }
  };
}

/* The image of several planes, as doubles, with the planes' maps of touched tiles or NULL. */
static double *make_mapped_image(const AstroBackend *backend, const AstroImageConfig *config,
                                 gpointer *planes, guint8 **maps, guint n, double w, double w_step,
                                 const double *weights, guint threads)
{
  AstroPlace place = { .threads = threads };
  const char *variant = NULL;
  g_autoptr(GError) error = NULL;
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  g_assert_nonnull(variant);
  AstroBlock out = { NULL, pixels_out(config) * astro_format_info(config->to)->bytes };
  out.data = test_alloc(out.bytes);
  for (guint plane = 0; plane < n; plane++) {
    AstroBlock in[] = { { planes[plane], bytes_in(config) }, { NULL, map_bytes(config) } };
    AstroImageArguments arguments = { w + plane * w_step, w_step, weights, plane == 0,
                                      plane == n - 1 };
    if (maps)
      in[1].data = maps[plane];
    g_assert_true(backend->submit(instance, in, maps ? 2 : 1, &out, 1, &arguments, &error));
  }
  test_check_guard(out.data, out.bytes);
  backend->destroy(instance);
  double *image = g_new(double, pixels_out(config));
  for (gsize i = 0; i < pixels_out(config); i++)
    image[i] = is_double(config->to) ? ((double *)out.data)[i] : ((float *)out.data)[i];
  test_free(out.data);
  return image;
}

static double *make_image(const AstroBackend *backend, const AstroImageConfig *config,
                          gpointer *planes, guint n, double w, double w_step, const double *weights,
                          guint threads)
{
  return make_mapped_image(backend, config, planes, NULL, n, w, w_step, weights, threads);
}

/* ---- by hand ---- */

/* East is to the left, north up, the centre at half the size, whether odd, even, cut or not. */
static void test_place(void)
{
  static const guint sizes[][2] = { { 8, 4 }, { 8, 5 }, { 9, 4 }, { 9, 5 }, { 9, 9 }, { 8, 8 } };
  for (guint b = 0; backends[b]; b++)
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
      AstroImageConfig config = simple(sizes[i][0], sizes[i][1]);
      gsize size = sizes[i][0], image_size = sizes[i][1];
      double complex *grid = g_new0(double complex, size *size);
      gpointer planes[] = { grid };
      double weight = 4;
      grid[(size / 2 + 1) * size + size / 2 - 2] = 6 + 9 * I; /* l = -2, m = 1 */
      grid[size / 2 * size + size / 2] = 1;
      g_autofree double *image = make_image(backends[b], &config, planes, 1, 0, 0, &weight, 0);
      for (gsize y = 0; y < image_size; y++)
        for (gsize x = 0; x < image_size; x++) {
          double expected = 0;
          if (y == image_size / 2 + 1 && x == image_size / 2 + 2)
            expected = 1.5;
          if (y == image_size / 2 && x == image_size / 2)
            expected = 0.25;
          g_assert_cmpfloat(image[y * image_size + x], ==, expected);
        }
      g_free(grid);
    }
}

/* A plane of ones at w has the real part of its phase. */
static void test_phase(void)
{
  for (guint b = 0; backends[b]; b++) {
    AstroImageConfig config = simple(40, 30);
    config.grid.pixel = 0.01;
    config.grid.centre_l = 0.1;
    config.grid.centre_m = -0.2;
    double complex *grid = g_new(double complex, 1600);
    gpointer planes[] = { grid };
    double weight = 2;
    for (guint i = 0; i < 1600; i++)
      grid[i] = 2;
    g_autofree double *image = make_image(backends[b], &config, planes, 1, 321.5, 0, &weight, 0);
    for (gint y = 0; y < 30; y++)
      for (gint x = 0; x < 30; x++) {
        double l = 0.1 + (15 - x) * 0.01, m = -0.2 + (y - 15) * 0.01;
        double expected = cos(2 * G_PI * 321.5 * (sqrt(1 - l * l - m * m) - 1));
        g_assert_cmpfloat_with_epsilon(image[y * 30 + x], expected, 1e-11);
      }
    g_free(grid);
  }
}

/* A single row of ones, of a plane transformed along u, is a wave over y. */
static void test_wave(void)
{
  static const guint sizes[][3] = { { 40, 30, 5 }, { 41, 41, 23 }, { 36, 35, 35 } };
  for (guint b = 0; backends[b]; b++)
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
      const gint size = (gint)sizes[i][0], image_size = (gint)sizes[i][1], v = (gint)sizes[i][2];
      AstroImageConfig config = simple(sizes[i][0], sizes[i][1]);
      config.transforms_v = TRUE;
      config.products[0].terms[0].imaginary = i == 1;
      double complex *grid = g_new0(double complex, size *size);
      gpointer planes[] = { grid };
      double weight = 1;
      for (gint x = 0; x < size; x++)
        grid[v * size + x] = x;
      g_autofree double *image = make_image(backends[b], &config, planes, 1, 0, 0, &weight, 0);
      for (gint y = 0; y < image_size; y++)
        for (gint x = 0; x < image_size; x++) {
          double u = (size / 2 + image_size / 2 - x) % size;
          double turns = (double)(v - size / 2) * (y - image_size / 2) / size;
          double wave = i == 1 ? -sin(2 * G_PI * turns) : cos(2 * G_PI * turns);
          g_assert_cmpfloat_with_epsilon(image[y * image_size + x], u * wave, 1e-12);
        }
      g_free(grid);
    }
}

/* The phases of w up to ten thousand wavelengths, within what doubles know of the angle. */
static void test_phases(void)
{
  static const AstroImageKernels *const all[] = { &astro_image_kernels_c, &astro_image_kernels_avx2,
                                                  &astro_image_kernels_avx512 };
  static const double ws[] = { 0, 1e-3, 1, 77.7, -1234.5, 1e4 };
  for (guint k = 0; k < G_N_ELEMENTS(all); k++) {
    if (all[k]->variant.level > astro_cpu_level())
      continue;
    for (guint i = 0; i < G_N_ELEMENTS(ws); i++) {
      AstroImageStrip strip = { -0.6, 0.0023, 0.3, ASTRO_IMAGE_STRIP };
      double re[ASTRO_IMAGE_STRIP], im[ASTRO_IMAGE_STRIP];
      all[k]->phases(&strip, ws[i], re, im);
      for (guint x = 0; x < ASTRO_IMAGE_STRIP; x++) {
        double l = strip.l + x * strip.pixel;
        long double r2 = (long double)l * l + (long double)strip.m * strip.m;
        long double turns = ws[i] * (-r2 / (1 + sqrtl(1 - r2)));
        long double angle = -2 * (long double)G_PI * (turns - rintl(turns));
        double epsilon = 1e-15 * 8 + 4e-15 * fabs((double)turns);
        g_assert_cmpfloat_with_epsilon(re[x], (double)cosl(angle), epsilon);
        g_assert_cmpfloat_with_epsilon(im[x], (double)sinl(angle), epsilon);
      }
    }
  }
}

/* ---- against the reference ---- */

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
  /* About the phase centre all four sides are alike, or two. */
  { 1096, 1090, 1, 1, 2, 2e-4, 0, 0, 2000, 3, ASTRO_SPREAD_SEMICIRCLE },
  { 1090, 1090, 1, 2, 2, 2e-4, 0, 0, 2000, 3, ASTRO_SPREAD_SEMICIRCLE },
  { 1080, 1051, 1, 1, 1, 2e-4, 0, 0.1, 2000, 0, ASTRO_SPREAD_SEMICIRCLE },
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

static gpointer random_grid(const AstroImageConfig *config, guint32 seed)
{
  gsize n = bytes_in(config) / (is_double(config->from) ? 8 : 4);
  g_autofree gint16 *random = g_new(gint16, n);
  gpointer grid = test_alloc(bytes_in(config));
  test_fill(random, n * 2, seed);
  for (gsize i = 0; i < n; i++)
    if (is_double(config->from))
      ((double *)grid)[i] = random[i] / 32768.0;
    else
      ((float *)grid)[i] = (float)(random[i] / 32768.0);
  return grid;
}

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

/* How planes come: transformed, or along u alone, then without or with maps of touched tiles. */
typedef enum { TRANSFORMED, ALONG_U, MAPPED, N_WAYS } Way;

/* What the reference makes, once for all variants: its corrections take a while. */
static double *references[N_WAYS][G_N_ELEMENTS(shapes)][G_N_ELEMENTS(pairs)];

static void poison(const AstroImageConfig *config, gpointer plane, gsize cell)
{
  if (is_double(config->from))
    ((double complex *)plane)[cell] = NAN;
  else
    ((float complex *)plane)[cell] = NAN;
}

/* Nobody may look at columns that are none of the image's, nor at rows without a touched tile. */
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

/* Every third row of tiles has none that was touched. */
static guint8 *random_map(const AstroImageConfig *config, guint32 seed)
{
  const gsize tiles = astro_grid_tiles(config->grid.size);
  guint8 *map = g_malloc(map_bytes(config));
  test_fill(map, map_bytes(config), seed);
  for (gsize i = 0; i < map_bytes(config); i++)
    map[i] = (i / tiles + seed) % 3 ? map[i] % 5 == 0 : FALSE;
  return map;
}

static void compare(const AstroBackend *backend, guint shape, guint pair, Way way)
{
  AstroImageConfig config = simple(shapes[shape].size, shapes[shape].image_size);
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
    planes[i] = random_grid(&config, shape * 7 + i);
    if (way == MAPPED)
      maps[i] = random_map(&config, shape + i);
    if (way != TRANSFORMED)
      poison_plane(&config, planes[i], maps[i]);
  }
  gsize n = pixels_out(&config);
  double **expected = &references[way][shape][pair], *images[2];
  if (!*expected)
    *expected =
        make_mapped_image(&astro_image_reference, &config, planes, way == MAPPED ? maps : NULL,
                          shapes[shape].planes, shapes[shape].w, shapes[shape].w_step, weights, 0);
  for (guint threads = 0; threads < 2; threads++)
    images[threads] = make_mapped_image(backend, &config, planes, way == MAPPED ? maps : NULL,
                                        shapes[shape].planes, shapes[shape].w, shapes[shape].w_step,
                                        weights, threads);
  /* A transform in single precision has errors of its own. */
  const double single = way == TRANSFORMED ? 2e-7 : 4e-7;
  const gboolean in_double = is_double(config.to) && (way == TRANSFORMED || is_double(config.from));
  g_assert_cmpfloat(difference(images[1], *expected, n), <, in_double ? 2e-12 : single);
  g_assert_cmpmem(images[0], n * sizeof(double), images[1], n * sizeof(double));
  for (guint i = 0; i < shapes[shape].planes; i++) {
    test_free(planes[i]);
    g_free(maps[i]);
  }
  g_free(images[0]);
  g_free(images[1]);
}

/* Of large ones the reference's transforms take long. */
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
         pair < (shapes[shape].size > 100 ? 2 : G_N_ELEMENTS(pairs)) && shapes[shape].size < 1000;
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
  AstroImageConfig config = simple(size, image_size);
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
  const gsize n = pixels_out(&config);
  for (guint i = 0; i < n_planes; i++) {
    planes[i] = random_grid(&config, number + i);
    if (is_mapped)
      maps[i] = random_map(&config, number + i);
    poison_plane(&config, planes[i], maps[i]);
  }
  const double w = number % 5 ? 1000 : 0, w_step = n_planes > 1 ? 3 : 0;
  for (guint b = 0; b < 2; b++)
    images[b] = make_mapped_image(b ? backend : &astro_image_cpu, &config, planes,
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

/* Products of a device that has no room for all of them are made two at a time. */
static void test_groups(gconstpointer backend)
{
  AstroImageConfig config = simple(256, 256);
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
  gpointer planes[] = { random_grid(&config, 1), random_grid(&config, 2) };
  g_autofree double *expected =
      make_image(&astro_image_cpu, &config, planes, 2, 100, 2, weights, 0);
  g_setenv("ASTRO_CUDA_MEMORY", "6M", TRUE);
  g_autofree double *found = make_image(backend, &config, planes, 2, 100, 2, weights, 0);
  g_unsetenv("ASTRO_CUDA_MEMORY");
  g_assert_cmpfloat(difference(found, expected, pixels_out(&config)), <, 6e-7);
  test_free(planes[0]);
  test_free(planes[1]);
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

/* The middle of the image's last product, as it lies in it; nothing of an image that is not
 * finished. */
static void test_middle(void)
{
  static const guint sizes[][2] = { { 8, 8 }, { 8, 3 }, { 9, 4 }, { 9, 5 }, { 5, 1 }, { 6, 0 } };
  for (guint b = 0; backends[b]; b++)
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
      for (guint single = 0; single < 2; single++) {
        gsize image = sizes[i][0], size = sizes[i][1], begin = image / 2 - size / 2;
        AstroImageConfig config = simple(12, sizes[i][0]);
        config.to = single ? ASTRO_FORMAT_F32LE : ASTRO_FORMAT_F64LE;
        config.channels = config.n_in = config.n_out = 2;
        config.products[1] = (AstroImageProduct){ "Q", 1, { { 1, FALSE, 1 } } };
        gsize bytes = astro_format_info(config.to)->bytes;
        double weights[] = { 1, 2, 3, 4 };
        guint8 *middle = test_alloc(size * size * bytes);
        AstroImageArguments arguments = { .weights = weights,
                                          .first = TRUE,
                                          .middle = middle,
                                          .middle_size = sizes[i][1],
                                          .middle_product = 3 };
        AstroBlock in = { random_grid(&config, i), bytes_in(&config) };
        AstroBlock out = { test_alloc(pixels_out(&config) * bytes), pixels_out(&config) * bytes };
        AstroPlace place = { 0 };
        const char *variant;
        gpointer instance = backends[b]->create(&config, &place, &variant, NULL);
        g_assert_true(backends[b]->submit(instance, &in, 1, &out, 1, &arguments, NULL));
        for (gsize k = 0; k < size * size * bytes; k++)
          g_assert_cmphex(middle[k], ==, 0xa5);
        arguments.first = FALSE;
        arguments.last = TRUE;
        g_assert_true(backends[b]->submit(instance, &in, 1, &out, 1, &arguments, NULL));
        for (gsize y = 0; y < size; y++)
          g_assert_cmpmem(middle + y * size * bytes, size * bytes,
                          (guint8 *)out.data + ((3 * image + begin + y) * image + begin) * bytes,
                          size * bytes);
        test_check_guard(middle, size * size * bytes);
        arguments.middle_product = 4;
        g_assert_false(backends[b]->submit(instance, &in, 1, &out, 1, &arguments, NULL));
        arguments.middle_product = 3;
        arguments.middle_size = sizes[i][0] + 1;
        g_assert_false(backends[b]->submit(instance, &in, 1, &out, 1, &arguments, NULL));
        backends[b]->destroy(instance);
        test_free(in.data);
        test_free(out.data);
        test_free(middle);
      }
}

/* ---- products ---- */

static char *products_text(const char *names, const char *stokes)
{
  AstroGrid grid = { .products = g_strsplit(names, ":", -1) };
  AstroImageProduct products[ASTRO_IMAGE_MAX_PRODUCTS];
  g_autoptr(GError) error = NULL;
  guint n = astro_image_products(&grid, stokes, products, &error);
  GString *text = g_string_new(n ? NULL : error->message);
  for (guint i = 0; i < n; i++) {
    g_string_append_printf(text, "%s%s=", i ? " " : "", products[i].name);
    for (guint k = 0; k < products[i].n_terms; k++)
      g_string_append_printf(text, "%+g%s%s", products[i].terms[k].factor,
                             products[i].terms[k].imaginary ? "Im" : "Re",
                             grid.products[products[i].terms[k].product]);
  }
  astro_grid_clear(&grid);
  return g_string_free(text, FALSE);
}

static void test_products(void)
{
  static const struct {
    const char *names, *stokes, *text;
  } cases[] = {
    { "XX:YY", NULL, "XX=+1ReXX YY=+1ReYY" },
    { "XX:YY:PSF", "I", "I=+0.5ReXX+0.5ReYY PSF=+1RePSF" },
    { "XX:XY:YX:YY", "IQUV",
      "I=+0.5ReXX+0.5ReYY Q=+0.5ReXX-0.5ReYY U=+0.5ReXY+0.5ReYX V=+0.5ImXY-0.5ImYX" },
    { "RR:RL:LR:LL", "VUQI",
      "V=+0.5ReRR-0.5ReLL U=+0.5ImRL-0.5ImLR Q=+0.5ReRL+0.5ReLR I=+0.5ReRR+0.5ReLL" },
    { "I:Q:U:V:PSF", "Q", "Q=+1ReQ PSF=+1RePSF" },
    { "I:PSF", "", "I=+1ReI PSF=+1RePSF" },
    { "XX:YY", "U", "stokes is \"U\" of products XX:YY, expected products that it can be made of" },
    { "XX:YY", "IX",
      "stokes is \"IX\" of products XX:YY, expected some of the letters I, Q, U "
      "and V" },
    { "XX:YY", "II",
      "stokes is \"II\" of products XX:YY, expected some of the letters I, Q, U "
      "and V" },
    { "A:B:C:D:E:F:G:H:I", NULL,
      "stokes is \"\" of products A:B:C:D:E:F:G:H:I, expected fewer products" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = products_text(cases[i].names, cases[i].stokes);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
}

/* Products of a wave of known polarisation give its Stokes parameters back, from one baseline: of
 * the measured products XX = I + Q, XY = U + iV, YX = U - iV, YY = I - Q. */
static void test_polarisation(void)
{
  static const double stokes[] = { 3, 1, -0.7, 0.4 };
  const double complex measured[] = { stokes[0] + stokes[1], stokes[2] + I * stokes[3],
                                      stokes[2] - I * stokes[3], stokes[0] - stokes[1] };
  AstroImageConfig config = simple(16, 12);
  AstroGrid grid = { .products = g_strsplit("XX:XY:YX:YY", ":", -1) };
  double complex *cells = g_new(double complex, 4 * 256);
  gpointer planes[] = { cells };
  double weights[] = { 2, 2, 2, 2 };
  config.n_in = 4;
  config.n_out = astro_image_products(&grid, "IQUV", config.products, NULL);
  /* A point source at l = 2, m = -3 pixels, seen by all baselines and their reverses. */
  for (guint p = 0; p < 4; p++)
    for (gint v = 0; v < 16; v++)
      for (gint u = 0; u < 16; u++)
        cells[(p * 16 + v) * 16 + u] = u == 10 && v == 5 ? 2 * measured[p] : 0;
  for (guint b = 0; backends[b]; b++) {
    g_autofree double *image = make_image(backends[b], &config, planes, 1, 0, 0, weights, 0);
    for (guint p = 0; p < 4; p++)
      g_assert_cmpfloat_with_epsilon(image[(p * 12 + 3) * 12 + 4], stokes[p], 1e-15);
  }
  g_free(cells);
  astro_grid_clear(&grid);
}

/* A product without weights is NaN, others are not touched by it. */
static void test_no_weights(void)
{
  for (guint b = 0; backends[b]; b++) {
    AstroImageConfig config = simple(8, 8);
    config.n_in = config.n_out = 2;
    config.products[1] = (AstroImageProduct){ "Q", 1, { { 1, FALSE, 1 } } };
    gpointer planes[] = { random_grid(&config, 3) };
    double weights[] = { 0, 5 };
    g_autofree double *image = make_image(backends[b], &config, planes, 1, 0, 0, weights, 0);
    for (guint i = 0; i < 64; i++)
      g_assert_true(isnan(image[i]) && isfinite(image[64 + i]));
    test_free(planes[0]);
  }
}

/* ---- the beam ---- */

static void test_beam(void)
{
  static const double sizes[] = { 3, 4.1, 7.3, 20 };
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
    for (double ratio = 0.6; ratio < 1.01; ratio += 0.2)
      for (double angle = -1.5; angle < 1.6; angle += 0.5) {
        enum { SIZE = 101 };
        const double pixel = 1e-4, fwhm = 4 * G_LN2;
        g_autofree double *psf = g_new(double, SIZE *SIZE);
        g_autofree float *single = g_new(float, SIZE *SIZE);
        double major, minor, found;
        for (gint y = 0; y < SIZE; y++)
          for (gint x = 0; x < SIZE; x++) {
            double east = SIZE / 2 - x, north = y - SIZE / 2;
            double along = east * sin(angle) + north * cos(angle);
            double across = east * cos(angle) - north * sin(angle);
            psf[y * SIZE + x] =
                exp(-fwhm * (pow(along / sizes[i], 2) + pow(across / (sizes[i] * ratio), 2)));
            single[y * SIZE + x] = (float)psf[y * SIZE + x];
          }
        g_assert_true(astro_image_fit_beam(ASTRO_FORMAT_F64LE, psf, SIZE, pixel, &major, &minor,
                                           &found, NULL));
        g_assert_cmpfloat_with_epsilon(major, sizes[i] * pixel, 1e-9 * pixel);
        g_assert_cmpfloat_with_epsilon(minor, sizes[i] * ratio * pixel, 1e-9 * pixel);
        if (ratio < 0.99)
          g_assert_cmpfloat_with_epsilon(found, angle, 1e-7);
        g_assert_true(astro_image_fit_beam(ASTRO_FORMAT_F32LE, single, SIZE, pixel, &major, &minor,
                                           &found, NULL));
        g_assert_cmpfloat_with_epsilon(major, sizes[i] * pixel, 1e-5 * pixel);
      }
}

/* A lobe that goes on beyond the pixels is said to. */
static void test_cut_beam(void)
{
  enum { SIZE = 64, PART = 12 };
  double psf[SIZE * SIZE], part[PART * PART], major, minor, angle;
  gboolean cut;
  for (gint i = 0; i < SIZE * SIZE; i++)
    psf[i] = exp(-4 * G_LN2 *
                 (pow((i % SIZE - SIZE / 2) / 12.0, 2) + pow((i / SIZE - SIZE / 2) / 9.0, 2)));
  for (gint i = 0; i < PART * PART; i++)
    part[i] = psf[(i / PART + (SIZE - PART) / 2) * SIZE + i % PART + (SIZE - PART) / 2];
  g_assert_true(
      astro_image_fit_beam(ASTRO_FORMAT_F64LE, psf, SIZE, 1, &major, &minor, &angle, &cut));
  g_assert_false(cut);
  g_assert_true(
      astro_image_fit_beam(ASTRO_FORMAT_F64LE, part, PART, 1, &major, &minor, &angle, &cut));
  g_assert_true(cut);
}

/* No lobe: nothing, a peak of one pixel, a plain, a valley, NaN. */
static void test_no_beam(void)
{
  enum { SIZE = 20 };
  double psf[SIZE * SIZE] = { 0 }, major, minor, angle;
  g_assert_false(
      astro_image_fit_beam(ASTRO_FORMAT_F64LE, psf, SIZE, 1, &major, &minor, &angle, NULL));
  psf[SIZE / 2 * SIZE + SIZE / 2] = 1;
  g_assert_false(
      astro_image_fit_beam(ASTRO_FORMAT_F64LE, psf, SIZE, 1, &major, &minor, &angle, NULL));
  for (guint i = 0; i < SIZE * SIZE; i++)
    psf[i] = 1;
  g_assert_false(
      astro_image_fit_beam(ASTRO_FORMAT_F64LE, psf, SIZE, 1, &major, &minor, &angle, NULL));
  for (guint i = 0; i < SIZE * SIZE; i++)
    psf[i] = 1 + pow(i / SIZE - SIZE / 2.0, 2);
  g_assert_false(
      astro_image_fit_beam(ASTRO_FORMAT_F64LE, psf, SIZE, 1, &major, &minor, &angle, NULL));
  for (guint i = 0; i < SIZE * SIZE; i++)
    psf[i] = NAN;
  g_assert_false(
      astro_image_fit_beam(ASTRO_FORMAT_F64LE, psf, SIZE, 1, &major, &minor, &angle, NULL));
  g_assert_false(astro_image_fit_beam(ASTRO_FORMAT_F64LE, psf, 0, 1, &major, &minor, &angle, NULL));
}

/* ---- from visibilities ---- */

#define ROWS 300

/* Sources seen at random u, v, w: gridded, transformed and imaged, each image is the sum over
 * visibilities, which is written out here. */
static void check_sources(const AstroBackend *backend, gboolean off_centre)
{
  static const double sources[][3] = { { 0.01, -0.02, 1 }, { -0.015, 0.005, 0.5 } };
  char *names[] = { (char *)"I", NULL };
  AstroGrid grid = { .image_size = 48,
                     .pixel = 1.5e-3,
                     .centre_l = off_centre ? 0.3 : 0,
                     .centre_m = off_centre ? -0.2 : 0,
                     .products = names };
  AstroGridderConfig gridding = {
    .is_double = TRUE, .channels = 1, .accuracy = 1e-10, .longest = 400
  };
  double uvw[ROWS][3], wavenumber = 1;
  double complex values[ROWS];
  g_autofree gint16 *random = g_new(gint16, ROWS * 3);
  test_fill(random, ROWS * 6, 5);
  for (guint i = 0; i < ROWS; i++) {
    uvw[i][0] = random[3 * i] / 32768.0 * 250;
    uvw[i][1] = random[3 * i + 1] / 32768.0 * 250;
    uvw[i][2] = fabs(random[3 * i + 2] / 32768.0) * 390;
    values[i] = 0;
    for (guint s = 0; s < G_N_ELEMENTS(sources); s++) {
      double l = grid.centre_l + sources[s][0], m = grid.centre_m + sources[s][1];
      double turns = uvw[i][0] * sources[s][0] + uvw[i][1] * sources[s][1] +
                     uvw[i][2] * (sqrt(1 - l * l - m * m) - 1);
      values[i] += sources[s][2] * cexp(2 * G_PI * I * turns);
    }
  }
  g_autoptr(GError) error = NULL;
  const char *variant;
  guint n_planes;
  g_assert_true(astro_wstacking.choose(&gridding, &grid, &error));
  AstroGridding *gridder = astro_wstacking.create(&gridding, &grid, &variant, &error);
  AstroGridRows rows = { ROWS, 1, 1, TRUE, uvw[0], &wavenumber, values };
  g_assert_true(astro_wstacking.begin(gridder, &rows, &n_planes, &error));
  g_assert_cmpuint(n_planes, >, 1);

  AstroImageConfig config = simple(grid.size, grid.image_size);
  config.grid = grid;
  config.grid.products = NULL;
  AstroFftConfig transform = { .from = ASTRO_FORMAT_CF64LE,
                               .to = ASTRO_FORMAT_CF64LE,
                               .n_axes = 2,
                               .extents = { grid.size, grid.size },
                               .axes = { { TRUE, grid.size / 2, grid.size / 2 },
                                         { TRUE, grid.size / 2, grid.size / 2 } } };
  AstroPlace place = { 0 };
  gpointer fft = astro_fft_cpu.create(&transform, &place, &variant, &error);
  gpointer imaging = backend->create(&config, &place, &variant, &error);
  gsize bytes = bytes_in(&config);
  AstroBlock plane = { g_aligned_alloc(1, bytes, 64), bytes };
  AstroBlock sky = { g_aligned_alloc(1, bytes, 64), bytes };
  AstroBlock image = { g_new(double, 48 * 48), 48 * 48 * sizeof(double) };
  double weight = ROWS;
  for (guint i = 0; i < n_planes; i++) {
    AstroImageArguments arguments = { .weights = &weight,
                                      .first = i == 0,
                                      .last = i == n_planes - 1 };
    guint64 steps = 1;
    memset(plane.data, 0, bytes);
    astro_wstacking.plane(gridder, plane.data, NULL, &arguments.w, &arguments.w_step);
    g_assert_true(astro_fft_cpu.submit(fft, &plane, 1, &sky, 1, &steps, &error));
    g_assert_true(backend->submit(imaging, &sky, 1, &image, 1, &arguments, &error));
  }
  double wrong = 0, sum = 0;
  for (gint y = 0; y < 48; y++)
    for (gint x = 0; x < 48; x++) {
      double l = (24 - x) * grid.pixel, m = (y - 24) * grid.pixel;
      double n = sqrt(1 - pow(grid.centre_l + l, 2) - pow(grid.centre_m + m, 2));
      double expected = 0;
      for (guint i = 0; i < ROWS; i++)
        expected += creal(values[i] * cexp(-2 * G_PI * I *
                                           (uvw[i][0] * l + uvw[i][1] * m + uvw[i][2] * (n - 1))));
      expected /= ROWS;
      wrong += pow(((double *)image.data)[y * 48 + x] - expected, 2);
      sum += expected * expected;
    }
  g_assert_cmpfloat(sqrt(wrong / sum), <, 1e-10);
  g_free(image.data);
  g_aligned_free(plane.data);
  g_aligned_free(sky.data);
  astro_fft_cpu.destroy(fft);
  backend->destroy(imaging);
  astro_wstacking.destroy(gridder);
}

static void test_sources(gconstpointer off_centre)
{
  for (guint b = 1; backends[b]; b++)
    check_sources(backends[b], GPOINTER_TO_INT(off_centre));
}

/* ---- errors ---- */

static void test_errors(void)
{
  AstroImageConfig cases[7];
  static const char *const says[] = { "CF16LE",   "CF64LE to CF64LE", "0 channels", "hemisphere",
                                      "9 pixels", "product 1 of 1",   "hemisphere" };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    cases[i] = simple(8, 8);
  cases[0].from = ASTRO_FORMAT_CF16LE;
  cases[1].to = ASTRO_FORMAT_CF64LE;
  cases[2].channels = 0;
  cases[3].grid.pixel = 0.25;
  cases[4].grid.image_size = 9;
  cases[5].products[0].terms[0].product = 1;
  cases[6].grid.centre_l = -0.9999;
  for (guint b = 0; backends[b]; b++) {
    AstroPlace place = { 0 };
    const char *variant;
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      g_autoptr(GError) error = NULL;
      g_assert_false(backends[b]->shape(&cases[i], NULL));
      g_assert_null(backends[b]->create(&cases[i], &place, &variant, &error));
      test_says(error->message, says[i]);
    }
    AstroImageConfig config = simple(8, 8);
    double samples[128] = { 0 }, weight = 1;
    AstroImageArguments arguments = { 0, 0, &weight, TRUE, TRUE };
    AstroBlock in = { samples, 1024 }, out = { samples, 512 }, part = { samples, 511 };
    gpointer instance = backends[b]->create(&config, &place, &variant, NULL);
    g_assert_false(backends[b]->submit(instance, &part, 1, &out, 1, &arguments, NULL));
    g_assert_false(backends[b]->submit(instance, &in, 1, &part, 1, &arguments, NULL));
    g_assert_false(backends[b]->submit(instance, &in, 1, &out, 0, &arguments, NULL));
    AstroBlock mapped[] = { in, { samples, 1 } }, short_map[] = { in, { samples, 0 } };
    g_assert_false(backends[b]->submit(instance, mapped, 2, &out, 1, &arguments, NULL));
    backends[b]->destroy(instance);
    config.transforms_v = TRUE;
    instance = backends[b]->create(&config, &place, &variant, NULL);
    g_assert_false(backends[b]->submit(instance, short_map, 2, &out, 1, &arguments, NULL));
    g_assert_true(backends[b]->submit(instance, mapped, 2, &out, 1, &arguments, NULL));
    backends[b]->destroy(instance);
  }
}

static void add_tests(void)
{
  backends[2] = test_on_device("image");
  g_test_add_func("/image/place", test_place);
  g_test_add_func("/image/phase", test_phase);
  g_test_add_func("/image/phases", test_phases);
  g_test_add_func("/image/wave", test_wave);
  g_test_add_data_func("/image/cpu/c", "c", test_cpu);
  g_test_add_data_func("/image/cpu/avx2", "avx2", test_cpu);
  g_test_add_data_func("/image/cpu/avx512", "avx512", test_cpu);
  g_test_add_data_func("/image/transforms/c", "c", test_transforms_on_cpu);
  g_test_add_data_func("/image/transforms/avx2", "avx2", test_transforms_on_cpu);
  g_test_add_data_func("/image/transforms/avx512", "avx512", test_transforms_on_cpu);
  test_add_on_device("/image/cuda", backends[2], test_reference);
  test_add_on_device("/image/cuda-transforms", backends[2], test_transforms);
  test_add_on_device("/image/cuda-columns", backends[2], test_columns);
  test_add_on_device("/image/cuda-groups", backends[2], test_groups);
  g_test_add_func("/image/middle", test_middle);
  g_test_add_func("/image/products", test_products);
  g_test_add_func("/image/polarisation", test_polarisation);
  g_test_add_func("/image/no-weights", test_no_weights);
  g_test_add_func("/image/beam", test_beam);
  g_test_add_func("/image/cut-beam", test_cut_beam);
  g_test_add_func("/image/no-beam", test_no_beam);
  g_test_add_data_func("/image/sources/centred", GINT_TO_POINTER(FALSE), test_sources);
  g_test_add_data_func("/image/sources/off-centre", GINT_TO_POINTER(TRUE), test_sources);
  g_test_add_func("/image/errors", test_errors);
}

int main(int argc, char **argv)
{
  const int status = test_run(argc, argv, add_tests);
  forget_references();
  return status;
}
