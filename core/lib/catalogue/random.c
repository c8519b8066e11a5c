/* Random numbers: xoshiro256++ (Blackman and Vigna), seeded by splitmix64. */
#include "core/lib/catalogue/catalogue.h"
#include "core/kit/split-mix.h"

static guint64 rotate(guint64 x, guint by)
{
  return x << by | x >> (64 - by);
}

void astro_random_init(AstroRandom *random, guint64 seed, guint64 index)
{
  /* seed and index are mixed one after the other, so that (1, 2) and (2, 1) differ */
  guint64 state = seed;
  state = astro_split_mix(&state) + index;
  for (guint i = 0; i < G_N_ELEMENTS(random->state); i++)
    random->state[i] = astro_split_mix(&state);
}

double astro_random_uniform(AstroRandom *random)
{
  guint64 *s = random->state;
  guint64 result = rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate(s[3], 45);
  return (double)(result >> 11) * 0x1p-53;
}
