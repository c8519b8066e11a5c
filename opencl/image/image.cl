/* Images of planes of a grid. Options: FROM and TO, float or double, of planes and of images; REAL,
 * the precision of sums, which is double where either is; TILE, cells along a side of a tile. */

#define MOST_PRODUCTS 8 /* as in core/image/image.h */

typedef struct {
  double scale;
  uint product, imaginary;
} Term;

/* As Plane in image.c. */
typedef struct {
  Term terms[MOST_PRODUCTS][2];
  uint n_terms[MOST_PRODUCTS];
  double w, pixel, centre_l, centre_m;
  uint size, image, n_out;
  uint first, last, has_series;
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

/* Adds a channel's plane to its image, a pixel an item. */
__kernel void add_plane(FACE(in), FACE(out), FACE(inverse), FACE(series), const Plane plane)
{
  AT(const FROM, in);
  AT(TO, out);
  AT(const double, inverse);
  AT(const Series, series);
  const ulong pixels = (ulong)plane.image * plane.image, cells = (ulong)plane.size * plane.size;
  const ulong id = get_global_id(0);
  if (id >= pixels)
    return;
  const uint x = (uint)(id % plane.image), y = (uint)(id / plane.image);
  const uint middle = plane.image / 2;
  /* If the image is as large as the grid, its columns wrap around. */
  const uint at = plane.size / 2 + middle - x, u = at >= plane.size ? at - plane.size : at;
  const ulong from = (ulong)(plane.size / 2 - middle + y) * plane.size + u;
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
    __global TO *to = out + product * pixels + id;
    REAL sum = plane.first ? (REAL)0 : (REAL)*to;
    for (uint i = 0; i < plane.n_terms[product]; i++) {
      const Term term = plane.terms[product][i];
      const ulong cell = 2 * (term.product * cells + from);
      const REAL a = in[cell], b = in[cell + 1];
      sum += (REAL)term.scale * (term.imaginary ? a * im + b * re : a * re - b * im);
    }
    *to = (TO)(sum * factor);
  }
}

/* Copies a plane's rows, with zeros for those without any touched tile. An item a sample. */
__kernel void take_rows(FACE(in), FACE(out), FACE(touched), const ulong n, const uint size,
                        const uint tiles, const uint products)
{
  AT(const FROM, in);
  AT(FROM, out);
  AT(const uchar, touched);
  const ulong id = get_global_id(0);
  if (id >= n)
    return;
  const ulong row = id / size, channel = row / size / products, v = row % size;
  __global const uchar *of_row = touched + (channel * tiles + v / TILE) * tiles;
  int any = 0;
  for (uint i = 0; i < tiles; i++)
    any |= of_row[i];
  for (uint part = 0; part < 2; part++)
    out[2 * id + part] = any ? in[2 * id + part] : (FROM)0;
}
