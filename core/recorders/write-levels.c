/* From samples to the levels of so many bits. */
#include "config.h"
#include "core/recorders/write-levels.h"

#include "core/backend/cpu.h"
#include "core/lib/formats/kernels.h"

#include <math.h>
#include <string.h>

#define FLOAT_BITS 32
#define CHUNK 16384 /* components that are converted at once */
#define ROW 1024    /* components, at least, that share a loop over gains */

struct _AstroRecordLevels {
  const AstroConvertKernels *kernels;
  AstroStream stream;
  guint bits;
  AstroFormat format;   /* of integers that are kept; ASTRO_FORMAT_UNKNOWN: they are scaled */
  gsize components;     /* of a sample */
  guint64 outer, inner; /* samples before and behind the time axis */
  gboolean is_measured;
  double *squares;  /* for each sample of a step, in the stream's layout */
  guint64 *numbers; /* of components that were added to it */
  float *gains;     /* for each component of `outer` rows of row_samples samples */
  guint64 row_samples;
  float *floats;
};

static const struct {
  guint bits;
  double gain, shift;
} scales[] = { { 1, 1, 0 }, { 2, 1, 0 }, { 4, 2.95, .5 }, { 8, 35.5, .5 }, { 16, 2048, .5 } };

static guint scale_of(guint bits)
{
  guint i = 0;
  while (scales[i].bits != bits)
    i++;
  return i;
}

/* The bits of an integer's component; 0 for other formats. */
static guint bits_of(AstroFormat format)
{
  switch (format) {
  case ASTRO_FORMAT_CI4:
    return 4;
  case ASTRO_FORMAT_CI8:
  case ASTRO_FORMAT_I8:
    return 8;
  case ASTRO_FORMAT_CI16LE:
  case ASTRO_FORMAT_I16LE:
    return 16;
  default:
    return 0;
  }
}

static AstroFormat integer_of(gboolean is_complex, gsize bytes)
{
  if (bytes == 1)
    return is_complex ? ASTRO_FORMAT_CI8 : ASTRO_FORMAT_I8;
  return is_complex ? ASTRO_FORMAT_CI16LE : ASTRO_FORMAT_I16LE;
}

static AstroFormat float_of(gboolean is_complex)
{
  return is_complex ? ASTRO_FORMAT_CF32LE : ASTRO_FORMAT_F32LE;
}

typedef struct {
  AstroVariant variant;
  const AstroConvertKernels *kernels;
} Variant;

static const Variant variants[] = {
#ifdef ASTRO_X86_KERNELS
  { { "avx512", ASTRO_CPU_AVX512 }, &astro_convert_kernels_avx512 },
  { { "avx2", ASTRO_CPU_AVX2 }, &astro_convert_kernels_avx2 },
#endif
  { { "c", ASTRO_CPU_C }, &astro_convert_kernels_c },
};

/* Converts n components; vectors take whole steps of samples. */
static void convert(const AstroRecordLevels *l, AstroFormat to, gpointer out, gconstpointer in,
                    gsize n)
{
  const AstroFormat from = l->stream.format;
  const AstroConvertKernel fast = (*l->kernels)[from][to];
  const gsize step = ASTRO_CONVERT_STEP * l->components, body = fast ? n - n % step : 0;
  if (body > 0)
    fast(out, in, body, 1);
  if (n > body)
    astro_convert_kernels_c[from][to](
        (guint8 *)out + body / l->components * astro_format_info(to)->bytes,
        (const guint8 *)in + body / l->components * astro_stream_sample_bytes(&l->stream), n - body,
        1);
}

gsize astro_record_levels_bytes(const AstroRecordLevels *l)
{
  return l->bits > 16 ? 4 : l->bits > 8 ? 2 : 1;
}

gboolean astro_record_levels_copy(const AstroRecordLevels *l)
{
  return l->format == l->stream.format;
}

gboolean astro_record_levels_wait(const AstroRecordLevels *l)
{
  return l->format == ASTRO_FORMAT_UNKNOWN && !l->is_measured;
}

/* A gain for each component of the rows, from one for each sample of a step. Where time is the
 * fastest axis, a row is of one sample; else rows of several steps are long enough to be vectors.
 */
static void set_gains(AstroRecordLevels *l, const double *rms)
{
  const double gain = scales[scale_of(l->bits)].gain;
  float *to = l->gains;
  for (guint64 o = 0; o < l->outer; o++)
    for (guint64 i = 0; i < l->row_samples; i++) {
      const double one = rms[o * l->inner + i % l->inner];
      for (gsize c = 0; c < l->components; c++)
        *to++ = one > 0 ? (float)(gain / one) : 1;
    }
  l->is_measured = TRUE;
}

