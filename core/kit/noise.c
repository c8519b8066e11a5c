/* Estimates noise from a median. */
#include "config.h"
#include "core/kit/noise.h"

#include <math.h>

/* Standard deviation of normal noise divided by the median of its absolute values. */
#define DEVIATION 1.482602218505602

static void swap(double *a, double *b)
{
  const double kept = *a;
  *a = *b;
  *b = kept;
}

/* Hoare's selection with the median of three as the pivot: the value that sorting would put at nth,
 * in linear time. */
static double select_nth(double *values, gsize n, gsize nth)
{
  gsize from = 0, to = n - 1;
  while (from < to) {
    const gsize half = from + (to - from) / 2;
    if (values[half] < values[from])
      swap(&values[half], &values[from]);
    if (values[to] < values[from])
      swap(&values[to], &values[from]);
    if (values[to] < values[half])
      swap(&values[to], &values[half]);
    const double pivot = values[half];
    gsize i = from, j = to;
    while (i <= j) {
      while (values[i] < pivot)
        i++;
      while (values[j] > pivot)
        j--;
      if (i > j)
        break;
      swap(&values[i++], &values[j]);
      if (j == 0)
        break;
      j--;
    }
    if (nth <= j)
      to = j;
    else if (nth >= i)
      from = i;
    else
      break;
  }
  return values[nth];
}

double astro_noise_of_sizes(double *sizes, gsize n)
{
  return n ? select_nth(sizes, n, n / 2) * DEVIATION : NAN;
}
