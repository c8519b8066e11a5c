/* The operations that stages tell of, compared with those that their references count while they
 * work: this program has references of its own, which are compiled to count. */
#include "core/add/add.h"
#include "core/backend/count.h"
#include "core/beamform/beamform.h"
#include "core/channelizer/channelizer.h"
#include "core/convert/convert.h"
#include "core/correlator/correlator.h"
#include "core/dedisperse/dedisperse.h"
#include "core/delay/delay.h"
#include "core/fold/fold.h"
#include "core/lib/fft/fft.h"
#include "core/phaseshift/phaseshift.h"
#include "core/power/power.h"
#include "tests/observe.h"
#include "tests/tests.h"

#include <math.h>

double astro_counted_operations, astro_counted_bytes;

#define BAND "frequency=1.5e8,bandwidth=1e6"

static AstroStream stream_of(const char *media, const char *format, const char *layout)
{
  g_autofree char *text = g_strdup_printf("application/x-astro-%s,format=%s,layout=%s,channels=8,"
                                          "stations=3,pols=2,beams=5,baselines=6,rate=2000000/1,"
                                          "products=XX:YY," BAND,
                                          media, format, layout);
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  g_autoptr(GError) error = NULL;
  AstroStream stream;
  astro_stream_from_caps(&stream, caps, &error);
  g_assert_no_error(error);
  return stream;
}

/* A call on blocks of small numbers that are large enough for all cases. */
enum { BYTES = 1 << 20 };

typedef struct {
  const AstroBackend *backend;
  gconstpointer config, arguments;
  AstroTellWork tell;
  AstroWorkSteps steps;
  AstroArithmetic arithmetic;
  gsize in_bytes, out_bytes; /* 0: more than enough */
} Case;

static void check(const char *what, const Case *c)
{
  const AstroPlace place = { .threads = 1 };
  g_autoptr(GError) error = NULL;
  const char *variant;
  g_autofree guint32 *counts = g_new0(guint32, BYTES);
  AstroResult result = { .counts = counts };
  AstroBlock in = { g_malloc0(BYTES), c->in_bytes ? c->in_bytes : BYTES };
  AstroBlock out = { g_malloc0(BYTES), c->out_bytes ? c->out_bytes : BYTES };
  AstroWork work;
  gpointer instance = c->backend->create(c->config, &place, &variant, &error);
  g_assert_no_error(error);
  astro_counted_operations = 0;
  c->backend->submit(instance, &in, 1, &out, 1, c->arguments, &result, &error);
  g_assert_no_error(error);
  c->backend->destroy(instance);
  g_assert_true(c->tell(c->config, &c->steps, &work));
  g_test_message("%s: %g operations", what, astro_counted_operations);
  g_assert_cmpfloat(astro_counted_operations, >, 0);
  for (guint i = 0; i < ASTRO_N_ARITHMETICS; i++)
    g_assert_cmpfloat(work.operations[i], ==, i == c->arithmetic ? astro_counted_operations : 0);
  g_free(in.data);
  g_free(out.data);
}

static void test_power(void)
{
  static const char *const products[] = { "I", "XX:YY", "I:Q:U:V", "XX:YY:XY-RE:XY-IM",
                                          "I:Q:I-SQUARE:Q-SQUARE" };
  const AstroStream spectra = stream_of("spectra", "CI8", "time:station:pol:channel");
  const AstroPowerArguments arguments = { .steps = 12, .integration = 4, .begin = TRUE };
  for (guint i = 0; i < G_N_ELEMENTS(products); i++)
    for (guint summed = 0; summed < 2; summed++) {
      AstroPowerConfig config = { .stations = 3,
                                  .pols = 2,
                                  .channels = 8,
                                  .layout = spectra.layout,
                                  .from = ASTRO_FORMAT_CI8,
                                  .channel_step = 2,
                                  .sum_stations = summed };
      g_assert_true(astro_power_products_parse(&config.products, products[i], NULL));
      check(products[i], &(Case){ &astro_power_reference,
                                  &config,
                                  &arguments,
                                  astro_power_work,
                                  { .in = 12, .out = 3 },
                                  ASTRO_ARITHMETIC_FLOAT });
    }
}

