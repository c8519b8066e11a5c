/* Transposes blocks of samples of TYPE, in tiles of TILE by TILE. A group of work items has ROWS
 * rows of WIDTH. */

#define MOST_AXES 8
#define WIDTH 32

/* As Axes in transpose.c. */
typedef struct {
  uint n;
  uint extent[MOST_AXES]; /* fastest in the output first */
  ulong from[MOST_AXES], to[MOST_AXES];
} Axes;

ulong2 offsets(const Axes *axes, uint index)
{
  ulong2 at = (ulong2)(0, 0);
  for (uint i = 0; i < axes->n; i++) {
    const uint step = index % axes->extent[i];
    at += step * (ulong2)(axes->from[i], axes->to[i]);
    index /= axes->extent[i];
  }
  return at;
}

/* A work item a sample of the output. */
__kernel void gather(FACE(in), FACE(out), const Axes axes, const uint samples)
{
  AT(const TYPE, in);
  AT(TYPE, out);
  const uint index = (uint)get_global_id(0);
  if (index < samples) {
    const ulong2 at = offsets(&axes, index);
    out[at.y] = in[at.x];
  }
}

/* A group turns a square of TILE by TILE samples over by way of its local memory, so that
 * neighbours read and write neighbours on both sides. Rows of the tile are along the innermost axis
 * of the input, of extents.x samples, its columns along that of the output, of extents.y. Groups
 * are numbered along the first dimension alone, as drivers allow but few along the others: tiles.x
 * of them along the rows, tiles.y along the columns, and the other axes. */
__kernel void turn(FACE(in), FACE(out), const Axes axes, const uint2 extents, const uint2 tiles,
                   const ulong row_from, const ulong row_to)
{
  __local TYPE tile[TILE][TILE + 1];
  AT(const TYPE, in);
  AT(TYPE, out);
  const uint first_x = (uint)get_local_id(0), first_y = (uint)get_local_id(1);
  const uint number = (uint)get_group_id(0), batch = number / tiles.x / tiles.y;
  const uint from_x = number % tiles.x * TILE, from_y = number / tiles.x % tiles.y * TILE;
  const ulong2 at = offsets(&axes, batch);
  for (uint y = first_y; y < TILE; y += ROWS)
    for (uint x = first_x; x < TILE; x += WIDTH)
      if (from_x + x < extents.x && from_y + y < extents.y)
        tile[y][x] = in[at.x + from_x + x + (from_y + y) * row_from];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint y = first_y; y < TILE; y += ROWS)
    for (uint x = first_x; x < TILE; x += WIDTH)
      if (from_y + x < extents.y && from_x + y < extents.x)
        out[at.y + from_y + x + (from_x + y) * row_to] = tile[x][y];
}
