/* Delay on the GPU. Spectra are turned sample by sample where they lie. Voltages go to a window of single precision,
 * which keeps of the past what tiles to come need, and come out of it a stretch at a time: over a stretch a delay is a
 * straight line and its fraction of a sample constant, as on the CPU (core/delay/cpu.c). */
#include "gpu/cuda.h"
#include "gpu/gather.h"
#include "gpu/samples.h"

extern "C" {
#include "core/delay/fraction.h"
#include "core/delay/instance.h"
}

#include <math.h>

enum {
  THREADS = 256,
  TAPS = ASTRO_FRACTION_TAPS,
  TAP_STEPS = 1024, /* fractions that taps are known of; straight lines between them */
  TILE = ASTRO_DELAY_TILE,
};

typedef struct {
  AstroDelayConfig config;
  AstroPlace place;
  guint stations, pols, inputs, channels;
  gboolean is_spectra;
  double rate, first_frequency, channel_width;

  float *taps; /* [fraction][tap] */
  gpointer upload;
  gsize upload_bytes;

  float2 *window, *spare; /* [input][capacity], from the sample start on; the spare one for moving */
  gsize capacity, spare_capacity, length;
  gint64 start;
} Delay;

/* ---- memory ---- */

static gboolean alloc(Delay *self, gpointer face, gsize count, gsize bytes, GError **error)
{
  gsize whole;
  if (!g_size_checked_mul(&whole, count, bytes)) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY, "delay: more bytes than can be addressed");
    return FALSE;
  }
  return self->place.device->funcs->alloc(self->place.device, whole, (gpointer *)face, error);
}

/* Host data for the kernel that comes next, one piece behind the other. */
typedef struct {
  gconstpointer host;
  gsize bytes;
  gpointer device;
} Piece;

static gboolean send(Delay *self, Piece *pieces, guint n, GError **error)
{
  gsize bytes = 0;
  for (guint i = 0; i < n; i++)
    bytes += pieces[i].bytes;
  if (bytes > self->upload_bytes) {
    astro_cuda_free(&self->place, &self->upload);
    self->upload_bytes = 0;
    if (!alloc(self, &self->upload, bytes, 1, error))
      return FALSE;
    self->upload_bytes = bytes;
  }
  guint8 *to = (guint8 *)self->upload;
  for (guint i = 0; i < n; to += pieces[i++].bytes) {
    pieces[i].device = to;
    if (pieces[i].bytes && !CUDA_TRY(cudaMemcpyAsync(to, pieces[i].host, pieces[i].bytes, cudaMemcpyHostToDevice,
                                                     astro_cuda_stream(self->place.queue))))
      return FALSE;
  }
  return TRUE;
}

__device__ inline float2 turn_by(double turns)
{
  float sine, cosine;
  sincospif((float)(2 * (turns - rint(turns))), &sine, &cosine);
  return make_float2(cosine, sine);
}

