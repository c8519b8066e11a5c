/* W-stacking: where visibilities lie, and the sums of their taps in a plane. Option: REAL, float or
 * double, of values, sums and taps.
 *
 * Visibilities are sorted by the bin of 8 x 8 cells that their footprint begins in, and within a
 * bin by the first of their planes: those that reach a plane are one run of every bin. A group sums
 * a tile of 16 x 16 cells, a cell an item, over the bins whose visibilities may reach it. No sum
 * depends on the order of groups. */
#define FOUR_OF(T) JOINED(T, 4)
#define PLACE FOUR_OF(REAL)

#define BIN 8
#define TILE 16
#define ITEMS (TILE * TILE)
#define MOST_PRODUCTS 5
#define MOST_SUPPORT 16
#define MOST_BINS 16 /* within reach of a tile: a support of 16 reaches over 2 before its own 2 */
#define BATCH 32     /* visibilities that a group works on at a time */

/* As Rows in wstacking.c. */
typedef struct {
  double per_cell, middle, reach, first, step, n_middle;
  uint n, row_channels, channels, products; /* channels of rows in each of the grid's */
  uint side, support, planes, n_bins;
} Rows;

/* The same as in core/gridder/sorted.c. */
uint first_cell(double position, uint support, double *inside)
{
  const double edge = position - support * 0.5, first = ceil(edge);
  *inside = 2 * (first - edge) - 1;
  return (uint)first;
}

double3 uvw_of(const Rows *rows, __global const double *uvw, __global const double *wavenumbers,
               uint at)
{
  const uint row = at / rows->row_channels;
  const double per = wavenumbers[at - row * rows->row_channels];
  __global const double *of_row = uvw + 3 * (ulong)row;
  return (double3)(of_row[0] * per, of_row[1] * per, of_row[2] * per);
}

int is_used(const Rows *rows, __global const REAL *values, uint at, double3 uvw)
{
  __global const REAL *of_visibility = values + 2 * (ulong)at * rows->products;
  if (!(fabs(uvw.x) <= rows->reach && fabs(uvw.y) <= rows->reach))
    return 0;
  for (uint i = 0; i < 2 * rows->products; i++)
    if (of_visibility[i] != 0)
      return 1;
  return 0;
}

/* The least and the greatest w of what each item looks at. */
__kernel void find_range(FACE(uvw), FACE(wavenumbers), FACE(values), FACE(ranges), const Rows rows)
{
  AT(const double, uvw);
  AT(const double, wavenumbers);
  AT(const REAL, values);
  AT(double2, ranges);
  double2 range = (double2)(INFINITY, -INFINITY);
  for (ulong i = get_global_id(0); i < rows.n; i += get_global_size(0)) {
    const double3 where = uvw_of(&rows, uvw, wavenumbers, (uint)i);
    if ((where.z < range.x || where.z > range.y) && is_used(&rows, values, (uint)i, where))
      range = (double2)(fmin(range.x, where.z), fmax(range.y, where.z));
  }
  ranges[get_global_id(0)] = range;
}

/* The bin and first plane of each visibility; those that are not used have one bin past all. */
__kernel void find_keys(FACE(uvw), FACE(wavenumbers), FACE(values), FACE(bins), FACE(planes),
                        FACE(order), const Rows rows)
{
  AT(const double, uvw);
  AT(const double, wavenumbers);
  AT(const REAL, values);
  AT(uint, bins);
  AT(uint, planes);
  AT(uint, order);
  const uint i = (uint)get_global_id(0);
  uint bin = rows.n_bins, plane = 0;
  if (get_global_id(0) >= rows.n)
    return;
  const double3 where = uvw_of(&rows, uvw, wavenumbers, i);
  if (is_used(&rows, values, i, where)) {
    double inside;
    const uint u = first_cell(where.x * rows.per_cell + rows.middle, rows.support, &inside);
    const uint v = first_cell(where.y * rows.per_cell + rows.middle, rows.support, &inside);
    const uint channel = i % rows.row_channels / rows.channels;
    if (rows.step > 0)
      plane = first_cell((where.z - rows.first) / rows.step, rows.support, &inside);
    plane = min(plane, rows.planes - 1);
    bin = (channel * rows.side + v / BIN) * rows.side + u / BIN;
  }
  bins[i] = bin;
  planes[i] = plane;
  order[i] = i;
}

