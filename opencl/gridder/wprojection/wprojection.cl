/* W-projection: the taps of each visibility, and their sums. Options: REAL, float or double, of
 * values, taps and sums; SLICES of a group.
 *
 * A record is a visibility at one point of the lattice of the taps: one for each, or eight where
 * taps are interpolated. Channels of a row that follow each other to the same point are one, as
 * many do of short baselines. Records are sorted by the bin of 8 x 8 cells that their footprint
 * begins in; a group sums a tile of 16 x 16 cells, a cell an item, over the rows of bins whose
 * records may reach it, and each of its slices takes a share of them: most records reach a few
 * tiles in the middle. No sum depends on the order of groups. */
#define BIN 8
#define TILE 16
#define ITEMS (TILE * TILE)
#define TOGETHER 4 /* products that a group sums */
#define BATCH 32   /* records that a slice works on at a time */
#define AT_ONCE 4  /* records whose taps are read before the first is used */
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

/* Whether the visibility of a channel, which is not the first of its grid, is at the point of those
 * beside it. */
int is_at(const Rows *rows, __global const double *uvw, __global const double *wavenumbers,
          __global const REAL *values, uint row, uint channel, const Point *point)
{
  double fractions[3];
  Point other;
  return !is_zero(rows, values, (ulong)row * rows->row_channels + channel) &&
         find_point(rows, uvw + 3 * (ulong)row, wavenumbers[channel], &other, fractions) &&
         other.u == point->u && other.v == point->v && other.plane == point->plane;
}

/* The bin of each record. All of a visibility's footprints must lie in the grid; those of others,
 * of zeros, and of what is added to the channel before it, are one bin past all. */
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
  int inside = !is_zero(&rows, values, visibility) &&
               find_point(&rows, uvw + 3 * (ulong)row, wavenumbers[channel], &point, fractions);
  for (uint corner = 0; corner < rows.corners && inside; corner++)
    inside = find_place(&rows, planes, &point, corner, &place);
  if (inside && channel % rows.channels > 0)
    inside = !is_at(&rows, uvw, wavenumbers, values, row, channel - 1, &point);
  uint bin = rows.n_bins;
  if (inside) {
    find_place(&rows, planes, &point, i % rows.corners, &place);
    bin = (channel / rows.channels * rows.side + (uint)place.v / BIN) * rows.side +
          (uint)place.u / BIN;
  }
  bins[i] = bin;
  order[i] = i;
}

/* Adds the visibility of a channel to a record's values, turned to w = 0 and with a weight. */
void add_turned(const Rows *rows, __global const REAL *values, ulong visibility, double turns,
                double weight, __global REAL *to)
{
  const double half_turns = 2 * (turns - rint(turns));
  const double re = weight * cospi(half_turns), im = weight * sinpi(half_turns);
  for (uint p = 0; p < rows->products; p++) {
    __global const REAL *from = values + 2 * (visibility * rows->products + p);
    to[2 * p] += (REAL)(from[0] * re - from[1] * im);
    to[2 * p + 1] += (REAL)(from[0] * im + from[1] * re);
  }
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
  double fractions[3] = { 0, 0, 0 };
  Point point;
  Place place;
  if (get_global_id(0) >= rows.n || bins[order[i]] == rows.n_bins)
    return;
  const uint at = order[i], corner = at % rows.corners, visibility = at / rows.corners;
  const uint row = visibility / rows.row_channels, first = visibility % rows.row_channels;
  __global const double *of_row = uvw + 3 * (ulong)row;
  __global REAL *sums = to_values + 2 * (ulong)i * rows.products;
  find_point(&rows, of_row, wavenumbers[first], &point, fractions);
  find_place(&rows, planes, &point, corner, &place);
  to_taps[i] = place.taps;
  to_cells[i] = (int2)((int)place.u, (int)place.v);
  to_planes[i] = point.plane + (corner >> 2);
  for (uint p = 0; p < 2 * rows.products; p++)
    sums[p] = 0;
  for (uint channel = first;
       channel == first || (channel < rows.row_channels && channel % rows.channels > 0 &&
                            is_at(&rows, uvw, wavenumbers, values, row, channel, &point));
       channel++) {
    double weight = 1;
    find_point(&rows, of_row, wavenumbers[channel], &point, fractions);
    for (uint k = 0; k < 3 && rows.corners > 1; k++)
      weight *= corner >> k & 1 ? fractions[k] : 1 - fractions[k];
    add_turned(&rows, values, (ulong)row * rows.row_channels + channel,
               -of_row[2] * rows.turns_per_w * wavenumbers[channel], weight, sums);
  }
}

/* ---- the sums ---- */

