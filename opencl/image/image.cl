/* Images of planes of a grid. Options: FROM and TO, float or double, of planes and of images; REAL,
 * the precision of sums, which is double where either is; TILE, cells along a side of a tile. */

#define MOST_PRODUCTS 8 /* as in core/image/image.h */

typedef struct {
  double scale;
  uint product, imaginary;
} Term;

/* As Plane in image.c. Some columns of the image, from planes, or from lines that have been
 * transformed: a line is a column of a product. */
typedef struct {
  Term terms[MOST_PRODUCTS][2];
  uint n_terms[MOST_PRODUCTS];
  double w, pixel, centre_l, centre_m;
  uint size, image, n_out, first_x, n_x;
  uint first, last, has_series, is_lines;
} Plane;

/* As AstroImageSeries. */
typedef struct {
  double least, greatest;
  uint n;
  double terms[1];
} Series;

/* Clenshaw's recurrence. */
double series_at(__global const Series *series, double x)
{
  const double at =
      (2 * x - (series->least + series->greatest)) / (series->greatest - series->least);
  double next = 0, after = 0;
  for (uint k = series->n; k-- > 1;) {
    const double now = series->terms[k] + 2 * at * next - after;
    after = next;
    next = now;
  }
  return series->terms[0] + at * next - after;
}

/* Where the sample for a pixel is; samples of lines begin at the middle of the grid. */
ulong sample_of(const Plane *plane, uint product, uint x, uint y)
{
  const uint size = plane->size, from_middle = plane->image / 2;
  const uint v = size / 2 - from_middle + y;
  /* If the image is as large as the grid, its columns wrap around. */
  const uint u = (size / 2 + from_middle - x) % size;
  if (!plane->is_lines)
    return ((ulong)product * size + v) * size + u;
  return ((ulong)product * plane->n_x + x - plane->first_x) * size + (v + size - size / 2) % size;
}

/* Adds a channel's plane to its image, a pixel an item. */
__kernel void add_plane(FACE(in), FACE(out), FACE(inverse), FACE(series), const Plane plane)
{
  AT(const FROM, in);
  AT(TO, out);
  AT(const double, inverse);
  AT(const Series, series);
  const ulong id = get_global_id(0), pixels = (ulong)plane.image * plane.image;
  const uint x = plane.first_x + (uint)(id % plane.n_x), y = (uint)(id / plane.n_x);
  const uint middle = plane.image / 2;
  if (id / plane.n_x >= plane.image)
    return;
  const double l = plane.centre_l + ((double)middle - (double)x) * plane.pixel;
  const double m = plane.centre_m + ((double)y - (double)middle) * plane.pixel;
  const double r2 = l * l + m * m, n_minus_1 = -r2 / (1 + sqrt(1 - r2));
  REAL re = 1, im = 0, factor = 1;
  if (plane.w != 0) {
    const double turns = plane.w * n_minus_1;
    const REAL half_turns = (REAL)(2 * (turns - rint(turns)));
    re = cospi(half_turns);
    im = -sinpi(half_turns);
  }
  if (plane.last)
    factor = (REAL)(inverse[2 * middle - x] * inverse[y] *
                    (plane.has_series ? series_at(series, n_minus_1) : 1.));
  for (uint product = 0; product < plane.n_out; product++) {
    __global TO *to = out + product * pixels + (ulong)y * plane.image + x;
    REAL sum = plane.first ? (REAL)0 : (REAL)*to;
    for (uint i = 0; i < plane.n_terms[product]; i++) {
      const Term term = plane.terms[product][i];
      const ulong sample = 2 * sample_of(&plane, term.product, x, y);
      const REAL a = in[sample], b = in[sample + 1];
      sum += (REAL)term.scale * (term.imaginary ? a * im + b * re : a * re - b * im);
    }
    *to = (TO)(sum * factor);
  }
}

/* Which rows of tiles have a touched tile. */
__kernel void find_rows(FACE(touched), FACE(has_any), const uint rows, const uint tiles)
{
  AT(const uchar, touched);
  AT(uchar, has_any);
  const ulong row = get_global_id(0);
  if (row >= rows)
    return;
  uchar any = 0;
  for (uint i = 0; i < tiles; i++)
    any |= touched[row * tiles + i];
  has_any[row] = any;
}

/* Takes columns of the image from a channel's plane as lines: rows without any touched tile, which
 * hold anything, as zeros. */
__kernel void take_lines(FACE(in), FACE(has_any), FACE(lines), const ulong n, const uint has_map,
                         const Plane plane)
{
  AT(const FROM, in);
  AT(const uchar, has_any);
  AT(FROM, lines);
  const ulong id = get_global_id(0), row = id / plane.n_x;
  const uint size = plane.size, column = (uint)(id % plane.n_x);
  const uint product = (uint)(row / size), at = (uint)(row % size), v = (at + size / 2) % size;
  const uint u = (size / 2 + plane.image / 2 - plane.first_x - column) % size;
  if (id >= n)
    return;
  const ulong from = 2 * (((ulong)product * size + v) * size + u);
  const ulong to = 2 * (((ulong)product * plane.n_x + column) * size + at);
  const int is_there = !has_map || has_any[v / TILE];
  for (uint part = 0; part < 2; part++)
    lines[to + part] = is_there ? in[from + part] : (FROM)0;
}
