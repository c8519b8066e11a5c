/* The stage "gridder" without pipelines: dumps with flags, NaN and visibilities outside the grid
 * become the same grids with every backend. */
#include "core/backend/module.h"
#include "core/gridder/backend.h"
#include "core/stream/uvw.h"
#include "tests/core/on-device.h"
#include "tests/core/gridder/touched.h"
#include "tests/distance.h"
#include "tests/observe.h"
#include "tests/tests.h"

#include <complex.h>
#include <math.h>

enum { SIZE = 24, DUMPS = 5, BLOCK = 3, MOST_GRIDS = 4 };

/* The reference is first; then come CUDA's and OpenCL's, where there are devices, with enough
 * memory and with little. */
static const AstroBackend *backends[7] = { &astro_gridder_reference, &astro_gridder_cpu };

typedef enum { NOTHING, BY_BASELINE, BY_ALL, BY_TIME, N_LOSSES } Losses;

typedef struct {
  const AstroGridAlgorithm *algorithm;
  guint stations, channels, pols;
  char *products; /* joined by ',' */
  AstroFormat format;
  gboolean is_double;
  AstroWeighting weighting;
  gboolean per_channel, cumulative;
  guint interval; /* dumps a grid */
  gboolean off_centre;
  Losses losses;
  double smearing;
  double mirror; /* dumps bring their own (u,v,w): u times that; 0: those of the stations are
                  * used */
} Setting;

static AstroObservation *observe(guint stations)
{
  AstroObservation *observation = test_observe("vla-like", stations);
  observation->phase_ra += 0.4;
  return observation;
}

static guint baselines_of(const Setting *s)
{
  return s->stations * (s->stations + 1) / 2;
}

static gsize dump_values(const Setting *s)
{
  return (gsize)s->channels * baselines_of(s) * s->pols * s->pols;
}

/* The longest baselines reach beyond the grid. */
static void configure(const Setting *s, const AstroObservation *observation, char **products,
                      AstroGridderConfig *config)
{
  GError *error = NULL;
  *config = (AstroGridderConfig){
    .algorithm = s->algorithm,
    .gridder = { .is_double = s->is_double,
                 .channels = s->per_channel ? s->channels : 1,
                 .accuracy = s->is_double ? 1e-9 : 1e-3,
                 .oversampling = 8,
                 .taper = ASTRO_SPREAD_KAISER_BESSEL },
    .grid = { .image_size = SIZE, .products = products },
    .prepare = { .channels = s->channels,
                 .baselines = baselines_of(s),
                 .pols = s->pols,
                 .format = s->format,
                 .frequency = 150e6,
                 .bandwidth = 30e6,
                 .is_double = s->is_double,
                 .keep_weights = s->weighting != ASTRO_WEIGHTING_NATURAL,
                 .smearing = s->smearing },
    .weighting = s->weighting,
    .robust = 0.3,
    .per_channel = s->per_channel,
    .cumulative = s->cumulative,
  };
  config->grid.pixel = 0.7 / astro_prepare_longest(&config->prepare, observation);
  config->gridder.longest = astro_prepare_longest(&config->prepare, observation);
  if (s->off_centre) {
    config->grid.centre_l = 0.02;
    config->grid.centre_m = -0.01;
  }
  g_assert_true(s->algorithm->choose(&config->gridder, &config->grid, &error));
}

/* ---- visibilities ---- */

static void put(const Setting *s, gpointer dumps, gsize at, complex double value)
{
  if (s->format == ASTRO_FORMAT_CF64LE)
    ((complex double *)dumps)[at] = value;
  else
    ((complex float *)dumps)[at] = (complex float)value;
}

/* Some are not finite, in all products or in one. */
static gpointer make_dumps(const Setting *s, GRand *random)
{
  const gsize n = dump_values(s) * DUMPS;
  gpointer dumps = g_malloc(n * (s->format == ASTRO_FORMAT_CF64LE ? 16 : 8));
  for (gsize i = 0; i < n; i++) {
    const double re = g_rand_double_range(random, -1, 1), im = g_rand_double_range(random, -1, 1);
    const guint fate = (guint)g_rand_int_range(random, 0, 50);
    put(s, dumps, i,
        fate == 0   ? NAN
        : fate == 1 ? __builtin_complex(re, -(double)INFINITY)
                    : re + I * im);
  }
  return dumps;
}

static void make_shape(const Setting *s, guint dumps, AstroLayout *shape)
{
  const AstroStream stream = {
    .layout = { .n_axes = 4,
                .axes = { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE, ASTRO_AXIS_POL, ASTRO_AXIS_POL },
                .extents = { s->channels, baselines_of(s), s->pols, s->pols } }
  };
  astro_stream_shape(&stream, dumps, shape);
}

