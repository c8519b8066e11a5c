/* Makes dumps of visibilities ready, a work item for each visibility. Neighbours are the channels
 * of a baseline, which lie together in rows. Options: FROM and TO, float or double, of dumps and of
 * rows. */

typedef struct {
  int is_psf, used[4];
  double factors[4][2];
} Product;

/* As Run in prepare.c. */
typedef struct {
  Product products[5];
  double axes[3][3];
  double reach, centre_l, centre_m, centre_n_minus_1, full;
  uint channels, baselines, pairs, correlations, n_products;
  int used[4];
  uint channel_group, channel_stride, baseline_group, baseline_stride, pol[4];
  uint has_counts, has_given, has_weights, has_factors;
} Run;

enum { USED, FLAGGED, NOT_FINITE, OUTSIDE };

double2 times(double2 a, double2 b)
{
  return (double2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

double2 phase_factor(double turns)
{
  const double half_turns = 2 * (turns - rint(turns));
  return (double2)(cospi(half_turns), sinpi(half_turns));
}

/* Station i and j < i of pair i(i - 1)/2 + j. */
uint2 stations_of(uint pair)
{
  uint larger = (uint)((1 + sqrt(1 + 8.0 * pair)) / 2);
  while ((ulong)larger * (larger - 1) / 2 > pair)
    larger--;
  while ((ulong)larger * (larger + 1) / 2 <= pair)
    larger++;
  return (uint2)(larger, (uint)(pair - (ulong)larger * (larger - 1) / 2));
}

/* The same to the last bit as on the host, so that both leave out the same visibilities. */
double along(const double *axis, __global const double *p)
{
  return axis[0] * p[0] + axis[1] * p[1] + axis[2] * p[2];
}

double good_share(const Run *run, __global const uint *counts, uint channel, uint baseline,
                  uint pol)
{
  return counts[channel / run->channel_group * run->channel_stride +
                baseline / run->baseline_group * run->baseline_stride + run->pol[pol]] /
         run->full;
}

double weigh(const Run *run, __global const uint *counts, double wavenumber, uint channel,
             uint baseline, const double2 *correlations, uchar *fate)
{
  double least = run->has_counts ? INFINITY : 1;
  int finite = 1;
  for (uint k = 0; k < 4; k++)
    finite &= !run->used[k] || (isfinite(correlations[k].x) && isfinite(correlations[k].y));
  for (uint p = 0; run->has_counts && p < run->n_products; p++) {
    double n = 0, inverse = 0;
    for (uint k = 0; k < 4; k++)
      if (run->products[p].used[k]) {
        n++;
        inverse += 1 / good_share(run, counts, channel, baseline, k);
      }
    if (n > 0)
      least = fmin(least, n / inverse);
  }
  if (wavenumber == 0)
    least = 0;
  *fate = least == 0 ? FLAGGED : !finite ? NOT_FINITE : USED;
  return finite ? least : 0;
}

double2 value_of(const Product *product, double2 factor, double2 psf, const double2 *correlations)
{
  double2 value = (double2)(0, 0);
  if (product->is_psf)
    return psf;
  if (factor.x == 0 && factor.y == 0)
    return value;
  for (uint k = 0; k < 4; k++)
    if (product->used[k])
      value += times((double2)(product->factors[k][0], product->factors[k][1]), correlations[k]);
  return times(value, factor);
}

__kernel void prepare(FACE(dump), FACE(counts), FACE(positions), FACE(wavenumbers), FACE(given),
                      FACE(uvw), FACE(values), FACE(weights), FACE(factors), FACE(fates),
                      FACE(shares), const Run run)
{
  AT(const FROM, dump);
  AT(const uint, counts);
  AT(const double, positions);
  AT(const double, wavenumbers);
  AT(const double, given);
  AT(double, uvw);
  AT(TO, values);
  AT(float, weights);
  AT(float, factors);
  AT(uchar, fates);
  AT(float, shares);
  const ulong id = get_global_id(0);
  const uint pair = (uint)(id / run.channels), channel = (uint)(id % run.channels);
  if (pair >= run.pairs)
    return;
  const uint2 stations = stations_of(pair);
  const uint baseline = stations.x * (stations.x + 1) / 2 + stations.y;
  double where[3];
  for (uint k = 0; k < 3; k++)
    where[k] = run.has_given ? given[3 * (ulong)baseline + k]
                             : along(run.axes[k], positions + 3 * stations.x) -
                                   along(run.axes[k], positions + 3 * stations.y);
  const double sign = where[2] < 0 ? -1 : 1, per = sign * wavenumbers[channel];
  for (uint k = 0; k < 3 && channel == 0; k++)
    uvw[3 * (ulong)pair + k] = where[2] < 0 ? -where[k] : where[k];

  const double u = where[0] * per, v = where[1] * per, w = where[2] * per;
  const ulong from = ((ulong)channel * run.baselines + baseline) * run.correlations;
  double2 correlations[4], to_centre = (double2)(1, 0), source = (double2)(1, 0);
  uchar fate;
  for (uint k = 0; k < 4; k++)
    correlations[k] = k < run.correlations
                          ? (double2)(dump[2 * (from + k)], dump[2 * (from + k) + 1])
                          : (double2)(0, 0);
  float weight =
      (float)weigh(&run, counts, wavenumbers[channel], channel, baseline, correlations, &fate);
  if (weight > 0 && !(fabs(u) <= run.reach && fabs(v) <= run.reach)) {
    fate = OUTSIDE;
    weight = 0;
  }
  if (sign < 0) {
    for (uint k = 0; k < 4; k++)
      correlations[k].y = -correlations[k].y;
    if (run.correlations == 4) {
      const double2 swapped = correlations[1];
      correlations[1] = correlations[2];
      correlations[2] = swapped;
    }
  }
  if (weight > 0 && (run.centre_l != 0 || run.centre_m != 0)) {
    to_centre = phase_factor(-(u * run.centre_l + v * run.centre_m));
    source = phase_factor(w * run.centre_n_minus_1);
  }
  to_centre = weight * to_centre;
  source = weight * source;
  for (uint p = 0; p < run.n_products; p++) {
    const double2 value = value_of(&run.products[p], to_centre, source, correlations);
    values[2 * (id * run.n_products + p)] = (TO)value.x;
    values[2 * (id * run.n_products + p) + 1] = (TO)value.y;
  }
  if (run.has_weights)
    weights[id] = weight;
  if (run.has_factors)
    factors[id] = 1;
  fates[id] = fate;
  shares[id] = weight;
}

/* Counts what became of a dump's visibilities, a group for each channel. */
__kernel __attribute__((reqd_work_group_size(TOTALS_ITEMS, 1, 1))) void
count(FACE(fates), FACE(shares), FACE(totals), const uint pairs, const uint channels)
{
  __local ulong room[TOTALS_ITEMS];
  AT(const uchar, fates);
  AT(const float, shares);
  AT(Totals, totals);
  const uint channel = get_group_id(0);
  ulong n[4] = { 0, 0, 0, 0 };
  Fixed sum = { 0, 0 };
  for (uint pair = get_local_id(0); pair < pairs; pair += TOTALS_ITEMS) {
    const ulong at = (ulong)pair * channels + channel;
    const Fixed share = fixed_of(shares[at]);
    const uchar fate = fates[at];
    for (uint k = 0; k < 4; k++)
      n[k] += fate == k;
    sum.high += share.high;
    sum.low += share.low;
  }
  const ulong high = sum_of_group(sum.high, room), low = sum_of_group(sum.low, room);
  for (uint k = 0; k < 4; k++)
    n[k] = sum_of_group(n[k], room);
  if (get_local_id(0) == 0) {
    totals[channel].weights.high += high;
    totals[channel].weights.low += low;
    totals[channel].used += n[USED];
    totals[channel].flagged += n[FLAGGED];
    totals[channel].not_finite += n[NOT_FINITE];
    totals[channel].outside += n[OUTSIDE];
  }
}

/* As Sums in prepare.c: rows of all channels, and those where each group of neighbouring channels
 * is added up to one. */
typedef struct {
  uint rows, channels, group, groups, products, has_weights;
} Sums;

/* In double and in the host's order, so that both have the same rows. */
__kernel void add_up(FACE(values), FACE(to), FACE(weights), FACE(to_weights), FACE(to_factors),
                     const Sums sums)
{
  AT(const TO, values);
  AT(TO, to);
  AT(const float, weights);
  AT(float, to_weights);
  AT(float, to_factors);
  const ulong id = get_global_id(0);
  const uint parts = 2 * sums.products, g = (uint)(id % sums.groups);
  const ulong row = id / sums.groups;
  if (row >= sums.rows)
    return;
  const uint from = g * sums.group, end = min(from + sums.group, sums.channels);
  for (uint part = 0; part < parts; part++) {
    double sum = 0;
    for (uint c = from; c < end; c++)
      sum += values[(row * sums.channels + c) * parts + part];
    to[id * parts + part] = (TO)sum;
  }
  if (!sums.has_weights)
    return;
  double sum = 0;
  for (uint c = from; c < end; c++)
    sum += weights[row * sums.channels + c];
  to_weights[id] = (float)sum;
  to_factors[id] = 1;
}
