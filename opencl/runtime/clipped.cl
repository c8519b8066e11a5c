/* Counts clipped components. */

/* Adds what a work item has clipped to the count, which has 64 bits in two words, low ones first:
 * the addition that wraps the first one adds to the second. */
void count_clipped(__global volatile uint *count, uint clipped)
{
  if (clipped && atomic_add(count, clipped) > UINT_MAX - clipped)
    atomic_inc(count + 1);
}
