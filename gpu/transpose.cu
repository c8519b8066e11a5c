/* Transpose on the GPU. After simplification (core/transpose) the innermost axes of input and output
 * either are the same, then words are gathered in runs, or differ, then tiles of the two axes turn in
 * shared memory, so that both sides of device memory see whole lines. */
#include "gpu/cuda.h"

extern "C" {
#include "core/transpose/check.h"
}

enum { THREADS = 256, WARPS = THREADS / 32, TILE = 32 /* words a side */ };

/* A tile is worth its shared memory where both axes fill a good part of it. */
enum { LEAST_EXTENT = 16 };

typedef struct {
  AstroTransposeConfig config;
  AstroPlace place;
  gint multiprocessors;
} Transpose;

/* ---- axes as kernels see them ---- */

struct Axes {
  int n;
  AstroDivisor extent[ASTRO_MAX_AXES]; /* fastest first */
  guint64 from[ASTRO_MAX_AXES], to[ASTRO_MAX_AXES];
};

__device__ inline void offsets_of(const Axes &axes, guint32 index, guint64 *from, guint64 *to)
{
#pragma unroll
  for (int i = 0; i < ASTRO_MAX_AXES; i++) {
    if (i == axes.n)
      break;
    guint32 rest = axes.extent[i].divide(index), step = index - rest * axes.extent[i].by;
    *from += step * axes.from[i];
    *to += step * axes.to[i];
    index = rest;
  }
}

/* ---- gather: one word of the output a thread ---- */

template <typename Word>
__global__ void __launch_bounds__(THREADS) gather(const Word *in, Word *out, Axes axes, guint32 words)
{
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < words;
       i += (guint64)gridDim.x * THREADS) {
    guint64 from = 0, to = 0;
    offsets_of(axes, (guint32)i, &from, &to);
    out[to] = in[from];
  }
}

/* ---- tiles ---- */

struct Tiles {
  Axes batch;
  guint32 in_extent, out_extent; /* of the input's and the output's innermost axis, in samples */
  AstroDivisor in_tiles, out_tiles;
  guint64 row_from, row_to; /* between neighbours along the other's axis, in samples */
  guint32 n;                /* tiles in all */
};

/* PACK samples of a type fill a word; a word's worth of rows is read, turned in registers, and written
 * to a tile whose words along a row are swapped about so that neither side meets a bank twice. */
template <typename Sample, typename Word>
__global__ void __launch_bounds__(THREADS) turn(const Sample *in, Sample *out, Tiles tiles)
{
  constexpr int PACK = sizeof(Word) / sizeof(Sample), SIDE = TILE * PACK;
  __shared__ Word tile[SIDE][TILE];
  const guint32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  for (guint32 t = blockIdx.x; t < tiles.n; t += gridDim.x) {
    guint32 rest = tiles.in_tiles.divide(t), at_in = (t - rest * tiles.in_tiles.by) * SIDE;
    guint32 batch = tiles.out_tiles.divide(rest), at_out = (rest - batch * tiles.out_tiles.by) * SIDE;
    guint64 from = 0, to = 0;
    offsets_of(tiles.batch, batch, &from, &to);
    from += at_in + at_out * tiles.row_from;
    to += at_out + at_in * tiles.row_to;

    Word word[TILE / WARPS][PACK];
#pragma unroll
    for (int j = 0; j < TILE / WARPS; j++)
#pragma unroll
      for (int p = 0; p < PACK; p++) {
        guint32 row = (warp + j * WARPS) * PACK + p, column = lane * PACK;
        if (at_out + row < tiles.out_extent && at_in + column < tiles.in_extent)
          word[j][p] = *(const Word *)(in + from + row * tiles.row_from + column);
      }
#pragma unroll
    for (int j = 0; j < TILE / WARPS; j++)
#pragma unroll
      for (int p = 0; p < PACK; p++) {
        Word turned;
#pragma unroll
        for (int q = 0; q < PACK; q++)
          ((Sample *)&turned)[q] = ((const Sample *)&word[j][q])[p];
        tile[lane * PACK + p][(warp + j * WARPS) ^ lane] = turned;
      }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < SIDE / WARPS; j++) {
      guint32 row = warp + j * WARPS, column = lane * PACK;
      if (at_in + row < tiles.in_extent && at_out + column < tiles.out_extent)
        *(Word *)(out + to + row * tiles.row_to + column) = tile[row][lane ^ (row / PACK)];
    }
    __syncthreads();
  }
}

