/* Beams as products of weights, [beam][station], and samples, [station][step]. Behind
 * opencl/lib/formats/any.cl. A group makes a tile of beams by steps, of one channel, polarisation
 * and interval, and goes through the stations a few at a time, in their order, so that beams do not
 * depend on how a stream is cut. */

#define SIDE 8 /* as in beamform.c: work items along a side of a tile */
#define EACH 4 /* as in beamform.c: beams and steps of a work item, SIDE apart */
#define TILE (SIDE * EACH)
#define GROUP (SIDE * SIDE)
#define STATIONS 16 /* in local memory at a time */

#ifdef FP_FAST_FMAF
#define MORE(sum, a, b) sum = fma(a, b, sum)
#else
#define MORE(sum, a, b) sum += (a) * (b)
#endif

/* As Form in beamform.c. */
typedef struct {
  ulong in_time, in_channel, in_row, in_pol; /* in samples; row: station or beam */
  ulong out_time, out_channel, out_row, out_pol;
  ulong good_channel, good_station;
  ulong first, steps, interval;
  ulong tiles; /* of steps in an interval, at most */
  uint pols, beams, stations;
  uint first_interval, intervals, first_channel, channels; /* that there are weights for */
  uint has_good, from, to;                                 /* formats */
  float scale;
} Form;

/* What a group makes. */
typedef struct {
  ulong begin, end; /* steps of the block; no more than TILE, or none */
  ulong item;       /* of the weights */
  uint channel, pol, beam;
} Tile;

Tile tile_of(const Form *job, ulong group)
{
  const uint beam_tiles = (job->beams + TILE - 1) / TILE;
  const ulong column = group % job->tiles, row = group / job->tiles;
  const uint pol = (uint)(row % job->pols), interval = (uint)(row / job->pols % job->intervals);
  const ulong rest = row / job->pols / job->intervals;
  const uint beam = (uint)(rest % beam_tiles), channel = (uint)(rest / beam_tiles);
  const ulong number = job->first / job->interval + job->first_interval + interval;
  const ulong from = number * job->interval, to = from + job->interval;
  const ulong begin = (from > job->first ? from - job->first : 0) + column * TILE;
  Tile tile;
  tile.begin = begin;
  tile.end = min(min(to - job->first, job->steps), begin + TILE);
  tile.item = (ulong)interval * job->channels + channel;
  tile.channel = job->first_channel + channel;
  tile.pol = pol;
  tile.beam = beam * TILE;
  return tile;
}

int is_good(const Form *job, __global const uchar *good, const Tile *tile, uint station, ulong step)
{
  return station < job->stations && step < tile->end &&
         (!job->has_good ||
          good[tile->channel * job->good_channel + station * job->good_station + step]);
}

/* Stations without weight do not count, and nor do samples that are lost, whatever they are. */
void fetch_samples(__local float2 to[STATIONS][TILE], __local const float *magnitudes,
                   const Form *job, const Tile *tile, uint first, __global const uchar *in,
                   __global const uint *index, __global const uchar *good)
{
  const int by_time = job->in_time < job->in_row;
  for (uint i = (uint)get_local_id(0); i < STATIONS * TILE; i += GROUP) {
    const uint row = by_time ? i / TILE : i % STATIONS, column = by_time ? i % TILE : i / STATIONS;
    const ulong step = tile->begin + column;
    float2 sample = (float2)(0, 0);
    if (is_good(job, good, tile, first + row, step) && magnitudes[row] != 0) {
      const ulong at = step * job->in_time + tile->channel * job->in_channel +
                       index[first + row] * job->in_row + tile->pol * job->in_pol;
      sample = read_sample(in, at, job->from);
    }
    to[row][column] = sample;
  }
}

void fetch_weights(__local float2 to[STATIONS][TILE], const Form *job, const Tile *tile, uint first,
                   __global const float2 *factors)
{
  for (uint i = (uint)get_local_id(0); i < STATIONS * TILE; i += GROUP) {
    const uint station = first + i / TILE, beam = tile->beam + i % TILE;
    to[i / TILE][i % TILE] =
        station < job->stations && beam < job->beams
            ? factors[(tile->item * job->stations + station) * job->beams + beam]
            : (float2)(0, 0);
  }
}

/* A work item has EACH beams and as many steps, SIDE apart. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
form(FACE(in), FACE(out), FACE(index), FACE(factors), FACE(sizes), FACE(good), FACE(count),
     const Form job)
{
  AT(const uchar, in);
  AT(uchar, out);
  AT(const uint, index);
  AT(const float2, factors);
  AT(const float, sizes);
  AT(const uchar, good);
  AT(volatile uint, count);
  __local float2 samples[STATIONS][TILE], weights[STATIONS][TILE];
  __local float magnitudes[STATIONS], means[TILE];
  const uint item = (uint)get_local_id(0), my_beam = item / SIDE, my_column = item % SIDE;
  const Tile tile = tile_of(&job, get_group_id(0));
  const uint stations = tile.begin < tile.end ? job.stations : 0;
  float total = 0; /* of good weights, for a step of this item */
  float re[EACH][EACH], im[EACH][EACH];
  uint clipped = 0;
  for (uint i = 0; i < EACH; i++)
    for (uint j = 0; j < EACH; j++)
      re[i][j] = im[i][j] = 0;

  for (uint first = 0; first < stations; first += STATIONS) {
    if (item < STATIONS)
      magnitudes[item] =
          first + item < job.stations ? sizes[tile.item * job.stations + first + item] : 0;
    fetch_weights(weights, &job, &tile, first, factors);
    barrier(CLK_LOCAL_MEM_FENCE);
    fetch_samples(samples, magnitudes, &job, &tile, first, in, index, good);
    if (item < TILE)
      for (uint k = 0; k < STATIONS; k++)
        total += is_good(&job, good, &tile, first + k, tile.begin + item) ? magnitudes[k] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < STATIONS; k++) {
      float2 a[EACH], b[EACH];
      for (uint i = 0; i < EACH; i++) {
        a[i] = weights[k][my_beam + i * SIDE];
        b[i] = samples[k][my_column + i * SIDE];
      }
      for (uint i = 0; i < EACH; i++)
        for (uint j = 0; j < EACH; j++) {
          MORE(re[i][j], a[i].x, b[j].x);
          MORE(im[i][j], a[i].x, b[j].y);
          MORE(re[i][j], -a[i].y, b[j].y);
          MORE(im[i][j], a[i].y, b[j].x);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item < TILE)
    means[item] = total > 0 ? job.scale / total : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = 0; i < EACH; i++)
    for (uint j = 0; j < EACH; j++) {
      const uint beam = tile.beam + my_beam + i * SIDE, column = my_column + j * SIDE;
      const ulong step = tile.begin + column;
      const ulong at = step * job.out_time + tile.channel * job.out_channel + beam * job.out_row +
                       tile.pol * job.out_pol;
      if (beam >= job.beams || step >= tile.end)
        continue;
      const float2 value = (float2)(re[i][j], im[i][j]) * means[column];
      write_sample(out, at, job.to, value, &clipped);
    }
  count_clipped(count, clipped);
}
