/* Uniform and Briggs weights, which depend on how many visibilities fall into the same cell. Sums
 * of weights are integers, so that they do not depend on the order of work items. Option: VALUE,
 * float or double. */

/* As Density in weighting.c. */
typedef struct {
  double cell, noise;
  ulong rows;
  uint row_channels, from, channels; /* of rows; those whose cells are shared */
  uint size, products, has_slope;
} Density;

ulong place(const Density *d, double u, double v)
{
  const double most = d->size - 1, middle = d->size / 2;
  const ulong x = (ulong)fmin(fmax(floor(u / d->cell + middle + 0.5), 0.0), most);
  const ulong y = (ulong)fmin(fmax(floor(v / d->cell + middle + 0.5), 0.0), most);
  return y * d->size + x;
}

/* 64 bits as two words, low ones first. */
void add_long(volatile __global uint *sum, ulong value)
{
  const uint low = (uint)value, before = atomic_add(sum, low);
  const uint high = (uint)(value >> 32) + (before + low < before);
  if (high)
    atomic_add(sum + 1, high);
}

Fixed fixed_at(__global const uint *cells, ulong at)
{
  __global const uint *words = cells + 4 * at;
  return (Fixed){ words[0] | (ulong)words[1] << 32, words[2] | (ulong)words[3] << 32 };
}

__kernel void fill_cells(FACE(uvw), FACE(wavenumbers), FACE(weights), FACE(cells), const Density d)
{
  AT(const double, uvw);
  AT(const double, wavenumbers);
  AT(const float, weights);
  AT(uint, cells);
  const ulong row = get_global_id(0) / d.channels;
  const uint channel = d.from + (uint)(get_global_id(0) % d.channels);
  if (row >= d.rows)
    return;
  const float weight = weights[row * d.row_channels + channel];
  if (weight == 0)
    return;
  const double per = wavenumbers[channel], u = uvw[3 * row] * per, v = uvw[3 * row + 1] * per;
  const Fixed fixed = fixed_of(weight);
  for (int sign = -1; sign <= 1; sign += 2) {
    __global uint *cell = cells + 4 * place(&d, sign * u, sign * v);
    add_long(cell, fixed.high);
    add_long(cell + 2, fixed.low);
  }
}

/* Sums of cells and of their squares, a part of them for each item. */
__kernel void sum_cells(FACE(cells), FACE(parts), const Density d)
{
  AT(const uint, cells);
  AT(double, parts);
  const ulong n = (ulong)d.size * d.size;
  double sum = 0, squares = 0;
  for (ulong at = get_global_id(0); at < n; at += get_global_size(0)) {
    const double cell = value_of_fixed(fixed_at(cells, at));
    sum += cell;
    squares += cell * cell;
  }
  parts[2 * get_global_id(0)] = sum;
  parts[2 * get_global_id(0) + 1] = squares;
}

/* Briggs 1995: robust 0 balances against the noise of the mean cell. One item. */
__kernel void find_slope(FACE(parts), FACE(slope), const uint n, const Density d)
{
  AT(const double, parts);
  AT(double, slope);
  double sum = 0, squares = 0;
  for (uint i = 0; i < n; i++) {
    sum += parts[2 * i];
    squares += parts[2 * i + 1];
  }
  *slope = squares > 0 ? d.noise * d.noise * sum / squares : 0;
}

__kernel void change_weights(FACE(uvw), FACE(wavenumbers), FACE(weights), FACE(factors),
                             FACE(values), FACE(cells), FACE(slope), const Density d)
{
  AT(const double, uvw);
  AT(const double, wavenumbers);
  AT(const float, weights);
  AT(float, factors);
  AT(VALUE, values);
  AT(const uint, cells);
  AT(const double, slope);
  const ulong row = get_global_id(0) / d.channels;
  const uint channel = d.from + (uint)(get_global_id(0) % d.channels);
  const ulong at = row * d.row_channels + channel;
  if (row >= d.rows || weights[at] == 0)
    return;
  const double per = wavenumbers[channel];
  const double there =
      value_of_fixed(fixed_at(cells, place(&d, uvw[3 * row] * per, uvw[3 * row + 1] * per)));
  const float factor = (float)(d.has_slope ? 1 / (1 + there * *slope) : 1 / there);
  const VALUE ratio = (VALUE)((double)factor / factors[at]);
  for (uint part = 0; part < 2 * d.products; part++)
    values[2 * at * d.products + part] *= ratio;
  factors[at] = factor;
}

/* A group for each total. */
__kernel __attribute__((reqd_work_group_size(TOTALS_ITEMS, 1, 1))) void
sum_weights(FACE(weights), FACE(factors), FACE(totals), const Density d)
{
  __local ulong room[TOTALS_ITEMS];
  AT(const float, weights);
  AT(const float, factors);
  AT(Totals, totals);
  const uint channel = get_group_id(0);
  Fixed sum = { 0, 0 };
  for (ulong row = get_local_id(0); row < d.rows && channel < d.row_channels; row += TOTALS_ITEMS) {
    const ulong at = row * d.row_channels + channel;
    const Fixed fixed = fixed_of((double)weights[at] * factors[at]);
    sum.high += fixed.high;
    sum.low += fixed.low;
  }
  sum.high = sum_of_group(sum.high, room);
  sum.low = sum_of_group(sum.low, room);
  if (get_local_id(0) == 0)
    totals[channel].weights = sum;
}