/* Counts out of 7 samples, whose fractions are not exact in binary. */
static void lose(const Setting *s, GstBuffer *buffer, const AstroLayout *shape, GRand *random)
{
  AstroLayout counted = { .n_axes = 1,
                          .axes = { ASTRO_AXIS_BASELINE },
                          .extents = { baselines_of(s) } };
  if (s->losses == NOTHING)
    return;
  if (s->losses == BY_ALL)
    counted = *shape;
  if (s->losses == BY_TIME && shape->n_axes == 5)
    counted = (AstroLayout){ .n_axes = 2,
                             .axes = { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL },
                             .extents = { shape->extents[0], s->channels } };
  AstroValidityMeta *validity = astro_buffer_add_validity(buffer, &counted, 7);
  const guint64 n = astro_validity_n_counts(validity);
  for (guint64 i = 0; i < n; i++)
    validity->counts[i] = (guint32)MAX(g_rand_int_range(random, -2, 8), 0);
}

/* ---- grids of them ---- */

typedef struct {
  AstroGridCounts counts;
  double *sums;
  double w_step;
  GByteArray *planes;
} Grid;

typedef struct {
  const Setting *setting;
  const AstroBackend *backend;
  gpointer instance;
  gsize bytes, map_bytes; /* map_bytes: 0 if no map is asked for */
  gsize untouched;        /* cells */
  AstroGridderPlan *plan; /* of memory; NULL: all are kept there */
  gpointer open;
  gboolean open_is_new;
  Grid grids[MOST_GRIDS];
  guint n;
  AstroResult result;
} Run;

static void clear_run(Run *run)
{
  for (guint i = 0; i < run->n; i++) {
    g_free(run->grids[i].sums);
    g_byte_array_unref(run->grids[i].planes);
  }
}

static void submit(Run *run, gpointer in, gsize in_bytes, gpointer out,
                   const AstroGridderArguments *arguments)
{
  const AstroBlock from = { in, in_bytes }, to = { out, run->bytes };
  GError *error = NULL;
  run->backend->submit(run->instance, &from, in != NULL, &to, out != NULL, arguments, &run->result,
                       &error);
  g_assert_no_error(error);
}

static void ask(Run *run, AstroGridCall call)
{
  submit(run, NULL, 0, NULL, &(AstroGridderArguments){ .call = call });
}

/* Into a block of NaN. */
static void plane_with_map(Run *run, gpointer plane, const AstroGridderArguments *arguments)
{
  const Setting *s = run->setting;
  const guint channels = s->per_channel ? s->channels : 1;
  const gsize cell = s->is_double ? 16 : 8, tiles = (gsize)sqrt(run->map_bytes / channels);
  guint8 *map = test_alloc(run->map_bytes);
  const AstroBlock out[] = { { plane, run->bytes }, { map, run->map_bytes } };
  GError *error = NULL;
  g_auto(GStrv) products = g_strsplit(s->products, ",", -1);
  const gsize grids = g_strv_length(products) * channels;
  const gsize size = (gsize)sqrt(run->bytes / cell / grids);
  g_assert_cmpuint(astro_grid_tiles((guint)size), ==, tiles);
  memset(plane, 0xff, run->bytes);
  run->backend->submit(run->instance, NULL, 0, out, 2, arguments, &run->result, &error);
  g_assert_no_error(error);
  test_check_guard(map, run->map_bytes);
  run->untouched += test_blank_untouched(plane, grids, grids / channels, map, size, size, cell);
  test_free(map);
}

static void plane_of(Run *run, Grid *grid)
{
  AstroGridderArguments arguments = { .call = ASTRO_GRID_PLANE, .is_new = run->open_is_new };
  gpointer plane = test_alloc(run->bytes);
  if (run->open)
    submit(run, NULL, 0, run->open, &arguments);
  run->open_is_new = FALSE;
  if (run->open)
    arguments.call = ASTRO_GRID_COPY;
  if (run->map_bytes)
    plane_with_map(run, plane, &arguments);
  else
    submit(run, run->open, run->open ? run->bytes : 0, plane, &arguments);
  grid->w_step = run->result.w_step;
  test_check_guard(plane, run->bytes);
  g_byte_array_append(grid->planes, plane, (guint)run->bytes);
  test_free(plane);
  if (!run->setting->cumulative)
    g_clear_pointer(&run->open, test_free);
}

