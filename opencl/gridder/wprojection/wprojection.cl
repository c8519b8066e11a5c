/* W-projection: the taps of each visibility, and their sums. Option: REAL, float or double, of
 * values, taps and sums.
 *
 * A record is a visibility at one point of the lattice of the taps: one for each, or eight where
 * taps are interpolated. Records are sorted by the bin of 8 x 8 cells that their footprint begins
 * in; a group sums a tile of 16 x 16 cells, a cell an item, over the rows of bins whose records may
 * reach it. No sum depends on the order of groups. */
#define BIN 8
#define TILE 16
#define ITEMS (TILE * TILE)
#define TOGETHER 4 /* products that a group sums */
#define BATCH 32   /* records that a group works on at a time */
#define FAR (1 << 30)

/* As TapsPlane in wprojection.c; taps and set count complex values. */
typedef struct {
  ulong taps, set;
  uint support, stride;
} TapsPlane;

/* As Rows in wprojection.c. */
typedef struct {
  double u_per_w, v_per_w, turns_per_w, w_step, scale, origin;
  uint n, row_channels, channels, products; /* records; channels of rows in each of the grid's */
  uint corners, oversampling, n_planes, size;
  uint side, n_bins;
} Rows;

typedef struct {
  long u, v;
  uint plane;
} Point;

typedef struct {
  long u, v; /* cells */
  ulong taps;
} Place;

/* ---- where visibilities lie, as in core/gridder/wprojection/places.h ---- */

long floor_of(double x)
{
  return (long)(x + FAR) - FAR;
}

/* 0: it is far outside, or not finite. */
int find_point(const Rows *rows, __global const double *uvw, double wavenumber, Point *point,
               double *fractions)
{
  const double slope_u = (uvw[0] + rows->u_per_w * uvw[2]) * rows->scale;
  const double slope_v = (uvw[1] + rows->v_per_w * uvw[2]) * rows->scale;
  const double u = rows->origin + slope_u * wavenumber, v = rows->origin + slope_v * wavenumber;
  const double w = 0 + uvw[2] / rows->w_step * wavenumber;
  if (!(fabs(u) < FAR && fabs(v) < FAR && w >= 0 && w < FAR))
    return 0;
  if (rows->corners > 1) {
    *point = (Point){ floor_of(u), floor_of(v), (uint)w };
    fractions[0] = u - (double)point->u;
    fractions[1] = v - (double)point->v;
    fractions[2] = w - point->plane;
  } else {
    *point = (Point){ floor_of(u + 0.5), floor_of(v + 0.5), (uint)(w + 0.5) };
  }
  return 1;
}

/* The first cell of a footprint along an axis; sets: the number of its set of taps is added. */
long find_cell(const Rows *rows, uint support, long fine, uint *set)
{
  const int n = (int)rows->oversampling, left = (int)fine - n * (int)support / 2;
  const int cell = left >= 0 ? (left + n - 1) / n : -(-left / n);
  *set = (uint)(cell * n - left);
  return cell;
}

int find_place(const Rows *rows, __global const TapsPlane *planes, const Point *first, uint corner,
               Place *place)
{
  const uint number = first->plane + (corner >> 2);
  if (number >= rows->n_planes)
    return 0;
  const TapsPlane plane = planes[number];
  const long last = (long)rows->size - plane.support;
  uint set_u, set_v;
  place->u = find_cell(rows, plane.support, first->u + (corner & 1), &set_u);
  place->v = find_cell(rows, plane.support, first->v + (corner >> 1 & 1), &set_v);
  place->taps = plane.taps + ((ulong)set_v * rows->oversampling + set_u) * plane.set;
  return place->u >= 0 && place->u <= last && place->v >= 0 && place->v <= last;
}

int is_zero(const Rows *rows, __global const REAL *values, ulong visibility)
{
  for (uint i = 0; i < 2 * rows->products; i++)
    if (values[2 * visibility * rows->products + i] != 0)
      return 0;
  return 1;
}

/* The bin of each record. All of a visibility's footprints must lie in the grid; those of others,
 * and of zeros, are one bin past all. */
__kernel void find_keys(FACE(uvw), FACE(wavenumbers), FACE(values), FACE(planes), FACE(bins),
                        FACE(order), const Rows rows)
{
  AT(const double, uvw);
  AT(const double, wavenumbers);
  AT(const REAL, values);
  AT(const TapsPlane, planes);
  AT(uint, bins);
  AT(uint, order);
  const uint i = (uint)get_global_id(0), visibility = i / rows.corners;
  const uint row = visibility / rows.row_channels, channel = visibility % rows.row_channels;
  double fractions[3];
  Point point;
  Place place;
  if (get_global_id(0) >= rows.n)
    return;
  int inside =
      !is_zero(&rows, values, visibility) &&
      find_point(&rows, uvw + 3 * (ulong)row, wavenumbers[channel], &point, fractions);
  for (uint corner = 0; corner < rows.corners && inside; corner++)
    inside = find_place(&rows, planes, &point, corner, &place);
  uint bin = rows.n_bins;
  if (inside) {
    find_place(&rows, planes, &point, i % rows.corners, &place);
    bin = (channel / rows.channels * rows.side + (uint)place.v / BIN) * rows.side +
          (uint)place.u / BIN;
  }
  bins[i] = bin;
  order[i] = i;
}

