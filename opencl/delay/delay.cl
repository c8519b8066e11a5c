/* Delays voltages, and rotates spectra. Phases are whole numbers, of 2^64 to the cycle, so that
 * steps of any number add up exactly, without double precision. Options: TILE, the longest stretch;
 * TAPS; REAL_VOLTAGES, 1 or 0. */

/* Real voltages have complex taps: all real parts first. */
#if REAL_VOLTAGES
#define SAMPLE float
#define SAMPLE_OF(voltage) ((voltage).x)
#define TAP_FLOATS (2 * TAPS)
#define TAP(k) ((float2)(taps[k], taps[TAPS + (k)]))
#else
#define SAMPLE float2
#define SAMPLE_OF(voltage) (voltage)
#define TAP_FLOATS TAPS
#define TAP(k) (taps[k])
#endif

/* A phasor of that phase. */
float2 turn_by(ulong phase)
{
  const float half_turns = (float)as_int((uint)(phase >> 32)) * 0x1p-31f;
  return (float2)(cospi(half_turns), sinpi(half_turns));
}

float2 product(float2 a, float2 b)
{
  return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/* ---- spectra ---- */

/* As Spectra in spectra.c. */
typedef struct {
  ulong samples;
  ulong time, station, pol, channel; /* samples from one to the next along each axis */
  ulong steps;
  uint stations, pols, channels, from, to, has_gains;
} Spectra;

/* A work item a sample. phases: [step][input], of the first channel, and from one to the next. */
__kernel void turn(FACE(in), FACE(out), FACE(phases), FACE(gains), FACE(curves), FACE(bandpass),
                   const Spectra work)
{
  AT(const uchar, in);
  AT(uchar, out);
  AT(const ulong2, phases);
  AT(const float2, gains);
  AT(const uint, curves);
  AT(const float, bandpass);
  const ulong at = get_global_id(0);
  uint clipped = 0;
  if (at >= work.samples)
    return;
  const uint input =
      (uint)(at / work.station % work.stations * work.pols + at / work.pol % work.pols);
  const uint channel = (uint)(at / work.channel % work.channels);
  const ulong2 phase = phases[at / work.time % work.steps * work.stations * work.pols + input];
  float2 sample =
      product(read_sample(in, at, work.from), turn_by(phase.x + channel * phase.y));
  if (work.has_gains)
    sample = product(sample, gains[input] *
                                 bandpass[(ulong)curves[input] * work.channels + channel]);
  write_sample(out, at, work.to, sample, &clipped);
}

/* ---- voltages ---- */

/* A stretch of an input. As Piece in voltages.c. */
typedef struct {
  long from;         /* where its first sample under a tap is, in the input's row of the window */
  ulong phase, rate; /* of the first sample, and from one to the next */
  uint step;         /* row in the table of taps: so much of it, and so much of the next one */
  float left, right;
  uint unused;
} Piece;

/* As Voltages in voltages.c. */
typedef struct {
  ulong row;                /* samples from input to input of the window */
  ulong time, station, pol; /* the same along each axis of the output */
  ulong first;              /* sample at which the first stretch begins */
  ulong out_first, out_end;
  uint inputs, pols, stretch, from, to;
} Voltages;

void find_taps(__global const float *table, const Piece *piece, __local float *taps)
{
  for (uint i = (uint)get_local_id(0); i < TAP_FLOATS; i += (uint)get_local_size(0))
    taps[i] = piece->left * table[piece->step * TAP_FLOATS + i] +
              piece->right * table[(piece->step + 1) * TAP_FLOATS + i];
}

ulong place_of(const Voltages *work, ulong sample, uint input)
{
  return (sample - work->out_first) * work->time + input / work->pols * work->station +
         input % work->pols * work->pol;
}

/* A group a stretch of an input. pieces: [stretch][input]. */
__kernel void interpolate(FACE(window), FACE(table), FACE(pieces), FACE(out), const Voltages work)
{
  __local SAMPLE samples[TILE + TAPS];
  __local float taps[TAP_FLOATS];
  AT(const uchar, window);
  AT(const float, table);
  AT(const Piece, pieces);
  AT(uchar, out);
  const uint group = (uint)get_group_id(0), input = group % work.inputs;
  const uint me = (uint)get_local_id(0), n = (uint)get_local_size(0);
  const Piece piece = pieces[group];
  const ulong first = work.first + (ulong)(group / work.inputs) * work.stretch;
  uint clipped = 0;
  find_taps(table, &piece, taps);
  for (uint i = me; i < work.stretch + TAPS - 1; i += n)
    samples[i] =
        SAMPLE_OF(read_sample(window, input * work.row + (ulong)piece.from + i, work.from));
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = me; i < work.stretch; i += n) {
    float2 sum = (float2)(0, 0);
    for (uint k = 0; k < TAPS; k++)
      sum += TAP(k) * samples[i + k];
    if (first + i >= work.out_first && first + i < work.out_end)
      write_sample(out, place_of(&work, first + i, input), work.to,
                   product(sum, turn_by(piece.phase + i * piece.rate)), &clipped);
  }
}