static void send_grid(Run *run)
{
  Grid *grid = &run->grids[run->n++];
  const guint channels = run->setting->per_channel ? run->setting->channels : 1;
  *grid = (Grid){ .sums = g_new(double, channels), .planes = g_byte_array_new() };
  ask(run, ASTRO_GRID_COUNT);
  ask(run, ASTRO_GRID_BEGIN);
  for (guint plane = 0; plane < run->result.planes; plane++)
    plane_of(run, grid);
  run->result.sums = grid->sums;
  ask(run, ASTRO_GRID_COUNT);
  run->result.sums = NULL;
  grid->counts = run->result.grid_counts;
  ask(run, ASTRO_GRID_END);
}

/* The (u,v,w) that dumps bring, to be freed; NULL: they bring none. */
static double *bring_uvw(const Setting *s, gint64 middle_ns)
{
  g_autoptr(AstroObservation) observation = observe(s->stations);
  g_autofree double *places = g_new(double, 3 * s->stations);
  double *uvw = s->mirror ? g_new0(double, 3 * baselines_of(s)) : NULL;
  astro_uvw(observation, middle_ns, places);
  for (guint i = 0; uvw && i < s->stations; i++)
    for (guint j = 0; j < i; j++)
      for (guint k = 0; k < 3; k++)
        uvw[3 * (i * (i + 1) / 2 + j) + k] =
            (places[3 * i + k] - places[3 * j + k]) * (k ? 1 : s->mirror);
  return uvw;
}

static void add_dumps(Run *run, gpointer dumps, GRand *random)
{
  const Setting *s = run->setting;
  const gsize bytes = dump_values(s) * (s->format == ASTRO_FORMAT_CF64LE ? 16 : 8);
  for (guint first = 0; first < DUMPS; first += BLOCK) {
    const guint n = MIN(DUMPS - first, BLOCK);
    AstroLayout shape;
    GstBuffer *buffer = gst_buffer_new();
    make_shape(s, n, &shape);
    lose(s, buffer, &shape, random);
    for (guint i = 0; i < n; i++) {
      const gint64 middle_ns = (first + i) * G_GINT64_CONSTANT(90000000000);
      g_autofree double *uvw = bring_uvw(s, middle_ns);
      AstroGridderArguments arguments = { .call = ASTRO_GRID_ADD,
                                          .validity = astro_buffer_get_validity(buffer),
                                          .shape = &shape,
                                          .number = i,
                                          .middle_ns = middle_ns,
                                          .uvw = uvw };
      if (!run->open && run->bytes && run->result.adds_at_once) {
        run->open = test_alloc(run->bytes);
        run->open_is_new = TRUE;
      }
      arguments.is_new = run->open_is_new;
      submit(run, (char *)dumps + first * bytes, n * bytes, run->open, &arguments);
      run->open_is_new = FALSE;
      if (first + i + 1 == DUMPS)
        ask(run, ASTRO_GRID_MISS);
      if ((first + i + 1) % s->interval == 0 || first + i + 1 == DUMPS)
        send_grid(run);
    }
    gst_buffer_unref(buffer);
  }
}

static void grid_planned(Run *run, const Setting *s, const AstroBackend *backend, gpointer dumps,
                         guint32 seed, gboolean with_maps, AstroGridderPlan *plan)
{
  const AstroPlace place = { .threads = 2 };
  g_autoptr(GRand) random = g_rand_new_with_seed(seed);
  g_autoptr(AstroObservation) observation = observe(s->stations);
  g_auto(GStrv) products = g_strsplit(s->products, ",", -1);
  AstroGridderConfig config;
  const char *variant;
  GError *error = NULL;
  configure(s, observation, products, &config);
  *run = (Run){ .setting = s, .backend = backend, .bytes = astro_gridder_grid_bytes(&config) };
  run->map_bytes = with_maps ? astro_gridder_map_bytes(&config) : 0;
  g_assert_true(backend->shape(&config, &error));
  run->instance = backend->create(&config, &place, &variant, &error);
  g_assert_no_error(error);
  submit(run, NULL, 0, NULL,
         &(AstroGridderArguments){
             .call = ASTRO_GRID_OBSERVE, .observation = observation, .plan = plan });
  add_dumps(run, dumps, random);
  g_clear_pointer(&run->open, test_free);
  backend->destroy(run->instance);
}

static void grid_all(Run *run, const Setting *s, const AstroBackend *backend, gpointer dumps,
                     guint32 seed, gboolean with_maps)
{
  grid_planned(run, s, backend, dumps, seed, with_maps, NULL);
}

