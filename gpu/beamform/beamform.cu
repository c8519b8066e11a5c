/* The beamformer on the GPU, in single precision. A block of threads makes a tile of 32 beams by
 * 128 steps of one polarisation and channel. It goes through the stations a few at a time: their
 * samples and weights are put in shared memory, where each is used many times. Axes may be in any
 * order; steps that lie together in memory are read at full speed. */
#include "gpu/runtime/clipped.h"
#include "gpu/runtime/phasor.h"
#include "gpu/runtime/samples.h"
#include "gpu/runtime/upload.h"

extern "C" {
#include "core/beamform/losses.h"
}

enum {
  THREADS = 256,
  LANES = 128, /* steps of a tile */
  BEAMS = 32,
  CHUNK = 16,                    /* stations in shared memory at a time */
  WIDE = LANES / 32,             /* steps of a thread, 32 apart */
  TALL = BEAMS / (THREADS / 32), /* beams of a thread */
  MOST_Z = 65535,
};

struct Strides {
  guint64 time, channel, row, pol; /* row: station or beam */
};

struct Job {
  const guint8 *in;
  guint8 *out;
  AstroFormat from, to;
  Strides in_strides, out_strides;
  guint64 first, steps, interval;
  guint32 channels, pols, beams, stations;
  guint32 tiles; /* of each interval, at most */
  double first_frequency, channel_width;
  const double *seconds; /* [station][x, y, z] */
  const double *offsets; /* [interval][beam][x, y, z] */
  const float2 *weights; /* [channel][station]; NULL: 1 */
  const guint32 *index;  /* of stations in the input */
  const guint8 *good;    /* by station and step; NULL: nothing is lost */
  guint64 good_channel, good_station;
  float scale;
  guint64 *clipped;
};

struct Tile {
  guint32 channel, pol, beam; /* the first beam */
  guint64 begin, end;         /* steps of the block */
  guint64 interval;
  double frequency;
};

__device__ inline float2 weight_of(const Job &job, const Tile &tile, guint32 station)
{
  return job.weights ? job.weights[(guint64)tile.channel * job.stations + station]
                     : make_float2(1, 0);
}

__device__ inline bool is_good(const Job &job, const Tile &tile, guint32 station, guint64 step)
{
  return !job.good || job.good[tile.channel * job.good_channel + station * job.good_station + step];
}

/* Weights times phases, [station][beam]; 0 where there is no such station or beam. */
__device__ inline void load_weights(const Job &job, const Tile &tile, guint32 first,
                                    float2 (&weights)[CHUNK][BEAMS])
{
  for (int i = threadIdx.x; i < CHUNK * BEAMS; i += THREADS) {
    const guint32 beam = tile.beam + i % BEAMS, station = first + i / BEAMS;
    float2 weight = make_float2(0, 0);
    if (beam < job.beams && station < job.stations) {
      const double *offset = job.offsets + 3 * (tile.interval * job.beams + beam),
                   *at = job.seconds + 3 * (guint64)station;
      const double tau = at[0] * offset[0] + at[1] * offset[1] + at[2] * offset[2];
      weight = product(weight_of(job, tile, station), turn_by(-tile.frequency * tau));
    }
    weights[i / BEAMS][i % BEAMS] = weight;
  }
}

/* Samples, [station][step]; 0 where they are lost, have no weight, or there are none. */
__device__ inline void load_samples(const Job &job, const Tile &tile, guint32 first,
                                    float2 (&samples)[CHUNK][LANES])
{
  for (int i = threadIdx.x; i < CHUNK * LANES; i += THREADS) {
    const guint32 station = first + i / LANES;
    const guint64 step = tile.begin + i % LANES;
    float2 sample = make_float2(0, 0);
    if (station < job.stations && step < tile.end && is_good(job, tile, station, step)) {
      const float2 weight = weight_of(job, tile, station);
      if (weight.x != 0 || weight.y != 0)
        sample =
            read_sample(job.in,
                        step * job.in_strides.time + tile.channel * job.in_strides.channel +
                            job.index[station] * job.in_strides.row + tile.pol * job.in_strides.pol,
                        job.from);
    }
    samples[i / LANES][i % LANES] = sample;
  }
}

/* Adds the magnitudes of good weights at a step. */
__device__ inline float add_magnitudes(const Job &job, const Tile &tile, guint32 first,
                                       guint64 step, float total)
{
  for (guint32 station = first; station < min(first + CHUNK, job.stations); station++)
    if (is_good(job, tile, station, step)) {
      const float2 weight = weight_of(job, tile, station);
      total += hypotf(weight.x, weight.y);
    }
  return total;
}

