/* Noise, the same for all instruction sets, and samples rounded to their formats. */
#include "config.h"
#include "core/lib/sky/kernels.h"

#include "core/backend/level.h"
#include "core/kit/split-mix.h"

#include <string.h>

#define LANES LEVEL_FLOATS
#define GENERATORS 16 /* of random numbers, in parallel: as many for all instruction sets */
#define GROUPS (GENERATORS / LANES)

typedef guint32 Words __attribute__((vector_size(4 * LANES)));
typedef gint32 Integers __attribute__((vector_size(4 * LANES)));
typedef float Floats __attribute__((vector_size(4 * LANES)));
typedef Words UnalignedWords __attribute__((aligned(4), may_alias));
typedef Floats UnalignedFloats __attribute__((aligned(4), may_alias));

#define ROTATED(x, by) ((x) << (by) | (x) >> (32 - (by)))
#define SELECT(mask, a, b) ((Floats)(((mask) & (Integers)(a)) | (~(mask) & (Integers)(b))))
#define EACH(value) ((Floats){ 0 } + (value))

/* xoshiro128++, seeded by splitmix64. */
static void fill_random(guint64 key, guint32 *words, guint n)
{
  guint32 seeds[4][GENERATORS];
  Words s[4][GROUPS];
  for (guint i = 0; i < GENERATORS; i++)
    for (guint k = 0; k < 4; k += 2) {
      guint64 seed = astro_split_mix(&key);
      seeds[k][i] = (guint32)seed;
      seeds[k + 1][i] = (guint32)(seed >> 32);
    }
  memcpy(s, seeds, sizeof s);
  for (guint i = 0; i < n; i += GENERATORS)
#pragma GCC unroll 4
    for (guint g = 0; g < GROUPS; g++) {
      Words sum = s[0][g] + s[3][g], shifted = s[1][g] << 9;
      *(UnalignedWords *)&words[i + g * LANES] = ROTATED(sum, 7) + s[0][g];
      s[2][g] ^= s[0][g];
      s[3][g] ^= s[1][g];
      s[1][g] ^= s[2][g];
      s[0][g] ^= s[3][g];
      s[2][g] ^= shifted;
      s[3][g] = ROTATED(s[3][g], 11);
    }
}

/* Natural logarithm of normal positive numbers, to 1e-7. */
static inline Floats log_of(Floats x)
{
  static const float c[9] = { 7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
                              -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
                              2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f };
  Integers bits = (Integers)x;
  Integers exponent = (bits - 0x3f3504f3) >> 23; /* leaves a mantissa from 1/sqrt(2) to sqrt(2) */
  Floats f = (Floats)(bits - (exponent << 23)) - 1.0f, p = EACH(c[0]);
  for (guint i = 1; i < 9; i++)
    p = p * f + c[i];
  return f + f * f * (p * f - 0.5f) + __builtin_convertvector(exponent, Floats) * 0.69314718f;
}

/* sin(2 pi y) for |y| <= 1/4, by its series, to 1e-7. */
static inline Floats sine_of(Floats y)
{
  Floats z = y * y;
  return y * (6.28318531f +
              z * (-41.3417022f +
                   z * (81.6052493f + z * (-76.7058598f + z * (42.0586940f + z * -15.0946426f)))));
}

/* Square root by Newton's method, to 1e-7; for numbers from 1e-30 on. */
static inline Floats root_of(Floats x)
{
  Floats inverse = (Floats)(0x5f375a86 - ((Integers)x >> 1));
  for (guint i = 0; i < 3; i++)
    inverse = inverse * (1.5f - 0.5f * x * inverse * inverse);
  return x * inverse;
}

static inline Floats size_of(Floats x)
{
  return (Floats)((Integers)x & 0x7fffffff);
}

