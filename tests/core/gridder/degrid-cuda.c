/* Degridding on the device, by the calls of its stage: as accurate as it is asked for against the
 * formula, adjoint to the device's gridder, whatever the memory that it may use. */
#include "core/gridder/degrid/degridder.h"
#include "core/lib/spread/semicircle.h"
#include "tests/core/gridder/degridding.h"

#define FREQUENCY 150e6
#define BANDWIDTH 20e6

static const AstroBackend *on_device;

typedef struct {
  AstroDegridderConfig config;
  AstroObservation *observation;
  guint dumps, n_products;
  double *uvw; /* [dump][baseline][3], metres */
  double *model;
  gpointer in;
  gsize bytes;          /* of all dumps */
  AstroPlace place;     /* for the reference */
  gboolean is_in_place; /* the blocks in and out are one */
} Setting;

typedef struct {
  guint stations, dumps, channels, model_channels, pols, size;
  const char *products;
  double field, w; /* of the image, radians; wavelengths */
  gboolean is_double;
} Shape;

static AstroObservation *observe(guint stations)
{
  AstroObservation *observation = astro_observation_new(stations);
  for (guint i = 0; i < 3 * stations; i++)
    observation->positions[i] = 4e6 + 100 * i;
  g_assert_true(astro_observation_set_start(observation, "2026-11-20T12:00:00", NULL));
  observation->has_phase_centre = TRUE;
  observation->phase_ra = 3;
  observation->phase_dec = 0.9;
  return observation;
}

static double highest_wavenumber(guint channels)
{
  return (FREQUENCY + BANDWIDTH / 2 * (1 - 1.0 / channels)) / ASTRO_LIGHT_SPEED;
}

/* Half of all baselines are seen from their other end, and their w are negative. */
static void fill_uvw(Setting *s, const Shape *shape, GRand *random)
{
  const gsize n = (gsize)s->dumps * s->config.visibilities.baselines;
  const double per = highest_wavenumber(shape->channels);
  s->uvw = g_new(double, 3 * n);
  for (gsize i = 0; i < 3 * n; i++) {
    const double most = i % 3 < 2 ? 0.27 / s->config.grid.pixel : shape->w;
    s->uvw[i] = g_rand_double_range(random, -most, most) / per;
  }
}

static void setting_make(Setting *s, const Shape *shape, GRand *random)
{
  const guint baselines = shape->stations * (shape->stations + 1) / 2;
  *s = (Setting){ .dumps = shape->dumps, .observation = observe(shape->stations) };
  char **products = g_strsplit(shape->products, ":", -1);
  s->n_products = g_strv_length(products);
  s->config = (AstroDegridderConfig){
    .visibilities = { .channels = shape->channels,
                      .baselines = baselines,
                      .pols = shape->pols,
                      .format = shape->is_double ? ASTRO_FORMAT_CF64LE : ASTRO_FORMAT_CF32LE,
                      .frequency = FREQUENCY,
                      .bandwidth = BANDWIDTH,
                      .is_double = shape->is_double },
    .gridder = { .is_double = shape->is_double,
                 .channels = shape->model_channels,
                 .accuracy = 1e-4 },
    .grid = { .image_size = shape->size,
              .pixel = shape->field / shape->size,
              .products = products },
    .scale = 0.5,
  };
  fill_uvw(s, shape, random);
  TestSetting images = { .grid = s->config.grid, .rows = { .products = s->n_products } };
  s->model = test_random_model(&images, random, shape->model_channels);
  s->bytes = (gsize)s->dumps * astro_degridder_dump_bytes(&s->config);
  s->in = test_alloc(s->bytes);
  for (gsize i = 0; i < s->bytes / (shape->is_double ? 8 : 4); i++)
    if (shape->is_double)
      ((double *)s->in)[i] = g_rand_double_range(random, -1, 1);
    else
      ((float *)s->in)[i] = (float)g_rand_double_range(random, -1, 1);
}

