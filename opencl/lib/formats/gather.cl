/* Brings samples of any order to rows with time contiguous, one for each input (a polarisation of a
 * station, or a channel of one). */

/* Copies sample i to sample j, or zeros; components of that many bytes each. Samples may lie at any
 * address that is a multiple of these. */
void copy_sample(__global const uchar *in, ulong i, __global uchar *out, ulong j, uint components,
                 uint bytes, uint is_zero)
{
  for (uint c = 0; c < components; c++) {
    const ulong from = i * components + c, to = j * components + c;
    if (bytes == 1)
      out[to] = is_zero ? 0 : in[from];
    else if (bytes == 2)
      ((__global ushort *)out)[to] = is_zero ? 0 : ((__global const ushort *)in)[from];
    else
      ((__global uint *)out)[to] = is_zero ? 0 : ((__global const uint *)in)[from];
  }
}

/* As AstroOpenclGather in gather.h. */
typedef struct {
  ulong time, station, pol, channel, steps, row;
  uint inputs, pols, channels, components, bytes, is_zero;
} Gather;

__kernel void gather(FACE(in), FACE(out), const Gather work)
{
  AT(const uchar, in);
  AT(uchar, out);
  const ulong at = get_global_id(0), input = get_global_id(1), polar = input / work.channels;
  const ulong from = at * work.time + input % work.channels * work.channel +
                     polar % work.pols * work.pol + polar / work.pols * work.station;
  if (at < work.steps)
    copy_sample(in, from, out, input * work.row + at, work.components, work.bytes, work.is_zero);
}