static void assert_alike(const Setting *s, const Grid *found, const Grid *expected)
{
  g_assert_cmpmem(&found->counts, sizeof found->counts, &expected->counts, sizeof found->counts);
  for (guint c = 0; c < (s->per_channel ? s->channels : 1); c++)
    g_assert_cmpfloat(fabs(found->sums[c] - expected->sums[c]), <=, 1e-12 * expected->sums[c]);
  g_assert_cmpfloat(found->w_step, ==, expected->w_step);
  /* W-stacking's kernels approximate the function by polynomials, as well as the accuracy needs. */
  const double most = s->algorithm->has_planes ? 2e-11 : 1e-12;
  g_assert_cmpfloat(test_bytes_distance(found->planes, expected->planes, s->is_double), <=,
                    s->is_double ? most : 1e-5);
}

static const Setting settings[] = {
  { .stations = 7, .channels = 11, .pols = 2, .products = "I,PSF", .interval = 5 },
  { .stations = 7,
    .channels = 3,
    .pols = 2,
    .products = "XX,XY,YX,YY",
    .interval = 2,
    .losses = BY_ALL,
    .is_double = TRUE,
    .format = ASTRO_FORMAT_CF64LE },
  { .stations = 4,
    .channels = 9,
    .pols = 2,
    .products = "I,Q,U,V,PSF",
    .interval = 2,
    .cumulative = TRUE,
    .losses = BY_TIME,
    .off_centre = TRUE },
  { .stations = 13,
    .channels = 8,
    .pols = 2,
    .products = "I",
    .interval = 5,
    .is_double = TRUE,
    .weighting = ASTRO_WEIGHTING_UNIFORM,
    .losses = BY_BASELINE },
  { .stations = 9,
    .channels = 17,
    .pols = 1,
    .products = "XX",
    .interval = 3,
    .weighting = ASTRO_WEIGHTING_BRIGGS,
    .losses = BY_ALL,
    .format = ASTRO_FORMAT_CF64LE },
  { .stations = 5,
    .channels = 5,
    .pols = 2,
    .products = "YY,PSF",
    .interval = 2,
    .per_channel = TRUE,
    .cumulative = TRUE,
    .weighting = ASTRO_WEIGHTING_BRIGGS,
    .losses = BY_TIME,
    .is_double = TRUE,
    .off_centre = TRUE },
  { .stations = 33,
    .channels = 1,
    .pols = 2,
    .products = "XY,V",
    .interval = 5,
    .per_channel = TRUE,
    .losses = BY_BASELINE },
  { .stations = 6,
    .channels = 4,
    .pols = 2,
    .products = "I,PSF",
    .interval = 5,
    .is_double = TRUE,
    .mirror = -1 },
  { .stations = 5, /* several channels are added up */
    .channels = 61,
    .pols = 2,
    .products = "I,PSF",
    .interval = 3,
    .weighting = ASTRO_WEIGHTING_UNIFORM,
    .losses = BY_ALL,
    .smearing = 0.45 },
};

/* (u,v,w) that dumps bring are used, whether they are those of the stations or not. */
static void test_brought(gconstpointer data)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(77);
  Setting s = { .algorithm = data,
                .stations = 6,
                .channels = 4,
                .pols = 2,
                .products = "I,PSF",
                .interval = 5,
                .format = ASTRO_FORMAT_CF32LE };
  g_autofree gpointer dumps = make_dumps(&s, random);
  Run own, same, mirrored;
  grid_all(&own, &s, &astro_gridder_cpu, dumps, 0, FALSE);
  s.mirror = 1;
  grid_all(&same, &s, &astro_gridder_cpu, dumps, 0, FALSE);
  assert_alike(&s, &same.grids[0], &own.grids[0]);
  s.mirror = -1;
  grid_all(&mirrored, &s, &astro_gridder_cpu, dumps, 0, FALSE);
  g_assert_cmpuint(mirrored.grids[0].counts.used, >, 0);
  g_assert_true(mirrored.grids[0].planes->len != own.grids[0].planes->len ||
                test_bytes_distance(mirrored.grids[0].planes, own.grids[0].planes, FALSE) > 0.1);
  clear_run(&own);
  clear_run(&same);
  clear_run(&mirrored);
}

static void test_backends(gconstpointer data)
{
  const AstroGridAlgorithm *algorithm = data;
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    g_autoptr(GRand) random = g_rand_new_with_seed(31 + i);
    Setting s = settings[i];
    Run expected, found;
    s.algorithm = algorithm;
    s.format = s.format ? s.format : ASTRO_FORMAT_CF32LE;
    g_autofree gpointer dumps = make_dumps(&s, random);
    grid_all(&expected, &s, backends[0], dumps, i, FALSE);
    g_assert_cmpuint(expected.grids[0].counts.used, >, 0);
    g_assert_cmpuint(expected.grids[0].counts.outside, >, 0);
    g_assert_cmpuint(expected.grids[0].counts.not_finite, >, 0);
    for (guint b = 1; backends[b]; b++) {
      g_test_message("setting %u, %s", i, astro_backend_kind_name(backends[b]->kind));
      grid_all(&found, &s, backends[b], dumps, i, FALSE);
      g_assert_cmpuint(found.n, ==, expected.n);
      for (guint k = 0; k < found.n; k++)
        assert_alike(&s, &found.grids[k], &expected.grids[k]);
      clear_run(&found);
    }
    clear_run(&expected);
  }
}

