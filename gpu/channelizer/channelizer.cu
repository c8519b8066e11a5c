/* The channelizer's CUDA backend. Samples from before a block that are still needed are held on the
 * device. Samples are filtered and transformed in place if their time is contiguous and they are in
 * the prepared format; otherwise they are gathered first. */
#include "gpu/channelizer/channelizer.h"
#include "gpu/runtime/clipped.h"
#include "gpu/runtime/gather.h"

extern "C" {
#include "core/channelizer/check.h"
}

#include <math.h>

enum { THREADS = 256 };
#define ROOM_BYTES ((gsize)128 << 20)

/* The kernels, quickest first, by their names as variants. */
enum { BYTES, SQUARE, FUSED, MIXED, PASSES };
static const char *const kernel_names[] = { "bytes", "square", "fused", "mixed", "passes" };

typedef struct {
  AstroChannelizerConfig config;
  AstroPlace place;
  gint multiprocessors;
  guint kernel;
  AstroFormat prepared; /* CI4, CI8 or CF32LE */
  gsize prepared_bytes;
  guint inputs, stations, pols;
  guint64 step, span;
  guint64 begin, end; /* of the current unbroken stretch */

  float *weights, *gains;
  float2 *twiddles, *powers;
  guint8 *held[2]; /* [input][span]; the second is filled for the next block */
  guint64 held_from, held_to;
  guint8 *gathered; /* [input][step] of one block */
  gsize gathered_bytes;
  float2 *room; /* for transforms of any length, in passes */
  guint32 room_rows;
  AstroCudaClipped clipped;
} Channelizer;

/* ---- memory ---- */

static gboolean alloc(Channelizer *self, gpointer face, gsize bytes, GError **error)
{
  return self->place.device->funcs->alloc(self->place.device, bytes, (gpointer *)face, error);
}

static gboolean send(Channelizer *self, gpointer face, gconstpointer host, gsize bytes,
                     GError **error)
{
  return alloc(self, face, bytes, error) &&
         CUDA_TRY(cudaMemcpyAsync(*(gpointer *)face, host, bytes, cudaMemcpyHostToDevice,
                                  astro_cuda_stream(self->place.queue)));
}

/* Sends the filter's weights in the order of the transform's points. */
static gboolean send_weights(Channelizer *self, GError **error)
{
  guint64 turn = astro_channelizer_lead(&self->config) % self->step;
  g_autofree double *weights = g_new(double, self->span);
  g_autofree float *turned = g_new(float, self->span);
  astro_channelizer_weights(&self->config, weights);
  for (guint tap = 0; tap < self->config.taps; tap++)
    for (guint64 point = 0; point < self->step; point++)
      turned[tap * self->step + point] =
          (float)weights[tap * self->step + (point + turn) % self->step];
  return send(self, &self->weights, turned, self->span * sizeof *turned, error);
}

static gboolean send_twiddles(Channelizer *self, GError **error)
{
  g_autofree float2 *twiddles = g_new(float2, self->step);
  for (guint64 k = 0; k < self->step; k++) {
    double angle = -2 * G_PI * (double)k / (double)self->step;
    twiddles[k].x = (float)cos(angle);
    twiddles[k].y = (float)sin(angle);
  }
  return send(self, &self->twiddles, twiddles, self->step * sizeof *twiddles, error);
}

static gboolean is_bytes(AstroFormat format)
{
  return format == ASTRO_FORMAT_CI4 || format == ASTRO_FORMAT_CI8;
}

static gboolean takes(const Channelizer *self, guint kernel)
{
  const guint32 n = (guint32)self->step;
  switch (kernel) {
  case BYTES:
    return is_bytes(self->config.in.format) && is_bytes(self->config.to) &&
           astro_channelizer_takes_bytes(n);
  case SQUARE:
    return astro_channelizer_is_square(n, self->config.taps);
  case FUSED:
    return astro_channelizer_fuses(n);
  case MIXED:
    return astro_channelizer_mixes(n);
  default:
    return TRUE;
  }
}

/* Sets the first kernel that takes the configuration, and the format that it takes. ASTRO_CUDA
 * names the one to begin with, for tests. From CI8 to CI8 of 1024 channels square is quicker: 0.47
 * of a copy on an H100, and bytes 0.29. */