static void setting_clear(Setting *s)
{
  astro_observation_unref(s->observation);
  g_strfreev(s->config.grid.products);
  g_free(s->uvw);
  g_free(s->model);
  test_free(s->in);
}

/* ---- calls ---- */

typedef struct {
  const AstroBackend *backend;
  gpointer instance;
  gpointer pixels;
} Running;

static void call(Running *self, const AstroDegridArguments *arguments, const AstroBlock *in,
                 const AstroBlock *out)
{
  GError *error = NULL;
  AstroResult result = { 0 };
  self->backend->submit(self->instance, in, in ? 1 : 0, out, out ? 1 : 0, arguments, &result,
                        &error);
  g_assert_no_error(error);
}

static Running start(Setting *s, const AstroBackend *backend, GError **error)
{
  const gsize pixels = (gsize)s->config.grid.image_size * s->config.grid.image_size *
                       s->n_products * s->config.gridder.channels;
  const char *variant;
  Running self = { .backend = backend };
  g_assert_true(astro_wstacking.choose(&s->config.gridder, &s->config.grid, NULL));
  self.pixels = test_in_precision(s->model, pixels, s->config.gridder.is_double);
  s->config.model = self.pixels;
  self.instance = backend->create(&s->config, &s->place, &variant, error);
  return self;
}

static void stop(Running *self)
{
  self->backend->destroy(self->instance);
  g_free(self->pixels);
}

static void observe_and_add(Running *self, const Setting *s)
{
  const AstroDegridArguments begin = { .call = ASTRO_DEGRID_OBSERVE,
                                       .observation = s->observation };
  call(self, &begin, NULL, NULL);
  for (guint dump = 0; dump < s->dumps; dump++) {
    const AstroDegridArguments add = {
      .call = ASTRO_DEGRID_ADD, .uvw = s->uvw + 3 * (gsize)dump * s->config.visibilities.baselines
    };
    call(self, &add, NULL, NULL);
  }
}

/* Predicts and takes all dumps, so many at once, into a block of garbage. */
static gpointer take(Running *self, const Setting *s, guint at_once)
{
  const gsize dump_bytes = astro_degridder_dump_bytes(&s->config);
  const AstroDegridArguments predict = { .call = ASTRO_DEGRID_PREDICT };
  gpointer out = test_alloc(s->bytes);
  call(self, &predict, NULL, NULL);
  for (guint first = 0; first < s->dumps; first += at_once) {
    const guint n = MIN(at_once, s->dumps - first), before = first > 0; /* leaves a dump alone */
    const AstroDegridArguments arguments = {
      .call = ASTRO_DEGRID_TAKE, .first = first, .at = before, .dumps = n
    };
    const gsize from = (first - before) * dump_bytes;
    const AstroBlock in = { (char *)s->in + from, (n + before) * dump_bytes };
    const AstroBlock block = { (char *)out + from, in.bytes };
    g_autofree gpointer untouched = g_memdup2(block.data, before * dump_bytes);
    call(self, &arguments, &in, &block);
    g_assert_cmpmem(untouched, before * dump_bytes, block.data, before * dump_bytes);
  }
  test_check_guard(out, s->bytes);
  return out;
}

/* All predicted, in double whatever the format. */
static double *predict(Setting *s, const AstroBackend *backend, guint at_once)
{
  g_autoptr(GError) error = NULL;
  Running self = start(s, backend, &error);
  g_assert_no_error(error);
  observe_and_add(&self, s);
  gpointer out = take(&self, s, at_once);
  stop(&self);
  const gboolean is_double = s->config.visibilities.format == ASTRO_FORMAT_CF64LE;
  const gsize n = s->bytes / (is_double ? 8 : 4);
  double *found = g_new(double, n);
  for (gsize i = 0; i < n; i++)
    found[i] = is_double ? ((double *)out)[i] : (double)((float *)out)[i];
  test_free(out);
  return found;
}

/* ---- accuracy ---- */