static void test_correlator(void)
{
  static const AstroArithmetic arithmetic[] = { ASTRO_ARITHMETIC_INT8, ASTRO_ARITHMETIC_FLOAT };
  static const AstroFormat formats[] = { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE };
  const AstroStream spectra = stream_of("spectra", "CI8", "channel:time:station:pol");
  const AstroCorrelatorArguments arguments = {
    .steps = 9, .count = 9, .begin = TRUE, .dump = TRUE
  };
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
    for (guint full = 0; full < 2; full++) {
      const AstroCorrelatorConfig config = { .stations = 3,
                                             .pols = 2,
                                             .channels = 8,
                                             .layout = spectra.layout,
                                             .from = formats[i],
                                             .to = ASTRO_FORMAT_CF32LE,
                                             .triangle =
                                                 full ? ASTRO_TRIANGLE_FULL : ASTRO_TRIANGLE_LOWER,
                                             .channel_step = 4,
                                             .integration = 9 };
      check("correlator", &(Case){ &astro_correlator_reference,
                                   &config,
                                   &arguments,
                                   astro_correlator_work,
                                   { .in = 9, .out = 1 },
                                   arithmetic[i] });
    }
}

static void test_beamform(void)
{
  const AstroBeamformConfig config = { stream_of("spectra", "CI8", "time:channel:station:pol"),
                                       stream_of("spectra", "CF32LE", "time:channel:beam:pol") };
  static const guint index[3] = { 0, 1, 2 };
  static const double seconds[9], offsets[15];
  const AstroBeamformStations stations = { 3, index, seconds, NULL, 1 };
  const AstroBeamformArguments arguments = {
    .stations = &stations, .steps = 7, .interval = 100, .offsets = offsets
  };
  check("beamform", &(Case){ &astro_beamform_reference,
                             &config,
                             &arguments,
                             astro_beamform_work,
                             { .in = 7, .out = 7 },
                             ASTRO_ARITHMETIC_FLOAT });
}

static void test_fold(void)
{
  const AstroStream power = stream_of("power", "F32LE", "time:station:pol:channel");
  const AstroFoldConfig config = {
    .stations = 3, .pols = 2, .channels = 8, .layout = power.layout, .bins = 16
  };
  static const guint32 phases[10], lags[8];
  const AstroFoldArguments arguments = {
    .steps = 10, .to = 10, .phases = phases, .lags = lags, .begin = TRUE, .end = TRUE
  };
  /* All bins are divided, those without a sample too. */
  check("fold", &(Case){ &astro_fold_reference,
                         &config,
                         &arguments,
                         astro_fold_work,
                         { .in = 10, .out = 1 },
                         ASTRO_ARITHMETIC_DOUBLE });
}

/* With trials of 0 nothing is lost at the end. */
static void test_dedisperse(void)
{
  const AstroStream power = stream_of("power", "F32LE", "time:station:pol:channel");
  static const double dms[4] = { 0, 1e-9, 2e-9, 3e-9 };
  const AstroDedisperseConfig config = { .stations = 3,
                                         .pols = 2,
                                         .channels = 8,
                                         .layout = power.layout,
                                         .frequency = 1.5e8,
                                         .bandwidth = 1e6,
                                         .rate = 1000,
                                         .n_dms = 4,
                                         .dms = dms };
  const AstroDedisperseArguments arguments = { .steps = 6, .end = TRUE, .full = 5 };
  AstroDedisperseConfig coherent = config;
  AstroWork work;
  check("dedisperse", &(Case){ &astro_dedisperse_reference,
                               &config,
                               &arguments,
                               astro_dedisperse_work,
                               { .in = 6, .out = 6 },
                               ASTRO_ARITHMETIC_FLOAT });
  coherent.coherent = TRUE;
  g_assert_false(astro_dedisperse_work(&coherent, &(AstroWorkSteps){ 1, 1, 1 }, &work));
}

