/* splitmix64 (Steele, Lea and Flood): changing one bit of the seed changes half the bits of the
 * numbers. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_SPLIT_MIX_STEP 0x9e3779b97f4a7c15u

static inline guint64 astro_split_mix_of(guint64 state)
{
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
  return state ^ (state >> 31);
}

/* The next number of a sequence. */
static inline guint64 astro_split_mix(guint64 *state)
{
  return astro_split_mix_of(*state += ASTRO_SPLIT_MIX_STEP);
}

G_END_DECLS
