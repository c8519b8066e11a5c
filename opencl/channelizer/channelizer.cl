/* The filter bank's kernels around its transforms (opencl/lib/fft/lines.cl). Samples of a block are
 * [input][step], those from before it [input][span], all in the stream's format. */

/* As Run in channelizer.c. Samples are numbered from the first one of the first spectrum: those
 * before `split` are held, the others are in the block. */
typedef struct {
  long split; /* below 0 if sample 0 is in the middle of the block */
  ulong held, held_row, block_row; /* held: where sample 0 would be in an input's row */
  ulong first, count;              /* the first row of this part; spectra of the block */
  uint n, taps, turn;              /* turn: the sample of point 0; earlier ones wrap */
  uint channels, below, coarse;    /* below: channels below the centre of the band */
  uint from, to, has_block, has_gains;
  uint components, bytes; /* of a sample of the stream; of a component */
} Run;

/* Where sample `at` of an input is. */
__global const uchar *find(const Run *run, __global const uchar *held, __global const uchar *block,
                           ulong input, ulong at, ulong *index)
{
  const int is_held = (long)at < run->split;
  *index = is_held ? input * run->held_row + run->held + at
                   : input * run->block_row + (ulong)((long)at - run->split);
  return is_held ? held : block;
}

/* Without a block its samples are zeros. */
int is_zero(const Run *run, ulong at)
{
  return !run->has_block && (long)at >= run->split;
}

/* A work item a point of the rows to be transformed: samples a multiple of n apart are added. */
__kernel void filter(FACE(held), FACE(block), FACE(weights), FACE(lines), const Run run,
                     const uint items)
{
  AT(const uchar, held);
  AT(const uchar, block);
  AT(const float, weights);
  AT(float2, lines);
  const uint id = (uint)get_global_id(0), point = id % run.n;
  if (id >= items)
    return;
  const ulong row = run.first + id / run.n, input = row / run.count;
  const ulong at = row % run.count * run.n + (point + run.turn) % run.n;
  float2 sum = (float2)(0, 0);
  for (uint tap = 0; tap < run.taps; tap++) {
    ulong index, there = at + (ulong)tap * run.n;
    __global const uchar *in = find(&run, held, block, input, there, &index);
    if (!is_zero(&run, there))
      sum += weights[tap * run.n + point] * read_sample(in, index, run.from);
  }
  lines[id] = sum;
}

/* A work item a bin of the rows: it goes to its channel, if it has one. */
__kernel void give(FACE(lines), FACE(gains), FACE(out), FACE(count), const Run run,
                   const uint items)
{
  AT(const float2, lines);
  AT(const float, gains);
  AT(uchar, out);
  AT(volatile uint, count);
  const uint id = (uint)get_global_id(0), bin = id % run.n;
  uint channel = bin + run.below, clipped = 0;
  if (id >= items || bin >= run.channels)
    return;
  channel -= channel >= run.channels ? run.channels : 0;
  const ulong row = run.first + id / run.n, input = row / run.count;
  const ulong to = (input / run.coarse * run.count + row % run.count) * run.coarse +
                   input % run.coarse;
  const float gain = run.has_gains ? gains[channel] : 1;
  write_sample(out, to * run.channels + channel, run.to, lines[id] * gain, &clipped);
  count_clipped(count, clipped);
}

/* Copies n samples of each input from sample 0 on, to be held for the next block. */
__kernel void keep(FACE(held), FACE(block), FACE(out), const Run run, const ulong n)
{
  AT(const uchar, held);
  AT(const uchar, block);
  AT(uchar, out);
  const ulong at = get_global_id(0), input = get_global_id(1);
  ulong index;
  __global const uchar *in = find(&run, held, block, input, at, &index);
  if (at < n)
    copy_sample(in, index, out, input * run.held_row + at, run.components, run.bytes,
                (uint)is_zero(&run, at));
}

/* As Lost in losses.c. */
typedef struct {
  ulong from, to;
  uint station, channel, channel_end, unused;
} Lost;

/* Sets lost samples of a gathered block to zero, a group a loss. */
__kernel void drop(FACE(out), FACE(losses), const Gather work)
{
  AT(uchar, out);
  AT(const Lost, losses);
  const Lost lost = losses[get_group_id(0)];
  for (uint pol = 0; pol < work.pols; pol++)
    for (uint channel = lost.channel; channel < lost.channel_end; channel++) {
      const ulong input = ((ulong)lost.station * work.pols + pol) * work.channels + channel;
      for (ulong at = lost.from + get_local_id(0); at < lost.to; at += get_local_size(0))
        copy_sample(out, 0, out, input * work.row + at, work.components, work.bytes, 1);
    }
}
