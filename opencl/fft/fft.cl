/* Loads the lines of a part of a block, to be transformed (opencl/lib/fft/lines.cl), and stores
 * them. Options: REAL, float or double, and TILE, samples along a side of a tile of a grid. */

/* As Lines in fft.c. */
typedef struct {
  ulong first, count; /* of the lines, those of this part */
  ulong inner, period, first_line, n_lines;
  ulong wanted, n_wanted;
  ulong n, n_in, n_out;
  ulong origin_in, origin_out;
  ulong share, rows, tiles; /* of the map of tiles */
  uint is_real, has_map;
} Lines;

/* Where a line's first sample is in a block whose lines have n samples. */
ulong start_of(const Lines *lines, ulong line, ulong n)
{
  const ulong per_outer = lines->inner / lines->period * lines->n_lines;
  const ulong outer = line / per_outer, rest = line % per_outer;
  const ulong inner =
      rest / lines->n_lines * lines->period + lines->first_line + rest % lines->n_lines;
  return outer * n * lines->inner + inner;
}

/* The line and sample of a work item, neighbours in memory side by side. */
ulong2 item_of(const Lines *lines, ulong n)
{
  const ulong id = get_global_id(0);
  return lines->inner == 1 ? (ulong2)(id / n, id % n)
                           : (ulong2)(id % lines->count, id / lines->count);
}

int is_touched(const Lines *lines, __global const uchar *map, ulong line, ulong sample)
{
  const ulong grid = line / lines->rows, row = line % lines->rows;
  const ulong rows_of_tiles = (lines->rows + TILE - 1) / TILE;
  return map[(grid / lines->share * rows_of_tiles + row / TILE) * lines->tiles + sample / TILE];
}

/* The bins that are omitted in the transform of a real line are conjugates of those that are there.
 */
__kernel void load(FACE(in), FACE(map), FACE(work), const Lines lines)
{
  AT(const REAL, in);
  AT(const uchar, map);
  AT(COMPLEX, work);
  const ulong2 item = item_of(&lines, lines.n);
  if (item.x >= lines.count || item.y >= lines.n)
    return;
  const ulong line = lines.first + item.x, sample = (item.y + lines.origin_in) % lines.n;
  const int is_conjugate = sample >= lines.n_in;
  const ulong at = start_of(&lines, line, lines.n_in) +
                   (is_conjugate ? lines.n - sample : sample) * lines.inner;
  COMPLEX value = (COMPLEX)(0, 0);
  if (!lines.has_map || is_touched(&lines, map, line, sample))
    value = lines.is_real ? (COMPLEX)(in[at], 0) : vload2(at, in);
  if (is_conjugate)
    value.y = -value.y;
  work[item.x * lines.n + item.y] = value;
}

/* Only the wanted samples are written. */
__kernel void store(FACE(work), FACE(out), const Lines lines, const REAL scale)
{
  AT(const COMPLEX, work);
  AT(REAL, out);
  const ulong2 item = item_of(&lines, lines.n_wanted);
  if (item.x >= lines.count || item.y >= lines.n_wanted)
    return;
  const ulong sample = lines.wanted + item.y;
  const ulong at = start_of(&lines, lines.first + item.x, lines.n_out) + sample * lines.inner;
  const ulong bin = (sample + lines.n - lines.origin_out) % lines.n;
  const COMPLEX value = work[item.x * lines.n + bin] * scale;
  if (lines.is_real)
    out[at] = value.x;
  else
    vstore2(value, at, out);
}