__device__ inline float2 product(float2 a, float2 b)
{
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__device__ inline float2 read_sample(const guint8 *in, guint64 at, AstroFormat format)
{
  switch (format) {
  case ASTRO_FORMAT_CI4:
    return make_float2(nibble_of(in[at], 0), nibble_of(in[at], 1));
  case ASTRO_FORMAT_CI8: {
    char2 sample = ((const char2 *)in)[at];
    return make_float2(sample.x, sample.y);
  }
  case ASTRO_FORMAT_CI16LE: {
    short2 sample = ((const short2 *)in)[at];
    return make_float2(sample.x, sample.y);
  }
  default:
    return ((const float2 *)in)[at];
  }
}

/* ---- spectra ---- */

struct Spectra {
  const guint8 *in;
  guint8 *out;
  AstroFormat from, to;
  guint64 samples;
  AstroDivisor extents[ASTRO_MAX_AXES]; /* fastest first */
  AstroAxis axes[ASTRO_MAX_AXES];
  guint n_axes, inputs, pols;
  double first_frequency, channel_width;
  const double *delays;   /* [step][input] */
  const float2 *gains;    /* of inputs, to multiply with; NULL: none */
  const float *bandpass;  /* of channels */
};

static __global__ void __launch_bounds__(THREADS) turn_spectra(const __grid_constant__ Spectra work)
{
  int clipped = 0;
  for (guint64 at = (guint64)blockIdx.x * THREADS + threadIdx.x; at < work.samples;
       at += (guint64)gridDim.x * THREADS) {
    guint32 rest = (guint32)at, step = 0, channel = 0, input = 0;
#pragma unroll
    for (guint i = 0; i < 4; i++) {
      if (i == work.n_axes)
        break;
      guint32 next = work.extents[i].divide(rest), here = rest - next * work.extents[i].by;
      rest = next;
      if (work.axes[i] == ASTRO_AXIS_TIME)
        step = here;
      else if (work.axes[i] == ASTRO_AXIS_CHANNEL)
        channel = here;
      else
        input += work.axes[i] == ASTRO_AXIS_STATION ? here * work.pols : here;
    }
    double frequency = work.first_frequency + channel * work.channel_width;
    float2 sample = product(read_sample(work.in, at, work.from),
                            turn_by(-frequency * work.delays[(guint64)step * work.inputs + input]));
    if (work.gains) {
      float2 gain = work.gains[input];
      float bandpass = work.bandpass[channel];
      sample = product(sample, make_float2(gain.x * bandpass, gain.y * bandpass));
    }
    write_sample(work.out, at, work.to, sample, &clipped);
  }
}

static gboolean submit_spectra(Delay *self, const guint8 *in, guint8 *out, const AstroDelayArguments *arguments,
                               GError **error)
{
  const AstroCalibration *calibration = astro_delay_model_calibration(arguments->model);
  g_autofree double *delays = g_new(double, arguments->steps *self->inputs);
  g_autofree float2 *gains = g_new(float2, self->inputs);
  g_autofree float *bandpass = g_new(float, self->channels);
  Spectra work = {
    .in = in,
    .out = out,
    .from = self->config.in.format,
    .to = self->config.out.format,
    .samples = arguments->steps * self->inputs * self->channels,
    .inputs = self->inputs,
    .pols = self->pols,
    .first_frequency = self->first_frequency,
    .channel_width = self->channel_width,
  };
  AstroLayout shape;

  if (work.samples > G_MAXINT32)
    return astro_backend_refuse(error,
                                "a block of %" G_GUINT64_FORMAT
                                " samples is more than the kernel's indices count (2^31)",
                                work.samples);
  if (work.samples == 0)
    return TRUE;
  for (guint64 step = 0; step < arguments->steps; step++)
    astro_delay_model_at(arguments->model, astro_delay_spectrum_ns(&self->config.in, arguments->first + step),
                         delays + step * self->inputs);
  for (guint i = 0; calibration && i < self->inputs; i++) {
    const AstroInputCalibration *input = &calibration->inputs[i];
    gains[i].x = (float)(cos(input->phase) / input->amplitude);
    gains[i].y = (float)(-sin(input->phase) / input->amplitude);
  }
  for (guint k = 0; calibration && k < self->channels; k++)
    bandpass[k] =
        (float)(1 / astro_calibration_bandpass(calibration, self->first_frequency + k * self->channel_width));
  Piece pieces[] = { { delays, arguments->steps * self->inputs * sizeof *delays },
                     { gains, calibration ? self->inputs * sizeof *gains : 0 },
                     { bandpass, calibration ? self->channels * sizeof *bandpass : 0 } };
  if (!send(self, pieces, G_N_ELEMENTS(pieces), error))
    return FALSE;
  work.delays = (const double *)pieces[0].device;
  work.gains = calibration ? (const float2 *)pieces[1].device : NULL;
  work.bandpass = (const float *)pieces[2].device;
  astro_stream_shape(&self->config.in, arguments->steps, &shape);
  work.n_axes = shape.n_axes;
  for (guint i = 0; i < shape.n_axes; i++) {
    work.extents[i] = AstroDivisor((guint32)shape.extents[shape.n_axes - 1 - i]);
    work.axes[i] = shape.axes[shape.n_axes - 1 - i];
  }
  turn_spectra<<<(unsigned)MIN((work.samples + THREADS - 1) / THREADS, 1u << 16), THREADS, 0,
                 astro_cuda_stream(self->place.queue)>>>(work);
  return CUDA_TRY(cudaGetLastError());
}

/* ---- the window of voltages ---- */

static gint64 tile_floor(guint64 sample)
{
  return (gint64)(sample / TILE * TILE);
}

/* Of as many rows as there are inputs, as many bytes. Copies of several rows take them no further than 2 GiB apart;
 * where they are, there are few. */
static gboolean move_rows(const Delay *self, gpointer to, gsize to_row, gconstpointer from, gsize from_row, gsize bytes,
                          GError **error)
{
  cudaStream_t stream = astro_cuda_stream(self->place.queue);
  if (MAX(to_row, from_row) <= G_MAXINT32)
    return CUDA_TRY(
        cudaMemcpy2DAsync(to, to_row, from, from_row, bytes, self->inputs, cudaMemcpyDeviceToDevice, stream));
  for (guint i = 0; i < self->inputs; i++)
    if (!CUDA_TRY(cudaMemcpyAsync((guint8 *)to + i * to_row, (const guint8 *)from + i * from_row, bytes,
                                  cudaMemcpyDeviceToDevice, stream)))
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

/* Room for length samples, of which those from keep on stay; they move to the spare window. */
static gboolean make_room(Delay *self, gint64 keep, gsize length, GError **error)
{
  gsize dropped = (gsize)CLAMP(keep - self->start, 0, (gint64)self->length), kept = self->length - dropped;

  if (dropped == 0 && length <= self->capacity)
    return TRUE;
  if (self->spare_capacity < length) {
    gsize capacity = length + length / 4;
    astro_cuda_free(&self->place, &self->spare);
    self->spare_capacity = 0;
    if (!alloc(self, &self->spare, capacity * self->inputs, sizeof *self->spare, error))
      return FALSE;
    self->spare_capacity = capacity;
  }
  if (kept && !move_rows(self, self->spare, self->spare_capacity * sizeof *self->spare, self->window + dropped,
                         self->capacity * sizeof *self->window, kept * sizeof *self->window, error))
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

/* n samples of the input, in NULL: zeros. */
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
  gint64 start;  /* of the window */
  guint8 *out;
  AstroFormat to;
  guint64 time, station, pol; /* samples from step to step of an axis */
  guint inputs, pols, stretch;
  guint64 first;          /* sample of the first stretch */
  guint64 out_first, out_end;
  double rate, frequency;
  const double *delays;   /* [end of a stretch][input] */
  const double2 *gains;   /* of inputs: amplitude to multiply with, turns to take away; NULL: none */
  const float *taps;
};

/* A stretch of an input a block. */
static __global__ void __launch_bounds__(THREADS) delay_stretch(const __grid_constant__ Voltages work)
{
  __shared__ float2 samples[TILE + TAPS];
  __shared__ float taps[TAPS];
  const guint input = blockIdx.x % work.inputs, index = blockIdx.x / work.inputs;
  const guint64 first = work.first + (guint64)index * work.stretch;
  double here = work.delays[(guint64)index * work.inputs + input];
  double there = work.delays[(guint64)(index + 1) * work.inputs + input];
  double gain = work.gains ? work.gains[input].x : 1, turns = work.gains ? work.gains[input].y : 0;
  /* The delay is that of the moment when the sample was taken, a delay ago. */
  const double slope = (there - here) * work.rate / work.stretch;
  here *= 1 - slope;
  there *= 1 - slope;
  const double at = -0.5 * (here + there) * work.rate, whole = floor(at), fraction = at - whole;
  const double phase = -work.frequency * here - turns, turn = -work.frequency * (there - here) / work.stretch;
  const float2 *from = work.window + input * work.capacity +
                       ((gint64)first + (gint64)whole - ASTRO_FRACTION_CENTRE - work.start);

  if (threadIdx.x < TAPS) {
    guint step = (guint)fmin(fraction * (double)TAP_STEPS, (double)(TAP_STEPS - 1));
    float right = (float)(gain * (fraction * (double)TAP_STEPS - step)), left = (float)gain - right;
    const float *row = work.taps + step * TAPS + threadIdx.x;
    taps[threadIdx.x] = left * row[0] + right * row[TAPS];
  }
  for (guint i = threadIdx.x; i < work.stretch + TAPS - 1; i += THREADS)
    samples[i] = from[i];
  __syncthreads();
  int clipped = 0;
  for (guint i = threadIdx.x; i < work.stretch; i += THREADS) {
    if (first + i < work.out_first || first + i >= work.out_end)
      continue;
    float2 sum = make_float2(0, 0);
#pragma unroll
    for (int k = 0; k < TAPS; k++) {
      sum.x += taps[k] * samples[i + k].x;
      sum.y += taps[k] * samples[i + k].y;
    }
    write_sample(work.out,
                 (first + i - work.out_first) * work.time + input / work.pols * work.station +
                     input % work.pols * work.pol,
                 work.to, product(sum, turn_by(phase + i * turn)), &clipped);
  }
}

static gboolean delay_voltages(Delay *self, guint8 *out, const AstroDelayArguments *arguments, GError **error)
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
    .frequency = stream->frequency,
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
    astro_delay_model_at(arguments->model, astro_delay_sample_ns(stream, work.first + i * work.stretch),
                         delays + i * self->inputs);
  for (guint i = 0; calibration && i < self->inputs; i++) {
    gains[i].x = 1 / calibration->inputs[i].amplitude;
    gains[i].y = calibration->inputs[i].phase / (2 * G_PI);
  }
  Piece pieces[] = { { delays, (stretches + 1) * self->inputs * sizeof *delays },
                     { gains, calibration ? self->inputs * sizeof *gains : 0 } };
  if (!send(self, pieces, G_N_ELEMENTS(pieces), error))
    return FALSE;
  astro_delay_strides(&self->config.out, arguments->out_steps, &strides);
  work.time = strides.time;
  work.station = strides.station;
  work.pol = strides.pol;
  work.delays = (const double *)pieces[0].device;
  work.gains = calibration ? (const double2 *)pieces[1].device : NULL;
  delay_stretch<<<(unsigned)(stretches * self->inputs), THREADS, 0, astro_cuda_stream(self->place.queue)>>>(work);
  return CUDA_TRY(cudaGetLastError());
}

static gboolean submit_voltages(Delay *self, const guint8 *in, guint8 *out, const AstroDelayArguments *arguments,
                                GError **error)
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
  /* At the end of a stream nothing follows: zeros stand for it. */
  guint64 last_tile = arguments->out_first + arguments->out_steps + TILE - 1;
  gint64 missing = tile_floor(last_tile) + margin - self->start - (gint64)self->length;
  if (missing > 0 && !append(self, NULL, (gsize)missing, keep, error))
    return FALSE;
  return delay_voltages(self, out, arguments, error);
}