static void pick_kernel(Channelizer *self)
{
  const char *wanted = g_getenv("ASTRO_CUDA");
  const AstroFormat from = self->config.in.format;
  guint first = 0;
  while (first <= PASSES && g_strcmp0(kernel_names[first], wanted) != 0)
    first++;
  if (first > PASSES) /* none, or that of another stage */
    first = from == ASTRO_FORMAT_CI8 && self->config.to == ASTRO_FORMAT_CI8 && takes(self, SQUARE)
                ? SQUARE
                : BYTES;
  for (self->kernel = first; !takes(self, self->kernel);)
    self->kernel++;
  self->prepared = self->kernel == BYTES ? from
                   : is_bytes(from)      ? ASTRO_FORMAT_CI8
                                         : ASTRO_FORMAT_CF32LE;
}

/* The twiddles that the kernel takes between passes; others take those of all points alone. */
static guint make_powers(const Channelizer *self, float2 *powers)
{
  const guint32 n = (guint32)self->step;
  switch (self->kernel) {
  case BYTES:
    return astro_channelizer_bytes_powers(n, powers);
  case SQUARE:
    return astro_channelizer_square_powers(powers);
  case FUSED:
    return astro_channelizer_powers(n, powers);
  default:
    return 0;
  }
}

static gboolean send_powers(Channelizer *self, GError **error)
{
  guint made = make_powers(self, NULL);
  g_autofree float2 *powers = g_new(float2, made);
  if (made == 0)
    return TRUE;
  make_powers(self, powers);
  return send(self, &self->powers, powers, made * sizeof *powers, error);
}

static gboolean need_gathered(Channelizer *self, gsize bytes, GError **error)
{
  if (bytes <= self->gathered_bytes)
    return TRUE;
  astro_cuda_free(&self->place, &self->gathered);
  self->gathered_bytes = 0;
  if (!alloc(self, &self->gathered, bytes, error))
    return FALSE;
  self->gathered_bytes = bytes;
  return TRUE;
}

static gboolean need_room(Channelizer *self, GError **error)
{
  gsize row = 2 * self->step * sizeof(float2);
  self->room_rows = (guint32)MAX(ROOM_BYTES / row, 1);
  return self->room || alloc(self, &self->room, self->room_rows * row, error);
}

/* ---- a block ---- */

static guint64 stride_of(const AstroStream *stream, guint64 steps, AstroAxis axis)
{
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES];
  astro_stream_shape(stream, steps, &shape);
  astro_layout_strides(&shape, strides);
  gint at = astro_layout_find(&shape, axis);
  return at < 0 ? 0 : strides[at] * astro_stream_sample_bytes(stream);
}

/* ---- lost samples ---- */

/* Lost samples of a station's first input. This many fit in a kernel's parameters, which go with
 * the launch: so nothing waits for a copy of them, and even a block with thousands of losses takes
 * few launches. */
enum { MOST_DROPS = 240 };

typedef struct {
  guint64 at, count;
} Drop;

typedef struct {
  Drop drops[MOST_DROPS];
} Drops;

/* blockIdx.y: index of the drop. row: samples from input to input. */
template <typename Sample>
static __global__ void __launch_bounds__(THREADS)
    drop(Sample *block, guint64 row, guint pols, const __grid_constant__ Drops list)
{
  const Drop lost = list.drops[blockIdx.y];
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < lost.count;
       i += (guint64)gridDim.x * THREADS)
    for (guint pol = 0; pol < pols; pol++)
      block[lost.at + pol * row + i] = {};
}

static gboolean drop_list(Channelizer *self, guint64 row, const Drops *list, guint n,
                          GError **error)
{
  cudaStream_t stream = astro_cuda_stream(self->place.queue);
  guint64 longest = 1;

  for (guint i = 0; i < n; i++)
    longest = MAX(longest, list->drops[i].count);
  const dim3 grid((unsigned)MIN((longest + THREADS - 1) / THREADS, 1024), n);
  if (n > 0 && self->prepared == ASTRO_FORMAT_CI4)
    drop<<<grid, THREADS, 0, stream>>>(self->gathered, row, self->pols, *list);
  else if (n > 0 && self->prepared == ASTRO_FORMAT_CI8)
    drop<<<grid, THREADS, 0, stream>>>((char2 *)self->gathered, row, self->pols, *list);
  else if (n > 0)
    drop<<<grid, THREADS, 0, stream>>>((float2 *)self->gathered, row, self->pols, *list);
  return CUDA_TRY(cudaGetLastError());
}