/* With all rows in a file, of which few are in memory at once, and few visibilities sorted: weights
 * and counts are the same to the last bit; grids are added up in another order, and are the same to
 * a few of their last bits. */
static void test_in_file(gconstpointer data)
{
  const AstroGridAlgorithm *algorithm = data;
  static const AstroGridderPlan plans[] = {
    { .most_rows = 1, .part_rows = 1, .most_sorted = 1000000000 },
    { .most_rows = 1, .part_rows = 50, .most_sorted = 300 },
    { .most_rows = 200, .part_rows = 1, .most_sorted = 1 },
    { .most_rows = 25, .part_rows = 20, .most_sorted = 100 }, /* after the first grid */
  };
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    for (guint k = 0; k < G_N_ELEMENTS(plans); k++) {
      g_autoptr(GRand) random = g_rand_new_with_seed(31 + i);
      AstroGridderPlan plan = plans[k];
      Setting s = settings[i];
      Run expected, found;
      s.algorithm = algorithm;
      s.format = s.format ? s.format : ASTRO_FORMAT_CF32LE;
      g_autofree gpointer dumps = make_dumps(&s, random);
      g_test_message("setting %u, plan %u", i, k);
      grid_all(&expected, &s, &astro_gridder_cpu, dumps, i, k == 1 && algorithm->has_planes);
      grid_planned(&found, &s, &astro_gridder_cpu, dumps, i, k == 1 && algorithm->has_planes,
                   &plan);
      g_assert_cmpuint(found.n, ==, expected.n);
      for (guint g = 0; g < found.n; g++) {
        const guint channels = s.per_channel ? s.channels : 1;
        g_assert_cmpmem(&found.grids[g].counts, sizeof found.grids[g].counts,
                        &expected.grids[g].counts, sizeof found.grids[g].counts);
        g_assert_cmpmem(found.grids[g].sums, channels * sizeof(double), expected.grids[g].sums,
                        channels * sizeof(double));
        g_assert_cmpuint(found.grids[g].planes->len, ==, expected.grids[g].planes->len);
        g_assert_cmpfloat(
            test_bytes_distance(found.grids[g].planes, expected.grids[g].planes, s.is_double), <=,
            s.is_double ? 1e-14 : 1e-6);
      }
      clear_run(&expected);
      clear_run(&found);
    }
  }
}

/* With maps of touched tiles, with every backend; a device that makes products one by one marks all
 * tiles. */
static void test_maps(void)
{
  gsize untouched = 0;
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    g_autoptr(GRand) random = g_rand_new_with_seed(31 + i);
    Setting s = settings[i];
    Run expected, found;
    s.algorithm = &astro_wstacking;
    s.format = s.format ? s.format : ASTRO_FORMAT_CF32LE;
    g_autofree gpointer dumps = make_dumps(&s, random);
    grid_all(&expected, &s, backends[0], dumps, i, FALSE);
    for (guint b = 0; backends[b]; b++) {
      grid_all(&found, &s, backends[b], dumps, i, TRUE);
      for (guint k = 0; k < found.n; k++)
        assert_alike(&s, &found.grids[k], &expected.grids[k]);
      untouched += b < 2 ? found.untouched : 0;
      clear_run(&found);
    }
    clear_run(&expected);
  }
  g_assert_cmpuint(untouched, >, 0);
}

/* A map that is too small, and one of an algorithm that has no planes. */
static void test_refused_maps(void)
{
  for (guint i = 0; i < 2; i++) {
    Setting s = settings[0];
    s.algorithm = i ? &astro_wprojection : &astro_wstacking;
    s.format = ASTRO_FORMAT_CF32LE;
    g_autoptr(AstroObservation) observation = observe(s.stations);
    g_auto(GStrv) products = g_strsplit(s.products, ",", -1);
    const AstroPlace place = { .threads = 1 };
    AstroGridderConfig config;
    AstroGridderArguments arguments = { .call = ASTRO_GRID_PLANE };
    const char *variant;
    g_autoptr(GError) error = NULL;
    configure(&s, observation, products, &config);
    gpointer instance = astro_gridder_cpu.create(&config, &place, &variant, &error);
    const gsize map_bytes = astro_gridder_map_bytes(&config);
    g_assert_cmpuint(map_bytes > 0, ==, i == 0);
    const AstroBlock out[] = { { NULL, astro_gridder_grid_bytes(&config) },
                               { &arguments, i ? 1000 : map_bytes - 1 } };
    g_assert_false(astro_gridder_cpu.submit(instance, NULL, 0, out, 2, &arguments, NULL, &error));
    g_assert_nonnull(strstr(error->message, "map of touched tiles"));
    astro_gridder_cpu.destroy(instance);
  }
}

