/* From a simulated sky to a file and back: the visibilities in the file agree with the measurement
 * equation within their noise. This shows whether signs, channel frequencies, time stamps and
 * delays agree in all stages together. Each possible mistake is tried on the same file, too, and
 * has to fit worse. */
#include "core/stream/uvw.h"
#include "core/stream/validity.h"
#include "tests/core/fits/uvfits.h"

#include <complex.h>

#define NOISE 3.0
#define EDGE 0.1             /* fraction of the band at either side to ignore, where filters end */
#define DIRECTION "246.5,38" /* 15 degrees from the zenith */

static const struct {
  double l, m, flux;
} sky[] = { { 0.004, -0.0015, 1 }, { -0.002, 0.0035, 0.6 } };
#define SKY "0.004,-0.0015,1;-0.002,0.0035,0.6"

typedef struct {
  const char *name, *array, *format, *spectra;
  guint channels, integration;
  double bandwidth;
  double seconds;
  const char *wrong; /* letters of the mistakes that this observation can reveal */
  gboolean late;     /* delays are short and are taken out of spectra */
} Case;

/* Channels wide enough to check frequencies by their delays, and integrations long enough to check
 * times by the Earth's rotation. */
static const Case cases[] = {
  { "wide", "lofar-like", "CF32LE", "CF32LE", 32, 1000, 4e6, 0.048, "clmwf" },
  { "wide-odd", "lofar-like", "CF32LE", "CF32LE", 31, 1000, 4e6, 0.048, "clmwf" },
  { "wide-ci8", "lofar-like", "CI8", "CI8", 32, 1000, 4e6, 0.048, "clmwf" },
  { "slow", "lofar-like", "CF32LE", "CF32LE", 8, 2000, 16e3, 12, "clmwt" },
  { "real", "lofar-like", "F32LE", "CF32LE", 32, 1000, 4e6, 0.048, "clmwf" },
  { "real-odd-i8", "lofar-like", "I8", "CI8", 31, 1000, 4e6, 0.048, "clmwf" },
  { "real-slow", "lofar-like", "I16LE", "CF32LE", 8, 2000, 16e3, 12, "clmwt" },
  { "real-late", "disc", "F32LE", "CF32LE", 32, 1000, 400e3, 0.48, "clm", TRUE },
  { "real-late-odd-i8", "disc", "I8", "CI8", 31, 1000, 400e3, 0.48, "clm", TRUE },
};

/* Possible mistakes between sky and file. */
typedef struct {
  char letter; /* as in Case's wrong; 0: no mistake */
  const char *what;
  gboolean conjugate;
  double l, m, w;         /* factors */
  double channels, times; /* shifts, in channels and in integrations */
} Hypothesis;
static const Hypothesis hypotheses[] = {
  { 0, "the measurement equation", FALSE, 1, 1, 1, 0, 0 },
  { 'c', "conjugated", TRUE, 1, 1, 1, 0, 0 },
  { 'l', "l negated", FALSE, -1, 1, 1, 0, 0 },
  { 'm', "m negated", FALSE, 1, -1, 1, 0, 0 },
  { 'w', "w negated", FALSE, 1, 1, -1, 0, 0 },
  { 'f', "half a channel above", FALSE, 1, 1, 1, 0.5, 0 },
  { 'f', "half a channel below", FALSE, 1, 1, 1, -0.5, 0 },
  { 't', "half an integration late", FALSE, 1, 1, 1, 0, 0.5 },
  { 't', "half an integration early", FALSE, 1, 1, 1, 0, -0.5 },
};

/* Sums of squares divided by their expected values, in each half of the band. */
typedef struct {
  double squares[2];
  guint n[2];
} Fit;

typedef struct {
  AstroStream stream;
  AstroObservation *observation;
  Fit fits[G_N_ELEMENTS(hypotheses)];
  double power, weight; /* power of the autocorrelations, Jy; weight of all values */
  guint powers, frames;
} File;

static complex double predict(const double baseline[3], double frequency,
                              const Hypothesis *hypothesis)
{
  complex double sum = 0;
  for (guint s = 0; s < G_N_ELEMENTS(sky); s++) {
    double l = sky[s].l * hypothesis->l, m = sky[s].m * hypothesis->m;
    double metres = baseline[0] * l + baseline[1] * m +
                    hypothesis->w * baseline[2] * (sqrt(1 - l * l - m * m) - 1);
    sum += sky[s].flux * cexp(2 * G_PI * I * metres * frequency / ASTRO_LIGHT_SPEED);
  }
  return hypothesis->conjugate ? conj(sum) : sum;
}

static double total_power(void)
{
  double power = NOISE;
  for (guint s = 0; s < G_N_ELEMENTS(sky); s++)
    power += sky[s].flux;
  return power;
}

/* Adds the four products of one baseline in one channel. */
static void add_values(File *file, guint hypothesis, guint half, complex double model,
                       const complex float *values, const guint32 *counts)
{
  Fit *fit = &file->fits[hypothesis];
  for (guint p = 0; p < 4; p++) {
    complex double rest = values[p] - (p == 0 || p == 3 ? model : 0);
    fit->squares[half] += creal(rest * conj(rest)) * counts[p] / (total_power() * total_power());
    fit->n[half]++;
  }
}

