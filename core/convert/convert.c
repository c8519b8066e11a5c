/* The cpu backend: picks kernels and splits the work into tasks. */
#include "config.h"
#include "core/convert/check.h"
#include "core/convert/kernels.h"

#include "core/backend/cpu.h"
#include "core/backend/threads.h"

#include <string.h>

/* A task reads and writes this much: it costs far more than handing it out. */
#define TASK_BYTES ((gsize)1 << 19)

/* Blocks whose output is larger are written past the caches: they would not stay there, and a line
 * that is not read before it is written costs a third of the traffic less. */
#define STREAM_BYTES ((gsize)4 << 20)

typedef struct {
  AstroVariant variant;
  const AstroConvertKernels *kernels;
} Variant;

static const Variant variants[] = {
  { { "avx512", ASTRO_CPU_AVX512 }, &astro_convert_kernels_avx512 },
  { { "avx2", ASTRO_CPU_AVX2 }, &astro_convert_kernels_avx2 },
  { { "c", ASTRO_CPU_C }, &astro_convert_kernels_c },
};

typedef struct {
  AstroConvertConfig config;
  guint threads;
  guint components;           /* of a sample */
  gsize from_bytes, to_bytes; /* of a sample */
  AstroConvertKernel kernel;  /* for multiples of ASTRO_CONVERT_STEP components */
  AstroConvertKernel rest;    /* for any number */
} Convert;

typedef struct {
  const Convert *convert;
  const AstroConvertArguments *arguments;
  const guint8 *in;
  guint8 *out;
  guint64 task_samples;
  gboolean stream;
  guint64 clipped; /* a sum of whole numbers: the order in which tasks end does not matter */
} Work;

/* Samples before the first that lies at a multiple of 64 bytes; FALSE where none does. */
static gboolean samples_to_alignment(const guint8 *out, gsize sample_bytes, guint64 *samples)
{
  gsize bytes = -(guintptr)out & 63;
  *samples = bytes / sample_bytes;
  return bytes % sample_bytes == 0;
}

static void convert_task(gpointer data, guint64 task)
{
  Work *work = data;
  const Convert *convert = work->convert;
  double scale = work->arguments->scale;
  guint64 first = task * work->task_samples, head = 0;
  guint64 samples = MIN(work->task_samples, work->arguments->samples - first);
  const guint8 *in = work->in + first * convert->from_bytes;
  guint8 *out = work->out + first * convert->to_bytes;
  gboolean stream = work->stream && samples_to_alignment(out, convert->to_bytes, &head);

  head = stream ? MIN(head, samples) : 0;
  guint64 clipped = 0, left = samples - head;
  guint64 body = left - left % ASTRO_CONVERT_STEP;
  if (head > 0)
    clipped += convert->rest(out, in, head * convert->components, scale, FALSE);
  in += head * convert->from_bytes;
  out += head * convert->to_bytes;
  if (body > 0)
    clipped += convert->kernel(out, in, body * convert->components, scale, stream);
  in += body * convert->from_bytes;
  out += body * convert->to_bytes;
  if (left > body)
    clipped += convert->rest(out, in, (left - body) * convert->components, scale, FALSE);
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

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gpointer arguments, GError **error)
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
    .stream = call->samples * convert->to_bytes > STREAM_BYTES,
  };
  guint64 n = (call->samples + work.task_samples - 1) / work.task_samples;
  gboolean same = convert->config.from == convert->config.to && call->scale == 1;
  astro_parallel(n, convert->threads, same ? copy_task : convert_task, &work);
  *call->clipped += work.clipped;
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
