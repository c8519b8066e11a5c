/* Delays voltages. They go to a window in single precision, which keeps as much of the past as
 * later tiles need, and leave it stretch by stretch. Over a stretch the delay is linear and its
 * fraction of a sample constant, as on the CPU (core/delay/cpu.c). */
#include "gpu/delay/delay.h"
#include "gpu/runtime/gather.h"
#include "gpu/runtime/samples.h"

enum { TILE = ASTRO_DELAY_TILE };

/* ---- the window of voltages ---- */

static gint64 tile_floor(guint64 sample)
{
  return (gint64)(sample / TILE * TILE);
}

/* Moves a row of this many bytes for every input. 2D copies only take rows up to 2 GiB apart; if
 * they are farther apart, there are few. */
static gboolean move_rows(const Delay *self, gpointer to, gsize to_row, gconstpointer from,
                          gsize from_row, gsize bytes, GError **error)
{
  cudaStream_t stream = astro_cuda_stream(self->place.queue);
  if (MAX(to_row, from_row) <= G_MAXINT32)
    return CUDA_TRY(cudaMemcpy2DAsync(to, to_row, from, from_row, bytes, self->inputs,
                                      cudaMemcpyDeviceToDevice, stream));
  for (guint i = 0; i < self->inputs; i++)
    if (!CUDA_TRY(cudaMemcpyAsync((guint8 *)to + i * to_row, (const guint8 *)from + i * from_row,
                                  bytes, cudaMemcpyDeviceToDevice, stream)))
      return FALSE;
  return TRUE;
}

static gboolean clear_rows(const Delay *self, gpointer to, gsize row, gsize bytes, GError **error)
{
  cudaStream_t stream = astro_cuda_stream(self->place.queue);
  if (row <= G_MAXINT32)
    return CUDA_TRY(cudaMemset2DAsync(to, row, 0, bytes, self->inputs, stream));
  for (guint i = 0; i < self->inputs; i++)
    if (!CUDA_TRY(cudaMemsetAsync((guint8 *)to + i * row, 0, bytes, stream)))
      return FALSE;
  return TRUE;
}

/* Makes room for length samples. Samples from keep on are kept: they move to the spare window. */
static gboolean make_room(Delay *self, gint64 keep, gsize length, GError **error)
{
  gsize dropped = (gsize)CLAMP(keep - self->start, 0, (gint64)self->length),
        kept = self->length - dropped;

  if (dropped == 0 && length <= self->capacity)
    return TRUE;
  if (self->spare_capacity < length) {
    gsize capacity = length + length / 4;
    astro_cuda_free(&self->place, &self->spare);
    self->spare_capacity = 0;
    if (!astro_cuda_delay_alloc(self, &self->spare, capacity * self->inputs, sizeof *self->spare,
                                error))
      return FALSE;
    self->spare_capacity = capacity;
  }
  if (kept && !move_rows(self, self->spare, self->spare_capacity * sizeof *self->spare,
                         self->window + dropped, self->capacity * sizeof *self->window,
                         kept * sizeof *self->window, error))
    return FALSE;
  float2 *window = self->window;
  gsize capacity = self->capacity;
  self->window = self->spare;
  self->capacity = self->spare_capacity;
  self->spare = window;
  self->spare_capacity = capacity;
  self->start += (gint64)dropped;
  self->length = kept;
  return TRUE;
}

/* Appends n samples of the input; in NULL: zeros. */
static gboolean append(Delay *self, const guint8 *in, gsize n, gint64 keep, GError **error)
{
  gsize kept = self->length - (gsize)CLAMP(keep - self->start, 0, (gint64)self->length);
  gsize bytes = astro_format_info(self->config.in.format)->bytes, row;
  cudaStream_t stream = astro_cuda_stream(self->place.queue);
  AstroDelayStrides strides;

  if (!make_room(self, keep, kept + n, error))
    return FALSE;
  float2 *to = self->window + self->length;
  row = self->capacity * sizeof *to;
  self->length += n;
  if (!in)
    return n == 0 || clear_rows(self, to, row, n * sizeof *to, error);
  astro_delay_strides(&self->config.in, n, &strides);
  AstroCudaGather gather = {
    .from = in,
    .time = strides.time * bytes,
    .station = strides.station * bytes,
    .pol = strides.pol * bytes,
    .to = (guint8 *)to,
    .to_row = row,
    .to_channel = row * self->inputs,
    .count = n,
    .channels = 1,
    .stations = self->stations,
    .pols = self->pols,
    .format = self->config.in.format,
    .to_format = ASTRO_FORMAT_CF32LE,
  };
  return astro_cuda_gather(&gather, stream, error);
}

/* ---- voltages ---- */

struct Voltages {
  const float2 *window;
  guint64 capacity;
  gint64 start; /* of the window */
  guint8 *out;
  AstroFormat to;
  guint64 time, station, pol; /* samples from step to step of an axis */
  guint inputs, pols, stretch;
  guint64 first; /* sample of the first stretch */
  guint64 out_first, out_end;
  double rate, frequency; /* frequency of zero in the samples */
  const double *delays;   /* [end of a stretch][input] */
  const double2 *gains;   /* of each input: amplitude factor, cycles to subtract; NULL: none */
  const float *taps;
};

