/* Sorts numbers by their keys, stably, by one digit of these after another. A work item counts and
 * moves a chunk of the numbers, one after the other. */

#define DIGITS 16 /* as in sort.c */
#define SCANNERS 256

/* counts[digit][item] */
__kernel void count_digits(FACE(keys), FACE(order), FACE(counts), const uint n, const uint chunk,
                           const uint items, const uint shift)
{
  AT(const uint, keys);
  AT(const uint, order);
  AT(uint, counts);
  const uint item = get_global_id(0);
  uint mine[DIGITS];
  if (item >= items)
    return;
  for (uint digit = 0; digit < DIGITS; digit++)
    mine[digit] = 0;
  const uint from = item * chunk, to = min(from + chunk, n);
  for (uint i = from; i < to; i++)
    mine[keys[order[i]] >> shift & (DIGITS - 1)]++;
  for (uint digit = 0; digit < DIGITS; digit++)
    counts[digit * items + item] = mine[digit];
}

/* Replaces each count by the sum of those before it. One group. */
__kernel __attribute__((reqd_work_group_size(SCANNERS, 1, 1))) void sum_before(FACE(counts),
                                                                              const uint n)
{
  __local uint sums[SCANNERS];
  AT(uint, counts);
  const uint item = get_local_id(0), each = (n + SCANNERS - 1) / SCANNERS;
  const uint from = min(item * each, n), to = min(from + each, n);
  uint sum = 0;
  for (uint i = from; i < to; i++)
    sum += counts[i];
  sums[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = 0;
  for (uint i = 0; i < item; i++)
    sum += sums[i];
  for (uint i = from; i < to; i++) {
    const uint count = counts[i];
    counts[i] = sum;
    sum += count;
  }
}

__kernel void move_numbers(FACE(keys), FACE(order), FACE(counts), FACE(to_order), const uint n,
                           const uint chunk, const uint items, const uint shift)
{
  AT(const uint, keys);
  AT(const uint, order);
  AT(const uint, counts);
  AT(uint, to_order);
  const uint item = get_global_id(0);
  uint next[DIGITS];
  if (item >= items)
    return;
  for (uint digit = 0; digit < DIGITS; digit++)
    next[digit] = counts[digit * items + item];
  const uint from = item * chunk, to = min(from + chunk, n);
  for (uint i = from; i < to; i++) {
    const uint number = order[i];
    to_order[next[keys[number] >> shift & (DIGITS - 1)]++] = number;
  }
}

/* The first place in the order whose key is no less than each of 0 to n_keys. */
__kernel void find_starts(FACE(keys), FACE(order), FACE(starts), const uint n, const uint n_keys)
{
  AT(const uint, keys);
  AT(const uint, order);
  AT(uint, starts);
  const uint key = get_global_id(0);
  uint from = 0, to = n;
  if (key > n_keys)
    return;
  while (from < to) {
    const uint middle = from + (to - from) / 2;
    if (keys[order[middle]] < key)
      from = middle + 1;
    else
      to = middle;
  }
  starts[key] = from;
}
