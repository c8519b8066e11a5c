/* Transpose on the GPU. After simplification (core/lib/transpose), if the innermost axes of input
 * and output are the same, words are gathered in runs. If they differ, tiles of the two axes are
 * transposed in shared memory, so that device memory sees whole lines on both sides. */
#include "gpu/transpose/transpose.h"

extern "C" {
#include "core/transpose/check.h"
}

enum { THREADS = 256, WARPS = THREADS / 32, TILE = 32 /* words on a side */ };

/* A tile is worth its shared memory only if both axes fill a good part of it. */
enum { LEAST_EXTENT = 16 };

/* Axes are cut at multiples of this, which are whole words and whole tiles of every kind. */
enum { WHOLE = 256 };

typedef struct {
  AstroTransposeConfig config;
  AstroPlace place;
  gint multiprocessors;
} Transpose;

/* ---- gather: each thread makes one word of the output ---- */

template <typename Word>
__global__ void __launch_bounds__(THREADS)
    gather(const Word *in, Word *out, TransposeAxes axes, guint32 words)
{
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < words;
       i += (guint64)gridDim.x * THREADS) {
    guint64 from = 0, to = 0;
    transpose_offsets(axes, (guint32)i, &from, &to);
    out[to] = in[from];
  }
}

/* ---- tiles ---- */

/* PACK samples fill a word. As many rows are read, transposed in registers and written to a tile,
 * whose words along a row are permuted so that neither side uses a bank twice. */
template <typename Sample, typename Word>
__global__ void __launch_bounds__(THREADS) turn(const Sample *in, Sample *out, TransposeTiles tiles)
{
  constexpr int PACK = sizeof(Word) / sizeof(Sample), SIDE = TILE * PACK;
  __shared__ Word tile[SIDE][TILE];
  const guint32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  for (guint32 t = blockIdx.x; t < tiles.n; t += gridDim.x) {
    const TransposeTile place(tiles, t, SIDE, SIDE);
    const guint64 from = place.from + place.row * tiles.row_from;

    Word word[TILE / WARPS][PACK];
#pragma unroll
    for (int j = 0; j < TILE / WARPS; j++)
#pragma unroll
      for (int p = 0; p < PACK; p++) {
        guint32 row = (warp + j * WARPS) * PACK + p, column = lane * PACK;
        if (row < place.rows && column < place.columns)
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
      if (row < place.columns && column < place.rows)
        *(Word *)(out + place.to + row * tiles.row_to + column) = tile[row][lane ^ (row / PACK)];
    }
    __syncthreads();
  }
}

/* ---- which kernel, and how it is launched ---- */

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