static void test_convert(void)
{
  const AstroConvertConfig complex_config = { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE };
  const AstroConvertConfig real_config = { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_F64LE };
  const AstroConvertArguments arguments = { .scale = 1, .samples = 5 * 48 };
  check("convert", &(Case){ &astro_convert_reference,
                            &complex_config,
                            &arguments,
                            astro_convert_work,
                            { 5, 5, 48 },
                            ASTRO_ARITHMETIC_FLOAT });
  check("convert", &(Case){ &astro_convert_reference,
                            &real_config,
                            &arguments,
                            astro_convert_work,
                            { 5, 5, 48 },
                            ASTRO_ARITHMETIC_DOUBLE });
}

static void test_phaseshift(void)
{
  const AstroStream stream = stream_of("visibilities", "CF32LE", "channel:baseline:pol:pol");
  const AstroPhaseshiftConfig config = { stream, stream };
  static const double nearer[2 * 3];
  const AstroPhaseshiftArguments arguments = { .steps = 2, .nearer = nearer };
  check("phaseshift", &(Case){ &astro_phaseshift_reference,
                               &config,
                               &arguments,
                               astro_phaseshift_work,
                               { .in = 2, .out = 2 },
                               ASTRO_ARITHMETIC_FLOAT });
}

/* Voltages come out as far as the samples after them are there. */
static void check_delay(const char *media, const char *format, const char *layout, guint64 steps,
                        guint64 out_steps, double samples)
{
  const AstroStream stream = stream_of(media, format, layout);
  const AstroDelayConfig config = { stream, stream };
  g_autoptr(AstroObservation) observation = test_observe("disc", 3);
  g_autoptr(AstroDelayModel) model = astro_delay_model_new(observation, TRUE, 2, NULL, NULL);
  const AstroDelayArguments arguments = {
    .model = model, .steps = steps, .restart = TRUE, .out_steps = out_steps
  };
  check(media, &(Case){ &astro_delay_reference,
                        &config,
                        &arguments,
                        astro_delay_work,
                        { (double)out_steps, (double)out_steps, samples },
                        ASTRO_ARITHMETIC_FLOAT,
                        steps * astro_stream_step_bytes(&stream),
                        out_steps * astro_stream_step_bytes(&stream) });
}

static void test_delay(void)
{
  const guint64 tile = ASTRO_DELAY_TILE;
  check_delay("spectra", "CF32LE", "time:station:pol:channel", 4, 4, 3 * 2 * 8);
  check_delay("voltages", "CI8", "time:station:pol", 3 * tile, tile, 3 * 2);
  check_delay("voltages", "I16LE", "time:station:pol", 3 * tile, tile, 3 * 2);
}

/* Means of complex and real values, and sums of real ones and of integers, of three streams. */
static void test_add(void)
{
  static const struct {
    const char *media, *format, *layout;
    AstroArithmetic arithmetic;
  } kinds[] = {
    { "visibilities", "CF32LE", "time:channel:baseline:pol:pol", ASTRO_ARITHMETIC_FLOAT },
    { "visibilities", "CF64LE", "time:channel:baseline:pol:pol", ASTRO_ARITHMETIC_DOUBLE },
    { "visibilities", "CI32LE", "time:channel:baseline:pol:pol", ASTRO_ARITHMETIC_FLOAT },
    { "power", "F32LE", "time:station:pol:channel", ASTRO_ARITHMETIC_FLOAT },
  };
  enum { STREAMS = 3, STEPS = 5 };
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    const AstroAddConfig config = { stream_of(kinds[i].media, kinds[i].format, kinds[i].layout) };
    const gsize bytes = STEPS * astro_stream_step_bytes(&config.stream);
    const double samples = (double)bytes / STEPS / astro_stream_sample_bytes(&config.stream);
    g_autofree guint8 *values = g_malloc0(bytes), *sum = g_malloc0(bytes);
    const AstroAddPiece piece = { .steps = STEPS, .n = STEPS, .full = 7 };
    const AstroAddPiece pieces[STREAMS] = { piece, piece, piece };
    const AstroAddArguments arguments = { STEPS, pieces };
    const AstroBlock block = { values, bytes }, in[STREAMS] = { block, block, block },
                     out = { sum, bytes };
    const AstroPlace place = { .threads = 1 };
    const char *variant;
    g_autoptr(GError) error = NULL;
    AstroWork work;
    gpointer instance = astro_add_reference.create(&config, &place, &variant, &error);
    g_assert_no_error(error);
    astro_counted_operations = 0;
    astro_add_reference.submit(instance, in, STREAMS, &out, 1, &arguments, NULL, &error);
    g_assert_no_error(error);
    astro_add_reference.destroy(instance);
    g_assert_true(
        astro_add_work(&config, &(AstroWorkSteps){ STEPS, STEPS, STREAMS * samples }, &work));
    g_assert_cmpfloat(astro_counted_operations, >, 0);
    g_assert_cmpfloat(work.operations[kinds[i].arithmetic], ==, astro_counted_operations);
  }
}

