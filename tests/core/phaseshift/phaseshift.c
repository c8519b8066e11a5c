/* Visibilities rotated to another phase centre: the reference compared with the formula in long
 * double, everything else compared with the reference, and refusals. */
#include "core/phaseshift/phaseshift.h"
#include "core/stream/uvw.h"
#include "tests/near.h"
#include "tests/observe.h"
#include "tests/tests.h"

static AstroStream stream_of(AstroFormat format, guint stations, guint channels, guint pols)
{
  g_autofree char *text = g_strdup_printf(
      "application/x-astro-visibilities,format=%s,layout=channel:baseline:pol:pol,baselines=%u,"
      "channels=%u,pols=%u,rate=1/10,frequency=1.4e9,bandwidth=4e7",
      astro_format_name(format), stations * (stations + 1) / 2, channels, pols);
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  AstroStream stream;
  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  return stream;
}

/* Closer by that many metres, from one wavelength to thousands. */
static double *nearer_of(guint64 n)
{
  double *nearer = g_new(double, n);
  for (guint64 i = 0; i < n; i++)
    nearer[i] = g_test_rand_double_range(-3000, 3000);
  return nearer;
}

static void fill(AstroFormat format, gpointer block, gsize bytes)
{
  if (format == ASTRO_FORMAT_CF64LE)
    for (gsize i = 0; i < bytes / sizeof(double); i++)
      ((double *)block)[i] = g_test_rand_double_range(-9, 9);
  else if (format == ASTRO_FORMAT_CF32LE)
    for (gsize i = 0; i < bytes / sizeof(float); i++)
      ((float *)block)[i] = (float)g_test_rand_double_range(-9, 9);
  else
    for (gsize i = 0; i < bytes / sizeof(gint32); i++)
      ((gint32 *)block)[i] = g_test_rand_int_range(-90000, 90000);
}

/* The shifted block; NULL: error says why there is none. */
static gpointer shift(const AstroBackend *backend, const AstroPhaseshiftConfig *config,
                      gconstpointer in, AstroPhaseshiftArguments *arguments, guint threads,
                      GError **error)
{
  const AstroPlace place = { .threads = threads };
  const gsize in_bytes = arguments->steps * astro_stream_step_bytes(&config->in),
              out_bytes = arguments->steps * astro_stream_step_bytes(&config->out);
  const char *variant = NULL;
  gpointer instance = backend->create(config, &place, &variant, error);
  g_assert_nonnull(instance);
  g_assert_nonnull(variant);
  gpointer out = test_alloc(out_bytes);
  const AstroBlock from = { (gpointer)in, in_bytes }, to = { out, out_bytes };
  const gboolean good = backend->submit(instance, &from, 1, &to, 1, arguments, NULL, error);
  test_check_guard(out, out_bytes);
  backend->destroy(instance);
  if (!good)
    g_clear_pointer(&out, test_free);
  return out;
}

static complex double value_at(AstroFormat format, gconstpointer block, gsize i)
{
  if (format == ASTRO_FORMAT_CF64LE)
    return ((const complex double *)block)[i];
  return ((const complex float *)block)[i];
}

/* The value at index i, which counts steps, channels, baselines and products, the last fastest. */
static void test_reference(void)
{
  enum { STATIONS = 3, BASELINES = 6, CHANNELS = 5, STEPS = 2, VALUES = 4 };
  static const guint first[BASELINES] = { 0, 1, 1, 2, 2, 2 },
                     second[BASELINES] = { 0, 0, 1, 0, 1, 2 };
  const AstroStream stream = stream_of(ASTRO_FORMAT_CF64LE, STATIONS, CHANNELS, 2);
  const AstroPhaseshiftConfig config = { stream, stream };
  g_autofree double *nearer = nearer_of(STEPS * STATIONS);
  AstroPhaseshiftArguments arguments = { STEPS, nearer, NULL };
  complex double in[STEPS * CHANNELS * BASELINES * VALUES];
  fill(ASTRO_FORMAT_CF64LE, in, sizeof in);
  complex double *out = shift(&astro_phaseshift_reference, &config, in, &arguments, 1, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(in); i++) {
    const guint b = i / VALUES % BASELINES, c = i / VALUES / BASELINES % CHANNELS,
                step = i / VALUES / BASELINES / CHANNELS;
    const double *d = nearer + step * STATIONS;
    const long double f = 1.4e9L + 4e7L * ((c + 0.5L) / CHANNELS - 0.5L);
    const long double turns = -((long double)d[first[b]] - d[second[b]]) * f / 299792458.0L;
    const long double angle = 2 * acosl(-1) * (turns - floorl(turns));
    test_near_complex(out[i], in[i] * (complex double)(cosl(angle) + I * sinl(angle)), 1e-9);
  }
  test_free(out);
}