/* As taps are computed from it. */
REAL kept(double inside, uint support)
{
  return sizeof(REAL) == sizeof(float) ? (REAL)((inside + 1) / support - 1) : (REAL)inside;
}

/* Puts visibilities in order. A place is how far the footprint begins inside the spreading function
 * along u, v and w; and its cell in the bin, as a number. */
__kernel void put(FACE(uvw), FACE(wavenumbers), FACE(values), FACE(bins), FACE(planes), FACE(order),
                  FACE(to_places), FACE(to_values), FACE(to_planes), const Rows rows)
{
  AT(const double, uvw);
  AT(const double, wavenumbers);
  AT(const REAL, values);
  AT(const uint, bins);
  AT(const uint, planes);
  AT(const uint, order);
  AT(PLACE, to_places);
  AT(REAL, to_values);
  AT(ushort, to_planes);
  const uint i = (uint)get_global_id(0);
  if (get_global_id(0) >= rows.n || bins[order[i]] == rows.n_bins)
    return;
  const uint at = order[i];
  const double3 where = uvw_of(&rows, uvw, wavenumbers, at);
  double u, v, w = 0;
  const uint cell_u = first_cell(where.x * rows.per_cell + rows.middle, rows.support, &u) % BIN;
  const uint cell_v = first_cell(where.y * rows.per_cell + rows.middle, rows.support, &v) % BIN;
  if (rows.step > 0)
    first_cell((where.z - rows.first) / rows.step, rows.support, &w);
  to_places[i] = (PLACE)(kept(u, rows.support), kept(v, rows.support), kept(w, rows.support),
                         (REAL)(cell_v * BIN + cell_u));
  to_planes[i] = (ushort)planes[at];
  const double turns = -where.z * rows.n_middle, half_turns = 2 * (turns - rint(turns));
  const double re = cospi(half_turns), im = sinpi(half_turns);
  for (uint p = 0; p < rows.products; p++) {
    const ulong from = 2 * ((ulong)at * rows.products + p), to = 2 * ((ulong)i * rows.products + p);
    to_values[to] = (REAL)(values[from] * re - values[from + 1] * im);
    to_values[to + 1] = (REAL)(values[from] * im + values[from + 1] * re);
  }
}

/* ---- planes ---- */

/* As Plane in wstacking.c. */
typedef struct {
  double phase[2], beta;
  uint plane, support, degree, size, products;
  uint side, tiles, reach; /* reach: bins before a tile's own */
  uint is_flat, has_map;
} Plane;

