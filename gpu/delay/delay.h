/* The parts of the delay on the GPU: an instance, its memory, and the work on either quantity. */
#pragma once

#include "gpu/runtime/cuda.h"

extern "C" {
#include "core/lib/interpolate/fraction.h"
#include "core/delay/instance.h"
}

#include <math.h>

enum {
  DELAY_THREADS = 256,
  DELAY_TAP_STEPS = 1024, /* fractions that taps are known of; straight lines between them */
};

struct Delay {
  AstroDelayConfig config;
  AstroPlace place;
  guint stations, pols, inputs, channels;
  gboolean is_spectra;
  double rate, first_frequency, channel_width;

  float *taps; /* [fraction][tap], of real voltages [fraction][real parts, imaginary ones][tap] */
  gpointer upload;
  gsize upload_bytes;

  /* [input][capacity], from the sample start on; the spare one for moving */
  float2 *window, *spare;
  gsize capacity, spare_capacity, length;
  gint64 start;
};

gboolean astro_cuda_delay_alloc(Delay *self, gpointer face, gsize count, gsize bytes,
                                GError **error);

/* Host data for the kernel that comes next, one piece behind the other. */
struct DelayPiece {
  gconstpointer host;
  gsize bytes;
  gpointer device;
};
gboolean astro_cuda_delay_send(Delay *self, DelayPiece *pieces, guint n, GError **error);

/* Samples are turned where they lie. */
gboolean astro_cuda_delay_spectra(Delay *self, const guint8 *in, guint8 *out,
                                  const AstroDelayArguments *arguments, GError **error);

/* Samples go to the window and come out of it. NULL for in: none came; for out: none go yet. */
gboolean astro_cuda_delay_voltages(Delay *self, const guint8 *in, guint8 *out,
                                   const AstroDelayArguments *arguments, GError **error);

__device__ inline float2 turn_by(double turns)
{
  float sine, cosine;
  sincospif((float)(2 * (turns - rint(turns))), &sine, &cosine);
  return make_float2(cosine, sine);
}

__device__ inline float2 product(float2 a, float2 b)
{
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