/* Odd sizes, all formats, threads, and in place. */
static void test_variants(void)
{
  static const struct {
    guint stations, channels, pols, steps;
  } sizes[] = { { 1, 1, 1, 1 },   { 2, 7, 2, 3 },  { 5, 3, 1, 2 },
                { 131, 2, 2, 1 }, { 97, 1, 1, 1 }, { 3, 131, 1, 2 } };
  static const AstroFormat formats[] = { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF64LE };
  for (guint k = 0; k < G_N_ELEMENTS(sizes) * 2; k++) {
    const AstroFormat format = formats[k % 2];
    const AstroStream stream =
        stream_of(format, sizes[k / 2].stations, sizes[k / 2].channels, sizes[k / 2].pols);
    const AstroPhaseshiftConfig config = { stream, stream };
    const guint64 steps = sizes[k / 2].steps;
    const gsize bytes = steps * astro_stream_step_bytes(&stream);
    g_autofree double *nearer = nearer_of(steps * sizes[k / 2].stations);
    AstroPhaseshiftArguments arguments = { steps, nearer, NULL };
    gpointer in = test_alloc(bytes);
    fill(format, in, bytes);
    gpointer expected = shift(&astro_phaseshift_reference, &config, in, &arguments, 1, NULL);
    for (guint threads = 1; threads < 5; threads += 3) {
      gpointer found = shift(&astro_phaseshift_cpu, &config, in, &arguments, threads, NULL);
      for (gsize i = 0; i < bytes / astro_stream_sample_bytes(&stream); i++)
        test_near_complex(value_at(format, found, i), value_at(format, expected, i),
                          format == ASTRO_FORMAT_CF32LE ? 4e-6 : 1e-9);
      test_free(found);
    }
    test_free(expected);
    test_free(in);
  }
}

/* Shifted and shifted back gives the same up to rounding; not shifted, to the last bit. */
static void test_back(void)
{
  enum { STATIONS = 33, STEPS = 2 };
  const AstroStream stream = stream_of(ASTRO_FORMAT_CF32LE, STATIONS, 9, 2);
  const AstroPhaseshiftConfig config = { stream, stream };
  const gsize bytes = STEPS * astro_stream_step_bytes(&stream);
  g_autofree double *there = nearer_of(STEPS * STATIONS), *back = g_new(double, STEPS *STATIONS),
                    *nowhere = g_new0(double, STEPS *STATIONS);
  for (guint i = 0; i < STEPS * STATIONS; i++)
    back[i] = -there[i];
  gpointer in = test_alloc(bytes);
  fill(ASTRO_FORMAT_CF32LE, in, bytes);
  AstroPhaseshiftArguments to = { STEPS, there, NULL }, fro = { STEPS, back, NULL },
                           none = { STEPS, nowhere, NULL };
  gpointer away = shift(&astro_phaseshift_cpu, &config, in, &to, 2, NULL);
  gpointer again = shift(&astro_phaseshift_cpu, &config, away, &fro, 2, NULL);
  gpointer same = shift(&astro_phaseshift_cpu, &config, in, &none, 2, NULL);
  for (gsize i = 0; i < bytes / 8; i++)
    test_near_complex(value_at(ASTRO_FORMAT_CF32LE, again, i), value_at(ASTRO_FORMAT_CF32LE, in, i),
                      4e-6);
  g_assert_cmpmem(same, bytes, in, bytes);
  test_free(in);
  test_free(away);
  test_free(again);
  test_free(same);
}

/* Sums become means by their own counts, with either backend; without any counts they are
 * refused. */