/* ---- which one, and how it is started ---- */

typedef struct {
  guint n;
  guint64 extent[ASTRO_MAX_AXES], from[ASTRO_MAX_AXES], to[ASTRO_MAX_AXES]; /* samples */
} Strides; /* the output's axes, slowest first */

static void strides_of(const AstroTransposeConfig *config, Strides *s)
{
  guint64 from[ASTRO_MAX_AXES], stride = 1;

  s->n = config->n_axes;
  for (guint i = s->n; i-- > 0; stride *= config->extents[i])
    from[i] = stride;
  stride = 1;
  for (guint i = s->n; i-- > 0;) {
    s->extent[i] = config->extents[config->order[i]];
    s->from[i] = from[config->order[i]];
    s->to[i] = stride;
    stride *= s->extent[i];
  }
}

static Axes axes_of(const Strides *s, gint leave_out_a, gint leave_out_b)
{
  Axes axes = {};
  for (guint i = s->n; i-- > 0;) {
    if ((gint)i == leave_out_a || (gint)i == leave_out_b)
      continue;
    axes.extent[axes.n] = AstroDivisor((guint32)s->extent[i]);
    axes.from[axes.n] = s->from[i];
    axes.to[axes.n++] = s->to[i];
  }
  return axes;
}

static guint launch_blocks(const Transpose *self, guint64 wanted)
{
  return (guint)MIN(wanted, (guint64)self->multiprocessors * 16);
}

template <typename Word>
static void launch_gather(const Transpose *self, gconstpointer in, gpointer out, const Strides *s,
                          guint64 words)
{
  gather<Word><<<launch_blocks(self, (words + THREADS - 1) / THREADS), THREADS, 0,
                 astro_cuda_stream(self->place.queue)>>>((const Word *)in, (Word *)out,
                                                         axes_of(s, -1, -1), (guint32)words);
}

template <typename Sample, typename Word>
static void launch_turn(const Transpose *self, gconstpointer in, gpointer out, const Strides *s,
                        guint inner, guint64 samples)
{
  constexpr guint32 SIDE = TILE * sizeof(Word) / sizeof(Sample);
  guint last = s->n - 1;
  Tiles tiles = {};

  tiles.batch = axes_of(s, (gint)inner, (gint)last);
  tiles.in_extent = (guint32)s->extent[inner];
  tiles.out_extent = (guint32)s->extent[last];
  tiles.in_tiles = AstroDivisor((tiles.in_extent + SIDE - 1) / SIDE);
  tiles.out_tiles = AstroDivisor((tiles.out_extent + SIDE - 1) / SIDE);
  tiles.row_from = s->from[last];
  tiles.row_to = s->to[inner];
  tiles.n = (guint32)(samples / s->extent[inner] / s->extent[last] * tiles.in_tiles.by * tiles.out_tiles.by);
  turn<Sample, Word><<<launch_blocks(self, tiles.n), THREADS, 0,
                       astro_cuda_stream(self->place.queue)>>>((const Sample *)in, (Sample *)out, tiles);
}

/* Whether all rows begin at whole words of pack samples on both sides. */
static gboolean packs(const Strides *s, gconstpointer in, gconstpointer out, gsize word, guint pack)
{
  if ((guintptr)in % word || (guintptr)out % word)
    return FALSE;
  for (guint i = 0; i < s->n; i++)
    if ((s->from[i] > 1 && s->from[i] % pack) || (s->to[i] > 1 && s->to[i] % pack) ||
        ((s->from[i] == 1 || s->to[i] == 1) && s->extent[i] % pack))
      return FALSE;
  return TRUE;
}

typedef void (*TurnFunc)(const Transpose *, gconstpointer, gpointer, const Strides *, guint, guint64);
typedef void (*GatherFunc)(const Transpose *, gconstpointer, gpointer, const Strides *, guint64);

