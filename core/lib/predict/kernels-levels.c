/* Kernels of prediction, in doubles, for one instruction set: phasors of sources at stations, and
 * their products over baselines. */
#include "config.h"
#include "core/lib/predict/kernels.h"

#include "core/backend/level.h"

#define LANES LEVEL_DOUBLES

typedef double Doubles __attribute__((vector_size(8 * LANES)));
typedef gint64 Longs __attribute__((vector_size(8 * LANES)));
typedef Doubles UnalignedDoubles __attribute__((aligned(8), may_alias));

#define LOAD(from) (*(const UnalignedDoubles *)(from))
#define STORE(to, value) (*(UnalignedDoubles *)(to) = (value))
#define SELECT(mask, a, b) ((Doubles)(((mask) & (Longs)(a)) | (~(mask) & (Longs)(b))))

/* cos and sin of 2 pi t for |t| < 2^48, to 2e-16: whole quarter cycles are subtracted exactly, and
 * the series for the rest end where further terms are below the precision of a double. */
static inline void circle(Doubles t, Doubles *cosine, Doubles *sine)
{
  const double magic = 6755399441055744; /* 1.5 * 2^52: adding it rounds to integers */
  Doubles rounded = 4 * t + magic;
  Longs quarter = (Longs)rounded;
  Doubles x = (t - (rounded - magic) * 0.25) * 6.283185307179586477;
  Doubles z = x * x;
  Doubles s =
      x + x * z *
              (-1.0 / 6 +
               z * (1.0 / 120 + z * (-1.0 / 5040 +
                                     z * (1.0 / 362880 + z * (-1.0 / 39916800 +
                                                              z * (1.0 / 6227020800 +
                                                                   z * (-1.0 / 1307674368000)))))));
  Doubles c =
      1 + z * (-1.0 / 2 +
               z * (1.0 / 24 +
                    z * (-1.0 / 720 +
                         z * (1.0 / 40320 +
                              z * (-1.0 / 3628800 +
                                   z * (1.0 / 479001600 +
                                        z * (-1.0 / 87178291200 + z * (1.0 / 20922789888000))))))));
  Longs is_odd = -(quarter & 1);
  Longs cosine_sign = ((quarter + 1) & 2) << 62, sine_sign = (quarter & 2) << 62;
  *cosine = (Doubles)((Longs)SELECT(is_odd, s, c) ^ cosine_sign);
  *sine = (Doubles)((Longs)SELECT(is_odd, c, s) ^ sine_sign);
}

static void phasors(const double *positions, const double *directions, const double *amplitudes,
                    guint n, double *out)
{
  Doubles x = LOAD(positions), y = LOAD(positions + LANES), z = LOAD(positions + 2 * LANES);
  for (guint i = 0; i < n; i++, directions += 3, out += 2 * LANES) {
    Doubles cosine, sine;
    circle(x * directions[0] + y * directions[1] + z * directions[2], &cosine, &sine);
    STORE(out, cosine * amplitudes[i]);
    STORE(out + LANES, sine * amplitudes[i]);
  }
}

static void products(const double *a, const double *b, guint n, double *re, double *im,
                     gsize stride)
{
  Doubles sum_re[LANES], sum_im[LANES];
#pragma GCC unroll 8
  for (guint r = 0; r < LANES; r++) {
    sum_re[r] = LOAD(re + r * stride);
    sum_im[r] = LOAD(im + r * stride);
  }
  for (guint i = 0; i < n; i++, a += 2 * LANES, b += 2 * LANES) {
    Doubles b_re = LOAD(b), b_im = LOAD(b + LANES);
#pragma GCC unroll 8
    for (guint r = 0; r < LANES; r++) {
      sum_re[r] += b_re * a[r];
      sum_im[r] += b_re * a[LANES + r];
      sum_re[r] += b_im * a[LANES + r];
      sum_im[r] -= b_im * a[r];
    }
  }
#pragma GCC unroll 8
  for (guint r = 0; r < LANES; r++) {
    STORE(re + r * stride, sum_re[r]);
    STORE(im + r * stride, sum_im[r]);
  }
}

const AstroPredictKernels LEVEL_NAMED(astro_predict_kernels) = { LEVEL_VARIANT, LANES, phasors,
                                                                 products };