__device__ inline guint64 place_of(const Voltages &work, guint64 sample, guint input)
{
  return (sample - work.out_first) * work.time + input / work.pols * work.station +
         input % work.pols * work.pol;
}

/* A stretch of samples over which the delay is linear. */
struct Stretch {
  gint64 from; /* first sample under the first tap */
  double fraction, gain;
  double phase, rate; /* in cycles, and in cycles per sample */
};

template <int TAPS>
__device__ inline Stretch find_stretch(const Voltages &work, guint input, guint index)
{
  const double *delays = work.delays + (guint64)index * work.inputs + input;
  double here = delays[0], there = delays[work.inputs];
  const double gain = work.gains ? work.gains[input].x : 1,
               turns = work.gains ? work.gains[input].y : 0;
  /* The delay is that at the moment when the sample was taken, which is one delay ago. */
  const double slope = (there - here) * work.rate / work.stretch;
  here *= 1 - slope;
  there *= 1 - slope;
  const double at = -0.5 * (here + there) * work.rate, whole = floor(at);
  const guint64 first = work.first + (guint64)index * work.stretch;
  return { (gint64)first + (gint64)whole - ASTRO_FRACTION_CENTRE(TAPS), at - whole, gain,
           -work.frequency * here - turns, -work.frequency * (there - here) / work.stretch };
}

/* Interpolates linearly between two rows of n taps. */
__device__ inline void find_taps(const Voltages &work, const Stretch &stretch, guint n, float *taps)
{
  if (threadIdx.x >= n)
    return;
  const double place = stretch.fraction * (double)DELAY_TAP_STEPS;
  guint step = (guint)fmin(place, (double)(DELAY_TAP_STEPS - 1));
  float right = (float)(stretch.gain * (place - step)), left = (float)stretch.gain - right;
  const float *row = work.taps + step * n + threadIdx.x;
  taps[threadIdx.x] = left * row[0] + right * row[n];
}

/* Delays complex voltages, one stretch of one input a block. */
static __global__ void __launch_bounds__(DELAY_THREADS)
    delay_stretch(const __grid_constant__ Voltages work)
{
  enum { TAPS = ASTRO_FRACTION_TAPS };
  __shared__ float2 samples[TILE + TAPS];
  __shared__ float taps[TAPS];
  const guint input = blockIdx.x % work.inputs, index = blockIdx.x / work.inputs;
  const guint64 first = work.first + (guint64)index * work.stretch;
  const Stretch stretch = find_stretch<TAPS>(work, input, index);
  const float2 *from = work.window + input * work.capacity + (stretch.from - work.start);

  find_taps(work, stretch, TAPS, taps);
  for (guint i = threadIdx.x; i < work.stretch + TAPS - 1; i += DELAY_THREADS)
    samples[i] = from[i];
  __syncthreads();
  int clipped = 0;
  for (guint i = threadIdx.x; i < work.stretch; i += DELAY_THREADS) {
    if (first + i < work.out_first || first + i >= work.out_end)
      continue;
    float2 sum = make_float2(0, 0);
#pragma unroll
    for (int k = 0; k < TAPS; k++) {
      sum.x += taps[k] * samples[i + k].x;
      sum.y += taps[k] * samples[i + k].y;
    }
    write_sample(work.out, place_of(work, first + i, input), work.to,
                 product(sum, turn_by(stretch.phase + i * stretch.rate)), &clipped);
  }
}

enum { RUN = 4 };

/* Sums over all taps for RUN samples, the first one aligned to 16 bytes: each load of samples
 * serves many taps. */
__device__ inline void sum_run(const float *samples, const float *taps, float2 (&sums)[RUN])
{
  enum { TAPS = ASTRO_FRACTION_REAL_TAPS };
  float4 here = *(const float4 *)samples;
#pragma unroll 4 /* all of them would keep taps in so many registers that one block runs at a time \
                  */
  for (int k = 0; k < TAPS; k += RUN) {
    const float4 next = *(const float4 *)(samples + k + RUN);
    const float x[2 * RUN] = { here.x, here.y, here.z, here.w, next.x, next.y, next.z, next.w };
#pragma unroll
    for (int j = 0; j < RUN; j++)
#pragma unroll
      for (int r = 0; r < RUN; r++) {
        sums[r].x += taps[k + j] * x[j + r];
        sums[r].y += taps[TAPS + k + j] * x[j + r];
      }
    here = next;
  }
}

