/* The direct transform: an item sums all visibilities into its pixel, in double precision and in a
 * fixed order. The grid is the transform of that image, made by plain sums too: there are few of
 * them beside those over visibilities. Option: REAL, float or double, of values and grids. */

#define MOST_PRODUCTS 5

/* As Sums in direct.c. */
typedef struct {
  double pixel, centre_l, centre_m;
  ulong rows;
  uint row_channels, channels, products; /* of rows; of rows in each of the grid's */
  uint size, grids;                      /* cells along a side; channels of the grid */
} Sums;

__kernel void add_pixels(FACE(uvw), FACE(wavenumbers), FACE(values), FACE(image), const Sums sum)
{
  AT(const double, uvw);
  AT(const double, wavenumbers);
  AT(const REAL, values);
  AT(double2, image);
  const ulong id = get_global_id(0), pixels = (ulong)sum.size * sum.size;
  const uint x = (uint)(id % sum.size), y = (uint)(id / sum.size % sum.size);
  const uint group = (uint)(id / pixels);
  const double l = ((double)x - sum.size / 2) * sum.pixel;
  const double m = ((double)y - sum.size / 2) * sum.pixel;
  const double far_l = sum.centre_l + l, far_m = sum.centre_m + m;
  const double r2 = far_l * far_l + far_m * far_m;
  double2 sums[MOST_PRODUCTS];
  if (group >= sum.grids || !(r2 < 1)) /* below the horizon there is no sky */
    return;
  const double n_minus_1 = -r2 / (1 + sqrt(1 - r2));
  for (uint p = 0; p < MOST_PRODUCTS; p++)
    sums[p] = (double2)(0, 0);
  for (ulong row = 0; row < sum.rows; row++) {
    const double path = uvw[3 * row] * l + uvw[3 * row + 1] * m + uvw[3 * row + 2] * n_minus_1;
    for (uint c = group * sum.channels; c < (group + 1) * sum.channels; c++) {
      const double turns = path * wavenumbers[c], half_turns = -2 * (turns - rint(turns));
      const double re = cospi(half_turns), im = sinpi(half_turns);
      __global const REAL *value = values + 2 * (row * sum.row_channels + c) * sum.products;
      for (uint p = 0; p < MOST_PRODUCTS; p++)
        if (p < sum.products)
          sums[p] += (double2)(value[2 * p] * re - value[2 * p + 1] * im,
                               value[2 * p] * im + value[2 * p + 1] * re);
    }
  }
  for (uint p = 0; p < MOST_PRODUCTS; p++)
    if (p < sum.products)
      image[(group * sum.products + p) * pixels + id % pixels] += sums[p];
}

/* out[line][k] = sum over j of in[line][j] exp(2 pi i (j - n/2)(k - n/2) / n) / n, written with
 * lines and elements exchanged, so that doing it twice transforms both axes and puts them back. */
__kernel void transform_lines(FACE(in), FACE(out), FACE(turns), const uint n, const ulong items)
{
  AT(const double2, in);
  AT(double2, out);
  AT(const double2, turns);
  const ulong id = get_global_id(0), plane = id / ((ulong)n * n) * n * n;
  const uint k = (uint)(id % n), line = (uint)(id / n % n);
  if (id >= items)
    return;
  const uint step = (k + n - n / 2) % n;
  uint at = (uint)((ulong)(n - n / 2) * step % n); /* (j - n/2)(k - n/2) mod n */
  double2 sum = (double2)(0, 0);
  for (uint j = 0; j < n; j++) {
    const double2 value = in[plane + (ulong)line * n + j], turn = turns[at];
    sum += (double2)(value.x * turn.x - value.y * turn.y, value.x * turn.y + value.y * turn.x);
    at = at + step >= n ? at + step - n : at + step;
  }
  out[plane + (ulong)k * n + line] = sum / n;
}

__kernel void add_cells(FACE(from), FACE(to), const ulong n)
{
  AT(const double, from);
  AT(REAL, to);
  const ulong i = get_global_id(0);
  if (i < n)
    to[i] += (REAL)from[i];
}
