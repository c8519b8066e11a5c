/* A plane in the hands of a group of threads, which is a block of CUDA, and its medians. All
 * functions are called by all threads of the group. */
#pragma once

#include "gpu/flag/flag.h"

enum { FLAG_THREADS = 512 };

/* A cell holds what the windows look at: the deviation as a whole number, and two bits. */
enum { CELL_USABLE = 1, CELL_BAD = 2, CELL_BITS = 2, CELL_STATE = 3 };

/* Arrays of rows * channels. Cells lie as [row][channel] and, turned, as [channel][row], so that
 * threads lie along memory whether windows are in time or in frequency; spare ones take the next
 * state of each. */
struct FlagPlane {
  guint32 rows, channels, values;
  bool is_power;
  const float *amplitudes;
  gint32 *cells, *turned, *spare, *spare_turned;
  float *deviations, *weights, *weighted;
};

#define FLAG_PLANE_ARRAYS 7

__device__ inline bool flag_is_usable(float amplitude)
{
  return fabsf(amplitude) <= G_MAXFLOAT;
}

/* Whether a value counts: usable, and not flagged. */
__device__ inline bool flag_counts(gint32 cell)
{
  return (cell & CELL_STATE) == CELL_USABLE;
}

/* ---- sums and medians ---- */

/* The sum over the group, to all its threads. */
__device__ inline guint32 flag_sum(guint32 value)
{
  __shared__ guint32 sum;
  __syncthreads();
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  value = __reduce_add_sync(0xffffffff, value);
  if (threadIdx.x % 32 == 0)
    atomicAdd(&sum, value);
  __syncthreads();
  return sum;
}

/* Whole numbers in the order of the floats. No value that counts has the last one. */
#define FLAG_NO_KEY 0xffffffffu

__device__ inline guint32 flag_key(float value)
{
  const guint32 bits = __float_as_uint(value);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ inline float flag_key_value(guint32 key)
{
  return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

/* Two bits of a key at a time, from the highest on: how many keys that begin like the one sought
 * go on with 0, 1 and 2. */
struct FlagDigits {
  guint32 prefix = 0, n[3];

  __device__ void begin()
  {
    n[0] = n[1] = n[2] = 0;
  }
  __device__ void count(guint32 key, int shift)
  {
    const guint32 digit = (key >> shift) - (prefix << 2);
    n[0] += digit == 0;
    n[1] += digit == 1;
    n[2] += digit == 2;
  }
  /* Goes to the k-th of those keys, and leaves k as its place among those that begin like it. */
  __device__ void go(guint32 *k)
  {
    guint32 digit = 0;
    for (; digit < 3 && *k >= n[digit]; digit++)
      *k -= n[digit];
    prefix = prefix << 2 | digit;
  }
};

/* The median of n keys that count among all of the plane: of an even number the upper one of the
 * two, as astro_flag_median. */
__device__ inline float flag_median(const guint32 *keys, guint32 values, guint32 n)
{
  FlagDigits digits;
  guint32 k = n / 2;
  if (n == 0)
    return 0;
  for (int shift = 30; shift >= 0; shift -= 2) {
    digits.begin();
#pragma unroll 4
    for (guint32 i = threadIdx.x; i < values; i += FLAG_THREADS)
      digits.count(keys[i], shift);
    for (int digit = 0; digit < 3; digit++)
      digits.n[digit] = flag_sum(digits.n[digit]);
    digits.go(&k);
  }
  return flag_key_value(digits.prefix);
}

/* Makes the keys of values of cells that count, and returns how many those are. Each thread reads
 * and writes places of its own, and flag_sum waits for all. */
template <typename Value>
__device__ inline guint32 flag_make_keys(const FlagPlane &plane, guint32 *keys, Value value)
{
  guint32 n = 0;
  for (guint32 i = threadIdx.x; i < plane.values; i += FLAG_THREADS) {
    const bool counts = flag_counts(plane.cells[i]);
    keys[i] = counts ? flag_key(value(i)) : FLAG_NO_KEY;
    n += counts;
  }
  return flag_sum(n);
}
