/* The cpu backend: picks kernels and splits blocks into tasks. */
#include "config.h"
#include "core/convert/check.h"
#include "core/lib/formats/kernels.h"

#include "core/backend/cpu.h"
#include "core/backend/threads.h"

#include <string.h>

/* A task reads and writes this many bytes: enough that handing it out costs little beside it. */
#define TASK_BYTES ((gsize)1 << 19)

/* A larger output is written past the caches. It would not stay in them, and lines that need not be
 * read before they are written save a third of the traffic. That takes whole lines at once, so
 * kernels write to a piece that stays in the first cache and is copied from there. */
#define STREAM_BYTES ((gsize)4 << 20)
#define PIECE_BYTES 2048

typedef struct {
  AstroVariant variant;
  const AstroConvertKernels *kernels;
  AstroConvertCopy copy; /* NULL if this variant cannot write past the caches */
} Variant;

static const Variant variants[] = {
#ifdef ASTRO_X86_KERNELS
  { { "avx512", ASTRO_CPU_AVX512 }, &astro_convert_kernels_avx512, astro_convert_copy_avx512 },
  { { "avx2", ASTRO_CPU_AVX2 }, &astro_convert_kernels_avx2, astro_convert_copy_avx2 },
#endif
  { { "c", ASTRO_CPU_C }, &astro_convert_kernels_c },
};

typedef struct {
  AstroConvertConfig config;
  guint threads;
  guint components;           /* of a sample */
  gsize from_bytes, to_bytes; /* of a sample */
  AstroConvertKernel kernel;  /* for multiples of ASTRO_CONVERT_STEP samples */
  AstroConvertKernel rest;    /* for any number */
  AstroConvertCopy copy;
} Convert;

typedef struct {
  const Convert *convert;
  const AstroConvertArguments *arguments;
  const guint8 *in;
  guint8 *out;
  guint64 task_samples;
  gboolean stream;
  guint64 clipped; /* an integer, so the order in which tasks end does not matter */
} Work;

static guint64 convert_samples(const Convert *convert, gpointer out, gconstpointer in,
                               guint64 samples, double scale)
{
  guint64 body = samples - samples % ASTRO_CONVERT_STEP, clipped = 0;
  if (body > 0)
    clipped += convert->kernel(out, in, body * convert->components, scale);
  if (samples > body)
    clipped += convert->rest((guint8 *)out + body * convert->to_bytes,
                             (const guint8 *)in + body * convert->from_bytes,
                             (samples - body) * convert->components, scale);
  return clipped;
}

/* The samples before the first multiple of 64 bytes are written directly. */
static guint64 convert_past_caches(const Convert *convert, gpointer out_start,
                                   gconstpointer in_start, guint64 samples, double scale)
{
  guint8 *out = out_start;
  const guint8 *in = in_start;
  guint8 piece[PIECE_BYTES] __attribute__((aligned(64)));
  guint64 n = MIN((-(guintptr)out & 63) / convert->to_bytes, samples);
  guint64 clipped = convert_samples(convert, out, in, n, scale);
  for (guint64 i = n; i < samples; i += n) {
    n = MIN(PIECE_BYTES / convert->to_bytes, samples - i);
    clipped += convert_samples(convert, piece, in + i * convert->from_bytes, n, scale);
    convert->copy(out + i * convert->to_bytes, piece, n * convert->to_bytes);
  }
  astro_convert_copy_end();
  return clipped;
}

static void convert_task(gpointer data, guint64 task)
{
  Work *work = data;
  const Convert *convert = work->convert;
  guint64 first = task * work->task_samples;
  guint64 samples = MIN(work->task_samples, work->arguments->samples - first);
  guint64 clipped = (work->stream ? convert_past_caches : convert_samples)(
      convert, work->out + first * convert->to_bytes, work->in + first * convert->from_bytes,
      samples, work->arguments->scale);
  if (clipped > 0)
    __atomic_fetch_add(&work->clipped, clipped, __ATOMIC_RELAXED);
}

static void copy_task(gpointer data, guint64 task)
{
  Work *work = data;
  gsize bytes = work->convert->from_bytes;
  guint64 first = task * work->task_samples;
  guint64 samples = MIN(work->task_samples, work->arguments->samples - first);
  memcpy(work->out + first * bytes, work->in + first * bytes, samples * bytes);
}

/* Some sample must begin at a multiple of 64 bytes. */
static gboolean can_stream(const Convert *convert, gconstpointer out, guint64 samples)
{
  return convert->copy && samples * convert->to_bytes > STREAM_BYTES &&
         (-(guintptr)out & 63) % convert->to_bytes == 0;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  const Convert *convert = instance;
  const AstroConvertArguments *call = arguments;
  if (!astro_convert_check(&convert->config, in, n_in, out, n_out, call, error))
    return FALSE;
  guint64 task_samples = TASK_BYTES / (convert->from_bytes + convert->to_bytes);
  Work work = {
    .convert = convert,
    .arguments = call,
    .in = in->data,
    .out = out->data,
    .task_samples = task_samples - task_samples % ASTRO_CONVERT_STEP,
    .stream = can_stream(convert, out->data, call->samples),
  };
  guint64 n = (call->samples + work.task_samples - 1) / work.task_samples;
  gboolean same = convert->config.from == convert->config.to && call->scale == 1;
  astro_parallel(n, convert->threads, same ? copy_task : convert_task, &work);
  if (result)
    result->clipped += work.clipped;
  return TRUE;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  const AstroConvertConfig *pair = config;
  if (!astro_convert_shape(pair, error))
    return NULL;
  const AstroFormatInfo *from = astro_format_info(pair->from), *to = astro_format_info(pair->to);
  Convert *convert = g_new0(Convert, 1);
  *convert = (Convert){
    .config = *pair,
    .threads = place->threads,
    .components = from->is_complex ? 2 : 1,
    .from_bytes = from->bytes,
    .to_bytes = to->bytes,
    .rest = astro_convert_kernels_c[pair->from][pair->to],
  };
  const Variant *pick = ASTRO_VARIANT_PICK(variants);
  while (!(*pick->kernels)[pair->from][pair->to])
    pick++;
  convert->kernel = (*pick->kernels)[pair->from][pair->to];
  convert->copy = pick->copy;
  *variant = pick->variant.name;
  return convert;
}

const AstroBackend astro_convert_cpu = {
  .stage = "convert",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroConvertConfig),
  .shape = astro_convert_shape,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};

const AstroBackend *const astro_convert_backends[] = { &astro_convert_cpu, &astro_convert_reference,
                                                       NULL };
