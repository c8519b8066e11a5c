/* Convert on the GPU, with the arithmetic of core/convert/convert.h to the bit. Moving bytes takes
 * all the time, so each thread converts a group of components whose larger side has 16 bytes. */
#include "gpu/runtime/clipped.h"
#include "gpu/convert/convert.h"
#include "gpu/runtime/samples.h"

extern "C" {
#include "core/convert/check.h"
}

typedef struct {
  AstroConvertConfig config;
  AstroPlace place;
  AstroCudaClipped clipped;
  gint multiprocessors;
} Convert;

/* ---- formats: how a component is read and written; a Type holds one, or two for CI4 ---- */

template <AstroFormat F> struct Format;
template <> struct Format<ASTRO_FORMAT_CI4> {
  using Type = guint8;
};
template <> struct Format<ASTRO_FORMAT_CI8> {
  using Type = gint8;
};
template <> struct Format<ASTRO_FORMAT_CI16LE> {
  using Type = gint16;
};
template <> struct Format<ASTRO_FORMAT_CF16LE> {
  using Type = __half;
};
template <> struct Format<ASTRO_FORMAT_CF32LE> {
  using Type = float;
};
template <> struct Format<ASTRO_FORMAT_CF64LE> {
  using Type = double;
};
template <> struct Format<ASTRO_FORMAT_CI32LE> {
  using Type = gint32;
};
template <> struct Format<ASTRO_FORMAT_F32LE> {
  using Type = float;
};
template <> struct Format<ASTRO_FORMAT_F64LE> {
  using Type = double;
};
template <> struct Format<ASTRO_FORMAT_U64LE> {
  using Type = guint64;
};
template <> struct Format<ASTRO_FORMAT_I8> {
  using Type = gint8;
};
template <> struct Format<ASTRO_FORMAT_I16LE> {
  using Type = gint16;
};

template <AstroFormat F> constexpr bool fits_single()
{
  return F == ASTRO_FORMAT_CI4 || F == ASTRO_FORMAT_CI8 || F == ASTRO_FORMAT_CI16LE ||
         F == ASTRO_FORMAT_CF16LE || F == ASTRO_FORMAT_CF32LE || F == ASTRO_FORMAT_F32LE ||
         F == ASTRO_FORMAT_I8 || F == ASTRO_FORMAT_I16LE;
}

/* How many bytes that many components have. */
template <AstroFormat F> constexpr int bytes_of(int components)
{
  return F == ASTRO_FORMAT_CI4 ? components / 2
                               : components * (int)sizeof(typename Format<F>::Type);
}

/* ---- the arithmetic ---- */

template <int BYTES> struct alignas(BYTES) Group {
  guint8 bytes[BYTES];
};

template <AstroFormat FROM, AstroFormat TO, int N> struct Components {
  using In = Group<bytes_of<FROM>(N)>;
  using Out = Group<bytes_of<TO>(N)>;
  static constexpr bool STREAMS = sizeof(Out) == 16 && sizeof(In) < sizeof(Out);
  static constexpr bool COUNTS =
      !std::is_floating_point<typename Format<TO>::Type>::value; /* halves do */
  double scale;

  __device__ Out operator()(const In &in, int *clipped) const
  {
    using Real = std::conditional_t<fits_single<FROM>() && fits_single<TO>(), float, double>;
    const typename Format<FROM>::Type *from = (const typename Format<FROM>::Type *)in.bytes;
    Out out;
    typename Format<TO>::Type *to = (typename Format<TO>::Type *)out.bytes;

#pragma unroll
    for (int i = 0; i < N; i++) {
      Real value;
      if constexpr (FROM == ASTRO_FORMAT_CI4)
        value = nibble_of(from[i / 2], i);
      else if constexpr (sizeof(Real) == 4)
        value = single_of(from[i]);
      else
        value = double_of(from[i]);
      Real product = value * (Real)scale;
      if constexpr (TO == ASTRO_FORMAT_CI4) {
        int nibble = hold<Real>(product, -8, 7, clipped) & 15;
        to[i / 2] = i % 2 ? (guint8)(to[i / 2] | nibble) : (guint8)(nibble << 4);
      } else {
        write_one<Real>(&to[i], value, product, clipped);
      }
    }
    return out;
  }
};

/* Converts groups that are as large as possible, then the rest sample by sample. All of a block is
 * rest if it does not lie at a multiple of its groups. */
