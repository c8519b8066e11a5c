/* Adds products of inputs (a polarisation of a station) to the sums of an integration. Options name
 * the format of samples, FROM_CI8 and so on, and SIDE, the work items along a side of a tile.
 *
 * Bytes are multiplied four time steps at a time where the device has dot products of bytes. Else
 * they are multiplied as floats, whose sums are exact up to 2^24 and are then added to integers.
 * Sums of floats are made in two steps too, so that their errors do not grow with the steps. */

#define EACH 4 /* rows and columns of a work item */
#define TILE (SIDE * EACH)
#define PITCH (TILE + 2)                    /* of a row of a tile: pairs of rows are aligned */
#define ROWS 16                             /* of samples in local memory */
#define SLOTS (ROWS * TILE / (SIDE * SIDE)) /* of them that a work item fetches */

#if defined(FROM_CI4) || defined(FROM_CI8)
#define IS_BYTES
#ifdef __opencl_c_integer_dot_product_input_4x8bit_packed
#define HAS_DOT
#endif
#endif

/* Samples of a row in local memory, two rows as they are read from there, and their products. PART:
 * rows of a first sum, of type FIRST; what they are then added to is of type SUM. Without PART
 * there is one sum, of type SUM. */
#if defined(HAS_DOT)
#define STEPS 4 /* of a row */
#define ROW uint2
#define TWO_ROWS uint4
#define SUM int
#define ADD(re, im, a, b)                                                                          \
  re += dot_4x8packed_ss_int(a.x, b.x) + dot_4x8packed_ss_int(a.y, b.y);                           \
  im += dot_4x8packed_ss_int(a.y, b.x) - dot_4x8packed_ss_int(a.x, b.y)
#elif defined(FROM_CI16)
#define STEPS 1
#define ROW int2
#define TWO_ROWS int4
#define SUM long
#define ADD(re, im, a, b)                                                                          \
  re += (long)a.x * b.x + (long)a.y * b.y;                                                         \
  im += (long)a.y * b.x - (long)a.x * b.y
#else
#define STEPS 1
#define ROW float2
#define TWO_ROWS float4
#define FIRST float
#ifdef IS_BYTES
#define SUM int
#define PART 512
#else
#define SUM float
#define PART 32
#endif
#ifdef FP_FAST_FMAF
#define MORE(sum, a, b) sum = fma(a, b, sum)
#else
#define MORE(sum, a, b) sum += (a) * (b)
#endif
#define ADD(re, im, a, b)                                                                          \
  MORE(re, a.x, b.x);                                                                              \
  MORE(im, a.y, b.x);                                                                              \
  MORE(re, a.y, b.y);                                                                              \
  MORE(im, -a.x, b.y)
#endif
#ifndef FIRST
#define FIRST SUM
#endif

/* What the sums of an integration are in. */
#if defined(FROM_CF16) || defined(FROM_CF32)
#define KEPT double
#define KEPT2 double2
#else
#define KEPT long
#define KEPT2 long2
#endif

/* As Run in correlator.c. */
typedef struct {
  ulong time, channel, station, pol; /* bytes from one sample to the next along each axis */
  ulong valid_time, valid_channel, valid_station;
  ulong products; /* of a channel */
  uint inputs, pols, tiles, has_valid;
  uint steps, adds; /* whether there are sums already */
} Run;

/* Samples may lie at any address that is a multiple of their components. */
#if defined(FROM_CI4)
int2 sample_at(__global const uchar *in)
{
  const int byte = *(__global const char *)in;
  return (int2)(byte >> 4, (char)(byte << 4) >> 4);
}
#elif defined(FROM_CI8)
int2 sample_at(__global const uchar *in)
{
  return convert_int2(vload2(0, (__global const char *)in));
}
#elif defined(FROM_CI16)
int2 sample_at(__global const uchar *in)
{
  return convert_int2(vload2(0, (__global const short *)in));
}
#elif defined(FROM_CF16)
float2 sample_at(__global const uchar *in)
{
  return vload_half2(0, (__global const half *)in);
}
#else
float2 sample_at(__global const uchar *in)
{
  return vload2(0, (__global const float *)in);
}
#endif

/* The place in a tile of a row that a work item fetches anew for each part of the steps, x: the
 * input, y: the row; neighbours in memory by neighbouring items. Always the same inputs, so that
 * where they begin is found once. */
uint2 slot_of(uint i, int by_time)
{
  const uint at = i * SIDE * SIDE + (uint)get_local_id(0);
  return by_time ? (uint2)(at / ROWS, at % ROWS) : (uint2)(at % TILE, at / TILE);
}

#define NOWHERE ULONG_MAX

/* Where in the block the first samples of the slots' inputs are. */
void find_slots(ulong begins[SLOTS], const Run *run, uint channel, uint first_input)
{
  for (uint i = 0; i < SLOTS; i++) {
    const uint input = first_input + slot_of(i, run->time < run->station).x;
    begins[i] = input < run->inputs ? channel * run->channel + input / run->pols * run->station +
                                          input % run->pols * run->pol
                                    : NOWHERE;
  }
}

int is_valid(const Run *run, __global const uchar *valid, uint channel, uint input, uint step)
{
  return !run->has_valid || valid[channel * run->valid_channel +
                                  input / run->pols * run->valid_station + step * run->valid_time];
}