/* Sets lost samples to zero in the gathered block. */
static gboolean drop_lost(Channelizer *self, const AstroChannelizerArguments *arguments,
                          GError **error)
{
  const guint64 row = arguments->steps;
  Drops list;
  guint n = 0;

  for (guint i = 0; i < arguments->n_losses; i++) {
    const AstroLoss *loss = &arguments->losses[i];
    const guint64 from = MAX(loss->from, arguments->first),
                  to = MIN(loss->to, arguments->first + row);
    if (from >= to)
      continue;
    if (n == MOST_DROPS) {
      if (!drop_list(self, row, &list, n, error))
        return FALSE;
      n = 0;
    }
    list.drops[n++] = { (guint64)loss->station * self->pols * row + from - arguments->first,
                        to - from };
  }
  return drop_list(self, row, &list, n, error);
}

/* ---- gathering a block ---- */

/* Gathers the block to [input][step] if necessary. row: samples from input to input. */
static gboolean prepare(Channelizer *self, const AstroBlock *in,
                        const AstroChannelizerArguments *arguments, const guint8 **block,
                        guint64 *row, GError **error)
{
  const AstroStream *stream = &self->config.in;
  guint64 time = stride_of(stream, arguments->steps, ASTRO_AXIS_TIME);
  guint64 station = stride_of(stream, arguments->steps, ASTRO_AXIS_STATION);
  guint64 pol = stride_of(stream, arguments->steps, ASTRO_AXIS_POL);
  guint64 wide = arguments->steps * self->prepared_bytes;

  *row = arguments->steps;
  *block = (const guint8 *)in->data;
  if (!arguments->n_losses && stream->format == self->prepared &&
      (time == self->prepared_bytes || self->inputs == 1) && (self->pols == 1 || pol == wide) &&
      (self->stations == 1 || station == self->pols * wide) &&
      (guintptr)in->data % self->prepared_bytes == 0)
    return TRUE;
  AstroCudaGather gather = {
    .from = (const guint8 *)in->data,
    .time = time ? time : astro_stream_step_bytes(stream),
    .station = station,
    .pol = pol,
    .to_row = wide,
    .to_channel = wide * self->inputs,
    .count = arguments->steps,
    .channels = 1,
    .stations = self->stations,
    .pols = self->pols,
    .format = stream->format,
    .to_format = self->prepared,
  };
  if (!need_gathered(self, wide * self->inputs, error))
    return FALSE;
  *block = gather.to = self->gathered;
  return astro_cuda_gather(&gather, astro_cuda_stream(self->place.queue), error) &&
         drop_lost(self, arguments, error);
}

/* Copies the samples that later spectra need, from those held so far and from the block. All is
 * counted in words, of one or several samples. */
template <typename Word>
static __global__ void __launch_bounds__(THREADS)
    keep(ChannelizerSamples in, Word *to, guint64 to_row, guint64 n)
{
  const guint32 input = blockIdx.y;
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < n;
       i += (guint64)gridDim.x * THREADS) {
    Word word = {};
    if ((gint64)i < in.split)
      word = ((const Word *)in.held)[input * in.held_row + i];
    else if (in.block)
      word = ((const Word *)in.block)[input * in.block_row + i - in.split];
    to[input * to_row + i] = word;
  }
}

template <typename Word>
static void keep_words(ChannelizerSamples in, guint8 *to, guint64 to_row, guint64 n, gsize bytes,
                       guint inputs, cudaStream_t stream)
{
  const guint64 words = n * bytes / sizeof(Word);
  const dim3 grid((unsigned)MIN((words + THREADS - 1) / THREADS, 1024), inputs);
  in.split = in.split * (gint64)bytes / (gint64)sizeof(Word);
  in.held_row = in.held_row * bytes / sizeof(Word);
  in.block_row = in.block_row * bytes / sizeof(Word);
  keep<Word><<<grid, THREADS, 0, stream>>>(in, (Word *)to, to_row * bytes / sizeof(Word), words);
}

