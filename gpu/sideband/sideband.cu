/* Sideband on the GPU: the arithmetic of core/sideband/sideband.h on words of 32 bits, with
 * instructions that negate all components in a word. */
#include "gpu/runtime/cuda.h"

extern "C" {
#include "core/sideband/check.h"
}

enum { THREADS = 256, WORDS = 4 /* in a group */ };
#define MOST_BLOCKS 65535u /* with more work than that, threads loop */

typedef struct {
  AstroSidebandConfig config;
  AstroPlace place;
} Sideband;

/* ---- words ---- */

enum Kind { NIBBLES, BYTES, SHORTS, INTS, HALVES, FLOATS, DOUBLES };

/* Negates every component; of a double, this is done in its high word. */
template <Kind KIND> __device__ inline guint32 negative(guint32 word)
{
  if constexpr (KIND == NIBBLES) {
    const guint32 low = word & 0x0f0f0f0f, has_one = __vcmpne4(low, 0x08080808) & 0x01010101;
    return (word & 0xf0f0f0f0) | (((low ^ 0x0f0f0f0f) + has_one) & 0x0f0f0f0f);
  }
  if constexpr (KIND == BYTES)
    return __vnegss4(word);
  if constexpr (KIND == SHORTS)
    return __vnegss2(word);
  if constexpr (KIND == INTS)
    return word == 0x80000000 ? 0x7fffffff : 0u - word;
  return word ^ (KIND == HALVES ? 0x80008000 : 0x80000000);
}

/* Mask of the imaginary parts in a word of a group or sample. It may include bits that negative()
 * leaves unchanged. */
template <Kind KIND> __device__ inline guint32 imaginary(int word)
{
  if constexpr (KIND == NIBBLES)
    return ~0u;
  if constexpr (KIND == BYTES)
    return 0xff00ff00;
  if constexpr (KIND == SHORTS || KIND == HALVES)
    return 0xffff0000;
  return (KIND == DOUBLES ? word % 4 == 3 : word % 2 == 1) ? ~0u : 0;
}

template <Kind KIND> constexpr int component_bytes()
{
  return KIND == NIBBLES || KIND == BYTES   ? 1
         : KIND == SHORTS || KIND == HALVES ? 2
         : KIND == DOUBLES                  ? 8
                                            : 4;
}

template <Kind KIND> __device__ inline guint32 changed(guint32 word, guint32 mask)
{
  return word ^ ((word ^ negative<KIND>(word)) & mask);
}

/* ---- kernels ---- */

struct Job {
  const guint8 *in;
  guint8 *out;
  AstroSidebandSpan span;
  guint64 first; /* first sample or group */
  guint64 end;
  guint32 odd; /* whether the number of the first time step is odd */
};

/* Flips groups of voltages, whose order does not change. */
template <Kind KIND, bool COMPLEX>
__global__ void __launch_bounds__(THREADS) turn_groups(const Job job)
{
  constexpr int N = WORDS * 4 / component_bytes<KIND>();
  for (guint64 g = blockIdx.x * (guint64)THREADS + threadIdx.x; g < job.end;
       g += (guint64)gridDim.x * THREADS) {
    uint4 group = ((const uint4 *)job.in)[g];
    guint32 *words = &group.x, masks[WORDS] = { 0 };
    if constexpr (COMPLEX) {
#pragma unroll
      for (int w = 0; w < WORDS; w++)
        masks[w] = imaginary<KIND>(w);
    } else {
      guint64 rest = g * N % job.span.inner, step = g * N / job.span.inner % job.span.extent;
#pragma unroll
      for (int c = 0; c < N; c++) {
        constexpr int BITS = component_bytes<KIND>() * 8;
        const guint32 all = BITS >= 32 ? ~0u : (1u << BITS % 32) - 1;
        const int word = BITS == 64 ? 2 * c + 1 : c * BITS / 32;
        if ((step + job.odd) % 2)
          masks[word] |= all << (BITS >= 32 ? 0 : c * BITS % 32);
        if (++rest == job.span.inner) {
          rest = 0;
          step = step + 1 == job.span.extent ? 0 : step + 1;
        }
      }
    }
#pragma unroll
    for (int w = 0; w < WORDS; w++)
      words[w] = changed<KIND>(words[w], masks[w]);
    ((uint4 *)job.out)[g] = group;
  }
}

template <int BYTES> struct alignas(BYTES) Sample {
  guint8 bytes[BYTES];
};

/* Flips samples one by one: spectra, each taken from its mirrored channel, and voltages that are
 * left over from groups. */
