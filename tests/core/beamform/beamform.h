/* Streams, stations and directions for tests of the beamformer. */
#pragma once

#include "core/beamform/beamform.h"
#include "tests/near.h"
#include "tests/tests.h"

typedef struct {
  AstroFormat from, to;
  const char *layout; /* of the input */
  guint channels, stations, pols, beams;
  guint64 first, steps, interval;
} TestBeams;

static inline AstroStream test_beams_stream(const TestBeams *beams, gboolean is_out)
{
  g_auto(GStrv) halves = g_strsplit(beams->layout, "station", 2);
  g_autofree char *text = g_strdup_printf(
      "application/x-astro-spectra,format=%s,layout=%s%s%s,channels=%u,stations=%u,beams=%u,"
      "pols=%u,rate=1000/1,frequency=1.5e8,bandwidth=1e6",
      astro_format_name(is_out ? beams->to : beams->from), halves[0], is_out ? "beam" : "station",
      halves[1], beams->channels, beams->stations, beams->beams, beams->pols);
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  g_autoptr(GError) error = NULL;
  AstroStream stream;
  astro_stream_from_caps(&stream, caps, &error);
  g_assert_no_error(error);
  return stream;
}

static inline AstroBeamformConfig test_beams_config(const TestBeams *beams)
{
  return (AstroBeamformConfig){ test_beams_stream(beams, FALSE), test_beams_stream(beams, TRUE) };
}

/* Every station takes part, some kilometres from the centre. */
typedef struct {
  AstroBeamformStations stations;
  guint *index;
  double *seconds, *offsets;
  float *weights;
  AstroBeamformArguments arguments;
} TestSteering;

static inline void test_steering_init(TestSteering *s, const TestBeams *beams, gboolean weighted)
{
  const guint64 n =
      3 * beams->beams * astro_beamform_intervals(beams->first, beams->steps, beams->interval);
  *s = (TestSteering){ .index = g_new(guint, beams->stations),
                       .seconds = g_new(double, 3 * beams->stations),
                       .offsets = g_new(double, n) };
  for (guint i = 0; i < beams->stations; i++)
    s->index[i] = i;
  for (guint i = 0; i < 3 * beams->stations; i++)
    s->seconds[i] = g_test_rand_double_range(-1e-5, 1e-5);
  for (guint64 i = 0; i < n; i++)
    s->offsets[i] = g_test_rand_double_range(-0.1, 0.1);
  if (weighted) {
    const gsize values = 2 * (gsize)beams->channels * beams->stations;
    s->weights = g_new(float, values);
    for (gsize i = 0; i < values; i++)
      s->weights[i] = (float)g_test_rand_double_range(-2, 2);
  }
  s->stations =
      (AstroBeamformStations){ beams->stations, s->index, s->seconds, s->weights, .scale = 1 };
  s->arguments = (AstroBeamformArguments){ .stations = &s->stations,
                                           .first = beams->first,
                                           .steps = beams->steps,
                                           .interval = beams->interval,
                                           .offsets = s->offsets };
}

static inline void test_steering_clear(TestSteering *s)
{
  g_free(s->index);
  g_free(s->seconds);
  g_free(s->offsets);
  g_free(s->weights);
}

/* Samples of which the rms of a component is about 20. */
static inline gpointer test_beams_samples(const AstroStream *stream, guint64 steps)
{
  const gsize bytes = steps * astro_stream_step_bytes(stream);
  gpointer block = test_alloc(bytes);
  test_fill(block, bytes, (guint32)g_test_rand_int());
  if (stream->format == ASTRO_FORMAT_CF32LE)
    for (gsize i = 0; i < bytes / sizeof(float); i++)
      ((float *)block)[i] = (float)g_test_rand_double_range(-35, 35);
  if (stream->format == ASTRO_FORMAT_CF16LE) /* between 1 and 2, or the negative of it */
    for (gsize i = 0; i < bytes / sizeof(guint16); i++)
      ((guint16 *)block)[i] = (guint16)((((guint16 *)block)[i] & 0x83ff) | 0x3c00);
  return block;
}

/* The beams, in memory that was full of garbage; NULL: the error says why there are none. */
static inline gpointer test_beams_form(const AstroBackend *backend,
                                       const AstroBeamformConfig *config, gconstpointer in,
                                       const AstroBeamformArguments *arguments, guint threads,
                                       guint64 *clipped, GError **error)
{
  const AstroPlace place = { .threads = threads };
  const gsize in_bytes = arguments->steps * astro_stream_step_bytes(&config->in),
              out_bytes = arguments->steps * astro_stream_step_bytes(&config->out);
  const char *variant = NULL;
  gpointer instance = backend->create(config, &place, &variant, error);
  g_assert_nonnull(instance);
  gpointer out = test_alloc(out_bytes);
  const AstroBlock from = { (gpointer)in, in_bytes }, to = { out, out_bytes };
  AstroResult result = { 0 };
  const gboolean good = backend->submit(instance, &from, 1, &to, 1, arguments, &result, error);
  test_check_guard(out, out_bytes);
  backend->destroy(instance);
  if (clipped)
    *clipped = result.clipped;
  if (!good)
    g_clear_pointer(&out, test_free);
  return out;
}

/* A component of a sample, for any format of the output. */
static inline double test_beams_component(AstroFormat format, gconstpointer block, gsize i)
{
  return format == ASTRO_FORMAT_CF32LE   ? (double)((const float *)block)[i]
         : format == ASTRO_FORMAT_CI16LE ? ((const gint16 *)block)[i]
                                         : ((const gint8 *)block)[i];
}