/* By words as wide as everything is aligned to. */
static void keep_samples(const ChannelizerSamples *in, guint8 *to, guint64 to_row, guint64 n,
                         gsize bytes, guint inputs, cudaStream_t stream)
{
  static void (*const kernels[])(ChannelizerSamples, guint8 *, guint64, guint64, gsize, guint,
                                 cudaStream_t) = { keep_words<guint8>, keep_words<guint16>,
                                                   keep_words<guint32>, keep_words<uint2>,
                                                   keep_words<uint4> };
  const guint64 apart = (guintptr)in->held | (guintptr)in->block | (guintptr)to |
                        ((guint64)in->split | in->held_row | in->block_row | to_row | n) * bytes;
  guint wide = 0;
  while (wide + 1 < G_N_ELEMENTS(kernels) && apart % (2u << wide) == 0)
    wide++;
  kernels[wide](*in, to, to_row, n, bytes, inputs, stream);
}

/* Describes the samples from this one on. */
static ChannelizerSamples samples_from(const Channelizer *self, guint64 from, guint64 first,
                                       const guint8 *block, guint64 block_row)
{
  ChannelizerSamples in = {
    .held = self->held[0] + (from - MIN(self->held_from, from)) * self->prepared_bytes,
    .block = block,
    .split = (gint64)(first - from),
    .held_row = self->span,
    .block_row = block_row,
  };
  return in;
}

static gboolean keep_last(Channelizer *self, guint64 next_spectrum,
                          const AstroChannelizerArguments *arguments, const guint8 *block,
                          guint64 row, GError **error)
{
  guint64 end = arguments->first + arguments->steps;
  guint64 from = MIN(next_spectrum * self->step - astro_channelizer_lead(&self->config), end),
          n = end - from;
  ChannelizerSamples in = samples_from(self, from, arguments->first, block, row);
  cudaStream_t stream = astro_cuda_stream(self->place.queue);

  for (guint input = 0; n && input < self->inputs; input += 65535) {
    ChannelizerSamples part = in;
    gsize held = input * self->span * self->prepared_bytes;
    part.held += held;
    if (part.block)
      part.block += input * row * self->prepared_bytes;
    keep_samples(&part, self->held[1] + held, self->span, n, self->prepared_bytes,
                 MIN(self->inputs - input, 65535u), stream);
  }
  guint8 *swap = self->held[0];
  self->held[0] = self->held[1];
  self->held[1] = swap;
  self->held_from = from;
  self->held_to = end;
  return CUDA_TRY(cudaGetLastError());
}

static gboolean channelize(Channelizer *self, AstroSpectra spectra,
                           const AstroChannelizerArguments *arguments, const guint8 *block,
                           guint64 row, gpointer out, GError **error)
{
  guint64 lead = astro_channelizer_lead(&self->config);
  gboolean is_complex = astro_format_info(self->config.in.format)->is_complex;
  gboolean bytes = self->prepared == ASTRO_FORMAT_CI8;
  cudaStream_t stream = astro_cuda_stream(self->place.queue);
  ChannelizerRun run = {
    .in = samples_from(self, spectra.first * self->step - lead, arguments->first, block, row),
    .weights = self->weights,
    .twiddles = self->twiddles,
    .powers = self->powers,
    .gains = self->gains,
    .taps = self->config.taps,
    .n = (guint32)self->step,
    .channels = self->config.channels,
    .turn = (guint32)(lead % self->step),
    .below = is_complex ? self->config.channels / 2 : 0,
    .inputs = self->inputs,
    .count = spectra.count,
    .out = (guint8 *)out,
    .to = self->config.to,
    .clipped = self->clipped.counter,
  };
  switch (self->kernel) {
  case BYTES:
    return astro_channelizer_bytes(self->prepared, &run, stream, error);
  case SQUARE:
    return astro_channelizer_square(bytes, &run, (guint)self->multiprocessors, stream, error);
  case FUSED:
    return astro_channelizer_fused(bytes, &run, stream, error);
  case MIXED:
    return astro_channelizer_mixed(bytes, &run, stream, error);
  default:
    return need_room(self, error) &&
           astro_channelizer_passes(bytes, &run, self->room, self->room_rows, stream, error);
  }
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  Channelizer *self = (Channelizer *)instance;
  return astro_cuda_clipped_drain(&self->clipped, &self->place, result, error);
}