/* ---- the backend ---- */

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out, guint n_out,
                       gpointer argument, GError **error)
{
  Delay *self = (Delay *)instance;
  const AstroDelayArguments *arguments = (const AstroDelayArguments *)argument;

  if (!astro_delay_check_call(&self->config, in, n_in, out, n_out, arguments, error) ||
      !astro_cuda_enter(self->place.device, error))
    return FALSE;
  const guint8 *from = n_in ? (const guint8 *)in->data : NULL;
  guint8 *to = n_out ? (guint8 *)out->data : NULL;
  return self->is_spectra ? submit_spectra(self, from, to, arguments, error)
                          : submit_voltages(self, from, to, arguments, error);
}

static gboolean drain(gpointer instance, GError **error)
{
  Delay *self = (Delay *)instance;
  return astro_cuda_enter(self->place.device, error) &&
         CUDA_TRY(cudaStreamSynchronize(astro_cuda_stream(self->place.queue)));
}

static void destroy(gpointer instance)
{
  Delay *self = (Delay *)instance;
  gpointer blocks[] = { self->taps, self->upload, self->window, self->spare };
  for (guint i = 0; i < G_N_ELEMENTS(blocks); i++)
    astro_cuda_free(&self->place, &blocks[i]);
  g_free(self);
}

