/* Brings samples of any order to rows with time contiguous, one for each input (a polarisation of a
 * station, or a channel of one). Behind any.cl. */

/* As AstroOpenclGather in gather.h. */
typedef struct {
  ulong time, station, pol, channel, steps, row;
  uint inputs, pols, channels, format, is_zero;
} Gather;

__kernel void gather(FACE(in), FACE(out), const Gather work)
{
  AT(const uchar, in);
  AT(uchar, out);
  const ulong at = get_global_id(0), input = get_global_id(1), polar = input / work.channels;
  const ulong from = at * work.time + input % work.channels * work.channel +
                     polar % work.pols * work.pol + polar / work.pols * work.station;
  float2 sample = (float2)(0, 0);
  uint clipped = 0;
  if (at >= work.steps)
    return;
  if (!work.is_zero)
    sample = read_sample(in, from, work.format);
  write_sample(out, input * work.row + at, work.format, sample, &clipped);
}
