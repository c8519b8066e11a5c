/* predict OUTPUT: evaluates the measurement equation for three polarised sources and writes UVFITS.
 * Prints the true values, which other programs then have to find in the file. */
#include "core/fits/fits.h"
#include "core/stream/uvw.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>

#define STATIONS 31
#define TIMES 60
#define STEP_NS (60 * GST_SECOND)
#define CHANNELS 4
#define FREQUENCY 150e6
#define BANDWIDTH 4e6
#define RADIANS (G_PI / 180)
#define LATITUDE (52.9 * RADIANS)
#define LONGITUDE (6.9 * RADIANS)

/* I, Q, U, V in Jy: all different, without symmetry, the last source 1.3 degrees away. */
static const struct {
  double l, m, stokes[4];
} sources[] = {
  { 0.0031, -0.0052, { 3.0, 0.6, -0.9, 0.3 } },
  { -0.0094, 0.0040, { 2.0, -0.5, 0.4, -0.7 } },
  { 0.0180, 0.0137, { 5.0, 1.5, 1.0, -1.2 } },
};

static AstroObservation *make_observation(GError **error)
{
  AstroObservation *o = astro_observation_new(STATIONS);
  for (guint i = 0; i < STATIONS; i++) {
    /* A sunflower with some height, so that the array is not flat. */
    double radius = 1500 * sqrt((i + 0.5) / STATIONS), angle = i * 2.39996323 + 0.3 * sin(7.0 * i);
    double local[3] = { radius * sin(angle), radius * cos(angle), 20 * sin(3.0 * i) };
    astro_geocentric_from_local(LATITUDE, LONGITUDE, 20, local, &o->positions[3 * i]);
  }
  if (!astro_observation_set_start(o, "2026-11-20T21:30:00.5Z", error)) {
    astro_observation_unref(o);
    return NULL;
  }
  astro_zenith(o, TIMES * STEP_NS / 2, o->positions, &o->phase_ra, &o->phase_dec);
  /* Well off the zenith, so that w is as long as u and v. */
  o->has_phase_centre = TRUE;
  o->phase_ra += 25 * RADIANS;
  o->phase_dec -= 15 * RADIANS;
  return o;
}

static double frequency_of(guint channel)
{
  return FREQUENCY - BANDWIDTH / 2 + (channel + 0.5) * BANDWIDTH / CHANNELS;
}

static void predict(const AstroObservation *o, guint time, complex float *out)
{
  double uvw[3 * STATIONS];
  astro_uvw(o, time * STEP_NS + STEP_NS / 2, uvw);
  for (guint c = 0; c < CHANNELS; c++)
    for (guint i = 0; i < STATIONS; i++)
      for (guint j = 0; j <= i; j++, out += 4) {
        complex double sum[4] = { 0 };
        for (guint s = 0; s < G_N_ELEMENTS(sources); s++) {
          double l = sources[s].l, m = sources[s].m, n = sqrt(1 - l * l - m * m), path = 0;
          const double *stokes = sources[s].stokes, direction[3] = { l, m, n - 1 };
          for (guint k = 0; k < 3; k++)
            path += (uvw[3 * i + k] - uvw[3 * j + k]) * direction[k];
          complex double phase = cexp(2 * G_PI * I * path * frequency_of(c) / ASTRO_LIGHT_SPEED);
          sum[0] += phase * (stokes[0] + stokes[1]);
          sum[1] += phase * (stokes[2] + I * stokes[3]);
          sum[2] += phase * (stokes[2] - I * stokes[3]);
          sum[3] += phase * (stokes[0] - stokes[1]);
        }
        for (guint p = 0; p < 4; p++)
          out[p] = sum[p];
      }
}

static void report(const AstroObservation *o)
{
  g_autofree char *start = astro_observation_get_start(o);
  printf("start %s step %.9f times %d\n", start, STEP_NS * 1e-9, TIMES);
  printf("phase %.15g %.15g\n", o->phase_ra / RADIANS, o->phase_dec / RADIANS);
  for (guint c = 0; c < CHANNELS; c++)
    printf("frequency %.6f\n", frequency_of(c));
  for (guint i = 0; i < STATIONS; i++)
    printf("station %s %.9f %.9f %.9f\n", o->names[i], o->positions[3 * i], o->positions[3 * i + 1],
           o->positions[3 * i + 2]);
  for (guint s = 0; s < G_N_ELEMENTS(sources); s++)
    printf("source %.9g %.9g %g %g %g %g\n", sources[s].l, sources[s].m, sources[s].stokes[0],
           sources[s].stokes[1], sources[s].stokes[2], sources[s].stokes[3]);
}

static gboolean write_all(AstroPartFile *file, const AstroFitsContents *contents, GError **error)
{
  const AstroFitsWriterKind *kind =
      astro_fits_writer_kind(ASTRO_QUANTITY_VISIBILITIES, "v.uvfits", error);
  gpointer writer = kind->create(file, contents, error);
  complex float *data = g_malloc(astro_stream_step_bytes(&contents->stream));
  gboolean good = writer != NULL;
  AstroFitsTally tally = { 0 };

  for (guint time = 0; time < TIMES && good; time++) {
    AstroFitsFrames frames = {
      .data = data, .frames = 1, .start_ns = time * STEP_NS, .duration_ns = STEP_NS
    };
    predict(contents->observation, time, data);
    good = kind->write(writer, &frames, &tally, error);
  }
  good = good && kind->finish(writer, &tally, error);
  if (writer)
    kind->destroy(writer);
  g_free(data);
  return good;
}

int main(int argc, char **argv)
{
  g_autoptr(GError) error = NULL;
  if (argc != 2) {
    g_printerr("usage: %s OUTPUT\n", argv[0]);
    return 2;
  }
  gst_init(NULL, NULL);
  AstroFitsContents contents = { .stations = STATIONS, .observation = make_observation(&error) };
  contents.stream = (AstroStream){
    .quantity = ASTRO_QUANTITY_VISIBILITIES,
    .format = ASTRO_FORMAT_CF32LE,
    .layout = { 4,
                { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE, ASTRO_AXIS_POL, ASTRO_AXIS_POL },
                { CHANNELS, STATIONS * (STATIONS + 1) / 2, 2, 2 } },
    .frequency = FREQUENCY,
    .bandwidth = BANDWIDTH,
  };
  AstroPartFile *file = contents.observation ? astro_part_file_create(argv[1], &error) : NULL;
  if (!file || !write_all(file, &contents, &error) || !astro_part_file_commit(file, &error)) {
    g_printerr("%s: %s\n", argv[1], error->message);
    return 1;
  }
  report(contents.observation);
  astro_fits_contents_clear(&contents);
  return 0;
}
