/* Makes visibilities from the sums of an integration, and joins those that several instances have
 * made. Options: KEPT, the type of sums, long or double; OUT, of components of visibilities, int or
 * float. Means are made in double. */

#define JOINED(T, n) T##n
#define PAIR_OF(T) JOINED(T, 2)
#define KEPT2 PAIR_OF(KEPT)
#define OUT2 PAIR_OF(OUT)

/* As Dump in visibilities.c. */
typedef struct {
  ulong products, baselines; /* of a channel's lower triangle */
  ulong samples;             /* of a channel */
  ulong stations;
  uint pols, step, groups; /* channels that become one, and how many do */
  uint is_full, has_sums;
  uint tables; /* of lost samples: none, one, or one a channel */
} Dump;

KEPT2 sum_of(const Dump *dump, __global const KEPT2 *sums, ulong group, ulong product)
{
  KEPT2 sum = (KEPT2)(0, 0);
  for (uint c = 0; dump->has_sums && c < dump->step; c++)
    sum += sums[(group * dump->step + c) * dump->products + product];
  return sum;
}

#define IS_INT(x) ((x) == (int)(x))

/* Which sums do not fit an int: *failed becomes the number of groups from the first of them on. The
 * lowest int cannot be negated for the conjugate. */
__kernel void check(FACE(sums), FACE(failed), const Dump dump)
{
  AT(const KEPT2, sums);
  AT(volatile int, failed);
  const ulong group = get_global_id(0) / dump.products;
  if (group >= dump.groups)
    return;
  const KEPT2 sum = sum_of(&dump, sums, group, get_global_id(0) % dump.products);
  if (!IS_INT(sum.x) || !IS_INT(sum.y) || (dump.is_full && sum.y == INT_MIN))
    atomic_max(failed, (int)(dump.groups - group));
}

OUT2 value_of(KEPT2 sum, ulong count)
{
#ifdef IS_MEAN
  const double factor = count ? 1 / (double)count : 0;
  return (OUT2)((OUT)((double)sum.x * factor), (OUT)((double)sum.y * factor));
#else
  return (OUT2)((OUT)sum.x, (OUT)sum.y);
#endif
}

/* The row of the lower triangle that a baseline is in. */
ulong row_of(ulong baseline)
{
  ulong i = (ulong)((sqrt(8.0f * baseline + 1) - 1) / 2);
  while ((i + 1) * (i + 2) / 2 <= baseline)
    i++;
  while (i * (i + 1) / 2 > baseline)
    i--;
  return i;
}

/* A work item a product of the lower triangle, in the output's channels. */
__kernel void dump_sums(FACE(sums), FACE(lost), FACE(out), const Dump dump)
{
  AT(const KEPT2, sums);
  AT(const uint, lost);
  AT(OUT2, out);
  const ulong number = get_global_id(0), group = number / dump.products;
  if (group >= dump.groups)
    return;
  const ulong product = number % dump.products, pols = dump.pols;
  const ulong baseline = product / (pols * pols), p = product / pols % pols, q = product % pols;
  const KEPT2 sum = sum_of(&dump, sums, group, product);
  ulong count = dump.samples * dump.step;
  for (uint c = 0; dump.tables && c < dump.step; c++)
    count -= lost[(dump.tables > 1 ? (group * dump.step + c) * dump.baselines : 0) + baseline];
  if (!dump.is_full) {
    out[number] = value_of(sum, count);
    return;
  }
  const ulong i = row_of(baseline), j = baseline - i * (i + 1) / 2;
  const ulong base = group * dump.stations * dump.stations;
  out[((base + i * dump.stations + j) * pols + p) * pols + q] = value_of(sum, count);
  if (j < i)
    out[((base + j * dump.stations + i) * pols + q) * pols + p] =
        value_of((KEPT2)(sum.x, -sum.y), count);
}

/* As Join in visibilities.c. */
typedef struct {
  ulong n;         /* complex values */
  ulong per_count; /* of them, those that share a count */
  ulong per_channel;
  ulong samples[2]; /* behind the parts, where they have no counts */
  uint has_counts[2];
} Join;

#ifdef IS_MEAN
double count_of(const Join *join, uint part, __global const uint *counts, ulong at)
{
  return join->has_counts[part] ? (double)counts[at] : (double)join->samples[part];
}

/* A part without good samples adds nothing, whatever it holds. */
OUT mean_of(double a, OUT x, double b, OUT y)
{
  const double sum = (a > 0 ? a * (double)x : 0) + (b > 0 ? b * (double)y : 0);
  return a + b > 0 ? (OUT)(sum / (a + b)) : 0;
}

__kernel void join(FACE(values), FACE(others), FACE(counts), FACE(more), const Join join)
{
  AT(OUT2, values);
  AT(const OUT2, others);
  AT(const uint, counts);
  AT(const uint, more);
  const ulong i = get_global_id(0), at = i / join.per_count;
  if (i >= join.n)
    return;
  const double a = count_of(&join, 0, counts, at), b = count_of(&join, 1, more, at);
  const OUT2 x = values[i], y = others[i];
  values[i] = (OUT2)(mean_of(a, x.x, b, y.x), mean_of(a, x.y, b, y.y));
}
#else
/* *failed becomes the number of channels from one whose sum does not fit on. */
__kernel void join(FACE(values), FACE(others), FACE(failed), const Join join)
{
  AT(OUT2, values);
  AT(const OUT2, others);
  AT(volatile int, failed);
  const ulong i = get_global_id(0);
  if (i >= join.n)
    return;
  const long2 sum = convert_long2(values[i]) + convert_long2(others[i]);
  values[i] = (OUT2)((OUT)sum.x, (OUT)sum.y);
  if (!IS_INT(sum.x) || !IS_INT(sum.y))
    atomic_max(failed, (int)((join.n - i - 1) / join.per_channel) + 1);
}
#endif