/* The same for real samples, which the window holds as complex ones. */
static __global__ void __launch_bounds__(DELAY_THREADS, 4)
    delay_real_stretch(const __grid_constant__ Voltages work)
{
  enum { TAPS = ASTRO_FRACTION_REAL_TAPS };
  __shared__ __align__(16) float samples[TILE + TAPS];
  __shared__ __align__(16) float taps[2 * TAPS];
  const guint input = blockIdx.x % work.inputs, index = blockIdx.x / work.inputs;
  const guint64 first = work.first + (guint64)index * work.stretch;
  const Stretch stretch = find_stretch<TAPS>(work, input, index);
  const float2 *from = work.window + input * work.capacity + (stretch.from - work.start);

  find_taps(work, stretch, 2 * TAPS, taps);
  for (guint i = threadIdx.x; i < work.stretch + TAPS - 1; i += DELAY_THREADS)
    samples[i] = from[i].x;
  __syncthreads();
  int clipped = 0;
  for (guint i = RUN * threadIdx.x; i < work.stretch; i += RUN * DELAY_THREADS) {
    float2 sums[RUN] = {};
    sum_run(samples + i, taps, sums);
#pragma unroll
    for (guint r = 0; r < RUN; r++)
      if (first + i + r >= work.out_first && first + i + r < work.out_end)
        write_real(work.out, place_of(work, first + i + r, input), work.to,
                   product(sums[r], turn_by(stretch.phase + (i + r) * stretch.rate)).x, &clipped);
  }
}

static gboolean delay_voltages(Delay *self, guint8 *out, const AstroDelayArguments *arguments,
                               GError **error)
{
  const AstroStream *stream = &self->config.in;
  const AstroCalibration *calibration = astro_delay_model_calibration(arguments->model);
  AstroDelayStrides strides;
  Voltages work = {
    .window = self->window,
    .capacity = self->capacity,
    .start = self->start,
    .out = out,
    .to = self->config.out.format,
    .inputs = self->inputs,
    .pols = self->pols,
    .stretch = astro_delay_model_stretch(arguments->model, stream->frequency, self->rate, error),
    .first = (guint64)tile_floor(arguments->out_first),
    .out_first = arguments->out_first,
    .out_end = arguments->out_first + arguments->out_steps,
    .rate = self->rate,
    .frequency = astro_delay_zero_frequency(stream),
    .taps = self->taps,
  };
  if (work.stretch == 0)
    return FALSE;
  guint64 stretches = ((guint64)tile_floor(work.out_end + TILE - 1) - work.first) / work.stretch;
  if (stretches == 0)
    return TRUE;
  g_autofree double *delays = g_new(double, (stretches + 1) * self->inputs);
  g_autofree double2 *gains = g_new(double2, self->inputs);
  for (guint64 i = 0; i <= stretches; i++)
    astro_delay_model_at(arguments->model,
                         astro_delay_sample_ns(stream, work.first + i * work.stretch),
                         delays + i * self->inputs);
  for (guint i = 0; calibration && i < self->inputs; i++) {
    gains[i].x = 1 / calibration->inputs[i].amplitude;
    gains[i].y = calibration->inputs[i].phase / (2 * G_PI);
  }
  AstroCudaPiece pieces[] = { { delays, (stretches + 1) * self->inputs * sizeof *delays },
                              { gains, calibration ? self->inputs * sizeof *gains : 0 } };
  if (!astro_cuda_upload(&self->upload, &self->place, "delay", pieces, G_N_ELEMENTS(pieces), error))
    return FALSE;
  astro_delay_strides(&self->config.out, arguments->out_steps, &strides);
  work.time = strides.time;
  work.station = strides.station;
  work.pol = strides.pol;
  work.delays = (const double *)pieces[0].device;
  work.gains = calibration ? (const double2 *)pieces[1].device : NULL;
  const auto kernel =
      astro_format_info(stream->format)->is_complex ? delay_stretch : delay_real_stretch;
  kernel<<<(unsigned)(stretches * self->inputs), DELAY_THREADS, 0,
           astro_cuda_stream(self->place.queue)>>>(work);
  return CUDA_TRY(cudaGetLastError());
}

gboolean astro_cuda_delay_voltages(Delay *self, const guint8 *in, guint8 *out,
                                   const AstroDelayArguments *arguments, GError **error)
{
  gint64 margin = (gint64)astro_delay_margin(arguments->model, &self->config.in);
  gint64 keep = tile_floor(arguments->out_first) - margin;

  if (arguments->restart) {
    self->start = tile_floor(arguments->first) - margin;
    self->length = 0;
    if (!append(self, NULL, (gsize)((gint64)arguments->first - self->start), self->start, error))
      return FALSE;
  }
  if (arguments->steps && !append(self, in, arguments->steps, keep, error))
    return FALSE;
  if (!out)
    return TRUE;
  if (keep < self->start)
    return astro_backend_refuse(error, "delay: samples before %" G_GINT64_FORMAT " are gone",
                                self->start + margin);
  /* At the end of a stream zeros take the place of the samples that would follow. */
  guint64 last_tile = arguments->out_first + arguments->out_steps + TILE - 1;
  gint64 missing = tile_floor(last_tile) + margin - self->start - (gint64)self->length;
  if (missing > 0 && !append(self, NULL, (gsize)missing, keep, error))
    return FALSE;
  return delay_voltages(self, out, arguments, error);
}
