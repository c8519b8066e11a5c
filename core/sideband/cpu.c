/* The CPU backend: rows of samples are copied, and signs changed by masks. */
#include "config.h"
#include "core/sideband/check.h"
#include "core/sideband/signs.h"

#include "core/backend/instance.h"
#include "core/backend/threads.h"

#include <string.h>

/* How much a task reads and writes: enough that the cost of handing it out does not matter. */
#define TASK_BYTES ((gsize)1 << 18)
/* Masks are repeated until there are at least this many, so that few incomplete vectors remain at
 * their end. */
#define MASKS 4096

typedef struct {
  AstroSidebandConfig config;
  guint threads;
  guint component_bytes, sample_bytes;
  gsize components; /* per sample */
  AstroSidebandSigns signs;
  guint8 *masks;
  gsize n_masks; /* a whole number of periods */
  gsize period;  /* of the pattern of signs, in components */
  gsize step;    /* components per time step of real voltages; else 0 */
} Sideband;

typedef struct {
  const Sideband *sideband;
  const guint8 *in;
  guint8 *out;
  AstroSidebandSpan span;
  guint64 into;    /* position of a row's first component in the period of signs */
  guint64 of_task; /* components of voltages per task, or units of spectra */
  guint64 n;       /* number of units in total; for voltages, components per row */
} Work;

/* Changes signs of n components from the given one on; into is its position in the period. */
static void change_signs(const Work *work, guint64 component, guint64 n, gconstpointer from,
                         guint64 into)
{
  const Sideband *sideband = work->sideband;
  const guint bytes = sideband->component_bytes;
  const guint8 *in = from;
  guint8 *out = work->out + component * bytes;

  for (guint64 done = 0, run; done < n; done += run, into = 0) {
    run = MIN(n - done, sideband->n_masks - into);
    sideband->signs(out + done * bytes, in + done * bytes, sideband->masks + into * bytes, run);
  }
}

/* Part of a row of voltages. Complex voltages have one row; real ones have a row for each index of
 * the axes outside of time. */
static void reverse_voltages(gpointer data, guint64 task)
{
  const Work *work = data;
  const Sideband *sideband = work->sideband;
  const guint64 tasks = (work->n + work->of_task - 1) / work->of_task;
  const guint64 begin = task % tasks * work->of_task, row = task / tasks * work->n;

  change_signs(work, row + begin, MIN(work->of_task, work->n - begin),
               work->in + (row + begin) * sideband->component_bytes,
               (work->into + begin) % sideband->period);
}

/* Conjugates samples that have been moved to the output. */
static void conjugate(const Work *work, guint64 sample, guint64 n)
{
  const Sideband *sideband = work->sideband;
  change_signs(work, sample * sideband->components, n * sideband->components,
               work->out + sample * sideband->sample_bytes, 0);
}

/* One spectrum whose channels are contiguous, or else a pair of channels. */
static void reverse_unit(const Work *work, guint64 unit)
{
  const guint bytes = work->sideband->sample_bytes;
  const guint64 channels = work->span.extent, inner = work->span.inner;

  if (inner == 1) {
    const guint64 at = unit * channels;
    astro_sideband_reverse(work->out + at * bytes, work->in + at * bytes, channels, bytes);
    conjugate(work, at, channels);
    return;
  }
  const guint64 pairs = (channels + 1) / 2, k = unit % pairs, outer = unit / pairs * channels;
  const guint64 a = (outer + k) * inner, b = (outer + channels - 1 - k) * inner;
  astro_sideband_exchange(work->out + a * bytes, work->out + b * bytes, work->in + a * bytes,
                          work->in + b * bytes, inner * bytes);
  conjugate(work, a, inner);
  if (a != b)
    conjugate(work, b, inner);
}

static void reverse_spectra(gpointer data, guint64 task)
{
  const Work *work = data;
  const guint64 begin = task * work->of_task, end = MIN(begin + work->of_task, work->n);

  for (guint64 unit = begin; unit < end; unit++)
    reverse_unit(work, unit);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  const Sideband *sideband = instance;
  const AstroSidebandArguments *arguments = data;
  Work work = { .sideband = sideband };

  if (!astro_sideband_check(&sideband->config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  if (arguments->steps == 0)
    return TRUE;
  work.in = in->data;
  work.out = out->data;
  work.span = astro_sideband_span(&sideband->config.stream, arguments->steps);
  const AstroSidebandSpan *span = &work.span;
  if (sideband->config.stream.quantity == ASTRO_QUANTITY_VOLTAGES) {
    work.n = span->extent * span->inner * sideband->components;
    work.into = arguments->first % 2 * sideband->step;
    work.of_task = TASK_BYTES / sideband->component_bytes;
    astro_parallel(span->outer * ((work.n + work.of_task - 1) / work.of_task), sideband->threads,
                   reverse_voltages, &work);
    return TRUE;
  }
  const guint64 of_unit =
      (span->inner == 1 ? span->extent : 2 * span->inner) * sideband->sample_bytes;
  work.n = span->outer * (span->inner == 1 ? 1 : (span->extent + 1) / 2);
  work.of_task = MAX(TASK_BYTES / of_unit, 1);
  astro_parallel((work.n + work.of_task - 1) / work.of_task, sideband->threads, reverse_spectra,
                 &work);
  return TRUE;
}

/* The second half of each period changes sign: imaginary parts, or odd time steps. A byte of CI4
 * holds both parts. */
static void make_masks(Sideband *sideband)
{
  const guint bytes = sideband->component_bytes;
  const gsize periods = (MASKS + sideband->period - 1) / sideband->period;
  const gsize kept = sideband->config.stream.format == ASTRO_FORMAT_CI4 ? 0 : sideband->period / 2;

  sideband->n_masks = periods * sideband->period;
  sideband->masks = g_malloc0_n(sideband->n_masks, bytes);
  for (gsize p = 0; p < periods; p++)
    memset(sideband->masks + (p * sideband->period + kept) * bytes, 0xff,
           (sideband->period - kept) * bytes);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Sideband *sideband = astro_instance_new(&astro_sideband_cpu, sizeof *sideband, config, error);
  if (!sideband)
    return NULL;
  const AstroStream *stream = &sideband->config.stream;
  const AstroFormatInfo *info = astro_format_info(stream->format);
  sideband->threads = place->threads;
  sideband->sample_bytes = info->bytes;
  sideband->component_bytes = astro_sideband_component_bytes(stream->format);
  sideband->components = info->bytes / sideband->component_bytes;
  sideband->signs = astro_sideband_signs(stream->format);
  sideband->step = info->is_complex ? 0 : astro_sideband_span(stream, 1).inner;
  sideband->period = info->is_complex ? 2 : 2 * sideband->step;
  make_masks(sideband);
  *variant = "c";
  return sideband;
}

static void destroy(gpointer instance)
{
  Sideband *sideband = instance;
  g_free(sideband->masks);
  g_free(sideband);
}

const AstroBackend astro_sideband_cpu = {
  .stage = "sideband",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroSidebandConfig),
  .shape = astro_sideband_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
  .in_place = TRUE,
};

const AstroBackend *const astro_sideband_backends[] = { &astro_sideband_cpu,
                                                        &astro_sideband_reference, NULL };
