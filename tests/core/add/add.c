/* Sums and weighted means: worked by hand, and every variant compared with the reference to the
 * bit. */
#include "core/add/add.h"
#include "tests/tests.h"

#include <math.h>

#define VISIBILITIES                                                                               \
  "application/x-astro-visibilities,layout=channel:baseline:pol:pol,channels=%u,baselines=6,"      \
  "pols=2,format=%s"

static AstroAddConfig config_of(const char *text)
{
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  g_autoptr(GError) error = NULL;
  AstroAddConfig config;
  astro_stream_from_caps(&config.stream, caps, &error);
  g_assert_no_error(error);
  return config;
}

static gboolean run(const AstroBackend *backend, const AstroAddConfig *config,
                    AstroAddArguments *arguments, const AstroBlock *in, guint n, gpointer out,
                    GError **error)
{
  const AstroPlace place = { 0 };
  const AstroBlock to = { out, arguments->steps * astro_stream_step_bytes(&config->stream) };
  const char *variant;
  gpointer instance = backend->create(config, &place, &variant, error);
  g_assert_nonnull(instance);
  const gboolean ok = backend->submit(instance, in, n, &to, 1, arguments, NULL, error);
  backend->destroy(instance);
  return ok;
}

/* One value of two streams: 3 samples of mean 2 and 1 of mean 6 are 4 of mean 3. */
static void test_mean(void)
{
  const AstroLayout one = { 0 };
  const AstroAddConfig config =
      config_of("application/x-astro-visibilities,layout=channel:baseline:pol:pol,channels=1,"
                "baselines=1,pols=1,format=CF32LE");
  float a[2] = { 2, -4 }, b[2] = { 6, 8 }, out[2];
  g_autoptr(GstBuffer) x = gst_buffer_new(), y = gst_buffer_new(), sum = gst_buffer_new();
  AstroValidityMeta *many = astro_buffer_add_validity(x, &one, 5),
                    *few = astro_buffer_add_validity(y, &one, 5);
  AstroAddPiece pieces[2] = { { 1, 0, 1, 0, many, 5 }, { 1, 0, 1, 0, few, 5 } };
  AstroAddArguments arguments = { 1, pieces };
  AstroBlock in[2] = { { a, sizeof a }, { b, sizeof b } };
  many->counts[0] = 3;
  few->counts[0] = 1;
  for (guint i = 0; i < 2; i++) {
    g_assert_true(run(astro_add_backends[i], &config, &arguments, in, 2, out, NULL));
    g_assert_cmpfloat(out[0], ==, 3);
    g_assert_cmpfloat(out[1], ==, -1);
  }
  astro_add_validity(&config, &arguments, 2, 10, sum);
  g_assert_cmpuint(astro_buffer_get_validity(sum)->counts[0], ==, 4);
  g_assert_cmpuint(astro_buffer_get_validity(sum)->full, ==, 10);
  /* Without samples there is no value, whatever the buffer holds. */
  many->counts[0] = 0;
  in[1].data = NULL;
  a[0] = NAN;
  for (guint i = 0; i < 2; i++) {
    g_assert_true(run(astro_add_backends[i], &config, &arguments, in, 2, out, NULL));
    g_assert_cmpfloat(out[0], ==, 0);
  }
}

static void test_large(void)
{
  static const struct {
    const char *caps;
    gsize bytes;
  } kinds[] = {
    { "application/x-astro-visibilities,layout=channel:baseline:pol:pol,channels=1,baselines=1,"
      "pols=1,format=CI32LE,counts=true",
      8 },
    { "application/x-astro-histogram,layout=pairs:bin,pairs=dd,bins=1,format=U64LE", 8 },
  };
  for (guint k = 0; k < 2; k++)
    for (guint i = 0; i < 2; i++) {
      const AstroAddConfig config = config_of(kinds[k].caps);
      const gint32 most[2] = { G_MAXINT32, G_MININT32 };
      const guint64 all = G_MAXUINT64;
      guint64 out, one = 1;
      AstroAddPiece pieces[2] = { { 1, 0, 1, 0, NULL, 1 }, { 1, 0, 1, 0, NULL, 1 } };
      AstroAddArguments arguments = { 1, pieces };
      const AstroBlock in[2] = { { k ? (gpointer)&all : (gpointer)most, 8 }, { &one, 8 } };
      g_autoptr(GError) error = NULL;
      g_assert_false(run(astro_add_backends[i], &config, &arguments, in, 2, &out, &error));
      test_says(error->message, "a sum does not fit");
      const AstroBlock fits[2] = { { k ? (gpointer)&all : (gpointer)most, 8 }, { NULL, 0 } };
      g_assert_true(run(astro_add_backends[i], &config, &arguments, fits, 2, &out, NULL));
    }
}

