/* Holds the unbroken stretch of samples from which spectra are made. */
#include "config.h"
#include "core/channelizer/stretch.h"

#include "core/backend/threads.h"
#include "core/channelizer/check.h"
#include "core/lib/transpose/plan.h"

#include <string.h>

/* The transposition of blocks to [station][pol][channel][time], if they have another order. */
static gboolean transpose_config(const AstroStretch *stretch, guint64 steps,
                                 AstroTransposeConfig *transpose, GError **error)
{
  static const AstroAxis order[] = { ASTRO_AXIS_STATION, ASTRO_AXIS_POL, ASTRO_AXIS_CHANNEL,
                                     ASTRO_AXIS_TIME };
  AstroLayout from, to = { 0 };

  astro_stream_shape(&stretch->config->in, steps, &from);
  for (guint i = 0; i < G_N_ELEMENTS(order); i++) {
    gint at = astro_layout_find(&from, order[i]);
    if (at >= 0) {
      to.axes[to.n_axes] = order[i];
      to.extents[to.n_axes++] = from.extents[at];
    }
  }
  return astro_transpose_config(transpose, &from, &to,
                                astro_stream_sample_bytes(&stretch->config->in), error);
}

gboolean astro_stretch_init(AstroStretch *stretch, const AstroChannelizerConfig *config,
                            guint threads, GError **error)
{
  const AstroStream *in = &config->in;
  AstroFormat single =
      astro_format_info(in->format)->is_complex ? ASTRO_FORMAT_CF32LE : ASTRO_FORMAT_F32LE;
  AstroTransposeConfig transpose;
  gsize bytes;

  *stretch = (AstroStretch){
    .config = config,
    .inputs = (guint)(astro_stream_step_bytes(in) / astro_stream_sample_bytes(in)),
    .pols = (guint)astro_stream_extent(in, ASTRO_AXIS_POL),
    .coarse = astro_channelizer_coarse(config),
    .threads = threads,
  };
  astro_samples_init(&stretch->samples, in->format, single);
  if (!g_size_checked_mul(&bytes, astro_stream_step_bytes(in), astro_channelizer_span(config)) ||
      !(stretch->held = g_try_malloc(bytes)))
    return astro_backend_no_memory(error,
                                   "channelizer: no memory to hold %u taps of %" G_GUINT64_FORMAT
                                   " samples of %u inputs",
                                   config->taps, astro_channelizer_step(config), stretch->inputs);
  /* The order of axes is the same for any number of steps; two suffice. */
  if (!transpose_config(stretch, 2, &transpose, error))
    return FALSE;
  astro_transpose_simplify(&transpose);
  stretch->is_transposed = transpose.n_axes > 1;
  return TRUE;
}

void astro_stretch_clear(AstroStretch *stretch)
{
  g_free(stretch->held);
  g_free(stretch->transposed);
}

gboolean astro_stretch_spectra(const AstroStretch *stretch,
                               const AstroChannelizerArguments *arguments, AstroSpectra *spectra,
                               GError **error)
{
  return astro_channelizer_call_spectra(stretch->config, arguments, stretch->begin, stretch->end,
                                        spectra, error);
}

static gboolean transpose_block(AstroStretch *stretch, const AstroBlock *in, guint64 steps,
                                GError **error)
{
  AstroTransposeConfig transpose;
  gsize bytes = steps * astro_stream_step_bytes(&stretch->config->in);
  AstroTransposePlan plan;

  if (!transpose_config(stretch, steps, &transpose, error))
    return FALSE;
  if (stretch->transposed_bytes < bytes) {
    g_free(stretch->transposed);
    stretch->transposed = g_try_malloc(bytes);
    stretch->transposed_bytes = stretch->transposed ? bytes : 0;
    if (!stretch->transposed)
      return astro_backend_no_memory(
          error, "channelizer: no memory for a block of %" G_GSIZE_FORMAT " bytes", bytes);
  }
  stretch->block = stretch->transposed;
  astro_transpose_plan(&plan, NULL, &transpose);
  astro_transpose_run(&plan, astro_transpose_kernels(), stretch->threads, stretch->transposed,
                      in->data);
  return TRUE;
}

gboolean astro_stretch_open(AstroStretch *stretch, const AstroBlock *in,
                            const AstroChannelizerArguments *arguments, GError **error)
{
  stretch->block = in ? in->data : NULL;
  if (in && arguments->steps && stretch->is_transposed &&
      !transpose_block(stretch, in, arguments->steps, error))
    return FALSE;
  if (arguments->restart)
    stretch->begin = stretch->held_from = stretch->held_to = arguments->first;
  stretch->first = arguments->first;
  stretch->steps = arguments->steps;
  stretch->end = arguments->first + arguments->steps;
  stretch->losses = arguments->losses;
  stretch->n_losses = arguments->n_losses;
  return TRUE;
}

