/* Converts samples from one format to another. Behind opencl/runtime/samples.cl, whose options name
 * the formats; COMPONENTS: of a sample. */

/* A work item a sample. */
__kernel void convert(FACE(in), FACE(out), FACE(count), const ulong samples, const REAL scale)
{
  AT(const IN, in);
  AT(OUT, out);
  AT(volatile uint, count);
  const ulong at = get_global_id(0);
  uint clipped = 0;
  if (at >= samples)
    return;
  for (ulong i = at * COMPONENTS; i < (at + 1) * COMPONENTS; i++) {
    const REAL value = READ(in, i);
    WRITE(out, i, value, value * scale, &clipped);
  }
  add_clipped(count, clipped);
}