static const char *const formats[] = { "CF32LE", "CF64LE", "CI32LE,counts=true" };

static void fill(const AstroAddConfig *config, guint8 *data, gsize bytes, GRand *rand)
{
  for (gsize i = 0; i < bytes; i += 4)
    if (config->stream.format == ASTRO_FORMAT_CF32LE)
      *(float *)(gpointer)(data + i) = (float)g_rand_double_range(rand, -10, 10);
    else if (config->stream.format == ASTRO_FORMAT_CI32LE)
      *(gint32 *)(gpointer)(data + i) = g_rand_int_range(rand, -1000000, 1000000);
    else if (i % 8 == 0)
      *(double *)(gpointer)(data + i) = g_rand_double_range(rand, -10, 10);
}

static void test_variants(void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(41);
  for (guint number = 0; number < 200; number += TEST_STEP) {
    g_autofree char *caps = g_strdup_printf(VISIBILITIES, (guint)g_rand_int_range(rand, 1, 9),
                                            formats[number % G_N_ELEMENTS(formats)]);
    const AstroAddConfig config = config_of(caps);
    const gsize step = astro_stream_step_bytes(&config.stream);
    const guint64 steps = (guint64)g_rand_int_range(rand, 1, 40);
    AstroAddPiece pieces[64];
    AstroBlock in[64];
    GstBuffer *counted[64] = { NULL };
    guint n = 0;
    for (guint stream = 0; stream < 3; stream++)
      for (guint64 at = 0, length; at < steps && n < 60; at += length, n++) {
        length = (guint64)g_rand_int_range(rand, 1, (gint)(steps - at) + 1);
        const guint64 before = (guint64)g_rand_int_range(rand, 0, 3);
        pieces[n] = (AstroAddPiece){ before + length + 1, before, length, at, NULL, 100 };
        in[n] = (AstroBlock){ NULL, 0 };
        if (g_rand_int_range(rand, 0, 5) == 0) {
          pieces[n].full = 0;
          continue;
        }
        in[n].bytes = pieces[n].steps * step;
        in[n].data = test_alloc(in[n].bytes);
        fill(&config, in[n].data, in[n].bytes, rand);
        if (g_rand_boolean(rand))
          continue;
        AstroLayout shape, counts = { 0 };
        astro_stream_shape(&config.stream, pieces[n].steps, &shape);
        for (guint k = 0; k < shape.n_axes; k++)
          if (shape.axes[k] != ASTRO_AXIS_POL && g_rand_boolean(rand)) {
            counts.axes[counts.n_axes] = shape.axes[k];
            counts.extents[counts.n_axes++] = shape.extents[k];
          }
        counted[n] = gst_buffer_new();
        AstroValidityMeta *meta = astro_buffer_add_validity(counted[n], &counts, 100);
        for (guint64 k = 0; k < astro_validity_n_counts(meta); k++)
          meta->counts[k] = (guint32)g_rand_int_range(rand, 0, 101);
        pieces[n].meta = meta;
      }
    AstroAddArguments arguments = { steps, pieces };
    guint8 *a = test_alloc(steps * step), *b = test_alloc(steps * step);
    g_assert_true(run(&astro_add_reference, &config, &arguments, in, n, a, NULL));
    g_assert_true(run(&astro_add_cpu, &config, &arguments, in, n, b, NULL));
    g_assert_cmpmem(a, steps * step, b, steps * step);
    test_check_guard(b, steps * step);
    /* The counts of a value are the sums over all pieces. */
    g_autoptr(GstBuffer) out = gst_buffer_new();
    g_autoptr(GError) error = NULL;
    AstroLayout shape;
    astro_add_validity(&config, &arguments, n, 300, out);
    astro_stream_shape(&config.stream, steps, &shape);
    astro_validity_check(astro_buffer_get_validity(out), &shape, &error);
    g_assert_no_error(error);
    const guint has_time = shape.n_axes == 5;
    for (guint64 k = 0, values = astro_layout_samples(&shape); k < values; k += 7) {
      guint64 index[ASTRO_MAX_AXES], rest = k, sum = 0;
      for (guint i = shape.n_axes; i-- > 0; rest /= shape.extents[i])
        index[i] = rest % shape.extents[i];
      const guint64 at = has_time ? index[0] : 0;
      for (guint i = 0; i < n; i++) {
        const AstroAddPiece *p = &pieces[i];
        if (at < p->at || at >= p->at + p->n)
          continue;
        AstroLayout own;
        guint64 place[ASTRO_MAX_AXES];
        astro_stream_shape(&config.stream, p->steps, &own);
        const guint own_time = own.n_axes == 5;
        memcpy(place + own_time, index + has_time, 4 * sizeof *place);
        if (own_time)
          place[0] = at - p->at + p->first;
        sum += p->meta ? astro_validity_at(p->meta, &own, place) : p->full;
      }
      g_assert_cmpuint(astro_validity_at(astro_buffer_get_validity(out), &shape, index), ==, sum);
    }
    for (guint i = 0; i < n; i++) {
      test_free(in[i].data);
      gst_clear_buffer(&counted[i]);
    }
    test_free(a);
    test_free(b);
  }
}