/* |a - b| / |b| of pairs of different stations; what a station has with itself is the sum of a
 * model, would hide the others, and must be the same. */
static double distance(const Setting *s, const double *a, const double *b)
{
  const AstroPrepareConfig *shape = &s->config.visibilities;
  const guint n = 2 * shape->pols * shape->pols;
  double error = 0, norm = 0;
  for (guint line = 0; line < s->dumps * shape->channels; line++)
    for (guint i = 0; i < s->observation->n_stations; i++)
      for (guint j = 0; j <= i; j++)
        for (guint k = 0; k < n; k++, a++, b++) {
          g_assert_true(isfinite(*a));
          if (i == j)
            g_assert_cmpfloat(fabs(*a - *b), <=, 1e-5 * (1 + fabs(*b)));
          error += i == j ? 0 : (*a - *b) * (*a - *b);
          norm += i == j ? 0 : *b * *b;
        }
  g_assert_cmpfloat(norm, >, 0);
  return sqrt(error / norm);
}

static const char *const products[][5] = { { "XX", "I" },
                                           { "I", "I:Q", "XX:YY", "I:Q:U:V", "XX:XY:YX:YY" } };

/* The CPU's kernels have the same planes, unless there is a cube, each of whose channels has planes
 * of its own on the device. In double precision they have the same taps too, and results are apart
 * by rounding. */
static void assert_accurate(Setting *s, gint decade, guint number)
{
  const gboolean is_double = s->config.gridder.is_double;
  s->config.gridder.accuracy = pow(10, decade) * (1 + 1e-9);
  g_autofree double *found = predict(s, on_device, 1 + number % 5);
  g_autofree double *exact = predict(s, &astro_degridder_reference, 100);
  g_autofree double *by_cpu = predict(s, &astro_degridder_cpu, 100);
  const double error = distance(s, found, exact), apart = distance(s, found, by_cpu);
  g_test_message("size %u field %.3f centre %.2f: %u products, %u of %u channels, grid %u support "
                 "%u, accuracy 1e%d: %.2e, from the CPU %.2e",
                 s->config.grid.image_size, s->config.grid.image_size * s->config.grid.pixel,
                 s->config.grid.centre_l, s->n_products, s->config.gridder.channels,
                 s->config.visibilities.channels, s->config.grid.size,
                 s->config.grid.spread.support, decade, error, apart);
  g_assert_cmpfloat(error, <=, pow(10, decade));
  if (s->config.gridder.channels == 1)
    g_assert_cmpfloat(apart, <=, is_double ? 1e-12 : 5e-6 + 0.1 * pow(10, decade));
}

/* Every accuracy, each with other shapes: sizes even and odd, fields and w from small to large, one
 * channel and a few, cubes. */
static void test_accuracy(gconstpointer data)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(48);
  guint number = 0;
  for (guint round = 0; round < 4; round++)
    for (gint decade = -2; decade >= -12; decade--, number++) {
      Setting s;
      const guint pols = 1 + number % 2, channels = 1 + number % 4;
      const double field = 0.002 * pow(350, (number % 10) / 9.0);
      const Shape shape = { .stations = 5 + number % 7,
                            .dumps = (guint)g_rand_int_range(random, 3, 9),
                            .channels = channels,
                            .model_channels = number % 3 ? 1 : channels,
                            .pols = pols,
                            .size = (guint)g_rand_int_range(random, 32, 60),
                            .products = products[pols - 1][number % (pols == 1 ? 2 : 5)],
                            .field = field,
                            .w = MIN(4 / (field * field), g_rand_double_range(random, 0, 3000)),
                            .is_double = decade < -5 || round % 2 };
      if (test_passes_over(number))
        continue;
      setting_make(&s, &shape, random);
      if (number % 3 == 1) {
        s.config.grid.centre_l = 0.1;
        s.config.grid.centre_m = -0.05;
      }
      s.config.subtract = number % 4 == 3;
      assert_accurate(&s, decade, number);
      setting_clear(&s);
    }
}