AstroRecordLevels *astro_record_levels_new(const AstroStream *stream, guint bits, double rms)
{
  AstroRecordLevels *l = g_new0(AstroRecordLevels, 1);
  const gint time = astro_layout_find(&stream->layout, ASTRO_AXIS_TIME);
  const gboolean is_complex = astro_format_info(stream->format)->is_complex;
  const guint has = bits_of(stream->format);
  l->kernels = ((const Variant *)ASTRO_VARIANT_PICK(variants))->kernels;
  l->stream = *stream;
  l->bits = bits;
  l->components = is_complex ? 2 : 1;
  l->outer = l->inner = 1;
  for (guint i = 0; i < stream->layout.n_axes; i++)
    if ((gint)i != time)
      *((gint)i < time ? &l->outer : &l->inner) *= stream->layout.extents[i];
  if (has && has <= bits) {
    l->format = integer_of(is_complex, astro_record_levels_bytes(l));
    return l;
  }
  if (bits == FLOAT_BITS) {
    l->format = stream->format;
    return l;
  }
  const guint64 samples = l->outer * l->inner;
  l->row_samples = l->inner * ((ROW + l->inner * l->components - 1) / (l->inner * l->components));
  l->squares = g_new0(double, samples);
  l->numbers = g_new0(guint64, samples);
  l->gains = g_new0(float, l->outer * l->row_samples * l->components);
  l->floats = g_new0(float, CHUNK);
  if (rms > 0) {
    for (guint64 i = 0; i < samples; i++)
      l->squares[i] = rms;
    set_gains(l, l->squares);
  }
  return l;
}

void astro_record_levels_free(AstroRecordLevels *l)
{
  g_free(l->squares);
  g_free(l->numbers);
  g_free(l->gains);
  g_free(l->floats);
  g_free(l);
}

/* Up to CHUNK components of the stream as floats, from a sample on. */
static const float *floats_at(AstroRecordLevels *l, gconstpointer samples, guint64 sample, gsize n)
{
  const guint8 *from = (const guint8 *)samples + sample * astro_stream_sample_bytes(&l->stream);
  const AstroFormat to = float_of(l->components == 2);
  if (to == l->stream.format)
    return (const float *)from;
  convert(l, to, l->floats, from, n);
  return l->floats;
}

void astro_record_levels_measure(AstroRecordLevels *l, gconstpointer samples, const guint8 *good,
                                 guint64 steps, guint64 from, guint64 used)
{
  const guint64 most = CHUNK / l->components;
  for (guint64 o = 0; o < l->outer; o++)
    for (guint64 at = from * l->inner, end = at + used * l->inner; at < end;) {
      const guint64 n = MIN(most, end - at), first = o * steps * l->inner + at;
      const float *values = floats_at(l, samples, first, n * l->components);
      for (guint64 i = 0; i < n; i++) {
        const guint64 of = o * l->inner + (at + i) % l->inner;
        double square = 0;
        for (gsize c = 0; c < l->components; c++)
          square += (double)values[i * l->components + c] * values[i * l->components + c];
        if ((good && !good[first + i]) || !isfinite(square))
          continue;
        l->squares[of] += square;
        l->numbers[of] += l->components;
      }
      at += n;
    }
}

/* Adds up over the channels of each station and polarisation. */
static void pool_channels(AstroRecordLevels *l)
{
  AstroLayout shape = l->stream.layout;
  guint64 strides[ASTRO_MAX_AXES];
  const gint time = astro_layout_find(&shape, ASTRO_AXIS_TIME);
  if (time >= 0)
    shape.extents[time] = 1;
  astro_layout_strides(&shape, strides);
  const guint64 step = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_CHANNEL);
  const guint64 channels = astro_stream_extent(&l->stream, ASTRO_AXIS_CHANNEL);
  for (guint64 i = 0; step && i < l->outer * l->inner; i++) {
    if (i / step % channels)
      continue;
    for (guint64 c = 1; c < channels; c++) {
      l->squares[i] += l->squares[i + c * step];
      l->numbers[i] += l->numbers[i + c * step];
    }
    for (guint64 c = 1; c < channels; c++) {
      l->squares[i + c * step] = l->squares[i];
      l->numbers[i + c * step] = l->numbers[i];
    }
  }
}

void astro_record_levels_learn(AstroRecordLevels *l)
{
  if (l->bits >= 8)
    pool_channels(l);
  for (guint64 i = 0; i < l->outer * l->inner; i++)
    l->squares[i] = l->numbers[i] ? sqrt(l->squares[i] / (double)l->numbers[i]) : 0;
  set_gains(l, l->squares);
}

/* Vectors at any place in memory. */
#define LANES 4
#define AT_ONCE 64
typedef float Floats __attribute__((vector_size(4 * LANES), may_alias, aligned(4)));
typedef gint32 Wholes __attribute__((vector_size(4 * LANES), may_alias, aligned(4)));

