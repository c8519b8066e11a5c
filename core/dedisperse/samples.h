/* Reads single samples of voltages and spectra. */
#pragma once

#include <complex.h>
#include <math.h>

#include "core/lib/formats/half.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

static inline float complex astro_dedisperse_sample(AstroFormat format, gconstpointer in, gsize at)
{
  const gint8 *bytes = in;
  const gint16 *shorts = in;
  const guint16 *halves = in;
  const float *floats = in;
  switch (format) {
  case ASTRO_FORMAT_CI4:
    return CMPLXF((float)(bytes[at] >> 4), (float)((gint8)((guint8)bytes[at] << 4) >> 4));
  case ASTRO_FORMAT_CI8:
    return CMPLXF(bytes[2 * at], bytes[2 * at + 1]);
  case ASTRO_FORMAT_CI16LE:
    return CMPLXF(shorts[2 * at], shorts[2 * at + 1]);
  case ASTRO_FORMAT_CF16LE:
    return CMPLXF((float)astro_half_value(halves[2 * at]),
                  (float)astro_half_value(halves[2 * at + 1]));
  default:
    return CMPLXF(floats[2 * at], floats[2 * at + 1]);
  }
}

/* A sum with it would not be finite, and so would all that a transform makes of it. */
static inline gboolean astro_dedisperse_is_finite(float complex sample)
{
  return isfinite(crealf(sample)) && isfinite(cimagf(sample));
}

G_END_DECLS