/* Sizes whose columns have kernels that rotate pixels as they transform them, and rows that no
 * visibility reaches: against the CPU. */
static void test_large(gconstpointer data)
{
  static const struct {
    guint size;
    const char *products;
    double w;
    gboolean is_double;
  } cases[] = {
    { 256, "I", 800, FALSE },        { 341, "I:Q:U", 300, FALSE },
    { 400, "I:Q:U:V", 3000, FALSE }, { 256, "XX:XY:YX:YY", 300, TRUE },
    { 341, "XX:YY", 3000, TRUE },    { 300, "I", 0, TRUE },
  };
  g_autoptr(GRand) random = g_rand_new_with_seed(54);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const Shape shape = {
      9, 5, 3, 1, 2, cases[i].size, cases[i].products, 0.03, cases[i].w, cases[i].is_double
    };
    Setting s;
    setting_make(&s, &shape, random);
    s.config.gridder.padding = 512.0 / cases[i].size;
    s.config.gridder.accuracy = 1e-4;
    s.config.grid.centre_l = i % 2 ? 0.02 : 0;
    for (guint k = 1; k < 3 * s.dumps * s.config.visibilities.baselines; k += 3)
      s.uvw[k] *= 0.3;
    g_autofree double *found = predict(&s, on_device, 2);
    g_assert_cmpuint(s.config.grid.size, ==, 512);
    g_autofree double *by_cpu = predict(&s, &astro_degridder_cpu, 5);
    const double apart = distance(&s, found, by_cpu);
    g_test_message("%s %s size %u support %u: %.1e", shape.is_double ? "double" : "single",
                   shape.products, shape.size, s.config.grid.spread.support, apart);
    g_assert_cmpfloat(apart, <=, shape.is_double ? 1e-12 : 5e-6 + 0.1 * 1e-4);
    setting_clear(&s);
  }
}

/* Double precision inside, single outside. */
static void test_formats(gconstpointer data)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(49);
  const Shape shape = { 5, 3, 2, 1, 2, 50, "I", 0.05, 100, TRUE };
  Setting s;
  setting_make(&s, &shape, random);
  s.config.gridder.accuracy = 1e-7;
  g_autofree double *in_double = predict(&s, on_device, 3);
  setting_clear(&s);
  g_rand_set_seed(random, 49);
  setting_make(&s, &shape, random);
  s.config.visibilities.format = ASTRO_FORMAT_CF32LE;
  s.bytes /= 2;
  s.config.gridder.accuracy = 1e-7;
  g_autofree double *in_single = predict(&s, on_device, 3);
  g_assert_cmpfloat(distance(&s, in_single, in_double), <=, 1e-7);
  setting_clear(&s);
}

/* A lone station has nothing but itself. */
static void test_one_station(gconstpointer data)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(50);
  const Shape shape = { 1, 3, 2, 1, 2, 40, "I", 0.05, 100, FALSE };
  Setting s;
  setting_make(&s, &shape, random);
  g_autofree double *found = predict(&s, on_device, 2);
  g_autofree double *exact = predict(&s, &astro_degridder_reference, 3);
  g_assert_cmpfloat(test_distance(found, exact, 2 * 4 * 3 * 2 * sizeof *found, TRUE), <=, 1e-6);
  setting_clear(&s);
}

/* ---- again ---- */