template <AstroFormat FROM, AstroFormat TO>
static void convert(const Convert *self, const guint8 *in, guint8 *out, guint64 components,
                    double scale)
{
  constexpr int WIDEST =
      MAX((int)sizeof(typename Format<FROM>::Type), (int)sizeof(typename Format<TO>::Type));
  constexpr int MOST = 16 / WIDEST, ONE = FROM >= ASTRO_FORMAT_F32LE ? 1 : 2;
  constexpr int N = MAX(MOST, ONE);
  bool aligned = (guintptr)in % bytes_of<FROM>(N) == 0 && (guintptr)out % bytes_of<TO>(N) == 0;
  guint64 groups = aligned ? components / N : 0, done = groups * N;
  cudaStream_t stream = astro_cuda_stream(self->place.queue);

  AstroConvertWork work = { in, out, groups, self->clipped.counter, self->multiprocessors };
  if constexpr (((FROM == ASTRO_FORMAT_CI4 || FROM == ASTRO_FORMAT_CI8) &&
                 TO == ASTRO_FORMAT_CI8) ||
                (FROM == ASTRO_FORMAT_I8 && TO == ASTRO_FORMAT_I8)) {
    if (!isfinite((float)scale))
      work.groups = done = 0;
    (FROM == ASTRO_FORMAT_CI4 ? astro_convert_nibbles : astro_convert_bytes)(&work, (float)scale,
                                                                             stream);
  } else {
    convert_launch(Components<FROM, TO, N>{ scale }, &work, stream);
  }
  work.in += done / ONE * bytes_of<FROM>(ONE);
  work.out += done / ONE * bytes_of<TO>(ONE);
  work.groups = (components - done) / ONE;
  convert_launch(Components<FROM, TO, ONE>{ scale }, &work, stream);
}

typedef void (*ConvertFunc)(const Convert *self, const guint8 *in, guint8 *out, guint64 components,
                            double scale);

#define ROW(from)                                                                                  \
  {                                                                                                \
    NULL, convert<from, ASTRO_FORMAT_CI4>, convert<from, ASTRO_FORMAT_CI8>,                        \
        convert<from, ASTRO_FORMAT_CI16LE>, convert<from, ASTRO_FORMAT_CF16LE>,                    \
        convert<from, ASTRO_FORMAT_CF32LE>, convert<from, ASTRO_FORMAT_CF64LE>,                    \
        convert<from, ASTRO_FORMAT_CI32LE>, NULL, NULL, NULL, NULL, NULL                           \
  }
#define REAL_ROW(from)                                                                             \
  {                                                                                                \
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, convert<from, ASTRO_FORMAT_F32LE>,             \
        convert<from, ASTRO_FORMAT_F64LE>, convert<from, ASTRO_FORMAT_U64LE>,                      \
        convert<from, ASTRO_FORMAT_I8>, convert<from, ASTRO_FORMAT_I16LE>                          \
  }

/* In the order of AstroFormat. */
static const ConvertFunc conversions[ASTRO_N_FORMATS][ASTRO_N_FORMATS] = {
  { NULL },
  ROW(ASTRO_FORMAT_CI4),
  ROW(ASTRO_FORMAT_CI8),
  ROW(ASTRO_FORMAT_CI16LE),
  ROW(ASTRO_FORMAT_CF16LE),
  ROW(ASTRO_FORMAT_CF32LE),
  ROW(ASTRO_FORMAT_CF64LE),
  ROW(ASTRO_FORMAT_CI32LE),
  REAL_ROW(ASTRO_FORMAT_F32LE),
  REAL_ROW(ASTRO_FORMAT_F64LE),
  REAL_ROW(ASTRO_FORMAT_U64LE),
  REAL_ROW(ASTRO_FORMAT_I8),
  REAL_ROW(ASTRO_FORMAT_I16LE),
};

/* ---- the backend ---- */

static void destroy(gpointer instance)
{
  Convert *self = (Convert *)instance;
  astro_cuda_free(&self->place, &self->clipped.counter);
  g_free(self);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Convert *self = g_new0(Convert, 1);
  self->config = *(const AstroConvertConfig *)config;
  self->place = *place;
  if (!astro_convert_shape(config, error) || !astro_cuda_enter(place->device, error) ||
      !CUDA_TRY(cudaDeviceGetAttribute(&self->multiprocessors, cudaDevAttrMultiProcessorCount,
                                       place->device->index)) ||
      !astro_cuda_clipped_init(&self->clipped, place, error)) {
    destroy(self);
    return NULL;
  }
  *variant = "vector";
  return self;
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  Convert *self = (Convert *)instance;
  return astro_cuda_clipped_drain(&self->clipped, &self->place, result, error);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  Convert *self = (Convert *)instance;
  const AstroConvertArguments *work = (const AstroConvertArguments *)arguments;
  const AstroConvertConfig *config = &self->config;

  if (!astro_convert_check(config, in, n_in, out, n_out, work, error) ||
      !astro_cuda_enter(self->place.device, error))
    return FALSE;
  const AstroFormatInfo *info = astro_format_info(config->from);
  if (config->from == config->to && work->scale == 1)
    return CUDA_TRY(cudaMemcpyAsync(out->data, in->data, work->samples * info->bytes,
                                    cudaMemcpyDeviceToDevice,
                                    astro_cuda_stream(self->place.queue)));
  conversions[config->from][config->to](self, (const guint8 *)in->data, (guint8 *)out->data,
                                        work->samples * (info->is_complex ? 2 : 1), work->scale);
  return CUDA_TRY(cudaGetLastError());
}

const AstroBackend astro_cuda_convert = {
  .stage = "convert",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroConvertConfig),
  .shape = astro_convert_shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
};