/* Means of real numbers are those of a plain loop, and of both backends to the bit. */
static void test_power(void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(43);
  const AstroAddConfig config =
      config_of("application/x-astro-power,layout=time:pol:channel,pols=3,channels=11,"
                "format=F32LE,products=I:Q:U");
  for (guint number = 0; number < 50; number += TEST_STEP) {
    const guint64 steps = (guint64)g_rand_int_range(rand, 1, 90), values = 33 * steps;
    const AstroLayout counted = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL }, { steps, 11 } };
    AstroAddPiece pieces[3];
    AstroBlock in[3];
    GstBuffer *counts[3];
    AstroAddArguments arguments = { steps, pieces };
    for (guint i = 0; i < 3; i++) {
      counts[i] = gst_buffer_new();
      AstroValidityMeta *meta = astro_buffer_add_validity(counts[i], &counted, 7);
      for (guint64 k = 0; k < astro_validity_n_counts(meta); k++)
        meta->counts[k] = (guint32)g_rand_int_range(rand, 0, 8);
      pieces[i] = (AstroAddPiece){ steps, 0, steps, 0, i ? meta : NULL, 7 };
      in[i] = (AstroBlock){ test_alloc(4 * values), 4 * values };
      for (guint64 k = 0; k < values; k++)
        ((float *)in[i].data)[k] = (float)g_rand_double_range(rand, -10, 10);
    }
    float *a = test_alloc(4 * values), *b = test_alloc(4 * values);
    g_assert_true(run(&astro_add_reference, &config, &arguments, in, 3, a, NULL));
    g_assert_true(run(&astro_add_cpu, &config, &arguments, in, 3, b, NULL));
    g_assert_cmpmem(a, 4 * values, b, 4 * values);
    test_check_guard(b, 4 * values);
    for (guint64 k = 0; k < values; k++) {
      double sum = 0, weight = 0;
      for (guint i = 0; i < 3; i++) {
        const guint64 place = k / 33 * 11 + k % 11;
        const double c = i ? astro_buffer_get_validity(counts[i])->counts[place] : 7;
        sum += c * ((float *)in[i].data)[k];
        weight += c;
      }
      g_assert_cmpfloat(a[k], ==, (float)(sum / weight));
    }
    for (guint i = 0; i < 3; i++) {
      test_free(in[i].data);
      gst_buffer_unref(counts[i]);
    }
    test_free(a);
    test_free(b);
  }
}

static void test_refused(void)
{
  static const struct {
    const char *caps, *says;
  } cases[] = {
    { "application/x-astro-visibilities,layout=baseline:time,baselines=1,format=CF32LE",
      "has time after other axes" },
    { "application/x-astro-uvgrid,layout=pol:v:u,pols=1,width=1,height=1,format=CI8",
      "values in CI8 cannot be added" },
  };
  const AstroPlace place = { 0 };
  const char *variant;
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const AstroAddConfig config = config_of(cases[i].caps);
    g_autoptr(GError) error = NULL;
    g_assert_null(astro_add_cpu.create(&config, &place, &variant, &error));
    test_says(error->message, cases[i].says);
  }
}

static void add_tests(void)
{
  g_test_add_func("/add/mean", test_mean);
  g_test_add_func("/add/large", test_large);
  g_test_add_func("/add/variants", test_variants);
  g_test_add_func("/add/power", test_power);
  g_test_add_func("/add/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