__device__ inline void form(const Job &job, const Tile &tile, int *clipped)
{
  __shared__ float2 weights[CHUNK][BEAMS], samples[CHUNK][LANES];
  __shared__ float factors[LANES];
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32;
  const guint64 own = tile.begin + threadIdx.x; /* step of which this thread adds magnitudes */
  float2 sums[TALL][WIDE] = {};
  float total = 0;
  for (guint32 first = 0; first < job.stations; first += CHUNK) {
    __syncthreads();
    load_weights(job, tile, first, weights);
    load_samples(job, tile, first, samples);
    if (threadIdx.x < LANES && own < tile.end)
      total = add_magnitudes(job, tile, first, own, total);
    __syncthreads();
#pragma unroll 4
    for (int s = 0; s < CHUNK; s++) {
      float2 w[TALL], x[WIDE];
#pragma unroll
      for (int i = 0; i < TALL; i++)
        w[i] = weights[s][group * TALL + i];
#pragma unroll
      for (int j = 0; j < WIDE; j++)
        x[j] = samples[s][lane + 32 * j];
#pragma unroll
      for (int i = 0; i < TALL; i++)
#pragma unroll
        for (int j = 0; j < WIDE; j++) {
          sums[i][j].x = fmaf(w[i].x, x[j].x, fmaf(-w[i].y, x[j].y, sums[i][j].x));
          sums[i][j].y = fmaf(w[i].x, x[j].y, fmaf(w[i].y, x[j].x, sums[i][j].y));
        }
    }
  }
  if (threadIdx.x < LANES)
    factors[threadIdx.x] = total > 0 ? job.scale / total : 0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < TALL; i++)
#pragma unroll
    for (int j = 0; j < WIDE; j++) {
      const guint32 beam = tile.beam + group * TALL + i;
      const guint64 step = tile.begin + lane + 32 * j;
      const float factor = factors[lane + 32 * j];
      if (beam < job.beams && step < tile.end)
        write_sample(job.out,
                     step * job.out_strides.time + tile.channel * job.out_strides.channel +
                         beam * job.out_strides.row + tile.pol * job.out_strides.pol,
                     job.to, make_float2(sums[i][j].x * factor, sums[i][j].y * factor), clipped);
    }
}

/* Blocks along x: interval, polarisation and tile, the last fastest; y: beams; z: channels. */
static __global__ void __launch_bounds__(THREADS) form_beams(const __grid_constant__ Job job)
{
  const guint64 rest = blockIdx.x / job.tiles, number = job.first / job.interval;
  const guint64 interval = rest / job.pols;
  const guint64 from = interval ? (number + interval) * job.interval - job.first : 0;
  Tile tile = { .channel = 0,
                .pol = (guint32)(rest % job.pols),
                .beam = blockIdx.y * BEAMS,
                .begin = from + blockIdx.x % job.tiles * (guint64)LANES,
                .end = min(job.steps, (number + interval + 1) * job.interval - job.first),
                .interval = interval,
                .frequency = 0 };
  int clipped = 0;
  if (tile.begin >= tile.end)
    return;
  for (tile.channel = blockIdx.z; tile.channel < job.channels; tile.channel += gridDim.z) {
    tile.frequency = job.first_frequency + tile.channel * job.channel_width;
    form(job, tile, &clipped);
  }
  if (clipped)
    atomicAdd((unsigned long long *)job.clipped, (unsigned long long)clipped);
}

/* ---- the backend ---- */

struct Beamform {
  AstroBeamformConfig config;
  AstroBeamformSize size;
  AstroPlace place;
  AstroCudaUpload upload;
  AstroCudaClipped clipped;
};

static Strides strides_of(const AstroStream *stream, guint64 steps, AstroAxis row)
{
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES];
  astro_stream_shape(stream, steps, &shape);
  astro_layout_strides(&shape, strides);
  return { astro_layout_stride_of(&shape, strides, ASTRO_AXIS_TIME),
           astro_layout_stride_of(&shape, strides, ASTRO_AXIS_CHANNEL),
           astro_layout_stride_of(&shape, strides, row),
           astro_layout_stride_of(&shape, strides, ASTRO_AXIS_POL) };
}

