/* Parts of the delay on the GPU: an instance, its memory, and the work on either quantity. */
#pragma once

#include "gpu/runtime/phasor.h"
#include "gpu/runtime/upload.h"

extern "C" {
#include "core/lib/interpolate/fraction.h"
#include "core/delay/instance.h"
}

#include <math.h>

enum {
  DELAY_THREADS = 256,
  DELAY_TAP_STEPS = 1024, /* fractions in the table of taps; interpolated linearly between them */
};

struct Delay {
  AstroDelayConfig config;
  AstroPlace place;
  guint stations, pols, inputs, channels;
  gboolean is_spectra;
  double rate, first_frequency, channel_width;

  float *taps; /* [fraction][tap]; for real voltages [fraction][real and imaginary parts][tap] */
  AstroCudaUpload upload;

  /* [input][capacity], beginning with sample start; the spare window is for moving samples */
  float2 *window, *spare;
  gsize capacity, spare_capacity, length;
  gint64 start;
};

gboolean astro_cuda_delay_alloc(Delay *self, gpointer face, gsize count, gsize bytes,
                                GError **error);

/* Rotates the phases of spectra, sample by sample. */
gboolean astro_cuda_delay_spectra(Delay *self, const guint8 *in, guint8 *out,
                                  const AstroDelayArguments *arguments, GError **error);

/* Voltages go to the window and come out of it. in NULL: none came; out NULL: none leave yet. */
gboolean astro_cuda_delay_voltages(Delay *self, const guint8 *in, guint8 *out,
                                   const AstroDelayArguments *arguments, GError **error);
