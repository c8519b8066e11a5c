/* Images from visibilities by W-stacking as the elements make them: gridding, transform along u of
 * touched tiles, transform along v and image, one plane after the other. Then the way back: the
 * same visibilities predicted from that image.
 *
 * Without arguments: a table of speeds; with one, the number of a row, that row only. With more,
 * for comparisons with other programs on the same data: gridder ACCURACY SIZE PIXEL PRODUCTS ROWS
 * CHANNELS UVW WAVENUMBERS VISIBILITIES IMAGE ROUNDS reads files of doubles (UVW: metres, w >= 0)
 * and complex numbers (single precision for accuracies from 1e-5 up, else double; rows x channels x
 * products), writes the images (doubles, with l and m rising) and prints the seconds of each round.
 */
#include <math.h>
#include <stdlib.h>

#include "core/lib/fft/fft.h"
#include "core/gridder/degrid/degrid.h"
#include "core/gridder/gridder.h"
#include "core/kit/pages.h"
#include "core/image/image.h"
#include "tests/bench/bench.h"
#include "tests/bench/drift.h"

typedef struct {
  AstroGridRows rows;
  AstroGriddingConfig config;
  AstroGrid grid;
  AstroGridding *gridding;
  gpointer fft, image;
  AstroBlock plane[2], out; /* plane: with its map of touched tiles */
  double *weights;
  guint planes;
  double spread, transform, accumulate, sort; /* seconds of the last run */
} Imager;

static char **names(guint products)
{
  static const char *const all[] = { "I", "Q", "U", "V", NULL };
  char **list = g_new0(char *, products + 1);
  for (guint i = 0; i < products; i++)
    list[i] = g_strdup(all[i]);
  return list;
}