/* As Spread in wprojection.c. */
typedef struct {
  uint size, products, side, tiles, reach; /* reach: bins before a tile's own */
} Spread;

/* Adds up what the slices have, one after the other. */
void add_slices(__local COMPLEX shared[ITEMS][TOGETHER], COMPLEX sums[TOGETHER], uint slice,
                uint item)
{
  for (uint other = 1; other < SLICES; other++) {
    for (uint p = 0; p < TOGETHER && slice == other; p++)
      shared[item][p] = sums[p];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint p = 0; p < TOGETHER && slice == 0; p++)
      sums[p] += shared[item][p];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

__kernel __attribute__((reqd_work_group_size(SLICES * ITEMS, 1, 1))) void
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
  __local ulong batch_taps[SLICES][BATCH];
  __local int2 batch_cells[SLICES][BATCH];
  __local int2 batch_shape[SLICES][BATCH]; /* support, and from row to row */
  __local COMPLEX batch_values[SLICES][BATCH][TOGETHER];
  __local COMPLEX shared[SLICES > 1 ? ITEMS : 1][TOGETHER];
  const uint item = get_local_id(0) % ITEMS, slice = get_local_id(0) / ITEMS;
  const uint group = get_group_id(0);
  const uint shares = (work.products + TOGETHER - 1) / TOGETHER;
  const uint first_product = group % shares * TOGETHER, tile = group / shares;
  const uint n_products = min(work.products - first_product, (uint)TOGETHER);
  const uint tile_u = tile % work.tiles, tile_v = tile / work.tiles % work.tiles;
  const uint channel = tile / work.tiles / work.tiles;
  const int u = (int)(tile_u * TILE + item % TILE), v = (int)(tile_v * TILE + item / TILE);
  const uint first_u = max((int)(2 * tile_u) - (int)work.reach, 0);
  const uint first_v = max((int)(2 * tile_v) - (int)work.reach, 0);
  const uint last_u = min(2 * tile_u + 1, work.side - 1),
             last_v = min(2 * tile_v + 1, work.side - 1);
  COMPLEX sums[TOGETHER];
  for (uint p = 0; p < TOGETHER; p++)
    sums[p] = (COMPLEX)(0, 0);

  for (uint bin_v = first_v; bin_v <= last_v; bin_v++) {
    const uint row = (channel * work.side + bin_v) * work.side;
    const uint end = starts[row + last_u + 1];
    for (uint done = starts[row + first_u]; done < end; done += SLICES * BATCH) {
      const uint begin = min(done + slice * BATCH, end), here = min(end - begin, (uint)BATCH);
      COMPLEX first[TOGETHER];
      if (item < here) {
        const TapsPlane plane = planes[of_planes[begin + item]];
        batch_taps[slice][item] = taps[begin + item];
        batch_cells[slice][item] = cells[begin + item];
        batch_shape[slice][item] = (int2)((int)plane.support, (int)plane.stride);
        for (uint p = 0; p < n_products; p++)
          batch_values[slice][item][p] =
              values[(ulong)(begin + item) * work.products + first_product + p];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      /* Few at a time, so that errors of long sums stay small. */
      for (uint p = 0; p < TOGETHER; p++)
        first[p] = (COMPLEX)(0, 0);
      for (uint one = 0; one < here; one += AT_ONCE) {
        COMPLEX tap[AT_ONCE];
        int reaches[AT_ONCE];
        for (uint k = 0; k < AT_ONCE; k++) {
          const uint record = min(one + k, here - 1);
          const int2 from = (int2)(u, v) - batch_cells[slice][record],
                     shape = batch_shape[slice][record];
          reaches[k] =
              one + k < here && from.x >= 0 && from.y >= 0 && from.x < shape.x && from.y < shape.x;
          if (reaches[k])
            tap[k] = all_taps[batch_taps[slice][record] + (uint)(from.y * shape.y + from.x)];
        }
        for (uint k = 0; k < AT_ONCE; k++)
          for (uint p = 0; p < TOGETHER; p++)
            if (reaches[k] && p < n_products) {
              const COMPLEX value = batch_values[slice][one + k][p];
              first[p] += (COMPLEX)(value.x * tap[k].x - value.y * tap[k].y,
                                    value.x * tap[k].y + value.y * tap[k].x);
            }
      }
      for (uint p = 0; p < TOGETHER; p++)
        sums[p] += first[p];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  add_slices(shared, sums, slice, item);
  if (slice > 0 || u >= (int)work.size || v >= (int)work.size)
    return;
  for (uint p = 0; p < TOGETHER; p++)
    if (p < n_products)
      grid[((ulong)(channel * work.products + first_product + p) * work.size + v) * work.size +
           u] += sums[p];
}
