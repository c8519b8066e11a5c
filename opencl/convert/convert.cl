/* Converts samples from one format to another. Behind opencl/runtime/samples.cl, whose options name
 * the formats; COMPONENTS: of a byte that is written, two for nibbles and else one. */

#define EACH 8

/* A work item converts so many times COMPONENTS, a group's width apart, as neighbours are to read
 * and write neighbours. All are read before the first is written: a read takes long, but several
 * take no longer than one. */
__kernel void convert(FACE(in), FACE(out), FACE(count), const ulong times, const REAL scale)
{
  AT(const IN, in);
  AT(OUT, out);
  AT(volatile uint, count);
  const ulong width = get_local_size(0), first = get_group_id(0) * width * EACH + get_local_id(0);
  REAL values[EACH][COMPONENTS];
  uint clipped = 0;
  for (uint i = 0; i < EACH; i++)
    for (uint c = 0; c < COMPONENTS; c++) {
      const ulong at = first + i * width;
      values[i][c] = at < times ? READ(in, at * COMPONENTS + c) : (REAL)0;
    }
  for (uint i = 0; i < EACH; i++)
    for (uint c = 0; c < COMPONENTS; c++) {
      const ulong at = first + i * width;
      if (at < times)
        WRITE(out, at * COMPONENTS + c, values[i][c], values[i][c] * scale, &clipped);
    }
  count_clipped(count, clipped);
}
