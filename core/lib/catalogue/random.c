/* Random numbers: their seeds, by splitmix64, and the step that is shared with CUDA. */
#include "core/lib/catalogue/random-step.h"

#include "core/kit/split-mix.h"

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
  return astro_random_step(random);
}