static void compare(File *file, guint h, GstClockTime start, GstClockTime duration,
                    const complex float *data, const guint32 *counts)
{
  const Hypothesis *hypothesis = &hypotheses[h];
  guint stations = file->observation->n_stations;
  guint channels = (guint)astro_stream_extent(&file->stream, ASTRO_AXIS_CHANNEL);
  double width = file->stream.bandwidth / channels;
  double bottom = file->stream.frequency - file->stream.bandwidth / 2;
  g_autofree double *uvw = g_new(double, 3 * stations);

  astro_uvw(file->observation, (gint64)(start + (hypothesis->times + 0.5) * duration), uvw);
  for (guint c = 0; c < channels; c++)
    for (guint i = 0; i < stations; i++)
      for (guint j = 0; j <= i; j++, data += 4, counts += 4) {
        double place = (c + 0.5) / channels, baseline[3];
        if (place < EDGE || place > 1 - EDGE || counts[0] == 0)
          continue;
        if (i == j && h == 0) {
          file->power += creal(data[0] + data[3]) / 2;
          file->powers++;
        }
        if (i == j)
          continue;
        for (guint k = 0; k < 3; k++)
          baseline[k] = uvw[3 * i + k] - uvw[3 * j + k];
        double frequency = bottom + (c + 0.5 + hypothesis->channels) * width;
        add_values(file, h, place > 0.5, predict(baseline, frequency, hypothesis), data, counts);
      }
}

static void on_frame(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  File *file = data;
  const AstroValidityMeta *validity = astro_buffer_get_validity(buffer);
  GstMapInfo map;
  if (!file->observation) {
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
    g_autoptr(GstEvent) event =
        gst_pad_get_sticky_event(pad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
    g_assert_true(astro_stream_from_caps(&file->stream, caps, NULL));
    file->observation = astro_observation_from_event(event, NULL);
    g_assert_nonnull(file->observation);
  }
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  g_assert_nonnull(validity);
  for (guint h = 0; h < G_N_ELEMENTS(hypotheses); h++)
    compare(file, h, GST_BUFFER_PTS(buffer), GST_BUFFER_DURATION(buffer), (complex float *)map.data,
            validity->counts);
  for (guint64 i = 0, n = astro_validity_n_counts(validity); i < n; i++)
    file->weight += validity->counts[i];
  file->frames++;
  gst_buffer_unmap(buffer, &map);
}

/* Runs a line to its end; its element "sink", if it has one, passes buffers to on_frame. */
static void play(const char *line, File *file)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstBus *bus = gst_element_get_bus(pipeline);
  if (sink)
    g_signal_connect(sink, "handoff", G_CALLBACK(on_frame), file);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  /* Long enough for valgrind too. */
  GstMessage *message =
      gst_bus_timed_pop_filtered(bus, 200 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull(message);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, NULL);
  g_assert_no_error(error);
  gst_message_unref(message);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_clear_object(&sink);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
}

static void read_file(const char *path, File *file)
{
  g_autofree char *line =
      g_strdup_printf("astrofitssrc location=%s ! fakesink name=sink signal-handoffs=true", path);
  play(line, file);
}

/* Steps per root of Jy: the samples fit well within 8 bits. The file is in Jy. */
#define SCALE 12.0

static void write_file(const Case *test, const char *path)
{
  g_autofree char *line = g_strdup_printf(
      "astroskysrc array=%s stations=8 frequency=1.4e9 bandwidth=%g duration=%g noise=%g "
      "sky=%s phase-centre=%s scale=%g seed=5 ! application/x-astro-voltages,format=%s ! "
      "%s astrochannelizer channels=%u ! application/x-astro-spectra,format=%s ! %s "
      "astrotranspose ! astrocorrelator integration=%u ! astrofitssink location=%s",
      test->array, test->bandwidth, test->seconds, NOISE, "\"" SKY "\"", DIRECTION, SCALE,
      test->format, test->late ? "" : "astrodelay !", test->channels, test->spectra,
      test->late ? "astrodelay !" : "", test->integration, path);
  play(line, NULL);
}

static void test_case(gconstpointer data)
{
  const Case *test = data;
  File file = { 0 };
  char *folder = test_folder(), *path = g_build_filename(folder, "v.uvfits", NULL);
  double samples = rint(test->bandwidth * test->seconds);
  write_file(test, path);
  read_file(path, &file);

  g_assert_cmpuint(file.observation->n_stations, ==, 8);
  g_assert_cmpuint(file.frames, ==, (guint)ceil(samples / test->channels / test->integration));
  /* All samples but those that filters lose at the ends are behind a visibility. */
  g_assert_cmpfloat(file.weight, <=, samples * 36 * 4);
  g_assert_cmpfloat(file.weight, >=, 0.9 * samples * 36 * 4);
  g_test_message("power %.4f Jy of %.4f", file.power / file.powers, total_power());
  g_assert_cmpfloat(fabs(file.power / file.powers / total_power() - 1), <, 0.02);
  for (guint h = 0; h < G_N_ELEMENTS(hypotheses); h++)
    for (guint half = 0; half < 2; half++) {
      double fit = file.fits[h].squares[half] / file.fits[h].n[half];
      g_test_message("%s, half %u: %.4f of %u", hypotheses[h].what, half, fit,
                     file.fits[h].n[half]);
      if (hypotheses[h].letter == 0)
        g_assert_cmpfloat(fabs(fit - 1), <, 0.06);
      else if (strchr(test->wrong, hypotheses[h].letter))
        g_assert_cmpfloat(fit, >, 1.25);
    }

  astro_observation_unref(file.observation);
  test_remove(path);
  g_assert_cmpint(g_rmdir(folder), ==, 0);
  g_free(folder);
}

static void add_tests(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *name = g_strconcat("/correlate/", cases[i].name, NULL);
    g_test_add_data_func(name, &cases[i], test_case);
  }
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