static guint station_of(const AstroStretch *stretch, guint input)
{
  return input / (stretch->pols * stretch->coarse);
}

static gboolean is_of(const AstroStretch *stretch, guint input, const AstroLoss *loss)
{
  const guint channel = input % stretch->coarse;
  return loss->station == station_of(stretch, input) && loss->channel <= channel &&
         channel < loss->channel_end;
}

/* Whether the loss comes before all losses of the input that end after the sample. */
static gboolean is_before(const AstroStretch *stretch, guint input, guint64 sample,
                          const AstroLoss *loss)
{
  const guint station = station_of(stretch, input), channel = input % stretch->coarse;
  if (loss->station != station)
    return loss->station < station;
  if (!is_of(stretch, input, loss))
    return loss->channel_end <= channel;
  return loss->to <= sample;
}

/* The first of the input's losses that ends after the sample, or else the first loss of a later
 * input. */
static guint find_loss(const AstroStretch *stretch, guint input, guint64 sample)
{
  guint low = 0, high = stretch->n_losses;
  while (low < high) {
    guint middle = (low + high) / 2;
    if (is_before(stretch, input, sample, &stretch->losses[middle]))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Sets lost samples to zero among n samples from index `from` on, of the given size. */
static void drop_lost(const AstroStretch *stretch, guint input, guint64 from, gsize n,
                      gpointer data, gsize bytes)
{
  for (guint i = find_loss(stretch, input, from); i < stretch->n_losses; i++) {
    const AstroLoss *loss = &stretch->losses[i];
    if (!is_of(stretch, input, loss) || loss->from >= from + n)
      break;
    guint64 begin = MAX(loss->from, from), end = MIN(loss->to, from + n);
    memset((guint8 *)data + (begin - from) * bytes, 0, (end - begin) * bytes);
  }
}

static const guint8 *block_at(const AstroStretch *stretch, guint input, guint64 sample)
{
  return stretch->block +
         (input * stretch->steps + sample - stretch->first) * stretch->samples.from_bytes;
}

static guint8 *held_at(const AstroStretch *stretch, guint input, guint64 sample)
{
  return stretch->held +
         (input * astro_channelizer_span(stretch->config) + sample - stretch->held_from) *
             stretch->samples.from_bytes;
}

void astro_stretch_read(const AstroStretch *stretch, guint input, guint64 from, gsize n, float *out)
{
  const AstroSamples *samples = &stretch->samples;
  if (from < stretch->held_to) {
    gsize part = MIN(n, stretch->held_to - from);
    astro_samples_convert(samples, out, held_at(stretch, input, from), part);
    out += part * samples->components;
    from += part;
    n -= part;
  }
  if (n && !stretch->block)
    memset(out, 0, n * samples->to_bytes);
  else if (n)
    astro_samples_convert(samples, out, block_at(stretch, input, from), n);
  if (n && stretch->n_losses)
    drop_lost(stretch, input, from, n, out, samples->to_bytes);
}

const float *astro_stretch_look(const AstroStretch *stretch, guint input, guint64 from, gsize n)
{
  if (!stretch->samples.same || !stretch->block || from < stretch->first)
    return NULL;
  guint i = find_loss(stretch, input, from);
  if (i < stretch->n_losses && is_of(stretch, input, &stretch->losses[i]) &&
      stretch->losses[i].from < from + n)
    return NULL;
  const guint8 *at = block_at(stretch, input, from);
  return (guintptr)at % sizeof(float) == 0 ? (const float *)at : NULL;
}

typedef struct {
  AstroStretch *stretch;
  guint64 from;
} Keep;

static void keep_task(gpointer data, guint64 task)
{
  const Keep *keep = data;
  const AstroStretch *stretch = keep->stretch;
  guint input = (guint)task;
  gsize bytes = stretch->samples.from_bytes;
  guint8 *to = held_at(stretch, input, stretch->held_from);
  guint64 from = keep->from;

  if (from < stretch->held_to) {
    memmove(to, held_at(stretch, input, from), (stretch->held_to - from) * bytes);
    to += (stretch->held_to - from) * bytes;
    from = stretch->held_to;
  }
  gsize n = stretch->end - from;
  if (!stretch->block)
    memset(to, 0, n * bytes);
  else
    memcpy(to, block_at(stretch, input, from), n * bytes);
  drop_lost(stretch, input, from, n, to, bytes);
}

void astro_stretch_close(AstroStretch *stretch, guint64 next_spectrum)
{
  guint64 from = next_spectrum * astro_channelizer_step(stretch->config) -
                 astro_channelizer_lead(stretch->config);
  Keep keep = { stretch, MIN(from, stretch->end) };
  if (keep.from < stretch->end)
    astro_parallel(stretch->inputs, stretch->threads, keep_task, &keep);
  stretch->held_from = keep.from;
  stretch->held_to = stretch->end;
  stretch->block = NULL;
  stretch->losses = NULL;
  stretch->n_losses = 0;
}
