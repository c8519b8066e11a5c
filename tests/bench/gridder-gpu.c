/* Images from visibilities by W-stacking, all on a GPU: sorting, gridding, transforms and the sum
 * of planes; gridding has a queue of its own, as elements do, beside the others. 64 stations within
 * 8 km observe for six hours at 1.4 GHz; an image of 4096 x 4096 pixels, 2.6 of them to the
 * resolution of the longest baseline, is 2.6 degrees wide. Beside it is the time that cuFFT alone
 * needs in the same run for as many planes of that size, which is the limit if there are few
 * visibilities. Planes have maps of touched tiles and are transformed along v as they are added to
 * the image; for comparison they are also whole, and transformed along both axes first. The other
 * way round, the same visibilities are predicted from a model of that size, by the stage that
 * elements use: their (u,v,w) are sent up, and blocks of correlations are made on the device. The
 * last row is a snapshot, one integration of 64 channels, whose planes hold few visibilities.
 *
 * Arguments are the numbers of the rows to run. */
#include "core/backend/module.h"
#include "core/gridder/degrid/degridder.h"
#include "core/lib/fft/fft.h"
#include "tests/core/gridder/gridding-stage.h"
#include "core/image/image.h"
#include "tests/bench/bench.h"
#include "tests/bench/cufft.h"
#include "tests/bench/drift.h"
#include "tests/bench/on-device.h"

#include <stdlib.h>

static AstroQueue *gridding_queue;