static inline Floats choose(Wholes which, Floats a, Floats b)
{
  return (Floats)((which & (Wholes)a) | (~which & (Wholes)b));
}

/* Makes the levels of AT_ONCE components. Adding half the number of levels makes every value
 * positive, so that cutting off the fraction is the floor. A NaN becomes the middle. */
static void make_some(gint32 *out, const float *in, const float *gains, float shift, float half,
                      Wholes *clipped, Wholes *nans)
{
  const Floats zeros = { 0 }, middle = zeros + half, end = zeros + 2 * half, most = end - 1;
  for (gsize i = 0; i < AT_ONCE; i += LANES) {
    const Floats value = *(const Floats *)(in + i) * *(const Floats *)(gains + i) + shift + half;
    const Wholes is_nan = value != value;
    const Floats low = choose(value >= zeros, value, choose(is_nan, middle, zeros));
    const Floats held = choose(low < most, low, most);
    *clipped -= (value < zeros) | (value >= end); /* a mask is -1 */
    *nans -= is_nan;
    *(Wholes *)(out + i) = __builtin_convertvector(held, Wholes) - (gint32)half;
  }
}

static void to_bytes(gint8 *restrict out, const gint32 *restrict levels)
{
  for (gsize i = 0; i < AT_ONCE; i++)
    out[i] = (gint8)levels[i];
}

static void to_words(gint16 *restrict out, const gint32 *restrict levels)
{
  for (gsize i = 0; i < AT_ONCE; i++)
    out[i] = (gint16)levels[i];
}

/* The levels of n components, of 1 or 2 bytes. */
static void make_levels(guint8 *out, gsize bytes, const float *in, const float *gains, gsize n,
                        float shift, float half, AstroRecordMisfits *misfits)
{
  Wholes clipped = { 0 }, nans = { 0 };
  float last_in[AT_ONCE] = { 0 }, last_gains[AT_ONCE] = { 0 };
  gint32 levels[AT_ONCE];
  gint16 made[AT_ONCE]; /* room for bytes too */
  for (gsize i = 0; i < n; i += AT_ONCE) {
    const gsize some = MIN(n - i, AT_ONCE);
    const gboolean is_last = some < AT_ONCE;
    if (is_last) {
      memcpy(last_in, in + i, some * sizeof *in);
      memcpy(last_gains, gains + i, some * sizeof *gains);
    }
    make_some(levels, is_last ? last_in : in + i, is_last ? last_gains : gains + i, shift, half,
              &clipped, &nans);
    if (bytes == 1)
      to_bytes((gint8 *)made, levels);
    else
      to_words(made, levels);
    memcpy(out + i * bytes, made, some * bytes);
  }
  for (guint i = 0; i < LANES; i++) {
    misfits->clipped += (guint64)clipped[i];
    misfits->nans += (guint64)nans[i];
  }
}

static void scale(AstroRecordLevels *l, guint8 *out, gconstpointer samples, guint64 steps,
                  AstroRecordMisfits *misfits)
{
  const float shift = (float)scales[scale_of(l->bits)].shift;
  const float half = (float)(1u << (l->bits - 1));
  const gsize bytes = astro_record_levels_bytes(l);
  const guint64 most = MIN(l->row_samples, CHUNK / l->components);
  AstroRecordMisfits found = { 0 };
  for (guint64 o = 0; o < l->outer; o++)
    for (guint64 at = 0; at < steps * l->inner;) {
      const guint64 into = at % l->row_samples;
      const guint64 n = MIN(MIN(most, l->row_samples - into), steps * l->inner - at);
      const guint64 first = o * steps * l->inner + at;
      const float *in = floats_at(l, samples, first, n * l->components);
      const float *gains = l->gains + (o * l->row_samples + into) * l->components;
      guint8 *to = out + first * l->components * bytes;
      make_levels(to, bytes, in, gains, n * l->components, shift, half, &found);
      at += n;
    }
  misfits->clipped += l->bits >= 8 ? found.clipped : 0;
  misfits->nans += found.nans;
}

void astro_record_levels_make(AstroRecordLevels *l, gpointer out, gconstpointer samples,
                              guint64 steps, AstroRecordMisfits *misfits)
{
  if (l->format == ASTRO_FORMAT_UNKNOWN) {
    scale(l, out, samples, steps, misfits);
    return;
  }
  const guint64 components = l->outer * l->inner * steps * l->components;
  for (guint64 at = 0; at < components; at += CHUNK)
    convert(l, l->format, (guint8 *)out + at * astro_record_levels_bytes(l),
            (const guint8 *)samples + at * astro_stream_sample_bytes(&l->stream) / l->components,
            MIN(CHUNK, components - at));
}