/* The C kernel of the filter counts; transforms are told of by the usual count, 5 n log2(n). */
static void test_channelizer(void)
{
  const AstroChannelizerConfig config = { .in = stream_of("voltages", "CI8", "time:station:pol"),
                                          .to = ASTRO_FORMAT_CF32LE,
                                          .channels = 64,
                                          .taps = 4,
                                          .gain = 1 };
  const AstroChannelizerArguments arguments = { .steps = 64 * 40, .restart = TRUE };
  const double spectra = (double)astro_channelizer_spectra(&config, 0, arguments.steps).count;
  const double transforms = spectra * 6 * 5 * 64 * 6;
  const AstroPlace place = { .threads = 1 };
  const char *variant;
  AstroBlock in = { g_malloc0(BYTES), BYTES }, out = { g_malloc0(BYTES), BYTES };
  AstroResult result = { 0 };
  AstroWork work;
  g_autoptr(GError) error = NULL;
  g_setenv("ASTRO_CPU", "c", TRUE);
  gpointer instance = astro_channelizer_cpu.create(&config, &place, &variant, &error);
  g_unsetenv("ASTRO_CPU");
  astro_counted_operations = 0;
  astro_channelizer_cpu.submit(instance, &in, 1, &out, 1, &arguments, &result, &error);
  g_assert_no_error(error);
  astro_channelizer_cpu.destroy(instance);
  g_assert_true(astro_channelizer_work(
      &config, &(AstroWorkSteps){ (double)arguments.steps, spectra, 6 }, &work));
  g_test_message("%g counted, %g spectra", astro_counted_operations, spectra);
  g_assert_cmpfloat(spectra, >, 30);
  g_assert_cmpfloat(work.operations[ASTRO_ARITHMETIC_FLOAT], ==,
                    astro_counted_operations + transforms);
  g_free(in.data);
  g_free(out.data);
}

static void test_fft(void)
{
  static const guint64 sizes[] = { 64, 1024, 4096 };
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    const AstroFftConfig config = { .from = ASTRO_FORMAT_CF32LE,
                                    .to = ASTRO_FORMAT_CF32LE,
                                    .n_axes = 2,
                                    .extents = { 3, sizes[i] },
                                    .axes = { [1] = { TRUE } } };
    AstroWork work;
    g_assert_true(astro_fft_work(&config, &(AstroWorkSteps){ 2, 2, 1 }, &work));
    const double told = work.operations[ASTRO_ARITHMETIC_FLOAT];
    g_assert_cmpfloat_with_epsilon(told, 2 * 3 * 5 * (double)sizes[i] * log2((double)sizes[i]),
                                   1e-6 * told);
  }
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  gst_init(&argc, &argv);
  g_test_add_func("/told-work/power", test_power);
  g_test_add_func("/told-work/correlator", test_correlator);
  g_test_add_func("/told-work/beamform", test_beamform);
  g_test_add_func("/told-work/fold", test_fold);
  g_test_add_func("/told-work/dedisperse", test_dedisperse);
  g_test_add_func("/told-work/convert", test_convert);
  g_test_add_func("/told-work/phaseshift", test_phaseshift);
  g_test_add_func("/told-work/delay", test_delay);
  g_test_add_func("/told-work/channelizer", test_channelizer);
  g_test_add_func("/told-work/fft", test_fft);
  g_test_add_func("/told-work/add", test_add);
  return g_test_run();
}