/* ---- a device without room for all products ---- */

/* ---- work that is given up ---- */

static gboolean asked_often(gpointer left)
{
  return g_atomic_int_add((gint *)left, -1) <= 0;
}

/* One grid of all dumps, by an instance whose work is given up after that many questions. FALSE: it
 * was, with an error. */
static gboolean grid_until(const Setting *s, gpointer dumps, gint asks)
{
  const AstroStop stop = { asked_often, &asks };
  const AstroPlace place = { .threads = 2, .stop = &stop };
  const gsize bytes = dump_values(s) * 8;
  g_autoptr(AstroObservation) observation = observe(s->stations);
  g_auto(GStrv) products = g_strsplit(s->products, ",", -1);
  AstroGridderConfig config;
  const char *variant;
  GError *error = NULL;
  AstroLayout shape;
  AstroResult result = { .planes = 1 };
  configure(s, observation, products, &config);
  make_shape(s, 1, &shape);
  gpointer gridder = astro_gridder_cpu.create(&config, &place, &variant, &error);
  const gsize grid_bytes = astro_gridder_grid_bytes(&config);
  gpointer grid = test_alloc(grid_bytes);
  const AstroBlock out = { grid, grid_bytes };
  const AstroGridderArguments observe_it = { .call = ASTRO_GRID_OBSERVE,
                                             .observation = observation },
                              begin_it = { .call = ASTRO_GRID_BEGIN };
  astro_stop_set(&stop);
  gboolean ok = astro_gridder_cpu.submit(gridder, NULL, 0, NULL, 0, &observe_it, NULL, &error) &&
                astro_backend_goes_on(&error);
  for (guint i = 0; i < DUMPS && ok; i++) {
    const AstroBlock in = { (char *)dumps + i * bytes, bytes };
    AstroGridderArguments arguments = { .call = ASTRO_GRID_ADD, .shape = &shape, .is_new = i == 0 };
    ok = astro_gridder_cpu.submit(gridder, &in, 1, &out, 1, &arguments, NULL, &error) &&
         astro_backend_goes_on(&error);
  }
  ok = ok && astro_gridder_cpu.submit(gridder, NULL, 0, NULL, 0, &begin_it, &result, &error) &&
       astro_backend_goes_on(&error);
  for (guint plane = 0; plane < result.planes && ok; plane++) {
    AstroGridderArguments arguments = { .call = ASTRO_GRID_PLANE };
    ok = astro_gridder_cpu.submit(gridder, NULL, 0, &out, 1, &arguments, NULL, &error) &&
         astro_backend_goes_on(&error);
  }
  astro_stop_set(NULL);
  astro_gridder_cpu.destroy(gridder);
  test_check_guard(grid, grid_bytes);
  test_free(grid);
  if (ok)
    return TRUE;
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_GIVEN_UP);
  g_clear_error(&error);
  return FALSE;
}

/* Wherever it is given up the instance stays usable, and there is an error. */
static void test_given_up(gconstpointer algorithm)
{
  static const AstroWeighting weightings[] = { ASTRO_WEIGHTING_NATURAL, ASTRO_WEIGHTING_UNIFORM };
  for (guint w = 0; w < G_N_ELEMENTS(weightings); w++) {
    const Setting s = { .algorithm = algorithm,
                        .stations = 7,
                        .channels = 11,
                        .pols = 2,
                        .products = (char *)"I,PSF",
                        .format = ASTRO_FORMAT_CF32LE,
                        .interval = DUMPS,
                        .weighting = weightings[w] };
    g_autoptr(GRand) random = g_rand_new_with_seed(5);
    g_autofree gpointer dumps = make_dumps(&s, random);
    gint asks = 0, given_up = 0;
    for (gint step = 1; !grid_until(&s, dumps, asks); asks += step, step += 1 + step / 4)
      given_up++;
    g_test_message("%d times, up to %d questions", given_up, asks);
    g_assert_cmpint(given_up, >, 5);
    g_assert_true(grid_until(&s, dumps, G_MAXINT));
  }
}

/* A device and how it is made to look small. */
typedef struct {
  const AstroBackend *backend; /* NULL: there is no such device */
  AstroBackendKind kind;
  const char *limit;
} Small;
static Small small_cuda = { .kind = ASTRO_BACKEND_CUDA, .limit = "ASTRO_CUDA_MEMORY" },
             small_opencl = { .kind = ASTRO_BACKEND_OPENCL, .limit = "ASTRO_OPENCL_MEMORY" };