static void give_up(GError *error)
{
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

static AstroEvent *mark(AstroQueue *on)
{
  GError *error = NULL;
  AstroEvent *event = device->funcs->event_record(device, on, &error);
  if (!event)
    give_up(error);
  return event;
}

/* Makes work queued from now on wait for the event. */
static void follow(AstroQueue *on, AstroEvent *event)
{
  GError *error = NULL;
  if (!device->funcs->queue_wait(device, on, event, &error))
    give_up(error);
  device->funcs->event_free(device, event);
}

static AstroBlock block_of(gsize bytes)
{
  GError *error = NULL;
  AstroBlock block = { NULL, bytes };
  if (!device->funcs->alloc(device, bytes, &block.data, &error))
    give_up(error);
  return block;
}

static AstroBlock block_with(gconstpointer host, gsize bytes)
{
  GError *error = NULL;
  AstroBlock block = block_of(bytes);
  if (!device->funcs->queue_copy(device, queue, ASTRO_COPY_UP, block.data, host, bytes, &error))
    give_up(error);
  wait_for_device();
  return block;
}

/* ---- the chain ---- */

typedef struct {
  const AstroBackend *backend;
  gpointer instance;
  AstroResult result; /* of the last submit that gave one */
} Stage;

enum { BLOCKS = 3 }; /* planes being processed */

typedef struct {
  TestGriddingConfig config;
  TestGriddingArguments arguments;
  Stage gridding, fft[2], image[2]; /* for whole planes; for planes with maps */
  AstroBlock rows[3], planes[BLOCKS][2], out;
  double weights[5];
  gboolean with_gridding, with_fft, with_image, with_maps;
  guint last; /* 0: make all planes, else only up to this one */
} Imager;

static Stage stage_of(const AstroBackend *backend, AstroQueue *on, gconstpointer config)
{
  const AstroPlace place = { .device = device, .queue = on };
  Stage stage = { .backend = backend };
  const char *variant;
  GError *error = NULL;
  if (!backend) {
    fprintf(stderr, "the CUDA module lacks a stage\n");
    exit(1);
  }
  stage.instance = stage.backend->create(config, &place, &variant, &error);
  if (!stage.instance)
    give_up(error);
  return stage;
}

static void run(Stage *stage, const AstroBlock *in, guint n_in, const AstroBlock *out, guint n_out,
                gpointer arguments)
{
  GError *error = NULL;
  if (!stage->backend->submit(stage->instance, in, n_in, out, n_out, arguments, &stage->result,
                              &error))
    give_up(error);
}

static void imager_open(Imager *self, const AstroGridRows *rows, double longest, double accuracy,
                        guint size, guint products)
{
  static char *names[] = { "XX", "XY", "YX", "YY", NULL };
  GError *error = NULL;
  const gboolean is_double = accuracy < 1e-5;
  const gsize real = is_double ? 8 : 4;
  TestGriddingConfig *config = &self->config;
  config->algorithm = &astro_wstacking;
  config->gridder =
      (AstroGriddingConfig){ .is_double = is_double, .channels = 1, .accuracy = accuracy };
  config->grid = (AstroGrid){ .image_size = size,
                              .pixel = 1 / (2.6 * longest),
                              .products = names + 4 - products };
  if (!astro_wstacking.choose(&config->gridder, &config->grid, &error))
    give_up(error);
  self->gridding = stage_of(test_gridding_backend(), gridding_queue, config);
  self->arguments = (TestGriddingArguments){ .rows = rows->rows, .channels = rows->channels };
  self->rows[0] = block_with(rows->uvw, rows->rows * 3 * sizeof(double));
  self->rows[1] = block_with(rows->wavenumbers, rows->channels * sizeof(double));
  const gsize n_values = rows->rows * rows->channels * products * 2;
  g_autofree char *values = g_malloc(n_values * real);
  guint32 state = 1;
  for (gsize i = 0; i < n_values; i++) {
    state = state * 1664525 + 1013904223;
    if (is_double)
      ((double *)values)[i] = (gint32)state / 2147483648.0;
    else
      ((float *)values)[i] = (float)(gint32)state / 2147483648.0f;
  }
  self->rows[2] = block_with(values, n_values * real);

  const guint n = config->grid.size;
  const AstroFftAxis axis = { TRUE, n / 2, n / 2, (n - size) / 2, size };
  AstroFftConfig fft = { .from = is_double ? ASTRO_FORMAT_CF64LE : ASTRO_FORMAT_CF32LE,
                         .n_axes = 3,
                         .extents = { products, n, n },
                         .axes = { { FALSE }, axis, axis } };
  fft.to = fft.from;
  self->fft[0] = stage_of(astro_module_backend("fft"), queue, &fft);
  fft.axes[1].transformed = FALSE;
  fft.share_map = products;
  self->fft[1] = stage_of(astro_module_backend("fft"), queue, &fft);
  AstroImageConfig image = { .from = fft.from,
                             .to = is_double ? ASTRO_FORMAT_F64LE : ASTRO_FORMAT_F32LE,
                             .grid = config->grid,
                             .channels = 1,
                             .n_in = products };
  image.n_out = astro_image_products(&config->grid, NULL, image.products, &error);
  self->image[0] = stage_of(astro_module_backend("image"), queue, &image);
  image.transforms_v = TRUE;
  self->image[1] = stage_of(astro_module_backend("image"), queue, &image);
  for (guint i = 0; i < BLOCKS; i++) {
    self->planes[i][0] = block_of((gsize)n * n * products * 2 * real);
    self->planes[i][1] = block_of((gsize)astro_grid_tiles(n) * astro_grid_tiles(n));
  }
  self->out = block_of((gsize)size * size * products * real);
  for (guint i = 0; i < products; i++)
    self->weights[i] = 1;
}

static void imager_close(Imager *self)
{
  Stage *stages[] = { &self->gridding, &self->fft[0], &self->fft[1], &self->image[0],
                      &self->image[1] };
  for (guint i = 0; i < G_N_ELEMENTS(stages); i++)
    stages[i]->backend->destroy(stages[i]->instance);
  for (guint i = 0; i < G_N_ELEMENTS(self->rows); i++)
    device->funcs->free(device, self->rows[i].data);
  for (guint i = 0; i < 2 * BLOCKS; i++)
    device->funcs->free(device, self->planes[i / 2][i % 2].data);
  device->funcs->free(device, self->out.data);
}

static void run_first(gpointer data)
{
  Imager *self = data;
  self->arguments.first = TRUE;
  run(&self->gridding, self->rows, 3, self->planes[0], 2, &self->arguments);
  wait_for_device();
}

static void run_all(gpointer data)
{
  Imager *self = data;
  AstroEvent *free_again[BLOCKS] = { NULL };
  guint64 steps = 1;
  for (guint plane = 0; plane == 0 || plane < self->gridding.result.planes; plane++) {
    if (self->last && plane > self->last)
      break;
    const AstroBlock *blocks = self->planes[plane % BLOCKS];
    const guint n = self->with_maps ? 2 : 1;
    AstroEvent **is_free = &free_again[plane % BLOCKS];
    if (*is_free)
      follow(gridding_queue, *is_free);
    self->arguments.first = plane == 0;
    if (self->with_gridding)
      run(&self->gridding, self->rows, plane == 0 ? 3 : 0, blocks, n, &self->arguments);
    follow(queue, mark(gridding_queue));
    AstroImageArguments image = { .w = self->gridding.result.w,
                                  .w_step = self->gridding.result.w_step,
                                  .weights = self->weights,
                                  .first = plane == 0,
                                  .last = plane + 1 == self->gridding.result.planes };
    if (self->with_fft)
      run(&self->fft[n - 1], blocks, n, blocks, 1, &steps);
    if (self->with_image)
      run(&self->image[n - 1], blocks, n, &self->out, 1, &image);
    *is_free = mark(queue);
  }
  for (guint i = 0; i < BLOCKS; i++)
    if (free_again[i])
      device->funcs->event_free(device, free_again[i]);
  wait_for_device();
}

static double seconds_of(Imager *self, gboolean maps, gboolean gridding, gboolean fft,
                         gboolean image)
{
  self->with_maps = maps;
  self->with_gridding = gridding;
  self->with_fft = fft;
  self->with_image = image;
  return bench_seconds(run_all, self, 5);
}

/* ---- degridding ---- */

typedef struct {
  AstroDegridderConfig config;
  Stage stage;
  AstroBlock block; /* in and out */
  guint dumps;
} Predicting;

static void predicting_call(Predicting *self, AstroDegridArguments arguments)
{
  const guint n = arguments.call == ASTRO_DEGRID_TAKE;
  run(&self->stage, &self->block, n, &self->block, n, &arguments);
}

static void run_prediction(gpointer data)
{
  Predicting *self = data;
  predicting_call(self, (AstroDegridArguments){ .call = ASTRO_DEGRID_PREDICT });
  predicting_call(self, (AstroDegridArguments){ .call = ASTRO_DEGRID_TAKE, .dumps = self->dumps });
  wait_for_device();
}

/* Stations stand anywhere, since (u,v,w) are given. */
static AstroObservation *observe(guint stations)
{
  AstroObservation *observation = astro_observation_new(stations);
  for (guint i = 0; i < 3 * stations; i++)
    observation->positions[i] = 4e6 + i;
  astro_observation_set_start(observation, "2026-11-20T12:00:00", NULL);
  observation->has_phase_centre = TRUE;
  return observation;
}

static void add_dumps(Predicting *self, const Drift *drift, const AstroGridRows *rows)
{
  g_autofree double *uvw = g_new0(double, 3 * (gsize)self->config.visibilities.baselines);
  const double *at = rows->uvw;
  for (guint dump = 0; dump < drift->dumps; dump++) {
    for (guint i = 1; i < drift->stations; i++)
      for (guint j = 0; j < i; j++, at += 3)
        memcpy(uvw + 3 * (i * (i + 1) / 2 + j), at, 3 * sizeof *at);
    predicting_call(self, (AstroDegridArguments){ .call = ASTRO_DEGRID_ADD, .uvw = uvw });
  }
}

/* A model of a source in every hundredth pixel. */
static gpointer make_model(const AstroDegridderConfig *config)
{
  const gsize n = (gsize)config->grid.image_size * config->grid.image_size *
                  g_strv_length(config->grid.products);
  gpointer model = g_malloc0(n * (config->gridder.is_double ? 8 : 4));
  for (gsize i = 0; i < n; i += 100)
    if (config->gridder.is_double)
      ((double *)model)[i] = 1;
    else
      ((float *)model)[i] = 1;
  return model;
}

static double degrid_seconds(const Imager *imager, const Drift *drift, const AstroGridRows *rows)
{
  const AstroGrid *grid = &imager->config.grid;
  const gboolean is_double = imager->config.gridder.is_double;
  Predicting self = {
    .config = { .visibilities = { .channels = drift->channels,
                                  .baselines = drift->stations * (drift->stations + 1) / 2,
                                  .pols = g_strv_length(grid->products) > 1 ? 2 : 1,
                                  .format = is_double ? ASTRO_FORMAT_CF64LE : ASTRO_FORMAT_CF32LE,
                                  .frequency = drift->frequency + drift->bandwidth / 2,
                                  .bandwidth = drift->bandwidth,
                                  .is_double = is_double },
                .gridder = imager->config.gridder,
                .grid = *grid,
                .scale = 1,
                .subtract = TRUE },
    .dumps = drift->dumps,
  };
  char *one[] = { "I", NULL };
  if (self.config.visibilities.pols == 1)
    self.config.grid.products = one;
  g_autofree gpointer model = make_model(&self.config);
  g_autoptr(AstroObservation) observation = observe(drift->stations);
  self.config.model = model;
  self.stage = stage_of(astro_module_backend("degridder"), queue, &self.config);
  self.block = block_of(astro_degridder_dump_bytes(&self.config) * drift->dumps);
  predicting_call(
      &self, (AstroDegridArguments){ .call = ASTRO_DEGRID_OBSERVE, .observation = observation });
  add_dumps(&self, drift, rows);
  const double seconds = bench_seconds(run_prediction, &self, 5);
  self.stage.backend->destroy(self.stage.instance);
  device->funcs->free(device, self.block.data);
  return seconds;
}

/* ---- cuFFT ---- */

typedef struct {
  const Cufft *cufft;
  int plan, products;
  gsize step;
  guint8 *data;
} Bare;

static void run_cufft(gpointer data)
{
  Bare *bare = data;
  for (int i = 0; i < 4 * bare->products; i++) {
    gpointer plane = bare->data + bare->step * (i % bare->products);
    if (bare->cufft->exec(bare->plan, plane, plane, CUFFT_FORWARD))
      g_error("cuFFT fails");
  }
  wait_for_device();
}

/* Seconds for all products of a plane. */
static double cufft_seconds(const Cufft *cufft, const Imager *self)
{
  const guint n = self->config.grid.size;
  const gboolean is_double = self->config.gridder.is_double;
  Bare bare = { .cufft = cufft,
                .products = (int)g_strv_length(self->config.grid.products),
                .step = (gsize)n * n * (is_double ? 16 : 8),
                .data = self->planes[0][0].data };
  if (cufft->plan_2d(&bare.plan, (int)n, (int)n, is_double ? CUFFT_Z2Z : CUFFT_C2C) ||
      cufft->set_stream(bare.plan, queue))
    g_error("cuFFT does not start");
  const double seconds = bench_seconds(run_cufft, &bare, 5) / 4;
  cufft->destroy(bare.plan);
  return seconds;
}

/* ---- the table ---- */

static gboolean is_wanted(guint row, int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if ((guint)atoi(argv[i]) == row)
      return TRUE;
  return argc == 1;
}

int main(int argc, char **argv)
{
  static const Drift array = { .stations = 64,
                               .radius = 4000,
                               .latitude = -0.54,
                               .declination = -0.8,
                               .frequency = 1.35e9,
                               .bandwidth = 1e8 };
  static const struct {
    double accuracy;
    guint products, channels, dumps;
    double wanted;        /* Mvis/s */
    double wanted_planes; /* gridded a second: of a snapshot, whose planes hold few visibilities */
  } rows[] = {
    { 1e-4, 1, 16, 200, 400, 0 }, { 1e-4, 1, 64, 200, 400, 0 }, { 1e-4, 4, 16, 200, 200, 0 },
    { 1e-4, 4, 64, 200, 200, 0 }, { 1e-7, 4, 16, 200, 60, 0 },  { 1e-7, 4, 64, 200, 60, 0 },
    { 1e-4, 1, 64, 1, 0, 3500 },
  };
  GError *error = NULL;
  Cufft cufft;

  if (!bench_open_device("gridder-gpu"))
    return 0;
  gridding_queue = device->funcs->queue_new(device, &error);
  if (!load_cufft(&cufft)) {
    printf("no cuFFT here\n");
    return 0;
  }
  printf("\nImages of 4096 x 4096 by W-stacking on %s: Mvis/s (all products of a visibility count "
         "once), the same with whole planes, the share that cuFFT alone would take, then "
         "milliseconds of all and of each alone (with the maps of planes in the middle for all of "
         "them), and of degridding, also over the time of all; and planes gridded a second\n"
         "%3s %8s %8s %6s %6s %3s %6s %8s %8s %8s %6s %8s %8s %8s %8s %8s %8s %8s %9s\n",
         device->name, "", "accuracy", "products", "Mvis", "grid", "W", "planes", "Mvis/s",
         "wanted", "whole", "cuFFT", "all", "sorting", "gridding", "FFT", "image", "degrid",
         "of all", "planes/s");
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    Drift observed = array;
    Imager self = { 0 };
    double longest;
    if (!is_wanted(i, argc, argv))
      continue;
    observed.channels = rows[i].channels;
    observed.dumps = rows[i].dumps;
    AstroGridRows observation = make_drift(&observed, &longest);
    imager_open(&self, &observation, longest, rows[i].accuracy, 4096, rows[i].products);
    const double n = (double)drift_rows(&observed) * rows[i].channels;
    const double whole = seconds_of(&self, FALSE, TRUE, TRUE, TRUE);
    const double all = seconds_of(&self, TRUE, TRUE, TRUE, TRUE);
    const double first = bench_seconds(run_first, &self, 5);
    const double gridding = seconds_of(&self, TRUE, TRUE, FALSE, FALSE);
    self.last = self.gridding.result.planes / 2;
    seconds_of(&self, TRUE, TRUE, FALSE, FALSE);
    self.last = 0;
    const double fft = seconds_of(&self, TRUE, FALSE, TRUE, FALSE);
    const double image = seconds_of(&self, TRUE, FALSE, FALSE, TRUE);
    const double limit = cufft_seconds(&cufft, &self) * self.gridding.result.planes;
    const double degrid = degrid_seconds(&self, &observed, &observation);
    const double planes = self.gridding.result.planes / gridding;
    const gboolean is_short = n / all < rows[i].wanted * 1e6 || planes < rows[i].wanted_planes;
    printf(
        "%3u %8g %8u %6.1f %6u %3u %6u %8.1f %8.0f %8.1f %6.2f %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f "
        "%8.2f %9.0f%s\n",
        i, rows[i].accuracy, rows[i].products, n * 1e-6, self.config.grid.size,
        self.config.grid.spread.support, self.gridding.result.planes, n / all * 1e-6,
        rows[i].wanted, n / whole * 1e-6, limit / all, all * 1e3, first * 1e3, gridding * 1e3,
        fft * 1e3, image * 1e3, degrid * 1e3, degrid / all, planes, is_short ? "  SHORT" : "");
    fflush(stdout);
    imager_close(&self);
    clear_drift(&observation);
  }
  device->funcs->queue_free(device, queue);
  device->funcs->queue_free(device, gridding_queue);
  astro_device_unref(device);
  return 0;
}