/* The first of a bin's visibilities whose first plane is no less than that. */
uint find_plane(__global const ushort *planes, uint from, uint to, uint least)
{
  while (from < to) {
    const uint middle = from + (to - from) / 2;
    if (planes[middle] < least)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

/* The tap of that number. In single precision by the function itself, in double by polynomials,
 * which are faster and as exact. */
REAL tap_at(const Plane *plane, __global const double *powers, REAL inside, int tap)
{
  if (tap < 0 || tap >= (int)plane->support)
    return 0;
  if (sizeof(REAL) == sizeof(float)) {
    const REAL z = inside + (REAL)tap * ((REAL)2 / (REAL)plane->support);
    const REAL root = sqrt(fmax((REAL)1 - z * z, (REAL)0));
    return exp((REAL)plane->beta * (root - (REAL)1));
  }
  REAL value = 0;
  for (int term = (int)plane->degree; term >= 0; term--)
    value = value * inside + (REAL)powers[term * MOST_SUPPORT + tap];
  return value;
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
spread(FACE(starts), FACE(planes), FACE(places), FACE(values), FACE(powers), FACE(grid),
       FACE(touched), const Plane plane)
{
  AT(const uint, starts);
  AT(const ushort, planes);
  AT(const PLACE, places);
  AT(const COMPLEX, values);
  AT(const double, powers);
  AT(COMPLEX, grid);
  AT(uchar, touched);
  __local uint firsts[MOST_BINS], ends[MOST_BINS]; /* ends: of the runs put one after another */
  __local int2 corners[MOST_BINS];
  __local REAL taps_u[BATCH][TILE], taps_v[BATCH][TILE];
  __local COMPLEX batch[BATCH][MOST_PRODUCTS];
  const uint item = get_local_id(0), tile = get_group_id(0);
  const uint tile_u = tile % plane.tiles, tile_v = tile / plane.tiles % plane.tiles;
  const uint channel = tile / plane.tiles / plane.tiles;
  const uint across = plane.reach + 2, bins = across * across;
  COMPLEX sums[MOST_PRODUCTS];

  if (item < bins) {
    const int u = (int)(2 * tile_u + item % across) - (int)plane.reach;
    const int v = (int)(2 * tile_v + item / across) - (int)plane.reach;
    uint first = 0, end = 0;
    if (u >= 0 && v >= 0 && u < (int)plane.side && v < (int)plane.side) {
      const uint bin = (channel * plane.side + v) * plane.side + u;
      const uint least = plane.plane + 1 > plane.support ? plane.plane + 1 - plane.support : 0;
      first = find_plane(planes, starts[bin], starts[bin + 1], least);
      end = find_plane(planes, first, starts[bin + 1], plane.plane + 1);
    }
    firsts[item] = first;
    ends[item] = end - first;
    corners[item] = (int2)((u - 2 * (int)tile_u) * BIN, (v - 2 * (int)tile_v) * BIN);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0)
    for (uint bin = 1; bin < bins; bin++)
      ends[bin] += ends[bin - 1];
  for (uint p = 0; p < MOST_PRODUCTS; p++)
    sums[p] = (COMPLEX)(0, 0);
  barrier(CLK_LOCAL_MEM_FENCE);

  const uint n = ends[bins - 1];
  for (uint done = 0; done < n; done += BATCH) {
    const uint here = min(n - done, (uint)BATCH);
    COMPLEX first[MOST_PRODUCTS];
    /* Taps of all cells of the tile; zeros where a footprint does not reach. */
    for (uint k = item; k < here * TILE; k += ITEMS) {
      const uint one = k / TILE, cell = k % TILE;
      uint bin = 0;
      while (ends[bin] <= done + one)
        bin++;
      const uint at = firsts[bin] + done + one - (bin > 0 ? ends[bin - 1] : 0);
      const PLACE place = places[at];
      const int in_bin = (int)place.w;
      taps_u[one][cell] =
          tap_at(&plane, powers, place.x, (int)cell - corners[bin].x - in_bin % BIN);
      taps_v[one][cell] =
          tap_at(&plane, powers, place.y, (int)cell - corners[bin].y - in_bin / BIN);
      if (cell < plane.products) {
        const REAL tap_w = plane.is_flat ? (REAL)1
                                         : tap_at(&plane, powers, place.z,
                                                  (int)plane.plane - (int)planes[at]);
        const COMPLEX value = values[(ulong)at * plane.products + cell] * tap_w;
        const REAL re = (REAL)plane.phase[0], im = (REAL)plane.phase[1];
        batch[one][cell] =
            (COMPLEX)(value.x * re - value.y * im, value.x * im + value.y * re);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    /* Few at a time, so that errors of long sums stay small. */
    for (uint p = 0; p < MOST_PRODUCTS; p++)
      first[p] = (COMPLEX)(0, 0);
    for (uint one = 0; one < here; one++) {
      const REAL tap = taps_u[one][item % TILE] * taps_v[one][item / TILE];
      for (uint p = 0; p < MOST_PRODUCTS; p++)
        if (p < plane.products)
          first[p] += batch[one][p] * tap;
    }
    for (uint p = 0; p < MOST_PRODUCTS; p++)
      sums[p] += first[p];
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  if (plane.has_map && item == 0)
    touched[tile] = n > 0;
  const uint u = tile_u * TILE + item % TILE, v = tile_v * TILE + item / TILE;
  if ((plane.has_map && n == 0) || u >= plane.size || v >= plane.size)
    return;
  for (uint p = 0; p < MOST_PRODUCTS; p++)
    if (p < plane.products)
      grid[((ulong)(channel * plane.products + p) * plane.size + v) * plane.size + u] = sums[p];
}