static gpointer create_limited(const Small *small, gconstpointer config, const AstroPlace *place,
                               const char **variant, gsize limit, GError **error)
{
  g_autofree char *text = g_strdup_printf("%" G_GSIZE_FORMAT, limit);
  g_setenv(small->limit, text, TRUE);
  gpointer instance = small->backend->create(config, place, variant, error);
  g_unsetenv(small->limit);
  return instance;
}

/* With exactly the memory that it says is needed at least. */
static gpointer create_short(const Small *small, const AstroGridderConfig *config,
                             const AstroPlace *place, const char **variant, GError **error)
{
  g_autoptr(AstroDevice) device = astro_device_open_of(small->kind, 0, NULL);
  g_autoptr(GError) refused = NULL;
  AstroDeviceMemory memory;
  g_assert_true(device->funcs->memory(device, &memory, NULL));
  g_assert_null(create_limited(small, config, place, variant, memory.ours + 1, &refused));
  g_assert_error(refused, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY);
  const char *needs = strstr(refused->message, "needs ");
  g_assert_nonnull(needs);
  const guint64 needed = g_ascii_strtoull(needs + strlen("needs "), NULL, 10);
  g_assert_null(create_limited(small, config, place, variant, memory.ours + needed, NULL));
  gpointer instance =
      create_limited(small, config, place, variant, memory.ours + needed + 1, error);
  const gboolean is_split = strstr(refused->message, "one product at a time") != NULL;
  /* W-projection's records take as much memory for one product, and all of these grids take
   * less. */
  if (g_strv_length(config->grid.products) > 1 && config->algorithm != &astro_wprojection)
    g_assert_true(is_split);
  g_assert_nonnull(instance);
  g_assert_true(small->backend->host_out(instance) == is_split);
  return instance;
}

static gpointer create_short_cuda(gconstpointer config, const AstroPlace *place,
                                  const char **variant, GError **error)
{
  return create_short(&small_cuda, config, place, variant, error);
}

static gpointer create_short_opencl(gconstpointer config, const AstroPlace *place,
                                    const char **variant, GError **error)
{
  return create_short(&small_opencl, config, place, variant, error);
}

/* Lists a device's backend, and the same on a device that looks small. */
static void add_device(guint *n, Small *small, AstroBackend *of_small,
                       gpointer (*create)(gconstpointer config, const AstroPlace *place,
                                          const char **variant, GError **error))
{
  if (!small->backend)
    return;
  *of_small = *small->backend;
  of_small->create = create;
  backends[(*n)++] = small->backend;
  backends[(*n)++] = of_small;
}

static void lack(const AstroBackend *backend, const AstroGridAlgorithm *algorithm, GError **error)
{
  Setting s = settings[0];
  s.algorithm = algorithm;
  s.format = ASTRO_FORMAT_CF32LE;
  g_autoptr(AstroObservation) observation = observe(s.stations);
  g_auto(GStrv) products = g_strsplit(s.products, ",", -1);
  const AstroPlace place = { .threads = 1 };
  AstroGridderConfig config;
  const char *variant;
  configure(&s, observation, products, &config);
  g_assert_null(backend->create(&config, &place, &variant, error));
}

/* Observes with so many bytes of the host; FALSE: refused, for they are too few. */
static gboolean plans(const AstroBackend *backend, guint64 budget, guint64 *least)
{
  Setting s = settings[0];
  s.algorithm = &astro_wstacking;
  s.format = ASTRO_FORMAT_CF32LE;
  g_autoptr(AstroObservation) observation = observe(s.stations);
  g_auto(GStrv) products = g_strsplit(s.products, ",", -1);
  const AstroPlace place = { .threads = 1 };
  const AstroGridderMemory memory = { .budget = budget, .dumps = DUMPS };
  AstroGridderPlan plan;
  const AstroGridderArguments arguments = {
    .call = ASTRO_GRID_OBSERVE, .observation = observation, .memory = &memory, .plan = &plan
  };
  AstroGridderConfig config;
  const char *variant;
  g_autoptr(GError) error = NULL;
  configure(&s, observation, products, &config);
  gpointer instance = backend->create(&config, &place, &variant, NULL);
  const gboolean ok = backend->submit(instance, NULL, 0, NULL, 0, &arguments, NULL, &error);
  backend->destroy(instance);
  *least = plan.least;
  if (ok)
    return TRUE;
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY);
  g_assert_nonnull(strstr(error->message, "and max-memory allows"));
  return FALSE;
}

