/* Adds up the samples of each station, channel, piece and split (core/power/splits.h). Behind
 * opencl/runtime/samples.cl; REAL is int for samples of bytes. SUM: the type of sums. POLS; CROSS:
 * whether x conj(y) is needed; SQUARES: whether squares are. */

#define GROUP 64 /* as in power.c */

#define POWERS (CROSS ? 4 : POLS)
#define SUMS (POWERS + SQUARES * (POWERS + 2 * (POLS - 1)))

/* As in power.c. Strides of samples and flags along time, lanes, and what is not a lane. */
typedef struct {
  ulong steps, integration, phase, first_piece;
  ulong time, lane, other, pol;
  ulong valid_time, valid_lane, valid_other;
  ulong cell_lane, cell_other, cells; /* in parts: [piece][split][sum][station][channel] */
  ulong tiles;
  uint lanes, splits, along, has_valid;
} Job;

/* The sums of one time step after the other, in the order of AstroPowerSum. */
void add_sample(SUM *of, __global const IN *in, ulong at, ulong pol)
{
  const REAL xre = READ(in, 2 * at), xim = READ(in, 2 * at + 1);
  SUM powers[4];
  powers[0] = (SUM)(xre * xre + xim * xim);
#if POLS == 2
  const REAL yre = READ(in, 2 * (at + pol)), yim = READ(in, 2 * (at + pol) + 1);
  powers[1] = (SUM)(yre * yre + yim * yim);
#if CROSS
  powers[2] = (SUM)(xre * yre + xim * yim);
  powers[3] = (SUM)(xim * yre - xre * yim);
#endif
#endif
  for (uint i = 0; i < POWERS; i++)
    of[i] += powers[i];
#if SQUARES
  for (uint i = 0; i < POWERS; i++)
    of[POWERS + i] += powers[i] * powers[i];
#if POLS == 2
  const SUM total = powers[0] + powers[1], difference = powers[0] - powers[1];
  of[2 * POWERS] += total * total;
  of[2 * POWERS + 1] += difference * difference;
#endif
#endif
}

/* A group has GROUP / along stations and channels of a split, and `along` work items for each of
 * them, which lie along time. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void add(FACE(in), FACE(valid),
                                                                     FACE(parts), const Job job)
{
  AT(const IN, in);
  AT(const uchar, valid);
  AT(double, parts);
  __local SUM shared[SUMS * GROUP];
  const uint item = (uint)get_local_id(0), along = job.along, n_cells = GROUP / along;
  const ulong group = get_group_id(0), piece = group / job.tiles / job.splits;
  const uint split = (uint)(group / job.tiles % job.splits);
  const ulong first_cell = group % job.tiles * n_cells, cell = first_cell + item / along;
  SUM of[SUMS];
  for (uint i = 0; i < SUMS; i++)
    of[i] = 0;

  const ulong begin = (job.first_piece + piece) * job.integration;
  ulong from = begin > job.phase ? begin - job.phase : 0;
  ulong to = min(begin + job.integration - job.phase, job.steps);
  const ulong length = (to - from + job.splits - 1) / job.splits;
  from += split * length;
  to = min(to, from + length);
  if (cell < job.cells) {
    const ulong lane = cell % job.lanes, other = cell / job.lanes;
    const ulong base = lane * job.lane + other * job.other,
                flags = lane * job.valid_lane + other * job.valid_other;
    for (ulong t = from + item % along; t < to; t += along)
      if (!job.has_valid || valid[flags + t * job.valid_time])
        add_sample(of, in, base + t * job.time, job.pol);
  }
  for (uint i = 0; i < SUMS; i++)
    shared[i * GROUP + item] = of[i];
  barrier(CLK_LOCAL_MEM_FENCE);

  parts += (piece * job.splits + split) * SUMS * job.cells;
  for (uint k = item; k < SUMS * n_cells; k += GROUP) {
    const ulong own = first_cell + k % n_cells;
    __local const SUM *sums = shared + k * along;
    SUM total = 0;
    for (uint i = 0; i < along; i++)
      total += sums[i];
    if (own < job.cells)
      parts[k / n_cells * job.cells + own % job.lanes * job.cell_lane +
            own / job.lanes * job.cell_other] = (double)total;
  }
}