/* Sends what the kernel reads besides samples. */
static gboolean send(Beamform *self, const AstroBeamformArguments *arguments,
                     const AstroBeamformGood *good, Job *job, GError **error)
{
  const AstroBeamformStations *stations = arguments->stations;
  const gsize n = stations->n,
              intervals =
                  astro_beamform_intervals(arguments->first, arguments->steps, arguments->interval);
  const gsize rows = good->channel ? self->size.channels * n : n;
  AstroCudaPiece pieces[] = {
    { stations->seconds, 3 * n * sizeof(double) },
    { arguments->offsets, 3 * intervals * self->size.beams * sizeof(double) },
    { stations->weights, stations->weights ? n * self->size.channels * sizeof(float2) : 0 },
    { stations->index, n * sizeof(guint32) },
    { good->map, good->map ? rows * arguments->steps : 0 },
  };
  if (!astro_cuda_upload(&self->upload, &self->place, "beamform", pieces, G_N_ELEMENTS(pieces),
                         error))
    return FALSE;
  job->seconds = (const double *)pieces[0].device;
  job->offsets = (const double *)pieces[1].device;
  job->weights = stations->weights ? (const float2 *)pieces[2].device : NULL;
  job->index = (const guint32 *)pieces[3].device;
  job->good = good->map ? (const guint8 *)pieces[4].device : NULL;
  job->good_channel = good->channel;
  job->good_station = good->station;
  return TRUE;
}

static gboolean launch(const Beamform *self, const AstroBeamformArguments *arguments, Job *job,
                       GError **error)
{
  const AstroStream *in = &self->config.in;
  const guint64 intervals =
      astro_beamform_intervals(arguments->first, arguments->steps, arguments->interval);
  const guint64 tiles = (MIN(arguments->interval, arguments->steps) + LANES - 1) / LANES;
  const guint64 blocks = intervals * self->size.pols * tiles;
  if (blocks > G_MAXINT32)
    return astro_backend_refuse(error,
                                "beamform: a block of %" G_GUINT64_FORMAT
                                " steps with %" G_GUINT64_FORMAT
                                " sets of phases is more than the kernel counts: expected smaller "
                                "blocks",
                                arguments->steps, intervals);
  job->from = in->format;
  job->to = self->config.out.format;
  job->in_strides = strides_of(in, arguments->steps, ASTRO_AXIS_STATION);
  job->out_strides = strides_of(&self->config.out, arguments->steps, ASTRO_AXIS_BEAM);
  job->first = arguments->first;
  job->steps = arguments->steps;
  job->interval = arguments->interval;
  job->channels = self->size.channels;
  job->pols = self->size.pols;
  job->beams = self->size.beams;
  job->stations = arguments->stations->n;
  job->tiles = (guint32)tiles;
  job->first_frequency =
      astro_channel_frequency(in->frequency, in->bandwidth, self->size.channels, 0);
  job->channel_width = in->bandwidth / self->size.channels;
  job->scale = (float)arguments->stations->scale;
  job->clipped = self->clipped.counter;
  const dim3 grid((unsigned)blocks, (self->size.beams + BEAMS - 1) / BEAMS,
                  MIN(self->size.channels, (guint)MOST_Z));
  form_beams<<<grid, THREADS, 0, astro_cuda_stream(self->place.queue)>>>(*job);
  return CUDA_TRY(cudaGetLastError());
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  Beamform *self = (Beamform *)instance;
  const AstroBeamformArguments *arguments = (const AstroBeamformArguments *)data;
  AstroBeamformGood good;
  Job job = {};
  if (!astro_beamform_check(&self->config, in, n_in, out, n_out, arguments, error) ||
      !astro_cuda_enter(self->place.device, error))
    return FALSE;
  if (arguments->steps == 0)
    return TRUE;
  if (!astro_beamform_good_init(&good, &self->config, arguments, 0, error))
    return FALSE;
  job.in = (const guint8 *)in->data;
  job.out = (guint8 *)out->data;
  const gboolean ok =
      send(self, arguments, &good, &job, error) && launch(self, arguments, &job, error);
  astro_beamform_good_clear(&good);
  return ok;
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  Beamform *self = (Beamform *)instance;
  return astro_cuda_clipped_drain(&self->clipped, &self->place, result, error);
}

static void destroy(gpointer instance)
{
  Beamform *self = (Beamform *)instance;
  astro_cuda_free(&self->place, &self->upload.block);
  astro_cuda_free(&self->place, &self->clipped.counter);
  g_free(self);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_beamform_shape(config, error) || !astro_cuda_enter(place->device, error))
    return NULL;
  Beamform *self = g_new0(Beamform, 1);
  self->config = *(const AstroBeamformConfig *)config;
  self->size = astro_beamform_size(&self->config);
  self->place = *place;
  if (!astro_cuda_clipped_init(&self->clipped, place, error)) {
    destroy(self);
    return NULL;
  }
  *variant = "f32";
  return self;
}

const AstroBackend astro_cuda_beamform = {
  .stage = "beamform",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroBeamformConfig),
  .shape = astro_beamform_shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
};