static void give_up(GError *error)
{
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

static void imager_open(Imager *self, double accuracy, guint size, double pixel)
{
  const AstroPlace place = { 0 };
  const char *variant;
  GError *error = NULL;
  const guint products = self->rows.products;
  self->config = (AstroGriddingConfig){ .is_double = self->rows.is_double,
                                        .channels = 1,
                                        .accuracy = accuracy };
  self->grid = (AstroGrid){ .image_size = size, .pixel = pixel, .products = names(products) };
  if (!astro_wstacking.choose(&self->config, &self->grid, &error))
    give_up(error);
  self->gridding = astro_wstacking.create(&self->config, &self->grid, NULL, &variant, &error);
  const guint n = self->grid.size;
  const gboolean is_double = self->rows.is_double;
  AstroFftConfig fft = { .from = is_double ? ASTRO_FORMAT_CF64LE : ASTRO_FORMAT_CF32LE,
                         .n_axes = 3,
                         .extents = { products, n, n },
                         .axes = { [2] = { TRUE, n / 2, n / 2 } },
                         .share_map = products };
  fft.axes[2].wanted = n / 2 - size / 2;
  fft.axes[2].n_wanted = MIN(size + 1, n - (guint)fft.axes[2].wanted);
  fft.to = fft.from;
  self->fft = astro_fft_cpu.create(&fft, &place, &variant, &error);
  if (!self->fft)
    give_up(error);
  AstroImageConfig image = { .from = fft.from,
                             .to = is_double ? ASTRO_FORMAT_F64LE : ASTRO_FORMAT_F32LE,
                             .grid = self->grid,
                             .channels = 1,
                             .n_in = products,
                             .transforms_v = TRUE };
  image.n_out = astro_image_products(&self->grid, NULL, image.products, &error);
  self->image = astro_image_cpu.create(&image, &place, &variant, &error);
  if (!self->image)
    give_up(error);
  self->plane[0].bytes = (gsize)n * n * products * (is_double ? 16 : 8);
  self->plane[0].data =
      astro_pages_alloc(self->plane[0].bytes); /* like memory from the allocator */
  self->plane[1].bytes = (gsize)astro_grid_tiles(n) * astro_grid_tiles(n);
  self->plane[1].data = g_malloc(self->plane[1].bytes);
  self->out.bytes = (gsize)size * size * products * (is_double ? 8 : 4);
  self->out.data = astro_pages_alloc(self->out.bytes);
  self->weights = g_new(double, products);
  for (guint i = 0; i < products; i++)
    self->weights[i] = 1;
}

static void imager_close(Imager *self)
{
  astro_wstacking.destroy(self->gridding);
  astro_fft_cpu.destroy(self->fft);
  astro_image_cpu.destroy(self->image);
  free(self->plane[0].data);
  g_free(self->plane[1].data);
  free(self->out.data);
  g_free(self->weights);
  astro_grid_clear(&self->grid);
}

static double now(void)
{
  return g_get_monotonic_time() * 1e-6;
}

static void imager_run(gpointer data)
{
  Imager *self = data;
  guint64 steps = 1;
  GError *error = NULL;
  double times[5] = { now() };
  self->spread = self->transform = self->accumulate = 0;
  if (!astro_wstacking.begin(self->gridding, &self->rows, &self->planes, &error))
    give_up(error);
  self->sort = now() - times[0];
  for (guint plane = 0; plane < self->planes; plane++) {
    AstroImageArguments arguments = { .weights = self->weights,
                                      .first = plane == 0,
                                      .last = plane + 1 == self->planes };
    times[1] = now();
    astro_wstacking.plane(self->gridding, self->plane[0].data, self->plane[1].data, &arguments.w,
                          &arguments.w_step, NULL);
    times[2] = now();
    if (!astro_fft_cpu.submit(self->fft, self->plane, 2, self->plane, 1, &steps, NULL, &error))
      give_up(error);
    times[3] = now();
    if (!astro_image_cpu.submit(self->image, self->plane, 2, &self->out, 1, &arguments, NULL,
                                &error))
      give_up(error);
    times[4] = now();
    self->spread += times[2] - times[1];
    self->transform += times[3] - times[2];
    self->accumulate += times[4] - times[3];
  }
}

/* Into values of its own. */
typedef struct {
  Imager *imager;
  gpointer values;
} Degridder;

static void degridder_run(gpointer data)
{
  const Degridder *self = data;
  const Imager *imager = self->imager;
  AstroGridRows rows = imager->rows;
  GError *error = NULL;
  rows.values = NULL;
  if (!astro_degrid(&imager->config, &imager->grid, &rows, imager->out.data, self->values, &error))
    give_up(error);
}

static double degrid_seconds(Imager *imager)
{
  const AstroGridRows *rows = &imager->rows;
  Degridder self = { imager, astro_pages_alloc(rows->rows * rows->channels * rows->products *
                                               (rows->is_double ? 16 : 8)) };
  const double seconds = bench_seconds(degridder_run, &self, 3);
  free(self.values);
  return seconds;
}

/* ---- for other programs ---- */

static gpointer read_file(const char *path, gsize bytes)
{
  char *data;
  gsize there;
  GError *error = NULL;
  if (!g_file_get_contents(path, &data, &there, &error))
    give_up(error);
  if (there != bytes) {
    fprintf(stderr, "%s has %zu bytes, expected %zu\n", path, there, bytes);
    exit(1);
  }
  return data;
}

/* The image's x runs in the direction of falling l. */
static void write_image(const Imager *self, const char *path)
{
  const gsize k = self->grid.image_size, n = k * k * self->rows.products;
  double *image = g_new0(double, n);
  for (gsize i = 0; i < n; i++) {
    const gsize x = i % k;
    if (x == 0) /* the element's image has l from -(k/2 - 1) to k/2 */
      continue;
    const gsize at = i - x + (k - x);
    image[i] = self->rows.is_double ? ((double *)self->out.data)[at]
                                    : (double)((float *)self->out.data)[at];
  }
  g_file_set_contents(path, (char *)image, (gssize)(n * sizeof *image), NULL);
  g_free(image);
}

static int compare(char **arguments)
{
  const double accuracy = g_ascii_strtod(arguments[0], NULL),
               pixel = g_ascii_strtod(arguments[2], NULL);
  const guint size = (guint)atoi(arguments[1]);
  Imager self = { 0 };
  AstroGridRows *rows = &self.rows;
  rows->products = (guint)atoi(arguments[3]);
  rows->rows = g_ascii_strtoull(arguments[4], NULL, 10);
  rows->channels = (guint)atoi(arguments[5]);
  rows->is_double = accuracy < 1e-5;
  rows->uvw = read_file(arguments[6], rows->rows * 3 * sizeof(double));
  rows->wavenumbers = read_file(arguments[7], rows->channels * sizeof(double));
  rows->values = read_file(arguments[8], rows->rows * rows->channels * rows->products *
                                             (rows->is_double ? 16 : 8));
  imager_open(&self, accuracy, size, pixel);
  for (gint round = 0; round < atoi(arguments[10]); round++) {
    const double start = now();
    imager_run(&self);
    printf("%.4f\n", now() - start);
  }
  fprintf(stderr,
          "grid %u support %u planes %u: sort %.3f spread %.3f transform %.3f image %.3f s\n",
          self.grid.size, self.grid.spread.support, self.planes, self.sort, self.spread,
          self.transform, self.accumulate);
  write_image(&self, arguments[9]);
  imager_close(&self);
  return 0;
}

/* ---- the table ---- */

/* 44 stations over some kilometres, 16 channels around 150 MHz. */
static const Drift observed = { .stations = 44,
                                .dumps = 256,
                                .channels = 16,
                                .radius = 2500,
                                .latitude = 0.92,
                                .declination = 0.8,
                                .frequency = 145e6,
                                .bandwidth = 10e6 };

static gpointer make_values(const AstroGridRows *rows)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(2);
  const gsize n = rows->rows * rows->channels * rows->products * 2;
  gpointer values = g_malloc(n * (rows->is_double ? 8 : 4));
  for (gsize i = 0; i < n; i++) {
    const double value = g_rand_double_range(random, -1, 1);
    if (rows->is_double)
      ((double *)values)[i] = value;
    else
      ((float *)values)[i] = (float)value;
  }
  return values;
}

