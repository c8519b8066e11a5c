/* Gains and losses of simulated stations. */
#include "config.h"
#include "core/lib/predict/errors.h"

#include "core/lib/predict/predict.h"
#include "core/lib/sky/streams.h"

complex double *astro_predict_gains(guint stations, guint pols, double gain_error,
                                    double phase_error, guint64 seed)
{
  complex double *gains = g_new(complex double, (gsize)stations *pols);
  for (gsize i = 0; i < (gsize)stations * pols; i++) {
    float x[ASTRO_NOISE_TILE], y[ASTRO_NOISE_TILE];
    astro_sky_kernels()->noise(astro_noise_key(seed, ASTRO_NOISE_OF_GAIN, i, 0), 2, x, y);
    gains[i] = (1 + gain_error * x[0]) * cexp(I * phase_error * y[0]);
  }
  return gains;
}

void astro_predict_losses(guint stations, guint64 number, double loss, guint64 seed, guint8 *pieces)
{
  for (guint i = 0; i < stations; i++) {
    pieces[i] = 0;
    for (guint k = 0; k < ASTRO_PREDICT_PIECES; k++) {
      guint64 chance = astro_noise_key(seed, ASTRO_NOISE_OF_LOSS,
                                       (guint64)i * ASTRO_PREDICT_PIECES + k, (gint64)number);
      if ((double)(chance >> 11) * 0x1p-53 >= loss)
        pieces[i] |= (guint8)(1u << k);
    }
  }
}