template <Kind KIND, bool COMPLEX, bool SPECTRA>
__global__ void __launch_bounds__(THREADS) turn_samples(const Job job)
{
  constexpr int SIZE = component_bytes<KIND>() * (COMPLEX && KIND != NIBBLES ? 2 : 1);
  const guint64 extent = job.span.extent, inner = job.span.inner;
  guint64 to = job.first + blockIdx.x * (guint64)THREADS + threadIdx.x;

  for (; to < job.end; to += (guint64)gridDim.x * THREADS) {
    const guint64 k = COMPLEX && !SPECTRA ? 0 : to / inner % extent;
    const guint64 from = SPECTRA ? to - k * inner + (extent - 1 - k) * inner : to;
    union {
      Sample<SIZE> sample;
      guint32 words[(SIZE + 3) / 4];
    } value;
    value.words[0] = 0;
    value.sample = ((const Sample<SIZE> *)job.in)[from];
#pragma unroll
    for (int w = 0; w < (SIZE + 3) / 4; w++) {
      const guint32 whole = KIND == DOUBLES && w == 0 ? 0 : ~0u;
      const guint32 mask = COMPLEX ? imaginary<KIND>(w) : (k + job.odd) % 2 ? whole : 0;
      value.words[w] = changed<KIND>(value.words[w], mask);
    }
    ((Sample<SIZE> *)job.out)[to] = value.sample;
  }
}

static guint blocks_for(guint64 n)
{
  return (guint)MIN((n + THREADS - 1) / THREADS, MOST_BLOCKS);
}

/* job.end: number of all samples. */
template <Kind KIND, bool COMPLEX>
static void turn(Job job, gboolean is_spectra, cudaStream_t stream)
{
  constexpr int SIZE = component_bytes<KIND>() * (COMPLEX && KIND != NIBBLES ? 2 : 1),
                OF_GROUP = WORDS * 4 / SIZE;
  const gboolean aligned = ((guintptr)job.in | (guintptr)job.out) % (WORDS * 4) == 0;
  const guint64 samples = job.end;

  if constexpr (COMPLEX)
    if (is_spectra) {
      turn_samples<KIND, COMPLEX, true><<<blocks_for(samples), THREADS, 0, stream>>>(job);
      return;
    }
  job.end = aligned ? samples / OF_GROUP : 0;
  if (job.end)
    turn_groups<KIND, COMPLEX><<<blocks_for(job.end), THREADS, 0, stream>>>(job);
  job.first = job.end * OF_GROUP;
  job.end = samples;
  if (job.first < job.end)
    turn_samples<KIND, COMPLEX, false>
        <<<blocks_for(job.end - job.first), THREADS, 0, stream>>>(job);
}

typedef void (*Turn)(Job job, gboolean is_spectra, cudaStream_t stream);

static Turn turn_of(AstroFormat format)
{
  switch (format) {
  case ASTRO_FORMAT_CI4:
    return turn<NIBBLES, true>;
  case ASTRO_FORMAT_CI8:
    return turn<BYTES, true>;
  case ASTRO_FORMAT_CI16LE:
    return turn<SHORTS, true>;
  case ASTRO_FORMAT_CI32LE:
    return turn<INTS, true>;
  case ASTRO_FORMAT_CF16LE:
    return turn<HALVES, true>;
  case ASTRO_FORMAT_CF32LE:
    return turn<FLOATS, true>;
  case ASTRO_FORMAT_CF64LE:
    return turn<DOUBLES, true>;
  case ASTRO_FORMAT_I8:
    return turn<BYTES, false>;
  case ASTRO_FORMAT_I16LE:
    return turn<SHORTS, false>;
  case ASTRO_FORMAT_F32LE:
    return turn<FLOATS, false>;
  default:
    return turn<DOUBLES, false>;
  }
}

/* ---- the backend ---- */

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_sideband_shape(config, error) || !astro_cuda_enter(place->device, error))
    return NULL;
  Sideband *self = g_new0(Sideband, 1);
  self->config = *(const AstroSidebandConfig *)config;
  self->place = *place;
  *variant = "vector";
  return self;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  Sideband *self = (Sideband *)instance;
  const AstroStream *stream = &self->config.stream;
  const AstroSidebandArguments *arguments = (const AstroSidebandArguments *)data;

  if (!astro_sideband_check(&self->config, in, n_in, out, n_out, arguments, error) ||
      !astro_cuda_enter(self->place.device, error))
    return FALSE;
  if (arguments->steps == 0)
    return TRUE;
  Job job = { (const guint8 *)in->data, (guint8 *)out->data,
              astro_sideband_span(stream, arguments->steps) };
  job.end = job.span.outer * job.span.extent * job.span.inner;
  job.odd = (guint32)(arguments->first % 2);
  turn_of(stream->format)(job, stream->quantity == ASTRO_QUANTITY_SPECTRA,
                          astro_cuda_stream(self->place.queue));
  return CUDA_TRY(cudaGetLastError());
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  return astro_cuda_drain(&((Sideband *)instance)->place, error);
}

const AstroBackend astro_cuda_sideband = {
  .stage = "sideband",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroSidebandConfig),
  .shape = astro_sideband_shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = g_free,
};