/* The same to the last bit each time; an instance forgets dumps and takes fewer and more. */
static void test_again(gconstpointer data)
{
  static const guint dumps[] = { 12, 2, 20, 12 };
  g_autoptr(GRand) random = g_rand_new_with_seed(51);
  for (guint is_double = 0; is_double < 2; is_double++) {
    const Shape shape = { 8, 20, 3, 1, 2, 90, "I:Q:U:V", 0.03, 800, is_double };
    gpointer all[G_N_ELEMENTS(dumps)];
    Setting s;
    setting_make(&s, &shape, random);
    const gsize whole = s.bytes;
    Running self = start(&s, on_device, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(dumps); i++) {
      const AstroDegridArguments forget = { .call = ASTRO_DEGRID_FORGET };
      s.dumps = dumps[i];
      s.bytes = whole / 20 * dumps[i];
      observe_and_add(&self, &s);
      if (i % 2) {
        call(&self, &forget, NULL, NULL);
        observe_and_add(&self, &s);
      }
      all[i] = take(&self, &s, 3 + i);
    }
    g_assert_cmpmem(all[0], whole / 20 * 12, all[3], whole / 20 * 12);
    for (guint i = 0; i < G_N_ELEMENTS(dumps); i++)
      test_free(all[i]);
    stop(&self);
    setting_clear(&s);
  }
}

/* ---- the gridder ---- */

/* The model times the image of some visibilities is these times the model's. */
static void assert_adjoint(guint number, GRand *random, guint support, gboolean is_double)
{
  const double field = 0.003 * pow(200, (number % 7) / 6.0);
  const Shape shape = { 6,
                        20,
                        3,
                        1,
                        1,
                        24 + 2 * (number % 5),
                        "I",
                        field * (24 + 2 * (number % 5)) / 28,
                        MIN(2 / (field * field), 3000),
                        is_double };
  const guint pairs = 15;
  double of_images = 0, of_visibilities = 0, size = 0;
  TestSetting t;
  Setting s;
  /* A program has one stage on the device at a time, and the gridder's came after this one. */
  on_device = test_on_device("degridder");
  setting_make(&s, &shape, random);
  test_setting_make(&t, random, shape.size, s.config.grid.pixel, shape.w, 20 * pairs, 3, is_double);
  if (number % 3 == 1) {
    s.config.grid.centre_l = 0.1;
    s.config.grid.centre_m = -0.05;
  }
  s.config.gridder.support = support;
  s.config.gridder.padding = 2;
  s.config.gridder.accuracy = 0.1;
  s.config.scale = 1;
  t.on_device = TRUE;
  t.grid = s.config.grid;
  t.config = s.config.gridder;
  t.rows.products = 1;
  for (guint c = 0; c < 3; c++)
    t.wavenumbers[c] = (FREQUENCY + BANDWIDTH * ((c + 0.5) / 3 - 0.5)) / ASTRO_LIGHT_SPEED;
  for (guint dump = 0; dump < 20; dump++)
    for (guint i = 1, pair = 0; i < 6; i++)
      for (guint j = 0; j < i; j++, pair++) {
        double *uvw = s.uvw + 3 * (dump * 21 + i * (i + 1) / 2 + j);
        uvw[2] = fabs(uvw[2]);
        memcpy(t.uvw + 3 * (dump * pairs + pair), uvw, 3 * sizeof *uvw);
      }
  for (guint y = 0; y < shape.size; y++)
    s.model[y * shape.size] = 0; /* test_image_of has no such pixel */
  g_autofree double *untouched = g_memdup2(t.values, 2 * (gsize)20 * pairs * 3 * sizeof *t.values);
  g_autofree double *predicted = predict(&s, on_device, 7);
  test_turn_to_centre(&t);
  for (gsize i = 0; i < (gsize)2 * 20 * pairs * 3; i++)
    t.single[i] = (float)t.values[i];
  g_autofree double *image = test_image_of(&t);
  for (guint dump = 0; dump < 20; dump++)
    for (guint c = 0; c < 3; c++)
      for (guint i = 1, pair = 0; i < 6; i++)
        for (guint j = 0; j < i; j++, pair++)
          for (guint part = 0; part < 2; part++) {
            const double term = predicted[2 * ((dump * 3 + c) * 21 + i * (i + 1) / 2 + j) + part] *
                                untouched[2 * ((dump * pairs + pair) * 3 + c) + part];
            of_visibilities += term;
            size += fabs(term);
          }
  for (guint i = 0; i < shape.size * shape.size; i++)
    of_images += image[i] * s.model[i];
  g_test_message("%s support %u, field %.3f: %.15g and %.15g, apart by %.1e",
                 is_double ? "double" : "single", support, field, of_images, of_visibilities,
                 fabs(of_images - of_visibilities) / size);
  g_assert_cmpfloat(size, >, 0);
  g_assert_cmpfloat(fabs(of_images - of_visibilities), <=, (is_double ? 1e-12 : 1e-6) * size);
  test_setting_clear(&t);
  setting_clear(&s);
}