int main(int argc, char **argv)
{
  static const struct {
    double accuracy;
    guint size, products;
  } cases[] = {
    { 1e-2, 1024, 1 }, { 1e-4, 1024, 1 }, { 1e-5, 1024, 1 }, { 1e-7, 1024, 1 }, { 1e-12, 1024, 1 },
    { 1e-4, 1024, 4 }, { 1e-7, 1024, 4 }, { 1e-4, 4096, 1 }, { 1e-7, 4096, 1 }, { 1e-4, 4096, 4 },
  };
  double longest;

  if (argc == 12)
    return compare(argv + 1);
  AstroGridRows rows = make_drift(&observed, &longest);
  printf("\nImages by W-stacking, %.2f M visibilities: Mvis/s, then seconds of each part\n"
         "%10s %8s %6s %6s %4s %6s %10s %8s %8s %8s %8s %8s %8s\n",
         rows.rows * rows.channels * 1e-6, "accuracy", "products", "image", "grid", "W", "planes",
         "Mvis/s", "sort", "spread", "FFT", "image", "degrid", "of grid");
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    Imager self = { .rows = rows };
    if (argc == 2 && atoi(argv[1]) != (int)i)
      continue;
    self.rows.products = cases[i].products;
    self.rows.is_double = cases[i].accuracy < 1e-5;
    self.rows.values = make_values(&self.rows);
    imager_open(&self, cases[i].accuracy, cases[i].size,
                1 / (2.6 * longest) * 1024 / cases[i].size);
    const double seconds = bench_seconds(imager_run, &self, 3);
    const double degrid = degrid_seconds(&self);
    printf("%10g %8u %6u %6u %4u %6u %10.2f %8.3f %8.3f %8.3f %8.3f %8.3f %8.2f\n",
           cases[i].accuracy, cases[i].products, cases[i].size, self.grid.size,
           self.grid.spread.support, self.planes, rows.rows * rows.channels / seconds * 1e-6,
           self.sort, self.spread, self.transform, self.accumulate, degrid, degrid / seconds);
    fflush(stdout);
    imager_close(&self);
    g_free((gpointer)self.rows.values);
  }
  clear_drift(&rows);
  return 0;
}