/* The method of Box and Muller. */
static void noise(guint64 key, float power, float re[ASTRO_NOISE_TILE], float im[ASTRO_NOISE_TILE])
{
  guint32 words[2 * ASTRO_NOISE_TILE];
  fill_random(key, words, 2 * ASTRO_NOISE_TILE);
  for (guint i = 0; i < ASTRO_NOISE_TILE; i += LANES) {
    Words first = *(UnalignedWords *)&words[i];
    Integers second = (Integers) * (UnalignedWords *)&words[ASTRO_NOISE_TILE + i];
    Floats uniform = __builtin_convertvector((Integers)(first >> 8), Floats);
    uniform = (uniform + 0.5f) * 0x1p-24f;
    Floats angle = __builtin_convertvector(second, Floats) * 0x1p-32f; /* cycles, -1/2 to 1/2 */
    Floats size = size_of(angle), folded = 0.25f - size_of(size - 0.25f);
    /* Rounding may make log_of(1) positive: hence size_of. */
    Floats length = root_of(power * size_of(log_of(uniform)) + 1e-30f);
    *(UnalignedFloats *)&re[i] = length * sine_of(0.25f - size);
    *(UnalignedFloats *)&im[i] =
        length * sine_of((Floats)((Integers)folded | ((Integers)angle & G_MININT32)));
  }
}

static inline Integers quantised(Floats x, float limit)
{
  const float magic = 12582912; /* 1.5 * 2^23: adding it rounds to integers */
  x = SELECT(x > limit, EACH(limit), x);
  x = SELECT(x < -limit - 1.0f, EACH(-limit - 1.0f), x);
  return (Integers)(x + magic) - 0x4b400000;
}

/* Stores integer samples within limit, combined from x and y (the parts, as 32-bit words); real
 * ones from x. */
#define STORE(name, Sample, limit, together)                                                       \
  static void name(const float *re, const float *im, guint n, float scale, gpointer out)           \
  {                                                                                                \
    typedef Sample Samples __attribute__((vector_size(sizeof(Sample) * LANES)));                   \
    Sample *to = out;                                                                              \
    for (guint i = 0; i < n; i += LANES) {                                                         \
      Words x = (Words)quantised(*(const UnalignedFloats *)&re[i] * scale, limit);                 \
      Words y = (Words)quantised(*(const UnalignedFloats *)&im[i] * scale, limit);                 \
      (void)y;                                                                                     \
      Samples samples = __builtin_convertvector(together, Samples);                                \
      if (n - i >= LANES)                                                                          \
        memcpy(to + i, &samples, sizeof samples);                                                  \
      else                                                                                         \
        memcpy(to + i, &samples, (n - i) * sizeof(Sample));                                        \
    }                                                                                              \
  }

STORE(store_ci4, guint8, 7, (x << 4 & 0xf0) | (y & 15))
STORE(store_ci8, guint16, 127, (x & 0xff) | (y << 8 & 0xff00))
STORE(store_ci16, guint32, 32767, (x & 0xffff) | (y << 16))
STORE(store_i8, guint8, 127, x & 0xff)
STORE(store_i16, guint16, 32767, x & 0xffff)

static void store_cf32(const float *re, const float *im, guint n, float scale, gpointer out)
{
  float *restrict to = out;
  for (guint i = 0; i < n; i++) {
    to[2 * i] = re[i] * scale;
    to[2 * i + 1] = im[i] * scale;
  }
}

static void store_f32(const float *re, const float *im, guint n, float scale, gpointer out)
{
  float *restrict to = out;
  for (guint i = 0; i < n; i++)
    to[i] = re[i] * scale;
}

const AstroSkyKernels LEVEL_NAMED(astro_sky_kernels) = {
  LEVEL_VARIANT,
  noise,
  {
      [ASTRO_FORMAT_CI4] = store_ci4,
      [ASTRO_FORMAT_CI8] = store_ci8,
      [ASTRO_FORMAT_CI16LE] = store_ci16,
      [ASTRO_FORMAT_CF32LE] = store_cf32,
      [ASTRO_FORMAT_I8] = store_i8,
      [ASTRO_FORMAT_I16LE] = store_i16,
      [ASTRO_FORMAT_F32LE] = store_f32,
  },
};
