/* Selects the median. */
#include "config.h"
#include "core/flag/median.h"

#include <string.h>

/* ---- few values: quickselect ---- */

static void swap(float *a, float *b)
{
  const float kept = *a;
  *a = *b;
  *b = kept;
}

/* The value that is k-th in order, by quickselect. */
static float select_value(float *values, gsize n, gsize k)
{
  gsize low = 0, high = n - 1;
  while (low < high) {
    const gsize middle = low + (high - low) / 2;
    if (values[middle] < values[low])
      swap(&values[middle], &values[low]);
    if (values[high] < values[low])
      swap(&values[high], &values[low]);
    if (values[high] < values[middle])
      swap(&values[high], &values[middle]);
    const float pivot = values[middle];
    gsize i = low, j = high;
    while (i <= j) {
      while (values[i] < pivot)
        i++;
      while (values[j] > pivot)
        j--;
      if (i <= j) {
        swap(&values[i], &values[j]);
        i++;
        if (j == 0)
          break;
        j--;
      }
    }
    if (k <= j && j < high)
      high = j;
    else if (k >= i)
      low = i;
    else
      break;
  }
  return values[k];
}

/* ---- many values: digit by digit ---- */

#define MANY 1024
#define DIGIT 11
#define DIGITS (1u << DIGIT)

/* Whole numbers in the order of the floats. */
static inline guint32 key_of(float value)
{
  guint32 bits;
  memcpy(&bits, &value, sizeof bits);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static inline float value_of(guint32 key)
{
  const guint32 bits = key & 0x80000000u ? key & 0x7fffffffu : ~key;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* How often each digit occurs. Neighbours are often alike: they are counted apart, as one would
 * wait for the other's count. */
static void count_digits(const float *values, gsize n, gint shift, guint *counts)
{
  guint others[DIGITS] = { 0 };
  gsize i = 0;
  memset(counts, 0, sizeof others);
  for (; i + 2 <= n; i += 2) {
    counts[key_of(values[i]) >> shift & (DIGITS - 1)]++;
    others[key_of(values[i + 1]) >> shift & (DIGITS - 1)]++;
  }
  for (; i < n; i++)
    counts[key_of(values[i]) >> shift & (DIGITS - 1)]++;
  for (guint digit = 0; digit < DIGITS; digit++)
    counts[digit] += others[digit];
}

/* The first digits of the k-th value are those of the count in which it falls; the values that have
 * them are kept, and their next digits counted. */
static float select_by_digits(float *values, gsize n, gsize k)
{
  guint counts[DIGITS];
  guint32 found = 0;
  for (gint shift = 32 - DIGIT; n > 0; shift = shift > DIGIT ? shift - DIGIT : 0) {
    guint digit = 0;
    count_digits(values, n, shift, counts);
    for (; k >= counts[digit]; digit++)
      k -= counts[digit];
    found |= (guint32)digit << shift;
    if (shift == 0)
      break;
    gsize kept = 0;
    for (gsize i = 0; i < n; i++) {
      values[kept] = values[i];
      kept += (key_of(values[i]) >> shift & (DIGITS - 1)) == digit;
    }
    n = kept;
  }
  return value_of(found);
}

float astro_flag_median(float *values, gsize n)
{
  return n == 0 ? 0 : (n < MANY ? select_value : select_by_digits)(values, n, n / 2);
}