static gboolean find_spectra(const Channelizer *self, const AstroChannelizerArguments *arguments,
                             AstroSpectra *spectra, GError **error)
{
  if (!arguments->restart && arguments->first != self->end) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE,
                "channelizer: a block from sample %" G_GUINT64_FORMAT
                " on, expected one from %" G_GUINT64_FORMAT " on or a new start",
                arguments->first, self->end);
    return FALSE;
  }
  return astro_channelizer_block_spectra(&self->config,
                                         arguments->restart ? arguments->first : self->begin,
                                         arguments->first, arguments->steps, spectra, error);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer argument, AstroResult *result, GError **error)
{
  Channelizer *self = (Channelizer *)instance;
  const AstroChannelizerArguments *arguments = (const AstroChannelizerArguments *)argument;
  const guint8 *block = NULL;
  guint64 row = 0;
  AstroSpectra spectra;

  if (!find_spectra(self, arguments, &spectra, error) ||
      !astro_channelizer_check_call(&self->config, in, n_in, out, n_out, arguments, spectra.count,
                                    error) ||
      !astro_cuda_enter(self->place.device, error))
    return FALSE;
  if (arguments->restart) {
    self->begin = arguments->first;
    self->held_from = self->held_to = arguments->first;
  }
  self->end = arguments->first + arguments->steps;
  return (!n_in || !arguments->steps || prepare(self, in, arguments, &block, &row, error)) &&
         (!spectra.count || channelize(self, spectra, arguments, block, row, out->data, error)) &&
         keep_last(self, spectra.first + spectra.count, arguments, block, row, error);
}

/* ---- the backend ---- */

static void destroy(gpointer instance)
{
  Channelizer *self = (Channelizer *)instance;
  gpointer blocks[] = { self->weights,  self->gains,   self->twiddles,
                        self->powers,   self->held[0], self->held[1],
                        self->gathered, self->room,    self->clipped.counter };
  for (guint i = 0; i < G_N_ELEMENTS(blocks); i++)
    astro_cuda_free(&self->place, &blocks[i]);
  g_free(self);
}

static gboolean prepare_kernel(const Channelizer *self, GError **error)
{
  const gboolean bytes = self->prepared == ASTRO_FORMAT_CI8;
  switch (self->kernel) {
  case BYTES:
    return astro_channelizer_bytes_init((guint32)self->step, error);
  case SQUARE:
    return astro_channelizer_square_init(bytes, self->config.taps, error);
  default:
    return astro_channelizer_mixed_init(bytes, error);
  }
}

/* Spectra as input are left to the CPU. */
static gboolean shape(gconstpointer data, GError **error)
{
  const AstroChannelizerConfig *config = (const AstroChannelizerConfig *)data;
  if (!astro_channelizer_shape(config, error))
    return FALSE;
  if (config->in.quantity == ASTRO_QUANTITY_SPECTRA)
    return astro_backend_refuse(error, "channelizer: spectra as input, expected voltages: only the "
                                       "CPU splits the channels of spectra");
  return TRUE;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!shape(config, error) || !astro_cuda_enter(place->device, error))
    return NULL;
  Channelizer *self = g_new0(Channelizer, 1);
  const AstroStream *in = &((const AstroChannelizerConfig *)config)->in;
  self->config = *(const AstroChannelizerConfig *)config;
  self->place = *place;
  self->stations = (guint)astro_stream_extent(in, ASTRO_AXIS_STATION);
  self->pols = (guint)astro_stream_extent(in, ASTRO_AXIS_POL);
  self->inputs = self->stations * self->pols;
  self->step = astro_channelizer_step(&self->config);
  self->span = astro_channelizer_span(&self->config);
  pick_kernel(self);
  self->prepared_bytes = astro_format_info(self->prepared)->bytes;
  gsize held = self->inputs * self->span * self->prepared_bytes;
  if (!CUDA_TRY(cudaDeviceGetAttribute(&self->multiprocessors, cudaDevAttrMultiProcessorCount,
                                       place->device->index)) ||
      !prepare_kernel(self, error) || !send_weights(self, error) || !send_twiddles(self, error) ||
      !send_powers(self, error) ||
      (self->config.gains && !send(self, &self->gains, self->config.gains,
                                   self->config.channels * sizeof *self->gains, error)) ||
      !alloc(self, &self->held[0], held, error) || !alloc(self, &self->held[1], held, error) ||
      !astro_cuda_clipped_init(&self->clipped, place, error)) {
    destroy(self);
    return NULL;
  }
  *variant = kernel_names[self->kernel];
  return self;
}

const AstroBackend astro_cuda_channelizer = {
  .stage = "channelizer",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroChannelizerConfig),
  .shape = shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
};
