/* CI4 widened to bytes, four samples at a time, as they lie in a word: parts to 16 times their
 * value, sums and differences of the two parts to 8 times theirs. */
#pragma once

#include <glib.h>

enum { CORRELATOR_PART_BITS = 4, CORRELATOR_SUM_BITS = 3 };

/* The first part of each sample of a word, and the second. */
__device__ inline guint32 first_of(guint32 word)
{
  return word & 0xf0f0f0f0u;
}
__device__ inline guint32 second_of(guint32 word)
{
  return (word << 4) & 0xf0f0f0f0u;
}

/* 8 times the sum and the difference of parts that are 16 times theirs. Half of such a byte, taken
 * without a sign, is 8 times the part, and 128 more if that is negative: so the top bit is wrong
 * where one of the two is. No byte carries into the next one. */
__device__ inline guint32 sum_of(guint32 first, guint32 second)
{
  return ((first >> 1) + (second >> 1)) ^ ((first ^ second) & 0x80808080u);
}
__device__ inline guint32 difference_of(guint32 first, guint32 second)
{
  return ((first >> 1) - (second >> 1) + 0x80808080u) ^ (~(first ^ second) & 0x80808080u);
}
