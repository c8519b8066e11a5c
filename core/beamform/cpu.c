/* The CPU backend. Samples are wanted in the order channel:station:pol:time; others are brought
 * into it first, and beams brought back. All samples of a channel are then one row for each
 * station, along which polarisations and times are alike. Rows are cut into pieces that have one
 * set of phases, for tasks (task.h). */
#include "config.h"
#include "core/beamform/task.h"

#include "core/backend/instance.h"
#include "core/lib/transpose/kernels.h"
#include "core/lib/transpose/plan.h"

/* Samples of a piece, at most: a piece is worth the computation of its phases, and there are enough
 * pieces for all threads. */
#define PIECE 1024

/* A block in the order in which it is worked on. */
typedef struct {
  gpointer data;
  gsize bytes;
} Ordered;

typedef struct {
  AstroBeamformWorker worker;
  guint threads;
  AstroLayout ordered_in, ordered_out; /* without a length of time */
  Ordered in, out;
} Beamform;

/* ---- blocks ---- */

static void add_pieces(GArray *pieces, guint64 first, guint64 length, guint64 interval)
{
  for (guint64 at = 0; at < length; at += PIECE) {
    const AstroBeamformPiece piece = { first + at, MIN(PIECE, length - at), interval };
    g_array_append_val(pieces, piece);
  }
}

/* Where the whole block has one set of phases, polarisations follow each other without a break. */
static GArray *cut_rows(const Beamform *self, const AstroBeamformArguments *arguments)
{
  const guint64 every = arguments->interval, first = arguments->first, steps = arguments->steps;
  GArray *pieces = g_array_new(FALSE, FALSE, sizeof(AstroBeamformPiece));
  if (astro_beamform_intervals(first, steps, every) == 1) {
    add_pieces(pieces, 0, self->worker.size.pols * steps, 0);
    return pieces;
  }
  for (guint pol = 0; pol < self->worker.size.pols; pol++)
    for (guint64 at = 0; at < steps;) {
      const guint64 length = MIN(every - (first + at) % every, steps - at);
      add_pieces(pieces, pol * steps + at, length, (first + at) / every - first / every);
      at += length;
    }
  return pieces;
}

static gboolean run(Beamform *self, const AstroBeamformArguments *arguments, gconstpointer in,
                    gpointer out, guint64 *clipped, GError **error)
{
  AstroBeamformWork work = { .worker = &self->worker,
                             .arguments = arguments,
                             .row = self->worker.size.pols * arguments->steps,
                             .in = in,
                             .out = out };
  if (!astro_beamform_good_init(&work.good, &self->worker.config, arguments, self->threads, error))
    return FALSE;
  g_autoptr(GArray) pieces = cut_rows(self, arguments);
  work.pieces = (const AstroBeamformPiece *)(gconstpointer)pieces->data;
  work.n_pieces = pieces->len;
  work.n_batches = (self->worker.size.beams + ASTRO_BEAMFORM_BATCH - 1) / ASTRO_BEAMFORM_BATCH;
  astro_parallel((guint64)self->worker.size.channels * work.n_pieces * work.n_batches,
                 self->threads, astro_beamform_task, &work);
  astro_beamform_good_clear(&work.good);
  *clipped = work.clipped;
  return TRUE;
}

/* Brings a block into another order. The layouts have no length of time. */
static gboolean reorder(const Beamform *self, const AstroLayout *from, const AstroLayout *to,
                        gsize sample_bytes, guint64 steps, gconstpointer in, gpointer out,
                        GError **error)
{
  AstroLayout shape = *from;
  AstroTransposeConfig config;
  AstroTransposePlan plan;
  shape.extents[astro_layout_find(&shape, ASTRO_AXIS_TIME)] = steps;
  if (!astro_transpose_config(&config, &shape, to, sample_bytes, error))
    return FALSE;
  astro_transpose_plan(&plan, NULL, &config);
  astro_transpose_run(&plan, astro_transpose_kernels(), self->threads, out, in);
  return TRUE;
}

static gpointer room_for(Ordered *block, gsize bytes, GError **error)
{
  if (block->bytes < bytes) {
    g_free(block->data);
    block->data = g_try_malloc(bytes);
    block->bytes = block->data ? bytes : 0;
  }
  if (!block->data)
    astro_backend_no_memory(error,
                            "no memory to bring %" G_GSIZE_FORMAT " bytes into another order: "
                            "expected smaller blocks, or layout " ASTRO_BEAMFORM_IN,
                            bytes);
  return block->data;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  Beamform *self = instance;
  const AstroBeamformArguments *arguments = data;
  const AstroStream *from = &self->worker.config.in, *to = &self->worker.config.out;
  gpointer made = out->data;
  gconstpointer samples = in->data;
  guint64 clipped = 0;
  if (!astro_beamform_check(&self->worker.config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  if (arguments->steps == 0)
    return TRUE;
  const gboolean is_ordered = astro_layout_is_equal(&from->layout, &self->ordered_in);
  if (!is_ordered) {
    gpointer ordered = room_for(&self->in, arguments->steps * astro_stream_step_bytes(from), error);
    made = ordered ? room_for(&self->out, arguments->steps * astro_stream_step_bytes(to), error)
                   : NULL;
    if (!made || !reorder(self, &from->layout, &self->ordered_in, astro_stream_sample_bytes(from),
                          arguments->steps, in->data, ordered, error))
      return FALSE;
    samples = ordered;
  }
  if (!run(self, arguments, samples, made, &clipped, error) || !astro_backend_goes_on(error))
    return FALSE;
  if (result)
    result->clipped += clipped;
  return is_ordered || reorder(self, &self->ordered_out, &to->layout, astro_stream_sample_bytes(to),
                               arguments->steps, made, out->data, error);
}

/* ---- instances ---- */

/* The same axes in the order in which they are worked on. */
static AstroLayout in_order(const AstroLayout *layout, const char *wanted)
{
  AstroLayout all, ordered = { 0 };
  astro_layout_parse(&all, wanted, ASTRO_QUANTITY_SPECTRA, NULL);
  for (guint i = 0; i < all.n_axes; i++) {
    const gint at = astro_layout_find(layout, all.axes[i]);
    if (at < 0)
      continue;
    ordered.axes[ordered.n_axes] = all.axes[i];
    ordered.extents[ordered.n_axes++] = layout->extents[at];
  }
  return ordered;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Beamform *self = astro_instance_new(&astro_beamform_cpu, sizeof *self, config, error);
  if (!self)
    return NULL;
  astro_beamform_worker_init(&self->worker);
  self->threads = place->threads;
  self->ordered_in = in_order(&self->worker.config.in.layout, ASTRO_BEAMFORM_IN);
  self->ordered_out = in_order(&self->worker.config.out.layout, ASTRO_BEAMFORM_OUT);
  *variant = self->worker.kernels->variant.name;
  return self;
}

static void destroy(gpointer instance)
{
  Beamform *self = instance;
  astro_beamform_worker_clear(&self->worker);
  g_free(self->in.data);
  g_free(self->out.data);
  g_free(self);
}

const AstroBackend astro_beamform_cpu = {
  .stage = "beamform",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroBeamformConfig),
  .shape = astro_beamform_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};

const AstroBackend *const astro_beamform_backends[] = { &astro_beamform_cpu,
                                                        &astro_beamform_reference, NULL };