static TransposeAxes axes_of(const Strides *s, gint leave_out_a, gint leave_out_b)
{
  TransposeAxes axes = {};
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

static TransposeTiles tiles_of(const Strides *s, guint inner)
{
  guint last = s->n - 1;
  TransposeTiles tiles = {};

  tiles.batch = axes_of(s, (gint)inner, (gint)last);
  tiles.in_extent = (guint32)s->extent[inner];
  tiles.out_extent = (guint32)s->extent[last];
  tiles.row_from = s->from[last];
  tiles.row_to = s->to[inner];
  return tiles;
}

static void cut_tiles(TransposeTiles *tiles, guint64 samples, guint32 width, guint32 height)
{
  tiles->in_tiles = AstroDivisor((tiles->in_extent + width - 1) / width);
  tiles->out_tiles = AstroDivisor((tiles->out_extent + height - 1) / height);
  tiles->n = (guint32)(samples / tiles->in_extent / tiles->out_extent * tiles->in_tiles.by *
                       tiles->out_tiles.by);
}

template <typename Sample, typename Word>
static void launch_turn(const Transpose *self, gconstpointer in, gpointer out, const Strides *s,
                        guint inner, guint64 samples)
{
  constexpr guint32 SIDE = TILE * sizeof(Word) / sizeof(Sample);
  TransposeTiles tiles = tiles_of(s, inner);
  cut_tiles(&tiles, samples, SIDE, SIDE);
  turn<Sample, Word>
      <<<launch_blocks(self, tiles.n), THREADS, 0, astro_cuda_stream(self->place.queue)>>>(
          (const Sample *)in, (Sample *)out, tiles);
}

/* Whether larger tiles are filled as well as smaller ones would be. */
static gboolean fills(guint64 extent, guint32 tile, guint32 smaller)
{
  return (extent + tile - 1) / tile * tile == (extent + smaller - 1) / smaller * smaller;
}

/* Joins the output's innermost axis with the axis of the batch that follows it in the output. */
static void fold(TransposeTiles *tiles)
{
  TransposeAxes *batch = &tiles->batch;
  tiles->fold = AstroDivisor(tiles->out_extent);
  if (batch->n == 0 || batch->to[0] != tiles->out_extent)
    return;
  tiles->fold_from = batch->from[0];
  tiles->out_extent *= batch->extent[0].by;
  batch->n--;
  for (int i = 0; i < batch->n; i++) {
    batch->extent[i] = batch->extent[i + 1];
    batch->from[i] = batch->from[i + 1];
    batch->to[i] = batch->to[i + 1];
  }
}

static void launch_bytes(const Transpose *self, gconstpointer in, gpointer out, const Strides *s,
                         guint inner, guint64 samples)
{
  TransposeTiles tiles = tiles_of(s, inner);
  fold(&tiles);
  gboolean tall = fills(tiles.out_extent, 256, 128);
  if (!fills(tiles.in_extent, 256, 128)) {
    launch_turn<guint8, guint32>(self, in, out, s, inner, samples);
    return;
  }
  cut_tiles(&tiles, samples, 256, tall ? 256 : 128);
  astro_transpose_bytes(in, out, &tiles, tall, self->multiprocessors,
                        astro_cuda_stream(self->place.queue));
}

/* Whether all rows begin at words of pack samples on both sides. */
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

typedef void (*TurnFunc)(const Transpose *, gconstpointer, gpointer, const Strides *, guint,
                         guint64);
typedef void (*GatherFunc)(const Transpose *, gconstpointer, gpointer, const Strides *, guint64);

/* Several small samples go in a word if rows are whole words. */
static const struct {
  gsize bytes;
  struct {
    TurnFunc turn;
    gsize word;
  } turns[3]; /* the first that fits */
  GatherFunc gather;
} kernels[] = {
  { 1,
    { { launch_bytes, 8 },
      { launch_turn<guint8, guint32>, 4 },
      { launch_turn<guint8, guint8>, 1 } },
    launch_gather<guint8> },
  { 2,
    { { launch_turn<guint16, uint2>, 8 },
      { launch_turn<guint16, guint32>, 4 },
      { launch_turn<guint16, guint16>, 2 } },
    launch_gather<guint16> },
  { 4,
    { { launch_turn<guint32, uint2>, 8 }, { launch_turn<guint32, guint32>, 4 } },
    launch_gather<guint32> },
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

/* If the innermost axis stays, its runs are moved in the widest word that divides them. */
static void widen(AstroTransposeConfig *config, gconstpointer in, gconstpointer out)
{
  guint last = config->n_axes - 1;
  while (config->order[last] == last && config->sample_bytes < 16 &&
         config->extents[last] % 2 == 0 && (guintptr)in % (2 * config->sample_bytes) == 0 &&
         (guintptr)out % (2 * config->sample_bytes) == 0) {
    config->extents[last] /= 2;
    config->sample_bytes *= 2;
  }
}

/* Kernels count samples in 31 bits. A larger block is cut along its longest axis, so that all rows
 * still begin at whole words, and its parts are transposed one after the other. */
static void turn_part(Transpose *self, const guint8 *in, guint8 *out, const Strides *s, gsize bytes,
                      gboolean aligned)
{
  guint k = kernel_of(bytes), last = s->n - 1, inner = 0, longest = 0;
  guint64 samples = 1;

  for (guint i = 0; i < s->n; i++) {
    samples *= s->extent[i];
    longest = s->extent[i] > s->extent[longest] ? i : longest;
  }
  if (samples > G_MAXINT32) {
    Strides first = *s, second = *s;
    guint64 half = s->extent[longest] / 2, cut = half < WHOLE ? half : half / WHOLE * WHOLE;
    first.extent[longest] = cut;
    second.extent[longest] -= cut;
    turn_part(self, in, out, &first, bytes, aligned);
    turn_part(self, in + cut * s->from[longest] * bytes, out + cut * s->to[longest] * bytes,
              &second, bytes, aligned);
    return;
  }
  while (aligned && s->from[inner] != 1)
    inner++;
  if (!aligned || inner == last || s->extent[inner] < LEAST_EXTENT ||
      s->extent[last] < LEAST_EXTENT) {
    kernels[k].gather(self, in, out, s, samples);
    return;
  }
  guint turn = 0;
  while (
      kernels[k].turns[turn].word > bytes &&
      !packs(s, in, out, kernels[k].turns[turn].word, (guint)(kernels[k].turns[turn].word / bytes)))
    turn++;
  kernels[k].turns[turn].turn(self, in, out, s, inner, samples);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  Transpose *self = (Transpose *)instance;
  AstroTransposeConfig config = arguments ? *(const AstroTransposeConfig *)arguments : self->config;
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
                                    cudaMemcpyDeviceToDevice,
                                    astro_cuda_stream(self->place.queue)));
  /* Axes may have been folded into samples that need more alignment than the block has. */
  gboolean aligned = (guintptr)in->data % config.sample_bytes == 0 &&
                     (guintptr)out->data % config.sample_bytes == 0;
  if (aligned)
    widen(&config, in->data, out->data);
  else
    config = plain;
  strides_of(&config, &s);
  turn_part(self, (const guint8 *)in->data, (guint8 *)out->data, &s, config.sample_bytes, aligned);
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
      astro_transpose_bytes_init(error) &&
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