/* Where a device's memory is the host's, the host's limit is for what the device holds too. */
static void test_opencl_plan(gconstpointer backend)
{
  g_autoptr(AstroDevice) device = test_find_opencl(NULL);
  const guint64 grid = (guint64)SIZE * SIZE * 2 * 8;
  guint64 least;
  g_assert_true(plans(backend, G_MAXUINT64, &least));
  if (!device->on_host) {
    g_assert_cmpuint(least, ==, 0);
    return;
  }
  g_assert_cmpuint(least, >=, grid);
  g_assert_true(plans(backend, least, &least));
  g_assert_false(plans(backend, least - 1, &least));
  g_assert_false(plans(&astro_gridder_cpu, grid - 1, &least));
}

/* An OpenCL device that lacks something says so before there are visibilities: auto goes on. */
static void test_opencl_lacks(gconstpointer backend)
{
  static const AstroGridAlgorithm *const algorithms[] = { &astro_direct, &astro_wprojection,
                                                          &astro_wstacking };
  static const struct {
    const char *variable, *value, *says;
    AstroBackendError code;
  } cases[] = {
    { "ASTRO_OPENCL_DOUBLES", "no", "double precision", ASTRO_BACKEND_ERROR_SHAPE },
    { "ASTRO_OPENCL_MEMORY", "10K", "products and 1 channels needs", ASTRO_BACKEND_ERROR_MEMORY },
    { "ASTRO_OPENCL_OPTIONS", "-Dreturn=if", "does not compile gridder",
      ASTRO_BACKEND_ERROR_DEVICE },
  };
  /* Devices stay open: one without doubles is for another process. */
  const gboolean is_other = g_test_subprocess();
  for (guint i = is_other ? 0 : 1; i < (is_other ? 1 : G_N_ELEMENTS(cases)); i++)
    for (guint k = 0; k < G_N_ELEMENTS(algorithms); k++) {
      g_autoptr(GError) error = NULL;
      g_setenv(cases[i].variable, cases[i].value, TRUE);
      lack(backend, algorithms[k], &error);
      g_unsetenv(cases[i].variable);
      g_assert_error(error, ASTRO_BACKEND_ERROR, (gint)cases[i].code);
      g_assert_nonnull(strstr(error->message, cases[i].says));
    }
  if (is_other)
    return;
  /* Nothing is left of these, and of the cases before. */
  g_autoptr(AstroDevice) device = test_find_opencl(NULL);
  AstroDeviceMemory memory;
  g_assert_true(device->funcs->memory(device, &memory, NULL));
  g_assert_cmpuint(memory.ours, ==, 0);
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed();
}

static void add_tests(void)
{
  static AstroBackend short_cuda, short_opencl;
  guint n = 2;
  if (g_test_subprocess())
    g_setenv("ASTRO_OPENCL_DOUBLES", "no", TRUE);
  small_opencl.backend = test_on_opencl("gridder");
  small_cuda.backend = test_on_device("gridder");
  add_device(&n, &small_cuda, &short_cuda, create_short_cuda);
  add_device(&n, &small_opencl, &short_opencl, create_short_opencl);
  g_test_add_data_func("/gridder-calls/direct", &astro_direct, test_backends);
  g_test_add_data_func("/gridder-calls/wprojection", &astro_wprojection, test_backends);
  g_test_add_data_func("/gridder-calls/wstacking", &astro_wstacking, test_backends);
  g_test_add_data_func("/gridder-calls/given-up/direct", &astro_direct, test_given_up);
  g_test_add_data_func("/gridder-calls/given-up/wprojection", &astro_wprojection, test_given_up);
  g_test_add_data_func("/gridder-calls/given-up/wstacking", &astro_wstacking, test_given_up);
  g_test_add_data_func("/gridder-calls/brought/direct", &astro_direct, test_brought);
  g_test_add_data_func("/gridder-calls/brought/wprojection", &astro_wprojection, test_brought);
  g_test_add_data_func("/gridder-calls/brought/wstacking", &astro_wstacking, test_brought);
  g_test_add_data_func("/gridder-calls/in-file/direct", &astro_direct, test_in_file);
  g_test_add_data_func("/gridder-calls/in-file/wprojection", &astro_wprojection, test_in_file);
  g_test_add_data_func("/gridder-calls/in-file/wstacking", &astro_wstacking, test_in_file);
  g_test_add_func("/gridder-calls/maps", test_maps);
  test_add_on_device("/gridder-calls/opencl-lacks", small_opencl.backend, test_opencl_lacks);
  test_add_on_device("/gridder-calls/opencl-plan", small_opencl.backend, test_opencl_plan);
  g_test_add_func("/gridder-calls/maps/refused", test_refused_maps);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