static void test_adjoint(gconstpointer data)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(52);
  guint number = 0;
  for (guint is_double = 0; is_double < 2; is_double++)
    for (guint support = ASTRO_SEMICIRCLE_MIN; support <= ASTRO_SEMICIRCLE_MAX; support++)
      assert_adjoint(number++, random, support, is_double);
}

/* ---- memory ---- */

static gsize used_memory(void)
{
  g_autoptr(AstroDevice) device = astro_device_open(0, NULL);
  AstroDeviceMemory memory;
  g_assert_true(device->funcs->memory(device, &memory, NULL));
  return memory.ours;
}

/* With less and less memory dumps are predicted piece by piece and products one after the other,
 * and what is used stays below. */
static void test_memory(gconstpointer data)
{
  static const double parts[] = { 1, 0.9, 0.75, 0.6 }; /* of what is used without a limit */
  g_autoptr(GRand) random = g_rand_new_with_seed(53);
  const Shape shape = { 40, 40, 6, 1, 2, 300, "I:Q:U:V", 0.02, 2000, FALSE };
  Setting s;
  on_device = test_on_device("degridder");
  setting_make(&s, &shape, random);
  g_autofree double *whole = predict(&s, on_device, 40);
  gsize last = G_MAXSIZE, most = 0;
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++) {
    g_autoptr(GError) error = NULL;
    const gsize before = used_memory();
    s.config.budget = (guint64)(parts[i] * (double)most);
    Running self = start(&s, on_device, &error);
    g_assert_no_error(error);
    observe_and_add(&self, &s);
    gpointer out = take(&self, &s, 11);
    /* The test's own blocks are on the device too. */
    const gsize used = used_memory() - before - 2 * 12 * astro_degridder_dump_bytes(&s.config);
    stop(&self);
    const gsize n = s.bytes / sizeof(float);
    g_autofree double *found = g_new(double, n);
    for (gsize k = 0; k < n; k++)
      found[k] = ((float *)out)[k];
    const double error_of = distance(&s, found, whole);
    g_test_message("at most %.1f MB: used %.1f, %.2e", (double)s.config.budget / (1 << 20),
                   (double)used / (1 << 20), error_of);
    most = MAX(most, used);
    g_assert_cmpfloat(error_of, <=, 2e-4);
    if (s.config.budget)
      g_assert_cmpuint(used, <=, s.config.budget);
    g_assert_cmpuint(used, <=, last);
    last = used;
    test_free(out);
  }
  g_autoptr(GError) error = NULL;
  s.config.budget = 1 << 20;
  Running self = start(&s, on_device, &error);
  g_assert_null(self.instance);
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY);
  test_says(error->message, "and 1048576 may be used: expected a smaller model");
  g_free(self.pixels);
  setting_clear(&s);
}

static void add_tests(void)
{
  on_device = test_on_device("degridder");
  test_add_on_device("/degrid/accuracy/cuda", on_device, test_accuracy);
  test_add_on_device("/degrid/large/cuda", on_device, test_large);
  test_add_on_device("/degrid/formats/cuda", on_device, test_formats);
  test_add_on_device("/degrid/one-station/cuda", on_device, test_one_station);
  test_add_on_device("/degrid/again/cuda", on_device, test_again);
  test_add_on_device("/degrid/adjoint/cuda", on_device, test_adjoint);
  test_add_on_device("/degrid/memory/cuda", on_device, test_memory);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