static gboolean send_taps(Delay *self, GError **error)
{
  gsize bytes = (TAP_STEPS + 1) * TAPS * sizeof(float);
  g_autofree float *taps = (float *)g_malloc(bytes);
  for (guint i = 0; i <= TAP_STEPS; i++)
    astro_fraction_taps((double)i / (double)TAP_STEPS, 1, taps + i * TAPS);
  return alloc(self, &self->taps, bytes, 1, error) &&
         CUDA_TRY(cudaMemcpyAsync(self->taps, taps, bytes, cudaMemcpyHostToDevice,
                                  astro_cuda_stream(self->place.queue)));
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant, GError **error)
{
  if (!astro_delay_shape(config, error) || !astro_cuda_enter(place->device, error))
    return NULL;
  Delay *self = g_new0(Delay, 1);
  self->config = *(const AstroDelayConfig *)config;
  self->place = *place;
  const AstroStream *in = &self->config.in;
  self->stations = (guint)astro_stream_extent(in, ASTRO_AXIS_STATION);
  self->pols = (guint)astro_stream_extent(in, ASTRO_AXIS_POL);
  self->channels = (guint)astro_stream_extent(in, ASTRO_AXIS_CHANNEL);
  self->inputs = self->stations * self->pols;
  self->is_spectra = in->quantity == ASTRO_QUANTITY_SPECTRA;
  self->rate = (double)in->rate_n / in->rate_d;
  self->channel_width = in->bandwidth / self->channels;
  self->first_frequency = in->frequency - in->bandwidth / 2 + self->channel_width / 2;
  if (!self->is_spectra && !send_taps(self, error)) {
    destroy(self);
    return NULL;
  }
  *variant = self->is_spectra ? "turn" : "interpolate";
  return self;
}

const AstroBackend astro_cuda_delay = {
  .stage = "delay",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroDelayConfig),
  .shape = astro_delay_shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
};
