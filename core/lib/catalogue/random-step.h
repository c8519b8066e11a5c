/* A step of the random numbers, for C and CUDA: xoshiro256++ (Blackman and Vigna). */
#pragma once

#include "core/kit/on-both.h"
#include "core/lib/catalogue/catalogue.h"

ON_BOTH static inline guint64 astro_random_rotate(guint64 x, guint by)
{
  return x << by | x >> (64 - by);
}

ON_BOTH static inline double astro_random_step(AstroRandom *random)
{
  guint64 *s = random->state;
  const guint64 result = astro_random_rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = astro_random_rotate(s[3], 45);
  return (double)(result >> 11) * 0x1p-53;
}