/* Puts records in order: their taps, their first cells, their planes, and values with weights. */
__kernel void put(FACE(uvw), FACE(wavenumbers), FACE(values), FACE(planes), FACE(bins), FACE(order),
                  FACE(to_taps), FACE(to_cells), FACE(to_planes), FACE(to_values), const Rows rows)
{
  AT(const double, uvw);
  AT(const double, wavenumbers);
  AT(const REAL, values);
  AT(const TapsPlane, planes);
  AT(const uint, bins);
  AT(const uint, order);
  AT(ulong, to_taps);
  AT(int2, to_cells);
  AT(uint, to_planes);
  AT(REAL, to_values);
  const uint i = (uint)get_global_id(0);
  double fractions[3] = { 0, 0, 0 }, weight = 1;
  Point point;
  Place place;
  if (get_global_id(0) >= rows.n || bins[order[i]] == rows.n_bins)
    return;
  const uint at = order[i], corner = at % rows.corners, visibility = at / rows.corners;
  const uint row = visibility / rows.row_channels;
  const double wavenumber = wavenumbers[visibility % rows.row_channels];
  find_point(&rows, uvw + 3 * (ulong)row, wavenumber, &point, fractions);
  find_place(&rows, planes, &point, corner, &place);
  for (uint k = 0; k < 3 && rows.corners > 1; k++)
    weight *= corner >> k & 1 ? fractions[k] : 1 - fractions[k];
  to_taps[i] = place.taps;
  to_cells[i] = (int2)((int)place.u, (int)place.v);
  to_planes[i] = point.plane + (corner >> 2);
  const double turns = -uvw[3 * (ulong)row + 2] * rows.turns_per_w * wavenumber;
  const double half_turns = 2 * (turns - rint(turns));
  const double re = weight * cospi(half_turns), im = weight * sinpi(half_turns);
  for (uint p = 0; p < rows.products; p++) {
    const ulong from = 2 * ((ulong)visibility * rows.products + p);
    const ulong to = 2 * ((ulong)i * rows.products + p);
    to_values[to] = (REAL)(values[from] * re - values[from + 1] * im);
    to_values[to + 1] = (REAL)(values[from] * im + values[from + 1] * re);
  }
}

/* ---- the sums ---- */

/* As Spread in wprojection.c. */
typedef struct {
  uint size, products, side, tiles, reach; /* reach: bins before a tile's own */
} Spread;

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
spread(FACE(starts), FACE(planes), FACE(all_taps), FACE(taps), FACE(cells), FACE(of_planes),
       FACE(values), FACE(grid), const Spread work)
{
  AT(const uint, starts);
  AT(const TapsPlane, planes);
  AT(const COMPLEX, all_taps);
  AT(const ulong, taps);
  AT(const int2, cells);
  AT(const uint, of_planes);
  AT(const COMPLEX, values);
  AT(COMPLEX, grid);
  __local ulong batch_taps[BATCH];
  __local int2 batch_cells[BATCH], batch_shape[BATCH]; /* shape: support, and from row to row */
  __local COMPLEX batch_values[BATCH][TOGETHER];
  const uint item = get_local_id(0), group = get_group_id(0);
  const uint shares = (work.products + TOGETHER - 1) / TOGETHER;
  const uint first_product = group % shares * TOGETHER, tile = group / shares;
  const uint n_products = min(work.products - first_product, (uint)TOGETHER);
  const uint tile_u = tile % work.tiles, tile_v = tile / work.tiles % work.tiles;
  const uint channel = tile / work.tiles / work.tiles;
  const int u = (int)(tile_u * TILE + item % TILE), v = (int)(tile_v * TILE + item / TILE);
  const uint first_u = max((int)(2 * tile_u) - (int)work.reach, 0);
  const uint first_v = max((int)(2 * tile_v) - (int)work.reach, 0);
  const uint last_u = min(2 * tile_u + 1, work.side - 1), last_v = min(2 * tile_v + 1, work.side - 1);
  COMPLEX sums[TOGETHER];
  for (uint p = 0; p < TOGETHER; p++)
    sums[p] = (COMPLEX)(0, 0);

  for (uint bin_v = first_v; bin_v <= last_v; bin_v++) {
    const uint row = (channel * work.side + bin_v) * work.side;
    const uint end = starts[row + last_u + 1];
    for (uint done = starts[row + first_u]; done < end; done += BATCH) {
      const uint here = min(end - done, (uint)BATCH);
      COMPLEX first[TOGETHER];
      if (item < here) {
        const TapsPlane plane = planes[of_planes[done + item]];
        batch_taps[item] = taps[done + item];
        batch_cells[item] = cells[done + item];
        batch_shape[item] = (int2)((int)plane.support, (int)plane.stride);
        for (uint p = 0; p < n_products; p++)
          batch_values[item][p] = values[(ulong)(done + item) * work.products + first_product + p];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      /* Few at a time, so that errors of long sums stay small. */
      for (uint p = 0; p < TOGETHER; p++)
        first[p] = (COMPLEX)(0, 0);
      for (uint one = 0; one < here; one++) {
        const int2 from = (int2)(u, v) - batch_cells[one], shape = batch_shape[one];
        if (from.x < 0 || from.y < 0 || from.x >= shape.x || from.y >= shape.x)
          continue;
        const COMPLEX tap = all_taps[batch_taps[one] + (uint)(from.y * shape.y + from.x)];
        for (uint p = 0; p < TOGETHER; p++)
          if (p < n_products) {
            const COMPLEX value = batch_values[one][p];
            first[p] += (COMPLEX)(value.x * tap.x - value.y * tap.y,
                                  value.x * tap.y + value.y * tap.x);
          }
      }
      for (uint p = 0; p < TOGETHER; p++)
        sums[p] += first[p];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  if (u >= (int)work.size || v >= (int)work.size)
    return;
  for (uint p = 0; p < TOGETHER; p++)
    if (p < n_products)
      grid[((ulong)(channel * work.products + first_product + p) * work.size + v) * work.size + u] +=
          sums[p];
}