/* Small samples go several to a word, where rows are whole words. */
static const struct {
  gsize bytes;
  struct {
    TurnFunc turn;
    gsize word;
  } turns[3]; /* the first that fits */
  GatherFunc gather;
} kernels[] = {
  { 1, { { launch_turn<guint8, guint32>, 4 }, { launch_turn<guint8, guint8>, 1 } }, launch_gather<guint8> },
  { 2,
    { { launch_turn<guint16, uint2>, 8 }, { launch_turn<guint16, guint32>, 4 }, { launch_turn<guint16, guint16>, 2 } },
    launch_gather<guint16> },
  { 4, { { launch_turn<guint32, uint2>, 8 }, { launch_turn<guint32, guint32>, 4 } }, launch_gather<guint32> },
  { 8, { { launch_turn<uint2, uint2>, 8 } }, launch_gather<uint2> },
  { 16, { { launch_turn<uint4, uint4>, 16 } }, launch_gather<uint4> },
};

static guint kernel_of(gsize bytes)
{
  guint k = 0;
  while (kernels[k].bytes != bytes)
    k++;
  return k;
}

/* Runs of whole words where the innermost axis stays: the widest word that divides them. */
static void widen(AstroTransposeConfig *config, gconstpointer in, gconstpointer out)
{
  guint last = config->n_axes - 1;
  while (config->order[last] == last && config->sample_bytes < 16 && config->extents[last] % 2 == 0 &&
         (guintptr)in % (2 * config->sample_bytes) == 0 && (guintptr)out % (2 * config->sample_bytes) == 0) {
    config->extents[last] /= 2;
    config->sample_bytes *= 2;
  }
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gpointer arguments, GError **error)
{
  Transpose *self = (Transpose *)instance;
  AstroTransposeConfig config =
      arguments ? *(const AstroTransposeConfig *)arguments : self->config;
  guint64 samples = 1;
  Strides s;

  if (!astro_transpose_check_blocks(&config, in, n_in, out, n_out, error) ||
      !astro_cuda_enter(self->place.device, error))
    return FALSE;
  const AstroTransposeConfig plain = config;
  astro_transpose_simplify(&config);
  for (guint i = 0; i < config.n_axes; i++)
    samples *= config.extents[i];
  if (config.n_axes < 2)
    return CUDA_TRY(cudaMemcpyAsync(out->data, in->data, samples * config.sample_bytes,
                                    cudaMemcpyDeviceToDevice, astro_cuda_stream(self->place.queue)));
  if (samples > G_MAXINT32) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE,
                "a block of %" G_GUINT64_FORMAT " samples is more than the kernel's indices count (2^31)",
                samples);
    return FALSE;
  }
  /* Axes may have been folded into samples that are longer than the block is aligned. */
  gboolean aligned = (guintptr)in->data % config.sample_bytes == 0 && (guintptr)out->data % config.sample_bytes == 0;
  if (aligned)
    widen(&config, in->data, out->data);
  else
    config = plain;
  strides_of(&config, &s);
  guint k = kernel_of(config.sample_bytes), last = s.n - 1, inner = 0;
  while (aligned && s.from[inner] != 1)
    inner++;
  if (!aligned || inner == last || s.extent[inner] < LEAST_EXTENT || s.extent[last] < LEAST_EXTENT) {
    guint64 words = 1;
    for (guint i = 0; i < s.n; i++)
      words *= s.extent[i];
    kernels[k].gather(self, in->data, out->data, &s, words);
  } else {
    guint turn = 0;
    while (kernels[k].turns[turn].word > config.sample_bytes &&
           !packs(&s, in->data, out->data, kernels[k].turns[turn].word,
                  (guint)(kernels[k].turns[turn].word / config.sample_bytes)))
      turn++;
    kernels[k].turns[turn].turn(self, in->data, out->data, &s, inner, samples);
  }
  return CUDA_TRY(cudaGetLastError());
}

static gboolean shape(gconstpointer config, GError **error)
{
  gsize bytes;
  return astro_transpose_check((const AstroTransposeConfig *)config, &bytes, error);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Transpose *self = g_new0(Transpose, 1);
  self->config = *(const AstroTransposeConfig *)config;
  self->place = *place;
  *variant = "tiles";
  if (shape(config, error) && astro_cuda_enter(place->device, error) &&
      CUDA_TRY(cudaDeviceGetAttribute(&self->multiprocessors, cudaDevAttrMultiProcessorCount,
                                      place->device->index)))
    return self;
  g_free(self);
  return NULL;
}

const AstroBackend astro_cuda_transpose = {
  .stage = "transpose",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroTransposeConfig),
  .shape = shape,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};