/* The steps of a row of an input; those that are lost, or beyond the end, are 0. */
ROW row_of(const Run *run, __global const uchar *in, __global const uchar *valid, ulong begin,
           uint channel, uint input, uint step)
{
  ROW row = (ROW)(0, 0);
  for (uint i = 0; i < STEPS; i++, step++) {
    const int is_good =
        begin != NOWHERE && step < run->steps && is_valid(run, valid, channel, input, step);
#ifdef HAS_DOT
    if (is_good)
      row |= convert_uint2(sample_at(in + begin + step * run->time) & 255) << 8 * i;
#elif defined(FIRST) && defined(IS_BYTES)
    if (is_good)
      row = convert_float2(sample_at(in + begin + step * run->time));
#else
    if (is_good)
      row = sample_at(in + begin + step * run->time);
#endif
  }
  return row;
}

/* Fills a tile's rows in local memory. */
void fetch(__local ROW to[ROWS][PITCH], const Run *run, __global const uchar *in,
           __global const uchar *valid, const ulong begins[SLOTS], uint channel, uint first_input,
           uint first_step)
{
  ROW rows[SLOTS];
  for (uint i = 0; i < SLOTS; i++) {
    const uint2 slot = slot_of(i, run->time < run->station);
    rows[i] = row_of(run, in, valid, begins[i], channel, first_input + slot.x,
                     first_step + slot.y * STEPS);
  }
  for (uint i = 0; i < SLOTS; i++) {
    const uint2 slot = slot_of(i, run->time < run->station);
    to[slot.y][slot.x] = rows[i];
  }
}

/* Adds the sum of one product to those of the integration. */
void give(__global KEPT2 *sums, const Run *run, uint channel, uint row, uint column, SUM re, SUM im)
{
  const ulong i = row / run->pols, j = column / run->pols;
  const ulong at = channel * run->products +
                   ((i * (i + 1) / 2 + j) * run->pols + row % run->pols) * run->pols +
                   column % run->pols;
  if (row >= run->inputs || j > i)
    return;
  const KEPT2 sum = (KEPT2)((KEPT)re, (KEPT)im);
  sums[at] = run->adds ? sums[at] + sum : sum;
}

/* The tile of this number, row by row in the lower triangle. */
uint2 tile_of(uint number)
{
  uint i = (uint)((sqrt(8.0f * number + 1) - 1) / 2);
  while ((ulong)(i + 1) * (i + 2) / 2 <= number)
    i++;
  while ((ulong)i * (i + 1) / 2 > number)
    i--;
  return (uint2)(i, (uint)(number - (ulong)i * (i + 1) / 2)) * TILE;
}

/* Columns of a work item: pairs of them, SIDE pairs apart. */
#define COLUMN(j) (my_column + (j) / 2 * 2 * SIDE + (j) % 2)

/* A group has a tile of a channel, a work item EACH rows side by side and as many columns. While it
 * fetches, another group makes products: registers are few, so that there is room for both. */
__kernel void correlate(FACE(in), FACE(valid), FACE(sums), const Run run)
{
  __local ROW rows[ROWS][PITCH] __attribute__((aligned(16)));
  __local ROW columns[ROWS][PITCH] __attribute__((aligned(16)));
  AT(const uchar, in);
  AT(const uchar, valid);
  AT(KEPT2, sums);
  const uint group = (uint)get_group_id(0), channel = group / run.tiles;
  const uint2 tile = tile_of(group % run.tiles);
  const uint my_row = (uint)get_local_id(0) / SIDE * EACH;
  const uint my_column = (uint)get_local_id(0) % SIDE * 2;
  ulong row_begins[SLOTS], column_begins[SLOTS];
  SUM re[EACH][EACH], im[EACH][EACH];
  FIRST first_re[EACH][EACH], first_im[EACH][EACH];
  for (uint i = 0; i < EACH; i++)
    for (uint j = 0; j < EACH; j++) {
      re[i][j] = im[i][j] = 0;
      first_re[i][j] = first_im[i][j] = 0;
    }
  find_slots(row_begins, &run, channel, tile.x);
  find_slots(column_begins, &run, channel, tile.y);
  for (uint step = 0; step < run.steps; step += ROWS * STEPS) {
    fetch(rows, &run, in, valid, row_begins, channel, tile.x, step);
    fetch(columns, &run, in, valid, column_begins, channel, tile.y, step);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < ROWS; k++) {
      ROW a[EACH], b[EACH];
      for (uint i = 0; i < EACH; i += 2) {
        const TWO_ROWS two = *(__local const TWO_ROWS *)&rows[k][my_row + i];
        const TWO_ROWS other = *(__local const TWO_ROWS *)&columns[k][COLUMN(i)];
        a[i] = two.lo;
        a[i + 1] = two.hi;
        b[i] = other.lo;
        b[i + 1] = other.hi;
      }
      for (uint i = 0; i < EACH; i++)
        for (uint j = 0; j < EACH; j++) {
          ADD(first_re[i][j], first_im[i][j], a[i], b[j]);
        }
    }
#ifdef PART
    if ((step + ROWS * STEPS) % PART == 0 || step + ROWS * STEPS >= run.steps)
      for (uint i = 0; i < EACH; i++)
        for (uint j = 0; j < EACH; j++) {
          re[i][j] += (SUM)first_re[i][j];
          im[i][j] += (SUM)first_im[i][j];
          first_re[i][j] = first_im[i][j] = 0;
        }
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (uint i = 0; i < EACH; i++)
    for (uint j = 0; j < EACH; j++)
#ifdef PART
      give(sums, &run, channel, tile.x + my_row + i, tile.y + COLUMN(j), re[i][j], im[i][j]);
#else
      give(sums, &run, channel, tile.x + my_row + i, tile.y + COLUMN(j), first_re[i][j],
           first_im[i][j]);
#endif
}