static void test_sums(void)
{
  enum { STATIONS = 3, CHANNELS = 4, STEPS = 2, VALUES = STEPS * CHANNELS * 6 };
  const AstroPhaseshiftConfig config = { stream_of(ASTRO_FORMAT_CI32LE, STATIONS, CHANNELS, 1),
                                         stream_of(ASTRO_FORMAT_CF32LE, STATIONS, CHANNELS, 1) };
  const AstroBackend *const backends[] = { &astro_phaseshift_reference, &astro_phaseshift_cpu };
  const AstroLayout shape = { 3,
                              { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE },
                              { STEPS, CHANNELS, 6 } };
  double nowhere[STEPS * STATIONS] = { 0 };
  gint32 in[VALUES][2];
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 1000);
  fill(ASTRO_FORMAT_CI32LE, in, sizeof in);
  for (guint i = 0; i < VALUES; i++)
    meta->counts[i] = i % 7 * 100;
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    g_autoptr(GError) error = NULL;
    AstroPhaseshiftArguments counted = { STEPS, nowhere, meta }, bare = { STEPS, nowhere, NULL };
    complex float *out = shift(backends[b], &config, in, &counted, 2, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < VALUES; i++) {
      const double count = meta->counts[i];
      test_near(creal(out[i]), count ? in[i][0] / count : 0, 1e-3);
      test_near(cimag(out[i]), count ? in[i][1] / count : 0, 1e-3);
    }
    test_free(out);
    g_assert_null(shift(backends[b], &config, in, &bare, 2, &error));
    test_says(error->message, "without the counts");
  }
}

/* Seen from the new centre, the difference of (u,v,w) along it; from the old one nothing. */
static void test_shift(void)
{
  g_autoptr(AstroObservation) from = test_observe("lofar-like", 9),
                              to = astro_observation_copy(from);
  to->phase_ra += 0.02;
  to->phase_dec -= 0.01;
  g_autoptr(AstroShift) shifted = astro_shift_new(from, to), stays = astro_shift_new(from, from);
  const gint64 ns = 1234 * GST_SECOND + 5;
  double uvw[2][9 * 3], nearer[9], none[9];
  astro_uvw(from, ns, uvw[0]);
  astro_uvw(to, ns, uvw[1]);
  astro_shift_at(shifted, ns, nearer);
  astro_shift_at(stays, ns, none);
  for (guint i = 0; i < 9; i++) {
    test_near(nearer[i], uvw[1][3 * i + 2] - uvw[0][3 * i + 2], 1e-4);
    g_assert_cmpfloat(none[i], ==, 0);
  }
}

static void test_refused(void)
{
  const AstroStream single = stream_of(ASTRO_FORMAT_CF32LE, 3, 4, 2),
                    twice = stream_of(ASTRO_FORMAT_CF64LE, 3, 4, 2),
                    sums = stream_of(ASTRO_FORMAT_CI32LE, 3, 4, 2);
  AstroStream silent = single, other = single;
  silent.frequency = 0;
  astro_layout_parse(&other.layout, "baseline:channel:pol:pol", ASTRO_QUANTITY_VISIBILITIES, NULL);
  const struct {
    AstroPhaseshiftConfig config;
    const char *says;
  } cases[] = {
    { { single, twice }, "from format=CF32LE to CF64LE" },
    { { sums, sums }, "not whole numbers" },
    { { silent, silent }, "frequency=0 Hz" },
    { { other, other }, "expected visibilities of layout channel:baseline:pol:pol" },
    { { single, stream_of(ASTRO_FORMAT_CF32LE, 4, 4, 2) }, "the same extents" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_false(astro_phaseshift_cpu.shape(&cases[i].config, &error));
    test_says(error->message, cases[i].says);
  }
}

static void add_tests(void)
{
  g_test_add_func("/phaseshift/reference", test_reference);
  g_test_add_func("/phaseshift/variants", test_variants);
  g_test_add_func("/phaseshift/back", test_back);
  g_test_add_func("/phaseshift/sums", test_sums);
  g_test_add_func("/phaseshift/shift", test_shift);
  g_test_add_func("/phaseshift/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
