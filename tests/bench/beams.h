/* Beams of two polarisations that benchmarks form, by any backend. */
#pragma once

#include "core/beamform/beamform.h"

typedef struct {
  const char *from, *to, *layout; /* its AXIS is that of stations, then that of beams */
  guint stations, beams, channels;
  guint64 steps;
  double wanted; /* ratio */
} BenchBeams;

enum { BENCH_BEAMS_POLS = 2 };

/* All that create and submit of the stage take. */
typedef struct {
  AstroBeamformConfig config;
  AstroBeamformArguments arguments;
  gsize bytes_in, bytes_out;
  AstroBeamformStations stations;
  guint *index;
  double *seconds, *offsets;
} BenchBeamsWork;

static inline AstroStream bench_beams_stream(const BenchBeams *shape, const char *axis,
                                             const char *format)
{
  g_auto(GStrv) halves = g_strsplit(shape->layout, "AXIS", 2);
  g_autofree char *text =
      g_strdup_printf("application/x-astro-spectra,format=%s,layout=%s%s%s,channels=%u,"
                      "stations=%u,beams=%u,pols=%d,rate=1000/1,frequency=1.5e8,bandwidth=1e6",
                      format, halves[0], axis, halves[1], shape->channels, shape->stations,
                      shape->beams, BENCH_BEAMS_POLS);
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  AstroStream stream;
  if (!astro_stream_from_caps(&stream, caps, NULL))
    g_error("%s", text);
  return stream;
}

/* The work is not to be moved after this. */
static inline void bench_beams_init(BenchBeamsWork *work, const BenchBeams *shape)
{
  work->config = (AstroBeamformConfig){ bench_beams_stream(shape, "station", shape->from),
                                        bench_beams_stream(shape, "beam", shape->to) };
  work->index = g_new(guint, shape->stations);
  work->seconds = g_new(double, 3 * shape->stations);
  work->offsets = g_new(double, 3 * shape->beams);
  for (guint i = 0; i < shape->stations; i++)
    work->index[i] = i;
  for (guint i = 0; i < 3 * shape->stations; i++)
    work->seconds[i] = 1e-8 * i;
  for (guint i = 0; i < 3 * shape->beams; i++)
    work->offsets[i] = 1e-4 * i;
  work->stations = (AstroBeamformStations){ shape->stations, work->index, work->seconds, NULL, 1 };
  work->arguments = (AstroBeamformArguments){ .stations = &work->stations,
                                              .steps = shape->steps,
                                              .interval = 1 << 20,
                                              .offsets = work->offsets };
  work->bytes_in = shape->steps * astro_stream_step_bytes(&work->config.in);
  work->bytes_out = shape->steps * astro_stream_step_bytes(&work->config.out);
}

static inline void bench_beams_clear(BenchBeamsWork *work)
{
  g_free(work->index);
  g_free(work->seconds);
  g_free(work->offsets);
}

/* 8 for each sample of a station and each beam. */
static inline double bench_beams_operations(const BenchBeams *shape)
{
  return 8. * shape->stations * shape->beams * shape->channels * BENCH_BEAMS_POLS *
         (double)shape->steps;
}
